"""The CUDA backend without a GPU: kernels run on a CPU (GG_CUDA=emulate), and errors for users.

The emulated package is built once into build/emulated and used by separate processes. Parity on it is in
test_emulated_parity.py and test_emulated_order.py.
"""

from __future__ import annotations

import os
import platform
import runpy
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from testbed.emulated import ROOT, build, pytest_with, run


@pytest.fixture(scope="session")
def emulated() -> Path:
    """Folder of the package whose CUDA kernels run on the CPU."""
    if not shutil.which(os.environ.get("CXX", "g++")):
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    return build()


def test_an_extension_is_linked_again_with_cuda(emulated: Path, tmp_path: Path) -> None:
    """Built without, then with it, into one folder and from the same sources."""
    for kind, reason in (("0", "built without nvcc"), ("emulate", None), ("0", "built without nvcc")):
        command = [sys.executable, "setup.py", "--quiet", "build", "--build-lib", str(tmp_path)]
        settings = {**os.environ, "GG_CUDA": kind, "GG_WERROR": "1"}
        subprocess.run(command, cwd=ROOT, env=settings, capture_output=True, check=True)
        asked = "import granular_gym as gg; print(gg.info()['devices']['cuda']['reason'])"
        said = run(tmp_path, ["-c", asked], tmp_path).stdout
        assert reason in said if reason else said.strip() in ("", "None"), said


def test_a_wheel_has_the_device_code_once(emulated: Path, tmp_path: Path) -> None:
    """bdist_wheel after build goes through the build a second time."""
    build = ["build", "--build-lib", str(tmp_path / "lib"), "bdist_wheel", "--dist-dir", str(tmp_path)]
    settings = {**os.environ, "GG_CUDA": "emulate", "GG_WERROR": "1"}
    done = subprocess.run(
        [sys.executable, "setup.py", "--quiet", *build], cwd=ROOT, env=settings, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert len(list(tmp_path.glob("*.whl"))) == 1


@pytest.mark.slow
def test_emulated_arrays(emulated: Path, tmp_path: Path, full: bool) -> None:
    """Device arrays: DLPack, streams, memory, forks, a lost device; and vector envs with them."""
    # tests of the CPU run with its others; an arm is driven by actions on the GPU only with --full
    only = ["-k", "not on_the_cpu", "--full"] if full else ["-k", "not on_the_cpu and not (stay_there and Excavator)"]
    skipped = pytest_with(emulated, tmp_path, ["unit/device_array", "envs/test_outputs.py"], *only)
    # no other tests are skipped
    assert set(skipped) <= {"torch is not installed", "JAX is not installed", "a GPU is needed"}


@pytest.mark.slow
def test_emulated_by_default(emulated: Path, tmp_path: Path) -> None:
    """Tests that do not name a device, with a GPU as default device; tests for the CPU use the CPU."""
    # without tests of thousands of substeps, which are too slow, and of spawned processes
    slow = ("second_thread", "spawn", "forkserver", "thousand", "weight_rests", "bed_settled")
    only = "(process or cuda) and " + " and ".join(f"not {name}" for name in slow)
    paths = ["hostile/test_process.py", "unit/test_world_api.py"]
    assert pytest_with(emulated, tmp_path, paths, "-k", only, GG_DEVICE="cuda") == []


WORLD = """
import granular_gym as gg
def scene(count=64):
    scene = gg.Scene(((-0.1, -0.1, 0.0), (0.1, 0.1, 0.6)))
    sand = scene.add_material(density=1600.0)
    scene.fill_box(sand, (-0.1, -0.1, 0.0), (0.1, 0.1, 0.4), count=count, radius=0.01)
    return scene
"""


def script(emulated: Path, tmp_path: Path, text: str, **environment: str) -> str:
    """Output of a short program."""
    done = run(emulated, ["-c", WORLD + text], tmp_path, **environment)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    ("environment", "said"),
    [
        ({"GG_EMULATOR_DRIVER": "0"}, "no CUDA driver was found"),
        ({"GG_EMULATOR_DRIVER": "11040"}, "driver is too old: it knows CUDA 11.4, this build needs"),
        ({"GG_EMULATOR_DEVICES": "0", "CUDA_VISIBLE_DEVICES": ""}, "CUDA_VISIBLE_DEVICES"),
        ({"GG_EMULATOR_DEVICES": "0"}, "no GPU"),
    ],
)
def test_no_device(emulated: Path, tmp_path: Path, environment: dict[str, str], said: str) -> None:
    """A missing GPU that is requested by name is an error with the reason; auto uses the CPU."""
    text = """
try:
    scene().build(device="cuda")
except gg.BackendError as error:
    print(error)
world = scene().build(device="auto")
world.step(1e-3, 2)
print(world.device)
"""
    printed = script(emulated, tmp_path, text, **environment).splitlines()
    assert said in printed[0]
    assert printed[1] == "cpu"


@pytest.fixture(scope="session")
def broken_rules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program that breaks rules of CUDA, built with the emulator."""
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    if not compiler:
        pytest.skip("no C++ compiler: the CUDA kernels cannot be emulated")
    program = tmp_path_factory.mktemp("emulator") / "broken_rules"
    source = ROOT / "tests" / "emulator" / "broken_rules.cpp"
    subprocess.run([compiler, "-std=c++17", "-Wall", "-Wextra", "-Werror", str(source), "-o", str(program)], check=True)
    return program


@pytest.mark.parametrize(
    ("rule", "status", "printed", "said"),
    [
        ("", 0, "a5a5a5a5\n", ""),
        ("kind", 0, "found\n", ""),
        ("memory of the host", 0, "found\n", ""),
        ("capture", 0, "found\n", ""),
        ("shared memory", -signal.SIGABRT, "", "beyond the shared memory"),
        pytest.param(
            *("host address", -signal.SIGABRT, "", "memory of the host"),
            marks=pytest.mark.skipif(platform.machine() != "x86_64", reason="addresses are told apart on x86-64"),
        ),
        ("device address", -signal.SIGSEGV, "", ""),
    ],
)
def test_broken_rules_are_found(broken_rules: Path, rule: str, status: int, printed: str, said: str) -> None:
    """The emulator refuses what a GPU does; shared memory is not initialised."""
    done = subprocess.run([broken_rules, rule], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stdout) == (status, printed), done.stderr
    assert said in done.stderr


def test_the_emulator_keeps_the_host_out(emulated: Path, tmp_path: Path) -> None:
    """Access to device memory from the host ends the process, as with a GPU."""
    text = """
import ctypes
world = scene().build(device="cuda")
address = world.read("positions", output="device").__cuda_array_interface__["data"][0]
print("before", flush=True)
ctypes.c_float.from_address(address).value
print("after")
"""
    done = run(emulated, ["-c", WORLD + text], tmp_path)
    assert (done.returncode, done.stdout) == (-signal.SIGSEGV, "before\n"), done.stderr[-2000:]


def test_wrong_number(emulated: Path, tmp_path: Path) -> None:
    """An index beyond the last GPU."""
    text = """
for device in ("cuda:1", "cuda:x", "gpu"):
    try:
        scene().build(device=device)
    except (gg.BackendError, gg.ArgumentError) as error:
        print(type(error).__name__, error)
"""
    printed = script(emulated, tmp_path, text).splitlines()
    assert "cuda:0" in printed[0] and "cuda:1" in printed[0]
    assert printed[1].startswith("ArgumentError device: expected") and printed[2].startswith("ArgumentError")


def test_a_variable_says_what_auto_means(emulated: Path, tmp_path: Path) -> None:
    """GG_DEVICE replaces "auto", without fallback, and does not change named devices."""
    text = """
import os
for wanted in ("cuda", "cuda:0", "cpu", "", "cuda:3"):
    os.environ["GG_DEVICE"] = wanted
    try:
        print(scene().build().device, scene().build(device="cpu").device, scene().build(device="cuda").device)
    except gg.BackendError as error:
        print(error)
"""
    printed = script(emulated, tmp_path, text).splitlines()
    gpu = "cuda:0 cpu cuda:0"
    assert printed[:4] == [gpu, gpu, "cpu cpu cuda:0", gpu]
    assert printed[4].startswith("GG_DEVICE: 'cuda:3' cannot be used: device: expected cuda:0 to cuda:0")


def test_out_of_memory(emulated: Path, tmp_path: Path) -> None:
    """A world that does not fit is a MemoryError; one that fits still works, and memory is freed."""
    text = """
free = gg.info()["devices"]["cuda"]["gpus"][0]["memory_free"]
try:
    scene().build(device="cuda", env_count=500)
except MemoryError as error:
    print("MemoryError", error)
with scene().build(device="cuda") as world:
    world.step(1e-3, 2)
    print(world.state_hash(0) != 0)
print(free == gg.info()["devices"]["cuda"]["gpus"][0]["memory_free"])
"""
    printed = script(emulated, tmp_path, text, GG_EMULATOR_MEMORY="2000000").splitlines()
    assert printed[0].startswith("MemoryError") and "bytes" in printed[0]
    assert printed[1:] == ["True", "True"]


def test_memory_that_ends_in_a_step(emulated: Path, tmp_path: Path) -> None:
    """Where a buffer cannot grow the step fails; the world is at the end of a substep and can be read and freed."""
    text = """
import numpy as np
dense = gg.Scene(((-0.06, -0.06, 0.0), (0.06, 0.06, 4.0)))
sand = dense.add_material(density=2500.0, rolling_friction=0.1)
grid = np.stack(np.meshgrid(range(5), range(5), range(24)), -1).reshape(-1, 3) * (0.0205, 0.0205, 0.0205)
dense.add_grains(sand, grid + (-0.042, -0.042, 0.011), 0.01)
world = dense.build(device="cuda", env_count=4, solver=gg.Solver(mode="jacobi"))
left = gg.info()["devices"]["cuda"]["gpus"][0]["memory_free"]
print(left)
"""
    used = 1 << 40
    used -= int(script(emulated, tmp_path, text, GG_EMULATOR_MEMORY=str(used)))
    text += """
try:
    for _ in range(60):
        world.step(5e-3, 4)
    print("never grew")
except MemoryError as error:
    print("MemoryError", error)
print(bool(np.isfinite(world.positions).all()))
world.close()
print(gg.info()["devices"]["cuda"]["gpus"][0]["memory_free"] > left)
"""
    printed = script(emulated, tmp_path, text, GG_EMULATOR_MEMORY=str(used + 200_000)).splitlines()
    assert printed[1].startswith("MemoryError"), printed
    assert printed[2:] == ["True", "True"]


def test_lost_device(emulated: Path, tmp_path: Path) -> None:
    """A GPU that is lost in a step: a typed error in all calls; worlds on the CPU continue."""
    text = """
world = scene().build(device="cuda")
for _ in range(3):
    try:
        world.step(1e-3, 4)
    except gg.BackendError as error:
        print(error)
world.close()
with scene().build(device="cpu") as other:
    other.step(1e-3, 4)
    print(other.state_hash(0) != 0)
"""
    printed = script(emulated, tmp_path, text, GG_EMULATOR_FAIL="3").splitlines()
    assert len(printed) == 4 and all("unspecified launch failure" in line for line in printed[:3])
    assert printed[3] == "True"


def test_fork(emulated: Path, tmp_path: Path) -> None:
    """After a fork the child gets an error that suggests spawn; the parent is not affected."""
    text = """
import os, sys
world = scene().build(device="cuda")
child = os.fork()
if child == 0:
    for act in (lambda: world.step(1e-3, 1), lambda: scene().build(device="cuda")):
        try:
            act()
        except gg.BackendError as error:
            print("spawn" in str(error))
    with scene().build(device="cpu") as other:
        other.step(1e-3, 1)
    sys.stdout.flush()
    os._exit(0)
print(os.waitpid(child, 0)[1])
world.step(1e-3, 1)
print(world.device)
"""
    assert script(emulated, tmp_path, text).split() == ["True", "True", "0", "cuda:0"]


def test_fork_from_another_library(emulated: Path, tmp_path: Path) -> None:
    """A child of a process in which another library initialised CUDA cannot use CUDA."""
    text = """
import os, sys
os.environ["GG_EMULATOR_OWNER"] = str(os.getpid())
child = os.fork()
if child == 0:
    print(gg.info()["devices"]["cuda"]["reason"])
    for device in ("cuda", "cuda:0"):
        try:
            scene().build(device=device)
        except gg.BackendError as error:
            print(error)
    print(scene().build(device="auto").device)
    sys.stdout.flush()
    os._exit(0)
print(os.waitpid(child, 0)[1])
print(scene().build(device="cuda").device)
"""
    printed = script(emulated, tmp_path, text).splitlines()
    said = "CUDA cannot be started in this process (initialization error); where it was forked after"
    assert printed[0].startswith(said) and 'method "spawn" or "forkserver"' in printed[0]
    assert all(line.endswith(printed[0]) and line.startswith("device: 'cuda") for line in printed[1:3])
    assert printed[3:] == ["cpu", "0", "cuda:0"]


@pytest.mark.parametrize("expected", ["0", "1"])
def test_a_missing_nvcc_is_no_skip_where_it_is_expected(tmp_path: Path, expected: str) -> None:
    """GG_EXPECT_NVCC=1, as CI sets it, makes a failure of a skip for want of nvcc, and of no other skip."""
    (tmp_path / "test_it.py").write_text(
        "import pytest\n"
        "def test_one(): pytest.skip('no compiler nvcc')\n"
        "def test_other(): pytest.skip('no compiler clang')\n"
        "def test_third(): pass\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider", "test_it.py"]
    settings = {**os.environ, "PYTHONPATH": str(ROOT / "tests"), "GG_EXPECT_NVCC": expected}
    done = subprocess.run(command, cwd=tmp_path, env=settings, capture_output=True, text=True, timeout=120)
    said = done.stdout.splitlines()[-1]
    if expected == "1":
        assert done.returncode == 1 and "1 failed, 1 passed, 1 skipped" in said, done.stdout
        assert "GG_EXPECT_NVCC is set, but: no compiler nvcc" in done.stdout
    else:
        assert done.returncode == 0 and "1 passed, 2 skipped" in said, done.stdout


@pytest.fixture
def architectures(monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], list[str]]:
    """Flags that setup.py passes to a compiler, with GG_CUDA_ARCH set."""
    function = runpy.run_path(str(ROOT / "setup.py"))["cuda_architectures"]

    def ask(compiler: str, wanted: str) -> list[str]:
        monkeypatch.setenv("GG_CUDA_ARCH", wanted)
        return function(compiler)

    return ask


def compiler_of(folder: Path, known: str) -> str:
    """A compiler that lists these architectures."""
    compiler = folder / "nvcc"
    listed = "".join(f"echo compute_{arch}\n" for arch in known.split())
    compiler.write_text(f'#!/bin/sh\n[ "$*" = --list-gpu-arch ] || exit 1\n{listed}')
    compiler.chmod(0o755)
    return str(compiler)


def code(arch: str) -> str:
    return f"-gencode=arch=compute_{arch},code=sm_{arch}"


def ptx(arch: str) -> str:
    return f"-gencode=arch=compute_{arch},code=compute_{arch}"


def test_architectures(architectures: Callable[[str, str], list[str]], tmp_path: Path) -> None:
    """Machine code for each requested architecture, and PTX of the last one for newer GPUs."""
    usual = ["75", "80", "86", "89", "90", "100", "120"]
    # an older compiler: those of them that it supports; 100a is specific to one GPU and differs from 100
    for known, chosen in (("50 60 70 75 80 86 87 89 90", usual[:5]), ("75 90 100a", ["75", "90"])):
        assert architectures(compiler_of(tmp_path, known), "") == [*map(code, chosen), ptx(chosen[-1])]
    newer = compiler_of(tmp_path, "75 80 86 87 88 89 90 90a 100 100a 103 110 120 121")
    assert architectures(newer, "") == [*map(code, usual), ptx("120")]
    assert architectures(newer, "80") == [code("80"), ptx("80")]
    assert architectures(newer, "90,121") == [code("90"), code("121"), ptx("121")]
    assert architectures(newer, "native") == ["-arch=native"]
    for wrong in ("65", "80,65", "80,", "sm_80", "Native"):
        with pytest.raises(SystemExit, match=f"GG_CUDA_ARCH: expected native or some of 75,80,.*, got '{wrong}'"):
            architectures(newer, wrong)
    with pytest.raises(SystemExit, match="nvcc knows 50,60, and none of 75,80,.*GG_CUDA_ARCH names others"):
        architectures(compiler_of(tmp_path, "50 60"), "")


def test_the_toolkits_sort_compiles(tmp_path: Path, full: bool) -> None:
    """The CUB sort that `make gpu` times; its code for the host is read in any case, and compiled with --full."""
    compiler = shutil.which("nvcc")
    if not compiler:
        pytest.skip("no compiler nvcc")
    kind = "-c" if full else "-fatbin"
    strict = ["-std=c++17", "-Werror", "all-warnings", "-arch=sm_75", kind, "-o", str(tmp_path / "sort.o")]
    source = ROOT / "benchmarks" / "gpu" / "cub_sort.cu"
    done = subprocess.run([compiler, *strict, str(source)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-2000:]


def test_architectures_of_this_compiler(architectures: Callable[[str, str], list[str]], tmp_path: Path) -> None:
    """nvcc compiles with the flags of setup.py, by default and for the oldest GPU."""
    compiler = shutil.which("nvcc")
    if compiler is None:
        pytest.skip("no compiler nvcc")
    source = tmp_path / "empty.cu"
    source.write_text("")
    for wanted in ("", "75"):
        flags = architectures(compiler, wanted)
        done = subprocess.run([compiler, "--dryrun", *flags, "-c", str(source)], capture_output=True, text=True)
        assert done.returncode == 0 and "sm_75" in done.stderr, done.stderr


def test_kernel_resources() -> None:
    """Registers, spills and shared memory of each kernel stay below what tests/unit/cuda_kernels.json allows; or that
    was written for these sources."""
    tool = [sys.executable, str(ROOT / "tools" / "cuda_kernels.py")]
    compiled = (ROOT / "build" / "cuda_kernels.log").is_file()
    done = subprocess.run([*tool, "--check" if compiled else "--recorded"], capture_output=True, text=True)
    if not compiled and done.returncode:
        pytest.skip("no nvcc: the CUDA backend was not compiled here")
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
