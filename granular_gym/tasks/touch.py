"""touch.py: what tools feel of the grains, as further entries of an observation: wrenches and contact maps."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from granular_gym.base import checks, rotations
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError

WRENCHES, MAP = "tool_wrenches", "contact_map"
KINDS = (WRENCHES, MAP)
MAP_SHAPE = (8, 16)  # rows and columns of a contact map
LIMIT = 100.0  # weights of all grains: larger forces are clipped; a blade that jams under a grain meets 20
_ACROSS = {"x": (1, 2), "y": (0, 2), "z": (0, 1)}  # axes along the columns and rows of a map that looks along that axis


@dataclass(frozen=True)
class TouchPad:
    """A tool that feels grains, and the window of its contact map.

    The map looks along an axis of the tool's frame. Its columns go along the first of the other two, its rows along the
    second, row 0 at the upper end.

    Attributes:
        tool: name of the tool.
        normal: "x", "y" or "z", the axis along which the map looks; "": there is no map, only a wrench.
        lower: lower end of the window along the columns and the rows, in the tool's frame [m].
        upper: its upper end [m].

    Raises:
        ArgumentError: an axis that is none, or a window without an area.
    """

    tool: str
    normal: str = ""
    lower: tuple[float, float] = (0.0, 0.0)
    upper: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        checks.text("tool", self.tool)
        checks.choice("normal", self.normal, ("", *_ACROSS))
        lower, upper = (checks.floats(name, getattr(self, name), (2,)) for name in ("lower", "upper"))
        if self.normal and not (lower < upper).all():
            raise ArgumentError(f"upper: expected more than lower = {self.lower}, got {self.upper}")

    def map_of(self, points: Floats, forces: Floats, pose: Floats) -> Floats:
        """Sums of forces by cells, MAP_SHAPE; what acts beyond the window counts in the cell next to it.

        Args:
            points: (n, 3) where they act [m].
            forces: (n,) [N].
            pose: (7,) of the tool.
        """
        place, turn = pose[:3].astype(np.float64), pose[3:].astype(np.float64)
        inside = rotations.rotate(turn * [1.0, -1.0, -1.0, -1.0], points.astype(np.float64) - place)
        lower, upper = np.array(self.lower), np.array(self.upper)
        share = (inside[:, _ACROSS[self.normal]] - lower) / (upper - lower)
        rows, columns = MAP_SHAPE
        column, up = np.clip(np.floor(share * [columns, rows]), 0.0, [columns - 1, rows - 1]).astype(np.int64).T
        cells = (rows - 1 - up) * columns + column
        sums = np.bincount(cells, weights=forces, minlength=rows * columns)
        return np.asarray(sums, np.float64).reshape(MAP_SHAPE)


def check_touch(value: Any, pads: Sequence[TouchPad], grains: bool) -> tuple[str, ...]:
    """The argument `touch` of tasks.

    Args:
        value: what came: one of KINDS, a sequence of them, or None.
        pads: of the task.
        grains: the bed is made of grains: continuous matter has no contacts.

    Raises:
        ArgumentError: something else, or what this task does not have.
    """
    if value is None:
        return ()
    asked = (value,) if isinstance(value, str) else value
    known = [kind for kind in KINDS if pads and (kind == WRENCHES or (grains and all(pad.normal for pad in pads)))]
    if not isinstance(asked, (tuple, list)):
        raise ArgumentError(f"touch: expected a sequence out of {known} or None, got {value!r}")
    for kind in asked:
        if kind not in known:
            wanted = f"names out of {known}" if known else "None of a task whose tools feel nothing"
            raise ArgumentError(f"touch: expected {wanted}, got {kind!r}")
    return tuple(kind for kind in KINDS if kind in asked)


class Touch:
    """What the tools of a task feel.

    Args:
        kinds: out of KINDS.
        pads: the tools, in the order of the observations.
        weight: of all grains of an env [N].
    """

    def __init__(self, kinds: Sequence[str], pads: Sequence[TouchPad], weight: float) -> None:
        self.kinds: tuple[str, ...] = tuple(kinds)
        self.pads: tuple[TouchPad, ...] = tuple(pads)
        self.limit: np.float32 = np.float32(LIMIT * weight)

    def spaces(self) -> dict[str, Box]:
        """The space of each kind, by name."""
        count = len(self.pads)
        every = {
            WRENCHES: Box(-self.limit, self.limit, (count, 6), np.float32),
            MAP: Box(0.0, float(self.limit), (count, *MAP_SHAPE), np.float32),
        }
        return {kind: every[kind] for kind in self.kinds}

    def sense(self, world: World, wrenches: Floats | None, fresh: NDArray[np.bool_]) -> Arrays:
        """Observations (env_count, ...) by name, 0 where an episode begins.

        Args:
            world: of the task.
            wrenches: (env_count, tool_count, 6) on all tools, about their origins, in the axes of the world; None: they
                are not asked for.
            fresh: (env_count,) envs just reset.
        """
        tools, poses = [world.tool_names.index(pad.tool) for pad in self.pads], world.tool_poses
        felt: Arrays = {}
        if wrenches is not None:
            turns = poses[:, tools, 3:].astype(np.float64) * [1.0, -1.0, -1.0, -1.0]
            there = wrenches[:, tools].astype(np.float64)
            felt[WRENCHES] = np.concatenate([rotations.rotate(turns, there[..., k : k + 3]) for k in (0, 3)], axis=-1)
        if MAP in self.kinds:
            felt[MAP] = np.stack([self._maps(world, env, tools, poses[env]) for env in range(world.env_count)])
        for kind, values in felt.items():
            values[fresh] = 0.0
            felt[kind] = np.clip(values, -self.limit, self.limit).astype(np.float32)
        return felt

    def _maps(self, world: World, env: int, tools: Sequence[int], poses: Floats) -> Floats:
        contacts, maps = world.contacts(env), []
        for pad, tool in zip(self.pads, tools, strict=True):
            those = contacts.with_tool(tool)
            pushes = np.einsum("ij,ij->i", those.forces.astype(np.float64), those.normals.astype(np.float64))
            maps.append(pad.map_of(those.points, np.maximum(pushes, 0.0), poses[tool]))
        return np.stack(maps)
