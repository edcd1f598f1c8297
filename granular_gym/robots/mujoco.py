"""mujoco.py: robots of MuJoCo whose links grains push. Needs the extra `mujoco`.

    import mujoco
    from granular_gym.mujoco import Coupling, MujocoRobots

    robots = MujocoRobots(mujoco.MjModel.from_xml_path("arm.xml"), ["bucket"], env_count=4)
    robots.add_to(scene, material="steel")
    both = Coupling(scene.build(env_count=4), robots)
    robots.data[0].ctrl[:] = ...
    both.step(50)

Each named body becomes a coupled tool: its geoms are the parts of its signed distance field, its frame is that of the
body. The mass matrix of the robot with the damping of its joints, and the constraints that are stiff (limits, its own
contacts, equalities, dry friction that holds) with their stiffness, give the inverse inertia with which links enter the
contact solve: J H^-1 J^T, H = M + dt B + Jc^T D Jc. MuJoCo then takes the impulses as generalised forces of its step.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.scene import Scene
from granular_gym.errors import ArgumentError, MissingError, StateError
from granular_gym.robots.coupling import Links
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf

try:
    import mujoco
except ImportError as error:  # pragma: no cover
    raise MissingError('granular_gym.mujoco needs MuJoCo: pip install "granular_gym[mujoco]"') from error

Doubles = NDArray[np.float64]

#: cells of the SDF grid of a mesh along its longest side
_CELLS = 48
#: most degrees of freedom: the mass matrix is inverted densely
LARGEST_NV = 200
#: what a saved robot holds
_STATE = int(mujoco.mjtState.mjSTATE_INTEGRATION)
#: kinds of constraints
_EQUALITY, _ELLIPTIC = int(mujoco.mjtConstraint.mjCNSTR_EQUALITY), int(mujoco.mjtConstraint.mjCNSTR_CONTACT_ELLIPTIC)
_FRICTIONS = [int(getattr(mujoco.mjtConstraint, f"mjCNSTR_FRICTION_{of}")) for of in ("DOF", "TENDON")]
#: warnings of positions, velocities, accelerations and controls that are not finite, or absurd
_BAD = [int(getattr(mujoco.mjtWarning, f"mjWARN_BAD{kind}")) for kind in ("QPOS", "QVEL", "QACC", "CTRL")]


def body_sdf(model: Any, body: int | str, spacing: float | None = None) -> Sdf:
    """The signed distance field of a body of a model, in the body's frame.

    Its geoms that collide, or all of them where none does: spheres, capsules, cylinders, boxes, ellipsoids (as meshes)
    and meshes.

    Args:
        model: mujoco.MjModel.
        body: name or index.
        spacing: of the samples of meshes [m]; None: a 48th of the mesh.

    Raises:
        ArgumentError: no such body, no geom, or a plane or height field, which have no inside.
    """
    index = _body(model, body)
    first, count = int(model.body_geomadr[index]), int(model.body_geomnum[index])
    geoms = range(first, first + count)
    collide = [g for g in geoms if model.geom_contype[g] or model.geom_conaffinity[g]]
    if not count:
        raise ArgumentError(f"bodies: expected bodies with geoms, {_name(model, index)!r} has none")
    return Sdf.union(
        *[_geom_sdf(model, g, spacing).at(model.geom_pos[g], model.geom_quat[g]) for g in collide or geoms]
    )


def _geom_sdf(model: Any, geom: int, spacing: float | None) -> Sdf:
    kind, size = int(model.geom_type[geom]), model.geom_size[geom]
    types = mujoco.mjtGeom
    simple = {
        int(types.mjGEOM_SPHERE): lambda: Sdf.sphere(float(size[0])),
        int(types.mjGEOM_CAPSULE): lambda: Sdf.capsule(float(size[0]), float(size[1])),
        int(types.mjGEOM_CYLINDER): lambda: Sdf.cylinder(float(size[0]), float(size[1])),
        int(types.mjGEOM_BOX): lambda: Sdf.box(tuple(float(x) for x in size)),
    }
    if kind in simple:
        return simple[kind]()
    mesh = geom_mesh(model, geom)
    longest = float(np.ptp(mesh.vertices, axis=0).max())
    return Sdf.from_mesh(mesh, spacing=longest / _CELLS if spacing is None else spacing)


def geom_mesh(model: Any, geom: int) -> Mesh:
    """The triangles of a geom that is a mesh or an ellipsoid, in its frame.

    Raises:
        ArgumentError: it is of a kind that has no inside.
    """
    kind, types = int(model.geom_type[geom]), mujoco.mjtGeom
    if kind == int(types.mjGEOM_ELLIPSOID):
        points, faces = _sphere_mesh()
        return Mesh(points * model.geom_size[geom], faces)
    if kind == int(types.mjGEOM_MESH):
        data = int(model.geom_dataid[geom])
        vertices, triangles = int(model.mesh_vertadr[data]), int(model.mesh_faceadr[data])
        return Mesh(
            model.mesh_vert[vertices : vertices + int(model.mesh_vertnum[data])],
            model.mesh_face[triangles : triangles + int(model.mesh_facenum[data])],
        )
    name = types(kind).name.removeprefix("mjGEOM_").lower()
    raise ArgumentError(
        "bodies: expected geoms of the types sphere, capsule, cylinder, box, ellipsoid or mesh, got "
        f"{name} in {_name(model, int(model.geom_bodyid[geom]))!r}"
    )


def _sphere_mesh(rings: int = 16, around: int = 32) -> tuple[Doubles, NDArray[np.int32]]:
    """A unit sphere of triangles."""
    polar = np.pi * np.arange(1, rings) / rings
    turn = 2.0 * np.pi * np.arange(around) / around
    ring = np.stack([np.cos(turn), np.sin(turn), np.zeros(around)], axis=1)
    body = np.concatenate([ring * [np.sin(p), np.sin(p), 0.0] + [0.0, 0.0, np.cos(p)] for p in polar])
    points = np.concatenate([[[0.0, 0.0, 1.0]], body, [[0.0, 0.0, -1.0]]])
    faces, last = [], len(points) - 1
    for k in range(around):
        here, there = 1 + k, 1 + (k + 1) % around
        faces.append((0, here, there))
        for r in range(rings - 2):
            a, b, c, d = here + r * around, there + r * around, here + (r + 1) * around, there + (r + 1) * around
            faces += [(a, c, b), (b, c, d)]
        end = (rings - 2) * around
        faces.append((last, there + end, here + end))
    return points, np.array(faces, np.int32)


def _body(model: Any, body: int | str) -> int:
    if isinstance(body, str):
        index = int(mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body))
        if index < 0:
            every = [_name(model, k) for k in range(model.nbody)]
            raise ArgumentError(f"bodies: expected names of bodies out of {every}, got {body!r}")
        return index
    return checks.integer("bodies", body, 0, int(model.nbody) - 1)


def _name(model: Any, body: int) -> str:
    return str(mujoco.mj_id2name(model, mujoco.mjtObj.mjOBJ_BODY, body) or f"body{body}")


class MujocoRobots:
    """`env_count` robots of one MuJoCo model; see the module.

    Args:
        model: mujoco.MjModel; copied. Its time step is that of the coupling, its gravity is its own.
        bodies: names or indices of the bodies that grains meet, each once.
        env_count: number of robots.

    Attributes:
        model: the copy.
        data: mujoco.MjData of each env: set `ctrl`, `qpos`, `qvel` here, read sensors here.
        names: of the bodies.

    Raises:
        ArgumentError: not a model, no such body, or the world's body, which does not move.
    """

    def __init__(self, model: Any, bodies: Sequence[int | str], env_count: int = 1) -> None:
        if not isinstance(model, mujoco.MjModel):
            raise ArgumentError(f"model: expected a mujoco.MjModel, got {type(model).__name__}")
        if isinstance(bodies, str) or not len(bodies):
            raise ArgumentError(f"bodies: expected a list of one body or more, got {bodies!r}")
        if model.nv > LARGEST_NV:
            raise ArgumentError(f"model: expected at most {LARGEST_NV} degrees of freedom, got {model.nv}")
        self.model: Any = copy.deepcopy(model)
        self.env_count: int = checks.integer("env_count", env_count, 1)
        self._bodies = [_body(self.model, body) for body in bodies]
        if len(set(self._bodies)) != len(self._bodies) or 0 in self._bodies:
            raise ArgumentError(f"bodies: expected bodies that move, each once, got {list(bodies)}")
        self.names: list[str] = [_name(self.model, body) for body in self._bodies]
        self.data: list[Any] = [mujoco.MjData(self.model) for _ in range(self.env_count)]
        for data in self.data:
            mujoco.mj_forward(self.model, data)
        n, nv = len(self._bodies), int(self.model.nv)
        self._jacobians: Doubles = np.zeros((self.env_count, 6 * n, nv))
        self._inertias: Doubles = np.zeros((nv, nv))
        self._rows: NDArray[np.intp] = np.array(self._bodies, np.intp)
        self._states: Doubles = np.empty(mujoco.mj_stateSize(self.model, _STATE))

    @property
    def dt(self) -> float:
        """Time step of the model [s]."""
        return float(self.model.opt.timestep)

    def add_to(self, scene: Scene, material: int | str | None = None, spacing: float | None = None) -> list[int]:
        """Adds the bodies to a scene as coupled tools, where they are in env 0; returns their indices.

        Args:
            scene: gets them.
            material: of their surface, name or index; None: the first one.
            spacing: of the samples of meshes [m], see `body_sdf`.
        """
        poses = self.links(0).poses
        return [
            scene.add_tool(body_sdf(self.model, body, spacing), name=name, material=material, pose=pose, coupled=True)
            for body, name, pose in zip(self._bodies, self.names, poses, strict=True)
        ]

    def reset(self, env: int) -> None:
        """Takes the robot of an env back to the model's first posture, at rest, with nothing remembered.

        `Coupling.place` tells the world of it.

        Raises:
            ArgumentError: no such env.
        """
        data = self.data[self._env(env)]
        mujoco.mj_resetData(self.model, data)
        mujoco.mj_forward(self.model, data)

    def forward(self, env: int) -> None:
        """Brings up to date what follows from `data[env].qpos` and `qvel`: places of bodies and geoms, forces."""
        mujoco.mj_forward(self.model, self.data[self._env(env)])

    def _env(self, env: Any) -> int:
        return checks.integer("env", env, 0, self.env_count - 1)

    # ---- what Coupling asks for ----

    def links(self, env: int) -> Links:
        """Poses, twists, accelerations without grains, and inverse inertia of the bodies."""
        model, data = self.model, self.data[env]
        under_load = data.qacc_warmstart.copy()  # accelerations of the last step
        mujoco.mj_forward(model, data)
        data.qacc_warmstart[:] = under_load  # which MuJoCo 3.1 overwrites
        jacobian = self._jacobians[env]
        for k, body in enumerate(self._bodies):
            mujoco.mj_jacBody(model, data, jacobian[6 * k : 6 * k + 3], jacobian[6 * k + 3 : 6 * k + 6], body)
        poses = np.concatenate((data.xpos.take(self._rows, 0), data.xquat.take(self._rows, 0)), 1)
        h, damping, gained = self._inertia(data), self._damping(data), data.qacc
        if damping is not None:  # at the end of the step it is met by less speed
            gained = np.linalg.solve(h + damping, h @ gained)
            h += damping
        if data.nefc:
            self._add_constraints(data, under_load, h)
        return Links(poses, *_core.link_motion(jacobian, h, data.qvel, gained))

    def _inertia(self, data: Any) -> Doubles:
        """The mass matrix M."""
        _full_mass(self.model, data, self._inertias)
        return self._inertias

    def _damping(self, data: Any) -> Doubles | None:
        """dt B (nv, nv) of the forces that the integrator takes at the end of the step; None: of none.

        Euler does so with the damping of joints; the implicit ones with all that depends on velocities.
        """
        model, kinds = self.model, mujoco.mjtIntegrator
        kind, flags = model.opt.integrator, model.opt.disableflags
        if kind == kinds.mjINT_RK4 or (kind == kinds.mjINT_EULER and flags & mujoco.mjtDisableBit.mjDSBL_EULERDAMP):
            return None
        further = (model.actuator_biasprm[:, 2], model.actuator_gainprm[:, 2], model.tendon_damping)
        if kind != kinds.mjINT_EULER and any(each.any() for each in further):
            return self.dt * _velocity_slopes(model, data)
        return np.diag(self.dt * model.dof_damping) if model.dof_damping.any() else None

    def _add_constraints(self, data: Any, under_load: Doubles, h: Doubles) -> None:
        """Adds Jc^T D Jc over the constraints that are stiff now, by their residuals Jc a - a_ref.

        Equalities always are, limits and contacts where they push, dry friction where it holds, with the accelerations
        under the load of the last step, too. The states that MuJoCo keeps of them may be those of an iteration before
        the last.
        """
        rows, kinds = _constraint_jacobian(self.model, data), data.efc_type
        residuals = rows @ data.qacc - data.efc_aref
        strength = data.efc_R * data.efc_frictionloss
        holds = (np.abs(residuals) < strength) & (np.abs(rows @ under_load - data.efc_aref) < strength)
        pushes = (residuals < 0.0) & (kinds != _ELLIPTIC)
        stiff = np.where(np.isin(kinds, _FRICTIONS), holds, pushes | (kinds == _EQUALITY))
        h += rows[stiff].T @ (data.efc_D[stiff, None] * rows[stiff])
        if (kinds == _ELLIPTIC).any():
            _add_elliptic(data, rows, residuals, h)

    def advance(self, env: int, impulses: Doubles, steps: int) -> bool:
        """Steps MuJoCo with the impulses of grains, at the links as `links` last told them, as generalised forces;
        qfrc_applied of the caller stays."""
        model, data, before = self.model, self.data[env], self._states
        mujoco.mj_getState(model, data, before, _STATE)
        applied = data.qfrc_applied
        given = applied.copy()
        applied += impulses.reshape(-1) @ self._jacobians[env] / (steps * self.dt)
        for kind in _BAD:  # MuJoCo, which then begins anew, forgets those before
            data.warning[kind].number = 0
        for _ in range(steps):
            mujoco.mj_step(model, data)
        applied[:] = given
        if _bad_values(data) or not math.isfinite(sum(data.qpos.tolist()) + sum(data.qvel.tolist())):
            self._restore(env, before)
            return False
        return True

    def save(self, env: int) -> bytes:
        """The integration state of MuJoCo."""
        mujoco.mj_getState(self.model, self.data[self._env(env)], self._states, _STATE)
        return self._states.tobytes()

    def load(self, env: int, state: bytes) -> None:
        """Takes an integration state back.

        Raises:
            StateError: of another model.
        """
        if len(state) != self._states.nbytes:
            raise StateError(
                f"state: expected {self._states.nbytes} bytes of the robot of this model, got {len(state)}"
            )
        self._restore(self._env(env), np.frombuffer(state).copy())  # MuJoCo 3.1 takes no array that cannot be written

    def _restore(self, env: int, values: Doubles) -> None:
        mujoco.mj_setState(self.model, self.data[env], values, _STATE)
        mujoco.mj_forward(self.model, self.data[env])
        # which changed the guess that the solver of constraints starts from
        mujoco.mj_setState(self.model, self.data[env], values, _STATE)


def _bad_values(data: Any) -> int:
    """How often MuJoCo has met positions, velocities, accelerations or controls that are not finite, or absurd."""
    number = data.warning.number.tolist()
    return sum(number[kind] for kind in _BAD)


def _full_mass(model: Any, data: Any, mass: Doubles) -> None:
    """The mass matrix (nv, nv), dense."""
    try:
        mujoco.mj_fullM(model, data, mass)
    except TypeError:  # before MuJoCo 4
        mujoco.mj_fullM(model, mass, data.qM)


def _velocity_slopes(model: Any, data: Any) -> Doubles:
    """B (nv, nv): how much passive and actuator forces fall per velocity, by differences, which know of every kind."""
    speeds, slopes, step = data.qvel.copy(), np.empty((int(model.nv), int(model.nv))), 1e-6

    def forces() -> Doubles:
        mujoco.mj_fwdVelocity(model, data)
        mujoco.mj_fwdActuation(model, data)
        both: Doubles = np.add(data.qfrc_passive, data.qfrc_actuator)
        return both

    before = forces()
    for k in range(model.nv):
        data.qvel[k] += step
        slopes[k] = (before - forces()) / step
        data.qvel[k] = speeds[k]
    forces()  # as they were
    result: Doubles = 0.5 * (slopes + slopes.T)
    return result


def _add_elliptic(data: Any, rows: Doubles, residuals: Doubles, h: Doubles) -> None:
    """Adds the stiffness of contacts with elliptic cones of friction.

    Their cost (MuJoCo: mj_constraintUpdate) is a function of the residuals along the normal and across it, times mu and
    times their friction: n, and a vector of length t. It is quadratic where they stick, 0 where they are open, and
    D (n - mu t)^2 / (2 mu^2 (1 + mu^2)) where they slide. Added is its second derivative.
    """
    for contact in data.contact:
        first, after = int(contact.efc_address), int(contact.efc_address) + int(contact.dim)
        if first < 0 or data.efc_type[first] != _ELLIPTIC:
            continue
        own, mu, weights = rows[first:after], float(contact.mu), data.efc_D[first:after]
        scale = np.array([mu, *contact.friction[: contact.dim - 1]])
        n, *across = (scale * residuals[first:after]).tolist()
        t = math.hypot(*across)
        if mu * n + t <= 0.0:
            h += own.T @ (weights[:, None] * own)
        elif n < mu * t:
            u = np.array(across) / t
            bend = np.empty((len(scale), len(scale)))
            bend[0, 0], bend[0, 1:], bend[1:, 0] = 1.0, -mu * u, -mu * u
            bend[1:, 1:] = mu * n / t * np.outer(u, u) + mu * (mu - n / t) * np.eye(len(u))
            scaled = scale[:, None] * own
            h += weights[0] / (mu * mu * (1.0 + mu * mu)) * (scaled.T @ bend @ scaled)


def _constraint_jacobian(model: Any, data: Any) -> Doubles:
    """Jacobian of the constraints (nefc, nv), dense."""
    if not mujoco.mj_isSparse(model):
        return np.asarray(data.efc_J).reshape(data.nefc, model.nv)
    dense = np.zeros((data.nefc, model.nv))
    mujoco.mju_sparse2dense(dense, data.efc_J, data.efc_J_rownnz, data.efc_J_rowadr, data.efc_J_colind)
    return dense
