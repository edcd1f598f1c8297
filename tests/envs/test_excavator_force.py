"""The arm of ExcavatorForce as a robot of MuJoCo: its frames, its limits, and what it feels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from env_helpers import same, small

import granular_gym as gg
from granular_gym.envs.excavator_force import ExcavatorForceTask
from granular_gym.envs.excavator_model import BUCKET_MASS, MASSES

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
