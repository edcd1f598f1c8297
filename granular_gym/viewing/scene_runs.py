"""scene_runs.py: runs an experiment, in the plane or in space; writes films, pictures, plots and a report.

An experiment is a class in `scenes/`: it defines its worlds, the motion of tools, measurements and checks.
`python -m granular_gym scene NAME --out DIR` runs one.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym._core import write_png
from granular_gym.base import cache, checks
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.viewing.film import Film
from granular_gym.viewing.progress import Progress

#: most grains of a world of an experiment
GRAIN_LIMIT = 200_000
#: sizes of an experiment
SIZES = ("test", "full")
#: module and class of each experiment
SCENES = {
    "incline": "incline:Incline",
    "leaning_block": "leaning:LeaningBlock",
    "triangle": "leaning:Triangle",
    "collapse": "collapse:Collapse",
    "silo": "silo:Silo",
    "packing": "packing:Packing",
    "drum": "drum:Drum",
    "cereal": "cereal:Cereal",
    "chain": "chain:Chain",
    "hourglass": "hourglass:Hourglass",
    "splash": "splash:Splash",
    "rings": "rings:Rings",
    "avalanche": "avalanche:Avalanche",
    "bulldozer": "bulldozer:Bulldozer",
    "slope": "slope:Slope",
    "panels": "panels:Panels",
    "shake": "shake:Shake",
    "tear": "tear:Tear",
    "roll": "roll:Roll",
    "pour": "pour:Pour",
}

#: x and y of the lines of a plot, by label
Lines = dict[str, tuple[NDArray[Any], NDArray[Any]]]


@dataclasses.dataclass(frozen=True)
class Check:
    """The result of one check.

    Attributes:
        name: of the measured quantity.
        value: the measured value.
        target: the criterion, in words.
        passed: whether it is met.
    """

    name: str
    value: float
    target: str
    passed: bool


#: its lower and upper corner [m]
Rectangle = tuple[tuple[float, float], tuple[float, float]]


class SceneRun(abc.ABC):
    """An experiment: several worlds, simulated one after the other.

    Args:
        seed: of the initial state, >= 0.
        grains: number of grains of each world; None: as many as run in about a minute.

    Attributes:
        about: one line about the experiment.
        labels: names of the worlds.
        default_grains: default number of grains of each world.
        full_grains: number of grains of each world at full size, that of the published experiment where it
            names one; 0: there is one size only.
        seconds: simulated time of each world [s].
        dt: duration of a substep [s].
        solver: settings of the solver.
        pictures_per_second: of the films.
        drives_per_picture: how often `drive` and `watch` are called between pictures.
        view: in the plane, lower and upper corner of the filmed rectangle [m]; in space, see `camera`.
        light: direction towards the sun of the pictures.
        show_walls: whether pictures show all walls, or the floor alone.
        hidden: names of tools that pictures leave out, such as a side through which one looks.
    """

    about: ClassVar[str]
    labels: ClassVar[tuple[str, ...]]
    default_grains: ClassVar[int] = 0
    full_grains: ClassVar[int] = 0
    seconds: float = 5.0
    dt: float = 1e-3
    solver: Solver = Solver(iterations=20)
    pictures_per_second: ClassVar[int] = 25
    drives_per_picture: ClassVar[int] = 1
    view: Rectangle
    light: ClassVar[tuple[float, float, float]] = (-0.5, 0.6, 0.9)
    show_walls: ClassVar[bool] = True
    hidden: ClassVar[tuple[str, ...]] = ()

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        self.seed: int = checks.seed("seed", seed)
        self.grains: int = checks.integer("grains", self.default_grains if grains is None else grains, 0)

    @abc.abstractmethod
    def scene(self, label: str) -> Scene:
        """The scene of the world with a label."""

    def drive(self, label: str, world: World, now: float) -> Any:
        """Tool poses to be reached by the next call, see `World.step`; None: tools stay.

        Args:
            label: of the world.
            world: the world.
            now: simulated time [s].
        """
        return None

    def watch(self, label: str, world: World, now: float) -> None:  # noqa: B027
        """Measures; called after each interval between calls of `drive`, with its arguments."""

    @abc.abstractmethod
    def checks(self) -> list[Check]:
        """Results of all checks; called after the last world."""

    def figures(self, label: str) -> dict[str, float]:
        """Measured figures of a world that has ended, by name, in SI units: for its entry of report.json; no check."""
        return {}

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        """Plots by title: label of x, label of y, lines."""
        return {}

    def camera(self) -> DepthCamera:
        """What pictures and films are taken with."""
        return camera_of(self.view)

    def colors(self, world: World) -> NDArray[np.uint8] | None:
        """Colours of the grains, uint8 (n, 3); None: the colour of sand."""
        return None

    def tool_colors(self, world: World) -> NDArray[np.uint8] | None:
        """Colours of the tools, uint8 (n, 3); None: one for all."""
        return None


def load_scene(name: str) -> type[SceneRun]:
    """The class of an experiment.

    Raises:
        ArgumentError: an unknown name; the message lists all.
    """
    module, _, cls = SCENES[checks.choice("scene", name, list(SCENES))].partition(":")
    found = getattr(importlib.import_module(f"granular_gym.scenes.{module}"), cls)
    assert issubclass(found, SceneRun)
    result: type[SceneRun] = found
    return result


def camera_of(view: tuple[tuple[float, float], tuple[float, float]], height: int = 480) -> DepthCamera:
    """An orthographic camera on the rectangle `view` (lower, upper) [m], `height` pixels high."""
    (x0, y0), (x1, y1) = view
    width = 16 * round(height * (x1 - x0) / (y1 - y0) / 16)
    middle, far = (0.5 * (x0 + x1), 0.5 * (y0 + y1)), 2.0 * (x1 - x0 + y1 - y0)
    return DepthCamera.orthographic(
        height=height,
        width=max(width, 16),
        position=(*middle, 0.5 * far),
        target=(*middle, 0.0),
        up=(0.0, 1.0, 0.0),
        extent=0.5 * (y1 - y0),
        near=0.01 * far,
        far=far,
    )


def run_scene(
    name: str,
    out: Path,
    *,
    seed: int = 0,
    grains: int | None = None,
    size: str | None = None,
    film: bool = True,
    num_threads: int | None = None,
    progress: bool | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Runs an experiment; writes films, pictures, plots and report.json.

    Args:
        name: a key of SCENES.
        out: folder; created where it is missing.
        seed: of the initial state, >= 0.
        grains: number of grains of each world, 1 .. 200,000; None: as `size` says, or a fixed number.
        size: "test": the default number of grains, which runs in minutes; "full": `SceneRun.full_grains`; None: "test".
        film: write films where the `video` extra is installed.
        num_threads: threads of the worlds, see `Scene.build`.
        progress: say on standard error how far the run is; None: where that is a terminal.
        say: called with what is computed, how long it takes, and results.

    Returns:
        The content of report.json.

    Raises:
        ArgumentError: an invalid argument.
        OSError: the folder cannot be written.
    """
    kind, out = load_scene(name), checks.path("out", out)
    if grains is not None:
        if not kind.default_grains:
            raise ArgumentError(f"grains: expected none, {name} has a fixed number of them, got {grains!r}")
        checks.integer("grains", grains, 1, GRAIN_LIMIT)
    run = kind(seed, _count(name, kind, grains, size))
    checks.threads(num_threads)
    out.mkdir(parents=True, exist_ok=True)
    for line in announcement(name, run, out, film):
        say(line)
    shown = Progress(run.labels, run.seconds, progress, say)
    worlds = {label: _play(run, label, out, film, num_threads, shown, say) for label in run.labels}
    found = run.checks()
    for title, (x_label, y_label, lines) in run.plots().items():
        _plot(out / f"{title}.png", title, x_label, y_label, lines)
    report = {
        "scene": name,
        "seed": run.seed,
        "grains": run.grains,
        "worlds": worlds,
        "checks": [dataclasses.asdict(check) for check in found],
    }
    cache.write_atomic(out / "report.json", (json.dumps(report, indent=1) + "\n").encode())
    for check in found:
        say(f"{'pass' if check.passed else 'FAIL'}  {check.name}: {check.value:.4g} ({check.target})")
    return report


def _count(name: str, kind: type[SceneRun], grains: int | None, size: str | None) -> int | None:
    """The number of grains of each world that these arguments of `run_scene` ask for; None: the default."""
    if size is None:
        return grains
    if grains is not None:
        raise ArgumentError(f"size: expected a size or a number of grains, got size={size!r}, grains={grains!r}")
    if checks.choice("size", size, SIZES) == "test":
        return None
    if not kind.full_grains:
        raise ArgumentError(f"size: expected test, {name} has one size only, got {size!r}")
    return kind.full_grains


def announcement(name: str, run: SceneRun, out: Path, film: bool) -> list[str]:
    """What a run computes, of how many grains, and where its results go: lines of text."""
    count = f"{len(run.labels)} worlds ({', '.join(run.labels)})" if len(run.labels) > 1 else "1 world"
    grains = f" of up to {run.grains:,} grains" if run.grains else ""
    each = " each" if len(run.labels) > 1 else ""
    kinds = "films, pictures, plots" if film else "pictures, plots"
    return [
        f"{name}: {run.about}",
        f"{count}{grains}, {run.seconds:g} s{each} in {run.seconds / run.dt:,.0f} steps of {1e3 * run.dt:g} ms",
        f"{kinds} and report.json go to {out}; distance tables of new shapes are computed first and kept in the cache",
    ]


def _play(
    run: SceneRun,
    label: str,
    out: Path,
    film: bool,
    num_threads: int | None,
    progress: Progress,
    say: Callable[[str], None],
) -> dict[str, Any]:
    """Simulates one world; returns its entry of the report."""
    begin = time.perf_counter()
    world = run.scene(label).build(device="cpu", solver=run.solver, num_threads=num_threads)
    built = time.perf_counter() - begin
    writer = None
    if film:
        try:
            writer = Film(out / f"{label}.mp4", run.pictures_per_second)
        except ImportError:
            say("no film: imageio with ffmpeg is not installed (pip install 'granular_gym[video]')")
    per_drive = max(1, round(1.0 / (run.pictures_per_second * run.drives_per_picture) / run.dt))
    drives = round(run.seconds / (per_drive * run.dt))
    spent, worst, escaped = 0.0, 0.0, 0
    try:
        for k in range(drives):
            if writer is not None and k % run.drives_per_picture == 0:
                writer.add(picture(run, world))
            now = k * per_drive * run.dt
            progress.update(label, now)
            poses, begin = run.drive(label, world, now), time.perf_counter()
            world.step(run.dt, per_drive, tool_poses=poses)
            spent += time.perf_counter() - begin
            worst = max(worst, float(world.stats["overlap_max"][0]))
            escaped = int(world.stats["escaped_count"][0])
            run.watch(label, world, now + per_drive * run.dt)
        write_png(str(out / f"{label}.png"), picture(run, world))
    finally:
        progress.clear()
        if writer is not None:
            writer.close()
        world.close()
    simulated = drives * per_drive * run.dt
    say(f"{label}: {world.grain_count} grains, {simulated:g} s in {spent:.1f} s, overlap at most {100 * worst:.2f} %")
    return {
        "grains": world.grain_count,
        "simulated": simulated,
        "seconds": spent,
        "milliseconds_per_step": 1e3 * spent / (drives * per_drive),
        "build_seconds": built,
        "overlap_max": worst,
        "escaped": escaped,
        **run.figures(label),
    }


def picture(run: SceneRun, world: World) -> NDArray[np.uint8]:
    """What the film of a run shows of a world of it now, (height, width, 3) uint8 sRGB; the world stays as it is."""
    for name in run.hidden:
        world.set_tool_active(name, False)
    image = world.picture(
        run.camera(),
        light=run.light,
        grain_colors=run.colors(world),
        tool_colors=run.tool_colors(world),
        show_walls=run.show_walls,
    )
    for name in run.hidden:
        world.set_tool_active(name, True)
    return image


def _plot(path: Path, title: str, x_label: str, y_label: str, lines: Lines) -> None:
    """Writes a plot, where matplotlib is installed."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return
    figure = Figure(figsize=(7, 4.5), layout="constrained")
    axes = figure.subplots()
    for label, (x, y) in lines.items():
        axes.plot(x, y, label=label)
    axes.set_title(title)
    axes.set_xlabel(x_label)
    axes.set_ylabel(y_label)
    axes.legend()
    axes.grid(alpha=0.3)
    figure.savefig(path, dpi=120)


def surface(
    world: World, lower: float, upper: float, bins: int, top: float = math.inf, speed: float = math.inf
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Surface of the pile: centres of bins over x and the highest centre of mass in each [m], 0 in empty bins.

    Grains above `top` [m] or faster than `speed` [m/s], such as falling ones, do not count.
    """
    positions = world.positions[0, :, :2]
    positions = positions[(positions[:, 1] < top) & (np.linalg.norm(world.velocities[0], axis=1) < speed)]
    edges = np.linspace(lower, upper, bins + 1)
    height = np.zeros(bins)
    index = np.clip(np.searchsorted(edges, positions[:, 0], side="right") - 1, 0, bins - 1)
    np.maximum.at(height, index, positions[:, 1])
    return 0.5 * (edges[1:] + edges[:-1]), height
