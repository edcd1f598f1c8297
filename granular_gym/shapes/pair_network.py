"""pair_network.py: trains the networks of a pair field; csrc/geometry/pair_network.h evaluates them.

Source: "The Configurational Element Method for Nonconvex Granular Media", section 6. Optional departures from it: the
angle as cosine and sine, poses folded by the symmetries of the shapes, sine activations. Targets are exact distances
and lever arms instead of those of overlaid distance fields.
"""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.shapes.shape2d import Shape2D

#: values of gg_pair_encoding and gg_pair_activation
_ENCODINGS = {"angle": 0, "circle": 1}
_ACTIVATIONS = {"relu": 0, "sine": 1}
_BATCH = 4096
#: fraction of samples near contact, and the largest |d| of these in mean circumradii
_NEAR_SHARE, _NEAR = 0.9, 0.1
#: frequency of the sine activations
_FREQUENCY = 3.0


def margin_of(a: Shape2D, b: Shape2D, margin: Any) -> float:
    """The margin of a field [m]; default: a tenth of the mean circumradius."""
    mean = 0.5 * (a.circumradius + b.circumradius)
    return 0.1 * mean if margin is None else checks.number("margin", margin, 0.0, 100 * mean)


def _width(value: Any) -> int:
    width = checks.integer("width", value, 16, 64)
    if width % 16:
        raise ArgumentError(f"width: expected 16, 32, 48 or 64, got {width}")
    return width


@dataclasses.dataclass(frozen=True, eq=False)
class Plan:
    """The checked settings of a pair of networks and of their training."""

    a: Shape2D
    b: Shape2D
    layers: int
    width: int
    folded: bool
    activation: str
    samples: int
    iterations: int
    margin: float
    seed: int

    @classmethod
    def make(
        cls,
        a: Shape2D,
        b: Shape2D,
        layers: Any,
        width: Any,
        folded: Any,
        activation: Any,
        samples: Any,
        iterations: Any,
        margin: Any,
        seed: Any,
    ) -> Plan:
        return cls(
            a,
            b,
            checks.integer("layers", layers, 1, 8),
            _width(width),
            checks.flag("folded", folded),
            checks.choice("activation", activation, tuple(_ACTIVATIONS)),
            checks.integer("samples", samples, 1000, 10**8),
            checks.integer("iterations", iterations, 1, 10**7),
            margin_of(a, b, margin),
            checks.seed("seed", seed),
        )

    def settings(self) -> dict[str, Any]:
        names = ("layers", "width", "folded", "activation", "samples", "iterations", "margin", "seed")
        return {"kind": "network", **{name: getattr(self, name) for name in names}}

    @property
    def scale(self) -> float:
        return 0.5 * (self.a.circumradius + self.b.circumradius)

    @property
    def folds(self) -> tuple[int, int]:
        """Orders of the rotational symmetries of A and of B by which poses are folded."""
        return (math.gcd(self.a.symmetry, 4), self.b.symmetry) if self.folded else (1, 1)

    def layout(self) -> dict[str, Any]:
        """Fields of the record except kind and size."""
        radius = self.a.circumradius + self.b.circumradius
        return {
            "fold_a": self.folds[0],
            "fold_b": self.folds[1],
            "radius": radius,
            "reach": radius + self.margin,
            "scale": self.scale,
            "theta_count": 1,
            "per_metre": 1 / self.scale,
            "layers": self.layers,
            "width": self.width,
            "encoding": _ENCODINGS["circle" if self.folded else "angle"],
            "activation": _ACTIVATIONS[self.activation],
        }

    # ---- data ----

    def draw(self, exact: Callable[..., Any]) -> tuple[Floats, Floats]:
        """Poses (samples, 3) and their d and lever arm in units of `scale` (samples, 2), by rejection sampling."""
        rng = np.random.default_rng(self.seed)
        near_count = int(_NEAR_SHARE * self.samples)
        reach = 2 * self.scale + self.margin
        near: list[Floats] = []
        far: list[Floats] = []
        counts = [0, 0]
        while counts[0] < near_count or counts[1] < self.samples - near_count:
            # consecutive poses of equal angle are cheap
            theta = np.repeat(rng.uniform(-math.pi, math.pi, 512), 64)
            radius, phase = reach * np.sqrt(rng.uniform(0, 1, theta.size)), rng.uniform(0, 2 * math.pi, theta.size)
            poses = np.stack([theta, radius * np.cos(phase), radius * np.sin(phase)], axis=1)
            found = exact(self.a, self.b, poses)
            rows = np.column_stack([poses, found.d, found.arm_a])
            close = np.abs(found.d) < _NEAR * self.scale
            near.append(rows[close])
            far.append(rows[: theta.size // 8])
            counts = [counts[0] + int(close.sum()), counts[1] + theta.size // 8]
        rows = np.concatenate([np.concatenate(near)[:near_count], np.concatenate(far)[: self.samples - near_count]])
        return rows[:, :3], rows[:, 3:] / self.scale

    def inputs(self, poses: Floats) -> Floats:
        """Inputs of the first layer (n, 3 or 4) at poses (n, 3), as in gg_pair_field_query and gg_pair_infer."""
        theta, x, y = poses.T
        fold_a, fold_b = self.folds
        turned = np.zeros(len(poses), np.int64)
        if fold_a == 4:
            turned = np.where(y >= 0, np.where(x >= 0, 0, 1), np.where(x < 0, 2, 3))
        elif fold_a == 2:
            turned = np.where(y >= 0, 0, 2)
        at = (x + 1j * y) * np.array([1, -1j, -1, 1j])[turned] / self.scale
        phase = (theta / (2 * math.pi) - 0.25 * turned) * fold_b
        angle = 2 * math.pi * (phase - np.floor(phase + 0.5))
        first = [np.cos(angle), np.sin(angle)] if self.folded else [angle]
        return np.stack([*first, at.real, at.imag], axis=1)

    # ---- training ----

    def train(self, exact: Callable[..., Any], bar: Callable[[Sequence[Any]], Iterable[Any]]) -> NDArray[np.float32]:
        """Trains; returns the weights of both networks in the engine's order.

        Args:
            exact: computes d and lever arm, see `exact_distance`.
            bar: wraps the loop over iterations in a progress bar.
        """
        try:
            import torch
        except ImportError:
            raise ImportError('train needs PyTorch: pip install "granular_gym[train]"') from None
        poses, targets = self.draw(exact)
        inputs = torch.tensor(self.inputs(poses), dtype=torch.float32)
        wanted = torch.tensor(targets, dtype=torch.float32)
        generator = torch.Generator().manual_seed(self.seed)
        nets = [self._network(torch, inputs.shape[1], generator) for _ in range(2)]
        parameters = [parameter for net in nets for parameter in net]
        optimiser = torch.optim.Adam(parameters)
        schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, max_lr=4e-3, total_steps=self.iterations)
        for _ in bar(range(self.iterations)):
            rows = torch.randint(0, len(inputs), (_BATCH,), generator=generator)
            batch, target = inputs[rows], wanted[rows]
            loss = sum(((self._forward(torch, net, batch) - target[:, k]) ** 2).mean() for k, net in enumerate(nets))
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
        # the engine evaluates plain sines: their frequency is a factor of the weights and biases of hidden layers
        frequency = _FREQUENCY if self.activation == "sine" else 1.0
        parts = []
        for net in nets:
            for k, parameter in enumerate(net):
                hidden = k < len(net) - 2
                parts.append((parameter.detach() * (frequency if hidden else 1.0)).numpy().ravel())
        return np.concatenate(parts).astype("<f4")

    def _network(self, torch: Any, inputs: int, generator: Any) -> list[Any]:
        """Initial weights (in, out) and biases (out,), layer by layer."""
        sizes = [inputs, *[self.width] * self.layers, 1]
        net = []
        for k, (rows, columns) in enumerate(itertools.pairwise(sizes)):
            bound = math.sqrt(6 / rows)
            if self.activation == "sine":
                bound = 1.0 if k == 0 else bound / _FREQUENCY
            weight = (2 * torch.rand(rows, columns, generator=generator) - 1) * bound
            bias = (2 * torch.rand(columns, generator=generator) - 1) / math.sqrt(rows)
            net += [weight.requires_grad_(), bias.requires_grad_()]
        return net

    def _forward(self, torch: Any, net: list[Any], batch: Any) -> Any:
        value = batch
        for k in range(0, len(net), 2):
            value = value @ net[k] + net[k + 1]
            if k < len(net) - 2:
                value = torch.sin(_FREQUENCY * value) if self.activation == "sine" else torch.relu(value)
        return value[:, 0]
