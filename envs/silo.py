"""silo.py: `granular_gym/Silo-v0`: a gate lets grains out of a hopper into a moving receiver, after a programme.

The silo is a slab between two glass walls (y). A hopper with sloping or flat bottom holds a settled bed over a slot
that two leaves close from both sides. A programme of discharge rates is drawn from the seed; its integral is the dose.
The agent opens and closes the gate so that what has come out follows the programme, keeps the receiver under the stream
and its heap within its walls, and, where asked for, shakes the hopper to free a clogged outlet.

Flow through a slot: W. A. Beverloo et al., "The flow of granular solids through orifices" (1961): the rate goes with
the power 1.5 of the slot's width less about 1.4 grain diameters, so coarse grains need a wider gate and clog sooner.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import checks
from ..cameras import DepthCamera
from ..grain_task import GrainTask, Image, view_camera
from ..rotations import from_matrix
from ..scene import Scene
from ..sdf import Sdf
from ..task import Arrays, Floats
from ..vector import GranularEnv, GranularVectorEnv

CONTROL_PERIOD = 0.05  # [s]
RADIUS_OF_2000 = 0.022  # [m]
DENSITY = 1200.0  # [kg/m3]
FASTEST = 4.0  # [m/s] a grain that reaches the floor
HALF_DEPTH = 0.17  # [m] half of the slab between the glass walls
BOUNDS = ((-1.9, -HALF_DEPTH, 0.0), (1.9, HALF_DEPTH, 2.8))
BIN_HALF_WIDTH = 0.5  # [m] inside
OUTLET = 0.40, (0.2, 0.5)  # [m] width of the slot between the hopper's lips, and what it may be
OUTLET_HEIGHT = 0.90  # [m] z of the lips
SLOPE = 55.0, (0.0, 75.0)  # [degrees] of the hopper's bottom, and what it may be
WALL = 0.06  # [m] thickness of walls
LEAF = 0.022  # [m] half thickness of a leaf of the gate; its nose is round
LEAF_LENGTH = 0.32  # [m]
GATE_SPEED = 1.0  # [m/s] of the opening
RECEIVER = (0.5, 0.42)  # [m] half width and height inside
RECEIVER_FLOOR = 0.15  # [m] z inside
RECEIVER_REACH = 0.7  # [m] the receiver's centre stays within
RECEIVER_SPEED = 0.5  # [m/s]
SHAKE = 0.008  # [m] the hopper goes to either side at full shaking
STROKES = 2  # of the shaking hopper per env step
BEDS = 3  # settled beds that episodes begin with
GRAIN_FRICTION = 0.35
RATE_WINDOW = 0.2  # [s] over which the measured rate is averaged
CLOG_TIME, CLOG_OPENING = 1.0, 0.1  # [s] without a grain, [m] of opening: clogged
ERROR_SCALE = 0.05  # share of the content by which the discharge may be off until the reward is 0
SPILL_LIMIT = 0.02  # share of the content that may miss the receiver in a success
SIDE_CAMERA = DepthCamera.orthographic(
    height=48,
    width=64,
    extent=1.05,
    position=(0.0, -2.0, 1.05),
    target=(0.0, 0.0, 1.05),
    near=1.7,
    far=2.2,
)
STEEL_COLOR, GATE_COLOR, RECEIVER_COLOR = (150, 158, 168), (222, 120, 50), (84, 132, 178)


@dataclass(frozen=True)
class Level:
    """What makes a programme hard."""

    stages: int  # of constant rate
    rates: tuple[float, float]  # share of the content per second
    pause: bool  # one stage has rate 0
    duration: float  # [s] of the programme
    offset: float  # [m] of the receiver from the outlet at the start
    friction: tuple[float, float]  # between grains
    tolerance: float  # share of the content within which the dose must be met


LEVELS = {
    "easy": Level(1, (0.12, 0.20), False, 3.5, 0.1, (0.35, 0.35), 0.04),
    "medium": Level(3, (0.06, 0.20), False, 3.5, 0.4, (0.25, 0.45), 0.03),
    "hard": Level(5, (0.05, 0.22), True, 4.0, 0.65, (0.2, 0.6), 0.02),
}


class SiloTask(GrainTask):
    """The rules of the silo task for `env_count` envs.

    A share is a share of all grains of the env.

    Action (2,) in [-1, 1]: opening rate of the gate (1 = 1.0 m/s), speed of the receiver (1 = 0.5 m/s); with
    `shaker=True` (3,), the third being the strength of shaking (below 0: none).
    Observation: "side" (48, 64) depth through the glass [m], float32, or (1, 48, 64) uint8; "flow" (9,) float32: shares
    in the hopper, in the receiver, and spilled, measured and commanded rate [share/s], commanded discharge so far and
    in all [share], opening of the gate [share], place of the receiver in [-1, 1].
    Reward: 1 - min(|discharged - commanded| / 0.05, 2) - min(spilled / 0.05, 1), each step.
    Info: "received", "spilled", "discharged", "commanded", "dose", "dose_error" [share], "mass" received [kg], "rate"
    [kg/s], "clogged", "success" (the programme is over, the discharge meets the dose within the level's tolerance, at
    most 0.02 is spilled), and what every task reports (docs/tasks/Silo-v0.md).

    Args:
        env_count: number of envs.
        slope: of the hopper's bottom [degrees], 0 (flat) .. 75.
        outlet: width of the slot between the hopper's lips [m], 0.2 .. 0.5.
        shaker: True: the hopper can be shaken.
        **kwargs: see GrainTask; difficulty "easy" (one rate), "medium" (three rates, the receiver stands aside,
            friction drawn) or "hard" (five stages with a pause, receiver far aside, more friction drawn).

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    memory: ClassVar[tuple[str, ...]] = (
        "opening", "place", "ends", "rates", "time", "discharged", "received", "spilled", "rate", "still", "friction",
    )  # fmt: skip
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    images: ClassVar = {"side": Image(SIDE_CAMERA)}
    depth_view = "side"
    view: ClassVar = view_camera((0.5, -3.9, 1.75), (0.0, 0.0, 1.0))
    tool_colors = STEEL_COLOR, GATE_COLOR, GATE_COLOR, RECEIVER_COLOR
    difficulties = LEVELS

    def __init__(
        self,
        env_count: int = 1,
        *,
        slope: float = SLOPE[0],
        outlet: float = OUTLET[0],
        shaker: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(env_count, **kwargs)
        self.slope = math.radians(checks.number("slope", slope, *SLOPE[1]))
        self.outlet = checks.number("outlet", outlet, *OUTLET[1])
        self.shaker = checks.flag("shaker", shaker)
        self.action_space = spaces.Box(-1.0, 1.0, (3 if self.shaker else 2,), np.float32)
        flow = spaces.Box(
            np.array([0, 0, 0, 0, 0, 0, 0, 0, -1], np.float32), np.array([1, 1, 1, 4, 4, 1, 1, 1, 1], np.float32)
        )
        self.observation_space = spaces.Dict({**self.image_spaces(), "flow": flow})
        n, stages = self.env_count, self.level.stages
        self.opening = np.zeros(n)  # of the gate [m]
        self.place = np.zeros(n)  # x of the receiver [m]
        self.ends = np.ones((n, stages))  # of the stages of the programme [s]
        self.rates = np.zeros((n, stages))  # of the stages [share/s]
        self.time = np.zeros(n)  # since the episode began [s]
        self.discharged, self.received, self.spilled = np.zeros(n), np.zeros(n), np.zeros(n)  # shares
        self.rate = np.zeros(n)  # of discharge, averaged [share/s]
        self.still = np.zeros(n)  # since the last grain came out of the open gate [s]

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """Hopper, closed gate, receiver and grains over the gate."""
        scene = Scene(bounds=BOUNDS, boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand = scene.add_material(
            radius=self.radius, density=DENSITY, friction=GRAIN_FRICTION, restitution=0.0, rolling_friction=0.05
        )
        steel = scene.add_material(density=7800.0, friction=0.3)
        glass = scene.add_material(density=2500.0, friction=0.1)
        scene.set_pair(sand, steel, friction=0.25, restitution=0.0, rolling_friction=0.05)
        scene.set_pair(sand, glass, friction=0.1, restitution=0.0, rolling_friction=0.0)
        scene.wall_material = glass
        scene.add_grains(sand, self._lattice(number))
        scene.add_tool(hopper_solid(self.slope, self.outlet), name="hopper", material=steel)
        scene.add_tool(leaf_solid(-1.0), name="left", material=steel)
        scene.add_tool(leaf_solid(1.0), name="right", material=steel)
        scene.add_tool(receiver_solid(), name="receiver", material=steel)
        return scene

    def _lattice(self, number: int) -> Floats:
        """Grains before they settle, (n, 3): a loose jittered lattice over the gate, bottom up."""
        radius = self.radius
        step = 2.35 * radius
        points: list[Floats] = []
        count, z = 0, OUTLET_HEIGHT + 1.2 * radius
        slope = self.slope
        draw = np.random.Generator(np.random.PCG64(number))
        depth = max(int((2.0 * HALF_DEPTH - 2.1 * radius) / step) + 1, 1)
        ys = (np.arange(depth) - 0.5 * (depth - 1)) * step
        while count < self.grain_count:
            # how far the hopper's inside reaches at this height, less a grain
            half = BIN_HALF_WIDTH
            if slope > 0.0:
                half = min(half, 0.5 * self.outlet + (z - OUTLET_HEIGHT) / math.tan(slope) - 0.1 * radius)
            half -= 1.15 * radius / (math.sin(slope) if slope > 0.0 and half < BIN_HALF_WIDTH else 1.0)
            side = int(2.0 * max(half, 0.0) / step) + 1
            xs = (np.arange(side) - 0.5 * (side - 1)) * step
            layer = np.stack([a.ravel() for a in np.meshgrid(xs, ys, [z], indexing="ij")], axis=1)
            points.append(layer + draw.uniform(-0.16, 0.16, layer.shape) * radius)
            count += len(layer)
            z += step
        return np.concatenate(points)[: self.grain_count].astype(np.float32)

    # episodes --------------------------------------------------------------------------------------------------------

    def start(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed, programme, friction and the receiver's place of each listed env."""
        world, level = self.world, self.level
        chosen = np.zeros(len(envs), np.int64)
        turns = np.zeros(len(envs), np.float32)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(BEDS)
            # the hopper looks the same turned by half a turn, its bed does not
            turns[row] = math.pi * draw.integers(2)
            self.place[env] = draw.uniform(-level.offset, level.offset)
            self.friction[env] = draw.uniform(*self.friction_range)
            shares = draw.uniform(0.7, 1.3, level.stages)
            self.ends[env] = level.duration * np.cumsum(shares) / shares.sum()
            self.rates[env] = draw.uniform(*level.rates, level.stages)
            if level.pause:
                self.rates[env, draw.integers(1, level.stages - 1)] = 0.0
        self.load_beds(envs, chosen)
        world.place_grains(np.zeros((len(envs), 3), np.float32), turns, envs=envs)
        self.set_friction(envs)
        for array in (self.opening, self.time, self.rate, self.still, self.discharged):
            array[envs] = 0.0
        world.set_tool_poses(self._tool_poses(self.opening, self.place, np.zeros(self.env_count))[envs], envs=envs)
        self._count(envs)

    def _tool_poses(self, opening: Floats, place: Floats, shift: Floats) -> Floats:
        """Hopper, leaves and receiver: (env_count, 4, 7)."""
        poses = np.zeros((self.env_count, 4, 7), np.float32)
        poses[:, :, 3] = 1.0
        poses[:, 0, 0] = shift
        poses[:, 1, 0], poses[:, 2, 0] = -0.5 * opening, 0.5 * opening
        poses[:, 3, 0] = place
        return poses

    def advance(self, actions: Floats, held: NDArray[np.bool_]) -> None:
        """One control period, in strokes of the shaker."""
        moves = np.where(held[:, None], 0.0, actions.astype(np.float64))
        opening, place = self.opening.copy(), self.place.copy()
        shaking = np.maximum(moves[:, 2], 0.0) * SHAKE if self.shaker else np.zeros(self.env_count)
        self.opening = np.clip(opening + moves[:, 0] * GATE_SPEED * CONTROL_PERIOD, 0.0, self.outlet)
        self.place = np.clip(place + moves[:, 1] * RECEIVER_SPEED * CONTROL_PERIOD, -RECEIVER_REACH, RECEIVER_REACH)
        strokes = STROKES if self.shaker else 1
        for stroke in range(strokes):
            share = (stroke + 1) / strokes
            poses = self._tool_poses(
                opening + share * (self.opening - opening),
                place + share * (self.place - place),
                shaking * (1.0 - stroke % 2),
            )
            done = stroke * self.pace.substeps // strokes
            substeps = (stroke + 1) * self.pace.substeps // strokes - done
            self.world.step(dt=self.pace.dt, substeps=substeps, tool_poses=poses)
        running = ~held
        self.time = np.where(running, self.time + CONTROL_PERIOD, self.time)
        before = self.discharged.copy()
        self._count(np.flatnonzero(running).astype(np.int32))
        flow = (self.discharged - before) / CONTROL_PERIOD
        blend = CONTROL_PERIOD / RATE_WINDOW
        self.rate = np.where(running, self.rate + blend * (flow - self.rate), self.rate)
        waiting = running & (self.opening > CLOG_OPENING) & (flow <= 0.0) & (self.discharged < 1.0)
        self.still = np.where(waiting, self.still + CONTROL_PERIOD, 0.0)

    def _count(self, envs: NDArray[np.int32]) -> None:
        """Where the grains of the listed envs are."""
        lower, upper = np.array(BOUNDS[0]), np.array(BOUNDS[1])
        gate = np.array([upper[0], upper[1], OUTLET_HEIGHT - 2.0 * LEAF])
        out = self.share_in(lower, gate)
        spilled = self.share_in(lower, np.array([upper[0], upper[1], RECEIVER_FLOOR]))
        corner = np.zeros((self.env_count, 3), np.float32)
        corner[:, 0] = self.place
        low = corner + np.array([-RECEIVER[0], lower[1], RECEIVER_FLOOR], np.float32)
        high = corner + np.array([RECEIVER[0], upper[1], RECEIVER_FLOOR + RECEIVER[1]], np.float32)
        received = self.share_in(low, high)
        self.discharged[envs], self.spilled[envs], self.received[envs] = out[envs], spilled[envs], received[envs]

    def commanded(self, time: Floats) -> tuple[Floats, Floats]:
        """What should have come out at a time [s] of each env's episode [share], and the rate then [share/s]."""
        begins = np.concatenate([np.zeros((self.env_count, 1)), self.ends[:, :-1]], axis=1)
        spent = np.clip(time[:, None], begins, self.ends) - begins
        running = (time[:, None] >= begins) & (time[:, None] < self.ends)
        return (spent * self.rates).sum(axis=1), (running * self.rates).sum(axis=1)

    @property
    def dose(self) -> Floats:
        """What the programme asks for in all [share]."""
        return self.commanded(np.full(self.env_count, np.inf))[0]

    def outcome(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """Reward, terminated (never: the task has no end but its time), infos."""
        commanded, dose = self.commanded(self.time)[0], self.dose
        error = np.abs(self.discharged - commanded)
        reward = 1.0 - np.minimum(error / ERROR_SCALE, 2.0) - np.minimum(self.spilled / ERROR_SCALE, 1.0)
        over = self.time >= self.ends[:, -1]
        met = np.abs(self.discharged - dose) <= self.level.tolerance
        infos: Arrays = {
            "received": self.received.copy(),
            "spilled": self.spilled.copy(),
            "discharged": self.discharged.copy(),
            "commanded": commanded,
            "dose": dose,
            "dose_error": np.abs(self.discharged - dose),
            "mass": self.received * self.mass,
            "rate": self.rate * self.mass,
            "clogged": self.still >= CLOG_TIME,
            "success": over & met & (self.spilled <= SPILL_LIMIT),
        }
        return reward, np.zeros(self.env_count, bool), infos

    def readings(self) -> Arrays:
        """The flow of all envs."""
        commanded, rate = self.commanded(self.time)
        flow = [
            1.0 - self.discharged,
            self.received,
            self.spilled,
            self.rate,
            rate,
            commanded,
            self.dose,
            self.opening / self.outlet,
            self.place / RECEIVER_REACH,
        ]
        return {"flow": self.vector("flow", flow)}


def tilted(angle: float) -> Floats:
    """Quaternion of a turn about the y axis that lowers +x by `angle` [rad]."""
    c, s = math.cos(angle), math.sin(angle)
    return from_matrix(np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]]))


def hopper_solid(slope: float, outlet: float) -> Sdf:
    """Two sloping plates that end in the lips of the outlet, and two upright walls above them: one part each.

    Args:
        slope: of the plates [rad].
        outlet: distance of the lips [m].
    """
    deep = HALF_DEPTH + 0.05
    parts = []
    rise = (BIN_HALF_WIDTH - 0.5 * outlet) * math.tan(slope)
    for side in (-1.0, 1.0):
        # the plate's upper face runs from the lip to below the wall
        length = (BIN_HALF_WIDTH - 0.5 * outlet) / math.cos(slope) + WALL
        middle = np.array([0.5 * outlet, OUTLET_HEIGHT]) + 0.5 * length * np.array([math.cos(slope), math.sin(slope)])
        middle += 0.5 * WALL * np.array([math.sin(slope), -math.cos(slope)])
        plate = Sdf.box((0.5 * length, deep, 0.5 * WALL))
        parts.append(plate.at((side * middle[0], 0.0, middle[1]), tilted(-side * slope)))
        top, foot = BOUNDS[1][2], OUTLET_HEIGHT + rise
        wall = Sdf.box((0.5 * WALL, deep, 0.5 * (top - foot)))
        parts.append(wall.at((side * (BIN_HALF_WIDTH + 0.5 * WALL), 0.0, 0.5 * (top + foot))))
    return Sdf.union(*parts)


def leaf_solid(side: float) -> Sdf:
    """The leaf of the gate on one side (-1: left), its round nose at x = 0 where the gate is closed."""
    deep, z = HALF_DEPTH + 0.05, OUTLET_HEIGHT - LEAF
    plate = Sdf.box((0.5 * (LEAF_LENGTH - LEAF), deep, LEAF)).at((side * 0.5 * (LEAF_LENGTH + LEAF), 0.0, z))
    along_y = from_matrix(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]))
    return Sdf.union(plate, Sdf.cylinder(LEAF, deep).at((side * LEAF, 0.0, z), along_y))


def receiver_solid() -> Sdf:
    """A trough: floor and two end walls; the glass closes its sides."""
    half, height = RECEIVER
    deep = HALF_DEPTH + 0.02
    floor = Sdf.box((half + WALL, deep, 0.5 * WALL)).at((0.0, 0.0, RECEIVER_FLOOR - 0.5 * WALL))
    ends = [
        Sdf.box((0.5 * WALL, deep, 0.5 * (height + WALL))).at(
            (side * (half + 0.5 * WALL), 0.0, RECEIVER_FLOOR + 0.5 * (height - WALL))
        )
        for side in (-1.0, 1.0)
    ]
    return Sdf.union(floor, *ends)


class SiloEnv(GranularEnv):
    """`gymnasium.make("granular_gym/Silo-v0")`; arguments: SiloTask."""

    task_class = SiloTask


class SiloVectorEnv(GranularVectorEnv):
    """`gymnasium.make_vec("granular_gym/Silo-v0", num_envs=n)`; arguments: SiloTask, GranularVectorEnv."""

    task_class = SiloTask
