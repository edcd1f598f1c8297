"""The least times of promised scenes on a GPU (tools/gpu_floors.py)."""

from __future__ import annotations

import shutil
import sys

import pytest

import granular_gym as gg
from testbed.emulated import ROOT
from testbed.traffic import BED_SWEEPS, BEDS, in_process

sys.path += [str(ROOT), str(ROOT / "tools")]
import gpu_floors

from benchmarks.gpu import roofline
from benchmarks.gpu.targets import EQUAL_SWEEPS


def test_floors() -> None:
    """Bytes over rates, instructions of warps over those of all schedulers, meetings by the time of each."""
    gpu = gpu_floors.Gpu(memory=2e12, second=4e12, issue=1e12, meeting=1e-6)
    promise = gpu_floors.Promise("blade", grains=1_000_000, instructions=320, meetings=3)
    counts = {"missed": 1000.0, "cold": 8000.0, "contacts": 6.0, "beside": 20.0}
    floors = gpu_floors.floors(counts, promise, gpu, sweeps=10)
    assert floors == pytest.approx({"memory": 500.0, "second level": 2000.0, "sweeps": 300.0, "meetings": 50.0})
    alone = gpu_floors.Promise("blade", grains=1, instructions=320, meetings=0)
    assert gpu_floors.floors(counts, alone, gpu, sweeps=10)["meetings"] == 0.0
    assert {f"{scene}, {n} sweeps" for scene in gpu_floors.PROMISES for n in BED_SWEEPS} == BEDS.keys()
    assert (gg.Solver().iterations, EQUAL_SWEEPS) == BED_SWEEPS
    times = [gpu_floors.promised(gpu_floors.TARGETS[p.target], p.grains) for p in gpu_floors.PROMISES.values()]
    assert times == pytest.approx([50.0, 400.0, 1000.0, 682.67], rel=1e-4)


@pytest.mark.full
def test_the_table(capsys: pytest.CaptureFixture[str]) -> None:
    """Each promised scene has its counts, for both GPUs."""
    if not shutil.which("g++"):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    assert gpu_floors.main() == 0
    rows = [line for line in capsys.readouterr().out.splitlines() if " H200 " in line or " H100 " in line]
    assert len(rows) == 2 * len(BEDS)
    for row in rows:
        cold, missed, beside = (float(word) for word in row[24:].split()[:3])
        assert 0.0 < missed < cold and (beside > 0.0) != row.startswith("1,024")


@pytest.mark.full
def test_least_bytes() -> None:
    """No phase of a bed moves less than its roofline says; those that gather nothing, hardly more."""
    if not shutil.which("g++"):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    scene, sweeps = next(iter(BEDS)), BED_SWEEPS[0]
    measured = in_process([scene])[scene]
    law = roofline.COLOURED
    for phase in law.grains:
        least = roofline.moved(law, phase, measured["contacts"], first=True)
        if phase in law.iterated:
            least += (sweeps - 1) * roofline.moved(law, phase, measured["contacts"])
        moves = sum(measured["phases"][phase][side] for side in ("read", "written"))
        assert least <= 1.01 * moves, phase
        if phase in ("predict", "open_bodies", "coloured_integrate"):
            assert moves < 1.25 * least, phase
