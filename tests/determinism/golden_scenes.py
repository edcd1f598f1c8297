"""golden_scenes.py: three small scenes whose hashes are kept in golden.json.

As a script it prints the hashes of all scenes for a number of threads, or with --write stores them: after an intended
change of results, with a line in the changelog.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

import granular_gym as gg
from testbed.beds import DENSITY, DT, RADIUS, column_scene, lattice

GOLDEN = Path(__file__).with_name("golden.json")
STEPS, SUBSTEPS = 8, 25


def column() -> gg.Scene:
    """A column of equal grains that falls into a box and settles."""
    return column_scene(700, 5.0, rolling=0.1, restitution=0.3)


def heap_with_tool() -> gg.Scene:
    """A heap on a floor without walls, pushed by a rotating blade of two parts."""
    scene = gg.Scene(((-0.3, -0.3, 0.0), (0.3, 0.3, 0.6)), boundary={"x": "open", "y": "open", "z": ("wall", "open")})
    sand = scene.add_material(density=DENSITY, friction=0.5, rolling_friction=0.3)
    steel = scene.add_material(density=7800.0, friction=0.3)
    scene.add_grains(sand, lattice(500, 4.0), RADIUS)
    blade = gg.Sdf.union(gg.Sdf.box((0.008, 0.06, 0.03)), gg.Sdf.capsule(0.01, 0.05).at((0.01, 0.0, 0.03)))
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.12, 0.0, 0.04, 1.0, 0.0, 0.0, 0.0))
    return scene


def mixed_sizes() -> gg.Scene:
    """Grains of radii 1 to 10 that fall and slide in a box that is periodic along x."""
    boundary = {"x": "periodic", "y": "wall", "z": ("wall", "open")}
    scene = gg.Scene(((-0.25, -0.1, 0.0), (0.25, 0.1, 1.0)), gravity=(2.0, 0.0, -9.81), boundary=boundary)
    sand = scene.add_material(density=DENSITY, friction=0.4, restitution=0.2, rolling_friction=0.2)
    dust = scene.add_material(density=1500.0, friction=0.7, rolling_friction=0.1)
    scene.add_grains(sand, [[-0.15, 0.0, 0.06], [0.12, 0.03, 0.06]], 10.0 * RADIUS)
    scene.fill_box(sand, (-0.25, -0.1, 0.12), (0.25, 0.1, 0.2), count=80, radius=(RADIUS, 3.0 * RADIUS), seed=1)
    scene.fill_box(dust, (-0.25, -0.1, 0.21), (0.25, 0.1, 0.4), count=500, radius=RADIUS, seed=2)
    return scene


SCENES: dict[str, Callable[[], gg.Scene]] = {
    "column": column,
    "heap_with_tool": heap_with_tool,
    "mixed_sizes": mixed_sizes,
}


def drive(world: gg.World, begin: int = 0, end: int = STEPS) -> list[int]:
    """Steps a world of one of the scenes from step `begin` on; the hash of env 0 after each step.

    The tool's path uses no library functions, only sums and products.
    """
    seen = []
    for k in range(begin, end):
        poses = None
        if world.tool_count:
            s = (k + 1) / STEPS
            poses = [[-0.12 + 0.2 * s, 0.02 * s * s, 0.04, 1.0 - 0.125 * s * s, 0.0, 0.0, 0.5 * s]]
        world.step(DT, SUBSTEPS, tool_poses=poses)
        seen.append(world.state_hash(0))
    return seen


#: scenes and settings of the solver
CASES: dict[str, tuple[str, dict[str, object]]] = {
    **{name: (name, {}) for name in SCENES},
    **{f"{name}_jacobi": (name, {"mode": "jacobi"}) for name in SCENES},
}


def build(name: str, solver: dict[str, object] | None = None, **arguments: object) -> gg.World:
    """The world of a case, with other settings of the solver where they are given."""
    scene, settings = CASES[name]
    return SCENES[scene]().build(solver=gg.Solver(**{**settings, **(solver or {})}), **arguments)


def final_hash(name: str, num_threads: int = 1, kernel: str | None = None, **solver: object) -> int:
    """Hash of a case after its last step, on the CPU."""
    with build(name, solver, device="cpu", num_threads=num_threads) as world:
        if kernel is not None:
            world._core.set_kernel(kernel)
        return drive(world)[-1]


if __name__ == "__main__":
    if "--write" in sys.argv:
        GOLDEN.write_text(json.dumps({name: f"{final_hash(name):016x}" for name in CASES}, indent=4) + "\n")
    else:
        print(json.dumps({name: f"{final_hash(name, num_threads=int(sys.argv[1])):016x}" for name in CASES}))
