"""encounters.py: pairs, bonds and walls near enough to act, with the scalars and directions that forces are made of.

Lengths are in radii, velocities in units of the scale. The normal of an encounter points from its first particle to the
second, or to the wall; velocities are those of the second relative to the first.
"""

from __future__ import annotations

from dataclasses import dataclass

from granular_gym.learned.graph import find_pairs, find_walls
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Matter, Scale, State


@dataclass(frozen=True)
class Encounters:
    """c encounters: pairs that are not bonded, then bonds, then walls.

    Attributes:
        first: (c,) flat ids.
        second: (p + m,) flat ids, of those with a particle.
        bonds: which of the encounters are bonds.
        codes: (c,) `kind_a (kinds + 1) + kind_b`; a wall counts as the last kind.
        away: (c, 3) from the first to the second [radii].
        normal: (c, 3).
        gap: (c,) distance less two radii; of a bond less its rest length; of a wall distance less the radius [radii].
        velocity: (c, 3) relative velocity.
        separation: (c,) its part along the normal, positive where the two separate.
        sliding: (c, 3) the rest of it.
        speed: (c,) its norm.
    """

    first: torch.Tensor
    second: torch.Tensor
    bonds: slice
    codes: torch.Tensor
    away: torch.Tensor
    normal: torch.Tensor
    gap: torch.Tensor
    velocity: torch.Tensor
    separation: torch.Tensor
    sliding: torch.Tensor
    speed: torch.Tensor

    def sum_forces(self, forces: torch.Tensor, count: int) -> torch.Tensor:
        """Adds forces on the second of each encounter to it, and the opposite to the first.

        Args:
            forces: (c, 3).
            count: of particles, b n.

        Returns:
            (b n, 3).
        """
        ids = torch.cat([self.first, self.second])
        both = torch.cat([-forces, forces[: len(self.second)]])
        return torch.zeros(count, 3, dtype=forces.dtype, device=forces.device).index_add(0, ids, both)


def meet(state: State, matter: Matter, scale: Scale, reach: float) -> Encounters:
    """All encounters of a state.

    Args:
        state, matter, scale: as a simulator has them.
        reach: largest gap of a pair that is not bonded, or of a wall [radii]; bonds are taken at any length.
    """
    radius = scale.radius
    pairs = find_pairs(state.positions, (2.0 + reach) * radius, matter.bonds)
    walls = find_walls(matter.wall_gaps(state.positions), reach * radius)
    pair_count, bond_count = pairs.shape[1], len(matter.bonds)
    met = torch.cat([pairs, matter.bonds.T], 1)
    # position and velocity are gathered together: one pass, forwards and backwards
    motion = torch.cat([state.positions / radius, state.velocities / scale.speed], -1).flatten(0, 1)
    one, two = motion.index_select(0, met[0]), motion.index_select(0, met[1])
    relative = two - one
    rest = torch.full((len(relative),), 2.0, dtype=motion.dtype, device=motion.device)
    rest[pair_count:] = matter.rest_lengths.to(motion.dtype) / radius

    particle, plane = walls[0], walls[1]
    axis, low = plane % 3, plane < 3
    # from the particle to the plane
    toward = torch.nn.functional.one_hot(axis, 3).to(motion.dtype) * torch.where(low, -1.0, 1.0)[:, None]
    at = motion.index_select(0, particle)
    planes = (matter.bounds / radius).flatten().to(motion.dtype)[plane]
    distance = (planes - at[:, :3].gather(1, axis[:, None])[:, 0]) * torch.where(low, -1.0, 1.0)

    length = relative[:, :3].square().sum(-1).clamp_min(1e-12).sqrt()
    away = torch.cat([relative[:, :3], toward * distance[:, None]])
    normal = torch.cat([relative[:, :3] / length[:, None], toward])
    gap = torch.cat([length - rest, distance - 1.0])
    velocity = torch.cat([relative[:, 3:], -at[:, 3:]])
    separation = (velocity * normal).sum(-1)
    sliding = velocity - separation[:, None] * normal
    # the root has a slope at rest
    speed = (sliding.square().sum(-1) + 1e-12).sqrt()

    kinds = matter.kinds.flatten()
    others = torch.cat([kinds[met[1]], torch.full_like(particle, scale.kinds)])
    first = torch.cat([met[0], particle])
    return Encounters(
        first,
        met[1],
        slice(pair_count, pair_count + bond_count),
        kinds[first] * (scale.kinds + 1) + others,
        away,
        normal,
        gap,
        velocity,
        separation,
        sliding,
        speed,
    )
