"""ranges.py: where a learned law is used: how deep and how fast pairs meet in rollouts of a model.

A table that spans these ranges and no more has its nodes where they count; and a network that was never asked outside
of them may be as steep as it likes there, which would else bound the time step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned.discrete_element import DiscreteElementLearner
from granular_gym.learned.encounters import Encounters, meet
from granular_gym.learned.export import Range
from granular_gym.learned.kernels import REACH
from granular_gym.learned.law import WALL
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import EpisodeLike, Matter, State

#: a pair of kinds and whether it is bonded, as `PairTable.forces` has it
Key = tuple[int, int, bool]
#: the least extent of a range: gap [radii], velocity [units of the scale]
_LEAST_DEPTH, _LEAST_SPEED = 0.05, 0.1


def met_ranges(
    model: DiscreteElementLearner,
    dataset: Any,
    episodes: Sequence[EpisodeLike],
    margin: float = 1.5,
    tolerance: float = 1e-3,
) -> dict[Key, Range]:
    """By pair of kinds the range in which it meets while a model moves episodes from their first frame on.

    Args:
        model: whose rollouts these are.
        dataset: of the episodes.
        episodes: one or more.
        margin: how many times as deep and as fast the ranges are as what was met, 1 or more.
        tolerance: of the ranges, see `Range`.

    Returns:
        A range for each pair that met; others are missing.

    Raises:
        ArgumentError: no episodes, a margin below 1, or episodes that the model does not know.
    """
    if not len(episodes):
        raise ArgumentError("episodes: expected one or more, got none")
    factor = checks.number("margin", margin, 1.0, 100.0)
    model.check_frames(dataset)
    extremes: dict[Key, torch.Tensor] = {}
    for episode in episodes:
        matter, state = Matter.of(dataset, [episode]), State.of([episode], 0)
        with torch.no_grad():
            for _ in range((len(episode.positions) - 1) * model.scale.substeps):
                _widen(extremes, meet(state, matter, model.scale, REACH), model.scale.kinds)
                state = model.substep(state, matter)
    radius, speed = model.scale.radius, model.scale.speed
    found = {}
    for key, (deepest, fastest, sliding) in ((key, each.tolist()) for key, each in sorted(extremes.items())):
        found[key] = Range(
            -factor * max(deepest, _LEAST_DEPTH) * radius,
            factor * max(fastest, _LEAST_SPEED) * speed,
            tolerance,
            factor * max(sliding, _LEAST_SPEED) * speed,
        )
    return found


def _widen(extremes: dict[Key, torch.Tensor], met: Encounters, kinds: int) -> None:
    """Takes encounters into the largest overlap, normal velocity and sliding speed of their pairs."""
    bonded = torch.zeros(len(met.gap), dtype=torch.bool)
    bonded[met.bonds] = True
    values = torch.stack([-met.gap, met.separation.abs(), met.speed])
    for code in (met.codes * 2 + bonded).unique().tolist():
        one, two = sorted(divmod(code // 2, kinds + 1))
        key = (one, WALL if two == kinds else two, bool(code % 2))
        most = values[:, met.codes * 2 + bonded == code].amax(1)
        # what is no number is no range: a rollout that diverges ends the widening
        most = torch.nan_to_num(most, nan=0.0, posinf=0.0, neginf=0.0)
        extremes[key] = torch.maximum(extremes[key], most) if key in extremes else most
