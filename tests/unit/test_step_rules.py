"""Rules of stability by mode (Solver.step_dangers) and presets that follow them (Solver.preset)."""

import pytest

import granular_gym as gg
from granular_gym.engine.solver import PRESETS, STEP_RULES

STEPS, DEPTHS = (5e-4, 1e-3, 2e-3, 5e-3, 1e-2), (0.0, 10.0, 30.0)
DIAMETER, GRAVITY = 0.01, 9.81


@pytest.mark.parametrize(
    ("mode", "dt", "iterations", "layers", "word"),
    [
        # seen to hold, and to collapse or to creep: docs/stability.md
        ("gauss_seidel", 1e-3, 10, 90.0, None),
        ("gauss_seidel", 2e-3, 10, 30.0, None),
        ("gauss_seidel", 5e-3, 17, 24.0, "can collapse"),
        ("gauss_seidel", 1e-2, 39, 24.0, "can collapse"),
        ("gauss_seidel", 5e-3, 40, 47.0, "goes on sinking"),
        ("gauss_seidel", 2e-3, 10, 94.0, "goes on sinking"),
        ("gauss_seidel", 5e-3, 42, 22.4, "fewer than 58 iterations"),
        ("gauss_seidel", 5e-3, 58, 22.4, None),
        ("gauss_seidel", 7e-3, 140, 47.0, "goes on sinking"),
        ("gauss_seidel", 1e-2, 80, 16.0, "goes on sinking"),
        ("gauss_seidel", 1e-2, 235, 47.0, "any number of iterations"),
        ("gauss_seidel", 1e-2, 480, 47.0, "any number of iterations"),
        # twice what narrow beds were seen to hold with
        ("gauss_seidel", 1e-2, 240, 16.0, None),
        ("gauss_seidel", 1e-2, 455, 31.0, None),
        ("jacobi", 1e-3, 10, 20.0, None),
        ("jacobi", 5e-3, 14, 24.0, "can collapse"),
        ("jacobi", 1e-3, 10, 47.0, "swings for seconds"),
        ("jacobi", 2e-3, 20, 30.0, "goes on sinking"),
        ("paper", 1e-2, 1, 60.0, None),
    ],
)
def test_rules_name_what_was_seen(mode, dt, iterations, layers, word):
    found = gg.Solver(mode=mode, iterations=iterations).step_dangers(dt, DIAMETER, GRAVITY, layers)
    assert len(found) == (word is not None)
    assert all(word in danger for danger in found)


@pytest.mark.parametrize("mode", list(STEP_RULES))
def test_presets_keep_the_rules_they_name(mode):
    for dt in STEPS:
        for layers in DEPTHS:
            fast, balanced, accurate = (gg.Solver.preset(name, dt, DIAMETER, layers, mode=mode) for name in PRESETS)
            assert fast.mode == mode
            assert fast.iterations <= balanced.iterations < accurate.iterations
            assert not fast.step_dangers(dt, DIAMETER, GRAVITY)
            assert not balanced.step_dangers(dt, DIAMETER, GRAVITY, layers)
            assert not accurate.step_dangers(dt, DIAMETER, GRAVITY, layers)


def test_the_default_is_the_balanced_preset():
    assert gg.Solver.preset("balanced", 1e-3, DIAMETER, 24.0) == gg.Solver()


def test_other_settings_stay():
    assert gg.Solver.preset("fast", 1e-3, DIAMETER, alpha=0.5).alpha == 0.5


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"name": "quick"}, "name"),
        ({"dt": 0.0}, "dt"),
        ({"diameter": 0.0}, "diameter"),
        ({"layers": -1.0}, "layers"),
        ({"gravity": float("nan")}, "gravity"),
        ({"mode": "other"}, "mode"),
        ({"dt": 0.5, "layers": 100.0}, "iterations"),
    ],
)
def test_refusals(arguments, name):
    with pytest.raises(gg.ArgumentError, match=f"^{name}: expected"):
        gg.Solver.preset(**{"name": "accurate", "dt": 1e-3, "diameter": DIAMETER, **arguments})
