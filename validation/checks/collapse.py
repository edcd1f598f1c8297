"""collapse.py: collapse of a column in a slot after its gate is removed: run-out and final height."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DIAMETER
from validation import bulk, plot, slot
from validation.check import Check, Params, Result, Row, Values, below, groups, near, pick, report

LUBE = "Lube 2005"
LAJEUNESSE = "Lajeunesse 2005"
#: rolling friction of sand-like grains, the default; without it spheres keep rolling on a flat floor
SAND = 0.3
BALMFORTH = "Balmforth & Kerswell 2005"
STARON = "Staron & Hinch 2005 (discs)"


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    if size == "quick":
        aspects, length, width, some = (0.5, 1.0, 2.0, 3.0, 4.5), 15, 5, seeds[:1]
    else:
        aspects, length, width, some = (0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0), 20, 5, seeds
    common = {"length": length, "width": width}
    found: list[Params] = []
    for seed in some:
        found += [{"a": a, "spin": "on", "mu_r": SAND, "dt": 1e-3, "seed": seed, **common} for a in aspects]
        found += [{"a": a, "spin": "on", "mu_r": SAND, "dt": 5e-4, "seed": seed, **common} for a in (1.0, 3.0)]
    found += [{"a": a, "spin": "on", "mu_r": 0.0, "dt": 1e-3, "seed": some[0], **common} for a in (1.0, 3.0)]
    found += [{"a": a, "spin": "off", "mu_r": 0.0, "dt": 1e-3, "seed": some[0], **common} for a in aspects]
    return found


def measure(params: Params, threads: int) -> Values:
    """Simulates until the deposit is at rest; profiles of depth, and the front, where it is one grain deep."""
    p, dt = params, params["dt"]
    length, width = p["length"], p["width"]
    positions = slot.packing(length, width, p["a"] * length, p["seed"], spin=p["spin"] == "on", rolling=p["mu_r"])
    height = float(np.sort(positions[:, 2])[-max(len(positions) // 100, 10) :].mean()) + 0.5 * DIAMETER
    # longer than any expected run-out
    wide = length * (2.0 + 3.5 * max(p["a"], 1.0))
    scene = slot.open_slot(positions, wide, width, rolling=p["mu_r"])
    edges = np.arange(0.0, wide + 0.5) * DIAMETER
    fall = float(np.sqrt(2.0 * height / 9.81))
    with scene.build(num_threads=threads, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        fronts, times, profiles = [], [], {}
        block = 0.25 * fall
        for k in range(28):
            world.step(dt, max(round(block / dt), 1))
            depth = bulk.depth_profile(world.positions[0, :, 0], edges, width * DIAMETER) / DIAMETER
            deep = np.flatnonzero(depth >= 1.0)
            fronts.append(float(edges[deep[-1] + 1] / DIAMETER) if len(deep) else 0.0)
            times.append(block * (k + 1))
            if k in (3, 7):
                profiles[f"{times[-1]:.2f}"] = depth
            speed = float(np.sqrt((world.velocities[0].astype(np.float64) ** 2).sum(1).mean()))
            if speed < 2e-3 and k > 8:
                break
    profiles["end"] = depth
    return {
        "count": len(positions),
        "aspect": height / DIAMETER / length,
        "runout": (fronts[-1] - length) / length,
        "fronts": fronts,
        "times": times,
        "fall": fall,
        "profiles": profiles,
        "speed": speed,
        "left": float(depth[:3].max()) / length,
    }


def _exponent(
    mine: list[Result], key: str, low: float, high: float, law: float = 1.0
) -> tuple[float, float, list[Result]]:
    """Power law of a value in the aspect ratio: exponent, prefactor for the exponent `law`, results used."""
    used = [r for r in mine if low <= r.params["a"] <= high and r.values[key] > 0.0]
    if len(used) < 3:
        return np.nan, np.nan, used
    a, y = (np.array([r.values[name] for r in used]) for name in ("aspect", key))
    return float(np.polyfit(np.log(a), np.log(y), 1)[0]), float(np.mean(y / a**law)), used


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        p, v = r.params, r.values
        setup = f"column {p['length']} d wide, a {v['aspect']:.2f}, mu_r {p['mu_r']:g}, {v['count']} grains"
        note = "" if v["speed"] < 2e-3 else f"still moving at {v['speed']:.1e} m/s"
        rows.append(report(r, setup, "run-out (L - L0) / L0", r.values["runout"], note=note))
    judged = [r for r in pick(results, dt=1e-3) if r.params["spin"] == "off" or r.params["mu_r"] == SAND]
    for (spin, seed), mine in groups(judged, "spin", "seed").items():
        for low, high, target, factors in ((0.0, 2.1, 1.0, (1.2, LUBE)), (1.9, 99.0, 2.0 / 3.0, (1.9, LUBE))):
            exponent, factor, used = _exponent(mine, "runout", low, high, target)
            if len(used) < 3:
                continue
            setup = f"a {used[0].params['a']:g} .. {used[-1].params['a']:g}"
            if spin == "on":
                rows.append(near(used, setup, "exponent of run-out in a", exponent, target, 0.1, LUBE, seed=seed))
                note = f"discs: 2.5 below a 2, 3.25 above, {STARON}"
                rows.append(
                    near(
                        used,
                        setup,
                        "prefactor of run-out",
                        factor,
                        factors[0],
                        0.25,
                        factors[1],
                        relative=True,
                        seed=seed,
                        note=note,
                    )
                )
            else:
                rows.append(report(used, setup, "exponent of run-out in a", exponent, seed=seed))
                rows.append(report(used, setup, "prefactor of run-out", factor, seed=seed))
        exponent, _, used = _exponent(mine, "runout", 1.9, 99.0)
        if len(used) >= 3 and spin == "on":
            setup = f"a {used[0].params['a']:g} .. {used[-1].params['a']:g}, no side walls"
            rows.append(
                near(used, setup, "exponent of run-out in a, wide slot", exponent, 0.9, 0.1, BALMFORTH, seed=seed)
            )
        exponent, _, used = _exponent(mine, "left", 1.9, 99.0)
        if len(used) >= 3:
            setup = f"a {used[0].params['a']:g} .. {used[-1].params['a']:g}"
            if spin == "on":
                rows.append(
                    near(used, setup, "exponent of final height in a", exponent, 1.0 / 3.0, 0.1, LAJEUNESSE, seed=seed)
                )
            else:
                rows.append(report(used, setup, "exponent of final height in a", exponent, seed=seed))
    for r in pick(results, dt=5e-4, mu_r=SAND):
        twin = pick(results, **{**r.params, "dt": 1e-3})
        if twin:
            change = abs(twin[0].values["runout"] - r.values["runout"]) / r.values["runout"]
            rows.append(
                below(
                    [r, *twin],
                    f"a {r.params['a']:g}",
                    "change of run-out from .5 to 1 ms, relative",
                    change,
                    0.1,
                    "own",
                )
            )
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    labels = (("aspect a", "run-out (L - L0) / L0"), ("x [d]", "depth [d]"), ("time / fall time", "front [L0]"))
    axes = plot.panels(figure, labels)
    for spin, color, marker in (("on", plot.INK, "o"), ("off", "#8a4f9e", "s")):
        mine = [r for r in pick(results, spin=spin, dt=1e-3) if spin == "off" or r.params["mu_r"] == SAND]
        if not mine:
            continue
        axes[0].plot(
            [r.values["aspect"] for r in mine],
            [r.values["runout"] for r in mine],
            marker,
            ms=4,
            color=color,
            label=f"spin {spin}",
        )
    a = np.linspace(0.4, max(r.values["aspect"] for r in results) * 1.1, 100)
    axes[0].plot(a, np.where(a < 1.8, 1.2 * a, 1.9 * a ** (2 / 3)), color=plot.TARGET, label="Lube 2005")
    axes[0].plot(a, np.where(a < 2.0, 2.5 * a, 3.25 * a**0.7), "--", color="0.6", label="Staron & Hinch, discs")
    axes[0].set_xscale("log")
    axes[0].set_yscale("log")
    axes[0].set_xticks([0.5, 1, 2, 4, 8], ["0.5", "1", "2", "4", "8"])
    axes[0].minorticks_off()
    first = min(r.params["seed"] for r in results)
    for k, r in enumerate(pick(results, spin="on", dt=1e-3, seed=first, mu_r=SAND)):
        depth = list(r.values["profiles"].values())[-1]
        axes[1].plot(np.arange(len(depth)) + 0.5, depth, lw=1, color=f"C{k}", label=f"a {r.params['a']:g}")
        axes[2].plot(
            np.array(r.values["times"]) / r.values["fall"],
            np.array(r.values["fronts"]) / r.params["length"],
            lw=1,
            color=f"C{k}",
        )
    reach = max(r.values["fronts"][-1] for r in pick(results, spin="on", mu_r=SAND) or results)
    axes[1].set_xlim(0.0, 1.2 * reach)
    axes[1].set_title("deposits, spin on", fontsize=9)
    for ax in axes[:2]:
        plot.legend(ax)


CHECK = Check(
    name="collapse",
    title="collapse of a column in a slot",
    about=(
        "A column of width L0 between a wall and a gate, periodic across the slot, on a flat floor; mu .5, rolling "
        f"friction {SAND:g} (the default for spheres; without it they roll on over a flat floor, two such rows are "
        "reported). The gate vanishes at once. The front is where the deposit is one grain deep (volume of grains "
        "over .58). With a the aspect ratio, the run-out in slots grows as a up to a of about 2 and beyond as "
        "a^(2/3) between walls or a^.9 in wide slots, the final height as a^(1/3). Prefactors depend on the "
        "material; simulated discs and spheres run out further than sand."
    ),
    number="12",
    headline="exponent of run-out in a, wide slot",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "exponent of run-out in a": (
            "above a of 2: the slot is periodic and has no side walls; wide slots follow a^.9 (the line below it), "
            "narrow ones with walls a^.65. Below: size: the laws are for columns of many grains. A column 15 to 20 "
            "d wide with a of .5 is 7 to 10 d high, and its front, which ends where it is one grain deep, loses a "
            "grain or two against sand; the points themselves have .79 to 1.16 of Lube's run-out from a of 1 on"
        ),
        "prefactor of run-out": "as for the exponent",
        "exponent of final height": "size, and few aspect ratios: the height at the wall is that of 6 to 26 grains",
    },
    panels=3,
)
