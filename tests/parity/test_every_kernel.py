"""The script that runs all kernels under compute-sanitizer, and the times of their phases."""

from __future__ import annotations

import pytest

from testbed.beds import DT
from testbed.continuum import knead, kneaded
from testbed.parity import SPHERE_KERNELS, heap
from tools import sanitized_gpu


@pytest.mark.filterwarnings("ignore::granular_gym.errors.StabilityWarning")
def test_cases_of_the_sanitizer_run(full: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """With --full, each of the first cases with all kernels."""
    if not full:
        monkeypatch.setattr(sanitized_gpu, "KERNELS", ("team",))
    names = list(sanitized_gpu.cases(None))
    assert {"spheres, 3 envs", "planar, 2 envs", "clumps", "forces", "liquid with a buoy", "growth"} <= set(names)


@pytest.mark.parametrize("kernel", SPHERE_KERNELS)
def test_profile(kernel: str) -> None:
    """The time of a step is that of its phases, within the kernel that runs all of them and of a kernel each."""
    with heap().build(2, device="cuda") as world:
        world._core.set_kernel(kernel)
        world.profile(True)
        world.step(DT, 5)
        seconds = world.profile(False)
        assert {"predict", "search", "sweep_colour"} <= {name for name, spent in seconds.items() if spent > 0.0}
        world.step(DT, 5)
        assert sum(world.profile(False).values()) == 0.0


def test_profile_of_continuous_matter() -> None:
    with kneaded(0.04).build(device="cuda") as world:
        world.profile(True)
        knead(world, 1)
        seconds = world.profile(False)
    assert seconds["continuum_apply"] > 0.0
