"""dough.py: `granular_gym/Dough-v0`: a roller flattens a ball of dough to a target surface.

A ball of dough, continuous matter, lies on a table, and a target surface of the same volume is shown beside it: a slab
or a wedge. The roller moves along and up and turns about its axis, which lies across. It is kinematic and never comes
nearer to the table than a gap. What counts is how far the dough's column heights (heights.py) are from the target's.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.continuum import VonMises
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.envs.dough_state import VECTOR, state_of
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.heights import HeightGrid
from granular_gym.tasks.images import Image, sky_camera, view_camera
from granular_gym.tasks.pace import Pace, Preset
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.surface_task import SKY, TARGET, SurfaceTask
from granular_gym.tasks.touch import TouchPad

CONTROL_PERIOD = 0.1  # [s]
BALL = 0.05  # [m] radius of the ball
VOLUME = 4.0 / 3.0 * math.pi * BALL**3  # [m3] of the dough
RADIUS_OF_2000 = BALL / 2000.0 ** (1.0 / 3.0)  # [m] of the sphere of a particle's volume
DENSITY = 1100.0  # [kg/m3]
DOUGH = VonMises(2e4, 0.4, yield_stress=1e3, viscosity=20.0)
DOUGH_FRICTION = 0.6  # with table and roller
FASTEST = 0.3  # [m/s]
#: semi-axes of the dough over the radius of the ball; their product is about 1
SHAPES = {"ball": (1.0, 1.0, 1.0), "long": (1.15, 1.0, 0.87), "wide": (1.0, 1.15, 0.87)}
HALF_X, HALF_Y = 0.2, 0.15  # [m] of the field
GRID = HeightGrid((-HALF_X, -HALF_Y), (HALF_X, HALF_Y), (12, 16), packing=1.0)
FINE = 8  # parts of a cell along each axis, from which targets are made
BOUNDS = ((-0.3, -0.2, 0.0), (0.3, 0.2, 0.4))  # [m]
ROLLER, ROLLER_HALF = 0.04, 0.12  # [m] radius and half length
REACH = 0.2  # [m] x of the roller's axis on either side
GAP = (0.012, 0.14)  # [m] between the roller's lowest line and the table
SPEED, LIFTING, TURNING = 0.2, 0.1, 5.0  # [m/s], [rad/s] at full action: it rolls without slip at full speed
SKY_SHAPE, SKY_HEIGHT = (36, 48), 0.4  # the sky camera looks down from there [m]
SKY_CAMERA = sky_camera(*SKY_SHAPE, HALF_Y, SKY_HEIGHT, near=0.1)
#: the target's outline is |x/a|^ROUND + |y/b|^ROUND = 1, which encloses FULL a b; b / a is WIDTH, as rolling makes it
ROUND, FULL, WIDTH = 3.0, 3.533, 0.95
LOAD = 10.0  # weights of the dough, in which forces on the roller are shown
DOUGH_COLOR = np.array([232.0, 212.0, 172.0])
ROLLER_COLOR = (178, 122, 70)


@dataclass(frozen=True)
class Difficulty:
    """What makes a target hard."""

    thickness: tuple[float, float]  # mean, of the target [m]
    offset: float  # largest distance of its middle from the dough's [m]
    slope: float  # largest rise from its middle to its end, as a share of its thickness
    friction: tuple[float, float]  # of the dough with table and roller
    goal: float  # share of the error at the start that may be left in a success


DIFFICULTIES = {
    "easy": Difficulty((0.035, 0.035), 0.0, 0.0, (0.6, 0.6), 0.3),
    "medium": Difficulty((0.03, 0.045), 0.03, 0.0, (0.5, 0.7), 0.3),
    "hard": Difficulty((0.03, 0.045), 0.05, 0.3, (0.4, 0.8), 0.3),
}
#: substeps of 50, 20 and 5 ms, whatever the size of the particles, as steps are implicit; solved to a tolerance alone
PRESETS = {
    "train": Preset(0.05, math.inf, 1, 3e-3),
    "fast": Preset(0.02, math.inf, 1, 1e-3),
    "accurate": Preset(0.005, math.inf, 1, 1e-4),
}


class DoughTask(SurfaceTask):
    """The dough-rolling task in `env_count` envs.

    ## Description
    A roller flattens a ball of dough of 10 cm on a table to a target surface of the same volume. Control runs at 10 Hz.

    ## Action Space
    Box (3,) float32 in [-1, 1]: speed of the roller along x (1 = 0.2 m/s) and up (1 = 0.1 m/s), turn rate about its
    axis (1 = 5 rad/s; at the same x and turn it rolls without slip).

    ## Observation Space
    Dict of
    - "sky" (36, 48) float32: depth [m] from 0.4 m above, orthographic;
    - "target" (36, 48) float32: what that camera would see of the target surface without the roller [m];
    - "roller" (5,) float32: x of its axis [m]; gap between it and the table [m]; force of the dough on it along x and
      up, and torque about its axis over its radius, all over 10 weights of the dough; 0 after a reset.

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far. With observation="state" there is "state"
    alone, see `granular_gym.envs.dough_state.VECTOR`.

    ## Rewards
    What the step took off the error (mean distance of the column heights from the target), as a share of the error at
    the start.

    ## Starting State
    Dough of one of three shapes (ball, long, wide) that has settled, moved along x; the target surface; the roller,
    raised, anywhere; the friction of the dough; all drawn from the seed within the limits of the difficulty.

    ## Episode End
    Truncated after 200 steps; never terminated.

    Infos: "error" [m], "error_share" of the error at the start, "success" (error_share is at most the difficulty's),
    and what every task reports (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `grain_count`: particles of the dough, 1,000 by default; the grid has 8 of them in a cell.
    - others: see `Task`; difficulty "easy" (a slab of 35 mm under which the dough lies), "medium" (a slab of 30 .. 45
      mm, off the dough's middle, friction drawn) or "hard" (a wedge, further off, more friction drawn).

    ## Version History
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (*SurfaceTask.episode_state, "roller")
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: Mapping[str, Image] = {
        SKY: Image(SKY_CAMERA, floor=True),
        TARGET: Image(SKY_CAMERA, drawn=True, floor=True),
    }
    pads: Sequence[TouchPad] = (TouchPad("roller"),)
    view: DepthCamera = view_camera((0.1, -0.52, 0.5), (0.0, -0.01, 0.03), fov=0.42)
    tool_colors: Sequence[tuple[int, int, int]] = (ROLLER_COLOR,)
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    state_vector: StateVector | None = VECTOR
    grid: ClassVar[HeightGrid] = GRID
    tint_height: ClassVar[float] = 0.05

    def __init__(self, env_count: int = 1, *, grain_count: int = 1000, **kwargs: Any) -> None:
        super().__init__(env_count, grain_count=grain_count, **kwargs)
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart("speed of the roller along x", "right", f"{SPEED:g} m/s"),
            ActionPart("speed of the roller up", "up", f"{LIFTING:g} m/s"),
            ActionPart("turn rate of the roller", "turn right", f"{TURNING:g} rad/s"),
        ]
        low, high = np.array([[-REACH, 0.0, -10, -10, -10], [REACH, GAP[1], 10, 10, 10]], np.float32)
        roller = spaces.Box(low, high, dtype=np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "roller": roller})
        self.roller: Floats = np.zeros((self.env_count, 3))  # x of its axis, gap below it [m], turn [rad]

    def solver_at(self, pace: Pace) -> Solver:
        """See `Task.solver_at`; continuous matter does not sleep."""
        return replace(super().solver_at(pace), sleep=False)

    @property
    def rubbing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Dough rubs on wood."""
        return np.array([[0, 1]]), np.array([[1, 0]])

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """Table, raised roller and a lump of dough."""
        scene = Scene(bounds=BOUNDS, boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        dough = scene.add_material(density=DENSITY, continuum=DOUGH, name="dough")
        wood = scene.add_material(density=700.0, name="wood")
        scene.set_pair(dough, wood, friction=DOUGH_FRICTION, restitution=0.0)
        scene.wall_material = wood
        distance = (VOLUME / self.grain_count) ** (1.0 / 3.0)
        lump = lump_of(self.grain_count, distance, list(SHAPES.values())[number])
        scene.add_continuum(dough, points=lump, spacing=2.0 * distance)
        across = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
        cylinder = Sdf.cylinder(ROLLER, ROLLER_HALF).at((0.0, 0.0, 0.0), across)
        scene.add_tool(cylinder, name="roller", material=wood, pose=(0.0, 0.0, GAP[1] + ROLLER))
        return scene

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws dough, target, friction and the roller's place of each listed env."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        shifts = np.zeros((len(envs), 3), np.float32)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(len(SHAPES))
            self.friction[env] = draw.uniform(*self.friction_range)
            shifts[row, 0] = draw.uniform(-0.03, 0.03)
            middle = float(shifts[row, 0]) + draw.uniform(-difficulty.offset, difficulty.offset)
            thickness = draw.uniform(*difficulty.thickness)
            self.target[env] = wedge(middle, thickness, draw.uniform(-difficulty.slope, difficulty.slope))
            self.roller[env] = draw.uniform(-0.15, 0.15), GAP[1], 0.0
        self.load_beds(envs, chosen)
        world.transform_grains(shifts, np.zeros(len(envs), np.float32), envs=envs)
        self.set_materials(envs)
        world.set_tool_poses(world.drive_poses(self.roller[envs]), envs=envs)
        self.take_aim(envs)

    def drive(self) -> Drive:
        """The roller on two slides and a hinge."""
        joints = [Joint(0, SPEED, -REACH, REACH), Joint(1, LIFTING, *GAP), Joint(2, TURNING, wraps=True)]
        axes = [Axis(0, 0, "x"), Axis(0, 1, "z"), Axis(0, 2, "turn_y")]
        down = np.array([[0.0, 0.0, ROLLER, 1.0, 0.0, 0.0, 0.0]])
        return joint_drive(joints, axes, down, CONTROL_PERIOD, len(joints))

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self.roller = self.simulate_driven(actions, idle, self.roller)
        self.measure()

    def sense(self) -> Arrays:
        """The target and the roller of all envs."""
        return {
            TARGET: self.target_image.copy(),
            "roller": self.vector("roller", [self.roller[:, :2], self._load()]),
        }

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        vectors: NDArray[np.float32] = state_of(
            GRID,
            heights=self.heights(),
            target=self.target,
            roller=self.roller,
            reach=REACH,
            gaps=GAP,
            load=self._load(),
            error=self.error,
            first_error=self.first_error,
        )
        return vectors

    def _load(self) -> Floats:
        """Force along x and up on the roller, torque over its radius (env_count, 3), over LOAD weights of the dough."""
        wrench = self.results.wrenches.reshape(self.env_count, 6).astype(np.float64) / (LOAD * self.weight)
        return self.unless_fresh(np.stack([wrench[:, 0], wrench[:, 2], wrench[:, 4] / ROLLER], axis=1))

    # pictures --------------------------------------------------------------------------------------------------------

    def matter_colors(self, env: int) -> Floats:
        """See `Task.matter_colors`."""
        return np.tile(DOUGH_COLOR, (self.grain_count, 1))

    def floor_mark(self, env: int) -> Floats:
        """Where the target lies."""
        x, y = (part[self.target[env] > 0.5 * self.target[env].max()] for part in GRID.centers())
        half_x, half_y = (0.5 * size for size in GRID.cell)
        outline = [x.min() - half_x, y.min() - half_y, x.max() + half_x, y.max() + half_y]
        return np.array([*outline, 0.004, 60.0, 110.0, 196.0])


def lump_of(count: int, distance: float, shape: Sequence[float]) -> Floats:
    """Particles of a lump on the table, (count, 3) [m]: those of a lattice that are the nearest to its middle.

    Args:
        count: of particles.
        distance: of particles [m].
        shape: semi-axes, of which distances are shares.
    """
    half = math.ceil(0.5 * max(shape) * (2.0 * count) ** (1.0 / 3.0)) + 1
    each = np.arange(-half, half) + 0.5
    z, y, x = np.meshgrid(each, each, each, indexing="ij")
    lattice = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    nearest = np.argsort(((lattice / shape) ** 2).sum(axis=1), kind="stable")[:count]
    lump: Floats = distance * lattice[np.sort(nearest)]
    lump[:, 2] += 0.5 * distance - lump[:, 2].min()
    return lump


def wedge(middle: float, thickness: float, slope: float) -> Floats:
    """Column heights (rows, columns) of a target of the dough's volume [m].

    Args:
        middle: x of its middle [m].
        thickness: there [m].
        slope: what it rises from there to its end at larger x, as a share of its thickness.
    """
    x, y = HeightGrid(GRID.lower, GRID.upper, (FINE * GRID.shape[0], FINE * GRID.shape[1])).centers()
    length = half_length(thickness)
    along, across = (x - middle) / length, y / (WIDTH * length)
    inside = np.abs(along) ** ROUND + np.abs(across) ** ROUND < 1.0
    heights = GRID.heights_under(np.where(inside, thickness * (1.0 + slope * along), 0.0))
    target: Floats = heights * VOLUME / (heights.sum() * math.prod(GRID.cell))
    return target


def half_length(thickness: float) -> float:
    """Of a target along x [m]."""
    return math.sqrt(VOLUME / (thickness * FULL * WIDTH))


DoughEnv: type[GoalEnv]
DoughVectorEnv: type[GoalVectorEnv]
DoughEnv, DoughVectorEnv = env_classes(DoughTask)
