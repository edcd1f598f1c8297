"""play.py: one episode of a task, by its scripted expert, at random or by a policy of the user's, as a film.

`python -m granular_gym play TASK` writes into a folder: TASK.mp4 (where the `video` extra is installed), first.png,
last.png, and report.json with the return, the infos of the last step and the counters that say how well the engine
kept up.
"""

from __future__ import annotations

import importlib
import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from . import checks
from ._core import write_png
from .errors import ArgumentError
from .film import Film
from .scripted import scripted_expert
from .tasks import task_ids

SPACE = "granular_gym/"
BUILT_IN = ("expert", "random")

#: gives an action for an observation
Policy = Callable[[Any], Any]


def task_id(name: str) -> str:
    """The full name of a task given as "Silo-v0", "Silo", "silo" or in full.

    Raises:
        ArgumentError: there is no such task; the message lists them.
    """
    checks.text("task", name)
    for known in task_ids():
        short = known.removeprefix(SPACE)
        if name.lower() in (known.lower(), short.lower(), short.rpartition("-")[0].lower()):
            return known
    raise ArgumentError(f"task: expected one of {', '.join(task_ids())}, got {name!r}")


def load_policy(name: str, env: Any) -> Policy:
    """A policy by name.

    Args:
        name: "expert", "random", the path of a training run's checkpoint (it ends in ".zip"), or "module:function": the
            function is called once with the env and returns a function from observation to action.
        env: the env it will play, which has been reset.

    Raises:
        ArgumentError: there is no such policy, or it is not a function.
        StateError: the checkpoint is damaged.
        GranularError: it is a checkpoint, and the `train` extra is not installed.
    """
    if name == "expert":
        expert = scripted_expert(env)
        return lambda observation: expert.act()
    if name == "random":
        return lambda observation: env.action_space.sample()
    if _is_checkpoint(name):
        from .training.policy import load_actor

        return load_actor(Path(name), env).act
    module, colon, function = checks.text("policy", name).partition(":")
    if not (module and colon and function):
        raise ArgumentError(f"policy: expected 'expert', 'random', a checkpoint.zip or 'module:function', got {name!r}")
    try:
        make = getattr(importlib.import_module(module), function)
    except (ImportError, AttributeError) as error:
        raise ArgumentError(f"policy: expected a module and a function in it, got {name!r} ({error})") from None
    policy = make(env) if callable(make) else None
    if policy is None or not callable(policy):
        raise ArgumentError(
            f"policy: expected {name!r} to return a function from observation to action, got {policy!r}"
        )
    return policy


def _is_checkpoint(name: str) -> bool:
    return name.endswith(".zip")


def trained_arguments(task: str, policy: str) -> dict[str, Any]:
    """Arguments of the task that a checkpoint was trained with; none for other policies.

    Raises:
        ArgumentError: the checkpoint was trained on another task.
        StateError: it is damaged.
    """
    if not _is_checkpoint(policy):
        return {}
    from .training.checkpoint import read_about

    settings = read_about(Path(policy))["settings"]
    if settings["task"] != task:
        raise ArgumentError(f"policy: expected one trained on {task}, {policy} was trained on {settings['task']}")
    return {**settings["arguments"], "depth": "uint8"}


def parse_arguments(pairs: list[str]) -> dict[str, Any]:
    """Arguments of a task from texts "name=value"; a value is JSON, or else taken as text.

    Raises:
        ArgumentError: a text without "=".
    """
    arguments: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.isidentifier():
            raise ArgumentError(f"argument: expected name=value, got {pair!r}")
        try:
            arguments[name] = json.loads(value)
        except ValueError:
            arguments[name] = value
    return arguments


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
