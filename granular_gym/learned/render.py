"""render.py: a differentiable picture of particles: Gaussian splats, separable, with soft occlusion.

Each particle is a round Gaussian in the image of each camera, the product of one of columns and one of rows, so that a
picture is a product of two small matrices per channel. Occlusion is soft and needs no sorting: colours and depths of a
pixel are means weighted by exp(-depth / softness), the coverage is 1 - exp(-sum of the Gaussians). A particle one
radius behind another has 1/e of its weight: colours bleed through a little, and hidden particles keep a gradient.
Weighted blending: McGuire, Bavoil, Weighted blended order-independent transparency (JCGT 2, 2013); the low-pass filter
of the footprint: Kerbl et al., 3D Gaussian splatting (SIGGRAPH 2023).
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, MissingError
from granular_gym.learned.cameras import BACKGROUND, PinholeCamera

if TYPE_CHECKING:
    from torch import Tensor

#: standard deviation of a splat in radii, and the Gaussian's peak: pixels are then covered as by spheres, to .025 rms
#: (at 32 and at 64 pixels, by scenes of the data)
_SIGMA, _PEAK = 0.47, 4.0
#: standard deviation that the pixel adds [pixels]
_PIXEL = 0.3
#: depth over which the weight falls to 1/e, in radii, and in how many of these steps order is told
_SOFTNESS, _LAYERS = 1.0, 30.0
#: what the visible side of a grain is nearer than its centre, in radii, on average over its disc
_BULGE = 2.0 / 3.0
#: share of the background in a pixel that nothing reaches
_TINY = 1e-18


def torch_of(what: str) -> Any:
    """The module torch.

    Args:
        what: needs it, for the message.

    Raises:
        MissingError: it is not installed.
    """
    try:
        return importlib.import_module("torch")
    except ImportError as error:
        raise MissingError(f'{what} needs PyTorch: pip install "granular_gym[learned]"') from error


class Picture(NamedTuple):
    """What the cameras see.

    Attributes:
        color: (..., C, H, W, 3), 0 .. 1.
        depth: (..., C, H, W) along the view [m]; `far` where nothing is seen.
        alpha: (..., C, H, W), the share of a pixel that particles cover.
    """

    color: Tensor
    depth: Tensor
    alpha: Tensor


class Renderer:
    """Renders particles for known cameras.

    Args:
        cameras: at least one; all of one size.
        radius: of the particles [m].
        sigma: standard deviation of a splat [m]; None: that at which pixels are covered as by spheres.
        background: colour where nothing is seen (3,), 0 .. 1; None: that of the data.

    Raises:
        ArgumentError: no cameras, cameras of several sizes, or a number out of range.
        MissingError: PyTorch is not installed.
    """

    def __init__(
        self,
        cameras: Sequence[PinholeCamera],
        radius: float,
        sigma: float | None = None,
        background: Sequence[float] | None = None,
    ) -> None:
        self._torch = torch_of("the renderer")
        sizes = {(each.height, each.width) for each in cameras}
        if len(sizes) != 1:
            raise ArgumentError(f"cameras: expected some of one size, got sizes {sorted(sizes)}")
        self.height, self.width = sizes.pop()
        self.radius = checks.number("radius", radius, 0.0, above=True)
        self.sigma = _SIGMA * self.radius if sigma is None else checks.number("sigma", sigma, 0.0, above=True)
        behind = np.array(BACKGROUND) / 255.0 if background is None else checks.doubles("background", background, (3,))
        matrices = np.stack([each.world_to_camera for each in cameras])
        values = {
            "turns": matrices[:, :3, :3],
            "shifts": matrices[:, :3, 3],
            "focal": np.array([each.focal for each in cameras]),
            "near": np.array([each.near for each in cameras]),
            "far": np.array([each.far for each in cameras]),
            "background": behind,
        }
        # in double precision; a call takes them to the device and type of its particles
        self._exact = {name: self._torch.as_tensor(value, dtype=self._torch.float64) for name, value in values.items()}

    def _constants(self, like: Tensor) -> dict[str, Tensor]:
        return {name: value.to(device=like.device, dtype=like.dtype) for name, value in self._exact.items()}

    def __call__(self, positions: Tensor, colors: Tensor) -> Picture:
        """The pictures of all cameras.

        Args:
            positions: (..., n, 3) [m], on any device, float32 or float64.
            colors: (n, 3), 0 .. 1.

        Returns:
            Pictures with gradients with respect to positions and colours.

        Raises:
            ArgumentError: shapes that do not fit.
        """
        if positions.ndim < 2 or positions.shape[-1] != 3 or tuple(colors.shape) != (positions.shape[-2], 3):
            raise ArgumentError(
                f"positions, colors: expected shapes (..., n, 3) and (n, 3), got {tuple(positions.shape)} and "
                f"{tuple(colors.shape)}"
            )
        torch, c = self._torch, self._constants(positions)
        local = torch.einsum("cij,...nj->...cni", c["turns"], positions) + c["shifts"][:, None]
        deep = local[..., 2]
        seen = deep > c["near"][:, None]
        safe = torch.where(seen, deep, torch.ones_like(deep))
        scale = c["focal"][:, None] / safe
        spread = (self.sigma * scale) ** 2
        variance = spread + _PIXEL**2
        across = self._profile(local[..., 0] * scale, variance, self.width)
        down = self._profile(local[..., 1] * scale, variance, self.height)
        strength = torch.where(seen, _PEAK * spread / variance, torch.zeros_like(spread))
        # relative to the nearest particle: the means below do not depend on what weights are relative to
        first = torch.where(seen, deep, torch.full_like(deep, torch.inf)).amin(dim=-1, keepdim=True).detach()
        steps = torch.where(seen, (deep - first) / (_SOFTNESS * self.radius), torch.zeros_like(deep))
        front = strength * torch.exp(-steps.clamp(max=_LAYERS))
        surface = safe - _BULGE * self.radius
        tint = colors.to(positions).T.expand(*deep.shape[:-1], 3, -1)
        # what each adds to coverage, weight, red, green, blue and depth of a pixel, times its Gaussian there
        shares = torch.stack([strength, front, *(front * tint[..., k, :] for k in range(3)), front * surface], dim=-2)
        rows = shares[..., None, :] * down.transpose(-1, -2)[..., None, :, :]
        sums = torch.matmul(rows, across[..., None, :, :])
        alpha = 1.0 - torch.exp(-sums[..., 0, :, :])
        behind, far = c["background"][:, None, None], c["far"][:, None, None]
        total = sums[..., 1, :, :] + _TINY
        color = (sums[..., 2:5, :, :] + _TINY * behind) / total[..., None, :, :]
        color = behind + alpha[..., None, :, :] * (color - behind)
        depth = (sums[..., 5, :, :] + _TINY * far) / total
        return Picture(color.movedim(-3, -1), far + alpha * (depth - far), alpha)

    def _profile(self, offset: Tensor, variance: Tensor, count: int) -> Tensor:
        """Gaussians of the pixels of a row or column (..., n, count) about an offset from its middle [pixels]."""
        centers = self._torch.arange(count, device=offset.device, dtype=offset.dtype) + (0.5 - 0.5 * count)
        profile: Tensor = self._torch.exp(-((centers - offset[..., None]) ** 2) / (2.0 * variance[..., None]))
        return profile
