"""store.py: stores measured cases in out/validation, so that runs can be resumed, and rows in results.json.

The key of a case is its check, its parameters, the code that measures it and the source of the engine. results.json
lies beside the page and holds the rows and facts about the machine, by check and set.
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
    """Bytecode and constants of a function and of the functions of this project that it names."""
    function = inspect.unwrap(function)
    mark = f"{function.__module__}.{function.__qualname__}"
    if mark in seen:
        return []
    seen.add(mark)
    parts, names = _bytecode(function.__code__, function.__doc__)
    modules = [function.__globals__]
    # names in modules of this project that the function uses
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
    """Whether a module belongs to validation, testbed or benchmarks; the engine has a hash of its own."""
    path = Path(getattr(module, "__file__", None) or "/")
    return any(path.is_relative_to(ROOT / folder) for folder in ("validation", "testbed", "benchmarks"))


def _bytecode(code: Any, doc: str | None = None) -> tuple[list[str], set[str]]:
    """Bytecode and constants, and the names used, of a function and the functions inside it."""
    parts, names = [code.co_code.hex()], set(code.co_names)
    for value in code.co_consts:
        if inspect.iscode(value):
            inner, more = _bytecode(value, value.co_consts[0] if value.co_consts else None)
            parts, names = parts + inner, names | more
        elif value != doc:
            parts.append(repr(value))
    return parts, names


def _case_path(check: Check, params: Params) -> Path:
    # a check that measures by several functions depends on all of them
    code = _code(check.measure, set())
    parts = [json.dumps(params, sort_keys=True), *code, str(_core.build_info()["source"])]
    return CASES / check.name / (hashlib.sha256("\n".join(parts).encode()).hexdigest()[:24] + ".json")


def load_case(check: Check, params: Params) -> Result | None:
    """A stored case, or None."""
    try:
        found = json.loads(_case_path(check, params).read_text())
        return Result(params, found["values"], float(found["seconds"]))
    except (OSError, ValueError, KeyError):
        return None


def run_case(check: Check, params: Params, threads: int) -> Result:
    """Measures a case and stores it."""
    start = time.process_time()
    values = json.loads(json.dumps(check.measure(params, threads), default=_plain))
    result = Result(params, values, time.process_time() - start + float(values.get("peer_seconds", 0.0)))
    path = _case_path(check, params)
    write(path, json.dumps({"params": params, "values": values, "seconds": result.seconds}))
    return result


def _plain(value: Any) -> Any:
    """Numbers and arrays of NumPy as numbers and lists for JSON."""
    return value.tolist()


def write(path: Path, text: str) -> None:
    """Writes a file atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(path.suffix + f".{os.getpid()}.part")
    part.write_text(text)
    part.replace(path)


def load_results(path: Path) -> dict[str, Any]:
    """Stored results by check and set; empty where there is no file.

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
