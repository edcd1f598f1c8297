"""beds.py: beds of tasks: the materials most of them have, and how grains come to rest before an episode."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.beds import settled_bed
from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.state import State
from granular_gym.tasks.grain_shapes import GrainForm


def add_sand_and_steel(
    scene: Scene,
    radius: float | GrainForm,
    density: float,
    friction: float,
    rolling_friction: float,
    on_steel: tuple[float, float],
) -> tuple[int, int]:
    """Adds the materials that most tasks have: grains that do not bounce, "sand", and tools of "steel".

    Args:
        scene: gets them.
        radius: of the grains [m]; or their form (`Task.form`), where they may be clumps.
        density: likewise [kg/m3].
        friction: between grains.
        rolling_friction: likewise; 0, here and on tools, of clumps whose shape resists rolling.
        on_steel: friction and rolling friction of grains on tools.

    Returns:
        The indices of sand and steel.
    """
    form = radius if isinstance(radius, GrainForm) else GrainForm(radius)
    sand = scene.add_material(
        **form.body,
        density=density,
        friction=friction,
        restitution=0.0,
        rolling_friction=form.rolling(rolling_friction),
        name="sand",
    )
    steel = scene.add_material(density=7800.0, friction=0.3, name="steel")
    rolling = form.rolling(on_steel[1])
    scene.set_pair(sand, steel, friction=on_steel[0], restitution=0.0, rolling_friction=rolling)
    return sand, steel


@dataclass(frozen=True)
class Settling:
    """When a bed counts as settled.

    Attributes:
        period: simulated before each check [s].
        max_checks: the bed is used as it is after so many.
        speed: at rest is a bed in which no grain is faster [m/s].
        consecutive_checks: at which the bed must be at rest: single grains give way after a bed seems to rest.
    """

    period: float = 0.25
    max_checks: int = 12
    speed: float = 5e-3
    consecutive_checks: int = 2


def settle(
    scene: Scene, settling: Settling, dt: float, solver: Solver, *, device: str, num_threads: int | None
) -> State:
    """The state of a scene whose grains have come to rest under gravity; taken from the cache where it was made before.

    Args:
        scene: tools and grains before they settle.
        settling: when to stop.
        dt: time step [s].
        solver: of the contacts.
        device: where the bed settles.
        num_threads: of the world, see `Scene.build`.

    Raises:
        ArgumentError: `settling` is no Settling.
    """
    checks.instance("settling", settling, Settling)

    def simulate() -> State:
        with scene.build(device=device, solver=solver, num_threads=num_threads) as world:
            checks_at_rest = 0
            for _ in range(settling.max_checks):
                world.step(dt=dt, substeps=math.ceil(settling.period / dt - 1e-9))
                at_rest = np.abs(world.velocities).max() < settling.speed
                checks_at_rest = checks_at_rest + 1 if at_rest else 0
                if checks_at_rest == settling.consecutive_checks:
                    break
            return world.save_state()

    law = {} if solver.table is None else {"table": solver.table.digest()}
    key = {"solver": solver.fields() | law, "dt": dt, "settling": astuple(settling)}
    return settled_bed(scene, key, simulate)
