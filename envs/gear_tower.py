"""gear_tower.py: `granular_gym/GearTower-v1`: helical gears in a tower mix two kinds of grains.

The benchmark scene of "GranularGym" (2023), section III.B, is a cylindrical tower with helical involute gears that
rotate at random speeds, closed in a cycle along z so that grains keep flowing. Here it has a goal: the grains of one
half of the tower are painted, and turning the gears is to mix them with the others (index of Lacey, mixing.py). Turned
in one sense a helical gear lifts the grains, in the other it presses them down or lets them through. A depth image does
not show paint: -v1 observes besides where which kind is.

The task closes the tower with a floor unless it is told otherwise: grains that fall in a cycle past these gears reach
about 4 m/s with 500 and 9 m/s with 2,000 grains, so that the task would change with their number; a bed does not.

`tower_scene` makes the bare scene for any number of gears and grains; benchmarks/gears.py measures it.
"""

from __future__ import annotations

import functools
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
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.engine.results import Results
from granular_gym.engine.scene import Scene
from granular_gym.errors import ArgumentError
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import Settling, add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES, GrainForm
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.images import Image, sky_camera, view_camera
from granular_gym.tasks.mixing import index_and_composition, lacey_index
from granular_gym.tasks.scaled import Scaled
from granular_gym.tasks.state_vector import Entry, StateVector
from granular_gym.tasks.task import Task
from granular_gym.tasks.touch import TouchPad

CONTROL_PERIOD = 0.1  # [s]
RADIUS_OF_2000 = 0.027  # [m] with 4 gears
DENSITY = 1600.0  # [kg/m3]
FASTEST = {"wall": 4.0, "periodic": 10.0, "cyclic": 10.0}  # [m/s] a grain, by what closes the tower
TUBE_RADIUS = 0.5  # [m]
STOREY = 0.3  # [m] of the tower's height for each gear
GEAR_RADIUS, GEAR_HALF_WIDTH = 0.27, 0.09  # [m] envelope of gear.stl
ECCENTRICITY = 0.1  # [m] of the gears' axes; from gear to gear they turn by the golden angle
GOLDEN_ANGLE = math.pi * (3.0 - math.sqrt(5.0))
SPEED = 5.0  # [rad/s] at full action
BEDS = 2  # flows that episodes begin with
FLOW_TIME = 1.0  # [s] grains fall past standing gears before an episode
GEAR_LIMIT = 64
HEADROOM = 1.5  # height of a tower with a floor over that of its storeys, for grains before they settle
SAMPLES = (3, 3, 2)  # samples along x and y, and per gear along z
GRAIN_FRICTION = 0.4
REWARD_SCALE, POWER_SCALE = 100.0, 0.05  # what mixing earns in all; what 1 W per newton of grains costs a step
FULL_RETURN = 50.0  # of a perfect episode: an index of 0.9, less the power of the gears until then
TORQUE = 0.3  # unit of the torques in the state vector
TUBE_COLOR, GEAR_COLOR = (236, 238, 241), (120, 130, 142)
KIND_COLORS = ((204, 92, 62), (226, 206, 164))


@dataclass(frozen=True)
class Difficulty:
    """What makes mixing hard."""

    friction: tuple[float, float]  # between grains
    goal: float  # index that must be reached


DIFFICULTIES = {
    "easy": Difficulty((0.4, 0.4), 0.75),
    "medium": Difficulty((0.3, 0.5), 0.8),
    "hard": Difficulty((0.2, 0.6), 0.85),
}


def gear_axes(gear_count: int, storeys: int) -> Floats:
    """Centres of the gears (gear_count, 3) [m], evenly spaced over the tower."""
    turns = [k * GOLDEN_ANGLE for k in range(gear_count)]
    rise = STOREY * storeys / max(gear_count, 1)
    centers = [(ECCENTRICITY * math.cos(a), ECCENTRICITY * math.sin(a), (k + 0.5) * rise) for k, a in enumerate(turns)]
    return np.array(centers).reshape(gear_count, 3)


def tower_scene(
    gear_count: int,
    grains: Floats,
    radius: float | GrainForm,
    *,
    storeys: int | None = None,
    boundary: str = "periodic",
    seed: int = 0,
) -> Scene:
    """The tower with its gears and grains.

    Args:
        gear_count: number of gears.
        grains: (n, 3) positions [m].
        radius: of the grains [m], or their form.
        storeys: of the tower, 0.3 m each, at least one per gear; None: as many as gears.
        boundary: of z: "wall" (a floor), "periodic", or "cyclic" as in the paper: without contacts across.
        seed: of the orientations of clumps.
    """
    storeys = storeys or gear_count
    height = storeys * STOREY * (HEADROOM if boundary == "wall" else 1.0)
    bounds = ((-TUBE_RADIUS, -TUBE_RADIUS, 0.0), (TUBE_RADIUS, TUBE_RADIUS, height))
    scene = Scene(
        bounds=bounds, boundary={"x": "open", "y": "open", "z": ("wall", "open") if boundary == "wall" else boundary}
    )
    form = radius if isinstance(radius, GrainForm) else GrainForm(radius)
    sand, steel = add_sand_and_steel(scene, form, DENSITY, GRAIN_FRICTION, 0.2, on_steel=(0.5, 0.2))
    form.add_to(scene, sand, grains, seed)
    scene.add_tool(Sdf.cavity(TUBE_RADIUS), name="tube", material=steel)
    solid = gear_solid(min(max(0.4 * form.finest, 0.006), 0.012))
    for k, axis in enumerate(gear_axes(gear_count, storeys)):
        scene.add_tool(solid, name=f"gear{k}", material=steel, pose=axis)
    return scene


@lru_cache(maxsize=8)
def gear_solid(spacing: float) -> Sdf:
    """The gear on a grid of that spacing [m]; all gears of a tower share it."""
    return Sdf.from_mesh(asset_path("gear.stl"), spacing=spacing)


def tower_lattice(
    gear_count: int,
    grain_count: int,
    radius: float,
    *,
    storeys: int | None = None,
    boundary: str = "periodic",
    seed: int = 0,
    looseness: float = 1.0,
) -> Floats:
    """Grains spread over the free points of a lattice between the gears, (n, 3) [m].

    Args:
        gear_count: number of gears.
        grain_count: number of grains.
        radius: of a grain, or of the ball that holds it [m].
        storeys: see `tower_scene`.
        boundary: likewise.
        seed: of the points that are taken.
        looseness: of the lattice, see `GrainForm`; over a floor it is so many times as high.

    Raises:
        ArgumentError: so many grains of that radius do not fit into the tower.
    """
    storeys = storeys or gear_count
    step = 2.05 * radius
    side = np.arange(math.ceil(-TUBE_RADIUS / step), math.floor(TUBE_RADIUS / step) + 1) * step
    height = storeys * STOREY * (HEADROOM * looseness if boundary == "wall" else 1.0)
    layers = max(int((height - 0.05 * radius) / step), 1)
    heights = (np.arange(layers) + 0.5) * (height / layers)
    points = np.stack([a.ravel() for a in np.meshgrid(side, side, heights, indexing="ij")], axis=1)
    free = np.hypot(points[:, 0], points[:, 1]) < TUBE_RADIUS - 1.02 * radius
    for x, y, z in gear_axes(gear_count, storeys).tolist():
        beside = np.hypot(points[:, 0] - x, points[:, 1] - y) > GEAR_RADIUS + 1.02 * radius
        free &= beside | (np.abs(points[:, 2] - z) > GEAR_HALF_WIDTH + 1.02 * radius)
    points = points[free]
    if grain_count > len(points):
        raise ArgumentError(
            f"grain_count: expected grains that fit between the gears, got {grain_count} of radius {radius:.3g} m "
            f"where {len(points)} fit; in the task more grains are finer"
        )
    chosen = np.random.Generator(np.random.PCG64(seed)).permutation(len(points))[:grain_count]
    result: Floats = points[np.sort(chosen)].astype(np.float32)
    return result


class GearTowerTask(Task):
    """The mixing task in `env_count` envs.

    ## Description
    Helical gears in a round tower mix two kinds of grains, which differ in colour only. Control runs at 10 Hz.

    ## Action Space
    Box (gear_count,) float32 in [-1, 1]: speed of each gear (1 = 5 rad/s, counter-clockwise seen from above).

    ## Observation Space
    Dict of
    - "sky" (36, 36) float32: depth [m] from the top of the tower;
    - "drive" (2 gear_count + 1,) float32: speeds as actions; torque of the grains on each gear about its axis over the
      weight of all grains times the gear's radius, 0 after a reset; index of mixing.

    With depth="uint8" the image is (1, 36, 36) uint8, 0 near and 255 far. Where the painted grains are is not shown;
    `GearTowerV1Task` does.

    ## Rewards
    100 times what the step added to the index of mixing, less 0.05 times the power of the gears over the weight of the
    grains [m/s], where it is positive.

    ## Starting State
    One of two settled beds (without a floor: flows past standing gears), of which the half that lies furthest along a
    direction in plan is painted; bed, direction and the friction between grains drawn from the seed.

    ## Episode End
    Truncated after 40 steps of 0.1 s; never terminated.

    Infos: "mixing" (index of Lacey over 3 x 3 samples in plan and two per gear in height), "power" of the gears on the
    grains over the last step [W], "success" (the index has reached the difficulty's goal), and what every task reports
    (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `gear_count`: number of gears, 1 .. 64; the content grows with it.
    - `boundary`: "wall" (a floor), "periodic" (what falls out below comes in above), or "cyclic" as in the paper (the
      same without contacts across the border: grains overlap there).
    - others: see `Task`; difficulty "easy", "medium" or "hard": friction drawn more widely, a higher goal.

    ## Version History
    - v1: `GearTowerV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = ("angle", "speed", "kind", "mixing", "gain", "power")
    control_period = CONTROL_PERIOD
    density = DENSITY
    depth_view = "sky"
    paints_episodes: ClassVar[bool] = True
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    angle: Floats
    speed: Floats
    mixing: Floats
    gain: Floats
    power: Floats

    def __init__(self, env_count: int = 1, *, gear_count: int = 4, boundary: str = "wall", **kwargs: Any) -> None:
        self.gear_count: int = checks.integer("gear_count", gear_count, 1, GEAR_LIMIT)
        self.boundary: str = checks.choice("boundary", boundary, list(FASTEST))
        self.radius_of_2000: float = RADIUS_OF_2000 * (self.gear_count / 4.0) ** (1.0 / 3.0)
        self.fastest: float = FASTEST[self.boundary]
        self.height: float = self.gear_count * STOREY
        self.images: Mapping[str, Image] = {
            "sky": Image(sky_camera(36, 36, TUBE_RADIUS, self.height), floor=boundary == "wall")
        }
        # the whole tower from before and a little above
        away = 0.95 * self.height + 1.4
        self.view: DepthCamera = view_camera(
            (0.25 * away, -0.95 * away, 0.5 * self.height + 0.3 * away),
            (0.0, 0.0, 0.48 * self.height),
            shape=(480, 352),
            far=20.0 + 2.0 * away,
        )
        corner = GEAR_RADIUS, GEAR_RADIUS
        self.pads: Sequence[TouchPad] = [
            TouchPad(f"gear{k}", "z", (-GEAR_RADIUS, -GEAR_RADIUS), corner) for k in range(self.gear_count)
        ]
        self.tool_colors: Sequence[tuple[int, int, int]] = (TUBE_COLOR, *[GEAR_COLOR] * self.gear_count)
        # there is no rest in a tower without a floor: its bed is the flow past standing gears
        self.settling: Settling = Settling(FLOW_TIME, 8 if self.boundary == "wall" else 1)
        super().__init__(env_count, **kwargs)
        self._lattice(0)  # what would go wrong at the first reset is said now
        if self.boundary != "wall" and self.height <= 8.0 * self.radius:
            raise ArgumentError(
                f"grain_count: expected grains of less than an eighth of the tower's height, got {self.grain_count} of "
                f"radius {self.radius:.3g} m in {self.height:.3g} m; in the task more grains are finer"
            )
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (self.gear_count,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart(f"speed of gear {number}", full=f"{SPEED:g} rad/s") for number in range(self.gear_count)
        ]
        high = np.array([*[1.0] * self.gear_count, *[10.0] * self.gear_count, 2.0], np.float32)
        drive = spaces.Box(-high, high, dtype=np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "drive": drive})
        n = self.env_count
        self.angle, self.speed = np.zeros((n, self.gear_count)), np.zeros((n, self.gear_count))  # [rad], as actions
        self.kind: NDArray[np.bool_] = np.zeros((n, self.world_grain_count), bool)
        self.mixing, self.gain, self.power = np.zeros(n), np.zeros(n), np.zeros(n)

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """The tower with grains at rest in mid-air."""
        return tower_scene(self.gear_count, self._lattice(number), self.form, boundary=self.boundary, seed=number)

    def _lattice(self, number: int) -> Floats:
        """Grains of a bed before it settles, (n, 3) [m]."""
        form, loose = self.form, self.form.looseness
        return tower_lattice(
            self.gear_count, self.grain_count, form.reach, boundary=self.boundary, seed=number, looseness=loose
        )

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws the flow, which half is painted, and the friction of each listed env."""
        chosen = np.zeros(len(envs), np.int64)
        directions = np.zeros(len(envs))
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(BEDS)
            directions[row] = draw.uniform(-math.pi, math.pi)
            self.friction[env] = draw.uniform(*self.friction_range)
        self.load_beds(envs, chosen)
        self.set_materials(envs)
        for array in (self.angle, self.speed, self.gain, self.power):
            array[envs] = 0.0
        self.world.set_tool_poses(self.world.drive_poses(self._drive_state()[envs]), envs=envs)
        positions = self.world.positions[envs]
        for env, points, direction in zip(envs.tolist(), positions, directions.tolist(), strict=True):
            # the half of the grains that lies furthest along a direction in plan; a clump by its first sphere
            leads = points[:: self.form.spheres]
            along = leads[:, 0] * math.cos(direction) + leads[:, 1] * math.sin(direction)
            painted = np.zeros(self.grain_count, bool)
            painted[np.argsort(along, kind="stable")[self.grain_count // 2 :]] = True
            self.kind[env] = self.form.for_world(painted)
        self.mixing[envs] = self._index()[envs]

    def _index(self) -> Floats:
        """Index of Lacey of all envs (env_count,)."""
        return lacey_index(self._samples(self.results))

    def _samples(self, results: Results) -> NDArray[np.int64]:
        """Grains of each kind in each sample (env_count, samples, 2)."""
        counts: NDArray[np.int64] = results.cell_counts.reshape(self.env_count, -1, 2)
        return counts

    def readings(self) -> dict[str, Any]:
        """Grains by samples, and the torques on the gears."""
        lower, upper = (-TUBE_RADIUS, -TUBE_RADIUS, 0.0), (TUBE_RADIUS, TUBE_RADIUS, self.height)
        shape = SAMPLES[0], SAMPLES[1], SAMPLES[2] * self.gear_count
        return {"cells": (lower, upper, shape), "wrenches": True}

    def counted(self) -> dict[str, Any]:
        """The two kinds of grains apart."""
        return {"labels": self.kind.view(np.uint8)}

    def drive(self) -> Drive:
        """Gears turn; the state are their angles and, as actions, their speeds."""
        gears = range(self.gear_count)
        joints = [Joint(k, SPEED, wraps=True) for k in gears] + [Joint(k, 1.0, position=True) for k in gears]
        poses = np.zeros((1 + self.gear_count, 7))
        poses[:, 3] = 1.0
        poses[1:, :3] = gear_axes(self.gear_count, self.gear_count)
        axes = [Axis(1 + k, k, "turn_z") for k in gears]
        return joint_drive(joints, axes, poses, CONTROL_PERIOD, self.gear_count)

    def _drive_state(self) -> Floats:
        """(env_count, 2 gear_count)."""
        return np.concatenate([self.angle, self.speed], axis=1)

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        after = self.simulate_driven(actions, idle, self._drive_state())
        self.angle, self.speed = after[:, : self.gear_count], after[:, self.gear_count :]
        before = self.mixing
        self.mixing = self._index()
        self.gain = self.mixing - before
        torque = self.results.wrenches[:, 1:, 5].astype(np.float64)
        # the grains' torque on the gears is against the gears' on the grains; summed gear by gear in any batch
        self.power = -functools.reduce(np.add, (torque * self.speed * SPEED).T)

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; never terminated."""
        reward = REWARD_SCALE * self.gain - POWER_SCALE * np.maximum(self.power, 0.0) / self.weight
        infos: Arrays = {
            "mixing": self.mixing.copy(),
            "power": self.power.copy(),
            "success": self.mixing >= self.difficulty.goal,
        }
        return reward, np.zeros(self.env_count, bool), infos

    def sense(self) -> Arrays:
        """The drive of all envs."""
        return {"drive": self.vector("drive", [*self.speed.T, *self._torque().T, self.mixing])}

    def _torque(self) -> Floats:
        """Of the grains on each gear over their weight and its radius (env_count, gear_count)."""
        torque = self.results.wrenches[:, 1:, 5] / (self.weight * GEAR_RADIUS)
        return self.unless_fresh(torque)

    # pictures --------------------------------------------------------------------------------------------------------

    def matter_colors(self, env: int) -> Floats:
        """The two kinds have two colours."""
        return np.where(self.kind[env][:, None], np.array(KIND_COLORS[0], float), np.array(KIND_COLORS[1], float))


def gear_vector(gear_count: int) -> StateVector:
    """The vector of a tower; gears that lift in one sense of turning have no mirror image."""
    layers, samples = SAMPLES[2] * gear_count, math.prod(SAMPLES) * gear_count
    return StateVector(
        [
            Entry("speeds", "of the gears, as actions", (1,) * gear_count),
            Entry(
                "torques",
                f"of the grains on the gears over the grains' weight and a gear's radius [{TORQUE}]",
                (1,) * gear_count,
            ),
            Entry("power", "of the gears over the grains' weight [0.1 m/s]", (1,)),
            Entry("index", "of mixing, -1: apart, 1: mixed", (1,)),
            Entry("apart", "mean square composition of each layer, -1: mixed, 1: apart, lowest first", (1,) * layers),
            Entry("samples", "composition of the samples, as in `samples`", (1,) * samples),
            Entry("fill", "grains in each over the mean, less 1", (1,) * samples),
        ]
    )  # fmt: skip


class GearTowerV1Task(Scaled, GearTowerTask):
    """The mixing task in `env_count` envs, with the composition of the samples in the observation.

    ## Description, Action Space, Starting State, Episode End, Arguments
    Those of `GearTowerTask`; the same seed and actions give the same episode.

    ## Rewards
    Those of `GearTowerTask` over the 50 that mixing earns once the power it takes is paid; with reward="paper" those
    of `GearTowerTask`.

    ## Observation Space
    Dict of
    - "sky" (36, 36) float32: depth [m] from the top of the tower;
    - "drive" (2 gear_count + 1,) float32: speeds as actions; torque of the grains on each gear about its axis over the
      weight of all grains times the gear's radius, 0 after a reset; index of mixing;
    - "samples" (18 gear_count,) float32: of the 3 x 3 samples in plan and two per gear in height that the index is made
      of, x slowest and z fastest: painted grains less the others, over both; 0 in an empty sample.

    With depth="uint8" the image is (1, 36, 36) uint8, 0 near and 255 far; with observation="state"
    there is "state" alone, see `gear_vector`.

    ## Version History
    - v1: rewards scaled; observation="state"; "samples" in the observation.
      Which half is painted is drawn in every episode, and which gear still mixes
      depends on where the kinds are; in v0 nothing shows it.
    - v0: `GearTowerTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    full_return: ClassVar[float] = FULL_RETURN
    state_vector: StateVector = gear_vector(4)  # of the default tower
    _composed: Floats  # of the samples that have these counts
    _composed_of: NDArray[np.int64] | None = None

    def __init__(self, env_count: int = 1, *, gear_count: int = 4, **kwargs: Any) -> None:
        self.state_vector = gear_vector(checks.integer("gear_count", gear_count, 1, GEAR_LIMIT))
        super().__init__(env_count, gear_count=gear_count, **kwargs)
        samples = spaces.Box(-1.0, 1.0, (math.prod(SAMPLES) * self.gear_count,), np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.observation_space.spaces, "samples": samples})

    def sense(self) -> Arrays:
        """The drive, and the composition of the samples, of all envs."""
        return {**super().sense(), "samples": self._composition().astype(np.float32)}

    def _index(self) -> Floats:
        """The composition of the samples comes with it."""
        results = self.results
        index, self._composed = index_and_composition(self._samples(results))
        self._composed_of = results.cell_counts
        return index

    def _composition(self) -> Floats:
        """Painted grains less the others, over both, of each sample (env_count, samples)."""
        if self._composed_of is not self.results.cell_counts:
            self._index()
        return self._composed

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        composition = self._composition()
        count = self._samples(self.results).sum(axis=2).astype(np.float64)
        mean = self.world_grain_count / composition.shape[1]
        # samples of a layer side by side: they are summed one after the other, in any batch alike
        layers = (self.env_count, SAMPLES[0] * SAMPLES[1], -1)
        apart = (count * composition**2).reshape(layers).transpose(1, 0, 2)
        share = functools.reduce(np.add, apart) / np.maximum(
            functools.reduce(np.add, count.reshape(layers).transpose(1, 0, 2)), 1.0
        )
        return self.state_vector.joined(
            [
                self.speed,
                self._torque().astype(np.float64) / TORQUE,
                np.maximum(self.power, 0.0) / (self.weight * 0.1),
                2.0 * self.mixing - 1.0,
                2.0 * share - 1.0,
                composition,
                count / mean - 1.0,
            ]
        )


GearTowerEnv: type[GranularEnv]
GearTowerVectorEnv: type[GranularVectorEnv]
GearTowerEnv, GearTowerVectorEnv = env_classes(GearTowerTask)
GearTowerV1Env: type[GranularEnv]
GearTowerV1VectorEnv: type[GranularVectorEnv]
GearTowerV1Env, GearTowerV1VectorEnv = env_classes(GearTowerV1Task)
