"""lammps_data.py: data files of LAMMPS, atom_style sphere: read and written.

Format: https://docs.lammps.org/read_data.html.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.cache import write_atomic
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.exchange.lammps_columns import SPINS, VELOCITIES, check_side, packing, scales, warn_assumed
from granular_gym.exchange.lines import Lines
from granular_gym.exchange.packing import Packing, packing_of
from granular_gym.exchange.snapshot import check

Floats = NDArray[np.float64]
#: line and words of each row
Rows = list[tuple[int, list[str]]]

#: columns of the sections Atoms and Velocities
ATOMS = ("id", "type", "diameter", "density", "x", "y", "z")
MOTION = ("id", *VELOCITIES, *SPINS)
#: counts of the header that must be 0, as a packing has no such things
_NONE_OF = ("bonds", "angles", "dihedrals", "impropers", "ellipsoids", "lines", "triangles", "bodies")
#: further counts, which change nothing
_PLAIN = tuple(f"{kind} types" for kind in ("bond", "angle", "dihedral", "improper"))
_BOX = {"xlo xhi": 0, "ylo yhi": 1, "zlo zhi": 2}
_TILTED = ("xy xz yz", "avec", "bvec", "cvec", "abc origin")
_EXTRA = tuple(f"extra {kind} per atom" for kind in ("bond", "angle", "dihedral", "improper", "special"))
#: what lines of the header end with; of two that fit the longer one is meant
_HEADER = sorted(("atoms", "atom types", *_NONE_OF, *_PLAIN, *_EXTRA, *_BOX, *_TILTED), key=len, reverse=True)
#: sections that say nothing of a packing
_SKIPPED = ("Masses", "Pair Coeffs", "PairIJ Coeffs", "Atom Type Labels")


def write_lammps(path: str | Path, world: World, env: int = 0) -> None:
    """Writes the grains of an env as a data file, which LAMMPS reads with `atom_style sphere` and `units si`.

    Numbers have nine digits, so that reading gives the engine's single precision to the bit. The type of a grain is the
    index of its material + 1, its id the grain id + 1. Tools, friction and boundaries are not in such files:
    `lammps_input` writes what a packing is run by.

    Args:
        path: of the file; one that exists is replaced.
        world: of lone spheres.
        env: index of the env.

    Raises:
        ArgumentError: not an env of a world, or grains that are no lone spheres.
        OSError: the file cannot be written.
    """
    file = checks.path("path", path)
    world, env = check(world, env)
    check_lone(world)
    found = packing_of(world, env)
    text = [
        "granular_gym, units = si",
        "",
        f"{len(found)} atoms",
        f"{world.material_count} atom types",
        "",
        *(f"{low:.9g} {high:.9g} {name}" for name, low, high in zip(_BOX, *found.bounds, strict=True)),
        "",
        "Atoms # sphere",
        "",
    ]
    sizes = zip(found.ids, found.types, 2.0 * found.radii, found.densities, found.positions, strict=True)
    text += [f"{k} {kind} {size:.9g} {density:.9g} {_row(place)}" for k, kind, size, density, place in sizes]
    text += ["", "Velocities", ""]
    motion = np.column_stack([found.velocities, found.angular_velocities])
    text += [f"{k} {_row(values)}" for k, values in zip(found.ids, motion, strict=True)]
    write_atomic(file, ("\n".join(text) + "\n").encode())


def check_lone(world: World) -> None:
    """Raises an ArgumentError where the grains of a world are no lone spheres in space."""
    other = "shapes in the plane" if world.planar else "particles of continuous matter" if world.continuous else ""
    other = other or ("spheres of clumps" if world.clump_count else "")
    if other:
        raise ArgumentError(f"world: expected lone spheres, as atom_style sphere has no other, its grains are {other}")


def _row(values: Floats) -> str:
    return " ".join(f"{value:.9g}" for value in values)


class DataFile:
    """A data file, section by section.

    Args:
        lines: of the file.
        units: see `read_lammps`.
        ignore: likewise.
    """

    def __init__(self, lines: Lines, units: str | None, ignore: Sequence[str]) -> None:
        if isinstance(ignore, str) or not all(isinstance(name, str) for name in ignore):
            raise ArgumentError(f"ignore: expected a list of names, got {ignore!r}")
        self._lines, self._ignore = lines, tuple(ignore)
        said = re.search(r"units = (\w+)", lines.next("the title of a data file of LAMMPS, or a dump"))
        self._scale = scales(lines, units, said[1] if said else None)
        self._assumed = units is None and said is None
        self._counts: dict[str, int] = {}
        self._bounds = np.full((2, 3), np.nan)
        #: rows (line, words) by section, and the comment behind its name
        self._sections: dict[str, tuple[Rows, str, int]] = {}
        self._read_header()
        while not lines.ended:
            self._read_section()

    def _read_header(self) -> None:
        lines = self._lines
        while not lines.ended and not lines.peek()[:1].isalpha():
            text = lines.next("a header").partition("#")[0].strip()
            if not text:
                continue
            # numbers, then what they are
            text = " ".join(text.split())
            name = next((each for each in _HEADER if text.endswith(f" {each}")), "")
            values = text.removesuffix(name).split()
            if name in _TILTED:
                if name != "xy xz yz" or any(float(v) for v in self._numbers(values, 3, name)):
                    lines.fail(f"expected a box along the axes, got one with {name}")
            elif name in _BOX:
                low, high = self._numbers(values, 2, name)
                check_side(lines, name[0], low, high)
                self._bounds[:, _BOX[name]] = low, high
            elif name:
                if len(values) != 1 or not (values[0].isascii() and values[0].isdecimal()):
                    lines.fail(f"expected a whole number of {name}, got {' '.join(values)!r}")
                self._counts[name] = int(values[0])
                if name in _NONE_OF and self._counts[name]:
                    lines.fail(f"expected no {name}, a packing holds spheres alone, got {values[0]}")
            else:
                lines.fail(f"expected a line of the header of a data file, got {text!r}")
        known = [*self._counts, *(name for name, axis in _BOX.items() if not np.isnan(self._bounds[0, axis]))]
        for name in ("atoms", "atom types", *_BOX):
            if name not in known:
                lines.fail(f"expected a line of {name} in the header, got none before {lines.peek()!r}")

    def _numbers(self, words: list[str], count: int, name: str) -> list[float]:
        """Numbers of a line of the header."""
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not np.isfinite(values).all():
            self._lines.fail(f"expected {count} finite numbers before {name}, got {' '.join(words)!r}")
        return values

    def _read_section(self) -> None:
        lines = self._lines
        title, _, comment = lines.next("a section").partition("#")
        name, line, rows = title.strip(), lines.number, []
        if name in self._sections:
            lines.fail(f"expected one section {name}, got a second one")
        if name not in ("Atoms", "Velocities", *_SKIPPED, *self._ignore):
            lines.fail(
                f"expected a section of spheres, Atoms or Velocities, got {name!r}; ignore=[{name!r}] leaves it out"
            )
        while not lines.ended and not lines.peek()[:1].isalpha():
            words = lines.next("a row").partition("#")[0].split()
            if words:
                rows.append((lines.number, words))
        self._sections[name] = rows, comment.strip(), line

    def _rows(self, name: str) -> Rows:
        """The rows of a section, as many as there are atoms."""
        rows, _, line = self._sections[name]
        if len(rows) != self._counts["atoms"]:
            self._lines.fail(f"expected {self._counts['atoms']} rows of {name}, got {len(rows)}", line)
        return rows

    def packing(self) -> Packing:
        """What the file holds; warns where nothing says its units."""
        lines = self._lines
        if "Atoms" not in self._sections:
            lines.fail("expected a section Atoms, got none")
        _, style, line = self._sections["Atoms"]
        if style and style.split()[0] != "sphere":
            lines.fail(f"expected Atoms of atom_style sphere, got {style!r}", line)
        rows = self._rows("Atoms")
        table = lines.table(self._with_numbered_types([self._without_images(*row) for row in rows]), ATOMS)
        at = np.array([number for number, _ in rows], np.int64)
        columns = dict(zip(ATOMS, table.T, strict=True))
        columns["radius"] = 0.5 * columns["diameter"]
        columns |= {name: np.zeros(len(rows)) for name in MOTION[1:]}
        if "Velocities" in self._sections:
            self._add_velocities(columns)
        too_high = np.flatnonzero(columns["type"] > self._counts["atom types"])
        if len(too_high):
            got = columns["type"][too_high[0]]
            lines.fail(f"expected type 1 .. {self._counts['atom types']}, got {got:g}", int(at[too_high[0]]))
        found = packing(lines, columns, at, self._scale, bounds=self._bounds * self._scale[0])
        if self._assumed:
            warn_assumed(lines)
        return found

    def _without_images(self, line: int, words: list[str]) -> tuple[int, list[str]]:
        """A row of Atoms without the numbers of its periodic image, which some rows have."""
        images = words[len(ATOMS) :]
        if len(images) != 3:
            return line, words
        if not all(image.lstrip("-").isdecimal() for image in images):
            self._lines.fail(f"expected image flags ix iy iz, whole numbers, got {' '.join(images)!r}", line)
        return line, words[: len(ATOMS)]

    def _with_numbered_types(self, rows: Rows) -> Rows:
        """Rows of Atoms whose types are numbers, where the file has names for them."""
        labels: dict[str, str] = {}
        for _, words in self._sections.get("Atom Type Labels", ([], "", 0))[0]:
            labels[words[-1]] = words[0]
        if not labels:
            return rows
        return [
            (line, [*words[:1], *(labels.get(word, word) for word in words[1:2]), *words[2:]]) for line, words in rows
        ]

    def _add_velocities(self, columns: dict[str, Floats]) -> None:
        rows = self._rows("Velocities")
        table = self._lines.table(rows, MOTION)
        places = {int(number): row for row, number in enumerate(columns["id"])}
        seen: set[int] = set()
        for (line, _), row in zip(rows, table, strict=True):
            number = int(row[0])
            if number not in places or number in seen:
                self._lines.fail(f"expected the id of an atom, each once, got {row[0]:g}", line)
            seen.add(number)
        target = [places[int(number)] for number in table[:, 0]]
        for column, name in enumerate(MOTION[1:], 1):
            columns[name][target] = table[:, column]
