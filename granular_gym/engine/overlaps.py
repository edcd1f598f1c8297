"""overlaps.py: grains that lie in something else, as arrays, and as words that say what is wrong with a scene."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.bounds import BOUNDARIES, FACES
from granular_gym.engine.continuum import shared
from granular_gym.engine.frozen import FrozenScene
from granular_gym.engine.materials import Material
from granular_gym.engine.scene_arrays import GrainGroup
from granular_gym.errors import OverlapError, OverlapWarning

#: overlaps that a scene may have, as a share of the smaller grain's diameter: settled beds have a few percent
TOLERANCE = 0.1


@dataclasses.dataclass(frozen=True)
class Overlaps:
    """What `World.overlaps` found: n overlaps deeper than its tolerance, each told once.

    Attributes:
        pairs: int32 (n, 2), numbered as in `Contacts`: a grain and its partner. 0 and above: a grain with a higher
            number; -1 - k: tool k; -1 - tool_count - k: wall k in the order of `World.wall_wrenches`. A grain wholly
            beyond a cyclic or periodic face is listed with the wall of that face.
        depths: float32 (n,): the overlap over the diameter of the smaller grain; of planar grains over that of its
            circumscribed circle.
        complete: False: the search stopped at a million overlaps, there may be more.
    """

    pairs: NDArray[np.int32]
    depths: NDArray[np.float32]
    complete: bool

    def __len__(self) -> int:
        return len(self.depths)

    @property
    def deepest(self) -> float:
        """The largest of the depths; 0: there is none."""
        return float(self.depths.max()) if len(self.depths) else 0.0

    @property
    def grains(self) -> NDArray[np.int32]:
        """Every grain of a pair, once and in order."""
        return np.unique(self.pairs[self.pairs >= 0])


def judge(found: Overlaps, frozen: FrozenScene, refuse: bool) -> None:
    """Speaks up where a scene has overlaps.

    Args:
        found: in an env of a world that was just built.
        frozen: what it was built from.
        refuse: raise an error, else warn.

    Raises:
        OverlapError: there are some.
    """
    if len(found) == 0:
        return
    message = describe(found, frozen)
    if refuse:
        raise OverlapError(f'{message}; build(overlaps="warn"), or "ignore", builds the scene all the same')
    warnings.warn(message, OverlapWarning, stacklevel=3)


def judge_matter(groups: Sequence[GrainGroup], materials: Sequence[Material], refuse: bool) -> None:
    """Speaks up where bodies of continuous matter share space, which then holds the mass of both.

    Args:
        groups: a body each, in order of their grains.
        materials: of the scene.
        refuse: raise an error, else warn.

    Raises:
        OverlapError: some do.
    """
    firsts = np.cumsum([0, *(len(group.radii) for group in groups)])
    for b, two in enumerate(groups):
        for a, one in enumerate(groups[:b]):
            places, others = two.positions.astype(np.float64), one.positions.astype(np.float64)
            inside = shared(places, others, float(two.radii[0]), float(one.radii[0]))
            if not len(inside):
                continue
            place = ", ".join(f"{x:.4g}" for x in two.positions[inside[0]])
            message = (
                f"continuous matter: expected bodies that share no space, got {len(inside):,} particles of "
                f"{materials[two.material].name!r} (ids from {firsts[b]}) in {materials[one.material].name!r} "
                f"(ids from {firsts[a]}), the first at ({place}) m"
            )
            if refuse:
                raise OverlapError(f'{message}; build(overlaps="warn"), or "ignore", builds the scene all the same')
            warnings.warn(message, OverlapWarning, stacklevel=3)


def describe(found: Overlaps, frozen: FrozenScene) -> str:
    """How many overlaps there are, how deep, of what in what, and where the deepest is.

    Args:
        found: at least one overlap.
        frozen: the scene, whose grains are where it puts them.
    """
    kinds = _kinds(found.pairs, frozen)
    each = []
    for kind in np.unique(kinds):
        some = kinds == kind
        each.append(f"{some.sum():,} {_words(int(kind), frozen)} (worst {_percent(found.depths[some].max())})")
    grain = int(found.pairs[found.depths.argmax(), 0])
    place = ", ".join(f"{x:.4g}" for x in frozen.arrays["position"][grain][: 2 if frozen.arrays["planar"] else 3])
    return (
        f"grains: expected overlaps of at most {_percent(TOLERANCE)} of a diameter, got "
        f"{'' if found.complete else 'at least '}{len(found):,} deeper ones, of {len(found.grains):,} grains: "
        f"{', '.join(each)}; the worst is that of grain {grain} at ({place}) m"
    )


def _percent(share: float) -> str:
    return f"{100.0 * float(share):,.0f} %"


def _kinds(pairs: NDArray[np.int32], frozen: FrozenScene) -> NDArray[np.int64]:
    """What overlaps what: a * m + b for grains of two of the m materials, from m * m on for tools and walls."""
    m = frozen.material_count
    of_grain = frozen.arrays["grain_material"].astype(np.int64)
    first, second = of_grain[pairs[:, 0]], pairs[:, 1].astype(np.int64)
    other = of_grain[np.maximum(second, 0)]
    return np.where(second >= 0, np.minimum(first, other) * m + np.maximum(first, other), m * m - 1 - second)


def _words(kind: int, frozen: FrozenScene) -> str:
    m, tools = frozen.material_count, list(frozen.tool_names)
    if kind < m * m:
        return f"of {frozen.material_names[kind // m]!r} in {frozen.material_names[kind % m]!r}"
    number = kind - m * m
    if number < len(tools):
        return f"in tool {tools[number]!r}"
    face = number - len(tools)
    joins = frozen.arrays["boundary"].ravel()[face] >= BOUNDARIES["cyclic"]
    return f"{'beyond the face' if joins else 'in or beyond the wall'} {FACES[face]!r}"
