"""validation/: a cheap check runs, its page is written, results merge, and failing or missing cases are shown."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

validation_check = pytest.importorskip("validation.check", reason="validation/ lies beside the tests in a checkout")

import granular_gym as gg  # noqa: E402
from validation import check, page, resume, store  # noqa: E402
from validation.checks import CHECKS  # noqa: E402


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(ROOT / "validation" / "run.py"), *arguments, "--quiet", "--threads", "1"],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )


def stored(rows: list[check.Row], planned: int, missing: tuple[str, ...] = ()) -> dict[str, Any]:
    """A check of one set as in results.json."""
    facts = dict.fromkeys(("cpu", "cores", "threads", "compiler", "kernel", "version", "source"), "x")
    return {
        "date": "2000-01-01",
        "facts": facts,
        "rows": [vars(row) for row in rows],
        "planned": planned,
        "missing": list(missing),
        "seconds": 1.0,
    }


def test_one_check_writes_its_section(tmp_path: Path) -> None:
    """The drum with one grain: page, plot under 100 kB, rows with all columns; another check keeps its rows."""
    pytest.importorskip("scipy")
    folder = tmp_path / "validation"
    folder.mkdir()
    kept = {"slopes": {"any": stored([], 0)}}
    (folder / "results.json").write_text(json.dumps({"checks": kept}))
    done = run("drum", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    results = json.loads((folder / "results.json").read_text())["checks"]
    assert results["slopes"] == kept["slopes"]
    rows = results["drum"]["any"]["rows"]
    assert len(rows) == results["drum"]["any"]["planned"] > 10
    assert all(row["verdict"] == check.PASS for row in rows), [r for r in rows if r["verdict"] != check.PASS]
    text = (tmp_path / "validation.md").read_text()
    assert "## `drum`" in text and "2000-01-01" in text and "not run" in text
    assert 1_000 < (folder / "drum_any.png").stat().st_size < 100_000


# comparisons with other codes take a minute
@pytest.mark.parametrize("one", [c for c in CHECKS if c.name not in ("lammps", "bullet")], ids=lambda one: one.name)
def test_every_check_can_be_measured(one: check.Check, monkeypatch: pytest.MonkeyPatch) -> None:
    """One case of each kind with very short times; the values do not matter."""
    if one.available():
        pytest.skip(one.available())
    plain = gg.World.step

    def step(world: gg.World, dt: float, substeps: int = 1, tool_poses: Any = None) -> None:
        plain(world, dt, min(substeps, 1), tool_poses)

    monkeypatch.setattr(gg.World, "step", step)
    cases = one.cases("any" if one.same else "quick", range(1, 2))
    first = {(p.get("case"), p.get("spin")): p for p in reversed(cases)}
    for params in first.values():
        assert one.measure(params, 1)


def test_unknown_check_is_named() -> None:
    done = run("nonsense")
    assert done.returncode == 2
    assert "nonsense" in done.stderr and "slopes" in done.stderr


def test_damaged_results_are_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        store.load_results(path)
    assert path.read_text() == "{"


def result(**params: object) -> check.Result:
    return check.Result(dict(params), {}, 0.5)


@pytest.mark.parametrize(
    ("value", "expected"),
    [(1.0, check.PASS), (1.0099, check.PASS), (1.02, check.FAIL), (float("nan"), check.FAIL), (None, check.FAIL)],
)
def test_verdicts(value: float | None, expected: str) -> None:
    row = check.near(result(seed=1, dt=1e-3), "a", "b", value, 1.0, 0.01, "law")
    assert (row.verdict, row.seed, row.dt, row.seconds) == (expected, 1, 1e-3, 0.5)


def test_rows_over_seeds_say_so() -> None:
    row = check.below([result(seed=1, spin="on"), result(seed=2, spin="on")], "a", "b", 1.0, 2.0, "law")
    assert (row.seed, row.spin, row.seconds) == ("all", "on", 1.0)


def test_failures_stay_on_the_page() -> None:
    """A failing row is bold, with its cause or none, and spin on and off have separate tables."""
    rows = [
        check.near(result(seed=1, dt=1e-3, spin="off"), "block", "speed | x", 2.0, 1.0, 0.1, "law"),
        check.below(result(seed=1, dt=1e-3, spin="on"), "ball", "lift", 3.0, 1.0, "law"),
    ]
    one = check.Check("one", "a law", "text", "1", lambda size, seeds: [{}], lambda p, t: {}, lambda r: rows,
                      lambda f, r: None, causes={"lift": "too few steps"})  # fmt: skip
    text = page.render([one], {"one": {"quick": stored(rows, 3, ("seed=2",))}}, "validation", set())
    assert text.index("**Spin on**") < text.index("**Spin off")
    assert text.count("| **FAIL** |") == 2
    assert "- lift: too few steps" in text
    assert "- speed | x: cause not found yet" in text
    assert "speed \\| x" in text
    assert "quick set: 1 of 3 cases not run: seed=2" in text
    assert "full set: not run" in text


def test_a_case_is_known_by_what_it_does() -> None:
    """Two functions that differ in a constant or in what they call have different keys; the same one has the same."""

    def key(measure) -> Path:
        made = check.Check("k", "t", "a", "", lambda s, n: [], measure, lambda r: [], lambda f, r: None)
        return store._case_path(made, {"seed": 1})

    assert key(lambda p, t: {"x": 1}) == key(lambda p, t: {"x": 1})
    assert key(lambda p, t: {"x": 1}) != key(lambda p, t: {"x": 2})


def test_checkpoint_goes_on_with_the_same_bits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A resumed case has the result of an uninterrupted one; a damaged checkpoint is ignored."""
    monkeypatch.setattr(resume, "_FOLDER", tmp_path)
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.3)))
    sand = scene.add_material(radius=0.005, density=2500.0)
    scene.fill_box(sand, (-0.05, -0.05, 0.0), (0.05, 0.05, 0.2), count=60)
    kept = resume.Checkpoint("case", {"seed": 1})
    with scene.build(num_threads=1) as straight, scene.build(num_threads=1) as taken_up:
        assert kept.load(taken_up) is None
        straight.step(1e-3, 50)
        kept.save(straight, {"times": [0.05]})
        straight.step(1e-3, 50)
        assert resume.Checkpoint("case", {"seed": 1}).load(taken_up) == {"times": [0.05]}
        taken_up.step(1e-3, 50)
        assert taken_up.state_hash() == straight.state_hash()
        assert resume.Checkpoint("case", {"seed": 2}).load(taken_up) is None
        (path,) = tmp_path.glob("*.ggstate")
        path.write_bytes(path.read_bytes()[:-1])
        assert kept.load(taken_up) is None
        kept.remove()
        assert not list(tmp_path.iterdir())
