"""bulldozer.py: `granular_gym/Bulldozer-v1`: a tracked vehicle pushes a heap of grains into a goal box.

After Millard et al., "GranularGym", section III.A: actions are forward speed and yaw rate, observations the depth
images of an ego camera above the blade and of a sky camera, and the vehicle's pose; each grain inside the goal box
earns 100 / n, each grain outside costs its distance to the box / n. The field is 8 x 4 m, control runs at 10 Hz for
600 steps. Ours: goal, heap and start are drawn from the seed, heaps are settled, and a heap keeps its volume whatever
the number of grains (the radius shrinks with the cube root). -v0 observes what the paper names, which does not show a
goal that is drawn; -v1 shows the goal as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.assets import asset_path
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.drives import Drive
from granular_gym.engine.scene import Scene
from granular_gym.envs.bulldozer_state import VECTOR, state_of
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import Settling, add_sand_and_steel
from granular_gym.tasks.boxes import box_stats_of
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.goals import BEFORE, GoalTask, HindsightTask
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.heights import HeightGrid
from granular_gym.tasks.images import Image, sky_camera, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.touch import TouchPad
from granular_gym.tasks.vehicle import TrackedVehicle, view_from

CONTROL_PERIOD = 0.1  # [s] per env step
RADIUS_OF_2000 = 0.025  # [m]
DENSITY = 1600.0  # [kg/m3]
FASTEST = 1.5  # [m/s] the blade's end while the vehicle drives and turns, and what it pushes
FIELD_LOWER, FIELD_UPPER = (-4.0, -2.0, 0.0), (4.0, 2.0, 2.0)  # [m]
GOAL_X = (1.5, 2.2)  # [m] the goal's centre is so far from the middle of the field
GOAL_EDGE = 0.03  # [m] of its mark on the floor in pictures
PLAN = [0, 1, 3, 4]  # x, y, x, y among the corners of a box
GOAL_HEIGHT = 2.0  # [m]: a grain on top of a pile in the goal counts
SKY_SHAPE, SKY_HEIGHT = (36, 72), 3.0  # the sky camera looks down from there [m]
EGO_CAMERA = DepthCamera.perspective(
    height=36,
    width=36,
    fov=0.5 * math.pi,
    position=(0.1, 0.0, 0.75),
    target=(1.0, 0.0, 0.1),
    near=0.2,
    far=3.0,
)
GOAL_COLOR, BLADE_COLOR, HULL_COLOR = (62, 150, 92), (96, 100, 108), (236, 170, 40)
HEAPS = ("cone", "ridge", "mesa")  # shapes the grains of a bed are poured in
HEAP_REACH = 1.15  # [m] no grain of a settled heap lies further from its centre
PARKING = (3.3, 1.4, 0.0)  # [m] where the vehicle stands while heaps settle
GRAIN_FRICTION = 0.5
STATE_GRID = HeightGrid(FIELD_LOWER[:2], FIELD_UPPER[:2], (40, 80))


@dataclass(frozen=True)
class Difficulty:
    """What makes pushing hard."""

    goal_side: float  # of the square goal [m]
    goal_y: float  # the goal's centre is at most so far from the middle of the field [m]
    heap_y: float  # the heap's likewise [m]
    heaps: tuple[str, ...]  # shapes of the heap
    friction: tuple[float, float]  # between grains
    goal: float  # share of the grains that must lie in the goal


DIFFICULTIES = {
    "easy": Difficulty(2.4, 0.3, 0.2, ("cone",), (GRAIN_FRICTION, GRAIN_FRICTION), 0.6),
    "medium": Difficulty(2.0, 0.8, 0.5, HEAPS, (GRAIN_FRICTION, GRAIN_FRICTION), 0.7),
    "hard": Difficulty(1.6, 1.0, 0.7, HEAPS, (0.3, 0.7), 0.7),
}


class BulldozerTask(GoalTask):
    """The bulldozer task in `env_count` envs.

    ## Description
    A tracked vehicle with a blade pushes a heap of grains into a goal box on a field of 8 x 4 m. It cannot leave the
    field: it slides along walls, and turning pushes it off them. Control runs at 10 Hz.

    ## Action Space
    Box (2,) float32 in [-1, 1]: forward speed (1 = 0.8 m/s), yaw rate (1 = 1 rad/s, left positive).

    ## Observation Space
    Dict of
    - "ego" (36, 36) float32: depth [m] of a camera on the hull that looks over the blade, 0.2 .. 3 m;
    - "sky" (36, 72) float32: depth [m] from 3 m above, orthographic; a miss reads 3 m;
    - "pose" (3,) float32: x [m], y [m], yaw [rad] in [-pi, pi] of the vehicle.

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far. The goal is in the infos only, as the paper
    observes no goal; `BulldozerV1Task` shows it.

    ## Rewards
    Mean over the grains of 100 inside the goal box, else minus the distance to it [m]; with reward="incremental" the
    change of that mean over the step.

    ## Starting State
    A settled heap (cone, ridge or mesa), turned and moved; the goal on the other half of the field; the vehicle
    anywhere clear of heap and walls; the friction between grains; all drawn from the seed within the limits of the
    difficulty.

    ## Episode End
    Truncated after 600 steps; never terminated.

    Infos: "goal_share" of the grains in the goal, "goal" (6,) lower and upper corner of the goal box [m], "success"
    (goal_share is at least the difficulty's), and what every task reports (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `reward`: "level" (the mean itself) or "incremental".
    - others: see `Task`; difficulty "easy" (a large goal straight ahead of a cone), "medium" or "hard" (a small goal,
      friction drawn).

    ## Version History
    - v1: `BulldozerV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = ("pose", "goal", "score", "gain", "share")
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: Mapping[str, Image] = {
        "ego": Image(EGO_CAMERA, "hull", mirror_axis=-1),
        "sky": Image(sky_camera(*SKY_SHAPE, FIELD_UPPER[1], SKY_HEIGHT), mirror_axis=-2, floor=True),
    }
    depth_view = "sky"
    pads: Sequence[TouchPad] = (TouchPad("blade", "x", (-0.455, 0.0), (0.455, 0.31)),)
    view: DepthCamera = view_camera((0.0, -5.9, 4.9), (0.0, 0.02, 0.0), fov=0.7, shape=(400, 704))
    tool_colors: Sequence[tuple[int, int, int]] = BLADE_COLOR, HULL_COLOR
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    matters: ClassVar[tuple[str, ...]] = tuple(MATTERS)
    law_tables: ClassVar[bool] = True
    settling: Settling = Settling(0.5, 10, 2e-3)
    vehicle: ClassVar[TrackedVehicle] = TrackedVehicle(
        rear=-0.45,
        front=0.62,
        half_width=0.47,
        lower=FIELD_LOWER[:2],
        upper=FIELD_UPPER[:2],
        speed=0.8,
        turn_rate=1.0,
        clearance=0.06,
    )

    rewards: ClassVar[tuple[str, ...]] = ("level", "incremental")
    full_return: ClassVar[float] = 1.0  # what gains are divided by

    def __init__(self, env_count: int = 1, *, reward: str = "level", **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        self.reward: str = checks.choice("reward", reward, self.rewards)
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (2,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart("forward speed", "forward", f"{self.vehicle.speed:g} m/s"),
            ActionPart("yaw rate", "turn left", f"{self.vehicle.turn_rate:g} rad/s"),
        ]
        low_pose = np.array([*FIELD_LOWER[:2], -np.pi], np.float32)
        pose = spaces.Box(low_pose, -low_pose, dtype=np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "pose": pose})
        self.pose: Floats = np.zeros((self.env_count, 3))  # x, y, yaw; yaw is not wrapped
        self.goal: Floats = np.zeros((self.env_count, 6), np.float32)
        self.score: Floats = np.zeros(self.env_count)  # the paper's mean, after the last step
        self.gain: Floats = np.zeros(self.env_count)  # its change over the last step
        self.share: Floats = np.zeros(self.env_count)  # of the grains in the goal

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """The field with the vehicle parked in it, and a heap around the z axis."""
        scene = Scene(bounds=(FIELD_LOWER, FIELD_UPPER), boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand, steel = add_sand_and_steel(scene, self.form, DENSITY, GRAIN_FRICTION, 0.3, on_steel=(0.3, 0.1))
        form = self.form
        points = heap_lattice(HEAPS[number], self.grain_count, form.reach, form.looseness)
        form.add_to(scene, sand, points, number)
        for name, coarsest in (("blade", 0.012), ("hull", 0.015)):
            # sharp enough for the grains, and for a picture
            spacing = min(max(0.8 * form.finest, 0.008), coarsest)
            scene.add_tool(vehicle_solid(name, spacing), name=name, material=steel, pose=(*PARKING, 1.0, 0.0, 0.0, 0.0))
        return scene

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws heap, goal and start of each listed env, and sets grains and vehicle."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        shifts, turns = np.zeros((len(envs), 3), np.float32), np.zeros(len(envs), np.float32)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = HEAPS.index(difficulty.heaps[draw.integers(len(difficulty.heaps))])
            side = 1.0 if draw.random() < 0.5 else -1.0
            goal = side * draw.uniform(*GOAL_X), draw.uniform(-difficulty.goal_y, difficulty.goal_y)
            heap = -side * draw.uniform(0.9, 1.4), draw.uniform(-difficulty.heap_y, difficulty.heap_y)
            turns[row] = draw.uniform(-math.pi, math.pi)
            shifts[row, :2] = heap
            self.goal[env] = goal_box(*goal, difficulty.goal_side)
            self.pose[env] = self._start_pose(draw, heap)
            self.friction[env] = draw.uniform(*self.friction_range)
        self.load_beds(envs, chosen)
        world.transform_grains(shifts, turns, envs=envs)
        world.set_tool_poses(world.drive_poses(self.pose[envs]), envs=envs)
        self.set_materials(envs)
        self._measure()
        self.gain[envs] = 0.0

    def _start_pose(self, draw: np.random.Generator, heap: tuple[float, float]) -> tuple[float, ...]:
        """A pose of the vehicle clear of heap and walls."""
        gap = HEAP_REACH + self.vehicle.reach
        edge = self.vehicle.reach + self.vehicle.clearance
        lower, upper = self.vehicle.lower, self.vehicle.upper
        for _ in range(1000):
            x, y = draw.uniform(lower[0] + edge, upper[0] - edge), draw.uniform(lower[1] + edge, upper[1] - edge)
            if math.hypot(x - heap[0], y - heap[1]) >= gap:
                return x, y, draw.uniform(-math.pi, math.pi)
        # a heap this large leaves the far end of the field
        return math.copysign(upper[0] - edge, -heap[0]), 0.0, 0.0

    def drive(self) -> Drive:
        """Blade and hull share the vehicle's frame."""
        rates = {"ahead": (0, self.vehicle.speed), "turn": (1, self.vehicle.turn_rate)}
        return self.vehicle.drive(CONTROL_PERIOD, rates)

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self.pose = self.simulate_driven(actions, idle, self.pose)
        before = self.score
        self._measure()
        self.gain = self.score - before

    def _measure(self) -> None:
        """Share of the grains in the goal, and the paper's mean reward, of all envs."""
        self.share, self.score = self._scored(self.results.box_counts[:, 0], self.results.box_distances[:, 0])

    def _scored(self, counts: NDArray[np.int64], distances: Floats) -> tuple[Floats, Floats]:
        """Share of the grains in the goal, and the paper's mean reward.

        Args:
            counts: (n,) grains in the goal.
            distances: (n,) mean distance of all to it [m].
        """
        share = self.shares_of(counts)
        return share, 100.0 * share - distances.astype(np.float64)

    def _worth(self, score: Floats, gain: Floats) -> Floats:
        """Rewards (n,) for the paper's mean after steps, and its change."""
        worth: Floats = score if self.reward == "level" else gain / self.full_return
        return worth

    @property
    def goal_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Positions of all grains, of clumps of all their spheres, and a box."""
        return (self.world_grain_count, 3), (6,)

    @property
    def remembered(self) -> tuple[str, ...]:
        """Changes need what was before."""
        return () if self.reward == "level" else (BEFORE,)

    def achieved_goal(self) -> Floats:
        """Positions of the grains (env_count, world_grain_count, 3) float32 [m]."""
        return self.world.positions

    def desired_goal(self) -> Floats:
        """The goal boxes (env_count, 6) float32, lower and upper corner [m]."""
        goals: Floats = self.goal.copy()
        return goals

    def pay(self, achieved: Any, desired: Any, earlier: Mapping[str, Any]) -> Floats:
        """See `GoalTask.pay`."""
        score, *before = (self._scored(*box_stats_of(each, desired))[1] for each in (achieved, *earlier.values()))
        return self._worth(score, score - before[0] if before else score)

    def counted(self) -> dict[str, Any]:
        """Grains in the goal."""
        return {"boxes": self.goal[:, None]}

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; never terminated."""
        infos: Arrays = {
            "goal_share": self.share.copy(),
            "goal": self.goal.copy(),
            "success": self.share >= self.difficulty.goal,
        }
        return self._worth(self.score, self.gain).copy(), np.zeros(self.env_count, bool), infos

    def sense(self) -> Arrays:
        """The vehicle's pose of all envs."""
        return {"pose": self.vector("pose", self.pose.T, angle=2)}

    # pictures --------------------------------------------------------------------------------------------------------

    def grain_colors(self, env: int) -> Floats:
        """Grains in the goal are tinted, for people alone: no camera could see it."""
        goal, positions = self.goal[env], self.world.positions[env]
        inside = ((positions >= goal[:3]) & (positions <= goal[3:])).all(axis=1)
        colors = super().grain_colors(env)
        colors[inside] = 0.45 * colors[inside] + 0.55 * np.array(GOAL_COLOR)
        return colors

    def floor_mark(self, env: int) -> Floats:
        """The floor of the goal."""
        lower, upper = self.goal[env, :2], self.goal[env, 3:5]
        return np.array([*lower, *upper, GOAL_EDGE, *GOAL_COLOR], np.float32)


class BulldozerV1Task(HindsightTask, BulldozerTask):
    """The bulldozer task in `env_count` envs, with the goal in the observation.

    ## Description, Action Space, Starting State, Episode End, Arguments
    Those of `BulldozerTask`; the same seed and actions give the same episode.

    ## Rewards
    The change of the mean of `BulldozerTask` over the step, over 100: an episode that brings all grains into the goal
    earns about 1. With reward="level" the mean itself.

    ## Observation Space
    Dict of
    - "ego" (36, 36) float32: depth [m] of a camera on the hull that looks over the blade, 0.2 .. 3 m;
    - "sky" (36, 72) float32: depth [m] from 3 m above, orthographic; a miss reads 3 m;
    - "pose" (3,) float32: x [m], y [m], yaw [rad] in [-pi, pi] of the vehicle;
    - "heading" (2,) float32: cosine and sine of the yaw, which do not jump at half a turn;
    - "goal" (4,) float32: the goal box in the field's frame: lower x, lower y, upper x, upper y [m];
    - "goal_from_vehicle" (4,) float32: the centre of the goal in the vehicle's frame: ahead and to the left of the
      vehicle's centre [m]; cosine and sine of its bearing (1, 0: straight ahead; 0, 1: on the left).

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far.

    With observation="pixels" there are the two images and "goal_mask" alone: as large as "sky" and pixel for pixel
    beside it, 0 where the goal lies and 3 m where it does not, the share of both on its edge.

    ## Version History
    - v1: rewards are changes, scaled; "goal", "goal_from_vehicle" and "heading" in the observation. The goal is drawn
      in every episode and what to do depends on it; in v0 only the infos show it, which no standard learner reads.
    - v0: `BulldozerTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    goal_plan: Floats
    goal_center: Floats

    rewards: ClassVar[tuple[str, ...]] = ("change", "level")
    full_return: ClassVar[float] = 100.0  # of the score, where all grains come to lie in the goal
    state_vector: StateVector | None = VECTOR
    pixels: Mapping[str, Image] = {
        **BulldozerTask.images,
        "goal_mask": Image(sky_camera(*SKY_SHAPE, FIELD_UPPER[1], SKY_HEIGHT), drawn=True, mirror_axis=-2, floor=True),
    }

    def __init__(self, env_count: int = 1, *, reward: str = "change", **kwargs: Any) -> None:
        super().__init__(env_count, reward=reward, **kwargs)
        lower, upper = np.array(FIELD_LOWER[:2], np.float32), np.array(FIELD_UPPER[:2], np.float32)
        one, across = np.ones(2, np.float32), np.full(2, math.dist(lower, upper), np.float32)
        shown = {
            "heading": spaces.Box(-one, one),
            "goal": spaces.Box(np.tile(lower, 2), np.tile(upper, 2)),
            "goal_from_vehicle": spaces.Box(-np.concatenate([across, one]), np.concatenate([across, one])),
        }
        self.observation_space: spaces.Dict = spaces.Dict({**self.observation_space.spaces, **shown})
        self._plan_goals()

    def _plan_goals(self) -> None:
        """Goals in plan, which stay where they are for a whole episode."""
        self.goal_plan = self.goal[:, PLAN]
        self.goal_center = 0.5 * (self.goal_plan[:, :2].astype(np.float64) + self.goal_plan[:, 2:])

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """See `Task.begin`."""
        super().begin(envs, options)
        self._plan_goals()

    def load(self, saved: dict[str, Any] | None) -> None:
        """See `Task.load`."""
        super().load(saved)
        self._plan_goals()

    def sense(self) -> Arrays:
        """The vehicle's pose, and the goal in the field's and in the vehicle's frame, of all envs."""
        heading, seen = view_from(self.pose, self.goal_center)
        return {
            **super().sense(),
            "heading": heading,
            "goal": self.goal_plan.copy(),
            "goal_from_vehicle": seen,
        }

    def sense_pixels(self) -> Arrays:
        """See `Task.sense_pixels`."""
        depth = SKY_HEIGHT * (1.0 - covered(self.goal_plan))
        return {"goal_mask": self.depth_images.encode("goal_mask", depth.astype(np.float32))}

    def readings(self) -> dict[str, Any]:
        """Where the grains lie, for `sense_state`."""
        return {"columns": STATE_GRID.columns} if self.reads_state else {}

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        counts: NDArray[np.int64] = self.results.column_counts
        return self._vectors(counts, self.pose, self.goal_plan, self.share)

    def _vectors(self, counts: NDArray[np.int64], pose: Floats, plan: Floats, share: Floats) -> NDArray[np.float32]:
        vectors: NDArray[np.float32] = state_of(STATE_GRID, counts, pose, plan, share)
        return vectors

    def context(self) -> Floats:
        """Where the vehicles are (env_count, 3)."""
        poses: Floats = self.pose.copy()
        return poses

    def state_for(self, achieved: Any, desired: Any, context: Any) -> NDArray[np.float32]:
        """See `HindsightTask.state_for`."""
        plan = np.asarray(desired, np.float32)[:, PLAN]
        share = self._scored(*box_stats_of(achieved, desired))[0]
        return self._vectors(STATE_GRID.counts_of(achieved), context, plan, share)

    def goals_near(self, draw: np.random.Generator, achieved: Any, count: int) -> Floats:
        """Boxes that hold one of the grains that were moved, where it lies in the end; also in the middle of the field,
        where no episode draws one."""
        first, last = achieved[0, :, :2], achieved[-1, :, :2]
        moved = np.flatnonzero(np.square(last - first).sum(axis=1) > self.radius**2)
        chosen = draw.choice(moved, count) if len(moved) else draw.integers(0, len(last), count)
        side, most = self.difficulty.goal_side, np.array([GOAL_X[1], self.difficulty.goal_y])
        centers = last[chosen] + draw.uniform(-0.5 * side, 0.5 * side, (count, 2))
        return np.array([goal_box(x, y, side) for x, y in np.clip(centers, -most, most).tolist()])


def covered(boxes: Floats) -> Floats:
    """Shares (n, rows, columns) of the pixels of the sky camera that lie in boxes (n, 4): x, y, x, y [m]."""
    low, high = boxes[:, :2].astype(np.float64), boxes[:, 2:].astype(np.float64)
    shares = []
    for axis, count in enumerate(SKY_SHAPE[::-1]):
        edges = np.linspace(FIELD_LOWER[axis], FIELD_UPPER[axis], count + 1)
        inside = np.minimum(high[:, axis, None], edges[1:]) - np.maximum(low[:, axis, None], edges[:-1])
        shares.append(np.clip(inside, 0.0, None) / (edges[1] - edges[0]))
    across, along = shares
    result: Floats = along[:, ::-1, None] * across[:, None, :]  # row 0 is the upper edge
    return result


def goal_box(x: float, y: float, side: float) -> Floats:
    """Lower and upper corner (6,) of a square goal centred at (x, y) [m]."""
    half = 0.5 * side
    return np.array([x - half, y - half, 0.0, x + half, y + half, GOAL_HEIGHT], np.float32)


@lru_cache(maxsize=8)
def vehicle_solid(name: str, spacing: float) -> Sdf:
    """Blade or hull on a grid of that spacing [m]; all envs of a process share it."""
    return Sdf.from_mesh(asset_path(f"bulldozer_{name}.stl"), spacing=spacing)


def heap_lattice(shape: str, grain_count: int, radius: float, looseness: float = 1.0) -> Floats:
    """Positions of the grains before they settle: a jittered lattice cut to a shape around the z axis, (n, 3) [m].

    The lattice points with the smallest key are taken, so that each shape comes out with exactly `grain_count` grains.

    Args:
        shape: one of HEAPS.
        grain_count: number of grains.
        radius: of a grain, or of the ball that holds it [m].
        looseness: of the lattice, see `GrainForm`.
    """
    step, rise, shake = 2.7 * radius, 2.2 * radius, 0.27 * radius
    side = math.ceil(2.6 * grain_count ** (1.0 / 3.0)) | 1
    layers = math.ceil(1.3 * looseness * grain_count ** (1.0 / 3.0))
    line = np.arange(side) - side // 2
    i, j, k = (a.ravel() for a in np.meshgrid(line, line, np.arange(layers), indexing="ij"))
    # so loose that no trace of a lattice is left once the heap has settled
    x, y, z = (i + 0.5 * (k % 2)) * step, (j + 0.5 * (k % 2)) * step, k * rise
    level = z / looseness
    if shape == "cone":
        key = np.hypot(x, y) + level
    elif shape == "ridge":
        size = 0.33 * step * grain_count ** (1.0 / 3.0)
        key = np.hypot(np.maximum(np.abs(x) - size, 0.0), y) + level
    else:
        key = np.maximum(np.hypot(x, y), 1.6 * level)
    chosen = np.sort(np.argsort(key, kind="stable")[:grain_count])
    points = np.stack([x, y, z + 1.3 * radius], axis=1)[chosen]
    jitter = np.random.Generator(np.random.PCG64(HEAPS.index(shape))).uniform(-shake, shake, points.shape)
    return (points + jitter).astype(np.float32)


BulldozerEnv: type[GoalEnv]
BulldozerVectorEnv: type[GoalVectorEnv]
BulldozerEnv, BulldozerVectorEnv = env_classes(BulldozerTask)
BulldozerV1Env: type[GoalEnv]
BulldozerV1VectorEnv: type[GoalVectorEnv]
BulldozerV1Env, BulldozerV1VectorEnv = env_classes(BulldozerV1Task)
