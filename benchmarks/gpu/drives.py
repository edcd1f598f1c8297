"""drives.py: scenes large enough for a GPU, without long settling, and the motion of their tools.

A bed is a tiled settled patch of 100 grains per layer (testbed/standard.py); the impulses between patches build up
within tens of substeps. Nothing is stored on disk.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from benchmarks.gears import DT as TOWER_DT
from benchmarks.gears import Tower
from granular_gym.viewing.scene_runs import load_scene
from testbed import standard

Poses = NDArray[np.float32]
#: time in which the seams of a bed settle and tools move to their first pose [s]
SEAM_TIME = 0.15


class Drive:
    """A world whose tools move between two sets of poses: one block of `substeps` forth, the next one back.

    Args:
        scene: the scene.
        device: of the world.
        dt: duration of a substep [s].
        substeps: substeps of a block.
        ends: poses (tool_count, 7) at the start and the end of a block; None: tools do not move.
        env_count: number of envs.
        kernel: "auto", "team" or "graph".
        before: simulated time before timing [s].
        solver: settings of the solver.
    """

    def __init__(
        self,
        scene: gg.Scene,
        device: str,
        dt: float = standard.DT,
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
        """Steps one block; returns when it is complete."""
        self.blocks += 1
        self.world.step(self.dt, self.substeps, self.ends[self.blocks % 2] if self.ends else None)

    def close(self) -> None:
        """Frees the world."""
        self.world.close()


def tiles_for(count: int, layers: int) -> tuple[int, int]:
    """Numbers of patches along x and y for `count` grains, as square as possible."""
    patches = max(1, count // (100 * layers))
    a = max(k for k in range(1, math.isqrt(patches) + 1) if patches % k == 0)
    return a, patches // a


def bed(count: int, layers: int, device: str) -> gg.Scene:
    """A settled bed of about `count` grains, periodic in x and y."""
    return standard.wide_bed(tiles_for(count, layers), layers, device)


def surface(layers: int, device: str) -> float:
    """Height of the surface of such a bed [m]."""
    return float(standard.settled_patch(layers, device)[0][:, 2].max()) + standard.RADIUS


def _ends(
    start: tuple[float, ...], displacement: tuple[float, float, float], pitch: float = 0.0
) -> tuple[Poses, Poses]:
    """Poses of one tool before and after a block: displacement [m], and pitch about y [rad]."""
    first = np.array([[*start, 1.0, 0.0, 0.0, 0.0]], np.float32)
    last = first.copy()
    last[0, :3] += np.array(displacement, np.float32)
    last[0, 3:] = (math.cos(0.5 * pitch), 0.0, math.sin(0.5 * pitch), 0.0)
    return first, last


def pushed(count: int, layers: int, seconds: float, device: str) -> tuple[gg.Scene, tuple[Poses, Poses]]:
    """A bed and a blade that pushes through its top at 0.2 m/s for `seconds`, as in the bulldozing task.

    The blade starts above the bed and moves down to the first of the two poses.
    """
    scene = bed(count, layers, device)
    width = tiles_for(count, layers)[1] * 10 * standard.DIAMETER
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


class TowerDrive:
    """The gear tower of benchmarks/gears.py as a Drive.

    Args:
        device: of the world.
        gears: number of turning gears.
        grains: number of grains.
        substeps: substeps of a block.
    """

    def __init__(self, device: str, gears: int, grains: int, substeps: int) -> None:
        self.tower = Tower(gears, grains, "periodic", device)
        self.world, self.dt, self.substeps = self.tower.world, TOWER_DT, substeps

    def step(self) -> None:
        """Steps one block."""
        self.tower.step(self.substeps)

    def close(self) -> None:
        """Frees the world."""
        self.tower.close()


class SiloDrive:
    """Silos of # grains that discharge while they are timed (scenes/silo.py, the wide opening).

    Args:
        device: of the world.
        env_count: number of silos.
        grains: grains of each.
        substeps: substeps of a block.
    """

    LABEL = "hash 16 m"

    def __init__(self, device: str, env_count: int, grains: int, substeps: int) -> None:
        silo = load_scene("silo")(grains=grains)
        self.dt, self.substeps = silo.dt, substeps
        self.world = silo.scene(self.LABEL).build(env_count=env_count, device=device, solver=silo.solver)
        plugged, self.open = (silo.drive(self.LABEL, self.world, now) for now in (0.0, silo.seconds))
        # one block with the plug, on which the grains settle
        self.world.step(self.dt, self.substeps, plugged)

    def step(self) -> None:
        """Steps one block."""
        self.world.step(self.dt, self.substeps, self.open)

    def close(self) -> None:
        """Frees the world."""
        self.world.close()


def filmed(layers: int, pixels: int, device: str, camera: str) -> gg.Scene:
    """One patch with a square depth camera, "sky" or "side": all cameras of a scene are rendered at once."""
    scene = standard.wide_bed((1, 1), layers, device)
    cameras: dict[str, Callable[..., Any]] = {
        "sky": lambda **at: gg.DepthCamera.orthographic(extent=0.06, **at, position=(0.0, 0.0, 0.5)),
        "side": lambda **at: gg.DepthCamera.perspective(fov=0.9, **at, position=(0.12, 0.05, 0.3)),
    }
    made = cameras[camera](height=pixels, width=pixels, target=(0.0, 0.0, 0.05), far=1.0)
    scene.add_camera(made, name=camera)
    return scene
