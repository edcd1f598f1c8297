"""run_gpu.py: `make gpu`: builds, tests and measures on a machine with a GPU, within minutes and without a network.

    python3 tools/run_gpu.py [--minutes 10] [--wheels FOLDER] [--quick] [--emulate] [--write-docs]

Needs Python 3.10 or newer with its headers, nvcc, a C compiler, stb_image_write.h (STB_INCLUDE_DIR) and, from the
system or from FOLDER, the packages numpy, setuptools, gymnasium, pytest. A stage that fails or takes too long is noted,
and the next one goes on. Prints one table; leaves report.json, report.txt and pictures in
benchmarks/results/<GPU>, logs in build/gpu.
Exit status: 0 all stages passed, 1 one did not, 2 the machine lacks something.

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
WORK = ROOT / "build" / "gpu"
VENV = WORK / "venv"
PYTHON = str(VENV / "bin" / "python")
NEEDED = ("numpy", "setuptools>=77", "gymnasium", "pytest")
#: without these some tests are left out, and there are no pictures
USEFUL = ("tqdm", "matplotlib", "hypothesis", "cloudpickle", "scipy", "imageio", "trimesh", "manifold3d")
CASES = ("speed", "batch", "bulldozer", "crossover", "depth", "overhead", "kernels", "phases", "hash_size", "gears")
SANITIZERS = ("memcheck", "racecheck", "initcheck", "synccheck")
#: seconds that a stage may take of ten minutes
LIMITS = {"packages": 60, "build": 200, "parity": 60, "suite": 150, "sanitizer": 40, "benchmark": 60}
MARKS = ("<!-- measured by make gpu -->", "<!-- end of what was measured -->")


class Run:
    """One run: its clock, its environment, and what became of each stage."""

    def __init__(self, args: argparse.Namespace) -> None:
        self.args = args
        self.start = time.monotonic()
        self.end = self.start + 60.0 * args.minutes
        self.stages: list[dict[str, Any]] = []
        self.environment = {
            **os.environ,
            "GG_CUDA": "emulate" if args.emulate else "1",
            "GG_CUDA_ARCH": os.environ.get("GG_CUDA_ARCH") or "native",
            "PIP_DISABLE_PIP_VERSION_CHECK": "1",
        }
        places = [os.environ.get("PYTHON_INCLUDE", ""), os.environ.get("CPATH", "")]
        if any(places):
            self.environment["CPATH"] = ":".join(place for place in places if place)
        if not shutil.which("nvcc") and not os.environ.get("CUDA_HOME"):
            self.environment["CUDA_HOME"] = "/usr/local/cuda"

    def left(self) -> float:
        """Seconds until the end."""
        return self.end - time.monotonic()

    def limit(self, kind: str) -> float:
        """Seconds that a stage may take."""
        return max(1.0, min(LIMITS[kind] * self.args.minutes / 10.0, self.left()))

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
    for package in (*NEEDED, *USEFUL):
        if has_package(package):
            continue
        words = [PYTHON, "-m", "pip", "install", "--quiet", *source, package]
        status, _, said = run.command(f"pip_{package.split('>')[0]}", words, run.limit("packages"))
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
    """A second build whose kernels may use fused multiply-add, made beside the tests; only its speed is of interest."""

    def __init__(self, run: Run) -> None:
        self.lib = WORK / "contracted" / "lib"
        words = [PYTHON, "setup.py", "--quiet", "build", "--build-base", str(WORK / "contracted"), "--build-lib"]
        environment = {**run.environment, "GG_CUDA_FLAGS": "-fmad=true"}
        with (WORK / "contracted.log").open("w") as out:
            self.process = subprocess.Popen(
                [*words, str(self.lib)],
                cwd=ROOT,
                env=environment,
                stdout=out,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    def ready(self, wait: float) -> bool:
        """Whether it was built; else it is ended."""
        try:
            return self.process.wait(max(wait, 0.1)) == 0
        except subprocess.TimeoutExpired:
            stop(self.process)
            return False


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


def tests(run: Run, name: str, targets: list[str], kind: str) -> None:
    """Test files, several at a time, each on cores of its own; all in one line of the table."""
    start = time.monotonic()
    cores = sorted(os.sched_getaffinity(0))
    width = 2 if len(cores) >= 4 else len(cores)
    slots = [cores[k : k + width] for k in range(0, len(cores) - width + 1, width)]
    end = start + run.limit(kind)

    def one(item: tuple[int, str]) -> tuple[str, float, str]:
        while True:
            try:
                mine = slots.pop()
                break
            except IndexError:
                time.sleep(0.05)
        try:
            return run.command(f"test_{item[1]}", pytest_command(item[1]), end - time.monotonic(), mine)
        finally:
            slots.append(mine)

    with ThreadPoolExecutor(len(slots)) as pool:
        done = list(pool.map(one, enumerate(targets)))
    facts = counted([said for _, _, said in done])
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
    """All test files but those of parity; the folders that have most to say first."""
    order = ("determinism", "unit", "envs", "physics", "hostile", "golden")
    files = [p for p in sorted((ROOT / "tests").rglob("test_*.py")) if "parity" not in p.parts]
    files.sort(key=lambda p: order.index(p.parent.name) if p.parent.name in order else len(order))
    return [str(p.relative_to(ROOT)) for p in files]


def sanitizers(run: Run) -> None:
    """A short run of every kernel under each tool of compute-sanitizer."""
    script = [PYTHON, "tools/sanitized_gpu.py"]
    status, seconds, said = run.command("kernels_plain", script, run.limit("sanitizer"))
    run.note("every kernel once", status, seconds, **({} if status == "passed" else {"log": tail(said)}))
    home = os.path.join(run.environment.get("CUDA_HOME", "/usr/local/cuda"), "bin")
    tool = shutil.which("compute-sanitizer") or shutil.which("compute-sanitizer", path=home)
    if not tool or run.args.emulate:
        run.note("compute-sanitizer", "skipped", 0.0, why="not on the path" if not tool else "emulated")
        return
    for one in SANITIZERS:
        words = [tool, "--tool", one, "--error-exitcode", "9", *script]
        status, seconds, said = run.command(f"sanitizer_{one}", words, run.limit("sanitizer"))
        summary = re.findall(r"=+ (?:ERROR SUMMARY|RACECHECK SUMMARY): (.*)", said)
        facts = {"said": summary[-1]} if summary else {}
        run.note(one, status, seconds, **facts, **({} if status == "passed" else {"log": tail(said, 30)}))


def benchmark(run: Run, case: str, out: Path, name: str = "", **environment: str) -> None:
    """One case in a process of its own."""
    words = [PYTHON, "benchmarks/gpu.py", case, "--out", str(out), *(["--quick"] if run.args.quick else [])]
    name = name or f"benchmark {case}"
    if run.left() < 5.0:
        run.note(name, "timeout", 0.0, why="there was no time left")
        return
    status, seconds, said = run.command(name.replace(" ", "_"), words, run.limit("benchmark"), **environment)
    run.note(name, status, seconds, **({} if status == "passed" else {"log": tail(said)}))


# the report ----------------------------------------------------------------------------------------------------------


def median(value: Any) -> float:
    """Of a spread, or the number itself."""
    return float(value["median"] if isinstance(value, dict) else value)


def read_cases(folder: Path) -> dict[str, Any]:
    """What the cases wrote."""
    found = {}
    for path in sorted(folder.glob("*.json")):
        if path.name != "report.json":
            found[path.stem] = json.loads(path.read_text())
    return found


def promised(cases: dict[str, Any]) -> list[dict[str, Any]]:
    """The rows that had a figure to reach."""
    return [row for name in CASES if name in cases for row in cases[name]["rows"] if "met" in row]


def summary(run: Run, cases: dict[str, Any], contracted: dict[str, Any]) -> str:
    """The one table."""
    lines = [f"{'stage':<26} {'status':<8} {'s':>6}"]
    for stage in run.stages:
        facts = [f"{k} {v}" for k, v in stage.items() if k not in ("stage", "status", "seconds", "log", "failures")]
        lines.append(f"{stage['stage']:<26} {stage['status']:<8} {stage['seconds']:>6.1f}  {', '.join(facts)}")
        lines += [f"    {name}" for name in stage.get("failures", [])]
    rows = promised(cases)
    if rows:
        lines += [
            "",
            f"{'measured':<46} {'':<18} {'median':>10} {'promised':>10}        residual  overlap mean / max %",
        ]
    for row in rows:
        seen = ""
        if "residual" in row:
            seen = f"{row['residual']:.2e}  {row['overlap_mean_pct']:.3g} / {row['overlap_max_pct']:.3g}"
        value = median(row[row["promised"]])
        verdict = "met" if row["met"] else "SHORT"
        lines.append(
            f"{row['name']:<46} {row['promised']:<18} {value:>10.4g} {row['wanted']:>10.4g}  {verdict:<5} {seen}"
        )
    if "kernels" in cases:
        lines += ["", f"{'us per step':<26} {'team':>10} {'graph':>10} {'auto':>10}"]
        by: dict[str, dict[str, float]] = {}
        for row in cases["kernels"]["rows"]:
            by.setdefault(f"{row['envs']} x {row['grains']}", {})[row["asked"]] = median(row["us_per_step"])
        lines += [f"{name:<26} {v['team']:>10.4g} {v['graph']:>10.4g} {v['auto']:>10.4g}" for name, v in by.items()]
    if "price" in cases and contracted:
        pairs = zip(cases["price"]["rows"], contracted["rows"], strict=True)
        lines += ["", "time with contraction (-fmad=true) / time without"]
        lines += [f"{a['name']:<26} {median(b['us_per_step']) / median(a['us_per_step']):>10.3f}" for a, b in pairs]
    if run.args.quick:
        lines += ["", "tiny sizes (--quick): the speeds above mean nothing"]
    return "\n".join(lines)


def docs_table(rows: list[dict[str, Any]]) -> str:
    """The rows of docs/gpu.md."""
    lines = ["| what | figure | promised | measured | |", "|---|---|---|---|---|"]
    for row in rows:
        value, verdict = f"{median(row[row['promised']]):.4g}", "met" if row["met"] else "short"
        lines.append(f"| {row['name']} | {row['promised']} | {row['wanted']:.4g} | {value} | {verdict} |")
    return "\n".join(lines)


def write_docs(facts: dict[str, Any], rows: list[dict[str, Any]]) -> None:
    """Puts what was measured into docs/gpu.md."""
    path = ROOT / "docs" / "gpu.md"
    before, _, rest = path.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    about = f"{facts.get('gpu')}, {facts.get('cpu')}, CUDA {facts.get('runtime_version')}, {facts.get('date')}."
    path.write_text(f"{before}{MARKS[0]}\n{about}\n\n{docs_table(rows)}\n{MARKS[1]}{after}")


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
    if cases and os.path.exists(PYTHON):
        # pictures are made after the time is up, too
        subprocess.run([PYTHON, "benchmarks/gpu.py", "--draw", str(cases_folder)], cwd=ROOT, timeout=60, check=False)
    for picture in cases_folder.glob("*.png"):
        shutil.copy(picture, out)
    text = summary(run, cases, contracted)
    (out / "report.txt").write_text(text + "\n")
    report = {
        "machine": facts,
        "facts": measured,
        "quick": run.args.quick,
        "emulated": run.args.emulate,
        "seconds": round(time.monotonic() - run.start, 1),
        "stages": run.stages,
        "cases": {name: {"about": case["about"], "rows": case["rows"]} for name, case in cases.items()},
        "contracted": contracted.get("rows", []),
    }
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    print(f"\n{text}\n\nwrote {out}")
    if run.args.write_docs and promised(cases):
        write_docs(measured, promised(cases))
    return int(any(stage["status"] in ("failed", "timeout") for stage in run.stages))


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="all of it ends by then")
    parser.add_argument("--wheels", default=os.environ.get("WHEELS", ""), help="folder of wheels; without: an index")
    parser.add_argument("--out", help="folder of the report; default benchmarks/results/<GPU>")
    parser.add_argument("--quick", action="store_true", help="tiny benchmarks, to see that they run")
    parser.add_argument("--emulate", action="store_true", help="no GPU: kernels run on the CPU (a rehearsal; slow)")
    parser.add_argument("--only", default="", help="some of parity,suite,sanitizer,benchmarks; after the build")
    parser.add_argument("--write-docs", action="store_true", help="put the figures into docs/gpu.md")
    args = parser.parse_args()
    run = Run(args)
    lacking = check(run)
    if lacking:
        print("this machine lacks:\n" + "\n".join(f"  {what}" for what in lacking), file=sys.stderr)
        return 2
    shutil.rmtree(WORK / "cases", ignore_errors=True)
    shutil.rmtree(WORK / "cases_contracted", ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    facts = machine(run)
    print("\n".join(f"{key:<15} {value}" for key, value in facts.items()), flush=True)
    wanted = args.only.split(",") if args.only else ["parity", "suite", "sanitizer", "benchmarks"]
    cases, cases_contracted = WORK / "cases", WORK / "cases_contracted"
    if packages(run) and build(run):
        contracted = None
        status, seconds, said = run.command("info", [PYTHON, "-m", "granular_gym", "info"], 60)
        works = status == "passed" and re.search(r"cuda +available", said)
        run.note("info", "passed" if works else "failed", seconds, **({} if works else {"log": tail(said)}))
        print(said, flush=True)
        if works:
            if "benchmarks" in wanted and not args.emulate:
                contracted = Contracted(run)
            try:
                if "parity" in wanted:
                    tests(run, "parity", ["tests/parity"], "parity")
                if "suite" in wanted:
                    tests(run, "test suite", suite_files(), "suite")
                if "sanitizer" in wanted:
                    sanitizers(run)
                if "benchmarks" in wanted:
                    second = contracted is not None and contracted.ready(min(30.0, run.left() - 120.0))
                    for case in CASES:
                        benchmark(run, case, cases)
                    if second and contracted:
                        benchmark(run, "price", cases)
                        name = "benchmark price, fmad"
                        benchmark(run, "price", cases_contracted, name, PYTHONPATH=str(contracted.lib))
                    else:
                        run.note("price of contraction", "skipped", 0.0, why="there is no second build")
            finally:
                if contracted:
                    contracted.ready(0.1)
    return finish(run, facts, cases, cases_contracted)


if __name__ == "__main__":
    sys.exit(main())
