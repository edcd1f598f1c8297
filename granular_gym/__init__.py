"""granular_gym: robots learn to move granular material, over an engine written in C.

Importing registers the tasks with Gymnasium; it starts no thread and touches no GPU.
"""

from __future__ import annotations

from . import errors
from ._core import write_png
from .assets import asset_names, asset_path
from .beds import settled_bed
from .cameras import DepthCamera, look_at
from .errors import (
    ArgumentError,
    BackendError,
    BusyError,
    CapacityError,
    ClosedError,
    DescriptionError,
    GranularError,
    MeshError,
    StabilityWarning,
    StateError,
)
from .info import info
from .mesh import Mesh, load_mesh, save_stl
from .scene import Scene
from .sdf import Sdf, SdfGrid
from .solver import Solver
from .state import State
from .tasks import register_tasks
from .world import World

__version__ = "0.1.0"

__all__ = [
    "ArgumentError",
    "BackendError",
    "BusyError",
    "CapacityError",
    "ClosedError",
    "DepthCamera",
    "DescriptionError",
    "GranularError",
    "Mesh",
    "MeshError",
    "Scene",
    "Sdf",
    "SdfGrid",
    "Solver",
    "StabilityWarning",
    "State",
    "StateError",
    "World",
    "__version__",
    "asset_names",
    "asset_path",
    "errors",
    "info",
    "load_mesh",
    "look_at",
    "save_stl",
    "settled_bed",
    "write_png",
]

register_tasks()
