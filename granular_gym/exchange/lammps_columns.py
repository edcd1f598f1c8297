"""lammps_columns.py: what data files and dumps of LAMMPS share: units, names of columns, and packings made of these."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.exchange.lines import Lines
from granular_gym.exchange.packing import Packing

Floats = NDArray[np.float64]
Columns = dict[str, Floats]

#: length [m], mass [kg] and time [s] of the units of LAMMPS that have some
UNITS = {"si": (1.0, 1.0, 1.0), "cgs": (1e-2, 1e-3, 1.0)}
VELOCITIES = ("vx", "vy", "vz")
SPINS = ("omegax", "omegay", "omegaz")
#: largest id, a whole number that a float64 holds exactly, and largest type
_LARGEST = {"id": 2**53, "type": 2**31 - 1}


def scales(lines: Lines, given: str | None, said: str | None) -> tuple[float, float, float]:
    """Length, mass and time of the units of a file.

    Args:
        lines: of the file.
        given: units by the caller; None: those that the file names.
        said: by the file; None: it does not, and they are si.

    Raises:
        ArgumentError: the caller's are none of UNITS.
        ExchangeError: the file's are none of them.
    """
    if given is not None:
        return UNITS[checks.choice("units", given, list(UNITS))]
    if said is not None and said not in UNITS:
        lines.fail(f"expected units {' or '.join(UNITS)}, got {said!r}; the argument units says what numbers are in")
    return UNITS[said or "si"]


def warn_assumed(lines: Lines) -> None:
    """Warns that neither file nor caller named units: numbers may be off by powers of ten, and nothing else tells.

    The warning points at the caller of the caller's caller.
    """
    warnings.warn(
        f"{lines.path}: the file names no units, si is assumed: metres, kilograms and seconds. units='cgs' reads "
        "centimetres and grams, units='si' says that si is right",
        UserWarning,
        stacklevel=4,
    )


def packing(
    lines: Lines, columns: Columns, at: NDArray[np.int64], scale: tuple[float, float, float], **more: Any
) -> Packing:
    """A packing from columns.

    Args:
        lines: of the file, for messages.
        columns: id, type, x, y, z, radius, density, velocities and spins, in the units of the file.
        at: the line of each row.
        scale: length, mass and time of these units.
        more: further attributes of the packing.

    Raises:
        ExchangeError: ids or types that are none, an id twice, radii or densities that are not above 0.
    """
    for name, largest in _LARGEST.items():
        values = columns[name]
        _refuse(
            lines, at, name, values, (values != np.round(values)) | (values < 1) | (values > largest), "whole, >= 1"
        )
    for name in ("radius", "density"):
        _refuse(lines, at, name, columns[name], columns[name] <= 0.0, "> 0")
    order = np.argsort(columns["id"], kind="stable")
    ids = columns["id"][order].astype(np.int64)
    same = np.flatnonzero(np.diff(ids) == 0)
    if len(same):
        lines.fail(f"expected ids that differ, got {ids[same[0]]} again", int(at[order[same[0] + 1]]))
    length, mass, time = scale

    def rows(names: tuple[str, ...]) -> Floats:
        return np.column_stack([columns[name] for name in names])[order]

    return Packing(
        ids=ids,
        types=columns["type"][order].astype(np.int32),
        positions=rows(("x", "y", "z")) * length,
        radii=columns["radius"][order] * length,
        densities=columns["density"][order] * (mass / length**3),
        velocities=rows(VELOCITIES) * (length / time),
        angular_velocities=rows(SPINS) / time,
        **more,
    )


def _refuse(
    lines: Lines, at: NDArray[np.int64], name: str, values: Floats, bad: NDArray[np.bool_], wanted: str
) -> None:
    """Raises an ExchangeError for the first bad value of a column."""
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        lines.fail(f"expected {name} {wanted}, got {values[row]:g}", int(at[row]))


def check_side(lines: Lines, axis: str, low: float, high: float) -> None:
    """Raises an ExchangeError where a side of the box has no length."""
    if not low < high:
        lines.fail(f"expected {axis}lo below {axis}hi, got {low:g} and {high:g}")
