"""Same seed, same bits: threads, kernels, company, snapshots, processes, compilers; and golden hashes of three scenes.

A change of physics changes the golden hashes. Write them anew, in the commit that says why, with
    python tests/determinism/test_bits.py --write
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = Path(__file__).with_name("golden.json")
KERNELS = ("scalar", "vector128", "avx2", "avx512")
SUBSTEPS = 40
STEPS = 5


def column() -> gg.Scene:
    """A thousand equal grains fall into a narrow box."""
    scene = gg.Scene(((-0.05, -0.05, 0.0), (0.05, 0.05, 0.4)))
    sand = scene.add_material(density=2500.0, radius=0.005, friction=0.5, rolling_friction=0.1, name="sand")
    scene.fill_box(sand, (-0.05, -0.05, 0.0), (0.05, 0.05, 0.3), count=1000, seed=1)
    return scene


def heap_and_tool() -> gg.Scene:
    """A heap that a turning blade ploughs; it bounces a little."""
    scene = gg.Scene(((-0.15, -0.15, 0.0), (0.15, 0.15, 0.3)))
    sand = scene.add_material(density=1600.0, radius=0.006, friction=0.6, restitution=0.3, name="sand")
    steel = scene.add_material(density=7800.0, friction=0.3, name="steel")
    scene.fill_box(sand, (-0.06, -0.06, 0.0), (0.06, 0.06, 0.12), count=600, seed=2)
    blade = [gg.Sdf.box((0.01, 0.05, 0.03)), gg.Sdf.capsule(0.012, 0.05).at((0.02, 0.0, 0.0), (0.7071068, 0.7071068, 0, 0))]
    scene.add_tool(blade, name="blade", material=steel, pose=(-0.12, 0.0, 0.03, 1, 0, 0, 0))
    return scene


def mixed_and_periodic() -> gg.Scene:
    """Three sizes, two materials, periodic in x, cyclic in y."""
    boundary = {"x": "periodic", "y": "cyclic", "z": ("wall", "open")}
    scene = gg.Scene(((-0.08, -0.08, 0.0), (0.08, 0.08, 0.5)), gravity=(0.5, 0.7, -9.81), boundary=boundary)
    coarse = scene.add_material(density=2500.0, radius=0.009, friction=0.5, rolling_friction=0.2, name="coarse")
    fine = scene.add_material(density=2000.0, radius=0.003, friction=0.4, rolling_friction=0.1, name="fine")
    scene.fill_box(coarse, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.2), count=120, seed=3)
    scene.fill_box(fine, (-0.08, -0.08, 0.2), (0.08, 0.08, 0.4), count=900, seed=4)
    return scene


SCENES: dict[str, Callable[[], gg.Scene]] = {
    "column": column,
    "heap_and_tool": heap_and_tool,
    "mixed_and_periodic": mixed_and_periodic,
}


def drive(world: gg.World, first: int = 0, steps: int = STEPS) -> None:
    """Steps a world; its tool, if it has one, goes along a fixed path."""
    for step in range(first, first + steps):
        poses = None
        if world.tool_count:
            angle = 0.15 * step
            pose = (-0.12 + 0.04 * step, 0.0, 0.03, np.cos(angle / 2), 0.0, 0.0, np.sin(angle / 2))
            poses = np.tile(np.array(pose, np.float32), (world.env_count, 1, 1))
        world.step(1e-3, SUBSTEPS, poses)


def run(name: str, threads: int = 1, kernel: str | None = None, solver: gg.Solver | None = None) -> str:
    """The hash of a scene after its run."""
    with SCENES[name]().build(num_threads=threads, solver=solver) as world:
        if kernel:
            world._core.set_kernel(kernel)
        drive(world)
        return f"{world.state_hash(0):016x}"


@pytest.fixture(scope="module")
def golden() -> dict[str, str]:
    return json.loads(GOLDEN.read_text())


@pytest.mark.parametrize("name", SCENES)
def test_golden_hashes(name: str, golden: dict[str, str]) -> None:
    assert run(name) == golden[name]


@pytest.mark.parametrize("threads", [2, 3, 8])
@pytest.mark.parametrize("name", SCENES)
def test_any_number_of_threads(name: str, threads: int, golden: dict[str, str]) -> None:
    assert run(name, threads=threads) == golden[name]


@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("name", SCENES)
def test_any_instruction_set(name: str, kernel: str, golden: dict[str, str]) -> None:
    try:
        assert run(name, kernel=kernel) == golden[name]
    except gg.BackendError as error:
        pytest.skip(str(error))


@pytest.mark.parametrize("name", ["column", "heap_and_tool"])
def test_both_broad_phases(name: str, golden: dict[str, str]) -> None:
    """The linked hash (seed paper, II.B) finds the same neighbours; it knows no periodic faces."""
    assert run(name, solver=gg.Solver(broad_phase="linked_hash")) == golden[name]


@pytest.mark.parametrize("name", SCENES)
def test_an_env_alone_and_among_many(name: str, golden: dict[str, str]) -> None:
    """Every env of 64 in one world goes its own way; the one that starts like the lone one ends like it."""
    with SCENES[name]().build(env_count=64, num_threads=2) as world:
        # other places for other envs, so that the company is not the same
        shifts = np.zeros((64, 3), np.float32)
        shifts[:, 2] = 1e-3 * np.arange(64)
        shifts[37] = 0.0
        envs = [k for k in range(64) if k != 37]
        world.set_grains(positions=world.positions[envs] + shifts[envs, None, :], envs=envs)
        drive(world)
        hashes = {f"{world.state_hash(k):016x}" for k in range(64)}
        assert f"{world.state_hash(37):016x}" == golden[name]
        assert len(hashes) >= 63


@pytest.mark.parametrize("name", SCENES)
def test_snapshot_and_replay(name: str, golden: dict[str, str], tmp_path: Path) -> None:
    with SCENES[name]().build(num_threads=1) as world:
        drive(world, 0, 2)
        state = world.save_state()
        state.save(tmp_path / "half.ggstate")
        drive(world, 2, STEPS - 2)
        assert f"{world.state_hash(0):016x}" == golden[name]
        # back in the same world, and in another whose buffers never grew
        world.load_state(state)
        drive(world, 2, STEPS - 2)
        assert f"{world.state_hash(0):016x}" == golden[name]
    with SCENES[name]().build(env_count=2, num_threads=2) as other:
        other.load_state(gg.State.load(tmp_path / "half.ggstate"), envs=[1])
        drive(other, 2, STEPS - 2)
        assert f"{other.state_hash(1):016x}" == golden[name]
        assert f"{other.state_hash(0):016x}" != golden[name]


def test_branches_start_alike_and_go_apart() -> None:
    with heap_and_tool().build(num_threads=1) as world:
        drive(world, 0, 2)
        with world.branch(3) as many:
            assert len({many.state_hash(k) for k in range(3)} | {world.state_hash(0)}) == 1
            many.set_grains(velocities=many.velocities[[2]] + 0.1, envs=[2])
            drive(many, 2, 2)
            drive(world, 2, 2)
            assert many.state_hash(0) == many.state_hash(1) == world.state_hash(0) != many.state_hash(2)


def test_two_processes(golden: dict[str, str]) -> None:
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, timeout=300, check=True)
    assert json.loads(done.stdout) == golden


BUILDS = {
    "gcc -O0": ("gcc", "-O0"),
    "gcc -O3 -march=native": ("gcc", "-O3", "-march=native"),
    "clang -O2": ("clang", "-O2"),
    "clang -O3 -march=native": ("clang", "-O3", "-march=native"),
}


@pytest.fixture(scope="module")
def engine_hash(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], str]:
    """Builds the engine and tests/c/hash_scene.c with a compiler, runs it, returns what it prints."""
    stb = next((p for p in ("/usr/include/stb", "/usr/local/include/stb", "/usr/include") if Path(p, "stb_image_write.h").is_file()), ".")

    def build(name: str) -> str:
        compiler, *flags = BUILDS[name]
        if not shutil.which(compiler):
            pytest.skip(f"no compiler {compiler}")
        program = tmp_path_factory.mktemp("build") / "hash_scene"
        sources = [str(p) for p in sorted((ROOT / "csrc").rglob("*.c")) if p.parent.name not in ("py",) and "avx" not in p.name]
        command = [compiler, "-std=c17", "-D_GNU_SOURCE", "-DGG_NO_WIDE_KERNELS", "-ffp-contract=off", "-fno-math-errno"]
        command += [*flags, f"-I{stb}", f"-I{ROOT / 'csrc'}", *sources, str(ROOT / "tests" / "c" / "hash_scene.c"), "-lm"]
        done = subprocess.run([*command, "-o", str(program)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        return subprocess.run([str(program)], capture_output=True, text=True, check=True, timeout=300).stdout

    return build


def test_any_compiler_and_optimisation(engine_hash: Callable[[str], str]) -> None:
    outputs = {}
    for name in BUILDS:
        try:
            outputs[name] = engine_hash(name)
        except pytest.skip.Exception as missing:
            print(missing)
    if len(outputs) < 2:
        pytest.skip("fewer than two builds to compare")
    assert len(set(outputs.values())) == 1, outputs
    assert len(next(iter(outputs.values())).split()) == 2


if __name__ == "__main__":
    table = {name: run(name) for name in SCENES}
    if "--write" in sys.argv:
        GOLDEN.write_text(json.dumps(table, indent=1) + "\n")
    print(json.dumps(table))
