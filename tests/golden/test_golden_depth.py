"""Depth images are equal to stored ones bit for bit; see golden_depth.py."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import golden_depth


@pytest.mark.filterwarnings("ignore::granular_gym.errors.SdfWarning")  # no grain moves where the zoo is seen
@pytest.mark.parametrize("num_threads", [1, 3])
def test_golden_depth(num_threads: int) -> None:
    """After an intended change of images run golden_depth.py --write."""
    assert golden_depth.differences(golden_depth.images(num_threads), golden_depth.stored()) == []


def test_there_is_something_to_see() -> None:
    """Each image has many depths, and differences are found."""
    kept = golden_depth.stored()
    assert len(kept) == 5
    for name, image in kept.items():
        assert len(np.unique(image)) > 100, name
        touched = {**kept, name: image.copy()}
        touched[name].flat[image.size // 2] = np.nextafter(image.flat[image.size // 2], np.float32(9.0))
        assert len(golden_depth.differences(touched, kept)) == 1
    assert golden_depth.GOLDEN.stat().st_size < 100_000
