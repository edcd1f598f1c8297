"""impacts.py: oblique impacts after Chung & Ooi, and bouncing balls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from testbed.beds import GRAVITY, RADIUS, mass, on_floor
from testbed.laws import IMPACTS, hit_floor, hit_pair, rigid_law
from validation import plot
from validation.check import Check, Params, Result, Row, Values, below, near, pick

CHUNG = "Chung & Ooi 2011, rigid limit"
KHARAZ = {40: 545.0, 50: 457.0, 60: 357.0, 70: 246.0, 80: 126.0}


def cases(size: str, seeds: Sequence[int]) -> list[Params]:
    found: list[Params] = [
        {"case": "normal", "e": e, "dt": dt} for dt in (5e-4, 1e-3) for e in (0.2, 0.4, 0.6, 0.8, 1.0)
    ]
    found += [{"case": "floor", "name": name, "dt": IMPACTS[name][-1]} for name in IMPACTS]
    found += [{"case": "curve", "dt": 1e-4}]
    found += [{"case": "pair", "large": large, "dt": 1e-3} for large in (0.1, 0.3, 1.0)]
    found += [{"case": "equal", "dt": 1e-3}]
    found += [{"case": "bounce", "e": e, "dt": dt} for dt in (5e-4, 1e-3, 2e-3) for e in (0.5, 0.7, 0.9, 1.0)]
    return found


def measure(params: Params, threads: int) -> Values:
    kinds = {"normal": _normal, "floor": _floor, "curve": _curve, "pair": _pair, "equal": _equal, "bounce": _bounce}
    return kinds[params["case"]](params)


def _normal(p: Params) -> Values:
    """Chung & Ooi, test 3: r 2.5 mm, 3.9 m/s on a floor, from 32 heights."""
    heights = 0.0025 * 1.05 + 1e-4 * np.arange(32)
    positions = np.c_[0.1 * np.arange(32), np.zeros(32), heights]
    scene = on_floor(
        positions, np.tile([0.0, 0.0, -3.9], (32, 1)), radius=0.0025, restitution=p["e"], gravity=(0, 0, 0)
    )
    with scene.build(num_threads=1) as world:
        world.step(p["dt"], round(0.02 / p["dt"]))
        return {"e": world.velocities[0, :, 2] / 3.9}


def _floor(p: Params) -> Values:
    radius, vn, vt, spin, friction, restitution, dt = IMPACTS[p["name"]]
    v, w = hit_floor(radius, vn, vt, spin, friction, restitution, dt)
    dv, du = rigid_law(vt - radius * spin, vn, friction, restitution)
    return {
        "speed_error": np.abs(v[:, 0] - (vt + dv)).max() / np.abs(dv).max(),
        "spin_error": np.abs(w[:, 1] * radius - (radius * spin + du)).max() / np.abs(du).max(),
        "restitution_error": np.abs(v[:, 2] / vn - restitution).max(),
    }


def _curve(p: Params) -> Values:
    """Chung & Ooi, test 4, at all angles."""
    angles = np.radians(np.arange(2.0, 89.0, 2.0))
    _, w = hit_floor(0.0025, 3.9 * np.cos(angles), 3.9 * np.sin(angles), 0.0, 0.092, 0.98, p["dt"])
    return {"angles": np.degrees(angles), "spin": w[:, 1]}


def _pair(p: Params) -> Values:
    """Chung & Ooi, test 8: a spinning sphere hits another; errors relative to the largest change."""
    spins = np.array([1.0, 3.0, 6.0, 9.0, 12.0, 18.0, 25.0])
    v, w = hit_pair((0.1, p["large"]), 0.2, np.stack([spins, 0.0 * spins], axis=1), 0.4, 0.5)
    m = mass([0.1, p["large"]])
    reduced = m.prod() / m.sum()
    dv, _ = rigid_law(0.1 * spins, 0.2, 0.4, 0.5)
    wrong_v, wrong_w = 0.0, 0.0
    for side, sign in ((0, 1.0), (1, -1.0)):
        change = sign * dv * reduced / m[side]
        turn = 2.5 * dv * reduced / m[side]
        turned = (w[:, side, 2] - (spins if side == 0 else 0.0)) * (0.1, p["large"])[side]
        wrong_v = max(wrong_v, np.abs(v[:, side, 1] - change).max() / np.abs(change).max())
        wrong_w = max(wrong_w, np.abs(turned - turn).max() / np.abs(turn).max())
    return {"speed_error": wrong_v, "spin_error": wrong_w}


def _equal(p: Params) -> Values:
    """Chung & Ooi, test 7: opposite spins, no slip."""
    spins = np.linspace(5.0, 25.0, 6)
    v, w = hit_pair((0.1, 0.1), 0.4, np.stack([spins, -spins], axis=1), 0.4, 0.5)
    return {
        "spin_error": np.abs(w[:, :, 2] - np.stack([spins, -spins], axis=1)).max(),
        "side_speed": np.abs(v[:, :, 1]).max(),
    }


def _bounce(p: Params) -> Values:
    """Peaks of a ball dropped from .5 m, over h0 e^2k, as long as steps resolve them."""
    drop, dt, e = 0.5, p["dt"], p["e"]
    with on_floor([[0.0, 0.0, RADIUS + drop]], restitution=e).build(num_threads=1) as world:
        heights = []
        for _ in range(round(3.0 / dt)):
            world.step(dt)
            heights.append(float(world.positions[0, 0, 2]) - RADIUS)
    h = np.array(heights)
    top = np.flatnonzero((h[1:-1] > h[:-2]) & (h[1:-1] >= h[2:])) + 1
    expected = drop * e ** (2.0 * np.arange(1, len(top) + 1))
    seen = expected > 2e-3
    total = np.sqrt(2.0 * drop / GRAVITY) * (1.0 + e) / (1.0 - e) if e < 1.0 else None
    # at rest when it stays below a hundredth of r above the floor
    above = np.flatnonzero(h > 0.01 * RADIUS)
    ends = float(above[-1] + 1) * dt if len(above) and above[-1] + 1 < len(h) else None
    return {
        "peaks": h[top][seen] / expected[seen],
        "heights": h[:: max(round(2e-3 / dt), 1)],
        "rests_at": ends,
        "total": total,
    }


def judge(results: list[Result]) -> list[Row]:
    rows = []
    for r in pick(results, case="normal"):
        worst = max(r.values["e"], key=lambda e, wanted=r.params["e"]: abs(e - wanted))
        rows.append(near(r, f"test 3: 3.9 m/s on a floor, e {r.params['e']:g}", "e", worst, r.params["e"], 0.01, CHUNG))
    for r in pick(results, case="floor"):
        setup = f"test {r.params['name'].split('-')[0]}: oblique on a floor, both branches"
        rows.append(below(r, setup, "tangential speed, relative error", r.values["speed_error"], 0.01, CHUNG))
        rows.append(below(r, setup, "spin, relative error", r.values["spin_error"], 0.01, CHUNG))
        rows.append(below(r, setup, "e, error", r.values["restitution_error"], 0.01, CHUNG))
    for r in pick(results, case="curve"):
        for angle, spin in KHARAZ.items():
            value = float(np.interp(angle, r.values["angles"], r.values["spin"]))
            source = "Chung & Ooi 2011, curve of test 4"
            rows.append(near(r, f"test 4 at {angle} deg", "spin [rad/s]", value, spin, 0.03, source, relative=True))
    for r in pick(results, case="equal"):
        rows.append(
            below(
                r,
                "test 7: equal spheres, opposite spins",
                "spins kept, error [rad/s]",
                r.values["spin_error"],
                0.01,
                CHUNG,
            )
        )
        rows.append(
            below(
                r,
                "test 7: equal spheres, opposite spins",
                "tangential speed [m/s]",
                r.values["side_speed"],
                1e-5,
                CHUNG,
            )
        )
    for r in pick(results, case="pair"):
        setup = f"test 8: radii 0.1 and {r.params['large']:g} m"
        rows.append(below(r, setup, "tangential speed, relative error", r.values["speed_error"], 0.01, CHUNG))
        rows.append(below(r, setup, "spin, relative error", r.values["spin_error"], 0.01, CHUNG))
    for r in pick(results, case="bounce"):
        setup = f"ball dropped from .5 m, e {r.params['e']:g}"
        worst = max(r.values["peaks"], key=lambda x: abs(x - 1.0), default=None)
        rows.append(near(r, setup, "height of bounce k / (h0 e^2k), worst", worst, 1.0, 0.02, "mechanics"))
        if r.values["total"] is not None and r.values["total"] < 2.8:
            # the last bounces are below bounce_speed, where impacts do not bounce
            rows.append(
                near(
                    r,
                    setup,
                    "time until it rests [s]",
                    r.values["rests_at"],
                    r.values["total"],
                    0.02,
                    "mechanics",
                    relative=True,
                )
            )
    return rows


def draw(figure: Any, results: list[Result]) -> None:
    left, right = plot.panels(figure, (("angle of impact [deg]", "spin after [rad/s]"), ("time [s]", "height [m]")))
    for r in pick(results, case="curve"):
        angles = np.radians(np.linspace(1.0, 89.0, 300))
        _, du = rigid_law(3.9 * np.sin(angles), 3.9 * np.cos(angles), 0.092, 0.98)
        left.plot(np.degrees(angles), du / 0.0025, color=plot.TARGET, label="rigid law")
        left.plot(r.values["angles"], r.values["spin"], "o", ms=3, color=plot.INK, label="granular_gym")
        left.plot(list(KHARAZ), list(KHARAZ.values()), "k^", ms=5, label="Chung & Ooi")
    for k, r in enumerate(pick(results, case="bounce", dt=1e-3)):
        h = r.values["heights"]
        right.plot(2e-3 * np.arange(len(h)), h, lw=1, color=f"C{k}", label=f"e {r.params['e']:g}")
    left.set_title("Chung & Ooi 4", fontsize=9)
    right.set_title("bouncing ball", fontsize=9)
    for ax in (left, right):
        plot.legend(ax)


CHECK = Check(
    name="impacts",
    title="impacts of Chung & Ooi, bouncing",
    about=(
        "Spheres that hit a floor or each other, with slip and spin, against the rigid-body law: below a slip "
        "velocity of 7/2 mu (1 + e) Vn they leave without slip (changes 2/7 and 5/7 of it), above it the "
        "tangential impulse is mu (1 + e) Vn. Tests 1 and 2 of Chung & Ooi time an elastic contact, which rigid "
        "grains do not have."
    ),
    number="4",
    headline="spin, relative error",
    cases=cases,
    measure=measure,
    judge=judge,
    draw=draw,
    same=True,
    panels=2,
)
