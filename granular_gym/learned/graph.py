"""graph.py: which particles are near each other and which are near a wall, for a batch of episodes at once.

Particle i of episode e has the flat id `e n + i`. Searches run without gradients: who is near whom is no smooth
function of positions, and what two particles do to each other vanishes where their pair begins.
"""

from __future__ import annotations

from granular_gym.learned.needs import torch

#: particles of an episode up to which all distances are computed; above it a grid of cells needs less memory
DENSE = 1024
#: cells along an axis; what is farther away, as in a rollout that diverges, counts as in the last of them
_CELLS = 100_000
#: half of the 26 cells around a cell: each pair of cells is looked at once
_HALF = [(x, y, z) for x in (-1, 0, 1) for y in (-1, 0, 1) for z in (-1, 0, 1) if (x, y, z) > (0, 0, 0)]


@torch.no_grad()
def find_pairs(
    positions: torch.Tensor, cutoff: float, bonds: torch.Tensor | None = None, dense: bool | None = None
) -> torch.Tensor:
    """Pairs of particles of one episode that are nearer than a distance.

    Args:
        positions: (b, n, 3) [m].
        cutoff: largest distance [m].
        bonds: (m, 2) flat ids, the smaller first, of pairs that are left out.
        dense: compute all distances; None: up to `DENSE` particles.

    Returns:
        (2, p) flat ids, first < second, in ascending order.
    """
    count = positions.shape[1]
    dense = count <= DENSE if dense is None else dense
    pairs = _all_distances(positions, cutoff) if dense else _cells(positions, cutoff)
    if bonds is not None and len(bonds):
        total = positions.shape[0] * count
        keys = pairs[0] * total + pairs[1]
        pairs = pairs[:, ~torch.isin(keys, bonds[:, 0] * total + bonds[:, 1])]
    return pairs


@torch.no_grad()
def find_walls(gaps: torch.Tensor, reach: float) -> torch.Tensor:
    """Particles near a wall.

    Args:
        gaps: (b, n, 6) distance of a particle's surface to each plane [m], negative where it overlaps.
        reach: largest gap [m].

    Returns:
        (2, w): flat ids of particles, planes 0 .. 5.
    """
    near: torch.Tensor = (gaps.flatten(0, 1) < reach).nonzero()
    return near.T


def _all_distances(positions: torch.Tensor, cutoff: float) -> torch.Tensor:
    # squares summed axis by axis: cdist by matrix products loses digits between near particles
    squares = torch.zeros(positions.shape[:2] + positions.shape[1:2], dtype=positions.dtype, device=positions.device)
    for axis in range(3):
        line = positions[:, :, axis]
        squares += (line[:, :, None] - line[:, None, :]).square_()
    env, first, second = torch.triu(squares < cutoff * cutoff, diagonal=1).nonzero(as_tuple=True)
    return torch.stack([first, second]) + env * positions.shape[1]


def _cells(positions: torch.Tensor, cutoff: float) -> torch.Tensor:
    envs, count, _ = positions.shape
    flat = torch.nan_to_num(positions.flatten(0, 1), nan=0.0, posinf=0.0, neginf=0.0)
    # a cell is a little wider than the cutoff, so that rounding hides no neighbour; empty cells stand around
    cell = ((flat - flat.amin(0)) / (cutoff * 1.0001)).clamp_(max=_CELLS).long() + 1
    sizes = (cell.amax(0) + 2).tolist()
    strides = (sizes[1] * sizes[2], sizes[2], 1)
    env = torch.arange(envs, device=flat.device).repeat_interleave(count)
    key = env * (sizes[0] * strides[0]) + cell[:, 0] * strides[0] + cell[:, 1] * strides[1] + cell[:, 2]
    key, order = torch.sort(key, stable=True)
    place = torch.arange(len(key), device=flat.device)
    found = []
    for offset in [(0, 0, 0), *_HALF]:
        wanted = key + sum(step * stride for step, stride in zip(offset, strides, strict=True))
        # within its own cell a particle meets those after it
        begin = place + 1 if offset == (0, 0, 0) else torch.searchsorted(key, wanted)
        length = torch.searchsorted(key, wanted, right=True) - begin
        one = place.repeat_interleave(length)
        within = torch.arange(len(one), device=flat.device) - (length.cumsum(0) - length).repeat_interleave(length)
        found.append(torch.stack([order[one], order[begin[one] + within]]))
    pairs = torch.cat(found, 1)
    # as they are: what is no number is near nothing
    away = positions.flatten(0, 1)[pairs[0]] - positions.flatten(0, 1)[pairs[1]]
    squares = away[:, 0].square() + away[:, 1].square() + away[:, 2].square()
    pairs = torch.sort(pairs[:, squares < cutoff * cutoff], dim=0).values
    return pairs[:, torch.argsort(pairs[0] * len(flat) + pairs[1])]
