"""gaze.py: how a learner looks at the images of a vehicle on a field: it finds itself, and looks round from there.

A small network that has to learn from pixels alone where everything lies needs many of them; one that knows how to turn
its gaze needs few. Three steps, all on pixels:

1. the blocks of the image from above are weighed, and the middle of the weights (spatial softmax; Levine et al.,
   "End-to-end training of deep visuomotor policies", 2016) is about where the vehicle is;
2. a window round that place says where it is and where it heads;
3. the images from above are read on a polar grid round that pose, close meshes near the vehicle and wide ones far away
   (after Jaderberg et al., "Spatial transformer networks", 2015).

Place and heading are learned from the task's state vector, in training only: see `Gaze.misread`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

MAPS = 4  # weights of a block
WINDOW = 14  # [pixels] side of the window round the vehicle
WIDTH = 128  # of the layers that read the window
SHARPNESS = 10.0  # of the softmax at the beginning
#: radii of the polar grid, in halves of the height of the image, and rays
RINGS = (0.125, 0.25, 0.375, 0.5, 0.65, 0.85, 1.1, 1.45, 1.9, 2.5)
RAYS = 24
BLOCK = 3  # [pixels] side of the blocks that are weighed, and that images of the vehicle's own camera are averaged over
REACH = 0.2  # of what the window adds to the place


class Gaze(nn.Module):
    """Numbers that an actor decides by, from images of bytes (n, 1, H, W), 0 near and 255 far.

    Args:
        shapes: (1, H, W) of the images, by name.
        above: images of the same fixed cameras, pixel for pixel; the vehicle stands out in the first.
        ahead: images of cameras on the vehicle, at least 3 x 3 pixels.
        pose: entries of the state vector that are the vehicle's place in the image (-1 .. 1 to the right and up), and
            cosine and sine of its heading; they are needed to learn, not to act.
    """

    def __init__(
        self,
        shapes: Mapping[str, Sequence[int]],
        above: Sequence[str],
        ahead: Sequence[str],
        pose: Sequence[int] = (0, 0, 0, 0),
    ) -> None:
        super().__init__()
        self.above: tuple[str, ...] = tuple(above)
        self.ahead: tuple[str, ...] = tuple(ahead)
        _, height, width = shapes[self.above[0]]
        self.ratio: float = height / width
        rows, columns = height // BLOCK, width // BLOCK
        self.maps: Any = nn.Sequential(nn.Linear(BLOCK * BLOCK, WIDTH // 8), nn.ReLU(), nn.Linear(WIDTH // 8, MAPS))
        self.sharpness: Tensor = nn.Parameter(torch.full((MAPS,), SHARPNESS))
        self.spot: Any = nn.Linear(2 * MAPS, 2)
        self.window: Any = nn.Sequential(
            nn.Linear(WINDOW * WINDOW, WIDTH), nn.LayerNorm(WIDTH), nn.ReLU(),
            nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Linear(WIDTH, 4),
        )  # fmt: skip
        self.pose: Tensor
        self.register_buffer("pose", torch.tensor(tuple(pose)))
        self.places: Tensor
        self.register_buffer("places", lattice(rows, columns), persistent=False)
        self.offsets: Tensor
        offsets = lattice(WINDOW, WINDOW) * torch.tensor([WINDOW / width, WINDOW / height])
        self.register_buffer("offsets", offsets, persistent=False)
        radii, angles = torch.tensor(RINGS)[:, None], torch.arange(RAYS) * (2.0 * math.pi / RAYS)
        self.polar: Tensor
        grid = torch.stack([radii * angles.cos(), radii * angles.sin()], dim=-1).flatten(0, 1)
        self.register_buffer("polar", grid, persistent=False)
        seen = [(shapes[name][1] // BLOCK) * (shapes[name][2] // BLOCK) for name in self.ahead]
        self.size: int = 6 + len(self.above) * len(grid) + sum(seen)

    def forward(self, images: Mapping[str, Tensor]) -> Tensor:
        """(n, size): place and heading, place at the first glance, and what is seen from there."""
        above = nearness(torch.cat([images[name] for name in self.above], dim=1))
        spot, pose = self._find(above[:, :1].contiguous())
        place, heading = pose[:, :2].detach(), functional.normalize(pose[:, 2:].detach(), dim=1, eps=1e-3)
        cos, sin = heading[:, :1], heading[:, 1:]
        ahead, left = self.polar.unbind(1)
        turned = torch.stack([self.ratio * (cos * ahead - sin * left), sin * ahead + cos * left], dim=-1)
        round_it = read(above, place[:, None] + turned)
        before = [functional.avg_pool2d(nearness(images[name]), BLOCK).flatten(1) for name in self.ahead]
        return torch.cat([pose, spot, round_it.flatten(1), *before], dim=1)

    def _find(self, image: Tensor) -> tuple[Tensor, Tensor]:
        """About where the vehicle is, (n, 2), and its place, cosine and sine, (n, 4)."""
        weights = torch.softmax((self.maps(blocks(image)) * self.sharpness).transpose(1, 2).contiguous(), dim=2)
        spot = self.spot((weights @ self.places).flatten(1))
        window = read(image, spot.detach()[:, None] + self.offsets)
        found = self.window(window.flatten(1))
        return spot, torch.cat([spot + REACH * found[:, :2], found[:, 2:]], dim=1)

    def misread(self, seen: Tensor, states: Tensor) -> Tensor:
        """Mean squared error of what `forward` says of the pose, given the state vectors (n, k)."""
        truth = states[:, self.pose]
        error = seen[:, :6] - torch.cat([truth, truth[:, :2]], dim=1)
        return (error * error).sum(1).mean()


def nearness(images: Tensor) -> Tensor:
    """Bytes as numbers, 0 far to 1 near; the square root brings out what hardly rises from the ground."""
    return (255.0 - images).mul_(1.0 / 255.0).sqrt_()


def blocks(images: Tensor) -> Tensor:
    """The whole blocks of images (n, 1, H, W), row after row: (n, m, BLOCK^2)."""
    rows, columns = images.shape[2] // BLOCK, images.shape[3] // BLOCK
    whole = images[:, 0, : rows * BLOCK, : columns * BLOCK]
    parts = whole.reshape(-1, rows, BLOCK, columns, BLOCK)
    return parts.transpose(2, 3).reshape(-1, rows * columns, BLOCK * BLOCK)


def lattice(rows: int, columns: int) -> Tensor:
    """The middles (rows columns, 2) of the pixels of an image, -1 .. 1 to the right and up, row after row."""
    up = 1.0 - (torch.arange(rows) + 0.5) * (2.0 / rows)
    right = (torch.arange(columns) + 0.5) * (2.0 / columns) - 1.0
    return torch.stack([right.repeat(rows), up.repeat_interleave(columns)], dim=1)


def read(images: Tensor, places: Tensor) -> Tensor:
    """Images (n, c, H, W) at places (n, m, 2), -1 .. 1 to the right and up, 0 outside: (n, c, m)."""
    down = places * torch.tensor([1.0, -1.0])
    return functional.grid_sample(images, down[:, None], align_corners=False).squeeze(2)
