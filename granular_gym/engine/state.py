"""state.py: saved envs: the engine's bytes of each, and a file of them that is read whole or refused.

File: magic, version, number of envs, layout hash, sizes, bytes, SHA-256 of all before. Little endian.
"""

from __future__ import annotations

import dataclasses
import hashlib
import os
import struct
from pathlib import Path

from granular_gym.base import cache
from granular_gym.errors import ArgumentError, StateError

_MAGIC = b"GGSTATE\n"
VERSION = 1
_HEAD = struct.Struct("<8sIIQ64s")


@dataclasses.dataclass(frozen=True)
class State:
    """One or more saved envs; made by `World.save_state`.

    Attributes:
        envs: the engine's bytes of each env: grains, velocities, stored impulses, tools, materials, gravity.
        layout: hash of the scene's fixed part; a state fits worlds of the same layout only.
    """

    envs: tuple[bytes, ...]
    layout: str

    @property
    def env_count(self) -> int:
        """Number of envs saved."""
        return len(self.envs)

    def env(self, index: int) -> State:
        """One of the envs as a state of its own."""
        if not 0 <= index < len(self.envs):
            raise ArgumentError(f"index: expected 0 .. {len(self.envs) - 1}, got {index}")
        return State((self.envs[index],), self.layout)

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
        data = bytes(data)
        if len(data) < len(_MAGIC) or data[: len(_MAGIC)] != _MAGIC:
            raise StateError(f"{name}: expected a saved state, the file begins differently")
        if len(data) < _HEAD.size + 32:
            raise StateError(f"{name}: expected at least {_HEAD.size + 32} bytes, got {len(data)}: cut short")
        _, version, _, count, layout = _HEAD.unpack_from(data)
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
        envs = []
        for size in sizes:
            envs.append(data[start : start + size])
            start += size
        return cls(tuple(envs), layout.decode("ascii"))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a file, whole or not at all.

        Raises:
            OSError: the file cannot be written.
        """
        cache.write_atomic(path, self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> State:
        """Reads a file that `save` wrote.

        Raises:
            OSError: the file cannot be read.
            StateError: it is not a whole state of this version.
        """
        return cls.from_bytes(Path(path).read_bytes(), str(path))
