"""The emulator as an instrument: it counts what kernels move, and finds what nothing puts in order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from testbed.emulated import ROOT
from testbed.instrumented import LIBRARY, build, lines
from testbed.traffic import in_process, totals

sys.path.insert(0, str(ROOT / "tools"))
import gpu_traffic

#: the smallest scene whose env is worked on by several blocks
SCENE = "spheres, team"


@pytest.fixture(scope="module")
def package() -> Path:
    """Folder of the package whose loads and stores are seen."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if not compiler:
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    if "clang" in subprocess.run([compiler, "--version"], capture_output=True, text=True).stdout:
        pytest.skip("the instrument takes GCC's calls")
    return build()


@pytest.fixture(scope="module")
def kernels(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program of small kernels whose traffic and order are known."""
    program = tmp_path_factory.mktemp("instrument") / "unordered"
    flags = ["-std=c++17", "-O2", "-g1", "-Wall", "-Wextra", "-Werror", "-fsanitize=thread", "-DGG_EMULATOR_INSTRUMENT"]
    compiler, source, made = os.environ.get("CXX", "g++"), ROOT / "tests" / "emulator" / "unordered.cpp", f"{program}.o"
    subprocess.run([compiler, *flags, "-c", source, "-o", made], check=True)
    # without the flag, which would bring the sanitizer's own library
    subprocess.run([compiler, made, LIBRARY, f"-Wl,-rpath,{LIBRARY.parent}", "-o", program], check=True)
    return program


def reported(kernels: Path, name: str) -> dict[str, Any]:
    """What the instrument says of a kernel."""
    done = subprocess.run([kernels, name], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    report: dict[str, Any] = json.loads(done.stdout)
    return report


@pytest.mark.parametrize(
    ("name", "flow"),
    [
        # of 32 threads: bytes, sectors of instructions, sectors touched for the first time
        ("words", (128, 4, 4)),
        ("words apart", (128, 32, 32)),
        ("words again", (384, 12, 4)),
        ("vectors", (512, 16, 16)),
    ],
)
def test_sectors(kernels: Path, name: str, flow: tuple[int, int, int]) -> None:
    """Accesses of a warp are put together into the sectors of an instruction."""
    (only,) = reported(kernels, name)["traffic"]
    assert (only["side"], only["array"]) == ("read", "other memory")
    assert (only["bytes"], only["sectors"], only["cold"]) == flow


@pytest.mark.parametrize(
    ("name", "between"),
    [
        ("fences", ""),
        ("no fence before", "blocks"),
        ("no fence after", "blocks"),
        ("barriers", ""),
        ("no barrier before", "blocks"),
        ("no barrier after", "blocks"),
        ("half warps", ""),
        ("no half warps", "lanes"),
    ],
)
def test_missing_order_is_found(kernels: Path, name: str, between: str) -> None:
    """Each thing that puts accesses in order is missed where a kernel lacks it; a kernel that has all is clean."""
    races = reported(kernels, name)["races"]
    assert {race["between"] for race in races} == ({between} if between else set())
    if between:
        stale = next(race for race in races if race["kind"] == "read after write")
        # by the line that reads
        assert "tests/emulator/unordered.cpp:" in lines({stale["after"]["code"]})[stale["after"]["code"]]


def test_nothing_is_stale(package: Path) -> None:
    """All that a substep reads is in order, and it moves and meets no more than is allowed."""
    found = in_process([SCENE])[SCENE]
    assert found["races"] == [], gpu_traffic.told(found["races"])
    stored = json.loads(gpu_traffic.LIMITS.read_text())
    sums = totals(found)
    assert gpu_traffic.faults({SCENE: sums}, stored) == []
    # sectors hold what is asked for at least once, and the cache does not add any
    assert 0.0 < sums["cold"] <= sums["sectors"] and sums["team"] > 50
    assert gpu_traffic.faults({SCENE: {**sums, "team": 2.0 * sums["team"]}}, stored)
    assert gpu_traffic.faults({"another": sums}, stored)


def test_a_dropped_barrier_is_found(package: Path) -> None:
    """Without the barrier after a phase what it writes is read too early: where, by whom, in which order of threads."""
    for seed in ("0", "5"):
        races = in_process([SCENE], without="open_bodies", GG_EMULATOR_SEED=seed)[SCENE]["races"]
        stale = [race for race in races if race["between"] == "blocks" and race["kind"] == "read after write"]
        opened = [race for race in stale if race["before_phase"] == "open_bodies"]
        assert {race["array"] for race in opened} == {"body_b", "shift"}
        # the phases before it leave the barrier to it
        assert {race["before_phase"] for race in stale} == {"open_bodies", "colour_contacts"}
        for race in stale:
            assert race["after_phase"] == "prepare_colour"
        for race in opened:
            assert "cuda/sweeps.cuh" in race["before"] and "coloured/prepare.h" in race["after"]


def test_command_line(capsys: pytest.CaptureFixture[str]) -> None:
    """A scene that there is not is an error that names those there are."""
    with pytest.raises(SystemExit):
        gpu_traffic.main(["spheres"])
    assert "expected some of spheres, block; spheres, team" in capsys.readouterr().err
    with pytest.raises(SystemExit):
        gpu_traffic.main(["--without", "open_body"])
    assert "--without: expected a phase" in capsys.readouterr().err
