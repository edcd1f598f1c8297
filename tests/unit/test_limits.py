"""Python and the engine accept the same values: both are tested at the bounds of every range."""

from __future__ import annotations

import math

import pytest

import granular_gym as gg
from granular_gym import _core

# field: values at the bounds, which are accepted, and values just beyond
EDGES = {
    "iterations": ((1, 1024), (0, -1, 1025, 2**31 - 1)),
    "alpha": ((0.0, 1.0), (-1e-6, 1.001)),
    "tool_alpha": ((0.0, 1.0), (-1e-6, 1.001)),
    "relaxation": ((0.0, 2.0), (-1e-6, 2.001)),
    "relaxation_sum": ((0.0, 100.0), (-1e-6, 100.1)),
    "margin": ((0.0, 0.5), (-1e-6, 0.501)),
    "skin": ((0.01, 1.0), (0.0099, 0.0, 1.001)),
    "bounce_speed": ((0.0, 1e6), (-1e-6, 1.1e6)),
    "correction_share": ((1e-6, 1.0), (0.0, 9e-7, 1.001)),
    "tolerance": ((0.0, 1e6), (-1e-6, 1.1e6)),
    "stiffness": ((0.0, 1e15), (-1e-6, 1.1e15)),
    "tangential_stiffness": ((0.0, 1.0), (-1e-6, 1.001)),
    "damping": ((0.0, 1.0), (-1e-6, 1.001)),
    "tangential_damping": ((0.0, 1.0), (-1e-6, 1.001)),
    "hash_ratio": ((0.01, 64.0), (0.0, 0.0099, 64.1)),
}
# the same of what `Solver(bell=, integrator=)` becomes in mode bell; the engine alone takes these fields
BELL_EDGES = {
    "integrator": ((0,), (-1, 2)),
    "bell_modulus": ((0.0, 1e15), (-1e-6, 1.1e15)),
    "bell_stiffness": ((1e-6, 1e15), (-1e-6, 1.1e15)),
    "bell_damping": ((0.0, 1e15), (-1e-6, 1.1e15)),
    "bell_sliding": ((0.0, 1e15), (-1e-6, 1.1e15)),
    "bell_damping_quarters": ((0, 16), (-1, 17)),
    "bell_stiffness_quarters": ((4, 16), (3, 17)),
}
CASES = [(name, value, True) for name, (taken, _) in EDGES.items() for value in taken] + [
    (name, value, False) for name, (_, refused) in EDGES.items() for value in refused
]


def small_scene() -> gg.Scene:
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.2)))
    sand = scene.add_material(density=1600.0, radius=0.01)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 0.2), count=5)
    return scene


@pytest.fixture(scope="module")
def world():
    with small_scene().build(num_threads=1) as made:
        yield made


def test_every_range_is_driven() -> None:
    numbers = {name for name, value in gg.Solver().fields().items() if name not in ("mode", "broad_phase")}
    assert set(EDGES) | set(BELL_EDGES) == numbers - {"nesterov", "spin", "sleep"}


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
@pytest.mark.parametrize(("name", "value", "taken"), CASES)
def test_solver_ranges(world: gg.World, name: str, value: float, taken: bool) -> None:
    """The engine accepts every valid Solver, and refuses invalid settings with the same message."""
    fields = {**gg.Solver().fields(), name: value}
    arrays = small_scene().freeze().arrays
    if taken:
        solver = gg.Solver(**{name: value})
        world.set_solver(solver)
        small_scene().build(solver=solver, num_threads=1).close()
        world.step(1e-3)
        return
    with pytest.raises(gg.ArgumentError, match=rf"^{name}: expected .*, got ") as python:
        gg.Solver(**{name: value})
    for call in (
        lambda: world._core.set_solver(fields),
        lambda: _core.World(env_count=1, solver=fields, thread_count=1, gpu=0, **arrays),
    ):
        with pytest.raises(gg.ArgumentError, match=rf"^solver\.{name}: expected .*, got ") as core:
            call()
        if name != "iterations":
            assert str(core.value) == f"solver.{python.value}"
    world.step(1e-3)


@pytest.mark.parametrize("name", list(BELL_EDGES))
def test_ranges_of_bell(name: str) -> None:
    """The engine takes the bounds and refuses what is beyond, by name."""
    solver = gg.Solver(mode="bell", bell=gg.Bell(sliding=1.0, stiffness=1e4))
    with small_scene().build(solver=solver, num_threads=1) as world:
        taken, refused = BELL_EDGES[name]
        for value in taken:
            world._core.set_solver({**solver.fields(), name: value})
        for value in (*refused, *((math.nan, math.inf) if isinstance(refused[0], float) else ())):
            with pytest.raises(gg.ArgumentError, match=rf"^solver\.{name}: expected .*, got "):
                world._core.set_solver({**solver.fields(), name: value})


@pytest.mark.parametrize("name", list(EDGES))
@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf, 1e300, "1", None, True, [1.0], 10**30])
def test_solver_nonsense(name: str, value: object) -> None:
    with pytest.raises(gg.ArgumentError, match=rf"^{name}: expected"):
        gg.Solver(**{name: value})


def test_relaxation_is_bounded_by_the_engine_s_safe_value() -> None:
    """Warnings start where the engine's own choice ends."""
    for settings in (
        {},
        {"iterations": 21},
        {"mode": "jacobi"},
        {"mode": "jacobi", "iterations": 20},
        {"mode": "jacobi", "nesterov": False},
        {"mode": "jacobi", "spin": False},
        {"mode": "jacobi", "spin": False, "nesterov": False},
        {"mode": "paper"},
        {"mode": "paper", "spin": True},
    ):
        for tools in (False, True):
            scene = small_scene()
            if tools:
                scene.add_tool(gg.Sdf.sphere(0.01))
            with scene.build(solver=gg.Solver(**settings), num_threads=1) as world:
                safe = {name: float(world.info["solver"][name]) for name in ("relaxation", "relaxation_sum")}
            assert not gg.Solver(**settings, **safe).dangers(tools)
            # Gauss-Seidel has no use for a bound on sums
            bounded = safe if "mode" in settings else {"relaxation": safe["relaxation"]}
            for name, value in bounded.items():
                solver = gg.Solver(**settings, **{name: 1.01 * value})
                assert [words.split()[0] for words in solver.dangers(tools)] == [name]
                with pytest.warns(gg.StabilityWarning, match=name):
                    scene.build(solver=solver, num_threads=1).close()


def test_the_hash_table_is_fixed() -> None:
    """Its size is chosen when a world is built; without a hash table the setting has no effect."""
    with small_scene().build(solver=gg.Solver(broad_phase="linked_hash"), num_threads=1) as world:
        with pytest.raises(gg.ArgumentError, match=r"^solver\.hash_ratio: expected 2, .*, got 4"):
            world.set_solver(gg.Solver(broad_phase="linked_hash", hash_ratio=4.0))
        world.set_solver(gg.Solver(broad_phase="linked_hash", iterations=5))
    with small_scene().build(num_threads=1) as world:
        world.set_solver(gg.Solver(hash_ratio=4.0))


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
@pytest.mark.parametrize(("dt", "taken"), [(1.0, True), (1e-9, True), (1.001, False), (0.0, False), (1e-60, False)])
def test_dt(world: gg.World, dt: float, taken: bool) -> None:
    if taken:
        world.step(dt)
        return
    for call in (lambda: world.step(dt), lambda: world._core.step(dt, 1)):
        with pytest.raises(gg.ArgumentError, match="^dt: expected .*, got "):
            call()


def test_num_threads(world: gg.World) -> None:
    world.num_threads = 1024
    world.num_threads = 1
    with pytest.raises(gg.ArgumentError, match="^num_threads: expected"):
        world.num_threads = 1025
    with pytest.raises(gg.ArgumentError, match="^num_threads: expected"):
        small_scene().build(num_threads=1025)
    with pytest.raises(gg.ArgumentError, match="^thread_count: expected"):
        world._core.set_thread_count(1025)
