"""sanitized_gpu.py: every kernel and every kind of scene on worlds of a few grains, short enough for compute-sanitizer.

With --phases it says which phases of the engine none of this runs (each is then a kernel of its own): by now only those
that take a substep back where memory ends.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

import granular_gym as gg

WAYS = ("team", "graph")
Built = tuple[gg.Scene, dict[str, Any], Any]  # scene, solver, poses that its tools reach


def heap(periodic: bool = False, **material: Any) -> gg.Scene:
    """Two sizes of grains and two cameras; a ball and a mesh on a grid among them where it has walls."""
    sides = {"x": "periodic", "y": "periodic"} if periodic else {"x": "wall", "y": "wall"}
    made = gg.Scene(((-0.08, -0.08, 0.0), (0.08, 0.08, 0.4)), boundary={**sides, "z": ("wall", "open")})
    sand = made.add_material(density=1600.0, friction=0.5, rolling_friction=0.2, radius=0.01, **material)
    made.fill_box(sand, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.2), count=60, radius=(0.006, 0.012))
    if not periodic:
        made.add_tool(gg.Sdf.sphere(0.03), name="ball", pose=(0.0, 0.0, 0.2))
        wedge = gg.Sdf.from_mesh(tetrahedron(0.05), spacing=0.01, cache=False)
        made.add_tool(wedge, name="wedge", pose=(-0.05, 0.0, 0.02))
    sky = gg.DepthCamera.orthographic(height=16, width=16, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    made.add_camera(sky, name="sky")
    eye = gg.DepthCamera.perspective(height=9, width=11, fov=1.2, position=(-0.2, 0, 0.2), target=(0, 0, 0), far=1.0)
    made.add_camera(eye, name="eye", tool=None if periodic else "ball")
    return made


def tetrahedron(size: float) -> gg.Mesh:
    """A closed mesh."""
    corners = size * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], np.float64)
    return gg.Mesh(corners, np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], np.int32))


def tight() -> gg.Scene:
    """So dense that a long step needs larger buffers."""
    made = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 1.0)))
    sand = made.add_material(density=1600.0, friction=0.5, rolling_friction=0.1)
    grid = np.stack(np.meshgrid(range(5), range(5), range(8)), -1).reshape(-1, 3) * 0.0205
    made.add_grains(sand, grid + np.array([-0.042, -0.042, 0.011]), 0.01)
    return made


def planar() -> gg.Scene:
    """Nonconvex grains in the plane fall on a fixed one, a tool among them, a camera above."""
    shape = gg.Shape2D.hash(0.05)
    made = gg.Scene(((0.0, 0.0), (0.5, 1.0)))
    loose = made.add_material(density=900.0, friction=0.4, shape=shape)
    still = made.add_material(density=900.0, friction=0.4, shape=shape, fixed=True)
    made.set_pair_field(gg.PairField.build(shape, shape, theta_count=64, count=32, cache=False))
    made.add_grains(still, [(0.25, 0.05)], angles=0.3)
    # so close that they touch from the first substep on
    made.add_grains(loose, [(0.1 + 0.085 * i, 0.16 + 0.085 * j) for j in range(3) for i in range(4)])
    made.add_tool(gg.Sdf.box((0.05, 0.05, 1.0)), name="blade", material=0, pose=(0.02, 0.13, 0.0, 1, 0, 0, 0))
    view = {"target": (0.25, 0.3, 0.0), "up": (0, 1, 0), "far": 3.0}
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.3, position=(0.25, 0.3, 1.0), **view)
    made.add_camera(sky, name="sky")
    return made


TOOLS = [[0.02, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0], [-0.03, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0]]
BLADE = [[0.022, 0.132, 0.0, 1.0, 0.0, 0.0, 0.0]]
#: name -> how it is made; the number of envs
CASES: dict[str, tuple[Callable[[], Built], tuple[int, ...]]] = {
    "spheres": (lambda: (heap(), {}, TOOLS), (1, 3)),
    "linked hash": (lambda: (heap(), {"broad_phase": "linked_hash"}, TOOLS), (3,)),
    "periodic, early exit": (lambda: (heap(periodic=True), {"tolerance": 1e-4}, None), (1,)),
    "printed algorithm": (lambda: (heap(), {"mode": "paper", "iterations": 4}, TOOLS), (1,)),
    "moist": (lambda: (heap(cohesion=0.5, cohesion_range=0.002, twisting_friction=0.1), {}, TOOLS), (1,)),
    "without spin": (lambda: (heap(), {"spin": False}, TOOLS), (1,)),
    "planar": (lambda: (planar(), {"iterations": 8}, BLADE), (1, 2)),
    "planar on springs": (lambda: (planar(), {"mode": "penalty", "stiffness": 1e5}, BLADE), (2,)),
}


def drive(world: gg.World, poses: Any) -> None:
    """A few substeps, and everything that can be set and read."""
    dt = 2e-4 if world.solver.mode == "penalty" else 1e-3
    world.step(dt, 3, poses)
    if not world.planar:
        world.transform_grains([0.001, 0.0, 0.0], 0.1)
        world.set_air(density=1.2, viscosity=1.8e-5)
    world.set_grains(velocities=0.5 * world.velocities)
    densities = world.materials[1]
    world.set_materials(densities=densities)
    world.step(dt, 2)
    for name in ("positions", "velocities", "wrenches", "wall_wrenches", "tool_poses"):
        if name != "tool_poses" or world.tool_count:
            world.read(name, "device").numpy()
    if world.planar:
        world.read("angles", "device").numpy()
    for camera in world.camera_names:
        world.depth(camera, "device").numpy()
        world.depth(camera, "device", dtype="uint8").numpy()
    world.box_stats([-0.05, -0.05, 0.0], [0.05, 0.05, 0.1], "device")
    world.load_state(world.save_state())
    world.step(dt, 1)
    stats = world.stats
    assert not stats["diverged"].any()
    assert stats["contact_count"].min() > 0
    assert world.tool_count == 0 or stats["tool_contact_count"].min() > 0


def grow(ran: set[str] | None) -> int:
    """Buffers that grow in the middle of a step; how often."""
    grown = 0
    for way in WAYS:
        with tight().build(2, device="cuda", solver=gg.Solver(iterations=12)) as world:
            world._core.set_kernel(way)
            world.profile(ran is not None)
            world.set_gravity([(0.0, 0.0, 0.0)], envs=[1])
            for _ in range(3):
                world.step(5e-3, 8)
                grown += int(world.stats["growth_count"].sum())
            note(world, ran)
    return grown


def note(world: gg.World, ran: set[str] | None) -> None:
    """Adds the phases that a world ran; leaves out those that it did not."""
    if ran is not None:
        seconds = world.profile(False)
        ran.update(name for name, spent in seconds.items() if spent > 0.0)
        ran.update(f"?{name}" for name in seconds)


def cases(ran: set[str] | None) -> Iterator[str]:
    """Runs one case after the other and says which.

    Args:
        ran: phases that ran are added, and all that there are with a question mark before; None: nobody asks.
    """
    for name, (make, counts) in CASES.items():
        for envs in counts:
            for way in WAYS:
                scene, settings, poses = make()
                with scene.build(envs, device="cuda", solver=gg.Solver(**settings)) as world:
                    world._core.set_kernel(way)
                    world.profile(ran is not None)
                    drive(world, poses)
                    note(world, ran)
            yield f"{name}, {envs} envs"
    assert grow(ran) > 0, "no buffer grew"
    yield "growth"


def main() -> int:
    """0: all of it ran."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phases", action="store_true", help="say which phases never ran")
    ran: set[str] | None = set() if parser.parse_args().phases else None
    start = time.monotonic()
    for name in cases(ran):
        print(f"{time.monotonic() - start:6.1f} s  {name}", flush=True)
    if ran is not None:
        print("never ran:", " ".join(sorted(name[1:] for name in ran if name[0] == "?" and name[1:] not in ran)))
    print("done")
    return 0


if __name__ == "__main__":
    sys.exit(main())
