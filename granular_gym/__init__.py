"""granular_gym: robots learn to move granular material, over an engine written in C.

Importing registers the tasks with Gymnasium; it starts no thread and touches no GPU.
"""

from __future__ import annotations

from . import errors
from ._core import DeviceArray, write_png
from .assets import asset_names, asset_path
from .beds import settled_bed
from .calibrate import BulkDensity, Calibration, DischargeRate, Grains, ReposeAngle, calibrate
from .cameras import DepthCamera, look_at
from .contacts import Contacts
from .errors import (
    ArgumentError,
    BackendError,
    BusyError,
    CalibrationError,
    CapacityError,
    ClosedError,
    DescriptionError,
    GranularError,
    MeshError,
    StabilityWarning,
    StateError,
)
from .info import info
from .materials import Air, Material, Pair, capillary_cohesion, cohesion_of_force
from .mesh import Mesh, load_mesh, save_stl
from .pair_field import PairField, exact_distance
from .ranges import MaterialRanges
from .scene import Scene
from .sdf import Sdf, SdfGrid
from .shape2d import Shape2D
from .sizes import SizeDistribution
from .solver import Solver
from .state import State
from .tasks import register_tasks
from .world import World

__version__ = "0.1.0"

__all__ = [
    "Air",
    "ArgumentError",
    "BackendError",
    "BulkDensity",
    "BusyError",
    "Calibration",
    "CalibrationError",
    "CapacityError",
    "ClosedError",
    "Contacts",
    "DepthCamera",
    "DescriptionError",
    "DeviceArray",
    "DischargeRate",
    "Grains",
    "GranularError",
    "Material",
    "MaterialRanges",
    "Mesh",
    "MeshError",
    "Pair",
    "PairField",
    "ReposeAngle",
    "Scene",
    "Sdf",
    "SdfGrid",
    "Shape2D",
    "SizeDistribution",
    "Solver",
    "StabilityWarning",
    "State",
    "StateError",
    "World",
    "__version__",
    "asset_names",
    "asset_path",
    "calibrate",
    "capillary_cohesion",
    "cohesion_of_force",
    "errors",
    "exact_distance",
    "info",
    "load_mesh",
    "look_at",
    "save_stl",
    "settled_bed",
    "write_png",
]

register_tasks()
