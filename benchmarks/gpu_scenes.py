"""gpu_scenes.py: scenes large enough for a GPU, without long settling, and what is done to them.

A bed is a settled patch of 100 grains per layer laid side by side (scenes.wide_bed); the impulses between patches build
up within tens of substeps. Nothing is kept on disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg

from . import scenes

Poses = NDArray[np.float32]
#: brings the seams of a bed to rest, and tools down to where they begin [s]
SEAM_TIME = 0.15


class Drive:
    """A world whose tools swing between two sets of poses: one block of `substeps` there, the next one back.

    Args:
        scene: what is built.
        device: where.
        dt: of a substep [s].
        substeps: of a block.
        ends: poses (tool_count, 7) at the start and the end of a block; None: tools rest.
        env_count: copies of the scene.
        kernel: "auto", "team" or "graph".
        before: time that is not timed [s].
        solver: settings of the solver.
    """

    def __init__(
        self,
        scene: gg.Scene,
        device: str,
        dt: float = scenes.DT,
        substeps: int = 100,
        ends: tuple[Poses, Poses] | None = None,
        env_count: int = 1,
        kernel: str = "auto",
        before: float = SEAM_TIME,
        solver: gg.Solver | None = None,
    ) -> None:
        self.world = scene.build(env_count=env_count, device=device, solver=solver)
        self.dt, self.substeps, self.ends, self.blocks = dt, substeps, ends, 0
        if self.world.device != "cpu":
            self.world._core.set_kernel(kernel)
        self.world.step(dt, max(1, round(before / dt)), ends[0] if ends else None)

    def step(self) -> None:
        """One block; returns when it is computed."""
        self.blocks += 1
        self.world.step(self.dt, self.substeps, self.ends[self.blocks % 2] if self.ends else None)

    def close(self) -> None:
        """Frees the world."""
        self.world.close()


def tiles_for(count: int, layers: int) -> tuple[int, int]:
    """Patches side by side that make `count` grains, as square as the number allows."""
    patches = max(1, count // (100 * layers))
    a = max(k for k in range(1, math.isqrt(patches) + 1) if patches % k == 0)
    return a, patches // a


def bed(count: int, layers: int, device: str) -> gg.Scene:
    """A resting bed of about `count` grains, periodic in x and y."""
    return scenes.wide_bed(tiles_for(count, layers), layers, device)


def surface(layers: int, device: str) -> float:
    """Height of such a bed [m]."""
    return float(scenes.settled_patch(layers, device)[0][:, 2].max()) + scenes.RADIUS


def _ends(start: tuple[float, ...], way: tuple[float, float, float], pitch: float = 0.0) -> tuple[Poses, Poses]:
    """Poses of one tool before and after a block that shifts it by `way` and pitches it about y [rad]."""
    first = np.array([[*start, 1.0, 0.0, 0.0, 0.0]], np.float32)
    last = first.copy()
    last[0, :3] += np.array(way, np.float32)
    last[0, 3:] = (math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0)
    return first, last


def pushed(count: int, layers: int, seconds: float, device: str) -> tuple[gg.Scene, tuple[Poses, Poses]]:
    """A bed and a blade that pushes through its top at 0.2 m/s for `seconds`, as in the bulldozing task.

    The blade stands above the bed at first, and comes down to the first of the two poses.
    """
    scene = bed(count, layers, device)
    width = tiles_for(count, layers)[1] * 10 * scenes.DIAMETER
    top = surface(layers, device)
    depth = min(0.03, 0.5 * top)
    blade = gg.Sdf.box((0.004, min(0.15, 0.3 * width), 0.04))
    start = (0.0, 0.5 * width - 0.05, top + 0.04 - depth)
    scene.add_tool(blade, name="blade", pose=(*start[:2], top + 0.045, 1.0, 0.0, 0.0, 0.0))
    return scene, _ends(start, (0.2 * seconds, 0.0, 0.0))


def dug(count: int, layers: int, seconds: float, device: str) -> tuple[gg.Scene, tuple[Poses, Poses]]:
    """A bed and a bucket of four plates that cuts into it and curls, as in the excavation task."""
    scene = bed(count, layers, device)
    x, y, z = 0.05, 0.04, 0.03
    bucket = gg.Sdf.union(
        gg.Sdf.box((x, y, 0.003)),
        gg.Sdf.box((0.003, y, z)).at((-x, 0.0, z)),
        gg.Sdf.box((x, 0.003, z)).at((0.0, y, z)),
        gg.Sdf.box((x, 0.003, z)).at((0.0, -y, z)),
    )
    start = (0.0, 0.0, surface(layers, device) + 0.005)
    scene.add_tool(bucket, name="bucket", pose=(*start, 1.0, 0.0, 0.0, 0.0))
    return scene, _ends(start, (0.15 * seconds, 0.0, -0.1 * seconds), 1.0 * seconds)


def gear_mesh(radius: float = 0.03, height: float = 0.02, teeth: int = 9, twist: float = 0.5, cuts: int = 6) -> gg.Mesh:
    """A helical gear about z: a toothed outline, turned by `twist` [rad] from bottom to top; closed."""
    angles = np.arange(4 * teeth) * (0.5 * math.pi / teeth)
    rim = radius * np.where(np.arange(4 * teeth) % 4 < 2, 1.0, 0.78)
    n, vertices, faces = len(angles), [], []
    for k in range(cuts + 1):
        turn = angles + twist * k / cuts
        z = np.full(n, height * (k / cuts - 0.5))
        vertices.append(np.stack([rim * np.cos(turn), rim * np.sin(turn), z], axis=1))
    i, j = np.arange(n), (np.arange(n) + 1) % n
    for k in range(cuts):
        a, b = k * n, (k + 1) * n
        faces += [np.stack([a + i, a + j, b + j], 1), np.stack([a + i, b + j, b + i], 1)]
    low, high = (cuts + 1) * n, (cuts + 1) * n + 1
    vertices.append(np.array([[0.0, 0.0, -0.5 * height], [0.0, 0.0, 0.5 * height]]))
    faces += [np.stack([np.full(n, low), j, i], 1), np.stack([np.full(n, high), cuts * n + i, cuts * n + j], 1)]
    return gg.Mesh(np.concatenate(vertices), np.concatenate(faces).astype(np.int32))


def gear_tower(count: int, bodies: int, seconds: float) -> tuple[gg.Scene, tuple[Poses, Poses] | None]:
    """A box of grains with turning gears in it, after the gear tower of GranularGym (2023), section III.B.

    Ours has a floor: grains are stirred, where those of the paper fall through and come in again at the top.
    """
    half = max(8.0, 15.0 * (count / 10_000) ** (1 / 3))  # [diameters]
    side = half * scenes.DIAMETER
    # gears stand in a lattice of places as wide as the box takes
    across = max(1, int(2.0 * side / 0.08))
    k = np.arange(bodies)
    places = np.stack([k % across, k // across % across, k // across**2], axis=1).astype(np.float64)
    places[:, :2] = (places[:, :2] + 0.5) * 0.08 - 0.5 * across * 0.08
    places[:, 2] = 0.03 + 0.04 * places[:, 2]
    lattice = scenes.lattice(2 * count + 4000, half)
    free = np.ones(len(lattice), bool)
    for x, y, z in places:
        near = np.hypot(lattice[:, 0] - x, lattice[:, 1] - y) < 0.03 + 1.1 * scenes.RADIUS
        free &= ~(near & (np.abs(lattice[:, 2] - z) < 0.01 + 1.1 * scenes.RADIUS))
    grains = lattice[free][:count]
    top = max(float(grains[:, 2].max()), float(places[:, 2].max()) + 0.02 if bodies else 0.0) + 2.0 * scenes.DIAMETER
    scene, grain = scenes.standard_scene(((-side, -side, 0.0), (side, side, top)))
    scene.add_grains(grain, grains)
    if not bodies:
        return scene, None
    gear = gg.Sdf.from_mesh(gear_mesh(), spacing=0.8 * scenes.RADIUS, cache=False)
    ends = np.zeros((2, bodies, 7), np.float32)
    ends[:, :, :3], ends[0, :, 3] = places, 1.0
    turn = 0.5 * seconds * np.random.default_rng(3).uniform(-6.0, 6.0, bodies)
    ends[1, :, 3], ends[1, :, 6] = np.cos(turn), np.sin(turn)
    for number, pose in enumerate(ends[0]):
        scene.add_tool(gear, name=f"gear {number}", pose=tuple(pose))
    return scene, (ends[0], ends[1])


def filmed(layers: int, pixels: int, device: str) -> gg.Scene:
    """One patch with two square depth cameras, "sky" and "side"."""
    scene = scenes.wide_bed((1, 1), layers, device)
    cameras: dict[str, Callable[..., Any]] = {
        "sky": lambda **at: gg.DepthCamera.orthographic(extent=0.06, **at, position=(0.0, 0.0, 0.5)),
        "side": lambda **at: gg.DepthCamera.perspective(fov=0.9, **at, position=(0.12, 0.05, 0.3)),
    }
    for name, make in cameras.items():
        scene.add_camera(make(height=pixels, width=pixels, target=(0.0, 0.0, 0.05), far=1.0), name=name)
    return scene
