"""assemble.py: the description of an arm from the links of a robot."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from granular_gym import _core
from granular_gym.arms.description import LARGEST_ANGLE, LARGEST_CAPSULES, ArmDescription, Array, Link
from granular_gym.arms.rows import rows_of
from granular_gym.arms.solids import link_of
from granular_gym.arms.tree import TreeLink, chain_of
from granular_gym.base import checks, rotations
from granular_gym.errors import ArgumentError


def description_of(name: str, tree: Mapping[str, TreeLink], base: str | None, tip: str | None) -> ArmDescription:
    """The arm from link `base` to link `tip`; limits that the file does not tell are NaN.

    Raises:
        ArgumentError: what `chain_of`, `rows_of` and `link_of` refuse, limits that cannot be, too many shapes.
    """
    chain = chain_of(tree, base, tip)
    rows, frames = rows_of(chain)
    limits = np.array([[joint.lower, joint.upper] for joint in chain.joints])
    for joint, (lower, upper) in zip(chain.joints, limits, strict=True):
        if not lower < upper:
            raise ArgumentError(f"joint {joint.name!r}: expected lower < upper, got {lower} and {upper}")
    # a limit that is further off is none that the arm could be used to
    lower, upper = np.ascontiguousarray(np.clip(limits, -LARGEST_ANGLE, LARGEST_ANGLE).T)
    for joint, low, high in zip(chain.joints, lower, upper, strict=True):
        if not low < high:
            raise ArgumentError(f"joint {joint.name!r}: expected angles within {LARGEST_ANGLE:g} rad")
        for key, value in (("speed", joint.speed), ("torque", joint.torque)):
            if not math.isnan(value):
                checks.number(f"joint {joint.name!r}: {key}", value, 0.0, 1e6, above=True)
    links = []
    for frame, solids in sorted(chain.solids.items()):
        if solids:
            back = np.linalg.inv(frames[frame])
            links.append(link_of(frame, [replace(solid, pose=back @ solid.pose) for solid in solids]))
    total = sum(len(link.guarded) for link in links)
    if total > LARGEST_CAPSULES:
        raise ArgumentError(f"links: expected at most {LARGEST_CAPSULES} shapes, got {total}")
    pose = np.concatenate([frames[0, :3, 3], rotations.from_matrix(frames[0, :3, :3])])
    apart = _apart(links, (rows, pose), lower, upper)
    return ArmDescription(
        name=name,
        rows=rows,
        lower=lower,
        upper=upper,
        speed=np.array([joint.speed for joint in chain.joints]),
        acceleration=np.full(len(lower), math.nan),
        torque=np.array([joint.torque for joint in chain.joints]),
        tip_speed=math.nan,
        payload=math.nan,
        links=tuple(links),
        apart=apart,
        joint_names=tuple(joint.name for joint in chain.joints),
        base=pose,
    )


def _apart(links: list[Link], chain: tuple[Array, Array], lower: Array, upper: Array) -> tuple[tuple[int, int], ...]:
    """Pairs of frames that the guard keeps apart: with another frame between them, and clear of each other with all
    joints in the middle of their ranges."""
    middle, none = 0.5 * (lower + upper)[None], np.zeros((1, 0, 10))
    ones, zeros = np.ones(len(lower)), np.zeros(len(chain[0]) + 1)
    pairs = []
    for a, one in enumerate(links):
        for two in links[a + 1 :]:
            if two.frame - one.frame < 2 or not len(one.guarded) or not len(two.guarded):
                continue
            frames = np.repeat(np.array([one.frame, two.frame], np.int32), [len(one.guarded), len(two.guarded)])
            capsules = np.concatenate([one.guarded, two.guarded])
            count = len(one.guarded)
            each = np.array([(i, count + j) for i in range(count) for j in range(len(two.guarded))], np.int32)
            core = (*chain, lower, upper, ones, ones, zeros, frames, capsules, each, 1.0, 0.0)
            if _core.arm_clearance(core, middle, none, 10.0)[0] > 0.0:
                pairs.append((one.frame, two.frame))
    return tuple(pairs)
