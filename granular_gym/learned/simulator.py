"""simulator.py: what every learned simulator is: a state, the matter it belongs to, and a step of one frame.

A model gives accelerations; gravity and the explicit Euler step, velocities first, are the same for all of them
(eq. 22 of "DEL: Discrete Element Learner", arXiv 2410.08983). A frame is one such step, as in the paper, or several.
Networks see numbers without units: see `Scale`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np

from granular_gym.errors import ArgumentError
from granular_gym.learned.needs import torch

#: standard gravity [m/s^2]: sets units, and no particle in motion
_GRAVITY = 9.81


class EpisodeLike(Protocol):
    """What a simulator needs of an episode: see `data.Episode`."""

    @property
    def positions(self) -> Any: ...
    @property
    def velocities(self) -> Any: ...
    @property
    def kinds(self) -> Any: ...
    @property
    def bodies(self) -> Any: ...
    @property
    def bonds(self) -> Any: ...
    @property
    def rest_lengths(self) -> Any: ...


class DatasetLike(Protocol):
    """What a simulator needs of a dataset: see `data.Dataset`."""

    dt: float
    radius: float
    gravity: Any
    bounds: Any


@dataclass(frozen=True)
class State:
    """Where particles are and how they move.

    Attributes:
        positions: (b, n, 3) [m].
        velocities: (b, n, 3) [m/s].
    """

    positions: torch.Tensor
    velocities: torch.Tensor

    @classmethod
    def of(cls, episodes: Sequence[EpisodeLike], frame: int = 0, device: str = "cpu") -> State:
        """The states of episodes of equally many particles at a frame."""

        def read(name: str) -> torch.Tensor:
            return torch.from_numpy(np.stack([getattr(each, name)[frame] for each in episodes])).to(device)

        return cls(read("positions").float(), read("velocities").float())

    def detach(self) -> State:
        """The same numbers without their history."""
        return State(self.positions.detach(), self.velocities.detach())


@dataclass(frozen=True)
class Matter:
    """What does not change within an episode, for a batch of b episodes of n particles.

    Attributes:
        kinds: (b, n) int64; (n,) is taken as a batch of one.
        bodies: (b, n) int64, the bonded group, -1: none.
        bonds: (m, 2) int64, flat ids `e n + i` of bonded pairs.
        rest_lengths: (m,) [m].
        radius: of all particles [m].
        gravity: (3,) [m/s^2].
        bounds: (2, 3) lower and upper corner of the box whose planes are walls [m].
    """

    kinds: torch.Tensor
    bodies: torch.Tensor
    bonds: torch.Tensor
    rest_lengths: torch.Tensor
    radius: float
    gravity: torch.Tensor
    bounds: torch.Tensor

    def __post_init__(self) -> None:
        for name in ("kinds", "bodies"):
            value = getattr(self, name)
            object.__setattr__(self, name, (value[None] if value.ndim == 1 else value).long())
        # the smaller id first, as in pairs that are searched
        bonds = torch.sort(self.bonds.long().reshape(-1, 2), dim=1).values
        object.__setattr__(self, "bonds", bonds)
        count = self.kinds.numel()
        if len(bonds) != len(self.rest_lengths):
            raise ArgumentError(
                f"rest_lengths: expected a length for each of {len(bonds)} bonds, got {len(self.rest_lengths)}"
            )
        if len(bonds) and (int(bonds.min()) < 0 or int(bonds.max()) >= count):
            raise ArgumentError(
                f"bonds: expected ids in 0 .. {count - 1}, got {int(bonds.min())} .. {int(bonds.max())}"
            )
        if len(bonds) and bool((bonds[:, 0] == bonds[:, 1]).any()):
            raise ArgumentError("bonds: expected two particles each, got a particle bonded to itself")

    @classmethod
    def of(cls, dataset: DatasetLike, episodes: Sequence[EpisodeLike], device: str = "cpu") -> Matter:
        """The matter of episodes of equally many particles.

        Raises:
            ArgumentError: they have different numbers of particles.
        """
        counts = [len(each.kinds) for each in episodes]
        if len(set(counts)) != 1:
            raise ArgumentError(
                f"episodes: expected equally many particles in each of a batch, got {sorted(set(counts))}"
            )

        def tensor(value: Any) -> torch.Tensor:
            return torch.as_tensor(np.ascontiguousarray(value)).to(device)

        bonds = [np.asarray(each.bonds, np.int64).reshape(-1, 2) + k * counts[0] for k, each in enumerate(episodes)]
        return cls(
            tensor(np.stack([each.kinds for each in episodes])),
            tensor(np.stack([each.bodies for each in episodes])),
            tensor(np.concatenate(bonds)),
            tensor(np.concatenate([np.asarray(each.rest_lengths, np.float32) for each in episodes])),
            float(dataset.radius),
            tensor(np.asarray(dataset.gravity, np.float32)),
            tensor(np.asarray(dataset.bounds, np.float32)),
        )

    def wall_gaps(self, positions: torch.Tensor) -> torch.Tensor:
        """(b, n, 6): signed distance of surfaces to the planes x, y, z low, then x, y, z high [m]."""
        return torch.cat([positions - self.bounds[0], self.bounds[1] - positions], -1) - self.radius


@dataclass(frozen=True)
class Scale:
    """The units of a model, and how many kinds of matter it knows.

    Units do not depend on the frame interval: contacts are of order 1 whether pictures are taken often or seldom.

    Attributes:
        dt: duration of a frame [s].
        radius: of a particle, the unit of length [m].
        kinds: number of kinds.
        substeps: Euler steps in a frame.
    """

    dt: float
    radius: float
    kinds: int
    substeps: int = 1

    @property
    def step(self) -> float:
        """Duration of an Euler step [s]."""
        return self.dt / self.substeps

    @property
    def speed(self) -> float:
        """The unit of velocity: that of a fall through half a radius [m/s]."""
        return math.sqrt(_GRAVITY * self.radius)

    @property
    def acceleration(self) -> float:
        """The unit of acceleration, and of forces over masses: of a common impact [m/s^2]."""
        return 10.0 * _GRAVITY

    @property
    def kick(self) -> float:
        """Change of velocity by a force of 1 on a particle of kind 0 in a step [units]."""
        return self.acceleration * self.step / self.speed

    @property
    def largest(self) -> float:
        """Bound of a force, over a mass: that changes a velocity by a radius a step in one step [units]."""
        return self.radius / self.step**2 / self.acceleration


class Simulator(torch.nn.Module):
    """A step of one frame from accelerations that a subclass computes.

    Args:
        scale: units; a checkpoint holds them.
    """

    #: name in tables and checkpoints
    name: ClassVar[str]
    #: whether a Trainer has anything to learn
    learns: ClassVar[bool] = True

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        self.scale = scale

    def accelerations(self, state: State, matter: Matter) -> tuple[torch.Tensor, torch.Tensor | None]:
        """All accelerations but gravity, and the part of normal forces where a model knows it.

        Returns:
            (b, n, 3) twice [units of the scale]; the second may be None.
        """
        raise NotImplementedError

    def instability(self, generator: torch.Generator) -> torch.Tensor | None:
        """How far a law of pairs is beyond what Euler steps of its model bear, at random: what training keeps small.

        Args:
            generator: of what is drawn.

        Returns:
            How unstable the law is, zero where it is stable at all that was drawn; None: the model has no law of pairs.
        """
        return None

    def advance(self, state: State, matter: Matter) -> tuple[State, torch.Tensor | None]:
        """The state a frame later, and (b, n, 3) where its normal forces alone would bring particles [m], or None.

        Raises:
            ArgumentError: shapes of state and matter differ, or the model does not know a kind or the radius.
        """
        self._check(state, matter)
        via_normal: State | None = state
        for _ in range(self.scale.substeps):
            total, normal = self.accelerations(state, matter)
            state = self._moved(state, total, matter)
            via_normal = None if normal is None or via_normal is None else self._moved(via_normal, normal, matter)
        return state, None if via_normal is None else via_normal.positions

    def step(self, state: State, matter: Matter) -> State:
        """The state a frame later; raises like `advance`."""
        return self.advance(state, matter)[0]

    def check_frames(self, dataset: DatasetLike) -> None:
        """Refuses a dataset whose frames are not as long as those that the model was trained on.

        Raises:
            ArgumentError: they are not.
        """
        if abs(dataset.dt - self.scale.dt) > 1e-6 * self.scale.dt:
            raise ArgumentError(
                f"dt: expected frames of {self.scale.dt:g} s, which the model knows, got {dataset.dt:g}"
            )

    def substep(self, state: State, matter: Matter) -> State:
        """The state an Euler step later, a part of a frame; raises like `advance`."""
        self._check(state, matter)
        return self._moved(state, self.accelerations(state, matter)[0], matter)

    def _moved(self, state: State, accelerations: torch.Tensor, matter: Matter) -> State:
        """A state after an Euler step, velocities first."""
        dt = self.scale.step
        velocities = state.velocities + matter.gravity * dt + accelerations * (self.scale.acceleration * dt)
        return State(state.positions + velocities * dt, velocities)

    def _check(self, state: State, matter: Matter) -> None:
        shape = (*matter.kinds.shape, 3)
        for name in ("positions", "velocities"):
            got = tuple(getattr(state, name).shape)
            if got != shape:
                raise ArgumentError(f"{name}: expected the shape {shape} of the matter, got {got}")
        if abs(matter.radius - self.scale.radius) > 1e-6 * self.scale.radius:
            raise ArgumentError(
                f"radius: expected {self.scale.radius:g} m, which the model knows, got {matter.radius:g}"
            )
        low, high = (int(each) for each in torch.aminmax(matter.kinds)) if matter.kinds.numel() else (0, 0)
        if low < 0 or high >= self.scale.kinds:
            raise ArgumentError(
                f"kinds: expected 0 .. {self.scale.kinds - 1}, which the model knows, got {low} .. {high}"
            )
