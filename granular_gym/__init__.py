"""granular_gym: robots learn to move granular material, over an engine written in C.

Importing registers the tasks with Gymnasium; it starts no thread and touches no GPU.
"""

from __future__ import annotations

from granular_gym import errors
from granular_gym._core import DeviceArray, write_png
from granular_gym.base.assets import asset_names, asset_path
from granular_gym.calibration.calibrate import Calibration, calibrate
from granular_gym.calibration.experiments import BulkDensity, DischargeRate, ReposeAngle
from granular_gym.calibration.grains import Grains
from granular_gym.engine.beds import settled_bed
from granular_gym.engine.bell import Bell
from granular_gym.engine.cameras import DepthCamera, look_at
from granular_gym.engine.contacts import Contacts
from granular_gym.engine.continuum import DruckerPrager, Elastic, Liquid, VonMises
from granular_gym.engine.materials import Air, Material, Pair, capillary_cohesion, cohesion_of_force
from granular_gym.engine.overlaps import Overlaps
from granular_gym.engine.pair_forces import PairForces
from granular_gym.engine.pair_table import PairTable
from granular_gym.engine.pair_table_file import load_pair_table, save_pair_table
from granular_gym.engine.point_clouds import PointCloud, points_of
from granular_gym.engine.scene import Scene
from granular_gym.engine.sizes import SizeDistribution
from granular_gym.engine.solver import Solver
from granular_gym.engine.state import State
from granular_gym.engine.world import World
from granular_gym.errors import (
    ArgumentError,
    BackendError,
    BusyError,
    CalibrationError,
    CapacityError,
    ClosedError,
    DatasetError,
    DescriptionError,
    DescriptionWarning,
    DivergenceError,
    ExchangeError,
    GranularError,
    MeshError,
    MissingError,
    OverlapError,
    OverlapWarning,
    ReplayError,
    SdfWarning,
    StabilityWarning,
    StateError,
    TableError,
)
from granular_gym.info import info
from granular_gym.shapes.clump import Clump
from granular_gym.shapes.mesh import Mesh, load_mesh, save_stl
from granular_gym.shapes.pair_distance import exact_distance
from granular_gym.shapes.pair_field import PairField
from granular_gym.shapes.sdf import Sdf, SdfGrid
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.tasks.depth_sensor import DepthSensor
from granular_gym.tasks.ranges import MaterialRanges
from granular_gym.tasks.register import register_task
from granular_gym.tasks.registry import register_tasks

__version__ = "0.1.0"

__all__ = [
    "Air",
    "ArgumentError",
    "BackendError",
    "Bell",
    "BulkDensity",
    "BusyError",
    "Calibration",
    "CalibrationError",
    "CapacityError",
    "ClosedError",
    "Clump",
    "Contacts",
    "DatasetError",
    "DepthCamera",
    "DepthSensor",
    "DescriptionError",
    "DescriptionWarning",
    "DeviceArray",
    "DischargeRate",
    "DivergenceError",
    "DruckerPrager",
    "Elastic",
    "ExchangeError",
    "Grains",
    "GranularError",
    "Liquid",
    "Material",
    "MaterialRanges",
    "Mesh",
    "MeshError",
    "MissingError",
    "OverlapError",
    "OverlapWarning",
    "Overlaps",
    "Pair",
    "PairField",
    "PairForces",
    "PairTable",
    "PointCloud",
    "ReplayError",
    "ReposeAngle",
    "Scene",
    "Sdf",
    "SdfGrid",
    "SdfWarning",
    "Shape2D",
    "SizeDistribution",
    "Solver",
    "StabilityWarning",
    "State",
    "StateError",
    "TableError",
    "VonMises",
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
    "load_pair_table",
    "look_at",
    "points_of",
    "register_task",
    "save_pair_table",
    "save_stl",
    "settled_bed",
    "write_png",
]

register_tasks()
