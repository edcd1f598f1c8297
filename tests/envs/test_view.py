"""The live view: surfaces of tools, the server, the controls, and the command line."""

from __future__ import annotations

import math
import threading
import time
import urllib.request
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from env_helpers import SMALL, small

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.tasks.registry import task_ids

pytest.importorskip("viser", reason="viser is not installed")
pytest.importorskip("skimage", reason="scikit-image is not installed")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")

from granular_gym.exchange.surfaces import tool_surface  # noqa: E402
from granular_gym.viewing.view import Viewer, view  # noqa: E402

BALL, TURNED = (0.1, 0.2, 0.3), (math.cos(0.3), math.sin(0.3), 0.0, 0.0)


@pytest.fixture
def world() -> Iterator[gg.World]:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    sand = scene.add_material(radius=0.05, density=1600.0)
    scene.fill_box(sand, (-0.5, -0.5, 0.0), (0.5, 0.5, 0.3), 40)
    scene.add_tool(gg.Sdf.box((0.1, 0.2, 0.05)), name="blade", pose=(0.0, 0.0, 0.8))
    with scene.build(env_count=2, num_threads=1) as world:
        yield world


@pytest.fixture
def viewer(world: gg.World) -> Iterator[Viewer]:
    with Viewer(world, port=0) as viewer:
        yield viewer


@pytest.mark.parametrize(
    "sdf, volume",
    [
        (gg.Sdf.box((0.1, 0.2, 0.3)), 0.048),
        (gg.Sdf.sphere(0.2), 4.0 / 3.0 * math.pi * 0.2**3),
        (gg.Sdf.capsule(0.1, 0.2), math.pi * 0.1**2 * (0.4 + 4.0 / 3.0 * 0.1)),
        (gg.Sdf.cylinder(0.1, 0.2), math.pi * 0.1**2 * 0.4),
        (gg.Sdf.cone(0.1, 0.05, 0.2), math.pi * 0.4 / 3.0 * (0.01 + 0.005 + 0.0025)),
        (gg.Sdf.cone(0.1, 0.0, 0.2), math.pi * 0.4 / 3.0 * 0.01),
    ],
)
def test_surfaces_of_primitives_hold_their_volume(sdf: gg.Sdf, volume: float) -> None:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=1000.0)
    scene.add_tool(gg.Sdf.box((0.3, 0.3, 0.3)))
    scene.add_tool(sdf.at(BALL, TURNED))
    solid = trimesh.Trimesh(*tool_surface(scene.freeze(), 1))
    assert solid.is_watertight and solid.volume == pytest.approx(volume, rel=0.025)
    assert solid.bounds.mean(axis=0) == pytest.approx(BALL, abs=0.05), "cones are not alike at both ends"


def test_surfaces_of_grids_are_the_meshes_they_were_made_from() -> None:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=1000.0)
    meshes = [gg.load_mesh(gg.asset_path(f"bulldozer_{name}.stl")) for name in ("blade", "hull")]
    for mesh in meshes:
        scene.add_tool(gg.Sdf.from_mesh(mesh, spacing=0.03, cache=False))
    for index, mesh in enumerate(meshes):
        solid = trimesh.Trimesh(*tool_surface(scene.freeze(), index))
        assert solid.bounds == pytest.approx(np.array(mesh.bounds), abs=0.03)
        assert solid.volume == pytest.approx(trimesh.Trimesh(mesh.vertices, mesh.faces).volume, rel=0.15)


def test_endless_tools_reach_as_far_as_the_scene() -> None:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=1000.0)
    scene.add_tool(gg.Sdf.plane())
    scene.add_tool(gg.Sdf.cavity(0.2))
    places, faces = tool_surface(scene.freeze(), 0)
    assert np.ptp(places, axis=0) == pytest.approx([6.0, 6.0, 0.0], abs=0.05)
    assert (trimesh.Trimesh(places, faces).face_normals @ [0.0, 0.0, 1.0] > 0.99).all()
    places, _ = tool_surface(scene.freeze(), 1)
    assert np.hypot(places[:, 0], places[:, 1]) == pytest.approx(np.full(len(places), 0.2), abs=1e-6)


def test_the_page_is_served_and_what_moves_is_sent(world: gg.World, viewer: Viewer) -> None:
    page = urllib.request.urlopen(viewer.url, timeout=20).read()
    assert b"<html" in page
    assert viewer.viewer_count == 0
    pose = np.array([[0.3, 0.1, 0.6, 1.0, 0.0, 0.0, 0.0]])
    for _ in range(3):
        world.step(dt=2e-3, substeps=10, tool_poses=pose)
        viewer._sent = -np.inf  # pictures sent too soon after the last one are left out
        viewer.update(0.0, "text")
    assert np.array_equal(viewer._grains.batched_positions, world.positions[0])
    assert viewer._tools[0].position == pytest.approx((0.3, 0.1, 0.6))
    world.set_grains(positions=world.positions[1] + [0.0, 0.0, 0.1], envs=1)
    viewer.env = 1
    viewer._sent = -np.inf
    viewer.update()
    assert np.array_equal(viewer._grains.batched_positions, world.positions[1])


def test_pause_step_and_reset(viewer: Viewer) -> None:
    viewer.paused = True
    passed = threading.Event()

    def wait() -> None:
        viewer.update(0.01)
        passed.set()

    for release in ("step", "reset", "run"):
        passed.clear()
        thread = threading.Thread(target=wait, daemon=True)
        thread.start()
        assert not passed.wait(0.1), "paused: update waits"
        if release == "step":
            viewer._steps += 1
        elif release == "reset":
            viewer._reset = True
        else:
            viewer.paused = False
        assert passed.wait(20.0), release
        assert viewer.reset_asked() is (release == "reset")
        thread.join()
    assert viewer.reset_asked() is False


def test_closing_frees_the_port_and_ends_a_wait(world: gg.World) -> None:
    viewer = Viewer(world, port=0)
    url = viewer.url
    viewer.paused = True
    thread = threading.Thread(target=viewer.update, daemon=True)
    thread.start()
    time.sleep(0.05)
    viewer.close()
    viewer.close()
    thread.join(20.0)
    assert not thread.is_alive() and viewer.closed and not world.closed
    with pytest.raises(OSError):
        urllib.request.urlopen(url, timeout=5)
    with pytest.raises(gg.ClosedError):
        viewer.update()


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({"env": 2}, "env"),
        ({"port": -1}, "port"),
        ({"port": "8080"}, "port"),
        ({"host": ""}, "host"),
        ({"grain_colors": np.zeros((3, 3))}, "grain_colors"),
        ({"tool_colors": [[300, 0, 0]]}, "tool_colors"),
    ],
)
def test_bad_arguments_open_no_server(world: gg.World, arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        Viewer(world, **{"port": 0, **arguments})
    with pytest.raises(gg.ArgumentError, match="world"):
        Viewer("no")  # type: ignore[arg-type]


@pytest.mark.parametrize("name", task_ids())
def test_every_task_is_viewed(name: str) -> None:
    said: list[str] = []
    view(name, steps=2, port=0, arguments=small(name), say=said.append)
    assert len(said) == 1 and "http://localhost:" in said[0]


def test_episodes_of_a_batch_go_on(capsys: Any) -> None:
    arguments = {**SMALL, "max_episode_steps": 2}
    view("bulldozer", policy="random", env_count=2, steps=5, port=0, arguments=arguments, say=print)
    view("bulldozer", env_count=1, steps=3, port=0, arguments=arguments, say=print)
    assert main(["view", "silo", "--policy", "nothing", "--port", "0", "--arg", "grain_count=60"]) == 2
    assert "policy: expected" in capsys.readouterr().err
    assert main(["view", "silo", "--port", "70000", "--arg", "grain_count=60", "--steps", "1"]) == 2
    assert "port" in capsys.readouterr().err
