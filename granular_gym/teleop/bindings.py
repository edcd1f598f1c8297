"""bindings.py: which keys of a keyboard, or inputs of a gamepad, move which number of an action.

A task says what the numbers of its actions are (`Task.action_parts`); a device says which pairs of inputs it has, and
which of them suit a way. What moves in a way gets the first pair of that way that is free, all else gets pairs that are
left, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granular_gym.errors import ArgumentError
from granular_gym.tasks.actions import WAYS, ActionPart

#: inputs that move a number up and down
Pair = tuple[str, str]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a kind of device.

    Attributes:
        device: its name in messages.
        pairs: of inputs, in the order in which they are given out.
        ways: for each of `actions.WAYS` the pairs that suit it, best first: of `pairs`, either way round. Ways that
            come first in WAYS choose first.
        alone: nothing else moves numbers, so that each needs a pair.
    """

    device: str
    pairs: Sequence[Pair]
    ways: Mapping[str, Sequence[Pair]]
    alone: bool = True


@dataclass(frozen=True)
class Binding:
    """What moves one number of an action.

    Attributes:
        part: what it moves.
        plus: the input that raises it; "": none is left.
        minus: the input that lowers it; likewise.
    """

    part: ActionPart
    plus: str
    minus: str


def single_task(device: str, env: Any) -> Any:
    """The task of a single env.

    Raises:
        ArgumentError: a batch of envs, which nobody can steer at once, or an env of another package.
    """
    bare = env.unwrapped
    if hasattr(bare, "num_envs"):
        raise ArgumentError(f"policy: expected one that plays a batch, got {device!r}, which steers a single env")
    if not hasattr(bare, "task"):
        raise ArgumentError(f"env: expected an env of granular_gym, got {type(bare).__name__}")
    return bare.task


def parts_of(task: Any) -> list[ActionPart]:
    """What the numbers of a task's actions move; by their places where the task does not tell."""
    count: int = task.action_space.shape[0]
    return list(task.action_parts) or [ActionPart(f"number {number} of the action") for number in range(count)]


def bindings_of(parts: Sequence[ActionPart], inputs: Inputs) -> list[Binding]:
    """What moves each number of an action.

    Args:
        parts: see `parts_of`.
        inputs: of the device.

    Raises:
        ArgumentError: the device has too few inputs.
    """
    if inputs.alone and len(parts) > len(inputs.pairs):
        raise ArgumentError(
            f"policy: expected a task with at most {len(inputs.pairs)} numbers per action for {inputs.device!r}, got "
            f"{len(parts)}"
        )
    found: dict[int, Pair] = {}
    used: list[set[str]] = []
    order = {way: rank for rank, way in enumerate([*WAYS, ""])}
    for number, part in sorted(enumerate(parts), key=lambda item: order[item[1].way]):
        wanted = [*inputs.ways.get(part.way, ()), *inputs.pairs]
        found[number] = next((pair for pair in wanted if set(pair) not in used), ("", ""))
        used.append(set(found[number]))
    return [Binding(part, *found[number]) for number, part in enumerate(parts)]
