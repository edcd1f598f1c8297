"""run.py: runs the checks of physical laws; writes docs/validation.md and the pages behind it, with plots.

    python validation/run.py [CHECK ...] [--full] [--seeds 3] [--only KEY=VALUE] [--fresh] [--threads N] [--out docs]
                             [--list] [--page]

A run of some checks updates their sections only. Cases that were measured with the same engine and code are not
measured again (except with --fresh); Ctrl-C keeps complete cases, and the page lists missing ones. --list lists the
checks, --page only writes the page. To add a check, add a module to validation/checks and to its list.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
import time
import warnings
from pathlib import Path
from typing import Any

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
# published figures are those of the CPU, also where there is a GPU
os.environ["GG_DEVICE"] = "cpu"

from tqdm import tqdm

import granular_gym as gg
from benchmarks import measure
from granular_gym import _core
from granular_gym.engine.solver import DEFAULT_MODE
from validation import ROOT, page, plot, store
from validation.check import FAIL, SEEDS, SKIPPED, Check, Params, Result
from validation.checks import CHECKS


def facts(threads: int) -> dict[str, Any]:
    """Facts about the machine and the build."""
    found = measure.facts()
    kept = {key: found[key] for key in ("cpu", "cores", "system", "version", "compiler", "flags", "kernel", "numpy")}
    return {**kept, "mode": DEFAULT_MODE, "threads": threads, "source": str(_core.build_info()["source"])[:12]}


def label(params: Params) -> str:
    """The parameters of a case as text."""
    return " ".join(f"{k}={v:g}" if isinstance(v, float) else f"{k}={v}" for k, v in params.items())


def chosen(params: Params, only: list[str]) -> bool:
    """Whether a case has all parameters of `only`; numbers are compared as numbers."""
    for key, _, value in (text.partition("=") for text in only):
        have = params.get(key)
        try:
            same = float(value) == float(have)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            same = value == str(have)
        if not same:
            return False
    return True


def run_check(check: Check, size: str, options: argparse.Namespace) -> dict[str, Any]:
    """Measures missing cases of a check; draws it; returns its entry of results.json.

    Raises:
        KeyboardInterrupt: after Ctrl-C, with the entry of complete cases as its argument.
    """
    reason = check.available()
    every = check.cases(size, range(1, max(options.seeds, len(SEEDS)) + 1))
    wanted = [p for p in check.cases(size, range(1, options.seeds + 1)) if chosen(p, options.only)]
    interrupted = False
    if not reason:
        bar = tqdm(wanted, desc=f"{check.name:<13}", unit="case", disable=options.quiet, file=sys.stderr)
        try:
            for params in bar:
                if options.fresh or store.load_case(check, params) is None:
                    bar.set_postfix_str(label(params)[:60])
                    store.run_case(check, params, options.threads)
        except KeyboardInterrupt:
            interrupted = True
    results: list[Result] = []
    missing: list[str] = []
    for params in every:
        found = store.load_case(check, params)
        if found is None:
            missing.append(label(params))
        else:
            results.append(found)
    rows = check.judge(results) if results or reason else []
    kept = {
        "date": time.strftime("%Y-%m-%d"),
        "facts": facts(options.threads),
        "rows": [dataclasses.asdict(row) for row in rows],
        "planned": len(every),
        "missing": missing,
        "seconds": sum(r.seconds for r in results),
    }
    if results:
        plot.save(check, results, options.out / "validation" / f"{check.name}_{size}.png")
    if interrupted:
        raise KeyboardInterrupt(kept)
    return kept


def update(out: Path, check: Check | None = None, size: str = "", kept: dict[str, Any] | None = None) -> None:
    """Adds the results of a check to results.json and writes the pages."""
    folder = out / "validation"
    results = store.load_results(folder / "results.json")
    if check is not None:
        results.setdefault(check.name, {})[size] = kept
    store.save_results(folder / "results.json", results)
    pictures = {p.name for p in folder.glob("*.png")}
    for path, text in page.render(CHECKS, results, folder.name, pictures).items():
        store.write(out / path, text)


def say(check: Check, size: str, kept: dict[str, Any]) -> None:
    """Prints a line per check, and one for each failing or skipped row."""
    verdicts = [row["verdict"] for row in kept["rows"]]
    counted = ", ".join(f"{verdicts.count(v)} {v}" for v in dict.fromkeys(verdicts))
    print(f"{check.name:<13} {size:<5} {counted or 'nothing'} ({kept['seconds']:.0f} s)", flush=True)
    for row in kept["rows"]:
        if row["verdict"] == SKIPPED:
            print(f"    skipped: {row['note']}", flush=True)
        if row["verdict"] == FAIL:
            what = f"{row['setup']}, seed {row['seed']}: {row['measure']}"
            print(
                f"    FAIL {what} = {page.number(row['value'])}, target {row['target']} {row['tolerance']}", flush=True
            )


def main(arguments: list[str] | None = None) -> int:
    """Runs the command line; the exit status does not depend on verdicts."""
    names = [check.name for check in CHECKS]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0], prog="validation/run.py")
    parser.add_argument("names", nargs="*", metavar="CHECK", help=f"of {', '.join(names)}; none: all")
    parser.add_argument("--full", action="store_true", help="larger and longer cases, more seeds: hours")
    parser.add_argument("--seeds", type=int, default=3, help="number of seeds of random initial states (default 3)")
    parser.add_argument("--only", action="append", default=[], metavar="KEY=VALUE", help="cases with this parameter")
    parser.add_argument("--fresh", action="store_true", help="measure all cases again")
    parser.add_argument("--threads", type=int, default=_core.usable_cores(), help="threads of the engine")
    parser.add_argument("--out", type=Path, default=ROOT / "docs", help="folder of validation.md")
    parser.add_argument("--list", action="store_true", help="list the checks and exit")
    parser.add_argument("--page", action="store_true", help="write the page from stored results and exit")
    parser.add_argument("--quiet", action="store_true", help="no progress bar")
    options = parser.parse_args(arguments)
    unknown = [name for name in options.names if name not in names]
    if unknown:
        parser.error(f"CHECK: expected some of {', '.join(names)}, got {', '.join(unknown)}")
    if any("=" not in text for text in options.only):
        parser.error(f"--only: expected KEY=VALUE, got {' '.join(options.only)}")
    if options.seeds < 1 or options.threads < 1:
        parser.error("--seeds, --threads: expected at least 1")
    if options.list:
        for check in CHECKS:
            print(f"{check.name:<13} {check.title}")
        return 0
    # some cases are outside the stable settings
    warnings.simplefilter("ignore", gg.StabilityWarning)
    # the grids of rough inclines go on outside of the bounds, where no grain is
    warnings.simplefilter("ignore", gg.SdfWarning)
    update(options.out)
    for check in CHECKS if not options.page else []:
        if options.names and check.name not in options.names:
            continue
        size = "any" if check.same else "full" if options.full else "quick"
        try:
            kept = run_check(check, size, options)
        except KeyboardInterrupt as stop:
            if stop.args:
                update(options.out, check, size, stop.args[0])
            print("interrupted: what is finished is on the page")
            return 130
        update(options.out, check, size, kept)
        say(check, size, kept)
    print(f"wrote {options.out / 'validation.md'}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
