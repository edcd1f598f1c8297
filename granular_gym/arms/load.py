"""load.py: an arm from a file, whatever its format."""

from __future__ import annotations

import importlib
import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.arms.assemble import description_of
from granular_gym.arms.description import ArmDescription, Array
from granular_gym.arms.json_file import read_json
from granular_gym.base import checks, names
from granular_gym.base.assets import asset_names, asset_path
from granular_gym.errors import ArgumentError, DescriptionError

#: what reads the tree of links of a file, by suffix; loaded when it is asked for, since MJCF needs MuJoCo
TREES = {".urdf": "granular_gym.arms.urdf:read_urdf", ".xml": "granular_gym.arms.mjcf:read_mjcf"}
#: where neither file nor caller tell: [rad/s2], [N m] as good as none, [m/s], [kg]; a speed must be told
DEFAULTS = {"acceleration": 10.0, "torque": 1e6, "tip_speed": 2.0, "payload": 0.0}
#: limits of each joint
_JOINT_LIMITS = ("speed", "acceleration", "torque")


def load_arm(
    path: str | os.PathLike[str],
    *,
    base: str | None = None,
    tip: str | None = None,
    speed: Any = None,
    acceleration: Any = None,
    torque: Any = None,
    tip_speed: float | None = None,
    payload: float | None = None,
) -> ArmDescription:
    """Reads an arm: from a URDF file (.urdf), an MJCF file (.xml, by MuJoCo) or a JSON file of our own (.json).

    Of URDF and MJCF files it takes the revolute and continuous joints from link `base` to link `tip`, any axes and
    offsets, their limits, and the collision geometry of the links that they move (docs/robots.md, Arms from files).

    Args:
        path: of the file, or the name of an asset ("panda.json").
        base: link that stands still; None: the one that nothing carries. None for JSON.
        tip: link whose frame is the last, where tools are bolted; None: the one that carries nothing. None for JSON.
        speed: largest of the joints [rad/s], one for all or one each, in place of the file's. MJCF files tell none.
        acceleration: largest of the joints [rad/s2]; None: the file's, or 10: URDF and MJCF files tell none.
        torque: largest of the joints [N m]; None: the file's, or 1e6, as good as no limit.
        tip_speed: Cartesian limit [m/s]; None: the file's, or 2.
        payload: [kg]; None: the file's, or 0.

    Raises:
        OSError: the file cannot be read.
        DescriptionError: it is damaged or says something that cannot be; the message names file and entry.
        ArgumentError: an argument is not what it should be, or there is neither a file nor an asset of that name.
        MissingError: an MJCF file without MuJoCo.
    """
    checks.path("path", path)
    found = _found(path)
    suffix = found.suffix.lower()
    if suffix not in (".json", *TREES):
        raise names.unknown("path: suffix", found.suffix, [".json", *TREES])
    given = {"speed": speed, "acceleration": acceleration, "torque": torque, "tip_speed": tip_speed, "payload": payload}
    told = {name: _limit(name, value) for name, value in given.items() if value is not None}
    try:
        if suffix == ".json":
            description = read_json(found, base, tip)
        else:
            module, _, function = TREES[suffix].partition(":")
            name, tree = getattr(importlib.import_module(module), function)(found)
            description = description_of(name, tree, base, tip)
        return _completed(description, told)
    except ArgumentError as error:
        raise DescriptionError(f"{found}: {error}") from None


def _found(path: str | os.PathLike[str]) -> Path:
    """The path of a file, or of an asset."""
    name = str(path)
    if os.path.exists(path) or os.sep in name:
        return Path(path)
    assets = [asset for asset in asset_names() if asset.endswith(".json")]
    if name not in assets:
        wanted = f"a file or the name of an asset, {names.listed(assets)}"
        raise ArgumentError(f"path: expected {wanted}, found no file {name!r}{names.nearest(name, assets)}")
    return asset_path(name)


def _limit(name: str, value: Any) -> Array:
    """A limit that the caller gives: a number, or in an array one for each joint."""
    values = checks.doubles(name, value, (None,), ()) if name in _JOINT_LIMITS else np.array(checks.number(name, value))
    for each in values.flat:
        checks.number(name, float(each), 0.0, 1e6, above=name != "payload")
    return values


def _completed(description: ArmDescription, told: Mapping[str, Array]) -> ArmDescription:
    """With what the caller tells in place of what the file tells, and defaults for what neither does."""
    count = description.joint_count
    limits: dict[str, Any] = {}
    for name in (*_JOINT_LIMITS, *DEFAULTS):
        values = np.asarray(getattr(description, name), np.float64)
        if name in told:
            if told[name].ndim and len(told[name]) != count:
                raise ArgumentError(f"{name}: expected a number or {count}, one for each joint, got {len(told[name])}")
            values = np.broadcast_to(told[name], values.shape)
        if name in DEFAULTS:
            values = np.where(np.isnan(values), DEFAULTS[name], values)
        elif np.isnan(values).any():
            joint = description.joint_names[int(np.flatnonzero(np.isnan(values))[0])]
            raise ArgumentError(f"joint {joint!r}: expected a largest {name}, the file tells none: give {name}=")
        limits[name] = np.array(values) if values.ndim else float(values)
    return replace(description, **limits)
