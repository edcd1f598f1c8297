"""lammps.py: packings out of files of LAMMPS, whichever kind.

Parsers of our own: ASE 3.29, the kept library that reads these files, makes molecules of them. It drops diameters,
densities and spins, and does not know atom_style sphere. What LAMMPS may write and a packing cannot hold (tilted boxes,
bonds, bodies) is refused, not left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.exchange.lammps_data import DataFile
from granular_gym.exchange.lammps_dump import frames_of, is_dump
from granular_gym.exchange.lines import Lines
from granular_gym.exchange.packing import Packing


def read_lammps(
    path: str | Path,
    *,
    frame: int = -1,
    radius: float | None = None,
    density: float | None = None,
    units: str | None = None,
    ignore: Sequence[str] = (),
) -> Packing:
    """A packing from a data file of atom_style sphere, or from a frame of a text dump.

    Args:
        path: of the file; what it is follows from its content.
        frame: of a dump, from 0, or from the end -1.
        radius: see `read_lammps_dump`.
        density: likewise.
        units: likewise; a data file says them in its first line, "units = cgs".
        ignore: names of further sections of a data file to leave out, such as "Molecules".

    Raises:
        ArgumentError: no such frame, or another value that makes no sense.
        ExchangeError: a file that is none of these, is cut short, or holds what a packing cannot; with its line.
        OSError: the file cannot be read.
    """
    lines = Lines(path)
    if is_dump(lines):
        frames = frames_of(lines, radius, density, units)
        return frames[checks.integer("frame", frame, -len(frames), len(frames) - 1)]
    for name, value in (("radius", radius), ("density", density)):
        if value is not None:
            raise ArgumentError(f"{name}: expected None with a data file, which has its own, got {value!r}")
    checks.integer("frame", frame, -1, 0)
    return DataFile(lines, units, ignore).packing()
