"""play.py: plays one episode of a task by its expert, at random or by a given policy, and films it.

`python -m granular_gym play TASK` writes into a folder: TASK.mp4 (where the `video` extra is installed), first.png,
last.png, and report.json with the return, the infos of the last step and the engine's counters of overlap and speed.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from granular_gym._core import write_png
from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import short_name, task_id
from granular_gym.training.policies import Policy, load_policy, trained_arguments
from granular_gym.viewing.film import Film


def play(
    task: str,
    out: Path,
    *,
    policy: str = "expert",
    seed: int = 0,
    steps: int | None = None,
    film: bool = True,
    every: int = 1,
    arguments: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Plays one episode; writes film, pictures and report.

    Args:
        task: name, see `task_id`.
        out: folder; created where it is missing.
        policy: "expert", "random", the path of a checkpoint.zip or "module:function".
        seed: of the episode, >= 0.
        steps: most env steps; None: up to the task's time limit.
        film: write a film where the `video` extra is installed.
        every: env steps per picture of the film.
        arguments: of the task; default: those of the checkpoint, else the task's defaults.
        say: called with progress messages.

    Returns:
        The content of report.json.

    Raises:
        ArgumentError: an invalid argument.
        StateError: the checkpoint is damaged.
        OSError: the folder cannot be written, or the disk is full; the pictures and the film written so far stay.
    """
    name = task_id(task)
    out = checks.path("out", out)
    checks.integer("seed", seed, 0)
    if arguments is not None:
        checks.instance("arguments", arguments, dict)
    if steps is not None:
        checks.integer("steps", steps, 1)
    checks.integer("every", every, 1)
    given = {**trained_arguments(name, checks.text("policy", policy)), **(arguments or {})}
    if "render_mode" in given:
        raise ArgumentError("argument: expected none named render_mode, pictures need 'rgb_array'")
    if given.get("max_episode_steps") is not None:
        checks.integer("max_episode_steps", given["max_episode_steps"], 1)
    try:
        env = gym.make(name, render_mode="rgb_array", **given)
    except TypeError as error:
        # the constructor's message names the unknown argument
        raise ArgumentError(f"argument: {error}") from None
    try:
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        episode = _Episode(env, load_policy(policy, env), observation)
        out.mkdir(parents=True, exist_ok=True)
        episode.run(out, short_name(name) if film else None, steps, every, say)
    finally:
        env.close()
    report = {
        "task": name,
        "policy": policy,
        "seed": seed,
        "arguments": given,
        "steps": episode.steps,
        "return": episode.total,
        "seconds": episode.seconds,
        "overlap_max": episode.worst,
        "fast_count": episode.fast,
        "info": {key: _plain(value) for key, value in episode.info.items()},
    }
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    success = f", success {episode.info['success']}" if "success" in episode.info else ""
    say(f"{name}, {policy}, seed {seed}: return {episode.total:.1f} in {episode.steps} steps{success}; see {out}")
    return report


class _Episode:
    """A running episode and its results; the env has been reset."""

    def __init__(self, env: Any, policy: Policy, observation: Any) -> None:
        self.env, self.policy, self.observation = env, policy, observation
        self.info: dict[str, Any] = {}
        self.steps, self.total, self.worst, self.fast, self.seconds = 0, 0.0, 0.0, 0, 0.0

    def run(self, out: Path, film: str | None, limit: int | None, every: int, say: Callable[[str], None]) -> None:
        """Plays to the end, or `limit` steps; writes first.png, last.png and, where `film` names one, a film."""
        pictures_per_second = int(self.env.metadata.get("render_fps", 10))
        frame = _frame(self.env)
        write_png(str(out / "first.png"), frame)
        reel = _film(out / f"{film}.mp4", pictures_per_second) if film is not None else None
        if film is not None and reel is None:
            say("no film: imageio with ffmpeg is not installed (pip install 'granular_gym[video]')")
        try:
            done, begin = False, time.perf_counter()
            while not done and (limit is None or self.steps < limit):
                if reel is not None and self.steps % every == 0:
                    reel.add(_frame(self.env) if self.steps else frame)
                done = self._step()
            self.seconds = time.perf_counter() - begin
            frame = _frame(self.env)
            write_png(str(out / "last.png"), frame)
            if reel is not None:
                reel.add(frame)
        finally:
            if reel is not None:
                reel.close()

    def _step(self) -> bool:
        """Takes one env step; True where it ends the episode."""
        action = self.policy(self.observation)
        self.observation, reward, terminated, truncated, self.info = self.env.step(action)
        self.total, self.steps = self.total + float(reward), self.steps + 1
        self.worst = max(self.worst, self.info["overlap_max"])
        self.fast += self.info["fast_count"]
        return bool(terminated or truncated)


def _frame(env: Any) -> NDArray[np.uint8]:
    return np.ascontiguousarray(env.render())


def _film(path: Path, pictures_per_second: int) -> Film | None:
    """A new film; None where the `video` extra is missing."""
    try:
        return Film(path, pictures_per_second)
    except ImportError:
        return None


def _plain(value: Any) -> Any:
    """A value for JSON, which has no NaN: scalars that are not finite become strings."""
    value = np.asarray(value).tolist()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
