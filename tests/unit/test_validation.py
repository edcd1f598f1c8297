"""validation/: a cheap check runs, its page is written, results merge, and failing or missing cases are shown."""

from __future__ import annotations

import json
import os
import re
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
    facts = dict.fromkeys(("cpu", "cores", "threads", "compiler", "kernel", "version", "source", "mode"), "x")
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
    assert "[drum](validation/drum.md)" in text and "2000-01-01" in text and "not run" in text
    assert "# `drum`" in (folder / "drum.md").read_text()
    assert "No. 2 of the list" in (folder / "slopes.md").read_text()
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


@pytest.mark.filterwarnings("ignore::granular_gym.SdfWarning")
@pytest.mark.parametrize("size", ["quick", "full"])
def test_grains_of_the_incline_start_above_its_base(size: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The base is a slice of a bed that has settled, unlike in the test above; a scene with overlaps is refused."""
    pytest.importorskip("scipy")
    from validation.checks import incline

    params = incline.cases(size, [1])[0]
    scene = incline.bed(params["side"], params["layers"], params["seed"])
    scene.add_tool(gg.Sdf.union(incline.rough(params["side"], params["seed"])), name="base")
    with scene.build(num_threads=1) as world:
        assert len(world.overlaps(env=0, tolerance=1e-3)) == 0


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
    one = check.Check("one", "a law", "text", "1", "lift", lambda size, seeds: [{}], lambda p, t: {}, lambda r: rows,
                      lambda f, r: None, causes={"lift": "too few steps"})  # fmt: skip
    pages = page.render([one], {"one": {"quick": stored(rows, 3, ("seed=2",))}}, "validation", set())
    text = pages["validation/one.md"]
    assert text.index("**Spin on**") < text.index("**Spin off")
    assert text.count("| **FAIL** |") == 2
    assert "- lift: too few steps" in text
    assert "- speed | x: cause not found yet" in text
    assert "speed \\| x" in text
    assert "quick set: 1 of 3 cases not run: seed=2" in text
    assert "full set: not run" in text
    front = pages["validation.md"]
    assert "0 lines pass, **2 fail**" in front
    assert "| [one](validation/one.md) | a law (in part) | lift: 3 (≤ 1) | 0 | **2** |" in front
    assert "- [one](validation/one.md), lift, 1 of 1: too few steps." in front
    assert "speed | x, 1 of 1: cause not found yet." in front
    assert "[one](one.md)" in pages["validation/checks.md"]


def test_measures_with_one_cause_share_a_line() -> None:
    rows = [check.below(result(), "ball", name, 2.0, 1.0, "law") for name in ("drift", "lift", "lift", "spin")]
    why = {"drift": "steps that are far too long for it; more", "lift": "steps that are far too long for it: more"}
    one = check.Check("one", "a law", "text", "1", "lift", lambda size, seeds: [{}], lambda p, t: {}, lambda r: rows,
                      lambda f, r: None, causes=why)  # fmt: skip
    front = page.render([one], {"one": {"quick": stored(rows, 1)}}, "validation", set())["validation.md"]
    assert "- [one](validation/one.md), drift, 1 of 1; lift, 2 of 2: steps that are far too long for it.\n" in front
    assert "- [one](validation/one.md), spin, 1 of 1: cause not found yet.\n" in front


@pytest.mark.parametrize(
    ("cause", "clause"),
    [
        ("too few steps. And more.", "too few steps. And more"),
        ("the column is deep and has not come to rest: it still swings", "the column is deep and has not come to rest"),
        (
            "one loose grain (of 500; seed 1) rolls on and on; the bed rests",
            "one loose grain (of 500; seed 1) rolls on and on",
        ),
    ],
)
def test_a_cause_is_cut_where_a_clause_ends(cause: str, clause: str) -> None:
    assert page._first_clause(cause) == clause


def test_the_pages_are_those_of_the_stored_results() -> None:
    """What is published says what results.json holds; the first page is one screen, and README has its count."""
    docs = ROOT / "docs"
    results = store.load_results(docs / "validation" / "results.json")
    pictures = {path.name for path in (docs / "validation").glob("*.png")}
    pages = page.render(CHECKS, results, "validation", pictures)
    for path, text in pages.items():
        assert (docs / path).read_text() == text, f"{path}: run python validation/run.py --page"
    assert len(pages["validation.md"].splitlines()) <= 70 and len(pages["validation.md"].split()) < 1500
    total = page.totals(CHECKS, results)
    said = f"{total[check.FAIL]} of {total[check.PASS] + total[check.FAIL]:,} gated lines fail"
    assert said in (ROOT / "README.md").read_text()


def test_every_check_is_represented() -> None:
    """The figure of the first page is that of a gated measure; a number is one of the list."""
    results = store.load_results(ROOT / "docs" / "validation" / "results.json")
    for one in CHECKS:
        rows = [row for kept in page.shown(one, results[one.name]).values() for row in kept["rows"]]
        assert page._headline(one, rows), one.name
        assert one.number in ("", *(entry.number for entry in page.PLAN))


def test_links_of_the_pages_lead_somewhere() -> None:
    docs = ROOT / "docs"
    for path in (docs / "validation.md", *(docs / "validation").glob("*.md")):
        for target in re.findall(r"\]\(([^)#]+)\)", path.read_text()):
            assert (path.parent / target).exists(), f"{path.name}: {target}"


def test_a_case_is_known_by_what_it_does() -> None:
    """Two functions that differ in a constant or in what they call have different keys; the same one has the same."""

    def key(measure) -> Path:
        made = check.Check("k", "t", "a", "", "", lambda s, n: [], measure, lambda r: [], lambda f, r: None)
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
