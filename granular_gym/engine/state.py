"""state.py: saved envs: the engine's bytes of each, and a file of them that is read whole or refused.

File: magic, version, number of envs, layout hash, sizes, bytes, SHA-256 of all before. Little endian.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import re
import struct
from collections.abc import Sequence

from granular_gym.base import cache, checks
from granular_gym.errors import ArgumentError, StateError

_MAGIC = b"GGSTATE\n"
VERSION = 1
_HEAD = struct.Struct("<8sIIQ64s")
_LAYOUT = re.compile("[0-9a-f]{64}")


@dataclasses.dataclass(frozen=True)
class State:
    """One or more saved envs; made by `World.save_state`.

    Attributes:
        envs: the engine's bytes of each env: grains, velocities, stored impulses, tools, materials, gravity.
        layout: hash of the scene's fixed part; a state fits worlds of the same layout only.
    """

    envs: tuple[bytes, ...]
    layout: str
    _checked: bool = dataclasses.field(default=False, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        envs = tuple(self.envs) if isinstance(self.envs, (tuple, list)) else ()
        if not envs or not all(isinstance(env, (bytes, bytearray, memoryview)) for env in envs):
            raise ArgumentError(f"envs: expected the bytes of one or more envs, got {type(self.envs).__name__}")
        # nobody can change them after they were checked
        object.__setattr__(self, "envs", tuple(bytes(env) for env in envs))
        if not isinstance(self.layout, str) or not _LAYOUT.fullmatch(self.layout):
            raise ArgumentError(f"layout: expected the hash of a layout, got {self.layout!r}")

    def __reduce__(self) -> tuple[type[State], tuple[tuple[bytes, ...], str]]:
        # what was checked here may come back as anything
        return State, (self.envs, self.layout)

    @property
    def checked(self) -> bool:
        """Whether a world of this process saved or loaded these bytes; others are checked when they are loaded."""
        return self._checked

    def mark_checked(self) -> None:
        """For `World`: its engine wrote or accepted these bytes."""
        object.__setattr__(self, "_checked", True)

    def __repr__(self) -> str:
        """Numbers of envs and bytes, and the beginning of the layout."""
        size = sum(map(len, self.envs))
        return f"State(env_count={self.env_count}, {size} bytes, layout={self.layout[:8]!r})"

    @property
    def env_count(self) -> int:
        """Number of envs saved."""
        return len(self.envs)

    def env(self, index: int) -> State:
        """One of the envs as a state of its own."""
        one = State((self.envs[checks.integer("index", index, 0, len(self.envs) - 1)],), self.layout)
        if self.checked:
            one.mark_checked()
        return one

    def to_bytes(self) -> bytes:
        """What a file holds."""
        head = _HEAD.pack(_MAGIC, VERSION, 0, len(self.envs), self.layout.encode("ascii"))
        sizes = struct.pack(f"<{len(self.envs)}Q", *map(len, self.envs))
        body = b"".join([head, sizes, *self.envs])
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: bytes, name: str = "state") -> State:
        """Reads what `to_bytes` gave.

        Raises:
            StateError: not a state, another version, cut short or damaged; the message says which.
        """
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise ArgumentError(f"data: expected bytes, got {type(data).__name__}")
        data = bytes(data)
        if len(data) < len(_MAGIC) or data[: len(_MAGIC)] != _MAGIC:
            raise StateError(f"{name}: expected a saved state, the file begins differently")
        if len(data) < _HEAD.size + 32:
            raise StateError(f"{name}: expected at least {_HEAD.size + 32} bytes, got {len(data)}: cut short")
        _, version, spare, count, layout = _HEAD.unpack_from(data)
        if version != VERSION:
            raise StateError(f"{name}: expected version {VERSION}, got {version}")
        # a broken count must not cost memory
        start = _HEAD.size + 8 * count
        if start + 32 > len(data):
            raise StateError(f"{name}: expected {count} envs, got {len(data)} bytes in all: cut short or damaged")
        sizes = struct.unpack_from(f"<{count}Q", data, _HEAD.size)
        if start + sum(sizes) + 32 != len(data):
            raise StateError(f"{name}: expected {start + sum(sizes) + 32} bytes, got {len(data)}: cut short or damaged")
        if hashlib.sha256(data[:-32]).digest() != data[-32:]:
            raise StateError(f"{name}: expected an intact file, its checksum does not fit")
        text = layout.decode("ascii", "replace")
        if spare or not count or not _LAYOUT.fullmatch(text):
            raise StateError(f"{name}: expected envs and the hash of a layout, got {count} envs and {text!r}")
        envs = []
        for size in sizes:
            envs.append(data[start : start + size])
            start += size
        return cls(tuple(envs), text)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        cache.write_atomic(checks.path("path", path), self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> State:
        """Reads a file that `save` wrote.

        Raises:
            OSError: the file cannot be read.
            StateError: it is not a whole state of this version.
        """
        return cls.from_bytes(checks.path("path", path).read_bytes(), str(path))


def joined(states: Sequence[State]) -> State:
    """The envs of one or more states as one state.

    Raises:
        StateError: they belong to different scenes.
    """
    layouts = {state.layout for state in states}
    if len(layouts) != 1:
        raise StateError(f"states: expected one or more of one scene, got {len(states)} of {len(layouts)} scenes")
    state = State(tuple(env for one in states for env in one.envs), layouts.pop())
    if all(one.checked for one in states):
        state.mark_checked()
    return state
