"""The scene description: rules, invalid arguments, and the arrays for the engine."""

from __future__ import annotations

import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base.rng import uniform

BOUNDS = ((-1.0, -1.0, 0.0), (1.0, 1.0, 1.0))


def with_material(**values) -> gg.Scene:
    scene = gg.Scene(BOUNDS)
    scene.add_material(**{"density": 1000.0, "radius": 0.05, **values})
    return scene


def test_pair_rules():
    scene = gg.Scene(BOUNDS)
    a = scene.add_material(density=1.0, friction=0.2, restitution=0.1, rolling_friction=0.04)
    b = scene.add_material(density=1.0, friction=0.8, restitution=0.5, rolling_friction=0.09)
    # twisting friction is like rolling friction until it is given; without cohesion nothing attracts
    assert scene.pair(a, b) == pytest.approx((0.4, 0.5, 0.06, 0.06, 0.0, 0.0))
    assert scene.pair(a, a) == pytest.approx((0.2, 0.1, 0.04, 0.04, 0.0, 0.0))
    scene.set_pair(b, a, friction=0.7)
    assert scene.pair(a, b) == pytest.approx((0.7, 0.5, 0.06, 0.06, 0.0, 0.0))
    scene.set_pair(b, a, rolling_friction=0.5)
    assert scene.pair(a, b) == pytest.approx((0.7, 0.5, 0.5, 0.5, 0.0, 0.0))
    scene.set_pair(a, b, twisting_friction=0.01, cohesion=2.0, cohesion_range=1e-3)
    assert scene.pair(a, b) == pytest.approx((0.7, 0.5, 0.5, 0.01, 2.0, 1e-3))
    assert scene.pair(b, b).cohesion == 0.0
    table = scene.freeze().arrays["pair"]
    assert np.array_equal(table, table.swapaxes(0, 1))
    assert table[0, 1] == pytest.approx((0.7, 0.5, 0.5, 0.01, 2.0, 1e-3))


def test_moist_pair_rules():
    scene = gg.Scene(BOUNDS)
    wet = scene.add_material(density=1.0, cohesion=0.9, cohesion_range=1e-3, twisting_friction=0.02)
    damp = scene.add_material(density=1.0, cohesion=0.1, cohesion_range=2e-3, rolling_friction=0.5)
    dry = scene.add_material(density=1.0)
    assert scene.pair(wet, damp)[3:] == pytest.approx((0.1, 0.3, 2e-3))
    assert scene.pair(wet, dry).cohesion == 0.0
    # a force of 1 mN between grains of 2 and 3 mm has an effective radius of 1.2 mm
    assert gg.cohesion_of_force(1e-3, 2e-3, 3e-3) == pytest.approx(1e-3 / 1.2e-3)
    assert gg.cohesion_of_force(1e-3, 2e-3) == pytest.approx(0.5)
    assert gg.capillary_cohesion(0.072) == pytest.approx(0.9048, rel=1e-4)


def test_grain_ids_and_radii():
    scene = with_material(radius=0.05)
    assert scene.add_grains(0, np.zeros((2, 3))) == range(2)
    assert scene.add_grains(0, [[0, 0, 0.5]], radius=0.02, velocities=[[1, 0, 0]]) == range(2, 3)
    assert scene.add_grains(0, np.zeros((0, 3))) == range(3, 3)
    arrays = scene.freeze().arrays
    assert arrays["radius"].tolist() == pytest.approx([0.05, 0.05, 0.02])
    assert arrays["velocity"][2].tolist() == [1, 0, 0]


def test_fill_box_is_seeded_inside_and_without_overlap():
    scene = with_material(radius=0.05)
    ids = scene.fill_box(0, (-0.5, -0.4, 0.0), (0.5, 0.4, 0.9), count=150, seed=3, radius=(0.03, 0.05))
    again = with_material(radius=0.05)
    again.fill_box(0, (-0.5, -0.4, 0.0), (0.5, 0.4, 0.9), count=150, seed=3, radius=(0.03, 0.05))
    other = with_material(radius=0.05)
    other.fill_box(0, (-0.5, -0.4, 0.0), (0.5, 0.4, 0.9), count=150, seed=4, radius=(0.03, 0.05))
    assert len(ids) == 150
    assert scene.fingerprint() == again.fingerprint() != other.fingerprint()
    p, r = (scene.freeze().arrays[name].astype(float) for name in ("position", "radius"))
    assert (p - r[:, None] >= np.array([-0.5, -0.4, 0.0]) - 1e-6).all()
    assert (p + r[:, None] <= np.array([0.5, 0.4, 0.9]) + 1e-6).all()
    gap = np.linalg.norm(p[:, None] - p[None], axis=-1) - r[:, None] - r[None]
    np.fill_diagonal(gap, 1.0)
    assert gap.min() > -1e-6
    assert 0.03 <= r.min() < r.max() <= 0.05 + 1e-6


@pytest.mark.parametrize("radius", [(0.03, 0.05), gg.SizeDistribution.classes([0.02, 0.05], [3, 1]), 0.04])
def test_fill_box_keeps_sizes_of_their_own_seed(radius):
    """Places and boxes differ, and the radius of each grain is the same: states may be exchanged."""
    scenes = [with_material() for _ in range(3)]
    for scene, seed, top, sizes in zip(scenes, (3, 4, 4), (0.9, 0.8, 0.9), (7, 7, 8), strict=True):
        scene.fill_box(0, (-0.5, -0.4, 0), (0.5, 0.4, top), count=150, seed=seed, radius=radius, size_seed=sizes)
    one, two, three = (scene.freeze() for scene in scenes)
    assert one.layout() == two.layout() and not np.array_equal(one.arrays["position"], two.arrays["position"])
    assert (one.layout() == three.layout()) == (radius == 0.04)


def test_fill_box_refusals():
    scene = gg.Scene(BOUNDS)
    mud = scene.add_material(density=1500.0, name="mud", continuum=gg.Elastic(1e5, 0.3))
    with pytest.raises(gg.ArgumentError, match="^material: expected one of grains, 'mud' is .*; see add_continuum"):
        scene.fill_box(mud, (0, 0, 0), (0.1, 0.1, 0.1))
    for size_seed in (-1, "a"):
        with pytest.raises(gg.ArgumentError, match="^size_seed: expected an integer >= 0"):
            with_material(radius=0.05).fill_box(0, (0, 0, 0), (0.5, 0.5, 0.5), size_seed=size_seed)
    with pytest.raises(gg.ArgumentError, match="^radius: expected 0 < smallest <= largest"):
        with_material().fill_box(0, (0, 0, 0), (0.5, 0.5, 0.5), radius=(0.05, 0.03), size_seed=0)
    flat = gg.Scene(((0, 0), (1, 1)))
    flat.add_material(density=1.0, shape=gg.Shape2D.octagon(0.05))
    with pytest.raises(gg.ArgumentError, match="^size_seed: expected None, planar grains"):
        flat.fill_box(0, (0, 0), (0.5, 0.5), size_seed=0)
    for full, corner in ((with_material(radius=0.05), (0.01, 0.5, 0.5)), (flat, (0.5, 0.01))):
        with pytest.raises(gg.ArgumentError, match="^lower, upper: expected sides of 0.1.* got .*0.01"):
            full.fill_box(0, (0,) * len(corner), corner)


def test_a_bell_has_its_mean_between_its_ends():
    gg.SizeDistribution.normal(0.02, 0.001, 0.02, 0.03)
    with pytest.raises(gg.ArgumentError, match=r"^mean: expected one in 0.02 .. 0.03 m, got 0.018"):
        gg.SizeDistribution.normal(0.018, 0.004, 0.02, 0.03)


@pytest.mark.parametrize(
    ("shape", "values", "message"),
    [
        (3, {}, r"shape: expected a Clump, a Mesh or an Sdf, got int; gg.Mesh\(vertices, faces\)"),
        ("body.stl", {}, r"shape: expected a Clump, a Mesh or an Sdf, got str; gg.load_mesh\(path\)"),
        (gg.Clump.pair(0.1), {"inertia": (1, 1, 5)}, "inertia: expected principal moments .* got 1, 1, 5$"),
        (gg.Clump.pair(0.1), {"spheres": 7}, "spheres: expected None, a Clump has its own, got 7"),
    ],
)
def test_body_refusals(shape, values, message):
    with pytest.raises(gg.ArgumentError, match=f"^{message}"):
        with_material(radius=0.05).add_body(shape, mass=2.0, **values)


def test_fill_box_says_how_many_fit():
    scene = with_material(radius=0.05)
    everything = scene.fill_box(0, (0, 0, 0), (0.5, 0.5, 0.5))
    assert len(everything) == 64
    with pytest.raises(gg.ArgumentError, match="count: expected at most 64 grains"):
        scene.fill_box(0, (0, 0, 0), (0.5, 0.5, 0.5), count=65)
    assert scene.fill_box(0, (0, 0, 0), (0.5, 0.5, 0.5), count=0) == range(64, 64)


def test_random_numbers_match_the_engine():
    # computed by csrc/base/rng.h: gg_rng_uniform(7, 1, n)
    def mix(z: int) -> int:
        mask = 2**64 - 1
        z = (z + 0x9E3779B97F4A7C15) & mask
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return z ^ (z >> 31)

    expected = [(mix(mix(mix(7) ^ 1) ^ n) >> 40) / 2**24 for n in range(5)]
    assert uniform(7, 1, 5).tolist() == expected
    assert abs(uniform(1, 2, 100_000).mean() - 0.5) < 0.005


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("density", {"density": 0.0}),
        ("density", {"density": -1.0}),
        ("density", {"density": math.nan}),
        ("density", {"density": "heavy"}),
        ("radius", {"radius": 0.0}),
        ("radius", {"radius": math.inf}),
        ("friction", {"friction": math.nan}),
        ("friction", {"friction": -0.1}),
        ("restitution", {"restitution": 1.01}),
        ("restitution", {"restitution": -0.01}),
        ("rolling_friction", {"rolling_friction": -1.0}),
        ("twisting_friction", {"twisting_friction": -1.0}),
        ("cohesion", {"cohesion": -1.0, "cohesion_range": 1e-3}),
        ("cohesion", {"cohesion": math.nan, "cohesion_range": 1e-3}),
        ("cohesion_range", {"cohesion": 1.0}),
        ("cohesion_range", {"cohesion": 1.0, "cohesion_range": -1e-3}),
        ("name", {"name": ""}),
        ("name", {"name": 3}),
    ],
)
def test_material_refusals(name, values):
    scene = gg.Scene(BOUNDS)
    with pytest.raises(gg.ArgumentError, match=rf"^{name}: expected"):
        scene.add_material(**{"density": 1000.0, **values})
    assert not scene.materials


@pytest.mark.parametrize(
    "bounds",
    [
        ((1, 0, 0), (0, 1, 1)),
        ((0, 0, 0), (1, 1, 0)),
        ((0, 0, 0), (1, 1, math.inf)),
        ((0, 0, math.nan), (1, 1, 1)),
        ((0,), (1,)),
        ((0, 1), (1, 1)),
        "box",
        ((0, 0, 0), (1e7, 1, 1)),
    ],
)
def test_bounds_refusals(bounds):
    with pytest.raises(gg.ArgumentError, match=r"^bounds: expected"):
        gg.Scene(bounds)


@pytest.mark.parametrize("gravity", [(0, 0, math.nan), (0, 0), (0, 0, math.inf), 9.81, (0, 0, 1e7)])
def test_gravity_refusals(gravity):
    with pytest.raises(gg.ArgumentError, match=r"^gravity: expected"):
        gg.Scene(BOUNDS, gravity=gravity)


@pytest.mark.parametrize(
    "boundary",
    [
        {"x": ("cyclic", "wall")},
        {"y": ("open", "periodic")},
        {"x": "soft"},
        {"w": "wall"},
        {"x": ("wall",)},
        {"x": 3},
        "wall",
    ],
)
def test_boundary_refusals(boundary):
    with pytest.raises(gg.ArgumentError, match=r"^boundary"):
        gg.Scene(BOUNDS, boundary=boundary)


def test_boundary_table():
    assert gg.Scene(BOUNDS).boundary.tolist() == [[1, 1], [1, 1], [1, 0]]
    table = gg.Scene(BOUNDS, boundary={"x": "cyclic", "y": "periodic", "z": ("open", "wall")}).boundary
    assert table.tolist() == [[2, 2], [3, 3], [0, 1]]


def test_names_are_unique():
    scene = with_material(name="sand")
    with pytest.raises(gg.ArgumentError, match="'sand' is taken"):
        scene.add_material(density=1.0, name="sand")
    scene.add_tool(gg.Sdf.sphere(0.1), name="ball")
    with pytest.raises(gg.ArgumentError, match="'ball' is taken"):
        scene.add_tool(gg.Sdf.sphere(0.1), name="ball")
    camera = gg.DepthCamera.perspective(height=4, width=4, pose=(0, 0, 1))
    scene.add_camera(camera, name="eye")
    with pytest.raises(gg.ArgumentError, match="'eye' is taken"):
        scene.add_camera(camera, name="eye")
    with pytest.raises(
        gg.ArgumentError, match=r"tool: expected a tool, 'ball' or 0 .. 0, got 'bal'; did you mean 'ball'\?"
    ):
        scene.add_camera(camera, name="other", tool="bal")


def test_grain_refusals():
    scene = gg.Scene(BOUNDS)
    with pytest.raises(gg.ArgumentError, match="add_material first"):
        scene.add_grains(0, np.zeros((1, 3)))
    scene.add_material(density=1.0)
    with pytest.raises(gg.ArgumentError, match="^radius: expected a radius"):
        scene.add_grains(0, np.zeros((1, 3)))
    for radius in (0.0, -1.0, math.nan, [0.1, 0.1]):
        with pytest.raises(gg.ArgumentError, match="^radius: expected"):
            scene.add_grains(0, np.zeros((1, 3)), radius=radius)
    for positions in (np.zeros((1, 2)), [[0, 0, math.nan]], "here", [[0, 0, 1e300]]):
        with pytest.raises(gg.ArgumentError, match="^positions: expected"):
            scene.add_grains(0, positions, radius=0.1)
    for material in (1, -1, 0.5, True, None):
        with pytest.raises(gg.ArgumentError, match="^material: expected"):
            scene.add_grains(material, np.zeros((1, 3)), radius=0.1)
    assert scene.grain_count == 0


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None])
def test_seed_refusals(seed):
    with pytest.raises(gg.ArgumentError, match="^seed: expected"):
        with_material().fill_box(0, (0, 0, 0), (1, 1, 1), seed=seed)


def test_any_seed_size():
    assert len(with_material().fill_box(0, (0, 0, 0), (1, 1, 1), seed=2**64 + 1, count=3)) == 3
    assert len(with_material().fill_box(0, (0, 0, 0), (1, 1, 1), seed=np.int64(5), count=3)) == 3


def test_a_built_world_does_not_follow_the_scene():
    scene = with_material()
    scene.add_grains(0, [[0, 0, 0.5]])
    with scene.build() as world:
        scene.add_grains(0, [[0.5, 0, 0.5]])
        assert world.grain_count == 1


@pytest.mark.parametrize(
    "make",
    [
        lambda: gg.Sdf.box((1, 1, 0)),
        lambda: gg.Sdf.box((1, 1)),
        lambda: gg.Sdf.sphere(0),
        lambda: gg.Sdf.sphere(math.nan),
        lambda: gg.Sdf.capsule(1, -1),
        lambda: gg.Sdf.cylinder(1, 0),
        lambda: gg.Sdf.cone(0, 0, 1),
        lambda: gg.Sdf.cavity(-1),
        lambda: gg.Sdf.plane(normal=(0, 0, 0)),
        lambda: gg.Sdf.plane(offset=math.inf),
        lambda: gg.Sdf.union(),
        lambda: gg.Sdf.union(3),
        lambda: gg.Sdf.sphere(1).at(quaternion=(0, 0, 0, 0)),
        lambda: gg.Sdf.sphere(1).at(position=(0, 0)),
    ],
)
def test_sdf_refusals(make):
    with pytest.raises((gg.ArgumentError, TypeError)):
        make()


def test_sdf_composition():
    quarter = (math.sqrt(0.5), 0.0, 0.0, math.sqrt(0.5))
    inner = gg.Sdf.sphere(0.1).at((1, 0, 0))
    outer = gg.Sdf.union(inner, [gg.Sdf.box((1, 1, 1))]).at((0, 0, 2), quarter)
    assert [part.kind for part in outer.parts] == ["sphere", "box"]
    assert outer.parts[0].pose == pytest.approx((0, 1, 2, *quarter), abs=1e-6)
    tilted = gg.Sdf.plane(normal=(0, -2, 0), offset=0.5).parts[0]
    assert tilted.pose[:3] == pytest.approx((0, -0.5, 0))
    from granular_gym.base.rotations import rotate

    for normal in ((0, 0, 1), (0, 0, -1), (1, 2, 3), (-1, 0, 0)):
        unit = np.array(normal) / np.linalg.norm(normal)
        turned = rotate(np.array(gg.Sdf.plane(normal=normal).parts[0].pose[3:]), np.array([0.0, 0.0, 1.0]))
        assert turned == pytest.approx(unit, abs=1e-9)


def cube_mesh(half: float = 0.5) -> gg.Mesh:
    corners = [[x, y, z] for x in (-half, half) for y in (-half, half) for z in (-half, half)]
    quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    return gg.Mesh(corners, [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


def test_mesh_grid_and_its_file(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path / "cache"))
    sdf = gg.Sdf.from_mesh(cube_mesh(), spacing=0.1)
    grid = sdf.parts[0].grid
    nz, ny, nx = grid.samples.shape
    z, y, x = np.meshgrid(
        *(o + grid.spacing * np.arange(n) for o, n in zip(grid.origin[::-1], (nz, ny, nx), strict=True)), indexing="ij"
    )
    q = np.abs(np.stack([x, y, z], -1)) - 0.5
    exact = np.linalg.norm(np.maximum(q, 0), axis=-1) + np.minimum(q.max(-1), 0)
    assert np.abs(grid.samples - exact).max() < 1e-5
    # the second one is read from the cache, and a damaged file is replaced
    (file,) = (tmp_path / "cache" / "sdf").iterdir()
    assert gg.Sdf.from_mesh(cube_mesh(), spacing=0.1).parts[0].grid.digest() == grid.digest()
    file.write_bytes(file.read_bytes()[:-200])
    assert gg.Sdf.from_mesh(cube_mesh(), spacing=0.1).parts[0].grid.digest() == grid.digest()
    # files
    path = tmp_path / "cube.npz"
    sdf.save(path)
    assert gg.Sdf.from_file(path).parts[0].grid.digest() == grid.digest()
    data = path.read_bytes()
    for broken in (b"", data[:50], data[: len(data) // 2], b"x" * 100, data[:300] + b"\0\0\0\0" + data[304:]):
        path.write_bytes(broken)
        with pytest.raises(gg.StateError):
            gg.Sdf.from_file(path)
    with pytest.raises(gg.ArgumentError, match="^save: expected"):
        gg.Sdf.sphere(1).save(path)


def test_mesh_spacing_refusals():
    for spacing in (0.0, -1.0, math.nan, 1e-6):
        with pytest.raises(gg.ArgumentError, match="^spacing: expected"):
            gg.Sdf.from_mesh(cube_mesh(), spacing=spacing)
    with pytest.raises(gg.MeshError):
        gg.Sdf.from_mesh("no_such_file.stl", spacing=0.1)
    with pytest.raises(gg.ArgumentError, match="^mesh: expected"):
        gg.Sdf.from_mesh(3, spacing=0.1)


def test_cameras():
    down = gg.DepthCamera.orthographic(height=4, width=8, extent=1.0, position=(1, 2, 3), target=(1, 2, 0))
    assert down.forward == pytest.approx((0, 0, -1), abs=1e-9)
    side = gg.DepthCamera.perspective(height=4, width=4, fov=1.0, position=(0, 0, 0), target=(2, 0, 0))
    from granular_gym.base.rotations import rotate

    q = np.array(side.pose[3:])
    assert rotate(q, np.array([1.0, 0, 0])) == pytest.approx((0, -1, 0), abs=1e-9)
    assert rotate(q, np.array([0, 1.0, 0])) == pytest.approx((0, 0, -1), abs=1e-9)
    assert side.extent == pytest.approx(math.tan(0.5))


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("height", {"height": 0}),
        ("width", {"width": 0}),
        ("width", {"width": 4.5}),
        ("fov", {"fov": 0.0}),
        ("fov", {"fov": 3.2}),
        ("near", {"near": 0.0}),
        ("far", {"far": 0.001}),
        ("far", {"far": math.inf}),
        ("target", {"target": (0, 0, 0)}),
        ("up", {"up": (1, 0, 0)}),
        ("pose", {"pose": (0, 0, 0)}),
        ("position", {"position": None}),
    ],
)
def test_camera_refusals(name, values):
    base = {"height": 4, "width": 4, "fov": 1.0, "position": (0, 0, 0), "target": (1, 0, 0)}
    with pytest.raises(gg.ArgumentError, match=rf"^{name}: expected"):
        gg.DepthCamera.perspective(**{**base, **values})


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("mode", {"mode": "fast"}),
        ("broad_phase", {"broad_phase": "tree"}),
        ("iterations", {"iterations": 0}),
        ("iterations", {"iterations": 2000}),
        ("alpha", {"alpha": 1.5}),
        ("alpha", {"alpha": math.nan}),
        ("relaxation", {"relaxation": -0.1}),
        ("nesterov", {"nesterov": 2}),
        ("nesterov", {"mode": "paper", "nesterov": True}),
        ("tolerance", {"tolerance": -1.0}),
    ],
)
def test_solver_refusals(name, values):
    with pytest.raises(gg.ArgumentError, match=rf"^{name}: expected"):
        gg.Solver(**values)


def test_known_unstable_settings_warn():
    scene = with_material()
    scene.fill_box(0, (-1, -1, 0), (1, 1, 1), count=20)
    for solver, word in (
        (gg.Solver(relaxation=1.4), "relaxation 1.4"),
        (gg.Solver(iterations=21, relaxation=1.2), "relaxation 1.2"),
        (gg.Solver(mode="jacobi", relaxation=0.7), "relaxation 0.7"),
        (gg.Solver(mode="jacobi", relaxation_sum=4.0), "relaxation_sum 4"),
        (gg.Solver(mode="jacobi", spin=False, relaxation=0.5), "relaxation 0.5"),
        (gg.Solver(mode="paper", relaxation=0.6), "relaxation 0.6"),
    ):
        with pytest.warns(gg.StabilityWarning, match=word):
            scene.build(solver=solver).close()


def test_known_unstable_time_steps_warn_once(recwarn):
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    scene.add_grains(scene.add_material(density=2500.0), [[0, 0, 0.5]], 0.005)
    with scene.build() as world:
        world.step(2e-3, 1)
        assert not recwarn.list
        with pytest.warns(gg.StabilityWarning, match=r"dt 0.005 s with 10 iterations.*fewer than 21"):
            world.step(5e-3, 1)
        recwarn.clear()
        world.step(5e-3, 1)
        assert not recwarn.list
        world.set_solver(gg.Solver(iterations=21))
        world.step(5e-3, 1)
        assert not recwarn.list
        with pytest.warns(gg.StabilityWarning, match=r"fewer than 41"):
            world.step(1e-2, 1)
        with pytest.raises(gg.ArgumentError, match="^dt: expected"):
            world.step(2.0)


@pytest.mark.parametrize(
    ("radius", "gravity", "warns"), [(0.005, 9.81, True), (0.05, 9.81, False), (0.005, 1.6, False)]
)
def test_time_steps_are_measured_by_the_grains(radius, gravity, warns, recwarn):
    """The same step is long for small grains that fall fast."""
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)), gravity=(0.0, 0.0, -gravity))
    scene.add_grains(scene.add_material(density=2500.0), [[0, 0, 0.5]], radius)
    with scene.build() as world:
        world.step(5e-3, 1)
    assert bool(recwarn.list) == warns
    # no warning without grains or gravity
    with gg.Scene(((-1, -1, 0), (1, 1, 1)), gravity=(0, 0, 0)).build() as world:
        world.step(1.0)


@pytest.mark.parametrize("spacing", [1.0, 3.0])
def test_deep_beds_warn_however_loosely_they_start(spacing, recwarn):
    """In mode jacobi, 1.6 layers sqrt(dt sqrt(g / d)): 40 layers at 1 ms need 12 iterations, 21 need 6."""
    for high, warns in ((46, True), (24, False)):
        scene = gg.Scene(((-1, -1, 0), (1, 1, 9)))
        sand = scene.add_material(density=2500.0)
        k = np.arange(36 * high)
        # a solid fraction of .6 on the floor
        places = np.stack([k % 6, k // 6 % 6, k // 36 * spacing * np.pi / 6 / 0.6 + 1], axis=1) * 0.01
        scene.add_grains(sand, places, 0.005)
        recwarn.clear()
        with scene.build(overlaps="ignore", solver=gg.Solver(mode="jacobi")) as world:
            world.step(1e-3, 1)
            assert [f"a bed of {0.873 * high:.0f} layers" in str(w.message) for w in recwarn.list] == [True] * warns
            world.set_solver(gg.Solver(mode="jacobi", iterations=20))
            recwarn.clear()
            world.step(1e-3, 1)
            assert not recwarn.list
            # 80 layers (dt sqrt(g / d))^1.5: 21 layers at 1 ms need 10 to stop sinking
            world.set_solver(gg.Solver(mode="jacobi", iterations=9 if high == 24 else 17))
            world.step(1e-3, 1)
            assert ["goes on sinking" in str(w.message) for w in recwarn.list] == [True]


def test_crowded_elastic_impacts_warn(recwarn):
    for count, restitution, iterations, warns in (
        (3, 1.0, 10, True),
        (3, 1.0, 20, False),
        (3, 0.9, 10, False),
        (2, 1, 10, False),
    ):
        scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
        scene.add_grains(
            scene.add_material(density=2500.0, restitution=restitution),
            [[0.1 * k, 0, 0.5] for k in range(count)],
            0.005,
        )
        recwarn.clear()
        scene.build(solver=gg.Solver(iterations=iterations)).close()
        assert ["restitution 1 with 10 iterations" in str(w.message) for w in recwarn.list] == [True] * warns


def test_defaults_do_not_warn(recwarn):
    scene = with_material()
    scene.fill_box(0, (-1, -1, 0), (1, 1, 1), count=50)
    for solver in (None, gg.Solver(iterations=20), gg.Solver(mode="paper"), gg.Solver(spin=False)):
        with scene.build(solver=solver) as world:
            world.step(1e-3, 2)
    assert not recwarn.list
