"""metrics.py: how far predicted particles and pictures are from the true ones.

Clouds of particles have no order, so that a prediction is good where the clouds agree. Distances are in metres and not
squared. Definitions: each function's docstring; the paper prints none for its Chamfer distance.
"""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError, MissingError

Floats = NDArray[np.float64]

#: most points of an exact EMD: beyond it takes minutes
LARGEST_EXACT = 4096
#: smallest side of an image that has an SSIM: its window [pixels]
WINDOW = 11


def _library(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise MissingError(
            f'this metric needs {name.partition(".")[0]}: pip install "granular_gym[learned]"'
        ) from error


def _clouds(first: Any, second: Any) -> tuple[Floats, Floats]:
    """Two clouds (n, 3) and (m, 3) of at least one point."""
    clouds = checks.doubles("first", first, (None, 3)), checks.doubles("second", second, (None, 3))
    for name, each in zip(("first", "second"), clouds, strict=True):
        if not len(each):
            raise ArgumentError(f"{name}: expected at least one point, got none")
    return clouds


def chamfer(first: Any, second: Any) -> float:
    """Chamfer distance of two clouds [m]: the mean distance to the nearest point of the other, of both directions.

        (mean_i min_j |x_i - y_j| + mean_j min_i |x_i - y_j|) / 2

    Where others give the sum of both directions it is twice this; squared distances are another measure.

    Args:
        first: (n, 3) [m].
        second: (m, 3) [m].

    Raises:
        ArgumentError: an empty cloud, or numbers that are not finite.
        MissingError: SciPy is not installed.
    """
    one, two = _clouds(first, second)
    tree = _library("scipy.spatial").KDTree
    there, back = tree(two).query(one)[0], tree(one).query(two)[0]
    return 0.5 * float(there.mean() + back.mean())


def emd(first: Any, second: Any) -> float:
    """Earth mover's distance of two clouds of as many points [m]: the mean distance of the best one-to-one matching.

    Exact, by the assignment solver of SciPy (Jonker and Volgenant); the time grows with the cube of the points.

    Args:
        first: (n, 3) [m], n up to LARGEST_EXACT.
        second: (n, 3) [m].

    Raises:
        ArgumentError: clouds of different or too many points.
        MissingError: SciPy is not installed.
    """
    one, two = _clouds(first, second)
    if len(one) != len(two) or len(one) > LARGEST_EXACT:
        raise ArgumentError(
            f"first, second: expected as many points in both, at most {LARGEST_EXACT}, got {len(one)} and {len(two)}; "
            "see sinkhorn"
        )
    cost = _library("scipy.spatial.distance").cdist(one, two)
    rows, columns = _library("scipy.optimize").linear_sum_assignment(cost)
    return float(cost[rows, columns].mean())


def sinkhorn(first: Any, second: Any, blur: float = 0.002, iterations: int = 200) -> float:
    """Upper bound of the earth mover's distance by entropic transport [m]; also for clouds of different sizes.

    Sinkhorn's iterations with a blur that falls from the size of the clouds to `blur`; the plan is then made feasible
    (Altschuler, Weed, Rigollet, 2017), so that its cost is never below the exact one.

    Args:
        first: (n, 3) [m].
        second: (m, 3) [m].
        blur: final entropy [m]: of what is nearer than that it is not known what goes where.
        iterations: at least one; after each the blur falls by the same factor in the first half of them.

    Raises:
        ArgumentError: an empty cloud, or a value out of range.
        MissingError: SciPy is not installed.
    """
    one, two = _clouds(first, second)
    final = checks.number("blur", blur, 0.0, above=True)
    count = checks.integer("iterations", iterations, 1)
    cost = _library("scipy.spatial.distance").cdist(one, two)
    logsum = _library("scipy.special").logsumexp
    mass, other = -np.log(len(one)), -np.log(len(two))
    blurs = np.full(count, final)
    falling = max(count // 2, 1)
    blurs[:falling] = np.geomspace(max(float(cost.max()), final), final, falling)
    left, right = np.zeros(len(one)), np.zeros(len(two))
    for each in blurs:
        left = each * (mass - logsum((right[None] - cost) / each, axis=1))
        right = each * (other - logsum((left[:, None] - cost) / each, axis=0))
    plan = np.exp((left[:, None] + right[None] - cost) / final)
    plan *= np.minimum(1.0, 1.0 / len(one) / plan.sum(axis=1))[:, None]
    plan *= np.minimum(1.0, 1.0 / len(two) / plan.sum(axis=0))[None]
    lacking, missing = 1.0 / len(one) - plan.sum(axis=1), 1.0 / len(two) - plan.sum(axis=0)
    if lacking.sum() > 1e-15:
        plan += lacking[:, None] * missing[None] / lacking.sum()
    return float((plan * cost).sum())


def position_mse(predicted: Any, true: Any) -> float:
    """Mean squared distance of particles that are known one by one, (..., n, 3) both [m^2]."""
    one = checks.numbers("predicted", predicted).astype(np.float64)
    two = checks.doubles("true", true, one.shape)
    if one.ndim < 2 or one.shape[-1] != 3 or not one.size:
        raise ArgumentError(f"predicted: expected shape (..., n, 3), got {one.shape}")
    return float(((one - two) ** 2).sum(axis=-1).mean())


def _images(predicted: Any, true: Any) -> tuple[Floats, Floats]:
    """Two images of one shape (..., H, W, 3) in 0 .. 1, from bytes or from numbers in that range."""
    found = []
    for name, each in (("predicted", predicted), ("true", true)):
        array = checks.numbers(name, each)
        image = array / 255.0 if array.dtype == np.uint8 else array.astype(np.float64)
        if image.ndim < 3 or image.shape[-1] != 3 or not image.size:
            raise ArgumentError(f"{name}: expected shape (..., height, width, 3), got {image.shape}")
        if not (np.isfinite(image).all() and image.min() >= -1e-6 and image.max() <= 1.0 + 1e-6):
            raise ArgumentError(f"{name}: expected bytes or numbers in 0 .. 1, got {image.min():g} .. {image.max():g}")
        found.append(image)
    if found[0].shape != found[1].shape:
        raise ArgumentError(f"true: expected shape {found[0].shape}, as predicted has, got {found[1].shape}")
    return found[0], found[1]


def image_mse(predicted: Any, true: Any) -> float:
    """Mean squared difference of images (..., H, W, 3), bytes or numbers in 0 .. 1; of the range 0 .. 1."""
    one, two = _images(predicted, true)
    return float(((one - two) ** 2).mean())


def psnr(predicted: Any, true: Any) -> float:
    """Peak signal-to-noise ratio of images (..., H, W, 3) [dB]; infinite where they are equal."""
    error = image_mse(predicted, true)
    return float("inf") if error == 0.0 else -10.0 * float(np.log10(error))


def ssim(predicted: Any, true: Any) -> float:
    """Structural similarity of images (..., H, W, 3), up to 1; the mean over images.

    Wang et al. (IEEE TIP 13, 2004) with their Gaussian window of 1.5 pixels, by scikit-image.

    Raises:
        ArgumentError: images smaller than WINDOW, of different shapes, or with numbers out of range.
        MissingError: scikit-image is not installed.
    """
    one, two = _images(predicted, true)
    if min(one.shape[-3:-1]) < WINDOW:
        raise ArgumentError(
            f"predicted: expected images of at least {WINDOW} x {WINDOW} pixels, got {one.shape[-3:-1]}"
        )
    similarity = _library("skimage.metrics").structural_similarity
    settings = {"channel_axis": -1, "data_range": 1.0, "gaussian_weights": True, "use_sample_covariance": False}
    pairs = zip(one.reshape(-1, *one.shape[-3:]), two.reshape(-1, *two.shape[-3:]), strict=True)
    return float(np.mean([similarity(a, b, **settings) for a, b in pairs]))
