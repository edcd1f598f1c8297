"""Worlds as files of other programs, and packings from them: VTK (ParaView), LAMMPS, glTF. See docs/exchange.md."""

from granular_gym.exchange.gltf import write_gltf
from granular_gym.exchange.lammps import read_lammps
from granular_gym.exchange.lammps_data import write_lammps
from granular_gym.exchange.lammps_dump import LammpsDump, read_lammps_dump
from granular_gym.exchange.lammps_input import lammps_input
from granular_gym.exchange.packing import Packing
from granular_gym.exchange.vtk import VtkSeries, write_vtk

__all__ = [
    "LammpsDump",
    "Packing",
    "VtkSeries",
    "lammps_input",
    "read_lammps",
    "read_lammps_dump",
    "write_gltf",
    "write_lammps",
    "write_vtk",
]
