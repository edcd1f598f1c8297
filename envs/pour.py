"""pour.py: `granular_gym/Pour-v1`: pour a dose of grains from a cup into a target.

A cup full of grains moves in the x-z plane and tilts about y. The dose, the positions of the target and the cup, and
the friction between grains are drawn from the seed. What is poured cannot be taken back, and grains run on for a moment
after the cup is turned back: to hit the dose the flow must be slow at the end.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.engine.scene import Scene
from granular_gym.envs.pour_state import FLOW_WINDOW, VECTOR, cell_boxes, state_of
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.goals import BEFORE, GoalTask
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.images import Image, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.scaled import Scaled
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.touch import TouchPad

CONTROL_PERIOD = 0.05  # [s]
RADIUS_OF_2000 = 0.0215  # [m]
DENSITY = 1200.0  # [kg/m3]
FASTEST = 4.2  # [m/s] a grain that reaches the floor
BOUNDS = ((-1.7, -0.9, 0.0), (2.0, 0.9, 3.2))
CUP = (0.30, 0.21, 0.425)  # [m] half extents of the cup's inside
TARGET_HALF_Y, TARGET_HEIGHT = 0.36, 0.45  # [m] inside
WALL = 0.05  # [m] thickness
TARGET_Z = WALL + 0.5 * TARGET_HEIGHT  # [m] of its centre
CUP_X, CUP_Z, CUP_TILT = (-0.9, 1.3), (1.1, 1.7), (-0.3, 2.6)  # limits of the cup's centre [m] and tilt [rad]
SPEED, LIFTING, TILTING = 0.6, 0.4, 1.2  # [m/s], [m/s], [rad/s] at full action
BED_X, BED_Z = 0.0, 1.3  # [m] where the cup stands while its bed settles
BEDS = 3  # settled beds that episodes begin with
#: of a bed before it settles: spacing of the grains, and how far they are off their places [radii]
LOOSE, TIGHT = (2.12, 0.05), (2.04, 0.01)
SPILL_HEIGHT = 0.2  # [m] grains below it and beside the target are spilled
FAR = 10.0  # [m] reaches past the bounds
GRAIN_FRICTION = 0.35
REWARD_SCALE = 100.0  # what the dose earns; spilling all of the content costs SPILL_COST times as much
SPILL_COST = 2.0
SPILL_LIMIT = 0.02  # share of the content that may be spilled in a success
VIEW: dict[str, Any] = {"position": (0.45, -3.0, 2.9), "target": (0.2, 0.0, 0.75), "fov": 0.72, "near": 0.5, "far": 6.0}
CUP_CAMERA = DepthCamera.perspective(
    height=36,
    width=36,
    fov=1.5,
    position=(-CUP[0] - WALL, 0.0, CUP[2] + 0.25),
    target=(CUP[0], 0.0, 0.5 * CUP[2]),
    near=0.05,
    far=3.0,
)
CUP_COLOR, TARGET_COLOR = (222, 120, 50), (84, 132, 178)


@dataclass(frozen=True)
class Difficulty:
    """What makes pouring hard."""

    half_width: float  # of the target along x, inside [m]
    distance: tuple[float, float]  # x of the target [m]
    dose: tuple[float, float]  # share of the content
    friction: tuple[float, float]  # between grains
    tolerance: float  # share of the content within which the dose must be met


DIFFICULTIES = {
    "easy": Difficulty(0.40, (0.7, 0.8), (0.4, 0.6), (0.35, 0.35), 0.05),
    "medium": Difficulty(0.33, (0.5, 1.0), (0.25, 0.75), (0.25, 0.45), 0.04),
    "hard": Difficulty(0.26, (0.4, 1.2), (0.15, 0.85), (0.2, 0.6), 0.03),
}


class PourTask(GoalTask):
    """The pouring task in `env_count` envs.

    ## Description
    A cup full of grains moves in the x-z plane and tilts about y, to pour a dose into a target box. Shares are
    fractions of all grains of the env. Control runs at 20 Hz.

    ## Action Space
    Box (3,) float32 in [-1, 1]: speed of the cup along x (1 = 0.6 m/s) and z (1 = 0.4 m/s), tilt rate towards +x (1 =
    1.2 rad/s).

    ## Observation Space
    Dict of
    - "side" (48, 64) float32: depth [m] from the front and above, 0.5 .. 6 m;
    - "cup" (36, 36) float32: depth [m] of a camera that rides on the cup's back wall and looks over its lip, 0.05 .. 3
      m;
    - "state" (8,) float32: x and z of the cup [m], its tilt [rad], x of the target [m]; shares in the cup, received and
      spilled; dose [share].

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far.

    ## Rewards
    100 times what the step took off |dose - received| / dose, less 200 times the share it spilled.

    ## Starting State
    One of three settled contents in an upright cup; the dose, the positions of target and cup, and the friction between
    grains drawn from the seed within the limits of the difficulty.

    ## Episode End
    Truncated after 180 steps of 0.05 s; never terminated.

    Infos: "received", "spilled", "held" (in the cup), "dose", "dose_error" [share], "mass" received [kg], "success"
    (the dose is met within the difficulty's tolerance, at most 0.02 is spilled), and what every task reports
    (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - others: see `Task`; difficulty "easy" (wide target, doses of 0.4 .. 0.6), "medium" or "hard" (narrow target,
      further away, doses of 0.15 .. 0.85, friction drawn).

    ## Version History
    - v1: `PourV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (
        "cup", "target_x", "dose", "held", "received", "spilled", "gain",
    )  # fmt: skip
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: Mapping[str, Image] = {"side": Image(view_camera(**VIEW, shape=(48, 64))), "cup": Image(CUP_CAMERA, "cup")}
    pads: Sequence[TouchPad] = (TouchPad("cup", "z", (-CUP[0], -CUP[1]), CUP[:2]),)
    depth_view = "side"
    view: DepthCamera = view_camera(**VIEW)
    tool_colors: Sequence[tuple[int, int, int]] = CUP_COLOR, TARGET_COLOR
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    matters: ClassVar[tuple[str, ...]] = tuple(MATTERS)
    law_tables: ClassVar[bool] = True
    held: Floats
    received: Floats
    spilled: Floats
    gain: Floats

    def __init__(self, env_count: int = 1, **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (3,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart("speed of the cup along x", "right", f"{SPEED:g} m/s"),
            ActionPart("speed of the cup up", "up", f"{LIFTING:g} m/s"),
            ActionPart("tilt rate", "turn right", f"{TILTING:g} rad/s"),
        ]
        state = spaces.Box(
            np.array([CUP_X[0], 0, CUP_TILT[0], 0, 0, 0, 0, 0], np.float32),
            np.array([CUP_X[1], CUP_Z[1], CUP_TILT[1], 2, 1, 1, 1, 1], np.float32),
        )
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "state": state})
        n = self.env_count
        self.cup: Floats = np.zeros((n, 3))  # x, z of its centre [m], tilt [rad]
        self.target_x: Floats = np.zeros(n)  # x of the target [m]
        self.dose: Floats = np.ones(n)  # shares
        self.held, self.received, self.spilled, self.gain = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
        self.in_cup: NDArray[np.float64] = self._cup_boxes().astype(np.float64)
        self.boxes: NDArray[np.float32] = self._boxes()
        # which boxes are the target, the cup, and below
        self.places: NDArray[np.int64] = np.zeros((self.boxes.shape[1], 3), np.int64)
        self.places[0, 0], self.places[1:-1, 1], self.places[-1, 2] = 1, 1, 1

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """Standing cup with grains, and target."""
        scene = Scene(bounds=BOUNDS, boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        friction = self.form.filling(GRAIN_FRICTION)
        sand, steel = add_sand_and_steel(scene, self.form, DENSITY, friction, 0.1, on_steel=(0.25, 0.1))
        scene.wall_material = steel
        self.form.add_to(scene, sand, cup_lattice(number, self), number)
        scene.add_tool(box_of_walls(CUP), name="cup", material=steel, pose=(BED_X, 0.0, BED_Z))
        inside = (self.difficulty.half_width, TARGET_HALF_Y, 0.5 * TARGET_HEIGHT)
        scene.add_tool(box_of_walls(inside), name="target", material=steel, pose=(1.0, 0.0, TARGET_Z))
        return scene

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed, dose, friction, and the positions of cup and target of each listed env."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        shifts = np.zeros((len(envs), 3), np.float32)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(BEDS)
            self.cup[env] = draw.uniform(-0.8, -0.4), draw.uniform(1.2, 1.6), 0.0
            self.target_x[env] = draw.uniform(*difficulty.distance)
            self.dose[env] = draw.uniform(*difficulty.dose)
            self.friction[env] = draw.uniform(*self.friction_range)
            shifts[row] = self.cup[env, 0] - BED_X, 0.0, self.cup[env, 1] - BED_Z
        self.load_beds(envs, chosen)
        world.transform_grains(shifts, np.zeros(len(envs), np.float32), envs=envs)
        self.set_materials(envs)
        world.set_tool_poses(world.drive_poses(self._drive_state()[envs]), envs=envs)
        self._count()
        self.gain[envs] = 0.0

    def counted(self) -> dict[str, Any]:
        """Grains in the target, else in the cup, else below."""
        self.boxes[:, 0, 0] = self.target_x
        self.boxes[:, 1:-1] = _core.tilted_boxes(np.ascontiguousarray(self.cup), self.in_cup)
        return {"turned_boxes": self.boxes}

    def _cup_boxes(self) -> Floats:
        """Boxes in the cup, in its frame: centre x, z, and half extents x, y, z (n, 5) [m]; the last holds all."""
        # a heap may stand above the rim of the cup
        over = 0.5 * self.radius
        return np.array([[0.0, over, CUP[0], CUP[1], CUP[2] + over]])

    def _boxes(self) -> NDArray[np.float32]:
        """The boxes that `counted` places, (env_count, n, 10) [m]: over the target's floor, in the cup, low down."""
        boxes = np.zeros((self.env_count, len(self.in_cup) + 2, 10), np.float32)
        boxes[:, :, 3] = 1.0
        top = WALL + TARGET_HEIGHT + self.radius
        boxes[:, 0, 2], boxes[:, 0, 7:] = 0.5 * top, (self.difficulty.half_width, TARGET_HALF_Y, 0.5 * top)
        boxes[:, -1, 2], boxes[:, -1, 7:] = SPILL_HEIGHT - FAR, FAR
        return boxes

    def drive(self) -> Drive:
        """The cup slides and tilts; the target stands where the episode has it."""
        moved = zip((SPEED, LIFTING, TILTING), (CUP_X, CUP_Z, CUP_TILT), strict=True)
        joints = [Joint(action, rate, *limits) for action, (rate, limits) in enumerate(moved)]
        axes = [Axis(0, 0, "x"), Axis(0, 1, "z"), Axis(0, 2, "turn_y"), Axis(1, 3, "x")]
        poses = np.array([[0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [0.0, 0.0, TARGET_Z, 1.0, 0.0, 0.0, 0.0]])
        return joint_drive([*joints, Joint()], axes, poses, CONTROL_PERIOD, len(joints))

    def _drive_state(self) -> Floats:
        """Cup and target (env_count, 4)."""
        return np.concatenate([self.cup, self.target_x[:, None]], axis=1)

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self.cup = self.simulate_driven(actions, idle, self._drive_state())[:, :3]
        before = self.received, self.spilled
        self._count()
        self.gain = gain_of(before, (self.received, self.spilled), self.dose)

    @property
    def goal_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Two shares, and a dose."""
        return (2,), ()

    def achieved_goal(self) -> Floats:
        """Shares received and spilled (env_count, 2)."""
        return np.stack([self.received, self.spilled], axis=1)

    def desired_goal(self) -> Floats:
        """The dose (env_count,), a share."""
        goals: Floats = self.dose.copy()
        return goals

    def pay(self, achieved: Any, desired: Any, earlier: Mapping[str, Any]) -> Floats:
        """See `GoalTask.pay`."""
        paid: Floats = REWARD_SCALE * gain_of(earlier[BEFORE].T, achieved.T, desired)
        return paid

    def _count(self) -> None:
        """Where the grains are."""
        self.received, self.held, self.spilled = self.sums_of(self.results.turned_box_counts, self.places).T

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; never terminated."""
        error = np.abs(self.dose - self.received)
        infos: Arrays = {
            "received": self.received.copy(),
            "spilled": self.spilled.copy(),
            "held": self.held.copy(),
            "dose": self.dose.copy(),
            "dose_error": error,
            "mass": self.received * self.mass,
            "success": (error <= self.difficulty.tolerance) & (self.spilled <= SPILL_LIMIT),
        }
        return REWARD_SCALE * self.gain, np.zeros(self.env_count, bool), infos

    def sense(self) -> Arrays:
        """Cup, target and shares of all envs."""
        state = [*self.cup.T, self.target_x, self.held, self.received, self.spilled, self.dose]
        return {"state": self.vector("state", state)}


class PourV1Task(Scaled, PourTask):
    """The pouring task in `env_count` envs, with rewards that add up to 1.

    ## Description, Action Space, Observation Space, Starting State, Episode End, Arguments
    Those of `PourTask`; the same seed and actions give the same episode. With observation="state" there is "state"
    alone, see `granular_gym.envs.pour_state.VECTOR`.

    ## Rewards
    What the step took off |dose - received| / dose, less twice the share it spilled; with reward="paper" 100
    times that.

    ## Version History
    - v1: rewards scaled; observation="state" is longer than the entry of that name.
    - v0: `PourTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (*PourTask.episode_state, "flow")
    full_return: ClassVar[float] = REWARD_SCALE
    state_vector: StateVector | None = VECTOR

    def __init__(self, env_count: int = 1, **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        self.flow: Floats = np.zeros(self.env_count)  # out of the cup, averaged [share/s]

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """See `Task.begin`."""
        super().begin(envs, options)
        self.flow[envs] = 0.0

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        before = self.held
        super().advance(actions, idle)
        flow = (before - self.held) / CONTROL_PERIOD
        self.flow += CONTROL_PERIOD / FLOW_WINDOW * (flow - self.flow)

    def _cup_boxes(self) -> Floats:
        """With observation="state" its cells before all of it: a grain counts in the first box that holds it."""
        whole = super()._cup_boxes()
        return np.concatenate([cell_boxes(*CUP), whole]) if self.reads_state else whole

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        vectors: NDArray[np.float32] = state_of(
            cup=self.cup,
            ranges=(CUP_X, CUP_Z, CUP_TILT),
            lip=(CUP[0], CUP[2]),
            target=self.target_x,
            half_width=self.difficulty.half_width,
            rim=WALL + TARGET_HEIGHT,
            dose=self.dose,
            received=self.received,
            held=self.held,
            spilled=self.spilled,
            flow=self.flow,
            cells=self.shares_of(self.results.turned_box_counts[:, 1:-2]),
        )
        return vectors


def gain_of(before: Any, after: Any, dose: Floats) -> Floats:
    """What steps took off the distance from the dose, as a share of it, less the cost of what they spilled.

    Args:
        before: shares received and spilled before them, (n,) each.
        after: likewise after them.
        dose: (n,) a share.
    """
    (received, spilled), (received_now, spilled_now) = before, after
    gain: Floats = (np.abs(dose - received) - np.abs(dose - received_now)) / dose - SPILL_COST * (spilled_now - spilled)
    return gain


def box_of_walls(inside: tuple[float, float, float]) -> Sdf:
    """A box open at the top around an inside of given half extents [m]: floor and four walls, one part each."""
    x, y, z = inside
    half = 0.5 * WALL
    floor = Sdf.box((x + WALL, y + WALL, half)).at((0.0, 0.0, -z - half))
    ends = [Sdf.box((half, y + WALL, z + half)).at((side * (x + half), 0.0, -half)) for side in (-1.0, 1.0)]
    sides = [Sdf.box((x + WALL, half, z + half)).at((0.0, side * (y + half), -half)) for side in (-1.0, 1.0)]
    return Sdf.union(floor, *ends, *sides)


def cup_places(radius: float, spacing: float, least: int) -> Floats:
    """Places of a lattice in the standing cup, bottom up, (n, 3) [m]: layers with one above the rim at the most, or
    more of them where `least` places ask for it."""
    step = spacing * radius
    counts = [max(int((2.0 * half - (spacing - 0.02) * radius) / step) + 1, 1) for half in CUP[:2]]
    layer = counts[0] * counts[1]
    layers = max(int((2.0 * CUP[2] - 1.1 * radius) / step) + 2, math.ceil(least / layer))
    n = np.arange(layers * layer)
    cell = np.stack([n % counts[0], n // counts[0] % counts[1], n // layer], axis=1).astype(np.float64)
    cell[:, :2] -= 0.5 * (np.array(counts) - 1)
    places: Floats = cell * step + (BED_X, 0.0, BED_Z - CUP[2] + 1.1 * radius)
    return places


def cup_lattice(number: int, task: PourTask) -> Floats:
    """Grains before they settle, (n, 3) [m]: a jittered lattice in the standing cup, bottom up. Of coarse grains two
    layers of it would begin above the rim and fall beside the cup: they take places of a tighter one, at random, so
    that they do not settle as a crystal."""
    count, radius, draw = task.grain_count, task.form.reach, np.random.Generator(np.random.PCG64(number))
    (spacing, jitter), chosen = LOOSE, np.arange(count)
    places = cup_places(radius, spacing, 0)
    if count > len(places):
        spacing, jitter = TIGHT
        places = cup_places(radius, spacing, count)
        chosen = np.sort(draw.permutation(len(places))[:count])
    points = places[chosen]
    return (points + draw.uniform(-jitter, jitter, points.shape) * radius).astype(np.float32)


PourEnv: type[GoalEnv]
PourVectorEnv: type[GoalVectorEnv]
PourEnv, PourVectorEnv = env_classes(PourTask)
PourV1Env: type[GoalEnv]
PourV1VectorEnv: type[GoalVectorEnv]
PourV1Env, PourV1VectorEnv = env_classes(PourV1Task)
