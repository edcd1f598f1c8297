"""Names and indices, unknown arguments and options, values of a wrong kind: typed errors that name the near one."""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.base import cache
from granular_gym.viewing.film import Film
from granular_gym.viewing.play import play
from granular_gym.viewing.scene_runs import run_scene

SILO = "granular_gym/Silo-v0"
SMALL = {"grain_count": 60, "num_threads": 1}


# ---- names where indices are taken ----


def named_scene(sand: int | str, steel: int | str, ball: int | str) -> gg.Scene:
    """A scene whose materials and tool are given as asked."""
    scene = gg.Scene(((-1, -1, 0), (1, 1, 2)), wall_material=steel)
    scene.add_material(density=2000.0, radius=0.05, name="sand")
    scene.add_material(density=7800.0, name="steel")
    scene.fill_box(sand, (-1, -1, 0), (1, 1, 0.5), 20)
    scene.add_grains(sand, [[0, 0, 1.5]])
    scene.add_tool(gg.Sdf.sphere(0.1), name="ball", material=steel, pose=(0, 0, 1))
    scene.add_camera(gg.DepthCamera.perspective(height=4, width=4, pose=(0, 0, 1)), name="eye", tool=ball)
    scene.set_pair(sand, steel, friction=0.1)
    assert scene.pair(steel, sand).friction == 0.1
    return scene


def test_a_name_is_an_index() -> None:
    assert named_scene("sand", "steel", "ball").fingerprint() == named_scene(0, 1, 0).fingerprint()


@pytest.mark.parametrize(
    "call",
    [
        lambda s: s.fill_box("snad", (-1, -1, 0), (1, 1, 1)),
        lambda s: s.add_grains("snad", [[0, 0, 1]]),
        lambda s: s.set_pair("steel", "snad", friction=0.1),
        lambda s: s.pair("snad", 0),
        lambda s: s.add_tool(gg.Sdf.sphere(0.1), material="snad"),
        lambda s: s.build(num_threads=1).set_density("snad", 1.0),
        lambda s: s.build(num_threads=1).set_pair("snad", 0, friction=0.1),
        lambda s: gg.MaterialRanges(("snad", "steel"), friction=(0, 1)).apply(s.build(num_threads=1), 0),
    ],
)
def test_an_unknown_name_gets_the_near_one(call: Callable[[gg.Scene], Any]) -> None:
    with pytest.raises(gg.ArgumentError, match=r": expected a material, 'sand', 'steel' or 0 .. 1, got 'snad'.*'sand'"):
        call(named_scene("sand", "steel", "ball"))


@pytest.mark.parametrize("value", [2, -1, 1.0, True, None, b"sand", ["sand"], 2**70, math.nan])
def test_no_material(value: Any) -> None:
    scene = named_scene(0, 1, 0)
    for call in (
        lambda: scene.fill_box(value, (-1, -1, 0), (1, 1, 1)),
        lambda: scene.set_pair(value, 0, friction=0.1),
        lambda: scene.build(num_threads=1).set_density(value, 1.0),
    ):
        with pytest.raises(gg.ArgumentError, match=r": expected a material, 'sand', 'steel' or 0 .. 1, got"):
            call()


def test_cameras_tools_and_fields_by_near_name() -> None:
    with named_scene(0, 1, 0).build(num_threads=1) as world:
        with pytest.raises(gg.ArgumentError, match="^camera: expected a camera, 'eye'.*got 'eyes'; did you mean 'eye'"):
            world.depth("eyes")
        camera = gg.DepthCamera.perspective(height=4, width=4, pose=(0, 0, 1))
        with pytest.raises(gg.ArgumentError, match="^tool: .*got 'bal'; did you mean 'ball'"):
            world.picture(camera, tool="bal")
        with pytest.raises(gg.ArgumentError, match="^values: .*got 'frictoin'; did you mean 'friction'"):
            world.set_pair(0, 1, frictoin=0.1)
        with pytest.raises(gg.ArgumentError, match="^name: .*got 'position'; did you mean 'positions'"):
            world.read("position")


# ---- gymnasium.make and reset ----


@pytest.mark.parametrize(("name", "near"), [("grain_cuont", "grain_count"), ("Difficulty", "difficulty")])
def test_make_names_the_near_argument(name: str, near: str) -> None:
    for make in (gym.make, gym.make_vec):
        with pytest.raises(gg.ArgumentError, match=f"^argument: .*'hopper'.*got '{name}'; did you mean '{near}'"):
            make(SILO, **{name: 3})
    with pytest.raises(gg.ArgumentError, match="got 'env_count'"):
        gym.make(SILO, env_count=2)


@pytest.mark.parametrize(
    ("name", "value"),
    [("num_envs", "3"), ("num_envs", 0), ("num_envs", True), ("max_episode_steps", 1.5), ("max_episode_steps", -1)],
)
def test_make_vec_refuses(name: str, value: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
        gym.make_vec(SILO, **{"num_envs": 1, name: value}, **SMALL)


@pytest.mark.parametrize("options", [[1], "easy", 3, {"friction": 1}, {"reset_mask": 1, "seed": 2}, {1: 2}])
def test_options_of_reset(options: Any) -> None:
    env, envs = gym.make(SILO, **SMALL), gym.make_vec(SILO, num_envs=2, **SMALL)
    for each in (env, envs):
        with pytest.raises(gg.ArgumentError, match="^options: expected"):
            each.reset(seed=3, options=options)
        each.close()
    assert envs.task.seeds == [None, None], "a refused reset seeds nothing"


@pytest.mark.parametrize("value", [(0, 1e30), (-1, 0.5), (0.6, 0.5), (math.nan, 1), "high", 0.5, (0.1,)])
def test_friction_range_is_refused_at_make(value: Any) -> None:
    with pytest.raises(gg.ArgumentError, match="^friction_range: expected"):
        gym.make(SILO, friction_range=value)


# ---- values of a wrong kind ----

SHAPE = gg.Shape2D.letter("A", 0.5)
WRONG = (None, "x", 3, 0.5, True, [], {}, math.nan)


@pytest.mark.parametrize(
    ("name", "call", "values"),
    [
        ("path", gg.Sdf.from_file, (None, 3, b"x", "", [])),
        ("path", gg.State.load, (None, 3, b"x", "", [])),
        ("path", gg.load_mesh, (None, 3, b"x", "", [])),
        ("path", lambda v: gg.PairField.load(v, SHAPE, SHAPE), (None, 3, b"x", "")),
        ("path", lambda v: gg.write_png(v, np.zeros((2, 2, 3), np.uint8)), (None, 3, [])),
        ("path", lambda v: gg.save_stl(v, gg.load_mesh(gg.asset_path("gear.stl"))), (None, 3, b"x", "")),
        ("mesh", lambda v: gg.save_stl(os.devnull, v), WRONG),
        ("data", gg.State.from_bytes, (None, 3, "x", 2**70, [1])),
        ("index", lambda v: gg.State((b"",), "0" * 64).env(v), (None, "0", 1, -1, True)),
        ("sdf", lambda v: gg.Scene(((0, 0, 0), (1, 1, 1))).add_tool(v), (*WRONG, [None], np.zeros(3))),
        ("union", gg.Sdf.union, (None, 3, "x", [1])),
        ("scale", lambda v: gg.load_mesh(gg.asset_path("gear.stl"), v), (None, "1", True, [1], 0, math.nan)),
        ("faces", lambda v: gg.Mesh(np.eye(3), v), (None, "x", [[1, 2], [3]])),
        ("power", gg.SizeDistribution.uniform(1, 2).moment, (None, "1", [1], True, math.nan)),
        ("generator", gg.MaterialRanges(friction=(0, 1)).draw, WRONG),
        ("world", lambda v: gg.MaterialRanges(friction=(0, 1)).apply(v, 0), WRONG),
        ("pair", lambda v: gg.MaterialRanges(pair=v), ("ab", (0,), (0, 1.5), (0, -1), 3, (None, 0))),
        ("scene", lambda v: gg.settled_bed(v, 0, lambda: None), WRONG),
        ("make", lambda v: gg.settled_bed(gg.Scene(((0, 0, 0), (1, 1, 1))), 0, v), WRONG),
        ("air", lambda v: gg.Scene(((0, 0, 0), (1, 1, 1)), air=v), ("wind", 1.2, {}, True)),
        ("wall_material", lambda v: gg.Scene(((0, 0, 0), (1, 1, 1)), wall_material=v), (-1, 1.5, True, [])),
        ("holes", lambda v: gg.Shape2D.from_vertices([[0, 0], [1, 0], [0, 1]], v), (None, 3, "x")),
        ("cache", lambda v: gg.PairField.build(SHAPE, SHAPE, cache=v), (None, 1, "yes")),
        ("num_threads", lambda v: gg.PairField.build(SHAPE, SHAPE, num_threads=v), (0, "2", True)),
        ("cache", lambda v: gg.Sdf.from_mesh(gg.asset_path("gear.stl"), spacing=0.05, cache=v), (None, 1, "yes")),
        ("density", lambda v: gg.Grains(v, 0.01), (None, "x", 0, -1, math.nan)),
        ("radius", lambda v: gg.Grains(1000.0, v), (None, "x", 0, -1, math.nan)),
        ("experiments", lambda v: gg.calibrate(v, gg.Grains(1000.0, 0.01)), (None, "x", 3, [], [1])),
        ("grains", lambda v: gg.calibrate(gg.ReposeAngle(30), v), WRONG),
        ("path", lambda v: Film(v, 10), (None, 3, "")),
        ("pictures_per_second", lambda v: Film("x.mp4", v), (None, 0, -1, "25", np.nan, 1e9)),
        ("out", lambda v: play("silo", v), (None, 3, "")),
        ("out", lambda v: run_scene("incline", v), (None, 3, "")),
        ("other_radius", lambda v: gg.cohesion_of_force(1.0, 1.0, v), (None, "x", 0, np.zeros(2))),
    ],
)
def test_values_of_a_wrong_kind(name: str, call: Callable[[Any], Any], values: tuple[Any, ...]) -> None:
    for value in values:
        with pytest.raises(gg.ArgumentError, match=f"^{name}: "):
            call(value)


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("envs", lambda w: w.set_gravity((0, 0, 0), envs=[[1, 2], [3]])),
        ("pairs", lambda w: w.set_materials(pairs=[[1, 2], [3]])),
        ("density", lambda w: w.set_density(0, 1e30)),
        ("densities", lambda w: w.set_materials(densities=[1e30, 1.0])),
        ("yaw", lambda w: w.transform_grains((0, 0, 0), 1e30)),
        ("lower", lambda w: w.box_stats((1, 1, 1), (0, 0, 0))),
        ("array", lambda w: w.put("x")),
        ("array", lambda w: w.put(np.zeros(3, np.complex64))),
        ("array", lambda w: w.put(np.zeros((1, 1, 1, 1, 1)))),
        ("images", lambda w: w.request(images=3)),
        ("images", lambda w: w.request(images="sky")),
        ("images", lambda w: w.request(images=["sky"])),
        ("cells", lambda w: w.request(cells=(1, 2))),
        ("columns", lambda w: w.request(columns=5)),
        ("request", lambda w: w.results(None)),
        ("images", lambda w: w.results(w.request(), images="yes")),
        ("output", lambda w: w.read("positions", np.zeros(3))),
        ("force", lambda w: w.contacts().pressing("x")),
        ("grain_count", lambda w: w.contacts().counts(None)),
        ("grains_only", lambda w: w.contacts().counts(60, "yes")),
        ("values", lambda w: gg.MaterialRanges(friction=(0, 1)).set(w, None)),
        ("values", lambda w: gg.MaterialRanges(friction=(0, 1)).set(w, [{}, {}, {}])),
        ("values", lambda w: gg.MaterialRanges(friction=(0, 1)).set(w, [1, 2, 3])),
    ],
)
def test_calls_of_a_world(world: gg.World, name: str, call: Callable[[gg.World], Any]) -> None:
    before = world.state_hash(), world.materials[1].tobytes()
    with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
        call(world)
    assert (world.state_hash(), world.materials[1].tobytes()) == before


def test_counts_of_too_few_grains_are_refused(world: gg.World) -> None:
    world.step(1e-3, 200)
    contacts = world.contacts()
    most = int(contacts.pairs.max())
    assert most > 0 and len(contacts.counts(most + 1)) == most + 1
    with pytest.raises(gg.ArgumentError, match=f"^grain_count: expected an integer >= {most + 1}, got {most}"):
        contacts.counts(most)


def test_lengths_beyond_any_scene() -> None:
    scene = gg.Scene(((0, 0, 0), (1, 1, 1)))
    sand = scene.add_material(density=1.0)
    with pytest.raises(gg.ArgumentError, match="^radius: expected lengths > 0 up to 1e\\+06 m, got 1e\\+30"):
        scene.add_grains(sand, [[0, 0, 0]], radius=1e30)


def test_spacing_above_the_mesh() -> None:
    with pytest.raises(
        gg.ArgumentError, match=r"^spacing: expected at most the mesh's thinnest side, 0\.\d+ m, got 10"
    ):
        gg.Sdf.from_mesh(gg.asset_path("gear.stl"), spacing=10, cache=False)


# ---- what objects say of themselves ----


def test_every_repr_is_one_short_line(world: gg.World, scene: gg.Scene) -> None:
    mesh = gg.load_mesh(gg.asset_path("gear.stl"))
    grid = gg.Sdf.from_mesh(mesh, spacing=0.1, cache=False)
    field = gg.PairField.build(SHAPE, SHAPE, theta_count=8, count=8, num_threads=1, cache=False)
    sky = gg.DepthCamera.perspective(height=48, width=64, position=(2, 2, 2), target=(0, 0, 0))
    for item, word in (
        (scene, "materials=["),
        (world, "grain_count=60"),
        (world.save_state(), "env_count=3"),
        (world.contacts(), "contacts"),
        (scene.freeze(), "grain_count=60"),
        (scene.materials[0], "density="),
        (sky, "48 x 64"),
        (gg.Solver(iterations=30), "Solver(iterations=30)"),
        (gg.Solver(mode="paper"), "Solver(mode='paper')"),
        (gg.MaterialRanges(friction=(0, 1)), "friction=[0.0, 1.0]"),
        (grid, "samples, spacing 0.1 m"),
        (grid.parts[0].grid, "samples, spacing 0.1 m"),
        (gg.Sdf.union(grid, gg.Sdf.sphere(1), gg.Sdf.sphere(2)), "3 parts: 1 grid, 2 sphere"),
        (gg.Sdf.box((1, 2, 3)).at((0, 0, 1)), "Sdf(box(1, 2, 3, at (0, 0, 1)))"),
        (SHAPE, "11 vertices"),
        (field, "'A', 'A', cubic"),
        (mesh, "faces="),
        (gym.make(SILO, **SMALL).unwrapped.task, "SiloTask(env_count=1, grain_count=60, not yet open)"),
    ):
        text = repr(item)
        assert word in text and "\n" not in text and len(text) < 200, text


# ---- the cache ----


def test_the_cache_is_shown_and_cleared(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path))
    assert cache.cache_sizes() == {"beds": (0, 0), "sdf": (0, 0), "pair_field": (0, 0)}
    gg.Sdf.from_mesh(gg.asset_path("gear.stl"), spacing=0.1)
    (tmp_path / "beds").mkdir()
    (tmp_path / "beds" / "a.ggstate").write_bytes(b"123")
    (tmp_path / "beds" / "mine.txt").write_bytes(b"keep")
    assert cache.cache_sizes()["beds"] == (1, 3) and cache.cache_sizes()["sdf"][0] == 1
    with pytest.raises(gg.ArgumentError, match="^kind: .*got 'bed'; did you mean 'beds'"):
        cache.clear_cache(["bed"])
    assert cache.clear_cache(["beds"]) == (1, 3)
    assert cache.cache_sizes()["sdf"][0] == 1
    assert cache.clear_cache()[0] == 1
    assert cache.cache_sizes() == {"beds": (0, 0), "sdf": (0, 0), "pair_field": (0, 0)}
    assert (tmp_path / "beds" / "mine.txt").exists(), "only files of the cache are deleted"
