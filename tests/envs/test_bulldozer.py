"""The rules of the bulldozer task."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_helpers import same
from gymnasium.error import ClosedEnvironmentError, ResetNeeded

import granular_gym as gg
from granular_gym.base.assets import asset_path
from granular_gym.envs.bulldozer import (
    DIFFICULTIES,
    FIELD_LOWER,
    FIELD_UPPER,
    GRAIN_FRICTION,
    HEAPS,
    BulldozerTask,
    heap_lattice,
)
from granular_gym.shapes.mesh import load_mesh
from granular_gym.training.policies import load_policy


def play(env: Any, seed: int, actions: Any) -> list[Any]:
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


def test_spaces(make: Any) -> None:
    metres, images = make().observation_space, make(depth="uint8").observation_space
    assert metres["ego"].shape == (36, 36) and metres["sky"].shape == (36, 72) and metres["sky"].dtype == np.float32
    assert images["ego"].shape == (1, 36, 36) and images["sky"].shape == (1, 36, 72)
    assert images["sky"].dtype == np.uint8 and images["sky"].high.max() == 255
    space = make().action_space
    assert space.shape == (2,) and space.dtype == np.float32 and (space.low == -1).all() and (space.high == 1).all()
    for box in metres.values():
        assert np.isfinite(box.low).all() and np.isfinite(box.high).all()


def test_images_of_bytes_are_the_metres_rounded(make: Any) -> None:
    metres, images = make().reset(seed=3)[0], make(depth="uint8").reset(seed=3)[0]
    assert np.abs(images["sky"][0] / 255.0 * 3.0 - metres["sky"]).max() <= 0.5 * 3.0 / 255.0 + 1e-6
    assert metres["sky"].max() == 3.0, "the bare floor is the far plane"


def test_the_sky_camera_sees_the_heap_where_it_is(make: Any) -> None:
    env = make(grain_count=500)
    observation, _ = env.reset(seed=1)
    depth = observation["sky"]
    height = 3.0 - depth
    places = env.unwrapped.task.world.positions[0]
    # row 0 is the upper y edge, column 0 the lower x edge; pixels are 1/9 m
    step = 8.0 / 72.0
    x, y = -4.0 + (np.arange(72) + 0.5) * step, 2.0 - (np.arange(36) + 0.5) * step
    pose = observation["pose"]
    far = np.hypot(x[None, :] - pose[0], y[:, None] - pose[1]) > 1.2
    seen = (height * far).sum()
    assert seen > 0
    assert (height * far * x[None, :]).sum() / seen == pytest.approx(places[:, 0].mean(), abs=step)
    assert (height * far * y[:, None]).sum() / seen == pytest.approx(places[:, 1].mean(), abs=step)
    assert (height * far).max() == pytest.approx((places[:, 2]).max() + env.unwrapped.task.radius, abs=0.03)


@pytest.mark.parametrize("depth", ["float32", "uint8"])
def test_pixels_show_the_goal_beside_the_sky(depth: str, make: Any) -> None:
    """The goal mask's weight and middle are the goal's; the other images are those of "images", and nothing else."""
    newest = "granular_gym/Bulldozer-v1"
    env, plain = (make(newest, grain_count=60, depth=depth, observation=form) for form in ("pixels", "images"))
    assert list(env.observation_space.spaces) == ["ego", "goal_mask", "sky"]
    for seed in range(4):
        shown, info = env.reset(seed=seed)
        other = plain.reset(seed=seed)[0]
        assert env.observation_space.contains(shown)
        assert all((shown[name] == other[name]).all() for name in ("ego", "sky"))
        far = 255.0 if depth == "uint8" else 3.0
        share = 1.0 - np.squeeze(shown["goal_mask"]).astype(float) / far
        x = np.linspace(-4.0, 4.0, 145)[1::2]
        y = np.linspace(2.0, -2.0, 73)[1::2]
        lower, upper = info["goal"][:2], info["goal"][3:5]
        assert share.sum() * (8.0 / 72.0) * (4.0 / 36.0) == pytest.approx(np.prod(upper - lower), rel=0.01)
        middle = (share.sum(0) @ x, share.sum(1) @ y) / share.sum()
        assert middle == pytest.approx(0.5 * (lower + upper), abs=0.01)
    with pytest.raises(gg.ArgumentError, match="observation: expected"):
        make("granular_gym/Bulldozer-v0", observation="pixels")


def test_reward_is_the_paper_s_mean(make: Any) -> None:
    env = make(reward="level")
    rng = np.random.default_rng(0)
    env.reset(seed=2)
    for _ in range(10):
        _, reward, _, _, info = env.step(rng.uniform(-1, 1, 2))
        places = env.unwrapped.task.world.positions[0].astype(np.float64)
        lower, upper = info["goal"][:3], info["goal"][3:]
        gaps = np.linalg.norm(np.maximum(np.maximum(lower - places, places - upper), 0.0), axis=1)
        share = (gaps == 0.0).mean()
        assert info["goal_share"] == pytest.approx(share)
        assert reward == pytest.approx(100.0 * share - gaps.mean(), abs=1e-5)


def test_rewards_of_change_add_up(make: Any) -> None:
    actions = np.random.default_rng(1).uniform(-1, 1, (20, 2))
    level, change = make(reward="level"), make()
    first = level.reset(seed=2)
    ours = [step[1] for step in play(level, 2, actions)]
    theirs = [step[1] for step in play(change, 2, actions)]
    del first
    task = level.unwrapped.task
    assert np.diff(ours) == pytest.approx(100.0 * np.array(theirs[1:]), abs=1e-9)
    assert task.score[0] == ours[-1]


@pytest.mark.parametrize(
    "grain_count, difficulty",
    [(500, "easy"), (500, "medium"), pytest.param(2000, "medium", marks=pytest.mark.full), (500, "hard")],
)
def test_an_episode_starts_settled_and_clear(make: Any, grain_count: int, difficulty: str) -> None:
    env = make(grain_count=grain_count, difficulty=difficulty)
    limits, frictions = DIFFICULTIES[difficulty], set()
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        task = env.unwrapped.task
        world = task.world
        places = world.positions[0]
        radius = task.radius
        assert len(places) == grain_count and info["goal_share"] == 0.0
        assert (places[:, :2] > np.array(FIELD_LOWER[:2]) + radius).all()
        assert (places[:, :2] < np.array(FIELD_UPPER[:2]) - radius).all()
        reach = np.hypot(*(places[:, :2] - task.pose[0, :2]).T).min()
        assert reach > task.vehicle.reach + radius, "the vehicle stands in the heap"
        lower, upper = info["goal"][:3], info["goal"][3:]
        assert upper[:2] - lower[:2] == pytest.approx([limits.goal_side] * 2)
        assert abs(lower[1] + upper[1]) <= 2.0 * limits.goal_y + 1e-6
        frictions.add(float(world.materials[0][0, 0, 0, 0]))
        assert (lower[:2] >= FIELD_LOWER[:2]).all() and (upper[:2] <= FIELD_UPPER[:2]).all()
        env.step([0.0, 0.0])
        if task.friction[0] == GRAIN_FRICTION:  # the material with which the heap settled
            assert np.abs(world.positions[0] - places).max() < 0.2 * radius, "the heap moves on its own"
    assert len(frictions) == (6 if difficulty == "hard" else 1)
    assert limits.friction[0] - 1e-6 <= min(frictions) and max(frictions) <= limits.friction[1] + 1e-6


@pytest.mark.parametrize("difficulty", list(DIFFICULTIES))
def test_success_is_a_share_in_the_goal(make: Any, difficulty: str) -> None:
    env = make(difficulty=difficulty)
    _, info = env.reset(seed=4)
    assert info["success"] is False
    task = env.unwrapped.task
    # this many grains are put into the goal, far apart
    lower, upper = info["goal"][:2], info["goal"][3:5]
    n, goal = task.grain_count, DIFFICULTIES[difficulty].goal
    places = task.world.positions[0].copy()
    lanes = np.linspace(0.1, 0.9, 8)
    for count, met in ((int(goal * n) - 1, False), (int(np.ceil(goal * n)), True)):
        for k in range(count):
            places[k, :2] = lower + (upper - lower) * (lanes[k % 8], lanes[k // 8])
            places[k, 2] = task.radius
        task.world.set_grains(positions=places)
        _, _, _, _, info = env.step([0.0, 0.0])
        assert info["goal_share"] == pytest.approx(count / n) and info["success"] is met


def test_heaps_keep_their_volume_and_count() -> None:
    for shape in HEAPS:
        for count in (1, 7, 500, 2000):
            radius = BulldozerTask(grain_count=count).radius
            places = heap_lattice(shape, count, radius)
            assert places.shape == (count, 3) and places[:, 2].min() >= radius
            assert count * radius**3 == pytest.approx(2000 * 0.025**3)
            if count > 1:
                gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2) if count < 600 else None
                if gaps is not None:
                    np.fill_diagonal(gaps, 1.0)
                    assert gaps.min() > 2.0 * radius


def test_outline_holds_the_meshes() -> None:
    vehicle = BulldozerTask.vehicle
    for name in ("blade", "hull"):
        lower, upper = load_mesh(asset_path(f"bulldozer_{name}.stl")).bounds
        assert vehicle.rear <= lower[0] and upper[0] <= vehicle.front
        assert max(abs(lower[1]), abs(upper[1])) <= vehicle.half_width
        assert lower[2] >= 0.0


def test_vehicle_never_leaves_the_field(make: Any) -> None:
    env = make()
    task = env.unwrapped.task
    vertices = np.concatenate([load_mesh(asset_path(f"bulldozer_{n}.stl")).vertices for n in ("blade", "hull")])
    rng = np.random.default_rng(8)
    env.reset(seed=0)
    walls = 0
    action = np.zeros(2)
    for step in range(300):
        if step % 15 == 0:
            action = np.array([rng.choice([-1.0, 1.0, 1.0, 50.0]), rng.choice([-50.0, 0.0, 0.0, 1.0])])
        env.step(action)
        poses = task.world.tool_poses[0]
        assert same(poses[0], poses[1])
        x, y, c, s = poses[0, 0], poses[0, 1], poses[0, 3], poses[0, 6]
        assert (x, y) == pytest.approx(task.pose[0, :2], abs=1e-5)
        cos, sin = c * c - s * s, 2.0 * c * s
        px = x + cos * vertices[:, 0] - sin * vertices[:, 1]
        py = y + sin * vertices[:, 0] + cos * vertices[:, 1]
        assert FIELD_LOWER[0] < px.min() and px.max() < FIELD_UPPER[0]
        assert FIELD_LOWER[1] < py.min() and py.max() < FIELD_UPPER[1]
        walls += px.min() < FIELD_LOWER[0] + 0.1 or px.max() > FIELD_UPPER[0] - 0.1
        walls += py.min() < FIELD_LOWER[1] + 0.1 or py.max() > FIELD_UPPER[1] - 0.1
    assert walls > 30, "the test never came near a wall"


def test_driving_straight_and_turning(make: Any) -> None:
    env = make()
    env.reset(seed=0)
    task = env.unwrapped.task
    task.pose[0] = (0.0, 0.0, 0.5)
    env.step([1.0, 0.0])
    way = task.vehicle.speed * 0.1
    assert task.pose[0] == pytest.approx([way * np.cos(0.5), way * np.sin(0.5), 0.5])
    observation = env.step([0.0, 1.0])[0]
    assert observation["pose"][2] == pytest.approx(0.5 + 0.1 * task.vehicle.turn_rate)


def test_grains_that_sleep_are_not_run_over(make: Any) -> None:
    """They wake before the vehicle comes, also those that were quiet when the step began."""
    env = make(grain_count=300, num_threads=1)
    observation, _ = env.reset(seed=0)
    drive, world = load_policy("expert", env), env.unwrapped.task.world
    overlaps, asleep = [], []
    for _ in range(145):
        observation, *_ = env.step(drive(observation))
        overlaps.append(world.stats["overlap_max"][0])
        asleep.append(world.stats["asleep_share"][0])
    assert np.mean(asleep) > 0.3
    assert max(overlaps) < 0.06


def test_blade_pushes_grains(make: Any) -> None:
    env = make(grain_count=500)
    env.reset(seed=5)
    task = env.unwrapped.task
    places = task.world.positions[0]
    center = places.mean(axis=0)
    # from beside the heap, straight through its middle
    task.pose[0] = (center[0], center[1] - 1.35, 0.5 * np.pi)
    task.world.set_tool_poses(task.world.drive_poses(task.pose))
    for _ in range(12):
        info = env.step([1.0, 0.0])[4]
    assert task.world.positions[0][:, 1].mean() > center[1] + 0.1
    assert info["escaped_count"] == 0 and not info["diverged"]
    assert task.world.positions[0][:, 2].min() > 0.5 * task.radius, "grains were pressed into the floor"


@pytest.mark.parametrize(
    "action",
    [np.array([0.5, -0.5]), np.array([0.5, -0.5], np.float32), [0.5, -0.5], (0.5, -0.5), np.array([0.5, 9, -0.5])[::2]],
    ids=["float64", "float32", "list", "tuple", "strided"],
)
def test_actions_of_any_make(shared: Any, action: Any) -> None:
    expected = play(shared(), 0, [np.array([0.5, -0.5])])
    assert same(expected, play(shared(), 0, [action]))


def test_actions_outside_are_clipped(shared: Any) -> None:
    assert same(play(shared(), 0, [[1, -1]]), play(shared(), 0, [np.array([7, -1000])]))
    read_only = np.ones(2)
    read_only.flags.writeable = False
    assert same(play(shared(), 0, [[1, 1]]), play(shared(), 0, [read_only]))


@pytest.mark.parametrize(
    "action, word",
    [
        ([np.nan, 0], "finite"),
        ([0, np.inf], "finite"),
        ([0, -np.inf], "finite"),
        ([0], "shape"),
        ([[0, 0]], "shape"),
        (0.0, "shape"),
        (["a", "b"], "numbers"),
        ([1j, 0], "numbers"),
        (None, "numbers|shape"),
        ([[0], [0, 1]], "numbers"),
    ],
)
def test_hostile_actions_change_nothing(shared: Any, action: Any, word: str) -> None:
    env, calm = (shared(number=number).unwrapped for number in (0, 1))
    for each in (env, calm):
        each.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=f"action.*({word})"):
        env.step(action)
    assert same(env.step([1, 0]), calm.step([1, 0]))


def test_order_and_close(make: Any) -> None:
    env = make().unwrapped
    with pytest.raises(ResetNeeded):
        env.step([0, 0])
    env.reset(seed=0)
    env.close()
    env.close()
    for call in (lambda: env.step([0, 0]), env.reset):
        with pytest.raises(ClosedEnvironmentError):
            call()


def test_types_of_a_step(make: Any) -> None:
    env = make()
    env.reset(seed=0)
    _, reward, terminated, truncated, info = env.step(env.action_space.sample())
    assert type(reward) is float and type(terminated) is bool and type(truncated) is bool
    assert type(info["goal_share"]) is float and type(info["diverged"]) is bool


def test_time_limit(make: Any) -> None:
    env = make()
    env.reset(seed=0)
    truncated = [env.step([0.0, 0.0])[3] for _ in range(600)]
    assert truncated.index(True) == 599


def test_episodes_differ_between_seeds_and_friction_is_drawn(make: Any) -> None:
    env = make(friction_range=(0.2, 0.9))
    poses, goals, frictions = [], [], []
    for seed in range(5):
        observation, info = env.reset(seed=seed)
        poses.append(tuple(observation["pose"]))
        goals.append(tuple(info["goal"]))
        frictions.append(float(env.unwrapped.task.friction[0]))
    assert len(set(poses)) == len(set(goals)) == len(set(frictions)) == 5
    assert min(frictions) >= 0.2 and max(frictions) <= 0.9


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_do_not_change_bits(make: Any, threads: int) -> None:
    actions = np.random.default_rng(1).uniform(-1, 1, (10, 2))
    one, more = make(grain_count=500), make(grain_count=500, num_threads=threads)
    assert same(play(one, 2, actions), play(more, 2, actions))
