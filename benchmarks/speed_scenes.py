"""speed_scenes.py: scenes whose cost is compared between builds and settings.

A scene is a class: made once, then begun (not timed) and run (timed) again and again, the same block each time. To add
one, add it to SCENES.
"""

from __future__ import annotations

import abc
import time
import warnings
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np

import granular_gym as gg
from benchmarks import columns, measure
from benchmarks.measure import Row
from benchmarks.settings import Setting
from granular_gym.tasks.expert import scripted_expert
from testbed import standard
from testbed.beds import DIAMETER, DT, RADIUS

TASK = "granular_gym/Bulldozer-v1"


class Scene(abc.ABC):
    """What is timed.

    Attributes:
        grains: number of grains.
        substeps: substeps of a block; 0: its work is counted in env steps.
        env_steps: env steps of a block.
        seconds: simulated time of a block [s].
    """

    grains: int
    substeps = 0
    env_steps = 0
    seconds = 0.0

    @abc.abstractmethod
    def begin(self) -> None:
        """Brings the scene to where a block starts; not timed."""

    @abc.abstractmethod
    def run(self) -> float:
        """Runs a block; returns its processor time [s]."""

    @abc.abstractmethod
    def look(self) -> Row:
        """Accuracy at the end of a block."""

    @property
    @abc.abstractmethod
    def world(self) -> gg.World:
        """The world that is stepped."""

    def phases(self) -> Row:
        """Shares of the phases in the time of a block, the largest first; those above 1 %."""
        self.begin()
        self.world.profile(True)
        self.run()
        seconds = self.world.profile(False)
        total = sum(seconds.values())
        shares = {name: value / total for name, value in seconds.items() if value > 0.01 * total}
        return dict(sorted(shares.items(), key=lambda item: -item[1]))

    def positions(self) -> Any:
        """Positions (n, 3) [m] at the start of a block, for other codes; None: none can run this scene."""
        return None


class Stepped(Scene):
    """A world that is stepped."""

    def __init__(self, world: gg.World, dt: float, substeps: int) -> None:
        self._world, self.dt, self.substeps = world, dt, substeps
        self.grains, self.seconds = world.grain_count, dt * substeps

    @property
    def world(self) -> gg.World:
        return self._world

    def begin(self) -> None:
        """What rests goes on where it is."""

    def run(self) -> float:
        begin = time.process_time()
        self.world.step(self.dt, self.substeps)
        return time.process_time() - begin

    def look(self) -> Row:
        return measure.quality(self.world)


class Resting(Stepped):
    """A settled column between walls."""

    def __init__(self, setting: Setting, count: int) -> None:
        dt = setting.dt or DT
        super().__init__(setting.on_kernel(columns.resting(count, **setting.fields)), dt, max(20, 2_000_000 // count))
        self._start = self.world.positions[0].copy()
        # impulses of these settings build up
        self.world.step(dt, 20)
        self._height = measure.mean_height(self.world)

    def begin(self) -> None:
        """What rests goes on where it is, and is watched for sinking."""
        self._height = measure.mean_height(self.world)

    def look(self) -> Row:
        return {**super().look(), "sinking_pct_per_s": measure.sinking(self.world, self._height, self.seconds)}

    def positions(self) -> Any:
        return self._start


class Collapsing(Stepped):
    """A column whose walls are gone: all of it moves."""

    #: half width of the box into which it falls, over that of the column; simulated time [s]
    ROOM, SECONDS = 3.0, 0.3

    def __init__(self, setting: Setting, count: int) -> None:
        dt = setting.dt or DT
        with columns.resting(count) as source:
            start = source.positions[0].copy()
        side = self.half_width(count) * DIAMETER
        box = ((-side, -side, 0.0), (side, side, 2.0 * float(start[:, 2].max())))
        scene, grain = standard.standard_scene(box, rolling=0.0)
        scene.add_grains(grain, start, RADIUS)
        super().__init__(setting.world(scene), dt, round(self.SECONDS / dt))
        self._state = self.world.save_state()
        self._start = start

    @classmethod
    def half_width(cls, count: int) -> float:
        """Of the box [d]."""
        return cls.ROOM * standard.COLUMN_HALF_WIDTH[count]

    def begin(self) -> None:
        self.world.load_state(self._state)

    def look(self) -> Row:
        speeds = np.linalg.norm(self.world.velocities[0], axis=1)
        return {**super().look(), "moving_share": float((speeds > 1e-2).mean())}

    def positions(self) -> Any:
        return self._start


class Wide(Stepped):
    """A settled bed of 12 layers, periodic sideways, tiled."""

    def __init__(self, setting: Setting, tiles: int) -> None:
        dt = setting.dt or DT
        world = setting.world(standard.wide_bed((tiles, tiles)))
        world.step(dt, 60)
        super().__init__(world, dt, max(4, 1_000_000 // world.grain_count))


class Bulldozer(Scene):
    """The first env steps of an episode of one env, with its images."""

    GRAINS, STEPS, SEED = 1000, 300, 0

    def __init__(self, setting: Setting, driver: str) -> None:
        del setting  # the task has its own
        self.env = gym.make(TASK, num_threads=1, grain_count=self.GRAINS, preset="fast")
        self.driver, self.grains, self.env_steps = driver, self.GRAINS, self.STEPS
        self.env.action_space.seed(self.SEED)
        self._random = [self.env.action_space.sample() for _ in range(self.STEPS)]
        self._infos: list[dict[str, Any]] = []

    @property
    def world(self) -> gg.World:
        world: gg.World = self.env.unwrapped.task.world  # type: ignore[attr-defined]
        return world

    def begin(self) -> None:
        self.env.reset(seed=self.SEED)
        self._expert = scripted_expert(self.env)
        self._infos = []

    def run(self) -> float:
        spent = 0.0
        for k in range(self.STEPS):
            action = self._random[k] if self.driver == "random" else self._expert.act()
            begin = time.process_time()
            *_, over, cut, info = self.env.step(action)
            spent += time.process_time() - begin
            self._infos.append(info)
            if over or cut:
                raise RuntimeError(f"the episode ended after {k + 1} steps, expected more than {self.STEPS}")
        return spent

    def look(self) -> Row:
        last = self._infos[-1]
        return {
            "residual": float(max(info["residual"] for info in self._infos)),
            "overlap_mean_pct": 100.0 * float(np.mean([info["overlap_mean"] for info in self._infos])),
            "overlap_max_pct": 100.0 * float(max(info["overlap_max"] for info in self._infos)),
            "contacts_per_grain": float(last["contact_count"]) / self.GRAINS,
            "goal_share": float(last["goal_share"]),
        }


#: by name: what it is, and how it is made
SCENES: dict[str, tuple[str, Callable[[Setting], Scene]]] = {
    "rest_10k": ("10,000 grains at rest in a column", lambda s: Resting(s, 10_000)),
    "collapse_10k": ("the same collapsing", lambda s: Collapsing(s, 10_000)),
    "rest_50k": ("50,000 grains at rest in a column", lambda s: Resting(s, 50_000)),
    "bulldozer_random": ("Bulldozer, fast, 1,000 grains, random actions", lambda s: Bulldozer(s, "random")),
    "bulldozer_expert": ("Bulldozer, fast, 1,000 grains, expert", lambda s: Bulldozer(s, "expert")),
    "bed_10k": ("10,800 grains, 12 layers", lambda s: Wide(s, 3)),
    "bed_200k": ("202,800 grains, 12 layers", lambda s: Wide(s, 13)),
    "bed_1m": ("1,009,200 grains, 12 layers", lambda s: Wide(s, 29)),
}
#: only with --large
LARGE = ("bed_200k", "bed_1m")
#: scenes that LAMMPS can run from the same positions, and half the width of their boxes [d]
PEER_HALF_WIDTH = {
    "rest_10k": standard.COLUMN_HALF_WIDTH[10_000],
    "collapse_10k": Collapsing.half_width(10_000),
    "rest_50k": standard.COLUMN_HALF_WIDTH[50_000],
}


def made(name: str, setting: Setting) -> Scene:
    """A scene by its name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", gg.StabilityWarning)
        return SCENES[name][1](setting)
