"""lammps_dump.py: text dumps of LAMMPS: read, and written frame by frame, for OVITO too.

Format: https://docs.lammps.org/dump.html. LIGGGHTS writes the same.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, TextIO

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, ClosedError
from granular_gym.exchange.lammps_columns import (
    SPINS,
    UNITS,
    VELOCITIES,
    Columns,
    check_side,
    packing,
    scales,
    warn_assumed,
)
from granular_gym.exchange.lines import Lines
from granular_gym.exchange.packing import Packing, packing_of
from granular_gym.exchange.snapshot import check

Floats = NDArray[np.float64]

#: columns that hold places, and whether they are shares of the box; those of `xu` go on beyond periodic faces
PLACES = {("x", "y", "z"): False, ("xu", "yu", "zu"): False, ("xs", "ys", "zs"): True, ("xsu", "ysu", "zsu"): True}
#: columns that are written
WRITTEN = ("id", "type", "x", "y", "z", *VELOCITIES, *SPINS, "radius", "mass")
_SIZES = ("radius", "diameter", "density", "mass")
#: columns that are read; others are passed over
_READ = {"id", "type", *(name for names in PLACES for name in names), *VELOCITIES, *SPINS, *_SIZES}
#: share by which densities of one material differ, of masses and radii of six digits, as LAMMPS writes by default
_DIGITS = 5e-5
#: letters of the boundaries of a dump, by those of a scene
_FACES = {"periodic": "p", "cyclic": "p", "wall": "f", "open": "m"}


class LammpsDump:
    """Writes an env again and again as frames of a text dump, in SI units; a context manager.

        with exchange.LammpsDump("heap.dump", world) as dump:
            for k in range(100):
                world.step(dt=1e-3, substeps=20)
                dump.add(0.02 * (k + 1))

    Spheres of clumps and particles of continuous matter are written as spheres, with the mass they have.

    Args:
        path: of the file; one that exists is replaced.
        world: of grains in space.
        env: index of the env.

    Attributes:
        count: frames written.

    Raises:
        ArgumentError: not an env of a world, or planar grains.
        OSError: the file cannot be written.
    """

    count: int

    def __init__(self, path: str | Path, world: World, env: int = 0) -> None:
        self.path: Path = checks.path("path", path)
        self._world, self._env = check(world, env)
        packing_of(self._world, self._env)
        self.count, self._time = 0, -math.inf
        self._file: TextIO | None = self.path.open("w", encoding="utf-8")

    def add(self, time: float) -> None:
        """Writes the env as it is now; the time step of the frame is its number, from 0.

        Args:
            time: [s], above that of the frame before.

        Raises:
            ArgumentError: another time, or grains that are where no number says.
            ClosedError: the dump or the world was closed.
            OSError: the file cannot be written.
        """
        if self._file is None:
            raise ClosedError("the dump is closed; make a new one")
        check(self._world, self._env)
        now = checks.number("time", time)
        if not now > self._time:
            raise ArgumentError(f"time: expected above {self._time:g} s, that of the frame before, got {now:g}")
        found = packing_of(self._world, self._env)
        words = ["".join(_FACES[face] for face in found.boundary[axis]) for axis in "xyz"]
        head = ["ITEM: UNITS", "si"] if self.count == 0 else []
        head += [
            "ITEM: TIME",
            f"{now:.9g}",
            "ITEM: TIMESTEP",
            f"{self.count}",
            "ITEM: NUMBER OF ATOMS",
            f"{len(found)}",
        ]
        head += [f"ITEM: BOX BOUNDS {' '.join(words)}", *(f"{low:.9g} {high:.9g}" for low, high in found.bounds.T)]
        masses = found.densities * (4.0 / 3.0 * np.pi * found.radii**3)
        rows = zip(
            found.ids,
            found.types,
            np.column_stack([found.positions, found.velocities, found.angular_velocities, found.radii, masses]),
            strict=True,
        )
        body = [f"{k} {kind} {' '.join(f'{value:.9g}' for value in values)}" for k, kind, values in rows]
        self._file.write("\n".join([*head, f"ITEM: ATOMS {' '.join(WRITTEN)}", *body]) + "\n")
        self._file.flush()
        self._time, self.count = now, self.count + 1

    def close(self) -> None:
        """Ends the dump; further calls do nothing. The end of `with` calls it."""
        if self._file is not None:
            file, self._file = self._file, None
            file.close()

    def __enter__(self) -> LammpsDump:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def is_dump(lines: Lines) -> bool:
    """Whether a file begins as a text dump does."""
    return lines.peek().startswith("ITEM:")


def read_lammps_dump(
    path: str | Path, *, radius: float | None = None, density: float | None = None, units: str | None = None
) -> list[Packing]:
    """Every frame of a text dump.

    Places may be x y z, xs ys zs (shares of the box), xu yu zu or xsu ysu zsu (carried on beyond periodic faces).

    Args:
        path: of the file.
        radius: of all spheres [m], of a dump that has none.
        density: likewise [kg/m3], of a dump that has neither density nor mass.
        units: "si" or "cgs", what the numbers are in; None: what the file says, si with a UserWarning where it says
            nothing, as dumps of LAMMPS do without `dump_modify ID units yes`. Files in "lj" need it.

    Raises:
        ArgumentError: a value that makes no sense.
        ExchangeError: no text dump, one that is cut short, or holds what a packing cannot; with its line.
        OSError: the file cannot be read.
    """
    return frames_of(Lines(path), radius, density, units)


def frames_of(lines: Lines, radius: float | None, density: float | None, units: str | None) -> list[Packing]:
    """See `read_lammps_dump`."""
    if not is_dump(lines):
        lines.fail("expected a text dump of LAMMPS, which begins with ITEM:", 1)
    if radius is not None:
        radius = checks.number("radius", radius, 0.0, above=True)
    if density is not None:
        density = checks.number("density", density, 0.0, above=True)
    if units is not None:
        checks.choice("units", units, list(UNITS))
    said: str | None = None
    assumed = False
    frames = []
    while lines.peek():
        found, said = _frame(lines, units, said, radius, density)
        frames.append(found)
        assumed = assumed or (units is None and said is None)
    while not lines.ended:
        if lines.next("the end"):
            lines.fail("expected ITEM: or the end of the file")
    if assumed:
        warn_assumed(lines)
    return frames


def _frame(
    lines: Lines, units: str | None, said: str | None, radius: float | None, density: float | None
) -> tuple[Packing, str | None]:
    """The next frame of a dump, and the units that the dump names, which only its first frame does."""
    step: int | None = None
    count: int | None = None
    time: float | None = None
    bounds: Floats | None = None
    boundary: dict[str, Any] = {}
    while True:
        item = lines.next("ITEM:")
        if item == "ITEM: UNITS":
            said = lines.next("units")
        elif item == "ITEM: TIME":
            time = lines.numbers("the time", 1)[0]
        elif item == "ITEM: TIMESTEP":
            step = lines.whole("a time step")
        elif item == "ITEM: NUMBER OF ATOMS":
            count = lines.whole("a number of atoms")
        elif item.startswith("ITEM: BOX BOUNDS"):
            bounds, boundary = _box(lines, item.split()[3:])
        elif item.split()[:2] == ["ITEM:", "ATOMS"]:
            break
        else:
            lines.fail(f"expected an ITEM of a text dump, got {item!r}")
    if step is None or count is None or bounds is None:
        lines.fail("expected ITEM: TIMESTEP, NUMBER OF ATOMS and BOX BOUNDS before ITEM: ATOMS")
    scale = scales(lines, units, said)
    length, mass, second = scale
    named, header = item.split()[2:], lines.number
    if len(set(named)) != len(named):
        lines.fail("expected columns that differ, got one twice")
    columns, at = lines.block(count, named, _READ)
    _add_places(lines, columns, named, bounds, header)
    _add_sizes(lines, columns, named, header, "radius", radius and radius / length)
    _add_sizes(lines, columns, named, header, "density", density and density * length**3 / mass)
    _add_motion(lines, columns, named, header)
    found = packing(
        lines,
        columns,
        at,
        scale,
        bounds=bounds * length,
        boundary=boundary,
        step=step,
        time=None if time is None else time * second,
    )
    return found, said


def _box(lines: Lines, words: list[str]) -> tuple[Floats, dict[str, Any]]:
    """Corners of the box, and the axes that are periodic."""
    if "xy" in words or "abc" in words:
        lines.fail("expected a box along the axes, got a tilted one")
    if words and (len(words) != 3 or any(len(word) != 2 for word in words)):
        lines.fail(f"expected boundaries such as pp ff fm, got {' '.join(words)!r}")
    bounds = np.zeros((2, 3))
    for axis, name in enumerate("xyz"):
        low, high = lines.numbers(f"{name}lo and {name}hi", 2)
        check_side(lines, name, low, high)
        bounds[:, axis] = low, high
    return bounds, {axis: "periodic" for axis, word in zip("xyz", words, strict=False) if word == "pp"}


def _missing(lines: Lines, named: list[str], header: int, wanted: str) -> None:
    lines.fail(f"expected {wanted}, got columns {' '.join(named)}", header)


def _add_places(lines: Lines, columns: Columns, named: list[str], bounds: Floats, header: int) -> None:
    """Adds x, y and z, from other columns where they are not among them; a type where there is none."""
    if "id" not in columns:
        _missing(lines, named, header, "a column id")
    columns.setdefault("type", np.ones(len(columns["id"])))
    sources = next((names for names in PLACES if all(name in columns for name in names)), None)
    if sources is None:
        _missing(lines, named, header, f"columns {', '.join(' '.join(names) for names in PLACES)}")
        return
    for axis, source in enumerate(sources):
        low, high = bounds[:, axis]
        columns["xyz"[axis]] = low + columns[source] * (high - low) if PLACES[sources] else columns[source]


def _add_sizes(lines: Lines, columns: Columns, named: list[str], header: int, name: str, given: float | None) -> None:
    """Adds radius or density, from diameter or mass where these are there, or as the caller gave it."""
    other = {"radius": "diameter", "density": "mass"}[name]
    if name in columns or other in columns:
        if given is not None:
            lines.fail(f"{name}: expected None, the dump has a column {name if name in columns else other}", header)
        if name not in columns:
            columns[name] = (
                0.5 * columns[other] if name == "radius" else _levelled(columns[other] / _volumes(columns["radius"]))
            )
        return
    if given is None:
        _missing(lines, named, header, f"a column {name} or {other}, or the argument {name}")
    assert given is not None
    columns[name] = np.full(len(columns["id"]), given)


def _volumes(radii: Floats) -> Floats:
    """Of spheres; 1 where the radius is none, which is refused later."""
    volumes: Floats = 4.0 / 3.0 * np.pi * np.where(radii > 0.0, radii, 1.0) ** 3
    return volumes


def _levelled(densities: Floats) -> Floats:
    """Densities of masses and radii of few digits: those that differ by no more than such digits are their mean."""
    levelled: Floats = densities.copy()
    order = np.argsort(densities, kind="stable")
    rising, first = densities[order], 0
    while first < len(rising):
        last = max(int(np.searchsorted(rising, rising[first] * (1.0 + _DIGITS), side="right")), first + 1)
        # what is one in single precision stays as it is
        if np.float32(rising[first]) != np.float32(rising[last - 1]):
            levelled[order[first:last]] = rising[first:last].mean()
        first = last
    return levelled


def _add_motion(lines: Lines, columns: Columns, named: list[str], header: int) -> None:
    """Adds velocities and spins of 0 where there are none."""
    for names in (VELOCITIES, SPINS):
        some = [name in columns for name in names]
        if any(some) and not all(some):
            _missing(lines, named, header, f"all of columns {' '.join(names)}")
        for name in names:
            columns.setdefault(name, np.zeros(len(columns["id"])))
