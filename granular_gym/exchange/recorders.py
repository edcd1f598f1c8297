"""recorders.py: an env written again and again while it runs, in any of the formats; what `play --export` uses."""

from __future__ import annotations

import dataclasses
import importlib.util
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Protocol

from granular_gym.base import checks, names
from granular_gym.engine.world import World
from granular_gym.errors import MissingError
from granular_gym.exchange.gltf import write_gltf
from granular_gym.exchange.lammps_dump import LammpsDump
from granular_gym.exchange.vtk import VtkSeries


class Recorder(Protocol):
    """Writes an env as it is at moments of time."""

    def add(self, time: float) -> None:
        """Writes the env as it is now, at a time [s]."""

    def close(self) -> None:
        """Ends the files."""


class GltfSeries:
    """Writes every moment as a file of its own, moment_000000.glb and on, into a folder.

    Args:
        folder: created where it is missing.
        world: the world.
        env: index of the env.
    """

    def __init__(self, folder: Path, world: World, env: int = 0) -> None:
        self.folder: Path = folder
        self.count: int = 0
        self._world, self._env = world, env
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, time: float) -> None:
        """Writes the env as it is now; files of this format have no time."""
        write_gltf(self.folder / f"moment_{self.count:06d}.glb", self._world, self._env)
        self.count += 1

    def close(self) -> None:
        """Does nothing: each file is whole."""


@dataclasses.dataclass(frozen=True)
class Format:
    """A format: what writes it into a folder, and the libraries that this needs."""

    open: Callable[[Path, World], Recorder]
    libraries: tuple[str, ...] = ()


#: by name
FORMATS: dict[str, Format] = {
    "vtk": Format(lambda folder, world: VtkSeries(folder / "vtk", world), ("pyevtk", "trimesh", "skimage")),
    "lammps": Format(lambda folder, world: LammpsDump(folder / "grains.dump", world)),
    "gltf": Format(lambda folder, world: GltfSeries(folder / "gltf", world), ("trimesh", "skimage")),
}


def check_formats(name: str, formats: Any) -> list[str]:
    """Names of formats, each once.

    Raises:
        ArgumentError: one that is none of FORMATS.
        MissingError: a library that one needs is not installed.
    """
    if isinstance(formats, str) or not isinstance(formats, Sequence):
        raise names.unknown(name, formats, list(FORMATS))
    wanted = [checks.choice(name, each, list(FORMATS)) for each in dict.fromkeys(formats)]
    for each in wanted:
        for library in FORMATS[each].libraries:
            if importlib.util.find_spec(library) is None:
                raise MissingError(f'{name} {each!r} needs {library}: pip install "granular_gym[exchange]"')
    return wanted


class Recorders:
    """Several formats at once.

    Args:
        formats: names of FORMATS.
        folder: where they write.
        world: env 0 of it is written.
    """

    def __init__(self, formats: Sequence[str], folder: Path, world: World) -> None:
        self._open: list[Recorder] = []
        try:
            for each in formats:
                self._open.append(FORMATS[each].open(folder, world))
        except BaseException:
            self.close()
            raise

    def add(self, time: float) -> None:
        """Writes the env as it is now, at a time [s]."""
        for each in self._open:
            each.add(time)

    def close(self) -> None:
        """Ends all files."""
        for each in self._open:
            each.close()
