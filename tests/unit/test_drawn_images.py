"""What is drawn when cameras are read: one camera, and of each env only what has changed since."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import granular_gym as gg

ENVS = 3
DT = 1e-3


def two_cameras() -> gg.Scene:
    """A few grains and a ball, seen from above and from the ball."""
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 0.5)))
    sand = scene.add_material(radius=0.02, density=1500.0)
    scene.add_grains(sand, [[0.06 * (k % 5 - 2), 0.06 * (k // 5 - 2), 0.03] for k in range(25)])
    scene.add_tool(gg.Sdf.sphere(0.03), name="ball", pose=(0.0, 0.0, 0.2))
    place: dict[str, Any] = {"position": (0.0, 0.0, 0.5), "target": (0.0, 0.0, 0.0), "far": 1.0}
    scene.add_camera(gg.DepthCamera.orthographic(height=19, width=12, extent=0.2, **place), name="sky")
    place["position"] = (0.0, 0.0, 0.1)
    scene.add_camera(gg.DepthCamera.perspective(height=8, width=8, fov=1.2, **place), name="eye", tool="ball")
    return scene


@pytest.fixture
def world() -> Any:
    with two_cameras().build(env_count=ENVS, num_threads=1) as made:
        made.step(DT, 2)
        yield made


def drawn(world: gg.World, call: Callable[[], Any]) -> int:
    """Images drawn by a call."""
    before = world.info["drawn"]
    call()
    return int(world.info["drawn"] - before)


def test_camera_is_drawn_when_read_alone(world: gg.World) -> None:
    assert world.info["drawn"] == 0
    assert drawn(world, lambda: world.depth("sky")) == ENVS
    assert drawn(world, lambda: world.depth("sky", limits=(0.1, 0.4), dtype="uint8")) == 0
    assert drawn(world, lambda: world.height_map("sky")) == 0
    assert drawn(world, lambda: world.depth(1)) == ENVS
    assert drawn(world, lambda: world.results(world.request(images=[("eye",), ("sky",)]))) == 0
    assert drawn(world, lambda: world.step(DT)) == 0
    assert drawn(world, lambda: world.results(world.request(images=[("eye",), ("eye", None, "uint8")]))) == ENVS
    assert drawn(world, lambda: world.results(world.request(images=[("sky",)]), images=False)) == 0


def test_pictures_draw_no_images(world: gg.World) -> None:
    assert drawn(world, lambda: world.picture("sky", env=1)) == 0
    assert drawn(world, lambda: world.picture_depth("sky", env=1)) == 0


CHANGES: dict[str, Callable[[gg.World], Any]] = {
    "grains": lambda world: world.set_grains(world.positions[1:2] + np.float32(0.01), envs=[1]),
    "transform": lambda world: world.transform_grains((0.02, 0.0, 0.0), 0.5, envs=[1]),
    "poses": lambda world: world.set_tool_poses([[0.05, 0.0, 0.25, 1, 0, 0, 0]], envs=1),
    "active": lambda world: world.set_tool_active("ball", False, envs=[1]),
    "state": lambda world: world.load_state(world.save_state(env=2), envs=[1]),
}


@pytest.mark.parametrize("change", CHANGES)
def test_env_that_changed_is_drawn_alone(world: gg.World, change: str) -> None:
    """What is drawn is what a world shows that draws everything."""
    world.transform_grains((0.01, 0.0, 0.0), 0.2, envs=[2])
    before = {name: world.depth(name) for name in ("sky", "eye")}
    CHANGES[change](world)
    assert drawn(world, lambda: world.depth("sky")) == 1
    assert drawn(world, lambda: world.depth("eye")) == 1
    after = {name: world.depth(name) for name in ("sky", "eye")}
    assert not np.array_equal(after["sky"][1], before["sky"][1])
    # loading a state marks every env: all are drawn again
    world.load_state(world.save_state())
    for name in ("sky", "eye"):
        assert np.array_equal(after[name][[0, 2]], before[name][[0, 2]])
        assert drawn(world, lambda name=name: world.depth(name)) == ENVS  # type: ignore[misc]
        assert np.array_equal(world.depth(name), after[name])


def test_nothing_changes_where_no_env_is_listed(world: gg.World) -> None:
    world.depth("sky")
    world.set_tool_poses(np.zeros((0, 1, 7), np.float32), envs=np.zeros(0, np.int32))
    assert drawn(world, lambda: world.depth("sky")) == 0


def test_depth_of_a_picture(world: gg.World) -> None:
    """A camera gives the same depth in the scene and without it, on a tool as well."""
    world.set_tool_poses([[0.05, 0.02, 0.25, 1, 0, 0, 0]], envs=1)
    frozen = world._frozen.cameras
    for name, tool in (("sky", None), ("eye", "ball")):
        for env in range(ENVS):
            seen = world.depth(name)[env]
            assert np.array_equal(world.picture_depth(name, env), seen)
            assert np.array_equal(world.picture_depth(frozen[name].camera, env, tool=tool), seen)
    with pytest.raises(gg.ArgumentError, match="env"):
        world.picture_depth("sky", ENVS)
    with pytest.raises(gg.ArgumentError, match="tool"):
        world.picture_depth("eye", tool="ball")
    with pytest.raises(gg.ArgumentError, match="camera"):
        world.picture_depth("ear")
