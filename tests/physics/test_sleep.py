"""Solver(sleep=True): envs at rest are left as they are, wake in time, and go on as if they had never slept."""

from __future__ import annotations

import pickle
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, DT, GRAVITY, RADIUS, lattice, mass
from testbed.planar import pile

Note = Callable[..., None]
COUNT, STEP = 150, 20
WEIGHT = COUNT * mass() * GRAVITY
#: pose of the blade, high above the bed
BLADE = (0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0)


def box() -> gg.Scene:
    """Grains in a box, and a blade high above them."""
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.5)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.2, name="sand")
    scene.add_grains(sand, lattice(COUNT, 4.0), RADIUS)
    scene.add_tool(gg.Sdf.box((0.03, 0.03, 0.01)), name="blade", pose=BLADE)
    return scene


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
def test_a_fixed_grain_that_moves_slowly_goes_on(mode: str) -> None:
    """Below every speed at rest: .5 % of g dt."""
    scene = box()
    press = scene.add_material(density=DENSITY, fixed=True)
    scene.add_grains(press, [(0.0, 0.0, 0.4)], RADIUS, velocities=[(0.0, 0.0, -5e-5)])
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True, mode=mode))
    for _ in range(100):
        world.step(1e-3, 20)
    assert world.positions[0, -1, 2] == pytest.approx(0.4 - 2.0 * 5e-5, abs=1e-6)
    assert world.velocities[0, -1, 2] == pytest.approx(-5e-5)


def test_a_fixed_shape_that_moves_slowly_goes_on() -> None:
    scene = gg.Scene(((-1.0, 0.0), (1.0, 2.0)))
    shape = gg.Shape2D.octagon(0.1)
    for fixed, place, speed in ((False, (0.0, 0.1), 0.0), (True, (0.0, 1.0), -5e-5)):
        scene.add_grains(
            scene.add_material(density=DENSITY, shape=shape, fixed=fixed), [place], velocities=[(0.0, speed)]
        )
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True, iterations=20))
    for _ in range(100):
        world.step(1e-3, 20)
    assert world.positions[0, 1, 1] == pytest.approx(1.0 - 2.0 * 5e-5, abs=1e-6)


def test_a_grain_that_sinks_slowly_does_not_sleep() -> None:
    """In a fluid so viscous that it gains but a hundredth of g dt in a substep."""
    radius, viscosity = 2e-4, 2.5
    scene = gg.Scene(((-4e-3, -4e-3, 0.0), (4e-3, 4e-3, 0.02)), air=gg.Air(density=0.0, viscosity=viscosity))
    scene.add_grains(scene.add_material(density=DENSITY), [(0.0, 0.0, 0.015)], radius)
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True))
    for _ in range(50):
        world.step(1e-3, 20)
    speed = 2.0 / 9.0 * DENSITY * GRAVITY * radius**2 / viscosity
    assert 0.015 - world.positions[0, 0, 2] == pytest.approx(speed * 1.0, rel=0.02)


def test_a_clump_that_sinks_slowly_does_not_sleep() -> None:
    """In a fluid so viscous that it falls by less than a ten thousandth of g dt; each of its spheres is dragged."""
    radius, viscosity = 2e-4, 250.0
    scene = gg.Scene(((-4e-3, -4e-3, 0.0), (4e-3, 4e-3, 0.02)), air=gg.Air(density=0.0, viscosity=viscosity))
    pair = scene.add_material(density=DENSITY, shape=gg.Clump.pair(radius, aspect=2.0))
    scene.add_grains(pair, [(0.0, 0.0, 0.015)], radius=radius)
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True))
    for _ in range(50):
        world.step(1e-3, 20)
    speed = 2.0 / 9.0 * DENSITY * GRAVITY * (0.5 * radius) ** 2 / viscosity
    assert 0.015 - world.clump_poses[0, 0, 2] == pytest.approx(speed * 1.0, rel=0.02)


def test_a_clump_above_many_grains_at_rest_falls_on() -> None:
    """One grain in 64 need not be at rest for an env to sleep, but none may be fast."""
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 0.5)))
    sand = scene.add_material(density=DENSITY, name="sand")
    cube = scene.add_material(density=DENSITY, shape=gg.Clump.cube(RADIUS), name="cube")
    places = [(0.012 * (i - 11.5), 0.012 * (j - 11.5), RADIUS) for i in range(24) for j in range(24)]
    scene.add_grains(sand, places, RADIUS)
    scene.add_grains(cube, [(0.0, 0.0, 0.45)], radius=RADIUS)
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True))
    for _ in range(10):
        world.step(1e-3, 20)
    assert world.clump_poses[0, -1, 2] == pytest.approx(0.45 - 0.5 * GRAVITY * 0.2**2, abs=2e-3)


def test_a_clump_that_lies_across_a_periodic_face_sleeps() -> None:
    """Its spheres are carried around one by one."""
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.2)), boundary={"x": "periodic"})
    cube = scene.add_material(density=DENSITY, friction=0.5, shape=gg.Clump.cube(RADIUS))
    scene.add_grains(cube, [(0.05, 0.0, 0.004)], radius=RADIUS, orientations=(1, 0, 0, 0))
    world = scene.build(device="cpu", num_threads=1, solver=gg.Solver(sleep=True))
    for _ in range(50):
        world.step(1e-3, 20)
    assert np.ptp(world.positions[0, :, 0]) > 0.09
    assert world.stats["asleep_share"][0] == 1.0


def shelf() -> gg.Scene:
    """Nine grains that lie on a shelf above the floor."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.4)))
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.1)
    places = [[3 * RADIUS * (k % 3 - 1), 3 * RADIUS * (k // 3 - 1), 0.1 + RADIUS] for k in range(9)]
    scene.add_grains(sand, places, RADIUS)
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 0.01)), name="shelf", pose=(0.0, 0.0, 0.09, 1, 0, 0, 0))
    return scene


def build(scene: gg.Scene, env_count: int = 1, sleep: bool = True, **settings: Any) -> gg.World:
    threads = settings.pop("num_threads", 1)
    return scene.build(env_count, device="cpu", num_threads=threads, solver=gg.Solver(sleep=sleep, **settings))


def asleep(world: gg.World) -> list[bool]:
    """Which envs slept as a whole in the last step."""
    stats = world.stats
    return [bool(value) for value in (stats["asleep_share"] == 1.0) & (stats["iteration_count"] == 0)]


def rest(world: gg.World, dt: float = DT, steps: int = 200) -> int:
    """Steps until all envs sleep."""
    for k in range(steps):
        world.step(dt, STEP)
        if all(asleep(world)):
            return k
    raise AssertionError(f"awake after {steps} steps: {world.stats}")


@pytest.fixture(scope="module")
def bed() -> gg.State:
    """The box, asleep."""
    with build(box()) as world:
        rest(world)
        return world.save_state()


@pytest.fixture(scope="module")
def whole() -> gg.State:
    """The same in a mode in which envs sleep as a whole alone, with the bits of one that never does until then."""
    with build(box(), mode="jacobi") as world:
        rest(world)
        return world.save_state()


def slept(bed: gg.State, env_count: int = 1, **settings: Any) -> gg.World:
    """Copies of the bed that slept in a step."""
    world = build(box(), env_count, **settings)
    world.load_state(bed)
    world.step(DT, STEP)
    assert asleep(world) == [settings.get("sleep", True)] * env_count
    return world


def test_awake_nothing_differs() -> None:
    """Until it sleeps, an env has the bits of one that never does."""
    with build(box(), mode="jacobi") as world, build(box(), sleep=False, mode="jacobi") as other:
        while True:
            world.step(DT, STEP)
            other.step(DT, STEP)
            if asleep(world)[0]:
                break
            assert world.state_hash() == other.state_hash()
            assert world.stats.keys() == other.stats.keys()
            for name, values in world.stats.items():
                np.testing.assert_array_equal(values, other.stats[name], err_msg=name)
            np.testing.assert_array_equal(world.wall_wrenches, other.wall_wrenches)
        assert not asleep(other)[0]


def test_an_env_asleep_stays_as_it_is(bed: gg.State, measured: Note) -> None:
    """State, contacts and wrenches; counters are those of the last substep, and there is no work."""
    with slept(bed) as world:
        before, hashed, wrenches = world.stats, world.state_hash(), world.wall_wrenches.copy()
        contacts = world.contacts(0)
        for substeps in (STEP, 7, 1, 3, STEP):
            world.step(DT, substeps)
            assert asleep(world) == [True] and world.state_hash() == hashed
            np.testing.assert_allclose(world.wall_wrenches, wrenches, rtol=1e-6)
        after = world.stats
        for name in ("contact_count", "tool_contact_count", "overlap_sum", "overlap_count", "kinetic_energy"):
            assert after[name] == before[name] and after["contact_count"][0] > COUNT, name
        for name in ("iteration_count", "rebuild_count", "growth_count"):
            assert after[name][0] == 0, name
        measured(floor_over_weight=-wrenches[0, 4, 2] / WEIGHT)
        assert -wrenches[0, :, 2].sum() == pytest.approx(WEIGHT, rel=1e-4)
        np.testing.assert_array_equal(world.contacts(0).impulses, contacts.impulses)


def test_on_waking_it_goes_on(whole: gg.State, measured: Note) -> None:
    """A step after waking has the bits of the same step of an env that does not sleep; and is where one that never
    slept is."""
    with slept(whole, mode="jacobi") as world, build(box(), sleep=False, mode="jacobi") as never:
        never.load_state(whole)
        for _ in range(20):
            world.step(DT, STEP)
            never.step(DT, STEP)
        off = np.abs(world.positions - never.positions).max() / DIAMETER
        measured(apart_in_diameters=off)
        assert off < 1e-6
        never.load_state(world.save_state())
        world.set_gravity(world.gravity)
        for _ in range(2):
            world.step(DT, STEP)
            never.step(DT, STEP)
            assert asleep(world) == [False] and world.state_hash() == never.state_hash()


def test_a_tool_that_comes_wakes_in_time(whole: gg.State) -> None:
    """It moves above a bed asleep, and wakes it in the step in which it touches, with the bits of an env awake."""
    with slept(whole, mode="jacobi") as world, build(box(), sleep=False, mode="jacobi") as never:
        naps, touched = 0, False
        for k in range(60):
            height = 0.3 - 0.005 * k
            state = world.save_state()
            world.step(DT, STEP, tool_poses=[(*BLADE[:2], height, *BLADE[3:])])
            never.load_state(state)
            never.step(DT, STEP, tool_poses=[(*BLADE[:2], height, *BLADE[3:])])
            touched = bool(never.wrenches[0].any())
            if touched or not asleep(world)[0]:
                assert asleep(world) == [False]
                assert world.state_hash() == never.state_hash()
            naps += asleep(world)[0]
            if touched:
                break
        assert naps > 30 and touched
        # it stands still on the grains: they come to rest with it
        pose = world.tool_poses[0].copy()
        for _ in range(100):
            world.step(DT, STEP, tool_poses=pose)
        assert asleep(world) == [True]


def test_a_tool_far_away_does_not_wake(bed: gg.State) -> None:
    """It turns and moves, and comes to where its target is."""
    with slept(bed) as world:
        for k in range(1, 5):
            world.step(DT, STEP, tool_poses=[(0.01 * k, 0.0, 0.3, np.cos(0.1 * k), 0.0, np.sin(0.1 * k), 0.0)])
            assert asleep(world) == [True] and world.tool_poses[0, 0, 0] == np.float32(0.01 * k)
        # half a radius in a substep is counted, asleep or not
        world.step(DT, STEP, tool_poses=[(0.04, 0.15, 0.3, 1.0, 0.0, 0.0, 0.0)])
        assert asleep(world) == [True] and world.stats["fast_tool_count"][0] == STEP


def test_a_grain_that_falls_keeps_its_env_awake(bed: gg.State) -> None:
    """Also at the top of its flight, and until the bed is at rest again."""
    with slept(bed) as world:
        positions, velocities = world.positions[0].copy(), np.zeros((COUNT, 3), np.float32)
        top = positions[:, 2].argmax()
        positions[top, 2] += 0.05
        velocities[top, 2] = 0.5
        world.set_grains(positions=positions, velocities=velocities)
        awake = rest(world)
        # a flight of .5 m/s upwards from .05 m takes .16 s
        assert awake * STEP * DT > 0.16
        assert world.positions[0, top, 2] < positions[top, 2] - 0.03


@pytest.mark.parametrize("taken_out", [False, True])
def test_an_undercut_bed_wakes(taken_out: bool) -> None:
    """A shelf is moved away or taken out: all grains fall in that step, with the bits of an env that never sleeps."""
    with build(shelf()) as world, build(shelf(), sleep=False) as never:
        rest(world)
        assert world.wrenches[0, 0, 2] == pytest.approx(-9 * mass() * GRAVITY, rel=1e-4)
        never.load_state(world.save_state())
        height, poses = world.positions[0, :, 2].copy(), world.tool_poses
        if taken_out:
            for each in (world, never):
                each.set_tool_active("shelf", False)
        else:
            poses[0, 0, 2] -= 0.05
        for each in (world, never):
            each.step(DT, STEP, tool_poses=poses)
        assert asleep(world) == [False] and world.state_hash() == never.state_hash()
        assert (world.positions[0, :, 2] < height - 0.4 * GRAVITY * (STEP * DT) ** 2).all()


def lift(world: gg.World) -> None:
    poses = world.tool_poses
    poses[:, 0, 2] += 0.01
    world.set_tool_poses(poses)


#: whatever changes an env from outside, even to what it was
SETTERS: dict[str, Callable[[gg.World], Any]] = {
    "set_grains": lambda world: world.set_grains(velocities=world.velocities),
    "transform_grains": lambda world: world.transform_grains((0.0, 0.0, 0.0), 0.0),
    "set_gravity": lambda world: world.set_gravity(world.gravity),
    "set_air": lambda world: world.set_air(wind=(0.0, 0.0, 0.0)),
    "set_materials": lambda world: world.set_materials(*world._core.get_materials()),
    "set_pair": lambda world: world.set_pair("sand", "sand", friction=0.5),
    "set_density": lambda world: world.set_density("sand", DENSITY),
    "set_tool_poses": lift,
    "set_tool_active": lambda world: world.set_tool_active("blade", True),
    "set_solver": lambda world: world.set_solver(world.solver),
    "dt": lambda world: world.step(0.5 * DT, STEP),
}


@pytest.mark.parametrize("name", SETTERS)
def test_a_setter_wakes(bed: gg.State, name: str) -> None:
    """And the env sleeps again once it was at rest."""
    with slept(bed) as world:
        SETTERS[name](world)
        if name != "dt":
            world.step(DT, STEP)
        assert asleep(world) == [False]
        rest(world)


@pytest.mark.parametrize("name", ["set_gravity", "set_air", "set_tool_poses", "set_grains", "set_density"])
def test_only_the_listed_envs_wake(bed: gg.State, name: str) -> None:
    with slept(bed, env_count=3) as world:
        listed: dict[str, Callable[[], Any]] = {
            "set_gravity": lambda: world.set_gravity((0.0, 0.0, -GRAVITY), envs=[1]),
            "set_air": lambda: world.set_air(wind=(0.0, 0.0, 0.0), envs=[1]),
            "set_tool_poses": lambda: world.set_tool_poses([BLADE], envs=[1]),
            "set_grains": lambda: world.set_grains(velocities=world.velocities[[1]], envs=[1]),
            "set_density": lambda: world.set_density("sand", DENSITY, envs=[1]),
        }
        listed[name]()
        world.step(DT, STEP)
        assert asleep(world) == [True, False, True]


def test_states_and_pickles_keep_it(bed: gg.State) -> None:
    """A copy sleeps in its first step; one that was loaded where dt differs does not."""
    with slept(bed) as world:
        hashed = world.state_hash(0)
        with pickle.loads(pickle.dumps(world)) as copy, world.branch(2) as branch:
            for each in (copy, branch):
                assert each.solver.sleep
                each.step(DT, STEP)
                assert all(asleep(each)) and {each.state_hash(env) for env in range(each.env_count)} == {hashed}
        world.load_state(bed)
        world.step(0.5 * DT, STEP)
        assert asleep(world) == [False]


@pytest.mark.parametrize(("env_count", "threads"), [(1, 2), (1, 3), (8, 1), (8, 2), (8, 3), (5, 3)])
def test_same_bits_in_any_company(bed: gg.State, env_count: int, threads: int) -> None:
    """Envs that sleep and envs that do not, in turns, by threads that share them or share each phase."""

    def run(envs: list[int], num_threads: int) -> Any:
        with build(box(), len(envs), num_threads=num_threads) as world:
            world.load_state(bed)
            told = []
            for k in range(12):
                poses = np.tile(np.float32(BLADE), (len(envs), 1, 1))
                # some blades dip into the bed for a while
                for at, env in enumerate(envs):
                    poses[at, 0, 2] = 0.3 - 0.27 * (env % 2) * np.sin(0.4 * k) ** 2
                    poses[at, 0, 0] = 0.001 * k * (env % 3 == 0)
                world.step(DT, STEP, tool_poses=poses)
                told.append([(world.state_hash(at), asleep(world)[at]) for at in range(len(envs))])
                # buffers are those of the world, and grow for all of its envs
                counters = [values for name, values in world.stats.items() if name != "growth_count"]
                readings = (world.wrenches, world.wall_wrenches, *counters)
                told[-1] = [(*each, *(value[at].tobytes() for value in readings)) for at, each in enumerate(told[-1])]
            return told

    many = run(list(range(env_count)), threads)
    naps = [each[1] for step in many for each in step]
    assert any(naps) and (env_count == 1 or not all(naps))
    for env in range(min(env_count, 3)):
        alone = run([env], 1)
        assert [step[env] for step in many] == [step[0] for step in alone]


def test_same_bits_on_every_instruction_set() -> None:
    """Of those that this machine has; also when they fall asleep."""
    told = set()
    for name in ("scalar", "vector128", "avx2", "avx512"):
        with build(box()) as world:
            try:
                world._core.set_kernel(name)
            except gg.BackendError:
                continue
            told.add((rest(world), world.state_hash()))
    assert len(told) == 1


def test_without_gravity_only_what_is_still_sleeps() -> None:
    """However slowly it moves; fixed grains that move never rest."""
    apart = np.array([[0.0, 0.0, 0.1], [0.0, 0.05, 0.1]])
    for speed, wanted in ((0.0, True), (1e-9, False)):
        scene = gg.Scene(((-1, -1, 0), (1, 1, 1)), gravity=(0, 0, 0), boundary={"x": "open", "y": "open", "z": "open"})
        scene.add_grains(scene.add_material(density=DENSITY), apart, RADIUS, [[0.0, 0.0, 0.0], [speed, 0.0, 0.0]])
        with build(scene) as world:
            for _ in range(16):
                world.step(DT, STEP)
            assert asleep(world) == [wanted]
    scene = gg.Scene(((-1, -1, 0), (1, 1, 1)))
    sand, stone = scene.add_material(density=DENSITY), scene.add_material(density=DENSITY, fixed=True)
    scene.add_grains(sand, [[0.0, 0.0, RADIUS]], RADIUS)
    scene.add_grains(stone, [[0.1, 0.0, 0.5]], RADIUS, [[1e-3, 0.0, 0.0]])
    with build(scene) as world:
        for _ in range(20):
            world.step(DT, STEP)
            assert asleep(world) == [False]
        world.set_grains(velocities=np.zeros((2, 3)))
        rest(world)


@pytest.mark.parametrize("mode", ["gauss_seidel", "jacobi"])
def test_a_tool_with_a_mass_rests_too(mode: str) -> None:
    """A bed sleeps with the ball that lies on it, not while the ball falls; a force on it wakes."""
    scene = box()
    scene.add_tool(gg.Sdf.sphere(0.015), name="ball", pose=(0.0, 0.0, 0.2, 1, 0, 0, 0), mass=0.05)
    with build(scene, mode=mode, iterations=20) as world:
        world.set_tool_active("ball", False)
        rest(world)
        world.set_tool_active("ball", True)
        # it falls .1 m and more while no grain moves
        for _ in range(6):
            world.step(DT, STEP)
            assert asleep(world) == [False]
        rest(world)
        place = world.tool_poses[0, 1].copy()
        assert place[2] < 0.1 and world.wrenches[0, 1, 2] == pytest.approx(0.05 * GRAVITY, rel=1e-3)
        world.step(DT, STEP)
        assert asleep(world) == [True]
        np.testing.assert_array_equal(world.tool_poses[0, 1], place)
        world.set_tool_force("ball", (0.0, 0.0, 1.0))
        world.step(DT, STEP)
        assert asleep(world) == [False] and world.tool_poses[0, 1, 2] > place[2] + 1e-4


def test_planar_grains_sleep() -> None:
    with build(pile(gg.Shape2D.octagon(0.03), 12), iterations=20) as world:
        rest(world, 2e-3)
        hashed, forces = world.state_hash(), world.wall_wrenches.copy()
        world.step(2e-3, STEP)
        assert asleep(world) == [True] and world.state_hash() == hashed and forces.any()
        np.testing.assert_array_equal(world.wall_wrenches, forces)


def test_the_page_runs() -> None:
    """docs/sleep.md."""
    page = (Path(__file__).resolve().parents[2] / "docs" / "sleep.md").read_text()
    exec(re.search(r"```python\n(.*?)```", page, re.S)[1], {})


def test_jacobi_sleeps() -> None:
    with build(box(), mode="jacobi", iterations=20) as world:
        rest(world)
        assert -world.wall_wrenches[0, :, 2].sum() == pytest.approx(WEIGHT, rel=1e-3)
