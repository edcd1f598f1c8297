"""The live view: surfaces of tools, the server, the controls, and the command line."""

from __future__ import annotations

import math
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import NEWEST, SMALL, small

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.tasks.registry import task_ids

pytest.importorskip("viser", reason="viser is not installed")
pytest.importorskip("skimage", reason="scikit-image is not installed")
trimesh = pytest.importorskip("trimesh", reason="trimesh is not installed")

from granular_gym.exchange.surfaces import tool_surface  # noqa: E402
from granular_gym.tasks.actions import ActionPart  # noqa: E402
from granular_gym.viewing.drive_panel import CAMERA_KEYS, KEYS  # noqa: E402
from granular_gym.viewing.panel import RESET, numbers_table  # noqa: E402
from granular_gym.viewing.played import Played, check_alike, difference  # noqa: E402
from granular_gym.viewing.series import CAPACITY, Series  # noqa: E402
from granular_gym.viewing.ticks import ticks_of  # noqa: E402
from granular_gym.viewing.units import name_and_unit  # noqa: E402
from granular_gym.viewing.view import Look, Viewer, view  # noqa: E402

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
    shown = viewer._views[0]
    assert np.array_equal(shown.grains.batched_positions, world.positions[0])
    assert shown.tools[0].position == pytest.approx((0.3, 0.1, 0.6))
    world.set_grains(positions=world.positions[1] + [0.0, 0.0, 0.1], envs=1)
    viewer.env = 1
    viewer._sent = -np.inf
    viewer.update()
    assert np.array_equal(shown.grains.batched_positions, world.positions[1])


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
            viewer._panel.steps += 1
        elif release == "reset":
            viewer._panel._ask(RESET)
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
        ({"tool_colors": [[30, 0, 0]], "look": Look()}, "look"),
        ({"look": Look(grain_colors=lambda env: np.zeros((3, 3)))}, "grain_colors"),
        ({"plots": [3]}, "plots"),
        ({"record": "film.gif"}, "record: expected a file that ends in .mp4"),
        ({"beside": "no"}, "beside"),
    ],
)
def test_bad_arguments_open_no_server(world: gg.World, arguments: dict[str, Any], word: str) -> None:
    with pytest.raises(gg.ArgumentError, match=word):
        Viewer(world, **{"port": 0, **arguments})
    with pytest.raises(gg.ArgumentError, match="world"):
        Viewer("no")  # type: ignore[arg-type]


def test_a_second_world_must_be_like_the_first(world: gg.World) -> None:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    scene.add_material(radius=0.05, density=1600.0)
    scene.add_tool(gg.Sdf.box((0.1, 0.2, 0.05)), name="spade")
    with scene.build(env_count=1) as one, scene.build(env_count=2) as two:
        for other, word in ((one, "envs"), (two, "tools")):
            with pytest.raises(gg.ArgumentError, match=f"beside: expected a world with the same {word}"):
                Viewer(world, port=0, beside=other)


def test_a_port_in_use_is_refused(world: gg.World, viewer: Viewer) -> None:
    with pytest.raises(gg.ArgumentError, match=f"port: expected one that is free.*got {viewer.port}, which is in use"):
        Viewer(world, port=viewer.port)


def test_values_of_an_env_are_shown_with_their_units(viewer: Viewer) -> None:
    values = {
        "mass": [1.5, 2.5],
        "depth [mm]": 3,
        "goal": [1.0, 2.0, 3.0],
        "clogged": np.array([True, False]),
        "x": "no",
    }
    viewer.env = 1
    viewer._told = -np.inf
    viewer.update(0.5, values=values)
    viewer._told = -np.inf
    viewer.update(0.5, values=values)
    table = viewer._panel._numbers.content
    for name, number, unit in (
        ("mass", "2.5", "kg"),
        ("depth", "3", "mm"),
        ("clogged", "no", "-"),
        ("step", "2", "1"),
        ("time", "1", "s"),
        ("grains", "40", "1"),
        ("threads", "1", "1"),
    ):
        row = table[table.index(f">{name}<") :].partition("</tr>")[0]
        assert f">{number}<" in row and f">{unit}<" in row, row
    assert ">goal<" not in table and ">x<" not in table
    viewer.restart([False, True])
    viewer._told = -np.inf
    viewer.update(0.5, values=values)
    assert viewer._steps.tolist() == [3, 1] and viewer._times.tolist() == [1.5, 0.5]
    for bad in (3, [{}, {}], "ab"):
        with pytest.raises(gg.ArgumentError, match="values: expected a mapping"):
            viewer.update(values=bad)  # type: ignore[arg-type]


def test_a_table_of_two_worlds_has_a_column_for_each() -> None:
    table = numbers_table([{"mass": 1.25}, {"mass": 2, "rate": 3.0}], ["a<b", "c"])
    texts = [line.split(">")[1] for line in table.replace("<b>", "").replace("</b>", "").split("<td")[1:]]
    cells = [text.partition("</td")[0] for text in texts]
    assert cells == ["", "a&lt;b", "c", "", "mass", "1.25", "2", "kg", "rate", "", "3", "kg/s"]


@pytest.mark.parametrize("name", task_ids())
def test_every_number_of_every_task_has_a_unit(name: str) -> None:
    env = gym.make(name, **small(name))
    env.reset(seed=0)
    info = env.step(env.action_space.sample())[-1]
    env.close()
    numbers = [key for key, value in info.items() if np.ndim(value) == 0]
    assert len(numbers) > 5 and not [key for key in numbers if not name_and_unit(key)[1]]


def test_units_of_counters_are_those_of_their_page() -> None:
    page = (Path(__file__).parents[2] / "docs" / "counters.md").read_text()
    rows = [line.split("|")[1:4] for line in page.splitlines() if line.startswith("| `")]
    told = {name.strip(" `"): unit.strip() for name, _, unit in rows}
    for name in ("residual", "contact_count", "escaped_count", "fast_count", "fast_tool_count"):
        assert name_and_unit(name)[1] == told[name], name


def test_what_randomize_draws_has_units() -> None:
    ranges = gg.MaterialRanges(
        ("sand", "steel"), friction=(0, 1), restitution=(0, 1), rolling_friction=(0, 1), twisting_friction=(0, 1),
        cohesion=(0, 1), cohesion_range=(1e-3, 1e-3), density=(1e3, 2e3), air_density=(1, 1), viscosity=(0, 1),
    )  # fmt: skip
    units = {label: name_and_unit(label)[1] for label in ranges.labels}
    assert units["sand_steel_cohesion"] == "N/m" and units["sand_density"] == "kg/m3"
    assert all(units.values()), units


def test_a_series_of_any_length_is_even_and_bounded() -> None:
    series = Series(1)
    for step in range(5 * CAPACITY):
        series.add(float(step), np.array([2.0 * step]))
    times = series.times
    assert CAPACITY // 2 <= len(times) <= CAPACITY and times[0] == 0.0 and times[-1] > 4.9 * CAPACITY
    assert len(set(np.diff(times))) == 1 and np.array_equal(series.rows[:, 0], 2.0 * times)
    series.clear()
    assert len(series) == 0


@pytest.mark.parametrize(
    "values, texts",
    [
        ([], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([0.0, math.nan], ["0", "0.2", "0.4", "0.6", "0.8", "1.0"]),
        ([-1050.0, 150.0], ["-1000", "-500", "0"]),
        ([-70_000.0, 20_000.0], ["-60k", "-40k", "-20k", "0", "20k"]),
        ([1.0001, 1.0004], ["1.0001", "1.0002", "1.0003", "1.0004"]),
        ([-3e-4, 0.0], ["-3e-4", "-2e-4", "-1e-4", "0"]),
        ([3.5e6, math.inf, 1e6], ["1.0M", "1.5M", "2.0M", "2.5M", "3.0M", "3.5M"]),
        ([1234567.0, 1234567.3], ["0", "0.5M", "1.0M"]),
        ([99_999.0, 100_000.0], ["99.999k", "100.000k"]),
    ],
)
def test_numbers_along_an_axis(values: list[float], texts: list[str]) -> None:
    assert list(ticks_of(values).texts) == texts


def test_numbers_along_any_axis_differ_and_are_short() -> None:
    random = np.random.default_rng(0)
    scales = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
    for _ in range(2000):
        sizes = 10.0 ** random.uniform(-9, 20, 2)
        values = sizes[0] * random.normal(size=3) + random.choice([0.0, sizes[1]])
        ticks = ticks_of(values)
        assert 2 <= len(ticks.texts) == len(set(ticks.texts)) <= 6, ticks
        assert max(map(len, ticks.texts)) <= 11, ticks
        read = [float(text.rstrip("kMGT")) * scales[text.lstrip("-.e0123456789")] for text in ticks.texts]
        assert read == pytest.approx(ticks.places, rel=1e-9, abs=0.0), ticks
        rest = 1e-5 * np.abs(values).max()
        assert ticks.lower - rest <= values.min() and values.max() <= ticks.upper + rest, (values, ticks)


def test_plots_show_the_wrench_on_the_tool_and_the_values(world: gg.World) -> None:
    with Viewer(world, port=0, plots=("height [m]",)) as viewer:
        loads = []
        for k in range(4):
            world.step(dt=2e-3, substeps=10, tool_poses=np.array([[0.0, 0.0, 0.8 - 0.25 * k, 1.0, 0.0, 0.0, 0.0]]))
            loads.append(world.wrenches[0, 0].copy())
            viewer._told = -np.inf
            viewer.update(0.02, values={"height [m]": 0.1 * k})
        force, torque = viewer._plots._wrench_plots
        assert np.abs(loads[-1][:3]).max() > 1.0, "the blade met no grains"
        assert "force of the grains on blade [N]" in force.title and "[N m]" in torque.title
        assert np.allclose(np.array(force.data[1:]).T, np.array(loads)[:, :3])
        assert np.allclose(np.array(torque.data[1:]).T, np.array(loads)[:, 3:])
        (height,) = viewer._plots._value_plots
        assert height.title == "height [m]" and np.allclose(height.data, [[0.02, 0.04, 0.06, 0.08], [0, 0.1, 0.2, 0.3]])
        viewer.env = 1
        viewer._told = -np.inf
        viewer.update(0.02)
        assert len(force.data[0]) == 1, "plots begin anew with another env"


def test_browsers_begin_where_the_camera_of_the_look_is(world: gg.World) -> None:
    where: dict[str, Any] = {"height": 4, "width": 4, "position": (0, -3, 1), "target": (0, 1, 1)}
    for camera, half in (
        (gg.DepthCamera.perspective(fov=0.7, **where), 0.35),
        (gg.DepthCamera.orthographic(extent=0.5, far=9.0, **where), math.atan(0.5 / math.hypot(3.0, 0.5))),
    ):
        with Viewer(world, port=0, look=Look(camera=camera)) as viewer:
            seen = viewer._server.initial_camera
            ahead = (seen.look_at - seen.position) / np.linalg.norm(seen.look_at - seen.position)
            assert ahead == pytest.approx([0, 1, 0], abs=1e-6) and seen.position[1] < -3.0, "too near for the panels"
            assert 0.5 * seen.fov == pytest.approx(half, rel=1e-3)


def test_sliders_and_keys_drive(viewer: Viewer) -> None:
    panel = viewer.drive([ActionPart("speed", "forward", "1 m/s"), ActionPart("turn", "turn left", "2 rad/s")])
    assert panel.action().tolist() == [0.0, 0.0]
    for _ in range(15):
        panel.nudge(0, 0.1)
    panel.nudge(1, -0.1)
    assert panel.action() == pytest.approx([1.0, -0.1]), "beyond 1 or not added up"
    panel._spring.value = True
    panel._touched[0] -= 10.0
    assert panel.action() == pytest.approx([0.0, -0.1]), "keys of the second rest only now"
    panel.zero()
    assert panel.action().tolist() == [0.0, 0.0]
    keys = {key for pair in KEYS.pairs for key in pair}
    assert not keys & set(CAMERA_KEYS), "a key turns the camera, too"
    with pytest.raises(gg.ArgumentError, match="parts"):
        viewer.drive(["speed"])  # type: ignore[list-item]


def test_buttons_write_states_and_films(world: gg.World, tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    import imageio_ffmpeg

    said: list[str] = []
    with Viewer(world, port=0, out=tmp_path / "out", say=said.append) as viewer:
        for button in ("save state", "record", None, None, "record", "save state"):
            if button is not None:
                viewer._panel._ask(button)
            world.step(dt=2e-3, substeps=5)
            viewer.update(0.05)
    folder = tmp_path / "out"
    assert sorted(path.name for path in folder.iterdir()) == ["film_001.mp4", "state_001.ggstate", "state_002.ggstate"]
    # asked for before a step's end, a film begins with the next
    assert imageio_ffmpeg.count_frames_and_secs(str(folder / "film_001.mp4"))[0] == 3
    assert [line.split()[0] for line in said] == ["saved", "wrote", "saved"] and str(
        folder / "state_001.ggstate"
    ) in said[0]
    now = world.positions.copy()
    world.load_state(gg.State.load(folder / "state_002.ggstate"), envs=0)
    assert np.array_equal(world.positions, now)
    world.load_state(gg.State.load(folder / "state_001.ggstate"), envs=0)
    assert not np.array_equal(world.positions[0], now[0])


def test_a_file_that_cannot_be_written_is_told_and_ends_nothing(world: gg.World, tmp_path: Path) -> None:
    (tmp_path / "out").write_text("in the way")
    said: list[str] = []
    with Viewer(world, port=0, out=tmp_path / "out", say=said.append) as viewer:
        for button in ("save state", "record", "record"):
            viewer._panel._ask(button)
            viewer.update(0.05)
    assert len(said) >= 2 and said[0].startswith("save state: ") and any(line.startswith("record: ") for line in said)
    with pytest.raises(OSError), Viewer(world, port=0, record=tmp_path / "out" / "film.mp4") as viewer:
        viewer.update(0.05)


@pytest.mark.parametrize("name", NEWEST)
def test_every_task_is_viewed_and_driven(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Viewer, "viewer_count", 1)
    said: list[str] = []
    for drive in (False, True):
        view(name, steps=2, drive=drive, port=0, arguments=small(name), say=said.append)
    assert len(said) == 2 and "http://localhost:" in said[0] and ", driven: http" in said[1]


def test_a_driven_view_rests_while_no_browser_is_connected(monkeypatch: pytest.MonkeyPatch) -> None:
    class Browsers:
        """How many are connected: one for two steps, none, one again."""

        count, steps = 0, 0

    monkeypatch.setattr(Viewer, "viewer_count", property(lambda _: Browsers.count))
    waiting, step = threading.Semaphore(0), Played.step

    def say(text: str) -> None:
        if "no browser is connected" in text:
            waiting.release()

    def stepped(self: Played, action: Any = None) -> Any:
        Browsers.steps += 1
        Browsers.count = int(Browsers.steps not in (2, 4))
        return step(self, action)

    monkeypatch.setattr(Played, "step", stepped)
    given: dict[str, Any] = {"drive": True, "steps": 4, "port": 0, "arguments": SMALL, "say": say}
    thread = threading.Thread(target=view, args=("silo",), kwargs=given, daemon=True)
    thread.start()
    for made in (0, 2):
        assert waiting.acquire(timeout=60.0)
        time.sleep(0.2)
        assert Browsers.steps == made and thread.is_alive(), "it steps while nobody drives"
        Browsers.count = 1
    thread.join(60.0)
    assert not thread.is_alive() and Browsers.steps == 4
    # a policy needs nobody who looks
    Browsers.count, Browsers.steps = 0, 1
    view("silo", steps=2, port=0, arguments=SMALL, say=lambda _: None)
    assert not waiting.acquire(blocking=False)


def test_two_copies_are_stepped_alike_and_filmed(tmp_path: Path) -> None:
    imageio = pytest.importorskip("imageio.v3", reason="imageio is not installed")
    said: list[str] = []
    film = tmp_path / "both.mp4"
    arguments = {"grain_count": 60, "num_threads": 1}
    view(
        "silo", policy="random", beside={"grain_count": 90}, env_count=2, steps=3, port=0, arguments=arguments,
        record=film, say=said.append,
    )  # fmt: skip
    assert said[-1] == f"wrote {film}, 3 pictures"
    pictures = imageio.imread(film)
    assert pictures.shape == (3, 480, 1280, 3)
    left, right = pictures[-1, :, :640].astype(int), pictures[-1, :, 640:].astype(int)
    assert np.abs(left - right).mean() > 1.0, "both are the same world"


def test_labels_tell_what_two_copies_differ_by() -> None:
    given: list[tuple[str | None, dict[str, Any]]] = [
        ("expert", {}),
        ("random", {"preset": "train"}),
        ("expert", {}),
        (None, {"frame_skip": 2}),
        (None, {"shaker": True}),
    ]
    envs = [Played("granular_gym/Silo-v1", policy, 1, 0, {**SMALL, **more}) for policy, more in given]
    try:
        assert difference(envs[0], envs[1]) == ("expert, preset=fast", "random, preset=train")
        assert difference(envs[0], envs[2]) == ("first", "copy")
        with pytest.raises(gg.ArgumentError, match=r"beside: expected a task whose steps last.*0.05 s, got 0.1 s"):
            check_alike(envs[0], envs[3])
        with pytest.raises(gg.ArgumentError, match=r"actions as the first, 3, as both are driven, got 2"):
            check_alike(envs[4], envs[2])
        observed = [each._observation["flow"] for each in (envs[0], envs[1])]
        assert np.array_equal(*observed), "the copies do not begin alike"
    finally:
        for env in envs:
            env.close()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--drive", "--policy", "expert"], "policy: expected none where a person drives"),
        (["--drive", "--beside-policy", "random"], "beside_policy: expected none where a person drives"),
        (["--beside", "grains=3"], "argument: expected one of"),
        (["--beside", "grain_count"], "argument: expected name=value"),
        (["--beside", "frame_skip=2"], "beside: expected a task whose steps last as long"),
        (["--drive", "--beside", "shaker=true"], "beside: expected a task with as many actions"),
        (["--beside", "shaker=wall"], "beside: expected a world with the same tools"),
        (["--beside-policy", "nobody"], "policy: expected one of"),
        (["--arg", "max_episode_steps=0"], "max_episode_steps: expected an integer >= 1, got 0"),
        (["--record", "film.gif"], "record: expected a file that ends in .mp4"),
    ],
)
def test_what_view_refuses(words: list[str], said: str, capsys: Any) -> None:
    assert main(["view", "silo", "--arg", "grain_count=60", "--port", "0", "--steps", "1", *words]) == 2
    error = capsys.readouterr().err
    assert said in error and error.count("\n") == 1


def test_an_untrained_policy_beside_a_trained_one_plays_the_same_task(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("safetensors", reason="safetensors is not installed")
    seen: list[dict[str, Any]] = []
    make = Played.__init__

    def noted(self: Played, *arguments: Any) -> None:
        make(self, *arguments)
        seen.append(self.arguments)

    monkeypatch.setattr(Played, "__init__", noted)
    arguments = {"grain_count": 60, "num_threads": 1}
    for beside in ({}, {"difficulty": "easy"}):
        view(
            "silo", policy="silo-sac", beside_policy="random", beside=beside, steps=1, port=0, arguments=arguments,
            say=lambda _: None,
        )  # fmt: skip
        assert seen[-1] == {**seen[-2], **beside}
    assert seen[0]["frame_skip"] == 2 and seen[0]["grain_count"] == 60


def test_episodes_of_a_batch_go_on(capsys: Any) -> None:
    arguments = {**SMALL, "max_episode_steps": 2}
    view("bulldozer", policy="random", env_count=2, steps=5, port=0, arguments=arguments, say=print)
    view("bulldozer", env_count=1, steps=3, port=0, arguments=arguments, say=print)
    assert main(["view", "silo", "--policy", "nothing", "--port", "0", "--arg", "grain_count=60"]) == 2
    assert "policy: expected" in capsys.readouterr().err
    assert main(["view", "silo", "--port", "70000", "--arg", "grain_count=60", "--steps", "1"]) == 2
    assert "port" in capsys.readouterr().err
