"""ant.py: `granular_gym/AntOnSand-v0`: the Ant of Gymnasium walks on sand.

After Schulman et al., "High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2015), whose Ant
Gymnasium maintains: its shape, motors, reward and end of an episode. The floor is sand, whose grains the links push and
which push back (`granular_gym.robots`). The bed is endless: a patch that is periodic along x and y and moves along with
the robot, grid step by grid step, so that no link ever reaches its edge.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.scene import Scene
from granular_gym.envs.ant_difficulty import BEDS, DIFFICULTIES, GRAIN_FRICTION, VARIANTS, Difficulty
from granular_gym.envs.ant_model import (
    GEAR,
    JOINTS,
    LINKS,
    SCALE,
    SHINS,
    STANCE,
    ant_model,
    height_over,
)
from granular_gym.envs.ant_state import MAP, VECTOR, state_of
from granular_gym.robots.coupling import Robots
from granular_gym.robots.mujoco import MujocoRobots
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import Settling, add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.heights import PACKING, HeightGrid
from granular_gym.tasks.images import Image, view_camera
from granular_gym.tasks.robot_task import RobotTask
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.task import GRAVITY

CONTROL_PERIOD = 0.025  # [s] per env step
RADIUS_OF_2000 = 0.02 * 2.5 ** (1.0 / 3.0)  # [m]; 2 cm where there are 5,000
DENSITY = 1600.0  # [kg/m3]
FASTEST = 1.5  # [m/s] a foot, and what it throws
PATCH = 23.0 / 16.0  # [m] side of the bed
#: [m] by multiples of it robot and bed are moved back, which positions hold without rounding; the robot stays as near
#: to the middle, and its links off the edge
GRID = 1.0 / 16.0
#: [m] height of the bed where its grains, of any number, are spread evenly
LEVEL = 2000 * 4.0 / 3.0 * math.pi * RADIUS_OF_2000**3 / (PACKING * PATCH**2)
TOP = 2.0  # [m] nothing is higher
PARKED = 1.5  # [m] where the robot hangs while beds settle
CLEARANCE = 0.002  # [m] of the lowest foot over the sand as an episode begins
HEALTHY = (0.2 * SCALE, 1.0 * SCALE)  # [m] height of the torso over LEVEL, the Ant's
NOISE = 0.1  # [rad] of joints, [m/s] and [rad/s] of velocities, the Ant's
GRID_OF_MAP = HeightGrid((-0.5 * PATCH,) * 2, (0.5 * PATCH,) * 2, (MAP, MAP))
WRENCH_LIMIT = (500.0, 100.0)  # [N], [N m] of the observation
CAMERA = DepthCamera.perspective(
    height=36,
    width=36,
    fov=1.0,
    position=(0.14, 0.0, 0.05),
    target=(0.5, 0.0, -0.25),
    near=0.02,
    far=2.0,
)
TORSO_COLOR, THIGH_COLOR, SHIN_COLOR = (236, 170, 40), (96, 100, 108), (224, 146, 40)


class AntOnSandTask(RobotTask):
    """The Ant on sand in `env_count` envs.

    ## Description
    A quadruped of 6.8 kg, the Ant of Gymnasium at half its size, walks along x on an endless bed of sand 14 cm deep, in
    which its feet sink and slip. Control runs at 40 Hz.

    ## Action Space
    Box (8,) float32 in [-1, 1]: torques of the motors, 1 = 30 N m, in the Ant's order: hip and ankle of the legs 4, 1,
    2, 3. With x ahead leg 1 is in front on the left, 2 behind on the left, 3 behind on the right, 4 in front on the
    right.

    ## Observation Space
    Dict of
    - "ahead" (36, 36) float32: depth [m] of a camera on the torso that looks at the sand ahead, 0.02 .. 2 m;
    - "torso" (5,) float32: height over the level of the bed (0.135 m) [m], orientation w x y z;
    - "motion" (6,) float32: velocity of the torso along x, y, z of the world [m/s], its angular velocity in its own
      axes [rad/s];
    - "joints" (8,) float32 [rad]: hip and ankle of the legs 1 to 4;
    - "velocities" (8,) float32 [rad/s];
    - "wrenches" (54,) float32: mean force [N] and torque [N m] of the grains on each of the 9 links over the step,
      about its origin, in the axes of the world: torso, then thigh and shin of each leg; clipped to 500 N and 100 N m,
      0 after a reset.

    With depth="uint8" the image is (1, H, W) uint8, 0 near and 255 far. With observation="state" there is "state"
    alone, see `granular_gym.envs.ant_state.VECTOR`.

    ## Rewards
    Those of the Ant for each step: `forward_reward_weight` times the torso's mean velocity along x [m/s], plus
    `healthy_reward` while the robot is healthy, minus `ctrl_cost_weight` times the sum of the squared actions, minus
    `contact_cost_weight` times the sum of the squared forces and torques of the grains on the links, in units of the
    robot's weight (and that times 1 m), each clipped to -1 .. 1.

    ## Starting State
    A settled bed (flat, waves or hills; three of each); the robot set down on it in the Ant's posture, with noise of
    0.1 rad on its joints and 0.1 on its velocities; its yaw; the friction between grains; all drawn from the seed
    within the limits of the difficulty.

    ## Episode End
    Truncated after 800 steps of 0.025 s. Terminated where the torso is not between 0.1 and 0.5 m over the level of
    the bed, the Ant's rule at this size, unless `terminate_when_unhealthy` is False.

    Infos: "x_position", "y_position" since the start [m], "x_velocity", "y_velocity" [m/s], "height" of the torso over
    that level [m], "reward_forward", "reward_survive", "reward_ctrl", "reward_contact", "success" (x_position is at
    least the difficulty's distance), and what every task reports (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `forward_reward_weight`, `healthy_reward`, `ctrl_cost_weight`, `contact_cost_weight`: numbers >= 0.
    - `terminate_when_unhealthy`: whether the episode ends then.
    - `grain_count`: 5,000 by default, of 2 cm radius.
    - others: see `Task`; difficulty "easy" (flat), "medium" (flat or waves) or "hard" (hills, too, friction drawn).

    ## Version History
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
        MissingError: MuJoCo is not installed.
    """

    episode_state: ClassVar[tuple[str, ...]] = (*RobotTask.episode_state, "walked", "velocity", "effort")
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: Mapping[str, Image] = {"ahead": Image(CAMERA, "torso")}
    view: DepthCamera = view_camera((1.2, -2.0, 1.25), (0.0, 0.0, 0.12))
    tool_colors: Sequence[tuple[int, int, int]] = (TORSO_COLOR, *(THIGH_COLOR, SHIN_COLOR) * 4)
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    settling: Settling = Settling(0.25, 16, 5e-3)
    state_vector: StateVector | None = VECTOR
    robots: MujocoRobots

    def __init__(
        self,
        env_count: int = 1,
        *,
        grain_count: int = 5000,
        forward_reward_weight: float = 1.0,
        healthy_reward: float = 1.0,
        ctrl_cost_weight: float = 0.5,
        contact_cost_weight: float = 5e-4,
        terminate_when_unhealthy: bool = True,
        **kwargs: Any,
    ) -> None:
        super().__init__(env_count, grain_count=grain_count, **kwargs)
        self.forward_reward_weight: float = checks.number("forward_reward_weight", forward_reward_weight, 0.0, 1e6)
        self.healthy_reward: float = checks.number("healthy_reward", healthy_reward, 0.0, 1e6)
        self.ctrl_cost_weight: float = checks.number("ctrl_cost_weight", ctrl_cost_weight, 0.0, 1e6)
        self.contact_cost_weight: float = checks.number("contact_cost_weight", contact_cost_weight, 0.0, 1e6)
        self.terminate_when_unhealthy: bool = checks.instance(
            "terminate_when_unhealthy", terminate_when_unhealthy, bool
        )
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (JOINTS,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart(f"torque of the {joint} of leg {leg}", full=f"{GEAR:g} N m")
            for leg in (4, 1, 2, 3)
            for joint in ("hip", "ankle")
        ]
        self.observation_space: spaces.Dict = spaces.Dict(
            {
                **self.depth_images.spaces(),
                "torso": _bounded([TOP, *[1.0] * 4]),
                "motion": _bounded([10.0] * 3 + [50.0] * 3),
                "joints": _bounded([math.pi] * JOINTS),
                "velocities": _bounded([50.0] * JOINTS),
                "wrenches": _bounded(np.repeat(WRENCH_LIMIT * len(LINKS), 3)),
            }
        )
        n = self.env_count
        self.robot_weight: float = GRAVITY * float(self.robots.model.body_mass.sum())
        limits = self.robots.model.jnt_range[1:]
        self.middle: Floats = limits.mean(axis=1)
        self.half_range: Floats = 0.5 * np.ptp(limits, axis=1)
        self.walked: Floats = np.zeros((n, 2))  # x and y that bed and robot were moved back [m]
        self.velocity: Floats = np.zeros((n, 2))  # mean of the torso along x and y over the last control period [m/s]
        self.effort: Floats = np.zeros(n)  # sum of the squared actions

    # the scene -------------------------------------------------------------------------------------------------------

    def make_robots(self) -> Robots:
        """The Ants."""
        return MujocoRobots(ant_model(self.pace.dt), LINKS, self.env_count)

    def bed_scene(self, number: int) -> Scene:
        """A patch of sand, and the robot high above it."""
        half = 0.5 * PATCH
        faces = {"x": "periodic", "y": "periodic", "z": ("wall", "open")}
        scene = Scene(bounds=((-half, -half, 0.0), (half, half, TOP)), boundary=faces)
        sand, steel = add_sand_and_steel(scene, self.form, DENSITY, GRAIN_FRICTION, 0.3, on_steel=(0.5, 0.1))
        height, waves = list(BEDS.values())[number // VARIANTS]
        points = wave_lattice(height, waves, number, self.grain_count, self.form.reach, self.form.looseness)
        self.form.add_to(scene, sand, points, number)
        parked = MujocoRobots(self.robots.model, LINKS)
        parked.data[0].qpos[2] = max(PARKED, float(points[:, 2].max()) + 1.0)
        parked.add_to(scene, material=steel)
        return scene

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed and posture of each listed env, and sets the robot down."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        for row, env in enumerate(envs):
            draw, data = self.generator(env), self.robots.data[env]
            shape = list(BEDS).index(difficulty.beds[draw.integers(len(difficulty.beds))])
            chosen[row] = shape * VARIANTS + draw.integers(VARIANTS)
            self.friction[env] = draw.uniform(*self.friction_range)
            self.robots.reset(int(env))
            yaw = draw.uniform(-difficulty.yaw, difficulty.yaw)
            data.qpos[:7] = 0.0, 0.0, PARKED, math.cos(0.5 * yaw), 0.0, 0.0, math.sin(0.5 * yaw)
            data.qpos[7:] = STANCE + draw.uniform(-NOISE, NOISE, JOINTS)
            data.qvel[:] = draw.normal(0.0, NOISE, len(data.qvel))
        self.load_beds(envs, chosen)
        self.set_materials(envs)
        positions = world.positions
        for env in envs:
            data = self.robots.data[env]
            self.robots.forward(int(env))
            grains = positions[env].astype(np.float64)
            data.qpos[2] -= height_over(self.robots.model, data, grains, self.form.finest) - CLEARANCE
        self.walked[envs], self.velocity[envs], self.effort[envs] = 0.0, 0.0, 0.0
        self.place_robots(envs)

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self._move_back()
        before = self._torso()
        for data, torques in zip(self.robots.data, np.where(idle[:, None], 0.0, actions), strict=True):
            data.ctrl[:] = torques
        self.simulate_robots(idle)
        self.velocity = (self._torso() - before) / CONTROL_PERIOD
        self.effort = (np.asarray(actions, np.float64) ** 2).sum(axis=1)

    def _torso(self) -> Floats:
        """x and y of the torsos (env_count, 2) [m]."""
        return np.array([data.qpos[:2] for data in self.robots.data])

    def _move_back(self) -> None:
        """Moves bed and robot together so that the robot is in the middle of the patch, by multiples of GRID."""
        back = GRID * np.trunc(self._torso() / GRID)
        envs = np.flatnonzero(back.any(axis=1)).astype(np.int32)
        if not len(envs):
            return
        shifts = np.zeros((len(envs), 3), np.float32)
        shifts[:, :2] = -back[envs]
        self.world.transform_grains(shifts, np.zeros(len(envs), np.float32), envs=envs)
        for env in envs:
            self.robots.data[env].qpos[:2] -= back[env]
        self.walked = self.walked + back

    # what is seen ----------------------------------------------------------------------------------------------------

    def readings(self) -> dict[str, Any]:
        """For `sense_state` the bed."""
        return {"columns": GRID_OF_MAP.columns} if self.reads_state else {}

    def _table(self, name: str, first: int, last: int) -> Floats:
        """Columns of qpos or qvel of all envs."""
        return np.array([getattr(data, name)[first:last] for data in self.robots.data])

    def heights(self) -> Floats:
        """Of the torsos over the level of the bed (env_count,) [m]."""
        heights: Floats = self._table("qpos", 2, 3)[:, 0] - LEVEL
        return heights

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; terminated where a robot is not healthy."""
        height = self.heights()
        healthy = (height >= HEALTHY[0]) & (height <= HEALTHY[1]) & ~self.robots_diverged
        position = self.walked + self._torso()
        pressed = np.clip(self.unless_fresh(self.wrenches.reshape(self.env_count, -1)) / self.robot_weight, -1.0, 1.0)
        parts = {
            "reward_forward": self.forward_reward_weight * self.velocity[:, 0],
            "reward_survive": self.healthy_reward * healthy,
            "reward_ctrl": -self.ctrl_cost_weight * self.effort,
            "reward_contact": -self.contact_cost_weight * (pressed**2).sum(axis=1),
        }
        infos: Arrays = {
            "x_position": position[:, 0],
            "y_position": position[:, 1],
            "x_velocity": self.velocity[:, 0].copy(),
            "y_velocity": self.velocity[:, 1].copy(),
            "height": height,
            **parts,
            "success": position[:, 0] >= self.difficulty.distance,
        }
        terminated = ~healthy if self.terminate_when_unhealthy else np.zeros(self.env_count, bool)
        return np.sum(list(parts.values()), axis=0), terminated, infos

    def sense(self) -> Arrays:
        """Torso, joints and wrenches of all envs."""
        return self.vectors(
            {
                "torso": np.concatenate([self.heights()[:, None], self._table("qpos", 3, 7)], axis=1),
                "motion": self._table("qvel", 0, 6),
                "joints": self._table("qpos", 7, 7 + JOINTS),
                "velocities": self._table("qvel", 6, 6 + JOINTS),
                "wrenches": self.unless_fresh(self.wrenches.reshape(self.env_count, -1)),
            }
        )

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        volume = self.mass / (DENSITY * self.world_grain_count)
        vectors: NDArray[np.float32] = state_of(
            height=self.heights(),
            quaternion=self._table("qpos", 3, 7),
            motion=self._table("qvel", 0, 6),
            joints=self._table("qpos", 7, 7 + JOINTS),
            velocities=self._table("qvel", 6, 6 + JOINTS),
            feet=self.wrenches[:, SHINS, :3],
            heights=GRID_OF_MAP.heights_of(self.results.column_counts, volume),
            weight=self.robot_weight,
            middle=self.middle,
            half_range=self.half_range,
        )
        return vectors


def _bounded(high: Any) -> spaces.Box:
    top = np.asarray(high, np.float32)
    return spaces.Box(-top, top, dtype=np.float32)


def wave_lattice(
    height: float, waves: tuple[int, int], seed: int, count: int, radius: float, looseness: float = 1.0
) -> Floats:
    """Grains before they settle, (n, 3) [m]: a loose jittered lattice under a surface of waves, the lowest taken first.

    Args:
        height: of the waves [m].
        waves: how many fit into the patch along x and along y.
        seed: of the jitter.
        count: number of grains.
        radius: of a grain, or of the ball that holds it [m].
        looseness: of the lattice, see `GrainForm`.
    """
    side = max(int(PATCH / (2.35 * radius)), 1)
    step, rise, shake = PATCH / side, 2.35 * radius, 0.16 * radius
    layers = math.ceil(count / side**2) + 2 + math.ceil(2.0 * height * looseness / rise)
    i, j, k = (a.ravel() for a in np.meshgrid(np.arange(side), np.arange(side), np.arange(layers), indexing="ij"))
    x, y, z = (i + 0.5) * step - 0.5 * PATCH, (j + 0.5) * step - 0.5 * PATCH, 1.2 * radius + k * rise
    turns = [2.0 * math.pi * number * along / PATCH for number, along in zip(waves, (x, y), strict=True)]
    surface = height * np.cos(turns[0]) * np.cos(turns[1])
    draw = np.random.Generator(np.random.PCG64(seed))
    # the last layer, which is not full, is spread over the patch
    key = (z + draw.uniform(0.0, rise, len(z))) / looseness - surface
    chosen = np.sort(np.argsort(key, kind="stable")[:count])
    points = np.stack([x, y, z], axis=1)[chosen]
    return (points + draw.uniform(-shake, shake, points.shape)).astype(np.float32)


AntOnSandEnv: type[GranularEnv]
AntOnSandVectorEnv: type[GranularVectorEnv]
AntOnSandEnv, AntOnSandVectorEnv = env_classes(AntOnSandTask)
