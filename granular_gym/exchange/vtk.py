"""vtk.py: worlds as VTK XML files, which ParaView, PyVista and VTK open: a moment of an env, or a series in time.

Written by pyevtk, a small library that needs NumPy alone, as VTK itself (134 MB) is much for writing files. It has no
function for polydata; `write_polydata` puts one together of its elements. Polydata, not unstructured grids: ParaView's
filters for lines (Tube) and surfaces take no other. Needs the `exchange` extra.
"""

from __future__ import annotations

import contextlib
import dataclasses
import math
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, ClosedError, MissingError
from granular_gym.exchange.snapshot import Bodies, Surfaces, box_edges, check, contacts, grain_fields

Array = NDArray[Any]


@dataclasses.dataclass(frozen=True)
class PolyData:
    """Points with cells of one kind, and fields of them.

    Attributes:
        points: (n, 3) [m].
        cells: (m, k) indices of points.
        kind: "Verts", "Lines" or "Polys".
        point_fields: of each point, by name.
        cell_fields: of each cell, by name.
    """

    points: Array
    cells: Array
    kind: str
    point_fields: dict[str, Array] = dataclasses.field(default_factory=dict)
    cell_fields: dict[str, Array] = dataclasses.field(default_factory=dict)


def _grains(world: World, env: int, bodies: Bodies) -> PolyData:
    points = world.positions[env]
    return PolyData(points, np.arange(len(points))[:, None], "Verts", grain_fields(world, env))


def _contacts(world: World, env: int, bodies: Bodies) -> PolyData | None:
    found = contacts(world, env)
    if found is None:
        return None
    cells = np.arange(2 * len(found.ends)).reshape(-1, 2)
    return PolyData(found.ends.reshape(-1, 3).astype(np.float32), cells, "Lines", {}, found.fields)


def _tools(world: World, env: int, bodies: Bodies) -> PolyData | None:
    return _surfaces(bodies.tools(), "tool") if world.tool_count else None


def _wrenches(world: World, env: int, bodies: Bodies) -> PolyData | None:
    if not world.tool_count:
        return None
    active = np.flatnonzero(world.tools_active[env])
    poses, wrenches = world.tool_poses[env][active], world.wrenches[env][active]
    fields = {"tool": active, "force": wrenches[:, :3], "torque": wrenches[:, 3:], "orientation": poses[:, 3:]}
    return PolyData(poses[:, :3], np.arange(len(active))[:, None], "Verts", fields)


def _shapes(world: World, env: int, bodies: Bodies) -> PolyData | None:
    if not bodies.flat:
        return None
    shapes = _surfaces(bodies.shapes(), "id")
    materials = world.grain_materials[env][shapes.cell_fields["id"]]
    return dataclasses.replace(shapes, cell_fields={**shapes.cell_fields, "material": materials})


def _surfaces(surfaces: Surfaces, owner: str) -> PolyData:
    return PolyData(surfaces.vertices, surfaces.faces, "Polys", {}, {owner: surfaces.owner})


def _bounds(world: World, env: int, bodies: Bodies) -> PolyData:
    corners, edges = box_edges(world)
    return PolyData(corners.astype(np.float32), edges, "Lines")


#: the files of a moment, by name; a function gives None where a world has nothing of the kind
PARTS: dict[str, Callable[[World, int, Bodies], PolyData | None]] = {
    "grains": _grains,
    "shapes": _shapes,
    "contacts": _contacts,
    "tools": _tools,
    "wrenches": _wrenches,
    "bounds": _bounds,
}
#: those that do not change with time
STILL = ("bounds",)


def write_vtk(folder: str | Path, world: World, env: int = 0) -> dict[str, Path]:
    """Writes an env as it is now: grains.vtp, contacts.vtp, tools.vtp, wrenches.vtp, bounds.vtp; of planar grains
    shapes.vtp. docs/exchange.md lists their fields.

    Args:
        folder: created where it is missing; files of these names are replaced.
        world: the world.
        env: index of the env.

    Returns:
        Paths by name, of the files that were written.

    Raises:
        ArgumentError: no world, or not an env of it.
        MissingError: the `exchange` extra is not installed.
        OSError: a file cannot be written.
    """
    place = checks.path("folder", folder)
    world, env = check(world, env)
    _library()
    place.mkdir(parents=True, exist_ok=True)
    bodies = _bodies(world, env)
    paths = {}
    for name, part in PARTS.items():
        data = part(world, env, bodies)
        if data is not None:
            paths[name] = write_polydata(place / f"{name}.vtp", data)
    return paths


class VtkSeries:
    """Writes an env again and again, for ParaView to play; a context manager.

        with exchange.VtkSeries("out/heap", world) as series:
            for k in range(100):
                world.step(dt=1e-3, substeps=20)
                series.add(0.02 * (k + 1))

    The folder holds grains.pvd, contacts.pvd and so on, which name the files of every moment and its time. They are
    whole after each `add`: a run that ends early can be opened.

    Args:
        folder: created where it is missing; files of these names are replaced.
        world: the world.
        env: index of the env.

    Attributes:
        count: moments written.

    Raises:
        ArgumentError: no world, or not an env of it.
        MissingError: the `exchange` extra is not installed.
        OSError: the folder cannot be made.
    """

    count: int

    def __init__(self, folder: str | Path, world: World, env: int = 0) -> None:
        self.folder: Path = checks.path("folder", folder)
        self._world, self._env = check(world, env)
        self._group = _library().VtkGroup
        self._bodies = _bodies(self._world, self._env)
        self.folder.mkdir(parents=True, exist_ok=True)
        self.count, self._closed = 0, False
        self._times: list[float] = []
        for name in STILL:
            data = PARTS[name](self._world, self._env, self._bodies)
            if data is not None:
                write_polydata(self.folder / f"{name}.vtp", data)

    def add(self, time: float) -> None:
        """Writes the env as it is now.

        Args:
            time: of the moment [s], above that of the one before.

        Raises:
            ArgumentError: another time.
            ClosedError: the series or the world was closed.
            OSError: a file cannot be written; what was written before stays readable.
        """
        if self._closed:
            raise ClosedError("the series is closed; make a new one")
        check(self._world, self._env)
        now = checks.number("time", time)
        last = self._times[-1] if self._times else -math.inf
        if not now > last:
            raise ArgumentError(f"time: expected above {last:g} s, that of the moment before, got {now:g}")
        names = []
        for name, part in PARTS.items():
            data = None if name in STILL else part(self._world, self._env, self._bodies)
            if data is not None:
                write_polydata(self._file(name, self.count), data)
                names.append(name)
        self._times.append(now)
        self.count += 1
        for name in names:
            self._write_group(name)

    def _file(self, name: str, number: int) -> Path:
        return self.folder / f"{name}_{number:06d}.vtp"

    def _write_group(self, name: str) -> None:
        """Writes the collection of a part anew, in place of the one before."""
        new = self.folder / f"{name}.new"
        group = self._group(str(new))
        for number, time in enumerate(self._times):
            group.addFile(str(self._file(name, number)), time)
        group.save()
        os.replace(f"{new}.pvd", self.folder / f"{name}.pvd")

    def close(self) -> None:
        """Ends the series; further calls do nothing. The end of `with` calls it."""
        self._closed = True

    def __enter__(self) -> VtkSeries:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def write_polydata(path: Path, data: PolyData) -> Path:
    """Writes one .vtp file, in place of one that is there; returns its path.

    Raises:
        OSError: it cannot be written; one that is there stays as it was.
    """
    vtk = _library()
    new = path.with_suffix(".new")
    file = vtk.VtkFile(str(new), vtk.VtkPolyData)
    try:
        blocks: list[Array] = []

        def announce(name: str, values: Array) -> None:
            values = _stored(values)
            file.addHeader(name, values.dtype.name, len(values), math.prod(values.shape[1:]))
            blocks.append(values.reshape(-1))

        counts = {f"n{kind.lower()}": str(len(data.cells) if kind == data.kind else 0) for kind in _KINDS}
        file.openGrid()
        file.openPiece(npoints=str(len(data.points)), **counts)
        for place, fields in (("Point", data.point_fields), ("Cell", data.cell_fields)):
            file.openData(place)
            for name, values in fields.items():
                announce(name, values)
            file.closeData(place)
        file.openElement("Points")
        announce("points", data.points)
        file.closeElement("Points")
        for kind in _KINDS:
            cells = data.cells if kind == data.kind else np.zeros((0, 1))
            file.openElement(kind)
            announce("connectivity", cells.reshape(-1).astype(np.int32))
            announce("offsets", (cells.shape[1] * np.arange(1, len(cells) + 1)).astype(np.int32))
            file.closeElement(kind)
        file.closePiece()
        file.closeGrid()
        for block in blocks:
            file.appendData(block)
        file.save()
        os.replace(file.getFileName(), path)
    except BaseException:
        # closing may fail as writing did, on a full disk
        with contextlib.suppress(OSError):
            file.xml.stream.close()
        Path(file.getFileName()).unlink(missing_ok=True)
        raise
    return path


_KINDS = ("Verts", "Lines", "Strips", "Polys")


def _stored(values: Array) -> Array:
    """Values in a type for files: single precision in place of double, as the engine has no more."""
    return np.ascontiguousarray(values, np.float32 if values.dtype.kind == "f" else np.int32)


def _library() -> Any:
    """The module pyevtk.vtk.

    Raises:
        MissingError: it is not installed.
    """
    try:
        import pyevtk.vtk
    except ImportError as error:
        raise MissingError('VTK files need pyevtk: pip install "granular_gym[exchange]"') from error
    return pyevtk.vtk


def _bodies(world: World, env: int) -> Bodies:
    try:
        return Bodies(world, env)
    except ModuleNotFoundError as error:
        raise MissingError(f'surfaces need {error.name}: pip install "granular_gym[exchange]"') from error
