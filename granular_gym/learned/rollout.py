"""rollout.py: an episode as a simulator sees it: from a state on, frame by frame, and an end where it diverges."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import DatasetLike, EpisodeLike, Matter, Simulator, State

#: a particle this many times as fast as a fall through the box after its first speed allows is no motion any more
_SPEED_FACTOR = 5.0
#: how far outside the bounds a particle may be, in diagonals of them
_PLACE_FACTOR = 0.5


@dataclass(frozen=True)
class Limits:
    """What a rollout may do before it counts as diverged.

    Attributes:
        speed: largest [m/s].
        low, high: (3,) corners of where particles may be [m].
    """

    speed: float
    low: torch.Tensor
    high: torch.Tensor

    @classmethod
    def of(cls, state: State, matter: Matter) -> Limits:
        """Limits of what begins at a state: energy bounds speeds, walls bound places, both with a wide margin."""
        diagonal = float((matter.bounds[1] - matter.bounds[0]).norm())
        fall = math.sqrt(2.0 * float(matter.gravity.norm()) * diagonal)
        fastest = float(state.velocities.norm(dim=-1).max()) if state.velocities.numel() else 0.0
        margin = _PLACE_FACTOR * diagonal
        return cls(_SPEED_FACTOR * (fall + fastest) + 1e-6, matter.bounds[0] - margin, matter.bounds[1] + margin)

    @torch.no_grad()
    def broken(self, state: State) -> str:
        """What of it a state breaks, in words; empty: nothing."""
        if not bool(torch.isfinite(state.positions).all() & torch.isfinite(state.velocities).all()):
            return "positions or velocities are not finite"
        speed = float(state.velocities.norm(dim=-1).max()) if state.velocities.numel() else 0.0
        if speed > self.speed:
            return f"a particle moves at {speed:.3g} m/s, above {self.speed:.3g}"
        if bool(((state.positions < self.low) | (state.positions > self.high)).any()):
            return "a particle is farther outside the bounds than half their diagonal"
        return ""


@dataclass(frozen=True)
class Rollout:
    """What a simulator predicts for an episode.

    Attributes:
        positions: (t + 1, n, 3) [m], the start first; of a diverged rollout up to the last good frame.
        velocities: likewise [m/s].
        diverged_at: frame that broke a limit, or None.
        reason: what broke, in words.
    """

    positions: NDArray[np.float32]
    velocities: NDArray[np.float32]
    diverged_at: int | None = None
    reason: str = ""


def rollout(
    simulator: Simulator,
    dataset: DatasetLike,
    episode: EpisodeLike,
    frames: int | None = None,
    start: tuple[NDArray[Any], NDArray[Any]] | None = None,
) -> Rollout:
    """Rolls a simulator from the first frame of an episode on.

    Args:
        simulator: any model.
        dataset: what the episode is of.
        episode: gives matter and the start.
        frames: how many; None: as many as the episode has.
        start: (n, 3) positions [m] and velocities [m/s] to begin from in its place.

    Raises:
        ArgumentError: a start of a wrong shape, frames below 1, or what `Simulator.check_frames` and `advance` refuse.
    """
    simulator.check_frames(dataset)
    count = len(episode.positions) - 1 if frames is None else checks.integer("frames", frames, 1)
    device = next((str(each.device) for each in simulator.parameters()), "cpu")
    matter = Matter.of(dataset, [episode], device)
    state = State.of([episode], 0, device)
    if start is not None:

        def read(value: Any) -> torch.Tensor:
            return torch.as_tensor(np.asarray(value, np.float32))[None].to(device)

        state = State(read(start[0]), read(start[1]))
    limits = Limits.of(state, matter)
    states = [state]
    reason = ""
    with torch.no_grad():
        for _ in range(count):
            state = simulator.step(state, matter)
            reason = limits.broken(state)
            if reason:
                break
            states.append(state)

    def read_back(name: str) -> NDArray[np.float32]:
        return np.stack([getattr(each, name)[0].float().cpu().numpy() for each in states])

    return Rollout(read_back("positions"), read_back("velocities"), len(states) if reason else None, reason)
