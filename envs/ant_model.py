"""ant_model.py: the Ant of Gymnasium as a robot that stands on sand: half as large, and as heavy as such a robot is.

The model is read from the installed package of Gymnasium (`gymnasium/envs/mujoco/assets/ant.xml`). Shapes, joints,
their ranges and the order of the motors are the Ant's, at half its size. Its mass is not: .9 kg at a span of 2 m, a
balloon, which no sand would feel. Nor are its motors, whose rotors have 1 kg m2.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import gymnasium
import numpy as np

from granular_gym.base.types import Floats
from granular_gym.errors import MissingError

try:
    import mujoco
except ImportError as error:  # pragma: no cover
    raise MissingError('AntOnSand needs MuJoCo: pip install "granular_gym[mujoco]"') from error

SCALE = 0.5  # of all lengths
DENSITY = 300.0  # [kg/m3] of all links
GEAR = 30.0  # [N m] torque of a motor at full action
ARMATURE, DAMPING = 0.1, 1.0  # [kg m2], [N m s/rad] of the joints
LEGS = 4
JOINTS = 2 * LEGS
#: the torso; thigh and shin of each leg. With x ahead leg 1 is in front on the left, 2 behind on the left, 3 behind on
#: the right, 4 in front on the right
LINKS = ("torso", *(f"{part}_{leg}" for leg in range(1, LEGS + 1) for part in ("thigh", "shin")))
SHINS = tuple(LINKS.index(f"shin_{leg}") for leg in range(1, LEGS + 1))
#: angles of the joints in the Ant's first posture, hip and ankle of each leg [rad]
STANCE = np.array([0.0, 1.0, 0.0, -1.0, 0.0, -1.0, 0.0, 1.0])
#: no link reaches further from the middle of the torso [m]
REACH = SCALE * (0.8 * np.sqrt(2.0) + 0.08)
#: attributes that are lengths [m]
_LENGTHS = (("body", "pos"), ("geom", "pos"), ("geom", "size"), ("geom", "fromto"), ("joint", "pos"))


def ant_model(dt: float, floor: float = 0.0) -> Any:
    """The mujoco.MjModel.

    Args:
        dt: time step [s].
        floor: height of the rigid floor [m].

    Raises:
        OSError: the installed Gymnasium has no Ant.
    """
    path = Path(gymnasium.__file__).parent / "envs" / "mujoco" / "assets" / "ant.xml"
    root = ElementTree.parse(path).getroot()
    for tag, attribute in _LENGTHS:
        for element in root.iter(tag):
            if attribute in element.attrib:
                lengths = SCALE * np.array(element.attrib[attribute].split(), float)
                element.set(attribute, " ".join(map(repr, lengths.tolist())))
    _first(root, "compiler").set("fusestatic", "true")  # hips are part of the torso
    # damping as the coupled solve has it
    _first(root, "option").attrib.update(timestep=repr(dt), integrator="Euler")
    defaults = _first(root, "default")
    _first(defaults, "joint").attrib.update(armature=repr(ARMATURE), damping=repr(DAMPING))
    _first(defaults, "geom").attrib.update(density=repr(DENSITY), margin="0")  # feet touch the floor, not 2 cm above it
    _first(root, "worldbody/geom[@name='floor']").set("pos", f"0 0 {floor!r}")
    for leg in range(1, LEGS + 1):
        thigh = _first(root, f".//body[@name='aux_{leg}']")
        thigh.set("name", f"thigh_{leg}")
        _first(thigh, "body").set("name", f"shin_{leg}")
    for motor in root.iter("motor"):
        motor.set("gear", repr(GEAR))
    return mujoco.MjModel.from_xml_string(ElementTree.tostring(root, encoding="unicode"))


def _first(element: ElementTree.Element, path: str) -> ElementTree.Element:
    found = element.find(path)
    if found is None:
        raise OSError(f"ant.xml of the installed Gymnasium: expected {path!r}, it is missing")
    return found


def surface_points(model: Any, data: Any, along: int = 9) -> tuple[Floats, Floats]:
    """Spheres that make up the robot: centres (n, 3) and radii (n,) [m]; capsules as so many in a row."""
    centers, radii = [], []
    for geom in range(model.ngeom):
        if not model.geom_bodyid[geom]:
            continue
        radius, half = model.geom_size[geom, :2]
        steps = np.zeros(1)
        if model.geom_type[geom] == mujoco.mjtGeom.mjGEOM_CAPSULE:
            steps = np.linspace(-half, half, along)
        axis = data.geom_xmat[geom].reshape(3, 3)[:, 2]
        centers.append(data.geom_xpos[geom] + steps[:, None] * axis)
        radii.append(np.full(len(steps), radius))
    return np.concatenate(centers), np.concatenate(radii)


def height_over(model: Any, data: Any, grains: Floats, radius: float) -> float:
    """How far the robot can be lowered until it touches a grain [m]; negative: it must be raised.

    Args:
        model: of the robot.
        data: where it is.
        grains: (n, 3) positions [m].
        radius: of a grain [m].
    """
    centers, radii = surface_points(model, data)
    reach = radii + radius
    apart = centers[:, None, :2] - grains[None, :, :2]
    flat = (apart**2).sum(axis=2)
    under = np.sqrt(np.maximum(reach[:, None] ** 2 - flat, 0.0))
    gaps = np.where(flat < reach[:, None] ** 2, centers[:, 2:] - grains[None, :, 2] - under, np.inf)
    return float(min(gaps.min(), (centers[:, 2] - radii).min()))
