"""grain_task.py: what tasks that begin with a settled bed have in common: arguments, time step, depth images, beds.

A rule for all of them: the volume of the grains does not depend on their number, so that one task can be learned with
few coarse grains and then with many fine ones (`GRAIN_LADDER`); spaces, geometry, goals and rewards stay the same.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from . import checks
from .beds import settled_bed
from .device import parse_device
from .scene import Scene
from .solver import Solver
from .state import State
from .task import Floats, Task

#: numbers of grains of a coarse-to-fine curriculum
GRAIN_LADDER = (500, 2000, 10_000, 50_000)
GRAIN_LIMIT = 200_000
#: shapes of grains the tasks know
GRAINS = ("sphere",)


def grain_radius(grain_count: int, radius_of_2000: float) -> float:
    """Radius that keeps the volume of all grains at any number of them [m]."""
    return radius_of_2000 * (2000.0 / grain_count) ** (1.0 / 3.0)


@dataclass(frozen=True)
class Pace:
    """How finely an env step is computed."""

    dt: float  # [s]
    substeps: int
    iterations: int


#: longest substep [s], share of a radius that the fastest grain may move in it, iterations
PRESETS = {"fast": (5e-3, 0.5, 20), "accurate": (1e-3, 0.25, 10)}


def pace(preset: str, period: float, radius: float, speed: float) -> Pace:
    """The time step of a preset.

    Walls are promised to hold grains while none moves by more than half a radius per substep, so the step follows from
    the size of the grains and from the fastest speed the task expects.

    Args:
        preset: "fast" or "accurate".
        period: length of an env step [s].
        radius: of the grains [m].
        speed: of the fastest grain that is expected [m/s].
    """
    longest, share, iterations = PRESETS[preset]
    substeps = math.ceil(period / min(longest, share * radius / speed) - 1e-9)
    return Pace(period / substeps, substeps, iterations)


@dataclass(frozen=True)
class Image:
    """A depth camera's image in the observation: rows and columns, nearest and furthest depth [m]."""

    shape: tuple[int, int]
    near: float
    far: float


class GrainTask(Task):
    """Base of tasks with a settled bed.

    Subclasses set the class attributes below and fill in the hooks of `Task`.

    Args:
        env_count: number of envs.
        grain_count: grains per env; the tasks are meant for those of GRAIN_LADDER.
        difficulty: a key of `difficulties`.
        preset: "fast" or "accurate", see `pace`.
        depth: "float32" [m] or "uint8" (0 near, 255 far).
        grain: shape of the grains; only "sphere" so far.
        device: "cpu", "cuda" or "auto".
        num_threads: None: one per core this process may use.
        render_mode: None, "rgb_array" or "depth_array".

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    control_period: ClassVar[float]  # [s] per env step
    radius_of_2000: float  # [m] of a grain where there are 2,000
    fastest: float  # [m/s] no grain is expected to be faster
    images: Mapping[str, Image]
    difficulties: ClassVar[Mapping[str, Any]]

    def __init__(
        self,
        env_count: int = 1,
        *,
        grain_count: int = 2000,
        difficulty: str = "medium",
        preset: str = "fast",
        depth: str = "float32",
        grain: str = "sphere",
        device: str = "cpu",
        num_threads: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(env_count, render_mode)
        self.grain_count = checks.integer("grain_count", grain_count, 1, GRAIN_LIMIT)
        self.difficulty = checks.choice("difficulty", difficulty, list(self.difficulties))
        self.level = self.difficulties[self.difficulty]
        self.depth = checks.choice("depth", depth, ["float32", "uint8"])
        self.grain = checks.choice("grain", grain, GRAINS)
        self.device = parse_device(device)
        self.num_threads = None if num_threads is None else checks.integer("num_threads", num_threads, 1, 4096)
        self.radius = grain_radius(self.grain_count, self.radius_of_2000)
        checks.choice("preset", preset, list(PRESETS))
        self.pace = pace(preset, self.control_period, self.radius, self.fastest)
        self.solver = Solver(iterations=self.pace.iterations)
        self._beds: dict[Any, State] = {}

    # images ----------------------------------------------------------------------------------------------------------

    def image_spaces(self) -> dict[str, spaces.Box]:
        """A space for each depth image."""
        if self.depth == "uint8":
            return {name: spaces.Box(0, 255, (1, *image.shape), np.uint8) for name, image in self.images.items()}
        return {name: spaces.Box(image.near, image.far, image.shape, np.float32) for name, image in self.images.items()}

    def image(self, name: str, depth: Floats) -> NDArray[Any]:
        """A batch of depth images (env_count, H, W) [m] as the observation shows them."""
        image = self.images[name]
        if self.depth == "float32":
            return np.clip(depth, np.float32(image.near), np.float32(image.far))
        share = np.clip((depth[:, None] - image.near) / (image.far - image.near), 0.0, 1.0)
        return np.rint(share * 255.0).astype(np.uint8)

    # beds ------------------------------------------------------------------------------------------------------------

    def settled(
        self, key: Any, make: Callable[[], Scene], *, period: float = 0.25, most: int = 12, speed: float = 5e-3
    ) -> State:
        """A bed at rest: settled once, then taken from the cache.

        Args:
            key: names the bed within this task.
            make: gives the scene the grains settle in.
            period: how long it settles before a look [s].
            most: looks at the most.
            speed: at rest is what moves no faster [m/s].
        """
        if key in self._beds:
            return self._beds[key]
        scene = make()

        def settle() -> State:
            with scene.build(device=self.device, solver=self.solver, num_threads=self.num_threads) as world:
                for _ in range(most):
                    world.step(dt=self.pace.dt, substeps=math.ceil(period / self.pace.dt))
                    if np.abs(world.velocities).max() < speed:
                        break
                return world.save_state()

        extra = {"solver": self.solver.fields(), "dt": self.pace.dt, "settling": [period, most, speed]}
        self._beds[key] = settled_bed(scene, extra, settle)
        return self._beds[key]

    # pieces for start and outcome ------------------------------------------------------------------------------------

    def load_beds(self, envs: NDArray[np.int32], chosen: NDArray[np.int64], bed: Callable[[int], State]) -> None:
        """Puts bed number `chosen[k]` into env `envs[k]`."""
        for number in np.unique(chosen):
            self.world.load_state(bed(int(number)), envs=envs[chosen == number])

    def set_friction(self, envs: NDArray[np.int32], friction: Floats) -> None:
        """Gives the grains (material 0) of the listed envs their own friction (listed,)."""
        pairs = self.world.materials[0][envs]
        pairs[:, 0, 0, 0] = friction
        self.world.set_materials(pairs=pairs, envs=envs)

    def share_in(self, lower: Any, upper: Any) -> Floats:
        """Share of the grains of each env whose centre lies in a box, (env_count,).

        Args:
            lower: (3,) or (env_count, 3) corner [m].
            upper: (3,) or (env_count, 3) other corner [m].
        """
        return np.asarray(self.world.box_stats(lower, upper)[0], np.float64) / self.grain_count

    def vector(self, columns: list[Any], space: spaces.Box) -> Floats:
        """Columns (env_count,) side by side, clipped to the space: (env_count, k) float32."""
        table = np.stack([np.asarray(column, np.float64) for column in columns], axis=1)
        table = np.where(np.isfinite(table), table, 0.0)
        return np.clip(table.astype(np.float32), space.low, space.high)
