"""Errors of depth cameras: their size, whose draws they are, and that nothing else changes."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
from env_helpers import follow, same
from gymnasium.utils.env_checker import check_env

import granular_gym as gg
from granular_gym.errors import ArgumentError
from granular_gym.tasks.depth_sensor import SensorNoise

KINECT = gg.DepthSensor.structured_light(dropout=0.05)
needs_torch = pytest.mark.skipif(importlib.util.find_spec("torch") is None, reason="torch is not installed")


def measured(sensor: gg.DepthSensor, depth: Any, floor: bool = False, step: int = 0) -> tuple[Any, Any]:
    """What a sensor gives of images within 0.1 .. 9 m."""
    noise = SensorNoise(sensor, len(depth))
    noise.begin(0, np.random.default_rng(0))
    noise.steps += step
    return noise.measured(depth, 0, (0.1, 9.0), floor)


def flat(depth: float) -> Any:
    return np.full((1, 200, 250), depth, np.float32)


# the model -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [0.5, 2.0, 4.0])
def test_the_error_grows_with_the_square_of_the_distance(depth: float) -> None:
    sensor = gg.DepthSensor(noise=0.002, noise_of_distance=0.003)
    errors = measured(sensor, flat(depth))[0].astype(np.float64) - depth
    expected = 0.002 + 0.003 * depth**2
    assert errors.std() == pytest.approx(expected, rel=0.02) and abs(errors.mean()) < 0.02 * expected
    # normal: shares within one and two deviations; neighbours know nothing of each other
    assert np.mean(np.abs(errors) < expected) == pytest.approx(0.6827, abs=0.01)
    assert np.mean(np.abs(errors) < 2 * expected) == pytest.approx(0.9545, abs=0.005)
    image = errors[0] / expected
    assert abs(np.mean(image[1:] * image[:-1])) < 0.02 and abs(np.mean(image[:, 1:] * image[:, :-1])) < 0.02


def test_inverse_depth_comes_in_steps() -> None:
    depth = np.linspace(0.3, 6.0, 50_000, dtype=np.float32).reshape(1, 200, 250)
    seen = measured(gg.DepthSensor(quantum=2.85e-3), depth)[0].astype(np.float64)
    numbers = 1.0 / seen / 2.85e-3
    assert np.abs(numbers - np.rint(numbers)).max() < 1e-3
    # half a step is the largest error: 7 cm at 5 m, as Khoshelham and Oude Elberink print
    at_five = np.diff(np.unique(seen[(depth > 4.8) & (depth < 5.2)]))
    assert at_five.min() > 0.06 and at_five.max() < 0.08
    assert (np.abs(seen - depth) <= 0.5001 * 2.85e-3 * np.maximum(seen, depth) ** 2 + 1e-6).all()


def test_lost_pixels_read_far() -> None:
    seen, lost = measured(gg.DepthSensor(dropout=0.2), flat(2.0))
    assert lost.mean() == pytest.approx(0.2, abs=0.01)
    assert (seen[lost] == 9.0).all() and (seen[~lost] == 2.0).all()
    assert measured(gg.DepthSensor(dropout=1.0), flat(2.0))[1].all()


def test_misses_stay_misses_and_floors_err() -> None:
    sensor = gg.DepthSensor(noise=0.1)
    assert (measured(sensor, flat(9.0))[0] == 9.0).all()
    floor = measured(sensor, flat(9.0), floor=True)[0]
    assert (floor <= 9.0).all() and 0.4 < np.mean(floor < 9.0) < 0.6


def test_cameras_by_what_is_printed_of_them() -> None:
    camera = gg.DepthSensor.stereo(500.0, 0.05, error=0.1, step=0.125)
    assert camera.noise_of_distance == pytest.approx(0.004) and camera.quantum == pytest.approx(0.005)
    assert 0.03 < KINECT.noise_of_distance * 25.0 < 0.045 and KINECT.dropout == 0.05


@needs_torch
def test_tensors_hold_the_same_bits() -> None:
    import torch

    depth = np.random.default_rng(1).uniform(0.1, 9.0, (3, 40, 50)).astype(np.float32)
    depth[:, :3] = 9.0
    sensor = gg.DepthSensor(0.003, 0.002, 0.1, 0.003)
    for floor in (False, True):
        ours, theirs = measured(sensor, depth, floor, 5), measured(sensor, torch.from_numpy(depth), floor, 5)
        assert all(np.array_equal(one, two.numpy()) for one, two in zip(ours, theirs, strict=True))


# in tasks ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", ["float32", "uint8", "points"])
def test_checkers_find_nothing(make: Any, depth: str) -> None:
    env = make(depth=depth, sensor=KINECT)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped)


@pytest.mark.parametrize("depth", ["float32", "uint8"])
def test_a_sensor_without_errors_changes_nothing(make_vec: Any, depth: str) -> None:
    plain, sensed = make_vec(depth=depth), make_vec(depth=depth, sensor=gg.DepthSensor())
    assert same(plain.reset(seed=3), sensed.reset(seed=3))
    assert same(follow(plain, 3), follow(sensed, 3))


def test_only_images_change(make_vec: Any) -> None:
    """Episodes, rewards and infos are those without a sensor, also of the episodes that follow."""
    plain, sensed = (make_vec(sensor=sensor, max_episode_steps=3) for sensor in (None, "structured_light"))
    one, two = plain.reset(seed=3), sensed.reset(seed=3)
    for ours, theirs in zip([one, *follow(plain, 8)], [two, *follow(sensed, 8)], strict=True):
        assert same(ours[1:], theirs[1:])
        for key, shown in ours[0].items():
            images = key in ("ego", "sky")
            assert np.array_equal(shown, theirs[0][key]) is not images
    error = theirs[0]["sky"] - ours[0]["sky"]
    assert 0 < np.abs(error).max() < 0.1


def test_bits_depend_on_the_seed_of_the_env_alone(make: Any, make_vec: Any) -> None:
    """Not on the company, on threads, on how often somebody looks, or on when others begin anew."""
    many, alone = make_vec(sensor=KINECT, autoreset_mode="SameStep", max_episode_steps=4), make(sensor=KINECT)
    threads = make_vec(sensor=KINECT, autoreset_mode="SameStep", max_episode_steps=4, num_threads=2)
    shown, (single, _) = many.reset(seed=20)[0], alone.reset(seed=21)
    assert same(shown, threads.reset(seed=20)[0])
    assert same({key: values[1] for key, values in shown.items()}, single)
    for _ in range(3):
        action = np.full((3, 2), 0.3, np.float32)
        shown, (single, *_) = many.step(action)[0], alone.step(action[1])
        assert same({key: values[1] for key, values in shown.items()}, single)
        assert same(shown, threads.step(action)[0])
        many.unwrapped.task.observe()
    last = many.step(action)
    single = alone.step(action[1])[0]
    assert same(last[4]["final_obs"][1], single)
    # envs, steps and episodes draw their own
    errors = many.unwrapped.task.noise
    assert len(set(errors.keys)) == 3 and (errors.steps == 0).all()
    assert not same(last[0]["sky"][0], last[0]["sky"][1])


def test_a_still_scene_flickers(make: Any) -> None:
    env = make(sensor=gg.DepthSensor(noise=0.01))
    images = [env.reset(seed=0)[0]["sky"], *(env.step(np.zeros(2))[0]["sky"] for _ in range(2))]
    assert np.std(images[2] - images[1]) == pytest.approx(0.01 * np.sqrt(2.0), rel=0.5)
    assert not np.array_equal(images[1], images[2])


@pytest.mark.parametrize("clone", [copy.deepcopy, lambda env: pickle.loads(pickle.dumps(env))], ids=["copy", "pickle"])
def test_copies_carry_on(make: Any, clone: Any) -> None:
    env = make(sensor=KINECT)
    env.reset(seed=4)
    follow(env, 2)
    twin = clone(env)
    assert same(follow(env, 3), follow(twin, 3)) and same(env.reset(), twin.reset())
    twin.close()


def test_planners_copy_one_env_to_many(make: Any, make_vec: Any) -> None:
    from granular_gym.tasks.task import copies_of

    env, many = make(sensor=KINECT), make_vec(sensor=KINECT)
    env.reset(seed=4)
    many.reset(seed=9)
    many.unwrapped.task.load(copies_of(env.unwrapped.task.save(), 3))
    here, there = env.unwrapped.task.observe(), many.unwrapped.task.observe()
    assert all(same(values[k], here[key][0]) for key, values in there.items() for k in range(3))


def test_goals_that_a_task_draws_have_no_errors(make_vec: Any) -> None:
    plain, sensed = (make_vec("granular_gym/Level-v1", 2, sensor=sensor) for sensor in (None, KINECT))
    ours, theirs = plain.reset(seed=1)[0], sensed.reset(seed=1)[0]
    assert same(ours["target"], theirs["target"]) and not same(ours["sky"], theirs["sky"])


@needs_torch
def test_tensors_of_a_task(make_vec: Any) -> None:
    for depth in ("float32", "uint8", "points"):
        host, torch = (make_vec(sensor=KINECT, depth=depth, output=output) for output in ("numpy", "torch"))
        ours, theirs = host.reset(seed=2)[0], torch.reset(seed=2)[0]
        assert all(same(values, theirs[key].numpy()) for key, values in ours.items())


def test_points_of_the_observation(make_vec: Any) -> None:
    plain, points = make_vec(), make_vec(depth="points")
    lossy = make_vec(depth="points", sensor=gg.DepthSensor(dropout=0.5))
    seen, shown, lost = (envs.reset(seed=2)[0] for envs in (plain, points, lossy))
    assert points.observation_space.contains(shown) and lossy.observation_space.contains(lost)
    # the sky looks down from 3 m, and the floor it sees is no miss
    assert np.allclose(shown["sky"][..., 2], 3.0 - seen["sky"].reshape(3, -1), atol=1e-5)
    assert (shown["sky"][..., 3] == 1.0).all() and 0.4 < lost["sky"][..., 3].mean() < 0.6
    # in the frame of the vehicle: the floor before it lies where its tracks are
    mark = shown["ego"][..., 3]
    assert np.array_equal(mark, (seen["ego"].reshape(3, -1) < 3.0).astype(np.float32))
    assert np.abs(np.median(shown["ego"][..., 2][mark > 0])) < 0.02


def test_a_dataset_is_recorded_and_replayed_with_a_sensor(tmp_path: Any) -> None:
    pytest.importorskip("minari")
    from granular_gym.recording.record import record
    from granular_gym.recording.replay import replay

    arguments = {"sensor": KINECT, "grain_count": 60, "frame_skip": 60, "num_threads": 1}
    made = record("Bulldozer-v1", episodes=1, out=tmp_path, arguments=arguments)
    assert replay(str(made.path)) == 1


def test_refusals(make: Any, make_vec: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^sensor: expected one of .*structured_light"):
        make(sensor="kinet")
    with pytest.raises(ArgumentError, match=r"^sensor: .*noise.*, got 'nosie'"):
        make(sensor={"nosie": 0.1})
    with pytest.raises(ArgumentError, match=r"^sensor: expected a DepthSensor"):
        make(sensor=0.1)
    with pytest.raises(ArgumentError, match=r"^sensor: expected None with observation='state'"):
        make(sensor=KINECT, observation="state")
    with pytest.raises(ArgumentError, match=r"^dropout: expected"):
        gg.DepthSensor(dropout=1.5)
    with pytest.raises(ArgumentError, match=r"^noise: expected"):
        gg.DepthSensor(noise=-1.0)
    with pytest.raises(ArgumentError, match=r"^baseline: expected"):
        gg.DepthSensor.stereo(400.0, 0.0)
