"""networks.py: the networks of the learners, multilayer perceptrons with layer normalisation, and how weights step.

Layer normalisation keeps values of actions that no data shows near those of actions that it shows (Ball et al.,
"Efficient online reinforcement learning with offline data", 2023).
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

LEAST_LOG_STD, LARGEST_LOG_STD = -5.0, 2.0  # limits of an actor's log standard deviation, unless it has its own


def perceptron(inputs: int, outputs: int, width: int) -> nn.Sequential:
    """Two hidden layers of a width, normalised and rectified, and a linear one."""
    return nn.Sequential(
        nn.Linear(inputs, width), nn.LayerNorm(width), nn.ReLU(),
        nn.Linear(width, width), nn.LayerNorm(width), nn.ReLU(),
        nn.Linear(width, outputs),
    )  # fmt: skip


class Actor(nn.Module):
    """Mean and log standard deviation of a normal distribution that tanh maps to actions in (-1, 1).

    Args:
        observation_size: numbers of an observation.
        action_size: numbers of an action.
        width: of the two hidden layers.
        log_std: largest log standard deviation.
    """

    def __init__(self, observation_size: int, action_size: int, width: int, log_std: float = LARGEST_LOG_STD) -> None:
        super().__init__()
        self.net: Any = perceptron(observation_size, 2 * action_size, width)
        self.spread: float = 0.5 * (log_std - LEAST_LOG_STD)

    def see(self, observations: Any) -> Tensor:
        """What it decides by: observations (n, observation_size), as they are."""
        seen: Tensor = observations
        return seen

    def misread(self, seen: Tensor, states: Tensor) -> Tensor:
        """How far what `see` gave is from state vectors (n, k), a number to be made smaller: 0 where it reads them."""
        return torch.zeros(())

    def forward(self, seen: Tensor) -> tuple[Tensor, Tensor]:
        """Mean and log standard deviation before tanh, each (n, action_size)."""
        mean, log_std = self.net(seen).chunk(2, dim=1)
        return mean, LEAST_LOG_STD + self.spread * (torch.tanh(log_std) + 1.0)

    def sample(self, seen: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Actions (n, action_size), their log densities (n,), and the actions without noise."""
        mean, log_std = self(seen)
        noise = torch.randn_like(mean)
        raw = mean + noise * log_std.exp()
        normal = (-0.5 * noise * noise - log_std - 0.5 * math.log(2.0 * math.pi)).sum(1)
        # log(1 - tanh(x)^2), in a form that does not round to log(0)
        slope = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw)).sum(1)
        return torch.tanh(raw), normal - slope, torch.tanh(mean)


class GazingActor(Actor):
    """An actor that looks at images.

    Args:
        gaze: its eye, a `Gaze`.
        action_size: numbers of an action.
        width: of the two hidden layers.
        log_std: largest log standard deviation.
    """

    def __init__(self, gaze: Any, action_size: int, width: int, log_std: float = LARGEST_LOG_STD) -> None:
        super().__init__(gaze.size, action_size, width, log_std)
        self.gaze: Any = gaze

    def see(self, observations: Any) -> Tensor:
        """What it decides by, (n, gaze.size), from images (n, 1, H, W) by name."""
        seen: Tensor = self.gaze(observations)
        return seen

    def misread(self, seen: Tensor, states: Tensor) -> Tensor:
        """See `Gaze.misread`."""
        error: Tensor = self.gaze.misread(seen, states)
        return error


class PairLinear(nn.Module):
    """Two linear layers side by side: one product for both."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        bound = inputs**-0.5
        self.weight: Tensor = nn.Parameter(torch.empty(2, inputs, outputs).uniform_(-bound, bound))
        self.bias: Tensor = nn.Parameter(torch.zeros(2, 1, outputs))

    def forward(self, values: Tensor) -> Tensor:
        """(2, n, inputs) to (2, n, outputs)."""
        return torch.baddbmm(self.bias, values, self.weight)


class PairNorm(nn.Module):
    """Layer normalisation of two layers side by side."""

    def __init__(self, size: int) -> None:
        super().__init__()
        self.weight: Tensor = nn.Parameter(torch.ones(2, 1, size))
        self.bias: Tensor = nn.Parameter(torch.zeros(2, 1, size))

    def forward(self, values: Tensor) -> Tensor:
        """(2, n, size) likewise."""
        return functional.layer_norm(values, values.shape[-1:]) * self.weight + self.bias


class Critics(nn.Module):
    """Two estimates of the value of an action."""

    def __init__(self, observation_size: int, action_size: int, width: int) -> None:
        super().__init__()
        self.net: Any = nn.Sequential(
            PairLinear(observation_size + action_size, width), PairNorm(width), nn.ReLU(),
            PairLinear(width, width), PairNorm(width), nn.ReLU(),
            PairLinear(width, 1),
        )  # fmt: skip

    def forward(self, observations: Tensor, actions: Tensor) -> Tensor:
        """Values (2, n)."""
        joined = torch.cat([observations, actions], dim=1)
        values: Tensor = self.net(joined.expand(2, *joined.shape)).squeeze(-1)
        return values


class Value(nn.Module):
    """The value of a state."""

    def __init__(self, observation_size: int, width: int) -> None:
        super().__init__()
        self.net: Any = perceptron(observation_size, 1, width)

    def forward(self, observations: Tensor) -> Tensor:
        """Values (n,) of observations (n, observation_size)."""
        values: Tensor = self.net(observations).squeeze(-1)
        return values


def optimiser_of(network: nn.Module, learning_rate: float) -> torch.optim.Adam:
    """Adam on all weights of a network."""
    return torch.optim.Adam(network.parameters(), lr=learning_rate, foreach=True)


def descend(optimiser: torch.optim.Optimizer, loss: Tensor) -> None:
    """One step of an optimiser down a loss."""
    optimiser.zero_grad(set_to_none=True)
    loss.backward()
    optimiser.step()


def follow(target: nn.Module, source: nn.Module, rate: float) -> None:
    """Moves the weights of a target a share `rate` of the way to those of its source."""
    with torch.no_grad():
        for old, new in zip(target.parameters(), source.parameters(), strict=True):
            old.lerp_(new, rate)
