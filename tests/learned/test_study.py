"""The commands train, evaluate and table on a tiny dataset, evaluation, and what they say of bad input."""

from __future__ import annotations

import csv
import dataclasses
import importlib.util
import json
import math
import shutil
import sys
from pathlib import Path
from typing import Any

import imageio.v3 as imageio
import numpy as np
import pytest

import granular_gym as gg

torch = pytest.importorskip("torch", reason="torch is not installed")
pytest.importorskip("scipy", reason="SciPy is not installed")
pytest.importorskip("skimage", reason="scikit-image is not installed")

from granular_gym.learned import curves, make_data, models, study  # noqa: E402
from granular_gym.learned.__main__ import main  # noqa: E402
from granular_gym.learned.curve import Curve  # noqa: E402
from granular_gym.learned.data import Dataset  # noqa: E402
from granular_gym.learned.evaluate import Measures, Report, Verdict, evaluate  # noqa: E402
from granular_gym.learned.render import Renderer  # noqa: E402
from granular_gym.learned.simulator import Scale, Simulator  # noqa: E402


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    torch.set_num_threads(1)
    out = tmp_path_factory.mktemp("data") / "fall"
    make_data.make_data(make_data.Request("SandFall", "tiny", 2, 2), out)
    return out


class Replay(Simulator):
    """Knows an episode by heart, and loses its mind in another."""

    name = "replay"

    def __init__(self, scale: Scale, episode: Any) -> None:
        super().__init__(scale)
        self.episode, self.frame = episode, 0

    def advance(self, state: Any, matter: Any) -> Any:
        known = np.allclose(state.positions[0], self.episode.positions[self.frame])
        self.frame = (self.frame + 1) % (len(self.episode.positions) - 1)
        wanted = self.episode.positions[self.frame or -1] if known else np.full_like(state.positions[0], np.nan)
        return dataclasses.replace(state, positions=torch.from_numpy(wanted.copy())[None]), None


def test_evaluation_of_a_perfect_and_a_diverging_rollout(folder: Path) -> None:
    data = Dataset.load(folder)
    report = evaluate(
        Replay(Scale(data.dt, data.radius, 4), data.test[0]), data, data.test, Renderer(data.cameras, data.radius)
    )
    good, bad = report.verdicts
    assert good.diverged_at is None and bad.diverged_at == 1 and "not finite" in bad.reason
    perfect = good.measures
    assert perfect.chamfer == perfect.emd == perfect.mse == 0.0
    # the pictures of the data are rounded to bytes
    assert perfect.psnr is not None and perfect.psnr > 45.0 and perfect.ssim is not None and perfect.ssim > 0.99
    assert perfect.psnr_camera is not None and perfect.psnr_camera < perfect.psnr
    assert perfect.bond_change == pytest.approx(perfect.bond_change_true, abs=1e-6)
    # nothing of the one that diverged is in the mean
    assert report.diverged == 1 and report.mean == perfect
    assert all(value is None for value in dataclasses.asdict(bad.measures).values())
    ballistic = evaluate(models.make("ballistic", Scale(data.dt, data.radius, 4)), data, data.test)
    assert ballistic.diverged == 0 and ballistic.mean.chamfer is not None and ballistic.mean.chamfer > 0.0
    assert ballistic.mean.psnr is None


def test_a_table_is_trained_and_resumed(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    plan: dict[str, Any] = {
        "data": {"fall": str(folder), "lost": "nowhere"},
        "models": {"DEL, no L_g": {"gradient": 0.0, "options": {"width": 8}}},
        "seeds": [0],
        "settings": {"iterations": 2, "batch": 1, "horizon": [1, 2]},
    }
    out, file = tmp_path / "out", tmp_path / "plan.json"
    file.write_text(json.dumps(plan))
    words = ["table", "--plan", str(file), "--out", str(out)]
    assert main([*words, "--processes", "2"]) == 1, "a run failed, and the other was not lost"
    assert "2 of 2: " in capsys.readouterr().err
    rows = list(csv.DictReader((out / "results.csv").open()))
    assert [row["scene"] for row in rows] == ["fall", "lost"] and [row["diverged"] for row in rows] == ["0", ""]
    assert rows[0]["state"] == "over" and rows[1]["state"].startswith("failed: ") and "nowhere" in rows[1]["state"]
    table = json.loads((out / "table.json").read_text())
    assert table["fall"]["DEL, no L_g"]["chamfer"]["median"] == pytest.approx(float(rows[0]["chamfer"]))
    assert table["lost"]["DEL, no L_g"]["seeds"] == 0
    assert (out / "curves.csv").exists()
    checkpoint = out / "fall" / "DEL-no-L_g" / "0" / "checkpoint.pt"
    before = checkpoint.stat().st_mtime_ns
    # what is over is not done again, unless its settings change; a dataset elsewhere is one more test
    plan["data"] = {"fall": str(folder)}
    file.write_text(json.dumps(plan))
    assert main(words) == 0 and "1 runs, 1 of them over" in capsys.readouterr().err
    plan["elsewhere"] = {"same": str(folder), "gone": "nowhere"}
    file.write_text(json.dumps(plan))
    assert main([*words, "--dry"]) == 0 and "to be tested on same, gone" in capsys.readouterr().out
    assert main(words) == 1, "a test that cannot be made fails its run"
    here, there, gone = csv.DictReader((out / "results.csv").open())
    assert (there["scene"], there["trained_on"], there["state"]) == ("same", "fall", "over")
    assert there["chamfer"] == here["chamfer"], "the same episodes, and a checkpoint in place of the model in memory"
    assert gone["state"].startswith("failed: ") and "nowhere" in gone["state"]
    del plan["elsewhere"]
    assert checkpoint.stat().st_mtime_ns == before
    plan["settings"]["learning_rate"] = 1e-3
    file.write_text(json.dumps(plan))
    assert main([*words, "--dry"]) == 0 and "2 iterations to do" in capsys.readouterr().out
    gpu = torch.cuda.is_available()
    assert main([*words, "--device", "cuda" if gpu else "cpu"]) == 0
    assert checkpoint.stat().st_mtime_ns != before
    assert main(["evaluate", str(checkpoint.parent), str(folder)]) == 0
    assert "chamfer_diameters" in capsys.readouterr().out
    for device in ("gpu", *(() if gpu else ("cuda",))):
        assert main([*words, "--device", device]) == 2
        assert "device: expected cpu" in capsys.readouterr().err


def test_a_table_moves_with_its_data(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Runs are over wherever they lie; those of a dataset that was made anew are not."""
    here, there = tmp_path / "here", tmp_path / "there"
    shutil.copytree(folder, here / "fall")
    settings = {"iterations": 1, "batch": 1, "horizon": [1, 1], "options": {"width": 8}}
    plan = {"data": {"fall": "fall"}, "models": {"DEL": {}}, "seeds": [0], "settings": settings}
    (here / "plan.json").write_text(json.dumps({**plan, "elsewhere": {"same": "fall"}}))

    def dry(place: Path) -> str:
        assert main(["table", "--plan", str(place / "plan.json"), "--out", str(place / "out"), "--dry"]) == 0
        return capsys.readouterr().out.split(": ")[1].split(",")[0]

    assert main(["table", "--plan", str(here / "plan.json"), "--out", str(here / "out")]) == 0
    assert dry(here) == "over"
    here.rename(there)
    assert dry(there) == "over"
    meta = there / "fall" / "meta.json"
    meta.write_text(meta.read_text().replace('"seed": 0', '"seed": 1'))
    assert dry(there) == "1 iterations to do"
    # of versions that did not note it, and of data that is not there any more, the place tells
    for wanted in (there / "out").rglob("wanted.json"):
        wanted.write_text(json.dumps({**json.loads(wanted.read_text()), "data": str(there / "fall")}))
    shutil.rmtree(there / "fall")
    assert dry(there) == "over"


def test_what_json_holds_of_equal_pictures(tmp_path: Path) -> None:
    same = Measures(chamfer=0.5, psnr=math.inf)
    Report([Verdict(0, None, "", same)], same, 0).write(tmp_path)
    summary = json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)
    assert summary["chamfer"] == 0.5 and summary["psnr"] is None


def test_options_beside_a_resumed_run(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out, file = str(tmp_path / "run"), tmp_path / "settings.json"
    file.write_text(json.dumps({"options": {"width": 8}, "batch": 1, "horizon": [1, 2]}))
    words = ["train", str(folder), "--out", out, "--settings", str(file), "--iterations", "1"]
    resumed = ["train", str(folder), "--out", out, "--resume"]
    assert main(words) == 0 and main([*words, "--resume"]) == 0 and main(resumed) == 0
    capsys.readouterr()
    for more, said in (
        (["--seed", "9"], "seed: expected 0, which the resumed run has, got 9"),
        (["--iterations", "2"], "iterations: expected 1, which the resumed run has, got 2"),
        (["--model", "gns"], "model: expected 'del', which the resumed run has, got 'gns'"),
    ):
        assert main([*resumed, *more]) == 2
        assert said in capsys.readouterr().err


def test_curves_of_a_table_lie_in_one_file(tmp_path: Path) -> None:
    """Those of runs that have some; a row without a loss, as all rollouts diverged, is kept and not drawn."""
    runs = [curves.Place("fall", model, seed, tmp_path / f"{model}{seed}") for model in "ab" for seed in (0, 1)]
    for run, losses in zip(runs, ((0.4, 0.2), (0.3, None), (0.5, 0.4)), strict=False):
        run.folder.mkdir()
        each = Curve(run.folder, [], 40, progress=False)
        for k, loss in enumerate(losses):
            each.add({"iteration": 20 * (k + 1), "seconds": 1.0, "loss": loss})
        each.write()
        each.close()
    curves.write_curves(runs, tmp_path)
    rows = list(csv.DictReader((tmp_path / "curves.csv").open()))
    assert [(row["model"], row["seed"], row["iteration"], row["loss"]) for row in rows] == [
        *(("a", "0", "20", "0.4"), ("a", "0", "40", "0.2"), ("a", "1", "20", "0.3"), ("a", "1", "40", "")),
        *(("b", "0", "20", "0.5"), ("b", "0", "40", "0.4")),
    ]
    if importlib.util.find_spec("matplotlib"):
        assert imageio.imread(tmp_path / "curves.png").std() > 1.0


def test_from_pictures_alone_the_start_included(
    folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = tmp_path / "settings.json"
    settings.write_text(json.dumps({"options": {"width": 8}, "batch": 1, "horizon": [1, 2]}))
    out = tmp_path / "run"
    words = ["train", str(folder), "--out", str(out), "--settings", str(settings), "--iterations", "2"]
    assert main([*words, "--start", "pictures", "--pictures", "camera", "--evaluate"]) == 0
    summary = json.loads((out / "summary.json").read_text())
    assert summary["chamfer"] > 0.0 and summary["emd"] > 0.0 and summary["bond_change"] is not None
    # grains that were found are not those of the data, one by one
    assert summary["mse"] is None
    said = capsys.readouterr().out
    assert main(["evaluate", str(out), str(folder), "--start", "pictures", "--pictures", "camera"]) == 0
    assert capsys.readouterr().out.strip() == said.strip().splitlines()[-1], "the model that was trained, from a file"
    assert main(["evaluate", str(out), str(folder)]) == 0 and "mse" in capsys.readouterr().out
    # the truth, and beside it or below it what the model makes of it
    assert main(["compare", str(folder), str(out), "--out", str(tmp_path / "two.png")]) == 0
    assert imageio.imread(tmp_path / "two.png").shape[:2] == (480, 5 * 240), "episodes of tiny data have five frames"
    assert main(["compare", str(folder), str(out), "--out", str(tmp_path / "two.png")]) == 2
    assert main([*words[:-2], "--start", "pictures", "--supervision", "tracks"]) == 2
    assert "start: expected 'known' with tracks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("plan", "said"),
    [
        ("{", r"plan: expected JSON"),
        ("[]", r"plan: expected an object"),
        ('{"data": {"a": "b"}, "models": {"m": {}}, "seed": [0]}', r"did you mean 'seeds'"),
        ('{"data": {}, "models": {"m": {}}, "seeds": [0]}', r"plan\.data: expected an object with entries"),
        ('{"data": {"a": "b"}, "models": {"m": {"iterations": 0}}, "seeds": [0]}', r"plan\.models\['m'\]: iterations"),
        ('{"data": {"a": "b"}, "models": {"m": {}, "m.": {}}, "seeds": [0]}', r"folders differ"),
        (
            '{"data": {"a": "b"}, "models": {"m": {}}, "seeds": [0], "elsewhere": {"a": "c"}}',
            r"plan\.elsewhere: .* got a",
        ),
    ],
)
def test_bad_plans(plan: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "plan.json").write_text(plan)
    with pytest.raises(gg.ArgumentError, match=said):
        study.read_plan(tmp_path / "plan.json", tmp_path)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["train", "NONE", "--out", "OUT"], "NONE"),
        (["train", "DATA", "--out", "OUT", "--views", "9"], "views: expected up to 4"),
        (["train", "DATA", "--out", "OUT", "--iterations", "0"], "iterations: expected an integer >= 1"),
        (["evaluate", "NONE", "DATA", "--views", "-1"], "views: expected an integer in 1 .. 4, got -1"),
        (["evaluate", "NONE", "DATA", "--views", "5"], "views: expected an integer in 1 .. 4, got 5"),
        (["evaluate", "NONE", "DATA"], "there is no such file"),
        (["table", "--plan", "NONE", "--out", "OUT"], "plan: expected a file"),
        (["compare", "DATA", "NONE", "--out", "OUT.png"], "there is no such file"),
        (["compare", "DATA", "NONE", "--out", "OUT"], "out: expected a file that ends in .mp4 or .png"),
        (["compare", "DATA", "NONE", "--episode", "2", "--out", "OUT.mp4"], "episode: expected an integer in 0 .. 1"),
    ],
)
def test_bad_words(
    words: list[str], said: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = {"NONE": str(tmp_path / "NONE"), "OUT": str(tmp_path / "out"), "DATA": str(folder)}
    assert main([places.get(each, each) for each in words]) == 2
    error = capsys.readouterr().err
    assert said in error and len(error.splitlines()) == 1
    assert not (tmp_path / "out").exists()


def test_names_of_the_package() -> None:
    learned = sys.modules["granular_gym.learned"]
    assert all(getattr(learned, name) is not None for name in learned.__all__)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = learned.nothing
