"""Experts against random actions. benchmarks/expert_table.py prints the table over 20 seeds."""

from __future__ import annotations

import itertools
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

from granular_gym.envs.bulldozer_expert import BulldozerDrivers, TravelCost, interval_in_box
from granular_gym.tasks.vehicle import TrackedVehicle, wrap_angle, yaw_quaternions

FIELD = TrackedVehicle(
    rear=-0.5, front=0.6, half_width=0.5, lower=(-4, -2), upper=(4, 2), speed=1.0, turn_rate=1.0, clearance=0.05
)


@pytest.mark.slow
def test_driver_fills_the_goal_and_random_does_not(full: bool) -> None:
    seeds = 2 if full else 1
    envs = gym.make_vec(
        "granular_gym/Bulldozer-v1", num_envs=2 * seeds, grain_count=500, num_threads=1, autoreset_mode="Disabled"
    )
    envs.reset(seed=[*range(seeds), *range(seeds)])
    drivers = BulldozerDrivers(envs)
    envs.action_space.seed(0)
    returns = np.zeros(2 * seeds)
    for _ in range(600):
        actions = envs.action_space.sample()
        actions[:seeds] = drivers.act()[:seeds]
        _, rewards, _, truncated, infos = envs.step(actions)
        returns += rewards
    assert truncated.all()
    assert (infos["goal_share"][:seeds] >= 0.6).all(), infos["goal_share"]
    assert (infos["goal_share"][seeds:] < 0.1).all(), infos["goal_share"]
    assert (returns[:seeds] > returns[seeds:]).all()
    assert not infos["diverged"].any() and not infos["escaped_count"].any()
    envs.close()


def test_ways_lead_around_a_heap() -> None:
    rng = np.random.default_rng(0)
    heap = rng.uniform(-0.6, 0.6, (1000, 2))
    ways = TravelCost(FIELD, heap, np.zeros(1000, bool), (-2.0, 0.1))
    path = [(-2.0, 0.1), *ways.path((2.0, 0.0))]
    assert path[-1] == (2.0, 0.0) and len(path) > 2
    for a, b in itertools.pairwise(path):
        points = np.array(a) + np.linspace(0, 1, 50)[:, None] * (np.array(b) - np.array(a))
        # the vehicle's half width stays clear of the heap
        assert np.maximum(np.abs(points) - 0.6, 0.0).max(axis=1).min() > 0.3
    free = TravelCost(FIELD, np.zeros((0, 2)), np.zeros(0, bool), (-2.0, 0.1))
    assert free.path((2.0, 0.0)) == [(2.0, 0.0)], "nothing in the way: straight on"


def test_lines_through_boxes() -> None:
    entry, leave = interval_in_box(
        np.array([[-2.0, 0.5], [-2.0, 5.0]]), np.array([1.0, 0.0]), np.zeros(2), np.array([1.0, 1.0])
    )
    assert (entry[0], leave[0]) == (2.0, 3.0) and entry[1] > leave[1]


@pytest.mark.parametrize("seed", range(3))
def test_outline_stays_inside_whatever_is_done(seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose: Any = np.array([[0.0, 0.0, 0.0]])
    for step in range(2000):
        if step % 9 == 0:
            action = rng.choice([-1.0, 0.0, 1.0], (1, 2))
        before = pose
        pose = FIELD.advance(pose, action, 0.1)
        corners = FIELD.corners(pose)[0]
        assert (np.abs(corners) <= np.array([4.0, 2.0]) - 0.05 + 1e-9).all()
        # no jumps: driving, or being pushed off a wall by turning
        assert np.hypot(*(pose - before)[0, :2]) < 0.1 + FIELD.reach * 0.1 + 1e-9
        # between two steps tools move along a line while they turn: corners leave it by less than the clearance
        for share in (0.25, 0.5, 0.75):
            between = FIELD.corners(before + share * (pose - before))[0]
            assert (np.abs(between) < np.array([4.0, 2.0])).all()


def test_vehicle_slides_along_walls() -> None:
    pose = np.array([[0.0, 1.4, 0.5]])
    for _ in range(40):
        pose = FIELD.advance(pose, np.array([[1.0, 0.0]]), 0.1)
    assert pose[0, 0] > 2.0 and pose[0, 1] < 1.5


def test_angles() -> None:
    angles = np.array([0.0, 3.0, 3.5, -3.5, 100.0, -np.pi, np.pi])
    wrapped = wrap_angle(angles)
    assert (wrapped >= -np.pi).all() and (wrapped < np.pi).all()
    assert np.allclose(np.cos(wrapped), np.cos(angles)) and np.allclose(np.sin(wrapped), np.sin(angles))
    quaternions = yaw_quaternions(angles)
    assert np.allclose(quaternions[:, 0] ** 2 - quaternions[:, 3] ** 2, np.cos(angles))
    assert np.allclose(np.linalg.norm(quaternions, axis=1), 1.0)
