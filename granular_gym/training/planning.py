"""planning.py: a planner for any task: it tries many futures in copies of the env and plays the best one.

What makes it possible is that an env can be copied to the bit, stored impulses included: before each plan all copies
take the state of the env that is played, then each plays its own sequence of actions, and the rewards tell which was
best.

The method is model predictive path integral control (Williams et al., "Information Theoretic MPC for Model-Based
Reinforcement Learning", 2017) with what later work found to pay: noise that is correlated in time and a best sequence
that is kept and tried again (Pinneri et al., "Sample-Efficient Cross-Entropy Method for Real-Time Planning", 2020), and
proposals of a guide, any policy that acts in all copies, a scripted expert for instance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.depth_sensor import SensorNoise
from granular_gym.tasks.gym_envs import GranularVectorEnv
from granular_gym.tasks.task import Task, copies_of


def correlated_noise(
    generator: np.random.Generator, count: int, steps: int, size: int, correlation: float
) -> NDArray[np.float64]:
    """Noise (count, steps, size) of variance 1 whose neighbours in time are correlated (autoregressive, order 1).

    Args:
        generator: draws the numbers.
        count: sequences.
        steps: length of each.
        size: numbers per step.
        correlation: of neighbouring steps, 0 .. 1.
    """
    fresh = generator.standard_normal((count, steps, size))
    noise = fresh.copy()
    for step in range(1, steps):
        noise[:, step] = correlation * noise[:, step - 1] + np.sqrt(1.0 - correlation**2) * fresh[:, step]
    result: NDArray[np.float64] = noise
    return result


class Planner:
    """Plans for one env of a task in copies of it.

    Each plan tries as many sequences of actions as there are copies. One is the best of the plan before, one the mean
    that the plan before left, one what the guide does from now on; each other follows the mean up to a step drawn at
    random and the guide from there, all with noise. Without a guide they follow the mean to its end. The best sequence
    is played; the mean moves to the average of all, weighted by their returns.

    Args:
        copies: a vector env of the same task with the same scene and `frame_skip`; as many envs as sequences are tried,
            at least 3. It may compute more coarsely than the env that is played, and see otherwise.
        guide: has `act()`, which gives actions for all envs of `copies`, and `reset(mask)`, as scripted experts have;
            None: none.
        horizon: steps looked ahead, at most to the end of the episode where `act` is told how far that is.
        interval: steps played of a plan before the next one, at most `horizon`.
        rounds: of trying per plan; each draws around what the one before found.
        noise: standard deviation of the noise, a number or one per number of an action; each sequence takes a share of
            it between nothing and all.
        correlation: of the noise of neighbouring steps, from 0 to below 1.
        temperature: spread of the weights, as a share of the spread of the returns; small: the best sequence alone.
        last_weight: how often the reward of the last step counts: what a state is worth beyond the horizon.
        seed: of the noise.

    Raises:
        ArgumentError: an argument is not what it should be.
    """

    def __init__(
        self,
        copies: Any,
        *,
        guide: Any = None,
        horizon: int = 40,
        interval: int = 5,
        rounds: int = 1,
        noise: Any = 0.5,
        correlation: float = 0.8,
        temperature: float = 0.1,
        last_weight: float = 1.0,
        seed: int = 0,
    ) -> None:
        batch = getattr(copies, "unwrapped", None)
        if not isinstance(batch, GranularVectorEnv) or batch.num_envs < 3:
            raise ArgumentError(f"copies: expected a GranularVectorEnv of at least 3 envs, got {copies!r}")
        #: the envs that futures are tried in; whoever made them closes them
        self.copies = copies
        self.task: Task = batch.task
        self.guide = guide
        self.horizon: int = checks.integer("horizon", horizon, 1)
        self.interval: int = checks.integer("interval", interval, 1, self.horizon)
        self.rounds: int = checks.integer("rounds", rounds, 1)
        size = self.task.action_space.shape[0]
        self.noise: Floats = np.broadcast_to(checks.floats("noise", noise, (), (size,)), (size,)).astype(np.float64)
        self.correlation: float = checks.number("correlation", correlation, 0.0, 0.9999)
        self.temperature: float = checks.number("temperature", temperature, 0.0, above=True)
        self.last_weight: float = checks.number("last_weight", last_weight, 0.0)
        self.generator: np.random.Generator = np.random.Generator(np.random.PCG64(checks.seed("seed", seed)))
        #: env-steps made in copies so far
        self.steps_tried: int = 0
        self.reset()

    def reset(self) -> None:
        """Forgets the plan: an episode begins."""
        size = self.task.action_space.shape[0]
        self._mean: Floats = np.zeros((self.horizon, size))
        self._best: Floats = np.zeros((self.horizon, size))
        self._known = 0  # steps of both that a plan has filled
        self._played = 0  # steps of the best one that were played
        #: return that the last plan expects over its horizon
        self.expected: float = -np.inf

    def act(self, env: Any, steps_left: int | None = None) -> NDArray[np.float32]:
        """The next action (k,) for an env made by `gymnasium.make`; plans where the last plan has been played.

        Args:
            env: what is played.
            steps_left: of its episode; None: no end is in sight.

        Raises:
            ArgumentError: not one env of the task of the copies, one that was not reset, or of longer or shorter steps.
            StateError: its scene is not that of the copies.
        """
        if self._known == 0 or self._played >= self.interval:
            self.plan(env, steps_left)
        action = self._best[self._played]
        self._played += 1
        result: NDArray[np.float32] = action.astype(np.float32)
        return result

    def plan(self, env: Any, steps_left: int | None = None) -> None:
        """Plans from the state the env is in; see `act`."""
        task = getattr(env.unwrapped, "task", None)
        if type(task) is not type(self.task) or task.env_count != 1:
            raise ArgumentError(f"env: expected one env of {type(self.task).__name__}, got {env!r}")
        saved = task.save()
        if saved is None:
            raise ArgumentError("env: expected an env that has been reset, got one that has not")
        if task.step_period != self.task.step_period:
            wanted = f"steps of {self.task.step_period:g} s, as those of the copies"
            raise ArgumentError(f"env: expected {wanted}, got {task.step_period:g} s")
        saved = self._copies_of(saved)
        ahead = self.horizon
        if steps_left is not None:
            ahead = min(ahead, checks.integer("steps_left", steps_left, 1))
        self._shift()
        best = -np.inf
        for _ in range(self.rounds):
            self.task.load(saved)
            actions, returns = self._try(ahead)
            first = int(np.argmax(returns))
            if returns[first] >= best:
                best, self._best = returns[first], actions[first]
            self._mean = self._average(actions, returns)
            self._known = ahead
        self.expected = float(best)

    def _copies_of(self, saved: dict[str, Any]) -> dict[str, Any]:
        """What an env saved, for all copies; errors of cameras, which shape no future, are those of the copies."""
        noise = self.task.noise
        found = {name: value for name, value in saved.items() if name not in SensorNoise.names}
        return copies_of(found, self.task.env_count) | ({} if noise is None else noise.arrays())

    def _shift(self) -> None:
        """Drops the steps that were played."""
        self._known = max(self._known - self._played, 0)
        for plan in (self._mean, self._best):
            plan[: self._known] = plan[self._played : self._played + self._known].copy()
            plan[self._known :] = 0.0
        self._played = 0

    def _try(self, ahead: int) -> tuple[Floats, Floats]:
        """Plays `ahead` steps in each copy: the actions (copies, horizon, k) and their returns (copies,)."""
        count, size = self.task.env_count, self.task.action_space.shape[0]
        draw = self.generator
        plans = np.repeat(self._mean[None], count, axis=0)
        plans[0] = self._best
        # the guide takes over where the plan ends, or earlier, rather soon than late
        until = (draw.random(count) ** 2 * (self._known + 1)).astype(np.int64)
        until[:3] = self._known, self._known, 0
        if self.guide is None:
            until[:] = self.horizon
        noise = correlated_noise(draw, count, self.horizon, size, self.correlation) * self.noise
        noise *= draw.uniform(0.0, 1.0, (count, 1, 1))
        noise[: 2 if self.guide is None else 3] = 0.0
        idle, alive = np.zeros(count, bool), np.ones(count, bool)
        total, last = np.zeros(count), np.zeros(count)
        for step in range(ahead):
            plan = plans[:, step]
            if self.guide is not None:
                if (until == step).any():
                    self.guide.reset(until == step)
                if (until <= step).any():
                    plan = np.where((until <= step)[:, None], self.guide.act(), plan)
            plans[:, step] = np.clip(plan + noise[:, step], self.task.action_space.low, self.task.action_space.high)
            self.task.step(plans[:, step].astype(np.float32), idle)
            rewards, terminated, truncated, _ = self.task.outcome()
            last = np.where(alive, rewards, 0.0)
            total += last
            total[truncated & alive] = -np.inf  # a return is final where the episode was over before
            alive &= ~terminated & ~truncated
        self.steps_tried += count * ahead
        return plans, total + (self.last_weight - 1.0) * last

    def _average(self, actions: Floats, returns: Floats) -> Floats:
        """The mean of all sequences, weighted by their returns."""
        finite = np.isfinite(returns)
        if not finite.any():
            return self._mean
        spread = max(float(returns[finite].std()), 1e-12)
        behind = np.where(finite, returns, returns[finite].min()) - returns[finite].max()
        weights = np.exp(behind / (self.temperature * spread)) * finite
        return np.tensordot(weights / weights.sum(), actions, axes=1)
