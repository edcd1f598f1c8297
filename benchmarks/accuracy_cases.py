"""accuracy_cases.py: what settings of the solver are judged by: landings, rests, tools, jams.

A case is a function of a setting, a time step and a seed that returns the columns of a row. To add one, add it to
CASES.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from benchmarks.packings import Watch, bed_measures, masses, motion, pressing_counts
from benchmarks.settings import Setting
from granular_gym.engine.solver import CONVERGENT, DEFAULT_MODE
from testbed.beds import DENSITY, DIAMETER, GRAVITY, RADIUS, cup_of_two_sizes, falling_bed, mass
from testbed.landings import SIDE, loose_bed
from validation import slot

#: what is settled before it is measured: time step [s], iterations, simulated time [s]
SETTLE_DT, SETTLE_ITERATIONS, SETTLE_SECONDS = 1e-3, 60, 4.0
#: a bed that was settled holds where its mean height changes by less than this share, and its grains move at less than
#: this share of g dt
HOLDS_HEIGHT, HOLDS_SPEED = 1e-3, 0.1
#: time over which a drift is measured [s]
DRIFT_SECONDS = 0.2


@dataclass(frozen=True)
class Case:
    """What is measured, and with which settings.

    Attributes:
        about: a line.
        rows: of a setting, a time step [s] and a seed; takes the entries of a variant as further arguments.
        variants: by name.
        steps: time steps [s] where neither the setting nor the command names one.
    """

    about: str
    rows: Callable[..., Row]
    variants: dict[str, dict[str, Any]] = field(default_factory=lambda: {"": {}})
    steps: tuple[float, ...] = (1e-3,)


def landing(setting: Setting, dt: float, seed: int, layers: int = 24, later: bool = True, **more: Any) -> Row:
    """A loose lattice falls on a floor: looked at after 1.2 s, and again after 2 s."""
    scene = loose_bed(layers, seed, **more)
    share, ratio = more.get("heavy", (0.0, 1.0))
    ratios = np.where(np.arange(scene.grain_count) < round((1.0 - share) * scene.grain_count), 1.0, ratio)
    with setting.world(scene) as world:
        watch = Watch(world, dt, masses(world, ratios))
        watch.run_with_energy(0.6)
        watch.run(0.4)
        row: Row = {"drift": watch.drift(DRIFT_SECONDS)}
        row = {**bed_measures(world, SIDE), **row, **watch.costs(), **watch.worst(), **motion(world, dt)}
        if later:
            watch.run(0.6)
            row["drift_2s"] = watch.drift(DRIFT_SECONDS)
            row.update({f"{name}_2s": value for name, value in bed_measures(world, SIDE).items()})
        row["broken"] = float(watch.broken)
        return row


def deep(setting: Setting, dt: float, seed: int, layers: int = 60) -> Row:
    """A bed of 52 d falls, without restitution: looked at after 4 s."""
    with setting.world(loose_bed(layers, seed, restitution=0.0)) as world:
        watch = Watch(world, dt)
        watch.run(3.5)
        drift = watch.drift(0.5)
        return {**bed_measures(world, SIDE), "drift": drift, **watch.costs(), **watch.worst(), **motion(world, dt)}


def creep(setting: Setting, dt: float, seed: int, layers: int = 20) -> Row:
    """A bed of the check `deep`, without restitution and rolling friction, falls: its drift from 8 to 13 s."""
    with setting.world(falling_bed(layers, 5, seed)) as world:
        watch = Watch(world, dt)
        watch.run(8.0, every=0.5)
        row: Row = {"drift": watch.drift(5.0), **motion(world, dt)}
        return {**row, **watch.costs(), **watch.worst()}


@functools.lru_cache(maxsize=64)
def settled(mode: str, layers: int, seed: int) -> tuple[gg.State, np.ndarray, float]:
    """A bed settled with small steps and many iterations: its state with impulses, positions, mean height [m]."""
    setting = Setting(mode, {"mode": mode}, None)
    with setting.world(loose_bed(layers, seed), iterations=SETTLE_ITERATIONS) as world:
        world.step(SETTLE_DT, round(SETTLE_SECONDS / SETTLE_DT))
        return world.save_state(), world.positions[0].copy(), measure.mean_height(world)


def _mode(setting: Setting) -> str:
    return setting.solver().mode or DEFAULT_MODE


def rest(setting: Setting, dt: float, seed: int, layers: int = 24) -> Row:
    """A settled bed, with its stored impulses: whether it holds for 1.5 s."""
    state, _, height = settled(_mode(setting), layers, seed)
    with setting.world(loose_bed(layers, seed)) as world:
        world.load_state(state)
        watch = Watch(world, dt)
        watch.run(1.0, every=2e-2)
        row: Row = {"drift": watch.drift(0.5), **motion(world, dt)}
        row["height_change_pct"] = 100.0 * (measure.mean_height(world) / height - 1.0)
        calm = row["rms_over_g_dt"] < HOLDS_SPEED and abs(row["height_change_pct"]) < 100.0 * HOLDS_HEIGHT
        row["holds"] = float(calm and not watch.broken)
        return {**row, **watch.costs(), **watch.worst()}


def set_down(setting: Setting, dt: float, seed: int, layers: int = 24, settle: bool = False) -> Row:
    """Positions of a settled bed alone, without impulses or with those of a settling solve: how far it sinks."""
    _, positions, height = settled("gauss_seidel", layers, seed)
    scene = loose_bed(layers, seed)
    fresh = gg.Scene(scene.bounds, boundary={"x": "periodic", "y": "periodic", "z": ("wall", "open")})
    grain = fresh.add_material(radius=RADIUS, density=DENSITY, friction=0.5, restitution=0.5)
    fresh.add_grains(grain, positions, RADIUS)
    with setting.world(fresh) as world:
        if settle and world.solver.mode in CONVERGENT:
            world.settle_impulses(dt)
        watch = Watch(world, dt)
        watch.run(0.1)
        row: Row = {"sunk_pct": 100.0 * (1.0 - measure.mean_height(world) / height), **motion(world, dt)}
        watch.run(0.9)
        row["sunk_1s_pct"] = 100.0 * (1.0 - measure.mean_height(world) / height)
        return {**row, **watch.costs(), **watch.worst()}


#: the box of the rod, periodic across its way: half length and half width [d], grains; travel [m] and speed [m/s]
ROD_HALF, ROD_WIDE, ROD_PER_LAYER, ROD_TRAVEL, ROD_SPEED = 12.0, 8.0, 384, 0.1, 0.3


def _rod_scene(layers: int, seed: int) -> gg.Scene:
    half, wide = ROD_HALF * DIAMETER, ROD_WIDE * DIAMETER
    top = 4.0 * layers * DIAMETER
    scene = gg.Scene(((-half, -wide, 0.0), (half, wide, top)), boundary={"y": "periodic", "z": ("wall", "open")})
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=0.5)
    k = np.arange(layers * ROD_PER_LAYER)
    across = int((2.0 * ROD_HALF - 0.1) / 1.1), int((2.0 * ROD_WIDE - 0.1) / 1.1)
    cell = np.stack([k % across[0], k // across[0] % across[1], k // (across[0] * across[1])], axis=1) * 1.1
    cell[:, :2] -= 0.55 * (np.array(across) - 1)
    cell[:, 2] += 0.6
    cell += np.random.default_rng(seed).uniform(-0.04, 0.04, cell.shape)
    scene.add_grains(sand, cell * DIAMETER, RADIUS)
    scene.add_tool(gg.Sdf.cylinder(RADIUS, 0.1), name="rod", pose=(-0.05, 0.0, top + 0.1, 1.0, 0.0, 0.0, 0.0))
    return scene


@functools.lru_cache(maxsize=16)
def _rod_inside(mode: str, layers: int, seed: int) -> gg.State:
    """The settled bed with the rod pushed in slowly to 2 d above the floor."""
    setting = Setting(mode, {"mode": mode}, None)
    with setting.world(_rod_scene(layers, seed), iterations=SETTLE_ITERATIONS) as world:
        world.step(SETTLE_DT, 1000)
        x, y, z = world.tool_poses[0, 0, :3]
        for height in (0.1 + layers * DIAMETER, 0.1 + 2.0 * DIAMETER):
            seconds = abs(z - height) / 0.2
            z = height
            world.step(SETTLE_DT, round(seconds / SETTLE_DT), [[x, y, z, 1.0, 0.0, 0.0, 0.0]])
        world.step(SETTLE_DT, 500)
        return world.save_state()


def rod(setting: Setting, dt: float, seed: int, layers: int = 8) -> Row:
    """A rod of 10 mm moves through a bed at .3 m/s: overlaps and force over the second half of its way."""
    with setting.world(_rod_scene(layers, seed)) as world:
        world.load_state(_rod_inside(_mode(setting), layers, seed))
        watch = Watch(world, dt)
        pose = world.tool_poses[0].copy()
        parts, forces, overlaps = 20, [], []
        for _ in range(parts):
            pose[0, 0] += ROD_TRAVEL / parts
            watch.run(ROD_TRAVEL / parts / ROD_SPEED, every=1.0, tool_poses=pose)
            forces.append(float(np.linalg.norm(world.wrenches[0, 0, :3])))
            overlaps.append(motion(world, dt)["overlap_mean_pct"])
        late = slice(parts // 2, None)
        row: Row = {"overlap_mean_pct": float(np.mean(overlaps[late])), "force": float(np.mean(forces[late]))}
        return {**row, **watch.costs(), **watch.worst()}


def mixed(setting: Setting, dt: float, seed: int) -> Row:
    """Small grains fall around and between grains ten times as large."""
    scene = cup_of_two_sizes(10.0, 2000, 2, seed=seed)
    with setting.world(scene) as world:
        watch = Watch(world, dt)
        watch.run_with_energy(0.5)
        watch.run(0.5)
        row: Row = {"drift": watch.drift(DRIFT_SECONDS), "height": measure.mean_height(world) / DIAMETER}
        row["contacts"] = float(pressing_counts(world)[world.radii[0] < 2.0 * RADIUS].mean())
        return {**row, **watch.costs(), **watch.worst(), **motion(world, dt)}


def arch(setting: Setting, dt: float, seed: int, opening: float = 2.5) -> Row:
    """A bed over a slit that jams: grains that pass in 1.5 s, and how calm the arches are."""
    length, width = 12.0, 5.0
    positions = slot.packing(length, width, 20.0, seed, restitution=0.5)
    scene = slot.open_slot(positions, length, width, 0.5, slot.slit(length, opening, width), rolling=0.3)
    with setting.world(scene) as world:
        watch = Watch(world, dt)
        watch.run(1.3)
        before = int((world.positions[0, :, 2] < -2.0 * DIAMETER).sum())
        watch.run(DRIFT_SECONDS)
        passed = world.positions[0, :, 2] < -2.0 * DIAMETER
        speeds = np.linalg.norm(world.velocities[0, ~passed], axis=1)
        row: Row = {"passed": float(passed.sum()), "passed_late": float(passed.sum() - before)}
        row["rms_over_g_dt"] = float(np.sqrt((speeds**2).mean())) / (GRAVITY * dt)
        return {**row, **watch.costs(), **watch.worst()}


#: distance of the plates in the end: one grain [d], and a bed of this many grains, over its height before
SQUEEZED, SQUEEZED_GRAINS, SQUEEZED_SHARE = 0.98, 150, 0.95


def squeeze(setting: Setting, dt: float, seed: int, one: bool = True) -> Row:
    """Grains between two plates that close and stay: nothing may be thrown out, whatever force a rigid grain needs."""
    half = 0.05
    scene = gg.Scene(((-half, -half, 0.0), (half, half, 0.4)), boundary={"z": ("wall", "open")})
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=0.5)
    plate = gg.Sdf.box((2.0 * half, 2.0 * half, RADIUS))
    if one:
        positions = np.array([[0.0, 0.0, RADIUS]])
    else:
        k = np.arange(SQUEEZED_GRAINS)
        cell = np.stack([k % 8, k // 8 % 8, k // 64], axis=1) * 1.2 + [-4.2, -4.2, 0.6]
        positions = (cell + np.random.default_rng(seed).uniform(-0.05, 0.05, cell.shape)) * DIAMETER
    scene.add_grains(sand, positions, RADIUS)
    scene.add_tool(plate, name="plate", pose=(0.0, 0.0, 0.3, 1.0, 0.0, 0.0, 0.0))
    with setting.world(scene) as world:
        world.step(1e-3, 500)
        watch = Watch(world, dt)
        top = float(world.positions[0, :, 2].max()) + RADIUS
        goal = world.tool_poses[0].copy()
        goal[0, 2] = top + RADIUS
        world.set_tool_poses(goal)
        fastest, forces = 0.0, []
        goal[0, 2] = (SQUEEZED if one else SQUEEZED_SHARE) * top + RADIUS
        for _ in range(10):
            watch.run(0.02, every=5e-3, tool_poses=goal)
            fastest = max(fastest, float(world.stats["speed_max"][0]))
            forces.append(float(world.wrenches[0, 0, 2]))
        row: Row = {"speed_max": fastest, "force_over_weight": forces[-1] / (GRAVITY * len(positions) * mass())}
        return {**row, **watch.costs(), **watch.worst(), **motion(world, dt)}


LAYERS = {"24 layers": {"layers": 24}, "60 layers": {"layers": 60}}
#: attraction of three weights of a grain [N/m], to a hundredth of a diameter; stirred, or it stands in stacks
COHESION = {"cohesion": 3.0 * mass() * GRAVITY / (0.5 * RADIUS), "cohesion_range": 0.01 * DIAMETER, "stir": 0.3}
CASES: dict[str, Case] = {
    "landing": Case("24 layers fall; mu .5, e .5, rolling .3", landing),
    "no_rolling": Case("the same without rolling friction", landing, {"": {"rolling_friction": 0.0}}),
    "materials": Case(
        "the same with other grains",
        functools.partial(landing, later=False),
        {
            "e .9": {"restitution": 0.9},
            "mu 0": {"friction": 0.0},
            "mu 1": {"friction": 1.0},
            "cohesive": COHESION,
        },
    ),
    "masses": Case(
        "the upper quarter denser than what it falls on",
        functools.partial(landing, later=False),
        {f"mass ratio {ratio:g}": {"heavy": (0.25, ratio)} for ratio in (1e2, 1e4)},
    ),
    "sizes": Case("2,000 small grains and 2 ten times as large fall into a box", mixed),
    "deep": Case("60 layers fall, e 0", deep),
    "creep": Case(
        "beds of the check deep fall with long steps; depths",
        creep,
        {f"{depth} d": {"layers": layers} for depth, layers in ((16, 20), (23, 30), (31, 40), (47, 60))},
        (1e-2,),
    ),
    "rest": Case("a settled bed with its impulses", rest, LAYERS, (1e-3, 2e-3, 5e-3, 1e-2)),
    "set_down": Case("positions of a settled bed, without impulses", set_down, LAYERS),
    "settle": Case(
        "the same after World.settle_impulses",
        functools.partial(set_down, settle=True),
        LAYERS,
    ),
    "rod": Case("a rod of 10 mm at .3 m/s through 8 layers", rod),
    "jams": Case("plates that close on grains", squeeze, {"one grain": {"one": True}, "150 grains": {"one": False}}),
    "arch": Case("a bed over a slit of 2.5 d", arch),
}
