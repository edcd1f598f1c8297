"""gpu_report.py: what `make gpu` measured, as one table and as the tables of docs/gpu.md.

Only the standard library: this runs before anything is installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpu_plan import ROOT, SANITIZERS, VARIANTS

from benchmarks.gpu import roofline
from benchmarks.gpu.targets import KERNEL_SIZES, PHASES_FROM, STREAM_SIZES, TARGETS, WAYS

MARKS = ("<!-- measured by make gpu -->", "<!-- end of what was measured -->")

Cases = dict[str, Any]


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


def promised(cases: Cases) -> dict[str, dict[str, Any]]:
    """The rows that had a figure to reach, by the key of TARGETS."""
    return {row["promise"]: row for case in cases.values() for row in case["rows"] if "promise" in row}


#: the figure that is shown of rows that nothing was promised of, by case
SHOWN = {
    "speed": "us_per_step",
    "crossover": "us_per_step",
    "kernels": "us_per_step",
    "streams": "ratio",
    "phases": "us_per_step",
    "sort": "ratio",
    "hash_size": "times_real_time",
    "gears": "times_real_time",
    "planar": "env_steps_per_s",
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


def speeds(cases: Cases) -> list[tuple[str, ...]]:
    """Every speed with what it costs: those that were promised first, then the rest of each case."""
    lines: list[tuple[str, ...]] = []
    reached = promised(cases)
    for key, asked in TARGETS.items():
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


def kernel_table(cases: Cases) -> dict[tuple[int, int], dict[str, float]]:
    """us per step by envs and grains, and by the way of a step."""
    by: dict[tuple[int, int], dict[str, float]] = {}
    for row in cases.get("kernels", {}).get("rows", []):
        by.setdefault((row["envs"], row["grains"]), {})[row["asked"]] = median(row["us_per_step"])
    return by


def prices(cases: Cases, variants: Cases) -> dict[str, dict[str, float]]:
    """Time of each other build over that of the usual one, by build and scene."""

    def times(case: dict[str, Any]) -> dict[str, float]:
        return {row["name"]: median(row["us_per_step"]) for row in case.get("rows", [])}

    usual = times(cases.get("price", {}))
    found = {}
    for name, case in variants.items():
        other = times(case)
        found[name] = {scene: other[scene] / usual[scene] for scene in usual if scene in other}
    return found


def summary(stages: list[dict[str, Any]], cases: Cases, variants: Cases, quick: bool = False) -> str:
    """The one table.

    Args:
        stages: what became of each.
        cases: what the benchmarks of the usual build wrote.
        variants: case `price` of other builds, by name of the build.
        quick: sizes were tiny.
    """
    lines = [f"{'stage':<26} {'status':<8} {'s':>6}"]
    for stage in stages:
        facts = [f"{k} {v}" for k, v in stage.items() if k not in ("stage", "status", "seconds", "log", "failures")]
        lines.append(f"{stage['stage']:<26} {stage['status']:<8} {stage['seconds']:>6.1f}  {', '.join(facts)}")
        lines += [f"    {name}" for name in stage.get("failures", [])]
    missing = [stage["stage"] for stage in stages if stage["status"] in ("cut", "timeout")]
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
    for build, ratios in prices(cases, variants).items():
        if ratios:
            lines += ["", f"{VARIANTS[build][1]} ({VARIANTS[build][0]})"]
            lines += [f"{scene:<26} {ratio:>10.3f}" for scene, ratio in ratios.items()]
    if quick:
        lines += ["", "tiny sizes (--quick): the speeds above mean nothing"]
    return "\n".join(lines)


def floor_lines(cases: Cases) -> list[str]:
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
#: a row of case `planar` that nothing was promised of
SILOS = "1024 silos x 300 #"


def docs_promises(cases: Cases) -> list[str]:
    """The table of what is promised."""
    reached = promised(cases)
    lines = [
        "| what | figure | promised | measured | floor | " + " | ".join(QUALITY_HEAD) + " | |",
        "|" + "---|" * (len(QUALITY_HEAD) + 6),
    ]
    for key, asked in TARGETS.items():
        row, wanted = reached.get(key), f"{asked.wanted:.4g}{' (at most)' if asked.at_most else ''}"
        cells = [asked.name, asked.figure, wanted]
        if row is None:
            least = roofline.expected(key)
            cells += [MISSING, "" if least is None else f"{least:.3g}", *[""] * len(QUALITY_HEAD), ""]
        else:
            least = floor_of(row, asked.figure)
            cells += [number(row[asked.figure]), "" if least is None else number(least), *quality(row)]
            cells += ["met" if row["met"] else "short"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def docs_kernels(cases: Cases) -> list[str]:
    """The table of the ways of a step."""
    by = kernel_table(cases)
    lines = ["| envs x grains | " + " | ".join(f"{way} [us per substep]" for way in WAYS) + " |"]
    lines.append("|" + "---|" * (len(WAYS) + 1))
    for envs, grains, _ in KERNEL_SIZES:
        times = by.get((envs, grains), {})
        lines.append(f"| {envs} x {grains} | " + " | ".join(number(times[w]) if w in times else MISSING for w in WAYS))
        lines[-1] += " |"
    return lines


def docs_others(cases: Cases, variants: Cases, stages: list[dict[str, Any]]) -> list[str]:
    """The table of everything else that the run measures."""
    ratios = prices(cases, variants)

    def rows(case: str) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in cases.get(case, {}).get("rows", [])}

    def said(value: float | None, unit: str = "") -> str:
        return MISSING if value is None else f"{value:.3g}{unit}"

    lines = ["| what | measured |", "|---|---|"]
    for build, (_, words) in VARIANTS.items():
        for scene in ("1 x 50000 grains", "1024 x 1000 grains"):
            lines.append(f"| {words}, {scene} | {said(ratios.get(build, {}).get(scene))} |")
    for envs, grains, _ in KERNEL_SIZES:
        if envs * grains >= PHASES_FROM:
            ratio = rows("sort").get(f"{envs} x {grains} grains", {}).get("ratio")
            lines.append(f"| sort by cells: time over that of CUB's, {envs} x {grains} grains | {said(ratio)} |")
    silos = rows("planar").get(SILOS, {}).get("env_steps_per_s")
    lines.append(f"| {SILOS}, 50 substeps, env steps per second | {said(None if silos is None else median(silos))} |")
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


def docs_section(about: str, cases: Cases, variants: Cases, stages: list[dict[str, Any]]) -> str:
    """What stands between the marks of docs/gpu.md."""
    parts = [[about] if about else [], docs_promises(cases), docs_kernels(cases)]
    parts.append(docs_others(cases, variants, stages))
    return "\n\n".join("\n".join(part) for part in parts if part)


def write_docs(section: str) -> None:
    """Puts what was measured into docs/gpu.md."""
    path = ROOT / "docs" / "gpu.md"
    before, _, rest = path.read_text().partition(MARKS[0])
    after = rest.partition(MARKS[1])[2]
    path.write_text(f"{before}{MARKS[0]}\n{section}\n{MARKS[1]}{after}")
