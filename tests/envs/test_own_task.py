"""A task of one's own: the modules of docs/your_own_task.md in an empty folder, used as the page says."""

from __future__ import annotations

import importlib
import json
import os
import pickle
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import pytest
from env_helpers import SMALL, follow, same
from gymnasium.utils.env_checker import check_env

import granular_gym as gg
from granular_gym.__main__ import main
from granular_gym.task import Difficulty, Experts, GoalTask, Recipe, Task, add_sand_and_steel, scripted_expert
from granular_gym.tasks import registry
from granular_gym.tasks.stepping import Stepping
from granular_gym.training.features import Features, features_of
from granular_gym.training.recipes import recipe, recipe_of
from granular_gym.viewing.film import Film
from granular_gym.viewing.play import play

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "your_own_task.md").read_text()
#: code of the page, with what it needs: the module, its use, the task without a drive, one with goals, the expert that
#: remembers, the task with stages, the film
BLOCKS = re.findall(r"(?:<!-- needs: (\w+) -->\n)?```python\n(.*?)```", PAGE, re.DOTALL)
SWEEP, PLACED, LINES = "sweep:me/Sweep-v0", "placed:me/Placed-v0", "lines:me/Lines-v0"
PATIENT, STAGES = "patient:me/Patient-v0", "stages:me/Stages-v0"
WORDS = ["--arg", "grain_count=60", "--arg", "num_threads=1"]
#: modules that do not hold a task as they should, and the word of the message
BROKEN = {
    "import": ("import nowhere_to_be_found", "No module named 'nowhere_to_be_found'"),
    "nothing": ("", "registers none"),
    "another": ("import sweep", "registers none"),
    "class": ("import granular_gym as gg; gg.register_task('me/B-v0', int, steps=3)", "subclass of .*Task, got"),
    "hooks": (
        "import granular_gym as gg\nfrom granular_gym.task import Task\n"
        "class B(Task): control_period = 0.1\ngg.register_task('me/B-v0', B, steps=3)",
        "B lacks advance, bed_scene, begin, evaluate, sense",
    ),
}


@pytest.fixture(scope="module", autouse=True)
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """An empty folder with the modules of the page, where Python looks for modules."""
    path = tmp_path_factory.mktemp("own")
    (path / "sweep.py").write_text(BLOCKS[0][1])
    (path / "placed.py").write_text(BLOCKS[2][1])
    (path / "lines.py").write_text(BLOCKS[3][1])
    (path / "patient.py").write_text(BLOCKS[4][1])
    (path / "stages.py").write_text(BLOCKS[5][1])
    known = set(registry.task_ids())
    sys.path.insert(0, str(path))
    yield path
    sys.path.remove(str(path))
    for name in set(registry.task_ids()) - known:
        del registry._TASKS[name], gym.registry[name]
    for name in ("sweep", "placed", "lines", "patient", "stages"):
        sys.modules.pop(name, None)


@pytest.fixture
def sweep() -> Any:
    """The module of the page."""
    return importlib.import_module("sweep")


def run(script: str, words: list[str], folder: Path) -> str:
    """Runs a script of the repository in the folder; returns what it prints."""
    paths = [path for path in sys.path if path and path != str(folder)]  # the script finds the module by itself
    done = subprocess.run(
        [sys.executable, str(ROOT / script), *words],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_page_is_short_and_whole() -> None:
    assert len(BLOCKS) == PAGE.count("```python") == 7
    assert sum(bool(line.strip()) for line in BLOCKS[0][1].splitlines()) < 80


def test_the_page_explains_every_attribute_and_hook() -> None:
    names = {
        name for cls in (Task, Stepping, GoalTask) for name in (*vars(cls), *cls.__annotations__) if name[0] != "_"
    }
    missing = [name for name in sorted(names) if not re.search(rf"`(?:self\.)?{name}\b", PAGE)]
    assert not missing


@pytest.mark.parametrize("name", [SWEEP, PLACED, LINES, STAGES])
def test_gymnasium_s_checker(name: str) -> None:
    env = gym.make(name, **SMALL)
    check_env(env.unwrapped)
    env.close()


def test_rewards_for_a_goal_of_ones_own() -> None:
    envs: Any = gym.make_vec(LINES, num_envs=2, **SMALL)
    envs.reset(seed=3)
    lines, before, total = envs.desired_goal(), envs.achieved_goal(), 0.0
    for _ in range(20):
        rewards = envs.step(np.float32([[1.0, -1.0], [1.0, -1.0]]))[1]
        after = envs.achieved_goal()
        assert envs.compute_reward(after, lines, {"before": before}) == pytest.approx(rewards, rel=0.0, abs=1e-12)
        before, total = after, total + np.abs(rewards).sum()
    assert total > 0.0 and lines[0] != lines[1]
    assert envs.compute_reward(after, [[-9.0]] * 3, {"before": before}) == pytest.approx(np.zeros((3, 2)))
    envs.close()


def test_env_k_of_a_batch_is_the_env_alone() -> None:
    batch, alone = gym.make_vec(SWEEP, num_envs=2, **SMALL), gym.make(SWEEP, **SMALL)
    first, one = batch.reset(seed=3)[0], alone.reset(seed=4)[0]
    assert same({key: values[1] for key, values in first.items()}, one)
    actions = np.random.default_rng(0).uniform(-1, 1, (5, 2)).astype(np.float32)
    for action in actions:
        (observations, rewards, *_), (observation, reward, *_) = batch.step([action, action]), alone.step(action)
        assert rewards[1] == reward and same({key: values[1] for key, values in observations.items()}, observation)
    batch.close()
    alone.close()


def test_a_pickle_goes_on_as_the_env_does() -> None:
    env = gym.make(SWEEP, **SMALL)
    env.reset(seed=1)
    env.step([1.0, -1.0])
    other = pickle.loads(pickle.dumps(env))
    assert same(follow(env, 3), follow(other, 3))
    env.close()
    other.close()


def test_without_a_drive_it_plays_alike() -> None:
    envs = [gym.make(name, **SMALL) for name in (SWEEP, PLACED)]
    first = [env.reset(seed=2)[0]["state"] for env in envs]
    assert np.array_equal(*first)
    for _ in range(40):
        states = [env.step([0.7, -0.9])[0]["state"] for env in envs]
    assert np.allclose(*states, atol=1e-6)
    for env in envs:
        env.close()


def test_the_expert_sweeps(folder: Path) -> None:
    exec(compile(BLOCKS[1][1], "your_own_task.md", "exec"), {"__name__": "snippet"})
    report = play(SWEEP, folder / "swept", film=False, arguments=SMALL, say=lambda text: None)
    assert report["task"] == SWEEP and report["info"]["success"] and report["steps"] == 100
    random = play(
        SWEEP, folder / "random", film=False, policy="random", steps=20, arguments=SMALL, say=lambda text: None
    )
    assert random["return"] < report["return"]


def test_the_command_line_films_it(folder: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(folder)
    assert main(["play", SWEEP, "--steps", "3", *WORDS]) == 0
    assert (folder / "out" / "Sweep-v0" / "last.png").exists()
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    assert (folder / "out" / "Sweep-v0" / "Sweep-v0.mp4").stat().st_size > 1000


def test_it_is_viewed(monkeypatch: Any) -> None:
    pytest.importorskip("viser", reason="viser is not installed")
    pytest.importorskip("skimage", reason="scikit-image is not installed")
    pytest.importorskip("trimesh", reason="trimesh is not installed")
    assert main(["view", SWEEP, "--envs", "2", "--steps", "2", "--port", "0", *WORDS]) == 0


def test_the_film_of_the_page(folder: Path, monkeypatch: Any) -> None:
    pytest.importorskip(BLOCKS[6][0], reason=f"{BLOCKS[6][0]} is not installed")
    monkeypatch.chdir(folder)
    exec(compile(BLOCKS[6][1], "your_own_task.md", "exec"), {"__name__": "snippet"})
    assert (folder / "above.mp4").stat().st_size > 1000


def test_the_expert_that_remembers() -> None:
    waits = []
    for name in (SWEEP, PATIENT):
        env: Any = gym.make(name, **SMALL)
        env.reset(seed=0)
        expert, still = scripted_expert(env), 0
        for _ in range(60):
            action = expert.act()
            still += not action.any()
            env.step(action)
        waits.append(still)
        env.close()
    assert waits[0] == 0 and waits[1] >= 10 and waits[1] % 10 == 0


def test_a_stage_begins_with_the_next_episode() -> None:
    envs: Any = gym.make_vec(STAGES, num_envs=2, max_episode_steps=2, **SMALL)
    still = np.zeros((2, 2), np.float32)
    envs.reset(seed=0)
    envs.unwrapped.task.next_stage[:] = 0, 2
    assert envs.step(still)[4]["stage"].tolist() == [0, 0]
    other = pickle.loads(pickle.dumps(envs))
    for each in (envs, other):
        each.step(still)
        assert each.step(still)[4]["stage"].tolist() == [0, 2]  # of the next episode
        each.close()


def test_a_film_takes_pictures_of_one_size(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="imageio-ffmpeg is not installed")
    with Film(tmp_path / "a.mp4", 5) as film:
        film.add(np.zeros((32, 48, 3), np.uint8))
        with pytest.raises(gg.ArgumentError, match=r"picture: expected \(32, 48, 3\), .* got \(48, 32, 3\)"):
            film.add(np.zeros((48, 32, 3), np.uint8))
        film.add(np.zeros((32, 48, 3), np.uint8))
    assert film.count == 2


@pytest.mark.parametrize(
    "arguments, word",
    [
        ({"env": 1}, "env"),
        ({"tool": "plate"}, "tool: expected None"),
        ({"light": (0, 0, 0)}, "light: expected a direction"),
        ({"grain_colors": np.zeros((3, 3), np.uint8)}, r"grain_colors: expected shape \(60, 3\)"),
        ({"tool_colors": [[300, 0, 0]]}, "tool_colors: expected 0 .. 255"),
        ({"samples": 5}, "samples"),
        ({"show_walls": 1}, "show_walls"),
        ({"camera": "eye"}, "camera.*'sky'"),
    ],
)
def test_what_a_picture_refuses(arguments: dict[str, Any], word: str) -> None:
    env = gym.make(SWEEP, **SMALL)
    env.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=word):
        env.unwrapped.task.world.picture(**{"camera": "sky", **arguments})
    env.close()


def test_the_expert_table(folder: Path) -> None:
    words = [SWEEP, "--grains", "60", "--seeds", "1", "--jobs", "1", "--out", "tables"]
    assert "expert wins 1 of 1" in run("benchmarks/expert_table.py", words, folder)
    table = json.loads((folder / "tables" / "expert_table_Sweep-v0.json").read_text())
    assert table["task"] == SWEEP and table["summary"]["measure"] == "share" and table["summary"]["expert_mean"] > 0.8


def test_an_expert_table_whose_process_dies(folder: Path) -> None:
    """It ends and says so, instead of waiting for the episode."""
    (folder / "dying.py").write_text("import os\n\n\ndef policy(env):\n    os._exit(3)\n")
    words = [SWEEP, "--grains", "60", "--seeds", "1", "--jobs", "1", "--out", "tables", "--policy", "dying:policy"]
    with pytest.raises(AssertionError, match="ended, killed or out of memory"):
        run("benchmarks/expert_table.py", words, folder)


def test_it_is_trained_resumed_and_played(folder: Path, sweep: Any) -> None:
    pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
    words = ["--envs", "2", "--grains", "60", "--rollout", "4", "--batch", "4", "--epochs", "1", "--episodes", "1"]
    run("examples/train_ppo.py", [SWEEP, "--steps", "8", *words, "--out", "run"], folder)
    report = json.loads((folder / "run" / "report.json").read_text())
    assert report["settings"]["task"] == SWEEP and set(report["evaluation"]) == {"learned", "random", "expert"}
    run("examples/train_ppo.py", ["--resume", "run", "--steps", "16", "--evaluate"], folder)
    assert json.loads((folder / "run" / "report.json").read_text())["env_steps"] >= 16
    learned = play(
        "me/Sweep-v0", folder / "played", policy=str(folder / "run" / "checkpoint.zip"), steps=2, film=False,
        say=lambda text: None,
    )  # fmt: skip
    assert learned["steps"] == 2 and learned["arguments"]["grain_count"] == 60


def test_the_single_file_trainer_takes_it(folder: Path) -> None:
    pytest.importorskip("torch", reason="torch is not installed")
    words = ["--steps", "8", "--envs", "2", "--rollout", "4", "--grains", "60", "--epochs", "1", "--minibatches", "2"]
    run("examples/ppo_single_file.py", [SWEEP, *words, "--out", "single"], folder)
    assert (folder / "single" / "report.json").exists()


# ---- registering ----


def test_names() -> None:
    assert registry.task_id(SWEEP) == registry.task_id("sweep:me/sweep") == SWEEP
    assert registry.task_id("me/Sweep-v0") == "me/Sweep-v0"
    assert registry.short_name(SWEEP) == registry.short_name("Sweep-v0") == "Sweep-v0"
    assert "me/Sweep-v0" in registry.task_ids()


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_with_a_module_is_said_in_one_line(
    name: str, tmp_path: Path, monkeypatch: Any, capsys: Any
) -> None:
    code, word = BROKEN[name]
    (tmp_path / f"broken_{name}.py").write_text(code)
    monkeypatch.syspath_prepend(str(tmp_path))
    assert main(["play", f"broken_{name}:me/B-v0"]) == 2
    error = capsys.readouterr().err
    assert len(error.splitlines()) == 1 and re.search(word, error), error


def test_a_module_that_is_missing() -> None:
    with pytest.raises(gg.ArgumentError, match="module that can be imported.*'nowhere:me/B-v0'"):
        registry.task_id("nowhere:me/B-v0")


@pytest.mark.parametrize(
    "change, word",
    [
        ({"id": "me/Sweep"}, "id: expected 'Name-v0'"),
        ({"id": "granular_gym/Mine-v0"}, "id: expected another namespace"),
        ({"id": "CartPole-v1"}, "id: expected one that is free"),
        ({"steps": 0}, "steps"),
        ({"expert": int}, "expert: expected a subclass"),
        ({"expert": "sweep"}, "expert: expected a class at the top"),
        ({"features": 3}, "features: expected a class at the top"),
        ({"recipe": {"repeat": 2}}, "recipe"),
        ({"measure": ""}, "measure"),
    ],
)
def test_what_register_task_refuses(change: dict[str, Any], word: str, sweep: Any) -> None:
    arguments = {"id": "me/Other-v0", "task": sweep.SweepTask, "steps": 5, **change}
    with pytest.raises(gg.ArgumentError, match=word):
        gg.register_task(**arguments)
    assert "me/Other-v0" not in registry.task_ids()


def test_an_id_is_not_taken_over(sweep: Any) -> None:
    other = type("OtherTask", (sweep.SweepTask,), {"__module__": "sweep"})
    with pytest.raises(gg.ArgumentError, match="me/Sweep-v0' belongs to sweep:SweepEnv"):
        gg.register_task("me/Sweep-v0", other, steps=5)
    importlib.reload(sweep)  # registers again, as a notebook does
    assert gym.make("me/Sweep-v0", **SMALL).unwrapped.task_class is sweep.SweepTask


@pytest.mark.parametrize("field, value", [("repeat", 0), ("reward", "all"), ("scale", 0.0), ("grain_count", 0)])
def test_what_a_recipe_refuses(field: str, value: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=field):
        Recipe(**{field: value})


class Wide(Features):
    """Features of the user's."""


def test_recipe_features_and_no_expert(sweep: Any) -> None:
    other = type("RecipeTask", (sweep.SweepTask,), {"__module__": "sweep"})
    sweep.RecipeTask = other
    sys.modules["wide_features"] = sys.modules[__name__]
    mine = Recipe(repeat=3, reward="change", scale=0.1, log_std=-1.0)
    gg.register_task("me/Recipe-v0", other, steps=5, recipe=mine, features="wide_features:Wide")
    assert recipe("sweep:me/Recipe-v0", "PPO") == {
        "repeat": 3, "reward": "change", "scale": 0.1, "arguments": {"grain_count": 300},
    }  # fmt: skip
    assert recipe_of("me/Recipe-v0") is mine and recipe_of("me/Sweep-v0") == Recipe()
    env = gym.make("me/Recipe-v0", depth="uint8", **SMALL)
    assert type(features_of("sweep:me/Recipe-v0", env.observation_space)) is Wide
    with pytest.raises(gg.ArgumentError, match="me/Recipe-v0 was registered without one"):
        scripted_expert(env)
    env.close()
    del sys.modules["wide_features"]


# ---- slips of a writer ----


@pytest.mark.parametrize(
    "attributes, word",
    [
        ({"fastest": None}, "expected the attributes fastest"),
        ({"episode_state": ("plates",)}, "SlipTask.plates: expected an array"),
        ({"episode_state": ("radius",)}, "SlipTask.radius: expected an array"),
        ({"action_space": gym.spaces.Discrete(3)}, "SlipTask.action_space: expected a Box"),
        ({"observation_space": gym.spaces.Box(-1, 1, (3,))}, "SlipTask.observation_space: expected a Dict"),
        ({"observation_space": gym.spaces.Dict({"state": gym.spaces.Box(-1, 1, (3,))})}, "lacks sky"),
    ],
)
def test_slips_are_named(attributes: dict[str, Any], word: str, sweep: Any) -> None:
    """Attributes of None are taken away."""

    def init(self: Any, env_count: int = 1, **kwargs: Any) -> None:
        sweep.SweepTask.__init__(self, env_count, **kwargs)
        vars(self).update({name: value for name, value in attributes.items() if name.endswith("space")})

    slip = type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", "__init__": init, **attributes})
    if "fastest" in attributes:
        slip = type("SlipTask", (Task,), {k: v for k, v in vars(sweep.SweepTask).items() if k != "fastest"})
        slip.__init__ = lambda self, env_count=1, **kwargs: Task.__init__(self, env_count, **kwargs)  # type: ignore
    gg.register_task("me/Slip-v0", slip, steps=5)
    for make in (lambda: gym.make("me/Slip-v0", **SMALL), lambda: gym.make_vec("me/Slip-v0", num_envs=2, **SMALL)):
        with pytest.raises(gg.ArgumentError, match=word):
            make()


@pytest.mark.parametrize(
    "attribute, value, word",
    [
        ("fastest", 0, "fastest: expected a finite number > 0, got 0"),
        ("fastest", "a", "fastest: expected a number, got 'a'"),
        ("density", "a", "density: expected a number, got 'a'"),
        ("radius_of_2000", -0.1, "radius_of_2000: expected a finite number > 0, got -0.1"),
        ("presets", {"fast": 3}, r"presets\['fast'\]: expected a Preset, got int"),
        ("presets", None, "presets: expected a dict, got None"),
        ("images", {"sky": 3}, r"images\['sky'\]: expected an Image, got int"),
        ("pixels", {"sky": "sky"}, r"pixels\['sky'\]: expected an Image, got str"),
        ("episode_state", "plate", r"episode_state: expected a sequence of names, got 'plate'; take \('plate',\)"),
        ("option_names", "start", "option_names: expected a sequence of names, got 'start'"),
        (
            "difficulties",
            {"easy": Difficulty()},
            "difficulties: expected an entry 'medium', the default .*, got 'easy'",
        ),
        ("difficulties", {"medium": 1}, r"difficulties\['medium'\]: expected a range `friction` in it, got 1"),
        ("difficulties", [], r"difficulties: expected a dict, got \[\]"),
    ],
)
def test_wrong_attributes_are_named(attribute: str, value: Any, word: str, sweep: Any) -> None:
    slip = type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", attribute: value})
    with pytest.raises(gg.ArgumentError, match=rf"^SlipTask\.{word}"):
        slip(num_threads=1)


@pytest.mark.parametrize("period", [None, -0.1, 0.0, "a"])
def test_a_wrong_control_period_is_named(period: Any, sweep: Any) -> None:
    with pytest.raises(gg.ArgumentError, match=r"^SlipTask\.control_period: expected a"):
        type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", "control_period": period})


def bed_of(count: int) -> gg.Scene:
    scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)))
    scene.add_material(density=1500.0, radius=0.02, name="sand")
    if count:
        scene.fill_box("sand", (-1, -1, 0), (1, 1, 1), count=count)
    return scene


def filmed_bed() -> gg.Scene:
    scene = bed_of(60)
    scene.add_camera(gg.DepthCamera.orthographic(
        height=2, width=2, extent=1.0, position=(0, 0, 1), target=(0, 0, 0), up=(0, 1, 0), near=0.0, far=1.0
    ), name="own")  # fmt: skip
    return scene


@pytest.mark.parametrize(
    "hook, answer, word",
    [
        ("bed_scene", None, "bed_scene: expected a Scene, got NoneType"),
        ("bed_scene", bed_of(0), "bed_scene: expected a scene of 60 grains, got 0"),
        ("bed_scene", bed_of(40), "bed_scene: expected a scene of 60 grains, got 40"),
        ("bed_scene", filmed_bed(), "bed_scene: expected a scene without cameras, got 'own'; name them in `images`"),
        ("begin", None, "begin: expected the grains of every listed env .* those of env 0 were not; call load_beds"),
        ("counted", {"boxs": None}, "counted: expected one of 'boxes', .*, got 'boxs'; did you mean 'boxes'"),
        ("counted", None, "counted: expected a dict, got None"),
        ("readings", {"wrench": True}, "readings: expected one of 'wrenches', .*, got 'wrench'"),
        ("readings", [], r"readings: expected a dict, got \[\]"),
    ],
)
def test_what_hooks_ask_for_is_checked(hook: str, answer: Any, word: str, sweep: Any) -> None:
    members = {"__module__": "sweep", hook: lambda self, *arguments: answer}
    task = type("SlipTask", (sweep.SweepTask,), members)(**SMALL)
    with pytest.raises(gg.ArgumentError, match=rf"^SlipTask\.{word}"):
        task.reset(np.arange(1, dtype=np.int32), [0], None)
    task.close()


def test_an_expert_of_what_is_no_env() -> None:
    for wrong in (3, None, "Silo-v1"):
        with pytest.raises(gg.ArgumentError, match="^env: expected an env of granular_gym, got"):
            scripted_expert(wrong)


@pytest.mark.parametrize(
    "hook, answer, word",
    [
        ("evaluate", 1.0, r"SlipTask.evaluate: expected \(rewards, terminated, infos\), got float"),
        ("evaluate", (np.zeros(1, np.float32), np.zeros(1, bool), {}), "rewards to be an array of float64"),
        ("evaluate", (np.zeros(1), np.zeros(()), {}), "terminated to be an array of bool"),
        ("evaluate", (np.zeros(1), np.zeros(1, bool), {"share": 0.5}), "info 'share' to be an array"),
        ("sense", {}, r"SlipTask.sense: expected the entries \['state'\], got \[\]"),
        ("sense", {"state": np.zeros((1, 2), np.float32)}, "'state' to be an array of float32"),
        ("sense", {"state": np.zeros((1, 3))}, "got an array of float64"),
        ("sense", [], r"SlipTask.sense: expected the entries \['state'\], got list"),
        (
            "sense",
            {"state": np.float32([[0.0, np.nan, 0.0]])},
            "expected finite observations .*, got nan in 'state' of env 0",
        ),
        (
            "sense",
            {"state": np.float32([[0.0, 0.0, np.inf]])},
            "expected finite observations .*, got inf in 'state' of env 0",
        ),
    ],
)
def test_wrong_answers_of_hooks_are_named(hook: str, answer: Any, word: str, sweep: Any) -> None:
    members = {"__module__": "sweep", hook: lambda self: answer}
    gg.register_task("me/Slip-v0", type("SlipTask", (sweep.SweepTask,), members), steps=5)
    env = gym.make("me/Slip-v0", **SMALL)
    with pytest.raises(gg.ArgumentError, match=word):
        env.reset(seed=0)
    env.close()


@pytest.mark.parametrize(
    "attribute, value, word",
    [
        ("settling", 3, "settling: expected a Settling, got int"),
        ("tool_colors", [(0, 0, 0)] * 2, "SlipTask.tool_colors: expected one for each of the 1 tools, or none, got 2"),
    ],
)
def test_what_beds_need_is_checked(attribute: str, value: Any, word: str, sweep: Any) -> None:
    task = type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", attribute: value})(**SMALL)
    with pytest.raises(gg.ArgumentError, match=f"^{word}"):
        task.reset(np.arange(1, dtype=np.int32), [0], None)
    task.close()


def test_what_load_beds_refuses(sweep: Any) -> None:
    task = sweep.SweepTask(2, **SMALL)
    envs = np.arange(2, dtype=np.int32)
    for chosen, word in (
        (np.zeros(0, np.int64), r"expected shape \(2,\), got \(0,\)"),
        (np.array([1]), r"expected shape \(2,\), got \(1,\)"),
        (1, r"expected shape \(2,\), got \(\)"),
        (np.array([0.9, 0.1]), "expected an array of integers, got dtype float64"),
        ([0, -1], "expected 0 .. .*, got -1"),
    ):
        with pytest.raises(gg.ArgumentError, match=f"^chosen: {word}"):
            task.load_beds(envs, chosen)
    task.load_beds(envs, [1, 0])
    task.close()


def test_an_env_that_begins_without_a_bed_is_named(sweep: Any) -> None:
    """Also where the others have one, and where they are set by positions."""

    def begin(self: Any, envs: Any, options: Any) -> None:
        self.load_beds(envs[:1], np.zeros(1, np.int64))
        if options.get("start"):
            self.world.set_grains(positions=self.world.positions[0], envs=envs[1:])

    members = {"__module__": "sweep", "begin": begin, "option_names": ("start",)}
    task = type("SlipTask", (sweep.SweepTask,), members)(3, **SMALL)
    envs = np.arange(3, dtype=np.int32)
    task.reset(envs, [0, 1, 2], {"start": 1})
    task.reset(envs[1:2], [None], None)
    with pytest.raises(
        gg.ArgumentError, match=r"^SlipTask\.begin: expected .* those of env 2 were not; call load_beds"
    ):
        task.reset(envs[1:], [None, None], None)
    task.close()


@pytest.mark.parametrize("size_seed", [None, 5])
def test_beds_of_mixed_sizes_have_the_same_sizes(size_seed: int | None, sweep: Any) -> None:
    def bed_scene(self: Any, number: int) -> gg.Scene:
        scene = gg.Scene(bounds=((-0.6, -0.3, 0), (0.6, 0.3, 0.8)))
        sand, steel = add_sand_and_steel(scene, self.radius, self.density, 0.5, 0.3, on_steel=(0.3, 0.1))
        sizes = 0.6 * self.radius, 1.3 * self.radius
        scene.fill_box(
            sand, (-0.2, -0.2, 0), (0.2, 0.2, 0.8), self.grain_count, seed=number, radius=sizes, size_seed=size_seed
        )
        scene.add_tool(gg.Sdf.box((0.02, 0.3, 0.1)), name="plate", material=steel, pose=(-0.58, 0, 0.4))
        return scene

    task = type("MixedTask", (sweep.SweepTask,), {"__module__": "sweep", "bed_scene": bed_scene})(2, **SMALL)
    envs, numbers = np.arange(2, dtype=np.int32), np.arange(2)
    if size_seed is None:
        with pytest.raises(
            gg.ArgumentError, match=r"^MixedTask\.bed_scene: expected bed 1 to have the radii.*size_seed"
        ):
            task.load_beds(envs, numbers)
    else:
        task.load_beds(envs, numbers)
        assert np.ptp(task.world.radii[0]) > 0.3 * task.radius
        assert not np.array_equal(*task.world.positions)
    task.close()


def test_an_expert_remembers_in_the_natural_order(sweep: Any) -> None:
    calls: list[int] = []

    class Counting(Experts):
        def __init__(self, env: Any) -> None:
            super().__init__(env)
            self.phase = np.ones(self.task.env_count)

        def forget(self, env: int) -> None:
            calls.append(env)
            self.phase[env] = 0

        def actions(self) -> Any:
            return np.zeros((self.task.env_count, 2))

    envs = gym.make_vec(SWEEP, num_envs=2, **SMALL)
    envs.reset(seed=0)
    expert = Counting(envs)
    assert calls == [0, 1] and not expert.phase.any()
    expert.phase[:] = 7
    expert.reset(np.array([False, True]))
    assert expert.phase.tolist() == [7, 0]
    envs.close()


def test_a_class_of_two_ids(sweep: Any) -> None:
    """Each may be registered again."""
    for _ in range(2):
        gg.register_task("me/Long-v0", sweep.SweepTask, steps=200)
        gg.register_task("me/Short-v0", sweep.SweepTask, steps=20)
    assert registry.entry_of("me/Long-v0").steps == 200 and registry.entry_of("me/Short-v0").steps == 20


def test_an_action_that_is_not_finite_is_told_by_its_place_in_it() -> None:
    env = gym.make(SWEEP, disable_env_checker=True, **SMALL)
    env.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=r"^action: expected finite numbers, got nan at \[1\]$"):
        env.step(np.float32([0.0, np.nan]))
    env.close()
    envs = gym.make_vec(SWEEP, num_envs=2, **SMALL)
    envs.reset(seed=0)
    with pytest.raises(gg.ArgumentError, match=r"^actions: expected finite numbers, got nan at \[1, 0\]$"):
        envs.step(np.float32([[0.0, 0.0], [np.nan, 0.0]]))
    envs.close()


def test_experts_are_what_their_class_says() -> None:
    env = gym.make(SWEEP, **SMALL)
    env.reset(seed=0)
    assert isinstance(scripted_expert(env), Experts) and scripted_expert(env).act().shape == (2,)
    env.close()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_rewards_that_are_not_finite_are_named(bad: float, sweep: Any) -> None:
    """They are no zeros: a slip of a reward would be trained on."""

    def evaluate(self: Any) -> Any:
        _rewards, terminated, infos = sweep.SweepTask.evaluate(self)
        return np.full(self.env_count, bad), terminated, infos

    slip = type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", "evaluate": evaluate})
    gg.register_task("me/Slip-v0", slip, steps=5)
    env: Any = gym.make("me/Slip-v0", **SMALL)
    with pytest.raises(
        gg.ArgumentError, match=r"SlipTask\.evaluate: expected finite rewards .*, got (nan|inf) in env 0"
    ):
        env.reset(seed=0)
        env.step(env.action_space.sample())


def test_infos_are_what_evaluate_gives(sweep: Any) -> None:
    """Also numbers that are not finite; names that the engine gives are refused."""

    def env_with(name: str) -> Any:
        def evaluate(self: Any) -> Any:
            rewards, terminated, infos = sweep.SweepTask.evaluate(self)
            return rewards, terminated, {**infos, name: np.full(self.env_count, np.inf)}

        slip = type("SlipTask", (sweep.SweepTask,), {"__module__": "sweep", "evaluate": evaluate})
        gg.register_task("me/Slip-v0", slip, steps=5)
        return gym.make("me/Slip-v0", **SMALL)

    env = env_with("distance")
    env.reset(seed=0)
    assert env.step(env.action_space.sample())[4]["distance"] == np.inf
    env = env_with("overlap_max")
    with pytest.raises(gg.ArgumentError, match=r"expected infos beside those of the engine, got 'overlap_max'"):
        env.reset(seed=0)
        env.step(env.action_space.sample())
