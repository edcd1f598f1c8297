"""kernels.py: what two particles do to each other, as functions of their gap, how they move and what they are.

The learned operators of "DEL: Discrete Element Learner" (arXiv 2410.08983, eqs. 9-16 and 19-20): a kernel of the normal
direction with a head for contacts and one for bonds, a kernel of the tangential direction, and a coefficient of
dissipation for each. They see a pair only through scalars that are the same from both sides and through symmetric
features of the two kinds: what one does to the other is, to the last bit, the opposite of what is done to it.

All numbers are without units, those of `simulator.Scale`: gaps in radii, forces over the mass of kind 0.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from granular_gym.learned.needs import torch

#: a force begins at this gap [radii] and grows smoothly from zero there
REACH = 0.5
#: a bond tears where it is longer than its rest length by this [radii]
BOND_REACH = 2.0
#: learned radii stay within this of the dataset's [radii]
_RADIUS_RANGE = 0.2
#: what gaps are multiplied by, so that those of a common contact are of order 1
_GAIN = 4.0
#: square of a force that is none: the root has a slope at rest
_LEAST = 1e-12
#: where positive heads begin: softplus of it is nearly nothing
_SILENT = -5.0
#: gaps and speeds that networks see end here: a rollout that diverges is no reason for numbers without bound
GAP_RANGE, SPEED_RANGE = 4.0, 20.0


def mlp(sizes: Sequence[int], quiet: bool = False) -> torch.nn.Sequential:
    """Linear layers with SiLU between them; quiet: the last begins near zero."""
    layers: list[torch.nn.Module] = []
    for k, (one, two) in enumerate(itertools.pairwise(sizes)):
        layers += [torch.nn.Linear(one, two)] + ([torch.nn.SiLU()] if k < len(sizes) - 2 else [])
    if quiet:
        hush(layers[-1])
    return torch.nn.Sequential(*layers)


def hush(layer: torch.nn.Module, bias: float = 0.0) -> None:
    """Makes a last layer begin near zero: an untrained model then moves particles as gravity alone does."""
    assert isinstance(layer, torch.nn.Linear)
    with torch.no_grad():
        layer.weight.mul_(0.01)
        layer.bias.fill_(bias)


def bounded(force: torch.Tensor, largest: float) -> torch.Tensor:
    """A number of the same sign that never exceeds `largest`.

    Its slope falls as a power of the number. That of tanh vanishes: a force that once grew too large would stay so.
    """
    result: torch.Tensor = force / (1.0 + (force / largest).square()).sqrt()
    return result


def ramp(gap: torch.Tensor) -> torch.Tensor:
    """What contact forces have as a factor: 0 from REACH on, and growing as the two come nearer."""
    return (REACH - gap).clamp_min(0.0).square()


def window(gap: torch.Tensor, begin: float, end: torch.Tensor | float) -> torch.Tensor:
    """1 up to `begin`, 0 from `end` on, smooth to the second derivative between."""
    x = ((gap - begin) / (end - begin)).clamp(0.0, 1.0)
    return 1.0 - x * x * x * (x * (x * 6.0 - 15.0) + 10.0)


class PairMlp(torch.nn.Module):
    """An MLP of scalars of an encounter and of symmetric features of its two kinds.

    The kinds enter by a table of all pairs of kinds: it costs as much as there are pairs of kinds, not encounters.

    Args:
        scalars: how many scalars.
        features: of a pair of kinds.
        width: of hidden layers.
        outputs: how many.
        quiet: the last layer begins near zero.
    """

    def __init__(self, scalars: int, features: int, width: int, outputs: int, quiet: bool = False) -> None:
        super().__init__()
        self.scalars = torch.nn.Linear(scalars, width)
        self.kinds = torch.nn.Linear(features, width, bias=False)
        self.rest = mlp([width, outputs], quiet)

    def forward(self, scalars: torch.Tensor, table: torch.Tensor, which: torch.Tensor) -> torch.Tensor:
        """(c, outputs) of (c, scalars), the features of all pairs of kinds, and (c, pairs of kinds) one-hot."""
        hidden = torch.addmm(self.scalars(scalars), which, self.kinds(table))
        result: torch.Tensor = self.rest(torch.nn.functional.silu(hidden))
        return result


@dataclass(frozen=True)
class Forces:
    """Of c encounters.

    Attributes:
        normal: (c,) before dissipation, positive where it repels: f^n' of the paper.
        damped: (c,) after dissipation.
        sliding: (c,) against sliding, >= 0.
    """

    normal: torch.Tensor
    damped: torch.Tensor
    sliding: torch.Tensor


class Masses(torch.nn.Module):
    """Learned masses of kinds.

    Args:
        kinds: number of kinds.
    """

    def __init__(self, kinds: int) -> None:
        super().__init__()
        self.logarithms = torch.nn.Parameter(torch.zeros(kinds))

    def forward(self) -> torch.Tensor:
        """(kinds,) over that of kind 0, as motion shows ratios alone: between 1/e^2 and e^2 of a common one."""
        bounded_ = 2.0 * torch.tanh(self.logarithms / 2.0)
        return (bounded_ - bounded_[0]).exp()


class Kernels(torch.nn.Module):
    """The kernels of a discrete element learner.

    Args:
        kinds: number of kinds; walls are one more.
        width: of embeddings and hidden layers; 200 in the paper.
        largest: bound of normal and of tangential forces.
        kick: change of velocity by a force of 1 in a step.
        tangential: there are tangential forces.
        bonds: bonds have a head of their own.
    """

    def __init__(
        self, kinds: int, width: int, largest: float, kick: float, tangential: bool = True, bonds: bool = True
    ) -> None:
        super().__init__()
        self.tangential, self.bonds, self.largest, self.kick = tangential, bonds, largest, kick
        self.kinds = kinds + 1
        # eq. 9: two hidden layers, and the norm keeps embeddings of order 1
        self.embed = torch.nn.Sequential(mlp([self.kinds, width, width, width]), torch.nn.LayerNorm(width))
        # what kinds are to normal forces: n_i of eq. 10
        self.node = torch.nn.Sequential(mlp([width, width, width]), torch.nn.LayerNorm(width))
        self.enter = PairMlp(2, 2 * width, width, width)
        self.edge = mlp([width + 2, width, width])
        self.contact = PairMlp(width, 2 * width, width, 1, quiet=True)
        hush(self.contact.rest[-1], _SILENT)
        self.damp = mlp([width + 1, width, width, 1], quiet=True)
        if bonds:
            self.bond = PairMlp(width, 2 * width, width, 1, quiet=True)
        if tangential:
            self.slide_enter = PairMlp(width + 2, 4 * width, width, width)
            self.slide_edge = mlp([2 * width + 2, width, width])
            self.slide = mlp([width, width, 1], quiet=True)
            hush(self.slide[-1], _SILENT)
            self.slide_damp = mlp([width + 1, width, width, 1], quiet=True)
        # of kinds: both begin at the reference's
        self.masses = Masses(kinds)
        self.radius = torch.nn.Parameter(torch.zeros(kinds))

    def radii(self) -> torch.Tensor:
        """(kinds,) over the dataset's."""
        return 1.0 + _RADIUS_RANGE * torch.tanh(self.radius / _RADIUS_RANGE)

    def forward(
        self, codes: torch.Tensor, gap: torch.Tensor, separation: torch.Tensor, speed: torch.Tensor, bonds: slice
    ) -> Forces:
        """Forces of c encounters.

        Args:
            codes: (c,) as Encounters has them.
            gap: (c,) from the dataset's radii, of bonds from the rest length; the learned radii enter here.
            separation: (c,) normal velocity, positive where the two separate.
            speed: (c,) of sliding.
            bonds: which of them are bonds.
        """
        which = torch.nn.functional.one_hot(codes, self.kinds * self.kinds).to(gap.dtype)
        one_hot = torch.eye(self.kinds, dtype=gap.dtype, device=gap.device)
        embedded = self.embed(one_hot)
        node = self.node(embedded)
        table, both = _symmetric(embedded), _symmetric(node)

        # eq. 4: intrusion, from learned radii; a wall has none
        grown = torch.cat([self.radii() - 1.0, self.radius.new_zeros(1)])
        offsets = (grown[:, None] + grown[None, :]).flatten()
        intrusion = (which @ offsets - gap).clamp(-GAP_RANGE, GAP_RANGE)
        scalars = torch.stack([_GAIN * intrusion, _GAIN * intrusion.clamp_min(0.0)], 1)
        temporary = self.enter(scalars, table, which)
        edge = temporary + self.edge(torch.cat([temporary, scalars], 1))

        near = ramp(gap)
        normal = torch.nn.functional.softplus(self.contact(edge, both, which)[:, 0]) * near
        if self.bonds and bonds.stop > bonds.start:
            bond = self.bond(edge[bonds], both, which[bonds])[:, 0] * window(gap[bonds], 0.0, BOND_REACH)
            normal = torch.cat([normal[: bonds.start], normal[bonds] + bond, normal[bonds.stop :]])
        normal = bounded(normal, self.largest)
        # signed: a coefficient that is even in the velocity gives back all that it takes
        moving = separation.clamp(-SPEED_RANGE, SPEED_RANGE)[:, None]
        damped = normal * torch.sigmoid(self.damp(torch.cat([moving, edge], 1))[:, 0])
        if not self.tangential:
            return Forces(normal, damped, torch.zeros_like(damped))

        fast = speed.clamp(max=SPEED_RANGE)[:, None]
        edge = torch.cat([edge, fast, normal[:, None]], 1)
        wide = torch.cat([both, table], 1)
        temporary = self.slide_enter(edge, wide, which)
        edge = temporary + self.slide_edge(torch.cat([temporary, edge], 1))
        sliding = torch.nn.functional.softplus(self.slide(edge)[:, 0]) * near
        sliding = bounded(sliding, self.largest) * torch.sigmoid(self.slide_damp(torch.cat([fast, edge], 1))[:, 0])
        # never more than stops the sliding of the two in a step: friction of a step this long would else tremble
        inverse = torch.cat([1.0 / self.masses(), self.radius.new_zeros(1)])
        stopping = speed / (which @ (inverse[:, None] + inverse[None, :]).flatten() * self.kick)
        return Forces(normal, damped, sliding * stopping / (sliding.square() + stopping.square() + _LEAST).sqrt())


def _symmetric(features: torch.Tensor) -> torch.Tensor:
    """(k k, 2 w) of (k, w): sums and distances of all pairs."""
    one, two = features[:, None], features[None, :]
    # the square, as an absolute value has no slope at zero
    return torch.cat([one + two, (one - two).square()], -1).flatten(0, 1)


class FreeKernels(torch.nn.Module):
    """The ablation without decomposition: the network gives each of the two its force, as a vector.

    Neither the direction nor that the two forces are opposite is built in.
    """

    def __init__(self, kinds: int, width: int, largest: float) -> None:
        super().__init__()
        self.kinds, self.largest = kinds + 1, largest
        self.embed = torch.nn.Sequential(mlp([self.kinds, width, width, width]), torch.nn.LayerNorm(width))
        self.force = mlp([8 + 2 * width, width, width, width, 3], quiet=True)
        self.masses = Masses(kinds)

    def forward(
        self,
        one: torch.Tensor,
        two: torch.Tensor,
        away: torch.Tensor,
        velocity: torch.Tensor,
        gap: torch.Tensor,
        bonded: torch.Tensor,
    ) -> torch.Tensor:
        """(c, 3) force on the first of each encounter.

        Args:
            one, two: (c,) kinds; a wall is the last.
            away, velocity: (c, 3) of the second from the first.
            gap: (c,).
            bonded: (c,) 1 for bonds, else 0.
        """
        embedded = self.embed(torch.eye(self.kinds, dtype=gap.dtype, device=gap.device))
        scalars = torch.cat(
            [
                away,
                velocity.clamp(-SPEED_RANGE, SPEED_RANGE),
                _GAIN * gap[:, None].clamp(-GAP_RANGE, GAP_RANGE),
                bonded[:, None],
            ],
            1,
        )
        force = self.force(torch.cat([scalars, embedded[one], embedded[two]], 1))
        ends = REACH + (BOND_REACH - REACH) * bonded
        return bounded(force, self.largest) * window(gap, 0.0, ends)[:, None]
