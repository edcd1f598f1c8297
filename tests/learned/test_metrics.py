"""Metrics of clouds and pictures beside brute force and closed forms."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.learned import metrics

pytest.importorskip("scipy")


def clouds(seed: int, first: int, second: int) -> tuple[np.ndarray, np.ndarray]:
    generator = np.random.default_rng(seed)
    return generator.normal(size=(first, 3)), generator.normal(size=(second, 3)) + 0.3


def test_chamfer_by_brute_force() -> None:
    for seed, first, second in ((0, 40, 40), (1, 7, 30), (2, 1, 1)):
        one, two = clouds(seed, first, second)
        there = [min(math.dist(x, y) for y in two) for x in one]
        back = [min(math.dist(x, y) for x in one) for y in two]
        wanted = 0.5 * (sum(there) / first + sum(back) / second)
        assert metrics.chamfer(one, two) == pytest.approx(wanted, rel=1e-12)
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3)
    # a lattice moved by less than half its spacing
    assert metrics.chamfer(grid, grid + np.array([0.3, 0.0, 0.0])) == pytest.approx(0.3)
    assert metrics.chamfer(grid, grid[::-1]) == 0.0


def test_emd_by_all_matchings() -> None:
    for seed in range(4):
        one, two = clouds(seed, 6, 6)
        wanted = min(
            np.mean([math.dist(x, two[j]) for x, j in zip(one, p, strict=True)])
            for p in itertools.permutations(range(6))
        )
        assert metrics.emd(one, two) == pytest.approx(wanted, rel=1e-12)
    one, _ = clouds(5, 50, 1)
    # no matching is better than all by the mean shift
    assert metrics.emd(one, one[::-1] + np.array([0.1, 0.0, 0.2])) == pytest.approx(math.hypot(0.1, 0.2), rel=1e-9)


def test_sinkhorn_bounds_the_exact_distance_from_above() -> None:
    for seed in range(3):
        one, two = clouds(seed, 60, 60)
        exact = metrics.emd(one, two)
        coarse, fine = (metrics.sinkhorn(one, two, blur=blur, iterations=300) for blur in (0.3, 0.01))
        assert exact <= fine + 1e-12 < coarse
        assert fine < 1.02 * exact
    one, two = clouds(9, 30, 45)
    assert metrics.sinkhorn(one, two, blur=0.01) >= np.linalg.norm(one.mean(axis=0) - two.mean(axis=0)) - 1e-9
    # all of one point to another, and a point split in two
    assert metrics.sinkhorn([[0, 0, 0]], [[0, 0, 2.0]]) == pytest.approx(2.0)
    assert metrics.sinkhorn([[0, 0, 0]], [[0, 0, 2.0], [1.0, 0, 0]]) == pytest.approx(1.5)


def test_mean_squared_distance() -> None:
    one = np.zeros((3, 5, 3))
    assert metrics.position_mse(one + np.array([0.1, 0.2, 0.2]), one) == pytest.approx(0.09)


def test_psnr_and_ssim_of_known_pictures() -> None:
    pytest.importorskip("skimage")
    flat = np.full((16, 16, 3), 0.5)
    assert metrics.psnr(flat, flat + 0.1) == pytest.approx(20.0)
    assert metrics.psnr(flat, flat) == math.inf and metrics.ssim(flat, flat) == pytest.approx(1.0)
    # flat pictures: the term of luminance alone, (2 a b + c) / (a^2 + b^2 + c) with c = .01^2
    wanted = (2 * 0.5 * 0.6 + 1e-4) / (0.25 + 0.36 + 1e-4)
    assert metrics.ssim(flat, flat + 0.1) == pytest.approx(wanted, abs=1e-6)
    noise = np.random.default_rng(0).uniform(size=(2, 32, 32, 3))
    assert metrics.ssim(noise, 1.0 - noise) < -0.5
    assert metrics.image_mse(noise, 1.0 - noise) == pytest.approx(((2 * noise - 1) ** 2).mean())
    # bytes are read as shares of 255
    as_bytes = np.rint(noise * 255).astype(np.uint8)
    assert metrics.psnr(as_bytes, as_bytes / 255.0) == math.inf


def test_ssim_by_its_definition() -> None:
    """One window of Wang et al., written out, at the middle of a picture."""
    pytest.importorskip("skimage")
    generator = np.random.default_rng(1)
    one = generator.uniform(size=(11, 11))
    two = np.clip(one + 0.1 * generator.normal(size=one.shape), 0, 1)
    taps = np.exp(-0.5 * (np.arange(-5, 6) / 1.5) ** 2)
    window = np.outer(taps, taps) / taps.sum() ** 2
    mean = [(window * x).sum() for x in (one, two)]
    variance = [(window * x * x).sum() - m * m for x, m in zip((one, two), mean, strict=True)]
    covariance = (window * one * two).sum() - mean[0] * mean[1]
    wanted = (2 * mean[0] * mean[1] + 1e-4) * (2 * covariance + 9e-4)
    wanted /= (mean[0] ** 2 + mean[1] ** 2 + 1e-4) * (sum(variance) + 9e-4)
    found = metrics.ssim(np.repeat(one[..., None], 3, axis=-1), np.repeat(two[..., None], 3, axis=-1))
    assert found == pytest.approx(wanted, abs=1e-9)


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda: metrics.chamfer(np.zeros((0, 3)), np.zeros((2, 3))), "first: expected at least one point"),
        (lambda: metrics.chamfer(np.zeros((2, 2)), np.zeros((2, 3))), r"first: expected shape \(\*, 3\)"),
        (lambda: metrics.chamfer(np.full((2, 3), np.nan), np.zeros((2, 3))), "first: expected finite numbers"),
        (lambda: metrics.emd(np.zeros((2, 3)), np.zeros((3, 3))), "as many points in both, at most 4096, got 2 and 3"),
        (lambda: metrics.sinkhorn(np.zeros((2, 3)), np.zeros((3, 3)), blur=0), "blur: expected"),
        (lambda: metrics.position_mse(np.zeros((2, 3)), np.zeros((3, 3))), r"true: expected shape \(2, 3\)"),
        (lambda: metrics.psnr(np.zeros((4, 4, 3)), np.zeros((4, 5, 3))), r"true: expected shape \(4, 4, 3\)"),
        (lambda: metrics.psnr(np.full((4, 4, 3), 2.0), np.zeros((4, 4, 3))), "predicted: expected bytes or numbers"),
        (lambda: metrics.psnr(np.zeros((4, 4)), np.zeros((4, 4))), "predicted: expected shape"),
        (lambda: metrics.ssim(np.zeros((8, 8, 3)), np.zeros((8, 8, 3))), "at least 11 x 11 pixels"),
    ],
)
def test_bad_input(call, said: str) -> None:
    with pytest.raises(gg.ArgumentError, match=said):
        call()
