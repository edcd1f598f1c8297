"""frozen.py: what a world is built from: a scene as arrays in the engine's layout.

`Scene.freeze` makes one; worlds, beds and views only ever see this, never the `Scene` it came from.
"""

from __future__ import annotations

import dataclasses
import hashlib
from typing import Any

import numpy as np

from granular_gym.engine.cameras import DepthCamera

#: the arrays that two worlds must share to exchange states
_LAYOUT = (
    "lower",
    "upper",
    "boundary",
    "wall_material",
    "material_fixed",
    "radius",
    "grain_material",
    "tool_free",
    "tool_mass",
    "tool_inertia",
    "part_integers",
    "part_floats",
    "grid_integers",
    "grid_floats",
    "sample",
)
#: what a state itself holds, of the arrays that only some scenes have
_PARTS = ("planar.", "clumps.", "continuum.", "bonds.")
_MOTION = {"planar.angle", "clumps.pose", "clumps.velocity"}


@dataclasses.dataclass(frozen=True)
class Mounted:
    """A camera and the tool it rides on, -1: fixed in the world."""

    camera: DepthCamera
    tool: int


@dataclasses.dataclass(frozen=True, eq=False)
class FrozenScene:
    """What a world is built from: arrays in the engine's layout, and names.

    Attributes:
        arrays: arguments of `_core.World` apart from env_count, solver and thread_count; read-only.
        tool_names: index by name.
        cameras: camera and tool by name, in the order they were added.
        material_names: by index.
        bodies: index of their clumps by name.
    """

    arrays: dict[str, Any]
    tool_names: dict[str, int]
    cameras: dict[str, Mounted]
    material_names: tuple[str, ...] = ()
    bodies: dict[str, int] = dataclasses.field(default_factory=dict)

    def __repr__(self) -> str:
        """Number of grains, and names."""
        return (
            f"FrozenScene(grain_count={self.grain_count}, materials={list(self.material_names)}, "
            f"tools={list(self.tool_names)}, cameras={list(self.cameras)})"
        )

    @property
    def grain_count(self) -> int:
        return len(self.arrays["radius"])

    @property
    def tool_count(self) -> int:
        return len(self.arrays["tool_pose"])

    @property
    def material_count(self) -> int:
        return len(self.arrays["density"])

    def digest(self, *names: str) -> str:
        """Hash of some of the arrays, by default of all."""
        total = hashlib.sha256()
        arrays = dict(self.arrays)
        for part in ("planar", "clumps", "continuum", "table", "bonds"):
            arrays |= {f"{part}.{name}": array for name, array in (arrays.pop(part) or {}).items()}
        # what a scene does not have leaves its hash as it is
        if not arrays["material_fixed"].any():
            del arrays["material_fixed"]
        if not arrays["tool_inertia"].any():
            del arrays["tool_inertia"]
        if not arrays["tool_mass"].any() and not arrays["tool_free"].any():
            del arrays["tool_free"], arrays["tool_mass"]
        elif not arrays["tool_mass"][:, 7:].any():  # no springs
            arrays["tool_mass"] = np.ascontiguousarray(arrays["tool_mass"][:, :7])
        wanted = [name for name in arrays if not names or name in names or name.startswith(_PARTS)]
        for name in sorted(set(wanted) - (_MOTION if names else set())):
            array = np.asarray(arrays[name])
            total.update(repr((name, array.dtype.str, array.shape)).encode())
            total.update(array.tobytes())
        return total.hexdigest()

    def layout(self) -> str:
        """Hash of what two worlds must share to exchange states: everything but what a state itself holds."""
        return self.digest(*_LAYOUT)
