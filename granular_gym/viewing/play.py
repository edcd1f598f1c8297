"""play.py: one episode of a task, by its scripted expert, at random or by a policy of the user's, as a film.

`python -m granular_gym play TASK` writes into a folder: TASK.mp4 (where the `video` extra is installed), first.png,
last.png, and report.json with the return, the infos of the last step and the counters that say how well the engine
kept up.
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
from granular_gym.tasks.registry import SPACE, task_id
from granular_gym.training.policies import load_policy, trained_arguments
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
    """Plays one episode and writes film, pictures and report.

    Args:
        task: name, see `task_id`.
        out: folder; made where it is missing.
        policy: "expert", "random", the path of a checkpoint.zip or "module:function".
        seed: of the episode, >= 0.
        steps: at most so many; None: to the task's time limit.
        film: write a film where the `video` extra is installed.
        every: the film shows every so many steps.
        arguments: of the task; what is not given is that of the checkpoint, or the task's default.
        say: told how it goes.

    Returns:
        What report.json holds.

    Raises:
        ArgumentError: an argument is not what it should be.
        StateError: the checkpoint is damaged.
        OSError: the folder cannot be written, or the disk is full; the pictures and the film written so far stay.
    """
    name = task_id(task)
    checks.integer("seed", seed, 0)
    if steps is not None:
        checks.integer("steps", steps, 1)
    checks.integer("every", every, 1)
    given = {**trained_arguments(name, checks.text("policy", policy)), **(arguments or {})}
    if "render_mode" in given:
        raise ArgumentError("argument: expected none named render_mode, pictures need 'rgb_array'")
    try:
        env = gym.make(name, render_mode="rgb_array", **given)
    except TypeError as error:
        # the constructor's own message names the argument it does not know
        raise ArgumentError(f"argument: {error}") from None
    short = name.removeprefix(SPACE)
    reel = None
    try:
        observation, info = env.reset(seed=seed)
        env.action_space.seed(seed)
        chosen = load_policy(policy, env)
        out.mkdir(parents=True, exist_ok=True)
        pictures_per_second = int(env.metadata.get("render_fps", 10))
        frame = _frame(env)
        write_png(str(out / "first.png"), frame)
        reel = _film(out / f"{short}.mp4", pictures_per_second) if film else None
        if film and reel is None:
            say("no film: imageio with ffmpeg is not installed (pip install 'granular_gym[video]')")
        total, done, count, worst, fast, begin = 0.0, False, 0, 0.0, 0, time.perf_counter()
        while not done and (steps is None or count < steps):
            if reel is not None and count % every == 0:
                reel.add(_frame(env) if count else frame)
            observation, reward, terminated, truncated, info = env.step(chosen(observation))
            total, count, done = total + float(reward), count + 1, terminated or truncated
            worst, fast = max(worst, info["overlap_max"]), fast + info["fast_count"]
        seconds = time.perf_counter() - begin
        frame = _frame(env)
        write_png(str(out / "last.png"), frame)
        if reel is not None:
            reel.add(frame)
    finally:
        env.close()
        if reel is not None:
            reel.close()
    report = {
        "task": name,
        "policy": policy,
        "seed": seed,
        "arguments": given,
        "steps": count,
        "return": total,
        "seconds": seconds,
        "overlap_max": worst,
        "fast_count": fast,
        "info": {key: _plain(value) for key, value in info.items()},
    }
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    success = f", success {info['success']}" if "success" in info else ""
    say(f"{name}, {policy}, seed {seed}: return {total:.1f} in {count} steps{success}; see {out}")
    return report


def _frame(env: Any) -> NDArray[np.uint8]:
    return np.ascontiguousarray(env.render())


def _film(path: Path, pictures_per_second: int) -> Film | None:
    """A film to write to; None where the packages for it are missing."""
    try:
        return Film(path, pictures_per_second)
    except ImportError:
        return None


def _plain(value: Any) -> Any:
    """What JSON can hold; it knows no NaN."""
    value = np.asarray(value).tolist()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
