"""contacts.py: the contacts of one env as arrays: who touches whom, what presses, where; of all envs, padded."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks

#: what `observed` says the partner of a contact is
GRAIN, TOOL, WALL = 0, 1, 2


@dataclasses.dataclass(frozen=True)
class Contacts:
    """What `World.contacts` read: n contacts of the last substep, each told once.

    In order of the first grains, for each those with grains first, in order of these.

    All vectors are in world axes. Contacts that were foreseen and did not come about are among them, with an impulse
    of 0.

    Attributes:
        pairs: int32 (n, 2): a grain and its partner. 0 and above: a grain with a higher number; -1 - k: tool k;
            -1 - tool_count - k: wall k in the order of `World.wall_wrenches`.
        impulses: float32 (n, 3): what the contact gave the first grain in that substep [N s]; the partner got the
            opposite.
        torque_impulses: float32 (n, 3): likewise, of rolling and twisting resistance [N m s]. That of `impulses` at
            their lever arms is not in it.
        points: float32 (n, 3): where impulses act [m]: halfway between two grains, on the surface of a grain that
            touches a tool. Like the normals as grains and tools lie now, after the substep.
        normals: float32 (n, 3): unit vectors towards the first grain.
        dt: length of the substep [s]; 0 where nothing is stored.
    """

    pairs: NDArray[np.int32]
    impulses: NDArray[np.float32]
    torque_impulses: NDArray[np.float32]
    points: NDArray[np.float32]
    normals: NDArray[np.float32]
    dt: float

    def __repr__(self) -> str:
        """Number of contacts and length of the substep."""
        return f"Contacts({len(self.pairs)} contacts, dt={self.dt:.6g} s)"

    def __len__(self) -> int:
        return len(self.pairs)

    @property
    def forces(self) -> NDArray[np.float32]:
        """Mean forces on the first grain over the substep, float32 (n, 3) [N]."""
        return self._mean(self.impulses)

    @property
    def torques(self) -> NDArray[np.float32]:
        """Mean torques of rolling and twisting resistance on the first grain, float32 (n, 3) [N m]."""
        return self._mean(self.torque_impulses)

    def _mean(self, impulses: NDArray[np.float32]) -> NDArray[np.float32]:
        mean: NDArray[np.float32] = impulses / np.float32(self.dt) if self.dt > 0.0 else impulses.copy()
        return mean

    def pressing(self, force: float = 0.0) -> Contacts:
        """Only those that carry more than `force` [N]."""
        force = checks.number("force", force)
        return self.of(np.linalg.norm(self.forces, axis=1) > force)

    def with_tool(self, index: int) -> Contacts:
        """Only those with one tool; `tool_count` + k: with wall k."""
        return self.of(self.pairs[:, 1] == -1 - checks.integer("index", index, 0))

    def of(self, some: NDArray[Any]) -> Contacts:
        """Only some: a mask (n,), or indices in the order wanted."""
        return Contacts(
            self.pairs[some],
            self.impulses[some],
            self.torque_impulses[some],
            self.points[some],
            self.normals[some],
            self.dt,
        )

    def sorted(self) -> Contacts:
        """In order of the first grains, for each those with grains first, then tools, then walls, in order of these."""
        first, second = self.pairs.astype(np.int64).T
        return self.of(np.lexsort((np.where(second < 0, 2**32 - second, second), first)))

    def wrench(self, origin: Any) -> NDArray[np.float64]:
        """What these contacts exert on their partners: force [N] and torque about a point [N m], float64 (6,).

        With those of one tool and its origin it is the tool's wrench of that substep.

        Args:
            origin: (3,) [m].
        """
        forces = self.forces.astype(np.float64)
        torques = np.cross(self.points - checks.vector("origin", origin).astype(np.float64), forces) + self.torques
        return -np.concatenate([forces.sum(0), torques.sum(0)])

    def counts(self, grain_count: int, grains_only: bool = False) -> NDArray[np.int64]:
        """Contacts of every grain, (grain_count,): its coordination number where only those that press are kept.

        Args:
            grain_count: of the world.
            grains_only: leave out those with walls and tools.
        """
        checks.integer("grain_count", grain_count, int(self.pairs.max(initial=-1)) + 1)
        pairs = self.pairs[self.pairs[:, 1] >= 0] if checks.flag("grains_only", grains_only) else self.pairs
        return np.bincount(pairs[pairs >= 0], minlength=grain_count).astype(np.int64)


def observed(envs: Sequence[Contacts], max_count: int, tool_count: int) -> dict[str, NDArray[Any]]:
    """The strongest contacts of each env as arrays of fixed sizes; see `World.observe_contacts`."""
    shape = (len(envs), max_count)
    out: dict[str, NDArray[Any]] = {
        "valid": np.zeros(shape, np.bool_),
        "grain": np.full(shape, -1, np.int32),
        "partner": np.full(shape, -1, np.int32),
        "kind": np.full(shape, -1, np.int32),
        **{name: np.zeros((*shape, 3), np.float32) for name in ("force", "torque", "point", "normal")},
    }
    for env, contacts in enumerate(envs):
        pressing = contacts.pressing()
        strongest = np.argsort(-np.linalg.norm(pressing.forces, axis=1), kind="stable")[:max_count]
        kept = pressing.of(strongest)
        grain, partner = kept.pairs.T
        number = -1 - partner
        kind = np.select([partner >= 0, number < tool_count], [GRAIN, TOOL], WALL)
        columns = {
            "valid": True,
            "grain": grain,
            "partner": np.select([kind == GRAIN, kind == TOOL], [partner, number], number - tool_count),
            "kind": kind,
            "force": kept.forces,
            "torque": kept.torques,
            "point": kept.points,
            "normal": kept.normals,
        }
        for name, values in columns.items():
            out[name][env, : len(kept)] = values
    return out
