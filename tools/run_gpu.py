"""run_gpu.py: `make gpu`: builds, tests and measures on a machine with a GPU, within minutes and without a network.

    python3 tools/run_gpu.py [--minutes 10] [--wheels FOLDER] [--quick] [--emulate] [--write-docs]

Needs Python 3.10 or newer with its headers, nvcc, a C compiler, stb_image_write.h (STB_INCLUDE_DIR) and, from the
system or from FOLDER, the packages numpy, setuptools, gymnasium, pytest. A stage that fails or takes too long is noted,
and the next one goes on; the figures that were promised come first, and each stage has time of its own (PLAN). Prints
one table; leaves report.json, report.txt and pictures in benchmarks/results/<GPU>, logs in build/gpu.
Exit status: 0 all stages passed, 1 one did not or was cut, 2 the machine lacks something.

Only the standard library: this runs before anything is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import sysconfig
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks import gpu_floor  # noqa: E402
from benchmarks.gpu_promises import KERNEL_SIZES, PROMISES, STREAM_SIZES, WAYS  # noqa: E402

WORK = ROOT / "build" / "gpu"
VENV = WORK / "venv"
PYTHON = str(VENV / "bin" / "python")
NEEDED = ("numpy", "setuptools>=77", "gymnasium", "pytest")
#: without these some tests are left out, and there are no pictures
USEFUL = ("tqdm", "matplotlib", "hypothesis", "cloudpickle", "scipy", "imageio", "trimesh", "manifold3d")
#: (stage, what asks for it, seconds of ten minutes that are kept for it), in the order in which they run. A stage that
#: ends early leaves its time to those after it; one that needs more takes up to twice its own, of what others left
PLAN: tuple[tuple[str, str, float], ...] = (
    ("packages", "", 26.0),
    ("build", "", 130.0),
    ("info", "", 6.0),
    ("benchmark speed", "benchmarks", 24.0),
    ("benchmark batch", "benchmarks", 20.0),
    ("benchmark bulldozer", "benchmarks", 34.0),
    ("benchmark crossover", "benchmarks", 20.0),
    ("benchmark depth", "benchmarks", 12.0),
    ("benchmark overhead", "benchmarks", 14.0),
    ("parity", "parity", 55.0),
    ("every kernel once", "sanitizer", 8.0),
    ("memcheck", "sanitizer", 24.0),
    ("racecheck", "sanitizer", 24.0),
    ("initcheck", "sanitizer", 24.0),
    ("synccheck", "sanitizer", 24.0),
    ("resources of kernels", "suite", 2.0),
    ("test suite, GPU", "suite", 34.0),
    ("test suite, CPU", "suite", 20.0),
    ("benchmark kernels", "benchmarks", 18.0),
    ("benchmark streams", "benchmarks", 10.0),
    ("benchmark phases", "benchmarks", 10.0),
    ("benchmark hash_size", "benchmarks", 14.0),
    ("benchmark gears", "benchmarks", 12.0),
    ("benchmark price", "benchmarks", 8.0),
    ("benchmark price, fmad", "benchmarks", 8.0),
    ("report", "", 15.0),
)
#: nothing else can be done without these: they may take the time of what comes late
ESSENTIAL = ("build", "info")
GROUPS = ("benchmarks", "parity", "sanitizer", "suite")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
#: tests that compile engines of their own, for the CPU: they say nothing about a GPU and take long
LEFT_OUT = ("tests/unit/test_cuda_build.py", "tests/unit/test_c.py", "tests/determinism/test_builds.py")
#: a stage that has less time than this is not begun [s]
LEAST = 3.0
MARKS = ("<!-- measured by make gpu -->", "<!-- end of what was measured -->")


def kept(plan: tuple[tuple[str, str, float], ...], after: str, scale: float) -> float:
    """Seconds that are kept for the stages after one."""
    names = [name for name, _, _ in plan]
    return scale * sum(seconds for _, _, seconds in plan[names.index(after) + 1 :])


def allowed(plan: tuple[tuple[str, str, float], ...], stage: str, left: float, scale: float = 1.0) -> float:
    """Seconds that a stage may take.

    Args:
        plan: the stages that are wanted.
        stage: one of them.
        left: until the end of all.
        scale: length of the run over ten minutes.
    """
    own = scale * next(seconds for name, _, seconds in plan if name == stage)
    report = scale * plan[-1][2] if stage != plan[-1][0] else 0.0
    spare = left - kept(plan, stage, scale)
    if stage in ESSENTIAL:
        return max(0.0, left - report)
    # what was overrun is missing at the end of the plan: the stages ahead keep their own time
    return max(0.0, min(left - report, max(own, min(2.0 * own, spare))))


class Run:
    """One run: its clock, its environment, and what became of each stage."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.start = time.monotonic()
        self.end = self.start + 60.0 * args.minutes
        self.wanted = args.only.split(",") if args.only else list(GROUPS)
        self.plan = tuple(stage for stage in PLAN if not stage[1] or stage[1] in self.wanted)
        self.stages: list[dict[str, Any]] = []
        self.environment = {
            **os.environ,
            "GG_CUDA": "emulate" if args.emulate else "1",
            "GG_CUDA_ARCH": os.environ.get("GG_CUDA_ARCH") or "native",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        if not args.emulate:
            # a test that needs nvcc is not skipped where it has to be there
            self.environment["GG_EXPECT_NVCC"] = "1"
        places = [os.environ.get("PYTHON_INCLUDE", ""), os.environ.get("CPATH", "")]
        if any(places):
            self.environment["CPATH"] = ":".join(place for place in places if place)
        if not shutil.which("nvcc") and not os.environ.get("CUDA_HOME"):
            self.environment["CUDA_HOME"] = "/usr/local/cuda"

    def left(self) -> float:
        """Seconds until the end."""
        return self.end - time.monotonic()

    def limit(self, stage: str) -> float:
        """Seconds that a stage may take."""
        return allowed(self.plan, stage, self.left(), self.args.minutes / 10.0)

    def kept_for(self, stage: str) -> float:
        """Seconds that are kept for a stage."""
        return self.args.minutes / 10.0 * next(seconds for name, _, seconds in PLAN if name == stage)

    def cut(self, stage: str) -> bool:
        """Notes a stage for which there is no time left."""
        if self.limit(stage) >= LEAST * min(1.0, self.args.minutes / 10.0):
            return False
        self.note(stage, "cut", 0.0, why="there was no time left")
        return True

    def note(self, name: str, status: str, seconds: float, **facts: Any) -> None:
        """Writes down what became of a stage, and says it."""
        self.stages.append({"stage": name, "status": status, "seconds": round(seconds, 1), **facts})
        said = ", ".join(f"{k} {v}" for k, v in facts.items() if k not in ("log", "failures"))
        print(f"{time.monotonic() - self.start:5.0f} s  {name:<24} {status:<8} {seconds:5.0f} s  {said}", flush=True)

    def command(
        self, name: str, words: list[str], limit: float, cores: list[int] | None = None, **environment: str
    ) -> tuple[str, float, str]:
        """Runs a command into build/gpu/<name>.log: status (passed, failed, timeout), seconds, what it said."""
        log = WORK / f"{name.replace('/', '_')}.log"
        start = time.monotonic()
        prefix = ["taskset", "-c", ",".join(map(str, cores))] if cores and shutil.which("taskset") else []
        with log.open("w") as out:
            process = subprocess.Popen(
                [*prefix, *words],
                cwd=ROOT,
                stdout=out,
                stderr=subprocess.STDOUT,
                env={**self.environment, **environment},
                start_new_session=True,
            )
            try:
                code = process.wait(max(0.1, min(limit, self.left())))
                status = "passed" if code == 0 else "failed"
            except subprocess.TimeoutExpired:
                status = "timeout"
                stop(process)
            except BaseException:
                stop(process)
                raise
        return status, time.monotonic() - start, log.read_text(errors="replace")


def stop(process: subprocess.Popen[Any]) -> None:
    """Ends a command and all that it started."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def tail(text: str, lines: int = 12) -> str:
    """The last lines of a log."""
    return "\n".join(text.strip().splitlines()[-lines:])


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


class Contracted:
    """A second build whose kernels may use fused multiply-add, made beside the tests; only its speed is of interest.

    It has cores of its own, and a log of its own: setup.py leaves that of the usual build alone.
    """

    def __init__(self, run: Run, cores: list[int]) -> None:
        self.lib = WORK / "contracted" / "lib"
        prefix = ["taskset", "-c", ",".join(map(str, cores))] if shutil.which("taskset") else []
        words = [PYTHON, "setup.py", "--quiet", "build", "--build-base", str(WORK / "contracted"), "--build-lib"]
        environment = {**run.environment, "GG_CUDA_FLAGS": "-fmad=true"}
        with (WORK / "contracted.log").open("w") as out:
            self.process = subprocess.Popen(
                [*prefix, *words, str(self.lib)],
                cwd=ROOT,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self, wait: float) -> bool:
        """Whether it was built; else it is ended, so that it disturbs no timing."""
        try:
            return self.process.wait(max(wait, 0.1)) == 0
        except subprocess.TimeoutExpired:
            stop(self.process)
            return False


def split_cores(cores: list[int], second: bool) -> tuple[list[int], list[int]]:
    """Cores of the tests, and those of the second build beside them: a quarter, all of them where there are few."""
    if not second or len(cores) < 4:
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
    words = [PYTHON, "benchmarks/gpu.py", case, "--out", str(out), *(["--quick"] if run.args.quick else [])]
    status, seconds, said = run.command(re.sub(r"\W+", "_", name), words, run.limit(name), **environment)
    rows = len(read_cases(out).get(case, {}).get("rows", []))
    run.note(name, status, seconds, rows=rows, **({} if status == "passed" else {"log": tail(said)}))


# the report ----------------------------------------------------------------------------------------------------------


def median(value: Any) -> float:
    """Of a spread, or the number itself."""
    return float(value["median"] if isinstance(value, dict) else value)


def read_cases(folder: Path) -> dict[str, Any]:
    """What the cases wrote, also those that were cut short."""
    found = {}
    for path in sorted(folder.glob("[!.]*.json")):
        if path.name != "report.json":
            found[path.stem] = json.loads(path.read_text())
    return found


def promised(cases: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The rows that had a figure to reach, by the key of PROMISES."""
    return {row["promise"]: row for case in cases.values() for row in case["rows"] if "promise" in row}


#: the figure that is shown of rows that nothing was promised of, by case
SHOWN = {
    "speed": "us_per_step",
    "crossover": "us_per_step",
    "kernels": "us_per_step",
    "streams": "ratio",
    "phases": "us_per_step",
    "hash_size": "times_real_time",
    "gears": "times_real_time",
    "price": "us_per_step",
}


def number(value: Any) -> str:
    """Four digits of a figure or the median of a spread; a dash where there is none."""
    return "-" if value is None else f"{median(value):.4g}"


def quality(row: dict[str, Any]) -> tuple[str, ...]:
    """Residual, overlap mean / max [% of a diameter], contact sides per grain, rebuilds, escaped / fast / diverged."""
    if "residual" not in row:
        return ("-",) * 5
    return (
        f"{row['residual']:.2e}",
        f"{row['overlap_mean_pct']:.3g} / {row['overlap_max_pct']:.3g}",
        f"{row['contacts_per_grain']:.3g}" if "contacts_per_grain" in row else "-",
        str(row.get("rebuild_count", "-")),
        " / ".join(str(row.get(key, "-")) for key in ("escaped_count", "fast_count", "diverged")),
    )


QUALITY_HEAD = ("residual", "overlap mean / max %", "contacts", "rebuilds", "escaped / fast / diverged")


def floor_of(row: dict[str, Any], figure: str) -> float | None:
    """What a figure would be if a step only moved its arrays through the memory."""
    if figure == "us_per_step" and "floor_us" in row:
        return float(row["floor_us"])
    return row.get("floor", row.get("floors", {}).get(figure)) if figure != "ratio" else None


def speeds(cases: dict[str, Any]) -> list[tuple[str, ...]]:
    """Every speed with what it costs: those that were promised first, then the rest of each case."""
    lines: list[tuple[str, ...]] = []
    reached = promised(cases)
    for key, asked in PROMISES.items():
        row = reached.get(key)
        wanted = f"{asked.wanted:.4g}"
        if row is None:
            lines.append((asked.name, asked.figure, "not measured", wanted, "-", "", *quality({})))
            continue
        value, least = number(row[asked.figure]), number(floor_of(row, asked.figure))
        verdict = "met" if row["met"] else "SHORT"
        lines.append((row["name"], asked.figure, value, wanted, least, verdict, *quality(row)))
    for case, figure in SHOWN.items():
        for row in cases.get(case, {}).get("rows", []):
            if "promise" not in row and figure in row:
                least = number(floor_of(row, figure))
                lines.append((row["name"], figure, number(row[figure]), "-", least, "", *quality(row)))
    return lines


def aligned(lines: list[tuple[str, ...]]) -> list[str]:
    """Columns side by side, the first two to the left."""
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def kernel_table(cases: dict[str, Any]) -> dict[tuple[int, int], dict[str, float]]:
    """us per step by envs and grains, and by the way of a step."""
    by: dict[tuple[int, int], dict[str, float]] = {}
    for row in cases.get("kernels", {}).get("rows", []):
        by.setdefault((row["envs"], row["grains"]), {})[row["asked"]] = median(row["us_per_step"])
    return by


def price_of(cases: dict[str, Any], contracted: dict[str, Any]) -> dict[str, float]:
    """Time with contraction over time without, by scene."""
    plain = {row["name"]: median(row["us_per_step"]) for row in cases.get("price", {}).get("rows", [])}
    other = {row["name"]: median(row["us_per_step"]) for row in contracted.get("rows", [])}
    return {name: other[name] / plain[name] for name in plain if name in other}


def summary(run: Run, cases: dict[str, Any], contracted: dict[str, Any]) -> str:
    """The one table."""
    lines = [f"{'stage':<26} {'status':<8} {'s':>6}"]
    for stage in run.stages:
        facts = [f"{k} {v}" for k, v in stage.items() if k not in ("stage", "status", "seconds", "log", "failures")]
        lines.append(f"{stage['stage']:<26} {stage['status']:<8} {stage['seconds']:>6.1f}  {', '.join(facts)}")
        lines += [f"    {name}" for name in stage.get("failures", [])]
    missing = [stage["stage"] for stage in run.stages if stage["status"] in ("cut", "timeout")]
    if missing:
        lines += ["", "cut, or ended before they were done: " + ", ".join(missing)]
    if cases:
        head = ("measured", "figure", "median", "promised", "floor", "", *QUALITY_HEAD)
        lines += ["", *aligned([head, *speeds(cases)])]
        lines += ["", *floor_lines(cases)]
    by = kernel_table(cases)
    if by:
        lines += ["", f"{'us per step':<26} " + " ".join(f"{way:>10}" for way in WAYS)]
        for (envs, grains), times in by.items():
            lines.append(f"{f'{envs} x {grains}':<26} " + " ".join(f"{number(times.get(way)):>10}" for way in WAYS))
    price = price_of(cases, contracted)
    if price:
        lines += ["", "time with contraction (-fmad=true) / time without"]
        lines += [f"{name:<26} {ratio:>10.3f}" for name, ratio in price.items()]
    if run.args.quick:
        lines += ["", "tiny sizes (--quick): the speeds above mean nothing"]
    return "\n".join(lines)


def floor_lines(cases: dict[str, Any]) -> list[str]:
    """What the floors of the rows follow from."""
    rows = [row for case in cases.values() for row in case["rows"] if "floor_us" in row and "bandwidth_of" in row]
    if not rows:
        return []
    lines = [f"floor: bytes that a substep must move / bandwidth of the memory (of {rows[0]['bandwidth_of']}); caches"]
    lines[0] += " may beat it, see working set"
    head = ("scene", "", "bytes / grain / substep", "working set MB", "time / floor")
    table = [head]
    for row in rows:
        if "floor_us" in row:
            share = f"{median(row['us_per_step']) / row['floor_us']:.2f}"
            table.append((row["name"], "", f"{row['bytes_per_grain_step']:.0f}", f"{row['working_set_mb']:.3g}", share))
    return lines + aligned(table)


# docs/gpu.md ---------------------------------------------------------------------------------------------------------

MISSING = "not measured"


def docs_promises(cases: dict[str, Any]) -> list[str]:
    """The table of what is promised."""
    reached = promised(cases)
    lines = [
        "| what | figure | promised | measured | floor | " + " | ".join(QUALITY_HEAD) + " | |",
        "|" + "---|" * (len(QUALITY_HEAD) + 6),
    ]
    for key, asked in PROMISES.items():
        row, wanted = reached.get(key), f"{asked.wanted:.4g}{' (at most)' if asked.at_most else ''}"
        cells = [asked.name, asked.figure, wanted]
        if row is None:
            least = gpu_floor.expected(key)
            cells += [MISSING, "" if least is None else f"{least:.3g}", *[""] * len(QUALITY_HEAD), ""]
        else:
            least = floor_of(row, asked.figure)
            cells += [number(row[asked.figure]), "" if least is None else number(least), *quality(row)]
            cells += ["met" if row["met"] else "short"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def docs_kernels(cases: dict[str, Any]) -> list[str]:
    """The table of the ways of a step."""
    by = kernel_table(cases)
    lines = ["| envs x grains | " + " | ".join(f"{way} [us per substep]" for way in WAYS) + " |"]
    lines.append("|" + "---|" * (len(WAYS) + 1))
    for envs, grains, _ in KERNEL_SIZES:
        times = by.get((envs, grains), {})
        lines.append(f"| {envs} x {grains} | " + " | ".join(number(times[w]) if w in times else MISSING for w in WAYS))
        lines[-1] += " |"
    return lines


def docs_others(cases: dict[str, Any], contracted: dict[str, Any], stages: list[dict[str, Any]]) -> list[str]:
    """The table of everything else that the run measures."""
    price = price_of(cases, contracted)

    def rows(case: str) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in cases.get(case, {}).get("rows", [])}

    def said(value: float | None, unit: str = "") -> str:
        return MISSING if value is None else f"{value:.3g}{unit}"

    lines = ["| what | measured |", "|---|---|"]
    for scene in ("1 x 50000 grains", "1024 x 1000 grains"):
        lines.append(f"| contraction allowed: time over that without, {scene} | {said(price.get(scene))} |")
    for grains in STREAM_SIZES:
        for way in WAYS:
            ratio = rows("streams").get(f"two worlds x {grains} grains, {way}", {}).get("ratio")
            lines.append(f"| two worlds of {grains} grains, {way}: time together over apart | {said(ratio)} |")
    table = rows("hash_size")
    for name in ("sorted cells", "hash table, 0.125 per grain", "hash table, 2 per grain"):
        speed = table.get(name, {}).get("times_real_time")
        lines.append(f"| paper, figure 3: {name}, times real time | {said(speed)} |")
    for row in ("10000 grains, 2 gears", "10000 grains, 8 gears", "100000 grains, 8 gears"):
        speed = rows("gears").get(row, {}).get("times_real_time")
        lines.append(f"| paper, figure 9: {row}, times real time | {said(None if speed is None else median(speed))} |")
    became = {stage["stage"]: f"{stage['status']} ({stage.get('said', '')})" for stage in stages}
    for one in SANITIZERS:
        skipped = one not in became or became[one].startswith(("skipped", "cut"))
        lines.append(f"| compute-sanitizer, {one} | {MISSING if skipped else became[one].replace(' ()', '')} |")
    return lines


def docs_section(about: str, cases: dict[str, Any], contracted: dict[str, Any], stages: list[dict[str, Any]]) -> str:
    """What stands between the marks of docs/gpu.md."""
    parts = [[about] if about else [], docs_promises(cases), docs_kernels(cases)]
    parts.append(docs_others(cases, contracted, stages))
    return "\n\n".join("\n".join(part) for part in parts if part)


def write_docs(section: str) -> None:
    """Puts what was measured into docs/gpu.md."""
    path = ROOT / "docs" / "gpu.md"
    before, _, rest = path.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    path.write_text(f"{before}{MARKS[0]}\n{section}\n{MARKS[1]}{after}")


def finish(run: Run, facts: dict[str, Any], cases_folder: Path, contracted_folder: Path) -> int:
    """Writes the report and says what came."""
    cases = read_cases(cases_folder)
    contracted = read_cases(contracted_folder).get("price", {})
    measured = next((case["facts"] for case in cases.values()), {})
    gpu = measured.get("gpu") or (facts["nvidia_smi"].splitlines() or ["unknown"])[-1].split(",")[0]
    out = ROOT / "benchmarks" / "results" / "_".join(re.findall(r"[A-Za-z0-9]+", gpu))
    if run.args.out:
        out = Path(run.args.out)
    out.mkdir(parents=True, exist_ok=True)
    text = summary(run, cases, contracted)
    (out / "report.txt").write_text(text + "\n")
    report = {
        "machine": facts,
        "facts": measured,
        "quick": run.args.quick,
        "emulated": run.args.emulate,
        "seconds": round(time.monotonic() - run.start, 1),
        "stages": run.stages,
        "cases": {
            name: {"about": case["about"], "complete": case.get("complete", True), "rows": case["rows"]}
            for name, case in cases.items()
        },
        "contracted": contracted.get("rows", []),
    }
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    if cases and os.path.exists(PYTHON):
        # last: a picture is not worth a report
        words = [PYTHON, "benchmarks/gpu.py", "--draw", str(cases_folder)]
        try:
            subprocess.run(words, cwd=ROOT, timeout=max(5.0, run.left()), check=False)
        except subprocess.TimeoutExpired:
            print("no picture of all that was promised: it took too long")
        for picture in cases_folder.glob("*.png"):
            shutil.copy(picture, out)
    print(f"\n{text}\n\nwrote {out}")
    if run.args.write_docs and promised(cases):
        about = f"{measured.get('gpu')}, {measured.get('cpu')}, CUDA {measured.get('runtime_version')}, "
        about += f"{measured.get('date')}."
        write_docs(docs_section(about, cases, contracted, run.stages))
    return int(any(stage["status"] in ("failed", "timeout", "cut") for stage in run.stages))


def measure(run: Run, cases: Path, cases_contracted: Path) -> None:
    """Everything after the build, in the order of PLAN."""
    first, late = PLAN_CASES[: PLAN_CASES.index("kernels")], PLAN_CASES[PLAN_CASES.index("kernels") :]
    cores = sorted(os.sched_getaffinity(0))
    contracted = None
    if "benchmarks" in run.wanted:
        # before anything else needs the machine
        for case in first:
            benchmark(run, case, cases)
    second = "benchmarks" in run.wanted and not run.args.emulate
    own, others = split_cores(cores, second)
    try:
        if second:
            contracted = Contracted(run, others)
        if "parity" in run.wanted:
            tests(run, "parity", parity_files(), own)
        if "sanitizer" in run.wanted:
            sanitizers(run)
        if "suite" in run.wanted:
            resources(run)
            for device in ("cuda", "cpu"):
                name = "test suite, GPU" if device == "cuda" else "test suite, CPU"
                tests(run, name, suite_files(), own, device, left_out=" ".join(LEFT_OUT))
        # no timing beside a compiler
        wait = run.left() - sum(run.kept_for(f"benchmark {case}") for case in late) - run.kept_for("report")
        built = contracted is not None and contracted.ready(wait)
    finally:
        if contracted:
            contracted.ready(0.1)
    if "benchmarks" not in run.wanted:
        return
    for case in late:
        benchmark(run, case, cases)
    if built and contracted:
        benchmark(run, "price", cases)
        benchmark(run, "price", cases_contracted, "benchmark price, fmad", PYTHONPATH=str(contracted.lib))
    else:
        why = "emulated" if run.args.emulate else "there is no second build, see build/gpu/contracted.log"
        run.note("price of contraction", "skipped" if run.args.emulate else "cut", 0.0, why=why)


#: cases of benchmarks/gpu.py in the order of PLAN, without the one that compares builds
PLAN_CASES = [name.split()[1] for name, kind, _ in PLAN if kind == "benchmarks" and "price" not in name]


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="all of it ends by then")
    parser.add_argument("--wheels", default=os.environ.get("WHEELS", ""), help="folder of wheels; without: an index")
    parser.add_argument("--out", help="folder of the report; default benchmarks/results/<GPU>")
    parser.add_argument("--quick", action="store_true", help="tiny benchmarks, to see that they run")
    parser.add_argument("--emulate", action="store_true", help="no GPU: kernels run on the CPU (a rehearsal; slow)")
    parser.add_argument("--only", default="", help=f"some of {','.join(GROUPS)}; after the build")
    parser.add_argument("--write-docs", action="store_true", help="put the figures into docs/gpu.md")
    args = parser.parse_args(given)
    unknown = [name for name in args.only.split(",") if name and name not in GROUPS]
    if unknown:
        parser.error(f"--only: expected some of {','.join(GROUPS)}, got {','.join(unknown)}")
    if not args.minutes > 0.0:
        parser.error(f"--minutes: expected a number > 0, got {args.minutes}")
    if args.write_docs and (args.quick or args.emulate):
        parser.error("--write-docs: a rehearsal (--quick, --emulate) measures nothing that belongs into docs/gpu.md")
    return args


def main() -> int:
    """The command line."""
    run = Run(arguments())
    lacking = check(run)
    if lacking:
        print("this machine lacks:\n" + "\n".join(f"  {what}" for what in lacking), file=sys.stderr)
        return 2
    cases, cases_contracted = WORK / "cases", WORK / "cases_contracted"
    shutil.rmtree(cases, ignore_errors=True)
    shutil.rmtree(cases_contracted, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    facts = machine(run)
    print("\n".join(f"{key:<15} {value}" for key, value in facts.items()), flush=True)
    try:
        if packages(run) and build(run):
            status, seconds, said = run.command("info", [PYTHON, "-m", "granular_gym", "info"], run.limit("info"))
            works = status == "passed" and re.search(r"cuda +available", said)
            run.note("info", "passed" if works else "failed", seconds, **({} if works else {"log": tail(said)}))
            print(said, flush=True)
            if works:
                measure(run, cases, cases_contracted)
    except KeyboardInterrupt:
        run.note("interrupted", "failed", 0.0)
    return finish(run, facts, cases, cases_contracted)


if __name__ == "__main__":
    sys.exit(main())
