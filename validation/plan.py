"""plan.py: the list of checks that was drawn up before the measurements; `Check.number` refers to it."""

from __future__ import annotations

from typing import NamedTuple


class Entry(NamedTuple):
    """A check of the list.

    Attributes:
        number: its number.
        setup: the set-up, in a few words.
        target: what is measured, and its target.
        shows: what in the engine it holds to account.
        elsewhere: where it is done, if not in validation/checks.
    """

    number: str
    setup: str
    target: str
    shows: str
    elsewhere: str = ""


PLAN = (
    Entry(
        "1",
        "free fall; a gas of 1,000 spheres without gravity; its grains numbered in another order",
        "v exact to 1e-6; momentum drift below 1e-5 of the sum of sizes; means agree to 1 %",
        "integrator, symmetry of pairs, races",
    ),
    Entry(
        "2",
        "block and ball on inclines of 10 to 40 degrees",
        "speeds and spins of the rigid laws within .5 %; drift where it sticks below 1e-3 r/s",
        "friction, inertia",
    ),
    Entry(
        "3",
        "a grain slides in 32 directions; lift",
        "stops after v²/(2 mu g) to 1 %, spread below 1 %, heading to .1 degrees; lift below 1e-3 r",
        "true Coulomb cone, no dilation",
    ),
    Entry(
        "4",
        "impacts 3 to 8 of Chung and Ooi (2011); bouncing",
        "rigid law to 1 %; e to .01; heights to 2 %",
        "impact law, spin",
    ),
    Entry(
        "5",
        "10,000 grains drop, then rest for 10 s; dt .5 to 10 ms",
        "energy rises by less than .1 % a step; kinetic energy at rest below 1e-6 m g d; slope creeps by less than .5 "
        "degrees; overlap at .5 ms below 1 % of r in the mean, 5 % at most",
        "passivity, position correction, convergence",
    ),
    Entry(
        "6",
        "column between smooth walls on an SDF floor; cube between panels",
        "floor carries the weight to 1 %; floor, walls and tools together too; panels 10, 1.96 and 0 N to 2 %",
        "forces read from tools and walls",
    ),
    Entry(
        "8",
        "slow isotropic compression, mu 0 and .3",
        "solid fraction .639 and .593 to .01, coordination 6.0 and 4.5 to .2 (Agnolin and Roux 2007); monotone in mu",
        "statics of the bulk, moving walls",
    ),
    Entry(
        "10",
        "cylinder 12 d wide, filled to 6 widths, floor sinks slowly",
        "floor over weight .07 to .2; K .4 to 1; exponential with R2 above .98 (Janssen)",
        "friction at walls",
    ),
    Entry(
        "11",
        "heap of a lifted cylinder, mu .1 to .8, spin on and off, rolling friction",
        "angle grows with mu; at most 25 degrees with spin; steeper without; .5 and 1 ms agree to 1 degree",
        "stability, rolling friction",
    ),
    Entry(
        "12",
        "collapse of a column in a slot, aspect ratio a = .5 to 8",
        "run-out grows as a, then as a^(2/3), exponents to .1 (Lube 2005)",
        "transient flow",
    ),
    Entry(
        "13",
        "flat silo, outlet 8 to 20 d",
        "exponent 2.5 to .15, C .5 to .68, k 1 to 1.9 (Beverloo); flow constant to 5 %",
        "hourglass law",
    ),
    Entry(
        "15",
        "periodic rough incline, 20 d high, mu .5",
        "stands at 17 degrees, flows steadily at 22 to 25; base shear over normal is tan θ to 2 %; speed grows with "
        "height as h^1.5 to .15",
        "rheology, periodic faces",
    ),
    Entry(
        "16",
        "drum with one grain; published drum with two sizes (Dosta 2024)",
        "rests at atan(mu) to 1 degree; co-rotates from the limiting Froude number on; small grains enrich the core; "
        "counts within 10 % of LAMMPS",
        "moving SDF, several sizes",
    ),
    Entry(
        "19",
        "impacts of pairs under Bell's force law, v .1 to 10 m/s",
        "restitution of the law to .002",
        "force law of other codes",
        "not done: the engine has no such force law",
    ),
    Entry(
        "20",
        "planar shapes: block on an incline, leaning block, two blocks, arcs",
        "slides at mu .28 with .064 m/s2, else rests; thresholds of falling; loose arcs pack lower",
        "contact of shapes",
        "`python -m granular_gym scene NAME`, [planar.md](../planar.md)",
    ),
)
