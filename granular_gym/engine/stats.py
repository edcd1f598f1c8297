"""stats.py: the counters of a world: their names, types, units and meaning.

The engine's list of them is GG_ENV_STATS in csrc/state/settings.h; docs/counters.md shows them as a table.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray


class Stats(TypedDict):
    """Counters of the last call of `step`, each (env_count,); all but `diverged` begin at 0 with each call.

    A contact of two grains counts twice, once for each, that of a grain and a tool or wall once. Speculative contacts,
    whose gap may close within the substep, count as contacts.

    Attributes:
        overlap_sum: sum of the overlaps, each as a share of the smaller diameter (with a tool the grain's), in the last
            substep [-].
        kinetic_energy: of the grains, rotation included, after the last substep [J].
        overlap_max: deepest overlap of all substeps, as a share of the smaller diameter [-].
        overlap_max_last: the same in the last substep [-].
        residual: largest change of a velocity in the last solver iteration of a substep, of all substeps the worst
            [m/s].
        speed_max: speed of the fastest grain in any substep [m/s].
        asleep_share: share of the grains that slept in the last substep [-].
        overlap_count: contacts that overlap, in the last substep [1].
        contact_count: contacts, in the last substep [1].
        tool_contact_count: contacts of grains with tools and walls, in the last substep [1].
        escaped_count: grains wholly outside the bounds after the last substep [1].
        fast_count: times a grain moved by more than half its radius in a substep; walls may then fail to hold it [1].
        fast_tool_count: substeps in which a tool moved by more than half of the smallest radius [1].
        rebuild_count: times the lists of candidates were built [1].
        iteration_count: solver iterations of all substeps [1].
        step_count: time steps of the integrator in modes bell and explicit, 0 in others [1].
        rejected_count: time steps that it took back, as their error was above the tolerance [1].
        cost: of continuous matter: the objective of the last substep at its minimum [J].
        linear_count: iterations of the linear solves of its Newton steps, which `iteration_count` counts [1].
        search_count: lengths that their line searches tried [1].
        unsolved_count: substeps whose gradient stayed above its bound [1].
        unsampled_count: contacts of mode table, of all substeps, deeper or faster than what their table was sampled at:
            the force is that of the end [1].
        growth_count: times a buffer had to grow [1].
        diverged: 1 where a position or velocity stopped being finite; the env is frozen until its grains are set or a
            state is loaded [1].
    """

    overlap_sum: NDArray[np.float64]
    kinetic_energy: NDArray[np.float64]
    overlap_max: NDArray[np.float32]
    overlap_max_last: NDArray[np.float32]
    residual: NDArray[np.float32]
    speed_max: NDArray[np.float32]
    asleep_share: NDArray[np.float32]
    overlap_count: NDArray[np.int64]
    contact_count: NDArray[np.int32]
    tool_contact_count: NDArray[np.int32]
    escaped_count: NDArray[np.int32]
    fast_count: NDArray[np.int32]
    fast_tool_count: NDArray[np.int32]
    rebuild_count: NDArray[np.int32]
    iteration_count: NDArray[np.int32]
    step_count: NDArray[np.int32]
    rejected_count: NDArray[np.int32]
    cost: NDArray[np.float64]
    linear_count: NDArray[np.int32]
    search_count: NDArray[np.int32]
    unsolved_count: NDArray[np.int32]
    unsampled_count: NDArray[np.int32]
    growth_count: NDArray[np.int32]
    diverged: NDArray[np.int32]


class Counters(TypedDict):
    """The counters that say how far to trust a step, as tasks tell them, each (env_count,); see `World.counters`.

    Attributes:
        overlap_mean: mean overlap of the contacts that overlap, as a share of the smaller diameter [-].
        overlap_max: see `Stats`.
        residual: see `Stats`.
        escaped_count: see `Stats`.
        fast_count: see `Stats`.
        contact_count: see `Stats`.
        diverged: whether the env diverged.
    """

    overlap_mean: NDArray[np.float64]
    overlap_max: NDArray[np.float64]
    residual: NDArray[np.float64]
    escaped_count: NDArray[np.int64]
    fast_count: NDArray[np.int64]
    contact_count: NDArray[np.int64]
    diverged: NDArray[np.bool_]


def counters_of_all(tallies: Sequence[Counters]) -> Counters:
    """The counters of several steps as one: the largest overlap and residual, all fast grains, else the last."""
    total = tallies[-1].copy()
    if len(tallies) > 1:
        total["overlap_max"] = np.max([each["overlap_max"] for each in tallies], axis=0)
        total["residual"] = np.max([each["residual"] for each in tallies], axis=0)
        total["fast_count"] = np.sum([each["fast_count"] for each in tallies], axis=0)
    return total
