"""store.py: what was measured is kept: cases in out/validation (an interrupted run goes on), rows in results.json.

A case is found again by its check, its parameters, the code that measures it and the source of the engine; any change
makes it anew. results.json lies beside the page and holds, per check and size, the rows and what they were measured on.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from pathlib import Path
from typing import Any

from granular_gym import _core
from validation import ROOT
from validation.check import Check, Params, Result

CASES = ROOT / "out" / "validation" / "cases"


def _code(function: Any, seen: set[str]) -> list[str]:
    """What a function does, and what those of this project do that it names: bytecode and constants, no comments."""
    function = inspect.unwrap(function)
    mark = f"{function.__module__}.{function.__qualname__}"
    if mark in seen:
        return []
    seen.add(mark)
    parts, names = _bytecode(function.__code__, function.__doc__)
    modules = [function.__globals__]
    # names of modules of this project stand for what is taken from them
    modules += [vars(m) for n in names if inspect.ismodule(m := function.__globals__.get(n)) and _ours(m)]
    for name in sorted(names):
        for found in (module[name] for module in modules if name in module):
            if callable(found) and hasattr(inspect.unwrap(found), "__code__"):
                if _ours(inspect.getmodule(inspect.unwrap(found))):
                    parts += _code(found, seen)
            elif isinstance(found, (int, float, str, tuple, dict)):
                parts.append(f"{name} = {found!r}")
    return parts


def _ours(module: Any) -> bool:
    """Whether a module is a part of validation, testbed or benchmarks: the engine is known by its own source."""
    path = Path(getattr(module, "__file__", None) or "/")
    return any(path.is_relative_to(ROOT / folder) for folder in ("validation", "testbed", "benchmarks"))


def _bytecode(code: Any, doc: str | None = None) -> tuple[list[str], set[str]]:
    """Bytecode and constants, and the names in it, of functions within as well."""
    parts, names = [code.co_code.hex()], set(code.co_names)
    for value in code.co_consts:
        if inspect.iscode(value):
            inner, more = _bytecode(value, value.co_consts[0] if value.co_consts else None)
            parts, names = parts + inner, names | more
        elif value != doc:
            parts.append(repr(value))
    return parts, names


def _case_path(check: Check, params: Params) -> Path:
    # cases that are measured by one of several functions depend on all of them
    code = _code(check.measure, set())
    parts = [json.dumps(params, sort_keys=True), *code, str(_core.build_info()["source"])]
    return CASES / check.name / (hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24] + ".json")


def load_case(check: Check, params: Params) -> Result | None:
    """A case measured before, or None."""
    try:
        found = json.loads(_case_path(check, params).read_text())
        return Result(params, found["values"], float(found["seconds"]))
    except (OSError, ValueError, KeyError):
        return None


def run_case(check: Check, params: Params, threads: int) -> Result:
    """Measures a case and keeps it."""
    start = time.process_time()
    values = json.loads(json.dumps(check.measure(params, threads), default=_plain))
    result = Result(params, values, time.process_time() - start + float(values.get("peer_seconds", 0.0)))
    path = _case_path(check, params)
    write(path, json.dumps({"params": params, "values": values, "seconds": result.seconds}))
    return result


def _plain(value: Any) -> Any:
    """NumPy's numbers and arrays as JSON has them."""
    return value.tolist()


def write(path: Path, text: str) -> None:
    """Whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(path.suffix + f".{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def load_results(path: Path) -> dict[str, Any]:
    """The results of earlier runs, by check and size; empty where there is no file.

    Raises:
        ValueError: the file is damaged; it is not overwritten.
    """
    if not path.exists():
        return {}
    try:
        return dict(json.loads(path.read_text())["checks"])
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(
            f"{path}: expected results of an earlier run, it is damaged ({error}); move it away"
        ) from error


def save_results(path: Path, checks: dict[str, Any]) -> None:
    """Writes results.json."""
    write(path, json.dumps({"checks": checks}, indent=1, sort_keys=True) + "\n")
