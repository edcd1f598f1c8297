"""stability.py: what a discrete element learner is charged for where its law is too steep for its own Euler steps.

A contact whose normal force falls by k with the gap and by c with the normal velocity, between bodies of effective
mass m, is stable while k dt^2 + 2 c dt <= 4 m (`PairForces.longest_step`). Rollouts show a model the contacts that are
common; this asks its law everywhere, so that no rare one is unstable, and the engine takes its table with the model's
own steps. Friction needs no such term: it never does more than stop the sliding in a step (kernels.py).
"""

from __future__ import annotations

from granular_gym.learned.export import DEEPEST, FASTEST
from granular_gym.learned.kernels import BOND_REACH, REACH, Kernels
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Scale

#: share of what a step bears that costs nothing: between samples a law may be steeper
MARGIN = 0.8
#: encounters that are asked in an iteration, half of them bonds
SAMPLES = 512


def shares(
    kernels: Kernels,
    scale: Scale,
    codes: torch.Tensor,
    gap: torch.Tensor,
    separation: torch.Tensor,
    speed: torch.Tensor,
    bonds: slice,
) -> torch.Tensor:
    """What c encounters take of what a step bears.

    Args:
        kernels: the law.
        scale: its units and step.
        codes, gap, separation, speed, bonds: see `Kernels.forward`.

    Returns:
        (c,): (k dt^2 + 2 c dt) / (4 m), at most 1 where stable.
    """
    gap, separation = gap.detach().requires_grad_(), separation.detach().requires_grad_()
    force = kernels(codes, gap, separation, speed, bonds).damped
    by_gap, by_velocity = torch.autograd.grad(force.sum(), (gap, separation), create_graph=True)
    # of a wall 0
    inverse = torch.cat([1.0 / kernels.masses(), kernels.radius.new_zeros(1)])
    inverse = inverse[codes // kernels.kinds] + inverse[codes % kernels.kinds]
    stiffness = (-by_gap).clamp_min(0.0) * (scale.acceleration / scale.radius)
    damping = (-by_velocity).clamp_min(0.0) * (scale.acceleration / scale.speed)
    return (stiffness * scale.step + 2.0 * damping) * scale.step * inverse / 4.0


def instability(kernels: Kernels, scale: Scale, generator: torch.Generator) -> torch.Tensor:
    """Mean square of what random encounters of all kinds exceed `MARGIN` by.

    Args:
        kernels: the law.
        scale: its units and step.
        generator: of the encounters, on the CPU.
    """

    def uniform(count: int, low: float, high: float) -> torch.Tensor:
        return low + (high - low) * torch.rand(count, generator=generator)

    kinds, bonded = kernels.kinds, SAMPLES // 2 if kernels.bonds else 0
    free = SAMPLES - bonded
    # a wall is the last kind, and is never the first of two, nor bonded
    first = torch.randint(kinds - 1, (SAMPLES,), generator=generator)
    second = torch.cat(
        [torch.randint(most, (n,), generator=generator) for most, n in ((kinds, free), (kinds - 1, bonded))]
    )
    gap = torch.cat([uniform(free, DEEPEST, REACH), uniform(bonded, DEEPEST, BOND_REACH)])
    fastest = FASTEST * scale.radius / scale.dt / scale.speed
    # slow ones more often, as they are in rollouts
    separation = fastest * uniform(SAMPLES, -1.0, 1.0) ** 3
    speed = fastest * uniform(SAMPLES, 0.0, 1.0) ** 3
    codes, gap, separation, speed = (
        each.to(kernels.radius.device) for each in (first * kinds + second, gap, separation, speed)
    )
    share = shares(kernels, scale, codes, gap, separation, speed, slice(free, SAMPLES))
    return (share - MARGIN).clamp_min(0.0).square().mean()
