"""incline.py: flow down a rough incline, periodic along and across."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np
from scipy.spatial import cKDTree

import granular_gym as gg
from testbed.beds import DENSITY, DIAMETER, RADIUS
from testbed.laws import tilted
from validation import bulk, plot
from validation.check import Check, Params, Result, Row, Values, below, groups, holds, near, pick, report

SILBERT = "Silbert 2001"
START = 27.0  # initial slope of all envs, at which they flow [deg]
PULL, RUN = 1.5, 14.0  # time at the initial slope and at the final one [s]
#: no sphere of the base reaches above the first height or below the second, where the floor is: a grain that falls into
#: a hole of the base stays in it [d]
TOP, FLOOR = 1.3, -0.7


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    if size == "quick":
        return [
            {
                "side": 8,
                "layers": 20,
                "angles": [17.0, 22.0, 25.0],
                "dt": 1e-3,
                "seed": seeds[0],
                "spin": "on",
                "run": RUN,
            },
        ]
    found: list[Params] = []
    for dt in (1e-3, 5e-4):
        for seed in seeds:
            found.append(
                {
                    "side": 10,
                    "layers": 20,
                    "angles": [17.0, 19.0, 22.0, 23.5, 25.0, 28.0],
                    "dt": dt,
                    "seed": seed,
                    "spin": "on",
                    "run": 2 * RUN,
                }
            )
    found += [
        {"side": 10, "layers": n, "angles": [23.5], "dt": 1e-3, "seed": seeds[0], "spin": "on", "run": run}
        for n, run in ((10, RUN), (30, 4 * RUN), (40, 6 * RUN))
    ]
    found.append(
        {
            "side": 10,
            "layers": 20,
            "angles": [17.0, 22.0, 25.0, 28.0, 35.0],
            "dt": 1e-3,
            "seed": seeds[0],
            "spin": "off",
            "run": RUN,
        }
    )
    return found


def bed(side: int, layers: int, seed: int) -> gg.Scene:
    """Grains about to fall, periodic in x and y, `side` diameters wide."""
    rng = np.random.default_rng(seed)
    wide = side * DIAMETER
    cells = int(side / 1.05)
    count = round(0.58 * side * side * layers / (np.pi / 6.0))
    k = np.arange(count)
    cell = np.stack([k % cells, k // cells % cells, k // cells**2], axis=1) + 0.5
    positions = cell * [wide / cells, wide / cells, 1.06 * DIAMETER] + rng.uniform(-0.02, 0.02, (count, 3)) * DIAMETER
    positions[:, :2] %= wide
    top = float(positions[:, 2].max()) + 10.0 * DIAMETER
    scene = gg.Scene(
        ((0.0, 0.0, FLOOR * DIAMETER), (wide, wide, top)),
        boundary={"x": "periodic", "y": "periodic", "z": ("wall", "open")},
    )
    sand = scene.add_material(density=DENSITY, friction=0.5, restitution=0.0, rolling_friction=0.0)
    scene.add_grains(
        sand, positions + np.array([0.0, 0.0, TOP * DIAMETER]), RADIUS, rng.normal(0.0, 0.2, positions.shape)
    )
    return scene


@functools.lru_cache(maxsize=2)
def rough(side: int, seed: int) -> list[gg.Sdf]:
    """A base of spheres, a slice of a packing, from `FLOOR` to `TOP`.

    Spheres that a grain may touch at the same time are in different fields, by a colouring of their graph.
    """
    scene = bed(side, 5, 1000 + seed)
    with scene.build(num_threads=1) as world:
        world.step(1e-3, 700)
        positions = world.positions[0].astype(np.float64)
    wide = side * DIAMETER
    level = float(np.median(positions[:, 2]))
    layer = positions[np.abs(positions[:, 2] - level) < 0.5 * DIAMETER]
    layer[:, 2] += 0.5 * (FLOOR + TOP) * DIAMETER - level
    # neighbours across periodic boundaries as well
    apart = np.abs(layer[:, None, :] - layer[None])
    apart[..., :2] = np.minimum(apart[..., :2], wide - apart[..., :2])
    near_by = np.linalg.norm(apart, axis=2) < 4.05 * RADIUS
    color = np.full(len(layer), -1)
    for k in range(len(layer)):
        taken = set(color[near_by[k]].tolist())
        color[k] = next(c for c in range(64) if c not in taken)
    spacing = RADIUS / 3.0
    low, high = -2.5 * DIAMETER, wide + 2.5 * DIAMETER
    flat = np.arange(low, high + spacing, spacing)
    up = np.arange(-1.2 * DIAMETER, 2.6 * DIAMETER, spacing)
    z, y, x = np.meshgrid(up, flat, flat, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), z.ravel()], axis=1)
    images = np.array([(i * wide, j * wide, 0.0) for i in (-1, 0, 1) for j in (-1, 0, 1)])
    fields = []
    for c in range(int(color.max()) + 1):
        centres = (layer[color == c][None] + images[:, None]).reshape(-1, 3)
        distance, _ = cKDTree(centres).query(points)
        samples = (distance - RADIUS).reshape(z.shape).astype(np.float32)
        fields.append(gg.Sdf.from_grid(gg.SdfGrid(samples, spacing, (low, low, float(up[0])))))
    return fields


def measure(params: Params, threads: int) -> Values:
    """One env per slope: grains settle, flow at 27 degrees, then at the slope of the env."""
    p, dt = params, params["dt"]
    scene = bed(p["side"], p["layers"], p["seed"])
    scene.add_tool(gg.Sdf.union(rough(p["side"], p["seed"])), name="base")
    angles = np.radians(p["angles"])
    envs = len(angles)
    area = (p["side"] * DIAMETER) ** 2
    with scene.build(env_count=envs, num_threads=threads, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        world.step(dt, round(0.8 / dt))
        world.set_gravity(np.tile(tilted(np.radians([START]))[0], (envs, 1)))
        world.step(dt, round(PULL / dt))
        world.set_gravity(tilted(angles))
        times, speeds, ratios, profiles, phis = [], [], [], [], []
        edges = np.arange(0.0, 1.3 * p["layers"] + 4.0) * DIAMETER
        for k in range(round(p["run"] / 0.5)):
            world.step(dt, round(0.5 / dt))
            force = world.wrenches[:, 0, :3].astype(np.float64) + world.wall_wrenches[:, 4, :3]
            times.append(0.5 * (k + 1))
            speeds.append(world.velocities[:, :, 0].astype(np.float64).mean(axis=1))
            ratios.append(force[:, 0] / -force[:, 2])
            if times[-1] > p["run"] - 2.6:
                x, v = world.positions.astype(np.float64), world.velocities.astype(np.float64)
                phis.append([bulk.slab_profile(x[e, :, 2], edges, area) for e in range(envs)])
                which = np.digitize(x[..., 2], edges) - 1
                profiles.append(
                    [
                        [v[e, which[e] == b, 0].mean() if (which[e] == b).any() else 0.0 for b in range(len(edges) - 1)]
                        for e in range(envs)
                    ]
                )
        escaped = int(world.stats["escaped_count"].max())
    return {
        "times": times,
        "speeds": np.array(speeds).T,
        "ratios": np.array(ratios).T,
        "heights": 0.5 * (edges[1:] + edges[:-1]) / DIAMETER,
        "profiles": np.mean(profiles, axis=0),
        "phis": np.mean(phis, axis=0),
        "escaped": escaped,
    }


def _last(r: Result, e: int, key: str, seconds: float = 2.5) -> float:
    return float(np.mean(r.values[key][e][-round(seconds / 0.5) :]))


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        p, times = r.params, r.values["times"]
        for e, angle in enumerate(p["angles"]):
            setup = f"{p['layers']} layers, {p['side']} x {p['side']} d, {angle:g} deg for {p['run']:g} s"
            speed = _last(r, e, "speeds")
            ratio = _last(r, e, "ratios") / np.tan(np.radians(angle))
            growth = speed / max(float(np.mean(r.values["speeds"][e][len(times) // 2 - 3 : len(times) // 2 + 2])), 1e-9)
            if p["spin"] == "off":
                rows.append(report(r, setup, "mean speed [m/s]", speed))
                continue
            if angle <= 17.0:
                rows.append(below(r, setup, "mean speed: no flow [m/s]", speed, 1e-3, SILBERT))
                rows.append(
                    near(r, setup, "base shear / normal over tan θ", ratio, 1.0, 0.02, "statics", relative=True)
                )
            elif 22.0 <= angle <= 25.0:
                rows.append(
                    holds(
                        r, setup, "flows (mean speed > .01 m/s)", speed > 0.01, "yes", SILBERT, note=f"{speed:.3f} m/s"
                    )
                )
                rows.append(
                    near(r, setup, "steady: speed at the end / half-way", growth, 1.0, 0.1, SILBERT, relative=True)
                )
                rows.append(
                    near(r, setup, "base shear / normal over tan θ", ratio, 1.0, 0.02, "momentum", relative=True)
                )
                h, _u, phi = (
                    np.array(r.values[k]) if k == "heights" else np.array(r.values[k][e])
                    for k in ("heights", "profiles", "phis")
                )
                inner = (h > 3.0) & (h < 0.75 * p["layers"])
                rows.append(
                    report(
                        r,
                        setup,
                        "solid fraction: spread over depth / mean",
                        float(np.ptp(phi[inner]) / phi[inner].mean()),
                        SILBERT,
                    )
                )
            else:
                rows.append(report(r, setup, "mean speed [m/s]", speed))
                rows.append(report(r, setup, "speed at the end / half-way", growth))
    for (seed, dt), mine in groups(pick(results, spin="on"), "seed", "dt").items():
        points = [
            (r.params["layers"], _last(r, r.params["angles"].index(23.5), "speeds"), r)
            for r in mine
            if 23.5 in r.params["angles"]
        ]
        if len({n for n, _, _ in points}) >= 3:
            exponent = float(np.polyfit(np.log([n for n, _, _ in points]), np.log([u for _, u, _ in points]), 1)[0])
            setup = f"{', '.join(str(n) for n, _, _ in sorted(points, key=lambda t: t[0]))} layers at 23.5 deg"
            rows.append(
                near(
                    [r for _, _, r in points],
                    setup,
                    "exponent of mean speed in height",
                    exponent,
                    1.5,
                    0.15,
                    SILBERT,
                    seed=seed,
                    dt=dt,
                )
            )
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    labels = (("time [s]", "mean speed [m/s]"), ("speed [m/s]", "height [d]"), ("solid fraction", "height [d]"))
    axes = plot.panels(figure, labels)
    shown = [r for r in results if len(r.params["angles"]) > 1][:1] or results[:1]
    for r in shown:
        for e, angle in enumerate(r.params["angles"]):
            axes[0].plot(
                r.values["times"], np.maximum(r.values["speeds"][e], 1e-7), color=f"C{e}", lw=1, label=f"{angle:g} deg"
            )
            axes[1].plot(r.values["profiles"][e], r.values["heights"], "o-", ms=2, color=f"C{e}", lw=1)
            axes[2].plot(r.values["phis"][e], r.values["heights"], color=f"C{e}", lw=1)
            # Bagnold's profile with the speed of the surface
            h, u = np.array(r.values["heights"]), np.array(r.values["profiles"][e])
            top = r.params["layers"]
            if u.max() > 0.01:
                z = np.linspace(1.0, top, 50)
                law = 1.0 - np.clip(1.0 - (z - 1.0) / (top - 1.0), 0.0, 1.0) ** 1.5
                axes[1].plot(law * u[(h > 0.8 * top) & (h < top)].max(), z, ":", color=f"C{e}", lw=1)
    axes[0].set_yscale("log")
    axes[1].set_title("dotted: Bagnold's profile", fontsize=9)
    plot.legend(axes[0])


CHECK = Check(
    name="incline",
    title="flow down a rough incline",
    about=(
        "A bed of 20 layers, mu .5, e 0, periodic along and across the slope, on a base of fixed spheres (a slice "
        f"of a packing) that lies on a floor. All flow at {START:g} degrees for {PULL:g} s, then the slope becomes "
        "that of the row. Deep flows of such spheres stop below about 19 degrees, flow steadily from 20 to 26 with "
        "u ~ h^1.5 and a uniform solid fraction, and accelerate above about 28. In steady flow shear over normal "
        "stress at the base is exactly tan θ."
    ),
    number="15",
    headline="base shear / normal over tan θ",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "steady": (
            "10 layers on 10 x 10 d: the mean speed of so thin and small a bed fluctuates. In a run of 56 s instead of "
            "14 its means of 2.5 s go up and down between .12 and .19 m/s, without a trend: quarters have .15, .16, "
            ".18, .16"
        ),
        "exponent of mean speed": (
            "thin beds are slow near the height at which they stop: the exponent is 2.0 from 10 to 20 layers, "
            "1.55 from 20 to 30 and 1.56 from 30 to 40"
        ),
    },
    panels=3,
)
