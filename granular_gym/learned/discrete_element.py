"""discrete_element.py: DEL, the discrete element learner: learned kernels within the mechanics of a discrete element
method ("DEL: Discrete Element Learner for Learning 3D Particle Dynamics with Neural Rendering", arXiv 2410.08983).

Forces act along the normal and against sliding, between particles, and between particles and the planes of the box.
docs/learned.md says how the ambiguities of the paper are settled.
"""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from granular_gym.errors import ArgumentError
from granular_gym.learned.encounters import Encounters, meet
from granular_gym.learned.kernels import BOND_REACH, REACH, FreeKernels, Kernels
from granular_gym.learned.law import WALL, PairLaw
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Matter, Scale, Simulator, State
from granular_gym.learned.stability import instability

Force = NDArray[np.float64]


class DiscreteElementLearner(Simulator):
    """DEL.

    Args:
        scale: units.
        width: of the networks; the paper has 200.
        tangential: tangential forces; False is the paper's ablation.
        decomposition: forces are split into normal and tangential; False is the paper's ablation: a network gives the
            vector, without action and reaction.
        bonds: bonds have a head of their own; False: bonded pairs meet by the contact head alone.
        density: of kind 0 [kg/m^3]. Motion shows forces over masses alone; this sets their unit.
    """

    name: ClassVar[str] = "del"

    def __init__(
        self,
        scale: Scale,
        width: int = 64,
        tangential: bool = True,
        decomposition: bool = True,
        bonds: bool = True,
        density: float = 1000.0,
    ) -> None:
        super().__init__(scale)
        self.density = density
        self.kernels: Kernels | None = (
            Kernels(scale.kinds, width, scale.largest, scale.kick, tangential, bonds) if decomposition else None
        )
        self.free: FreeKernels | None = None if decomposition else FreeKernels(scale.kinds, width, scale.largest)

    def accelerations(self, state: State, matter: Matter) -> tuple[torch.Tensor, torch.Tensor | None]:
        """See `Simulator.accelerations`; the second is that of normal forces."""
        met = meet(state, matter, self.scale, REACH)
        shape, count = state.positions.shape, matter.kinds.numel()
        if self.free is not None:
            return self._freely(met, count, matter).view(shape), None
        along, across = self._forces(met)
        inverse = (1.0 / self._kernels().masses())[matter.kinds.flatten()][:, None]
        normal = met.sum_forces(along, count) * inverse
        if across is None:
            return normal.view(shape), normal.view(shape)
        return (normal + met.sum_forces(across, count) * inverse).view(shape), normal.view(shape)

    def instability(self, generator: torch.Generator) -> torch.Tensor | None:
        """See `Simulator.instability`."""
        return None if self.kernels is None else instability(self.kernels, self.scale, generator)

    def internal_forces(self, state: State, matter: Matter) -> torch.Tensor:
        """(b, n, 3): forces of particles on each other, without walls and gravity [N]; each episode's sum to zero.

        Raises:
            ArgumentError: there is no decomposition.
        """
        self._check(state, matter)
        met = meet(state, matter, self.scale, REACH)
        along, across = self._forces(met)
        force = along if across is None else along + across
        force = torch.cat([force[: len(met.second)], torch.zeros_like(force[len(met.second) :])])
        return met.sum_forces(force, matter.kinds.numel()).view(state.positions.shape) * self.unit_force

    @property
    def unit_mass(self) -> float:
        """Of a particle of kind 0 [kg]."""
        return self.density * 4.0 / 3.0 * math.pi * self.scale.radius**3

    @property
    def unit_force(self) -> float:
        """What a force of 1 in the kernels is [N]."""
        return self.unit_mass * self.scale.acceleration

    def masses(self) -> Force:
        """(kinds,) masses of particles [kg]."""
        masses = self.kernels.masses() if self.kernels is not None else self._free().masses()
        result: Force = masses.detach().double().cpu().numpy() * self.unit_mass
        return result

    def radii(self) -> Force:
        """(kinds,) learned radii [m]."""
        radii: Force = self._kernels().radii().detach().double().cpu().numpy() * self.scale.radius
        return radii

    def reach(self, bonded: bool) -> float:
        """Gap from which on forces are zero [m]."""
        return (BOND_REACH if bonded else REACH) * self.scale.radius

    def kinks(self, kind_a: int, kind_b: int) -> tuple[float]:
        """Gaps [m] at which the slope of the law of two kinds, or of a kind and `WALL`, jumps: learned radii touch."""
        grown = [radius - self.scale.radius for radius in self.radii().tolist()]
        return (grown[kind_a] + (0.0 if kind_b == WALL else grown[kind_b]),)

    def pair_law(self, kind_a: int, kind_b: int, bonded: bool = False) -> PairLaw:
        """The learned law of two kinds.

        Args:
            kind_a: a kind.
            kind_b: a kind, or `WALL`.
            bonded: the law of a bond.

        Returns:
            A function of gap, normal velocity (positive where the two separate) and sliding speed, which broadcast. It
            gives the elastic force (the normal force of two that neither approach nor separate; positive where it
            repels), the rest of the normal force at this velocity, and the force against sliding. The gap is distance
            less two radii of the dataset; of a bond, distance less its rest length; to a wall, distance less a radius.

        Raises:
            ArgumentError: no such kind, a bond to a wall, or a model without decomposition.
        """
        kernels = self._kernels()
        for name, kind, low in (("kind_a", kind_a, 0), ("kind_b", kind_b, WALL)):
            if not low <= kind < self.scale.kinds:
                raise ArgumentError(f"{name}: expected a kind in {low} .. {self.scale.kinds - 1}, got {kind}")
        if bonded and kind_b == WALL:
            raise ArgumentError("bonded: expected False for a wall, got True")
        code = kind_a * (self.scale.kinds + 1) + (self.scale.kinds if kind_b == WALL else kind_b)
        radius, speed, unit = self.scale.radius, self.scale.speed, self.unit_force

        def law(gap: ArrayLike, normal_velocity: ArrayLike, sliding_speed: ArrayLike) -> tuple[Force, Force, Force]:
            inputs = np.broadcast_arrays(gap, normal_velocity, sliding_speed)
            shape, weight = inputs[0].shape, kernels.radius
            flat = [
                torch.as_tensor(np.ravel(each) / unit_, dtype=weight.dtype, device=weight.device)
                for each, unit_ in zip(inputs, (radius, speed, speed), strict=True)
            ]
            codes = torch.full((len(flat[0]),), code, dtype=torch.long, device=weight.device)
            which = slice(0, len(codes)) if bonded else slice(0, 0)
            with torch.no_grad():
                forces = kernels(codes, *flat, which)
                elastic = kernels(codes, flat[0], torch.zeros_like(flat[1]), flat[2], which).damped

            def read(tensor: torch.Tensor) -> Force:
                values: Force = (tensor.double().cpu().numpy() * unit).reshape(shape)
                return values

            return read(elastic), read(forces.damped - elastic), read(forces.sliding)

        return law

    def _forces(self, met: Encounters) -> tuple[torch.Tensor, torch.Tensor | None]:
        """(c, 3) forces on the second of each encounter: along the normal, and against its sliding."""
        kernels = self._kernels()
        forces = kernels(met.codes, met.gap, met.separation, met.speed, met.bonds)
        along = forces.damped[:, None] * met.normal
        if not kernels.tangential:
            return along, None
        return along, -(forces.sliding / met.speed)[:, None] * met.sliding

    def _freely(self, met: Encounters, count: int, matter: Matter) -> torch.Tensor:
        """(b n, 3) accelerations without decomposition: each side of an encounter has a force of its own."""
        free, mutual = self._free(), len(met.second)
        one, two = met.codes // free.kinds, met.codes % free.kinds
        bonded = torch.zeros_like(met.gap)
        bonded[met.bonds] = 1.0

        def side(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
            return torch.cat([a, b[:mutual]])

        force = free(
            side(one, two),
            side(two, one),
            side(met.away, -met.away),
            side(met.velocity, -met.velocity),
            side(met.gap, met.gap),
            side(bonded, bonded),
        )
        ids = torch.cat([met.first, met.second])
        total = torch.zeros(count, 3, dtype=force.dtype, device=force.device).index_add(0, ids, force)
        result: torch.Tensor = total / free.masses()[matter.kinds.flatten()][:, None]
        return result

    def _kernels(self) -> Kernels:
        if self.kernels is None:
            raise ArgumentError("decomposition: expected True, a model without it has no law of pairs")
        return self.kernels

    def _free(self) -> FreeKernels:
        assert self.free is not None
        return self.free
