"""gpu_stages.py: the stages of `make gpu`: checks of the machine, packages, builds, tests, sanitizers, benchmarks.

Uses the standard library only: it runs before packages are installed.
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
#: without these some tests are skipped, and no pictures are drawn
USEFUL = ("tqdm", "matplotlib", "hypothesis", "cloudpickle", "scipy", "imageio", "trimesh", "manifold3d")
#: slow tests that build the engine for the CPU and do not concern a GPU
LEFT_OUT = (
    "tests/unit/test_cuda_build.py",
    "tests/unit/test_emulated_parity.py",
    "tests/unit/test_emulated_order.py",
    "tests/unit/test_gpu_traffic.py",
    "tests/unit/test_c.py",
    "tests/determinism/test_builds.py",
)


# ---- the machine ----


def find_headers(run: Run) -> str:
    """The folder of Python.h; empty where it is missing."""
    folders = [sysconfig.get_paths()["include"], *run.environment.get("CPATH", "").split(":")]
    return next((folder for folder in folders if folder and os.path.isfile(os.path.join(folder, "Python.h"))), "")


def find_nvcc(run: Run) -> str:
    """Path of nvcc; empty where it is missing."""
    home = os.path.join(run.environment.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    return shutil.which(os.environ.get("NVCC", "nvcc")) or shutil.which("nvcc", path=home) or ""


def find_stb() -> str:
    """The folder of stb_image_write.h; empty where it is missing."""
    given = os.environ.get("STB_INCLUDE_DIR")
    usual = ["/usr/include/stb", "/usr/local/include/stb", "/usr/include", "/usr/local/include"]
    return next((p for p in ([given] if given else usual) if os.path.isfile(os.path.join(p, "stb_image_write.h"))), "")


def check(run: Run) -> list[str]:
    """Missing prerequisites, in words."""
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

    def output(*words: str) -> str:
        try:
            return subprocess.run(words, capture_output=True, text=True, timeout=20).stdout.strip()
        except (OSError, subprocess.TimeoutExpired):
            return ""

    fields = "name,driver_version,memory.total,clocks.max.sm,clocks.max.mem,power.limit,compute_mode,mig.mode.current"
    return {
        "nvidia_smi": output("nvidia-smi", f"--query-gpu={fields}", "--format=csv"),
        "nvcc": tail(output(find_nvcc(run) or "nvcc", "--version"), 2),
        "compiler": output((os.environ.get("CC") or "cc").split()[0], "--version").split("\n")[0],
        "python": sys.version.split()[0],
        "python_headers": find_headers(run),
        "cores": len(os.sched_getaffinity(0)),
        "commit": output("git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"),
        "date": time.strftime("%Y-%m-%d %H:%M"),
    }


# ---- stages ----


def packages(run: Run) -> bool:
    """Makes an environment of the system's packages, and installs missing ones from the folder of wheels."""
    start = time.monotonic()
    has_pip = subprocess.run([sys.executable, "-c", "import pip"], capture_output=True).returncode == 0
    source = ["--no-index", "--find-links", str(Path(run.args.wheels).resolve())] if run.args.wheels else []
    if not os.path.exists(PYTHON):
        plain = ["--without-pip"] if has_pip else []
        words = [sys.executable, "-m", "venv", "--system-site-packages", *plain, str(VENV)]
        status, seconds, output = run.command("venv", words, run.limit("packages"))
        if status != "passed":
            run.note("packages", status, seconds, log=tail(output))
            return False
        share_packages()
    missing = []
    end = start + run.limit("packages")
    for package in (*NEEDED, *USEFUL):
        if has_package(package):
            continue
        left = end - time.monotonic()
        status, output = "timeout", "there was no time left"
        if package in NEEDED or left > 0.0:
            words = [PYTHON, "-m", "pip", "install", "--quiet", *source, package]
            # optional packages must not take the time of the build
            limit = max(left, 10.0) if package in NEEDED else min(left, 15.0)
            status, _, output = run.command(f"pip_{package.split('>')[0]}", words, limit)
        if status != "passed":
            missing.append(package)
            if package in NEEDED:
                run.note("packages", "failed", time.monotonic() - start, missing=package, log=tail(output))
                return False
    found = {"without": " ".join(missing)} if missing else {}
    run.note("packages", "passed", time.monotonic() - start, **found)
    return True


def share_packages() -> None:
    """Where this interpreter is itself of a virtual environment: its packages, too, not only those of the system."""
    if sys.prefix != sys.base_prefix:
        folder = subprocess.run(
            [PYTHON, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
            check=True,
            capture_output=True,
            text=True,
        ).stdout.strip()
        shared = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
        Path(folder, "outer.pth").write_text("\n".join(sorted(shared)) + "\n")


def has_package(package: str) -> bool:
    """Whether the environment has a package, of the required version or newer."""
    name, _, version = package.partition(">=")
    code = (
        f"import importlib.metadata as m; v = m.version({name!r}); assert int(v.split('.')[0]) >= {int(version or 0)}"
    )
    return subprocess.run([PYTHON, "-c", code], capture_output=True).returncode == 0


def build(run: Run) -> bool:
    """Builds the extension with CUDA, in place."""
    words = [PYTHON, "-m", "pip", "install", "--quiet", "--no-index", "--no-build-isolation", "--no-deps", "--editable"]
    status, seconds, output = run.command("build", [*words, "."], run.limit("build"))
    run.note("build", status, seconds, **({} if status == "passed" else {"log": tail(output, 30)}))
    return status == "passed"


class Variants:
    """Builds with other flags of nvcc, made while the tests run, on separate cores; only their speed is measured."""

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
        """The folder of a build."""
        return WORK / "variants" / name / "lib"

    def ready(self, wait: float) -> list[str]:
        """Names of the builds that are complete within `wait` seconds; ends the others, which would disturb timings."""
        end, built = time.monotonic() + wait, []
        for name, process in self.processes.items():
            try:
                if process.wait(max(end - time.monotonic(), 0.1)) == 0:
                    built.append(name)
            except subprocess.TimeoutExpired:
                stop(process)
        return built


def split_cores(cores: list[int], more: bool) -> tuple[list[int], list[int]]:
    """Cores for the tests, and for the builds that run at the same time: a quarter; all, where there are few."""
    if not more or len(cores) < 4:
        return cores, cores
    share = len(cores) // 4
    return cores[:-share], cores[-share:]


RESULT = re.compile(r"^(\S+::.+?) (PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)\b", re.MULTILINE)


def pytest_command(target: str) -> list[str]:
    """Command that runs tests and lists each of them, so that results are known even after a timeout."""
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


def counted(logs: list[str]) -> dict[str, Any]:
    """Counts of results in the logs of tests."""
    found = [match for text in logs for match in RESULT.findall(text)]
    counts = {kind: sum(one == kind for _, one in found) for kind in ("PASSED", "FAILED", "ERROR", "SKIPPED")}
    facts: dict[str, Any] = {kind.lower(): n for kind, n in counts.items() if n or kind == "PASSED"}
    facts["passed_with_cuda"] = sum(one == "PASSED" and ("cuda" in name or "parity" in name) for name, one in found)
    bad = [name for name, one in found if one in ("FAILED", "ERROR")]
    return {**facts, **({"failures": bad} if bad else {})}


def tests(run: Run, name: str, targets: list[str], cores: list[int], device: str = "auto", **more: Any) -> None:
    """Runs test files, several at a time, each on its own cores; one line of the table for all.

    Args:
        run: the run.
        name: of the stage.
        targets: test files.
        cores: CPU cores to use.
        device: default device of worlds.
        more: further facts for the table.
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
            # without --full some cases of parity are left to the emulator in smaller size, or out
            words = pytest_command(item[1]) + (["--full"] if name == "parity" else [])
            return run.command(log, words, end - time.monotonic(), mine, GG_DEVICE=device)
        finally:
            slots.append(mine)

    with ThreadPoolExecutor(len(slots)) as pool:
        done = list(pool.map(one, enumerate(targets)))
    facts = {**counted([output for _, _, output in done]), **more}
    late = [t for t, (status, _, _) in zip(targets, done, strict=True) if status == "timeout"]
    # a file may fail without a failing test: it could not be imported, or the process crashed
    failed = [(t, output) for t, (status, _, output) in zip(targets, done, strict=True) if status == "failed"]
    broken = [t for t, output in failed if "no tests ran" not in output]
    status = "failed" if broken else "timeout" if late else "passed"
    if late:
        facts["out_of_time"] = " ".join(late)
    if broken:
        facts["failed_files"] = " ".join(broken)
        facts["log"] = "\n".join(tail(output) for _, output in failed)
    run.note(name, status, time.monotonic() - start, **facts)


def suite_files() -> list[str]:
    """All test files except those of parity and LEFT_OUT; the most relevant folders first."""
    order = ("determinism", "unit", "envs", "physics", "hostile", "golden")
    files = [p for p in sorted((ROOT / "tests").rglob("test_*.py")) if "parity" not in p.parts]
    files.sort(key=lambda p: order.index(p.parent.name) if p.parent.name in order else len(order))
    return [name for name in (p.relative_to(ROOT).as_posix() for p in files) if name not in LEFT_OUT]


def parity_files() -> list[str]:
    """The test files that compare CPU and GPU bit for bit."""
    return [p.relative_to(ROOT).as_posix() for p in sorted((ROOT / "tests" / "parity").glob("test_*.py"))]


def resources(run: Run) -> None:
    """Checks registers, spills and shared memory of the built kernels against their limits."""
    name = "resources of kernels"
    if run.args.emulate:
        run.note(name, "skipped", 0.0, why="emulated")
    elif not run.cut(name):
        words = [PYTHON, "tools/cuda_kernels.py", "--check"]
        status, seconds, output = run.command("resources", words, run.limit(name))
        run.note(name, status, seconds, **({} if status == "passed" else {"log": tail(output)}))


def sanitizers(run: Run) -> None:
    """Runs every kernel briefly under each tool of compute-sanitizer."""
    script = [PYTHON, "tools/sanitized_gpu.py"]
    name = "every kernel once"
    if not run.cut(name):
        status, seconds, output = run.command("kernels_plain", script, run.limit(name))
        run.note(name, status, seconds, **({} if status == "passed" else {"log": tail(output)}))
    home = os.path.join(run.environment.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=home)
    for one in SANITIZERS:
        if not tool or run.args.emulate:
            run.note(one, "skipped", 0.0, why="no compute-sanitizer on the path" if not tool else "emulated")
            continue
        if run.cut(one):
            continue
        words = [tool, "--tool", one, "--error-exitcode", "9", *script]
        status, seconds, output = run.command(f"sanitizer_{one}", words, run.limit(one))
        summary = re.findall(r"=+ (?:ERROR SUMMARY|RACECHECK SUMMARY): (.*)", output)
        facts = {"summary": summary[-1]} if summary else {}
        if status == "timeout":
            # the cases before had no error, as an error ends the run
            reached = re.findall(r"^ +[\d.]+ s  (.+)$", output, re.MULTILINE)
            facts["reached"] = reached[-1] if reached else "nothing"
        run.note(one, status, seconds, **facts, **({} if status == "passed" else {"log": tail(output, 30)}))


def benchmark(run: Run, case: str, out: Path, name: str = "", **environment: str) -> None:
    """Runs one case in its own process; rows measured before a timeout are kept."""
    name = name or f"benchmark {case}"
    if run.cut(name):
        return
    words = [PYTHON, "benchmarks/gpu/run.py", case, "--out", str(out), *(["--quick"] if run.args.quick else [])]
    status, seconds, output = run.command(re.sub(r"\W+", "_", name), words, run.limit(name), **environment)
    rows = len(read_cases(out).get(case, {}).get("rows", []))
    run.note(name, status, seconds, rows=rows, **({} if status == "passed" else {"log": tail(output)}))
