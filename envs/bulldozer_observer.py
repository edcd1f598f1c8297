"""bulldozer_observer.py: drives the bulldozer from the observation of `Bulldozer-v1` alone.

It plans as the expert does (bulldozer_expert.py), but with what a learner sees: the grains are those of the sky camera,
the goal and the vehicle's pose those of the observation. Neither the infos nor the task are read, so what it achieves
shows what the observation suffices for.

    python -m granular_gym play Bulldozer-v1 --policy granular_gym.envs.bulldozer_observer:policy
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from granular_gym.base.types import Arrays, Floats
from granular_gym.envs.bulldozer import CONTROL_PERIOD, FIELD_LOWER, FIELD_UPPER, SKY_HEIGHT, BulldozerTask
from granular_gym.envs.bulldozer_expert import BULLDOZER_BLADE, BULLDOZER_CAPACITY, BulldozerExpert

POINTS = 1000  # that stand for the grains in view
THIN = 0.03  # [m] lower heights are noise of an image of bytes
#: [m] rear, front, half width of what hides the grains below the vehicle
VEHICLE = (-0.50, 0.62, 0.52)


class BulldozerObserver:
    """Drives one vehicle by its observations."""

    def __init__(self) -> None:
        self.driver: BulldozerExpert = BulldozerExpert(
            vehicle=BulldozerTask.vehicle,
            duration=CONTROL_PERIOD,
            blade_x=BULLDOZER_BLADE[0],
            blade_width=BULLDOZER_BLADE[1],
            capacity=BULLDOZER_CAPACITY * POINTS,
        )
        self._goal = np.zeros(4)

    def reset(self) -> None:
        """Forgets the plan; it does so by itself where the goal is another, as in a new episode."""
        self.driver.reset()

    def act(self, observation: Arrays) -> Floats:
        """The action (2,) for an observation of `Bulldozer-v1`, of either `depth`."""
        heading, goal = (np.asarray(observation[name], np.float64) for name in ("heading", "goal"))
        if not np.array_equal(goal, self._goal):
            self._goal = goal
            self.reset()
        pose = np.array([*observation["pose"][:2], np.arctan2(heading[1], heading[0])])
        points = grains_in_view(observation["sky"], pose)
        result: Floats = self.driver.act(pose, points, goal[:2], goal[2:])
        return result


def grains_in_view(sky: Any, pose: Floats) -> Floats:
    """Points (about POINTS, 2) [m], as dense over the field as the grains that the sky camera sees.

    Args:
        sky: the image of the observation, in metres or bytes.
        pose: (3,) x, y, yaw of the vehicle, which hides what is below it.
    """
    image = np.asarray(sky)
    depth = image[0] * (SKY_HEIGHT / 255.0) if image.dtype == np.uint8 else image
    heights = SKY_HEIGHT - depth.astype(np.float64)
    rows, columns = heights.shape
    x = FIELD_LOWER[0] + (np.arange(columns) + 0.5) / columns * (FIELD_UPPER[0] - FIELD_LOWER[0])
    y = FIELD_UPPER[1] - (np.arange(rows) + 0.5) / rows * (FIELD_UPPER[1] - FIELD_LOWER[1])
    x, y = np.meshgrid(x, y)
    c, s = np.cos(pose[2]), np.sin(pose[2])
    ahead, left = c * (x - pose[0]) + s * (y - pose[1]), c * (y - pose[1]) - s * (x - pose[0])
    hidden = (ahead > VEHICLE[0]) & (ahead < VEHICLE[1]) & (np.abs(left) < VEHICLE[2])
    heights[hidden | (heights < THIN)] = 0.0
    counts = np.ceil(heights * (POINTS / max(heights.sum(), 1e-9))).astype(np.int64)
    return np.stack([x, y], axis=-1).reshape(-1, 2).repeat(counts.ravel(), axis=0)


def policy(env: Any) -> Callable[[Any], Floats]:
    """A function from observation to action, for a single env or a batch."""
    if not hasattr(env.unwrapped, "num_envs"):
        return BulldozerObserver().act
    observers = [BulldozerObserver() for _ in range(env.unwrapped.num_envs)]

    def act(observations: Arrays) -> Floats:
        rows = ({name: part[k] for name, part in observations.items()} for k in range(len(observers)))
        return np.stack([observer.act(row) for observer, row in zip(observers, rows, strict=True)])

    return act
