"""run_gpu.py: `make gpu`: builds, tests and benchmarks on a machine with a GPU, in ten minutes and without a network.

    python3 tools/run_gpu.py [--minutes 10] [--wheels FOLDER] [--quick] [--emulate] [--write-docs]

Needs Python 3.10 or newer with its headers, nvcc, a C compiler, stb_image_write.h (STB_INCLUDE_DIR) and, from the
system or from FOLDER, the packages numpy, setuptools, gymnasium, pytest. A stage that fails or takes too long is
recorded, and the next one starts. Figures with a target come first; each stage has a time budget (PLAN). Prints one
table; writes report.json, report.txt and pictures to benchmarks/results/<GPU>, logs to build/gpu.
Exit status: 0 all stages passed, 1 one did not or was cut, 2 a prerequisite is missing.

Uses the standard library only: it runs before packages are installed.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import gpu_stages as stages
from gpu_plan import GROUPS, PLAN_CASES, PYTHON, ROOT, VARIANTS, WORK, Run, tail
from gpu_report import docs_section, read_cases, summary, with_targets, write_docs

#: cases of figures with targets, and cases that run last
FIRST, LATE = PLAN_CASES[: PLAN_CASES.index("kernels")], PLAN_CASES[PLAN_CASES.index("kernels") :]


def finish(run: Run, facts: dict[str, Any], cases_folder: Path) -> int:
    """Writes and prints the report; returns the exit status."""
    cases = read_cases(cases_folder)
    variants = {name: read_cases(cases_folder / name).get("price", {}) for name in VARIANTS}
    measured = next((case["facts"] for case in cases.values()), {})
    gpu = measured.get("gpu") or (facts["nvidia_smi"].splitlines() or ["unknown"])[-1].split(",")[0]
    out = ROOT / "benchmarks" / "results" / "_".join(re.findall(r"[A-Za-z0-9]+", gpu))
    if run.args.out:
        out = Path(run.args.out)
    out.mkdir(parents=True, exist_ok=True)
    text = summary(run.stages, cases, variants, run.args.quick)
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
        "variants": {name: case.get("rows", []) for name, case in variants.items()},
    }
    (out / "report.json").write_text(json.dumps(report, indent=1) + "\n")
    if cases and os.path.exists(PYTHON):
        # last: the report matters more than pictures
        words = [PYTHON, "benchmarks/gpu/run.py", "--draw", str(cases_folder)]
        try:
            subprocess.run(words, cwd=ROOT, timeout=max(5.0, run.left()), check=False)
        except subprocess.TimeoutExpired:
            print("no picture of the targets: it took too long")
        for picture in cases_folder.glob("*.png"):
            shutil.copy(picture, out)
    print(f"\n{text}\n\nwrote {out}")
    if run.args.write_docs and with_targets(cases):
        about = f"{measured.get('gpu')}, {measured.get('cpu')}, CUDA {measured.get('runtime_version')}, "
        about += f"{measured.get('date')}."
        write_docs(docs_section(about, cases, variants, run.stages))
    return int(any(stage["status"] in ("failed", "timeout", "cut") for stage in run.stages))


def measure(run: Run, cases: Path) -> None:
    """Everything after the build, in the order of PLAN."""
    cores = sorted(os.sched_getaffinity(0))
    variants = None
    if "benchmarks" in run.wanted:
        # before other stages use the machine
        for case in FIRST:
            stages.benchmark(run, case, cases)
    more = "benchmarks" in run.wanted and not run.args.emulate
    own, others = stages.split_cores(cores, more)
    built: list[str] = []
    try:
        if more:
            variants = stages.Variants(run, others)
        if "parity" in run.wanted:
            stages.tests(run, "parity", stages.parity_files(), own)
        if "sanitizer" in run.wanted:
            stages.sanitizers(run)
        if "suite" in run.wanted:
            stages.resources(run)
            left_out = " ".join(stages.LEFT_OUT)
            stages.tests(run, "test suite, GPU", stages.suite_files(), own, "cuda", left_out=left_out)
            stages.tests(run, "test suite, CPU", stages.suite_files(), own, "cpu", left_out=left_out)
        # no timings while a compiler runs
        wait = run.left() - sum(run.reserved_for(f"benchmark {case}") for case in LATE) - run.reserved_for("report")
        built = variants.ready(wait) if variants else []
    finally:
        if variants:
            variants.ready(0.1)
    if "benchmarks" not in run.wanted:
        return
    for case in LATE:
        stages.benchmark(run, case, cases)
    if built:
        stages.benchmark(run, "price", cases)
    for name in VARIANTS:
        stage = f"benchmark price, {name}"
        if name in built:
            stages.benchmark(run, "price", cases / name, stage, PYTHONPATH=str(stages.Variants.lib(name)))
        elif run.args.emulate:
            run.note(stage, "skipped", 0.0, why="emulated")
        else:
            run.note(stage, "cut", 0.0, why=f"there is no such build, see build/gpu/variant_{name}.log")


def arguments(given: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--minutes", type=float, default=10.0, help="length of the run")
    parser.add_argument("--wheels", default=os.environ.get("WHEELS", ""), help="folder of wheels; without: an index")
    parser.add_argument("--out", help="folder of the report; default benchmarks/results/<GPU>")
    parser.add_argument("--quick", action="store_true", help="tiny benchmarks, to test that they run")
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
    """Runs all stages; returns the exit status."""
    run = Run(arguments())
    missing = stages.check(run)
    if missing:
        print("this machine lacks:\n" + "\n".join(f"  {what}" for what in missing), file=sys.stderr)
        return 2
    cases = WORK / "cases"
    shutil.rmtree(cases, ignore_errors=True)
    WORK.mkdir(parents=True, exist_ok=True)
    facts = stages.machine(run)
    print("\n".join(f"{key:<15} {value}" for key, value in facts.items()), flush=True)
    try:
        if stages.packages(run) and stages.build(run):
            status, seconds, output = run.command("info", [PYTHON, "-m", "granular_gym", "info"], run.limit("info"))
            works = status == "passed" and re.search(r"cuda +available", output)
            run.note("info", "passed" if works else "failed", seconds, **({} if works else {"log": tail(output)}))
            print(output, flush=True)
            if works:
                measure(run, cases)
    except KeyboardInterrupt:
        run.note("interrupted", "failed", 0.0)
    return finish(run, facts, cases)


if __name__ == "__main__":
    sys.exit(main())
