"""silo_state.py: what `Silo-v1` shows with observation="state": how far the discharge is off, and what lies ahead."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from granular_gym.base.types import Floats
from granular_gym.envs.silo_parts import RECEIVER
from granular_gym.tasks.state_vector import Entry, StateVector, mirrored_map

AHEAD = (0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2)  # [s] from now, the ends of the spans of a programme
SLICES = 5  # of the receiver, side by side
SLICE_FULL = 0.2  # share of the grains that fills a slice to the brim
#: [m] x of a slice's two sides from the receiver's middle, (SLICES, 2)
SLICE_SIDES = np.stack([np.linspace(-RECEIVER[0], RECEIVER[0], SLICES + 1)[k : k + SLICES] for k in (0, 1)], axis=1)


def silo_vector(action_signs: tuple[int, ...] | None) -> StateVector:
    """The vector of a silo; its mirror image exchanges both sides of the outlet."""
    spans = ", ".join(f"{end:g}" for end in AHEAD)
    return StateVector(
        [
            Entry("behind", "commanded less discharged [0.05 of the grains; 0.5 of them]", (1, 1)),
            Entry("due", f"commanded in {spans} s less discharged now [0.1]", (1,) * len(AHEAD)),
            Entry("left", "dose less discharged [0.5; 0.05]", (1, 1)),
            Entry("rates", "measured and commanded rate [0.25 share/s]", (1, 1)),
            Entry("programme", f"mean rate of the spans that end in {spans} s [0.25 share/s]", (1,) * len(AHEAD)),
            Entry("in the hopper", "share of the grains, -1: none, 1: all", (1,)),
            Entry("falling", "share between gate and receiver [0.05]", (1,)),
            Entry("spilled", "share [0.05]", (1,)),
            Entry("gate", "its opening, -1: shut, 1: as wide as the outlet", (1,)),
            Entry("waiting", "since the last grain left the open gate [0.5 s]", (1,)),
            Entry("time", "of the episode, -1: begins, 1: 6 s", (1,)),
            Entry("receiver", "its place over its reach", (-1,)),
            mirrored_map("heap", f"share in {SLICES} slices of the receiver, -x first [0.2, a full one]", (1, SLICES)),
        ],
        action_signs,
    )  # fmt: skip


def state_of(
    vector: StateVector,
    *,
    time: Floats,
    discharged: Floats,
    received: Floats,
    spilled: Floats,
    commanded: Floats,
    dose: Floats,
    due: Floats,
    programme: Floats,
    rates: tuple[Floats, Floats],
    opening: Floats,
    waiting: Floats,
    receiver: Floats,
    heap: Floats,
) -> NDArray[np.float32]:
    """The vectors of n envs, (n, vector.size).

    Args:
        vector: from `silo_vector`.
        time: of the episode [s]; all arrays are (n,) if nothing else is said.
        discharged: share of the grains; so are `received`, `spilled`, `commanded` and `dose`.
        received: likewise.
        spilled: likewise.
        commanded: by now.
        dose: commanded in all.
        due: (n, 7) commanded by now and AHEAD.
        programme: (n, 7) mean rates of those spans [share/s].
        rates: measured and commanded [share/s].
        opening: of the gate, 0 .. 1.
        waiting: since the last grain left the open gate [s].
        receiver: its place, -1 .. 1.
        heap: (n, SLICES) shares in the slices.
    """
    behind, left = commanded - discharged, dose - discharged
    return vector.joined(
        [
            behind / 0.05,
            behind / 0.5,
            (due - discharged[:, None]) / 0.1,
            left / 0.5,
            left / 0.05,
            rates[0] / 0.25,
            rates[1] / 0.25,
            programme / 0.25,
            1.0 - 2.0 * discharged,
            (discharged - received - spilled) / 0.05,
            spilled / 0.05,
            2.0 * opening - 1.0,
            waiting / 0.5,
            time / 3.0 - 1.0,
            receiver,
            heap / SLICE_FULL,
        ]
    )
