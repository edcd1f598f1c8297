"""grain_task.py: what the tasks have in common: arguments, time step, beds, depth images, pictures.

A rule for all of them: the volume of the grains does not depend on their number, so that one task can be learned with
few coarse grains and then with many fine ones (`GRAIN_LADDER`); spaces, geometry, goals and rewards stay the same.
"""

from __future__ import annotations

import abc
import math
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.beds import settled_bed
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.device import parse_device
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.state import State
from granular_gym.errors import ArgumentError
from granular_gym.tasks import grain_colors as pictures
from granular_gym.tasks.ranges import MaterialRanges, check_ranges
from granular_gym.tasks.task import Arrays, Floats, Task
from granular_gym.tasks.upright import Upright

#: numbers of grains of a coarse-to-fine curriculum
GRAIN_LADDER = (500, 2000, 10_000, 50_000)
GRAIN_LIMIT = 200_000
GRAVITY = 9.81  # [m/s2]


def grain_radius(grain_count: int, radius_of_2000: float) -> float:
    """Radius that keeps the volume of all grains at any number of them [m]."""
    return radius_of_2000 * (2000.0 / grain_count) ** (1.0 / 3.0)


@dataclass(frozen=True)
class Pace:
    """How finely an env step is computed."""

    dt: float  # [s]
    substeps: int
    iterations: int


@dataclass(frozen=True)
class Preset:
    """What a pace is to keep to."""

    longest: float  # [s] no substep is longer
    share: float  # of a radius that the fastest grain may move in a substep
    iterations: int

    def pace(self, period: float, radius: float, speed: float) -> Pace:
        """The time step of an env step.

        Walls are promised to hold grains while none moves by more than half a radius per substep, so the step follows
        from the size of the grains and from the fastest speed the task expects.

        Args:
            period: length of an env step [s].
            radius: of the grains [m].
            speed: of the fastest grain that is expected [m/s].
        """
        substeps = math.ceil(period / min(self.longest, self.share * radius / speed) - 1e-9)
        return Pace(period / substeps, substeps, self.iterations)


PRESETS = {"fast": Preset(5e-3, 0.5, 20), "accurate": Preset(1e-3, 0.25, 10)}


@dataclass(frozen=True)
class Image:
    """A depth image of the observation: what `camera` sees.

    Attributes:
        camera: its size and range are those of the image.
        tool: name of the tool that the camera rides on; None: it is fixed.
        drawn: the task draws the image itself, as if that camera had taken it.
    """

    camera: DepthCamera
    tool: str | None = None
    drawn: bool = False

    @property
    def limits(self) -> tuple[float, float]:
        """Nearest and furthest depth [m]."""
        return self.camera.near, self.camera.far


def add_sand_and_steel(
    scene: Scene,
    radius: float,
    density: float,
    friction: float,
    rolling_friction: float,
    on_steel: tuple[float, float],
) -> tuple[int, int]:
    """Adds the materials that most tasks have: grains that do not bounce, "sand", and tools of "steel".

    Args:
        scene: gets them.
        radius: of the grains [m].
        density: likewise [kg/m3].
        friction: between grains.
        rolling_friction: likewise.
        on_steel: friction and rolling friction of grains on tools.
    """
    sand = scene.add_material(
        radius=radius,
        density=density,
        friction=friction,
        restitution=0.0,
        rolling_friction=rolling_friction,
        name="sand",
    )
    steel = scene.add_material(density=7800.0, friction=0.3, name="steel")
    scene.set_pair(sand, steel, friction=on_steel[0], restitution=0.0, rolling_friction=on_steel[1])
    return sand, steel


@dataclass(frozen=True)
class Settling:
    """How a bed comes to rest."""

    period: float = 0.25  # [s] before a look
    most: int = 12  # looks at the most
    speed: float = 5e-3  # [m/s] at rest is what moves no faster
    looks: int = 2  # in a row at which it is: single grains give way after a bed seems to rest


def sky_camera(height: int, width: int, extent: float, altitude: float, near: float = 0.0) -> DepthCamera:
    """A camera over the middle of the field; row 0 is its upper y edge, the floor reads `altitude`.

    Args:
        height: rows [pixels].
        width: columns [pixels].
        extent: half the height of the view [m].
        altitude: of the camera over the floor [m].
        near: nothing nearer is seen [m].
    """
    return DepthCamera.orthographic(
        height=height,
        width=width,
        extent=extent,
        position=(0.0, 0.0, altitude),
        target=(0.0, 0.0, 0.0),
        up=(0.0, 1.0, 0.0),
        near=near,
        far=altitude,
    )


def view_camera(
    position: Any, target: Any, *, fov: float = 0.62, shape: tuple[int, int] = (480, 640), near: float = 0.1,
    far: float = 20.0, upright: Upright = Upright(False),  # noqa: B008
) -> DepthCamera:  # fmt: skip
    """A camera of pictures for people."""
    return upright.perspective(
        height=shape[0], width=shape[1], fov=fov, position=position, target=target, near=near, far=far
    )


class GrainTask(Task):
    """Base of the tasks: each begins with a settled bed, sees depth images, and has the difficulties and the ladder.

    Subclasses set the class attributes below, say what lies where (`bed_scene`) and what is read beside the images
    (`readings`), and fill in `start`, `advance` and `outcome` of `Task`. `start` draws `self.friction` and calls
    `set_materials`.

    Args:
        env_count: number of envs.
        grain_count: grains per env; the tasks are meant for those of GRAIN_LADDER.
        difficulty: a key of `difficulties`.
        preset: "fast" or "accurate", see `Preset`.
        depth: "float32" [m] or "uint8" (0 near, 255 far).
        friction_range: (lower, upper): each episode draws the friction between grains from it; None: as `difficulty`
            has it.
        randomize: what else each env draws for each episode, from its own generator: a MaterialRanges, a sequence of
            them (for different pairs of materials), or None. Infos then hold what was drawn.
        grain: shape of the grains, one of `grains`; most tasks have spheres only.
        device: "cpu", "cuda" or "auto".
        num_threads: None: one per core this process may use. On a machine that is busy with other work, 1 is faster.
        render_mode: None, "rgb_array" or "depth_array".

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    control_period: ClassVar[float]  # [s] per env step
    radius_of_2000: float  # [m] of a grain where there are 2,000
    density: ClassVar[float]  # of the grains [kg/m3]
    fastest: float  # [m/s] no grain is expected to be faster
    images: Mapping[str, Image]
    depth_view: ClassVar[str]  # the image that render_mode="depth_array" shows
    view: DepthCamera  # of pictures for people
    tool_colors: Sequence[tuple[int, int, int]]  # in pictures for people
    difficulties: ClassVar[Mapping[str, Any]]  # each with a range `friction` among its attributes
    presets: ClassVar[Mapping[str, Preset]] = PRESETS
    grains: ClassVar[tuple[str, ...]] = ("sphere",)  # shapes of grains that the task knows
    settling: Settling = Settling()

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.metadata = {**Task.metadata, "render_fps": round(1.0 / cls.control_period)}

    def __init__(
        self,
        env_count: int = 1,
        *,
        grain_count: int = 2000,
        difficulty: str = "medium",
        preset: str = "fast",
        depth: str = "float32",
        friction_range: tuple[float, float] | None = None,
        randomize: MaterialRanges | Sequence[MaterialRanges] | None = None,
        grain: Any = "sphere",
        device: str = "cpu",
        num_threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(env_count, render_mode)
        self.grain_count = checks.integer("grain_count", grain_count, 1, GRAIN_LIMIT)
        self.difficulty = checks.choice("difficulty", difficulty, list(self.difficulties))
        self.level = self.difficulties[self.difficulty]
        self.depth = checks.choice("depth", depth, ["float32", "uint8"])
        self.friction_range: tuple[float, float] = self.level.friction
        if friction_range is not None:
            low, high = (float(x) for x in checks.floats("friction_range", friction_range, (2,)))
            if not 0.0 <= low <= high:
                raise ArgumentError(f"friction_range: expected 0 <= lower <= upper, got {friction_range!r}")
            self.friction_range = (low, high)
        self.grain = self.shapes_of(grain)
        self.ranges = check_ranges("randomize", randomize)
        self.device = parse_device(device)
        self.num_threads = checks.threads(num_threads)
        self.radius = self.grain_size()
        chosen = self.presets[checks.choice("preset", preset, list(self.presets))]
        self.pace = chosen.pace(self.control_period, self.radius, self.fastest)
        self.solver = Solver(iterations=self.pace.iterations)
        self.friction = np.zeros(self.env_count)  # between grains
        # what was drawn out of `ranges`, side by side, and where each value lies
        width, self._labels = 0, {}
        for ranges in self.ranges:
            for label, length in ranges.labels.items():
                self._labels[label] = width if length == 1 else slice(width, width + length)
                width += length
        self.randomized = np.zeros((self.env_count, width))
        self._beds: dict[int, State] = {}  # settled; made when first drawn

    # hooks -----------------------------------------------------------------------------------------------------------

    def shapes_of(self, grain: Any) -> tuple[str, ...]:
        """What the argument `grain` asks for: names out of `grains`."""
        return (checks.choice("grain", grain, list(self.grains)),)

    def grain_size(self) -> float:
        """Radius of a grain, or of the circle round it [m]."""
        return grain_radius(self.grain_count, self.radius_of_2000)

    @abc.abstractmethod
    def bed_scene(self, number: int) -> Scene:
        """Tools and grains of bed `number` before it settles; its tools are those of the game."""

    @abc.abstractmethod
    def readings(self) -> Arrays:
        """What the observations hold besides the images of cameras, fresh arrays (env_count, ...) by key."""

    def grain_colors(self, env: int) -> Floats:
        """Colours of the grains of an env in pictures for people, (grain_count, 3) in 0 .. 255."""
        return pictures.grain_colors(self.grain_count)

    # the world -------------------------------------------------------------------------------------------------------

    def build(self) -> Any:
        """The world of all envs."""
        scene = self.bed_scene(0)
        for name, image in self.images.items():
            if not image.drawn:
                scene.add_camera(image.camera, name=name, tool=image.tool)
        if self.render_mode == "rgb_array":
            scene.add_camera(self.view, name="view")
        return scene.build(
            env_count=self.env_count, device=self.device, solver=self.solver, num_threads=self.num_threads
        )

    def bed(self, number: int) -> State:
        """Bed `number` at rest: settled once, then taken from the cache."""
        if number not in self._beds:
            scene, rest = self.bed_scene(number), self.settling

            def settle() -> State:
                with scene.build(device=self.device, solver=self.solver, num_threads=self.num_threads) as world:
                    calm = 0
                    for _ in range(rest.most):
                        world.step(dt=self.pace.dt, substeps=math.ceil(rest.period / self.pace.dt - 1e-9))
                        calm = calm + 1 if np.abs(world.velocities).max() < rest.speed else 0
                        if calm == rest.looks:
                            break
                    return world.save_state()

            extra = {
                "solver": self.solver.fields(),
                "dt": self.pace.dt,
                "settling": astuple(rest),
            }
            self._beds[number] = settled_bed(scene, extra, settle)
        return self._beds[number]

    @property
    def mass(self) -> float:
        """Of all grains of an env [kg]."""
        return self.grain_count * self.density * 4.0 / 3.0 * math.pi * self.radius**3

    @property
    def weight(self) -> float:
        """Of all grains of an env [N]."""
        return GRAVITY * self.mass

    # observations ----------------------------------------------------------------------------------------------------

    def read(self) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_], Arrays]:
        """See `Task.read`; infos hold what was drawn out of `randomize`, by name."""
        reward, terminated, diverged, infos = super().read()
        infos.update((label, self.randomized[:, place].copy()) for label, place in self._labels.items())
        return reward, terminated, diverged, infos

    def save(self) -> dict[str, Any] | None:
        """See `Task.save`."""
        saved = super().save()
        if saved is not None and self.ranges:
            saved["memory"]["randomized"] = self.randomized.copy()
        return saved

    def image_spaces(self) -> dict[str, spaces.Box]:
        """A space for each depth image."""
        found: dict[str, spaces.Box] = {}
        for name, image in self.images.items():
            shape = image.camera.height, image.camera.width
            if self.depth == "uint8":
                found[name] = spaces.Box(0, 255, (1, *shape), np.uint8)
            else:
                found[name] = spaces.Box(*image.limits, shape, np.float32)
        return found

    def drawn(self, name: str, depth: Floats) -> NDArray[Any]:
        """A batch of depth images (env_count, H, W) [m] that the task drew, as the observation shows them."""
        near, far = self.images[name].limits
        if self.depth == "float32":
            return np.clip(depth, np.float32(near), np.float32(far))
        return np.rint(np.clip((depth[:, None] - near) / (far - near), 0.0, 1.0) * 255.0).astype(np.uint8)

    def observe(self) -> Arrays:
        """Images and readings of all envs."""
        return self.observe_as("numpy")

    def observe_as(self, output: str) -> dict[str, Any]:
        """The same as `output` arrays; the images of cameras stay where the world runs."""
        readings: dict[str, Any] = self.readings()
        if output != "numpy":
            readings = self.give(readings, output)  # ahead of the images: an upload would wait for them
        return {**{name: self._taken(name, output) for name in self.images if name not in readings}, **readings}

    def _taken(self, name: str, output: str) -> Any:
        depth = self.world.depth(name, output, limits=self.images[name].limits, dtype=self.depth)
        # learners want bytes with a channel
        return depth if self.depth == "float32" else depth.reshape(depth.shape[0], 1, *depth.shape[1:])

    def vector(self, name: str, columns: Any) -> Floats:
        """Columns (env_count,) side by side as the observation `name`, clipped to its space: (env_count, k) float32."""
        space: Any = self.observation_space[name]
        return _core.clipped(np.array(columns, np.float64).T, space.low, space.high)

    # pictures --------------------------------------------------------------------------------------------------------

    def picture(self, env: int, camera: DepthCamera | str = "view") -> NDArray[np.uint8]:
        """A picture for people, (H, W, 3); the camera "view" is there with render_mode="rgb_array"."""
        return self.world.picture(
            camera,
            env=env,
            grain_colors=self.grain_colors(env).astype(np.uint8),
            tool_colors=np.array(self.tool_colors, np.uint8),
        )

    def depth_picture(self, env: int) -> Floats:
        """What the camera `depth_view` sees, (H, W) float32 [m]."""
        return self.world.depth(self.depth_view)[env].copy()

    # pieces for start and outcome ------------------------------------------------------------------------------------

    def load_beds(self, envs: NDArray[np.int32], chosen: NDArray[np.int64]) -> None:
        """Puts bed number `chosen[k]` into env `envs[k]`."""
        for number in np.unique(chosen):
            self.world.load_state(self.bed(int(number)), envs=envs[chosen == number])

    def set_materials(self, envs: NDArray[np.int32]) -> None:
        """Gives the grains (the first materials, one for each shape) of the listed envs their own friction, and draws
        what `randomize` asks for."""
        pairs = self.world.materials[0][envs]
        kinds = len(self.grain)
        pairs[:, :kinds, :kinds, 0] = self.friction[envs][:, None, None]
        self.world.set_materials(pairs=pairs, envs=envs)
        drawn = [ranges.apply(self.world, self.generator, envs) for ranges in self.ranges]
        if drawn:
            for env, *each in zip(envs, *drawn, strict=True):
                self.randomized[env] = np.hstack([value for values in each for value in values.values()])

    def share_in(self, lower: Any, upper: Any) -> Floats:
        """Share of the grains of each env whose centre lies in a box, (env_count,), or in n boxes, (env_count, n).

        Args:
            lower: (3,), (env_count, 3) or (env_count, n, 3) corner [m].
            upper: likewise the other corner [m].
        """
        return np.asarray(self.world.box_stats(lower, upper)[0], np.float64) / self.grain_count
