"""LAMMPS: packings to files and back, by our own writers and by LAMMPS itself."""

from __future__ import annotations

import re
import shutil
import subprocess
import warnings
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import exchange

CONTACT = {
    "law": "hooke",
    "stiffness": 1e5,
    "tangential_stiffness": 2.86e4,
    "damping": 50.0,
    "tangential_damping": 25.0,
    "dt": 2e-5,
}


def same_grains(packing: exchange.Packing, world: gg.World) -> None:
    """To the bit, in single precision."""
    assert packing.ids.tolist() == list(range(1, world.grain_count + 1))
    assert np.array_equal(packing.types, world.grain_materials[0] + 1)
    for name, wanted in (
        ("positions", world.positions[0]),
        ("radii", world.radii[0]),
        ("velocities", world.velocities[0]),
        ("angular_velocities", world.angular_velocities[0]),
        ("densities", world.materials[1][0][world.grain_materials[0]]),
    ):
        assert np.array_equal(getattr(packing, name).astype(np.float32), wanted), name


def test_a_data_file_comes_back_to_the_bit(mixed: gg.World, tmp_path: Path) -> None:
    exchange.write_lammps(tmp_path / "a.data", mixed)
    packing = exchange.read_lammps(tmp_path / "a.data")
    same_grains(packing, mixed)
    assert np.abs(packing.angular_velocities).max() > 0.0 and packing.boundary == {}
    scene = packing.scene({1: {"friction": 0.3}}, boundary={"x": "periodic"})
    assert [m.name for m in scene.materials] == ["type1", "type2"] and scene.materials[0].friction == 0.3
    with scene.build(device="cpu", num_threads=1) as world:
        order = packing.order
        assert np.array_equal(world.positions[0], mixed.positions[0][order])
        assert np.array_equal(world.velocities[0], mixed.velocities[0][order])
        assert np.array_equal(world.radii[0], mixed.radii[0][order])
        assert np.allclose(world.grain_masses[0], mixed.grain_masses[0][order], rtol=1e-6)
        assert np.array_equal(world._frozen.arrays["boundary"], mixed._frozen.arrays["boundary"])
        assert np.array_equal(world._frozen.arrays["upper"], mixed._frozen.arrays["upper"])
        world.set_grains(angular_velocities=packing.angular_velocities[order])
        assert np.array_equal(world.angular_velocities[0], mixed.angular_velocities[0][order])
        # grains of one material follow each other, whatever order they had
        assert (np.diff(world.grain_materials[0]) >= 0).all() and (np.diff(mixed.grain_materials[0]) < 0).any()


def test_a_dump_comes_back_to_the_bit(tmp_path: Path) -> None:
    scene = gg.Scene(((-1, -1, 0), (1, 1, 2)), boundary={"x": "periodic", "y": "open"})
    scene.add_grains(scene.add_material(density=1234.567, radius=0.1), [[0.1, 0.2, 0.5], [0, 0.5, 0.2]], [0.1, 0.07])
    world = scene.build(device="cpu", num_threads=1)
    world.set_grains(velocities=[[0.123, 20.0, 0.3], [0, 0, 0]], angular_velocities=[[1, 2, 3], [0, 0, 0.1]])
    with exchange.LammpsDump(tmp_path / "a.dump", world) as dump:
        dump.add(0.0)
        world.step(dt=1e-3, substeps=100)
        dump.add(0.1)
        with pytest.raises(gg.ArgumentError, match=r"time: expected above 0\.1 s"):
            dump.add(0.1)
    frames = exchange.read_lammps_dump(tmp_path / "a.dump")
    assert [frame.time for frame in frames] == [0.0, 0.1] and [frame.step for frame in frames] == [0, 1]
    same_grains(frames[1], world)
    assert frames[1].boundary == {"x": "periodic"}
    # one has left through the open face: the box of the file holds it, that of the frame before did not need to
    assert frames[1].bounds[1, 1] == pytest.approx(world.positions[0, 0, 1]) and frames[0].bounds[1, 1] == 1.0
    assert exchange.read_lammps(tmp_path / "a.dump", frame=0).time == 0.0
    assert exchange.read_lammps(tmp_path / "a.dump").time == 0.1
    with pytest.raises(gg.ArgumentError, match=r"frame: expected an integer in -2 \.\. 1, got 2"):
        exchange.read_lammps(tmp_path / "a.dump", frame=2)
    with pytest.raises(gg.ClosedError, match="dump is closed"):
        dump.add(1.0)


def test_clumps_and_particles_go_to_dumps_with_their_mass(clumped: gg.World, dough: gg.World, tmp_path: Path) -> None:
    for world in (clumped, dough):
        with exchange.LammpsDump(tmp_path / "a.dump", world) as dump:
            dump.add(0.0)
        found = exchange.read_lammps(tmp_path / "a.dump")
        masses = found.densities * 4.0 / 3.0 * np.pi * found.radii**3
        assert np.allclose(masses, world.grain_masses[0], rtol=1e-6)


@pytest.mark.parametrize("places", ["x y z", "xs ys zs", "xu yu zu", "xsu ysu zsu"])
def test_places_of_a_dump(places: str, tmp_path: Path) -> None:
    low, high = np.array([-1.0, 2.0, 0.0]), np.array([3.0, 4.0, 5.0])
    points = np.array([[0.5, 3.0, 0.25], [4.5, 3.5, 1.0] if "u" in places else [0.5, 3.5, 1.0]])
    shown = (points - low) / (high - low) if "s" in places else points
    rows = [f"{2 - k} sand 9 {' '.join(map(repr, map(float, row)))} 0.4" for k, row in enumerate(shown)]
    box = "\n".join(f"{a} {b}" for a, b in zip(low, high, strict=True))
    (tmp_path / "a.dump").write_text(
        f"ITEM: TIMESTEP\n70\nITEM: NUMBER OF ATOMS\n2\nITEM: BOX BOUNDS pp ff fm\n{box}\n"
        f"ITEM: ATOMS id element q {places} diameter\n" + "\n".join(rows) + "\n"
    )
    packing = exchange.read_lammps(tmp_path / "a.dump", density=2500.0, units="si")
    assert np.allclose(packing.positions, points[::-1]) and packing.ids.tolist() == [1, 2]
    assert packing.radii.tolist() == [0.2, 0.2] and packing.step == 70 and packing.time is None
    # beyond the periodic face: carried to the other one
    scene = packing.scene()
    with scene.build(device="cpu", num_threads=1) as world:
        assert np.allclose(world.positions[0, 0], [0.5, 3.5, 1.0]) and world.grain_masses[0, 0] > 0.0


def test_densities_from_numbers_of_few_digits_are_one(tmp_path: Path) -> None:
    """LAMMPS writes six digits by default: radii and masses of one density then give hundreds of them."""
    draw = np.random.default_rng(0)
    radii = draw.uniform(0.005, 0.01, 400)
    densities = np.where(draw.random(400) < 0.5, 2500.0, 2501.0)
    masses = densities * 4.0 / 3.0 * np.pi * radii**3
    rows = [f"{k + 1} 1 0 0 {0.03 * k:g} {radii[k]:g} {masses[k]:g}" for k in range(400)]
    head = (
        "ITEM: UNITS\nsi\nITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n400\nITEM: BOX BOUNDS ff ff ff\n-1 1\n-1 1\n-1 13\n"
    )
    (tmp_path / "a.dump").write_text(head + "ITEM: ATOMS id type x y z radius mass\n" + "\n".join(rows) + "\n")
    packing = exchange.read_lammps(tmp_path / "a.dump")
    assert packing.densities == pytest.approx(densities, rel=2e-6)
    assert len(packing.scene().materials) == len(np.unique(packing.densities)) == 2


def test_units(tmp_path: Path) -> None:
    text = (
        "LAMMPS data file, units = cgs\n\n1 atoms\n1 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\n"
        "Atoms # sphere\n\n1 1 2.0 2.5 1 2 3 0 0 0 # one\n\nVelocities\n\n1 10 20 30 1 2 3\n"
    )
    (tmp_path / "a").write_text(text)
    one = exchange.read_lammps(tmp_path / "a")
    assert one.radii[0] == pytest.approx(0.01) and one.densities[0] == pytest.approx(2500.0)
    assert np.allclose(one.positions, [[0.01, 0.02, 0.03]]) and np.allclose(one.velocities, [[0.1, 0.2, 0.3]])
    assert one.angular_velocities.tolist() == [[1, 2, 3]] and np.allclose(one.bounds[1], 0.1)
    assert exchange.read_lammps(tmp_path / "a", units="si").radii[0] == 1.0
    (tmp_path / "a").write_text(text.replace("cgs", "lj"))
    with pytest.raises(gg.ExchangeError, match="line 1: expected units si or cgs, got 'lj'"):
        exchange.read_lammps(tmp_path / "a")
    assert exchange.read_lammps(tmp_path / "a", units="si").densities[0] == 2.5


def test_a_file_that_names_no_units_is_read_as_si_with_a_warning(tmp_path: Path) -> None:
    data = (
        "title\n\n1 atoms\n1 atom types\n0 10 xlo xhi\n0 10 ylo yhi\n0 10 zlo zhi\n\n"
        "Atoms # sphere\n\n1 1 2 2.5 1 2 3\n"
    )
    dump = (
        "ITEM: TIMESTEP\n0\nITEM: NUMBER OF ATOMS\n1\nITEM: BOX BOUNDS ff ff ff\n0 10\n0 10\n0 10\n"
        "ITEM: ATOMS id type x y z radius density\n1 1 1 2 3 1 2.5\n"
    )
    path = tmp_path / "a"
    said = re.escape(f"{path}: the file names no units, si is assumed") + ".*units='cgs' reads"
    for text, named, reads in (
        (data, data.replace("title", "title, units = cgs"), [exchange.read_lammps]),
        (dump + dump, f"ITEM: UNITS\ncgs\n{dump}{dump}", [exchange.read_lammps, exchange.read_lammps_dump]),
    ):
        for read in reads:
            path.write_text(text)
            with pytest.warns(UserWarning, match=said) as caught:
                read(path)
            assert len(caught) == 1 and caught[0].filename == __file__, "once, and where it is called"
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                read(path, units="si")
                read(path, units="cgs")
                path.write_text(named)
                read(path)


def test_materials_of_a_packing(mixed: gg.World, tmp_path: Path) -> None:
    exchange.write_lammps(tmp_path / "a.data", mixed)
    packing = exchange.read_lammps(tmp_path / "a.data")
    for materials, said in (
        ({3: {}}, "materials: type: expected one of 1, 2, got 3"),
        ({1: {"density": 1.0}}, r"materials\[1\]: expected no density"),
        ({1: {"frction": 1.0}}, r"materials\[1\]: .*frction"),
        ({1: 3}, r"materials\[1\]: expected a dict, got 3"),
        (["sand"], r"materials: expected a dict, got \['sand'\]"),
    ):
        with pytest.raises(gg.ArgumentError, match=said):
            packing.scene(materials)
    packing.densities[0] = 700.0
    assert [m.name for m in packing.scene().materials] == ["type1_700", "type1_2000.09998", "type2"]
    packing.densities[:] = np.linspace(1000, 2000, len(packing)).repeat(1)
    assert len(packing.scene().materials) == len(packing) <= 256


def test_what_lammps_cannot_hold_is_refused(
    clumped: gg.World, planar: gg.World, dough: gg.World, tooled: gg.World, tmp_path: Path
) -> None:
    for world, said in ((clumped, "clumps"), (planar, "shapes in the plane"), (dough, "continuous matter")):
        with pytest.raises(gg.ArgumentError, match=f"world: expected lone spheres, .* {said}"):
            exchange.write_lammps(tmp_path / "a.data", world)
    with pytest.raises(gg.ArgumentError, match="shapes in the plane"):
        exchange.LammpsDump(tmp_path / "a.dump", planar)
    assert not list(tmp_path.iterdir())
    with pytest.raises(gg.ArgumentError, match="world: expected one without tools, .*, got 2; without_tools=True"):
        exchange.lammps_input(tooled, data="a.data", steps=1, **CONTACT)
    for wrong, said in (
        ({"law": "hook"}, "did you mean 'hooke'"),
        ({"stiffness": 0.0}, "stiffness: expected"),
        ({"data": "a b"}, "data: expected letters"),
        ({"dump": "a\nshell rm"}, "dump: expected letters"),
        ({"steps": -1}, "steps: expected"),
    ):
        with pytest.raises(gg.ArgumentError, match=said):
            exchange.lammps_input(tooled, **{"data": "a", "steps": 1, "without_tools": True, **CONTACT, **wrong})


def test_a_world_gone_wrong_is_not_written(mixed: gg.World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lost = mixed.velocities
    lost[0, 7, 1] = np.nan
    monkeypatch.setattr(gg.World, "velocities", lost)
    with pytest.raises(
        gg.ArgumentError, match="expected finite velocity, that of grain 7 is not; has the env diverged"
    ):
        exchange.write_lammps(tmp_path / "a.data", mixed)
    assert not list(tmp_path.iterdir())


def lammps(folder: Path, script: str) -> None:
    """Runs LAMMPS; a test is skipped where it is missing or does not start."""
    program = shutil.which("lmp") or shutil.which("lmp_serial")
    if program is None or subprocess.run([program, "-h"], capture_output=True, check=False).returncode:
        pytest.skip("LAMMPS (lmp) does not run here")
    (folder / "in.run").write_text(script)
    done = subprocess.run([program, "-in", "in.run"], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "WARNING" not in done.stdout, done.stdout[-2000:] + done.stderr[-500:]


def test_lammps_reads_what_we_write_and_we_what_it_writes(mixed: gg.World, tmp_path: Path) -> None:
    exchange.write_lammps(tmp_path / "a.data", mixed)
    script = exchange.lammps_input(mixed, data="a.data", dump="a.dump", steps=0, **CONTACT)
    lammps(tmp_path, script + "write_data back.data\n")
    data, dump = (exchange.read_lammps(tmp_path / name) for name in ("back.data", "a.dump"))
    for found in (data, dump):
        same_grains(found, mixed)
        assert np.array_equal(
            found.bounds.astype(np.float32), np.array([[-0.1, -0.1, 0.0], [0.1, 0.1, 0.4]], np.float32)
        )
    assert dump.boundary == {"x": "periodic"} and dump.time == 0.0
    # carried on by LAMMPS, back into a world
    again = exchange.lammps_input(mixed, data="a.data", dump="b.dump", dump_every=500, steps=2000, **CONTACT)
    lammps(tmp_path, again)
    frames = exchange.read_lammps_dump(tmp_path / "b.dump")
    assert [frame.step for frame in frames] == [0, 500, 1000, 1500, 2000]
    assert frames[-1].time == pytest.approx(0.04) and len(frames[-1]) == mixed.grain_count
    with frames[-1].scene().build(device="cpu", num_threads=1) as world:
        # the sand lies as it lay: 40 ms of LAMMPS moved no grain that lay by more than a tenth of a radius
        lay = np.linalg.norm(mixed.velocities[0], axis=1)[frames[-1].order] < 0.01
        moved = np.abs(world.positions[0, :, 2] - mixed.positions[0, frames[-1].order, 2])
        assert lay.sum() > 20 and np.median(moved[lay]) < 1.3e-3


@pytest.mark.parametrize("law", ["hooke", "hertz"])
def test_a_grain_falls_alike_in_lammps(law: str, tmp_path: Path) -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)), gravity=(0.6, 0.0, -3.0))
    scene.add_grains(scene.add_material(density=2500.0, radius=0.05), [[0.3, 0.5, 0.5]], velocities=[[0.1, 0.2, 0.0]])
    with scene.build(device="cpu", num_threads=1) as world:
        exchange.write_lammps(tmp_path / "a.data", world)
        stiff = {"stiffness": 1e8, "tangential_stiffness": 1e8} if law == "hertz" else {}
        values = {**CONTACT, "law": law, "damping": 0.0, "tangential_damping": 0.0, **stiff}
        script = exchange.lammps_input(world, data="a.data", dump="a.dump", steps=10_000, dump_every=10_000, **values)
        lammps(tmp_path, script)
    end = exchange.read_lammps_dump(tmp_path / "a.dump")[-1]
    assert np.allclose(end.positions[0], [0.3 + 0.02 + 0.3 * 0.04, 0.54, 0.5 - 1.5 * 0.04], atol=1e-5)
    assert np.allclose(end.velocities[0], [0.22, 0.2, -0.6], atol=1e-5)
