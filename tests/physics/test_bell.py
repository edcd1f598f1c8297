"""The law of Bell: impacts beside an equation solver, friction without memory, heaps, momentum, bits, refusals."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import GRAVITY, faces
from testbed.bell import GRAIN, LAW, MASS, RADIUS, impact, slope, solved, solver
from testbed.clumps import ROCK, SIZE, budget

Note = Callable[..., None]
TETRA, CUBE = gg.Clump.tetrahedron(SIZE), gg.Clump.cube(SIZE)
DT = 2e-5
INTEGRATORS: dict[str, dict[str, Any]] = {"verlet": {}, "rkf45": {"integrator": "rkf45", "tolerance": 1e-3}}


def steps(settings: dict[str, Any], seconds: float) -> tuple[float, int]:
    """Time step and substeps: short with velocity Verlet, ten times as long where steps are adaptive."""
    dt = 10 * DT if settings else DT
    return dt, round(seconds / dt)


def rebound(world: gg.World, dt: float, duration: float) -> float:
    """Speed of separation after an impact that lasts for `duration`."""
    world.step(dt, round(1.5 * duration / dt))
    motion = world.clump_velocities[0, :, 0]
    return float(motion[1] - motion[0])


@pytest.mark.parametrize("exponents", [(0.5, 1.5), (0.25, 1.5), (0.0, 1.0), (1.0, 1.25)])
def test_an_impact_is_that_of_an_equation_solver(exponents: tuple[float, float], measured: Note) -> None:
    """Restitution and duration of a central impact of two spheres, and how they converge with the step."""
    law = gg.Bell(
        sliding=2.0,
        stiffness=5e5 if exponents[1] == 1.5 else 2e4,
        damping_exponent=exponents[0],
        stiffness_exponent=exponents[1],
    )
    law = law.with_restitution(0.6, MASS, RADIUS, RADIUS)
    wanted, duration = solved(law, MASS, law.stiffness_of(RADIUS), 1.0)
    assert wanted == pytest.approx(0.6, abs=1e-4)
    errors = []
    for share in (100, 400):
        with impact(law, 1.0) as world:
            errors.append(abs(rebound(world, duration / share, duration) - wanted))
    measured(coarse=errors[0], fine=errors[1])
    # without x^a in the damping the force jumps where spheres meet: first order
    assert errors[0] < (2e-3 if exponents[0] else 1e-2)
    assert errors[1] < 0.4 * errors[0] + 1e-5
    # touching until the solver's contact is over, and no longer
    with impact(law, 1.0) as world:
        step = duration / 1000
        world.step(step, 1000 - 10)
        assert world.stats["contact_count"][0] == 2
        world.step(step, 20)
        assert world.stats["contact_count"][0] == 0


def test_restitutions_of_the_paper(measured: Note) -> None:
    """k_r = 1e6, reduced mass 1: with a = 1/4 restitution depends on k_d alone, with a = 1/2 1 - e grows as v^(1/5)."""
    radius = 0.1
    density = 2.0 / (4.0 / 3.0 * np.pi * radius**3)

    def restitution(damping: float, exponent: float, speed: float) -> float:
        law = gg.Bell(sliding=0.0, stiffness=1e6, damping=damping, damping_exponent=exponent, speed=speed)
        duration = 1.2 * law.contact_time(1.0, radius, radius)
        with impact(law, speed, radius, density) as world:
            return rebound(world, duration / 800, duration) / speed

    for damping, wanted in ((50.0, 0.9322), (250.0, 0.7023), (500.0, 0.4864)):
        found = [restitution(damping, 0.25, speed) for speed in (0.2, 2.0)]
        measured(**{f"kd_{damping:g}": found[0]})
        np.testing.assert_allclose(found, wanted, atol=2e-3)
    losses = [1.0 - restitution(50.0, 0.5, speed) for speed in (0.1, 1.0, 10.0)]
    np.testing.assert_allclose(losses, [1.0 - 0.9909, 1.0 - 0.9856, 1.0 - 0.9774], atol=2e-4)
    powers = np.diff(np.log10(losses))
    measured(power=float(powers.mean()))
    np.testing.assert_allclose(powers, 0.2, atol=0.01)


def test_helpers_know_the_linear_law() -> None:
    """a = 0, b = 1: the damping and stiffness of the paper's equations 9 and 10 give its restitution and duration."""
    restitution, duration, mass = 0.7, 1e-3, 0.2
    stiffness = mass / duration**2 * (np.log(restitution) ** 2 + np.pi**2)
    damping = -2.0 * mass * np.log(restitution) / duration
    law = gg.Bell(sliding=0.0, stiffness=float(stiffness), damping_exponent=0.0, stiffness_exponent=1.0)
    assert law.contact_time(mass, RADIUS) == pytest.approx(np.pi * np.sqrt(mass / stiffness))
    assert law.depth(mass, RADIUS, speed=2.0) == pytest.approx(2.0 * np.sqrt(mass / stiffness))
    assert dataclasses.replace(law, damping=float(damping)).restitution(mass, RADIUS) == pytest.approx(0.7, abs=1e-5)
    assert law.with_restitution(0.7, mass, RADIUS).damping == pytest.approx(damping, rel=1e-4)
    # the contact of Hertz: equations 13 to 15
    law = gg.Bell(sliding=0.0, young=2e7, poisson=0.25)
    modulus = 2e7 / (2.0 * (1.0 - 0.25**2))
    assert law.stiffness_of(0.01, 0.03) == pytest.approx(4.0 / 3.0 * modulus * np.sqrt(0.0075))
    assert law.stiffness_of(0.01) == pytest.approx(4.0 / 3.0 * modulus * 0.1)


def test_friction_has_no_memory(measured: Note) -> None:
    """A cube on a slope on which Coulomb's friction would hold it creeps by its weight along the slope over 4 k_t."""
    angle = np.radians(10.0)
    gravity = (GRAVITY * np.sin(angle), 0.0, -GRAVITY * np.cos(angle))
    boundary = {"x": "open", "y": "open", "z": ("wall", "open")}
    speeds = []
    for sliding in (1.0, 4.0):
        scene = gg.Scene(((-1.0, -1.0, 0.0), (1.0, 1.0, 1.0)), gravity=gravity, boundary=boundary)
        scene.add_material(density=ROCK, friction=0.5, shape=CUBE)
        scene.add_grains(0, [(0.0, 0.0, float((CUBE.radii - CUBE.centers[:, 2]).max()))])
        law = dataclasses.replace(LAW, sliding=sliding)
        with scene.build(num_threads=1, solver=solver(law)) as world:
            world.step(1e-5, 30_000)
            before = world.clump_poses[0, 0, 0]
            world.step(1e-5, 5_000)
            speeds.append((world.clump_poses[0, 0, 0] - before) / 0.05)
            along = float(world.clump_masses[0, 0]) * gravity[0]
        assert speeds[-1] == pytest.approx(along / (4.0 * sliding), rel=2e-3)
    measured(slow=speeds[1], fast=speeds[0])


def test_an_oblique_impact_keeps_momentum_and_energy_falls(measured: Note) -> None:
    """Linear and angular momentum to rounding, friction included; energy only falls."""
    with impact(LAW, 2.0, offset=0.7 * RADIUS) as world:
        before = budget(world)
        world.step(DT, 100)
        after = budget(world)
    assert after["energy"] < before["energy"]
    assert np.abs(world_spin(after)).max() > 0.0
    for name in ("linear", "angular"):
        drift = np.abs(after[name] - before[name]).max() / before[f"{name}_sum"]
        measured(**{name: float(drift)})
        assert drift < 1e-12


def world_spin(of: dict[str, np.ndarray]) -> np.ndarray:
    """Angular momentum, of which a part is spin after an oblique impact."""
    return np.asarray(of["angular"])


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_momentum_of_grains_walls_and_tools(integrator: str, measured: Note) -> None:
    """In every step clumps gain their weight less the forces on walls and a paddle; at rest these carry it all."""
    scene = gg.Scene(((0.0, 0.0, 0.0), (0.05, 0.05, 0.3)))
    scene.add_material(density=ROCK, friction=0.5, shape=TETRA)
    scene.fill_box(0, (0.0, 0.0, 0.045), (0.05, 0.05, 0.3), count=30)
    scene.add_tool(gg.Sdf.box((0.004, 0.02, 0.02)), name="paddle", pose=(0.02, 0.025, 0.02, 1.0, 0.0, 0.0, 0.0))
    worst, settings = 0.0, INTEGRATORS[integrator]
    with scene.build(num_threads=1, solver=solver(**settings)) as world:
        mass = float(world.clump_masses.sum())
        for k in range(60):
            at = [[0.02 + 0.004 * min(k, 20) / 20, 0.025, 0.02, 1.0, 0.0, 0.0, 0.0]]
            before = budget(world)["linear"]
            world.step(*steps(settings, 0.01), at)
            gained = budget(world)["linear"] - before
            pushed = 0.01 * (world.wall_wrenches[0, :, :3].sum(axis=0) + world.wrenches[0, :, :3].sum(axis=0))
            weight = 0.01 * mass * GRAVITY
            worst = max(worst, float(np.abs(gained + pushed + [0.0, 0.0, weight]).max() / weight))
        world.step(*steps(settings, 0.4), at)
        carried = world.wall_wrenches[0, :, :3].sum(axis=0) + world.wrenches[0, :, :3].sum(axis=0)
    measured(budget=worst, floor=float(-carried[2] / (mass * GRAVITY)))
    assert worst < 1e-5
    assert carried[2] == pytest.approx(-mass * GRAVITY, rel=1e-3)


def mixture() -> gg.Scene:
    """Tetrahedra and lone spheres of two sizes that fall onto a box that turns."""
    scene = gg.Scene(((0.0, 0.0, 0.0), (0.05, 0.05, 0.2)), boundary={"x": "periodic", "z": ("wall", "open")})
    four = scene.add_material(density=ROCK, friction=0.5, shape=TETRA)
    ball = scene.add_material(density=2.0 * ROCK, friction=0.3, radius=RADIUS)
    scene.fill_box(four, (0.0, 0.0, 0.035), (0.05, 0.05, 0.1), count=30)
    scene.fill_box(ball, (0.0, 0.0, 0.11), (0.05, 0.05, 0.2), count=25, seed=2)
    scene.add_tool(gg.Sdf.box((0.005, 0.01, 0.02)), name="box", pose=(0.025, 0.025, 0.01, 1.0, 0.0, 0.0, 0.0))
    return scene


def bits(world: gg.World, env: int = 0) -> bytes:
    """All that moves in an env, and what it pushes."""
    arrays = world.clump_poses, world.clump_velocities, world.wall_wrenches, world.wrenches
    return b"".join(array[env].tobytes() for array in arrays)


def turned(k: int) -> list[list[float]]:
    return [[0.025, 0.025, 0.01, float(np.cos(0.1 * k)), 0.0, 0.0, float(np.sin(0.1 * k))]]


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_bits_depend_on_neither_threads_nor_company_nor_kernel(integrator: str) -> None:
    """One env on one thread, on two, with the scalar kernel, and among eight of which others are disturbed."""
    seen, settings = set(), INTEGRATORS[integrator]
    for threads, envs, kernel in ((1, 1, None), (2, 1, None), (1, 1, "scalar"), (2, 8, None)):
        with mixture().build(env_count=envs, num_threads=threads, solver=solver(**settings)) as world:
            if kernel:
                world._core.set_kernel(kernel)
            if envs > 1:
                world.set_gravity((1.0, 2.0, -3.0), envs=[0, 1, 2, 4, 5, 6, 7])
            for k in range(5):
                world.step(*steps(settings, 0.03), np.broadcast_to(turned(k), (envs, 1, 7)))
            assert world.stats["contact_count"][3 if envs > 1 else 0] > 50
            seen.add(bits(world, 3 if envs > 1 else 0))
    assert len(seen) == 1


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_states_go_on_as_the_world_does(integrator: str) -> None:
    """A state holds forces or the step at its end: loaded elsewhere, or branched, an env goes on with the same bits."""
    settings = INTEGRATORS[integrator]
    with mixture().build(num_threads=1, solver=solver(**settings)) as world:
        for k in range(4):
            world.step(*steps(settings, 0.03), turned(k))
        state = world.save_state()
        with world.branch(2) as copy:
            copy.load_state(state)
            copy.step(*steps(settings, 0.006), np.broadcast_to(turned(4), (copy.env_count, 1, 7)))
            branched = bits(copy, copy.env_count - 1)
        world.step(*steps(settings, 0.006), turned(4))
        assert bits(world) == branched


def test_slopes_of_tetrahedra_stand_where_spheres_flow(full: bool, measured: Note) -> None:
    """A bed of 90 grains (with --full 130) tilted by 25 degrees: spheres flow ever faster; tetrahedra creep, the slower
    the larger k_t is.

    The paper's claim that the shape of grains replaces static friction, as far as it holds."""
    kinds: dict[str, dict[str, Any]] = {"tetrahedra": {"shape": TETRA}, "spheres": {"radius": 0.78 * SIZE}}
    speeds: dict[str, list[float]] = {}
    count = 130 if full else 90
    for name, sliding in (("spheres", 1.0), ("tetrahedra", 1.0), ("tetrahedra", 4.0)):
        law = gg.Bell(sliding=sliding, young=2e6).with_restitution(0.3, GRAIN / 2, SIZE / 2, SIZE / 2)
        with slope(kinds[name], count, law) as world:
            dt = 0.9 * min(0.1 * world._contact.duration, world._contact.response)
            world.step(dt, round(0.3 / dt))
            turn = np.radians(25.0)
            world.set_gravity((GRAVITY * np.sin(turn), 0.0, -GRAVITY * np.cos(turn)))
            found = []
            for _ in range(2):
                world.step(dt, round(0.1 / dt))
                found.append(float(world.clump_velocities[0, -count:, 0].mean()))
            speeds[f"{name}_{sliding:g}"] = found
    measured(**{name: found[-1] for name, found in speeds.items()})
    assert speeds["spheres_1"][1] > 1.4 * speeds["spheres_1"][0] > 0.05
    assert speeds["tetrahedra_1"][1] < 0.2 * speeds["spheres_1"][1]
    assert speeds["tetrahedra_4"][1] < 0.5 * speeds["tetrahedra_1"][1]


def test_what_is_set_is_felt_at_once() -> None:
    """Forces of before are dropped where clumps are set; a caller's force acts from the next substep on."""
    with impact(LAW, 1.0) as world:
        world.step(DT, 20)
        assert world.stats["contact_count"][0] == 2
        poses = world.clump_poses
        poses[0, 1, 0] += 0.1
        world.set_clumps(poses, np.zeros((1, 2, 6)))
        world.step(DT, 20)
        np.testing.assert_array_equal(world.clump_velocities, 0.0)
        mass = float(world.clump_masses[0, 0])
        world.set_clump_wrenches([[3.0 * mass, 0.0, 0.0, 0.0, 0.0, 0.0], [0.0] * 6])
        world.step(DT, 500)
        np.testing.assert_allclose(world.clump_velocities[0, 0, :3], (0.03, 0.0, 0.0), atol=1e-12)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_an_env_that_is_not_finite_freezes_alone(integrator: str) -> None:
    """A force beyond all bounds freezes its env, with finite numbers; the other goes on."""
    with mixture().build(env_count=2, num_threads=1, solver=solver(**INTEGRATORS[integrator])) as world:
        pushes = np.zeros((1, world.clump_count, 6))
        pushes[0, 0, 0] = 1e38
        world.set_clump_wrenches(pushes, envs=[0])
        with np.errstate(all="ignore"):
            world.step(DT, 200)
        assert list(world.stats["diverged"]) == [1, 0]
        assert np.isfinite(world.clump_poses).all()
        assert np.isfinite(world.positions).all()
        world.save_state()


def test_periodic_faces_carry_contacts() -> None:
    """Two spheres meet across a periodic face as they do elsewhere."""
    found = []
    for shift in (0.0, 0.05):
        scene = gg.Scene(((0.0,) * 3, (0.1,) * 3), gravity=(0, 0, 0), boundary=faces("open") | {"x": "periodic"})
        scene.add_material(density=ROCK, radius=RADIUS)
        middle = 0.05 + shift
        points = [((middle - RADIUS) % 0.1, 0.05, 0.05), ((middle + RADIUS) % 0.1, 0.05, 0.05)]
        scene.add_grains(0, points, velocities=[(0.5, 0.0, 0.0), (-0.5, 0.0, 0.0)])
        with scene.build(num_threads=1, solver=solver()) as world:
            world.step(DT, 100)
            found.append(world.clump_velocities[0, :, 0])
    np.testing.assert_allclose(found[0], found[1], rtol=1e-4)
    assert found[0][1] > 0.25


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"sliding": 1.0}, "young, stiffness: expected one"),
        ({"sliding": 1.0, "young": 1e7, "stiffness": 1e6}, "young, stiffness: expected one"),
        ({"sliding": -1.0, "young": 1e7}, "sliding: expected"),
        ({"sliding": 1.0, "young": -1e7}, "young: expected"),
        ({"sliding": 1.0, "young": 1e7, "poisson": 0.6}, "poisson: expected"),
        ({"sliding": 1.0, "young": 1e7, "damping": float("nan")}, "damping: expected"),
        ({"sliding": 1.0, "young": 1e7, "damping_exponent": 0.3}, "damping_exponent: expected a multiple"),
        ({"sliding": 1.0, "young": 1e7, "stiffness_exponent": 1.25}, "stiffness_exponent: expected 1.5"),
        ({"sliding": 1.0, "stiffness": 1e6, "stiffness_exponent": 0.5}, "stiffness_exponent: expected"),
    ],
)
def test_impossible_constants_are_refused(given: dict[str, Any], message: str) -> None:
    with pytest.raises(gg.ArgumentError, match=f"^{message}"):
        gg.Bell(**given)


def test_what_the_law_does_not_know_is_refused() -> None:
    """Settings, materials, tools with a mass and readings of stored contacts."""
    for settings in ({}, {"bell": 3}):
        with pytest.raises(gg.ArgumentError, match="^bell: expected"):
            gg.Solver(mode="bell", **settings)
    with pytest.raises(gg.ArgumentError, match="^bell: expected None"):
        gg.Solver(bell=LAW)
    with pytest.raises(gg.ArgumentError, match="sleep: expected 0"):
        solver(sleep=True)
    with pytest.raises(gg.ArgumentError, match="^integrator: expected"):
        solver(integrator="euler")
    with pytest.raises(gg.ArgumentError, match="integrator: expected 0"):
        gg.Solver(integrator="rkf45", tolerance=1e-4)
    with pytest.raises(gg.ArgumentError, match="tolerance: expected a speed > 0"):
        solver(integrator="rkf45")
    with pytest.raises(gg.ArgumentError, match="^restitution: expected"):
        LAW.with_restitution(1.5, MASS, RADIUS)
    scene = gg.Scene(((0.0,) * 3, (0.1,) * 3))
    scene.add_material(density=ROCK, radius=RADIUS, cohesion=1.0, cohesion_range=1e-4)
    with pytest.raises(gg.ArgumentError, match="cohesion"):
        scene.build(solver=solver())
    scene = gg.Scene(((0.0,) * 3, (0.1,) * 3))
    scene.add_material(density=ROCK, radius=RADIUS, twisting_friction=0.1)
    with pytest.raises(gg.ArgumentError, match="twisting_friction: mode bell"):
        scene.build(solver=solver())
    scene = gg.Scene(((0.0,) * 3, (0.1,) * 3))
    scene.add_material(density=ROCK, radius=RADIUS)
    scene.add_tool(gg.Sdf.box((0.01,) * 3), name="lid", pose=(0.05, 0.05, 0.05, 1, 0, 0, 0), mass=1.0)
    with pytest.raises(gg.ArgumentError, match="mass: tools have none in mode bell"):
        scene.build(solver=solver())
    with mixture().build(num_threads=1, solver=solver()) as world:
        world.step(DT)
        with pytest.raises(gg.ArgumentError, match="contacts: expected a mode that keeps contacts"):
            world.contacts()
        with pytest.raises(gg.ArgumentError, match="integrator: fixed when a world is built"):
            world.set_solver(solver(integrator="rkf45", tolerance=1e-3))
        with pytest.raises(gg.ArgumentError, match="set_clumps sets"):
            world.set_grains(velocities=np.zeros((1, world.grain_count, 3)))


def test_long_steps_are_warned_of() -> None:
    """The rule of docs/bell.md, with the number."""
    with impact(LAW, 1.0) as world, pytest.warns(gg.StabilityWarning, match=r"steps above .* s; the shortest contact"):
        world.step(3e-4)


@pytest.mark.parametrize("exponents", [(0.5, 1.5), (1.0, 1.25)])
def test_adaptive_steps_keep_to_their_tolerance(exponents: tuple[float, float], measured: Note) -> None:
    """An impact in three substeps: the error of the restitution falls with the tolerance, and steps are taken back."""
    law = gg.Bell(sliding=2.0, stiffness=5e5, damping_exponent=exponents[0], stiffness_exponent=exponents[1])
    law = law.with_restitution(0.6, MASS, RADIUS, RADIUS)
    wanted, duration = solved(law, MASS, law.stiffness_of(RADIUS), 1.0)
    errors, tries, rejected = [], [], 0
    for tolerance in (1e-2, 1e-4, 1e-6):
        with impact(law, 1.0, integrator="rkf45", tolerance=tolerance) as world:
            errors.append(abs(rebound(world, 0.5 * duration, duration) - wanted))
            stats = world.stats
            tries.append(int(stats["step_count"][0] + stats["rejected_count"][0]))
            rejected += int(stats["rejected_count"][0])
            assert 0.0 < stats["residual"][0] <= tolerance
    measured(**{f"error_{k}": error for k, error in enumerate(errors)}, tries=tries[-1])
    assert errors[0] < 0.1
    assert errors[1] < 0.1 * errors[0]
    assert errors[2] < 2e-4
    assert tries[0] < tries[1] < tries[2] < 100
    assert rejected > 0


def test_adaptive_steps_turn_a_free_clump_as_the_other_integrator_does() -> None:
    """A rod spins about no principal axis: rotation and angular momentum after some turns."""
    poses = []
    for settings, dt in (({}, 1e-4), ({"integrator": "rkf45", "tolerance": 1e-7}, 1e-2)):
        scene = gg.Scene(((-1.0,) * 3, (1.0,) * 3), gravity=(0.0, 0.0, 0.0), boundary=faces("open"))
        scene.add_material(density=ROCK, shape=gg.Clump.sand(1))
        scene.add_grains(0, [(0.0, 0.0, 0.0)], angular_velocities=[(20.0, 5.0, 3.0)])
        with scene.build(num_threads=1, solver=solver(**settings)) as world:
            before = budget(world)["angular"]
            world.step(dt, round(1.0 / dt))
            np.testing.assert_allclose(budget(world)["angular"], before, rtol=1e-9)
            poses.append(world.clump_poses[0, 0, 3:])
    np.testing.assert_allclose(poses[0], poses[1], atol=1e-5)


@pytest.mark.parametrize("integrator", INTEGRATORS)
def test_a_tool_that_is_taken_out_bears_nothing_from_then_on(integrator: str) -> None:
    """Nor one that is placed elsewhere: forces of the last substep are not those of the next one."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.3)))
    scene.add_grains(scene.add_material(density=2500.0, friction=0.5), [(0.0, 0.0, 0.11)], 0.01)
    scene.add_tool(gg.Sdf.box((0.02, 0.02, 0.01)), name="shelf", pose=(0.0, 0.0, 0.09, 1.0, 0.0, 0.0, 0.0))
    law = gg.Bell(sliding=1.0, young=1e6, damping=100.0)
    world = scene.build(solver=gg.Solver(mode="bell", bell=law, **INTEGRATORS[integrator]), num_threads=1)
    world.step(5e-5, 4000)
    assert world.wrenches[0, 0, 2] == pytest.approx(-world.clump_masses[0, 0] * GRAVITY, rel=1e-3)
    moved = world.branch(1)
    world.set_tool_active("shelf", False)
    moved.set_tool_poses([(0.0, 0.0, 0.2, 1.0, 0.0, 0.0, 0.0)])
    for each in (world, moved):
        each.step(5e-5, 1)
        assert not each.wrenches[0, 0].any()
        assert each.clump_velocities[0, 0, 2] == pytest.approx(-GRAVITY * 5e-5, rel=0.01)
