"""names.py: names that a caller gives. One that is not known is refused with those that are, the nearest named."""

from __future__ import annotations

import difflib
import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from granular_gym.errors import ArgumentError


def nearest(value: Any, known: Iterable[Any]) -> str:
    """The end of a message: "; did you mean 'sand'?" where one of the known names is near, else nothing."""
    if not isinstance(value, str):
        return ""
    folded = {str(name).lower(): name for name in known}
    found = difflib.get_close_matches(value.lower(), folded, 1)
    return f"; did you mean {folded[found[0]]!r}?" if found else ""


def listed(known: Iterable[Any]) -> str:
    """Names as text: 'sand', 'steel'."""
    return ", ".join(map(repr, known))


def unknown(name: str, value: Any, known: Iterable[Any]) -> ArgumentError:
    """The error for a value that is none of the known names."""
    names = list(known)
    wanted = f"one of {listed(names)}" if names else "none"
    return ArgumentError(f"{name}: expected {wanted}, got {value!r}{nearest(value, names)}")


def refuse_unknown(name: str, given: Iterable[Any], known: Iterable[Any]) -> None:
    """Raises ArgumentError where a given keyword or key is not known."""
    names = list(known)
    for one in given:
        if one not in names:
            raise unknown(name, one, names)


def index(name: str, value: Any, known: Sequence[str], what: str) -> int:
    """The index of what is given by name or index.

    Args:
        name: name of the argument in messages.
        value: a name, or an integer from 0.
        known: names by index.
        what: it is: "material", "tool", "camera".

    Raises:
        ArgumentError: no such name or index; the message lists the names.
    """
    if not known:
        raise ArgumentError(f"{name}: expected a {what} of the scene, it has none, got {value!r}")
    if isinstance(value, str) and value in known:
        return known.index(value)
    if not isinstance(value, (str, bool, np.bool_)):
        try:
            number = operator.index(value)
        except TypeError:
            number = -1
        if 0 <= number < len(known):
            return number
    raise ArgumentError(
        f"{name}: expected a {what}, {listed(known)} or 0 .. {len(known) - 1}, got {value!r}{nearest(value, known)}"
    )
