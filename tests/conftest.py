"""Fixtures for all tests; puts the project's root on the path, for the scenes in testbed/."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest

import granular_gym as gg

# after the installed package, which is tested
sys.path.append(str(Path(__file__).parents[1]))

# what a script runs in the background ignores Ctrl-C, and so would these processes, to which tests send it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(params=["cpu", "cuda"])
def backend(request: pytest.FixtureRequest) -> str:
    """The name of a device; tests that use it run once on each, and are skipped on a missing one."""
    name = request.param
    device = gg.info()["devices"][name]
    if not device["available"]:
        pytest.skip(f"no {name}: {device['reason']}")
    return name


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--full", action="store_true", help="all tests, in full size, as the figures of the documentation")


@pytest.fixture
def full(request: pytest.FixtureRequest) -> bool:
    """Whether a test is to run in full size."""
    return bool(request.config.getoption("--full"))


@pytest.fixture
def measured(record_property: Callable[[str, object], None]) -> Callable[..., None]:
    """Records figures: to the report file, and to the screen with -rP or -s."""

    def note(**figures: float) -> None:
        for name, value in figures.items():
            record_property(name, float(value))
        print("   ".join(f"{name} {float(value):.4g}" for name, value in figures.items()))

    return note


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]):
    """With GG_EXPECT_NVCC=1, as in CI, a test fails where it would be skipped because nvcc is missing."""
    report = yield
    expected = os.environ.get("GG_EXPECT_NVCC", "0") not in ("", "0")
    if expected and report.skipped and "nvcc" in str(call.excinfo and call.excinfo.value):
        report.outcome, report.longrepr = "failed", f"GG_EXPECT_NVCC is set, but: {call.excinfo.value}"
    return report


#: the longest files, which start first: a process that begins one last would leave the others idle
LONGEST = (
    "unit/test_c.py",
    "determinism/test_builds.py",
    "unit/test_emulated_order.py",
    "unit/test_gpu_traffic.py",
    "physics/test_liquid.py",
    "unit/test_cuda_build.py",
    "physics/test_continuum_sand.py",
    "envs/test_registered.py",
    "physics/test_films.py",
    "unit/test_emulated_parity.py",
)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Without --full no tests of full size; the longest files first, in the order of LONGEST."""
    if not config.getoption("--full"):
        config.hook.pytest_deselected(items=[item for item in items if item.get_closest_marker("full")])
        items[:] = [item for item in items if not item.get_closest_marker("full")]
    folder = Path(__file__).parent
    ranks = {folder / name: k for k, name in enumerate(LONGEST)}
    items.sort(key=lambda item: ranks.get(item.path, len(ranks)))


def pytest_configure(config: pytest.Config) -> None:
    """All processes of a session share a temporary cache; the user's is not used."""
    if "GRANULAR_GYM_CACHE" not in os.environ:
        folder = tempfile.TemporaryDirectory(prefix="granular_gym_tests_")
        os.environ["GRANULAR_GYM_CACHE"] = folder.name

        def remove() -> None:
            del os.environ["GRANULAR_GYM_CACHE"]
            folder.cleanup()

        config.add_cleanup(remove)


def small_scene(count: int = 60, boundary=None) -> gg.Scene:
    """A box with a few grains, a ball as a tool and two cameras."""
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.6)), boundary=boundary)
    sand = scene.add_material(density=1600.0, radius=0.01, name="sand")
    steel = scene.add_material(density=7800.0, friction=0.4, name="steel")
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 0.4), count=count)
    scene.add_tool(gg.Sdf.sphere(0.03), name="ball", material=steel, pose=(0.0, 0.0, 0.5))
    sky = gg.DepthCamera.orthographic(height=12, width=16, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    scene.add_camera(sky, name="sky")
    scene.add_camera(gg.DepthCamera.perspective(height=8, width=8, fov=1.2, pose=(0, 0, 0)), name="ego", tool="ball")
    return scene


@pytest.fixture
def scene() -> gg.Scene:
    """A new small scene."""
    return small_scene()


@pytest.fixture
def world(scene: gg.Scene, backend: str):
    """A world of three envs of the small scene."""
    with scene.build(env_count=3, device=backend) as made:
        yield made
