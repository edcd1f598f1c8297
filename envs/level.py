"""level.py: `granular_gym/Level-v1`: a blade shapes a bed of grains to a target surface.

A rectangular trough holds a bed with hills drawn from the seed, and a target surface of the same volume is shown beside
it: a plane, a slope, or a slope with a mound or a pit. The blade is moved forward and sideways in its own frame,
lifted, and turned. What counts is how far the bed's column heights (heights.py) are from the target's on the part of
the field that the blade can reach; single grains hardly show in them, so the same goal holds for any number of grains.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.drives import Drive
from granular_gym.engine.scene import Scene
from granular_gym.envs.level_state import VECTOR, state_of
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.heights import HeightGrid, smooth
from granular_gym.tasks.images import Image, sky_camera, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.scaled import Scaled
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.surface_task import SKY, TARGET, SurfaceTask
from granular_gym.tasks.touch import TouchPad
from granular_gym.tasks.vehicle import TrackedVehicle, sin_cos

CONTROL_PERIOD = 0.1  # [s]
RADIUS_OF_2000 = 0.038  # [m]
DENSITY = 1600.0  # [kg/m3]
FASTEST = 1.5  # [m/s] a grain that slides off a hill
HALF_X, HALF_Y, TOP = 0.9, 0.6, 2.0  # [m] of the field
GRID = HeightGrid((-HALF_X, -HALF_Y), (HALF_X, HALF_Y), (8, 12))
MARGIN = 1  # cells along the walls that do not count: the blade does not reach them
BLADE_HALF_WIDTH, BLADE_HEIGHT, BLADE_THICKNESS = 0.3, 0.45, 0.06  # [m]
LIFT = (0.08, 0.90)  # [m] z of the blade's lower edge
SPEED, SIDEWAYS, LIFTING, TURNING = 0.5, 0.5, 0.5, 1.2  # [m/s], [rad/s] at full action
PLANE = [0, 1, 3]  # x, y and yaw among x, y, z and yaw
CLEARANCE = 0.13  # [m] between blade and walls: a grain fits where there are 500
SKY_SHAPE, SKY_HEIGHT = (36, 54), 1.8  # the sky camera looks down from there [m]
HILLS = ("mound", "ridge", "slope", "twins")  # beds that episodes begin with
GRAIN_FRICTION = 0.5
REWARD_SCALE = 100.0  # what removing the whole error earns
SKY_CAMERA = sky_camera(*SKY_SHAPE, HALF_Y, SKY_HEIGHT, near=0.2)
BLADE_COLOR = (236, 170, 40)


@dataclass(frozen=True)
class Difficulty:
    """What makes a target hard."""

    tilt: float  # largest rise of the target over half the field's length [m]
    bump: tuple[float, float]  # height of its mound, or depth of its pit [m]
    friction: tuple[float, float]  # between grains
    goal: float  # share of the error at the start that may be left in a success


DIFFICULTIES = {
    "easy": Difficulty(0.0, (0.0, 0.0), (0.5, 0.5), 0.4),
    "medium": Difficulty(0.08, (0.0, 0.0), (0.4, 0.6), 0.4),
    "hard": Difficulty(0.05, (0.08, 0.14), (0.3, 0.7), 0.45),
}


class LevelTask(SurfaceTask):
    """The levelling task in `env_count` envs.

    ## Description
    A blade shapes a bed of grains in a trough of 1.8 x 1.2 m to a target surface of the same volume. Control runs at 10
    Hz.

    ## Action Space
    Box (4,) float32 in [-1, 1]: speed of the blade forward and sideways (left positive) in its own frame (1 = 0.5 m/s),
    up (1 = 0.5 m/s), turn rate (1 = 1.2 rad/s, left positive).

    ## Observation Space
    Dict of
    - "sky" (36, 54) float32: depth [m] from 1.8 m above, orthographic;
    - "target" (36, 54) float32: what that camera would see of the target surface without the blade [m];
    - "blade" (8,) float32: x, y and z of the blade's lower edge [m], sine and cosine of its yaw, force of the grains on
      it (3,) over their weight; 0 after a reset.

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far.

    ## Rewards
    100 times what the step took off the error (mean distance of the column heights from the target), as a share of the
    error at the start.

    ## Starting State
    One of four settled beds (mound, ridge, slope, twins), turned by half a turn or not; the target surface; the blade,
    raised, anywhere in the field; the friction between grains; all drawn from the seed within the limits of the
    difficulty.

    ## Episode End
    Truncated after 300 steps; never terminated.

    Infos: "error" [m], "error_share" of the error at the start, "success" (error_share is at most the difficulty's),
    and what every task reports (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - others: see `Task`; difficulty "easy" (a plane), "medium" (a slope, friction drawn) or "hard" (a slope with a
      mound or a pit, more friction drawn).

    ## Version History
    - v1: `LevelV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (*SurfaceTask.episode_state, "pose")
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: Mapping[str, Image] = {
        SKY: Image(SKY_CAMERA, floor=True),
        TARGET: Image(SKY_CAMERA, drawn=True, floor=True),
    }
    pads: Sequence[TouchPad] = (TouchPad("blade", "x", (-BLADE_HALF_WIDTH, 0.0), (BLADE_HALF_WIDTH, BLADE_HEIGHT)),)
    view: DepthCamera = view_camera((0.0, -2.5, 2.6), (0.0, -0.02, 0.25))
    tool_colors: Sequence[tuple[int, int, int]] = (BLADE_COLOR,)
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    matters: ClassVar[tuple[str, ...]] = tuple(MATTERS)
    outline: ClassVar[TrackedVehicle] = TrackedVehicle(
        rear=-0.5 * BLADE_THICKNESS,
        front=0.5 * BLADE_THICKNESS,
        half_width=BLADE_HALF_WIDTH,
        lower=GRID.lower,
        upper=GRID.upper,
        speed=SPEED,
        turn_rate=TURNING,
        clearance=CLEARANCE,
    )
    grid: ClassVar[HeightGrid] = GRID
    margin: ClassVar[int] = MARGIN
    reward_scale: ClassVar[float] = REWARD_SCALE
    tint_height: ClassVar[float] = 0.12

    def __init__(self, env_count: int = 1, **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (4,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart("forward speed", "forward", f"{SPEED:g} m/s"),
            ActionPart("speed sideways", "left", f"{SIDEWAYS:g} m/s"),
            ActionPart("speed up", "up", f"{LIFTING:g} m/s"),
            ActionPart("yaw rate", "turn left", f"{TURNING:g} rad/s"),
        ]
        high = np.array([HALF_X, HALF_Y, LIFT[1], 1, 1, 10, 10, 10], np.float32)
        low = -high
        low[2] = 0.0
        blade = spaces.Box(low, high, dtype=np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "blade": blade})
        self.pose: Floats = np.zeros((self.env_count, 4))  # x, y, z of the lower edge [m], yaw [rad], not wrapped

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """Trough, raised blade and a hill."""
        bounds = ((-HALF_X, -HALF_Y, 0.0), (HALF_X, HALF_Y, TOP))
        scene = Scene(bounds=bounds, boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand, steel = add_sand_and_steel(scene, self.form, DENSITY, GRAIN_FRICTION, 0.3, on_steel=(0.3, 0.1))
        self.form.add_to(scene, sand, hill_lattice(HILLS[number], self), number)
        scene.add_tool(blade_solid(), name="blade", material=steel, pose=(0.0, 0.0, TOP * self.form.looseness))
        return scene

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed, target, friction and the blade's pose of each listed env."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        turns = np.zeros(len(envs), np.float32)
        x, y = GRID.centers()
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(len(HILLS))
            turns[row] = math.pi * draw.integers(2)
            self.friction[env] = draw.uniform(*self.friction_range)
            tilt = draw.uniform(-difficulty.tilt, difficulty.tilt, 2)
            surface = tilt[0] * x / HALF_X + tilt[1] * y / HALF_Y
            height = draw.uniform(*difficulty.bump) * (1.0 if draw.random() < 0.5 else -1.0)
            center = draw.uniform(-0.35, 0.35), draw.uniform(-0.2, 0.2)
            away = ((x - center[0]) ** 2 + (y - center[1]) ** 2) / 0.28**2
            self.target[env] = surface + height * np.maximum(1.0 - 0.5 * away, 0.0)
            yaw = draw.uniform(-math.pi, math.pi)
            pose = draw.uniform(-HALF_X, HALF_X), draw.uniform(-HALF_Y, HALF_Y), yaw
            self.pose[env, PLANE], self.pose[env, 2] = self.outline.clamp(np.array([pose]))[0], LIFT[1]
        self.load_beds(envs, chosen)
        world.transform_grains(np.zeros((len(envs), 3), np.float32), turns, envs=envs)
        self.set_materials(envs)
        world.set_tool_poses(world.drive_poses(self.pose[envs]), envs=envs)
        heights = self.heights()
        for env in envs:
            # the target holds as much as the bed
            target = smooth(self.target[env])
            self.target[env] = target + (heights[env].mean() - target.mean())
        self.take_aim(envs)

    def drive(self) -> Drive:
        """The blade is a vehicle that is lifted, too."""
        rates = {"ahead": (0, SPEED), "left": (1, SIDEWAYS), "up": (2, LIFTING), "turn": (3, TURNING)}
        return self.outline.drive(CONTROL_PERIOD, rates, LIFT)

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self.pose = self.simulate_driven(actions, idle, self.pose)
        self.measure()

    def sense(self) -> Arrays:
        """The target and the blade of all envs."""
        blade = [*self.pose[:, :3].T, *sin_cos(self.pose[:, 3]), self._force()]
        return {"target": self.target_image.copy(), "blade": self.vector("blade", blade)}

    def _force(self) -> Floats:
        """Of the grains on the blade (env_count, 3) over their weight."""
        # NumPy is slow where rows are cut out: the torque goes with the force
        wrench = self.results.wrenches.reshape(self.env_count, 6) / self.weight
        return self.unless_fresh(wrench[:, :3])


class LevelV1Task(Scaled, LevelTask):
    """The levelling task in `env_count` envs, with rewards that add up to 1.

    ## Description, Action Space, Observation Space, Starting State, Episode End, Arguments
    Those of `LevelTask`; the same seed and actions give the same episode. With observation="state" there is "state"
    alone, see `granular_gym.envs.level_state.VECTOR`.

    ## Rewards
    What the step took off the error, as a share of the error at the start; with reward="paper" 100 times that.

    ## Version History
    - v1: rewards scaled; observation="state".
    - v0: `LevelTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    full_return: ClassVar[float] = REWARD_SCALE
    state_vector: StateVector | None = VECTOR

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        vectors: NDArray[np.float32] = state_of(
            GRID,
            MARGIN,
            LIFT,
            heights=self.heights(),
            target=self.target,
            pose=self.pose,
            force=self._force().astype(np.float64),
            error=self.error,
            first_error=self.first_error,
        )
        return vectors


def hill_lattice(shape: str, task: LevelTask) -> Floats:
    """Grains before they settle, (n, 3) [m]: a loose jittered lattice under a hilly surface, the lowest taken first."""
    radius = task.form.reach
    # every other layer is shifted by half a step: as dense as the bed will be, so that the hills do not collapse
    step, rise = 2.3 * radius, 1.36 * radius
    counts = [max(int((2.0 * half - 3.4 * radius) / step) + 1, 1) for half in (HALF_X, HALF_Y)]
    layers = math.ceil(4.0 * task.grain_count / (counts[0] * counts[1])) + 2
    i, j, k = (a.ravel() for a in np.meshgrid(*(np.arange(n) for n in (*counts, layers)), indexing="ij"))
    x = (i - 0.5 * (counts[0] - 1) + 0.5 * (k % 2) - 0.25) * step
    y = (j - 0.5 * (counts[1] - 1) + 0.5 * (k % 2) - 0.25) * step
    z = 1.2 * radius + k * rise
    u, v = x / HALF_X, y / HALF_Y
    if shape == "mound":
        hill = 0.55 * np.exp(-4.0 * ((u - 0.2) ** 2 + (v + 0.1) ** 2))
    elif shape == "ridge":
        hill = 0.45 * np.exp(-12.0 * (u + 0.25 * v) ** 2)
    elif shape == "slope":
        hill = 0.3 * u + 0.1 * v
    else:
        hill = 0.45 * np.exp(-9.0 * ((u - 0.5) ** 2 + v**2)) + 0.45 * np.exp(-9.0 * ((u + 0.5) ** 2 + v**2))
    chosen = np.sort(np.argsort(z / task.form.looseness - hill, kind="stable")[: task.grain_count])
    points = np.stack([x, y, z], axis=1)[chosen]
    draw = np.random.Generator(np.random.PCG64(HILLS.index(shape)))
    points += draw.uniform(-0.05, 0.05, points.shape) * radius
    # where only a few large grains fit, half a step is beyond the walls
    inside = np.array([HALF_X, HALF_Y]) - radius
    points[:, :2] = np.clip(points[:, :2], -inside, inside)
    return points.astype(np.float32)


def blade_solid() -> Sdf:
    """An upright plate across x, its origin in the middle of its round lower edge."""
    half = 0.5 * BLADE_THICKNESS
    straight = 0.5 * (BLADE_HEIGHT - half)
    plate = Sdf.box((half, BLADE_HALF_WIDTH, straight)).at((0.0, 0.0, half + straight))
    edge = Sdf.cylinder(half, BLADE_HALF_WIDTH).at((0.0, 0.0, half), (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))
    return Sdf.union(plate, edge)


LevelEnv: type[GoalEnv]
LevelVectorEnv: type[GoalVectorEnv]
LevelEnv, LevelVectorEnv = env_classes(LevelTask)
LevelV1Env: type[GoalEnv]
LevelV1VectorEnv: type[GoalVectorEnv]
LevelV1Env, LevelV1VectorEnv = env_classes(LevelV1Task)
