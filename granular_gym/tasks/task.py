"""task.py: `Task`: a reinforcement-learning problem, played in `env_count` copies in one world.

The two Gymnasium interfaces in `gym_envs.py` show the same task as one env and as a batch: the rules exist once. What
callers use calls one hook each, and the hooks are what a task fills in:

    bed     calls  bed_scene  tools and grains of a bed before it settles
    reset   calls  begin      draws what is random in an episode and sets grains and tools
    step    calls  advance    turns actions into tool poses and steps the world
    observe calls  sense      what observations hold besides the images of cameras
    outcome calls  evaluate   rewards, terminated, infos

How the world is stepped, and what is read of it after a step (`results`), is in stepping.py.

Key ideas: the world is opened at the first reset, so that making, pickling and closing a task starts no thread;
whatever is random in env k is drawn from generator k only and whatever is computed for env k uses row k only, so that
env k alone equals env k among many, bit for bit.
"""

from __future__ import annotations

import abc
import copy
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, cast

import numpy as np
from gymnasium import spaces
from gymnasium.error import ClosedEnvironmentError
from gymnasium.utils import seeding
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.device import parse_device
from granular_gym.engine.materials import LIMITS
from granular_gym.engine.outputs import Output
from granular_gym.engine.pair_table import PairTable
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.state import State
from granular_gym.engine.stats import counters_of_all
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, OverlapError
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.beds import Settling, settle
from granular_gym.tasks.complete import (
    DEFAULT_DIFFICULTY,
    check_alike,
    check_bed,
    check_class,
    check_difficulty,
    check_entry,
    check_evaluated,
    check_finite,
    check_placed,
    check_sensed,
    finite_where,
    not_finite,
)
from granular_gym.tasks.contact_law import tabled
from granular_gym.tasks.depth_sensor import DepthSensor, SensorNoise, check_sensor
from granular_gym.tasks.grain_colors import sand_colors
from granular_gym.tasks.grain_shapes import GrainForm
from granular_gym.tasks.images import DepthImages, Image
from granular_gym.tasks.matter import MATTERS, Matter
from granular_gym.tasks.pace import GRAIN_LIMIT, PRESETS, Pace, Preset, grain_radius
from granular_gym.tasks.ranges import MaterialRanges, Randomization, check_ranges
from granular_gym.tasks.snapshots import check_saved
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.stepping import Stepping
from granular_gym.tasks.touch import WRENCHES, Touch, TouchPad, check_touch
from granular_gym.tasks.vision import Vision, check_vision

GRAVITY = 9.81  # [m/s2]
PIXELS = "pixels"  # the observation that is images alone
BOTH = f"{PIXELS}+{STATE}"  # and that with the state vector beside them


class Outcome(NamedTuple):
    """What the state of all envs is worth.

    Attributes:
        rewards: (env_count,) float64.
        terminated: (env_count,) bool: the rules of the task end the episode.
        truncated: (env_count,) bool: the env diverged, as a position or velocity stopped being finite.
        infos: arrays (env_count, ...) by name.
    """

    rewards: Floats
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: Arrays


@dataclass(frozen=True)
class Difficulty:
    """How hard an episode is, where a task says no more; others are classes of their own with such a range.

    Attributes:
        friction: (lower, upper) of the friction between grains, which each episode draws.
    """

    friction: tuple[float, float] = (0.5, 0.5)


class Task(Stepping):
    """A reinforcement-learning problem that begins with a settled bed and observes depth images.

    Subclasses set the class attributes below; in their constructor the spaces of one env, `observation_space` (a flat
    Dict of Box) and `action_space` (a Box in [-1, 1]), and the arrays named in `episode_state`; and they fill in the
    hooks. `begin` draws `self.friction` and calls `load_beds` and `set_materials`.

    Args:
        env_count: number of envs, >= 1.
        grain_count: grains per env, of clumps not their spheres; tasks are meant for those of GRAIN_LADDER.
        difficulty: a key of `difficulties`.
        preset: a key of `presets`: how finely an env step is computed.
        depth: of depth images: "float32" (H, W) [m]; "uint8" (1, H, W), 0 near, 255 far; or "points" (H W, 4), see
            `DepthImages`.
        friction_range: (lower, upper): each episode draws the friction between grains from it; None: as `difficulty`
            has it.
        randomize: what else each env draws for each episode, from its own generator: a MaterialRanges, a sequence of
            them (for different pairs of materials), or None. Infos then hold what was drawn.
        grain: shape of the grains, one of `grains`: "sphere", or a clump of the same volume (grain_shapes.py).
        matter: what the bed is made of, one of `matters`: "grains", or "sand_continuum": as many particles of
            continuous matter in their place (matter.py), whose friction is the middle of the difficulty's range, or
            that of a `friction_range` of twice the same number.
        contact_law: of tasks that take one, Bulldozer and Pour: path of a table of forces by which the grains move in
            place of friction and restitution, as learned laws are exported (docs/learned.md), or a PairTable; None: the
            solver's own law.
        device: "cpu", "cuda" or "auto".
        num_threads: see `Scene.build`.
        render_mode: None, "rgb_array" or "depth_array".
        frame_skip: control periods per env step, >= 1: the action is held, rewards are summed, cameras look once.
        observation: "images": what the spaces of the task say; "pixels": the images of `pixels` alone, where the task
            has them; "state": the numbers of `state_vector` alone, under the key "state", where the task has them;
            "pixels+state": those images and that vector, for learners whose policy sees the images alone.
        reads_state: `sense_state` may be called whatever the observation shows, as recorders do.
        sensor: errors of the depth cameras of the observation (depth_sensor.py): a DepthSensor, its attributes as
            a dict, the name of one, or None. They are drawn from the seed of the env, and change nothing else that is
            drawn.
        touch: what the observation tells of the tools of `pads` besides: "tool_wrenches", "contact_map", or a sequence
            of both (touch.py); None: nothing.
        vision: what the observation shows besides each depth image of a camera: "rgb", "segmentation", or a sequence
            of both (vision.py); None: nothing.

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    metadata: ClassVar[dict[str, Any]] = {"render_modes": ["rgb_array", "depth_array"], "render_fps": 10}
    episode_state: ClassVar[tuple[str, ...]] = ()  # attributes that are arrays (env_count, ...) and shape the future
    control_period: ClassVar[float]  # [s] for which an action is held
    radius_of_2000: float  # [m] of a grain where there are 2,000
    density: ClassVar[float]  # of the grains [kg/m3]
    fastest: float  # [m/s] no grain is expected to be faster
    images: Mapping[str, Image] = {}  # depth images of the observation, by name
    pixels: Mapping[str, Image] = {}  # what observation="pixels" shows, which tells all; empty: there is none
    depth_view: ClassVar[str] = ""  # the image that render_mode="depth_array" shows; "": the first
    view: DepthCamera  # of pictures
    tool_colors: Sequence[tuple[int, int, int]] = ()  # 0 .. 255; none given: one colour for all
    paints_episodes: ClassVar[bool] = False  # `matter_colors` differ from env to env: episodes draw them
    difficulties: ClassVar[Mapping[str, Any]] = {"medium": Difficulty()}  # each has a range `friction`, and any more
    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    grains: ClassVar[tuple[str, ...]] = ("sphere",)  # shapes of grains that the task knows; GRAIN_SHAPES: clumps, too
    law_tables: ClassVar[bool] = False  # whether its grains may move by a table: the argument `contact_law`
    matters: ClassVar[tuple[str, ...]] = ("grains",)  # what beds may be made of; MATTERS: continuous matter, too
    settling: Settling = Settling()
    state_vector: StateVector | None = None  # what observation="state" shows; None: there is none
    pads: Sequence[TouchPad] = ()  # tools that feel grains, for the argument `touch`
    action_parts: Sequence[ActionPart] = ()  # what each number of an action moves, for people; (): not told
    option_names: ClassVar[tuple[str, ...]] = ()  # keys that `begin` knows in the options of `reset`
    observation_space: spaces.Dict
    action_space: spaces.Box

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if hasattr(cls, "control_period"):  # a base of several tasks may leave it open
            period = checks.number(f"{cls.__name__}.control_period", cls.control_period, 0.0, above=True)
            cls.metadata = {**Task.metadata, "render_fps": max(round(1.0 / period), 1)}

    def __init__(
        self,
        env_count: int = 1,
        *,
        grain_count: int = 2000,
        difficulty: str = DEFAULT_DIFFICULTY,
        preset: str = "fast",
        depth: str = "float32",
        friction_range: tuple[float, float] | None = None,
        randomize: MaterialRanges | Sequence[MaterialRanges] | None = None,
        grain: Any = "sphere",
        matter: str = "grains",
        contact_law: str | os.PathLike[str] | PairTable | None = None,
        device: str = "cpu",
        num_threads: int | None = None,
        render_mode: str | None = None,
        frame_skip: int = 1,
        observation: str = "images",
        reads_state: bool = False,
        sensor: DepthSensor | str | None = None,
        touch: str | Sequence[str] | None = None,
        vision: str | Sequence[str] | None = None,
    ) -> None:
        check_class(self)
        self.env_count: int = checks.integer("env_count", env_count, 1)
        if render_mode is not None and render_mode not in self.metadata["render_modes"]:
            raise ArgumentError(f"render_mode: expected None or {self.metadata['render_modes']}, got {render_mode!r}")
        self.render_mode = render_mode
        self.grain_count: int = checks.integer("grain_count", grain_count, 1, GRAIN_LIMIT)
        self.difficulty: Any = check_difficulty(self, difficulty)
        self.frame_skip: int = checks.integer("frame_skip", frame_skip, 1)
        has_state, has_pixels = self.state_vector is not None, bool(self.pixels)
        forms = {"images": True, PIXELS: has_pixels, STATE: has_state, BOTH: has_pixels and has_state}
        self.observation: str = checks.choice("observation", observation, [form for form, has in forms.items() if has])
        self.shows_images: bool = self.observation != STATE
        self.shows_state: bool = self.observation in (STATE, BOTH)
        if checks.flag("reads_state", reads_state) and not has_state:
            raise ArgumentError("reads_state: expected False of a task without a state vector, got True")
        self.reads_state: bool = self.shows_state or reads_state
        shows_pixels = self.observation in (PIXELS, BOTH)
        self.noise: SensorNoise | None = self._make_noise(sensor)
        shown = self.pixels if shows_pixels else self.images
        self.depth_images: DepthImages = DepthImages(shown, depth, self.noise)
        self.matter: Matter = MATTERS[checks.choice("matter", matter, list(self.matters))]
        if contact_law is not None:
            if not self.law_tables or matter != "grains":
                wanted = "matter='grains'" if self.law_tables else "None of this task"
                raise ArgumentError(f"contact_law: expected {wanted}, got {contact_law!r}")
            self.matter = tabled(contact_law, self.grain_size(), self.density)
        if friction_range is not None:
            low, high = (float(x) for x in checks.floats("friction_range", friction_range, (2,)))
            least, most = LIMITS["friction"]
            if not least <= low <= high <= most:
                wanted = f"{least:g} <= lower <= upper <= {most:g}"
                raise ArgumentError(f"friction_range: expected {wanted}, got {friction_range!r}")
            friction_range = (low, high)
        self.friction_range: tuple[float, float] = self.matter.friction_range(self.difficulty.friction, friction_range)
        self.grain: tuple[str, ...] = self.shapes_of(grain)
        self.randomization: Randomization = Randomization(check_ranges("randomize", randomize), self.env_count)
        self.matter.check(self.grain, self.randomization.ranges)
        self.device: str = parse_device(device)
        self.num_threads: int | None = checks.threads(num_threads)
        self.radius: float = self.grain_size()
        felt = check_touch(touch, self.pads, self.matter is MATTERS["grains"])
        self.touch: Touch = Touch(felt, self.pads, self.weight)
        self.reads_wrenches: bool = WRENCHES in felt
        self.form: GrainForm = GrainForm.named(self.grain[0], self.radius)
        self.world_grain_count: int = self.grain_count * self.form.spheres
        kinds = check_vision(vision, self.shows_images and bool(self.depth_images.seen))
        self.vision: Vision = Vision(
            kinds, self.depth_images, self.env_count, self.world_grain_count, painted=self.paints_episodes
        )
        self.preset: str = checks.choice("preset", preset, list(self.presets))
        # those of grains, which settle before a continuum takes their place, and those of the matter
        self._grain_pace: Pace = self.pace_of(self.presets[self.preset])
        self._grain_solver: Solver = self.solver_at(self._grain_pace)
        self.pace: Pace = self.matter.pace(self._grain_pace, self.preset, self.control_period)
        self.solver: Solver = self.matter.solver(self._grain_solver, self.pace)
        self.friction: Floats = np.zeros(self.env_count)  # between grains
        self.generators: list[np.random.Generator | None] = [None] * self.env_count
        self.seeds: list[int | None] = [None] * self.env_count
        self.fresh: NDArray[np.bool_] = np.ones(self.env_count, bool)  # just reset: no step of the episode was made
        self.closed: bool = False
        self._beds: dict[int, State] = {}  # settled; made when first drawn
        self._world: World | None = None
        self._checked: set[str] = set()  # hooks whose first answer was looked at, and STATE

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open" if self._world else "not yet open"
        return f"{type(self).__name__}(env_count={self.env_count}, grain_count={self.grain_count}, {state})"

    # hooks of a task -------------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def bed_scene(self, number: int) -> Scene:
        """Tools and grains of bed `number` before it settles; its tools are those of all beds."""

    @abc.abstractmethod
    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Begins episodes in the listed envs; draws from `self.generator(env)` only.

        Args:
            envs: env indices, ascending.
            options: of `reset`; keys out of `option_names`.
        """

    @abc.abstractmethod
    def sense(self) -> Arrays:
        """What the observations hold besides the images of cameras, fresh arrays (env_count, ...) by key."""

    def sense_state(self) -> NDArray[np.float32]:
        """The vectors (env_count, k) of observation="state", of a task with a `state_vector`."""
        raise NotImplementedError(f"{type(self).__name__} names a state_vector and has no sense_state()")

    def sense_pixels(self) -> Arrays:
        """The images of observation="pixels" that no camera takes, fresh arrays (env_count, ...) by key."""
        raise NotImplementedError(f"{type(self).__name__} names drawn images in `pixels` and has no sense_pixels()")

    def shapes_of(self, grain: Any) -> tuple[str, ...]:
        """What the argument `grain` asks for: names out of `grains`."""
        return (checks.choice("grain", grain, list(self.grains)),)

    def grain_size(self) -> float:
        """Radius of a grain, of the sphere with its volume, or of the circle round it [m]."""
        return grain_radius(self.grain_count, self.radius_of_2000)

    @property
    def shown_space(self) -> spaces.Dict:
        """The observation space of one env, as `observation`, `touch` and `vision` choose."""
        further: dict[str, spaces.Space[Any]] = {**self.touch.spaces(), **self.vision.spaces()}
        if self.observation == "images":
            return spaces.Dict({**self.observation_space.spaces, **further}) if further else self.observation_space
        images = self.depth_images.spaces() if self.shows_images else {}
        state = {STATE: self.state_vector.space} if self.shows_state and self.state_vector is not None else {}
        return spaces.Dict({**images, **state, **further})

    def _make_noise(self, sensor: Any) -> SensorNoise | None:
        """Errors of the depth cameras; None: there are none."""
        model = check_sensor(sensor)
        if model is not None and not self.shows_images:
            raise ArgumentError(f"sensor: expected None with observation={self.observation!r}, which has no images")
        return None if model is None else SensorNoise(model, self.env_count)

    def pace_of(self, preset: Preset) -> Pace:
        """The time step and the iterations that a preset comes to."""
        return preset.pace(self.control_period, self.form.finest, self.fastest)

    def solver_at(self, pace: Pace) -> Solver:
        """The settings of the contact solver at a pace."""
        return Solver(iterations=pace.iterations, tolerance=pace.tolerance, sleep=True)

    def matter_colors(self, env: int) -> Floats:
        """Colours of the grains of an env as they are, which its cameras see: (world_grain_count, 3) in 0 .. 255.

        What `begin` draws of them stays for the episode; `paints_episodes` then says so.
        """
        colors: Floats = self.form.for_world(sand_colors(self.grain_count))
        return colors

    def grain_colors(self, env: int) -> Floats:
        """The same in pictures for people, who may see more than cameras do."""
        return self.matter_colors(env)

    def floor_mark(self, env: int) -> Floats | None:
        """A rectangle that pictures of an env tint on the floor, (8,) as `World.picture` takes it; None: none."""
        return None

    # the world and its beds ------------------------------------------------------------------------------------------

    @property
    def world(self) -> World:
        """The world of all envs; opened on first use.

        Raises:
            ClosedEnvironmentError: after close().
        """
        if self._world is None:
            self.check_open()
            self._world = self.build()
        return self._world

    def build(self) -> World:
        """Builds a world with the cameras of the observations.

        Raises:
            OverlapError: the grains are too large for the bed.
        """
        scene = self.scene(0)
        self.depth_images.add_cameras(scene)
        try:
            world = scene.build(
                env_count=self.env_count, device=self.device, solver=self.solver, num_threads=self.num_threads
            )
        except OverlapError as error:
            raise OverlapError(
                f"grain_count: expected more, and so smaller grains, got {self.grain_count} of radius "
                f"{self.radius:.3g} m, which the bed does not hold ({error})"
            ) from None
        drive = self.drive()
        if drive is not None:
            world.set_drive(drive)
        return world

    def bed(self, number: int) -> State:
        """Bed `number` at rest.

        Raises:
            ArgumentError: see `scene`; or it differs from bed 0 in more than a state holds, as radii of grains.
        """
        if number not in self._beds:
            settling, scene = self.matter.settling(self.settling), self.scene(number)
            check_alike(self, number, scene, self.world)
            self._beds[number] = self._settled(scene, settling, self.pace.dt, self.solver)
        return self._beds[number]

    def scene(self, number: int) -> Scene:
        """Bed `number` in the task's matter, before it settles.

        Raises:
            ArgumentError: `bed_scene` gave no scene of the task's number of grains, or `randomize` draws what this bed
                does not have.
        """
        bed, friction = check_bed(self, self.bed_scene(number)), 0.5 * sum(self.friction_range)
        self.randomization.check(bed)
        return self.matter.scene(bed, friction, self.radius, self._places_at_rest)

    def _settled(self, scene: Scene, settling: Settling, dt: float, solver: Solver) -> State:
        return settle(scene, settling, dt, solver, device=self.device, num_threads=self.num_threads)

    def _places_at_rest(self, scene: Scene) -> Floats:
        """Where the grains of a scene come to rest (n, 3) [m]."""
        state = self._settled(scene, self.settling, self._grain_pace.dt, self._grain_solver)
        with scene.build(device=self.device, solver=self._grain_solver, num_threads=self.num_threads) as world:
            world.load_state(state)
            places: Floats = world.positions[0]
            return places

    def load_beds(self, envs: NDArray[np.int32], chosen: Any) -> None:
        """Loads bed number `chosen[k]`, an integer >= 0, into env `envs[k]`.

        Raises:
            ArgumentError: other numbers, or not one for each listed env; or see `bed`.
        """
        listed = np.asarray(envs)
        numbers = checks.integers("chosen", chosen, (len(listed),), 0, 2**31 - 1)
        for number in np.unique(numbers):
            self.world.load_state(self.bed(int(number)), envs=listed[numbers == number])

    def set_materials(self, envs: NDArray[np.int32]) -> None:
        """Gives the grains of the listed envs their own friction, and draws what `randomize` asks for."""
        pairs = self.world.materials[0][envs]
        rows, columns = self.rubbing
        pairs[:, rows, columns, 0] = self.friction[envs][:, None, None]
        self.world.set_materials(pairs=pairs, envs=envs)
        self.randomization.draw(self.world, self.generator, envs)

    @property
    def rubbing(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Pairs of materials whose friction is `self.friction`, as two tables of indices: of a bed those of grains, the
        first materials, one for each shape."""
        rows, columns = np.indices((len(self.grain), len(self.grain)))
        return rows, columns

    @property
    def step_period(self) -> float:
        """For which an action is held [s]: that of an env step."""
        return self.frame_skip * self.control_period

    @property
    def render_fps(self) -> int:
        """Pictures per second that show env steps in real time, at least 1."""
        return max(round(1.0 / self.step_period), 1)

    @property
    def mass(self) -> float:
        """Of all grains of an env [kg]."""
        return self.grain_count * self.density * 4.0 / 3.0 * math.pi * self.radius**3

    @property
    def weight(self) -> float:
        """Of all grains of an env [N]."""
        return GRAVITY * self.mass

    # episodes --------------------------------------------------------------------------------------------------------

    def generator(self, env: int) -> np.random.Generator:
        """The random generator of one env; seeded by the system where no seed was ever given."""
        generator = self.generators[env]
        if generator is None:
            generator, self.seeds[env] = seeding.np_random(None)
            self.generators[env] = generator
        return generator

    def reset(self, envs: NDArray[np.int32], seeds: Sequence[int | None], options: dict[str, Any] | None) -> None:
        """Starts new episodes in the listed envs.

        Args:
            envs: env indices, ascending.
            seeds: one per listed env; None keeps the running generator.
            options: given to `begin`.

        Raises:
            ArgumentError: `begin` left an env with the grains of the episode before.
        """
        for env, seed in zip(envs, seeds, strict=True):
            if seed is not None:
                self.generators[env], self.seeds[env] = seeding.np_random(seed)
        if self.noise is not None:
            for env in envs:
                self.noise.begin(env, self.generator(env))
        if len(envs):
            self.fresh[envs] = True
            self._results, self._idle = None, False
            if self._paid is not None:  # others are in the middle of their step
                self._paid[envs], self._over[envs] = 0.0, False
                for counter in [each for tally in self._tallies for each in tally.values()]:
                    counter[envs] = 0
            if self._world is not None:
                self._world.placed[envs] = False
            self.begin(envs, dict(options or {}))
            check_placed(self, envs, self.world.placed)
            self.vision.repaint(envs)

    def step(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """See `Stepping.step`."""
        super().step(actions, idle)
        if self.noise is not None:
            self.noise.steps += 1

    def observe(self, output: Output = "numpy") -> dict[str, Any]:
        """Observations of all envs: fresh arrays (env_count, ...) by key of the observation space.

        Args:
            output: "numpy", "torch" or "device", see `World.read`; images of cameras stay where the world runs.

        Raises:
            ArgumentError: a hook gave other entries than the space has, or in an env that did not diverge a number that
                is not finite.
        """
        state: dict[str, Any] = {STATE: self.sense_state()} if self.shows_state else {}
        if self.shows_state and STATE not in self._checked:
            check_entry(self, "sense_state", STATE, state[STATE])
            self._checked.add(STATE)
        if self.touch.kinds:
            state |= self.touch.sense(self.world, self.tool_wrenches() if self.reads_wrenches else None, self.fresh)
        if not self.shows_images:
            self._check_seen(state)
            return self.to_output(state, output)
        hook = "sense" if self.observation == "images" else "sense_pixels"
        answer: Any = getattr(self, hook)()
        if hook not in self._checked:
            check_sensed(self, hook, answer, state)
            self._checked.add(hook)
        sensed: dict[str, Any] = {**answer, **state}
        self._check_seen(sensed)
        images = self.depth_images.observed(self._take_images(output))
        if self.vision.kinds:  # after the depths, which then bring along what they are of
            self.vision.paint(self.world, self.matter_colors, self._painted_tools())
            images.update(self.vision.sense(self.world, output))
        return {**images, **(sensed if output == "numpy" else self.to_output(sensed, output))}

    def _check_seen(self, sensed: Arrays) -> None:
        """Raises where an entry of an observation that is no image is not finite in an env that did not diverge."""
        images = self.depth_images.images
        seen = {key: values for key, values in sensed.items() if key not in images}
        if not _core.all_finite(*seen.values()):
            check_finite(self, seen, self._take_counters()["diverged"])

    def outcome(self) -> Outcome:
        """Rewards, ends and infos of the state the world is in.

        An env that diverged earns 0 for that step and is truncated, not terminated; what is not finite of its infos is
        0.

        Raises:
            ArgumentError: `evaluate` gave something else than rewards, terminated and infos, an info that the engine
                gives, or in an env that did not diverge a reward that is not finite.
        """
        evaluated = self.evaluate()
        # after a reset no step was made yet: the counters of the episode before must not leak into the new one
        counters: Any = counters_of_all(cast(Any, [*self._tallies, self._take_counters()]))
        given: Arrays = {**counters, **self.randomization.infos()}
        if "evaluate" not in self._checked:
            check_evaluated(self, evaluated, given)
            self._checked.add("evaluate")
        rewards, terminated, infos = evaluated
        if self._paid is not None:  # in the control periods before the last
            rewards, terminated = self._paid + np.where(self._over, 0.0, rewards), terminated | self._over
        diverged = given["diverged"]
        if np.count_nonzero(diverged):
            rewards = np.where(diverged, 0.0, rewards)
            terminated = terminated & ~diverged
            infos = {name: finite_where(diverged, values) for name, values in infos.items()}
        if np.count_nonzero(np.isfinite(rewards)) < self.env_count:
            raise not_finite(self, rewards)
        return Outcome(rewards, terminated, diverged.copy(), {**infos, **given})

    def to_output(self, arrays: Arrays, output: Output) -> dict[str, Any]:
        """Arrays of the host as `output`, see `World.put`."""
        return {name: self.world.put(array, output) for name, array in arrays.items()}

    def vector(self, name: str, columns: Any, angle: int = -1) -> Floats:
        """Columns side by side as the observation `name`, clipped to its space: (env_count, k) float32.

        Args:
            name: key of the observation space.
            columns: a sequence of arrays (env_count,) or (env_count, n), k columns in all.
            angle: the column of an angle [rad], which is wrapped into -pi .. pi before; -1: none.
        """
        space: Any = self.observation_space[name]
        return _core.clipped(columns, space.low, space.high, angle)

    def vectors(self, tables: Arrays) -> Arrays:
        """Tables (env_count, k) as the observations of their names, clipped to their spaces, float32."""
        return {name: self.vector(name, (table,)) for name, table in tables.items()}

    # pictures --------------------------------------------------------------------------------------------------------

    def picture(self, env: int, camera: DepthCamera | str | None = None) -> NDArray[np.uint8]:
        """A shaded picture of one env, (H, W, 3).

        Args:
            env: index.
            camera: any camera, or the name of one of the observation's; None: `view`.
        """
        return self.world.picture(
            self.view if camera is None else camera,
            env=env,
            grain_colors=self.grain_colors(env).astype(np.uint8),
            tool_colors=self._painted_tools(),
            floor_mark=self.floor_mark(env),
        )

    def _painted_tools(self) -> NDArray[np.uint8] | None:
        return np.array(self.tool_colors, np.uint8) if self.tool_colors else None

    def depth_pictures(self) -> Floats:
        """What the camera `depth_view` sees in all envs, (env_count, H, W) float32 [m]; a task without images has none.

        Raises:
            ArgumentError: the task has no such image.
        """
        return self.world.depth(self.depth_view or next(iter(self.images), ""))

    # snapshots -------------------------------------------------------------------------------------------------------

    def save(self) -> dict[str, Any] | None:
        """Everything that shapes the future of all envs, picklable; None while no world is open."""
        if self._world is None:
            return None
        return {
            "world": [self._world.save_state(env=env) for env in range(self.env_count)],
            "generators": copy.deepcopy(self.generators),
            "seeds": list(self.seeds),
            **{name: array.copy() for name, array in self._arrays().items()},
            "episode": {name: np.copy(getattr(self, name)) for name in self.episode_state},
        }

    def load(self, saved: dict[str, Any] | None) -> None:
        """Goes back to what save() returned.

        Raises:
            StateError: it is not what this task saves, or damaged; the task is unchanged.
        """
        if saved is None:
            return
        episode = {name: np.asarray(getattr(self, name)) for name in self.episode_state}
        self.world.load_state(check_saved(saved, self.env_count, self._arrays(), episode))
        self.generators, self._paid = copy.deepcopy(saved["generators"]), None
        self._tallies = ()
        self.seeds = list(saved["seeds"])
        self.fresh = saved["fresh"].copy()
        self.friction = saved["friction"].copy()
        self.randomization.values = saved["randomized"].copy()
        self.vision.repaint(slice(None))
        if self.noise is not None:
            self.noise.load(saved)
        for name, values in saved["episode"].items():
            setattr(self, name, values.copy())

    def _arrays(self) -> dict[str, NDArray[Any]]:
        """What every task saves besides its world and its episode."""
        noise = {} if self.noise is None else self.noise.arrays()
        return {"fresh": self.fresh, "friction": self.friction, "randomized": self.randomization.values, **noise}

    def check_open(self) -> None:
        """Raises ClosedEnvironmentError after close()."""
        if self.closed:
            raise ClosedEnvironmentError(f"{type(self).__name__} is closed; make a new one")

    def close(self) -> None:
        """Frees the world; calling it again does nothing."""
        if self._world is not None:
            self._world.close()
            self._world = None
        self.closed = True


def copies_of(saved: dict[str, Any], count: int) -> dict[str, Any]:
    """What `Task.save` gave for one env, for a task of `count` copies of that env."""
    return {
        "world": saved["world"] * count,
        "generators": [copy.deepcopy(saved["generators"][0]) for _ in range(count)],
        "seeds": saved["seeds"] * count,
        **{name: np.repeat(each, count, axis=0) for name, each in saved.items() if isinstance(each, np.ndarray)},
        "episode": {name: np.repeat(values, count, axis=0) for name, values in saved["episode"].items()},
    }
