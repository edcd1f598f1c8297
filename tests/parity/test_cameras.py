"""Cameras on the CPU and on a GPU: depths, ids and colours of solids of every kind, and images larger than the shared
memory of a block."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg

sys.path.insert(0, str(Path(__file__).parents[1] / "golden"))

from golden_depth import zoo_scene

from testbed.continuum import EYES, shown
from testbed.planar import COARSE

#: pixels in the shared memory of a block (GG_TILE in csrc/backend/cuda/team.cuh)
TILE = 8192
SIDE = {"position": (0.5, -0.9, 0.6), "target": (0.0, 0.0, 0.1), "near": 0.05, "far": 3.0}
VIEWS: dict[str, gg.DepthCamera] = {
    # two bands of 64 rows, each of them full
    "perspective": gg.DepthCamera.perspective(height=128, width=128, fov=0.6, **SIDE),
    # bands of unequal height
    "orthographic": gg.DepthCamera.orthographic(height=100, width=120, extent=0.35, **SIDE),
    # a row larger than shared memory: it is drawn in global memory
    "wide": gg.DepthCamera.orthographic(height=2, width=TILE + 100, extent=2e-4, **SIDE),
    # from between the solids, so that some lie behind and some cut the nearest plane
    "inside": gg.DepthCamera.perspective(
        height=40, width=60, fov=1.6, position=(0.0, 0.0, 0.2), target=(0.3, 0.1, 0.1), near=0.02, far=3.0
    ),
}


@pytest.mark.filterwarnings("ignore::granular_gym.errors.SdfWarning")  # no grain moves
@pytest.mark.parametrize("name", VIEWS)
def test_images(name: str) -> None:
    """All pixels, in two envs with different grains, and the images for learners."""
    images: dict[str, list[Any]] = {}
    for device in ("cpu", "cuda"):
        scene = zoo_scene()
        scene.add_camera(VIEWS[name], name=name)
        with scene.build(env_count=2, device=device, num_threads=1, overlaps="ignore") as world:
            world.set_grains(positions=world.positions[:1] + np.float32((0.01, 0.02, 0.03)), envs=[1])
            images[device] = [world.depth(name), world.depth(name, limits=(0.2, 1.2), dtype="uint8")]
            images[device] += [world.segmentation(name), world.color(name), world.depth(name)]
            own = np.random.default_rng(1).integers(0, 256, (2, world.grain_count, 3))
            world.paint(grain_colors=own)
            for floor in (False, True):
                images[device].append(world.segmentation(name, dtype="uint8", far_is_floor=floor))
                images[device].append(world.color(name, far_is_floor=floor, channels_first=floor))
            if device == "cuda":
                for read in (world.segmentation, world.color, partial(world.segmentation, dtype="uint8")):
                    np.testing.assert_array_equal(read(name, "device").numpy(), read(name))
    for one, other in zip(images["cpu"], images["cuda"], strict=True):
        np.testing.assert_array_equal(one, other)
    depth = images["cpu"][0]
    assert depth.shape == (2, VIEWS[name].height, VIEWS[name].width)
    # the images are not empty, and the envs differ
    assert len(np.unique(depth)) > 0.1 * depth[0].size and (depth[0] != depth[1]).any()
    seen = images["cpu"][2]
    assert len(np.unique(seen)) > 1 and (seen[0] != seen[1]).any()
    # depths are the same with ids kept and without
    np.testing.assert_array_equal(images["cuda"][4], images["cuda"][0])


@pytest.mark.parametrize("name", EYES)
def test_images_of_matter(name: str) -> None:
    """All pixels, in two envs of which one has a particle far away, and a picture of each."""
    images: dict[str, list[Any]] = {}
    for device in ("cpu", "cuda"):
        with shown().build(env_count=2, device=device, num_threads=1) as world:
            before = world.depth(name)
            places = world.positions[:1].copy() + np.float32((0.003, 0.002, 0.001))
            places[0, -1] = 4e3, -5e3, 6e3
            world.set_grains(positions=places, envs=[1])
            pictures = [world.picture(name, env) for env in range(2)]
            images[device] = [before, world.depth(name), world.picture_depth(name, 1), *pictures]
            images[device] += [world.segmentation(name), world.color(name), world.depth(name)]
    for one, other in zip(images["cpu"], images["cuda"], strict=True):
        np.testing.assert_array_equal(one, other)
    depth = images["cpu"][1]
    assert len(np.unique(depth)) > 0.1 * depth[0].size and (depth[0] != depth[1]).any()


def test_images_of_planar_grains() -> None:
    """Outlines from the front and aslant, whose edges are seen then."""
    images: dict[str, list[Any]] = {}
    shape = gg.Shape2D.octagon(0.1)
    slant = gg.DepthCamera.perspective(
        height=50, width=60, fov=0.9, position=(1.2, 1.5, 1.5), target=(0.5, 0.5, 0.0), far=5.0
    )
    for device in ("cpu", "cuda"):
        scene = gg.Scene(bounds=((0, 0), (1, 1)))
        scene.add_material(density=1000.0, shape=shape)
        scene.set_pair_field(gg.PairField.build(shape, shape, **COARSE))
        scene.add_grains(0, [(0.3, 0.5), (0.7, 0.5), (0.5, 0.8)], angles=[0.0, 0.4, 1.1])
        scene.add_camera(slant, name="slant")
        with scene.build(env_count=2, device=device, num_threads=1) as world:
            images[device] = [world.segmentation("slant"), world.color("slant"), world.depth("slant")]
    for one, other in zip(images["cpu"], images["cuda"], strict=True):
        np.testing.assert_array_equal(one, other)
    assert {0, 1, 2} <= set(np.unique(images["cpu"][0]).tolist())
