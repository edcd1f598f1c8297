"""world_settling.py: the part of `World` that finds the impulses of grains that were set without any."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.solver import CONVERGENT, Solver
from granular_gym.engine.state import State
from granular_gym.engine.world_tools import WorldTools
from granular_gym.errors import ArgumentError


class Settling(WorldTools):
    """A world whose stored impulses can be solved for."""

    solver: Solver
    changes: int
    _begun: bool

    def save_state(self, env: Any = None) -> State:
        """Everything that shapes the future of some envs."""
        raise NotImplementedError

    def load_state(self, state: State, envs: Any = None) -> None:
        """Puts saved envs into envs of this world."""
        raise NotImplementedError

    def settle_impulses(self, dt: float, iterations: int = 1000, envs: Any = None) -> None:
        """Solves for the impulses that hold the grains of the listed envs, and stores them; nothing moves.

        The solver starts every substep from the impulses of the last one. Grains whose positions alone were set
        (`Scene.add_grains`, `set_grains`) have none: a dense bed of them gives way for as long as the iterations of
        ordinary steps take to find them, the further the deeper it is. This solves one substep with many iterations
        and puts positions, velocities and spins back. Tools (with a mass or without) and drives stay. Contacts,
        wrenches and `stats` are then those of that substep.

        Args:
            dt: time step that will be used [s].
            iterations: of the solver, 1 .. 1024; some ten times the depth of the bed in grains.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            ArgumentError: a value out of range, or a mode without stored impulses.
            CapacityError: the grains overlap massively; they stand as before, without stored impulses.
        """
        solver = self.solver
        if solver.mode not in CONVERGENT:
            raise ArgumentError(
                f"settle_impulses: expected a mode that stores impulses ({' or '.join(CONVERGENT)}), got {solver.mode}"
            )
        length, count = checks.number("dt", dt), checks.integer("iterations", iterations, 1)
        many = dataclasses.replace(solver, iterations=count)
        listed = checks.envs(envs, self.env_count)
        rest = np.setdiff1d(np.arange(self.env_count), np.arange(self.env_count) if listed is None else listed)
        others = self.save_state(rest) if len(rest) else None
        core = self._core
        every = (core.get_grains("position"), core.get_grains("velocity"), core.get_grains("angular_velocity"))
        points, motion, spins = every if listed is None else (np.ascontiguousarray(each[listed]) for each in every)
        tools = self._motion_of_tools()
        angles = core.get_grains("angle") if self.planar else None
        angles = angles if angles is None or listed is None else np.ascontiguousarray(angles[listed])
        done = False
        self._begun = True
        try:
            core.set_solver(many.fields())
            core.step(length, 1, None)
            done = True
        finally:
            core.set_solver(solver.fields())
            core.set_grains(listed, points, motion, spins, angles, done)
            self._restore_motion_of_tools(tools)
            if others is not None:
                self.load_state(others, rest)
            self.changes += 1
