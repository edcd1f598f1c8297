"""json_file.py: arms in a format of our own (`assets/panda.json`): the rows themselves, limits and rods.

Every entry is checked where it is read.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.arms.description import LARGEST_ANGLE, LARGEST_CAPSULES, LARGEST_ROWS, ArmDescription, Array, Link
from granular_gym.base import checks
from granular_gym.errors import ArgumentError

FORMAT = "granular_gym.arm/1"


def read_json(path: Path, base: str | None, tip: str | None) -> ArmDescription:
    """A description from a file.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: it is damaged or says something that cannot be, or a base or tip was asked for.
    """
    if base is not None or tip is not None:
        name = "base" if base is not None else "tip"
        raise ArgumentError(f"{name}: expected None, a JSON file holds one chain, got {base if base else tip!r}")
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ArgumentError(f"expected JSON, it is damaged ({error})") from None
    return _read(data)


def _entry(where: str, data: Any, key: str) -> Any:
    if not isinstance(data, dict):
        raise ArgumentError(f"{where}: expected an object, got {type(data).__name__}")
    if key not in data:
        raise ArgumentError(f"{where}{key}: expected an entry, it is missing")
    return data[key]


def _list(where: str, value: Any, shortest: int, longest: int) -> list[Any]:
    if not isinstance(value, list) or not shortest <= len(value) <= longest:
        got = f"{len(value)}" if isinstance(value, list) else type(value).__name__
        raise ArgumentError(f"{where}: expected a list of {shortest} .. {longest} entries, got {got}")
    return value


def _row(where: str, data: Any) -> list[float]:
    return [
        checks.number(f"{where}{key}", _entry(where, data, key), -limit, limit)
        for key, limit in (("a", 10.0), ("alpha", 2.0 * math.pi), ("d", 10.0), ("theta", 2.0 * math.pi))
    ]


def _rods(where: str, value: Any) -> Array:
    rods = _list(where, value, 0, LARGEST_CAPSULES)
    out = np.zeros((len(rods), 7))
    for k, rod in enumerate(rods):
        for i, number in enumerate(_list(f"{where}[{k}]", rod, 7, 7)):
            out[k, i] = checks.number(f"{where}[{k}][{i}]", number, -10.0 if i < 6 else 0.0, 10.0, above=i == 6)
    return out


def _read(data: Any) -> ArmDescription:
    """A description from parsed JSON; every entry is checked where it is read."""
    form = _entry("", data, "format")
    if form != FORMAT:
        raise ArgumentError(f"format: expected {FORMAT!r}, got {form!r}")
    joints = _list("joints", _entry("", data, "joints"), 1, LARGEST_ROWS)
    fixed = _list("fixed", _entry("", data, "fixed"), 0, LARGEST_ROWS - len(joints))
    rows = [_row(f"joints[{k}].", joint) for k, joint in enumerate(joints)]
    rows += [_row(f"fixed[{k}].", one) for k, one in enumerate(fixed)]
    limits: dict[str, Array] = {}
    for key in ("lower", "upper", "speed", "acceleration", "torque"):
        angle = key in ("lower", "upper")
        limits[key] = np.array(
            [
                checks.number(f"joints[{k}].{key}", _entry(f"joints[{k}].", joint, key), -LARGEST_ANGLE, LARGEST_ANGLE)
                if angle
                else checks.number(f"joints[{k}].{key}", _entry(f"joints[{k}].", joint, key), 0.0, 1e6, above=True)
                for k, joint in enumerate(joints)
            ]
        )
    for k in range(len(joints)):
        if not limits["lower"][k] < limits["upper"][k]:
            raise ArgumentError(
                f"joints[{k}].lower: expected less than upper = {limits['upper'][k]}, got {limits['lower'][k]}"
            )
    links: list[Link] = []
    for k, link in enumerate(_list("links", _entry("", data, "links"), 0, len(rows) + 1)):
        where = f"links[{k}]."
        frame = checks.integer(f"{where}frame", _entry(where, link, "frame"), 0, len(rows))
        if any(frame == other.frame for other in links):
            raise ArgumentError(f"{where}frame: expected a frame of its own, {frame} has a link already")
        shapes = {key: _rods(f"{where}{key}", _entry(where, link, key)) for key in ("capsules", "cylinders")}
        links.append(Link(frame, shapes["capsules"], shapes["cylinders"]))
    total = sum(len(link.capsules) for link in links)
    if total > LARGEST_CAPSULES:
        raise ArgumentError(f"links: expected at most {LARGEST_CAPSULES} capsules, got {total}")
    apart = []
    for k, pair in enumerate(_list("apart", _entry("", data, "apart"), 0, 256)):
        one, two = (checks.integer(f"apart[{k}]", frame, 0, len(rows)) for frame in _list(f"apart[{k}]", pair, 2, 2))
        apart.append((one, two))
    return ArmDescription(
        name=checks.text("name", _entry("", data, "name")),
        rows=np.array(rows),
        tip_speed=checks.number("tip_speed", _entry("", data, "tip_speed"), 0.0, 1e3, above=True),
        payload=checks.number("payload", _entry("", data, "payload"), 0.0, 1e6),
        links=tuple(links),
        apart=tuple(apart),
        joint_names=tuple(str(joint.get("name", f"joint{k}")) for k, joint in enumerate(joints, 1)),
        **limits,
    )
