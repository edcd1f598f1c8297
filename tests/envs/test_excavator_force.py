"""The arm of ExcavatorForce as a robot of MuJoCo: its frames, its limits, and what it feels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_helpers import same, small

import granular_gym as gg
from granular_gym.envs.excavator import TRAY_HEIGHT
from granular_gym.envs.excavator_force import ExcavatorForceTask
from granular_gym.envs.excavator_force_expert import Swing
from granular_gym.envs.excavator_model import BUCKET_MASS, MASSES
from granular_gym.tasks.expert import scripted_expert

FORCE = "granular_gym/ExcavatorForce-v0"


def test_the_model_has_the_frames_and_limits_of_the_description() -> None:
    task = ExcavatorForceTask(**small(FORCE))
    model, data, arm = task.robots.model, task.robots.data[0], task.arm
    draw = np.random.default_rng(0)
    places = [frame for frame, _ in arm.shapes[1:]]
    for _ in range(5):
        data.qpos[:] = draw.uniform(arm.description.lower, arm.description.upper)
        task.robots.forward(0)
        frames, bodies = arm.frames(data.qpos[None])[0], [model.body(name).id for name in task.robots.names]
        assert data.xpos[bodies] == pytest.approx(frames[places, :3], abs=1e-9)
        turns = np.abs((data.xquat[bodies] * frames[places, 3:]).sum(axis=1))
        assert turns == pytest.approx(np.ones(len(bodies)), abs=1e-9)
    assert model.jnt_range == pytest.approx(np.stack([arm.description.lower, arm.description.upper], axis=1))
    assert model.actuator_forcerange[:, 1] == pytest.approx(arm.description.torque)
    assert model.body_mass[bodies].sum() == pytest.approx(sum(MASSES) + BUCKET_MASS)


def test_in_the_air_the_arm_follows_its_actions(make: Any) -> None:
    """Joint velocities are reached within the torques; the arm that is told nothing stands, its weight carried."""
    env = make(FORCE, **small(FORCE))
    env.reset(seed=0)
    task = env.unwrapped.task
    start = task.joints[0].copy()
    for _ in range(5):
        info = env.step(np.zeros(7))[4]
    assert task.joints[0] == pytest.approx(start, abs=2e-3) and info["motor_share"] < 0.05
    action = np.array([0.2, -0.1, 0.0, 0.0, 0.0, 0.1, 0.0])
    for _ in range(6):
        observation = env.step(action)[0]
    assert observation["velocities"] == pytest.approx(action * task.arm.description.speed, abs=0.03)
    assert env.observation_space.contains(observation)


def test_the_bed_stops_the_arm_within_its_torques(make: Any) -> None:
    """Pressed into the bed, no motor exceeds its limit, and the bucket stays behind its command; grains push it."""
    env = make(FORCE, **{**small(FORCE), "grain_count": 300})
    env.reset(seed=0)
    task, limits = env.unwrapped.task, env.unwrapped.task.arm.description.torque
    largest, force = 0.0, 0.0
    for _ in range(40):
        jacobian = task.arm.jacobian(task.joints)[0]
        action = np.linalg.pinv(jacobian) @ [0.06, 0, -0.3, 0, 0, 0] / task.arm.description.speed
        observation, _, _, _, info = env.step(action)
        assert (np.abs(observation["torques"]) <= limits * (1.0 + 1e-6)).all() and not info["diverged"]
        largest, force = max(largest, info["motor_share"]), max(force, float(np.linalg.norm(observation["wrench"][:3])))
    assert largest == pytest.approx(1.0), "it was never held"
    assert 20.0 < force < 500.0


def test_a_motor_under_load_returns_to_its_reference_and_forgets_what_it_could_not_hold(make: Any) -> None:
    """The integral closes the gap that a load opens; a load beyond the limit leaves no wind-up behind."""
    env = make(FORCE, **small(FORCE))
    env.reset(seed=0)
    task = env.unwrapped.task
    data, limits, start = task.robots.data[0], task.arm.description.torque, task.joints[0].copy()
    data.qfrc_applied[5] = 0.5 * limits[5]
    for _ in range(20):
        env.step(np.zeros(7))
    held = task.joints[0].copy()
    assert task.torques[0, 5] == pytest.approx(-0.5 * limits[5], rel=0.05)
    assert abs(held[5] - start[5]) < 0.01 and np.abs(task.velocities[0]).max() < 1e-3
    data.qfrc_applied[5] = 1.2 * limits[5]
    for _ in range(10):
        env.step(np.zeros(7))
    pushed = task.joints[0, 5]
    assert pushed > held[5] + 0.1, "it was held"
    data.qfrc_applied[5] = 0.0
    for _ in range(10):
        env.step(np.zeros(7))
    assert task.joints[0, 5] > pushed - 0.02, "it went back to where the load had found it"


def test_the_expert_succeeds(make: Any) -> None:
    """Within the torque limits it has a tenth of the grains in the bin before four fifths of the episode are over."""
    env = make(FORCE, **{**small(FORCE), "grain_count": 500})
    env.reset(seed=0)
    expert = scripted_expert(env)
    for _ in range(480):
        info = env.step(expert.act())[4]
        assert info["motor_share"] <= 1.0 + 1e-6 and not info["diverged"]
        if info["success"]:
            break
    assert info["success"] and info["bin_share"] >= 0.1


def test_a_swing_ends_at_its_waypoint(make: Any) -> None:
    """The posture that the joints go to holds the bucket where the waypoint has it, over tray and bin."""
    env = make(FORCE, **small(FORCE))
    env.reset(seed=0)
    driver = scripted_expert(env).drivers[0]
    for goal in [(0.57, 0.1, 0.13, 0.0, -0.85), (0.5, -1.4, 0.26, -1.4, 0.15)]:
        posture = driver.posture(Swing(goal))
        assert driver.where(posture) == pytest.approx(goal, abs=5e-3)
        limits = env.unwrapped.task.arm.description
        assert (posture >= limits.lower).all() and (posture <= limits.upper).all()


def test_it_swings_over_the_walls_of_a_tray_that_is_nearly_empty(make: Any) -> None:
    env = make(FORCE, **small(FORCE))
    env.reset(seed=0)
    driver, center = scripted_expert(env).drivers[0], ExcavatorForceTask.tray[:2]
    first = driver.plan(np.array([[*center, 0.012]]), np.array([0.0, 0.48]))[0]
    assert isinstance(first, Swing) and first.goal[2] > TRAY_HEIGHT + 0.03


@pytest.mark.parametrize("control", ["velocity", "torque"])
def test_a_snapshot_holds_the_robot(make: Any, control: str) -> None:
    """From a saved state the same actions give the same episode to the bit."""
    env = make(FORCE, **small(FORCE), control=control)
    env.reset(seed=1)
    task, draw = env.unwrapped.task, np.random.default_rng(0)
    actions = 0.3 * draw.uniform(-1.0, 1.0, (12, 7))
    for action in actions[:6]:
        env.step(action)
    saved = task.save()
    first = [env.step(action) for action in actions[6:]]
    task.load(saved)
    assert same(first, [env.step(action) for action in actions[6:]])


def test_other_controls_are_refused(make: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="control: expected one of 'velocity', 'torque'"):
        make(FORCE, control="position")
