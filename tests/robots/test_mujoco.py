"""Robots of MuJoCo among grains: stable at any ratio of masses, in balance, batched and exactly repeatable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.errors import ArgumentError, StabilityWarning, StateError
from testbed.beds import GRAVITY
from testbed.robots import DT, PAIR, bowl_model, bowl_scene, hold

mujoco = pytest.importorskip("mujoco")
from granular_gym.mujoco import Coupling, MujocoRobots, body_sdf  # noqa: E402


def model_of(xml: str) -> Any:
    """A model from MJCF."""
    return mujoco.MjModel.from_xml_string(xml)


def data_of(both: Coupling, env: int = 0) -> Any:
    """MuJoCo's data of the robot of an env."""
    robots: Any = both.robots
    return robots.data[env]


def bowl(ratio: float, mode: str = "coupled", env_count: int = 1, payload: float = 1.0) -> Coupling:
    """Bowls whose payload is `ratio` times as heavy as they are."""
    robots = MujocoRobots(model_of(bowl_model(payload / ratio)), ["bowl"], env_count)
    scene = bowl_scene(payload)
    robots.add_to(scene, material="steel")
    return Coupling(scene.build(env_count=env_count, num_threads=1), robots, mode)


def held(both: Coupling, ratio: float, seconds: float, payload: float = 1.0) -> list[float]:
    """Kinetic energies of grains and bowl of env 0 while it is held in place."""
    energies = []
    for _ in range(round(seconds / DT / 10)):
        for env in range(both.world.env_count):
            hold(data_of(both, env), payload / ratio, payload)
        both.step(10)
        speed = float(data_of(both, 0).qvel[0])
        energies.append(float(both.world.stats["kinetic_energy"][0]) + 0.5 * payload / ratio * speed**2)
    return energies


@pytest.mark.parametrize("ratio", [0.1, 1.0, 10.0, 100.0])
def test_a_bowl_carries_any_payload(ratio: float, record_property: Any) -> None:
    """Grains a tenth to a hundred times as heavy as the bowl fall into it: all comes to rest, and the wrist reads their
    weight."""
    both = bowl(ratio)
    energies = held(both, ratio, 1.5)
    reading = -float(both.wrenches[0, 0, 2]) / GRAVITY
    record_property("energy", energies[-1] / max(energies))
    record_property("reading", reading)
    assert energies[-1] < 1e-4 * max(energies)
    assert reading == pytest.approx(1.0, rel=0.01)
    assert abs(float(data_of(both, 0).qpos[0])) < 1e-3
    assert (both.world.positions[0, :, 2] > 0.25).all()
    assert both.mass_ratios()[0] <= 1.001 * ratio


@pytest.mark.parametrize(
    ("option", "damping"),
    [
        ('integrator="Euler"', 0.5),
        ('integrator="implicitfast"', 0.5),
        ('integrator="implicit"', 0.5),
        ('integrator="implicitfast" actuator', 0.5),
        # at the beginning of the step so much would be unstable
        ('integrator="RK4"', 3e-4),
        ("", 3e-4),
    ],
)
def test_links_move_as_mujoco_moves_them(option: str, damping: float) -> None:
    """Twists and accelerations of links without grains, and what an impulse changes, are those of a step of MuJoCo, at
    whichever end of it its integrator takes the damping of joints."""
    option, by_actuator, _ = option.partition(" actuator")
    flags = "" if option else '<flag eulerdamp="disable"/>'
    xml = PAIR.replace("<worldbody>", f"<option {option}>{flags}</option><worldbody>")
    if by_actuator:
        xml = xml.replace('"hinge"', '"hinge" name="j"')
        xml = xml.replace("</mujoco>", f'<actuator><position joint="j" kp=".1" kv="{damping}"/></actuator></mujoco>')
    else:
        xml = xml.replace('"hinge"', f'"hinge" damping="{damping}"')
    robots = MujocoRobots(model_of(xml), ["first", "second"])
    robots.data[0].qvel[-1] = 2.0
    links, saved = robots.links(0), robots.save(0)
    impulses = np.random.default_rng(0).normal(size=(2, 6)) * [1e-3, 1e-3, 1e-3, 2e-5, 2e-5, 2e-5]
    for impulse in (0.0 * impulses, impulses):
        robots.load(0, saved)
        robots.links(0)
        robots.advance(0, impulse, 1)
        expected = (links.twists + DT * links.accelerations).ravel() + links.response @ impulse.ravel()
        moved = robots._jacobians[0] @ robots.data[0].qvel
        assert np.abs(moved - expected).max() < 5e-3 * np.abs(expected).max()


def test_a_damped_joint_carries_any_payload() -> None:
    """A bowl that its damping stops within a step, with a hundred times its mass in it: all comes to rest, and the
    wrist reads the weight."""
    ratio, payload = 100.0, 1.0
    xml = bowl_model(payload / ratio).replace('type="slide"', 'type="slide" damping="100"')
    robots, scene = MujocoRobots(model_of(xml), ["bowl"]), bowl_scene(payload)
    robots.add_to(scene, material="steel")
    both = Coupling(scene.build(num_threads=1), robots)
    energies = held(both, ratio, 1.0)
    assert not both.diverged.any() and energies[-1] < 1e-2 * max(energies)
    assert -float(both.wrenches[0, 0, 2]) / GRAVITY == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize("loss", [5.0, 15.0])
def test_a_joint_is_stiff_where_dry_friction_holds_it(loss: float) -> None:
    """A bowl under ten times its mass on a slide with dry friction, which slips or holds: both fall at the rate that it
    leaves, and as one."""
    payload, mass = 1.0, 0.1
    xml = bowl_model(mass).replace('type="slide"', f'type="slide" frictionloss="{loss}"')
    robots, scene = MujocoRobots(model_of(xml), ["bowl"]), bowl_scene(payload)
    robots.add_to(scene, material="steel")
    both = Coupling(scene.build(num_threads=1), robots)
    both.step(500, still=np.array([True]))
    both.step(100)
    carried = min(loss / (mass + payload), GRAVITY)
    for _ in range(6):
        both.step(20)
        assert both.wrenches[0, 0, 2] == pytest.approx(-payload * carried, rel=0.03)
        assert both.world.velocities[0, :, 2].mean() == pytest.approx(float(data_of(both).qvel[0]), abs=0.02)


@pytest.mark.parametrize(("cone", "solver"), [("pyramidal", "Newton"), ("elliptic", "Newton"), ("elliptic", "CG")])
def test_a_robot_slides_under_any_load(cone: str, solver: str) -> None:
    """A bowl that slides on a floor of MuJoCo's under ten times its mass: both are braked by the friction of the floor,
    and the bowl carries the weight."""
    payload, mass, friction = 1.0, 0.1, 0.3
    xml = bowl_model(mass).replace('<joint name="z" type="slide" axis="0 0 1"/>', '<freejoint name="z"/>')
    xml = xml.split("<actuator>")[0].replace(
        "<worldbody>",
        f'''<option cone="{cone}" solver="{solver}"/><default><geom friction="{friction}"/></default>
        <worldbody><geom type="plane" size="2 2 1" pos="0 0 .295"/>''',
    )
    robots, scene = MujocoRobots(model_of(xml + "</mujoco>"), ["bowl"]), bowl_scene(payload)
    robots.add_to(scene, material="steel")
    both = Coupling(scene.build(num_threads=1), robots)
    both.step(500, still=np.array([True]))
    both.step(300)
    both.world.set_grains(velocities=np.tile(np.float32((0.6, 0.0, 0.0)), (both.world.grain_count, 1)))
    data_of(both).qvel[0] = 0.6
    both.step(100)
    assert both.wrenches[0, 0, 2] == pytest.approx(-payload * GRAVITY, rel=0.05)
    assert float(data_of(both).qvel[0]) == pytest.approx(0.6 - 0.1 * friction * GRAVITY, abs=0.03)
    assert both.world.velocities[0, :, 0].mean() == pytest.approx(float(data_of(both).qvel[0]), abs=0.06)


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_forces_that_lag_are_unstable_above_one() -> None:
    """What the coupled solve is for: exchanged forces throw a payload of ten bowls out, or worse."""
    both = bowl(10.0, "lagged")
    energies = held(both, 10.0, 0.8)
    assert both.diverged[0] or max(energies[40:]) > 10.0 * max(energies[:20]) or not np.isfinite(energies[-1])


def test_lag_warns_of_the_ratio() -> None:
    """A payload of twice the bowl is told of, one of a tenth is not."""
    quiet = bowl(0.1, "lagged")
    held(quiet, 0.1, 0.3)
    with pytest.warns(StabilityWarning, match="times its mass"):
        held(bowl(2.0, "lagged"), 2.0, 0.5)


def pair_among_grains(env_count: int = 1) -> Coupling:
    """Two linked boxes in free space, hit by grains."""
    robots = MujocoRobots(model_of(PAIR), ["first", "second"], env_count)
    scene = gg.Scene(((-0.5,) * 3, (0.5,) * 3), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    scene.add_material(density=2500.0, radius=0.008, friction=0.5, restitution=0.3)
    draw = np.random.default_rng(0)
    points = np.stack(np.meshgrid(np.arange(4), np.arange(4), np.arange(2)), -1).reshape(-1, 3) * 0.02
    motion = np.array([0.0, 0.0, -1.0]) + 0.2 * draw.normal(size=points.shape)
    scene.add_grains(0, points + np.array([-0.02, -0.03, 0.05]), velocities=motion)
    robots.add_to(scene)
    return Coupling(scene.build(env_count=env_count, num_threads=1), robots)


def test_what_grains_lose_a_robot_gains(record_property: Any) -> None:
    """Grains lose the momentum that links are given; the robot then has it, up to what MuJoCo's integration loses."""
    both = pair_among_grains()
    robots: Any = both.robots
    masses = both.world.grain_masses[0][:, None]
    begun, given, worst = (masses * both.world.velocities[0]).sum(axis=0), np.zeros(3), 0.0
    scale = np.linalg.norm(masses * both.world.velocities[0], axis=1).sum()
    for _ in range(20):
        both.step(10)
        given += 10 * DT * both.wrenches[0, :, :3].sum(axis=0)
        lost = begun - (masses * both.world.velocities[0]).sum(axis=0)
        worst = max(worst, float(np.abs(lost - given).max() / scale))
    mujoco.mj_forward(robots.model, robots.data[0])
    mujoco.mj_subtreeVel(robots.model, robots.data[0])
    has = robots.model.body_subtreemass[0] * robots.data[0].subtree_linvel[0]
    record_property("grains", worst)
    record_property("robot", float(np.abs(has - given).max() / scale))
    assert np.abs(robots.data[0].qvel[:3]).max() > 0.1  # it was hit
    assert np.abs(robots.data[0].qvel[6]) > 0.1  # and the hinge turns
    assert worst < 1e-6
    np.testing.assert_allclose(has, given, atol=2e-3 * scale)


def test_a_ball_of_mujoco_digs_as_one_of_ours(record_property: Any) -> None:
    """The same ball as a free joint and as a body of the scene falls into a bed: same crater."""
    depths = {}
    radius, mass, start = 0.02, 0.15, 0.15
    for kind in ("body", "mujoco"):
        scene = gg.Scene(((-0.08, -0.08, 0.0), (0.08, 0.08, 0.4)))
        scene.add_material(density=2500.0, radius=0.005, friction=0.5, rolling_friction=0.1)
        steel = scene.add_material(density=7800.0, friction=0.5, rolling_friction=0.0)
        scene.fill_box(0, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.09), count=1700)
        solver = gg.Solver(iterations=20)
        if kind == "body":
            ball = gg.Clump([(0.0, 0.0, 0.0)], [radius])
            index = scene.add_body(ball, mass, material=steel, pose=(0, 0, start, 1, 0, 0, 0))
            world = scene.build(num_threads=1, solver=solver)
            world.step(DT, 400)
            depth = world.clump_poses[0, index, 2]
        else:
            xml = f"""<mujoco><option timestep="{DT}"/><worldbody><body name="ball" pos="0 0 {start}"><freejoint/>
            <geom type="sphere" size="{radius}" mass="{mass}"/></body></worldbody></mujoco>"""
            robots = MujocoRobots(model_of(xml), ["ball"])
            robots.add_to(scene, material=steel)
            both = Coupling(scene.build(num_threads=1, solver=solver), robots)
            both.step(400)
            depth = robots.data[0].qpos[2]
        depths[kind] = float(start - depth)
    record_property("body", depths["body"])
    record_property("mujoco", depths["mujoco"])
    assert depths["mujoco"] == pytest.approx(depths["body"], rel=0.05)


def test_envs_are_alone_and_repeat() -> None:
    """Each env of a batch is as it is alone, and a second run gives the same bits; so does a state that was taken
    back."""
    alone, many = pair_among_grains(), pair_among_grains(3)
    for both in (alone, many):
        both.step(60)
    for env in range(3):
        assert many.world.positions[env].tobytes() == alone.world.positions[0].tobytes()
        assert many.robots.save(env) == alone.robots.save(0)
    state = alone.save_state()
    alone.step(40)
    after = alone.world.positions.tobytes(), alone.robots.save(0)
    alone.load_state(state)
    alone.step(40)
    assert (alone.world.positions.tobytes(), alone.robots.save(0)) == after
    with pytest.raises(StateError, match="expected 1 robots, got 3"):
        alone.load_state(many.save_state())
    wrong: dict[str, Any]
    for wrong in ({"robots": (b"1234",)}, {"world": many.save_state().world}):
        with pytest.raises(StateError, match="state: expected"):
            alone.load_state(state._replace(**wrong))
        assert (alone.world.positions.tobytes(), alone.robots.save(0)) == after
    with pytest.raises(StateError, match="bytes of the robot"):
        alone.robots.load(0, b"1234")


def test_a_robot_that_is_no_longer_finite_stands_still() -> None:
    """It is told, and the other env goes on."""
    both = bowl(1.0, env_count=2)
    data_of(both, 1).ctrl[0] = 1e30
    both.step(200)
    assert both.diverged.tolist() == [False, True]
    assert np.isfinite(both.world.positions).all()
    assert np.isfinite(data_of(both, 1).qvel).all()


def test_a_robot_of_absurd_speed_stands_still() -> None:
    """It is found before its numbers reach the world; the others are told of as before, and `place` bears it."""
    both, alone = bowl(1.0, env_count=2), bowl(1.0)
    data_of(both, 1).qvel[0] = 1e30
    both.place()
    both.step(20)
    alone.step(20)
    assert both.diverged.tolist() == [False, True]
    assert both.world.positions[0].tobytes() == alone.world.positions[0].tobytes()
    assert both.robots.save(0) == alone.robots.save(0)


def test_a_robot_that_diverged_comes_back() -> None:
    """`reset` and `place` let it go on as a new one does; one that is still absurd stays where it is."""
    both, fresh = bowl(1.0, env_count=3), bowl(1.0)
    before = both.save_state()
    for env in (1, 2):
        data_of(both, env).qvel[0] = 1e30
    both.step(5)
    assert both.diverged.tolist() == [False, True, True]
    both.world.load_state(before.world)
    both.robots.reset(1)
    both.place()
    assert both.diverged.tolist() == [False, False, True]
    both.step(20)
    fresh.step(20)
    assert both.robots.save(1) == fresh.robots.save(0)
    assert both.world.positions[1].tobytes() == fresh.world.positions[0].tobytes()
    for env in (3, -1, 1.0):
        with pytest.raises(ArgumentError, match="^env: expected an integer"):
            both.robots.reset(env)


def test_a_robot_that_diverges_again_is_found_again() -> None:
    """MuJoCo begins anew with one whose acceleration is absurd, and counts its warnings anew, too."""
    xml = bowl_model(0.1).replace('type="slide"', 'type="slide" stiffness="-1e7"')
    robots, scene = MujocoRobots(model_of(xml), ["bowl"]), bowl_scene(1.0)
    robots.add_to(scene)
    both = Coupling(scene.build(num_threads=1), robots)
    before = both.save_state()
    for _ in range(3):
        data_of(both).qpos[0] = 1e-3
        both.step(50, exchange=50)
        assert both.diverged[0] and float(data_of(both).qpos[0]) == 1e-3
        both.load_state(before)


def test_exchanging_less_often_changes_little(record_property: Any) -> None:
    """Every step, every second and every fifth: the mean force on a shovel that is dragged through a bed."""
    forces = {}
    xml = f"""<mujoco><option timestep="{DT}" gravity="0 0 0"/><worldbody><body name="plate" pos="-.1 0 .03">
    <joint type="slide" axis="1 0 0"/><geom type="box" size=".004 .04 .03" mass=".3"/></body></worldbody>
    <actuator><velocity joint="0" kv="30"/></actuator></mujoco>""".replace('joint="0"', 'joint="x"').replace(
        'type="slide"', 'name="x" type="slide"'
    )
    for exchange in (1, 2, 5):
        robots = MujocoRobots(model_of(xml), ["plate"])
        scene = gg.Scene(((-0.15, -0.06, 0.0), (0.15, 0.06, 0.3)))
        scene.add_material(density=2500.0, radius=0.005, friction=0.5, rolling_friction=0.1)
        scene.fill_box(0, (-0.09, -0.06, 0.0), (0.15, 0.06, 0.06), count=1200)
        robots.add_to(scene)
        both = Coupling(scene.build(num_threads=1), robots)
        both.step(200, exchange)
        robots.data[0].ctrl[0] = 0.2
        both.step(100, exchange)
        both.step(400, exchange)
        forces[exchange] = float(both.wrenches[0, 0, 0])
        record_property(f"force_{exchange}", forces[exchange])
    assert forces[1] < -0.5
    assert forces[2] == pytest.approx(forces[1], rel=0.03)
    assert forces[5] == pytest.approx(forces[1], rel=0.03)


def test_geoms_become_fields() -> None:
    """All kinds that have an inside, in the body's frame."""
    xml = """<mujoco><asset><mesh name="wedge" vertex="0 0 0 .1 0 0 0 .1 0 0 0 .1"/></asset><worldbody>
    <body name="all"><freejoint/><geom type="sphere" size=".1" pos="1 0 0"/>
    <geom type="capsule" size=".1 .2" pos="2 0 0" euler="90 0 0"/><geom type="cylinder" size=".1 .2" pos="3 0 0"/>
    <geom type="box" size=".1 .2 .3" pos="4 0 0"/><geom type="ellipsoid" size=".1 .2 .3" pos="5 0 0"/>
    <geom type="mesh" mesh="wedge" pos="6 0 0"/></body>
    <body name="bare"><freejoint/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body></worldbody></mujoco>"""
    model = model_of(xml)
    scene = gg.Scene(((-1.0,) * 3, (8.0,) * 3), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    scene.add_material(density=1.0, radius=0.05)
    # one grain touches each geom, the last one nothing
    points = [(1.14, 0, 0), (2, 0.34, 0), (3, 0, 0.24), (4, 0.24, 0), (5, 0, 0.34), (6.02, 0.02, -0.04), (7, 1, 1)]
    scene.add_grains(0, points)
    scene.add_tool(body_sdf(model, "all"), name="all")
    with scene.build(num_threads=1, overlaps="ignore") as world:
        world.step(1e-4, 1)
        touching = set(world.contacts().pairs[:, 0].tolist())
    assert touching == {0, 1, 2, 3, 4, 5}
    with pytest.raises(ArgumentError, match="'bare' has none"):
        body_sdf(model, "bare")


def test_what_is_no_robot_is_refused() -> None:
    """Messages name what was expected and what came."""
    model = model_of(bowl_model(1.0))
    with pytest.raises(ArgumentError, match=r"mujoco\.MjModel, got str"):
        MujocoRobots("bowl.xml", ["bowl"])
    with pytest.raises(ArgumentError, match="names of bodies out of"):
        MujocoRobots(model, ["bucket"])
    for bodies in ([], "bowl", ["bowl", "bowl"], [0]):
        with pytest.raises(ArgumentError, match="bodies: expected"):
            MujocoRobots(model, bodies)
    plane = model_of('<mujoco><worldbody><body name="p"><geom type="plane" size="1 1 1"/></body></worldbody></mujoco>')
    with pytest.raises(ArgumentError, match="plane in 'p'"):
        body_sdf(plane, "p")
    robots = MujocoRobots(model, ["bowl"], 2)
    with pytest.raises(ArgumentError, match="expected links"):
        Coupling(bowl_scene(1.0).build(num_threads=1), robots)
    scene = bowl_scene(1.0)
    robots.add_to(scene)
    world = scene.build(num_threads=1)
    with pytest.raises(ArgumentError, match="expected 1 of them"):
        Coupling(world, robots)
    both = bowl(1.0)
    with pytest.raises(ArgumentError, match="expected a divisor of 3"):
        both.step(3, 2)
    for bad, words in (
        ({"twists": np.full((1, 6), np.nan)}, "twists: expected finite"),
        ({"poses": np.zeros((1, 7))}, "unit quaternions"),
        ({"responses": -np.eye(6)}, "no negative diagonal"),
        ({"responses": np.eye(6) + np.eye(6, k=1)}, "symmetric"),
        ({"responses": np.eye(6) + 2.0 * np.eye(6, k=1) + 2.0 * np.eye(6, k=-1)}, "positive semi-definite"),
        ({"responses": np.eye(5)}, "responses: expected shape"),
    ):
        with pytest.raises(ArgumentError, match=words):
            world.set_coupled(**bad)
    with pytest.raises(ArgumentError, match="this one has none"):
        bowl_scene(1.0).build(num_threads=1).set_coupled(twists=np.zeros((1, 6)))
    with pytest.raises(ArgumentError, match="coupled"):
        scene.add_tool(gg.Sdf.sphere(0.1), mass=1.0, coupled=True)


def test_a_robot_that_is_to_stand_still_does() -> None:
    """The other env goes on; what both do then is as if the first had waited."""
    both, alone = pair_among_grains(2), pair_among_grains()
    before = both.robots.save(0)
    both.step(30, still=np.array([True, False]))
    alone.step(30)
    assert both.robots.save(0) == before
    assert both.robots.save(1) == alone.robots.save(0)
    assert not both.diverged.any()
    with pytest.raises(ArgumentError, match=r"still: expected bool \(2,\)"):
        both.step(1, still=np.array([True]))


def test_counters_are_those_of_all_steps() -> None:
    """One call of many steps tells what as many calls of one step tell together."""
    once, often = pair_among_grains(), pair_among_grains()
    once.step(40)
    each = []
    for _ in range(40):
        often.step(1)
        each.append(often.counters)
    for name, gather in (("overlap_max", max), ("residual", max), ("fast_count", sum)):
        assert once.counters[name][0] == gather(one[name][0] for one in each)
    assert once.counters["contact_count"] == each[-1]["contact_count"]
    assert once.counters["residual"][0] > once.world.counters()["residual"][0], "the impact was not the last step"


def test_a_state_brings_back_what_grains_did() -> None:
    """Wrenches and counters are those of the state that was loaded, in another coupling, too."""
    both, other = bowl(1.0), bowl(1.0)
    both.step(300, still=np.array([True]))
    state, felt, counted = both.save_state(), both.wrenches.copy(), both.counters["contact_count"].copy()
    both.step(5)
    assert (both.wrenches != felt).any()
    for each in (both, other):
        each.load_state(state)
        assert np.array_equal(each.wrenches, felt) and np.array_equal(each.counters["contact_count"], counted)


def test_a_robot_that_was_moved_is_seen_there() -> None:
    """`place` moves the links of the listed envs, and of those alone."""
    both = pair_among_grains(2)
    for env in range(2):
        data_of(both, env).qpos[2] = 0.3
    both.place([1])
    tool = both.world.tool_names.index("first")
    assert both.world.tool_poses[:, tool, 2].tolist() == pytest.approx([0.0, 0.3])


def test_a_state_with_constraints_goes_on_to_the_bit() -> None:
    """A robot at a limit of its joint: the solver of constraints begins with the same guess."""
    xml = """<mujoco><option timestep=".002"/><worldbody><body name="arm">
    <joint type="hinge" axis="0 1 0" limited="true" range="-20 20"/>
    <geom type="capsule" size=".02" fromto="0 0 0 .2 0 0" mass=".3"/></body></worldbody></mujoco>"""
    robots = MujocoRobots(model_of(xml), ["arm"])
    for _ in range(200):
        robots.links(0)
        robots.advance(0, np.zeros((1, 6)), 1)
    assert robots.data[0].nefc > 0
    saved, after = robots.save(0), []
    for _ in range(2):
        robots.links(0)
        robots.advance(0, np.zeros((1, 6)), 1)
        after.append(robots.save(0))
        robots.load(0, saved)
        assert robots.save(0) == saved
    assert after[0] == after[1]
    robots.reset(0)
    assert not robots.data[0].qvel.any() and robots.data[0].time == 0.0
