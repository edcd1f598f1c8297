"""urdf.py: the tree of links of a URDF file.

Of the format (https://wiki.ros.org/urdf/XML) an arm needs names, origins, axes and limits of joints, and the collision
geometry of links; <capsule radius length>, which some tools write, is read, too. The XML is read by the standard
library and taken as it is: nothing is guessed where a file is damaged.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from functools import partial
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from granular_gym.arms.description import Array
from granular_gym.arms.solids import Solid
from granular_gym.arms.tree import Joint, TreeLink, joined
from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError
from granular_gym.shapes.mesh import Mesh, load_mesh


def read_urdf(path: Path) -> tuple[str, dict[str, TreeLink]]:
    """Name and links of the robot of a file.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: it is damaged or says something that cannot be.
    """
    try:
        root = ElementTree.fromstring(path.read_bytes())
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ArgumentError(f"expected XML, it is damaged ({error})") from None
    if root.tag != "robot":
        raise ArgumentError(f"expected the element <robot>, got <{root.tag}>")
    if any("xacro" in str(each.tag) for each in root.iter()):
        raise ArgumentError("expected a URDF, it is a template: expand it with xacro first")
    carriers: dict[str, Element] = {}
    taken: set[str] = set()
    for each in root.findall("joint"):
        name = _text("joint", each, "name")
        if name in taken:
            raise ArgumentError(f"joint {name!r}: expected one of each name, there are two")
        taken.add(name)
        child = _named(each, "child", "link")
        if child in carriers:
            both = f"{_text('joint', carriers[child], 'name')!r} and {_text('joint', each, 'name')!r}"
            raise ArgumentError(f"link {child!r}: expected one joint that carries it, {both} close a loop")
        carriers[child] = each
    links = [_link(each, carriers, path) for each in root.findall("link")]
    tree = joined(links)
    for child in carriers:
        if child not in tree:
            raise names.unknown(f"joint {carriers[child].get('name')!r}: child", child, tree)
    return root.get("name") or path.stem, tree


def _link(element: Element, carriers: dict[str, Element], path: Path) -> TreeLink:
    name = _text("link", element, "name")
    solids = tuple(
        _solid(f"link {name!r}: collision[{k}]", each, path) for k, each in enumerate(element.findall("collision"))
    )
    carrier = carriers.get(name)
    if carrier is None:
        return TreeLink(name, None, np.eye(4), (), solids)
    joint = _joint(carrier)
    pose = _origin(f"joint {joint.name!r}", carrier)
    return TreeLink(name, _named(carrier, "parent", "link"), pose, () if joint.kind == "fixed" else (joint,), solids)


def _joint(element: Element) -> Joint:
    name, zero = _text("joint", element, "name"), np.zeros(3)
    where, kind = f"joint {name!r}", _text(f"joint {name!r}", element, "type")
    if kind == "fixed":
        return Joint(name, kind, zero, zero)
    axis, limit, mimic = element.find("axis"), element.find("limit"), element.find("mimic")
    lower, upper, speed, torque = 0.0, 0.0, math.nan, math.nan
    if limit is not None:
        lower, upper = (_numbers(f"{where}: limit", limit, key, "0", 1)[0] for key in ("lower", "upper"))
        # many tools write 0 for what they do not know
        speed, torque = (
            _numbers(f"{where}: limit", limit, key, "0", 1)[0] or math.nan for key in ("velocity", "effort")
        )
    if kind == "continuous":
        lower, upper = -math.inf, math.inf
    elif limit is None and kind == "revolute":
        raise ArgumentError(f"{where}: expected an element <limit>, it is missing")
    return Joint(
        name,
        kind,
        np.array([1.0, 0.0, 0.0]) if axis is None else _numbers(f"{where}: axis", axis, "xyz", "1 0 0", 3),
        zero,
        float(lower),
        float(upper),
        float(speed),
        float(torque),
        leader=None if mimic is None else _text(f"{where}: mimic", mimic, "joint"),
    )


def _solid(where: str, element: Element, path: Path) -> Solid:
    pose, geometry = _origin(where, element), element.find("geometry")
    shape = next(iter(geometry), None) if geometry is not None else None
    if shape is None or shape.tag not in _SHAPES:
        got = "nothing" if shape is None else f"<{shape.tag}>"
        raise ArgumentError(f"{where}: expected a geometry out of {names.listed(_SHAPES)}, got {got}")
    if shape.tag != "mesh":
        return Solid(where, shape.tag, _SHAPES[shape.tag](f"{where}: {shape.tag}", shape), pose)
    scale = _numbers(f"{where}: mesh", shape, "scale", "1 1 1", 3)
    if not scale.all():
        raise ArgumentError(f"{where}: mesh: scale: expected numbers other than 0, got {scale.tolist()}")
    file = _text(f"{where}: mesh", shape, "filename")
    return Solid(where, "mesh", (), pose, partial(_mesh, file, path.parent, scale))


def _mesh(name: str, folder: Path, scale: Array) -> Mesh:
    """The triangles of a mesh file: relative to the folder of the URDF, or of a package above it."""
    scheme, _, rest = name.rpartition("://")
    if scheme == "package":
        # by its place in the package, in the folders above; those are the package or hold it
        inside = rest.partition("/")[2]
        tried = [above / each for above in (folder, *folder.resolve().parents) for each in (rest, inside)]
    elif scheme in ("", "file"):
        tried = [folder / rest]
    else:
        raise ArgumentError(f"expected the name of a file or package://, got {name!r}")
    found = next((each for each in tried if each.is_file()), None)
    if found is None:
        raise ArgumentError(f"expected a file, there is no {name!r} seen from {str(folder)!r}")
    mesh = load_mesh(found)
    return Mesh(mesh.vertices * scale, mesh.faces)


def _length(where: str, element: Element, key: str) -> float:
    value = float(_numbers(where, element, key, "", 1)[0])
    return checks.number(f"{where}: {key}", value, 0.0, above=True)


def _round(where: str, element: Element) -> tuple[float, ...]:
    return _length(where, element, "radius"), 0.5 * _length(where, element, "length")


def _box(where: str, element: Element) -> tuple[float, ...]:
    sides = _numbers(where, element, "size", "", 3)
    return tuple(0.5 * checks.number(f"{where}: size", float(side), 0.0, above=True) for side in sides)


#: lengths of a shape, by its element
_SHAPES: dict[str, Callable[[str, Element], tuple[float, ...]]] = {
    "box": _box,
    "sphere": lambda where, element: (_length(where, element, "radius"),),
    "cylinder": _round,
    "capsule": _round,
    "mesh": lambda where, element: (),
}


# ---- what elements say ----


def _text(where: str, element: Element, key: str) -> str:
    value = element.get(key)
    if not value:
        raise ArgumentError(f"{where}: expected an attribute {key!r}, it is missing")
    return value


def _named(joint: Element, tag: str, key: str) -> str:
    where, element = f"joint {joint.get('name', '')!r}", joint.find(tag)
    if element is None:
        raise ArgumentError(f"{where}: expected an element <{tag}>, it is missing")
    return _text(f"{where}: {tag}", element, key)


def _numbers(where: str, element: Element, key: str, default: str, count: int) -> Array:
    """Numbers of an attribute, separated by spaces; an empty default: it must be there."""
    text = element.get(key, default)
    try:
        values = np.array([float(word) for word in text.split()])
    except ValueError:
        values = np.zeros(0)
    if len(values) != count or not np.isfinite(values).all():
        raise ArgumentError(f"{where}: expected {count} finite numbers in {key!r}, got {text!r}")
    return values


def _origin(where: str, element: Element) -> Array:
    """The pose (4, 4) of <origin>: turned about x, y and z, which stand still, then moved."""
    origin, pose = element.find("origin"), np.eye(4)
    if origin is None:
        return pose
    pose[:3, 3] = _numbers(f"{where}: origin", origin, "xyz", "0 0 0", 3)
    roll, pitch, yaw = _numbers(f"{where}: origin", origin, "rpy", "0 0 0", 3)
    (cr, sr), (cp, sp), (cy, sy) = ((math.cos(a), math.sin(a)) for a in (roll, pitch, yaw))
    about_x = np.array([[1.0, 0.0, 0.0], [0.0, cr, -sr], [0.0, sr, cr]])
    about_y = np.array([[cp, 0.0, sp], [0.0, 1.0, 0.0], [-sp, 0.0, cp]])
    about_z = np.array([[cy, -sy, 0.0], [sy, cy, 0.0], [0.0, 0.0, 1.0]])
    pose[:3, :3] = about_z @ about_y @ about_x
    return pose
