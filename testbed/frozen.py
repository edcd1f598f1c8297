"""frozen.py: small scenes in which one env can be made to stop being finite, by law."""

from __future__ import annotations

import math

import granular_gym as gg
from testbed.planar import COARSE

#: laws and modes that are broken
BREAKS = ("spheres", "paper", "planar", "springs")


def frozen_scene(law: str) -> tuple[gg.Scene, gg.Solver]:
    """A bed beside a tool, seen by the camera "eye", and how it is solved."""
    if law in ("spheres", "paper"):
        scene = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 0.3)))
        sand = scene.add_material(density=2500.0, radius=0.0095)
        scene.fill_box(sand, (-0.06, -0.06, 0.0), (0.06, 0.06, 0.06), radius=(0.007, 0.0095))
        solver = gg.Solver(mode="paper") if law == "paper" else gg.Solver()
        tool, view = gg.Sdf.box((0.05, 0.05, 0.01)), ((0.0, 0.0, 0.25), (0.0, 0.0, 0.0))
        pose = (0.0, 0.0, 0.08, 1.0, 0.0, 0.0, 0.0)
    else:
        scene = gg.Scene(((0.0, 0.0), (0.4, 0.4)))
        shape = gg.Shape2D.octagon(0.02)
        sand = scene.add_material(density=900.0, shape=shape)
        scene.set_pair_field(gg.PairField.build(shape, shape, **COARSE))
        scene.fill_box(sand, (0.0, 0.0), (0.4, 0.2))
        solver = gg.Solver(mode="penalty", stiffness=100.0) if law == "springs" else gg.Solver()
        tool, view = gg.Sdf.box((0.05, 0.05, 1.0)), ((0.2, 0.2, 1.0), (0.2, 0.2, 0.0))
        pose = (0.2, 0.3, 0.0, 1.0, 0.0, 0.0, 0.0)
    scene.add_tool(tool, name="block", pose=pose)
    eye = {"position": view[0], "target": view[1], "up": (0, 1, 0), "far": 2.0}
    scene.add_camera(gg.DepthCamera.perspective(height=8, width=9, fov=0.5 * math.pi, **eye), name="eye")
    return scene, solver


def break_env(world: gg.World, law: str, env: int) -> None:
    """Gives one env values with which its next substep is not finite."""
    if law in ("spheres", "paper"):
        # of so little mass that its inverse is infinite
        world.set_density(0, 1e-38, envs=[env])
    elif law == "planar":
        spins = world.angular_velocities[env]
        spins[3, 2] = 1e38
        world.set_grains(angular_velocities=spins, envs=[env])
    else:
        # so deep in a wall that its spring has no finite force
        positions = world.positions[env]
        positions[3, 0] = 3e38
        world.set_grains(positions=positions, envs=[env])
