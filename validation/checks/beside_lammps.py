"""beside_lammps.py: collapse, silo flow and a settled packing, compared with LAMMPS from the same positions."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np

from testbed.beds import DIAMETER
from validation import beside, bulk, peer, plot
from validation.check import OWN, Check, Params, Result, Row, Values, near, pick, report, skipped
from validation.peer import CODE


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    quick = size == "quick"
    slots: list[Params] = [
        {"case": "collapse", "length": 15, "width": 5, "height": 22.5 if quick else 60.0},
        {"case": "silo", "length": 24, "width": 5, "height": 20.0 if quick else 48.0, "opening": 8},
        {"case": "settled", "count": 1500 if quick else 6000, "half": 5.0 if quick else 8.0},
    ]
    return [{**c, "dt": 1e-3, "seed": s, "spin": "on"} for c in slots for s in (seeds[:1] if quick else seeds)]


def measure(params: Params, threads: int) -> Values:
    return {"collapse": _collapse, "silo": _silo, "settled": _settled}[params["case"]](params, threads)


def _collapse(p: Params, threads: int) -> Values:
    """Depth along the slot at four times."""
    width = p["width"]
    start = beside.collapse(p["length"], width, p["height"], p["seed"])
    seconds, frames = 4.0 * float(np.sqrt(2.0 * p["height"] * DIAMETER / 9.81)), 10
    edges = np.arange(0.0, beside.run_out(p["length"], p["height"]) + 0.5) * DIAMETER
    times, theirs, cpu = start.lammps(seconds, frames)
    ours = [start.positions]
    with start.scene.build(num_threads=threads) as world:
        for a, b in itertools.pairwise(times):
            world.step((b - a) / max(round((b - a) / p["dt"]), 1), max(round((b - a) / p["dt"]), 1))
            ours.append(world.positions[0])
    shown = [2, 4, 7, frames]
    depth = [
        [bulk.depth_profile(frame[k][:, 0], edges, width * DIAMETER) / DIAMETER for k in shown]
        for frame in (ours, theirs)
    ]
    apart = [float(np.abs(a - b).sum() / b.sum()) for a, b in zip(*depth, strict=True)]
    return {
        "times": [times[k] for k in shown],
        "ours": depth[0],
        "theirs": depth[1],
        "figures": [beside.deposit(line[-1]) for line in depth],
        "apart": apart,
        "count": len(start.positions),
        "peer_seconds": cpu,
    }


def _silo(p: Params, threads: int) -> Values:
    """Grains left above the slit over time."""
    start = beside.silo(p["length"], p["width"], p["height"], p["opening"], p["seed"])
    seconds, frames = 0.5 if p["height"] < 30 else 1.0, 50
    times, theirs, cpu = start.lammps(seconds, frames)
    ours = [start.positions]
    with start.scene.build(num_threads=threads) as world:
        for _ in range(frames):
            world.step(p["dt"], round(seconds / frames / p["dt"]))
            ours.append(world.positions[0])
    left = [beside.above_slit(frame) for frame in (ours, theirs)]
    rates = [beside.rate(times, line) for line in left]
    return {"times": times, "left": left, "rates": rates, "count": len(start.positions), "peer_seconds": cpu}


def _settled(p: Params, threads: int) -> Values:
    """A lattice that falls into a box and settles: profiles of solid fraction and coordination."""
    half, count = p["half"] * DIAMETER, p["count"]
    start = beside.settled(count, p["half"], p["seed"])
    seconds = 1.2
    _, theirs, cpu = start.lammps(seconds, 1)
    with start.scene.build(num_threads=threads) as world:
        world.step(p["dt"], round(seconds / p["dt"]))
        ours = world.positions[0].astype(np.float64)
        pressing = bulk.pressing(world)
    edges = np.arange(0.0, 200.0) * DIAMETER
    found: list[Values] = []
    # soft grains carry force where they overlap
    for x, pairs in ((ours, pressing), (theirs[-1], bulk.contacts(theirs[-1], 0.0))):
        measured, z = beside.bed(x, pairs, half), x[:, 2]
        degree = np.bincount(pairs.ravel(), minlength=len(x))
        slab = np.digitize(z, edges) - 1
        layers = int(measured["level"]) + 1
        found.append(
            {
                **measured,
                "phis": bulk.slab_profile(z, edges[: layers + 1], (2 * half) ** 2),
                "Zs": [float(degree[slab == k].mean()) if (slab == k).any() else 0.0 for k in range(layers)],
            }
        )
    return {"ours": found[0], "theirs": found[1], "count": count, "peer_seconds": cpu}


def judge(results: list[Result]) -> list[Row]:
    if not results:
        return [skipped(CODE, peer.available())]
    rows = []
    for r in pick(results, case="collapse"):
        v, p = r.values, r.params
        setup = f"collapse in a slot, column {p['length']} d wide, {p['height']:g} d high, {v['count']} grains"
        ours, theirs = v["figures"]
        rows.append(
            near(r, setup, "x with 9/10 of the grains [d]", ours["most"], theirs["most"], 0.1, CODE, relative=True)
        )
        rows.append(
            near(r, setup, "final depth at the wall [d]", ours["height"], theirs["height"], 0.1, CODE, relative=True)
        )
        rows.append(
            near(r, setup, "x with half of the grains [d]", ours["half"], theirs["half"], 0.1, CODE, relative=True)
        )
        for time, apart in zip(v["times"], v["apart"], strict=True):
            rows.append(report(r, setup, f"difference of profiles / area, at {time:.2f} s", apart, OWN))
    for r in pick(results, case="silo"):
        v, p = r.values, r.params
        setup = f"slit of {p['opening']} d in a flat floor, slot {p['length']} d long, {v['count']} grains"
        rows.append(near(r, setup, "grains per second", v["rates"][0], v["rates"][1], 0.1, CODE, relative=True))
        rows.append(
            report(
                r,
                setup,
                "difference of grains left at the end / all",
                abs(v["left"][0][-1] - v["left"][1][-1]) / v["count"],
                OWN,
            )
        )
    for r in pick(results, case="settled"):
        v = r.values
        setup = f"{v['count']} grains fell into a box {2 * r.params['half']:g} d wide"
        rows.append(near(r, setup, "solid fraction of the core", v["ours"]["phi"], v["theirs"]["phi"], 0.01, CODE))
        rows.append(
            near(r, setup, "height of the bed [d]", v["ours"]["level"], v["theirs"]["level"], 0.02, CODE, relative=True)
        )
        for key, name in (("Z", "contacts that press"), ("Z_gap", "gap < 1e-4 d")):
            name = f"coordination of the core, {name}, rattlers counted"
            rows.append(near(r, setup, name, v["ours"][key], v["theirs"][key], 0.3, CODE))
        n = min(len(v["ours"]["phis"]), len(v["theirs"]["phis"])) - 2
        for key, name in (("phis", "solid fraction"), ("Zs", "contacts that press")):
            apart = np.sqrt(np.mean((np.array(v["ours"][key][:n]) - np.array(v["theirs"][key][:n])) ** 2))
            rows.append(report(r, setup, f"rms difference of {name} by layer", float(apart), OWN))
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    labels = (
        ("x [d]", "depth [d]"),
        ("time [s]", "grains left"),
        ("solid fraction by layer", "height [d]"),
        ("pressing contacts by layer", "height [d]"),
    )
    axes = plot.panels(figure, labels)
    for r in pick(results, case="collapse")[:1]:
        v = r.values
        for k, time in enumerate(v["times"]):
            for line, style in ((v["ours"], "-"), (v["theirs"], "--")):
                text = f"{time:.2f} s" if style == "-" else ("dashed: LAMMPS" if k == 0 else None)
                axes[0].plot(np.arange(len(line[k])) + 0.5, line[k], style, color=f"C{k}", lw=1, label=text)
        reach = np.flatnonzero(np.array(v["theirs"][-1]) > 0.05)[-1]
        axes[0].set_xlim(0.0, 1.1 * reach)
    for r in pick(results, case="silo")[:1]:
        axes[1].plot(r.values["times"], r.values["left"][0], color=plot.INK, label="granular_gym")
        axes[1].plot(r.values["times"], r.values["left"][1], "--", color=plot.TARGET, label="LAMMPS")
    for r in pick(results, case="settled")[:1]:
        for name, color, style in (("ours", plot.INK, "-"), ("theirs", plot.TARGET, "--")):
            for ax, key in ((axes[2], "phis"), (axes[3], "Zs")):
                line = r.values[name][key]
                ax.plot(
                    line,
                    np.arange(len(line)) + 0.5,
                    style,
                    color=color,
                    label="granular_gym" if name == "ours" else "LAMMPS",
                )
    for ax in axes[:3]:
        plot.legend(ax)


CHECK = Check(
    name="lammps",
    title="collapse, silo flow and settled packing, compared with LAMMPS",
    about=(
        "The same initial positions in LAMMPS (gran/hooke/history, 2.5e4 N/m, 2e-5 s, the grains' e .5) and in "
        "this engine (rigid, 1 ms): a column in a slot, a slot over a slit, and a lattice that falls into a box. "
        "Own tolerances: 10 % for flows, .01 for the solid fraction, .3 contacts. The soft grains overlap by .05 % "
        "of d on average, the rigid ones by less. Seconds are of both codes."
    ),
    number="",
    headline="grains per second",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    causes={
        "final depth": (
            "steps of 1 ms lose energy in impacts of several grains: within one substep these lose more than one "
            "after another, and less of the column runs out. By hand, means of three seeds: 9/10 of the grains "
            "within 107 d, half within 36.8 d, depth 15 d at the wall; 40 iterations change nothing (108, 36.8 and "
            "15 d), .25 ms gives 110, 38 and 14.7 d, .1 ms 112, 38.7 and 14.9 d (seed 1; LAMMPS: 114, 39.1 and "
            "13.8 d). The depth at the wall differs by up to .5 d between runs that differ by rounding"
        ),
    },
    available=peer.available,
    panels=4,
)
