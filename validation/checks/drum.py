"""drum.py: a rotating drum: one grain, and the published mixture of two sizes."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS
from validation import plot
from validation.check import Check, Params, Result, Row, Values, between, holds, near, pick, report
from validation.resume import Checkpoint

LAW = "Coulomb in a turning frame"
DOSTA = "Dosta et al. 2024, case 2"
DRUM = 0.1  # radius [m]
#: material, number and radius [m] of the grains of that case, the lower ones first
SIZES = (("M2", 8000, 0.002), ("M1", 30000, 0.001))
DENSITIES = {"M1": 2500.0, "M2": 2000.0, "steel": 7200.0}  # [kg/m3]
#: friction and restitution of pairs of materials
PAIRS = {
    ("M1", "M1"): (0.3, 0.5),
    ("M1", "M2"): (0.2, 0.45),
    ("M2", "M2"): (0.4, 0.4),
    ("M1", "steel"): (0.2, 0.4),
    ("M2", "steel"): (0.2, 0.4),
    ("steel", "steel"): (0.2, 0.4),  # never in contact
}
SETTLING = 0.4  # time before the drum turns [s]
#: names of the counts of quadrants()
QUADRANTS = ("small, lower right", "small, lower left", "large, lower right", "large, lower left")
#: turns the z axis of a cavity to y
_ACROSS = (np.sqrt(0.5), -np.sqrt(0.5), 0.0, 0.0)


def _turned(angle: float) -> list[float]:
    """Pose of a drum turned about the y axis by an angle [rad], counter-clockwise seen from -y."""
    return [0.0, 0.0, 0.0, float(np.cos(0.5 * angle)), 0.0, float(np.sin(0.5 * angle)), 0.0]


def single_cases(size: str, seeds: Sequence[int]) -> list[Params]:
    found: list[Params] = []
    for dt in (5e-4, 1e-3):
        found += [{"case": "slow", "mu": mu, "spin": "off", "dt": dt} for mu in (0.2, 0.3, 0.5, 0.8)]
        found += [{"case": "slow", "mu": 0.5, "spin": "on", "dt": dt}]
        found += [
            {"case": "fast", "mu": mu, "froude": f, "spin": "off", "dt": dt}
            for mu, speeds in ((0.5, (1.5, 2.0, 2.5, 3.5)), (0.3, (3.0, 4.0)))
            for f in speeds
        ]
    return found


def single(params: Params, threads: int) -> Values:
    """Angle of one grain from the bottom of a rotating drum, and the turns it makes with the drum."""
    p, dt = params, params["dt"]
    path = DRUM - RADIUS
    slow = p["case"] == "slow"
    # a grain that neither rotates nor slips moves with the wall's surface: its speed is rate * DRUM
    rate = 0.3 if slow else float(np.sqrt(p["froude"] * GRAVITY * path)) / DRUM
    scene = gg.Scene(((-0.2, -0.05, -0.2), (0.2, 0.05, 0.2)), boundary=dict.fromkeys("xyz", "open"))
    grain = scene.add_material(density=DENSITY, friction=p["mu"], rolling_friction=0.0)
    scene.add_grains(grain, [[0.0, 0.0, -path]], RADIUS, None if slow else [[-rate * DRUM, 0.0, 0.0]])
    scene.add_tool(gg.Sdf.cavity(DRUM).at((0, 0, 0), _ACROSS), name="drum")
    seconds = 10.0 if slow else 6.0 * 2.0 * np.pi / rate
    block = 0.02
    times, angles = [], []
    with scene.build(num_threads=1, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        for k in range(round(seconds / block)):
            # the bottom of the drum moves towards -x
            world.step(dt, round(block / dt), tool_poses=[_turned(rate * block * (k + 1))])
            x = world.positions[0, 0]
            times.append(block * (k + 1))
            angles.append(float(np.degrees(np.arctan2(-x[0], -x[2]))))
    turns = np.unwrap(np.radians(angles))[-1] / (2.0 * np.pi)
    return {
        "times": times,
        "angles": angles,
        "last": np.mean(angles[-50:]),
        "turns": turns,
        "stuck_turns": rate * times[-1] / (2.0 * np.pi) * DRUM / path,
    }


def judge_single(results: list[Result]) -> list[Row]:
    rows = []
    for r in pick(results, case="slow"):
        mu = r.params["mu"]
        setup = f"one grain, mu {mu:g}, drum at .3 rad/s"
        target = float(np.degrees(np.arctan(mu))) if r.params["spin"] == "off" else 0.0
        rows.append(near(r, setup, "angle from the bottom [deg]", r.values["last"], target, 1.0, LAW))
    for r in pick(results, case="fast"):
        p = r.params
        limit = float(np.sqrt(1.0 + 1.0 / p["mu"] ** 2))
        lag = r.values["stuck_turns"] - r.values["turns"]
        co_rotates = abs(lag) < 0.005
        setup = f"one grain started with the drum, mu {p['mu']:g}, Fr {p['froude']:g}"
        wanted = p["froude"] > limit
        word = "co-rotates" if wanted else "does not co-rotate"
        rows.append(
            holds(
                r,
                setup,
                f"{word} (limit {limit:.2f})",
                co_rotates == wanted,
                "yes",
                LAW,
                note=f"behind the wall by {lag:.3f} of {r.values['stuck_turns']:.2f} turns",
            )
        )
    return rows


def draw_single(figure: Any, results: list[Result]) -> None:
    left, right = plot.panels(
        figure, (("time [s]", "angle from the bottom [deg]"), ("Fr", "apart from the wall [turns of 6]"))
    )
    for k, r in enumerate(pick(results, case="slow", dt=1e-3)):
        left.plot(
            r.values["times"],
            r.values["angles"],
            lw=1,
            color=f"C{k}",
            label=f"mu {r.params['mu']:g}, spin {r.params['spin']}",
        )
        target = np.degrees(np.arctan(r.params["mu"])) if r.params["spin"] == "off" else 0.0
        left.axhline(target, color=plot.TARGET, lw=0.8, ls="--")
    for k, mu in enumerate((0.5, 0.3)):
        mine = pick(results, case="fast", mu=mu)
        right.plot(
            [r.params["froude"] for r in mine],
            [abs(r.values["stuck_turns"] - r.values["turns"]) for r in mine],
            "os"[k],
            ms=5,
            label=f"mu {mu:g}",
        )
        right.axvline(np.sqrt(1.0 + 1.0 / mu**2), color=plot.TARGET, ls="--", lw=0.8)
        right.set_yscale("log")
    for ax in (left, right):
        plot.legend(ax)


CHECK = Check(
    name="drum",
    title="one grain in a drum",
    about=(
        "A drum of .1 m rotates about a horizontal axis with one grain in it. Without spin the grain slides at "
        "atan(mu) from the bottom; with spin and without rolling friction it rolls and stays at the bottom. "
        "Started with the drum it co-rotates for ever if Fr = w² R / g exceeds sqrt(1 + 1/mu²), R the radius of "
        "its path. Dashed: targets."
    ),
    number="16",
    headline="angle from the bottom [deg]",
    cases=single_cases,
    measure=single,
    judge=judge_single,
    draw=draw_single,
    same=True,
    panels=2,
)


def mixture_cases(size: str, seeds: Sequence[int]) -> list[Params]:
    if size == "quick":
        # equal fill and Froude number in a drum of half the size: an eighth of the grains
        return [{"scale": 0.5, "spin": spin, "dt": 5e-4, "seed": seeds[0]} for spin in ("on",)]
    return [{"scale": 1.0, "spin": "on", "dt": 5e-4, "seed": s} for s in seeds]


@dataclasses.dataclass(frozen=True)
class Drum:
    """The drum of the mixture at a scale; at equal Froude number smaller drums rotate faster, for a shorter time."""

    scale: float

    @property
    def radius(self) -> float:
        """Radius [m]."""
        return DRUM * self.scale

    @property
    def half(self) -> float:
        """Half of its length [m]."""
        return 0.03 * self.scale

    @property
    def rate(self) -> float:
        """Angular speed [rad/s]."""
        return float(2.0 / np.sqrt(self.scale))

    @property
    def seconds(self) -> float:
        """Time of rotation [s]."""
        return float(5.0 * np.sqrt(self.scale))

    def filling(self, seed: int) -> dict[str, Any]:
        """Positions (n, 3) [m] by material, the lower grains first."""
        top, found = -self.radius, {}
        for name, count, r in SIZES:
            count = round(count * self.scale**3)
            found[name], top = _layers(count, r, self.radius, self.half, top, seed)
        return found


def quadrants(x: Any, big: Any) -> list[int]:
    """Counts of QUADRANTS of grains at positions (n, 3); `big` is the mask of large ones."""
    right, lower = x[:, 0] > 0.0, x[:, 2] < 0.0
    return [int((side & lower & size).sum()) for size in (~big, big) for side in (right, ~right)]


def mixture(params: Params, threads: int) -> Values:
    """Settles the large grains below the small ones, then rotates the drum for 5 s (at equal Froude number)."""
    p, dt, drum = params, params["dt"], Drum(params["scale"])
    radius, half, rate, seconds = drum.radius, drum.half, drum.rate, drum.seconds
    scene = gg.Scene(((-0.2, -0.05, -0.2), (0.2, 0.05, 0.3)), boundary=dict.fromkeys("xyz", "open"))
    index = {}
    for name, density in DENSITIES.items():
        friction, restitution = PAIRS[name, name]
        index[name] = scene.add_material(
            density=density, friction=friction, restitution=restitution, rolling_friction=0.0, name=name
        )
    for (a, b), (friction, restitution) in PAIRS.items():
        if a != b:
            scene.set_pair(index[a], index[b], friction=friction, restitution=restitution)
    filling = drum.filling(p["seed"])
    for name, _, r in SIZES:
        scene.add_grains(index[name], filling[name], r)
    ends = [gg.Sdf.plane((0, s, 0)).at((0, -s * half, 0)) for s in (1.0, -1.0)]
    walls = gg.Sdf.union(gg.Sdf.cavity(radius).at((0, 0, 0), _ACROSS), *ends)
    scene.add_tool(walls, name="drum", material=index["steel"])
    small, large = len(filling["M1"]), len(filling["M2"])
    big = np.r_[np.ones(large, bool), np.zeros(small, bool)]
    with scene.build(num_threads=threads, solver=gg.Solver(spin=p["spin"] == "on")) as world:
        kept = Checkpoint("mixture", p)
        blocks = 100
        notes = kept.load(world) or {"times": [], "counts": [], "cores": []}
        if not notes["times"]:
            world.step(dt, round(SETTLING / dt))
        for k in range(len(notes["times"]), blocks + 1):
            if k:
                turn = _turned(rate * seconds * k / blocks)
                world.step(dt, round(seconds / blocks / dt), tool_poses=[turn])
            x = world.positions[0].astype(np.float64)
            notes["times"].append(seconds * k / blocks)
            notes["counts"].append(quadrants(x, big))
            notes["cores"].append(_core_share(x, big))
            if k % 10 == 0:
                kept.save(world, notes)
        kept.remove()
        inside = np.hypot(x[:, 0], x[:, 2]) < radius + 0.004
        lost = int((~inside | (np.abs(x[:, 1]) > half + 0.004)).sum())
        overlap = float(world.stats["overlap_max"][0])
    return {
        **notes,
        "lost": lost,
        "overlap": overlap,
        "small": small,
        "large": large,
        "rate": rate,
        "x": np.round(x[:: max(len(x) // 3000, 1), 0], 4),
        "z": np.round(x[:: max(len(x) // 3000, 1), 2], 4),
        "big": big[:: max(len(x) // 3000, 1)],
        "radius": radius,
    }


def _layers(count: int, r: float, radius: float, half: float, low: float, seed: int) -> tuple[Any, float]:
    """A loose lattice inside the drum above a height: positions (count, 3) and the height of its top [m]."""
    step = 2.1 * r
    rng = np.random.default_rng(seed)
    ys = np.arange(-half + 1.05 * r, half - r, step)
    xs = np.arange(-radius, radius, step)
    found: list[Any] = []
    z, have = low + 1.05 * r, 0
    while have < count and z < radius:
        # keep the surfaces of grains inside the drum
        width = np.sqrt(max((radius - 1.1 * r) ** 2 - z**2, 0.0)) if abs(z) < radius - 1.1 * r else 0.0
        x = xs[np.abs(xs) < width]
        if len(x):
            gx, gy = np.meshgrid(x, ys)
            found.append(np.stack([gx.ravel(), gy.ravel(), np.full(gx.size, z)], axis=1))
            have += gx.size
        z += step
    positions = np.concatenate(found)[:count]
    if len(positions) < count:
        raise ValueError(f"expected space for {count} grains, got {len(positions)}")
    return positions + rng.uniform(-0.04, 0.04, positions.shape) * r, float(positions[:, 2].max()) + r


def _core_share(x: Any, big: Any) -> float:
    """Volume fraction of small grains in the third of the volume nearest to the centre of mass, over that of all."""
    volume = np.where(big, 8.0, 1.0)
    centre = np.average(x[:, [0, 2]], axis=0, weights=volume)
    order = np.argsort(np.hypot(x[:, 0] - centre[0], x[:, 2] - centre[1]))
    inner = order[: int(np.searchsorted(np.cumsum(volume[order]), volume.sum() / 3.0))]
    return float(volume[inner][~big[inner]].sum() / volume[inner].sum() / (volume[~big].sum() / volume.sum()))


def judge_mixture(results: list[Result]) -> list[Row]:
    rows = []
    for r in results:
        v, scale = r.values, r.params["scale"]
        what = "own start, Dosta's geometry" if scale == 1.0 else f"own start, drum x {scale:g} at equal Fr"
        setup = f"{v['small']} of 2 mm above {v['large']} of 4 mm, {what}"
        rows.append(near(r, setup, "grains lost", v["lost"], 0.0, 0.0, "closed drum"))
        enriched = float(np.mean(v["cores"][-20:]))
        rows.append(
            between(
                r,
                setup,
                "small grains in the core third / in all, by volume, last fifth",
                enriched,
                1.0,
                np.inf,
                "radial segregation: small grains form the core",
                note=f"{v['cores'][0]:.2f} at the start",
            )
        )
        for k, name in enumerate(QUADRANTS):
            rows.append(
                report(
                    r,
                    setup,
                    f"{name}, at the end",
                    v["counts"][-1][k],
                    DOSTA,
                    note=f"start {v['counts'][0][k]}",
                )
            )
        rows.append(report(r, setup, "largest overlap in the last block [d]", v["overlap"]))
    return rows


def draw_mixture(figure: Any, results: list[Result]) -> None:
    left, middle, right = plot.panels(
        figure,
        (
            ("x [m]", "z [m]"),
            ("time [s]", "share of the grains of its size"),
            ("time [s]", "small grains in the core / in all"),
        ),
    )
    r = results[0]
    x, z, big = (np.array(r.values[k]) for k in ("x", "z", "big"))
    for mask, size, color, name in ((~big, 2, plot.TARGET, "2 mm"), (big, 8, plot.INK, "4 mm")):
        left.scatter(x[mask], z[mask], s=size, color=color, linewidths=0, label=name)
    angle = np.linspace(0.0, 2.0 * np.pi, 200)
    left.plot(r.values["radius"] * np.cos(angle), r.values["radius"] * np.sin(angle), "k-", lw=0.8)
    left.set_aspect("equal")
    for j, r in enumerate(results):
        counts = np.array(r.values["counts"], float)
        for k, (name, whole) in enumerate(
            (("small, right", "small"), ("small, left", "small"), ("large, right", "large"), ("large, left", "large"))
        ):
            middle.plot(
                r.values["times"], counts[:, k] / r.values[whole], lw=1, color=f"C{k}", label=name if j == 0 else None
            )
        right.plot(r.values["times"], r.values["cores"], lw=1, color=f"C{j}", label=f"seed {r.params['seed']}")
    right.axhline(1.0, color=plot.TARGET, lw=1)
    for ax in (left, middle, right):
        plot.legend(ax)


MIXTURE = Check(
    name="mixture",
    title="published drum with two grain sizes, own initial state",
    about=(
        "Geometry and materials of Dosta et al. (2024), case 2: a steel drum of .1 m radius and .06 m length at 2 "
        "rad/s, 8,000 grains of 4 mm (M2) below 30,000 of 2 mm (M1), 5 s. The published initial state cannot be "
        "redistributed: the grains are laid in layers and fall, so counts per quadrant are reported, not gated "
        "(the published state has 14,953 / 15,047 small and 4,037 / 3,963 large grains right / left of the axis, "
        "all in the lower half); `drum_lammps` gates them against LAMMPS in a smaller drum. End walls turn with "
        "the drum. The drum must keep all grains and gather the small ones in the core of the bed; after 5 s (1.6 "
        "turns) this is under way and oscillates with the turning bed, see the plot."
    ),
    number="16",
    headline="small grains in the core third / in all, by volume, last fifth",
    cases=mixture_cases,
    measure=mixture,
    judge=judge_mixture,
    draw=draw_mixture,
    panels=3,
)
