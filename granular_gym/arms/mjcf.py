"""mjcf.py: the tree of links of an MJCF file, as MuJoCo compiles it. Needs the extra `mujoco`."""

from __future__ import annotations

import math
import xml.etree.ElementTree as ElementTree
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.arms.description import Array
from granular_gym.arms.solids import Solid
from granular_gym.arms.tree import Joint, TreeLink, joined
from granular_gym.errors import ArgumentError, MissingError
from granular_gym.robots.mujoco import geom_mesh

try:
    import mujoco
except ImportError as error:  # pragma: no cover
    raise MissingError('arms in MJCF files need MuJoCo: pip install "granular_gym[mujoco]"') from error

_JOINTS = {
    int(mujoco.mjtJoint.mjJNT_HINGE): "revolute",
    int(mujoco.mjtJoint.mjJNT_SLIDE): "slide",
    int(mujoco.mjtJoint.mjJNT_BALL): "ball",
    int(mujoco.mjtJoint.mjJNT_FREE): "free",
}
#: kind of a solid, and how many of a geom's sizes it takes
_SIMPLE = {
    int(mujoco.mjtGeom.mjGEOM_SPHERE): ("sphere", 1),
    int(mujoco.mjtGeom.mjGEOM_CAPSULE): ("capsule", 2),
    int(mujoco.mjtGeom.mjGEOM_CYLINDER): ("cylinder", 2),
    int(mujoco.mjtGeom.mjGEOM_BOX): ("box", 3),
}


def read_mjcf(path: Path) -> tuple[str, dict[str, TreeLink]]:
    """Name and links of the model of a file; the world is a link without a shape.

    Raises:
        OSError: the file cannot be read.
        ArgumentError: it is damaged or says something that cannot be.
    """
    try:
        tag = ElementTree.fromstring(path.read_bytes()).tag
    except (ElementTree.ParseError, ValueError, LookupError) as error:
        raise ArgumentError(f"expected XML, it is damaged ({error})") from None
    if tag != "mujoco":
        raise ArgumentError(f"expected the element <mujoco>, got <{tag}>; a URDF has the suffix .urdf")
    try:
        model = mujoco.MjModel.from_xml_path(str(path))
    except (ValueError, mujoco.FatalError) as error:
        raise ArgumentError(f"MuJoCo refuses it: {' '.join(str(error).split())}") from None
    leaders, closed = _equalities(model)
    links = []
    for body in range(model.nbody):
        first, count = int(model.body_jntadr[body]), int(model.body_jntnum[body])
        joints = tuple(_joint(model, joint, leaders.get(joint)) for joint in range(first, first + count))
        parent = _name(model, "BODY", int(model.body_parentid[body])) if body else None
        pose = _pose(model.body_pos[body], model.body_quat[body])
        links.append(TreeLink(_name(model, "BODY", body), parent, pose, joints, _solids(model, body), closed.get(body)))
    return path.stem, joined(links)


def _joint(model: Any, joint: int, leader: str | None) -> Joint:
    kind = _JOINTS[int(model.jnt_type[joint])]
    lower, upper = (float(x) for x in model.jnt_range[joint])
    if not model.jnt_limited[joint]:
        kind, lower, upper = "continuous" if kind == "revolute" else kind, -math.inf, math.inf
    return Joint(
        _name(model, "JOINT", joint),
        kind,
        np.array(model.jnt_axis[joint]),
        np.array(model.jnt_pos[joint]),
        lower,
        upper,
        torque=_torque(model, joint),
        drawn=float(model.qpos0[model.jnt_qposadr[joint]]),
        leader=leader,
    )


def _torque(model: Any, joint: int) -> float:
    """What the joint's actuators may give in all, or less where the joint says so; NaN: no limit is told."""
    limits = []
    if model.jnt_actfrclimited[joint]:
        limits.append(float(np.abs(model.jnt_actfrcrange[joint]).max()))
    kinds = (int(mujoco.mjtTrn.mjTRN_JOINT), int(mujoco.mjtTrn.mjTRN_JOINTINPARENT))
    acting = [k for k in range(model.nu) if model.actuator_trntype[k] in kinds and model.actuator_trnid[k, 0] == joint]
    if acting and all(model.actuator_forcelimited[k] for k in acting):
        each = [np.abs(model.actuator_forcerange[k]).max() * abs(model.actuator_gear[k, 0]) for k in acting]
        limits.append(float(sum(each)))
    return (min(limits) if limits else 0.0) or math.nan


def _equalities(model: Any) -> tuple[dict[int, str], dict[int, str]]:
    """By joint: the one that it follows; by body: what ties it to another."""
    leaders: dict[int, str] = {}
    closed: dict[int, str] = {}
    for k in range(model.neq):
        one, two = int(model.eq_obj1id[k]), int(model.eq_obj2id[k])
        kind, name = int(model.eq_type[k]), _name(model, "EQUALITY", k)
        if kind == int(mujoco.mjtEq.mjEQ_JOINT):
            leaders[one] = _name(model, "JOINT", two) if two >= 0 else name
        elif kind in (int(mujoco.mjtEq.mjEQ_CONNECT), int(mujoco.mjtEq.mjEQ_WELD)):
            bodies = (one, two)
            # before MuJoCo 3.2 these were bodies always
            if hasattr(model, "eq_objtype") and int(model.eq_objtype[k]) == int(mujoco.mjtObj.mjOBJ_SITE):
                bodies = (int(model.site_bodyid[one]), int(model.site_bodyid[two]))
            closed |= dict.fromkeys(bodies, f"equality {name!r}")
    return leaders, closed


def _solids(model: Any, body: int) -> tuple[Solid, ...]:
    """Geoms that collide; those of the world surround the arm and are none of its."""
    first, count = int(model.body_geomadr[body]), int(model.body_geomnum[body]) if body else 0
    collide = [g for g in range(first, first + count) if model.geom_contype[g] or model.geom_conaffinity[g]]
    return tuple(_solid(model, geom) for geom in collide)


def _solid(model: Any, geom: int) -> Solid:
    pose, where = _pose(model.geom_pos[geom], model.geom_quat[geom]), f"geom {_name(model, 'GEOM', geom)!r}"
    if int(model.geom_type[geom]) in _SIMPLE:
        kind, sizes = _SIMPLE[int(model.geom_type[geom])]
        return Solid(where, kind, tuple(float(x) for x in model.geom_size[geom][:sizes]), pose)
    return Solid(where, "mesh", (), pose, partial(geom_mesh, model, geom))


def _pose(place: Array, quaternion: Array) -> Array:
    matrix, pose = np.zeros(9), np.eye(4)
    mujoco.mju_quat2Mat(matrix, quaternion)
    pose[:3, :3], pose[:3, 3] = matrix.reshape(3, 3), place
    return pose


def _name(model: Any, kind: str, index: int) -> str:
    name = mujoco.mj_id2name(model, getattr(mujoco.mjtObj, f"mjOBJ_{kind}"), index)
    return str(name or f"{kind.lower()}{index}")
