"""Tests of `make gpu` that need no GPU: its plan, its tables, rows after a timeout, measurements."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import granular_gym as gg

ROOT = Path(__file__).resolve().parents[2]
# after the installed packages: only `benchmarks` and the tools are imported from there
sys.path += [str(ROOT), str(ROOT / "tools")]

import gpu_plan  # noqa: E402
import gpu_report  # noqa: E402
import gpu_stages  # noqa: E402
import run_gpu  # noqa: E402


def row(key: str, **more: Any) -> dict[str, Any]:
    """A measured row as benchmarks/gpu/run.py writes it."""
    from benchmarks.gpu.targets import TARGETS

    target = TARGETS[key]
    value = {"min": target.wanted, "median": 2.0 * target.wanted, "max": 3.0 * target.wanted}
    quality = {"residual": 1e-3, "overlap_mean_pct": 0.25, "overlap_max_pct": 1.5, "contacts_per_grain": 5.25}
    counters = {"rebuild_count": 4, "escaped_count": 0, "fast_count": 7, "diverged": 0}
    met = not target.at_most
    made = {"name": target.name, "target": key, "figure": target.figure, "wanted": target.wanted, "met": met}
    return {**made, target.figure: value, "roofline": 0.5 * target.wanted, **quality, **counters, **more}


def cases() -> dict[str, Any]:
    """A sample report: one complete case, one incomplete."""
    kernel = {"envs": 1, "grains": 50_000, "us_per_step": 40.0, "name": "1 x 50000 grains, team", "requested": "team"}
    return {
        "speed": {"about": "", "complete": True, "facts": {"gpu": "H"}, "rows": [row("blade"), row("large")]},
        "kernels": {"about": "", "complete": False, "facts": {"gpu": "H"}, "rows": [kernel]},
        "price": {"about": "", "facts": {}, "rows": [{"name": "1 x 50000 grains", "us_per_step": 50.0}]},
    }


VARIANTS = {"fmad": {"rows": [{"name": "1 x 50000 grains", "us_per_step": {"min": 1, "median": 45.0, "max": 99}}]}}


def test_plan() -> None:
    """The budgets of all stages fit into ten minutes; figures with targets come first."""
    names = [name for name, _, _ in gpu_plan.PLAN]
    assert sum(seconds for _, _, seconds in gpu_plan.PLAN) <= 600.0
    assert len(set(names)) == len(names) and {kind for _, kind, _ in gpu_plan.PLAN} == {"", *gpu_plan.GROUPS}
    headline = {f"benchmark {target.case}" for target in gpu_report.TARGETS.values()}
    assert headline == set(names[3 : 3 + len(headline)]), names
    from benchmarks.gpu import run as gpu_run

    assert {*gpu_plan.PLAN_CASES, "price"} == set(gpu_run.CASES)


def test_budget() -> None:
    """Whatever part of its time each stage uses, the report keeps its own; unused time is left to later stages."""
    for share in (0.0, 0.5, 1.0):
        left, took = 600.0, {}
        for name, _, _ in gpu_plan.PLAN:
            took[name] = share * gpu_plan.allowed(gpu_plan.PLAN, name, left)
            left -= took[name]
        assert left >= -1e-6, (share, left)
        assert took["report"] >= share * gpu_plan.PLAN[-1][2] - 1e-6
    own = {name: seconds for name, _, seconds in gpu_plan.PLAN}
    # the build may exceed its budget: the next benchmarks keep theirs, the last stages are cut
    late = 600.0 - 330.0
    assert gpu_plan.allowed(gpu_plan.PLAN, "benchmark speed", late) == own["benchmark speed"]
    assert gpu_plan.allowed(gpu_plan.PLAN, "benchmark price", own["report"] + 1.0) == pytest.approx(1.0)
    assert gpu_plan.allowed(gpu_plan.PLAN, "build", 570.0) == 570.0 - own["report"]
    # twice as long a run has twice the time of each
    assert gpu_plan.allowed(gpu_plan.PLAN, "parity", 0.0, 2.0) == 0.0
    half = gpu_plan.allowed(gpu_plan.PLAN, "parity", 100.0, 0.5)
    assert half == pytest.approx(0.5 * own["parity"])


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--only", "benchmark"], "--only: expected some of benchmarks,parity,sanitizer,suite, got benchmark"),
        (["--minutes", "0"], "--minutes"),
        (["--quick", "--write-docs"], "--write-docs: a rehearsal"),
        (["--emulate", "--write-docs"], "--write-docs: a rehearsal"),
    ],
)
def test_wrong_arguments(capsys: pytest.CaptureFixture[str], words: list[str], said: str) -> None:
    """Invalid arguments are refused before anything runs."""
    with pytest.raises(SystemExit):
        run_gpu.arguments(words)
    assert said in capsys.readouterr().err


def test_arguments() -> None:
    """No time is reserved for stages that are not selected."""
    run = gpu_plan.Run(run_gpu.arguments(["--only", "parity,sanitizer", "--minutes", "20"]))
    kinds = {kind for _, kind, _ in run.plan}
    assert kinds == {"", "parity", "sanitizer"}
    assert run.reserved_for("parity") == 2.0 * next(seconds for name, _, seconds in gpu_plan.PLAN if name == "parity")
    assert 1190.0 < run.left() <= 1200.0


def test_left_out() -> None:
    """Tests that build the engine are not run; their files exist."""
    files = gpu_stages.suite_files()
    assert files[0].startswith("tests/determinism/") and "tests/unit/test_gpu_run.py" in files
    for name in gpu_stages.LEFT_OUT:
        assert (ROOT / name).is_file() and name not in files
    assert not any("parity" in name for name in files) and gpu_stages.parity_files()


def test_cores() -> None:
    """The second build has its own cores where there are enough."""
    assert gpu_stages.split_cores(list(range(16)), True) == (list(range(12)), list(range(12, 16)))
    assert gpu_stages.split_cores([0, 1], True) == ([0, 1], [0, 1])
    assert gpu_stages.split_cores(list(range(16)), False)[0] == list(range(16))


def test_packages_of_an_outer_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An environment made from one sees the packages of that, too."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(tmp_path / "inner")], check=True)
    inner = str(tmp_path / "inner" / "bin" / "python")
    monkeypatch.setattr(gpu_stages, "PYTHON", inner)
    assert subprocess.run([inner, "-c", "import numpy"], capture_output=True).returncode
    gpu_stages.share_packages()
    subprocess.run([inner, "-c", "import numpy, gymnasium"], check=True, env={**os.environ, "PYTHONPATH": ""})


def test_summary() -> None:
    """One table: each speed with its roofline, residual, overlap and counters; missing measurements are listed."""
    run = gpu_plan.Run(run_gpu.arguments([]))
    run.note("benchmark kernels", "timeout", 22.0, rows=1)
    run.note("test suite", "cut", 0.0, why="there was no time left")
    lines = gpu_report.summary(run.stages, cases(), VARIANTS).splitlines()
    text = "\n".join(lines)
    blade = next(line for line in lines if line.startswith("50000 grains, blade"))
    cells = ["us_per_step", "100", "50", "25", "SHORT", "1.00e-03", "0.25", "/", "1.5", "5.25", "4", "0", "/", "7"]
    assert re.split(r"\s+", blade)[4:] == ["ms", *cells, "/", "0"]
    assert re.search(r"500000 grains at rest.* 5 +2\.5 +1\.25 +met", text)
    assert re.search(r"1024 envs x 1000 grains +grain_steps_per_s +not measured", text)
    assert "cut, or ended before they were done: benchmark kernels, test suite" in text
    assert re.search(r"^1 x 50000 +- +40 +-$", text, re.MULTILINE)
    assert re.search(r"^1 x 50000 grains +0\.900$", text, re.MULTILINE)


def test_docs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of docs/gpu.md are those that the run writes; figures replace "not measured"."""
    empty = gpu_report.docs_section("", {}, {}, [])
    text = (ROOT / "docs" / "gpu.md").read_text()

    def names(section: str) -> list[str]:
        return [line.split("|")[1].strip() for line in section.splitlines() if line.startswith("|")]

    assert names(empty) == names(text.partition(gpu_report.MARKS[0])[2].partition(gpu_report.MARKS[1])[0])
    stages = [{"stage": "memcheck", "status": "passed", "summary": "0 errors"}, {"stage": "synccheck", "status": "cut"}]
    section = gpu_report.docs_section("a GPU.", cases(), VARIANTS, stages)
    assert names(section) == names(empty)
    assert section.count("not measured") == empty.count("not measured") - 5
    assert "blade, 1 ms | us_per_step | 50 (at most) | 100 | 25 | 1.00e-03 | 0.25 / 1.5 | 5.25 |" in section
    assert "compute-sanitizer, memcheck | passed (0 errors) |" in section
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "gpu.md").write_text(text)
    monkeypatch.setattr(gpu_report, "ROOT", tmp_path)
    gpu_report.write_docs(section)
    written = (tmp_path / "docs" / "gpu.md").read_text()
    assert section in written and written.startswith(text.partition(gpu_report.MARKS[0])[0])
    assert written.endswith(text.partition(gpu_report.MARKS[1])[2])


def test_timeout_keeps_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A case that times out keeps its rows."""
    from benchmarks.gpu import run as gpu_run

    def slow(run: gpu_run.Run) -> Iterator[dict[str, Any]]:
        yield {"name": "first"}
        raise KeyboardInterrupt

    monkeypatch.setitem(gpu_run.CASES, "speed", gpu_run.GpuCase("", slow, ()))
    with pytest.raises(KeyboardInterrupt):
        gpu_run.report("speed", gpu_run.Run(gpu_run.TINY, "cpu"), {}, tmp_path)
    found = gpu_report.read_cases(tmp_path)["speed"]
    assert found["rows"] == [{"name": "first"}] and not found["complete"]
    # the same from outside: the process is ended, its file is read
    monkeypatch.setattr(gpu_plan, "WORK", tmp_path)
    code = f"import json, time; json.dump({found!r}, open({str(tmp_path / 'batch.json')!r}, 'w')); time.sleep(60)"
    fake = tmp_path / "python"
    fake.write_text(f"#!/bin/sh\nexec {sys.executable} -c {json.dumps(code)}\n")
    fake.chmod(0o755)
    monkeypatch.setattr(gpu_stages, "PYTHON", str(fake))
    run = gpu_plan.Run(run_gpu.arguments(["--minutes", "0.5"]))
    start = time.monotonic()
    gpu_stages.benchmark(run, "batch", tmp_path)
    assert time.monotonic() - start < 10.0
    assert (run.stages[-1]["status"], run.stages[-1]["rows"]) == ("timeout", 1)
    run.end = time.monotonic()
    gpu_stages.benchmark(run, "gears", tmp_path)
    assert run.stages[-1]["status"] == "cut"


def test_depth_renders() -> None:
    """Timed images are rendered; returning an earlier image again is an error."""
    from benchmarks.gpu import drives, target_cases

    with drives.filmed(1, 16, "cpu", "sky").build(2, device="cpu", num_threads=1) as world:
        assert world.camera_names == ["sky"]
        wall, inside = target_cases.render_once(world, "sky")
        assert 0.0 < inside <= wall
        step = world.step
        world.step = lambda *_: None  # type: ignore[method-assign]
        with pytest.raises(RuntimeError, match="nothing was rendered"):
            target_cases.render_once(world, "sky")
        world.step = step  # type: ignore[method-assign]


def test_overhead() -> None:
    """Time inside the extension does not count as Python's."""
    from benchmarks import overhead

    class Core:
        value = 3

        def step(self, seconds: float) -> float:
            time.sleep(seconds)
            return seconds

    core = overhead.Clocked(Core())
    start = time.perf_counter()
    assert core.value == 3 and core.step(0.02) == 0.02 and core.step(0.02) == 0.02
    whole = time.perf_counter() - start
    assert core.calls == 2 and 0.04 <= core.seconds <= whole
    assert 0.0 <= overhead.clock_cost(100) < 1e-3
    core.answers = []
    core.step(0.0)
    again = overhead.Answering(core.answers)
    assert again.step(0.02) == 0.0 and again.step(0.02) == 0.0
    with pytest.raises(RuntimeError, match="expected the call step"):
        again.depth(0)


def test_roofline() -> None:
    """The bytes of a substep follow from the engine's arrays."""
    from benchmarks.gpu import roofline

    widths = roofline.widths()
    assert (widths["body_a"], widths["position"], widths["impulse_a"], widths["other_body"]) == (32.0, 16.0, 12.0, 4.0)
    phases = set(gg.Scene(((0, 0, 0), (1, 1, 1))).build(device="cpu").profile(False))
    for law in roofline.LAWS.values():
        every = (*law.grains.values(), *law.contacts.values())
        named = {name for table in every for part in table for name in part.split()}
        assert named <= widths.keys(), named - widths.keys()
        assert {*law.contacts, *law.iterated} <= law.grains.keys() <= phases
        assert all(name in named or name in law.iterated for name in law.late)

    def iteration(mode: str, count: int, **more: bool) -> float:
        one, two = (roofline.bytes_per_grain(6.0, n, mode=mode, **more) for n in (count, count + 1))
        return two - one

    # of Jacobi rows, velocities, and 64 bytes a contact, 12 fewer in the first one; of coloured Gauss-Seidel bodies and
    # those before, and 68 bytes of half as many
    assert iteration("jacobi", 1) == pytest.approx(139.0 + 6.0 * 64.0)
    assert iteration("gauss_seidel", 1) == iteration("gauss_seidel", 2) == pytest.approx(4.0 * 32.0 + 3.0 * 68.0)
    assert iteration("gauss_seidel", 1, rolling=True) == pytest.approx(4.0 * 32.0 + 3.0 * 112.0)
    assert roofline.resident(6.0) == pytest.approx(64.0 + 3.0 * 68.0 - 3.0 * 12.0)
    assert roofline.expected("overhead_1") is None
    assert roofline.expected("blade") == pytest.approx(5e4 * roofline.bytes_per_grain(6.4, 10) / 4.8e6)
    assert roofline.bandwidth("NVIDIA H200 NVL") == (4.8e12, "H200")


def test_real_time_count() -> None:
    """Number of grains at which a step takes real time."""
    from benchmarks.gpu.target_cases import real_time_count

    assert real_time_count([(100, 500.0), (400, 2000.0)])[0] == pytest.approx(200.0)
    assert real_time_count([(100, 500.0)]) == (100.0, "at least: the ladder ends there")
    assert real_time_count([(100, 1500.0)])[0] == 0.0
