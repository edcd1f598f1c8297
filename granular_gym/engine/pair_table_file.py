"""pair_table_file.py: files of tables: a zip of NumPy arrays (.npz) and a text that says what they are.

Read whole, of this version, or refused.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
from typing import Any

import numpy as np

from granular_gym.base import cache, checks
from granular_gym.engine.pair_forces import AXES, FORCES, PairForces
from granular_gym.engine.pair_table import PairTable
from granular_gym.errors import GranularError, TableError

FORMAT = "granular_gym pair table"
VERSION = 1


def save_pair_table(table: PairTable, path: str | os.PathLike[str]) -> None:
    """Writes a table to a file, whole or not at all."""
    checks.instance("table", table, PairTable)
    about = {
        "format": FORMAT,
        "version": VERSION,
        "kinds": table.kinds,
        "pairs": list(table.forces),
        "torque": table.torque,
        "dt": table.dt,
        "radius": table.radius,
        "masses": table.masses,
    }
    arrays = {
        f"{number}.{name}": getattr(forces, name)
        for number, forces in enumerate(table.forces.values())
        for name in (*AXES, *FORCES)
    }
    buffer = io.BytesIO()
    np.savez_compressed(buffer, about=np.array(json.dumps(about)), **arrays)
    cache.write_atomic(checks.path("path", path), buffer.getvalue())


def load_pair_table(path: str | os.PathLike[str]) -> PairTable:
    """Reads a table.

    Raises:
        TableError: no such file, one of another version, or one that is cut off or holds anything but a table.
    """
    where = checks.path("path", path)
    try:
        with np.load(where, allow_pickle=False) as file:
            about = json.loads(str(file["about"]))
            arrays = {name: file[name] for name in file.files if name != "about"}
    except OSError as error:
        raise TableError(f"{where}: expected a table of forces, got {error.strerror or error}") from None
    except (ValueError, KeyError, EOFError, zipfile.BadZipFile, zipfile.LargeZipFile) as error:
        raise TableError(f"{where}: expected a table of forces, got a file that cannot be read: {error}") from None
    if not isinstance(about, dict) or about.get("format") != FORMAT:
        raise TableError(f"{where}: expected a table of forces, got {_kind_of(about)}")
    if about.get("version") != VERSION:
        raise TableError(f"{where}: expected a table of version {VERSION}, got one of version {about.get('version')!r}")
    try:
        return _table(about, arrays)
    except KeyError as error:
        raise TableError(f"{where}: expected the entry {error}, got none") from None
    except (GranularError, TypeError, AttributeError) as error:
        raise TableError(f"{where}: {error}") from None


def _kind_of(about: Any) -> str:
    return repr(about.get("format")) if isinstance(about, dict) else type(about).__name__


def _table(about: dict[str, Any], arrays: dict[str, Any]) -> PairTable:
    forces = {}
    for number, pair in enumerate(about["pairs"]):
        forces[tuple(pair)] = PairForces(**{name: arrays[f"{number}.{name}"] for name in (*AXES, *FORCES)})
    masses = about["masses"]
    return PairTable(
        kinds=tuple(about["kinds"]),
        forces=forces,
        torque=about["torque"],
        dt=about["dt"],
        radius=about["radius"],
        masses=None if masses is None else tuple(masses),
    )
