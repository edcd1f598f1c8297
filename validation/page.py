"""page.py: docs/validation.md, one screen of claims and failing lines, and the pages behind it, from results.json."""

from __future__ import annotations

from typing import Any

from granular_gym.engine.solver import DEFAULT_MODE
from validation.check import FAIL, NOT_RUN, OWN, PASS, REPORT, SKIPPED, YES, Check
from validation.plan import PLAN

_HEAD = """# Validation

Physical laws, packings and flows, and comparisons with LAMMPS and Bullet. Every line has a target, its source and a
verdict; tolerances are not widened to pass, and failing lines stay. Each check has a page with its set-up, tables and
plots. `make validate` measures the quick set and writes these pages, `make validate FULL=1` the full one. See
[how to read the tables, and the list of checks](validation/checks.md).
"""

_NOTES = """# How to read the tables

```
make validate                       # quick set
make validate FULL=1                # full set: larger, longer, three seeds; resumes where it was interrupted
python validation/run.py NAME ...   # single checks by name; --full, --seeds N, --list
python validation/run.py --page     # writes the pages from stored results
```

Unless a line says otherwise: spheres of 5 mm radius and 2500 kg/m3, friction 0.5, no restitution, no rolling
friction, 10 iterations, g = 9.81 m/s2; d is a diameter, r a radius, e the restitution, mu the friction. *Spin off* is
the model of the paper GranularGym (2023), whose grains do not rotate: a sphere then slides like a block. Its correct
results differ from those of rotating spheres (*spin on*) and are judged separately. The source `own` is a bound set
before the measurement. Lines marked *report* have no gate. Seconds are processor time.
"""

_BACK = "[All checks](../validation.md), [how to read the tables](checks.md)."

#: longer tables are collapsed
_LONG = 24
#: characters before which the beginning of a cause does not end
_SHORTEST = 30
_COLUMNS = ("size", "seed", "dt [ms]", "setup", "measure", "value", "target", "tolerance", "source", "verdict", "s")


def number(value: float | None) -> str:
    """A number as text with four digits; large numbers as integers."""
    if value is None:
        return "-"
    return f"{value:,.0f}" if 1e4 <= abs(value) < 1e9 else f"{value:.4g}"


def _cell(text: Any) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def _line(cells: list[Any]) -> str:
    return "| " + " | ".join(_cell(c) for c in cells) + " |"


def _row(size: str, row: dict[str, Any]) -> str:
    dt = "-" if row["dt"] is None else f"{1e3 * row['dt']:g}"
    seconds = f"{row['seconds']:.1f}" if row["seconds"] >= 0.05 else "<0.1"
    judged = f"**{row['verdict']}**" if row["verdict"] == FAIL else row["verdict"]
    measure = row["measure"] + (f" ({row['note']})" if row["note"] else "")
    source = OWN if row["source"] == OWN else row["source"]
    cells = [size, row["seed"], dt, row["setup"], measure, number(row["value"])]
    return _line([*cells, row["target"], row["tolerance"], source, judged, seconds])


def _table(rows: list[tuple[str, dict[str, Any]]]) -> list[str]:
    """Lines of a table of (size, row); none without rows."""
    head = [_line(list(_COLUMNS)), _line(["-"] * len(_COLUMNS))] if rows else []
    return [*head, *(_row(size, row) for size, row in rows), *[""] * bool(rows)]


def _counts(rows: list[dict[str, Any]]) -> dict[str, int]:
    return {v: sum(r["verdict"] == v for r in rows) for v in (PASS, FAIL, REPORT, SKIPPED, NOT_RUN)}


def not_run(check: Check, size: str, stored: dict[str, Any] | None) -> str:
    """The cases of a set that are missing, in words; "" for none."""
    planned = check.cases(size, (1, 2, 3))
    if stored is None:
        return f"{size} set: not run ({len(planned)} cases)"
    gone = stored["missing"]
    if gone:
        more = f"; and {len(gone) - 6} more" if len(gone) > 6 else ""
        return f"{size} set: {len(gone)} of {stored['planned']} cases not run: " + "; ".join(gone[:6]) + more
    return ""


def _facts(stored: dict[str, Any]) -> str:
    facts = stored["facts"]
    return (
        f"{stored['date']}, {facts['cpu']}, {facts['threads']} of {facts['cores']} cores, {facts['compiler']}, kernel "
        f"{facts['kernel']}, granular_gym {facts['version']}, source {facts['source']}, mode {facts['mode']} "
        "where a case names none"
    )


def shown(check: Check, stored: dict[str, Any]) -> dict[str, Any]:
    """The sets that the page shows: only the full one where it is complete."""
    if "full" in stored and not stored["full"]["missing"]:
        return {"full": stored["full"]}
    return {size: stored[size] for size in check.sizes() if size in stored}


def _check_page(check: Check, stored: dict[str, Any], pictures: set[str]) -> str:
    """The page of a check: set-up, plots, tables, causes of what fails."""
    back = _BACK + (f" No. {check.number} of the list." if check.number else "")
    lines = [f"# `{check.name}`: {check.title}", "", back, "", check.about, ""]
    if not stored:
        return "\n".join([*lines, "Not run.", ""])
    for size in check.sizes():
        picture = f"{check.name}_{size}.png"
        if size in stored and picture in pictures:
            lines += [f"![{check.title}]({picture})", ""]
            if size != "any":
                lines[-2] += f"\n*{size} set*"
    spins = {row["spin"] for kept in stored.values() for row in kept["rows"]}
    for spin, heading in (("on", "Spin on"), ("off", "Spin off (the paper's model)"), ("-", "Both")):
        table = [(s, r) for s in check.sizes() if s in stored for r in stored[s]["rows"] if r["spin"] == spin]
        # where nothing tells spin on from off there is nothing to head
        head = [f"**{heading}**", ""] if spin != "-" or len(spins) > 1 else []
        if len(table) > _LONG:
            # failing rows stay visible
            failing = [(size, row) for size, row in table if row["verdict"] == FAIL]
            lines += [*head, *_table(failing)]
            lines += [f"<details><summary>{len(table)} lines, {len(failing)} fail</summary>", ""]
            lines += [*_table(table), "</details>", ""]
        elif table:
            lines += [*head, *_table(table)]
    failed = {r["measure"] for s in stored.values() for r in s["rows"] if r["verdict"] == FAIL}
    if failed:
        known = {start: why for start, why in check.causes.items() if any(m.startswith(start) for m in failed)}
        lines += ["Failing lines:", ""]
        lines += [f"- {start}: {why}" for start, why in known.items()]
        unknown = sorted(m for m in failed if not any(m.startswith(start) for start in known))
        lines += [f"- {m}: cause not found yet." for m in unknown] + [""]
    sizes = list(stored) if "quick" not in stored and "full" in stored else check.sizes()
    missing = [text for size in sizes if (text := not_run(check, size, stored.get(size)))]
    lines += [f"{text}." for text in missing] + [""] * bool(missing)
    lines += [f"<sub>{size} set: {_facts(stored[size])}</sub>  " for size in check.sizes() if size in stored]
    return "\n".join(lines).rstrip() + "\n"


def _first_clause(text: str) -> str:
    """The beginning of a cause, up to where a clause ends outside brackets."""
    depth = 0
    for k, character in enumerate(text):
        depth += (character == "(") - (character == ")")
        if character in ".;:" and text[k + 1 : k + 2] == " " and k >= _SHORTEST and depth == 0:
            return text[:k]
    return text.rstrip(".")


def _failing(check: Check, rows: list[dict[str, Any]]) -> list[str]:
    """A line for each cause, by its beginning: the failing measures, and how many of their lines fail."""
    found: dict[str, list[str]] = {}
    for measure in sorted({row["measure"] for row in rows if row["verdict"] == FAIL}):
        judged = [row for row in rows if row["measure"] == measure and row["verdict"] in (PASS, FAIL)]
        failed = sum(row["verdict"] == FAIL for row in judged)
        why = next((text for start, text in check.causes.items() if measure.startswith(start)), "cause not found yet")
        found.setdefault(_first_clause(why), []).append(f"{measure}, {failed} of {len(judged)}")
    link = f"[{check.name}](validation/{check.name}.md)"
    return [f"- {link}, {'; '.join(measures)}: {why}." for why, measures in found.items()]


def _headline(check: Check, rows: list[dict[str, Any]]) -> str:
    """The figure that stands for a check: the range of values and of targets of one measure."""
    judged = (PASS, FAIL)
    told = [row for row in rows if row["measure"] == check.headline and row["verdict"] in judged]
    if not told:
        return ""
    if told[0]["target"] == YES:
        return f"{check.headline}: {sum(row['verdict'] == PASS for row in told)} of {len(told)}"
    values = [row["value"] for row in told if row["value"] is not None]
    ends = dict.fromkeys(number(value) for value in (min(values), max(values))) if values else ["-"]
    targets = sorted({row["target"] for row in told}, key=_leading_number)
    wanted = " .. ".join(dict.fromkeys((targets[0], targets[-1])))
    tolerance = told[0]["tolerance"].removeprefix("-")
    return f"{check.headline}: {' .. '.join(ends)} ({' '.join(filter(None, (wanted, tolerance)))})"


def _leading_number(target: str) -> float:
    try:
        return float(target.split()[0])
    except ValueError:
        return 0.0


def totals(checks: list[Check], results: dict[str, Any]) -> dict[str, int]:
    """Lines of all checks by verdict, of the sets that the pages show."""
    every = [_counts(kept["rows"]) for check in checks for kept in shown(check, results.get(check.name, {})).values()]
    return {verdict: sum(counts[verdict] for counts in every) for verdict in (PASS, FAIL, REPORT, SKIPPED, NOT_RUN)}


def _front(checks: list[Check], results: dict[str, Any], folder: str) -> str:
    """The page of one screen: a line for each check, a line for each cause of what fails."""
    total = totals(checks, results)
    summary = f"{total[PASS]} lines pass, **{total[FAIL]} fail**, {total[REPORT]} are reported without a gate" + (
        f", {total[SKIPPED]} comparisons were skipped." if total[SKIPPED] else "."
    )
    columns = ["check", "law", "figure (target)", "pass", "fail"]
    lines = [_HEAD, summary, "", _line(columns), _line(["-"] * len(columns))]
    failing: list[str] = []
    for check in checks:
        stored = shown(check, results.get(check.name, {}))
        rows = [row for kept in stored.values() for row in kept["rows"]]
        counts = _counts(rows)
        some = " (in part)" if any(kept["missing"] for kept in stored.values()) else ""
        passed, failed = (counts[PASS], counts[FAIL]) if stored else (NOT_RUN, "")
        marked = f"**{failed}**" if failed else failed
        link = f"[{check.name}]({folder}/{check.name}.md)"
        lines.append(_line([link, check.title + some, _headline(check, rows), passed, marked]))
        failing += _failing(check, rows)
    if failing:
        lines += ["", "## What fails, and why", "", *failing]
    dates = sorted({kept["date"] for check in checks for kept in results.get(check.name, {}).values()})
    if dates:
        lines += [
            "",
            f"Measured {' .. '.join(dict.fromkeys((dates[0], dates[-1])))}; machine, build and mode are on each page."
            + _older_modes(checks, results),
        ]
    return "\n".join(lines) + "\n"


def _older_modes(checks: list[Check], results: dict[str, Any]) -> str:
    """Which checks have results of another mode of the solver than the default of now."""
    found: dict[str, list[str]] = {}
    for check in checks:
        for kept in shown(check, results.get(check.name, {})).values():
            mode = kept["facts"]["mode"]
            if mode != DEFAULT_MODE and check.name not in found.setdefault(mode, []):
                found[mode].append(check.name)
    return "".join(
        f" With mode `{mode}`, not with the default, `{DEFAULT_MODE}`: {', '.join(names)}."
        for mode, names in found.items()
    )


def _plan(checks: list[Check]) -> str:
    """How to read the tables, and the list of checks that `Check.number` counts by."""
    columns = ["no.", "set-up", "measure and target", "what it shows", "check"]
    lines = [_NOTES, "# The list of checks", ""]
    lines += [
        "Drawn up before the measurements, from published laws; *no.* on the pages refers to it. Missing numbers were "
        "left out of it. Defaults: friction .5, steps of 1 ms, r = 5 mm, three seeds.",
        "",
        _line(columns),
        _line(["-"] * len(columns)),
    ]
    for entry in PLAN:
        names = [f"[{check.name}]({check.name}.md)" for check in checks if check.number == entry.number]
        where = ", ".join(names) or entry.elsewhere
        lines.append(_line([entry.number, entry.setup, entry.target, entry.shows, where]))
    later = [f"[{check.name}]({check.name}.md): {check.title}" for check in checks if not check.number]
    lines += ["", "Without a number: " + "; ".join(later) + "."] if later else []
    return "\n".join(lines) + "\n"


def render(checks: list[Check], results: dict[str, Any], folder: str, pictures: set[str]) -> dict[str, str]:
    """The pages as text, by path from the folder of the first one, "validation.md".

    Args:
        checks: in the order of the page.
        results: from results.json, by check and set.
        folder: of the other pages and of the pictures.
        pictures: names of the existing pictures.
    """
    pages = {"validation.md": _front(checks, results, folder), f"{folder}/checks.md": _plan(checks)}
    for check in checks:
        stored = shown(check, results.get(check.name, {}))
        pages[f"{folder}/{check.name}.md"] = _check_page(check, stored, pictures)
    return pages
