"""files.py: datasets on disk: the one place that knows Minari's files.

A dataset is written into a hidden folder beside where it will lie, episode by episode, and moved there when it is
whole: nobody finds half of one. Arrays are stored as they are, images are not made JPEGs, and packed without loss when
all is there.
"""

from __future__ import annotations

import importlib
import inspect
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym import _core
from granular_gym.base import names
from granular_gym.base.interrupts import uninterrupted
from granular_gym.base.types import Arrays
from granular_gym.errors import ArgumentError, MissingError, StateError
from granular_gym.recording.episode import (
    ACTIONS,
    INFOS,
    OBSERVATIONS,
    REWARDS,
    TERMINATIONS,
    TRUNCATIONS,
    Episode,
)

#: what the metadata of our datasets hold for us
KEY = "granular_gym"
_DATA, _METADATA, _MAIN, _NAMESPACE = "data", "metadata.json", "main_data.hdf5", "namespace_metadata.json"


def library(module: str = "minari") -> Any:
    """A module of Minari, or h5py, which it needs.

    Raises:
        MissingError: it is not installed.
    """
    try:
        importlib.import_module("h5py")
        importlib.import_module("PIL")
        return importlib.import_module(module)
    except ImportError as error:
        raise MissingError(f"datasets need Minari: pip install 'granular_gym[data]' ({error})") from error


def versions() -> dict[str, str]:
    """What the bits of an episode depend on: the version of the package, and a hash of the engine's source."""
    build = _core.build_info()
    return {"version": str(build["version"]), "engine": str(build["source"])}


def root_of(folder: Path | None) -> Path:
    """The folder of all datasets: the one given, or Minari's own (MINARI_DATASETS_PATH, else ~/.minari/datasets).

    It is absolute: Minari joins relative paths twice, and a policy may change the working directory on the way.
    """
    return (Path(library("minari.storage").get_dataset_path()) if folder is None else folder).absolute()


def check_id(dataset_id: str) -> str:
    """Returns the id of a dataset.

    Raises:
        ArgumentError: Minari does not take it.
    """
    try:
        library("minari.dataset.minari_dataset").parse_dataset_id(dataset_id)
    except (ValueError, TypeError):
        raise ArgumentError(
            "dataset-id: expected a name like 'granular_gym/Pour-v1/expert-v0', NAME-vNUMBER or NAMESPACE/NAME-vNUMBER "
            "of letters, digits, '-' and '_'; Minari wants 2 characters or more of a NAMESPACE, which may hold '/' "
            f"between others; got {dataset_id!r}"
        ) from None
    return dataset_id


# writing -------------------------------------------------------------------------------------------------------------


class Writer:
    """Writes a dataset.

    Args:
        root: folder of all datasets; made where it is missing.
        dataset_id: see `check_id`.
        spec: Gymnasium's, of the env that is recorded.
        observation_space: of the env, a Dict.
        action_space: of the env.
        overwrite: replace a dataset of the same id, when the new one is whole.

    Raises:
        ArgumentError: the id is taken, the folder cannot be written, or arguments in the spec cannot be kept as JSON.
        MissingError: Minari is not installed, or too old to keep images as they are.
    """

    def __init__(
        self,
        root: Path,
        dataset_id: str,
        spec: Any,
        observation_space: Any,
        action_space: Any,
        overwrite: bool = False,
    ) -> None:
        storage = library("minari.dataset.minari_storage")
        root = root_of(root)
        self.path: Path = root / check_id(dataset_id)
        check_free(root, [dataset_id], overwrite)
        lossless = "jpeg_encoding" in inspect.signature(storage.MinariStorage.new).parameters
        if not lossless and any(map(storage.is_image_space, observation_space.spaces.values())):
            raise MissingError("these images need Minari 0.5.4 or newer, and so Python 3.11: older versions spoil them")
        try:
            spec.to_json()
        except TypeError as error:
            raise ArgumentError(
                f"argument: expected values that JSON can hold, so that it can be kept ({error})"
            ) from None
        try:
            root.mkdir(parents=True, exist_ok=True)
            self._folder = Path(tempfile.mkdtemp(prefix=".recording-", dir=root))
        except OSError as error:
            raise ArgumentError(f"out: expected a folder that can be written to, got {str(root)!r} ({error})") from None
        (self._folder / _DATA).mkdir()
        options = {"jpeg_encoding": False} if lossless else {}
        self._storage = storage.MinariStorage.new(
            self._folder / _DATA, observation_space, action_space, spec, **options
        )
        self._id, self._root, self._overwrite = dataset_id, root, overwrite
        self._stranded = False  # the dataset that was to be replaced could not be put back
        self.count: int = 0

    def add(self, episode: Episode) -> None:
        """Adds an episode.

        Raises:
            OSError: the disk is full.
        """
        fields = episode.fields
        buffer = library("minari.data_collector").EpisodeBuffer(
            id=self.count,
            seed=episode.seed,
            observations=_under(fields, OBSERVATIONS),
            actions=fields[ACTIONS],
            rewards=fields[REWARDS],
            terminations=fields[TERMINATIONS],
            truncations=fields[TRUNCATIONS],
            infos=_under(fields, INFOS),
        )
        self._storage.update_episodes([buffer])
        self._storage.update_episode_metadata([{"policy": episode.policy}], [self.count])
        self.count += 1

    def finish(self, description: str, algorithm: str, about: dict[str, Any]) -> Path:
        """Completes the dataset and moves it to where it lies; returns its folder.

        Args:
            description: for people.
            algorithm: who played.
            about: facts that JSON can hold, besides `versions`.

        Raises:
            ArgumentError: the id was taken in the meantime.
            OSError: the disk is full, or the folder cannot be moved; a dataset that was to be replaced is where it was.
        """
        check_free(self._root, [self._id], self._overwrite)  # somebody else may have been quicker
        _pack(self._folder / _DATA / _MAIN)
        now = versions()
        self._storage.update_metadata(
            {
                "dataset_id": self._id,
                "minari_version": library().__version__,
                "algorithm_name": algorithm,
                "description": description,
                "requirements": [f"granular_gym=={now['version']}"],
                "dataset_size": self._storage.get_size(),
                KEY: {**about, **now},
            }
        )
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for level in self.path.relative_to(self._root).parents:
            if level.name and not (self._root / level / _NAMESPACE).exists():
                (self._root / level / _NAMESPACE).write_text("{}")
        whole = self._folder / "whole"
        whole.mkdir()
        (self._folder / _DATA).rename(whole / _DATA)
        with uninterrupted():
            self._move(whole)
        self.discard()
        return self.path

    def _move(self, whole: Path) -> None:
        """Puts a folder where the dataset lies; where that fails, the one that it replaces is put back.

        Raises:
            OSError: it cannot be moved.
        """
        old = self._folder / "replaced"
        replaces = self._overwrite and self.path.exists()
        if replaces:
            self.path.rename(old)
        try:
            whole.rename(self.path)
        except BaseException:
            if replaces:
                self._stranded = True
                old.rename(self.path)
                self._stranded = False
            raise

    def discard(self) -> None:
        """Deletes what is not moved, but no dataset that could not be put back; further calls do nothing."""
        if not self._stranded:
            shutil.rmtree(self._folder, ignore_errors=True)


def check_free(root: Path, ids: Sequence[str], overwrite: bool) -> None:
    """Refuses ids whose places are taken.

    Args:
        root: folder of all datasets.
        ids: of datasets.
        overwrite: datasets may be replaced.

    Raises:
        ArgumentError: there are datasets of these ids, all of which the message names, and they are not to be replaced;
            or something else is there.
    """
    taken = [each for each in ids if (root / each).exists() or (root / each).is_symlink()]
    for each in taken:
        if not (root / each / _DATA / _METADATA).is_file():
            raise ArgumentError(f"dataset-id: expected one whose folder is free, {str(root / each)!r} is no dataset")
    if taken and not overwrite:
        wanted, exist = "a new one" if len(ids) == 1 else "new ones", "exists" if len(taken) == 1 else "exist"
        named = ", ".join(map(repr, taken))
        raise ArgumentError(f"dataset-id: expected {wanted}, or --overwrite, {named} {exist} in {root}")


def _under(fields: Arrays, prefix: str) -> Arrays:
    return {name.removeprefix(prefix): values for name, values in fields.items() if name.startswith(prefix)}


def _pack(path: Path) -> None:
    """Writes a file of HDF5 anew, arrays compressed without loss in one piece each; any reader of HDF5 reads it."""
    h5py = library("h5py")
    packed = path.with_suffix(".packed")

    def copy(source: Any, target: Any) -> None:
        target.attrs.update(source.attrs)
        for name, item in source.items():
            if isinstance(item, h5py.Group):
                copy(item, target.create_group(name, track_order=True))
            else:
                values = item[()]
                worth = values.nbytes > _WORTH
                options = {"compression": "gzip", "shuffle": True, "chunks": values.shape} if worth else {}
                target.create_dataset(name, data=values, dtype=item.dtype, **options)

    with h5py.File(path, "r") as source, h5py.File(packed, "w", track_order=True, libver="latest") as target:
        copy(source, target)
    os.replace(packed, path)


#: bytes from which on an array is compressed
_WORTH = 256


# reading -------------------------------------------------------------------------------------------------------------


class Dataset:
    """A dataset of this package, for reading.

    Args:
        name: folder of the dataset, or its id.
        root: folder of all datasets, for an id; None: Minari's.

    Raises:
        ArgumentError: there is none, or it was not recorded by this package.
        StateError: it is damaged, or of a version of Minari that the one installed does not read.
        MissingError: Minari is not installed.
    """

    def __init__(self, name: str, root: Path | None = None) -> None:
        minari = library()
        self.path: Path = _found(name, root)
        try:
            self.minari: Any = minari.MinariDataset(self.path / _DATA)
            self.about: dict[str, Any] = dict(self.minari.storage.metadata.get(KEY, {}))
        except (OSError, ValueError, KeyError, AssertionError) as error:
            raise StateError(f"{self.path}: expected a whole dataset ({error})") from None
        if not {"task", "version", "engine"} <= self.about.keys():
            raise ArgumentError(f"dataset: expected one that `record` wrote, got {name!r}")
        self.count: int = int(self.minari.total_episodes)

    def episode(self, number: int) -> Episode:
        """An episode.

        Raises:
            ArgumentError: there are fewer.
            StateError: the file is damaged.
        """
        if not 0 <= number < self.count:
            raise ArgumentError(f"episode: expected 0 .. {self.count - 1}, got {number}")
        try:
            read = self.minari[number]
            about = next(iter(self.minari.storage.get_episode_metadata([number])))
            fields = {
                **{OBSERVATIONS + name: np.asarray(part) for name, part in read.observations.items()},
                **{INFOS + name: np.asarray(part) for name, part in (read.infos or {}).items()},
                ACTIONS: read.actions,
                REWARDS: read.rewards,
                TERMINATIONS: read.terminations,
                TRUNCATIONS: read.truncations,
            }
            return Episode(int(about["seed"]), str(about["policy"]), fields)
        except (OSError, ValueError, KeyError, AttributeError, AssertionError) as error:
            raise StateError(f"{self.path}: expected a whole episode {number} ({error})") from None

    def episodes(self) -> Iterator[Episode]:
        """All episodes, one at a time."""
        return map(self.episode, range(self.count))

    @property
    def other_version(self) -> str:
        """What recorded it, where that is not what is running: "granular_gym 0.1.0, engine 0123"; else ""."""
        if all(self.about[name] == value for name, value in versions().items()):
            return ""
        return f"granular_gym {self.about['version']}, engine {self.about['engine']}"


def _found(name: str, root: Path | None) -> Path:
    """The folder of a dataset.

    Raises:
        ArgumentError: there is no such dataset; the message lists those there are.
    """
    if not name:
        raise ArgumentError("dataset: expected an id or a folder, got ''")
    if (Path(name) / _DATA / _METADATA).is_file():
        return Path(name)
    base = root_of(root)
    if (base / name / _DATA / _METADATA).is_file():
        return base / name
    known = [str(path.parent.parent.relative_to(base)) for path in sorted(base.rglob(f"{_DATA}/{_METADATA}"))]
    if not known:
        raise ArgumentError(f"dataset: expected a folder, or an id in {base}, which has none, got {name!r}")
    raise names.unknown("dataset", name, known)


def size_of(path: Path) -> int:
    """Bytes of a dataset."""
    return sum(file.stat().st_size for file in path.rglob("*") if file.is_file())
