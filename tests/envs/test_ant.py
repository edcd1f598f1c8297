"""The rules of AntOnSand, the endless bed, and the gait."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from env_helpers import small

from granular_gym.envs.ant import CLEARANCE, GRID, HEALTHY, LEVEL, PATCH, AntOnSandTask, wave_lattice
from granular_gym.envs.ant_difficulty import BEDS
from granular_gym.envs.ant_expert import Trot
from granular_gym.envs.ant_model import LINKS, REACH, SCALE, STANCE, ant_model, height_over, surface_points
from granular_gym.envs.ant_state import axes_up, yaws
from granular_gym.tasks.expert import scripted_expert

ANT = "granular_gym/AntOnSand-v0"
FEW: dict[str, Any] = small(ANT)


def test_the_model_is_gymnasium_s_at_half_its_size() -> None:
    import gymnasium as gym

    theirs, ours = gym.make("Ant-v5").unwrapped.model, ant_model(0.005)
    assert ours.nq == theirs.nq and ours.nv == theirs.nv and ours.nu == theirs.nu
    assert ours.jnt_range == pytest.approx(theirs.jnt_range)
    assert np.sort(ours.geom_size[1:, 0]) == pytest.approx(SCALE * np.sort(theirs.geom_size[1:, 0]))
    assert [ours.joint(int(k)).name for k in ours.actuator_trnid[:, 0]] == [
        theirs.joint(int(k)).name for k in theirs.actuator_trnid[:, 0]
    ]
    assert 5.0 < ours.body_mass.sum() < 10.0 and ours.nbody == 1 + len(LINKS)


def test_no_link_reaches_the_edge_of_the_patch() -> None:
    """At any angles of the joints, with the torso as far from the middle as it gets."""
    task = AntOnSandTask(**FEW)
    model, data = task.robots.model, task.robots.data[0]
    draw, furthest = np.random.default_rng(0), 0.0
    low, high = model.jnt_range[1:].T
    for k in range(300):
        data.qpos[7:] = np.where(draw.random(8) < 0.5, low, high) if k % 2 else draw.uniform(low, high)
        quaternion = draw.normal(size=4)
        data.qpos[3:7] = quaternion / np.linalg.norm(quaternion)
        task.robots.forward(0)
        centers, radii = surface_points(model, data)
        furthest = max(furthest, float((np.linalg.norm(centers - data.qpos[:3], axis=1) + radii).max()))
    assert 0.9 * REACH < furthest <= REACH
    assert REACH + GRID < 0.5 * PATCH


def test_beds_keep_their_count_and_their_waves() -> None:
    for number, (height, waves) in enumerate(BEDS.values()):
        points = wave_lattice(height, waves, number, 5000, 0.02)
        assert points.shape == (5000, 3) and np.abs(points[:, :2]).max() <= 0.5 * PATCH
        near = [points[(np.abs(points[:, :2] - at) < 0.15).all(axis=1)] for at in ((0.0, 0.0), (0.25 * PATCH, 0.0))]
        rise = near[0][:, 2].mean() - near[1][:, 2].mean()  # a crest, and what lies beside it: half of their heights
        assert rise > 0.01 if height else abs(rise) < 0.008


def test_an_episode_begins_on_the_sand(make: Any) -> None:
    """The robot touches no grain, and hangs over none by more than it was given."""
    for difficulty in ("easy", "hard"):
        env = make(ANT, **{**FEW, "grain_count": 1500, "difficulty": difficulty})
        task = env.unwrapped.task
        for seed in range(3):
            env.reset(seed=seed)
            grains = task.world.positions[0].astype(float)
            gap = height_over(task.robots.model, task.robots.data[0], grains, task.radius)
            assert gap == pytest.approx(CLEARANCE, abs=1e-6)
            torso = task.world.tool_poses[0, task.world.tool_names.index("torso")]
            assert torso == pytest.approx(task.robots.data[0].qpos[:7], abs=1e-5), "the world knows where it is"
            assert 0.15 < LEVEL + HEALTHY[0] < torso[2] < LEVEL + HEALTHY[1]


def test_sand_carries_the_robot(make: Any) -> None:
    """Once it stands, the grains push with its weight; its feet lie lower than the surface."""
    env = make(ANT, **{**FEW, "grain_count": 1500, "difficulty": "easy"})
    env.reset(seed=0)
    task, gait = env.unwrapped.task, Trot(frequency=0.0, sweep=0.0)
    zero, lift = np.zeros(1), []
    for step in range(80):
        data = task.robots.data[0]
        action = gait.actions(zero, data.qpos[None, 7:], data.qvel[None, 6:], zero)[0]
        observation, _, terminated, _, _ = env.step(action)
        assert not terminated
        if step >= 40:
            lift.append(observation["wrenches"].reshape(9, 6)[:, 2].sum())
    assert np.mean(lift) == pytest.approx(task.robot_weight, rel=0.03)
    assert observation["torso"][0] == pytest.approx(data.qpos[2] - LEVEL, abs=1e-5)
    bare = task.world.positions[0][:, 2].max() + task.radius
    centers, radii = surface_points(task.robots.model, data)
    assert (centers[:, 2] - radii).min() < bare - 0.02


def test_bed_and_robot_move_back_together(make: Any) -> None:
    """What the robot sees and feels does not tell that it was moved; where it is counts what it walked."""
    env = make(ANT, **FEW)
    env.reset(seed=0)
    task = env.unwrapped.task
    expert = scripted_expert(env)
    for _ in range(20):
        env.step(expert.act())
    data = task.robots.data[0]
    start = task.walked[0] + data.qpos[:2]
    data.qpos[:2] += 3 * GRID, -2 * GRID  # as if it had walked there with its bed
    task.world.transform_grains(np.array([3 * GRID, -2 * GRID, 0.0], np.float32), 0.0)
    relative = task.world.positions[0, :, :2] - data.qpos[:2]
    task._move_back()
    assert np.abs(data.qpos[:2]).max() < GRID
    assert task.world.positions[0, :, :2] - data.qpos[:2] == pytest.approx(relative, abs=1e-6)
    assert task.walked[0] + data.qpos[:2] == pytest.approx(start + np.array([3 * GRID, -2 * GRID]))
    info = env.step(expert.act())[4]
    assert (np.abs(task.world.positions[0, :, :2]) <= 0.5 * PATCH + 1e-6).all() and info["escaped_count"] == 0


def test_rewards_are_the_ant_s(make: Any) -> None:
    env = make(ANT, **{**FEW, "ctrl_cost_weight": 0.3, "healthy_reward": 2.0, "forward_reward_weight": 4.0})
    env.reset(seed=1)
    task = env.unwrapped.task
    before = 0.0
    for _ in range(5):
        action = np.full(8, 0.2, np.float32)
        observation, reward, terminated, _, info = env.step(action)
        speed = (info["x_position"] - before) / 0.025
        before = info["x_position"]
        pressed = np.clip(observation["wrenches"] / task.robot_weight, -1.0, 1.0)
        assert info["x_velocity"] == pytest.approx(speed, abs=1e-9)
        expected = 4.0 * speed + 2.0 - 0.3 * 8 * 0.04 - 5e-4 * float((pressed**2).sum())
        assert reward == pytest.approx(expected, abs=1e-5) and not terminated


def test_an_unhealthy_robot_ends_the_episode(make_vec: Any) -> None:
    """One is thrown up, its neighbour goes on; where it is told not to end, it does not."""
    for ends in (True, False):
        envs = make_vec(ANT, 2, **FEW, terminate_when_unhealthy=ends)
        envs.reset(seed=0)
        task = envs.unwrapped.task
        task.robots.data[1].qpos[2] += 1.0
        _, rewards, terminated, truncated, infos = envs.step(np.zeros((2, 8), np.float32))
        assert terminated.tolist() == [False, ends] and not truncated.any()
        assert infos["reward_survive"].tolist() == [1.0, 0.0] and np.isfinite(rewards).all()


def test_a_robot_that_diverges_is_truncated_and_its_neighbour_goes_on(
    make_vec: Any, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # MuJoCo writes a log
    envs, alone = make_vec(ANT, 2, **FEW), make_vec(ANT, 1, **FEW)
    envs.reset(seed=[3, 4])
    alone.reset(seed=3)
    actions = np.full((2, 8), 0.1, np.float32)
    envs.unwrapped.task.robots.data[1].qvel[:] = 1e30
    _, rewards, terminated, truncated, infos = envs.step(actions)
    expected = alone.step(actions[:1])
    assert truncated.tolist() == [False, True] and infos["diverged"].tolist() == [False, True]
    assert not terminated.any() and rewards[1] == 0.0 and rewards[0] == expected[1][0]
    observations, _, _, truncated, infos = envs.step(actions)  # it begins anew
    again = alone.step(actions[:1])[0]
    assert not truncated.any() and not infos["diverged"].any() and envs.observation_space.contains(observations)
    assert all(np.array_equal(observations[key][0], again[key][0]) for key in again)


def test_axes_and_yaw_of_orientations() -> None:
    half = 0.5 * np.array([0.3, -2.0])
    turned = np.stack([np.cos(half), 0 * half, 0 * half, np.sin(half)], axis=1)
    assert yaws(turned) == pytest.approx([0.3, -2.0]) and axes_up(turned) == pytest.approx(np.tile([0, 0, 1.0], (2, 1)))
    assert axes_up(np.array([[np.sqrt(0.5), np.sqrt(0.5), 0.0, 0.0]])) == pytest.approx(np.array([[0, -1.0, 0]]))


def test_the_gait_stands_in_the_ant_s_posture_and_keeps_its_course() -> None:
    gait, zero = Trot(), np.zeros((1, 8))
    standing = Trot(sweep=0.0, lift=0.0, stance=1.0)
    assert not standing.actions(np.zeros(1), STANCE[None], zero, np.zeros(1)).any()
    straight, left = (gait.actions(np.zeros(1), STANCE[None], zero, np.array([yaw]))[0] for yaw in (0.0, 0.2))
    assert not np.array_equal(straight, left)


def test_without_mujoco_the_error_says_what_to_install() -> None:
    code = (
        "import sys; sys.modules['mujoco'] = None\n"
        "import gymnasium as gym, granular_gym as gg\n"
        "try: gym.make('granular_gym/AntOnSand-v0')\n"
        "except gg.MissingError as error: print(isinstance(error, (gg.GranularError, ImportError)), error)\n"
        "gym.make('granular_gym/Pour-v1', grain_count=60).close()\n"
        "from granular_gym.__main__ import main\n"
        "sys.exit(main(['play', 'AntOnSand']))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    for said in (done.stdout, done.stderr):
        assert 'pip install "granular_gym[mujoco]"' in said
    assert done.stdout.startswith("True") and done.returncode == 2


@pytest.mark.slow
def test_the_expert_walks(make: Any) -> None:
    """With 2,000 grains, for a quarter of an episode: as far as it is long, and on its course."""
    env = make(ANT, **{**FEW, "grain_count": 2000})
    env.reset(seed=0)
    expert, worst = scripted_expert(env), 0.0
    for _ in range(200):
        _, _, terminated, _, info = env.step(expert.act())
        worst = max(worst, info["overlap_max"])
        assert not terminated
    assert info["x_position"] > 0.7 and abs(info["y_position"]) < 0.4
    assert worst < 0.3 and info["escaped_count"] == 0
