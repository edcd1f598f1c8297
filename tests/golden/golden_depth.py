"""golden_depth.py: the scenes whose depth images are stored in depth.npz.

As a script it compares images, with --write it stores them, with --show FOLDER it writes them as pictures. After an
intended change of images run --write, and add a line to the changelog.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from granular_gym.envs.bulldozer import BulldozerTask

GOLDEN = Path(__file__).with_name("depth.npz")
Images = dict[str, NDArray[np.float32]]


def bulldozer(num_threads: int = 1) -> Images:
    """The images of the task's two cameras: the blade before a heap after 0.1 s of fall, in two envs."""
    task = BulldozerTask(2, grain_count=500, num_threads=num_threads)
    with task.build() as world:
        poses = np.zeros((2, world.tool_count, 7), np.float32)
        poses[:, :, 3] = 1.0
        poses[0, :, 0] = -1.1
        # rotated by a 3-4-5 triangle and moved, without library functions
        poses[1, :] = (0.7, -0.9, 0.0, 0.6, 0.0, 0.0, 0.8)
        world.set_tool_poses(poses)
        world.step(task.pace.dt, 20)
        return {f"bulldozer {name}": world.depth(name) for name in ("ego", "sky")}


def zoo_solids() -> list[gg.Sdf]:
    """Every kind of bounded solid."""
    n = np.arange(9) - 4.0
    z, y, x = np.meshgrid(n, n, n, indexing="ij")
    # a ball with a notch
    ball = np.maximum(np.sqrt(x * x + y * y + z * z) - 3.0, 2.0 - np.sqrt((x - 3.0) ** 2 + y * y + z * z))
    grid = gg.SdfGrid((0.02 * ball).astype(np.float32), 0.02, (-0.08, -0.08, -0.08))
    return [
        gg.Sdf.sphere(0.06),
        gg.Sdf.box((0.06, 0.04, 0.03)),
        gg.Sdf.capsule(0.03, 0.05),
        gg.Sdf.cylinder(0.05, 0.04),
        gg.Sdf.cone(0.06, 0.02, 0.05),
        gg.Sdf.cone(0.05, 0.0, 0.05),
        gg.Sdf.from_grid(grid),
        gg.Sdf.union(gg.Sdf.box((0.07, 0.015, 0.015)), gg.Sdf.sphere(0.03).at((0.05, 0.0, 0.03))),
    ]


def zoo_scene() -> gg.Scene:
    """Solids of every kind, upright and tilted, grains of three sizes between them, over a floor, in a round wall."""
    boundary = {"x": "open", "y": "open", "z": ("wall", "open")}
    scene = gg.Scene(((-1.0, -1.0, 0.0), (1.0, 1.0, 1.0)), boundary=boundary)
    sand = scene.add_material(density=1600.0)
    for k, solid in enumerate(zoo_solids()):
        x, y = 0.2 * (k % 4) - 0.3, 0.25 * (k // 4) - 0.12
        scene.add_tool(solid, pose=(x, y, 0.09, 1.0, 0.0, 0.0, 0.0))
        scene.add_tool(solid, pose=(x, y + 0.05, 0.28, 0.5, 0.5, 0.1, 0.7))
    scene.add_tool(gg.Sdf.cavity(1.3))
    k = np.arange(60)
    places = np.stack([0.07 * (k % 12) - 0.38, 0.09 * (k // 12) - 0.2, 0.02 + 0.004 * (k % 7)], axis=1)
    scene.add_grains(sand, places, 0.008 + 0.006 * (k % 3))
    return scene


def zoo(num_threads: int = 1) -> Images:
    """Images of cameras of both kinds."""
    scene = zoo_scene()
    views: dict[str, dict[str, Any]] = {
        "side": {"position": (0.5, -0.9, 0.6), "target": (0.0, 0.0, 0.1)},
        "above": {"position": (0.0, 0.0, 1.0), "target": (0.0, 0.0, 0.0)},
    }
    far = {"near": 0.05, "far": 3.0}
    scene.add_camera(gg.DepthCamera.perspective(height=48, width=64, fov=0.6, **views["side"], **far), name="side")
    scene.add_camera(
        gg.DepthCamera.orthographic(height=48, width=64, extent=0.3, **views["above"], **far), name="above"
    )
    scene.add_camera(
        gg.DepthCamera.orthographic(height=48, width=64, extent=0.35, **views["side"], **far), name="slant"
    )
    with scene.build(num_threads=num_threads, overlaps="ignore") as world:
        return {f"zoo {name}": world.depth(name) for name in ("side", "above", "slant")}


SCENES = {"bulldozer": bulldozer, "zoo": zoo}


def images(num_threads: int = 1) -> Images:
    """All of them, by name."""
    return {name: image for scene in SCENES.values() for name, image in scene(num_threads).items()}


def stored() -> Images:
    """The stored images."""
    with np.load(GOLDEN) as file:
        return {name: file[name] for name in file.files}


def differences(now: Images, kept: Images) -> list[str]:
    """Differences of bits, in words."""
    found = [
        f"{name}: only in {place}"
        for name, place in [
            *((name, "the file") for name in kept.keys() - now.keys()),
            *((name, "the code") for name in now.keys() - kept.keys()),
        ]
    ]
    for name in sorted(now.keys() & kept.keys()):
        if now[name].shape != kept[name].shape:
            found.append(f"{name}: shape {now[name].shape}, kept {kept[name].shape}")
            continue
        other = now[name].view(np.int32) != kept[name].view(np.int32)
        if other.any():
            worst = float(np.abs(now[name] - kept[name]).max())
            found.append(f"{name}: {int(other.sum())} of {other.size} pixels, by up to {worst:g} m")
    return found


def main() -> None:
    """Compares, stores or shows."""
    now = images()
    if "--write" in sys.argv:
        np.savez_compressed(GOLDEN, **now)
    elif "--show" in sys.argv:
        folder = Path(sys.argv[sys.argv.index("--show") + 1])
        folder.mkdir(parents=True, exist_ok=True)
        for name, image in now.items():
            flat = np.concatenate(list(image), axis=1)
            grey = 255.0 * (flat - flat.min()) / (flat.max() - flat.min())
            gg.write_png(folder / f"{name.replace(' ', '_')}.png", grey.astype(np.uint8))
    else:
        print("\n".join(differences(now, stored())) or "the same")


if __name__ == "__main__":
    main()
