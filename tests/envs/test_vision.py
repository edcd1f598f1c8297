"""Colours and classes that cameras see beside depth: of every task, against the world, through resets and copies."""

from __future__ import annotations

import copy
import importlib.util
import pickle
import warnings
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import follow, same, small
from gymnasium.utils.env_checker import check_env

from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import newest_ids, short_name
from granular_gym.tasks.vision import BOUNDS, GRAIN, NOTHING, TOOL

BOTH = ("rgb", "segmentation")
TOWER, POUR = "granular_gym/GearTower-v1", "granular_gym/Pour-v1"
#: the two paints of the tower, redder and bluer; grains of sand are yellowish
RED, BLUE = 0, 2


def tower(make_vec: Any, num_envs: int = 2, **kwargs: Any) -> Any:
    """A batch of mixers."""
    return make_vec(TOWER, num_envs, **{**small(TOWER), "vision": BOTH, **kwargs})


@pytest.mark.parametrize("name", [short_name(each) for each in newest_ids()])
def test_every_task(name: str) -> None:
    """Checkers find nothing; each camera has both images, which tell apart what its depth sees."""
    if name in ("AntOnSand-v0", "ExcavatorForce-v0"):
        pytest.importorskip("mujoco")
    full = f"granular_gym/{name}"
    env = gym.make(full, **{**small(full), "vision": BOTH})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check_env(env.unwrapped, skip_render_check=True)
    shown, task = env.reset(seed=0)[0], env.unwrapped.task
    cameras, found = task.depth_images.seen, set()
    assert cameras and set(shown) - set(env.unwrapped.task.observation_space.spaces) == {
        f"{camera}_{kind}" for camera in cameras for kind in BOTH
    }
    for camera in cameras:
        depth, seen, rgb = shown[camera], shown[f"{camera}_segmentation"], shown[f"{camera}_rgb"]
        assert seen.shape == depth.shape and rgb.shape == (*depth.shape, 3) and seen.dtype == rgb.dtype == np.uint8
        image, world = task.images[camera], task.world
        np.testing.assert_array_equal(seen[depth >= image.camera.far], BOUNDS if image.floor else NOTHING)
        codes = world.segmentation(camera)[0]
        np.testing.assert_array_equal(seen == GRAIN, codes >= 0)
        np.testing.assert_array_equal(seen[codes <= -3], TOOL - 3 - codes[codes <= -3])
        assert seen.max() < TOOL + world.tool_count
        assert len(np.unique(rgb.reshape(-1, 3), axis=0)) > 4
        found |= set(np.unique(seen).tolist())
    # the quadruped looks over its legs
    assert GRAIN in found and (max(found) >= TOOL or name == "AntOnSand-v0")
    env.close()


@pytest.mark.parametrize("kwargs", [{}, {"sensor": "structured_light"}, {"depth": "points"}])
def test_the_rest_is_as_without(make_vec: Any, kwargs: dict[str, Any]) -> None:
    seen, plain = make_vec(vision=BOTH, **kwargs), make_vec(**kwargs)
    first = seen.reset(seed=1)[0]
    assert same(
        {key: value for key, value in first.items() if key[-4:] not in ("_rgb", "tion")}, plain.reset(seed=1)[0]
    )
    for ours, theirs in zip(follow(seen, 4), follow(plain, 4), strict=True):
        assert same({key: ours[0][key] for key in theirs[0]}, theirs[0]) and same(ours[1:], theirs[1:])
    assert not same(first["sky_rgb"], ours[0]["sky_rgb"])


def test_colours_are_those_of_grains_and_tools(make_vec: Any) -> None:
    """Of the lit floor, the hull and sand: their paint, darker where they face away from the light."""
    envs = make_vec(num_envs=1, vision=BOTH)
    shown, task = envs.reset(seed=3)[0], envs.unwrapped.task
    seen, rgb = shown["sky_segmentation"][0], shown["sky_rgb"][0].astype(int)
    assert len(np.unique(rgb[seen == BOUNDS], axis=0)) == 1
    low = shown["ego_segmentation"][0]
    if (low == BOUNDS).any():  # the same floor, nearer than `far`
        assert np.abs(shown["ego_rgb"][0][low == BOUNDS].astype(int) - rgb[seen == BOUNDS][0]).max() <= 1
    hull = rgb[seen == TOOL + task.world.tool_names.index("hull")]
    paint = np.array(task.tool_colors[1])
    assert len(hull) > 5 and (hull <= paint + 5).all() and (hull[:, 0] > 2.5 * hull[:, 2]).all()
    sand = rgb[seen == GRAIN]
    assert len(sand) > 5 and (sand[:, 0] >= sand[:, 2]).all() and (sand[:, 0] < 2.5 * sand[:, 2]).all()


def test_the_goal_is_for_people(make_vec: Any) -> None:
    """Pictures tint grains in the goal, cameras do not see it."""
    envs = make_vec(num_envs=1, vision="rgb")
    before, task = envs.reset(seed=0)[0], envs.unwrapped.task
    picture = task.picture(0)
    task.goal[0] = -9.0, -9.0, -9.0, 9.0, 9.0, 9.0
    assert same(task.observe()["sky_rgb"], before["sky_rgb"]) and not same(task.picture(0), picture)


def test_the_kinds_of_the_tower_are_seen_in_every_env(make_vec: Any, make: Any) -> None:
    """Each env has its own halves, after resets of some envs, and by itself."""
    envs, alone = tower(make_vec, max_episode_steps=2), make(TOWER, **{**small(TOWER), "vision": BOTH})
    first = envs.reset(seed=5)[0]
    assert same(first["sky_rgb"][1], alone.reset(seed=6)[0]["sky_rgb"])
    task = envs.unwrapped.task

    def check(shown: dict[str, Any]) -> None:
        codes = task.world.segmentation("sky")
        for env in range(2):
            grains = codes[env] >= 0
            colors = shown["sky_rgb"][env][grains].astype(int)
            other = task.matter_colors(env)[codes[env][grains]]
            ratio = (colors[:, RED] + 1.0) / (colors[:, BLUE] + 1.0)
            wanted = (other[:, 0] + 1.0) / (other[:, 2] + 1.0)
            assert np.corrcoef(ratio, wanted)[0, 1] > 0.9 and len(np.unique(wanted)) == 2

    check(first)
    kinds = task.kind.copy()
    mask = np.array([False, True])
    shown = envs.reset(options={"reset_mask": mask})[0]
    assert same(task.kind[0], kinds[0]) and not same(task.kind[1], kinds[1])
    check(shown)
    for _ in range(3):  # the third resets both
        check(envs.step(np.zeros(envs.action_space.shape))[0])
    assert not same(task.kind[0], kinds[0])


@pytest.mark.parametrize("copied", [lambda env: pickle.loads(pickle.dumps(env)), copy.deepcopy])
def test_copies_see_the_same(make_vec: Any, copied: Any) -> None:
    envs = tower(make_vec)
    envs.reset(seed=5)
    follow(envs, 1)
    other = copied(envs.unwrapped)
    for one, two in zip(follow(envs, 2), follow(other, 2), strict=True):
        assert same(one, two)
    wanted = envs.unwrapped.task.observe()["sky_rgb"]
    ended = envs.unwrapped.task.save()
    envs.reset(seed=9)
    assert not same(envs.unwrapped.task.observe()["sky_rgb"], wanted)
    envs.unwrapped.task.load(ended)
    assert same(envs.unwrapped.task.observe()["sky_rgb"], wanted)
    other.close()


def test_it_costs_nothing_where_it_is_not_asked_for(make_vec: Any) -> None:
    envs = tower(make_vec, vision=None)
    envs.reset(seed=0)
    follow(envs, 2)
    task = envs.unwrapped.task
    assert task.world._paint is None and task.vision._colors.size == 0 and task.vision.names == []


def test_forms_of_the_observation(make_vec: Any) -> None:
    """Buffers of the caller, vectors, pixels, tensors: the same numbers."""
    plain = make_vec(vision=BOTH)
    wanted = [plain.reset(seed=2)[0], *(step[0] for step in follow(plain, 2))]
    space = plain.single_observation_space
    buffers = {key: np.zeros((3, *part.shape), part.dtype) for key, part in space.items()}
    filled = make_vec(vision=BOTH, out={"observations": buffers})
    flat, pixels = make_vec(vision=BOTH, flat=True), make_vec(vision=BOTH, observation="pixels")
    assert {"sky_rgb", "goal_mask", "ego_segmentation"} <= set(pixels.single_observation_space.spaces)
    assert "goal_mask_rgb" not in pixels.single_observation_space.spaces
    for envs, read in (
        (filled, lambda shown: {key: np.array(value) for key, value in shown.items()}),
        (flat, lambda rows: dict(zip(space, np.split(rows, ends(space), axis=1), strict=True))),
        (pixels, lambda shown: {key: value for key, value in shown.items() if key in space.spaces}),
    ):
        draw = np.random.default_rng(3)  # as `follow` draws; what lies in buffers is read before the next step
        for number, right in enumerate(wanted):
            shown = envs.step(draw.uniform(-1, 1, envs.action_space.shape)) if number else envs.reset(seed=2)
            answer = read(shown[0])
            assert answer.keys() <= right.keys() and "sky_rgb" in answer
            for key, values in answer.items():
                np.testing.assert_array_equal(np.reshape(values, right[key].shape), right[key], err_msg=key)
    pytest.importorskip("torch")
    tensors = make_vec(vision=BOTH, output="torch")
    for shown, right in zip([tensors.reset(seed=2)[0], *(s[0] for s in follow(tensors, 2))], wanted, strict=True):
        assert same({key: value.numpy() for key, value in shown.items()}, right)


def test_bytes_for_learners_have_their_channels_first(make_vec: Any) -> None:
    """As their depth images have; other learners refuse what mixes both orders."""
    whole, planes = make_vec(vision=BOTH), make_vec(vision=BOTH, depth="uint8")
    wanted, shown = whole.reset(seed=2)[0], planes.reset(seed=2)[0]
    assert shown["sky"].shape == (3, 1, 36, 72) and shown["sky_rgb"].shape == (3, 3, 36, 72)
    np.testing.assert_array_equal(shown["sky_rgb"], np.moveaxis(wanted["sky_rgb"], -1, 1))
    assert same(shown["sky_segmentation"], wanted["sky_segmentation"])
    assert all(part.contains(shown[key][0]) for key, part in planes.single_observation_space.items())
    preprocessing = pytest.importorskip("stable_baselines3.common.preprocessing")
    space = make_vec(vision="rgb", depth="uint8").single_observation_space
    images = [part for part in space.spaces.values() if len(part.shape) == 3]
    assert len(images) == 4
    assert all(preprocessing.is_image_space(part) for part in images)
    assert all(preprocessing.is_image_space_channels_first(part) for part in images)


def test_the_example_looks_at_colours(make_vec: Any) -> None:
    """Of each image a stack of convolutions with as many channels, whichever axis they lie along."""
    torch = pytest.importorskip("torch")
    place = Path(__file__).parents[2] / "examples" / "ppo_single_file.py"
    spec = importlib.util.spec_from_file_location("ppo_single_file", place)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    envs = make_vec(vision=BOTH, output="torch")
    shown = envs.reset(seed=0)[0]
    encoder = module.Encoder(envs.single_observation_space)
    assert encoder(shown).shape == (3, encoder.size)
    first = encoder.images["sky_rgb"][0][0]
    assert first.in_channels == 3 and encoder.images["sky_segmentation"][0][0].in_channels == 1
    seen: list[Any] = []
    first.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    encoder(shown)
    wanted = shown["sky_rgb"].float().permute(0, 3, 1, 2) / 127.5 - 1.0
    assert seen[0].shape == wanted.shape and torch.allclose(seen[0], wanted, atol=1e-6)


def test_a_learner_of_fixed_images_refuses_it(tmp_path: Any) -> None:
    """SAC from pixels knows three images and where they lie."""
    pytest.importorskip("stable_baselines3")
    from granular_gym.training.run import Run, Settings
    from granular_gym.training.sac import SAC, SacSettings

    arguments = {"grain_count": 40, "num_threads": 1, "observation": "pixels", "vision": ["rgb"]}
    settings = Settings("granular_gym/Bulldozer-v1", arguments, 2, privileged=True)
    with pytest.raises(ArgumentError, match="^gaze: expected one in the recipe"):
        Run.begin(tmp_path / "run", settings, lambda env, seed: SAC(env, seed, SacSettings(demonstrations=0)))


def ends(space: Any) -> list[int]:
    """Where the entries of flat observations end, but the last."""
    return np.cumsum([np.prod(part.shape) for part in space.spaces.values()])[:-1].astype(int).tolist()


def test_learners_average_it(make_vec: Any) -> None:
    """Colours channel by channel; of classes where grains and where tools are."""
    from granular_gym.training.features import BLOCKS, averages, features_of

    rgb = np.zeros((1, 3, 12, 18), np.uint8)
    rgb[:, 1] = 255
    red, green, blue = averages("sky_rgb", rgb)
    assert (green == 1.0).all() and (red == -1.0).all() and (blue == -1.0).all()
    seen = np.full((1, 12, 18), BOUNDS, np.uint8)
    seen[:, :2, :3], seen[:, -2:, -3:] = GRAIN, TOOL + 4
    grains, tools = averages("sky_segmentation", seen)
    assert grains[0, 0] == 1.0 and (grains[0, 1:] == -1.0).all()
    assert tools[0, -1] == 1.0 and (tools[0, :-1] == -1.0).all()
    for name, kwargs in (("Bulldozer-v1", {}), ("Level-v1", {}), ("Bulldozer-v1", {"observation": "pixels"})):
        sizes, cameras = [], 0
        for vision in (None, BOTH):
            envs = make_vec(f"granular_gym/{name}", 1, depth="uint8", vision=vision, **kwargs)
            sizes.append(features_of(f"granular_gym/{name}", envs.single_observation_space).size)
            cameras = len(envs.unwrapped.task.depth_images.seen)
        assert sizes[1] - sizes[0] == 5 * BLOCKS**2 * cameras


def test_recorded_episodes_play_again(tmp_path: Any, monkeypatch: Any) -> None:
    pytest.importorskip("minari", reason="Minari is not installed")
    pytest.importorskip("h5py", reason="h5py is not installed")
    from granular_gym.recording.record import record
    from granular_gym.recording.replay import replay

    arguments = {"grain_count": 100, "max_episode_steps": 3, "num_threads": 1, "vision": list(BOTH)}
    made = record(POUR, episodes=1, dataset_id="lab/seen-v0", out=tmp_path, arguments=arguments, say=lambda _: None)
    assert replay("lab/seen-v0", root=tmp_path, say=lambda _: None) == 1
    import minari

    assert made.steps == 3
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    first = minari.load_dataset("lab/seen-v0")[0].observations
    assert first["side_rgb"].shape == (4, 3, 48, 64) and first["side_segmentation"].shape == (4, 48, 64)


def test_a_task_of_ones_own_keeps_its_entries() -> None:
    from granular_gym.envs.level import LevelV1Task
    from granular_gym.tasks.complete import check_complete

    class Clashing(LevelV1Task):
        def __init__(self, *args: Any, **kwargs: Any) -> None:
            super().__init__(*args, **kwargs)
            box = gym.spaces.Box(0.0, 1.0, (2,), np.float32)
            self.observation_space = gym.spaces.Dict({**self.observation_space.spaces, "sky_rgb": box})

    check_complete(Clashing(1, grain_count=60))
    with pytest.raises(ArgumentError, match=r"^vision: expected other entries than those of Clashing itself, got sky_"):
        check_complete(Clashing(1, grain_count=60, vision="rgb"))


def test_refusals(make: Any) -> None:
    with pytest.raises(ArgumentError, match=r"^vision: expected names out of \['rgb', 'segmentation'\], got 'depth'"):
        make(vision="depth")
    with pytest.raises(ArgumentError, match=r"^vision: expected a sequence out of .*, got 3"):
        make(vision=3)
    with pytest.raises(ArgumentError, match=r"^vision: expected names .*, got 3"):
        make(vision=(3,))
    with pytest.raises(ArgumentError, match=r"^vision: expected None where the observation has no image of a camera"):
        make(observation="state", vision="rgb")
