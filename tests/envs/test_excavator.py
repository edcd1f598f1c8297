"""The rules of the excavator task, its bucket, and its expert."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import same

import granular_gym as gg
from granular_gym.envs.excavator import (
    BEDS,
    CONTROL_PERIOD,
    DIFFICULTIES,
    TRAY_CENTER,
    TRAY_HALF,
    TRAY_HEIGHT,
    WALL,
    ExcavatorTask,
    bed_lattice,
)
from granular_gym.envs.excavator_expert import CRAWL, DIG, ScoopDrivers, Way, Waypoint, bucket_rotation, matrix_of
from granular_gym.envs.excavator_state import LIP
from granular_gym.tasks.arm import SPEED_EVENT, TOUCH_EVENT

EXCAVATOR = "granular_gym/Excavator-v0"


def play(env: Any, seed: int, actions: Any) -> list[Any]:
    env.reset(seed=seed)
    return [env.step(action) for action in actions]


def random_actions(count: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).uniform(-1, 1, (count, 7))


def test_spaces(make: Any) -> None:
    metres, images = make(EXCAVATOR).observation_space, make(EXCAVATOR, depth="uint8").observation_space
    assert metres["wrist"].shape == (36, 36) and metres["side"].shape == (36, 72)
    assert images["wrist"].shape == (1, 36, 36) and images["side"].dtype == np.uint8
    assert metres["joints"].shape == metres["velocities"].shape == (7,) and metres["wrench"].shape == (6,)
    space = make(EXCAVATOR).action_space
    assert space.shape == (7,) and (space.low == -1).all() and (space.high == 1).all()
    for box in metres.values():
        assert np.isfinite(box.low).all() and np.isfinite(box.high).all()


def test_substeps_keep_every_tool_under_half_a_radius() -> None:
    for count in (60, 500, 2000, 10_000, 50_000, 200_000):
        for preset, longest in (("fast", 2.5e-3), ("accurate", 5e-4)):
            task = ExcavatorTask(grain_count=count, preset=preset)
            dt = task.pace.dt
            assert dt * task.arm.description.tip_speed <= 0.5 * task.radius * (1 + 1e-9)
            assert dt <= longest * (1 + 1e-9) and dt * task.pace.substeps == pytest.approx(CONTROL_PERIOD)
            assert count * 4.0 / 3.0 * np.pi * task.radius**3 == pytest.approx(4.5e-3), "the volume of the bed"
    assert ExcavatorTask(preset="accurate", grain_count=50_000).pace.dt == pytest.approx(5e-4), "the paper's"


@pytest.mark.parametrize("difficulty", list(DIFFICULTIES))
def test_an_episode_starts_settled_and_clear(make: Any, difficulty: str) -> None:
    env = make(EXCAVATOR, grain_count=300, difficulty=difficulty)
    task, limits = env.unwrapped.task, DIFFICULTIES[difficulty]
    bins = []
    for seed in range(6):
        observation, info = env.reset(seed=seed)
        assert env.observation_space.contains(observation)
        assert info["bin_share"] == info["spill_share"] == info["lifted_share"] == 0.0
        places = task.world.positions[0]
        inside = np.abs(places[:, :2] - TRAY_CENTER) < np.array(TRAY_HALF) - 0.9 * task.radius
        assert inside.all() and places[:, 2].max() < TRAY_HEIGHT + 2 * task.radius
        assert task.arm.clearance(task.joints, task.blocks())[0] > 0.03, "the arm starts near something"
        distance, azimuth = np.hypot(*task.bin[0]), abs(np.arctan2(task.bin[0, 1], task.bin[0, 0]))
        assert limits.distance[0] <= distance + 1e-9 and distance <= limits.distance[1] + 1e-9
        assert limits.azimuth[0] <= azimuth + 1e-9 and azimuth <= limits.azimuth[1] + 1e-9
        # bin and tray stand apart
        gaps = np.abs(task.bin[0] - TRAY_CENTER) - limits.bin_half - 2 * WALL - TRAY_HALF
        assert gaps.max() > 0.0
        bins.append(tuple(task.bin[0]))
        env.step(np.zeros(7))
        assert np.abs(task.world.positions[0] - places).max() < 0.2 * task.radius, "the bed moves on its own"
    assert len(set(bins)) == (1 if limits.distance[0] == limits.distance[1] else 6)


def test_beds_keep_their_count() -> None:
    for shape in BEDS:
        for count in (1, 7, 500, 2000):
            radius = ExcavatorTask(grain_count=count).radius
            places = bed_lattice(shape, count, radius)
            assert places.shape == (count, 3) and places[:, 2].min() > radius
            if 1 < count < 600:
                gaps = np.linalg.norm(places[:, None] - places[None, :], axis=2)
                np.fill_diagonal(gaps, 1.0)
                assert gaps.min() > 1.99 * radius


def test_score_counts_what_lies_where(make: Any) -> None:
    env = make(EXCAVATOR, reward="level", spill_penalty=0.5)
    env.reset(seed=1)
    task = env.unwrapped.task
    # ten grains into the bin, five onto the table, two high in the air
    places = task.world.positions[0].copy()
    low = task.radius
    for k in range(10):
        places[k] = [task.bin[0, 0] + (k % 4 - 1.5) * 2.1 * low, task.bin[0, 1] + (k // 4 - 1) * 2.1 * low, 1.01 * low]
    for k in range(5):
        places[10 + k] = [-0.6, (k - 2) * 0.1, 1.01 * low]
    places[15:17] = [[0.9, 0.5, 0.6], [0.9, -0.5, 0.6]]
    task.world.set_grains(positions=places)
    _, reward, _, _, info = env.step(np.zeros(7))
    n = task.grain_count
    assert (info["bin_share"], info["spill_share"], info["lifted_share"]) == pytest.approx((10 / n, 5 / n, 2 / n))
    places = task.world.positions[0].astype(np.float64)
    center, half = np.append(task.bin[0], 0.06), np.array([0.12, 0.12, 0.06])
    gaps = np.linalg.norm(np.maximum(np.abs(places - center) - half, 0.0), axis=1)
    assert reward == pytest.approx(100 * 10 / n - 0.5 * 100 * 5 / n - 10.0 * gaps.mean(), abs=1e-4)
    assert info["success"] is False  # too much lies on the table


def test_incremental_rewards_add_up(make: Any) -> None:
    actions = random_actions(15)
    level, change = make(EXCAVATOR, reward="level"), make(EXCAVATOR)
    ours = [step[1] for step in play(level, 2, actions)]
    theirs = [step[1] for step in play(change, 2, actions)]
    assert np.diff(ours) == pytest.approx(theirs[1:], abs=1e-9)


def test_observation_is_the_state(make: Any) -> None:
    env = make(EXCAVATOR)
    env.reset(seed=3)
    task = env.unwrapped.task
    for action in random_actions(5):
        before = task.joints.copy()
        observation, *_, info = env.step(action)
        np.testing.assert_allclose(observation["joints"], task.joints[0], atol=1e-6)
        np.testing.assert_allclose(observation["velocities"], (task.joints - before)[0] / CONTROL_PERIOD, atol=1e-5)
        frames = task.arm.frames(task.joints)[0]
        poses = task.world.tool_poses[0]
        assert np.abs(poses[8, :3] - frames[-1, :3]).max() < 1e-6, "the bucket is where the arm is"
        np.testing.assert_allclose(observation["bin"], info["bin"])


def test_wrench_is_the_weight_of_a_load(make: Any) -> None:
    """Grains at rest in the bucket: their weight, turned into the bucket's frame, and the torque it puts on a joint."""
    env = make(EXCAVATOR, grain_count=500)
    env.reset(seed=0)
    task, loaded = fill_bucket(env, 25)
    observation, *_, info = env.step(np.zeros(7))
    held = int(info["lifted_share"] * task.grain_count + 0.5)
    assert held == loaded
    weight = held * 1600.0 * 4.0 / 3.0 * np.pi * task.radius**3 * 9.81
    m = matrix_of(task.arm.frames(task.joints)[0, -1, 3:])
    np.testing.assert_allclose(m @ observation["wrench"][:3], [0.0, 0.0, -weight], atol=0.02 * weight)
    torques = task.arm.torques(task.joints, task.world.wrenches[:, 8])[0]
    assert info["torque_share"] == pytest.approx(np.abs(torques / task.arm.description.torque).max())
    assert 0.005 < info["torque_share"] < 0.2


def fill_bucket(env: Any, count: int) -> tuple[ExcavatorTask, int]:
    """Brings the bucket into the carrying posture, drops grains into it and lets them settle."""
    task = env.unwrapped.task
    joints = np.array([[0.0, 0.52, 0.0, -1.25, 0.0, 0.72, 0.0]])
    task.joints[:], task.velocities[:] = joints, 0.0
    task.world.set_tool_poses(task.world.drive_poses(task._drive_state()))
    frame = task.arm.frames(task.joints)[0, -1]
    m = matrix_of(frame[3:])
    places = task.world.positions[0].copy()
    step = 2.05 * task.radius
    grid = np.array([[x, y, 0.0] for x in (-0.5, 0.5) for y in (-1.5, -0.5, 0.5, 1.5)]) * step
    middle = frame[:3] + m @ [0.0, 0.0, 0.105]
    for k in range(count):
        places[k] = middle + grid[k % 8] + [0.0, 0.0, (k // 8) * step]
    task.world.set_grains(positions=places, velocities=np.zeros_like(places))
    for _ in range(12):
        info = env.step(np.zeros(7))[-1]
    return task, round(info["lifted_share"] * task.grain_count)


def test_bucket_holds_its_load_in_a_swing(make: Any) -> None:
    """No grain passes shell or cheeks while the base turns at full speed and stops; then the bucket is emptied."""
    env = make(EXCAVATOR, grain_count=500)
    env.reset(seed=0)
    task, loaded = fill_bucket(env, 25)
    assert loaded >= 20, "the bucket did not take the grains"
    for step in range(30):
        action = np.zeros(7)
        action[0] = (1.0, -1.0)[step // 15]
        info = env.step(action)[-1]
        assert info["fast_tool_count"] == 0
    assert round(info["lifted_share"] * task.grain_count) == loaded, "grains went through the walls"
    # grains touch the plates and do not sink into them
    assert info["overlap_max"] < 0.05
    for _ in range(40):
        info = env.step([0, 0, 0, 0, 0, 1, 0])[-1]
    assert info["lifted_share"] == 0.0, "the bucket does not let go"


def test_guard_keeps_the_bucket_off_the_table_and_slows_it(make: Any) -> None:
    env = make(EXCAVATOR)
    env.reset(seed=0)
    task = env.unwrapped.task
    events, least, lowest = 0, 1.0, 1.0
    rng = np.random.default_rng(1)
    for step in range(150):
        if step % 10 == 0:
            action = rng.choice([-1.0, 0.0, 1.0, 40.0], 7)
            action[1] = abs(action[1])  # forward and down
        info = env.step(action)[-1]
        events |= info["guard"]
        least = min(least, float(task.arm.clearance(task.joints, task.blocks())[0]))
        frame = task.arm.frames(task.joints)[0, -1]
        lowest = min(lowest, (frame[:3] + matrix_of(frame[3:]) @ np.array(LIP))[2])
        assert info["fast_tool_count"] == 0
    assert least > 0.002 and lowest < 0.05, "the bucket never came near the table"
    assert events & TOUCH_EVENT and events & SPEED_EVENT


def test_a_bucket_on_a_spring_gives_way_by_its_force() -> None:
    """Pressed into the bed and held there: as far from the flange as force over stiffness, alone and in a vector."""
    stiffness = 5000.0
    args: dict[str, Any] = {"grain_count": 300, "num_threads": 1, "bucket_stiffness": stiffness}
    env = gym.make(EXCAVATOR, **args)
    envs = gym.make_vec(EXCAVATOR, num_envs=2, **args)
    env.reset(seed=0)
    envs.reset(seed=[1, 0])
    task, off, force = env.unwrapped.task, np.zeros(3), np.zeros(3)
    bucket = len(task.arm.shapes) - 1
    for step in range(60):
        jacobian = task.arm.jacobian(task.joints)[0]
        down = np.linalg.pinv(jacobian) @ [0.06, 0, -0.3, 0, 0, 0] / task.arm.description.speed
        action = (down if step < 30 else np.zeros(7)).astype(np.float32)
        observation = env.step(action)[0]
        both = envs.step(np.array([np.zeros(7), action], np.float32))[0]
        off = task.world.tool_poses[0, bucket, :3] - task.arm.frames(task.joints)[0, -1, :3]
        force = task.world.wrenches[0, bucket, :3]
    assert same(observation, {name: values[1] for name, values in both.items()})
    assert np.linalg.norm(force) > 5.0, "the bed bears nothing"
    np.testing.assert_allclose(stiffness * off, force, atol=0.02 * float(np.linalg.norm(force)))
    with pytest.raises(gg.ArgumentError, match="bucket_stiffness: expected None"):
        gym.make("granular_gym/ExcavatorForce-v0", bucket_stiffness=stiffness)


def test_force_limit_ends_the_episode() -> None:
    """The bucket pressed flat into the bed: more than the arm can bear. The next episode starts as always."""
    args: dict[str, Any] = {"grain_count": 300, "num_threads": 1}
    free = gym.make(EXCAVATOR, **args)
    free.reset(seed=0)
    envs = gym.make_vec(EXCAVATOR, num_envs=2, force_limit=0.5, **args)
    envs.reset(seed=[0, 1])
    task = free.unwrapped.task
    ended = None
    for step in range(60):
        # straight down, regardless of force
        jacobian = task.arm.jacobian(task.joints)[0]
        action = np.linalg.pinv(jacobian) @ [0.06, 0, -0.3, 0, 0, 0] / task.arm.description.speed
        _, _, terminated, _, info = free.step(action)
        assert not terminated and not info["overloaded"], "without a limit nothing ends"
        _, rewards, terminated, truncated, infos = envs.step(np.array([action, np.zeros(7)], np.float32))
        assert infos["torque_share"][0] == info["torque_share"]
        assert terminated[0] == infos["overloaded"][0] == (info["torque_share"] > 0.5)
        assert not terminated[1] and not truncated.any() and np.isfinite(rewards).all()
        if terminated[0]:
            ended = step
            break
    assert ended is not None, "the bed bears nothing"
    observations = envs.step(np.zeros((2, 7), np.float32))[0]
    assert infos["overloaded"][0] and envs.step(np.zeros((2, 7), np.float32))[2].tolist() == [False, False]
    assert np.abs(observations["joints"][0, [0, 2]]).max() < 0.2, "the arm is home again"
    free.close()
    envs.close()


def test_an_env_is_the_same_alone_and_in_a_batch(make: Any, make_vec: Any) -> None:
    envs, env = make_vec(EXCAVATOR, num_envs=3), make(EXCAVATOR)
    batch, _ = envs.reset(seed=40)
    alone, _ = env.reset(seed=41)
    rng = np.random.default_rng(4)
    for _ in range(12):
        assert same({key: values[1] for key, values in batch.items()}, alone)
        actions = rng.uniform(-1, 1, (3, 7)).astype(np.float32)
        batch, rewards, _, _, infos = envs.step(actions)
        alone, reward, _, _, info = env.step(actions[1])
        assert rewards[1] == reward
        for key, value in info.items():
            assert np.array_equal(infos[key][1], value), key


def test_threads_do_not_change_bits(make: Any) -> None:
    actions = random_actions(6)
    one, more = make(EXCAVATOR, grain_count=300), make(EXCAVATOR, grain_count=300, num_threads=3)
    assert same(play(one, 2, actions), play(more, 2, actions))


def test_friction_is_drawn(make: Any) -> None:
    env = make(EXCAVATOR, friction_range=(0.2, 0.9))
    drawn = set()
    for seed in range(4):
        env.reset(seed=seed)
        drawn.add(float(env.unwrapped.task.friction[0]))
    assert len(drawn) == 4 and min(drawn) >= 0.2 and max(drawn) <= 0.9


@pytest.mark.parametrize(
    ("action", "word"),
    [
        ([np.nan] + [0] * 6, "finite"),
        ([0] * 6 + [np.inf], "finite"),
        ([0] * 6, "shape"),
        ([[0] * 7], "shape"),
        (0.0, "shape"),
        (["a"] * 7, "numbers"),
        (None, "numbers|shape"),
    ],
)
def test_hostile_actions_change_nothing(shared: Any, action: Any, word: str) -> None:
    env, calm = (shared(EXCAVATOR, number).unwrapped for number in (0, 1))
    for each in (env, calm):
        each.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=f"action.*({word})"):
        env.step(action)
    assert same(env.step([0.5] * 7), calm.step([0.5] * 7))


@pytest.mark.parametrize(
    ("kwargs", "word"),
    [
        ({"grain_count": 0}, "grain_count"),
        ({"preset": "slow"}, "preset"),
        ({"difficulty": "impossible"}, "difficulty"),
        ({"depth": "uint16"}, "depth"),
        ({"reward": "none"}, "reward"),
        ({"spill_penalty": -1.0}, "spill_penalty"),
        ({"spill_penalty": float("nan")}, "spill_penalty"),
        ({"force_limit": 0.0}, "force_limit"),
        ({"force_limit": "arm"}, "force_limit"),
        ({"bucket_stiffness": 0.0}, "bucket_stiffness"),
        ({"bucket_stiffness": float("inf")}, "bucket_stiffness"),
        ({"friction_range": (0.5, 0.1)}, "friction_range"),
        ({"num_threads": 0}, "num_threads"),
        ({"device": "abacus"}, "device"),
    ],
)
def test_bad_arguments_name_themselves(kwargs: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        gym.make(EXCAVATOR, **kwargs)


# ---- the expert; benchmarks/expert_table.py --task excavator prints the table over 20 seeds ----


def test_bucket_rotation() -> None:
    for heading, curl in ((0.0, 0.0), (1.2, 0.6), (-2.0, -1.2)):
        m = bucket_rotation(heading, curl)
        np.testing.assert_allclose(m @ m.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(m) == pytest.approx(1.0)
        assert m[2, 0] == pytest.approx(np.sin(curl)), "curl lifts the lip"
    np.testing.assert_allclose(bucket_rotation(0.0, 0.0)[:, 0], [-1.0, 0.0, 0.0], atol=1e-12)


def test_a_way_is_followed_from_wherever_the_arm_is() -> None:
    begin = np.array([0.5, -0.2, 0.3, 0.0, -0.8])
    point = Waypoint((0.4, 0.3, 0.1, 0.3, 0.2), DIG)
    way = Way.to(point, begin)
    goal = np.array(point.goal)
    assert way.share(begin) == 0.0
    assert way.share(goal) == pytest.approx(1.0)
    assert way.share(begin - (goal - begin)) == 0.0, "the nearest point, not one before the way"
    middle = 0.5 * (begin + goal)
    aside = np.array([way.change[2], 0.0, -way.change[0], 0.0, 0.0])  # square to the way
    assert way.share(middle + 0.1 * aside) == pytest.approx(0.5)
    # slow at its ends, and there within the time a steady arm takes and a little more
    assert way.after(0.0, 0.05) < way.after(0.5, 0.05) - 0.5 > way.after(0.95, 0.05) - 0.95
    share, steps = 0.0, 0
    while share < 1.0:
        before, share = share, way.after(share, 0.05)
        assert share > before
        steps += 1
    ramp = DIG[1]
    whole = 2.0 * ramp * (1.0 - np.log(CRAWL)) + 1.0 - 2.0 * ramp  # the integral of one over the speed
    assert 0.05 * steps / way.duration == pytest.approx(whole, rel=0.05)
    assert Way.to(point, goal).share(begin) == 1.0, "a way of no length is done"


@pytest.mark.slow
def test_expert_decides_by_what_it_sees_not_by_a_clock(full: bool) -> None:
    """An arm that is held up for a while goes on with its scoop; one that decides half as often earns alike."""
    envs = gym.make_vec(EXCAVATOR, num_envs=1, grain_count=300, num_threads=2, autoreset_mode="Disabled")
    envs.reset(seed=[3])
    drivers = ScoopDrivers(envs)
    driver = drivers.drivers[0]
    for _ in range(30):
        envs.step(drivers.act())
    left, still = len(driver._waypoints), np.zeros((1, 7), np.float32)
    assert driver.scoops == 1
    before = drivers.act()
    for _ in range(10):  # less than its patience
        envs.step(still)
    assert len(driver._waypoints) == left
    after = drivers.act()
    assert float((before * after).sum()) > 0.5 * float((before * before).sum()), "it goes on where it was"
    envs.close()
    count, periods, returns = 4 if full else 2, 300 if full else 200, {}
    for skip in (1, 2):
        envs = gym.make_vec(EXCAVATOR, num_envs=count, grain_count=300, num_threads=2, frame_skip=skip)
        envs.reset(seed=list(range(count)))
        drivers, total = ScoopDrivers(envs), 0.0
        for _ in range(periods // skip):
            total += float(envs.step(drivers.act())[1].mean())
        returns[skip] = total
        envs.close()
    assert returns[2] > 0.75 * returns[1] > 0.0, returns


def test_driver_carries_grains_and_random_does_not() -> None:
    envs = gym.make_vec(EXCAVATOR, num_envs=2, grain_count=300, num_threads=1, autoreset_mode="Disabled")
    envs.reset(seed=[3, 3])
    drivers = ScoopDrivers(envs)
    envs.action_space.seed(0)
    returns, fast = np.zeros(2), 0
    for _ in range(200):  # one scoop
        actions = envs.action_space.sample()
        actions[0] = drivers.act()[0]
        _, rewards, _, _, infos = envs.step(actions)
        returns += rewards
        fast += int(infos["fast_tool_count"].sum())
    assert infos["bin_share"][0] >= 0.03, infos["bin_share"]
    assert infos["bin_share"][1] == 0.0
    assert returns[0] > returns[1] + 2.0
    assert fast == 0 and not infos["escaped_count"].any() and not infos["diverged"].any()
    assert infos["spill_share"][0] <= 0.02
    envs.close()


def test_a_diverged_env_is_truncated_alone(make_vec: Any) -> None:
    envs, calm = make_vec(EXCAVATOR), make_vec(EXCAVATOR)
    for each in (envs, calm):
        each.reset(seed=1)
    world = envs.unwrapped.task.world
    velocities = world.velocities[1:2].copy()
    velocities[0, 0] = 3e38
    world.set_grains(velocities=velocities, envs=[1])
    rng = np.random.default_rng(6)
    for step in range(3):
        actions = rng.uniform(-1, 1, (3, 7)).astype(np.float32)
        observations, rewards, terminated, truncated, infos = envs.step(actions)
        expected = calm.step(actions)
        assert truncated.tolist() == [False, step == 0, False] == infos["diverged"].tolist() and not terminated.any()
        assert np.isfinite(rewards).all() and envs.observation_space.contains(observations)
        for env in (0, 2):
            assert rewards[env] == expected[1][env]
            assert all(same(values[env], expected[0][key][env]) for key, values in observations.items())
    assert np.isfinite(world.positions).all()
