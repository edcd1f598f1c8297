"""solver.py: how contacts are solved, and which settings are known to be unstable.

Ranges and safe relaxations are the engine's (csrc/world/solver.c). Which time step a bed bears was measured on it:
docs/stability.md. What is named there was seen to collapse; what is not named may still be too coarse for a task.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.bell import Bell, StiffestContact
from granular_gym.engine.pair_table import PairTable
from granular_gym.errors import ArgumentError

MODES = ("gauss_seidel", "jacobi", "paper", "penalty", "bell", "explicit", "table")
#: how `mode="bell"` goes on in time
INTEGRATORS = ("verlet", "rkf45")
#: modes that accumulate impulses: with iterations they converge to the contact law
CONVERGENT = ("gauss_seidel", "jacobi")
#: the modes of spheres and of planar grains where none is named
DEFAULT_MODE, DEFAULT_PLANAR_MODE = "gauss_seidel", "jacobi"
BROAD_PHASES = ("cells", "linked_hash")
#: restitution above which crowded impacts need this many iterations to gain no more than 1 % energy: docs/materials.md
ELASTIC, ELASTIC_ITERATIONS = 0.95, 20
#: [N/m] that a float holds; what the engine takes is less
LARGEST_STIFFNESS = 1e30
#: dt over sqrt(m / k) that piles on springs bear
SPRING_STEP = 0.3
#: dt over the duration of the shortest contact that heaps under the law of Bell bear
FORCE_STEP = 0.1

#: iterations per `load_ratio` that carry a bed of heavier grains, and the largest ratio that was carried
LOAD_ITERATIONS, LARGEST_LOAD = 0.25, 300.0
#: depth of a bed in diameters from which it sinks for want of stored impulses by more than overlaps do
PACKED_LAYERS = 3.0
#: overlaps of a bed at rest are less, over the diameter, those of soft springs included
PACKED_OVERLAP = 0.02
#: solid fraction of a bed by which its layers are counted
BED_FRACTION = 0.6


@dataclasses.dataclass(frozen=True)
class StepRule:
    """iterations >= factor (dt sqrt(g / d))^power, times the depth in diameters where it counts: docs/stability.md.

    Attributes:
        factor: of the rule.
        power: of the dimensionless step.
        deep: the depth counts.
        danger: what was seen below, in words.
        most: where the rule asks for more iterations than this, none were seen to be enough.
    """

    factor: float
    power: float
    deep: bool
    danger: str
    most: float = math.inf

    def iterations(self, dt: float, diameter: float, gravity: float, layers: float) -> int:
        """The fewest iterations that keep the rule."""
        # a dt like 0.1 / 20 may round to just above
        step = dt * math.sqrt(gravity / diameter) * (1.0 - 1e-3)
        return math.ceil(self.factor * (layers if self.deep else 1.0) * math.pow(step, self.power))


#: iterations that the rule for creep at long steps asks for where it was last seen to hold (10 ms and 31 d, not 47 d)
MOST_AGAINST_CREEP = 460
_COLLAPSE = "can collapse"
_CREEP = "that falls goes on sinking for long, by up to a tenth of a radius per second,"
#: by mode, in the order in which they are looked at; the last ones are those of a bed that fell
STEP_RULES: dict[str, tuple[StepRule, ...]] = {
    "gauss_seidel": (
        StepRule(130.0, 1.0, False, _COLLAPSE),
        StepRule(20.0, 1.5, True, _CREEP),
        StepRule(265.0, 2.5, True, _CREEP, most=MOST_AGAINST_CREEP),
    ),
    "jacobi": (
        StepRule(100.0, 1.0, False, _COLLAPSE),
        StepRule(1.6, 0.5, True, "can give way and swings for seconds"),
        StepRule(80.0, 1.5, True, _CREEP),
    ),
}


@dataclasses.dataclass(frozen=True)
class SolverPreset:
    """How many iterations a preset takes.

    Attributes:
        fewest: iterations at any time step.
        rules: of the mode's rules, how many are kept; None: all.
        times: as many iterations as the rules ask for are taken.
    """

    fewest: int
    rules: int | None
    times: int


#: "fast": beds at rest hold; "balanced": and do not creep after a fall; "accurate": and land as loosely as with any
#: number of iterations, where the step is 1 ms for grains of 10 mm or as short
PRESETS: dict[str, SolverPreset] = {
    "fast": SolverPreset(5, 1, 1),
    "balanced": SolverPreset(10, None, 1),
    "accurate": SolverPreset(20, None, 2),
}


#: what the engine is given in other modes
_NO_BELL = Bell(sliding=0.0, stiffness=1.0)


@dataclasses.dataclass(frozen=True)
class Solver:
    """Settings of the contact solver; None takes the safe value of the mode.

    Attributes:
        mode: "gauss_seidel" (spheres alone: accumulated, warm-started impulses, contacts solved in turn, by colours),
            "jacobi" (the same law, all contacts at once), "paper" (the paper as printed: impulses are added and never
            taken back; grains do not turn), "penalty" (planar grains alone: contacts are springs, steps are explicit
            and short: docs/planar.md), "bell" (spheres and clumps: contacts are forces without memory, steps are
            explicit and short: docs/bell.md), "table" (spheres: forces are read from tables, as of a law that was
            learned, in explicit steps: docs/learned.md) or "explicit" (continuous matter alone: steps are explicit and
            short: docs/continuum.md). None: "gauss_seidel" for spheres, "jacobi" for planar grains; of continuous
            matter the implicit solve.
        iterations: of the contact solver per substep, 1 .. 1024: Gauss-Seidel sweeps or Jacobi iterations.
            Continuous matter takes no number: it is solved until it meets a bound.
        nesterov: accelerate the iteration; None: only in the modes gauss_seidel and jacobi.
        spin: grains turn; None: not in paper mode.
        broad_phase: "cells" (sorted cells) or "linked_hash" (linked spatial hash, the reference).
        alpha: share of the overlap between grains removed per substep, 0 .. 1.
        tool_alpha: the same against tools, 0 .. 1.
        relaxation: largest relaxation of one contact, up to 2; 0: safe value of the mode.
        relaxation_sum: bound on the summed relaxation of a grain's contacts, up to 100; 0: safe value of the mode. Not
            used in mode gauss_seidel.
        margin: contacts this share of a diameter apart are foreseen, 0 .. 0.5.
        skin: neighbour lists hold until a grain moved half of this share of the smallest diameter, 0.01 .. 1; where
            grains are fast, of a larger one, up to 1 and, unless they may sleep one by one, for three substeps.
        bounce_speed: impacts slower than max(this, 3 g dt) do not bounce [m/s].
        correction_share: no contact moves a grain by more than this share of the smallest radius per substep,
            1e-6 .. 1.
        tolerance: stop iterating once no velocity changes by more than this [m/s]; 0: never. With `integrator="rkf45"`
            the largest error of a velocity in one of its steps, which must be given.
        hash_ratio: buckets of the linked hash per grain, 0.01 .. 64; fixed when a world is built. The default is that
            of GranularGym (2023), figure 3. Changes no result.
        sleep: an env at rest costs nothing in a step in which no moving tool comes near its grains, and grains at rest
            are not solved while others of their env move, until something disturbs them (docs/sleep.md).
        stiffness: k_n of a contact in penalty mode, per metre of depth of the plane [N/m]; must be given there.
        tangential_stiffness: k_t over k_n in penalty mode, 0 .. 1.
        damping: share of the critical damping of a contact in penalty mode, 0 .. 1. It takes the place of the
            materials' restitution.
        tangential_damping: tangential over normal damping in penalty mode, 0 .. 1.
        bell: constants of bell mode; must be given there, and nowhere else.
        integrator: in bell mode, fixed when a world is built: "verlet" (velocity Verlet, one evaluation of the forces
            per substep) or "rkf45" (adaptive Runge-Kutta-Fehlberg steps within each substep, by `tolerance`).
        table: law of table mode, fixed when a world is built; must be given there, and nowhere else. It takes the place
            of what materials say of friction, restitution, rolling and cohesion.
    """

    mode: str | None = None
    iterations: int = 10
    nesterov: bool | None = None
    spin: bool | None = None
    broad_phase: str = "cells"
    alpha: float = 0.8
    tool_alpha: float = 0.5
    relaxation: float = 0.0
    relaxation_sum: float = 0.0
    margin: float = 0.02
    skin: float = 0.15
    bounce_speed: float = 0.05
    correction_share: float = 0.2
    tolerance: float = 0.0
    hash_ratio: float = 2.0
    sleep: bool = False
    stiffness: float = 0.0
    tangential_stiffness: float = 0.5
    damping: float = 0.5
    tangential_damping: float = 0.5
    bell: Bell | None = None
    integrator: str = INTEGRATORS[0]
    table: PairTable | None = None

    def __post_init__(self) -> None:
        if self.mode is not None:
            checks.choice("mode", self.mode, MODES)
        checks.choice("broad_phase", self.broad_phase, BROAD_PHASES)
        checks.choice("integrator", self.integrator, INTEGRATORS)
        if self.mode == "bell":
            checks.instance("bell", self.bell, Bell)
        elif self.bell is not None:
            raise ArgumentError(f'bell: expected None but in mode "bell", got {self.bell!r}')
        if self.mode == "table":
            checks.instance("table", self.table, PairTable)
        elif self.table is not None:
            raise ArgumentError(f'table: expected None but in mode "table", got {self.table!r}')
        checks.integer("iterations", self.iterations, 1)
        object.__setattr__(self, "sleep", checks.flag("sleep", self.sleep))
        for name, safe in self._safe_flags().items():
            value = getattr(self, name)
            object.__setattr__(self, name, checks.flag(name, safe if value is None else value))
        if self._mode not in CONVERGENT and self.nesterov:
            raise ArgumentError(
                f"nesterov: expected False in {self.mode} mode, which has no accumulated impulses, got True"
            )
        for field in dataclasses.fields(self):
            if field.type == "float":
                most = LARGEST_STIFFNESS if field.name == "stiffness" else checks.LARGEST
                checks.number(field.name, getattr(self, field.name), -most, most)
        # what range each may have is the engine's to say
        _core.check_solver(self.fields())

    def __repr__(self) -> str:
        """What is not a default."""
        plain = {**{field.name: field.default for field in dataclasses.fields(self)}, **self._safe_flags()}
        given = [f"{name}={getattr(self, name)!r}" for name in plain if getattr(self, name) != plain[name]]
        return f"Solver({', '.join(given)})"

    @property
    def _mode(self) -> str:
        return self.mode or DEFAULT_MODE

    def _safe_flags(self) -> dict[str, bool]:
        """What None stands for in this mode."""
        return {"nesterov": self._mode in CONVERGENT, "spin": self._mode != "paper"}

    def in_mode(self, mode: str) -> Solver:
        """These settings, in this mode where they name none."""
        return self if self.mode is not None else dataclasses.replace(self, mode=mode)

    def fields(self) -> dict[str, Any]:
        """All fields as the engine takes them."""
        others = ("bell", "table")
        values = {each.name: getattr(self, each.name) for each in dataclasses.fields(self) if each.name not in others}
        values["mode"] = MODES.index(self._mode)
        values["broad_phase"] = BROAD_PHASES.index(self.broad_phase)
        values["nesterov"] = int(bool(self.nesterov))
        values["spin"] = int(bool(self.spin))
        values["sleep"] = int(self.sleep)
        values["integrator"] = INTEGRATORS.index(self.integrator)
        values |= (self.bell or _NO_BELL).fields()
        return values

    def dangers(self, tools: bool = False) -> list[str]:
        """Combinations of these settings that are known to be unstable, in words.

        Args:
            tools: the scene has tools, which can jam a bed.
        """
        found = []
        limit, limit_sum = _core.check_solver(self.fields(), tools)
        if self.relaxation > limit:
            found.append(f"relaxation {self.relaxation:g} is above {limit:g}: the iteration can diverge")
        if self.relaxation_sum > limit_sum:
            found.append(f"relaxation_sum {self.relaxation_sum:g} is above {limit_sum:g}: grains can be ejected")
        return found

    def impact_dangers(self, restitution: float) -> list[str]:
        """Restitution that these settings do not bear, in words.

        Impacts of several nearly elastic grains at one instant are left unsolved by few iterations and then gain
        energy: seen with e = 1 and 10 iterations, not with 20, nor with e = 0.95 (validation check `budgets`).

        Args:
            restitution: largest of all pairs.
        """
        if self.mode in ("penalty", "bell") and restitution > 0.0:
            damping = self.damping if self.bell is None else self.bell.damping
            return [f"restitution {restitution:g} is not read in {self.mode} mode: damping {damping:g} takes its place"]
        if self._mode not in CONVERGENT or restitution <= ELASTIC or self.iterations >= ELASTIC_ITERATIONS:
            return []
        return [
            f"restitution {restitution:g} with {self.iterations} iterations: impacts of several grains at once can "
            f"gain energy with fewer than {ELASTIC_ITERATIONS} iterations"
        ]

    def load_dangers(self, ratio: float) -> list[str]:
        """Grains that are too heavy for others to carry with these iterations, in words: docs/stability.md.

        Args:
            ratio: see `load_ratio`.
        """
        needed = math.ceil(LOAD_ITERATIONS * ratio * (1.0 - 1e-3))
        if self._mode not in CONVERGENT or (self.iterations >= needed and ratio <= LARGEST_LOAD):
            return []
        advice = f"fewer than {needed} iterations" if ratio <= LARGEST_LOAD else "any number of iterations"
        return [
            f"mass ratio {ratio:.2g} of grains of one size, with {self.iterations} iterations: a bed of the heavier "
            f"grains sinks into the lighter ones with {advice}"
        ]

    def spring_dangers(self, dt: float, mass: float) -> list[str]:
        """Time steps in penalty mode under which piles fly apart, in words.

        Longer steps than 0.3 sqrt(m / k) are named: piles of 60 hashes and U came to rest with 0.3 at damping 0.1 and
        0.5, some trembled with 0.5 and flew apart with 0.7. Steps that not even a single contact bears are refused by
        the engine.

        Args:
            dt: time step [s].
            mass: of the lightest grain [kg/m].
        """
        limit = SPRING_STEP * math.sqrt(mass / self.stiffness) if self.mode == "penalty" else math.inf
        if dt <= limit * (1.0 + 1e-3):
            return []
        return [
            f"dt {dt:g} s with stiffness {self.stiffness:g} N/m: piles of grains of {mass:g} kg/m can fly apart with "
            f"steps above {limit:.3g} s"
        ]

    def force_dangers(self, dt: float, contact: StiffestContact) -> list[str]:
        """Time steps in bell mode that are too long for the stiffest contact of a scene, in words: docs/bell.md.

        Args:
            dt: time step [s].
            contact: see `stiffest`.
        """
        limit = min(FORCE_STEP * contact.duration, contact.response)
        if self.mode != "bell" or self.integrator != "verlet" or dt <= limit * (1.0 + 1e-3):
            return []
        return [
            f"dt {dt:g} s: grains can gain energy and fly apart with steps above {limit:.3g} s; the shortest contact "
            f"lasts {contact.duration:.3g} s, damping and friction respond within {contact.response:.3g} s"
        ]

    def table_dangers(self, dt: float, calm: float) -> list[str]:
        """Time steps in table mode under which piles can fly apart, in words: docs/learned.md.

        Args:
            dt: time step [s].
            calm: that piles bear [s], see `PairTable.calm_step`.
        """
        if self.mode != "table" or dt <= calm * (1.0 + 1e-3):
            return []
        return [f"dt {dt:g} s: piles can fly apart, or tremble, with steps above {calm:.3g} s (PairTable.calm_step)"]

    def step_dangers(self, dt: float, diameter: float, gravity: float, layers: float = 0.0) -> list[str]:
        """Combinations of these settings, a time step and a depth that are known to be unstable, in words.

        The first of the mode's rules (`STEP_RULES`) that asks for more iterations, or for more than were seen to help.
        Measured with grains of one size.

        Args:
            dt: time step [s].
            diameter: of the grains [m].
            gravity: [m/s2].
            layers: depth of the bed over the diameter; 0: not known.
        """
        rules = STEP_RULES.get(self._mode, ())
        for rule in rules:
            alike = [other for other in rules if other.danger == rule.danger]
            counts = [other.iterations(dt, diameter, gravity, layers) for other in alike]
            needed, beyond = max(counts), any(count > other.most for count, other in zip(counts, alike, strict=True))
            if self.iterations < needed or beyond:
                beds = f"a bed of {layers:.0f} layers" if rule.deep else "beds"
                advice = "any number of iterations" if beyond else f"fewer than {needed} iterations"
                return [
                    f"dt {dt:g} s with {self.iterations} iterations: {beds} of grains of {diameter:g} m {rule.danger} "
                    f"with {advice}"
                ]
        return []

    @classmethod
    def preset(
        cls, name: str, dt: float, diameter: float, layers: float = 0.0, gravity: float = 9.81, **settings: Any
    ) -> Solver:
        """Settings with the iterations that a preset asks for at this time step, grain size and depth.

        Args:
            name: "fast", "balanced" or "accurate", see `PRESETS`.
            dt: time step [s].
            diameter: of the grains, the mean [m].
            layers: depth of the bed over the diameter; 0: not known.
            gravity: [m/s2].
            settings: other attributes of the solver.

        Raises:
            ArgumentError: no such preset, a value out of range, or more iterations needed than a solver takes.
        """
        preset = PRESETS[checks.choice("name", name, list(PRESETS))]
        size = checks.number("diameter", diameter, 0.0, above=True)
        step = checks.number("dt", dt, 0.0, 1.0, above=True)
        weight, depth = checks.number("gravity", gravity, 0.0), checks.number("layers", layers, 0.0)
        rules = STEP_RULES.get(settings.get("mode") or DEFAULT_MODE, ())[: preset.rules]
        needed = max((rule.iterations(step, size, weight, depth) for rule in rules), default=0)
        return cls(iterations=max(preset.fewest, preset.times * needed), **settings)


def layers(positions: NDArray[np.float32], radii: NDArray[np.float32], gravity: NDArray[np.float32]) -> float:
    """Depth of the bed that grains make where they fall straight down, in mean diameters.

    Their volume over the area that they stand on, seen along gravity, at a solid fraction of 0.6: how loosely they are
    stacked before they fall makes no difference. The outermost 2 % on each side do not count for the area.

    Args:
        positions: of the grains (n, 3) [m].
        radii: (n,) [m].
        gravity: (3,) [m/s2]; none: no bed.
    """
    strength = float(np.linalg.norm(gravity))
    if len(radii) == 0 or strength == 0.0:
        return 0.0
    diameter = 2.0 * float(radii.mean())
    # two axes across gravity
    across = np.linalg.svd(np.asarray(gravity, np.float64)[None, :])[2][1:]
    low, high = np.quantile(np.asarray(positions, np.float64) @ across.T, (0.02, 0.98), axis=0)
    area = float(np.prod(high - low + diameter))
    volume = 4.0 / 3.0 * math.pi * float((radii.astype(np.float64) ** 3).sum())
    return volume / (BED_FRACTION * area * diameter)


def load_ratio(arrays: dict[str, Any], densities: Any = None) -> float:
    """How much harder the heaviest grains press on what is below than the lightest: ratio of density times radius.

    For grains of one size it is the ratio of their masses; a larger grain rests on more others. Fixed grains do not
    count.

    Args:
        arrays: of a frozen scene.
        densities: (envs, materials) [kg/m3]; None: those of the scene.
    """
    free = arrays["material_fixed"][arrays["grain_material"]] == 0
    material, radius = arrays["grain_material"][free], arrays["radius"][free]
    if len(material) == 0:
        return 1.0
    used = np.unique(material)
    low, high = (np.array([pick(radius[material == m]) for m in used]) for pick in (np.min, np.max))
    dense = np.atleast_2d(np.asarray(arrays["density"] if densities is None else densities, np.float64))[:, used]
    return float(((dense * high).max(axis=1) / (dense * low).min(axis=1)).max())
