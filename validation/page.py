"""page.py: docs/validation.md from the rows of results.json."""

from __future__ import annotations

from typing import Any

from validation.check import FAIL, NOT_RUN, OWN, PASS, REPORT, SKIPPED, Check

_HEAD = """# Validation

Physical laws, packings and flows, and comparisons with other codes. Every line has a target, its source and a verdict.
Tolerances are not widened to pass; failing lines stay, with their cause where it is known.

```
make validate                       # quick set
make validate FULL=1                # full set: larger, longer, three seeds; resumes where it was interrupted
python validation/run.py NAME ...   # single checks by the names in the headings; --full, --seeds N, --list
```

Unless a line says otherwise: spheres of 5 mm radius and 2500 kg/m3, friction 0.5, no restitution, no rolling
friction, 10 iterations, g = 9.81 m/s2; d is a diameter, r a radius, e the restitution, mu the friction. *Spin off* is
the model of the paper GranularGym (2023), whose grains do not rotate: a sphere then slides like a block. Its correct
results differ from those of rotating spheres (*spin on*) and are judged separately. The source `own` is a bound set
before the measurement. Lines marked *report* have no gate. Seconds are processor time.
"""

#: longer tables are collapsed
_LONG = 24
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
        f"{facts['kernel']}, granular_gym {facts['version']}, source {facts['source']}"
    )


def shown(check: Check, stored: dict[str, Any]) -> dict[str, Any]:
    """The sets that the page shows: only the full one where it is complete."""
    if "full" in stored and not stored["full"]["missing"]:
        return {"full": stored["full"]}
    return {size: stored[size] for size in check.sizes() if size in stored}


def _section(check: Check, stored: dict[str, Any], folder: str, pictures: set[str]) -> list[str]:
    lines = [f"## `{check.name}`: {check.title}", "", check.about, ""]
    for size in check.sizes():
        picture = f"{check.name}_{size}.png"
        if size in stored and picture in pictures:
            lines += [f"![{check.title}]({folder}/{picture})", ""]
            if size != "any":
                lines[-2] += f"\n*{size} set*"
    for spin, heading in (("on", "Spin on"), ("off", "Spin off (the paper's model)"), ("-", "Both")):
        table = [(s, r) for s in check.sizes() if s in stored for r in stored[s]["rows"] if r["spin"] == spin]
        if len(table) > _LONG:
            # failing rows stay visible
            failing = [(size, row) for size, row in table if row["verdict"] == FAIL]
            lines += [f"**{heading}**", "", *_table(failing)]
            lines += [f"<details><summary>{len(table)} lines, {len(failing)} fail</summary>", ""]
            lines += [*_table(table), "</details>", ""]
        elif table:
            lines += [f"**{heading}**", "", *_table(table)]
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
    return [*lines, ""]


def render(checks: list[Check], results: dict[str, Any], folder: str, pictures: set[str]) -> str:
    """The page as text.

    Args:
        checks: in the order of the page.
        results: from results.json, by check and set.
        folder: of the pictures, as the page links to it.
        pictures: names of the existing pictures.
    """
    lines = [_HEAD]
    summary = ["check", "law", "no.", "size", "pass", "FAIL", "report", "skipped", "s", "date"]
    lines += ["## Summary", "", _line(summary), _line(["-"] * len(summary))]
    total = dict.fromkeys((PASS, FAIL, REPORT, SKIPPED, NOT_RUN), 0)
    for check in checks:
        stored = shown(check, results.get(check.name, {}))
        for size in stored if list(stored) == ["full"] else check.sizes():
            anchor = _anchor(f"{check.name} {check.title}")
            head = [f"[{check.name}](#{anchor})", check.title, check.number, size]
            if size not in stored:
                lines.append(_line([*head, NOT_RUN, "", "", "", "", ""]))
                continue
            counts = _counts(stored[size]["rows"])
            total = {k: total[k] + counts[k] for k in total}
            some = " (in part)" if stored[size]["missing"] else ""
            numbers = [counts[PASS], f"**{counts[FAIL]}**" if counts[FAIL] else 0, counts[REPORT], counts[SKIPPED]]
            seconds = f"{stored[size]['seconds']:.0f}"
            lines.append(_line([*head[:3], size + some, *numbers, seconds, stored[size]["date"]]))
    lines += [
        "",
        f"In all: {total[PASS]} pass, {total[FAIL]} fail, {total[REPORT]} reported without a gate, "
        f"{total[SKIPPED]} skipped. *no.* is the number in the list of checks from which this page started.",
        "",
    ]
    for check in checks:
        stored = shown(check, results.get(check.name, {}))
        if stored:
            lines += _section(check, stored, folder, pictures)
        else:
            lines += [f"## `{check.name}`: {check.title}", "", check.about, "", "Not run.", ""]
    return "\n".join(lines).rstrip() + "\n"


def _anchor(title: str) -> str:
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return kept.replace(" ", "-")
