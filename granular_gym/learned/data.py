"""data.py: datasets of moving grains and their pictures: what they hold, how they lie on disk, what is checked.

A dataset is a folder: `meta.json` (scene, units, cameras, the true law) and a compressed `.npz` for each episode, which
is read when it is asked for. Arrays and their shapes: `Episode`.
"""

from __future__ import annotations

import dataclasses
import json
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, DatasetError
from granular_gym.learned.cameras import PinholeCamera
from granular_gym.learned.law import KINDS, GrainLaw

FORMAT, VERSION = "granular_gym.learned.data", 1
META = "meta.json"


@dataclasses.dataclass(frozen=True, eq=False)
class Episode:
    """Grains over T + 1 frames, the first at the start, and what C cameras of H x W pixels see.

    Attributes:
        positions: (T+1, n, 3) float32 [m].
        velocities: (T+1, n, 3) float32 [m/s].
        kinds: (n,) int8: SAND, ELASTIC, PLASTIC, RIGID of `law`.
        bodies: (n,) int32, the body of each grain; -1: of none.
        bonds: (m, 2) int32, pairs of grains of one body that are bonded.
        rest_lengths: (m,) float32 of the bonds at the start [m].
        color: (T+1, C, H, W, 3) uint8 sRGB by the engine's rays.
        depth: (T+1, C, H, W) float32 likewise [m]; `far` of the camera where nothing is seen.
        splat_color: as `color`, by `render.Renderer`.
        splat_depth: as `depth`, likewise.
        colors: (n, 3) float32 of the grains, 0 .. 1.
    """

    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    kinds: NDArray[np.int8]
    bodies: NDArray[np.int32]
    bonds: NDArray[np.int32]
    rest_lengths: NDArray[np.float32]
    color: NDArray[np.uint8]
    depth: NDArray[np.float32]
    splat_color: NDArray[np.uint8]
    splat_depth: NDArray[np.float32]
    colors: NDArray[np.float32]


#: of each array of an episode its type and its axes: letters of one meaning have one length
LAYOUT: dict[str, tuple[type[np.generic], tuple[str | int, ...]]] = {
    "positions": (np.float32, ("T", "n", 3)),
    "velocities": (np.float32, ("T", "n", 3)),
    "kinds": (np.int8, ("n",)),
    "bodies": (np.int32, ("n",)),
    "bonds": (np.int32, ("m", 2)),
    "rest_lengths": (np.float32, ("m",)),
    "color": (np.uint8, ("T", "C", "H", "W", 3)),
    "depth": (np.float32, ("T", "C", "H", "W")),
    "splat_color": (np.uint8, ("T", "C", "H", "W", 3)),
    "splat_depth": (np.float32, ("T", "C", "H", "W")),
    "colors": (np.float32, ("n", 3)),
}


def check_episode(name: str, arrays: dict[str, Any], cameras: Sequence[PinholeCamera]) -> Episode:
    """An episode of arrays that fit each other and the cameras.

    Args:
        name: of the episode in messages.
        arrays: by the names of LAYOUT.
        cameras: of the dataset.

    Raises:
        DatasetError: arrays are missing, of another type or shape, or not finite; bonds of grains that there are not.
    """
    if sorted(arrays) != sorted(LAYOUT):
        raise DatasetError(f"{name}: expected the arrays {sorted(LAYOUT)}, got {sorted(arrays)}")
    lengths: dict[str, int] = {"C": len(cameras), "H": cameras[0].height, "W": cameras[0].width}
    for key, (kind, axes) in LAYOUT.items():
        array = np.asarray(arrays[key])
        # an axis that comes for the first time has the length that it has here
        fits = array.ndim == len(axes) and all(
            length == (axis if isinstance(axis, int) else lengths.setdefault(axis, length))
            for axis, length in zip(axes, array.shape, strict=True)
        )
        if array.dtype != kind or not fits:
            text = ", ".join(str(axis if isinstance(axis, int) else lengths.get(axis, axis)) for axis in axes)
            raise DatasetError(f"{name}: {key}: expected {np.dtype(kind)} ({text}), got {array.dtype} {array.shape}")
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise DatasetError(f"{name}: {key}: expected finite numbers, got {int((~np.isfinite(array)).sum())} others")
    for key, lower, upper in (("bonds", 0, lengths["n"] - 1), ("kinds", 0, len(KINDS) - 1)):
        values = np.asarray(arrays[key])
        if values.size and not lower <= int(values.min()) <= int(values.max()) <= upper:
            raise DatasetError(f"{name}: {key}: expected {lower} .. {upper}, got {values.min()} .. {values.max()}")
    return Episode(**arrays)


class EpisodeFiles(Sequence[Episode]):
    """Episodes on disk, each read when it is asked for and kept for the next call of the same.

    Args:
        folder: of the dataset.
        names: of the files.
        cameras: of the dataset.

    Raises:
        DatasetError: a file is missing, or was cut off.
    """

    def __init__(self, folder: Path, names: Sequence[str], cameras: Sequence[PinholeCamera]) -> None:
        self._paths = [folder / name for name in names]
        self._cameras = cameras
        self._last: tuple[int, Episode] | None = None
        for path in self._paths:
            if not path.is_file():
                raise DatasetError(f"{path}: expected an episode, there is no such file")
            if not zipfile.is_zipfile(path):
                raise DatasetError(
                    f"{path}: expected an .npz file, got {path.stat().st_size} bytes that are none; cut off?"
                )

    def __len__(self) -> int:
        return len(self._paths)

    @overload
    def __getitem__(self, index: int) -> Episode: ...
    @overload
    def __getitem__(self, index: slice) -> list[Episode]: ...
    def __getitem__(self, index: int | slice) -> Episode | list[Episode]:
        """An episode, or a list of them.

        Raises:
            DatasetError: see `check_episode`; or the file is damaged.
        """
        if isinstance(index, slice):
            return [self[each] for each in range(*index.indices(len(self)))]
        number = range(len(self))[index]
        if self._last is None or self._last[0] != number:
            self._last = number, read_episode(self._paths[number], self._cameras)
        return self._last[1]

    def __iter__(self) -> Iterator[Episode]:
        return (self[each] for each in range(len(self)))


def read_episode(path: Path, cameras: Sequence[PinholeCamera]) -> Episode:
    """An episode from its file.

    Raises:
        DatasetError: see `check_episode`; or the file is damaged.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in file.files}
    except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
        raise DatasetError(f"{path}: expected an episode, the file is damaged: {error}") from error
    return check_episode(str(path), arrays, cameras)


def write_episode(path: Path, episode: Episode) -> None:
    """Writes an episode to a file; the same episode gives the same bytes."""
    np.savez_compressed(path, **{key: getattr(episode, key) for key in LAYOUT})


@dataclasses.dataclass(frozen=True, eq=False)
class Dataset:
    """Episodes of one scene.

    Attributes:
        scene: its name.
        dt: time between frames [s].
        radius: of all grains [m].
        gravity: (3,) float32 [m/s^2].
        bounds: (2, 3) float32, the box whose planes are walls [m].
        cameras: of the pictures.
        train: episodes to learn from.
        test: episodes of other seeds.
        law: that the grains follow; None: it is not known.
        made: how the data was made: size, seed, scale, drop.
        version: of the format.

    Raises:
        DatasetError: no cameras, or cameras of several sizes.
        ArgumentError: a number out of range.
    """

    scene: str
    dt: float
    radius: float
    gravity: NDArray[np.float32]
    bounds: NDArray[np.float32]
    cameras: list[PinholeCamera]
    train: Sequence[Episode]
    test: Sequence[Episode]
    law: GrainLaw | None = None
    made: dict[str, Any] = dataclasses.field(default_factory=dict)
    version: int = VERSION

    def __post_init__(self) -> None:
        checks.number("dt", self.dt, 0.0, above=True)
        checks.number("radius", self.radius, 0.0, above=True)
        object.__setattr__(self, "gravity", checks.floats("gravity", self.gravity, (3,)))
        object.__setattr__(self, "bounds", checks.floats("bounds", self.bounds, (2, 3)))
        sizes = sorted({(each.height, each.width) for each in self.cameras})
        if len(sizes) != 1:
            raise DatasetError(f"cameras: expected some of one size, got sizes {sizes}")

    def describe(self) -> str:
        """A line: scene, episodes, frames, grains, pictures."""
        first = next(iter((*self.train[:1], *self.test[:1])), None)
        text = f"{self.scene}: {len(self.train)} + {len(self.test)} episodes"
        if first is None:
            return text
        frames, grains = first.positions.shape[:2]
        camera = self.cameras[0]
        return (
            f"{text} of {frames} frames each {self.dt * 1e3:g} ms, {grains} grains, {len(first.bonds)} bonds in the "
            f"first, {len(self.cameras)} cameras of {camera.height} x {camera.width}"
        )

    def save(self, folder: str | Path) -> None:
        """Writes the dataset to a folder that is not there yet.

        Raises:
            ArgumentError: the folder is there already.
            DatasetError: an episode that does not fit the cameras.
        """
        target = new_folder(folder)
        for split in ("train", "test"):
            for number, each in enumerate(getattr(self, split)):
                check_episode(f"{split}[{number}]", dataclasses.asdict(each), self.cameras)
        target.mkdir(parents=True)
        for split in ("train", "test"):
            for number, each in enumerate(getattr(self, split)):
                write_episode(target / file_name(split, number), each)
        self.write_meta(target, len(self.train), len(self.test))

    def write_meta(self, folder: Path, train: int, test: int) -> None:
        """Writes `meta.json`, last: a folder without it is no dataset.

        Args:
            folder: of the dataset, with its episodes.
            train: episodes of it to learn from.
            test: episodes to test with.
        """
        values = {
            "format": FORMAT,
            "version": self.version,
            "scene": self.scene,
            "dt": self.dt,
            "radius": self.radius,
            "gravity": self.gravity.tolist(),
            "bounds": self.bounds.tolist(),
            "cameras": [each.to_json() for each in self.cameras],
            "law": None if self.law is None else dataclasses.asdict(self.law),
            "made": self.made,
            "train": train,
            "test": test,
        }
        (folder / META).write_text(json.dumps(values, indent=1) + "\n", encoding="utf-8")

    @classmethod
    def load(cls, folder: str | Path) -> Dataset:
        """A dataset from its folder; episodes are read when they are asked for.

        Raises:
            DatasetError: files are missing, damaged, cut off or of another version; a camera has no calibration.
        """
        source = checks.path("folder", folder)
        values = _read_meta(source / META)
        cameras = [
            PinholeCamera.from_json(f"{source / META}: cameras[{i}]", each) for i, each in enumerate(values["cameras"])
        ]
        train, test = (
            EpisodeFiles(source, [file_name(split, i) for i in range(values[split])], cameras)
            for split in ("train", "test")
        )
        try:
            law = None if values["law"] is None else GrainLaw(**values["law"])
            kept = {key: values[key] for key in ("scene", "dt", "radius", "gravity", "bounds", "made", "version")}
            return cls(cameras=cameras, train=train, test=test, law=law, **kept)
        except DatasetError:
            raise
        except (ArgumentError, TypeError) as error:
            raise DatasetError(f"{source / META}: {error}") from error


def file_name(split: str, number: int) -> str:
    """The file of an episode in the folder of its dataset."""
    return f"{split}_{number:04d}.npz"


def new_folder(folder: str | Path) -> Path:
    """The path of a folder that is not there yet.

    Raises:
        ArgumentError: it is.
    """
    target = checks.path("out", folder)
    if target.exists():
        raise ArgumentError(f"out: expected a folder that is not there yet, {target} is; nothing is overwritten")
    return target


#: of each entry of meta.json, what it is in JSON
_ENTRIES: dict[str, tuple[type, ...]] = {
    "scene": (str,),
    "dt": (int, float),
    "radius": (int, float),
    "gravity": (list,),
    "bounds": (list,),
    "cameras": (list,),
    "law": (dict, type(None)),
    "made": (dict,),
    "train": (int,),
    "test": (int,),
}


def _read_meta(path: Path) -> dict[str, Any]:
    """The entries of meta.json, all there and of their types."""
    try:
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise DatasetError(f"{path}: expected the description of a dataset: {error}") from error
    if not isinstance(values, dict) or values.get("format") != FORMAT:
        raise DatasetError(f"{path}: expected the format {FORMAT!r}, got another file")
    if values.get("version") != VERSION:
        raise DatasetError(f"{path}: expected version {VERSION}, got {values.get('version')!r}; make the data anew")
    for key, kinds in _ENTRIES.items():
        if not isinstance(values.get(key, ...), kinds):
            raise DatasetError(f"{path}: {key}: expected {kinds[0].__name__}, got {values.get(key, 'nothing')!r}")
    return values
