"""make_data.py: makes a dataset: layouts by seed, motion in the engine, both pictures, files."""

from __future__ import annotations

import dataclasses
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned import generate, scenes
from granular_gym.learned.cameras import around
from granular_gym.learned.data import Dataset, Episode, check_episode, file_name, new_folder, write_episode
from granular_gym.learned.law import GrainLaw
from granular_gym.learned.layouts import Layout
from granular_gym.learned.pictures import RayCast, grain_colors
from granular_gym.learned.render import Renderer, torch_of

#: the first episode of the test set among the numbers that layouts are drawn from: however many are trained on, the
#: test set is the same
TEST_FIRST = 1_000_000
#: episodes that are made at a time, and frames that are splatted at a time
_BATCH, _FRAMES = 12, 8


@dataclasses.dataclass(frozen=True)
class Request:
    """What to make.

    Attributes:
        scene: a name of `scenes.SCENES`.
        size: a name of `scenes.SIZES`.
        train: episodes to learn from.
        test: episodes to test with.
        seed: of the layouts, with the number of the episode.
        scale: factor on the number of grains.
        drop: factor on heights of fall.
        views: number of cameras.
        device: of the engine.

    Raises:
        ArgumentError: a value out of range, or an unknown name.
    """

    scene: str
    size: str = "small"
    train: int = 48
    test: int = 12
    seed: int = 0
    scale: float = 1.0
    drop: float = 1.0
    views: int = 4
    device: str = "cpu"

    def __post_init__(self) -> None:
        checks.choice("scene", self.scene, list(scenes.SCENES))
        scenes.size(self.size, self.scale)
        checks.number("drop", self.drop, 0.25, 8.0)
        checks.integer("train", self.train, 0, TEST_FIRST)
        checks.integer("test", self.test, 0, TEST_FIRST)
        if self.train + self.test == 0:
            raise ArgumentError("train, test: expected at least one episode, got 0 and 0")
        checks.seed("seed", self.seed)
        checks.integer("views", self.views, 1, 64)


def make_data(request: Request, out: str | Path, say: Callable[[str], None] | None = None) -> Dataset:
    """Makes a dataset in a new folder; the same request gives the same bits on the same machine and libraries.

    Args:
        request: what to make.
        out: the folder; it appears when all is written.
        say: called with lines of progress.

    Raises:
        ArgumentError: the folder is there already, or a value out of range.
        MissingError: PyTorch is not installed.
    """
    tell = say or (lambda _: None)
    target = new_folder(out)
    scene, size = scenes.SCENES[request.scene], scenes.size(request.size, request.scale)
    bounds = scenes.box(scene, size, request.drop)
    cameras = around(bounds, request.views, size.pixels)
    made = dataclasses.asdict(request)
    dataset = Dataset(
        request.scene,
        scene.dt,
        scenes.RADIUS,
        np.array(scene.gravity, np.float32),
        bounds,
        cameras,
        [],
        [],
        GrainLaw(),
        made,
    )
    pixels = (size.frames + 1) * request.views * size.pixels**2
    episodes = request.train + request.test
    tell(
        f"{request.scene}, {request.size}: {request.train} + {request.test} episodes of {size.frames} frames each "
        f"{1e3 * scene.dt:g} ms, {size.sand} + {size.bonded} grains, {request.views} cameras of {size.pixels} x "
        f"{size.pixels}; at most {episodes * pixels * 14 / 1e6:.0f} MB of pictures before compression"
    )
    part = target.with_name(target.name + ".part")
    if part.exists():
        raise ArgumentError(f"out: expected no remains of a run that was stopped, {part} is there; delete it")
    part.mkdir(parents=True)
    start, done = time.monotonic(), 0
    try:
        for split, first, count in (("train", 0, request.train), ("test", TEST_FIRST, request.test)):
            for begin in range(0, count, _BATCH):
                numbers = range(begin, min(begin + _BATCH, count))
                layouts = [scenes.layout(scene, size, request.drop, request.seed, first + each) for each in numbers]
                for number, episode in zip(
                    numbers, _episodes(dataset, size.frames, layouts, request.device), strict=True
                ):
                    write_episode(part / file_name(split, number), episode)
                    done += 1
                    tell(f"{done} of {episodes} episodes, {time.monotonic() - start:.0f} s")
        dataset.write_meta(part, request.train, request.test)
        part.rename(target)
    except BaseException:
        shutil.rmtree(part, ignore_errors=True)
        raise
    written = sum(path.stat().st_size for path in target.iterdir())
    tell(f"{target}: {written / 1e6:.1f} MB in {time.monotonic() - start:.0f} s")
    return Dataset.load(target)


def _episodes(dataset: Dataset, frames: int, layouts: list[Layout], device: str) -> Iterator[Episode]:
    """Episodes from their layouts."""
    tints = grain_colors(layouts[0].groups)
    law = dataset.law or GrainLaw()
    gravity = tuple(map(float, dataset.gravity))
    world = generate.build(
        layouts, law, dataset.radius, dataset.bounds, (gravity[0], gravity[1], gravity[2]), [], device, 1
    )
    eyes = RayCast(dataset.cameras, dataset.radius, tints, len(layouts), device)
    tracks, motions, colors, depths = [], [], [], []
    try:
        for _ in generate.frames(world, layouts, frames, dataset.dt):
            tracks.append(np.array(world.positions, np.float32))
            motions.append(np.array(world.velocities, np.float32))
            color, depth = eyes(tracks[-1])
            colors.append(color)
            depths.append(depth)
    finally:
        world.close()
        eyes.close()
    renderer = Renderer(dataset.cameras, dataset.radius)
    shades = (tints / np.float32(255.0)).astype(np.float32)
    for number, each in enumerate(layouts):
        positions = np.stack([track[number] for track in tracks])
        splat_color, splat_depth = splats(renderer, positions, shades)
        arrays = {
            "positions": positions,
            "velocities": np.stack([motion[number] for motion in motions]),
            "kinds": each.kinds,
            "bodies": each.bodies,
            "bonds": each.bonds,
            "rest_lengths": each.rest_lengths,
            "color": np.stack([color[number] for color in colors]),
            "depth": np.stack([depth[number] for depth in depths]),
            "splat_color": splat_color,
            "splat_depth": splat_depth,
            "colors": shades,
        }
        yield check_episode(f"episode {number} of the batch", arrays, dataset.cameras)


def splats(renderer: Renderer, positions: np.ndarray, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Pictures of the training renderer, rounded to bytes, and depths, for positions (T, n, 3)."""
    torch = torch_of("the renderer")
    found_color, found_depth = [], []
    with torch.no_grad():
        for begin in range(0, len(positions), _FRAMES):
            some = torch.as_tensor(positions[begin : begin + _FRAMES])
            picture = renderer(some, torch.as_tensor(colors))
            found_color.append((picture.color * 255.0).round().clamp(0, 255).to(torch.uint8).numpy())
            found_depth.append(picture.depth.numpy())
    return np.concatenate(found_color), np.concatenate(found_depth)
