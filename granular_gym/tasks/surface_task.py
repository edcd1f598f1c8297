"""surface_task.py: `SurfaceTask`: a task whose goal is a surface: matter is to stand as high as a map says.

What counts is how far the column heights of the matter (heights.py) are from the target's; single grains hardly show in
them, so that the same goal holds for any number of grains. Rewards are what a step took off that error.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Arrays, Floats
from granular_gym.tasks.goals import BEFORE, FIRST, GoalTask
from granular_gym.tasks.heights import HeightGrid, errors

LEAST_ERROR = 1e-6  # [m] at the start, by which the change is divided
#: of matter above the target, and below it, in pictures
ABOVE, BELOW = np.array([196.0, 84.0, 60.0]), np.array([60.0, 110.0, 196.0])
#: what cameras show of the matter and of the target
SKY, TARGET = "sky", "target"


class SurfaceTask(GoalTask):
    """A task with a target surface, which `begin` writes into `target` before it calls `take_aim`.

    `images` has "sky", what an orthographic camera over the field sees, and "target", drawn, what it would see of the
    target alone. Difficulties have a `goal`, the share of the error at the start that may be left in a success.
    Arguments: those of `Task`.
    """

    episode_state: ClassVar[tuple[str, ...]] = ("target", "error", "first_error", "gain")
    depth_view = SKY
    grid: ClassVar[HeightGrid]  # of the column heights
    margin: ClassVar[int] = 0  # cells along the edges that do not count
    reward_scale: ClassVar[float] = 1.0  # what removing the whole error earns
    tint_height: ClassVar[float]  # [m] off the target, from which on pictures tint matter fully
    error: Floats
    first_error: Floats
    gain: Floats

    def __init__(self, env_count: int = 1, **kwargs: Any) -> None:
        super().__init__(env_count, **kwargs)
        n, camera = self.env_count, self.images[TARGET].camera
        self.target: Floats = np.zeros((n, *self.grid.shape))  # column heights [m]
        # the target as observations show it, the same for a whole episode
        self.target_image: NDArray[Any] = self.depth_images.encode(
            TARGET, np.zeros((n, camera.height, camera.width), np.float32)
        )
        self.error, self.first_error, self.gain = np.zeros(n), np.ones(n), np.zeros(n)

    def take_aim(self, envs: NDArray[np.int32]) -> None:
        """Begins to measure against the targets of the listed envs: `begin` calls it once bed and targets are there."""
        self._draw_targets(envs)
        error = self._error()
        self.error[envs] = error[envs]
        self.first_error[envs] = np.maximum(error[envs], LEAST_ERROR)
        self.gain[envs] = 0.0

    def measure(self) -> None:
        """Finds what a control period took off the error: `advance` calls it at its end."""
        before = self.error
        self.error = self._error()
        self.gain = gain_of(before, self.error, self.first_error)

    def _draw_targets(self, envs: Any) -> None:
        """Brings the target images of the listed envs up to date."""
        camera = self.images[TARGET].camera
        seen = camera.far - enlarged(self.target[envs], (camera.height, camera.width))
        self.target_image[envs] = self.depth_images.encode(TARGET, seen)

    def load(self, saved: dict[str, Any] | None) -> None:
        """See `Task.load`."""
        super().load(saved)
        self._draw_targets(slice(None))

    @property
    def grain_volume(self) -> float:
        """Of a grain; of a clump the share of one of its spheres [m3]."""
        return 4.0 / 3.0 * math.pi * self.radius**3 / self.form.spheres

    def heights(self) -> Floats:
        """Column heights of every env's bed (env_count, rows, columns) [m]."""
        return self.grid.heights_of(self.results.column_counts, self.grain_volume)

    def _error(self) -> Floats:
        """Mean distance of the column heights from the target (env_count,) [m]."""
        return errors(self.heights(), self.target, self.margin)

    def readings(self) -> dict[str, Any]:
        """Column heights, and the forces on the tools."""
        return {"columns": self.grid.columns, "wrenches": True}

    @property
    def goal_shapes(self) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Column heights of the bed and of the target."""
        return self.grid.shape, self.grid.shape

    @property
    def remembered(self) -> tuple[str, ...]:
        """The change of the error counts, over the error at the start."""
        return (BEFORE, FIRST)

    def achieved_goal(self) -> Floats:
        """Column heights of the bed (env_count, rows, columns) [m]."""
        return self.heights()

    def desired_goal(self) -> Floats:
        """Those of the target (env_count, rows, columns) [m]."""
        goals: Floats = self.target.copy()
        return goals

    def pay(self, achieved: Any, desired: Any, earlier: Mapping[str, Any]) -> Floats:
        """See `GoalTask.pay`."""
        after, before, first = (errors(heights, desired, self.margin) for heights in (achieved, *earlier.values()))
        paid: Floats = self.reward_scale * gain_of(before, after, np.maximum(first, LEAST_ERROR))
        return paid

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; never terminated."""
        share = self.error / self.first_error
        infos: Arrays = {
            "error": self.error.copy(),
            "error_share": share,
            "success": share <= self.difficulty.goal,
        }
        return self.reward_scale * self.gain, np.zeros(self.env_count, bool), infos

    def grain_colors(self, env: int) -> Floats:
        """Grains above the target are reddish, below it bluish."""
        grains = self.world.positions[env]
        difference = (self.heights()[env] - self.target[env])[self.grid.cells_of(grains)]
        share = np.clip(difference / self.tint_height, -1.0, 1.0)[:, None]
        tint = np.where(share > 0.0, ABOVE, BELOW)
        result: Floats = (1.0 - np.abs(share)) * self.matter_colors(env) + np.abs(share) * tint
        return result


def gain_of(before: Floats, after: Floats, first: Floats) -> Floats:
    """What steps took off the error, as a share of that at the start: (n,) each."""
    return (before - after) / first


def enlarged(heights: Floats, shape: tuple[int, int]) -> NDArray[np.float32]:
    """Heights (n, rows, columns) as the pixels of a sky camera see them, (n, *shape), bilinear; row 0: upper y edge."""
    table = heights
    for axis, size in ((1, shape[0]), (2, shape[1])):
        count = table.shape[axis]
        at = np.clip((np.arange(size) + 0.5) / size * count - 0.5, 0.0, count - 1.0)
        low = np.minimum(at.astype(np.int64), count - 2)
        part = (at - low).reshape([-1 if k == axis else 1 for k in range(3)])
        table = (1.0 - part) * np.take(table, low, axis) + part * np.take(table, low + 1, axis)
    return np.ascontiguousarray(table[:, ::-1], np.float32)
