"""play.py: plays episodes of a task by its expert, at random or by a given policy, and films them.

`python -m granular_gym play TASK` writes into a folder: TASK.mp4 (where the `video` extra is installed), first.png,
last.png, and report.json with the returns, the infos of the last step and the engine's counters of overlap and speed;
with `--export` what other programs open (docs/exchange.md).
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym._core import write_png
from granular_gym.base import cache, checks
from granular_gym.errors import ArgumentError
from granular_gym.exchange.recorders import Recorders, check_formats
from granular_gym.tasks.registry import short_name, task_id
from granular_gym.training.batch import make_single
from granular_gym.training.evaluation import share_of_expert
from granular_gym.training.policies import Policy, baseline_returns, load_policy, trained_arguments
from granular_gym.training.recipes import OF_A_RUN
from granular_gym.viewing.film import Film, real_time


def play(
    task: str,
    out: Path,
    *,
    policy: str = "expert",
    seed: int = 0,
    episodes: int = 1,
    steps: int | None = None,
    film: bool = True,
    every: int = 1,
    arguments: dict[str, Any] | None = None,
    exports: Sequence[str] = (),
    say: Callable[[str], None] = print,
) -> dict[str, Any]:
    """Plays episodes; writes film, pictures and report.

    Args:
        task: name, see `task_id`.
        out: folder; created where it is missing.
        policy: see `load_policy`; it is loaded anew for each episode.
        seed: of the first episode, >= 0; each further one has the next.
        episodes: how many, >= 1.
        steps: most env steps of each; None: up to the task's time limit.
        film: write a film where the `video` extra is installed.
        every: env steps per picture of the film, which stays in real time, and per moment that is exported.
        arguments: of the task; default: those that a policy in a file was trained with, else the task's defaults.
        exports: formats that the episodes are also written in, "vtk", "lammps" or "gltf" (docs/exchange.md); as in the
            film, episodes follow each other.
        say: called with progress messages.

    Returns:
        The content of report.json: "episodes", each with "seed", "steps", "return", "success" where the task says so,
        and "share_of_expert" where the policy's card has baselines and the episodes are as those were: to their end,
        with the arguments on the card; "return" their mean, "steps", "seconds" and "fast_count" their sums,
        "overlap_max" the largest, and "info" of the last step of all.

    Raises:
        ArgumentError: an invalid argument.
        MissingError: an export needs a library that is not installed.
        StateError: the policy's file is damaged, or for other spaces.
        OSError: the folder cannot be written, or the disk is full; the pictures and the film written so far stay.
    """
    name = task_id(task)
    out = checks.path("out", out)
    checks.integer("seed", seed, 0)
    checks.integer("episodes", episodes, 1)
    if arguments is not None:
        checks.instance("arguments", arguments, dict)
    if steps is not None:
        checks.integer("steps", steps, 1)
    checks.integer("every", every, 1)
    formats = check_formats("export", exports)
    trained = trained_arguments(name, checks.text("policy", policy))
    given = {**trained, **(arguments or {})}
    if "render_mode" in given:
        raise ArgumentError("argument: expected none named render_mode, pictures need 'rgb_array'")
    if given.get("max_episode_steps") is not None:
        checks.integer("max_episode_steps", given["max_episode_steps"], 1)
    env = make_single(name, {**given, "render_mode": "rgb_array"})
    baselines = baseline_returns(policy) if steps is None and _meaning(given) == _meaning(trained) else None
    total, rows = _Total(), []
    record = _Record(env)
    try:
        for number in range(seed, seed + episodes):
            observation, _ = env.reset(seed=number)
            env.action_space.seed(number)
            acting = load_policy(policy, env)
            if number == seed:
                out.mkdir(parents=True, exist_ok=True)
                write_png(str(out / "first.png"), _frame(env))
                record.reel = _film(out / f"{short_name(name)}.mp4", env, every, say) if film else None
                record.write(formats, out)
            record.add()
            try:
                row = {"seed": number, **_run(env, acting, observation, steps, record, every, total)}
            finally:
                # a keyboard draws on the terminal
                getattr(acting, "close", lambda: None)()
            text = f"{name}, {policy}, seed {number}: return {row['return']:.4g} in {row['steps']} steps"
            share = math.nan if baselines is None else share_of_expert(row["return"], *baselines)
            if math.isfinite(share):
                row["share_of_expert"] = share
                text += f", {share:.0%} of the expert"
            if "success" in row:
                text += f", success {row['success']}"
            rows.append(row)
            say(text if number < seed + episodes - 1 else f"{text}; see {out}")
        write_png(str(out / "last.png"), _frame(env))
        record.add()
    finally:
        try:
            record.close()
        finally:
            env.close()
    report = {
        "task": name,
        "policy": policy,
        "seed": seed,
        "arguments": given,
        "episodes": rows,
        "steps": sum(row["steps"] for row in rows),
        "return": float(np.mean([row["return"] for row in rows])),
        "seconds": total.seconds,
        "overlap_max": total.worst,
        "fast_count": total.fast,
        "info": {key: _plain(value) for key, value in total.info.items()},
    }
    cache.write_atomic(out / "report.json", (json.dumps(report, indent=1) + "\n").encode())
    return report


@dataclass
class _Total:
    """Of all episodes: seconds of stepping and acting, the largest overlap, fast grains, infos of the last step."""

    seconds: float = 0.0
    worst: float = 0.0
    fast: int = 0
    info: dict[str, Any] = field(default_factory=dict)


@dataclass
class _Record:
    """What is kept of the episodes: the film, and files for other programs; after how many env steps of them all."""

    env: Any
    reel: Film | None = None
    files: Recorders | None = None
    steps: int = 0

    def write(self, formats: Sequence[str], out: Path) -> None:
        """Begins files for other programs."""
        self.files = Recorders(formats, out, self.env.unwrapped.task.world)

    def add(self) -> None:
        """Records the env as it is now."""
        if self.reel is not None:
            self.reel.add(_frame(self.env))
        if self.files is not None:
            self.files.add(self.steps * self.env.unwrapped.task.step_period)

    def close(self) -> None:
        """Completes film and files."""
        try:
            if self.files is not None:
                self.files.close()
        finally:
            if self.reel is not None:
                self.reel.close()


def _run(
    env: Any, policy: Policy, observation: Any, limit: int | None, record: _Record, every: int, total: _Total
) -> dict[str, Any]:
    """Plays an episode that has begun to its end, or `limit` steps; its row of the report. Records it from the second
    moment on."""
    row: dict[str, Any] = {"steps": 0, "return": 0.0}
    done, begin = False, time.perf_counter()
    while not done and (limit is None or row["steps"] < limit):
        if row["steps"] and row["steps"] % every == 0:
            record.add()
        observation, reward, terminated, truncated, info = env.step(policy(observation))
        row["return"] += float(reward)
        row["steps"] += 1
        record.steps += 1
        total.worst, total.fast, total.info = (
            max(total.worst, info["overlap_max"]),
            total.fast + info["fast_count"],
            info,
        )
        done = bool(terminated or truncated)
    total.seconds += time.perf_counter() - begin
    if "success" in total.info:
        row["success"] = bool(total.info["success"])
    return row


def _meaning(arguments: dict[str, Any]) -> dict[str, Any]:
    """Arguments of a task that change what an episode returns."""
    return {name: value for name, value in arguments.items() if name not in OF_A_RUN}


def _frame(env: Any) -> NDArray[np.uint8]:
    return np.ascontiguousarray(env.render())


def _film(path: Path, env: Any, every: int, say: Callable[[str], None]) -> Film | None:
    """A new film of a picture every so many env steps; None where the `video` extra is missing, which is said."""
    try:
        return Film(path, real_time(every * env.unwrapped.task.step_period))
    except ImportError:
        say("no film: imageio with ffmpeg is not installed (pip install 'granular_gym[video]')")
        return None


def _plain(value: Any) -> Any:
    """A value for JSON, which has no NaN: scalars that are not finite become strings."""
    value = np.asarray(value).tolist()
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value
