"""evaluation.py: a policy beside random actions and the scripted expert, on the same seeds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.tasks.expert import scripted_expert
from granular_gym.training.batch import make_batch

#: from observations (n, ...) by name to actions (n, k)
Act = Callable[[Any], NDArray[Any]]
#: makes an Act for a batch that has been reset with the given seeds
Driver = Callable[[Any, Sequence[int]], Act]


def random_driver(batch: Any, seeds: Sequence[int]) -> Act:
    """Actions drawn evenly, from a generator per seed."""
    generators = [np.random.default_rng(seed) for seed in seeds]
    shape = batch.single_action_space.shape
    return lambda observations: np.stack([draw.uniform(-1.0, 1.0, shape) for draw in generators])


def expert_driver(batch: Any, seeds: Sequence[int]) -> Act:
    """The task's scripted expert."""
    expert = scripted_expert(batch)
    return lambda observations: expert.act()


def evaluate(task: str, arguments: dict[str, Any], driver: Driver, seeds: Sequence[int]) -> list[dict[str, Any]]:
    """Plays one episode per seed, all in one batch.

    Args:
        task: id of the task.
        arguments: of the task.
        driver: plays.
        seeds: of the episodes, >= 0.

    Returns:
        For each seed: "seed", "return", "length" [control periods], and the task's scalar infos of the last step.
    """
    batch = make_batch(task, len(seeds), arguments)
    observations, _ = batch.reset(seed=list(seeds))
    act = driver(batch, seeds)
    results: list[dict[str, Any]] = [{"seed": int(seed), "return": 0.0, "length": 0} for seed in seeds]
    running = np.ones(len(seeds), bool)
    while running.any():
        observations, rewards, terminated, truncated, infos = batch.step(act(observations))
        for env in np.flatnonzero(running):
            results[env]["return"] += float(rewards[env])
            results[env]["length"] += batch.task.frame_skip
        for env in np.flatnonzero(running & (terminated | truncated)):
            last = infos["final_info"]
            results[env].update(
                {name: last[name][env].item() for name in last if last[name].ndim == 1 and name[0] != "_"}
            )
            running[env] = False
    batch.close()
    return results


def summary(results: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Mean of every number over the seeds, and "return_std"; "success" is the share of successes."""
    numbers = [name for name, value in results[0].items() if name != "seed" and isinstance(value, (bool, int, float))]
    means = {name: float(np.mean([row[name] for row in results])) for name in numbers}
    return {**means, "return_std": float(np.std([row["return"] for row in results]))}


def share_of_expert(learned: float, random: float, expert: float) -> float:
    """How far a return lies between random actions (0) and the expert (1); NaN where those two are equal."""
    return (learned - random) / (expert - random) if expert != random else float("nan")
