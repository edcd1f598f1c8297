"""pictures.py: the two pictures of the data: rays on spheres by the engine, and splats of the training renderer.

A model that trains on pictures of the renderer it trains through commits the inverse crime: it never meets a picture
that its renderer cannot make. The data has both pictures of each frame, so that this can be seen.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import rng
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.learned.cameras import BACKGROUND, PinholeCamera

Images = NDArray[np.uint8]
Depths = NDArray[np.float32]

#: colours of the parts of a scene, 0 .. 255
PALETTE = ((214, 177, 108), (70, 110, 200), (200, 60, 60), (60, 160, 80), (150, 80, 170), (60, 180, 180))
#: grains are lighter or darker than their part by up to this share
_VARIETY = 0.12
#: share of the light that comes from everywhere
_AMBIENT = 0.6


def grain_colors(groups: NDArray[np.int32]) -> NDArray[np.uint8]:
    """Colours of grains (n, 3), 0 .. 255: that of their part, each a little lighter or darker.

    Args:
        groups: (n,) the part of each grain.
    """
    shade = 1.0 + _VARIETY * (2.0 * rng.uniform(0, 0, len(groups)) - 1.0)
    tint = np.array(PALETTE)[groups % len(PALETTE)]
    return np.clip(np.rint(tint * shade[:, None]), 0, 255).astype(np.uint8)


class RayCast:
    """The engine's cameras on spheres in empty space, in several envs at once: no floor, so that masks are silhouettes.

    Args:
        cameras: of the data.
        radius: of the grains [m].
        colors: (n, 3) uint8.
        env_count: how many sets of positions are drawn at a time.
        device: of the world.
    """

    def __init__(
        self,
        cameras: Sequence[PinholeCamera],
        radius: float,
        colors: NDArray[np.uint8],
        env_count: int,
        device: str = "cpu",
    ) -> None:
        reach = max(each.far for each in cameras)
        center = np.mean([each.position for each in cameras], axis=0)
        scene = Scene((center - 2.0 * reach, center + 2.0 * reach), boundary=dict.fromkeys("xyz", "open"))
        scene.add_material(radius=radius, density=1000.0)
        scene.add_grains(0, np.broadcast_to(center, (len(colors), 3)))
        for number, each in enumerate(cameras):
            scene.add_camera(each.depth_camera(), name=str(number))
        self._count = len(cameras)
        self._world: World = scene.build(env_count, device=device, overlaps="ignore", num_threads=1)
        self._world.paint(grain_colors=colors, background=BACKGROUND, ambient=_AMBIENT)

    def __call__(self, positions: NDArray[np.floating]) -> tuple[Images, Depths]:
        """Pictures (env_count, C, H, W, 3) sRGB and depths (env_count, C, H, W) [m] of positions (env_count, n, 3)."""
        self._world.set_grains(positions=positions)
        color = np.stack([self._world.color(each) for each in range(self._count)], axis=1)
        depth = np.stack([self._world.depth(each) for each in range(self._count)], axis=1)
        return color, depth

    def close(self) -> None:
        """Closes the world."""
        self._world.close()
