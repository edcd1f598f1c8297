"""Files that are not what they claim: typed errors with the line."""

from __future__ import annotations

from pathlib import Path

import pytest

import granular_gym as gg
from granular_gym import exchange

# their units are not what is wrong with these files
pytestmark = pytest.mark.filterwarnings("ignore:.*names no units:UserWarning")

DATA = """title
# a comment
3 atoms
2 atom types

0 1 xlo xhi
0 1 ylo yhi
0 1 zlo zhi

Atoms # sphere

1 1 0.1 2500 0.5 0.5 0.5
3 2 0.2 2500 0.2 0.2 0.2 0 0 1
2 2 0.1 2500 0.7 0.7 0.7

Velocities

1 0 0 0 0 0 0
2 0 0 0 0 0 0
3 0 0 0 0 0 0
"""
DUMP = """ITEM: TIMESTEP
0
ITEM: NUMBER OF ATOMS
2
ITEM: BOX BOUNDS pp pp ff
0 1
0 1
0 1
ITEM: ATOMS id type x y z vx vy vz radius mass
1 1 0.5 0.5 0.5 0 0 0 0.1 1
2 1 0.2 0.2 0.2 0 0 0 0.1 1
"""


def refused(path: Path, text: str | bytes, said: str, **arguments: object) -> None:
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    with pytest.raises(gg.ExchangeError, match=said) as caught:
        exchange.read_lammps(path, **arguments)  # type: ignore[arg-type]
    assert str(caught.value).startswith(str(path)) and isinstance(caught.value, gg.ArgumentError)


DATA_FAULTS = [
    ("3 atoms", "4 atoms", "line 10: expected 4 rows of Atoms, got 3"),
    ("3 atoms", "three atoms", "line 2: expected a line of atoms in the header, got none before 'three atoms'"),
    ("3 atoms", "-3 atoms", "line 3: expected a whole number of atoms, got '-3'"),
    ("3 atoms\n", "", "line 8: expected a line of atoms in the header, got none before 'Atoms # sphere'"),
    ("2 atom types\n", "", "expected a line of atom types in the header"),
    ("2 atom types", "2 atom tipes", "line 4: expected a line of the header"),
    ("2 atom types", "1 atom types", r"line 13: expected type 1 \.\. 1, got 2"),
    ("2 atom types", "2 atom types\n5 bonds", "line 5: expected no bonds"),
    ("2 atom types", "2 atom types\n3 ellipsoids", "line 5: expected no ellipsoids"),
    ("0 1 ylo yhi\n", "", "expected a line of ylo yhi in the header"),
    ("0 1 ylo yhi", "1 0 ylo yhi", "line 7: expected ylo below yhi, got 1 and 0"),
    ("0 1 ylo yhi", "0 nan ylo yhi", "line 7: expected 2 finite numbers before ylo yhi"),
    ("0 1 zlo zhi", "0 1 zlo zhi\n0.1 0 0 xy xz yz", "line 9: expected a box along the axes, got one with xy xz yz"),
    ("0 1 zlo zhi", "0 1 zlo zhi\n1 0 0 avec", "line 9: expected a box along the axes"),
    ("# sphere", "# atomic", "line 10: expected Atoms of atom_style sphere, got 'atomic'"),
    ("# sphere", "# hybrid sphere bond", "line 10: expected Atoms of atom_style sphere"),
    ("Atoms # sphere", "Atom", "line 10: expected a section of spheres, Atoms or Velocities, got 'Atom'"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 0.1 2500 0.5 0.5", "line 12: expected 7 columns, .*, got 6"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 0.1 2500 0.5 0.5 0.5 0 0", "line 12: expected 7 columns, .*, got 9"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 -0.1 2500 0.5 0.5 0.5", "line 12: expected radius > 0, got -0.05"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 0.1 0 0.5 0.5 0.5", "line 12: expected density > 0, got 0"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 0.1 2500 nan 0.5 0.5", "line 12: expected a finite number for x, got 'nan'"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 1 0.1 2500 0.5 1e999 0.5", "line 12: expected a finite number for y, got '1e999'"),
    (
        "1 1 0.1 2500 0.5 0.5 0.5",
        "1 1 big 2500 0.5 0.5 0.5",
        "line 12: expected a finite number for diameter, got 'big'",
    ),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1.5 1 0.1 2500 0.5 0.5 0.5", "line 12: expected id whole, >= 1, got 1.5"),
    ("1 1 0.1 2500 0.5 0.5 0.5", "1 0 0.1 2500 0.5 0.5 0.5", "line 12: expected type whole, >= 1, got 0"),
    ("2 2 0.1", "1 2 0.1", "line 14: expected ids that differ, got 1 again|line 19: expected the id of an atom"),
    ("0.2 0 0 1", "0.2 0 0 a", "line 13: expected image flags ix iy iz, whole numbers, got '0 0 a'"),
    ("2 0 0 0 0 0 0\n", "", "line 16: expected 3 rows of Velocities, got 2"),
    ("2 0 0 0 0 0 0", "2 0 0 0", "line 19: expected 7 columns, .*, got 4"),
    ("2 0 0 0 0 0 0", "4 0 0 0 0 0 0", "line 19: expected the id of an atom, each once, got 4"),
    ("2 0 0 0 0 0 0", "1 0 0 0 0 0 0", "line 19: expected the id of an atom, each once, got 1"),
    ("2 0 0 0 0 0 0", "2 0 inf 0 0 0 0", "line 19: expected a finite number for vy, got 'inf'"),
    ("Velocities", "Molecules", r"got 'Molecules'; ignore=\['Molecules'\] leaves it out"),
    ("Velocities", "Atoms", "line 16: expected one section Atoms, got a second one"),
]


@pytest.mark.parametrize(("old", "new", "said"), DATA_FAULTS)
def test_a_data_file_with_a_fault(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in DATA
    refused(tmp_path / "a.data", DATA.replace(old, new), said)


DUMP_FAULTS = [
    ("NUMBER OF ATOMS\n2", "NUMBER OF ATOMS\n3", "line 11: expected 3 rows of .*, the file ends after 2"),
    ("NUMBER OF ATOMS\n2", "NUMBER OF ATOMS\n1", "line 11: expected an ITEM of a text dump, got '2 1 0.2"),
    ("NUMBER OF ATOMS\n2", "NUMBER OF ATOMS\n-2", "line 4: expected a number of atoms, a whole number >= 0, got '-2'"),
    ("TIMESTEP\n0", "TIMESTEP\nx", "line 2: expected a time step, a whole number"),
    ("ITEM: TIMESTEP\n0\n", "", "line 7: expected ITEM: TIMESTEP, NUMBER OF ATOMS and BOX BOUNDS before"),
    ("BOUNDS pp pp ff", "BOUNDS xy xz yz pp pp ff", "line 5: expected a box along the axes, got a tilted one"),
    ("BOUNDS pp pp ff", "BOUNDS abc origin pp pp ff", "line 5: expected a box along the axes"),
    ("BOUNDS pp pp ff", "BOUNDS p p f", "line 5: expected boundaries such as pp ff fm, got 'p p f'"),
    ("pp ff\n0 1\n", "pp ff\n0 1 0.5\n", "line 6: expected xlo and xhi, got '0 1 0.5'"),
    ("pp ff\n0 1\n", "pp ff\n0 0\n", "line 6: expected xlo below xhi"),
    ("id type x y z", "nr type x y z", "line 9: expected a column id, got columns nr type x"),
    ("id type x y z", "id type x y w", "line 9: expected columns x y z, xu yu zu, xs ys zs"),
    ("id type x y z", "id id x y z", "line 9: expected columns that differ"),
    ("\n2 1 0.2", "\n2 5e9 0.2", "line 11: expected type whole, >= 1, got 5e"),
    ("vx vy vz", "vx vy fz", "line 9: expected all of columns vx vy vz"),
    ("radius mass", "c_1 mass", "line 9: expected a column radius or diameter, or the argument radius"),
    ("radius mass", "radius q", "line 9: expected a column density or mass, or the argument density"),
    ("0 0 0 0.1 1\n2", "0 0 0 0.1\n2", "line 10: expected 10 columns, .*, got 9"),
    ("0 0 0 0.1 1\n2", "0 0 0 -0.1 1\n2", "line 10: expected radius > 0, got -0.1"),
    ("0 0 0 0.1 1\n2", "0 0 nan 0.1 1\n2", "line 10: expected a finite number for vz, got 'nan'"),
    ("\n2 1 0.2", "\n1 1 0.2", "line 11: expected ids that differ, got 1 again"),
    ("ITEM: TIMESTEP", "ITEM: UNITS\nmetal\nITEM: TIMESTEP", "expected units si or cgs, got 'metal'"),
]


@pytest.mark.parametrize(("old", "new", "said"), DUMP_FAULTS)
def test_a_dump_with_a_fault(old: str, new: str, said: str, tmp_path: Path) -> None:
    assert old in DUMP
    refused(tmp_path / "a.dump", DUMP.replace(old, new, 1), said)


def test_without_a_fault_they_are_read(tmp_path: Path) -> None:
    (tmp_path / "a").write_text(DATA)
    assert exchange.read_lammps(tmp_path / "a").types.tolist() == [1, 2, 2]
    labels = DATA.replace("Atoms # sphere", "Atom Type Labels\n\n1 sand\n2 rock\n\nAtoms # sphere")
    (tmp_path / "a").write_text(labels.replace("1 1 0.1", "1 sand 0.1").replace("3 2 0.2", "3 rock 0.2"))
    assert exchange.read_lammps(tmp_path / "a").types.tolist() == [1, 2, 2]
    (tmp_path / "a").write_text(DATA.replace("Velocities", "Molecules"))
    assert len(exchange.read_lammps(tmp_path / "a", ignore=["Molecules"])) == 3
    (tmp_path / "a").write_text(DUMP + DUMP)
    assert len(exchange.read_lammps_dump(tmp_path / "a")) == 2
    with pytest.raises(gg.ExchangeError, match="line 9: radius: expected None, the dump has a column radius"):
        exchange.read_lammps(tmp_path / "a", radius=0.1)


@pytest.mark.parametrize("whole", [DATA, DUMP + DUMP])
def test_a_file_cut_short_anywhere_is_an_error_or_whole(whole: str, tmp_path: Path) -> None:
    """No cut gives fewer grains in silence; a cut within the last number cannot be told."""
    path = tmp_path / "a"
    last = whole.rindex(" ", 0, len(whole)) + 2
    for end in range(last):
        path.write_text(whole[:end])
        try:
            if whole is DATA:
                assert len(exchange.read_lammps(path)) == 3, end
                # the section Velocities, which may be missing, is all that was cut
                assert end <= DATA.index("Velocities") or end >= len(DATA) - 2, end
            else:
                assert len(exchange.read_lammps_dump(path)) == 1
                assert end in (len(DUMP), len(DUMP) - 1), end
        except gg.ExchangeError:
            pass


@pytest.mark.parametrize(
    "content", [b"", b"\n\n\n", b"\x89PNG\r\n\x1a\n\xff\xfe", b"solid x\nfacet normal 0 0 0\n", b"ITEM: "]
)
def test_a_file_of_another_kind(content: bytes, tmp_path: Path) -> None:
    refused(tmp_path / "a", content, "expected")
    with pytest.raises(gg.ExchangeError):
        exchange.read_lammps_dump(tmp_path / "a")


def test_arguments(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        exchange.read_lammps(tmp_path / "none")
    (tmp_path / "a").write_text(DATA)
    for arguments, said in (
        ({"radius": 0.1}, "radius: expected None with a data file"),
        ({"units": "metric"}, "units: expected one of 'si', 'cgs'"),
        ({"frame": 3}, "frame: expected"),
        ({"ignore": "Velocities"}, "ignore: expected a list of names"),
    ):
        with pytest.raises(gg.ArgumentError, match=said):
            exchange.read_lammps(tmp_path / "a", **arguments)
    (tmp_path / "a").write_text(DUMP)
    for arguments, said in (({"radius": -1}, "radius: expected"), ({"density": "x"}, "density: expected")):
        with pytest.raises(gg.ArgumentError, match=said):
            exchange.read_lammps(tmp_path / "a", **arguments)
    with pytest.raises(gg.ArgumentError, match="path: expected a path"):
        exchange.read_lammps(3)  # type: ignore[arg-type]
