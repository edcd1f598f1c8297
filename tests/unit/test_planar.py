"""Planar scenes: valid and invalid arguments, and files of experiments."""

import json
import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.engine import planar
from granular_gym.exchange.snapshot import grain_fields
from granular_gym.viewing.clump_runs import ClumpRun
from granular_gym.viewing.matter_runs import MatterRun
from granular_gym.viewing.scene_runs import SCENES, load_scene
from testbed import planar as planar_scenes

SHAPE = gg.Shape2D.octagon(0.1)


def scene() -> gg.Scene:
    made = gg.Scene(bounds=((0, 0), (1, 2)))
    made.add_material(density=1000.0, friction=0.4, shape=SHAPE)
    made.set_pair_field(gg.PairField.build(SHAPE, SHAPE, **planar_scenes.COARSE))
    return made


@pytest.mark.parametrize(
    "wrong, words",
    [
        (lambda s: s.add_material(density=1.0, shape="octagon"), "shape: expected a Shape2D"),
        (lambda s: s.add_material(density=1.0, shape=SHAPE, radius=0.1), "radius: a grain with a shape"),
        (lambda s: s.add_material(density=1.0, fixed=True), "fixed: expected a shape"),
        (lambda s: s.add_material(density=1.0, shape=SHAPE, rolling_friction=0.1), "rolling_friction"),
        (lambda s: s.add_material(density=1.0, shape=SHAPE, cohesion=1.0, cohesion_range=0.1), "cohesion"),
        (lambda s: s.add_grains(0, [(0.5, 0.5, 0.0)]), "positions: expected shape"),
        (lambda s: s.add_grains(0, [(0.5, math.nan)]), "positions: expected"),
        (lambda s: s.add_grains(0, [(0.5, 0.5)], radius=0.1), "no radius"),
        (lambda s: s.add_grains(0, [(0.5, 0.5)], angles=[0.0, 1.0]), "angles: expected shape"),
        (lambda s: s.add_grains(s.add_material(density=1.0), [(0.5, 0.5)]), "expected one with a shape"),
        (lambda s: s.fill_box(0, (0, 0), (1, 1), count=1000), "count: expected at most"),
        (lambda s: s.set_pair_field("cubic"), "field: expected a PairField"),
        (lambda s: gg.Scene(bounds=((0, 0), (1, 1)), boundary={"z": "wall"}), "boundary: axis"),
        (lambda s: gg.Scene(bounds=((0, 0), (1, 1)), gravity=(0, 0, -9.81)), "gravity"),
        (lambda s: gg.Scene(bounds=((0, 0), (1, 1))).build(), "a planar scene needs one with a shape"),
        (
            lambda s: gg.Scene(bounds=((0, 0, 0), (1, 1, 1))).add_material(density=1.0, shape=SHAPE),
            "expected a Clump or None in space",
        ),
        (lambda s: s.build(device="cpu", solver=gg.Solver(mode="paper")), "solver.mode"),
        (lambda s: s.build(device="cpu", solver=gg.Solver(spin=False)), "solver.spin"),
        (lambda s: gg.Solver(mode="penalty"), "stiffness: expected a value > 0"),
        (lambda s: gg.Solver(mode="penalty", stiffness=-1.0), "stiffness: expected"),
        (lambda s: gg.Solver(mode="penalty", stiffness=1e5, damping=1.5), "damping: expected a share"),
        (lambda s: gg.Solver(mode="penalty", stiffness=1e5, tangential_stiffness=2.0), "tangential_stiffness"),
        (lambda s: gg.Solver(mode="penalty", stiffness=1e5, tangential_damping=math.nan), "tangential_damping"),
        (lambda s: gg.Solver(mode="penalty", stiffness=1e5, nesterov=True), "nesterov"),
        (lambda s: s.build(device="cpu", solver=gg.Solver(broad_phase="linked_hash")), "solver.broad_phase"),
    ],
)
def test_refused(wrong, words):
    made = scene()
    made.fill_box(0, (0, 0), (1, 1), count=2)
    with pytest.raises(gg.ArgumentError, match=words.replace("(", r"\(")):
        wrong(made)


def test_penalty_steps_are_bounded():
    """An unstable step is refused, one that is unstable in piles gives a warning, each with its numbers."""
    made = scene()
    made.fill_box(0, (0, 0), (1, 1), count=2)
    mass = 1000.0 * SHAPE.area
    solver = gg.Solver(mode="penalty", stiffness=1e6 * mass, damping=0.5)
    world = made.build(device="cpu", num_threads=1, solver=solver)
    # 2 sqrt(m / k) (sqrt(1 + zeta^2) - zeta) with sqrt(m / k) = 1 ms
    bound = 2e-3 * (math.sqrt(1.25) - 0.5)
    with pytest.raises(gg.ArgumentError, match=rf"dt: expected less than {bound:.4g}.* got 0.00125"):
        world.step(1.25e-3)
    with pytest.warns(gg.StabilityWarning, match=r"dt 0.0004 s with stiffness .* above 0.0003 s"):
        world.step(4e-4)
    # lighter grains need shorter steps
    world.set_density(0, 250.0)
    with pytest.raises(gg.ArgumentError, match="dt: expected less than"):
        world.step(6.5e-4)


def test_stiffness_of_large_grains():
    assert gg.Solver(mode="penalty", stiffness=1e12).stiffness == 1e12
    with pytest.raises(gg.ArgumentError, match="stiffness"):
        gg.Solver(mode="penalty", stiffness=1e16)


def test_penalty_is_for_planar_grains():
    made = gg.Scene(bounds=((0, 0, 0), (1, 1, 1)))
    made.add_material(density=1000.0, radius=0.1)
    with pytest.raises(gg.ArgumentError, match=r"solver.mode: penalty"):
        made.build(device="cpu", solver=gg.Solver(mode="penalty", stiffness=1e5))


def test_penalty_reads_no_restitution():
    made = planar_scenes.free_scene()
    bouncy = made.add_material(density=1000.0, restitution=0.5, shape=SHAPE)
    made.set_pair_field(gg.PairField.build(SHAPE, SHAPE, **planar_scenes.COARSE))
    made.add_grains(bouncy, [(0, 0), (1, 0), (2, 0)])
    with pytest.warns(gg.StabilityWarning, match=r"restitution 0.5 is not read"):
        made.build(device="cpu", solver=gg.Solver(mode="penalty", stiffness=1e5))


def test_drag_is_refused():
    made = scene()
    made.air = gg.Air()
    with pytest.raises(gg.ArgumentError, match="air"):
        made.build(device="cpu")


def test_world_of_shapes():
    made = scene()
    made.add_grains(0, [(0.3, 0.5), (0.7, 0.5)], velocities=[(0.1, 0.0), (0.0, 0.0)], angles=[4.0, -0.5])
    world = made.build(device="cpu", num_threads=1)
    assert world.planar
    assert world.angles[0] == pytest.approx([4.0 - 2 * math.pi, -0.5], abs=1e-6)
    assert world.radii[0] == pytest.approx([0.1, 0.1])
    assert world.positions[0].tolist() == pytest.approx(np.array([[0.3, 0.5, 0.0], [0.7, 0.5, 0.0]]))
    world.set_grains(angles=[1.0, 2.0], angular_velocities=[[0, 0, 3.0], [0, 0, 0]])
    assert world.angles[0] == pytest.approx([1.0, 2.0])
    assert world.angular_velocities[0, 0].tolist() == pytest.approx([0.0, 0.0, 3.0])
    with pytest.raises(gg.ArgumentError, match="z = 0"):
        world.set_grains(positions=[[0.3, 0.5, 0.1], [0.7, 0.5, 0.0]])
    world.transform_grains((0.1, 0.0, 0.0), 0.5)
    assert world.angles[0] == pytest.approx([1.5, 2.5])
    before = world.angles
    world.step(1e-3, 100)
    assert world.angles[0, 0] - before[0, 0] == pytest.approx(0.3, abs=1e-4)


def test_masses_are_of_areas():
    shapes = gg.Shape2D.hash(0.2), SHAPE
    made = gg.Scene(bounds=((0, 0), (2, 2)))
    for density, shape in zip((1000.0, 500.0), shapes, strict=True):
        made.add_material(density=density, shape=shape)
    made.add_material(density=7800.0, name="steel")
    for material, x in ((1, 0.3), (0, 1.0), (1, 1.7)):
        made.add_grains(material, [(x, 1.0)])
    with made.build(env_count=2, device="cpu") as world:
        world.set_density(1, 800.0, envs=1)
        areas = np.array([shapes[1].area, shapes[0].area, shapes[1].area])
        assert world.grain_masses == pytest.approx(areas * [[500.0, 1000.0, 500.0], [800.0, 1000.0, 800.0]])
        assert (grain_fields(world, 1)["mass"] == world.grain_masses[1]).all()


def test_spheres_have_no_angles():
    made = gg.Scene(bounds=((0, 0, 0), (1, 1, 1)))
    made.add_material(density=1000.0, radius=0.1)
    world = made.build(device="cpu")
    assert not world.planar
    with pytest.raises(gg.ArgumentError, match="angle"):
        _ = world.angles
    with pytest.raises(gg.ArgumentError, match="angle"):
        world.set_grains(angles=np.zeros((1, 0)))


def test_outline_points():
    """Corners are marked, points lie close together, and lists of neighbours are correct."""
    points, integers = planar.outline_points(gg.Shape2D.hash(1.0))
    # 8 tips of two convex corners; the hole and the reentrant ones have none
    assert int((integers[:, 2] == 1).sum()) == 16
    gap = np.linalg.norm(points[integers[:, 1]] - points, axis=1)
    assert gap.max() <= 0.15 + 1e-6
    assert (integers[integers[:, 1], 0] == np.arange(len(points))).all()


@pytest.mark.parametrize("shape, exact", [(gg.Shape2D.block(2.0, 0.3), 0.3), (gg.Shape2D.arc(1.0, 1.0, 0.2), 0.2)])
def test_thickness(shape, exact):
    assert planar.thickness(shape) == pytest.approx(exact, rel=0.05)


def test_pictures_show_prisms():
    """From above, a pixel sees a grain exactly where its centre lies in the outline."""
    made = scene()
    made.add_grains(0, [(0.5, 0.5)], angles=0.3)
    camera = gg.DepthCamera.orthographic(
        height=40, width=40, extent=0.15, position=(0.5, 0.5, 1), target=(0.5, 0.5, 0), up=(0, 1, 0), near=0.1, far=2.0
    )
    made.add_camera(camera, name="top")
    depth = made.build(device="cpu").depth("top")[0]
    row, column = np.mgrid[:40, :40]
    x, y = ((column + 0.5) / 20 - 1) * 0.15, (1 - (row + 0.5) / 20) * 0.15
    turned = (x + 1j * y) * np.exp(-0.3j)
    # a point is in an octagon if it is inside all eight faces
    faces = np.exp(1j * np.arange(8) * math.pi / 4)
    inside = (np.real(turned[..., None] * faces.conj()) < 0.1 * math.cos(math.pi / 8)).all(axis=-1)
    np.testing.assert_array_equal(depth < 2.0, inside)
    assert depth[20, 20] == pytest.approx(1.0 - 0.4 * 0.1, abs=1e-6)


def test_scene_command(tmp_path):
    assert main(["scene", "incline", "--no-film", "--threads", "1", "--out", str(tmp_path)]) == 0
    report = json.loads((tmp_path / "report.json").read_text())
    assert [check["passed"] for check in report["checks"]] == [True] * 3
    assert (tmp_path / "0.28.png").stat().st_size > 1000


def test_scene_command_names_scenes(tmp_path, capsys):
    assert main(["scene", "volcano", "--out", str(tmp_path)]) == 2
    assert "incline" in capsys.readouterr().err


@pytest.mark.parametrize("name", SCENES)
def test_scenes_build(name, full, monkeypatch):
    """Every experiment can be built with few grains, those with bodies with more; with --full, with its own fields."""
    if not full:
        build = gg.PairField.build
        coarse = staticmethod(lambda a, b, **_: build(a, b, **planar_scenes.COARSE))
        monkeypatch.setattr(gg.PairField, "build", coarse)
    kind = load_scene(name)
    few = 200 if name in ("avalanche", "bulldozer") or issubclass(kind, MatterRun) else 12
    run = kind(seed=1, grains=few)
    if name in ("incline", "triangle", "leaning_block"):
        world = run.scene(run.labels[0]).build(device="cpu", num_threads=1)
        world.step(run.dt, 2, tool_poses=run.drive(run.labels[0], world, 0.0))
        run.watch(run.labels[0], world, 0.0)
    elif isinstance(run, ClumpRun):
        with run.scene(run.labels[0]).build(device="cpu", num_threads=1) as world:
            assert world.clump_count - len(world.bodies) == few
    elif isinstance(run, MatterRun):  # cubes of particles, as many as come nearest
        assert abs(run.scene(run.labels[0]).grain_count / few - 1.0) <= 0.25
    else:
        assert run.scene(run.labels[0]).grain_count == 12


def test_contacts_of_planar_grains_are_refused():
    world = planar_scenes.pile(gg.Shape2D.octagon(0.5), 4).build(num_threads=1)
    with pytest.raises(gg.ArgumentError, match="contacts: expected a world of spheres"):
        world.contacts()


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda world: world.set_pair(0, 0, rolling_friction=0.9), "rolling_friction, .*planar grains have none"),
        (lambda world: world.set_pair(0, 0, twisting_friction=0.9), "twisting_friction, .*planar grains have none"),
        (lambda world: world.set_pair(0, 0, cohesion=1.0, cohesion_range=0.1), "cohesion: planar grains have none"),
        (lambda world: world.set_air(density=1.2), "air: planar grains fly without drag"),
        (lambda world: world.set_gravity((0.0, -9.81, 5.0)), "gravity: expected z = 0 for planar grains, got 5"),
        (lambda world: world.set_gravity((0.0, 1e7, 0.0)), "gravity: expected at most 1e6 m/s2"),
    ],
)
def test_what_planar_grains_lack_is_refused_in_a_world_too(call, said):
    with planar_scenes.pile(gg.Shape2D.octagon(0.5), 4).build(num_threads=1) as world:
        pairs, gravity = world.materials[0], world.gravity
        with pytest.raises(gg.ArgumentError, match=said):
            call(world)
        np.testing.assert_array_equal(world.materials[0], pairs)
        np.testing.assert_array_equal(world.gravity, gravity)
