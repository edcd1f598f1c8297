"""peers_worker.py: one engine lets grains fall into a box; run by peers.py, with any Python that has the engine.

    python benchmarks/peers_worker.py NAME START.npy HALF BUDGET

NAME is one of `PEERS`, START.npy positions (n, 3) [m], HALF half the width of the box [m], BUDGET the processor time
after which a phase ends early [s]. Prints a line of JSON. Needs numpy and the package of that engine alone, which is
imported when its scene is built.
"""

from __future__ import annotations

import importlib.util
import json
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

#: the grains, of all engines
RADIUS, DENSITY, FRICTION, GRAVITY = 0.005, 2500.0, 0.5, 9.81
MASS = DENSITY * 4.0 / 3.0 * np.pi * RADIUS**3
#: seconds in which the grains fall and settle, and at rest after that; both are timed
PHASES = {"fall": 0.6, "rest": 0.2}


class Simulation(ABC):
    """A scene in one engine.

    Attributes:
        dt: time step [s].
        diameter: of the grains, in the units of `positions`.
    """

    dt: float
    diameter = 2.0 * RADIUS

    @abstractmethod
    def step(self, count: int) -> None:
        """Makes time steps."""

    @abstractmethod
    def positions(self) -> Any:
        """Centres (n, 3)."""


class GranularGym(Simulation):
    """This engine, its default solver."""

    def __init__(self, start: Any, half: float, dt: float) -> None:
        gg = importlib.import_module("granular_gym")
        top = float(start[:, 2].max()) + 4.0 * RADIUS
        scene = gg.Scene(((-half, -half, 0.0), (half, half, top)))
        grain = scene.add_material(density=DENSITY, friction=FRICTION, rolling_friction=0.0)
        scene.add_grains(grain, start, RADIUS)
        self.dt, self._world = dt, scene.build(num_threads=1)

    def step(self, count: int) -> None:
        self._world.step(self.dt, count)

    def positions(self) -> Any:
        return self._world.positions[0].astype(np.float64)


class Bullet(Simulation):
    """Bullet by pybullet; lengths and gravity a hundred times larger, since its tolerances are meant for metres.

    A grain is a rigid body of its own, or one of an articulated system, as pybullet makes them by default.
    """

    SCALE = 100.0

    def __init__(self, start: Any, half: float, dt: float, rigid: bool) -> None:
        self._bullet: Any = importlib.import_module("pybullet")
        b = self._bullet
        b.connect(b.DIRECT)
        b.setGravity(0.0, 0.0, -GRAVITY * self.SCALE)
        b.setPhysicsEngineParameter(fixedTimeStep=dt, numSubSteps=1)
        self.dt, side = dt, half * self.SCALE
        # coefficients of a pair are multiplied
        surface = {"lateralFriction": float(np.sqrt(FRICTION)), "restitution": 0.0}
        for normal, at in (
            ((0, 0, 1), (0, 0, 0)),
            *((tuple(-s * np.eye(3)[axis]), tuple(s * side * np.eye(3)[axis])) for axis in (0, 1) for s in (-1, 1)),
        ):
            plane = b.createCollisionShape(b.GEOM_PLANE, planeNormal=normal)
            b.changeDynamics(b.createMultiBody(0, plane, basePosition=at), -1, **surface)
        ball = b.createCollisionShape(b.GEOM_SPHERE, radius=RADIUS * self.SCALE)
        free = {"linearDamping": 0.0, "angularDamping": 0.0, "activationState": b.ACTIVATION_STATE_DISABLE_SLEEPING}
        self._bodies = []
        for x in start * self.SCALE:
            body = b.createMultiBody(MASS, ball, basePosition=x.tolist(), useMaximalCoordinates=rigid)
            b.changeDynamics(body, -1, **free, **surface)
            self._bodies.append(body)

    def step(self, count: int) -> None:
        for _ in range(count):
            self._bullet.stepSimulation()

    def positions(self) -> Any:
        return np.array([self._bullet.getBasePositionAndOrientation(k)[0] for k in self._bodies]) / self.SCALE


class Mujoco(Simulation):
    """MuJoCo: a free body for each grain, five planes."""

    def __init__(self, start: Any, half: float, dt: float, option: str, contact: str) -> None:
        self._mujoco: Any = importlib.import_module("mujoco")
        planes = [("0 0 1", "0 0 0")]
        planes += [(f"{-s} 0 0", f"{s * half} 0 0") for s in (-1, 1)]
        planes += [(f"0 {-s} 0", f"0 {s * half} 0") for s in (-1, 1)]
        walls = "".join(f'<geom type="plane" size="1 1 1" zaxis="{n}" pos="{at}"/>' for n, at in planes)
        ball = f'<freejoint/><geom type="sphere" size="{RADIUS}" density="{DENSITY}"/>'
        grains = "".join(f'<body pos="{x:.9g} {y:.9g} {z:.9g}">{ball}</body>' for x, y, z in start)
        model = self._mujoco.MjModel.from_xml_string(
            f'<mujoco><option timestep="{dt}" gravity="0 0 {-GRAVITY}" {option}/><size memory="2G"/>'
            f'<default><geom friction="{FRICTION} 0 0" {contact}/></default>'
            f"<worldbody>{walls}{grains}</worldbody></mujoco>"
        )
        self.dt, self._model, self._data = dt, model, self._mujoco.MjData(model)
        self._mujoco.mj_forward(model, self._data)

    def step(self, count: int) -> None:
        for _ in range(count):
            self._mujoco.mj_step(self._model, self._data)
        warned = self._mujoco.mjtWarning
        for kind in (warned.mjWARN_CONTACTFULL, warned.mjWARN_CNSTRFULL, warned.mjWARN_BADQACC):
            if self._data.warning[kind].number:
                raise RuntimeError(f"mujoco: {kind}")

    def positions(self) -> Any:
        return self._data.qpos.reshape(-1, 7)[:, :3].copy()


class Warp(Simulation):
    """The example `example_dem` of NVIDIA Warp with fewer grains and friction .5, on the CPU.

    It has springs with cohesion, grains that do not rotate, a floor and no box, and units of its own (radius .1).
    """

    def __init__(self, start: Any, half: float) -> None:
        del half
        warp: Any = importlib.import_module("warp")
        warp.config.quiet = True
        warp.set_device("cpu")
        example = importlib.import_module("warp.examples.core.example_dem")
        self._example: Any = example.Example(stage_path=None)
        # the captured graph knows the example's own grains
        self._example.use_graph_capture = False
        self._example.k_mu = FRICTION
        self.diameter = 2.0 * self._example.point_radius
        lifted = start * (self.diameter / (2.0 * RADIUS))
        points = np.stack([lifted[:, 0], lifted[:, 2], lifted[:, 1]], axis=1)
        self._example.x = warp.array(points, dtype=warp.vec3)
        self._example.v = warp.zeros(len(points), dtype=warp.vec3)
        self._example.f = warp.zeros(len(points), dtype=warp.vec3)
        self.dt = self._example.frame_dt
        self._warp = warp

    def step(self, count: int) -> None:
        with Quiet():
            for _ in range(count):
                self._example.step()

    def positions(self) -> Any:
        points = self._example.x.numpy().astype(np.float64)
        return np.stack([points[:, 0], points[:, 2], points[:, 1]], axis=1)


class Quiet:
    """Keeps what is printed meanwhile off the standard output, which is for the answer."""

    def __enter__(self) -> None:
        self._kept, sys.stdout = sys.stdout, sys.stderr

    def __exit__(self, *_: object) -> None:
        sys.stdout = self._kept


@dataclass(frozen=True)
class Peer:
    """An engine and a setting of it.

    Attributes:
        package: what must be installed.
        module: what is imported.
        settings: a line about them.
        build: makes the scene from positions and half a width.
    """

    package: str
    module: str
    settings: str
    build: Callable[[Any, float], Simulation]


PEERS: dict[str, Peer] = {
    "granular_gym": Peer(
        "granular-gym", "granular_gym", "default: 1 ms, 10 sweeps", lambda x, w: GranularGym(x, w, 1e-3)
    ),
    "granular_gym_2ms": Peer("granular-gym", "granular_gym", "2 ms, 10 sweeps", lambda x, w: GranularGym(x, w, 2e-3)),
    "bullet": Peer(
        "pybullet",
        "pybullet",
        "default: 1/240 s, 50 iterations; rigid bodies",
        lambda x, w: Bullet(x, w, 1.0 / 240.0, rigid=True),
    ),
    "bullet_1ms": Peer(
        "pybullet", "pybullet", "1 ms, 50 iterations; articulated bodies", lambda x, w: Bullet(x, w, 1e-3, rigid=False)
    ),
    "mujoco": Peer(
        "mujoco",
        "mujoco",
        "default: 2 ms, Newton, pyramids, contacts of 20 ms",
        lambda x, w: Mujoco(x, w, 2e-3, "", ""),
    ),
    "mujoco_cg": Peer(
        "mujoco", "mujoco", "the same by conjugate gradients", lambda x, w: Mujoco(x, w, 2e-3, 'solver="CG"', "")
    ),
    "mujoco_stiff": Peer(
        "mujoco",
        "mujoco",
        "2 ms, conjugate gradients, elliptic cones, contacts of 4 ms",
        lambda x, w: Mujoco(x, w, 2e-3, 'solver="CG" cone="elliptic"', 'solref="0.004 1"'),
    ),
    "warp": Peer(
        "warp-lang",
        "warp",
        "example_dem: 1/60 s, lists once in 64 substeps; springs with cohesion, no rotation, no box",
        Warp,
    ),
}


def overlaps(x: Any, diameter: float) -> dict[str, float]:
    """Overlaps of pairs of grains [% of a diameter], and pairs in contact per grain, counted twice."""
    deep, touching = [], 0
    # cells as wide as a grain; each pair of near cells once
    cells: dict[tuple[int, ...], list[int]] = {}
    for k, cell in enumerate(np.floor(x / diameter).astype(int).tolist()):
        cells.setdefault(tuple(cell), []).append(k)
    steps = [(i, j, k) for i in (-1, 0, 1) for j in (-1, 0, 1) for k in (-1, 0, 1)]
    for cell, mine in cells.items():
        near = [b for s in steps for b in cells.get((cell[0] + s[0], cell[1] + s[1], cell[2] + s[2]), ())]
        other = np.array(near)
        for a in mine:
            gaps = np.linalg.norm(x[other[other > a]] - x[a], axis=1) / diameter - 1.0
            touching += int((gaps < 1e-4).sum())
            deep += [-float(g) for g in gaps if g < 0.0]
    return {
        "overlap_mean_pct": 100.0 * float(np.mean(deep or [0.0])),
        "overlap_max_pct": 100.0 * max(deep, default=0.0),
        "contacts_per_grain": 2.0 * touching / len(x),
    }


def run(name: str, start: Any, half: float, budget: float) -> dict[str, Any]:
    """A row of the table: processor time of each phase, and where the grains are in the end."""
    peer = PEERS[name]
    with Quiet():
        simulation = peer.build(start, half)
    row: dict[str, Any] = {"settings": peer.settings, "grains": len(start)}
    simulated = 0.0
    for phase, seconds in PHASES.items():
        before, height = time.process_time(), float(simulation.positions()[:, 2].mean())
        done, count = 0, round(seconds / simulation.dt)
        while done < count and time.process_time() - before < budget:
            # one by one where a step takes long, not to overrun the budget
            quick = done > 0 and time.process_time() - before < 1e-3 * budget * done
            block = min(10 if quick else 1, count - done)
            simulation.step(block)
            done += block
        spent = time.process_time() - before
        simulated += done * simulation.dt
        row[f"{phase}_sim_per_cpu"] = done * simulation.dt / spent
        row[f"{phase}_grain_s_per_cpu_s"] = len(start) * done * simulation.dt / spent
        x = simulation.positions()
        row["sinking_pct_per_s"] = 100.0 * (1.0 - float(x[:, 2].mean()) / height) / max(done * simulation.dt, 1e-9)
    row |= {"simulated_s": simulated, "mean_height_d": float(x[:, 2].mean()) / simulation.diameter}
    return {**row, **overlaps(x, simulation.diameter)}


def main() -> None:
    """Runs the command line."""
    name, start, half, budget = sys.argv[1:5]
    peer = PEERS[name]
    # this file's folder is first on the path
    sys.path.pop(0)
    if importlib.util.find_spec(peer.module) is None:
        print(json.dumps({"missing": peer.package}))
        return
    row = run(name, np.load(Path(start)), float(half), float(budget))
    print(json.dumps({**row, "version": version(peer.package)}))


def version(package: str) -> str:
    """Of an installed package; "" where it says none."""
    metadata = importlib.import_module("importlib.metadata")
    try:
        return str(metadata.version(package))
    except metadata.PackageNotFoundError:
        return ""


if __name__ == "__main__":
    main()
