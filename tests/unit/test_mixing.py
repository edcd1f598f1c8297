"""Lacey's mixing index."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from granular_gym.tasks.mixing import index_and_composition, lacey_index


def counts(cells: Any, kinds: Any, samples: int = 40) -> Any:
    """Grains of each kind in each sample, (samples, 2)."""
    table = np.zeros((samples, 2), np.int64)
    np.add.at(table, (cells, np.asarray(kinds, int)), 1)
    return table


def test_apart_is_zero_and_random_is_one() -> None:
    rng = np.random.default_rng(0)
    cells = rng.integers(0, 40, 4000)
    assert lacey_index(counts(cells, cells < 20)) == pytest.approx(0.0, abs=0.02)
    values = [lacey_index(counts(rng.integers(0, 40, 4000), rng.random(4000) < 0.3)) for _ in range(50)]
    # the mean of random mixtures is 1
    assert np.mean(values) == pytest.approx(1.0, abs=3.0 * np.std(values) / np.sqrt(50) + 1e-4)


def test_half_mixed_by_hand() -> None:
    # two samples of 10: 7 of 10 and 3 of 10; s0^2 = 1/4, s^2 = 0.04, sr^2 = 1/4 * 2 / 20
    cells = np.repeat([3, 8], 10)
    kinds = np.array([True] * 7 + [False] * 3 + [True] * 3 + [False] * 7)
    assert lacey_index(counts(cells, kinds)) == pytest.approx((0.25 - 0.04) / (0.25 - 0.025))


def test_nothing_left_to_mix() -> None:
    assert lacey_index(counts(np.zeros(0, int), np.zeros(0, bool))) == 1.0
    assert lacey_index(counts(np.arange(5), np.array([True, False, True, False, True]))) == 1.0
    assert lacey_index(counts(np.zeros(5, int), np.ones(5, bool))) == 1.0


def test_beds_of_a_batch_are_what_they_are_alone() -> None:
    rng = np.random.default_rng(1)
    # grains in 1, 3, 17 and 40 samples
    cells = rng.integers(0, np.array([[1], [3], [17], [40]]), (4, 300))
    kinds = rng.random((4, 300)) < np.array([[0.5], [0.0], [0.3], [0.6]])
    beds = np.stack([counts(*bed) for bed in zip(cells, kinds, strict=True)])
    together = lacey_index(beds)
    assert together.shape == (4,) and together[1] == 1.0
    assert np.array_equal(together, [lacey_index(bed) for bed in beds])
    assert np.array_equal(together.reshape(2, 2), lacey_index(beds.reshape(2, 2, -1, 2)))


def test_the_composition_comes_with_the_index() -> None:
    beds = np.random.default_rng(2).integers(0, 4, (50, 37, 2))
    beds[3], beds[4, :, 0], beds[5, 1:] = 0, 0, 0
    index, composition = index_and_composition(beds)
    others, painted = beds[..., 0].astype(float), beds[..., 1].astype(float)
    assert np.array_equal(index, lacey_index(beds))
    assert np.array_equal(composition, (painted - others) / np.maximum(painted + others, 1.0))
    assert not composition[3].any() and index[3] == 1.0
    for k in (0, 5, 49):
        alone = index_and_composition(beds[k : k + 1])
        assert np.array_equal(alone[0], index[k : k + 1]) and np.array_equal(alone[1], composition[k : k + 1])
    assert [part.shape for part in index_and_composition(beds[:0])] == [(0,), (0, 37)]
    assert index_and_composition(beds[:, :0])[0].tolist() == [1.0] * 50
