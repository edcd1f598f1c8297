"""arguments.py: what callers of `gymnasium.make`, `make_vec` and `reset` give by name, checked before it is used."""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping
from typing import Any

from granular_gym.base import names
from granular_gym.errors import ArgumentError


def arguments_of(task_class: type) -> list[str]:
    """Names of the arguments of a task: those of its constructor and of those it hands the rest to.

    Args:
        task_class: a subclass of Task.
    """
    found: dict[str, None] = {}
    for cls in task_class.__mro__:
        if "__init__" not in vars(cls):
            continue
        parameters = list(inspect.signature(vars(cls)["__init__"]).parameters.values())[1:]
        kinds = [each.kind for each in parameters]
        found |= {
            each.name: None for each in parameters if each.kind in (each.POSITIONAL_OR_KEYWORD, each.KEYWORD_ONLY)
        }
        if inspect.Parameter.VAR_KEYWORD not in kinds:
            break
    return list(found)


def check_arguments(task_class: type, given: Iterable[str], own: Iterable[str]) -> None:
    """Checks the names of what an env was given for its task.

    Args:
        task_class: of the env.
        given: names given for the task.
        own: names that the env itself takes.

    Raises:
        ArgumentError: a name that neither knows; the message lists those known.
    """
    known = [name for name in arguments_of(task_class) if name not in ("env_count", "render_mode")]
    names.refuse_unknown("argument", given, [*own, *sorted(known)])


def check_options(options: Any, known: Iterable[str]) -> dict[str, Any]:
    """A copy of the options of `reset`.

    Raises:
        ArgumentError: neither None nor a dict, or a key that is not known.
    """
    if options is None:
        return {}
    if not isinstance(options, Mapping):
        raise ArgumentError(f"options: expected a dict or None, got {options!r}")
    names.refuse_unknown("options", options, known)
    return dict(options)
