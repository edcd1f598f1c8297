"""Laws as tables in the engine: beside a step in NumPy, momentum, bonds, bits, snapshots, files, refusals."""

from __future__ import annotations

import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.pair_table import WALL
from granular_gym.learned.export import Range, export_law, export_model, sample
from testbed.tabled import DENSITY, DT, MASS, RADIUS, REACH, Reference, bond, contact, heap, sampled, table

Note = Callable[..., None]
LAW = contact(4e3, 12.0, 0.5)
ONE = gg.PairTable(("sand",), {(0, 0, False): sampled(LAW), (0, WALL, False): sampled(LAW)})


def two(law: gg.PairTable, distance: float, speed: float, across: float = 0.0, **settings: Any) -> gg.World:
    """Two grains of sand in empty space without gravity that approach along x, and slide along y."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    sand = scene.add_material(density=DENSITY, friction=0.0, name="sand")
    away = 0.5 * distance
    scene.add_grains(
        sand, [(-away, 0, 0), (away, 0, 0)], RADIUS, velocities=[(0.5 * speed, across, 0), (-0.5 * speed, -across, 0)]
    )
    if settings.pop("bonded", False):
        scene.add_bonds([(0, 1)], 2.0 * RADIUS)
    return scene.build(solver=gg.Solver(mode="table", table=law), num_threads=1, overlaps="ignore", **settings)


@pytest.mark.parametrize("torque", ["center", "contact"])
@pytest.mark.parametrize("periodic", [False, True])
def test_a_rollout_is_that_of_numpy(torque: str, periodic: bool, measured: Note) -> None:
    """Sand on bonded clay, by SciPy's interpolation over all pairs in double precision, within 1e-4 radii."""
    law = table(torque=torque)
    with heap(40, periodic).build(solver=gg.Solver(mode="table", table=law), num_threads=1) as world:
        other, worst = Reference(world, law), 0.0
        for _ in range(4):
            for _ in range(40):
                other.step(DT)
            world.step(DT, 40)
            apart = world.positions[0] - other.x
            apart[:, 0] -= 0.3 * np.round(apart[:, 0] / 0.3) if periodic else 0.0
            worst = max(worst, float(np.abs(apart).max()) / RADIUS)
        measured(deviation=worst)
        assert worst < 1e-4
        assert world.stats["contact_count"][0] > 200 and world.stats["tool_contact_count"][0] > 5
        assert (np.abs(other.spin).max() > 1.0) == (torque == "contact")
        assert np.allclose(world.angular_velocities[0], other.spin, atol=1e-2)


def test_momentum_is_kept() -> None:
    """Grains that meet grains alone: what one does to the other is opposite in every bit."""
    with two(ONE, 1.9 * RADIUS, 0.7, 0.3) as world:
        for _ in range(50):
            world.step(DT)
            assert (world.velocities[0, 0] == -world.velocities[0, 1]).all()
        assert world.velocities[0, 0, 0] < 0.0


def test_between_nodes_forces_are_linear_and_beyond_them_held() -> None:
    """One step of two grains at rest or approaching tells the force; beyond the last gap there is none."""
    gap, normal, sliding = np.array((-0.01, 0.0, 0.002)), np.array((-1.0, 1.0)), np.array((0.0, 1.0))
    normals = np.array((8.0, 2.0, 0.0))[:, None, None] * np.ones((3, 2, 2)) - np.array((-1.0, 1.0))[None, :, None]
    samples = [normals, np.zeros((3, 2, 2)), 0.5 * np.ones((3, 2, 2)) * np.array((0.0, 1.0))]
    law = gg.PairTable(("sand",), {(0, 0, False): gg.PairForces(gap, normal, sliding, *samples)})
    for distance, velocity, wanted in (
        (-0.005, 0.0, 5.0),
        (-0.0025, 0.0, 3.5),
        (0.001, 0.0, 1.0),
        (-0.02, 0.0, 8.0),
        (-0.005, 0.5, 5.5),
        (-0.005, 7.0, 6.0),
        (0.0021, 0.0, 0.0),
        (0.002, 0.5, 0.0),
    ):
        with two(law, 2.0 * RADIUS + distance, velocity) as world:
            world.step(1e-4)
            force = (0.5 * velocity - world.velocities[0, 0, 0]) * MASS / 1e-4
            assert force == pytest.approx(wanted, abs=2e-2), (distance, velocity)
    with two(law, 1.9 * RADIUS, 0.0, across=0.25) as world:
        world.step(1e-4)
        assert (0.25 - world.velocities[0, 0, 1]) * MASS / 1e-4 == pytest.approx(0.25, abs=2e-2)


def test_forces_at_contacts_turn_and_on_centres_do_not() -> None:
    for torque, turns in (("center", False), ("contact", True)):
        law = gg.PairTable(ONE.kinds, ONE.forces, torque=torque)
        with two(law, 1.95 * RADIUS, 0.2, 0.3) as world:
            spin, orbit = 0.0, 0.0
            for _ in range(30):
                world.step(DT)
            spin = float(0.4 * MASS * RADIUS**2 * world.angular_velocities[0, :, 2].sum())
            x, v = world.positions[0], world.velocities[0]
            orbit = float(MASS * (x[:, 0] * v[:, 1] - x[:, 1] * v[:, 0]).sum())
            assert (abs(spin) > 1e-5) == turns
            # the lever of a radius is longer than half the distance where they overlap
            wanted = MASS * 0.3 * -1.95 * RADIUS
            assert (orbit + spin == pytest.approx(wanted, rel=0.05)) == turns


def test_bonds() -> None:
    """A pair swings about the length of its bond; free of it, or out of reach of its table, it does not."""
    law = gg.PairTable(("sand",), {**ONE.forces, (0, 0, True): sampled(bond(2e3, 0.5), -RADIUS, RADIUS)})
    with two(law, 2.3 * RADIUS, 0.0, bonded=True) as world:
        apart = []
        for _ in range(400):
            world.step(2e-4, 5)
            apart.append(float(np.ptp(world.positions[0, :, 0])) / RADIUS)
        assert min(apart) < 1.9 and apart[-1] == pytest.approx(2.0, abs=0.02)
    with two(law, 3.1 * RADIUS, 0.0, bonded=True) as world:
        world.step(DT, 10)
        assert (world.velocities == 0.0).all()
    with two(law, 2.3 * RADIUS, 0.0) as world:
        world.step(DT, 10)
        assert np.abs(world.velocities).max() == 0.0
    scene = heap()
    for given, words in (
        ({"pairs": [(0, 0)]}, "pairs: expected two grains, got 0 twice"),
        ({"pairs": [(1, 0)]}, "pairs: expected each pair once, got 0, 1 twice"),
        ({"pairs": [(0, 1000)]}, "pairs: expected 0 .. 86, got 1000"),
        ({"pairs": [(0, 30)], "lengths": 0.0}, "lengths: expected lengths > 0"),
    ):
        with pytest.raises(gg.ArgumentError, match=words):
            scene.add_bonds(**given)
    with pytest.raises(gg.ArgumentError, match="bonds: mode table alone has bonds"):
        scene.build(overlaps="ignore")
    bare = gg.PairTable(("sand", "clay"), {key: each for key, each in table().forces.items() if not key[2]})
    with pytest.raises(gg.ArgumentError, match="table: expected forces of bonded clay and clay"):
        scene.build(solver=gg.Solver(mode="table", table=bare))


def test_bits() -> None:
    """Threads, number of envs, snapshots and copies change none; lists that hold for long do not either."""
    solver = gg.Solver(mode="table", table=table())
    with heap().build(solver=solver, num_threads=1) as world:
        world.step(DT, 200)
        state = world.save_state()
        wanted = []
        for _ in range(3):
            world.step(DT, 40)
            wanted.append(world.state_hash())
        world.load_state(state)
        copy = pickle.loads(pickle.dumps(world))
        many = heap().build(env_count=3, solver=solver, num_threads=2)
        near = heap().build(solver=gg.Solver(mode="table", table=table(), skin=0.01), num_threads=1)
        many.load_state(state)
        near.load_state(state)
        for each in wanted:
            for other in (copy, many, near, world):
                other.step(DT, 40)
            assert copy.state_hash() == each == world.state_hash()
            assert np.array_equal(many.positions[2], world.positions[0])
            assert np.array_equal(near.positions, world.positions)
            assert np.array_equal(near.velocities, world.velocities)


@pytest.mark.filterwarnings("ignore:.*piles can fly apart.*:granular_gym.errors.StabilityWarning")
def test_steps_that_are_too_long_are_refused() -> None:
    """By the engine, where Python's bound says; a pair in a step just below it does not gain energy without bound."""
    law = table()
    longest = law.longest_step((MASS, 1.5 * MASS))
    with heap().build(solver=gg.Solver(mode="table", table=law), num_threads=1) as world:
        with pytest.raises(gg.ArgumentError, match=rf"^dt: expected at most {longest:.6g}.*N/m.*got"):
            world.step(1.001 * longest)
        with pytest.warns(gg.StabilityWarning, match="piles can fly apart"):
            world.step(0.999 * longest)
        # lighter grains are less stable
        world.set_materials(densities=(0.25 * DENSITY, 1.5 * DENSITY))
        with pytest.raises(gg.ArgumentError, match="^dt: expected at most"):
            world.step(0.9 * longest)
    spring = lambda gap, u, s: (-500.0 * gap, -3.0 * u + 0.0 * gap, 0.0 * s)  # noqa: E731
    one = gg.PairTable(("sand",), {(0, 0, True): sampled(spring, -RADIUS, RADIUS), (0, 0, False): sampled(LAW)})
    bound = gg.PairTable(("sand",), {(0, 0, True): one.forces[0, 0, True]}).longest_step([MASS])
    for share, stable in ((0.97, True), (1.03, False)):
        reference = [0.1 * RADIUS, 0.0]
        for _ in range(400):
            reference[1] += share * bound * (-500.0 * reference[0] - 3.0 * reference[1]) / (0.5 * MASS)
            reference[0] += share * bound * reference[1]
        assert (abs(reference[0]) < RADIUS) == stable


@pytest.mark.parametrize("name", ["gap", "normal_velocity", "sliding_speed", "elastic", "dissipative", "tangential"])
def test_samples_that_cannot_be(name: str) -> None:
    given = {each: np.array(getattr(ONE.forces[0, 0, False], each)) for each in sampled(LAW).__dataclass_fields__}
    broken = given[name].copy()
    broken.reshape(-1)[1] = np.nan
    with pytest.raises(gg.TableError, match=f"^{name}: expected finite numbers"):
        gg.PairForces(**{**given, name: broken})
    with pytest.raises(gg.TableError, match=f"^{name}: expected"):
        gg.PairForces(**{**given, name: given[name][..., None]})
    if given[name].ndim == 1:
        with pytest.raises(gg.TableError, match=f"^{name}: expected rising nodes"):
            gg.PairForces(**{**given, name: np.repeat(given[name][:1], len(given[name]))})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"kinds": ()}, "kinds: expected different names"),
        ({"kinds": ("a", "a")}, "kinds: expected different names"),
        ({"forces": {}}, "forces: expected those of one pair or more"),
        ({"forces": {(0, 1, False): sampled(LAW)}}, "forces: expected kinds below 1"),
        ({"forces": {(0, WALL, True): sampled(LAW)}}, "forces: expected no bond with a wall"),
        (
            {"forces": dict.fromkeys([(0, WALL, False), (WALL, 0, False)], sampled(LAW))},
            "forces: expected each pair once",
        ),
        ({"torque": "both"}, "torque: expected"),
        ({"dt": 0.0}, "dt: expected"),
        ({"masses": (1.0, 2.0)}, "masses: expected one of each of 1 kinds, got 2"),
    ],
)
def test_tables_that_cannot_be(change: dict[str, Any], words: str) -> None:
    with pytest.raises(gg.ArgumentError, match=words):
        gg.PairTable(**{"kinds": ONE.kinds, "forces": ONE.forces, **change})


def test_worlds_that_cannot_be() -> None:
    for settings in ({}, {"table": 3}):
        with pytest.raises(gg.ArgumentError, match="^table: expected"):
            gg.Solver(mode="table", **settings)
    with pytest.raises(gg.ArgumentError, match="^table: expected None"):
        gg.Solver(table=ONE)
    with pytest.raises(gg.ArgumentError, match="sleep: expected 0 in mode table"):
        gg.Solver(mode="table", table=ONE, sleep=True)
    solver = gg.Solver(mode="table", table=table())
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    scene.add_material(density=DENSITY, friction=0.0, name="gravel")
    scene.add_grains(0, [(0.5, 0.5, 0.5)], RADIUS)
    with pytest.raises(gg.ArgumentError, match=r"table: expected materials of grains named \['sand', 'clay'\], got"):
        scene.build(solver=solver)
    # one kind is every grain's
    scene.build(solver=gg.Solver(mode="table", table=ONE), num_threads=1).close()
    small = gg.Scene(((0, 0, 0), (1, 1, 1)))
    small.add_material(density=DENSITY, friction=0.0, name="sand")
    small.add_grains(0, [(0.5, 0.5, 0.5)], 0.4 * REACH)
    with pytest.raises(gg.ArgumentError, match="table: expected forces that end within a diameter"):
        small.build(solver=solver)
    clumps = gg.Scene(((0, 0, 0), (1, 1, 1)))
    clumps.add_material(density=DENSITY, friction=0.0, name="sand", shape=gg.Clump.tetrahedron(RADIUS))
    clumps.add_grains(0, [(0.5, 0.5, 0.5)])
    with pytest.raises(gg.ArgumentError, match="clumps have gauss_seidel and bell alone"):
        clumps.build(solver=solver)
    heavy = heap()
    heavy.add_tool(gg.Sdf.sphere(0.02), mass=1.0, pose=(0.0, 0.0, 0.9))
    with pytest.raises(gg.ArgumentError, match="mass: tools have none in mode table"):
        heavy.build(solver=solver)
    with heap().build(solver=solver, num_threads=1) as world:
        with pytest.raises(gg.ArgumentError, match="^table: expected that which the world was built with"):
            world.set_solver(gg.Solver(mode="table", table=ONE))
        world.set_solver(gg.Solver(mode="table", table=table(), skin=0.3))
        world.step(DT)
        with pytest.raises(gg.ArgumentError, match="contacts: expected a mode that keeps contacts"):
            world.contacts()


def test_files(tmp_path: Path) -> None:
    """A table comes back as it was; others are refused by name and number."""
    law, path = table(torque="contact"), tmp_path / "law.npz"
    gg.save_pair_table(law, path)
    back = gg.load_pair_table(path)
    assert back == law and hash(back) == hash(law) and back != table()
    assert (back.dt, back.radius, back.masses, back.torque) == (law.dt, law.radius, law.masses, "contact")
    with pytest.raises(gg.TableError, match="expected a table of forces, got No such file"):
        gg.load_pair_table(tmp_path / "none.npz")
    whole = path.read_bytes()
    for cut in (0, 10, len(whole) // 2, len(whole) - 30):
        (tmp_path / "cut.npz").write_bytes(whole[:cut])
        with pytest.raises(gg.TableError, match="cannot be read"):
            gg.load_pair_table(tmp_path / "cut.npz")
    with np.load(path) as file:
        entries = dict(file)

    def changed(**change: Any) -> Path:
        about = {**json.loads(str(entries["about"])), **change}
        np.savez(tmp_path / "changed.npz", **{**entries, "about": np.array(json.dumps(about))})
        return tmp_path / "changed.npz"

    for change, words in (
        ({"version": 2}, "expected a table of version 1, got one of version 2"),
        ({"format": "a bed"}, "expected a table of forces, got 'a bed'"),
        ({"pairs": [[0, 0, False]] * 9}, "expected the entry '6.gap'"),
        ({"kinds": ["sand"]}, "masses: expected one of each of 1 kinds"),
        ({"torque": None}, "torque: expected"),
    ):
        with pytest.raises(gg.TableError, match=words):
            gg.load_pair_table(changed(**change))


def test_export_follows_the_law(measured: Note) -> None:
    """Nodes lie where the law bends; a table of a table is the same law; forces at the end are refused."""
    where = Range(deepest=-RADIUS, speed=3.0, tolerance=3e-3)
    exported = export_law(
        lambda one, other, bonded: bond(2e3, 5.0) if bonded else LAW,
        ("sand",), where, lambda bonded: REACH if not bonded else RADIUS, torque="contact", dt=DT,
    )  # fmt: skip
    assert set(exported.table.forces) == {(0, 0, False), (0, WALL, False)}
    forces = exported.table.pair_law(0, 0)
    rng = np.random.default_rng(1)
    points = rng.uniform((-RADIUS, -3.0, 0.0), (-0.05 * RADIUS, 3.0, 3.0), (4000, 3)).T
    found, wanted = (np.array((sum(law(*points)[:2]), law(*points)[2])) for law in (forces, LAW))
    # over the largest force at that gap and a tenth of the largest at all
    pushed, most = (
        np.stack([np.add(*each[:2]), each[2]]) for each in (LAW(points[0], -3.0, 3.0), LAW(-RADIUS, -3.0, 3.0))
    )
    apart = float((np.abs(found - wanted) / (pushed + 0.1 * most[:, None])).max())
    measured(error=exported.errors[0, 0, False], apart=apart)
    assert exported.errors[0, 0, False] <= 3e-3 and apart < 6e-3
    # the contact bends most where it begins, friction where sliding does
    for nodes in (-forces.gap[forces.gap <= 0.0][::-1], forces.sliding_speed):
        assert np.diff(nodes)[0] < 0.3 * np.diff(nodes)[-1]
    # a kink is a node, where it is told
    kinked = lambda gap, u, s: (np.maximum(-0.37 * RADIUS - gap, 0.0) + 0.0 * u, 0.0 * gap, 0.0 * s)  # noqa: E731
    fitted, error = sample(kinked, where, REACH, [-0.37 * RADIUS, REACH, -2.0 * RADIUS])
    assert error < 1e-6 and len(fitted.gap) < len(sample(kinked, where, REACH)[0].gap)
    assert np.float32(-0.37 * RADIUS) in fitted.gap and fitted.gap[0] > -2.0 * RADIUS
    with pytest.raises(gg.ArgumentError, match="^reach: expected a gap from which on forces are 0, got"):
        sample(LAW, where, -0.5 * RADIUS)
    with pytest.raises(gg.TableError, match="finite"):
        sample(lambda gap, u, s: (np.where(gap < -0.02, np.nan, 0.0 * gap), 0.0 * u, 0.0 * s), where, REACH)


def test_a_model_is_exported() -> None:
    """What offers `pair_law`, `reach`, `masses` and a scale, in SI units."""

    class Scale:
        dt, radius, kinds, step = 0.01, RADIUS, 2, 0.005

    class Model:
        scale = Scale()

        def pair_law(self, kind_a: int, kind_b: int, bonded: bool = False) -> Any:
            return bond(50.0, 0.5) if bonded else LAW

        def reach(self, bonded: bool) -> float:
            return RADIUS if bonded else REACH

        def masses(self) -> Any:
            return np.array((MASS, 2.0 * MASS))

        def kinks(self, kind_a: int, kind_b: int) -> Any:
            return (-0.01 * RADIUS,) if kind_b == WALL else ()

    with pytest.raises(gg.ArgumentError, match="^reach: expected a gap from which on forces are 0"):
        export_model(Model(), bonded=[(1, 1)], tolerance=0.05)
    law = export_model(Model(), ["sand", "clay"], tolerance=0.05).table
    assert (
        law.kinds == ("sand", "clay")
        and (law.dt, law.radius) == (Scale.step, RADIUS)
        and law.masses == (MASS, 2 * MASS)
    )
    assert len(law.forces) == 5 and law.forces[0, WALL, False].sliding_speed[-1] == pytest.approx(4.0 * RADIUS / 0.01)
    with pytest.raises(gg.ArgumentError, match="^kinds: expected 2 names"):
        export_model(Model(), ["sand"])


def test_a_law_in_other_units() -> None:
    """Grains of a quarter of the size under the same gravity move alike, in half of the time."""
    small = ONE.scaled(0.25, 0.5, 0.25**3)
    finals = []
    for law, size in ((ONE, 1.0), (small, 0.25)):
        scene = gg.Scene(size * np.array(((-0.06, -0.06, 0.0), (0.06, 0.06, 1.0))))
        sand = scene.add_material(density=DENSITY, friction=0.0, name="sand")
        scene.add_grains(sand, size * np.array([(0.0, 0.01, 0.05 + 0.06 * k) for k in range(4)]), size * RADIUS)
        with scene.build(solver=gg.Solver(mode="table", table=law), num_threads=1) as world:
            world.step(DT * size**0.5, 300)
            finals.append(world.positions[0] / size)
    assert np.abs(finals[0] - finals[1]).max() < 1e-3 * RADIUS


@pytest.mark.parametrize("task", ["Bulldozer-v0", "Pour-v0"])
def test_tasks_with_a_law_in_a_file(task: str, tmp_path: Path) -> None:
    """Their grains move by the table, scaled to them; beds settle and are pushed."""
    path = tmp_path / "law.npz"
    gg.save_pair_table(gg.PairTable(ONE.kinds, ONE.forces, dt=0.001, radius=RADIUS, masses=(MASS,)), path)
    import gymnasium

    env = gymnasium.make(f"granular_gym/{task}", grain_count=60, contact_law=str(path))
    env.reset(seed=0)
    world = env.unwrapped.task.world
    assert world.solver.mode == "table" and world.solver.table.radius == pytest.approx(env.unwrapped.task.radius)
    for _ in range(3):
        _, reward, *_ = env.step(env.action_space.sample())
    assert np.isfinite(reward) and np.isfinite(world.positions).all()
    assert world.stats["contact_count"][0] > 60
    env.close()
    for given, words in (
        ({"contact_law": tmp_path / "none"}, "No such file"),
        ({"contact_law": 3}, "contact_law: expected the path"),
        ({"contact_law": path, "grain": "tetrahedron"}, "grain: expected 'sphere'"),
        ({"contact_law": path, "friction_range": (0.1, 0.2)}, "friction_range: expected None"),
        ({"contact_law": path, "randomize": gg.MaterialRanges(friction=(0.1, 0.2))}, "randomize: expected density"),
    ):
        with pytest.raises(gg.ArgumentError, match=words):
            gymnasium.make(f"granular_gym/{task}", grain_count=60, **given)
    with pytest.raises(gg.ArgumentError, match="contact_law: expected None of this task"):
        gymnasium.make("granular_gym/Level-v0", contact_law=path)


def uneven(seed: int) -> gg.PairForces:
    """Forces at random nodes, some of them a millionth of the axis apart, that mean nothing."""
    rng = np.random.default_rng(seed)

    def nodes(low: float, high: float, count: int) -> Any:
        near = low + (high - low) * (0.3 + 1e-6 * np.arange(1, 6))
        return np.unique(np.concatenate([[low, high], near, rng.uniform(low, high, count)]).astype(np.float32))

    axes = nodes(-0.4 * RADIUS, REACH, 90), nodes(-2.0, 2.0, 20), nodes(0.0, 1.5, 30)
    samples = rng.uniform(-1.0, 1.0, (3, *(len(axis) for axis in axes)))
    return gg.PairForces(*axes, *samples)


@pytest.mark.filterwarnings("ignore:.*piles can fly apart.*:granular_gym.errors.StabilityWarning")
def test_forces_at_any_nodes_and_contacts_outside_of_them(measured: Note) -> None:
    """400 lone pairs: each has the force of its table, and those deeper or faster than its samples are counted."""
    forces, rng, count, dt = uneven(3), np.random.default_rng(4), 400, 5e-8
    law = gg.PairTable(("sand",), {(0, 0, False): forces})
    scene = gg.Scene(((-1, -1, -1), (50, 50, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    sand = scene.add_material(density=DENSITY, friction=0.0, name="sand")
    gap, parting, sliding = rng.uniform((-0.5 * RADIUS, -2.5, 0.0), (1.2 * REACH, 2.5, 1.9), (count, 3)).T
    gap[:20] = forces.gap[20:40] + 1e-9
    first = np.stack([*np.meshgrid(np.arange(20.0), np.arange(20.0)), np.zeros((20, 20))], -1).reshape(-1, 3)
    second = first + np.stack([0.0 * gap, 0.0 * gap, 2.0 * RADIUS + gap], -1)
    scene.add_grains(sand, first, RADIUS)
    moving = np.stack([sliding, 0.0 * gap, parting], -1)
    scene.add_grains(sand, second, RADIUS, velocities=moving)
    with scene.build(solver=gg.Solver(mode="table", table=law), num_threads=1, overlaps="ignore") as world:
        x, before = world.positions[0].astype(float), world.velocities[0].astype(float)
        seen = np.stack([x[count:, 2] - x[:count, 2] - 2.0 * RADIUS, before[count:, 2], before[count:, 0]])
        world.step(dt)
        # the heavier the push over the velocity, the fewer digits are lost: of the grain that was at rest
        found = -world.velocities[0, :count].astype(float) * MASS / dt
        stats = world.stats
        elastic, dissipative, tangential = forces(*seen)
        acts = seen[0] < forces.gap[-1]
        wanted = np.where(acts, elastic + dissipative, 0.0), np.where(acts, -tangential, 0.0)
        apart = np.abs(np.stack([found[:, 2] - wanted[0], found[:, 0] - wanted[1]]))
        # single precision places a gap within 4e-9 m, where forces change by 2 N within nodes that are 2e-8 m apart
        measured(median=float(np.median(apart)), most=float(apart.max()))
        assert np.median(apart) < 1e-5 and np.quantile(apart, 0.99) < 2e-3
        outside = (seen[0] < forces.gap[0]) | (abs(seen[1]) > 2.0) | (seen[2] > 1.5)
        assert 50 < (outside & acts).sum() < 350
        assert stats["unsampled_count"][0] == 2 * (outside & acts).sum() and stats["contact_count"][0] == 2 * acts.sum()
        world.step(dt, 3)
        assert world.stats["unsampled_count"][0] == 6 * (outside & acts).sum()


def test_no_contact_within_the_samples_is_counted() -> None:
    """Also none at their last node, at rest, of an axis with one node, or under another law."""
    steady = gg.PairForces((-RADIUS, 0.0), (0.0,), (0.0,), *np.zeros((3, 2, 1, 1)))
    law = gg.PairTable(("sand",), {(0, 0, False): steady})
    with two(law, 1.9 * RADIUS, 3.0, 2.0) as world:
        world.step(1e-4)
        assert (world.stats["unsampled_count"][0], world.stats["contact_count"][0]) == (0, 2)
    with two(ONE, 1.9 * RADIUS, 0.0) as world:
        world.step(1e-4)
        assert (world.stats["unsampled_count"][0], world.stats["contact_count"][0]) == (0, 2)
    with two(ONE, 1.9 * RADIUS, 3.5) as world:
        world.step(1e-4)
        assert world.stats["unsampled_count"][0] == 2
    with heap().build(solver=gg.Solver(mode="table", table=table()), num_threads=1) as world:
        # what falls on the floor faster than 3 m/s is a contact with a tool
        world.step(DT, 100)
        assert world.stats["unsampled_count"][0] == 0
        world.set_grains(velocities=np.full(world.positions.shape, (0.0, 0.0, -4.0)))
        world.step(DT)
        assert world.stats["unsampled_count"][0] >= world.stats["tool_contact_count"][0] > 5


def test_the_longest_step_is_that_of_the_least_stable_point(measured: Note) -> None:
    """The linear motion about no point gains in a step just below it, and about a corner of a cell just above."""
    rng = np.random.default_rng(5)
    axes = [np.cumsum(rng.uniform(0.5, 1.5, count)) * width for count, width in ((12, 2e-3), (7, 0.3), (4, 0.3))]
    forces = gg.PairForces(axes[0] - 0.02, axes[1] - 1.0, axes[2], *rng.uniform(-1.0, 1.0, (3, 12, 7, 4)))
    longest = forces.longest_step(MASS)

    def gains(dt: float, points: Any, h: float = 1e-7) -> float:
        """The largest root of symplectic Euler about points, less 1, by differences of the forces there."""
        gap, parting, sliding = points
        push = lambda g, u: np.add(*forces(g, u, sliding)[:2])  # noqa: E731
        k = np.maximum((push(gap - h, parting) - push(gap + h, parting)) / (2.0 * h), 0.0)
        c = np.maximum((push(gap, parting - h) - push(gap, parting + h)) / (2.0 * h), 0.0)
        polynomials = np.stack([np.ones_like(k), (k * dt + c) * dt / MASS - 2.0, 1.0 - c * dt / MASS], -1)
        return max(float(np.abs(np.roots(each)).max()) for each in polynomials) - 1.0

    ends = [(float(axis[0]), float(axis[-1])) for axis in (forces.gap, forces.normal_velocity, forces.sliding_speed)]
    anywhere = rng.uniform(*np.transpose(ends), (4000, 3)).T
    # just inside the corners of all cells
    inside = [
        np.concatenate([axis[:-1] + 1e-6, axis[1:] - 1e-6])
        for axis in (forces.gap.astype(float), forces.normal_velocity.astype(float))
    ]
    corners = np.stack(np.meshgrid(*inside, forces.sliding_speed, indexing="ij")).reshape(3, -1)
    stable = max(gains(0.99 * longest, anywhere), gains(0.99 * longest, corners))
    unstable = gains(1.01 * longest, corners)
    measured(stable=stable, unstable=unstable)
    assert stable < 1e-9 and unstable > 1e-3


@pytest.mark.filterwarnings("ignore:.*piles can fly apart.*:granular_gym.errors.StabilityWarning")
def test_slopes_of_different_places_do_not_add_up() -> None:
    """Stiff where it does not dissipate, and the other way round: none asks for the step of both, in Python and C."""
    gap, normal = np.linspace(-RADIUS, 0.2 * RADIUS, 25), np.array((-0.1, 0.0, 0.1))
    deep = gap[:, None, None] + 0.5 * RADIUS
    elastic = -2e3 * np.minimum(deep, 0.0) + np.zeros((25, 3, 1))
    dissipative = -8.0 * np.clip(deep / (0.5 * RADIUS), 0.0, 1.0) * normal[:, None]
    both = gg.PairForces(gap, normal, (0.0,), elastic, dissipative, np.zeros((25, 3, 1)))
    together, apart = sampled(bond(2e3, 8.0)).longest_step(0.5 * MASS), both.longest_step(0.5 * MASS)
    assert apart > 1.5 * together
    refused = pytest.raises(gg.ArgumentError, match=f"^dt: expected at most {apart:.5g}")
    with two(gg.PairTable(("sand",), {(0, 0, False): both}), 1.9 * RADIUS, 0.0) as world, refused:
        world.step(1.001 * apart)
