"""What continuous matter refuses: every value that makes no sense, by name."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.continuum import DOUGH, kneaded

SAND = {"young_modulus": 1e4, "poisson_ratio": 0.3, "friction_angle": 30.0}

MATTER: list[tuple[Any, dict[str, Any], str]] = [
    (gg.Elastic, {"young_modulus": 0.0, "poisson_ratio": 0.3}, "^young_modulus"),
    (gg.Elastic, {"young_modulus": math.nan, "poisson_ratio": 0.3}, "^young_modulus"),
    (gg.Elastic, {"young_modulus": 1e4, "poisson_ratio": 0.5}, "^poisson_ratio.*below 0.5"),
    (gg.Elastic, {"young_modulus": 1e4, "poisson_ratio": -1.0}, "^poisson_ratio"),
    (gg.Elastic, {"young_modulus": 1e4, "poisson_ratio": 0.3, "viscosity": -1.0}, "^viscosity"),
    (gg.VonMises, {"young_modulus": 1e4, "poisson_ratio": 0.3, "yield_stress": -1.0}, "^yield_stress"),
    (gg.VonMises, {"young_modulus": 1e4, "poisson_ratio": 0.7, "yield_stress": 1.0}, "^poisson_ratio"),
    (gg.DruckerPrager, {"young_modulus": 1e4, "poisson_ratio": 0.3, "friction_angle": 90.0}, "^friction_angle"),
    (gg.DruckerPrager, {"young_modulus": 1e4, "poisson_ratio": 0.3, "friction_angle": -1.0}, "^friction_angle"),
    (gg.DruckerPrager, {**SAND, "dilatancy_angle": 31.0}, "^dilatancy_angle: expected a number from 0 to 30, got 31"),
    (gg.DruckerPrager, {**SAND, "dilatancy_angle": -1.0}, "^dilatancy_angle"),
    (gg.DruckerPrager, {**SAND, "dilation": 1.5}, "^dilation"),
    (gg.DruckerPrager, {**SAND, "dilation": float("nan")}, "^dilation"),
    (
        gg.DruckerPrager,
        {"young_modulus": 1e4, "poisson_ratio": 0.3, "friction_angle": 30.0, "cohesion": -1.0},
        "^cohesion",
    ),
]


@pytest.mark.parametrize(("kind", "values", "message"), MATTER, ids=str)
def test_matter(kind: Any, values: dict[str, Any], message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        kind(**values)


def bare() -> tuple[gg.Scene, int]:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    return scene, scene.add_material(density=1000.0, continuum=DOUGH, name="dough")


#: places .025 m apart, where .05 m are expected of eight particles in a cell of .1 m
LATTICE = 0.2 + 0.025 * np.indices((20, 20, 20)).reshape(3, -1).T

BODIES: list[tuple[dict[str, Any], str]] = [
    ({"lower": (0, 0, 0), "upper": (0.1, 0.1, 0.1)}, "^spacing.*first body"),
    ({"lower": (0, 0, 0), "upper": (0.1, 0.1, 0.1), "spacing": 0.0}, "^spacing"),
    ({"lower": (0, 0, 0), "spacing": 0.1}, "^lower, upper, shape"),
    (
        {"lower": (0, 0, 0), "upper": (0.1, 0.1, 0.1), "shape": gg.Sdf.sphere(0.1), "spacing": 0.1},
        "^lower, upper, shape",
    ),
    ({"points": [[0.1, 0.1, 0.1]], "shape": gg.Sdf.sphere(0.1), "spacing": 0.1}, "^lower, upper, shape, points"),
    ({"points": [0.1, 0.1, 0.1], "spacing": 0.1}, "^points: expected shape"),
    ({"points": [[0.1, np.nan, 0.1]], "spacing": 0.1}, "^points"),
    ({"points": [[0.1, 0.1, 1.5]], "spacing": 0.1}, "within the bounds"),
    ({"lower": (0, 0, 0), "upper": (0.5, 0.5, 0.01), "spacing": 0.1}, "^lower, upper: expected a box thicker"),
    ({"lower": (0.5, 0, 0), "upper": (0.4, 0.5, 0.5), "spacing": 0.1}, "^lower, upper: expected a box thicker"),
    ({"lower": (-0.5, 0, 0), "upper": (0.5, 0.5, 0.5), "spacing": 0.1}, "within the bounds"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "spacing": 1e-4}, "^lower, upper, spacing: expected at most"),
    ({"shape": gg.Sdf.plane(), "spacing": 0.1}, "^shape: expected a solid with an end"),
    ({"shape": gg.Sdf.sphere(0.001).at((0.5, 0.5, 0.5)), "spacing": 0.3}, "^shape: expected a solid that holds"),
    ({"shape": "ball", "spacing": 0.1}, "^shape: expected a Mesh or an Sdf"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "heights": [[0.0, 1.0]], "spacing": 0.1}, "^heights"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "heights": np.full((3, 3), -1.0), "spacing": 0.1}, "^heights"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 0.5), "heights": np.full((3, 3), 0.6), "spacing": 0.1}, "^heights.*top"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "heights": [["a", "b"], ["c", "d"]], "spacing": 0.1}, "^heights"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "heights": np.full((3, 3), 0.01), "spacing": 0.1}, "^heights.*half"),
    ({"points": np.zeros((0, 3)), "spacing": 0.1}, "^points: expected some"),
    ({"points": np.full((9, 3), 0.5), "spacing": 0.1}, r"^points: expected places about 0\.05 m apart"),
    ({"points": LATTICE, "spacing": 0.1}, r"^points: .* such that the matter is 7\.\d+ times as dense; a smaller"),
    ({"points": np.full((4, 3), 0.5), "lower": (0, 0, 0), "spacing": 0.1}, "^lower, upper: expected none"),
    ({"points": np.full((4, 3), 0.5), "heights": np.full((3, 3), 0.5), "spacing": 0.1}, "^heights"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "heights": np.full((3, 3), np.nan), "spacing": 0.1}, "^heights"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "spacing": 0.2, "particles_per_cell": 0}, "^particles_per_cell"),
    ({"lower": (0, 0, 0), "upper": (1, 1, 1), "spacing": 0.2, "velocity": (0, math.inf, 0)}, "^velocity"),
]


@pytest.mark.parametrize(("values", "message"), BODIES, ids=lambda value: str(value)[:60])
def test_bodies(values: dict[str, Any], message: str) -> None:
    scene, dough = bare()
    with pytest.raises(gg.ArgumentError, match=message):
        scene.add_continuum(dough, **values)
    assert scene.grain_count == 0 and scene.spacing is None


def test_open_meshes_are_refused() -> None:
    scene, dough = bare()
    triangle = gg.Mesh(np.array([[0.2, 0.2, 0.2], [0.8, 0.2, 0.2], [0.2, 0.8, 0.2]]), np.array([[0, 1, 2]]))
    with pytest.raises(gg.GranularError):
        scene.add_continuum(dough, shape=triangle, spacing=0.1)


def test_scenes_have_grains_or_matter() -> None:
    scene, dough = bare()
    sand = scene.add_material(density=1000.0, radius=0.01)
    with pytest.raises(gg.ArgumentError, match="^add_grains"):
        scene.add_grains(dough, [[0.5, 0.5, 0.5]], 0.01)
    with pytest.raises(gg.ArgumentError, match="^material: expected one with a continuum"):
        scene.add_continuum(sand, (0, 0, 0), (0.1, 0.1, 0.1), spacing=0.05)
    scene.add_continuum(dough, (0, 0, 0), (0.1, 0.1, 0.1), spacing=0.05)
    with pytest.raises(gg.ArgumentError, match="^add_grains"):
        scene.add_grains(sand, [[0.5, 0.5, 0.5]], 0.01)
    with pytest.raises(gg.ArgumentError, match="^spacing: expected that of the scene"):
        scene.add_continuum(dough, (0.2, 0, 0), (0.4, 0.1, 0.1), spacing=0.06)
    with pytest.raises(gg.ArgumentError, match="^continuum: expected no radius"):
        scene.add_material(density=1.0, radius=0.1, continuum=DOUGH)
    wrong: Any = 0.3
    with pytest.raises(gg.ArgumentError, match="^continuum: expected one of Elastic"):
        scene.add_material(density=1.0, continuum=wrong)


def test_matter_inside_tools_is_refused() -> None:
    scene, dough = bare()
    scene.add_continuum(dough, (0.2, 0.2, 0.2), (0.8, 0.8, 0.8), spacing=0.1)
    scene.add_tool(gg.Sdf.sphere(0.2), "ball", dough, (0.5, 0.5, 0.5))
    with pytest.raises(gg.OverlapError, match="in tool 'ball'"):
        scene.build(device="cpu")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"boundary": {"x": "periodic"}}, "^boundary: continuous matter"),
        ({"solver": gg.Solver(sleep=True)}, "sleep: expected 0 with continuous matter"),
    ],
    ids=str,
)
def test_what_matter_does_not_meet(change: dict[str, Any], message: str) -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)), boundary=change.get("boundary"))
    dough = scene.add_material(density=1000.0, continuum=DOUGH)
    scene.add_continuum(dough, (0.1, 0.1, 0.1), (0.3, 0.3, 0.3), spacing=0.1)
    with pytest.raises(gg.ArgumentError, match=message):
        scene.build(device="cpu", solver=change.get("solver"))


@pytest.mark.parametrize(
    ("tool", "message"),
    [
        ({"inertia": (1, 1, 1)}, "^mass: expected a mass along with"),
        ({"mass": 1.0, "inertia": (1, 1)}, "^inertia: expected"),
        ({"mass": 1.0, "inertia": (1, 1, math.nan)}, "^inertia: expected"),
        ({"mass": 1.0, "inertia": (1, 1, 0)}, "^inertia: expected moments > 0"),
        ({"mass": 1.0, "inertia": (1, 1, 2.1)}, "^inertia: expected moments > 0, none above the sum"),
        ({"mass": 1.0, "inertia": [[1, 0.5, 0], [0, 1, 0], [0, 0, 1]]}, "^inertia: expected a symmetric tensor"),
        ({"mass": 1.0, "stiffness": 1.0, "inertia": (1, 1, 1)}, "^inertia: expected a tool without a spring"),
        ({"coupled": True, "inertia": (1, 1, 1)}, "^mass: expected a mass along with"),
    ],
    ids=str,
)
def test_inertia(tool: dict[str, Any], message: str) -> None:
    scene, dough = bare()
    with pytest.raises(gg.ArgumentError, match=message):
        scene.add_tool(gg.Sdf.sphere(0.1), "ball", dough, **tool)
    assert not scene.tools


def test_tools_turn_in_continuous_matter_alone() -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    scene.add_grains(scene.add_material(density=1000.0), [[0.5, 0.5, 0.5]], 0.01)
    scene.add_tool(gg.Sdf.sphere(0.1), "ball", 0, (0.2, 0.2, 0.2), mass=1.0, inertia=(1, 1, 1))
    with pytest.raises(gg.ArgumentError, match="^inertia: tools turn beside continuous matter alone"):
        scene.build(device="cpu")


def test_what_does_not_turn_takes_no_torque() -> None:
    scene, dough = bare()
    scene.add_continuum(dough, (0.1, 0.1, 0.1), (0.3, 0.3, 0.3), spacing=0.1)
    scene.add_tool(gg.Sdf.sphere(0.1), "held", dough, (0.7, 0.3, 0.7), mass=1.0)
    scene.add_tool(gg.Sdf.sphere(0.1), "free", dough, (0.7, 0.7, 0.7), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with scene.build(device="cpu") as world:
        for change in (world.set_tool_torque, world.set_tool_angular_velocity):
            with pytest.raises(gg.ArgumentError, match="^tool: expected one with an inertia, tool 0 does not turn"):
                change("held", (1, 0, 0))
            with pytest.raises(gg.ArgumentError, match="expected"):
                change("free", (1, 0, math.inf))
        world.set_tool_torque("free", (0, 0, 2))
        assert world.tool_torque("free")[0].tolist() == [0, 0, 2]
        assert world.tool_torque("held")[0].tolist() == world.tool_angular_velocity("held")[0].tolist() == [0, 0, 0]


def test_matter_takes_no_air_and_no_sleep_later_either() -> None:
    scene, dough = bare()
    scene.add_continuum(dough, (0.1, 0.1, 0.1), (0.3, 0.3, 0.3), spacing=0.1)
    scene.air = gg.Air(density=1.2)
    with pytest.raises(gg.ArgumentError, match="^air: expected none around continuous matter"):
        scene.build(device="cpu")
    scene.air = None
    with scene.build(device="cpu") as world:
        with pytest.raises(gg.ArgumentError, match="^air: expected none around continuous matter"):
            world.set_air(viscosity=1e-5)
        with pytest.raises(gg.ArgumentError, match="sleep: expected 0 with continuous matter"):
            world.set_solver(gg.Solver(sleep=True))
        world.set_air(density=0.0)
        world.set_solver(gg.Solver(tolerance=1e-5))
        world.step(0.01, 3)
        assert world.stats["unsolved_count"][0] == 0


def test_explicit_steps() -> None:
    """Steps that are unstable, by the material that bears least, and grains: refused by name."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    soft = scene.add_material(density=1000.0, continuum=gg.Elastic(1e4, 0.0))
    stiff = scene.add_material(density=1000.0, continuum=gg.Elastic(1e6, 0.0))
    unused = scene.add_material(density=1000.0, continuum=gg.Elastic(1e8, 0.0))
    scene.add_continuum(soft, (0.1, 0.1, 0.1), (0.3, 0.3, 0.3), spacing=0.1)
    scene.add_continuum(stiff, (0.5, 0.5, 0.5), (0.7, 0.7, 0.7))
    explicit = gg.Solver(mode="explicit")
    assert unused == 2
    with scene.build(2, device="cpu", solver=explicit) as world:
        for wrong in (1.6e-3, 0.01):  # half of 10 cm at 31.6 m/s: 1.58 ms
            message = (
                rf"^dt: expected at most 0.00158114 s.*mode explicit.*material 1 on nodes 0.1 m apart, got {wrong:g}"
            )
            with pytest.raises(gg.ArgumentError, match=message):
                world.step(wrong)
        world.step(1.58e-3)
        world.set_density(stiff, 250.0, envs=1)  # twice the speed of sound
        with pytest.raises(gg.ArgumentError, match=r"^dt: expected at most 0.000790569 s"):
            world.step(1.58e-3)
        world.step(0.000790569, 3)
        with pytest.raises(gg.ArgumentError, match="mode and broad_phase are fixed when a world is built"):
            world.set_solver(gg.Solver(mode="jacobi"))
        world.set_solver(explicit)
        assert world.solver.mode == "explicit" and world.stats["diverged"][0] == 0
    grains = gg.Scene(((0, 0, 0), (1, 1, 1)))
    grains.add_grains(grains.add_material(density=1000.0), [[0.5, 0.5, 0.5]], 0.1)
    with pytest.raises(gg.ArgumentError, match="^solver.mode: explicit is for continuous matter alone"):
        grains.build(device="cpu", solver=explicit)


def test_reading_and_setting() -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    scene.add_material(density=1000.0, radius=0.1)
    scene.add_grains(0, [[0.5, 0.5, 0.5]])
    with scene.build(device="cpu") as grains:
        assert not grains.continuous
        for name in ("stretches", "stresses", "plastic_strains", "dilations", "densities", "spacing"):
            with pytest.raises(gg.ArgumentError, match=r"^(continuum|spacing): expected a world of continuous matter"):
                getattr(grains, name)
        with pytest.raises(gg.ArgumentError, match="^set_continuum"):
            grains.set_continuum(np.eye(3))
    with kneaded().build(2, device="cpu", num_threads=1) as world:
        units = np.broadcast_to(np.eye(3), (world.grain_count, 3, 3))
        before = world.state_hash(0)
        for wrong, match in (
            (units[:-1], "^stretches"),
            (-units, "^stretches, plastic_strains: expected positive definite"),
            (np.where(np.eye(3) > 0, np.nan, units), "^stretches"),
            (units + np.array([[0, 0.1, 0], [0, 0, 0], [0, 0, 0]]), "^stretches: expected symmetric"),
        ):
            with pytest.raises(gg.ArgumentError, match=match):
                world.set_continuum(wrong)
        with pytest.raises(gg.ArgumentError, match="^stretches, plastic_strains"):
            world.set_continuum(units, -1.0)
        for dilation in (-0.01, np.inf):
            with pytest.raises(gg.ArgumentError, match="^dilations"):
                world.set_continuum(units, dilations=dilation)
        with pytest.raises(gg.ArgumentError, match="^contacts"):
            world.contacts(env=0)
        with pytest.raises(gg.ArgumentError, match="^settle_impulses"):
            world.settle_impulses(0.01)
        assert world.state_hash(0) == before
        world.set_continuum(1.1 * units, 0.25, envs=1, dilations=0.05)
        np.testing.assert_allclose(world.densities[1] / world.densities[0], 1.1**-3 / 1.05, rtol=1e-6)
        assert (world.plastic_strains[1] == 0.25).all() and (world.plastic_strains[0] == 0.0).all()
        assert (world.dilations[1] == np.float32(0.05)).all() and (world.dilations[0] == 0.0).all()
        world.set_grains(world.positions[1], envs=1)
        np.testing.assert_array_equal(world.stretches[1], units)
        assert (world.dilations == 0.0).all() and (world.plastic_strains == 0.0).all()
        state = world.save_state()
    with kneaded(dilatancy=0.0).build(2, device="cpu", num_threads=1) as world:
        assert (world.dilations == 0.0).all()
        with pytest.raises(gg.StateError):
            world.load_state(state)
        with pytest.raises(gg.ArgumentError, match="^dilations: expected strains >= 0, and 0 where no material"):
            world.set_continuum(np.broadcast_to(np.eye(3), (world.grain_count, 3, 3)), dilations=0.1)


@pytest.mark.parametrize("speed", [1e4, 1e7])
def test_matter_that_is_torn_to_pieces_diverges_or_goes_on(speed: float) -> None:
    """Speeds that no step resolves end in a world that tells, not in one that hangs or crashes."""
    with kneaded(0.04).build(device="cpu", num_threads=1) as world:
        world.set_grains(velocities=speed * np.random.default_rng(1).standard_normal((world.grain_count, 3)))
        for _ in range(3):
            world.step(0.02)
        assert np.isfinite(world.positions).all() and np.isfinite(world.stretches).all()
        assert world.stats["fast_count"][0] > 0 or world.stats["diverged"][0]
