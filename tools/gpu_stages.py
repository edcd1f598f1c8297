"""gpu_stages.py: the stages of `make gpu`: what the machine has, packages, builds, tests, sanitizers, benchmarks.

Only the standard library: this runs before anything is installed.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from gpu_plan import PYTHON, ROOT, SANITIZERS, VARIANTS, VENV, WORK, Run, stop, tail
from gpu_report import read_cases

NEEDED = ("numpy", "setuptools>=77", "gymnasium", "pytest")
#: without these some tests are left out, and there are no pictures
USEFUL = ("tqdm", "matplotlib", "hypothesis", "cloudpickle", "scipy", "imageio", "trimesh", "manifold3d")
#: tests that compile engines of their own, for the CPU: they say nothing about a GPU and take long
LEFT_OUT = ("tests/unit/test_cuda_build.py", "tests/unit/test_c.py", "tests/determinism/test_builds.py")


# what the machine has ----------------------------------------------------------------------------------------------


def find_headers(run: Run) -> str:
    """Where Python.h is; empty: nowhere."""
    places = [sysconfig.get_paths()["include"], *run.environment.get("CPATH", "").split(":")]
    return next((place for place in places if place and os.path.isfile(os.path.join(place, "Python.h"))), "")


def find_nvcc(run: Run) -> str:
    """Where nvcc is; empty: nowhere."""
    home = os.path.join(run.environment.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    return shutil.which(os.environ.get("NVCC", "nvcc")) or shutil.which("nvcc", path=home) or ""


def find_stb() -> str:
    """Where the header stb_image_write.h is; empty: nowhere."""
    given = os.environ.get("STB_INCLUDE_DIR")
    usual = ["/usr/include/stb", "/usr/local/include/stb", "/usr/include", "/usr/local/include"]
    return next((p for p in ([given] if given else usual) if os.path.isfile(os.path.join(p, "stb_image_write.h"))), "")


def check(run: Run) -> list[str]:
    """What the machine lacks, in words; nothing is built before this is empty."""
    lacking = []
    version = f"{sys.version_info[0]}.{sys.version_info[1]}"
    if sys.version_info < (3, 10):  # noqa: UP036
        lacking.append(f"Python 3.10 or newer: {sys.executable} is {version}")
    if not find_headers(run):
        lacking.append(
            f"Python.h of Python {version}: not in {sysconfig.get_paths()['include']}; install python{version}-dev, or "
            "set PYTHON_INCLUDE (or CPATH) to a folder that holds Python.h and pyconfig.h of this version"
        )
    if not find_stb():
        lacking.append("stb_image_write.h: install libstb-dev, or set STB_INCLUDE_DIR to the folder that holds it")
    if not shutil.which((os.environ.get("CC") or "cc").split()[0]):
        lacking.append("a C compiler: install gcc, or set CC")
    if not run.args.emulate:
        if not find_nvcc(run):
            lacking.append("nvcc: install the CUDA toolkit, or set NVCC or CUDA_HOME")
        if not shutil.which("nvidia-smi"):
            lacking.append("nvidia-smi: no NVIDIA driver on the path; this needs a GPU (--emulate rehearses without)")
    if run.args.wheels and not Path(run.args.wheels).is_dir():
        lacking.append(f"the folder of wheels {run.args.wheels}")
    return lacking


def machine(run: Run) -> dict[str, Any]:
    """Facts about the machine."""

    def said(*words: str) -> str:
        try:
            return subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            return ""

    fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit,compute_mode,mig.mode.current"
    return {
        "nvidia_smi": said("nvidia-smi", f"--query-gpu={fields}", "--format=csv"),
        "nvcc": tail(said(find_nvcc(run) or "nvcc", "--version"), 2),
        "compiler": said((os.environ.get("CC") or "cc").split()[0], "--version").split("\n")[0],
        "python": sys.version.split()[0],
        "python_headers": find_headers(run),
        "cores": len(os.sched_getaffinity(0)),
        "commit": said("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }


# stages --------------------------------------------------------------------------------------------------------------


def packages(run: Run) -> bool:
    """An environment that sees the packages of the system, and what it lacks from the folder of wheels."""
    start = time.monotonic()
    has_pip = subprocess.run([sys.executable, "-c", "import pip"], capture_output=True).returncode == 0
    if not os.path.exists(PYTHON):
        plain = ["--without-pip"] if has_pip else []
        words = [sys.executable, "-m", "venv", "--system-site-packages", *plain, str(VENV)]
        status, seconds, said = run.command("venv", words, run.limit("packages"))
        if status != "passed":
            run.note("packages", status, seconds, log=tail(said))
            return False
    # pip of the system works on the environment that is named; setuptools of an environment without pip likewise
    source = ["--no-index", "--find-links", str(Path(run.args.wheels).resolve())] if run.args.wheels else []
    missing = []
    end = start + run.limit("packages")
    for package in (*NEEDED, *USEFUL):
        if has_package(package):
            continue
        left = end - time.monotonic()
        status, said = "timeout", "there was no time left"
        if package in NEEDED or left > 0.0:
            words = [PYTHON, "-m", "pip", "install", "--quiet", *source, package]
            # what is only useful must not take the time of the build
            limit = max(left, 10.0) if package in NEEDED else min(left, 15.0)
            status, _, said = run.command(f"pip_{package.split('>')[0]}", words, limit)
        if status != "passed":
            missing.append(package)
            if package in NEEDED:
                run.note("packages", "failed", time.monotonic() - start, missing=package, log=tail(said))
                return False
    found = {"without": " ".join(missing)} if missing else {}
    run.note("packages", "passed", time.monotonic() - start, **found)
    return True


def has_package(package: str) -> bool:
    """Whether the environment can import a package, as new as asked for."""
    name, _, least = package.partition(">=")
    code = f"import importlib.metadata as m; v = m.version({name!r}); assert int(v.split('.')[0]) >= {int(least or 0)}"
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


def build(run: Run) -> bool:
    """The extension, with CUDA, in place."""
    words = [PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--editable"]
    status, seconds, said = run.command("build", [*words, "."], run.limit("build"))
    run.note("build", status, seconds, **({} if status == "passed" else {"log": tail(said, 30)}))
    return status == "passed"


class Variants:
    """Builds whose kernels are compiled with other flags, made beside the tests; only their speed is of interest.

    They have cores of their own, and logs of their own: setup.py leaves that of the usual build alone.
    """

    def __init__(self, run: Run, cores: list[int]) -> None:
        self.processes: dict[str, subprocess.Popen[Any]] = {}
        prefix = ["taskset", "-c", ",".join(map(str, cores))] if shutil.which("taskset") else []
        for name, (flags, _) in VARIANTS.items():
            words = [PYTHON, "setup.py", "--quiet", "build", "--build-base", str(self.lib(name).parent), "--build-lib"]
            with (WORK / f"variant_{name}.log").open("w") as out:
                self.processes[name] = subprocess.Popen(
                    [*prefix, *words, str(self.lib(name))],
                    cwd=ROOT,
                    env={**run.environment, "GG_CUDA_FLAGS": flags},
                    stdout=out,
                    stderr=subprocess.STDOUT,
                    start_new_session=True,
                )

    @staticmethod
    def lib(name: str) -> Path:
        """Where a build lies."""
        return WORK / "variants" / name / "lib"

    def ready(self, wait: float) -> list[str]:
        """Those that were built in time; the others are ended, so that they disturb no timing."""
        end, built = time.monotonic() + wait, []
        for name, process in self.processes.items():
            try:
                if process.wait(max(end - time.monotonic(), 0.1)) == 0:
                    built.append(name)
            except subprocess.TimeoutExpired:
                stop(process)
        return built


def split_cores(cores: list[int], more: bool) -> tuple[list[int], list[int]]:
    """Cores of the tests, and those of the builds beside them: a quarter, all of them where there are few."""
    if not more or len(cores) < 4:
        return cores, cores
    share = len(cores) // 4
    return cores[:-share], cores[-share:]


RESULT = re.compile(r"^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE)


def pytest_command(target: str) -> list[str]:
    """Runs tests and names each of them, so that what was done is known even where the time runs out."""
    return [
        PYTHON,
        "-m",
        "pytest",
        "-v",
        "--tb=short",
        "-p",
        "no:cacheprovider",
        "-o",
        "console_output_style=classic",
        target,
    ]


def counted(said: list[str]) -> dict[str, Any]:
    """What became of the tests in these logs."""
    found = [match for text in said for match in RESULT.findall(text)]
    counts = {kind: sum(one == kind for _, one in found) for kind in ("PASSED", "FAILED", "ERROR", "SKIPPED")}
    facts: dict[str, Any] = {kind.lower(): n for kind, n in counts.items() if n or kind == "PASSED"}
    facts["passed_with_cuda"] = sum(one == "PASSED" and ("cuda" in name or "parity" in name) for name, one in found)
    bad = [name for name, one in found if one in ("FAILED", "ERROR")]
    return {**facts, **({"failures": bad} if bad else {})}


def tests(run: Run, name: str, targets: list[str], cores: list[int], device: str = "auto", **more: Any) -> None:
    """Test files, several at a time, each on cores of its own; all in one line of the table.

    device: where worlds are that name none.
    """
    if run.cut(name):
        return
    start = time.monotonic()
    width = 2 if len(cores) >= 4 else len(cores)
    slots = [cores[k : k + width] for k in range(0, len(cores) - width + 1, width)]
    end = start + run.limit(name)

    def one(item: tuple[int, str]) -> tuple[str, float, str]:
        while True:
            try:
                mine = slots.pop()
                break
            except IndexError:
                time.sleep(0.05)
        try:
            log = f"test_{device}_{item[1]}"
            return run.command(log, pytest_command(item[1]), end - time.monotonic(), mine, GG_DEVICE=device)
        finally:
            slots.append(mine)

    with ThreadPoolExecutor(len(slots)) as pool:
        done = list(pool.map(one, enumerate(targets)))
    facts = {**counted([said for _, _, said in done]), **more}
    late = [t for t, (status, _, _) in zip(targets, done, strict=True) if status == "timeout"]
    # a file may fail without a test that fails: it could not be imported, or the process died
    broken = [t for t, (s, _, said) in zip(targets, done, strict=True) if s == "failed" and "no tests ran" not in said]
    status = "failed" if broken else "timeout" if late else "passed"
    if late:
        facts["out_of_time"] = " ".join(late)
    if broken:
        facts["failed_files"] = " ".join(broken)
        facts["log"] = "\n".join(tail(said) for s, _, said in done if s == "failed")
    run.note(name, status, time.monotonic() - start, **facts)


def suite_files() -> list[str]:
    """All test files but those of parity and LEFT_OUT; the folders that have most to say first."""
    order = ("determinism", "unit", "envs", "physics", "hostile", "golden")
    files = [p for p in sorted((ROOT / "tests").rglob("test_*.py")) if "parity" not in p.parts]
    files.sort(key=lambda p: order.index(p.parent.name) if p.parent.name in order else len(order))
    return [name for name in (p.relative_to(ROOT).as_posix() for p in files) if name not in LEFT_OUT]


def parity_files() -> list[str]:
    """The comparison of CPU and GPU to the bit."""
    return [p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "tests" / "parity").glob("test_*.py"))]


def resources(run: Run) -> None:
    """Registers, spills and shared memory of the kernels that were built, against what they may take."""
    name = "resources of kernels"
    if run.args.emulate:
        run.note(name, "skipped", 0.0, why="emulated")
    elif not run.cut(name):
        words = [PYTHON, "tools/cuda_kernels.py", "--check"]
        status, seconds, said = run.command("resources", words, run.limit(name))
        run.note(name, status, seconds, **({} if status == "passed" else {"log": tail(said)}))


def sanitizers(run: Run) -> None:
    """A short run of every kernel under each tool of compute-sanitizer."""
    script = [PYTHON, "tools/sanitized_gpu.py"]
    name = "every kernel once"
    if not run.cut(name):
        status, seconds, said = run.command("kernels_plain", script, run.limit(name))
        run.note(name, status, seconds, **({} if status == "passed" else {"log": tail(said)}))
    home = os.path.join(run.environment.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=home)
    for one in SANITIZERS:
        if not tool or run.args.emulate:
            run.note(one, "skipped", 0.0, why="no compute-sanitizer on the path" if not tool else "emulated")
            continue
        if run.cut(one):
            continue
        words = [tool, "--tool", one, "--error-exitcode", "9", *script]
        status, seconds, said = run.command(f"sanitizer_{one}", words, run.limit(one))
        summary = re.findall(r"=+ (?:ERROR SUMMARY|RACECHECK SUMMARY): (.*)", said)
        facts = {"said": summary[-1]} if summary else {}
        if status == "timeout":
            # what was looked at until then had no fault that ended it
            came = re.findall(r"^ +[\d.]+ s  (.+)$", said, re.MULTILINE)
            facts["came_to"] = came[-1] if came else "nothing"
        run.note(one, status, seconds, **facts, **({} if status == "passed" else {"log": tail(said, 30)}))


def benchmark(run: Run, case: str, out: Path, name: str = "", **environment: str) -> None:
    """One case in a process of its own; rows that were measured before its time was over stay."""
    name = name or f"benchmark {case}"
    if run.cut(name):
        return
    words = [PYTHON, "benchmarks/gpu/run.py", case, "--out", str(out), *(["--quick"] if run.args.quick else [])]
    status, seconds, said = run.command(re.sub(r"\W+", "_", name), words, run.limit(name), **environment)
    rows = len(read_cases(out).get(case, {}).get("rows", []))
    run.note(name, status, seconds, rows=rows, **({} if status == "passed" else {"log": tail(said)}))
