"""bindings.py: which keys of a keyboard, or inputs of a gamepad, move which number of an action.

A task says what the numbers of its actions are (`Task.action_parts`); a device says which pairs of inputs it has, and
which of them suits a way. What moves in a way gets the pair of that way, all else gets pairs that are left, in order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from granular_gym.errors import ArgumentError
from granular_gym.tasks.actions import ActionPart

#: inputs that move a number up and down
Pair = tuple[str, str]


@dataclass(frozen=True)
class Inputs:
    """The inputs of a kind of device.

    Attributes:
        device: its name in messages.
        pairs: of inputs, in the order in which they are given out.
        ways: for each of `actions.WAYS` the pair that suits it: one of `pairs`, either way round.
    """

    device: str
    pairs: Sequence[Pair]
    ways: Mapping[str, Pair]


@dataclass(frozen=True)
class Binding:
    """What moves one number of an action.

    Attributes:
        name: of what it moves.
        plus: the input that raises it.
        minus: the input that lowers it.
    """

    name: str
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


def bindings_of(task: Any, inputs: Inputs) -> list[Binding]:
    """What moves each number of a task's actions.

    Args:
        task: a Task.
        inputs: of the device.

    Raises:
        ArgumentError: the device has too few inputs.
    """
    count: int = task.action_space.shape[0]
    parts = list(task.action_parts) or [ActionPart(f"number {number} of the action") for number in range(count)]
    if count > len(inputs.pairs):
        raise ArgumentError(
            f"policy: expected a task with at most {len(inputs.pairs)} numbers per action for {inputs.device!r}, got "
            f"{count}"
        )
    left = list(inputs.pairs)
    found: dict[int, Pair] = {}
    # ways first, so that no spare takes their pair
    for number, part in sorted(enumerate(parts), key=lambda item: not item[1].way):
        wanted = inputs.ways.get(part.way)
        pair = next((pair for pair in left if wanted is not None and set(pair) == set(wanted)), None)
        if pair is None:
            found[number] = left.pop(0)
        else:
            left.remove(pair)
            found[number] = wanted or pair
    return [Binding(part.name, *found[number]) for number, part in enumerate(parts)]
