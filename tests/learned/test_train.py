"""Training of learned simulators: losses, windows, exact resume, what diverges, evaluation and tables."""

from __future__ import annotations

import csv
import dataclasses
import math
import sys
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import granular_gym as gg

torch = pytest.importorskip("torch", reason="torch is not installed")

from granular_gym.learned import checkpoints, losses, models  # noqa: E402
from granular_gym.learned import train as training  # noqa: E402
from granular_gym.learned.losses import PictureWeights, Target  # noqa: E402
from granular_gym.learned.rollout import rollout  # noqa: E402
from granular_gym.learned.settings import Settings  # noqa: E402
from granular_gym.learned.train import Trainer  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import made_matter as made  # noqa: E402
from made_matter import DT, GRAVITY, RADIUS, SCALE, wake  # noqa: E402


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


class Picture(NamedTuple):
    color: Any
    depth: Any
    alpha: Any


class Splats:
    """A small renderer with the interface of `render.Renderer`: two views, along y and along x."""

    def __call__(self, positions: Any, colors: Any) -> Picture:
        pixels = (torch.arange(12) - 5.5) * RADIUS
        views = []
        for axis in (0, 1):
            across = torch.exp(-(((positions[..., axis, None] - pixels) / RADIUS) ** 2))
            up = torch.exp(-(((positions[..., 2, None] - pixels - 6 * RADIUS) / RADIUS) ** 2))
            views.append(torch.einsum("...nw,...nh,nc->...hwc", across, up, colors))
        color = torch.tanh(torch.stack(views, -4))
        return Picture(color, color[..., 0], color[..., 0])


def bounces(episodes: int = 4, count: int = 6, frames: int = 16, seed: int = 0) -> list[made.Episode]:
    """Lone particles that fall on the floor and bounce, with pictures by `Splats`."""
    random = np.random.default_rng(seed)
    result = []
    for _ in range(episodes):
        x = random.uniform(-4, 4, (count, 3)) * RADIUS
        x[:, 2] = random.uniform(1.5, 4.0, count) * RADIUS
        v = random.uniform(-0.2, 0.2, (count, 3))
        track, motion = [x], [v]
        for _ in range(frames):
            for _ in range(20):
                overlap = np.maximum(RADIUS - x[:, 2], 0.0) / RADIUS
                push = 300.0 * overlap * np.maximum(1.0 - 0.5 * v[:, 2], 0.0)
                v = v + (np.array(GRAVITY) + push[:, None] * (0, 0, 1)) * (DT / 20)
                x = x + v * (DT / 20)
            track.append(x)
            motion.append(v)

        def tensor(values: list[np.ndarray]) -> np.ndarray:
            return np.stack(values).astype(np.float32)

        colors = np.full((count, 3), 0.5, np.float32)
        shown = Splats()(torch.from_numpy(tensor(track)), torch.from_numpy(colors)).color
        pictures = (255.0 * shown).round().to(torch.uint8).numpy()
        none = np.zeros((0, 2), np.int32)
        kinds, bodies = np.zeros(count, np.int8), np.full(count, -1, np.int32)
        result.append(
            made.Episode(
                tensor(track),
                tensor(motion),
                kinds,
                bodies,
                none,
                np.zeros(0, np.float32),
                colors,
                splat_color=pictures,
                color=pictures,
            )
        )
    return result


@pytest.fixture(scope="module")
def data() -> made.Dataset:
    return made.Dataset(bounces(), bounces(2, seed=5))


SMALL = Settings(iterations=12, batch=2, horizon=(1, 3), reach=4, log_every=3, save_every=100, options={"width": 16})


def begin(folder: Path, data: made.Dataset, **changes: Any) -> Trainer:
    return Trainer.begin(folder, data, dataclasses.replace(SMALL, **changes), render=Splats(), progress=False)


def error(trainer: Trainer, data: made.Dataset) -> float:
    """Mean square distance of rollouts of the test episodes [m^2]."""
    found = [rollout(trainer.simulator, data, each).positions - each.positions for each in data.test]
    return float(np.mean(np.square(found).sum(-1)))


# ---- losses ----


def test_the_loss_of_a_window_has_the_slopes_of_the_whole() -> None:
    random = torch.Generator().manual_seed(0)
    positions = torch.rand(3, 2, 5, 3, generator=random) * 6 * RADIUS
    colors = torch.full((5, 3), 0.5)
    targets = [Target(colors, torch.rand(3, 2, 12, 12, 3, generator=random)) for _ in range(2)]
    velocities = torch.randn(3, 2, 5, 3, generator=random)
    render = Splats()
    here, other, speed = (each.clone().requires_grad_() for each in (positions, positions + 0.01, velocities))
    weights = PictureWeights(normal=0.5, gradient=0.1)
    loss, parts = losses.window_loss(render, targets, here, speed, other, weights)
    loss.backward()
    there, another = (each.detach().clone().requires_grad_() for each in (here, other))
    direct = [
        torch.stack([losses.picture_loss(render, each[:, k], targets[k]) for k in range(2)]).mean()
        for each in (there, another)
    ]
    (direct[0] + 0.5 * direct[1]).backward()
    assert float(there.grad.abs().max()) > 0.0
    assert torch.allclose(here.grad, there.grad, atol=1e-7) and torch.allclose(other.grad, another.grad, atol=1e-7)
    whole = float(direct[0].detach() + 0.5 * direct[1].detach()) + 0.1 * parts["gradient"]
    assert float(loss.detach()) == pytest.approx(whole, rel=1e-5)
    assert float(speed.grad.abs().max()) > 0.0, "the gradient loss acts on velocities"


def test_the_gradient_loss_wants_velocities_against_the_slope() -> None:
    slopes = torch.tensor([[[1.0, 0.0, 0.0], [0.0, 2.0, 0.0], [0.0, 0.0, 1e-9]]])
    velocities = torch.tensor([[[-3.0, 0.0, 0.0], [0.0, 5.0, 0.0], [1.0, 0.0, 0.0]]])
    # along, against, and a hidden particle that is not counted
    assert float(losses.gradient_loss(slopes, velocities)) == pytest.approx((0.0 + 2.0) / 2)
    assert float(losses.gradient_loss(0.0 * slopes, velocities)) == 0.0


# ---- runs ----


def test_horizon_and_reach_grow() -> None:
    settings = Settings(iterations=100, horizon=(2, 8), growth=0.5)
    assert [settings.grown(k, 2, 8) for k in (0, 25, 50, 99)] == [2, 5, 8, 8]
    assert Settings(growth=0.0).grown(0, 2, 8) == 8


@pytest.mark.parametrize("supervision", ["images", "tracks"])
def test_a_resumed_run_is_the_whole_one_bit_for_bit(supervision: str, data: made.Dataset, tmp_path: Path) -> None:
    whole = begin(tmp_path / "whole", data, supervision=supervision)
    assert whole.run()
    part = begin(tmp_path / "part", data, supervision=supervision)
    # in the middle of a row of the curve, and of walks
    assert not part.run(iterations=7)
    torch.rand(5)
    again = Trainer.resume(tmp_path / "part", data, render=Splats(), progress=False)
    assert again.iteration == 7 and again.run()
    one, two = whole.simulator.state_dict(), again.simulator.state_dict()
    assert all(torch.equal(one[name], two[name]) for name in one)
    rows = [list(csv.DictReader((tmp_path / name / "curve.csv").open())) for name in ("whole", "part")]
    for row in (*rows[0], *rows[1]):
        row.pop("seconds")
    assert rows[0] == rows[1] and [row["iteration"] for row in rows[0]] == ["3", "6", "9", "12"]
    untrained = models.make("del", SCALE, width=16).state_dict()
    assert any(not torch.equal(one[name], untrained[name]) for name in one)
    other = begin(tmp_path / "other", data, supervision=supervision, seed=1)
    other.run()
    assert any(not torch.equal(one[name], other.simulator.state_dict()[name]) for name in one)


def test_pictures_alone_teach_what_a_floor_does(data: made.Dataset, tmp_path: Path) -> None:
    settings = {"iterations": 60, "batch": 4, "horizon": (2, 5), "reach": 8, "learning_rate": 1e-2, "save_every": 1000}
    trainer = begin(tmp_path, data, **settings)
    before = error(trainer, data)
    assert trainer.run() and trainer.diverged == 0
    assert error(trainer, data) < 0.2 * before
    rows = list(csv.DictReader((tmp_path / "curve.csv").open()))
    assert float(rows[-1]["picture"]) < float(rows[len(rows) // 2]["picture"])
    assert {"picture", "normal", "gradient"} <= {name for name, value in rows[-1].items() if value}


def test_pictures_need_no_tracks(data: made.Dataset, tmp_path: Path) -> None:
    def spoiled(episode: made.Episode) -> made.Episode:
        positions, velocities = episode.positions.copy(), episode.velocities.copy()
        positions[1:], velocities[1:] = math.nan, math.nan
        return dataclasses.replace(episode, positions=positions, velocities=velocities)

    without = dataclasses.replace(data, train=[spoiled(each) for each in data.train])
    runs = [begin(tmp_path / str(k), each) for k, each in enumerate((data, without))]
    assert all(each.run() and each.diverged == 0 for each in runs)
    one, two = (each.simulator.state_dict() for each in runs)
    assert all(torch.equal(one[name], two[name]) for name in one)


@pytest.mark.parametrize("name", ["gns", "egnn", "sgnn"])
def test_baselines_learn_from_tracks(name: str, data: made.Dataset, tmp_path: Path) -> None:
    changes = {"iterations": 80, "learning_rate": 5e-3, "horizon": (4, 4), "options": {"width": 32}}
    trainer = begin(tmp_path, data, model=name, supervision="tracks", **changes)
    before = error(trainer, data)
    assert trainer.run()
    assert error(trainer, data) < 0.3 * before


@pytest.mark.parametrize(
    "options",
    [
        {"normal": 0.0},
        {"gradient": 0.0},
        {"stability": 0.0},
        {"options": {"tangential": False}},
        {"options": {"decomposition": False}},
    ],
)
def test_ablations_train(options: dict[str, Any], data: made.Dataset, tmp_path: Path) -> None:
    trainer = begin(tmp_path, data, iterations=3, **options)
    assert trainer.run()
    row = next(csv.DictReader((tmp_path / "curve.csv").open()))
    no_normal = options.get("normal") == 0.0 or options.get("options") == {"decomposition": False}
    assert (row["normal"] == "") == no_normal
    assert (row["gradient"] == "") == (options.get("gradient") == 0.0)
    no_law = options.get("stability") == 0.0 or options.get("options") == {"decomposition": False}
    assert (row["stability"] == "") == no_law


# ---- what diverges ----


class Runaway(models.MODELS["ballistic"]):  # type: ignore[misc, name-defined]
    """Doubles the distance to the origin each frame."""

    def accelerations(self, state: Any, matter: Any) -> Any:
        return state.positions / (DT * DT * self.scale.acceleration), None


def test_a_rollout_that_diverges_is_stopped_and_said(data: made.Dataset) -> None:
    result = rollout(Runaway(SCALE), data, data.test[0], frames=16)
    assert result.diverged_at is not None and 1 <= result.diverged_at < 16
    assert len(result.positions) == result.diverged_at and np.isfinite(result.positions).all()
    assert "m/s" in result.reason or "outside" in result.reason
    good = rollout(models.make("ballistic", SCALE), data, data.test[0])
    assert good.diverged_at is None and good.reason == "" and good.positions.shape == data.test[0].positions.shape


def test_frames_of_another_length_are_refused(data: made.Dataset) -> None:
    """A model steps by a frame of its own: measured beside frames of another length it would be wrong in silence."""
    slow = models.make("ballistic", dataclasses.replace(SCALE, dt=5.0 * DT))
    with pytest.raises(gg.ArgumentError, match=r"^dt: expected frames of 0\.05 s, which the model knows, got 0\.01"):
        rollout(slow, data, data.test[0])


def test_windows_that_diverge_are_left_out_and_counted(
    data: made.Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trainer = begin(tmp_path, data)
    wake(trainer.simulator)
    before = {name: each.clone() for name, each in trainer.simulator.state_dict().items()}
    with torch.no_grad():
        trainer.simulator.kernels.masses.logarithms[1] = math.nan
    before["kernels.masses.logarithms"] = trainer.simulator.state_dict()["kernels.masses.logarithms"].clone()
    monkeypatch.setattr(training, "PATIENCE", 5)
    with pytest.raises(gg.errors.DivergenceError, match=r"5 windows in a row diverged at iteration 5.*not finite"):
        trainer.run()
    assert trainer.diverged == 5
    after = trainer.simulator.state_dict()
    assert all(torch.equal(before[name].nan_to_num(7.0), after[name].nan_to_num(7.0)) for name in before)


# ---- files ----


def test_checkpoints(data: made.Dataset, tmp_path: Path) -> None:
    trainer = begin(tmp_path / "run", data)
    trainer.run()
    path = tmp_path / "run" / checkpoints.NAME
    model = checkpoints.load(tmp_path / "run")
    assert (
        rollout(model, data, data.test[0]).positions.tobytes()
        == rollout(trainer.simulator, data, data.test[0]).positions.tobytes()
    )
    with pytest.raises(gg.ArgumentError, match=r"^folder: expected one without a run"):
        begin(tmp_path / "run", data)
    with pytest.raises(gg.StateError, match=r"expected the dataset of the run"):
        Trainer.resume(tmp_path / "run", dataclasses.replace(data, train=data.train[:3]), render=Splats())
    content = path.read_bytes()
    (tmp_path / "cut.pt").write_bytes(content[: len(content) // 2])
    with pytest.raises(gg.StateError, match=r"cut\.pt: expected a whole checkpoint"):
        checkpoints.load(tmp_path / "cut.pt")
    with pytest.raises(gg.StateError, match=r"none\.pt: expected a checkpoint, there is no such file"):
        checkpoints.load(tmp_path / "none.pt")
    whole = checkpoints.read(path)
    for change, said in (
        ({"version": 99}, f"expected version {checkpoints.VERSION}, got 99"),
        ({"options": {"width": 8}}, "weights that fit"),
    ):
        torch.save({**whole, **change}, tmp_path / "other.pt")
        with pytest.raises(gg.StateError, match=said):
            checkpoints.load(tmp_path / "other.pt")


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"supervison": "images"}, r"did you mean 'supervision'"),
        ({"supervision": "pictures"}, r"^supervision: expected one of"),
        ({"horizon": [4, 2]}, r"^horizon: expected an integer >= 4, got 2"),
        ({"horizon": 4}, r"^horizon: expected two numbers"),
        ({"iterations": 0}, r"^iterations: expected an integer >= 1, got 0"),
        ({"growth": 2.0}, r"^growth: expected a number from 0 to 1"),
        ({"learning_rate": 0.0}, r"^learning_rate: expected"),
    ],
)
def test_bad_settings(values: dict[str, Any], said: str) -> None:
    with pytest.raises(gg.ArgumentError, match=said):
        Settings.of(values)


def test_bad_data(data: made.Dataset, tmp_path: Path) -> None:
    blind = dataclasses.replace(data.train[0], splat_color=None)
    short = dataclasses.replace(data.train[0], splat_color=data.train[0].splat_color[:-2])
    for episode, said in ((blind, "got none"), (short, "got 15")):
        with pytest.raises(
            gg.ArgumentError, match=rf"^train\[0\]\.splat_color: expected 17 frames of pictures, {said}"
        ):
            begin(tmp_path / "a", dataclasses.replace(data, train=[episode]))
    with pytest.raises(gg.ArgumentError, match=r"^train: expected episodes to learn from, got none"):
        begin(tmp_path / "b", dataclasses.replace(data, train=[]))
    with pytest.raises(gg.ArgumentError, match=r"^views: expected up to 2, the cameras of the dataset, got 3"):
        begin(tmp_path / "c", data, views=3)
    with pytest.raises(gg.ArgumentError, match=r"^render: expected pictures of the shape \(1, 1, 12, 12, 3\)"):
        begin(tmp_path / "e", data, views=1, iterations=1).run()
    (tmp_path / "e" / checkpoints.NAME).unlink()
    with pytest.raises(gg.ArgumentError, match=r"^render: expected a renderer for training from images, got None"):
        Trainer.begin(tmp_path / "d", data, SMALL)
    assert not list(tmp_path.rglob("*.pt"))
