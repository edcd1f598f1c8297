"""gpu_report.py: the results of `make gpu`, as one table and as the tables of docs/gpu.md.

Uses the standard library only: it runs before packages are installed.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from gpu_plan import ROOT, SANITIZERS, VARIANTS

from benchmarks.gpu import roofline
from benchmarks.gpu.targets import (
    KERNEL_SIZES,
    KERNELS,
    LIMITS,
    MATTER,
    MODES,
    PHASES_FROM,
    STREAM_SIZES,
    TARGETS,
)

MARKS = ("<!-- measured by make gpu -->", "<!-- end of what was measured -->")

Cases = dict[str, Any]


def median(value: Any) -> float:
    """Median of a spread, or the number itself."""
    return float(value["median"] if isinstance(value, dict) else value)


def read_cases(folder: Path) -> dict[str, Any]:
    """Results of the cases, complete or not, by name."""
    found = {}
    for path in sorted(folder.glob("[!.]*.json")):
        if path.name != "report.json":
            found[path.stem] = json.loads(path.read_text())
    return found


def with_targets(cases: Cases) -> dict[str, dict[str, Any]]:
    """The rows that have a target, by the key of TARGETS."""
    return {row["target"]: row for case in cases.values() for row in case["rows"] if "target" in row}


#: the figure that is shown of rows without a target, by case
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
    "modes": "us_per_step",
    "matter": "us_per_step",
    "limits": "value",
}


def number(value: Any) -> str:
    """A figure, or the median of a spread, with four digits; a dash for None."""
    return "-" if value is None else f"{median(value):.4g}"


def quality(row: dict[str, Any]) -> tuple[str, ...]:
    """Residual, overlap mean / max [% of a diameter], contacts per grain, rebuilds, escaped / fast / diverged."""
    if "overlap_mean_pct" not in row:
        return ("-",) * 5
    return (
        f"{row['residual']:.2e}",
        f"{row['overlap_mean_pct']:.3g} / {row['overlap_max_pct']:.3g}",
        f"{row['contacts_per_grain']:.3g}" if "contacts_per_grain" in row else "-",
        str(row.get("rebuild_count", "-")),
        " / ".join(str(row.get(key, "-")) for key in ("escaped_count", "fast_count", "diverged")),
    )


QUALITY_HEAD = ("residual", "overlap mean / max %", "contacts", "rebuilds", "escaped / fast / diverged")


def roofline_of(row: dict[str, Any], figure: str) -> float | None:
    """The memory roofline of a figure, see roofline.py."""
    if figure == "us_per_step" and "roofline_us" in row:
        return float(row["roofline_us"])
    return row.get("roofline", row.get("rooflines", {}).get(figure)) if figure != "ratio" else None


def speeds(cases: Cases) -> list[tuple[str, ...]]:
    """All speeds with their accuracy: those with a target first, then the others of each case."""
    lines: list[tuple[str, ...]] = []
    reached = with_targets(cases)
    for key, target in TARGETS.items():
        row = reached.get(key)
        wanted = f"{target.wanted:.4g}"
        if row is None:
            lines.append((target.name, target.figure, "not measured", wanted, "-", "", *quality({})))
            continue
        value, bound = number(row[target.figure]), number(roofline_of(row, target.figure))
        verdict = "met" if row["met"] else "SHORT"
        lines.append((row["name"], target.figure, value, wanted, bound, verdict, *quality(row)))
    for case, figure in SHOWN.items():
        for row in cases.get(case, {}).get("rows", []):
            if "target" not in row and figure in row:
                bound = number(roofline_of(row, figure))
                lines.append((row["name"], figure, number(row[figure]), "-", bound, "", *quality(row)))
    return lines


def aligned(lines: list[tuple[str, ...]]) -> list[str]:
    """Lines of aligned columns, the first two to the left."""
    widths = [max(len(line[k]) for line in lines) for k in range(len(lines[0]))]
    return [
        "  ".join(
            cell.ljust(width) if k < 2 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    ]


def kernel_table(cases: Cases) -> dict[tuple[int, int], dict[str, float]]:
    """us per step by (envs, grains) and by kernel."""
    by: dict[tuple[int, int], dict[str, float]] = {}
    for row in cases.get("kernels", {}).get("rows", []):
        by.setdefault((row["envs"], row["grains"]), {})[row["requested"]] = median(row["us_per_step"])
    return by


def prices(cases: Cases, variants: Cases) -> dict[str, dict[str, float]]:
    """Time of each variant over that of the default build, by variant and scene."""

    def times(case: dict[str, Any]) -> dict[str, float]:
        return {row["name"]: median(row["us_per_step"]) for row in case.get("rows", [])}

    default = times(cases.get("price", {}))
    found = {}
    for name, case in variants.items():
        other = times(case)
        found[name] = {scene: other[scene] / default[scene] for scene in default if scene in other}
    return found


def summary(stages: list[dict[str, Any]], cases: Cases, variants: Cases, quick: bool = False) -> str:
    """The report as text.

    Args:
        stages: results of the stages.
        cases: results of the benchmarks of the default build.
        variants: results of the case `price` of the variants, by name.
        quick: the sizes were tiny.
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
        head = ("measured", "figure", "median", "target", "roofline", "", *QUALITY_HEAD)
        lines += ["", *aligned([head, *speeds(cases)])]
        lines += ["", *roofline_lines(cases)]
    by = kernel_table(cases)
    if by:
        lines += ["", f"{'us per step':<26} " + " ".join(f"{kernel:>10}" for kernel in KERNELS)]
        for (envs, grains), times in by.items():
            cells = " ".join(f"{number(times.get(kernel)):>10}" for kernel in KERNELS)
            lines.append(f"{f'{envs} x {grains}':<26} {cells}")
    for build, ratios in prices(cases, variants).items():
        if ratios:
            lines += ["", f"{VARIANTS[build][1]} ({VARIANTS[build][0]})"]
            lines += [f"{scene:<26} {ratio:>10.3f}" for scene, ratio in ratios.items()]
    if quick:
        lines += ["", "tiny sizes (--quick): the speeds above mean nothing"]
    return "\n".join(lines)


def roofline_lines(cases: Cases) -> list[str]:
    """The data that the rooflines follow from."""
    rows = [row for case in cases.values() for row in case["rows"] if "roofline_us" in row and "bandwidth_of" in row]
    if not rows:
        return []
    lines = [f"roofline: bytes that a substep must move / bandwidth of the memory (of {rows[0]['bandwidth_of']});"]
    lines[0] += " a working set that fits into the cache may beat it"
    head = ("scene", "", "bytes / grain / substep", "working set MB", "time / roofline")
    table = [head]
    for row in rows:
        if "roofline_us" in row:
            share = f"{median(row['us_per_step']) / row['roofline_us']:.2f}"
            table.append((row["name"], "", f"{row['bytes_per_grain_step']:.0f}", f"{row['working_set_mb']:.3g}", share))
    return lines + aligned(table)


# ---- docs/gpu.md ----

MISSING = "not measured"
#: a row of case `planar` without a target
SILOS = "1024 silos x 300 #"


def docs_targets(cases: Cases) -> list[str]:
    """The table of the targets."""
    reached = with_targets(cases)
    lines = [
        "| what | figure | target | measured | roofline | " + " | ".join(QUALITY_HEAD) + " | |",
        "|" + "---|" * (len(QUALITY_HEAD) + 6),
    ]
    for key, target in TARGETS.items():
        row, wanted = reached.get(key), f"{target.wanted:.4g}{' (at most)' if target.at_most else ''}"
        cells = [target.name, target.figure, wanted]
        if row is None:
            bound = roofline.expected(key)
            cells += [MISSING, "" if bound is None else f"{bound:.3g}", *[""] * len(QUALITY_HEAD), ""]
        else:
            bound = roofline_of(row, target.figure)
            cells += [number(row[target.figure]), "" if bound is None else number(bound), *quality(row)]
            cells += ["met" if row["met"] else "short"]
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def docs_kernels(cases: Cases) -> list[str]:
    """The table of the kernels."""
    by = kernel_table(cases)
    lines = ["| envs x grains | " + " | ".join(f"{kernel} [us per substep]" for kernel in KERNELS) + " |"]
    lines.append("|" + "---|" * (len(KERNELS) + 1))
    for envs, grains, _ in KERNEL_SIZES:
        times = by.get((envs, grains), {})
        cells = [number(times[kernel]) if kernel in times else MISSING for kernel in KERNELS]
        lines.append(f"| {envs} x {grains} | {' | '.join(cells)} |")
    return lines


def docs_others(cases: Cases, variants: Cases, stages: list[dict[str, Any]]) -> list[str]:
    """The table of the other measurements."""
    ratios = prices(cases, variants)

    def rows(case: str) -> dict[str, dict[str, Any]]:
        return {row["name"]: row for row in cases.get(case, {}).get("rows", [])}

    def cell(value: float | None, unit: str = "") -> str:
        return MISSING if value is None else f"{value:.3g}{unit}"

    lines = ["| what | measured |", "|---|---|"]
    for build, (_, words) in VARIANTS.items():
        for scene in ("1 x 50000 grains", "1024 x 1000 grains"):
            lines.append(f"| {words}, {scene} | {cell(ratios.get(build, {}).get(scene))} |")
    for envs, grains, _ in KERNEL_SIZES:
        if envs * grains >= PHASES_FROM:
            ratio = rows("sort").get(f"{envs} x {grains} grains", {}).get("ratio")
            lines.append(f"| sort by cells: time over that of CUB's, {envs} x {grains} grains | {cell(ratio)} |")
    silos = rows("planar").get(SILOS, {}).get("env_steps_per_s")
    lines.append(f"| {SILOS}, 50 substeps, env steps per second | {cell(None if silos is None else median(silos))} |")
    for grains in STREAM_SIZES:
        for kernel in KERNELS[1:]:
            ratio = rows("streams").get(f"two worlds x {grains} grains, {kernel}", {}).get("ratio")
            lines.append(f"| two worlds of {grains} grains, {kernel}: time together over apart | {cell(ratio)} |")
    table = rows("hash_size")
    for name in ("sorted cells", "hash table, 0.125 per grain", "hash table, 2 per grain"):
        speed = table.get(name, {}).get("times_real_time")
        lines.append(f"| paper, figure 3: {name}, times real time | {cell(speed)} |")
    for row in ("10000 grains, 2 gears", "10000 grains, 8 gears", "100000 grains, 8 gears"):
        speed = rows("gears").get(row, {}).get("times_real_time")
        lines.append(f"| paper, figure 9: {row}, times real time | {cell(None if speed is None else median(speed))} |")
    for name in MATTER:
        row = next((row for row in rows("matter").values() if row["name"].endswith(name)), None)
        time = f"{number(row['us_per_step'])} us, residual {row['residual']:.1e} m/s" if row else MISSING
        lines.append(f"| continuous matter, a step of {name} | {time} |")
    results = {stage["stage"]: f"{stage['status']} ({stage.get('summary', '')})" for stage in stages}
    for one in SANITIZERS:
        skipped = one not in results or results[one].startswith(("skipped", "cut"))
        lines.append(f"| compute-sanitizer, {one} | {MISSING if skipped else results[one].replace(' ()', '')} |")
    return lines


def docs_modes(cases: Cases) -> list[str]:
    """The table of the solver's modes."""
    lines = [
        "| envs x grains, mode | us per substep | residual [m/s] | overlap mean / max % | contacts |",
        "|---|---|---|---|---|",
    ]
    found = {row["name"]: row for row in cases.get("modes", {}).get("rows", [])}
    for envs, grains, _ in KERNEL_SIZES:
        for mode in MODES if envs * grains >= PHASES_FROM else ():
            name = f"{envs} x {grains} grains, {mode}"
            row = found.get(name)
            residual, overlap, contacts = quality(row)[:3] if row else ("", "", "")
            time = number(row["us_per_step"]) if row else MISSING
            lines.append(f"| {name} | {time} | {residual} | {overlap} | {contacts} |")
    return lines


def docs_limits(cases: Cases) -> list[str]:
    """The table of what the GPU does at best."""
    found = {row["name"]: row for row in cases.get("limits", {}).get("rows", [])}
    lines = ["| what | at best |", "|---|---|"]
    for name in LIMITS:
        row = found.get(name)
        cell = f"{row['value']:.4g} {row['unit']}" if row else MISSING
        lines.append(f"| {name} | {cell} |")
    return lines


def docs_section(about: str, cases: Cases, variants: Cases, stages: list[dict[str, Any]]) -> str:
    """The text between the marks of docs/gpu.md."""
    parts = [[about] if about else [], docs_targets(cases), docs_kernels(cases)]
    parts += [docs_modes(cases), docs_others(cases, variants, stages), docs_limits(cases)]
    return "\n\n".join("\n".join(part) for part in parts if part)


def write_docs(section: str) -> None:
    """Replaces the text between the marks of docs/gpu.md."""
    path = ROOT / "docs" / "gpu.md"
    before, _, measured = path.read_text().partition(MARKS[0])
    after = measured.partition(MARKS[1])[2]
    path.write_text(f"{before}{MARKS[0]}\n{section}\n{MARKS[1]}{after}")
