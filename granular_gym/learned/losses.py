"""losses.py: how far predictions are from pictures or from tracks.

Pictures: the mean absolute difference of colours (eq. 17 of arXiv 2410.08983), of the particles as they moved and of
where normal forces alone would have brought them, and a gradient loss: the picture pulls a particle along the negative
gradient of its loss, and the particle should move that way. The paper prints this (eq. 18) without a norm and with a
sign that would make particles move up the gradient; here it is the mean of `1 - cos(-gradient, velocity)`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from granular_gym.learned.needs import torch

#: positions (..., n, 3) [m] and colours (n, 3) -> color (..., c, h, w, 3), depth and alpha (..., c, h, w)
Render = Callable[..., Any]


@dataclass(frozen=True)
class Target:
    """The pictures of a window of an episode.

    Attributes:
        colors: (n, 3) of its particles, 0 .. 1.
        color: (t, c, h, w, 3), 0 .. 1.
        depth: (t, c, h, w) [m], or None: not compared.
    """

    colors: torch.Tensor
    color: torch.Tensor
    depth: torch.Tensor | None = None


@dataclass(frozen=True)
class PictureWeights:
    """Weights of the parts of the loss.

    Attributes:
        normal: of the pictures after normal forces alone, L_r^n; 0 is the paper's ablation.
        gradient: of the gradient loss, beta; 0 is the paper's ablation.
        depth: of depth images [1/m]; 0: from colours alone, as the paper.
    """

    normal: float = 1.0
    gradient: float = 0.001
    depth: float = 0.0


def picture_loss(render: Render, positions: torch.Tensor, target: Target, depth_weight: float = 0.0) -> torch.Tensor:
    """Mean over frames of the absolute difference, averaged over views, pixels and channels.

    Args:
        render: the renderer.
        positions: (t, n, 3) [m].
        target: its pictures.
        depth_weight: of depth [1/m].
    """
    shown = render(positions, target.colors)
    loss: torch.Tensor = (shown.color - target.color).abs().mean()
    if depth_weight and target.depth is not None:
        loss = loss + depth_weight * (shown.depth - target.depth).abs().mean()
    return loss


def window_loss(
    render: Render,
    targets: Sequence[Target],
    positions: torch.Tensor,
    velocities: torch.Tensor,
    via_normal: torch.Tensor | None,
    weights: PictureWeights,
) -> tuple[torch.Tensor, dict[str, float]]:
    """The loss of a window of b episodes, ready for `backward`.

    The renderer's graph is walked once: the slopes of the picture loss at the positions are what the gradient loss
    needs, and they stand for the renderer in the loss that is returned, whose value is that of the whole.

    Args:
        render: the renderer.
        targets: b of them, of t frames.
        positions, velocities: (t, b, n, 3), with history.
        via_normal: like positions, or None.
        weights: of the parts.

    Returns:
        The loss, and its parts by name.
    """
    value, slopes = _slopes(render, targets, positions, weights.depth)
    parts = {"picture": value}
    loss = _stand_in(value, slopes, positions)
    if via_normal is not None and weights.normal:
        value, normal_slopes = _slopes(render, targets, via_normal, weights.depth)
        parts["normal"] = value
        loss = loss + weights.normal * _stand_in(value, normal_slopes, via_normal)
    if weights.gradient:
        aligned = gradient_loss(slopes, velocities)
        parts["gradient"] = float(aligned.detach())
        loss = loss + weights.gradient * aligned
    return loss, parts


def gradient_loss(slopes: torch.Tensor, velocities: torch.Tensor) -> torch.Tensor:
    """Mean of 1 - cos(-slope, velocity) over particles that pictures pull at.

    Args:
        slopes: (..., 3) of the picture loss at positions, without history.
        velocities: (..., 3).
    """
    pull = slopes.norm(dim=-1)
    # hidden particles, and those in place, are pulled nowhere: their direction is noise
    seen = (pull > 1e-3 * pull.max().clamp_min(1e-30)) & (velocities.detach().norm(dim=-1) > 1e-9)
    cosine = torch.nn.functional.cosine_similarity(-slopes[seen], velocities[seen], dim=-1, eps=1e-12)
    return (1.0 - cosine).sum() / max(int(seen.sum()), 1)


def track_loss(positions: torch.Tensor, truth: torch.Tensor, unit: float) -> torch.Tensor:
    """Mean square distance to where particles were, over that of a unit of length [m]."""
    return ((positions - truth) / unit).square().sum(-1).mean()


def _slopes(
    render: Render, targets: Sequence[Target], positions: torch.Tensor, depth_weight: float
) -> tuple[float, torch.Tensor]:
    """Mean loss over episodes, and its (t, b, n, 3) slopes at positions."""
    here = positions.detach().requires_grad_()
    loss = torch.stack(
        [picture_loss(render, here[:, k], target, depth_weight) for k, target in enumerate(targets)]
    ).mean()
    (slopes,) = torch.autograd.grad(loss, here)
    return float(loss.detach()), slopes


def _stand_in(value: float, slopes: torch.Tensor, positions: torch.Tensor) -> torch.Tensor:
    """A loss of this value with these slopes."""
    linear = (slopes * positions).sum()
    return linear - linear.detach() + value
