"""Tasks on a continuum in place of grains."""

from __future__ import annotations

import copy
import math
import re
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import NEWEST, TASK_IDS, follow, same, small
from gymnasium.utils.env_checker import check_env

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.heights import PACKING
from granular_gym.tasks.matter import ANGLES, DISTANCE, FRICTIONS, MATTERS, ROLLING, angle_of, sand_in_place_of
from granular_gym.tasks.registry import short_name, task_class, unversioned

BULLDOZER, LEVEL, EXCAVATOR, POUR, SILO = (
    f"granular_gym/{name}-v1" for name in ("Bulldozer", "Level", "Excavator", "Pour", "Silo")
)
CONTINUUM = "sand_continuum"
OF_BOTH = [name for name in TASK_IDS if CONTINUUM in task_class(name).matters]


def arguments(name: str) -> dict[str, Any]:
    """Arguments for cheap steps on a continuum; beds are shared by the tests."""
    return {**small(name), "matter": CONTINUUM, "preset": "train"}


def test_these_tasks_take_both() -> None:
    assert {BULLDOZER, LEVEL, EXCAVATOR, POUR, SILO} <= set(OF_BOTH)
    assert {task_class(name).matters for name in OF_BOTH} == {tuple(MATTERS)}


def test_the_page_names_these_tasks() -> None:
    page = (Path(__file__).parents[2] / "docs" / "tasks" / "README.md").read_text()
    tasks = {short_name(unversioned(name)) for name in OF_BOTH}
    row, section = (
        re.search(pattern, page, re.M)
        for pattern in (r"^\| `matter` .*$", r"(Bulldozer, [\w, ()]*) take it, in all versions")
    )
    for found in (row, section):
        assert found and set(re.findall(r"\b[A-Z]\w+", found[0])) == tasks


@pytest.mark.parametrize("name", [case for case in NEWEST if case.values[0] in OF_BOTH])
def test_a_task_of_a_continuum_keeps_the_contract(name: str) -> None:
    env = gym.make(name, **arguments(name)).unwrapped
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.filterwarnings("ignore", ".*is out of date", DeprecationWarning)  # of an older version
        check_env(env, skip_render_check=True)
    of_grains = gym.make(name, **{**arguments(name), "matter": "grains"}).unwrapped
    assert env.observation_space == of_grains.observation_space and env.action_space == of_grains.action_space
    first, info = env.reset(seed=4)
    seen, of_both = of_grains.reset(seed=4)
    assert first.keys() == seen.keys() and info.keys() == of_both.keys()
    # what is drawn is the same
    for key in ("goal", "bin", "pose", "joints"):
        assert key not in seen or same(first[key], seen[key])
        assert key not in of_both or same(info[key], of_both[key])
    task, world = env.task, env.task.world
    assert world.grain_count == task.grain_count == task.world_grain_count
    assert task.share_in([-100.0] * 3, [100.0] * 3) == pytest.approx(1.0)
    # the same again, and from a copy in the middle
    ran = follow(env, 3)
    assert ran[-1][4]["escaped_count"] == 0 and not ran[-1][4]["diverged"] and world.stats["unsolved_count"][0] == 0
    assert same(env.reset(seed=4)[0], first) and same(follow(env, 3), ran)
    twin = copy.deepcopy(env)
    assert same(follow(env, 2), follow(twin, 2))
    for each in (env, of_grains, twin):
        each.close()


@pytest.mark.parametrize("name, count", [(LEVEL, 200), (EXCAVATOR, 60)])
def test_a_continuum_lies_where_the_grains_lay(name: str, count: int, make: Any) -> None:
    both = [make(name, matter=matter, grain_count=count, preset="train") for matter in MATTERS]
    for env in both:
        env.reset(seed=3)
    grains, sand = (env.unwrapped.task for env in both)
    off = np.linalg.norm(sand.world.positions[0] - grains.world.positions[0], axis=1) / grains.radius
    assert off.mean() < 0.5, "slopes give way a little"
    # a particle has the mass of its grain and stands for its share of space
    density = float(sand.world.materials[1][0, 0])
    volume = 4.0 / 3.0 * math.pi * float(sand.world.radii.flat[0]) ** 3
    assert density == pytest.approx(PACKING * grains.density)
    assert density * volume * count == pytest.approx(grains.mass, rel=1e-5) == pytest.approx(sand.mass)
    assert volume == pytest.approx((DISTANCE * grains.radius) ** 3, rel=1e-5)


def test_it_rests(make: Any) -> None:
    """It creeps, by less than a hundredth of a radius a second on average."""
    env = make(LEVEL, matter=CONTINUUM, grain_count=200)
    env.reset(seed=0)
    task = env.unwrapped.task
    before, heights = task.world.positions[0], task.heights()
    task.world.step(dt=task.pace.dt, substeps=round(2.0 / task.pace.dt))
    moved = np.linalg.norm(task.world.positions[0] - before, axis=1) / task.radius
    assert moved.mean() < 0.02 and np.abs(task.heights() - heights).max() < 0.02 * task.radius
    assert task.world.stats["unsolved_count"][0] == 0


def test_a_particle_that_lies_alone_keeps_its_height() -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    sand = scene.add_material(density=1600.0, radius=0.04, friction=0.5, name="sand")
    scene.add_grains(sand, [[0.5, 0.5, 0.04]])
    alone = sand_in_place_of(scene, np.array([[0.5, 0.5, 0.04]]), 0.04, 28.0)
    with alone.build(device="cpu", solver=gg.Solver(tolerance=1e-2)) as world:
        world.step(0.01, 300)
        before = world.positions[0, 0]
        world.step(0.01, 300)
        after = world.positions[0, 0]
        assert after[2] == pytest.approx(before[2], abs=1e-4) and before[2] == pytest.approx(0.04, rel=0.06)
        assert np.abs(after[:2] - before[:2]).max() < 5e-3, "it drifts by a millimetre a second"


def test_the_angle_of_friction_is_that_of_the_table(make: Any) -> None:
    assert [angle_of(friction) for friction in FRICTIONS] == list(ANGLES) == sorted(ANGLES)
    assert angle_of(0.0) == ANGLES[0] and angle_of(2.0) == ANGLES[-1], "the nearest beyond"
    for friction, chosen in ((0.35, {"friction_range": (0.35, 0.35)}), (0.5, {"difficulty": "hard"})):
        env = make(LEVEL, matter=CONTINUUM, preset="train", **chosen)
        env.reset(seed=1)
        task = env.unwrapped.task
        assert task.scene(0).materials[0].continuum.friction_angle == pytest.approx(angle_of(friction))
        assert task.friction[0] == pytest.approx(friction), "no longer drawn, but the middle"
        assert task.world.materials[0][0, 0, 0, 0] == np.float32(friction), "of sand on the floor"


def test_rolling_friction_is_that_of_the_table() -> None:
    """Those of Pour and Silo roll more easily: for them the table's angles are too large, by what was not measured."""
    for name in OF_BOTH:
        scene = gym.make(name, **small(name)).unwrapped.task.bed_scene(0)
        rolling = scene.pair("sand", "sand").rolling_friction
        assert rolling < ROLLING if name.split("/")[1].startswith(("Pour", "Silo")) else rolling == ROLLING
        assert scene.materials[0].name == "sand"


def test_an_env_of_a_batch_is_the_same_alone(make: Any, make_vec: Any) -> None:
    shown = {"matter": CONTINUUM, "preset": "train", "observation": "state", "frame_skip": 2}
    envs, alone = make_vec(BULLDOZER, 2, **shown), make(BULLDOZER, **shown)
    envs.reset(seed=20)
    alone.reset(seed=21)
    expert = scripted_expert(envs)
    for _ in range(3):
        actions = expert.act()
        batch, rewards, *_ = envs.step(actions)
        single, reward, *_ = alone.step(actions[1])
        assert rewards[1] == reward and same(batch["state"][1], single["state"])


def test_saved_envs_go_on_alike(make: Any) -> None:
    env = make(LEVEL, **arguments(LEVEL))
    env.reset(seed=5)
    task = env.unwrapped.task
    follow(env, 3)
    saved = task.save()
    ran = follow(env, 3)
    task.load(saved)
    assert same(follow(env, 3), ran)


def test_presets_agree(make: Any) -> None:
    """The same pushes in steps of 20 and 10 ms: shares of the sand in the goal differ by little."""
    plan: list[Any] = []
    shares = []
    for preset in ("train", "fast"):
        env = make(BULLDOZER, matter=CONTINUUM, preset=preset, difficulty="easy")
        env.reset(seed=3)
        expert = scripted_expert(env)
        for step in range(101):
            if step == len(plan):
                plan.append(expert.act())
            info = env.step(plan[step])[4]
            assert env.unwrapped.task.world.stats["unsolved_count"][0] == 0
        shares.append(info["goal_share"])
    assert shares[0] > 0.3 and np.ptp(shares) < 0.2


def test_the_expert_succeeds_on_it(make: Any) -> None:
    env = make(BULLDOZER, **arguments(BULLDOZER), difficulty="easy")
    env.reset(seed=3)
    expert = scripted_expert(env)
    for _ in range(200):
        info = env.step(expert.act())[4]
        if info["success"]:
            break
    assert info["success"] and not info["diverged"] and info["escaped_count"] == 0


def test_a_wide_gate_lets_it_through(make: Any) -> None:
    """Gates wider than three cells of the grid pass what they pass of grains; narrower ones less (docs/tasks)."""
    env = make(SILO, matter=CONTINUUM, grain_count=500, preset="train", observation="state")
    env.reset(seed=0)
    task = env.unwrapped.task
    assert 3.0 * 2.0 * DISTANCE * task.radius == pytest.approx(0.4, rel=0.01)
    for _ in range(40):
        info = env.step(np.array([1.0, 0.0], np.float32))[4]
    assert info["discharged"] > 0.8 and info["spilled"] < 0.05 and not info["diverged"]


def test_values_are_drawn_for_it(make: Any) -> None:
    ranges = [
        gg.MaterialRanges(pair=("steel", "sand"), friction=(0.2, 0.6)),
        gg.MaterialRanges(pair=("sand", "sand"), density=(800.0, 1100.0)),
    ]
    env = make(LEVEL, **arguments(LEVEL), randomize=ranges)
    info = env.reset(seed=1)[1]
    pairs, densities = env.unwrapped.task.world.materials
    assert pairs[0, 0, 1, 0] == np.float32(info["steel_sand_friction"])
    assert densities[0, 0] == np.float32(info["sand_density"])


def test_a_scene_of_grains_becomes_one_of_a_continuum() -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    sand = scene.add_material(density=1000.0, radius=0.1, name="sand")
    scene.add_material(density=1000.0, radius=0.1, name="other")
    scene.add_grains(sand, [[0.3, 0.3, 0.1], [0.7, 0.3, 0.1]])
    matter, places = gg.DruckerPrager(1e5, 0.3, 30.0), [[0.3, 0.3, 0.2], [0.7, 0.3, 0.2]]
    before = scene.fingerprint()
    same_scene = scene.as_continuum("sand", matter, places, 0.5, 0.4)
    assert scene.fingerprint() == before and scene.spacing is None
    with same_scene.build(device="cpu") as world:
        assert world.positions[0] == pytest.approx(np.array(places)) and world.materials[1][0, 0] == 500.0
        assert world.densities[0] == pytest.approx(500.0)
    bad: list[tuple[tuple[Any, ...], str]] = [
        (("other", matter, places, 0.5, 0.4), "^material: expected that of all grains"),
        (("sand", matter, places[:1], 0.5, 0.4), "^points"),
        (("sand", matter, places, 0.0, 0.4), "^solid_fraction"),
        (("sand", matter, places, 0.5, 0.0), "^spacing"),
        (("sand", 1e5, places, 0.5, 0.4), "^continuum: expected one of"),
    ]
    for given, message in bad:
        with pytest.raises(gg.ArgumentError, match=message):
            scene.as_continuum(*given)
    scene.add_bonds([[0, 1]])
    with pytest.raises(gg.ArgumentError, match="^as_continuum: expected a scene without bonds"):
        scene.as_continuum("sand", matter, places, 0.5, 0.4)


@pytest.mark.parametrize(
    ("name", "kwargs", "message"),
    [
        (BULLDOZER, {"matter": "mud"}, "^matter: expected one of 'grains', 'sand_continuum', got 'mud'"),
        (BULLDOZER, {"matter": None}, "^matter: expected"),
        (BULLDOZER, {"matter": CONTINUUM, "grain": "cube"}, "^grain: expected 'sphere' with matter='sand_continuum'"),
        (LEVEL, {"matter": CONTINUUM, "friction_range": (0.3, 0.5)}, "^friction_range: expected twice the same number"),
        (
            LEVEL,
            {"matter": CONTINUUM, "randomize": gg.MaterialRanges(pair=("sand", "sand"), friction=(0.3, 0.5))},
            "^randomize: expected .*, got friction of",
        ),
        (
            LEVEL,
            {"matter": CONTINUUM, "randomize": gg.MaterialRanges(wind=((0, 0, 0), (1, 0, 0)))},
            "^randomize: expected .*, got wind of all pairs",
        ),
        (SILO, {"matter": CONTINUUM, "grain": "octagon"}, "^grain: expected 'sphere' with matter='sand_continuum'"),
        (POUR, {"matter": CONTINUUM, "grain": "rod"}, "^grain: expected 'sphere' with matter='sand_continuum'"),
        ("granular_gym/ExcavatorForce-v0", {"matter": CONTINUUM}, "^matter: expected one of 'grains', got 'sand_con"),
        ("granular_gym/Dough-v0", {"matter": CONTINUUM}, "^matter: expected one of 'grains'"),
    ],
)
def test_bad_arguments(name: str, kwargs: dict[str, Any], message: str, make: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=message):
        make(name, **kwargs)
