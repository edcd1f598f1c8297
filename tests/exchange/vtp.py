"""Readers of .vtp files for the tests: VTK's own, and one after the format's description, for where VTK is missing."""

from __future__ import annotations

import re
import struct
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np


class Read(NamedTuple):
    points: np.ndarray
    point_fields: dict[str, np.ndarray]
    cell_fields: dict[str, np.ndarray]
    cells: dict[str, np.ndarray]  # connectivity by kind, of the kinds that there are


def by_vtk(path: Path) -> Read:
    """As VTK reads it; a test is skipped without VTK. Whatever VTK complains of fails the test."""
    import pytest

    pytest.importorskip("vtkmodules", reason="vtk is not installed")
    from vtkmodules.util.numpy_support import vtk_to_numpy
    from vtkmodules.vtkCommonCore import vtkOutputWindow, vtkStringOutputWindow
    from vtkmodules.vtkIOXML import vtkXMLPolyDataReader

    said = vtkStringOutputWindow()
    vtkOutputWindow.SetInstance(said)
    reader = vtkXMLPolyDataReader()
    reader.SetFileName(str(path))
    reader.Update()
    data = reader.GetOutput()
    assert said.GetOutput() == "" and reader.GetErrorCode() == 0, said.GetOutput()

    def fields(of: Any) -> dict[str, np.ndarray]:
        return {of.GetArrayName(k): vtk_to_numpy(of.GetArray(k)) for k in range(of.GetNumberOfArrays())}

    kinds = {"Verts": data.GetVerts(), "Lines": data.GetLines(), "Polys": data.GetPolys()}
    count = data.GetNumberOfPoints()
    return Read(
        vtk_to_numpy(data.GetPoints().GetData()) if count else np.zeros((0, 3), np.float32),
        fields(data.GetPointData()),
        fields(data.GetCellData()),
        {name: vtk_to_numpy(cells.GetConnectivityArray()) for name, cells in kinds.items() if cells.GetNumberOfCells()},
    )


def by_description(path: Path) -> Read:
    """After https://docs.vtk.org/en/latest/vtk_file_formats/vtkxml_file_format.html: appended raw blocks."""
    content = path.read_bytes()
    head, _, rest = content.partition(b"<AppendedData")
    blob = rest[rest.index(b"_") + 1 :]
    root = ElementTree.fromstring(re.sub(rb"\s*$", b"", head) + b"</VTKFile>")
    assert root.get("type") == "PolyData" and root.get("header_type") == "UInt64"
    piece = root.find("PolyData/Piece")
    assert piece is not None

    def array(node: ElementTree.Element) -> np.ndarray:
        start = int(node.attrib["offset"])
        (size,) = struct.unpack("<Q", blob[start : start + 8])
        values = np.frombuffer(blob[start + 8 : start + 8 + size], np.dtype(node.attrib["type"].lower()))
        parts = int(node.attrib["NumberOfComponents"])
        return values.reshape(-1, parts) if parts > 1 else values

    def arrays(place: str) -> dict[str, np.ndarray]:
        return {node.attrib["Name"]: array(node) for node in piece.findall(f"{place}/DataArray")}

    points = arrays("Points")["points"].reshape(-1, 3)
    assert len(points) == int(piece.attrib["NumberOfPoints"])
    cells = {}
    for kind in ("Verts", "Lines", "Polys"):
        found = arrays(kind)
        assert len(found["offsets"]) == int(piece.attrib[f"NumberOf{kind}"])
        if len(found["offsets"]):
            assert found["offsets"][-1] == len(found["connectivity"])
            cells[kind] = found["connectivity"]
    return Read(points, arrays("PointData"), arrays("CellData"), cells)


READERS = {"vtk": by_vtk, "description": by_description}
