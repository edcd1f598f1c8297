"""tree.py: the links of a robot as files tell them, and the chain of joints from one link to another.

URDF and MJCF both describe a tree of links. A reader fills it in; all that is drawn from it is here and below: places
are those in which the file draws the robot, in the frame of the base link.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from granular_gym.arms.description import Array
from granular_gym.arms.solids import Solid
from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError, DescriptionWarning

#: kinds of joints that an arm may have
KINDS = ("revolute", "continuous")


@dataclass(frozen=True, eq=False)
class Joint:
    """How a link turns about its parent.

    Attributes:
        name: in the file.
        kind: "revolute", "continuous", or what the file calls it.
        axis: (3,) in the link's frame, of any length.
        anchor: (3,) a point of the axis in the link's frame [m].
        lower: limit [rad].
        upper: limit [rad].
        speed: largest [rad/s]; NaN: not told.
        torque: largest [N m]; NaN: not told.
        drawn: angle in which the file draws it [rad].
        leader: the joint that it follows; None: it is free.
    """

    name: str
    kind: str
    axis: Array
    anchor: Array
    lower: float = math.nan
    upper: float = math.nan
    speed: float = math.nan
    torque: float = math.nan
    drawn: float = 0.0
    leader: str | None = None


@dataclass(frozen=True, eq=False)
class TreeLink:
    """A link of a robot.

    Attributes:
        name: in the file.
        parent: name of the link that carries it; None: a root.
        pose: (4, 4) in the frame of its parent, as drawn.
        joints: by which it moves, from its parent on; empty: it is fixed to it.
        solids: its shape, in its frame.
        closed: name of what ties it to another link, so that links form a loop; None: nothing does.
    """

    name: str
    parent: str | None
    pose: Array
    joints: tuple[Joint, ...] = ()
    solids: tuple[Solid, ...] = ()
    closed: str | None = None


@dataclass(frozen=True, eq=False)
class Chain:
    """Joints from a base to a tip, in the frame of the base, as drawn.

    Attributes:
        joints: axes are unit vectors.
        tip: (4, 4) frame of the tip.
        solids: by the number of joints of the chain that move them, 0: none.
    """

    joints: tuple[Joint, ...]
    tip: Array
    solids: Mapping[int, tuple[Solid, ...]]


def joined(links: Iterable[TreeLink]) -> dict[str, TreeLink]:
    """Links by name.

    Raises:
        ArgumentError: two have one name, or a parent is missing.
    """
    tree: dict[str, TreeLink] = {}
    for link in links:
        if link.name in tree:
            raise ArgumentError(f"link {link.name!r}: expected a name of its own, two links have it")
        tree[link.name] = link
    for link in tree.values():
        if link.parent is not None and link.parent not in tree:
            raise names.unknown(f"parent of link {link.name!r}", link.parent, tree)
    return tree


def chain_of(tree: Mapping[str, TreeLink], base: str | None, tip: str | None) -> Chain:
    """The chain from link `base` to link `tip`.

    Links that are fixed to those of the chain are part of it; those beyond other joints are left out, with a warning.

    Args:
        tree: from `joined`.
        base: None: the root, where there is one.
        tip: None: the one link without a child, where there is one.

    Raises:
        ArgumentError: no such link, a loop, or a joint that an arm cannot have; the message names it.
    """
    children: dict[str | None, list[str]] = {}
    for link in tree.values():
        children.setdefault(link.parent, []).append(link.name)
    start = _only("base", base, tree, children.get(None, []), "link that nothing carries")
    carried = _carried(start, children)
    end = _only("tip", tip, tree, [name for name in carried if not children.get(name)], "link that carries nothing")
    path = [end]
    while path[-1] != start:
        parent = tree[path[-1]].parent
        if parent is None or parent in path:
            raise ArgumentError(f"tip: expected a link that {start!r} carries, {names.listed(carried)}, got {end!r}")
        path.append(parent)
    path.reverse()

    poses, moved, left = {start: np.eye(4)}, {start: 0}, []
    joints: list[Joint] = []
    solids: dict[int, list[Solid]] = {}
    # those of the path first: the numbers of its joints follow from it
    for name in [*path[1:], *(name for name in carried[1:] if name not in path)]:
        link = tree[name]
        parent = str(link.parent)
        if parent not in poses or (link.joints and name not in path):
            left.append(name)
            continue
        poses[name] = poses[parent] @ link.pose
        if name in path:
            joints += [_placed(joint, poses[name]) for joint in _allowed(link)]
            moved[name] = len(joints)
        else:
            moved[name] = moved[parent]
    for name, pose in poses.items():
        solids.setdefault(moved[name], []).extend(
            replace(solid, pose=pose @ _finite(f"link {name!r}", solid.pose)) for solid in tree[name].solids
        )
    if not joints:
        raise ArgumentError(f"tip: expected a link that moves against {start!r}, got {end!r}")
    if any(tree[name].solids for name in left):
        warnings.warn(
            f"links beyond joints that are not of the chain from {start!r} to {end!r} are left out: "
            f"{names.listed(left)}",
            DescriptionWarning,
            stacklevel=4,
        )
    return Chain(tuple(joints), poses[end], {k: tuple(each) for k, each in solids.items()})


def _only(name: str, given: str | None, tree: Mapping[str, TreeLink], ends: list[str], what: str) -> str:
    """The link that is given, or the only one of `ends`."""
    if given is not None:
        return checks.choice(name, given, list(tree))
    if len(ends) != 1:
        found = f"has {names.listed(ends)}" if ends else f"has none: its links {names.listed(tree)} form a loop"
        raise ArgumentError(f"{name}: expected the name of a link, the file is to have one {what} but {found}")
    return ends[0]


def _carried(start: str, children: Mapping[str | None, list[str]]) -> list[str]:
    """A link and all that it carries, parents first."""
    found = [start]
    for name in found:
        found += [child for child in children.get(name, []) if child not in found]
    return found


def _allowed(link: TreeLink) -> tuple[Joint, ...]:
    """The joints of a link of the chain, where an arm can have them."""
    for joint in link.joints:
        if joint.kind not in KINDS:
            raise ArgumentError(f"joint {joint.name!r}: expected a kind out of {KINDS}, got {joint.kind!r}")
        if joint.leader is not None:
            raise ArgumentError(f"joint {joint.name!r}: expected a joint that is free, it follows {joint.leader!r}")
    if link.closed is not None:
        raise ArgumentError(f"link {link.name!r}: expected an open chain, {link.closed} closes a loop")
    return link.joints


def _placed(joint: Joint, pose: Array) -> Joint:
    """A joint of a link at a pose, in the frame of the base."""
    where = f"joint {joint.name!r}"
    axis, length = _finite(where, joint.axis), float(np.linalg.norm(joint.axis))
    if length < 1e-9:
        raise ArgumentError(f"{where}: expected an axis of some length, got {joint.axis.tolist()}")
    turn, place = _finite(where, pose)[:3, :3], pose[:3, 3]
    return replace(joint, axis=turn @ (axis / length), anchor=place + turn @ _finite(where, joint.anchor))


def _finite(where: str, values: Array) -> Array:
    if not np.abs(values).max(initial=0.0) <= checks.LARGEST:  # of NaN, too
        raise ArgumentError(f"{where}: expected finite numbers, got {values[~np.isfinite(values)].tolist() or values}")
    return values
