"""Calibration: it recovers the coefficients of known materials, and reports failure."""

from __future__ import annotations

import dataclasses
import json
import math
import sys
from collections.abc import Sequence

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.__main__ import main

GRAINS = gg.Grains(density=2500.0, radius=0.005)


@dataclasses.dataclass(frozen=True)
class Formula:
    """An experiment without simulation, with known results."""

    target: float
    rolls: bool = False
    noise: float = 0.0
    name = "formula"
    unit = "-"

    def measure(self, grains: gg.Grains, candidates: np.ndarray, seeds: Sequence[int]) -> np.ndarray:
        """Rises from 0 to 10 with friction, or with rolling friction."""
        rise = candidates[:, int(self.rolls)]
        return 10.0 * rise / (0.3 + rise) + [self.noise * np.random.default_rng(seed).normal() for seed in seeds]


def test_two_targets_pin_down_both_parameters():
    # 5 at 0.3; 2.5 at 0.1
    found = gg.calibrate([Formula(5.0), Formula(2.5, rolls=True)], GRAINS, candidates=16, rounds=60, tolerance=0.01)
    assert found.met and found.require() is found
    assert found.friction == pytest.approx(0.3, rel=0.05)
    assert found.rolling_friction == pytest.approx(0.1, rel=0.05)
    assert found.uncertainty == (0.0, 0.0)
    assert found.plausible["friction"][0] <= found.friction <= found.plausible["friction"][1]
    # it stops within the tolerance
    assert found.evaluations < 16 * 61
    again = gg.calibrate([Formula(5.0), Formula(2.5, rolls=True)], GRAINS, candidates=16, rounds=60, tolerance=0.01)
    assert np.array_equal(found.candidates, again.candidates)


def test_one_target_leaves_the_other_open():
    found = gg.calibrate(Formula(5.0), GRAINS, candidates=24, rounds=4)
    assert found.met
    assert found.plausible["rolling_friction"][1] - found.plausible["rolling_friction"][0] > 0.1
    held = gg.calibrate(Formula(5.0), GRAINS, rolling_friction=0.2, candidates=10, rounds=8)
    assert held.rolling_friction == 0.2 and held.plausible["rolling_friction"] == (0.2, 0.2)


def test_a_target_out_of_reach_says_how_close_it_came():
    found = gg.calibrate(Formula(9.0), GRAINS, rounds=8)
    assert not found.met
    assert found.friction > 0.9
    assert found.misses[0] == pytest.approx(10.0 / 1.3 / 9.0 - 1.0, abs=0.01)
    with pytest.raises(gg.CalibrationError, match=r"formula: wanted 9 -, got 7\.\d+ .*: not met within 3"):
        found.require()


def test_noise_is_measured_with_fresh_starts():
    found = gg.calibrate(Formula(5.0, noise=0.2), GRAINS, candidates=10, rounds=3, repeats=40, tolerance=0.2)
    assert found.uncertainty[0] == pytest.approx(0.2 / math.sqrt(40), rel=0.5)


@pytest.mark.parametrize("radius", [0.005, 0.001, gg.SizeDistribution.uniform(0.004, 0.006)])
def test_bulk_density_does_not_depend_on_size(radius):
    """Without friction spheres settle at a solid fraction of about .63, with high friction below .57."""
    test = gg.BulkDensity(1500.0, grain_count=150)
    values = test.measure(gg.Grains(2500.0, radius), np.array([[0.0, 0.0], [0.8, 0.3]]), [1, 1])
    print(values / 2500.0)
    assert 0.60 < values[0] / 2500.0 < 0.66
    assert 0.40 < values[1] / 2500.0 < 0.57


@pytest.mark.slow
def test_angle_of_repose_is_found_again(full):
    """The heap of a known material, with its friction given: rolling friction is recovered."""
    count = 100 if full else 60
    test = gg.ReposeAngle(1.0, grain_count=count)
    truth = np.array([[0.5, 0.2]])
    angle = float(np.mean(test.measure(GRAINS, np.repeat(truth, 12, axis=0), range(50, 62))))
    found = gg.calibrate(
        gg.ReposeAngle(angle, grain_count=count),
        GRAINS,
        friction=0.5,
        rolling_friction=(0.0, 0.5),
        candidates=6,
        rounds=2,
        repeats=6,
        tolerance=0.1,
    )
    assert found.met, found.describe()
    assert found.rolling_friction == pytest.approx(0.2, abs=0.1)


def test_refusals():
    for name, call in (
        ("experiments", lambda: gg.calibrate([], GRAINS)),
        ("target", lambda: gg.ReposeAngle(90.0)),
        ("target", lambda: gg.BulkDensity(math.nan)),
        ("grain_count", lambda: gg.BulkDensity(1000.0, grain_count=3)),
        ("opening", lambda: gg.DischargeRate(1.0, 0.01).measure(GRAINS, np.ones((1, 2)), [0])),
        ("friction", lambda: gg.calibrate(Formula(1.0), GRAINS, friction=(0.5, 0.1))),
        ("rolling_friction", lambda: gg.calibrate(Formula(1.0), GRAINS, rolling_friction=-1.0)),
        ("tolerance", lambda: gg.calibrate(Formula(1.0), GRAINS, tolerance=0.0)),
        ("candidates", lambda: gg.calibrate(Formula(1.0), GRAINS, candidates=1)),
        ("repeats", lambda: gg.calibrate(Formula(1.0), GRAINS, repeats=1)),
        ("density", lambda: gg.calibrate(gg.BulkDensity(1e3, 50), gg.Grains(-1.0, 0.005), rounds=0)),
        ("radius", lambda: gg.calibrate(gg.BulkDensity(1e3, 50), gg.Grains(1e3, 0.0), rounds=0)),
    ):
        with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
            call()


@pytest.mark.parametrize(
    ("measured", "said"),
    [
        (lambda count: np.full(count, np.nan), "finite numbers of 'formula', got nan for 5 of 5 candidates"),
        (lambda count: [1.0] * (count - 1) + [math.inf], "finite numbers of 'formula', got inf for 1 of 5 candidates"),
        (lambda count: np.zeros(3), r"5 numbers of 'formula', got shape \(3,\)"),
        (lambda count: None, "5 numbers of 'formula', got None"),
        (lambda count: "many", "5 numbers of 'formula', got 'many'"),
    ],
)
def test_an_experiment_that_measures_no_numbers_is_named(measured, said):
    class Wrong(Formula):
        def measure(self, grains, candidates, seeds):
            return measured(len(candidates))

    with pytest.raises(gg.ArgumentError, match=f"^experiments: expected {said}"):
        gg.calibrate(Wrong(5.0), GRAINS, candidates=5, rounds=1)


def test_without_scipy(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "scipy", None)
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with pytest.raises(gg.MissingError, match="calibrate needs SciPy: pip install"):
        gg.calibrate(Formula(5.0), GRAINS)
    assert main(["calibrate", "--angle", "30", "--density", "2500", "--radius", "0.01"]) == 2
    assert "calibrate needs SciPy" in capsys.readouterr().err


def test_command_line(capsys):
    common = ["calibrate", "--bulk-density", "1350", "--density", "2500", "--radius", "0.005", "--grain-count", "100"]
    quick = ["--candidates", "5", "--rounds", "0", "--repeats", "2", "--json"]
    status = main([*common, *quick, "--tolerance", "0.5"])
    found = json.loads(capsys.readouterr().out)
    assert status == 0 and found["met"] is True and found["targets"] == [1350.0]
    status = main([*common[:2], "100000", *common[3:], *quick])
    assert status == 1 and json.loads(capsys.readouterr().out)["met"] is False
    for wrong in (["calibrate", "--density", "1", "--radius", "1"], [*common, "--friction", "3", "1"]):
        assert main(wrong) == 2
        assert "expected" in capsys.readouterr().err
