"""sanitized_gpu.py: runs the kernels of every law with few grains, short enough for compute-sanitizer.

With --phases prints the phases that were not run: those that place clumps in a new world, and that undo a substep where
memory is exhausted.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import granular_gym as gg
from granular_gym.engine.drives import Axis, Joint, joint_drive
from granular_gym.envs.excavator import ExcavatorTask, make_arm
from granular_gym.tasks.vehicle import TrackedVehicle

sys.path.append(str(Path(__file__).resolve().parent.parent))

from testbed.continuum import handle, handled, knead, kneaded, stir, stirred
from testbed.dynamic_tools import press, pressed
from testbed.parity import BELL, TABLE, clumped, forced, poses, tabled
from testbed.parity import heap as small_heap

KERNELS = ("block", "team", "graph")
Built = tuple[gg.Scene, dict[str, Any], Any]  # scene, settings of the solver, target poses of the tools


def heap(periodic: bool = False, **material: Any) -> gg.Scene:
    """Grains of two size classes and two cameras; a ball and a mesh on an SDF grid among them, unless periodic."""
    sides = {"x": "periodic", "y": "periodic"} if periodic else {"x": "wall", "y": "wall"}
    scene = gg.Scene(((-0.08, -0.08, 0.0), (0.08, 0.08, 0.4)), boundary={**sides, "z": ("wall", "open")})
    sand = scene.add_material(density=1600.0, friction=0.5, rolling_friction=0.2, radius=0.01, **material)
    scene.fill_box(sand, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.2), count=60, radius=(0.006, 0.012))
    if not periodic:
        scene.add_tool(gg.Sdf.sphere(0.03), name="ball", pose=(0.0, 0.0, 0.2))
        wedge = gg.Sdf.from_mesh(tetrahedron(0.05), spacing=0.01, cache=False)
        scene.add_tool(wedge, name="wedge", pose=(-0.05, 0.0, 0.02))
    sky = gg.DepthCamera.orthographic(height=16, width=16, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    eye = gg.DepthCamera.perspective(height=9, width=11, fov=1.2, position=(-0.2, 0, 0.2), target=(0, 0, 0), far=1.0)
    scene.add_camera(eye, name="eye", tool=None if periodic else "ball")
    return scene


def tetrahedron(size: float) -> gg.Mesh:
    """A tetrahedron, a closed mesh."""
    corners = size * np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]], np.float64)
    return gg.Mesh(corners, np.array([[0, 1, 2], [0, 3, 1], [0, 2, 3], [1, 3, 2]], np.int32))


def tight() -> gg.Scene:
    """A packing so dense that a long step needs larger buffers."""
    scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 1.0)))
    sand = scene.add_material(density=1600.0, friction=0.5, rolling_friction=0.1)
    grid = np.stack(np.meshgrid(range(5), range(5), range(8)), -1).reshape(-1, 3) * 0.0205
    scene.add_grains(sand, grid + np.array([-0.042, -0.042, 0.011]), 0.01)
    return scene


def planar() -> gg.Scene:
    """Nonconvex planar grains that fall on a fixed one, with a tool and a camera."""
    shape = gg.Shape2D.hash(0.05)
    scene = gg.Scene(((0.0, 0.0), (0.5, 1.0)))
    loose = scene.add_material(density=900.0, friction=0.4, shape=shape)
    still = scene.add_material(density=900.0, friction=0.4, shape=shape, fixed=True)
    scene.set_pair_field(gg.PairField.build(shape, shape, theta_count=64, count=32, cache=False))
    scene.add_grains(still, [(0.25, 0.05)], angles=0.3)
    # so close that they are in contact from the first substep
    scene.add_grains(loose, [(0.1 + 0.085 * i, 0.16 + 0.085 * j) for j in range(3) for i in range(4)])
    scene.add_tool(gg.Sdf.box((0.05, 0.05, 1.0)), name="blade", material=0, pose=(0.02, 0.13, 0.0, 1, 0, 0, 0))
    view = {"target": (0.25, 0.3, 0.0), "up": (0, 1, 0), "far": 3.0}
    sky = gg.DepthCamera.orthographic(height=13, width=17, extent=0.3, position=(0.25, 0.3, 1.0), **view)
    scene.add_camera(sky, name="sky")
    return scene


TOOLS = [[0.02, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0], [-0.03, 0.0, 0.02, 1.0, 0.0, 0.0, 0.0]]
BLADE = [[0.022, 0.132, 0.0, 1.0, 0.0, 0.0, 0.0]]
#: scene and solver, and numbers of envs, by name
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


def push(world: gg.World, steps: int) -> None:
    """Steps under moving tools."""
    for k in range(steps):
        world.step(5e-4, 2, poses(k, world))


def set_states(world: gg.World, steps: int) -> None:
    """Steps under moving tools; sets states and wrenches of clumps."""
    push(world, steps)
    world.set_clumps(world.clump_poses, 0.5 * world.clump_velocities)
    world.set_clump_wrenches(np.full((world.clump_count, 6), 1e-3))
    push(world, steps)


def doze(world: gg.World, steps: int) -> None:
    """Grains fall asleep without gravity; a tool and gravity wake them."""
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_grains(velocities=np.zeros_like(world.velocities))
    for _ in range(2 * steps):
        world.step(1e-3, 2)
    assert world.stats["asleep_share"][0] == 1.0
    push(world, steps)
    world.set_gravity((0.0, 0.0, -9.81))
    world.step(1e-3, steps)


def tooled(tools: int) -> gg.Scene:
    """Grains on the floor, and tools above them."""
    scene = gg.Scene(bounds=((-5, -5, 0), (5, 5, 5)))
    sand = scene.add_material(radius=0.05, density=1500.0)
    scene.add_grains(sand, [[0.2 * k, 0.0, 0.05] for k in range(8)])
    for _ in range(tools):
        scene.add_tool(gg.Sdf.sphere(0.1), material=sand, pose=(0.0, 0.0, 4.0))
    return scene


def slide(world: gg.World, steps: int) -> None:
    """Drives a tool by a slide and a hinge."""
    joints, axes = [Joint(0, 0.5, -0.2, 0.3), Joint(1, 4.0, wraps=True)], [Axis(0, 0, "x"), Axis(0, 1, "turn_z")]
    rest = np.array([[0.0, 0.1, 0.2, 1.0, 0.0, 0.0, 0.0]])
    world.set_drive(joint_drive(joints, axes, rest, 0.1, 2))
    steer(world, steps, np.zeros((1, 2)))


def ride(world: gg.World, steps: int) -> None:
    """Drives a tool as a tracked vehicle."""
    vehicle = TrackedVehicle(-0.45, 0.62, 0.47, (-4.0, -2.0), (4.0, 2.0), speed=0.8, turn_rate=1.0, clearance=0.06)
    world.set_drive(vehicle.drive(0.1, {"ahead": (0, 0.8), "turn": (1, 1.0)}, None))
    steer(world, steps, np.zeros((1, 3)))


def swing(world: gg.World, steps: int) -> None:
    """Drives the links of an arm, with its motion guard."""
    arm = make_arm()
    world.set_drive(ExcavatorTask(env_count=1).drive())
    middle = 0.5 * (np.asarray(arm.description.lower) + np.asarray(arm.description.upper))
    steer(world, steps, np.concatenate([middle, np.zeros(arm.joint_count + 3)])[None], arm.joint_count)


def steer(world: gg.World, steps: int, state: Any, actions: int = 2) -> None:
    """Steps with full actions from a state of the drive."""
    for _ in range(steps):
        state, fault = world.step_driven(1e-3, 2, np.ones((1, actions), np.float32), state)
        assert fault is None


#: what `drive` is not for: scene, settings of the solver, kernel, and what takes so many steps. What is solved by as
#: many iterations as only the GPU knows is never a graph
Stepped = tuple[Callable[[], gg.Scene], dict[str, Any], str, Callable[[gg.World, int], Any]]
STEPPED: dict[str, Stepped] = {
    "clumps": (clumped, {}, "team", push),
    "clumps, a kernel a phase": (clumped, {}, "graph", push),
    "states of clumps": (clumped, {}, "team", set_states),
    "grains asleep": (lambda: small_heap(60), {"sleep": True}, "team", doze),
    "joints": (lambda: tooled(1), {}, "block", slide),
    "a vehicle": (lambda: tooled(1), {}, "team", ride),
    "an arm": (lambda: tooled(len(make_arm().shapes) + 2), {}, "team", swing),
    "dynamic tools among grains": (lambda: pressed(60), {}, "team", press),
    "the same, by Jacobi iterations": (lambda: pressed(60), {"mode": "jacobi"}, "graph", press),
    "forces": (forced, {"mode": "bell", "bell": BELL}, "graph", push),
    "forces, steps of their own": (
        forced,
        {"mode": "bell", "bell": BELL, "integrator": "rkf45", "tolerance": 1e-3},
        "team",
        push,
    ),
    "forces from tables": (tabled, {"mode": "table", "table": TABLE}, "graph", push),
    "dough and sand": (lambda: kneaded(0.04), {}, "team", knead),
    "dough under dynamic tools": (lambda: handled(0.04), {}, "team", handle),
    "liquid with a buoy": (stirred, {}, "team", stir),
    "explicit steps": (lambda: kneaded(0.04), {"mode": "explicit"}, "graph", lambda w, n: knead(w, n, substeps=3)),
}


def drive(world: gg.World, poses: Any) -> None:
    """Takes a few substeps; calls all setters and reads all outputs."""
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
    if not world.planar:
        world.count_columns([-0.05, -0.05], [0.05, 0.05], (4, 4), "device")
        for camera in world.camera_names:
            world.segmentation(camera, "device")
            world.color(camera, "device")
    world.load_state(world.save_state())
    world.step(dt, 1)
    stats = world.stats
    assert not stats["diverged"].any()
    assert stats["contact_count"].min() > 0
    assert world.tool_count == 0 or stats["tool_contact_count"].min() > 0


def grow(ran: set[str] | None) -> int:
    """Steps that need larger buffers; returns how often buffers grew."""
    grown = 0
    for kernel in KERNELS:
        with tight().build(2, device="cuda", solver=gg.Solver(mode="jacobi", iterations=12)) as world:
            world._core.set_kernel(kernel)
            world.profile(ran is not None)
            world.set_gravity([(0.0, 0.0, 0.0)], envs=[1])
            for _ in range(3):
                world.step(5e-3, 8)
                grown += int(world.stats["growth_count"].sum())
            note(world, ran)
    return grown


def note(world: gg.World, ran: set[str] | None) -> None:
    """Adds the names of the phases that a world ran, and of all phases with a question mark before."""
    if ran is not None:
        seconds = world.profile(False)
        ran.update(name for name, spent in seconds.items() if spent > 0.0)
        ran.update(f"?{name}" for name in seconds)


def cases(ran: set[str] | None) -> Iterator[str]:
    """Runs the cases; yields their names.

    Args:
        ran: collects the names of phases, see `note`; None: not collected.
    """
    for name, (make, counts) in CASES.items():
        for envs in counts:
            for kernel in KERNELS:
                scene, settings, poses = make()
                with scene.build(envs, device="cuda", solver=gg.Solver(**settings), overlaps="ignore") as world:
                    world._core.set_kernel(kernel)
                    world.profile(ran is not None)
                    drive(world, poses)
                    note(world, ran)
            yield f"{name}, {envs} envs"
    for name, (make_scene, settings, kernel, steps) in STEPPED.items():
        with make_scene().build(1, device="cuda", solver=gg.Solver(**settings)) as world:
            world._core.set_kernel(kernel)
            world.profile(ran is not None)
            steps(world, 2)
            for camera in world.camera_names:
                world.depth(camera, "device").numpy()
            world.load_state(world.save_state())
            assert not world.stats["diverged"].any()
            note(world, ran)
        yield name
    assert grow(ran) > 0, "no buffer grew"
    yield "growth"


def main() -> int:
    """Exit status 0: all cases ran."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--phases", action="store_true", help="print the phases that were not run")
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
