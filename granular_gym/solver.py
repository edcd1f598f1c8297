"""solver.py: how contacts are solved, and which settings are known to be unstable.

Ranges and safe relaxations are the engine's (csrc/world/solver.c). Which time step a bed bears was measured on it:
docs/stability.md. What is named there was seen to collapse; what is not named may still be too coarse for a task.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from . import _core, checks
from .errors import ArgumentError

MODES = ("convergent", "paper")
BROAD_PHASES = ("cells", "linked_hash")
#: iterations that a resting bed of up to 60 layers needs, over dt sqrt(g / d): docs/stability.md
ITERATIONS_PER_STEP = 100.0


@dataclasses.dataclass(frozen=True)
class Solver:
    """Settings of the contact solver; None takes the safe value of the mode.

    Attributes:
        mode: "convergent" (accumulated, warm-started impulses) or "paper" (the paper as printed: impulses are
            added and never taken back; grains do not turn).
        iterations: projected Jacobi iterations per substep, 1 .. 1024.
        nesterov: accelerate the iteration; None: only in convergent mode.
        spin: grains turn; None: only in convergent mode.
        broad_phase: "cells" (sorted cells) or "linked_hash" (linked spatial hash, the reference).
        alpha: share of the overlap between grains removed per substep, 0 .. 1.
        tool_alpha: the same against tools, 0 .. 1.
        relaxation: largest relaxation of one contact, up to 2; 0: safe value of the mode.
        relaxation_sum: bound on the summed relaxation of a grain's contacts, up to 100; 0: safe value of the mode.
        margin: contacts this share of a diameter apart are foreseen, 0 .. 0.5.
        skin: neighbour lists hold until a grain moved half of this share of the smallest diameter, 0.01 .. 1.
        bounce_speed: impacts slower than max(this, 3 g dt) do not bounce [m/s].
        correction_share: no contact moves a grain by more than this share of the smallest radius per substep,
            1e-6 .. 1.
        tolerance: stop iterating once no velocity changes by more than this [m/s]; 0: never.
    """

    mode: str = "convergent"
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

    def __post_init__(self) -> None:
        checks.choice("mode", self.mode, MODES)
        checks.choice("broad_phase", self.broad_phase, BROAD_PHASES)
        checks.integer("iterations", self.iterations, 1)
        for name in ("nesterov", "spin"):
            value = getattr(self, name)
            if value is None:
                value = self.mode == "convergent"
            object.__setattr__(self, name, checks.flag(name, value))
        if self.mode == "paper" and self.nesterov:
            raise ArgumentError("nesterov: expected False in paper mode, which has no accumulated impulses, got True")
        for field in dataclasses.fields(self):
            if field.type == "float":
                checks.number(field.name, getattr(self, field.name))
        # what range each may have is the engine's to say
        _core.check_solver(self.fields())

    def fields(self) -> dict[str, Any]:
        """All fields as the engine takes them."""
        values = dataclasses.asdict(self)
        values["mode"] = MODES.index(self.mode)
        values["broad_phase"] = BROAD_PHASES.index(self.broad_phase)
        values["nesterov"] = int(bool(self.nesterov))
        values["spin"] = int(bool(self.spin))
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

    def step_dangers(self, dt: float, diameter: float, gravity: float) -> list[str]:
        """Combinations of these settings and a time step that are known to be unstable, in words.

        A bed of more than ten layers was seen to sink or collapse with fewer iterations than 100 dt sqrt(g / d), the
        sooner the fewer; how deep a bed will be is not known beforehand. Measured with grains of one size.

        Args:
            dt: time step [s].
            diameter: of the grains [m].
            gravity: [m/s2].
        """
        if self.mode == "paper":
            return []
        # a dt like 0.1 / 20 may round to just above
        needed = math.ceil(ITERATIONS_PER_STEP * dt * math.sqrt(gravity / diameter) * (1.0 - 1e-3))
        if self.iterations >= needed:
            return []
        return [
            f"dt {dt:g} s with {self.iterations} iterations: beds of grains of {diameter:g} m can collapse with "
            f"fewer than {needed} iterations"
        ]
