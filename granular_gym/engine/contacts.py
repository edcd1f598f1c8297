"""contacts.py: the contacts of one env as arrays: who touches whom, and what presses."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks


@dataclasses.dataclass(frozen=True)
class Contacts:
    """What `World.contacts` read: n contacts of the last substep, each told once, in order of grains.

    Contacts that were foreseen and did not come about are among them, with an impulse of 0.

    Attributes:
        pairs: int32 (n, 2): a grain and its partner. 0 and above: a grain with a higher number; -1 - k: tool k;
            -1 - tool_count - k: wall k in the order of `World.wall_wrenches`.
        impulses: float32 (n, 3): what the contact gave the first grain in that substep, world axes [N s]; the partner
            got the opposite.
        dt: length of the substep [s]; 0 where nothing is stored.
    """

    pairs: NDArray[np.int32]
    impulses: NDArray[np.float32]
    dt: float

    def __repr__(self) -> str:
        """Number of contacts and length of the substep."""
        return f"Contacts({len(self.pairs)} contacts, dt={self.dt:.6g} s)"

    @property
    def forces(self) -> NDArray[np.float32]:
        """Mean forces on the first grain over the substep, float32 (n, 3) [N]."""
        result: NDArray[np.float32] = self.impulses / np.float32(self.dt) if self.dt > 0.0 else self.impulses.copy()
        return result

    def pressing(self, force: float = 0.0) -> Contacts:
        """Only those that carry more than `force` [N]."""
        force = checks.number("force", force)
        some = np.linalg.norm(self.forces, axis=1) > force
        return Contacts(self.pairs[some], self.impulses[some], self.dt)

    def counts(self, grain_count: int, grains_only: bool = False) -> NDArray[np.int64]:
        """Contacts of every grain, (grain_count,): its coordination number where only those that press are kept.

        Args:
            grain_count: of the world.
            grains_only: leave out those with walls and tools.
        """
        checks.integer("grain_count", grain_count, int(self.pairs.max(initial=-1)) + 1)
        pairs = self.pairs[self.pairs[:, 1] >= 0] if checks.flag("grains_only", grains_only) else self.pairs
        return np.bincount(pairs[pairs >= 0], minlength=grain_count).astype(np.int64)
