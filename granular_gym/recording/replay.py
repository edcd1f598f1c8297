"""replay.py: `python -m granular_gym replay DATASET`: plays recorded episodes again and compares every bit."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError, MissingError, ReplayError
from granular_gym.recording.episode import ACTIONS, INFOS, OBSERVATIONS, Episode, first_difference, play_episode
from granular_gym.recording.files import Dataset
from granular_gym.recording.record import OF_A_RUN
from granular_gym.tasks.registry import bare_id, short_name, task_id
from granular_gym.viewing.film import Film, real_time


def replay(
    dataset: str,
    *,
    episode: int | None = None,
    root: Path | None = None,
    out: Path | None = None,
    arguments: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> int:
    """Plays episodes of a dataset again: observations, rewards, ends and infos must have the same bits.

    Args:
        dataset: its id or its folder.
        episode: its number, from 0; None: all.
        root: folder of all datasets, where an id is given; None: Minari's.
        out: folder for films, one of each episode; None: no films.
        arguments: num_threads or device: results are the same with any.
        say: called with progress messages.

    Returns:
        How many episodes were compared.

    Raises:
        ArgumentError: there is no such dataset, episode or task, or an argument is not what it should be.
        ReplayError: an episode differs; the message names the first step, the field and, where it is another than
            now, the version that recorded it.
        StateError: the dataset is damaged.
        MissingError: Minari, or imageio for films, is not installed.
        OSError: a film cannot be written.
    """
    found = Dataset(dataset, root)
    name = task_id(found.about["task"])
    given = dict(arguments or {})
    names.refuse_unknown("argument", given, OF_A_RUN)
    if episode is not None:
        checks.integer("episode", episode, 0)
    numbers: Sequence[int] = range(found.count) if episode is None else [episode]
    if found.other_version:
        say(f"recorded by {found.other_version}, which is not what runs now: the bits may differ")
    spec = found.minari.env_spec
    if spec is None or spec.id != bare_id(name):
        raise ArgumentError(f"dataset: expected one whose env is {name}, got {None if spec is None else spec.id!r}")
    drawn = {} if out is None else {"render_mode": "rgb_array"}
    env = found.minari.recover_environment(**given, **drawn)
    try:
        for number in numbers:
            recorded = found.episode(number)
            path = None if out is None else checks.path("out", out) / f"{short_name(name)}_{number}.mp4"
            played = _played(env, recorded, path)
            difference = first_difference(recorded, played)
            if difference is not None:
                raise ReplayError(_text(found, number, recorded, played, *difference))
            say(f"episode {number}, seed {recorded.seed}: {len(recorded)} steps, every bit as recorded")
    finally:
        env.close()
    return len(numbers)


def _played(env: Any, recorded: Episode, film: Path | None) -> Episode:
    """An episode of the same seed and actions; filmed where a path is given."""
    play = partial(play_episode, env, recorded.seed, recorded.policy, _actions_of(recorded), steps=len(recorded))
    if film is None:
        return play()
    with _film(film, env) as reel:
        return play(watch=lambda: reel.add(np.ascontiguousarray(env.render())))


def _actions_of(recorded: Episode) -> Callable[[Any], Callable[[Any], Any]]:
    """Makes a policy that plays the actions of an episode."""

    def make(env: Any) -> Callable[[Any], Any]:
        actions = iter(recorded.fields[ACTIONS])
        return lambda observation: next(actions)

    return make


def _film(path: Path, env: Any) -> Film:
    """A new film.

    Raises:
        MissingError: imageio is not installed.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        return Film(path, real_time(env.unwrapped.task.step_period))
    except ImportError:
        raise MissingError("films need imageio with ffmpeg: pip install 'granular_gym[video]'") from None


def _text(found: Dataset, number: int, recorded: Episode, played: Episode, step: int, field: str) -> str:
    """The message where an episode differs."""
    row = step if field.startswith((OBSERVATIONS, INFOS)) else step - 1
    values = [
        () if field not in each.fields or row >= len(each.fields[field]) else each.fields[field][row]
        for each in (recorded, played)
    ]
    version = f"; it was recorded by {found.other_version}" if found.other_version else ""
    return (
        f"{found.path}, episode {number}, step {step}: expected {field} as recorded, {_short(values[0])}, got "
        f"{_short(values[1])}{version}"
    )


def _short(value: Any) -> str:
    """A value for a message: numbers with all digits, arrays by what they are."""
    array = np.asarray(value)
    if array.size <= 1:
        return repr(array.item()) if array.size else "nothing"
    return f"{array.dtype} {array.shape} from {array.min()} to {array.max()}"
