"""silo.py: `granular_gym/Silo-v1`: a gate lets grains out of a hopper into a moving receiver, after a programme.

A hopper (a wedge between two glass walls, the same with a flat bottom, or a cone) holds a settled bed over an outlet
that two leaves close from both sides. Grains are spheres or, in a section of a wedge, planar shapes: octagons, # and U.
A programme of discharge rates is drawn from the seed; its integral is the dose. The agent opens and closes the gate so
that what has come out follows the programme, keeps the receiver under the stream and its heap within its walls, and,
where asked for, shakes the hopper or one wall of it to free a clogged outlet. -v0 shows the programme as it runs, -v1
also what of it lies ahead.

Flow through a slot: W. A. Beverloo et al., "The flow of granular solids through orifices" (1961): the rate goes with
the power 1.5 of the slot's width less about 1.4 grain diameters, so coarse grains need a wider gate and clog sooner.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.drives import Axis, Drive, Joint, joint_drive
from granular_gym.engine.scene import Scene
from granular_gym.envs.silo_difficulty import DIFFICULTIES, Difficulty
from granular_gym.envs.silo_parts import (
    LEAF,
    OUTLET_HEIGHT,
    RECEIVER,
    RECEIVER_FLOOR,
    leaf_solid,
    receiver_solid,
    side_camera,
)
from granular_gym.envs.silo_programme import dose_of, rate_at, share_by
from granular_gym.envs.silo_state import AHEAD as ENDS_AHEAD
from granular_gym.envs.silo_state import SLICE_SIDES, silo_vector, state_of
from granular_gym.errors import ArgumentError
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.goal_envs import GoalEnv, GoalVectorEnv
from granular_gym.tasks.goals import GoalTask
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.hoppers import Hopper
from granular_gym.tasks.images import Image, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.pace import Pace, Preset
from granular_gym.tasks.scaled import Scaled
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.upright import Upright

CONTROL_PERIOD = 0.05  # [s]
RADIUS_OF_2000 = 0.022  # [m]
DENSITY = 1200.0  # [kg/m3]
FASTEST = 4.0  # [m/s] a grain that reaches the floor
HALF_LENGTH, TOP = 1.9, 2.8  # [m] of the field along x, and its height
SHAPES = {  # half of the slab between the glass walls, half width or radius of the bin inside [m]
    "wedge": (0.17, 0.5),
    "flat": (0.17, 0.5),
    "cone": (0.42, 0.33),  # about the same section
}
OUTLET = 0.40, (0.2, 0.5)  # [m] width of the slot between the hopper's lips, or diameter, and what it may be
#: planar shapes of grains, of circumradius 1
GRAINS: Mapping[str, Callable[[float], Shape2D]] = {
    "octagon": Shape2D.octagon,
    "hash": Shape2D.hash,
    "u": lambda radius: Shape2D.letter("U", radius),
}
PLANE_RADIUS_OF_2000 = 0.0085  # [m] of the circle round a planar shape
PLANE_PACE = Pace(1e-3, round(CONTROL_PERIOD / 1e-3), 20)
SLOPE = 55.0, (0.0, 75.0)  # [degrees] of the hopper's bottom, and what it may be
GATE_SPEED = 1.0  # [m/s] of the opening
RECEIVER_REACH = 0.7  # [m] the receiver's centre stays within
RECEIVER_ENDS = np.array([-RECEIVER[0], RECEIVER[0]], np.float32)  # [m] from its centre
RECEIVER_SPEED = 0.5  # [m/s]
SHAKE = 0.008  # [m] the hopper goes to either side at full shaking
STROKES = 2  # of what shakes per env step
SHAKERS = ("hopper", "wall")  # what shakes: all of the hopper, or its half at x < 0
#: settled beds that episodes begin with; none is turned, as stored impulses stay with the wall that carried them
BEDS = 6
GRAIN_FRICTION = 0.35
RATE_WINDOW = 0.2  # [s] over which the measured rate is averaged
#: [s] from now: ends of the spans whose rates v1 shows; the first begins now
AHEAD = np.array([0.0, *ENDS_AHEAD])[:, None]
SPANS = np.diff(AHEAD, axis=0)  # [s]
HIGHEST_RATE = 0.25  # [share/s] no programme commands more
CLOG_TIME, CLOG_OPENING = 1.0, 0.1  # [s] without a grain, [m] of opening: clogged
ERROR_SCALE = 0.05  # share of the content by which the discharge may be off until the reward is 0
SPILL_LIMIT = 0.02  # share of the content that may miss the receiver in a success
STEEL_COLOR, WALL_COLOR = (150, 158, 168), (176, 150, 190)
GATE_COLOR, RECEIVER_COLOR = (222, 120, 50), (84, 132, 178)


class SiloTask(GoalTask):
    """The silo task in `env_count` envs.

    ## Description
    A gate lets grains out of a hopper into a moving receiver, so that the discharge follows a programme of rates.
    Shares are fractions of all grains of the env. Control runs at 20 Hz.

    ## Action Space
    Box (2,) float32 in [-1, 1]: opening rate of the gate (1 = 1.0 m/s), speed of the receiver (1 = 0.5 m/s). With a
    `shaker` (3,): the third is the strength of shaking (below 0: none).

    ## Observation Space
    Dict of
    - "side" (48, 64) float32: depth [m] through the glass; of a cone what lies behind its middle, as if it were cut in
      half;
    - "flow" (9,) float32: shares in the hopper, in the receiver, and spilled; measured and commanded rate [share/s];
      commanded discharge so far and in all [share]; opening of the gate over the outlet; position of the receiver
      over its reach.

    With depth="uint8" the image is (1, 48, 64) uint8, 0 near and 255 far. Of the stages to come only their sum is
    shown, as the dose; `SiloV1Task` shows them.

    ## Rewards
    1 - min(|discharged - commanded| / 0.05, 2) - min(spilled / 0.05, 1), each step.

    ## Starting State
    One of six settled beds over the closed gate; the programme, the receiver's position and the friction between grains
    drawn from the seed within the limits of the difficulty.

    ## Episode End
    Truncated after 120 steps of 0.05 s; never terminated.

    Infos: "received", "spilled", "discharged", "commanded", "dose", "dose_error" [share], "mass" received [kg], "rate"
    [kg/s], "clogged", "success" (the programme is over, the discharge meets the dose within the difficulty's tolerance,
    at most 0.02 is spilled), and what every task reports (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `hopper`: "wedge", "flat" (a wedge of slope 0) or "cone" (round, with a round outlet).
    - `grain`: "sphere" or a clump ("pair", "tetrahedron", "cube", "rod"); or of planar grains in the section of a
      wedge: "octagon", "hash", "u", or several of these names, of which there are equally many.
    - `slope`: of the hopper's bottom [degrees], 0 (flat) .. 75: 90 less its half-angle; None: 55, of "flat" 0.
    - `outlet`: width of the slot between the hopper's lips, or diameter of the round outlet [m], 0.2 .. 0.5.
    - `shaker`: False: none; "hopper" or True: all of the hopper is shaken; "wall": only its half at x < 0.
    - others: see `Task`; difficulty "easy" (one rate), "medium" (three rates, the receiver stands aside, friction
      drawn) or "hard" (five stages with a pause, receiver far aside, more friction drawn). With planar grains the time
      step is 1 ms and `preset` has no effect.

    ## Version History
    - v1: `SiloV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (
        "opening", "receiver_x", "ends", "rates", "time", "discharged", "received", "spilled", "rate", "still",
    )  # fmt: skip
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    fastest = FASTEST
    depth_view = "side"
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    grains: ClassVar[tuple[str, ...]] = (*GRAIN_SHAPES, *GRAINS)
    matters: ClassVar[tuple[str, ...]] = tuple(MATTERS)
    half_depth: float
    discharged: Floats
    received: Floats
    spilled: Floats
    commanded: Floats
    dose: Floats

    def __init__(
        self,
        env_count: int = 1,
        *,
        hopper: str = "wedge",
        slope: float | None = None,
        outlet: float = OUTLET[0],
        shaker: bool | str = False,
        grain: str | Sequence[str] = "sphere",
        **kwargs: Any,
    ) -> None:
        shape = checks.choice("hopper", hopper, list(SHAPES))
        self.upright: Upright = Upright(planar=self.shapes_of(grain)[0] in GRAINS)
        if self.upright.planar and shape == "cone":
            raise ArgumentError(f"hopper: expected 'wedge' or 'flat' with plane grains, got {hopper!r}")
        self.half_depth, reach = SHAPES[shape]
        angle = checks.number("slope", slope, *SLOPE[1]) if slope is not None else 0.0 if shape == "flat" else SLOPE[0]
        if shape == "flat" and angle != 0.0:
            raise ArgumentError(f"slope: expected None or 0 with hopper='flat', got {slope!r}")
        self.outlet: float = checks.number("outlet", outlet, *OUTLET[1])
        is_round = shape == "cone"
        self.hopper: Hopper = Hopper(
            is_round, math.radians(angle), self.outlet, OUTLET_HEIGHT, TOP, reach, self.half_depth
        )
        if isinstance(shaker, bool):
            self.shaker = "hopper" if shaker else None
        else:
            self.shaker = checks.choice("shaker", shaker, SHAKERS)
        self.images: Mapping[str, Image] = {
            "side": Image(side_camera(0.0 if is_round else -0.3, self.half_depth, self.upright))
        }
        # a cone is drawn as if its half before y = 0 were cut away
        self.view: DepthCamera = view_camera((0.5, -3.9, 1.75), (0.0, 0.0, 1.0), upright=self.upright)
        if is_round:
            self.view = view_camera((0.0, -4.0, 1.0), (0.0, 0.0, 1.0), near=4.0)
        self.tool_colors: Sequence[tuple[int, int, int]] = [STEEL_COLOR, GATE_COLOR, GATE_COLOR, RECEIVER_COLOR]
        if self.shaker == "wall":
            self.tool_colors.append(WALL_COLOR)
        super().__init__(env_count, grain=grain, **kwargs)
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (3 if self.shaker else 2,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart("opening rate of the gate", "up", f"{GATE_SPEED} m/s"),
            ActionPart("speed of the receiver", "right", f"{RECEIVER_SPEED:g} m/s"),
            *([ActionPart("shaking amplitude, none below 0", full=f"{1e3 * SHAKE:g} mm")] if self.shaker else []),
        ]
        flow = spaces.Box(
            np.array([0, 0, 0, 0, 0, 0, 0, 0, -1], np.float32), np.array([1, 1, 1, 4, 4, 1, 1, 1, 1], np.float32)
        )
        self.observation_space: spaces.Dict = spaces.Dict({**self.depth_images.spaces(), "flow": flow})
        n, stages = self.env_count, self.difficulty.stages
        self.opening: Floats = np.zeros(n)  # of the gate [m]
        self.receiver_x: Floats = np.zeros(n)  # x of the receiver [m]
        self.ends: Floats = np.ones((n, stages))  # of the stages of the programme [s]
        self.rates: Floats = np.zeros((n, stages))  # of the stages [share/s]
        self.time: Floats = np.zeros(n)  # since the episode began [s]
        self.discharged, self.received, self.spilled = np.zeros(n), np.zeros(n), np.zeros(n)  # shares
        self.rate: Floats = np.zeros(n)  # of discharge, averaged [share/s]
        self.still: Floats = np.zeros(n)  # since the last grain came out of the open gate [s]
        self.commanded, self.dose = np.zeros(n), np.zeros(n)  # share that should be out by now, and in the end
        self.boxes: Floats = self._boxes()
        # only the first boxes count; others tell where a heap lies
        self.places: NDArray[np.int64] = np.eye(self.boxes.shape[1], 3, dtype=np.int64)

    # the scene -------------------------------------------------------------------------------------------------------

    def shapes_of(self, grain: Any) -> tuple[str, ...]:
        """A name, or several of planar shapes."""
        if isinstance(grain, str):
            return super().shapes_of(grain)
        names = tuple(grain) if isinstance(grain, Sequence) else ()
        if not names or len(set(names)) != len(names):
            raise ArgumentError(f"grain: expected a name or several different ones, got {grain!r}")
        for name in names:
            checks.choice("grain", name, list(GRAINS))
        return names

    def grain_size(self) -> float:
        """Of spheres by volume, of planar shapes by area [m]."""
        if self.upright.planar:
            return PLANE_RADIUS_OF_2000 * math.sqrt(2000.0 / self.grain_count)
        return super().grain_size()

    def pace_of(self, preset: Preset) -> Pace:
        """Planar grains have a pace of their own."""
        return PLANE_PACE if self.upright.planar else super().pace_of(preset)

    @cached_property
    def mass(self) -> float:
        """Of all grains of an env [kg]; kept, as every step reads it."""
        if not self.upright.planar:
            return super().mass
        shapes = len(self.grain)
        areas = [GRAINS[name](self.radius).area for name in self.grain]
        return self._density * sum(areas[k % shapes] for k in range(self.grain_count))

    @property
    def _density(self) -> float:
        """Of the grains [kg/m3]; in the plane of the slab between the glass walls [kg/m2]."""
        return DENSITY * (2.0 * self.half_depth if self.upright.planar else 1.0)

    def bed_scene(self, number: int) -> Scene:
        """Hopper, closed gate, receiver and grains over the gate."""
        if self.upright.planar:
            bounds: Any = (-HALF_LENGTH, 0.0), (HALF_LENGTH, TOP)
            scene = Scene(bounds=bounds, boundary={"x": "wall", "y": ("wall", "open")})
        else:
            bounds = (-HALF_LENGTH, -self.half_depth, 0.0), (HALF_LENGTH, self.half_depth, TOP)
            scene = Scene(bounds=bounds, boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand = [self._add_sand(scene, name) for name in self.grain]
        steel = scene.add_material(density=7800.0, friction=0.3, name="steel")
        glass = scene.add_material(density=2500.0, friction=0.1, name="glass")
        rolling = 0.0 if self.upright.planar else self.form.rolling(0.05)
        for material in sand:
            scene.set_pair(material, steel, friction=0.25, restitution=0.0, rolling_friction=rolling)
            scene.set_pair(material, glass, friction=0.1, restitution=0.0, rolling_friction=0.0)
        scene.wall_material = glass
        self._add_grains(scene, sand, number)
        radius = self.form.finest
        wall, hopper = self.hopper.sides(radius) if self.shaker == "wall" else (None, self.hopper.whole(radius))
        turned = self.upright.solid
        scene.add_tool(turned(hopper), name="hopper", material=steel)
        gate = 0.5 * self.outlet + 0.05 if self.hopper.is_round else self.half_depth + 0.05
        scene.add_tool(turned(leaf_solid(-1.0, gate)), name="left", material=steel)
        scene.add_tool(turned(leaf_solid(1.0, gate)), name="right", material=steel)
        scene.add_tool(turned(receiver_solid(self.half_depth + 0.02)), name="receiver", material=steel)
        if wall is not None:
            scene.add_tool(turned(wall), name="wall", material=steel)
        return scene

    def _add_sand(self, scene: Scene, name: str) -> int:
        """The material of one shape of grains."""
        if name not in GRAINS:
            return scene.add_material(
                **self.form.body,
                density=DENSITY,
                friction=self.form.filling(GRAIN_FRICTION),
                restitution=0.0,
                rolling_friction=self.form.rolling(0.05),
                name="sand",
            )
        return scene.add_material(
            shape=GRAINS[name](self.radius), density=self._density, friction=GRAIN_FRICTION, restitution=0.0, name=name
        )

    def _add_grains(self, scene: Scene, sand: list[int], number: int) -> None:
        points = self._lattice(number)
        if not self.upright.planar:
            self.form.add_to(scene, sand[0], points, number)
            return
        angles = np.random.Generator(np.random.PCG64([number, 1])).uniform(-math.pi, math.pi, len(points))
        for k, material in enumerate(sand):
            scene.add_grains(material, points[k :: len(sand), [0, 2]], angles=angles[k :: len(sand)])

    def _lattice(self, number: int) -> Floats:
        """Grains before they settle, (n, 3): a loose jittered lattice over the gate, bottom up."""
        radius, step = self.form.reach, 2.35 * self.form.reach
        points: list[Floats] = []
        count, z = 0, OUTLET_HEIGHT + 1.2 * radius
        draw = np.random.Generator(np.random.PCG64(number))
        while count < self.grain_count:
            plan = self.hopper.layer(z, step, radius)
            if self.upright.planar:
                plan = np.stack([np.unique(plan[:, 0]), np.zeros(len(np.unique(plan[:, 0])))], axis=1)
            layer = np.concatenate([plan, np.full((len(plan), 1), z)], axis=1)
            points.append(layer + draw.uniform(-0.16, 0.16, layer.shape) * radius)
            count += len(layer)
            z += step
        return np.concatenate(points)[: self.grain_count].astype(np.float32)

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed, programme, friction and the receiver's position of each listed env."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(BEDS)
            self.receiver_x[env] = draw.uniform(-difficulty.offset, difficulty.offset)
            self.friction[env] = draw.uniform(*self.friction_range)
            shares = draw.uniform(0.7, 1.3, difficulty.stages)
            self.ends[env] = difficulty.duration * np.cumsum(shares) / shares.sum()
            self.rates[env] = draw.uniform(difficulty.rates[0], difficulty.rates[1], difficulty.stages)
            if difficulty.pause:
                self.rates[env, draw.integers(1, difficulty.stages - 1)] = 0.0
        self.load_beds(envs, chosen)
        self.set_materials(envs)
        for array in (self.opening, self.time, self.rate, self.still):
            array[envs] = 0.0
        world.set_tool_poses(world.drive_poses(self._drive_state()[envs]), envs=envs)
        self._read_programme()
        self._count()

    def drive(self) -> Drive:
        """Leaves and receiver slide; what shakes is put where the action says, and back."""
        joints = [
            Joint(0, GATE_SPEED, 0.0, self.outlet),
            Joint(1, RECEIVER_SPEED, -RECEIVER_REACH, RECEIVER_REACH),
            Joint(2 if self.shaker else None, SHAKE, 0.0, SHAKE, position=True),
        ]
        shaken = 4 if self.shaker == "wall" else 0
        axes = [Axis(1, 0, "x", -0.5), Axis(2, 0, "x", 0.5), Axis(3, 1, "x"), Axis(shaken, 2, "x")]
        poses = np.zeros((len(self.tool_colors), 7))
        poses[:, 3] = 1.0
        return joint_drive(joints, axes, poses, CONTROL_PERIOD, 3 if self.shaker else 2)

    def _drive_state(self) -> Floats:
        """Opening, receiver, and nothing shaken: (env_count, 3)."""
        state: Floats = np.array([self.opening, self.receiver_x, np.zeros(self.env_count)]).T
        return state

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period, in strokes of the shaker."""
        state = after = self._drive_state()
        strokes = STROKES if self.shaker else 1
        for stroke in range(strokes):
            done = stroke * self.pace.substeps // strokes
            substeps = (stroke + 1) * self.pace.substeps // strokes - done
            share, scale = (stroke + 1) / strokes, 1.0 - stroke % 2
            after = self.simulate_driven(actions, idle, state, substeps, share=share, scale=scale)
        self.opening, self.receiver_x = after[:, 0], after[:, 1]
        self.time += CONTROL_PERIOD
        self.commanded = share_by(self.time, self.ends, self.rates)
        before = self.discharged
        self._count()
        flow = (self.discharged - before) / CONTROL_PERIOD
        self.rate += CONTROL_PERIOD / RATE_WINDOW * (flow - self.rate)
        waiting = (self.opening > CLOG_OPENING) & (self.discharged <= before) & (self.discharged < 1.0)
        self.still = waiting * (self.still + CONTROL_PERIOD)

    def _count(self) -> None:
        """Where the grains are."""
        self.discharged, self.spilled, self.received = self.sums_of(self.results.box_counts, self.places).T

    def _boxes(self) -> Floats:
        """Boxes below the gate, on the floor, in the receiver at x = 0: (env_count, 3, 6) [m]."""
        low, high = np.array([-HALF_LENGTH, -self.half_depth, 0.0]), np.array([HALF_LENGTH, self.half_depth, TOP])
        lower, upper = np.array([low, low, low]), np.array([high, high, high])
        upper[0, 2], upper[1, 2] = OUTLET_HEIGHT - 2.0 * LEAF, RECEIVER_FLOOR
        lower[2, 0], upper[2, 0] = -RECEIVER[0], RECEIVER[0]
        lower[2, 2], upper[2, 2] = RECEIVER_FLOOR, RECEIVER_FLOOR + RECEIVER[1]
        boxes = np.concatenate(self.upright.box(lower, upper), axis=1).astype(np.float32)
        return np.repeat(boxes[None], self.env_count, axis=0)

    def counted(self) -> dict[str, Any]:
        """Grains below the gate, on the floor, in the receiver."""
        self.boxes[:, 2, ::3] = self.receiver_x.astype(np.float32)[:, None] + RECEIVER_ENDS
        return {"boxes": self.boxes}

    def _read_programme(self) -> None:
        """What the programmes command now and in all."""
        self.commanded = share_by(self.time, self.ends, self.rates)
        self.dose = dose_of(self.ends, self.rates)

    def load(self, saved: dict[str, Any] | None) -> None:
        """See `Task.load`."""
        super().load(saved)
        self._read_programme()

    @property
    def goal_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Time and two shares, and a programme."""
        return (3,), (2, self.difficulty.stages)

    @property
    def remembered(self) -> tuple[str, ...]:
        """Nothing: each control period is paid for what is discharged by then."""
        return ()

    def achieved_goal(self) -> Floats:
        """Time since the episode began [s], shares discharged and spilled by then: (env_count, 3)."""
        return np.stack([self.time, self.discharged, self.spilled], axis=1)

    def desired_goal(self) -> Floats:
        """The programme: ends [s] and rates [share/s] of its stages, (env_count, 2, stages)."""
        return np.stack([self.ends, self.rates], axis=1)

    def pay(self, achieved: Any, desired: Any, earlier: Mapping[str, Any]) -> Floats:
        """See `GoalTask.pay`."""
        time, discharged, spilled = np.ascontiguousarray(achieved.T, np.float64)
        ends, rates = (np.ascontiguousarray(desired[:, k], np.float64) for k in (0, 1))
        return reward_of(discharged, share_by(time, ends, rates), spilled)

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; never terminated."""
        reward = reward_of(self.discharged, self.commanded, self.spilled)
        over = self.time >= self.ends[:, -1]
        off = np.abs(self.discharged - self.dose)
        infos: Arrays = {
            "received": self.received.copy(),
            "spilled": self.spilled.copy(),
            "discharged": self.discharged.copy(),
            "commanded": self.commanded.copy(),
            "dose": self.dose.copy(),
            "dose_error": off,
            "mass": self.received * self.mass,
            "rate": self.rate * self.mass,
            "clogged": self.still >= CLOG_TIME,
            "success": over & (off <= self.difficulty.tolerance) & (self.spilled <= SPILL_LIMIT),
        }
        return reward, np.zeros(self.env_count, bool), infos

    def sense(self) -> Arrays:
        """The flow of all envs."""
        flow = [
            1.0 - self.discharged,
            self.received,
            self.spilled,
            self.rate,
            rate_at(self.time, self.ends, self.rates),
            self.commanded,
            self.dose,
            self.opening / self.outlet,
            self.receiver_x / RECEIVER_REACH,
        ]
        return {"flow": self.vector("flow", flow)}


def reward_of(discharged: Floats, commanded: Floats, spilled: Floats) -> Floats:
    """What a control period earns: (n,) of shares (n,)."""
    error = np.abs(discharged - commanded)
    reward: Floats = 1.0 - np.minimum(error / ERROR_SCALE, 2.0) - np.minimum(spilled / ERROR_SCALE, 1.0)
    return reward


class SiloV1Task(Scaled, SiloTask):
    """The silo task in `env_count` envs, with the programme ahead in the observation.

    ## Description, Action Space, Starting State, Episode End, Arguments
    Those of `SiloTask`; the same seed and actions give the same episode.

    ## Rewards
    Those of `SiloTask` over its 120 steps: a perfect episode earns 1; with reward="paper" those of `SiloTask`.

    ## Observation Space
    Dict of
    - "side" (48, 64) float32: depth [m] through the glass; of a cone what lies behind its middle, as if it were cut in
      half;
    - "flow" (9,) float32: shares in the hopper, in the receiver, and spilled; measured and commanded rate [share/s];
      commanded discharge so far and in all [share]; opening of the gate over the outlet; position of the receiver
      over its reach;
    - "programme" (7,) float32: mean commanded rate [share/s] from now to 0.05 s ahead, from there to 0.1, 0.2, 0.4,
      0.8, 1.6 and 3.2 s.

    With depth="uint8" the image is (1, 48, 64) uint8, 0 near and 255 far; with observation="state"
    there is "state" alone, see `silo_vector`.

    ## Version History
    - v1: rewards scaled; observation="state"; "programme" in the observation.
      The stages are drawn in every episode; the gate takes time to open and the
      grains to fall, so it must move before a stage begins, and in v0 nothing says when that is.
    - v0: `SiloTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    full_return: ClassVar[float] = 120.0  # 1 in each step
    state_vector: StateVector = silo_vector((1, -1))  # of envs without a shaker

    def __init__(self, env_count: int = 1, *, shaker: bool | str = False, **kwargs: Any) -> None:
        # a wall that is shaken alone has no counterpart on the other side
        self.state_vector = silo_vector(None if shaker == "wall" else (1, -1, 1) if shaker else (1, -1))
        super().__init__(env_count, shaker=shaker, **kwargs)
        programme = spaces.Box(0.0, HIGHEST_RATE, (len(SPANS),), np.float32)
        self.observation_space: spaces.Dict = spaces.Dict({**self.observation_space.spaces, "programme": programme})

    def sense(self) -> Arrays:
        """The flow and the programme ahead of all envs."""
        return {**super().sense(), "programme": self.vector("programme", self._programme_ahead()[1])}

    def _programme_ahead(self) -> tuple[Floats, Floats]:
        """What the programmes command by now and AHEAD [share], and their mean rates in between [share/s]."""
        shares = share_by(self.time + AHEAD, self.ends, self.rates)
        return shares, (shares[1:] - shares[:-1]) / SPANS

    def _boxes(self) -> Floats:
        """With observation="state" also slices of the receiver."""
        boxes = super()._boxes()
        return np.concatenate([boxes, *[boxes[:, 2:3]] * len(SLICE_SIDES)], axis=1) if self.reads_state else boxes

    def counted(self) -> dict[str, Any]:
        """See `SiloTask.counted`."""
        counted = super().counted()
        if self.reads_state:
            self.boxes[:, 3:, ::3] = self.receiver_x[:, None, None] + SLICE_SIDES
        return counted

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        shares, programme = self._programme_ahead()
        vectors: NDArray[np.float32] = state_of(
            self.state_vector,
            time=self.time,
            discharged=self.discharged,
            received=self.received,
            spilled=self.spilled,
            commanded=self.commanded,
            dose=self.dose,
            due=shares[1:].T,
            programme=programme.T,
            rates=(self.rate, rate_at(self.time, self.ends, self.rates)),
            opening=self.opening / self.outlet,
            waiting=self.still,
            receiver=self.receiver_x / RECEIVER_REACH,
            heap=self.shares_of(self.results.box_counts[:, 3:]),
        )
        return vectors


SiloEnv: type[GoalEnv]
SiloVectorEnv: type[GoalVectorEnv]
SiloEnv, SiloVectorEnv = env_classes(SiloTask)
SiloV1Env: type[GoalEnv]
SiloV1VectorEnv: type[GoalVectorEnv]
SiloV1Env, SiloV1VectorEnv = env_classes(SiloV1Task)
