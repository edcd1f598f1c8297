"""SAC from pixels: what it sees, the mirror of images, how it looks, runs, checkpoints, its teacher."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from granular_gym.envs.bulldozer_state import VECTOR
from granular_gym.errors import ArgumentError, StateError
from granular_gym.training.rows import Mirror, kind_of, record_kind, records, vectors_of

BULLDOZER, BOTH = "granular_gym/Bulldozer-v1", "pixels+state"
IMAGES = ("ego", "goal_mask", "sky")
needs_torch = pytest.mark.torch


@pytest.fixture(autouse=True)
def needs_sb3(request: pytest.FixtureRequest) -> None:
    if "torch" in request.keywords:
        pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")


def test_both_is_the_pixels_and_the_state(make_vec: Any) -> None:
    """Entry by entry the same numbers, after a reset and after steps of several control periods."""
    forms = BOTH, "pixels", "state"
    envs = [make_vec(BULLDOZER, 2, grain_count=60, depth="uint8", frame_skip=3, observation=form) for form in forms]
    assert list(envs[0].single_observation_space.spaces) == [*IMAGES, "state"]
    actions = np.random.default_rng(0).uniform(-1.0, 1.0, (3, 2, 2)).astype(np.float32)
    shown = [[env.reset(seed=4)[0], *(env.step(action)[0] for action in actions)] for env in envs]
    for both, pixels, state in zip(*shown, strict=True):
        assert both.keys() == {*pixels, *state}
        assert all(np.array_equal(both[name], value) for name, value in {**pixels, **state}.items())
    assert not np.array_equal(shown[0][0]["sky"], shown[0][-1]["sky"])
    with pytest.raises(ArgumentError, match="observation: expected"):
        make_vec("granular_gym/Silo-v1", 1, observation=BOTH)


def test_a_mirrored_scene_has_the_mirrored_record(make_vec: Any) -> None:
    """Grains, vehicle and goal mirrored in the field: every image is the record's in the mirror, but for its edges and
    the lowest rows of the vehicle's own camera, where the hull is not its own image."""
    envs = make_vec(BULLDOZER, 2, grain_count=300, depth="uint8", observation=BOTH)
    task = envs.unwrapped.task
    kind = record_kind(envs.single_observation_space)
    shown = records(kind, envs.reset(seed=6)[0])
    mirror = Mirror(VECTOR, {name: task.pixels[name].mirror_axis for name in IMAGES})
    turned = mirror.mirrored(shown)
    positions = task.world.positions * np.array([1.0, -1.0, 1.0], np.float32)
    task.pose[:, 1:] *= -1.0
    task.goal[:, [1, 4]] = -task.goal[:, [4, 1]]
    task._plan_goals()
    for env in range(2):
        task.world.set_grains(positions[env], envs=[env])
    task.world.set_tool_poses(task.world.drive_poses(task.pose), envs=np.arange(2, dtype=np.int32))
    image = records(kind, task.observe())
    for name in IMAGES:
        there, here, before = (rows[name][..., :30, :].astype(int) for rows in (image, turned, shown))
        assert (np.abs(there - here) > 3).mean() < 0.002, name
        assert (np.abs(there - before) > 3).mean() > 0.005, "the scene is no image of itself"
    assert np.abs(vectors_of(image) - vectors_of(turned)).max() < 2e-3
    again = mirror.mirrored(turned)
    assert all(np.array_equal(again[name], shown[name]) for name in kind.names or ())


def test_numbers_of_entries() -> None:
    assert VECTOR.numbers_of("heading", "goal") == [25, 26, 0, 1]
    with pytest.raises(ArgumentError, match="entry: expected one of .*, got 'headng'"):
        VECTOR.numbers_of("headng")


def test_who_looks_at_pixels() -> None:
    from granular_gym.training.recipes import recipe

    found = recipe(BULLDOZER, "SAC", "pixels")
    assert found["privileged"] and found["arguments"]["observation"] == "pixels"
    assert found["arguments"]["frame_skip"] == 5
    for algorithm, observation in (("PPO", "pixels"), ("SAC", "state"), ("SAC", "images")):
        assert "privileged" not in recipe(BULLDOZER, algorithm, observation)
    with pytest.raises(ArgumentError, match="observation: expected 'pixels'"):
        recipe(BULLDOZER, "SAC", BOTH)


# how it looks --------------------------------------------------------------------------------------------------------

SHAPES = {"ego": (1, 36, 36), "sky": (1, 36, 72), "goal_mask": (1, 36, 72)}


def make_gaze() -> Any:
    from granular_gym.training.gaze import Gaze

    return Gaze(SHAPES, ("sky", "goal_mask"), ("ego",), VECTOR.numbers_of("place", "heading"))


@needs_torch
def test_images_are_read_where_they_show(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mark in an image lies on the mesh of the polar grid that its place in the vehicle's frame says."""
    import torch

    from granular_gym.training import gaze as looking

    gaze, half = make_gaze(), 2.0  # [m] half of the height of the image
    for place, yaw, ring, ray in (((-0.5, 0.1), 0.7, 4, 3), ((0.3, -0.4), -2.0, 6, 17), ((0.0, 0.0), 0.0, 8, 0)):
        radius, angle = half * looking.RINGS[ring], yaw + 2.0 * math.pi * ray / looking.RAYS
        x, y = 2.0 * half * place[0] + radius * math.cos(angle), half * place[1] + radius * math.sin(angle)
        images = {name: torch.full((1, *shape), 255, dtype=torch.uint8) for name, shape in SHAPES.items()}
        row, column = round((half - y) * 9.0 - 0.5), round((x + 2.0 * half) * 9.0 - 0.5)
        images["goal_mask"][0, 0, row - 1 : row + 2, column - 1 : column + 2] = 0
        pose = torch.tensor([[*place, math.cos(yaw), math.sin(yaw)]])
        monkeypatch.setattr(gaze, "_find", lambda image, pose=pose: (pose[:, :2], pose))
        seen = gaze(images)
        assert seen.shape == (1, gaze.size)
        states = torch.zeros(1, VECTOR.size)
        states[0, 23:27] = pose
        assert gaze.misread(seen, states).item() == 0.0
        states[0, 25] += 0.5
        assert gaze.misread(seen, states).item() == pytest.approx(0.25)
        grid = seen[0, 6:486].reshape(2, len(looking.RINGS), looking.RAYS)
        assert grid[0].max() == 0.0 and grid[1, ring, ray] > 0.6
        assert int(grid[1].argmax()) == ring * looking.RAYS + ray


@needs_torch
def test_it_learns_where_its_vehicle_is() -> None:
    """A block with a lower front, anywhere and any way round, is found to a few centimetres and degrees."""
    import torch

    from granular_gym.training import gaze as looking
    from granular_gym.training.run import prepare

    prepare(seed=0)
    torch.manual_seed(0)
    gaze, draw = make_gaze(), np.random.default_rng(0)
    places = looking.lattice(36, 72) * torch.tensor([4.0, 2.0])

    def scene(count: int) -> tuple[dict[str, Any], Any]:
        x, y, yaw = (torch.from_numpy(draw.uniform(-a, a, (count, 1)).astype(np.float32)) for a in (3.2, 1.2, math.pi))
        dx, dy = places[:, 0] - x, places[:, 1] - y
        ahead, left = yaw.cos() * dx + yaw.sin() * dy, yaw.cos() * dy - yaw.sin() * dx
        inside = (ahead.abs() < 0.5) & (left.abs() < 0.4)
        sky = torch.where(inside, torch.where(ahead > 0.2, 225, 180), 255).to(torch.uint8).reshape(count, 1, 36, 72)
        states = torch.zeros(count, VECTOR.size)
        states[:, 23:27] = torch.cat([x / 4.0, y / 2.0, yaw.cos(), yaw.sin()], dim=1)
        return {"sky": sky, "goal_mask": sky, "ego": torch.zeros(count, 1, 36, 36)}, states

    optimiser = torch.optim.Adam(gaze.parameters(), lr=3e-3)
    for _ in range(250):
        images, states = scene(64)
        optimiser.zero_grad()
        gaze.misread(gaze(images), states).backward()
        optimiser.step()
    images, states = scene(256)
    with torch.no_grad():
        error = (gaze(images)[:, :4] - states[:, 23:27]).square().mean(0).sqrt() * torch.tensor([4.0, 2.0, 1.0, 1.0])
    assert error[:2].max() < 0.2 and error[2:].max() < 0.4


# runs ----------------------------------------------------------------------------------------------------------------


def begin(folder: Path, **changes: Any) -> Any:
    """A run of two envs whose episodes last 30 control periods."""
    from granular_gym.training.run import Run, Settings
    from granular_gym.training.sac import SAC, SacSettings

    tiny: dict[str, Any] = {"demonstrations": 2, "epochs": 2, "critic_updates": 3, "warm_up": 12, "batch": 8}
    tiny |= {"width": 8, "capacity": 64, "teacher": "bulldozer-sac", **changes}
    arguments = {"grain_count": 40, "num_threads": 1, "max_episode_steps": 10, "frame_skip": 3, "observation": "pixels"}
    settings = Settings(BULLDOZER, arguments, 2, scale=10.0, seed=3, chunk=8, privileged=True)
    return Run.begin(folder, settings, lambda env, seed: SAC(env, seed, SacSettings(**tiny)))


def all_weights(run: Any) -> list[bytes]:
    parameters = run.model.get_parameters()
    return [value.numpy().tobytes() for name in ("actor", "critics", "targets") for value in parameters[name].values()]


@needs_torch
@pytest.mark.parametrize("teacher, value_weight", [("bulldozer-sac", 0.0), ("", 1.0)])
def test_a_resumed_run_is_the_uninterrupted_one(teacher: str, value_weight: float, tmp_path: Path) -> None:
    from granular_gym.training.run import Run

    straight = begin(tmp_path / "straight", teacher=teacher, value_weight=value_weight)
    straight.train(env_steps=300)
    first = begin(tmp_path / "halves", teacher=teacher, value_weight=value_weight)
    first.train(env_steps=170)
    halfway = all_weights(first)
    first.close()
    second = Run.resume(tmp_path / "halves")
    assert all_weights(second) == halfway
    second.train(env_steps=300)
    assert all_weights(second) == all_weights(straight) != halfway
    own, other = (run.model.replay_buffer.own.episodes() for run in (straight, second))
    assert len(own) == len(other) > 0
    for one, two in zip(own, other, strict=True):
        assert all(one[name].tobytes() == two[name].tobytes() for name in one)
    for run in (straight, second):
        run.close()


@needs_torch
def test_the_teacher_labels_and_the_policy_sees_pixels_alone(make_vec: Any, tmp_path: Path) -> None:
    from granular_gym.training.policies import load_actor
    from granular_gym.training.pretrained import load_pretrained

    run = begin(tmp_path / "run", value_weight=0.0)
    run.train(env_steps=200)
    memory, teacher = run.model.replay_buffer, load_pretrained("bulldozer-sac")
    for episode in [*memory.own.episodes(), *memory.shown.episodes()]:
        assert np.array_equal(episode["labels"], teacher.actions(vectors_of(episode["observations"])))
        assert not np.array_equal(episode["labels"], episode["actions"])
    rows = memory.shown.episodes()[0]["observations"]
    assert kind_of(rows).itemsize == 4 * VECTOR.size + 36 * 36 + 2 * 36 * 72
    blind = rows.copy()
    blind["state"] = np.nan
    assert np.array_equal(run.model.predict(rows)[0], run.model.predict(blind)[0])
    arguments = {"grain_count": 40, "depth": "uint8", "frame_skip": 3}
    shown = {form: make_vec(BULLDOZER, 2, observation=form, **arguments) for form in ("pixels", BOTH, "images")}
    seen, whole = (shown[form].reset(seed=1)[0] for form in ("pixels", BOTH))
    actor = load_actor(tmp_path / "run", shown["pixels"])
    wanted = run.model.predict(records(kind_of(rows), whole))[0]
    assert "state" not in seen and np.array_equal(actor.act(seen), wanted)
    with pytest.raises(StateError, match="policy: expected an env that shows it ego, goal_mask, sky"):
        load_actor(tmp_path / "run", shown["images"])
    run.close()


@needs_torch
def test_what_makes_no_sense_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from granular_gym.tasks.recipe import Recipe
    from granular_gym.training import sac

    with pytest.raises(StateError, match="policy silo-sac: expected an env of"):
        begin(tmp_path / "silo", teacher="silo-sac")
    with pytest.raises(ArgumentError, match="policy: expected one of .*, got 'nobody'"):
        begin(tmp_path / "nobody", teacher="nobody")
    with pytest.raises(ArgumentError, match="gaze_weight: expected"):
        sac.SacSettings(gaze_weight=-1.0)
    monkeypatch.setattr(sac, "recipe_of", lambda task: Recipe(gaze={"above": ["sky"], "ahead": ["ego"]}))
    with pytest.raises(
        ArgumentError, match=r"gaze: expected one in the recipe of .* for \['ego', 'goal_mask', 'sky'\]"
    ):
        begin(tmp_path / "gaze")
    monkeypatch.setattr(sac, "recipe_of", lambda task: Recipe(gaze={"above": ["sky", "ego"], "ahead": ["goal_mask"]}))
    with pytest.raises(ArgumentError, match="gaze: expected images above of one size"):
        begin(tmp_path / "sizes")


@needs_torch
def test_the_command_trains_evaluates_and_plays(tmp_path: Path) -> None:
    """What users type: the recipe's teacher, the policy evaluated and played with pixels alone."""
    from test_training import script

    from granular_gym.__main__ import main
    from granular_gym.training.command import main as train

    module, folder = script("train_sac"), tmp_path / "run"
    parts = (module.parser(), "SAC", lambda args: args.chunk, module.make_model)
    words = ["Bulldozer-v1", "--arg", "observation=pixels", "--arg", "max_episode_steps=6", "--grains", "40"]
    tiny = {"envs": 2, "demonstrations": 2, "epochs": 1, "warm-up": 8, "batch": 8, "width": 8, "chunk": 8}
    words += [word for name, value in tiny.items() for word in (f"--{name}", str(value))]
    assert train(*parts, [*words, "--steps", "120", "--episodes", "1", "--out", str(folder)]) == 0
    report = json.loads((folder / "report.json").read_text())
    assert report["settings"]["arguments"]["observation"] == "pixels" and report["settings"]["privileged"]
    assert set(report["evaluation"]) == {"learned", "random", "expert"}
    played = ["--policy", str(folder / "checkpoint.zip"), "--steps", "2", "--no-film", "--out", str(tmp_path / "film")]
    assert main(["play", "Bulldozer-v1", *played]) == 0
    assert json.loads((tmp_path / "film" / "report.json").read_text())["arguments"]["observation"] == "pixels"


@needs_torch
def test_demonstrations_of_pixels_in_a_file(tmp_path: Path) -> None:
    from granular_gym.training import demonstrations

    run = begin(tmp_path / "run")
    env = run.model.env
    shown = demonstrations.collect(env, 2, seed=1)
    again = demonstrations.load(shown.save(tmp_path / "shown.npz"))
    again.check_for(env.about)
    assert env.about["observation"] == BOTH
    assert all(again.steps[name].tobytes() == value.tobytes() for name, value in shown.steps.items())
    assert again.steps["observations"].dtype == shown.steps["observations"].dtype
    run.close()
