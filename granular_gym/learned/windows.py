"""windows.py: which parts of which episodes a training step sees.

With tracks, windows begin anywhere, at true states. With pictures a true state is known at the first frame alone:
walkers go through episodes window by window, each on from where the model has brought it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from granular_gym.errors import ArgumentError
from granular_gym.learned.needs import torch
from granular_gym.learned.settings import Settings
from granular_gym.learned.simulator import EpisodeLike, State


@dataclass
class Windows:
    """A batch: for each of b episodes a window of the same number of frames.

    Attributes:
        episodes: (b,) indices.
        frames: (b,) frame that each begins at.
        length: frames.
        state: where it begins.
    """

    episodes: list[int]
    frames: list[int]
    length: int
    state: State


class Sampler:
    """Draws windows; its state goes into checkpoints.

    Args:
        episodes: of training.
        settings: of the run.
        device: of the states.
    """

    def __init__(self, episodes: Sequence[EpisodeLike], settings: Settings, device: str) -> None:
        self._episodes, self._settings, self._device = episodes, settings, device
        self._random = torch.Generator().manual_seed(settings.seed)
        self.frames = min(len(each.positions) - 1 for each in episodes)
        if self.frames < 1:
            raise ArgumentError("train: expected episodes of two frames or more, got one of a frame")
        groups: dict[int, list[int]] = defaultdict(list)
        for k, each in enumerate(episodes):
            groups[len(each.kinds)].append(k)
        # episodes of a batch have equally many particles
        self._groups = [groups[count] for count in sorted(groups)]
        self._walks: list[Windows | None] = [None] * len(self._groups)

    def draw(self, iteration: int) -> tuple[int, Windows]:
        """The group and windows of an iteration."""
        # a group is as likely as it has episodes
        episode = self._integer(len(self._episodes))
        index = next(k for k, members in enumerate(self._groups) if episode in members)
        settings = self._settings
        longest = min(settings.grown(iteration, *settings.horizon), self.frames)
        # so that windows end at every frame, the last included
        length = longest - self._integer(longest // 2 + 1)
        if settings.supervision == "tracks":
            return index, self._anywhere(self._groups[index], length)
        return index, self._walk(
            index, length, settings.grown(iteration, min(settings.reach, self.frames), self.frames)
        )

    def proceed(self, group: int, windows: Windows, state: State | None) -> None:
        """Tells where the windows of a group ended; None: the walk is given up."""
        if self._settings.supervision == "tracks":
            return
        if state is not None:
            windows.state, windows.frames = state.detach(), [each + windows.length for each in windows.frames]
        self._walks[group] = None if state is None else windows

    def _anywhere(self, members: list[int], length: int) -> Windows:
        chosen = [members[self._integer(len(members))] for _ in range(self._settings.batch)]
        frames = [self._integer(len(self._episodes[k].positions) - length) for k in chosen]
        return Windows(chosen, frames, length, self._state(chosen, frames))

    def _walk(self, group: int, length: int, reach: int) -> Windows:
        members, walk = self._groups[group], self._walks[group]
        count = self._settings.batch
        if walk is None:
            chosen = [members[self._integer(len(members))] for _ in range(count)]
            state = self._state(chosen, [0] * count)
            walk = Windows(chosen, [0] * count, length, state)
        walk.length = length
        # now and then one begins anew early: else all would, at once
        over = [k for k in range(count) if walk.frames[k] + length > reach or self._integer(4 * reach) == 0]
        for k in over:
            walk.episodes[k], walk.frames[k] = members[self._integer(len(members))], 0
            fresh = self._state([walk.episodes[k]], [0])
            keep = torch.arange(count, device=fresh.positions.device) == k

            def mix(new: torch.Tensor, old: torch.Tensor, keep: torch.Tensor = keep) -> torch.Tensor:
                return torch.where(keep[:, None, None], new, old)

            walk.state = State(mix(fresh.positions, walk.state.positions), mix(fresh.velocities, walk.state.velocities))
        return walk

    def _state(self, episodes: list[int], frames: list[int]) -> State:
        """That of episodes at a frame of each."""

        def read(name: str) -> torch.Tensor:
            there = [getattr(self._episodes[k], name)[t] for k, t in zip(episodes, frames, strict=True)]
            return torch.from_numpy(np.stack([np.asarray(each, np.float32) for each in there])).to(self._device)

        return State(read("positions"), read("velocities"))

    def _integer(self, below: int) -> int:
        return int(torch.randint(below, (), generator=self._random))

    def state_dict(self) -> dict[str, Any]:
        """What a checkpoint keeps: the generator and the walks."""
        walks = [
            None
            if walk is None
            else {
                "episodes": list(walk.episodes),
                "frames": list(walk.frames),
                "positions": walk.state.positions.cpu(),
                "velocities": walk.state.velocities.cpu(),
            }
            for walk in self._walks
        ]
        return {"random": self._random.get_state(), "walks": walks}

    def load_state_dict(self, values: dict[str, Any]) -> None:
        """Takes what `state_dict` gave."""
        self._random.set_state(values["random"])
        self._walks = [
            None
            if walk is None
            else Windows(
                list(walk["episodes"]),
                list(walk["frames"]),
                1,
                State(walk["positions"].to(self._device), walk["velocities"].to(self._device)),
            )
            for walk in values["walks"]
        ]
