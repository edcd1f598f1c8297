"""record.py: `python -m granular_gym record TASK`: episodes of a task, or of all tasks, as datasets of Minari."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.base.interrupts import uninterrupted
from granular_gym.errors import ArgumentError, MissingError
from granular_gym.recording.episode import play_episode
from granular_gym.recording.files import Writer, check_free, check_id, root_of, size_of
from granular_gym.recording.players import arguments_for, kind_of, player, turns_of
from granular_gym.tasks.depth_sensor import DepthSensor
from granular_gym.tasks.flat import refuse_flat
from granular_gym.tasks.registry import bare_id, newest_ids, task_class, task_id
from granular_gym.training import recipes
from granular_gym.training.batch import make_single
from granular_gym.training.policies import trained_arguments

EPISODES = 10
#: arguments that belong to a run, not to what is recorded: results are the same with any
OF_A_RUN = recipes.OF_A_RUN


@dataclass(frozen=True)
class Recording:
    """What was recorded.

    Attributes:
        id: of the dataset.
        path: its folder.
        returns: of its episodes.
        steps: of all episodes.
        size: in bytes.
    """

    id: str
    path: Path
    returns: list[float]
    steps: int
    size: int


def record(
    task: str,
    *,
    policy: str = "expert",
    episodes: int = EPISODES,
    seed: int = 0,
    noise: float | None = None,
    dataset_id: str | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    arguments: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> Recording:
    """Plays episodes of a task and writes them as a dataset of Minari.

    After Ctrl-C the dataset holds the whole episodes so far; where there is none, nothing is written.

    Args:
        task: name, see `task_id`.
        policy: who plays, see `players.turns_of`; of several each plays an episode in turn.
        episodes: how many, >= 1.
        seed: of the first episode, >= 0; each further one has the next.
        noise: largest share of an action that is disturbed (`Disturbance`), 0 .. 1; None: none, of "noisy" as the
            task's recipe says. Random actions are not disturbed.
        dataset_id: None: "granular_gym/TASK/POLICY-v0", of a task of one's own in its namespace.
        out: folder of all datasets; None: Minari's.
        overwrite: replace a dataset of the same id.
        arguments: of the task; images are uint8 unless `depth` is given.
        say: called with progress messages.

    Raises:
        ArgumentError: an argument is not what it should be, or the id is taken; said before anything is played.
        MissingError: Minari, or a library that the policy needs, is not installed.
        StateError: the file of a policy is damaged, or made for other spaces.
        OSError: the disk is full; nothing is kept then.
    """
    name = task_id(task)
    names = turns_of(policy)
    checks.integer("episodes", episodes, 1)
    checks.integer("seed", seed, 0)
    if noise is not None:
        checks.number("noise", noise, 0.0, 1.0)
    given = dict(arguments or {})
    if given.pop("render_mode", None) is not None:
        raise ArgumentError("argument: expected none named render_mode, nothing is drawn")
    if task_class(name).state_vector is not None:
        given.setdefault("reads_state", True)
    given = {"depth": "uint8", **arguments_for(name, names, trained_arguments), **given}
    # datasets hold arguments as JSON
    given = {key: asdict(value) if isinstance(value, DepthSensor) else value for key, value in given.items()}
    root = root_of(None if out is None else checks.path("out", out))
    found = dataset_id or id_of(name, policy, noise)
    check_free(root, [check_id(found)], overwrite)
    env = make_single(name, given)
    refuse_flat(env, "a dataset")
    writer = Writer(root, found, _kept(env), env.observation_space, env.action_space, overwrite)
    returns: list[float] = []
    steps = 0
    finishing = False

    def finished() -> Recording:
        nonlocal finishing
        finishing = True
        kept = {key: value for key, value in given.items() if key not in OF_A_RUN}
        about = {"task": name, "arguments": kept, "policy": policy, "noise": noise, "seed": seed}
        text = (
            f"{writer.count} episodes of {name} by {policy}, seeds from {seed}, mean return {np.mean(returns):.4g}; "
            "recorded by python -m granular_gym record"
        )
        with uninterrupted():
            path = writer.finish(text, policy, about)
        size = size_of(path)
        say(f"{found}: {writer.count} episodes, {steps} steps, {size / 1e6:.2f} MB in {path}")
        return Recording(found, path, returns, steps, size)

    try:
        for number in range(seed, seed + episodes):
            by = names[len(returns) % len(names)]
            episode = play_episode(env, number, by, partial(player, by, noise, name, seed=number))
            with uninterrupted():  # or the dataset would count an episode that is not whole
                writer.add(episode)
                returns.append(episode.total_return)
                steps += len(episode)
            say(f"{name}, {by}, seed {number}: return {returns[-1]:.4g} in {len(episode)} steps")
        return finished()
    except KeyboardInterrupt:
        if returns and not finishing:  # else it came in the last moment, and the dataset is whole
            finished()
        raise
    finally:
        writer.discard()
        env.close()


def record_all(
    *,
    policy: str = "expert",
    episodes: int = EPISODES,
    seed: int = 0,
    noise: float | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    arguments: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> dict[str, str]:
    """Records a dataset of every task in its newest version; see `record`.

    A task that needs a library which is not installed is left out. Ids of all datasets are checked first.

    Args:
        policy: see `record`; ids are those that it chooses.
        episodes: likewise.
        seed: likewise.
        noise: likewise.
        out: likewise.
        overwrite: likewise.
        arguments: likewise; all tasks must take them.
        say: called with progress messages, at the end with what was left out.

    Returns:
        Why it was left out, by the id of the task; empty: nothing was.

    Raises:
        ArgumentError: there are datasets of some of the ids, all of which the message names; said before anything is
            played. Else as `record`.
        MissingError: what is not installed is needed by all tasks.
        StateError: as `record`; datasets that are whole stay.
        OSError: likewise.
    """
    turns_of(policy)
    if noise is not None:
        checks.number("noise", noise, 0.0, 1.0)
    root = root_of(None if out is None else checks.path("out", out))
    tasks = newest_ids()
    check_free(root, [check_id(id_of(task, policy, noise)) for task in tasks], overwrite)
    left_out: dict[str, str] = {}
    for task in tasks:
        try:
            record(
                task,
                policy=policy,
                episodes=episodes,
                seed=seed,
                noise=noise,
                out=root,
                overwrite=overwrite,
                arguments=arguments,
                say=say,
            )
        except MissingError as error:
            left_out[task] = str(error)
            if len(left_out) == len(tasks):
                raise
    for task, why in left_out.items():
        say(f"left out: {task}: {why}")
    return left_out


def id_of(task: str, policy: str, noise: float | None) -> str:
    """The id of the dataset of a task where none is given."""
    return f"{bare_id(task)}/{kind_of(policy, noise)}-v0"


def _kept(env: Any) -> Any:
    """The spec of an env without what belongs to the run."""
    spec = copy.deepcopy(env.spec)
    for name in OF_A_RUN:
        spec.kwargs.pop(name, None)
    return spec
