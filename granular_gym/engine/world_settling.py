"""world_settling.py: the part of `World` that finds the impulses of grains that were set without any."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.materials import LIMITS, PAIR_FIELDS
from granular_gym.engine.solver import CONVERGENT, Solver
from granular_gym.engine.state import State
from granular_gym.engine.world_tools import WorldTools
from granular_gym.errors import ArgumentError, StabilityWarning

#: rounds of a settling solve at most, and the change of velocities in a round (root mean square) with which it has
#: converged, over what gravity gives in a step: docs/stability.md
SETTLE_ROUNDS, SETTLED = 100, 2e-3
#: friction is first this many times what it is
SETTLE_FRICTION = (4.0, 1.0)


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

    def settle_impulses(self, dt: float, iterations: int = 1000, envs: Any = None, rounds: int = SETTLE_ROUNDS) -> None:
        """Solves for the impulses that hold the grains of the listed envs, and stores them; nothing moves.

        The solver starts every substep from the impulses of the last one. Grains whose positions alone were set
        (`Scene.add_grains`, `set_grains`) have none: a dense bed of them gives way for as long as the iterations of
        ordinary steps take to find them, the further the deeper it is. This solves one substep, round after round, each
        from the impulses of the one before, until the velocities in an env change by no more than 2e-3 of what gravity
        gives in the step (root mean square), or no longer change by less than in the round before; the better round
        counts then. It does so first with four times the friction, so that grains which friction alone held are found
        held. Positions, velocities and spins are put back. Tools (with a mass or without) and drives stay. Contacts,
        wrenches and `stats` are then those of the last round.

        Args:
            dt: time step that will be used [s].
            iterations: of the solver in a round, 1 .. 1024.
            envs: None (all), an index, a list of indices or a mask.
            rounds: at most, twice; their number grows with the square of the depth.

        Raises:
            ArgumentError: a value out of range, a mode without stored impulses, or continuous matter.
            CapacityError: the grains overlap massively; they stand as before, without stored impulses.

        Warns:
            StabilityWarning: velocities change by more in every round: grains of the bed are about to give way, or it
                takes more rounds.
        """
        if self.continuous:
            raise ArgumentError("settle_impulses: continuous matter stores no impulses")
        solver = self.solver
        if solver.mode not in CONVERGENT:
            raise ArgumentError(
                f"settle_impulses: expected a mode that stores impulses ({' or '.join(CONVERGENT)}), got {solver.mode}"
            )
        length, count = checks.number("dt", dt), checks.integer("iterations", iterations, 1)
        most = checks.integer("rounds", rounds, 1)
        many = dataclasses.replace(solver, iterations=count)
        listed = checks.envs(envs, self.env_count)
        mine = np.arange(self.env_count) if listed is None else np.asarray(listed)
        if not len(mine):
            return
        rest = np.setdiff1d(np.arange(self.env_count), mine)
        others = self.save_state(rest) if len(rest) else None
        core = self._core
        points, motion, spins = (
            np.ascontiguousarray(core.get_grains(name)[mine]) for name in ("position", "velocity", "angular_velocity")
        )
        angles = np.ascontiguousarray(core.get_grains("angle")[mine]) if self.planar else None
        clumps = [np.ascontiguousarray(each[mine]) for each in core.get_clumps()[:2]] if self.clump_count else []
        tools, pairs = self._motion_of_tools(), np.ascontiguousarray(core.get_materials()[0][mine])

        def put_back(keep: bool = True) -> None:
            if clumps:
                core.set_clumps(listed, clumps[0], clumps[1], keep)
            else:
                core.set_grains(listed, points, motion, spins, angles, keep)
            self._restore_motion_of_tools(tools)

        changes = np.zeros(len(mine))
        self._begun = True
        try:
            core.set_solver(many.fields())
            for factor in SETTLE_FRICTION:
                core.set_materials(listed, _rougher(pairs, factor), None)
                changes = self._settle_rounds(length, most, mine, motion, put_back)
        except BaseException:
            put_back(False)
            raise
        finally:
            core.set_solver(solver.fields())
            core.set_materials(listed, pairs, None)
            if others is not None:
                self.load_state(others, rest)
            self.changes += 1
        worst = int(np.argmax(changes))
        if not changes[worst] <= SETTLED:
            warnings.warn(
                f"settle_impulses: env {int(mine[worst])} did not converge: velocities still change by "
                f"{changes[worst]:.2g} of what gravity gives in a step; the bed may give way where it is set down",
                StabilityWarning,
                stacklevel=2,
            )

    def _settle_rounds(
        self, dt: float, most: int, envs: NDArray[Any], motion: NDArray[Any], put_back: Callable[[], None]
    ) -> NDArray[np.float64]:
        """Solves until each of the envs has converged or comes no nearer; returns their last changes (see SETTLED)."""
        core = self._core
        # what a change of velocity is compared with: what gravity gives, or what the grains have
        scale = np.linalg.norm(core.get_gravity()[envs], axis=1) * dt + _rms(motion)
        scale[scale == 0.0] = 1.0
        changes, last, running = np.full(len(envs), np.inf), motion, np.ones(len(envs), bool)
        found: dict[int, State] = {}
        for _ in range(most):
            before = self.save_state(envs[running])
            core.step(dt, 1, None)
            velocities = np.ascontiguousarray(core.get_grains("velocity")[envs])
            put_back()
            now, last = _rms(velocities - last) / scale, velocities
            for k, env in enumerate(np.flatnonzero(running).tolist()):
                if now[env] <= SETTLED:
                    found[int(envs[env])] = self.save_state(int(envs[env]))
                elif now[env] >= changes[env]:
                    found[int(envs[env])] = before.env(k)
                changes[env] = min(now[env], changes[env])
            running = np.array([int(env) not in found for env in envs])
            if not running.any():
                break
        for env, state in found.items():
            self.load_state(state, env)
        return changes


def _rougher(pairs: NDArray[Any], factor: float) -> NDArray[Any]:
    """Tables of pairs with more friction of every kind."""
    table: NDArray[Any] = pairs.copy()
    for name in ("friction", "rolling_friction", "twisting_friction"):
        column = PAIR_FIELDS.index(name)
        table[..., column] = np.minimum(factor * table[..., column], LIMITS[name][1])
    return table


def _rms(velocities: NDArray[Any]) -> NDArray[np.float64]:
    """Root mean square of the speeds of each env (env_count, grains, axes)."""
    return np.asarray(np.sqrt((velocities.astype(np.float64) ** 2).sum(axis=2).mean(axis=1)))
