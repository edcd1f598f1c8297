"""flat.py: observations as one vector, and buffers of the caller that a batch writes its answers into."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base.names import refuse_unknown
from granular_gym.engine.outputs import cast, kit_of
from granular_gym.errors import ArgumentError

#: what buffers are for, and, of the last three, the types they may have: the first is that of `step`
_FLAGS: Mapping[str, tuple[str, ...]] = {
    "rewards": ("float64", "float32"),
    "terminated": ("bool",),
    "truncated": ("bool",),
}
OBSERVATIONS = "observations"


def flattened(space: spaces.Dict, observations: Mapping[str, Any], out: NDArray[Any] | None = None) -> Any:
    """Observations of n envs as vectors (n, k), each as `gymnasium.spaces.flatten` has them.

    Args:
        space: of one env, a Dict of Box.
        observations: arrays (n, ...) by key, of NumPy or torch.
        out: (n, k), written in place of a fresh array; NumPy only.
    """
    parts = [observations[key].reshape(len(observations[key]), -1) for key in space.spaces]
    if kit_of(parts[0]) is np:
        return np.concatenate(parts, axis=1, out=out, casting="same_kind")
    kind = str(spaces.flatten_space(space).dtype)
    return kit_of(parts[0]).concatenate([cast(part, kind) for part in parts], 1)


def refuse_flat(env: Any, reader: str) -> None:
    """Raises ArgumentError where an env shows vectors to somebody who reads observations by name.

    Args:
        env: an env or a batch, wrapped or not.
        reader: who reads them.
    """
    if getattr(env.unwrapped, "flat", False):
        raise ArgumentError(f"flat: expected False, as {reader} reads observations by name, got True")


class Buffers:
    """Arrays of the caller for observations, rewards, terminated and truncated of a batch; see `GranularVectorEnv`.

    Args:
        given: by name, some or all.
        space: of the observations of the batch, a Dict of Box or a Box.
        env_count: number of envs.

    Raises:
        ArgumentError: an unknown name, or an array of another shape or type, not contiguous or not writeable.
    """

    def __init__(self, given: Any, space: spaces.Space[Any], env_count: int) -> None:
        if not isinstance(given, Mapping):
            raise ArgumentError(f"out: expected a dict of arrays or None, got {type(given).__name__}")
        refuse_unknown("out", given, (OBSERVATIONS, *_FLAGS))
        self._flags = {name: array for name, array in given.items() if name != OBSERVATIONS}
        for name, array in self._flags.items():
            _check(f"out[{name!r}]", array, (env_count,), _FLAGS[name])
        self.observations: Any = given.get(OBSERVATIONS)
        if self.observations is None:
            return
        name = f"out[{OBSERVATIONS!r}]"
        if not isinstance(space, spaces.Dict):
            _check(name, self.observations, space.shape, (str(space.dtype),))
            return
        if not isinstance(self.observations, Mapping):
            raise ArgumentError(f"{name}: expected a dict of arrays, got {type(self.observations).__name__}")
        if set(self.observations) != set(space):
            raise ArgumentError(f"{name}: expected the entries {sorted(space)}, got {sorted(self.observations)}")
        for key, part in space.items():
            _check(f"{name}[{key!r}]", self.observations[key], part.shape, (str(part.dtype),))

    def put(self, observations: Any) -> Any:
        """Observations, in the buffers where there are any."""
        if self.observations is None or observations is self.observations:
            return observations
        if not isinstance(self.observations, Mapping):
            self.observations[...] = observations
            return self.observations
        for key, values in observations.items():
            self.observations[key][...] = values
        return dict(self.observations)

    def put_flags(self, *values: NDArray[Any]) -> list[Any]:
        """Rewards, terminated and truncated likewise."""
        answers: list[Any] = []
        for name, fresh in zip(_FLAGS, values, strict=True):
            buffer = self._flags.get(name)
            if buffer is not None:
                buffer[...] = fresh
            answers.append(fresh if buffer is None else buffer)
        return answers


def _check(name: str, array: Any, shape: Any, kinds: tuple[str, ...]) -> None:
    """Raises ArgumentError where an array cannot be written into."""
    wanted = f"a writeable, contiguous NumPy array of {' or '.join(kinds)} {tuple(shape)}"
    if not isinstance(array, np.ndarray):
        raise ArgumentError(f"{name}: expected {wanted}, got {type(array).__name__}")
    if array.shape != tuple(shape) or str(array.dtype) not in kinds:
        raise ArgumentError(f"{name}: expected {wanted}, got {array.dtype} {array.shape}")
    if not array.flags.writeable or not array.flags.c_contiguous:
        missing = "writeable" if array.flags.c_contiguous else "contiguous"
        raise ArgumentError(f"{name}: expected {wanted}, got one that is not {missing}")
