"""stability.py: what a discrete element learner is charged for where its law is too steep for its own Euler steps.

A contact between bodies of effective mass m, whose normal force falls by k with the gap and by c with the normal
velocity, is stable while k dt^2 + 2 c dt <= 4 m (`PairForces.longest_step`); friction that rises by c with the sliding
speed trembles beyond c dt = 2 m (`PairForces.calm_step`). Rollouts show a model the contacts that are common; this asks
its law everywhere, so that no rare one is unstable, and the engine takes its table with the model's own steps.
"""

from __future__ import annotations

from granular_gym.learned.kernels import BOND_REACH, REACH, Kernels
from granular_gym.learned.needs import torch
from granular_gym.learned.simulator import Scale

#: share of what a step bears that costs nothing: between samples a law may be steeper
MARGIN = 0.8
#: encounters that are asked in an iteration, half of them bonds
SAMPLES = 512
#: deepest gap [radii], and fastest velocity [radii a frame], as `export.export_model` samples a law
DEEPEST, FASTEST = -1.0, 4.0


def shares(
    kernels: Kernels,
    scale: Scale,
    codes: torch.Tensor,
    gap: torch.Tensor,
    separation: torch.Tensor,
    speed: torch.Tensor,
    bonds: slice,
) -> tuple[torch.Tensor, torch.Tensor]:
    """What c encounters take of what a step bears, in the normal direction and in sliding.

    Args:
        kernels: the law.
        scale: its units and step.
        codes, gap, separation, speed, bonds: see `Kernels.forward`.

    Returns:
        (c,) twice: (k dt^2 + 2 c dt) / (4 m), at most 1 where stable, and c dt / (2 m), at most 1 where calm.
    """
    inputs = [each.detach().requires_grad_() for each in (gap, separation, speed)]
    forces = kernels(codes, *inputs, bonds)
    by_gap, by_velocity = torch.autograd.grad(forces.damped.sum(), inputs[:2], create_graph=True)
    by_sliding = torch.zeros_like(by_gap)
    if kernels.tangential:
        (by_sliding,) = torch.autograd.grad(forces.sliding.sum(), inputs[2:], create_graph=True)
    # of a wall 0
    inverse = torch.cat([1.0 / kernels.masses(), kernels.radius.new_zeros(1)])
    inverse = inverse[codes // kernels.kinds] + inverse[codes % kernels.kinds]
    stiffness = (-by_gap).clamp_min(0.0) * (scale.acceleration / scale.radius)
    damping = (-by_velocity).clamp_min(0.0) * (scale.acceleration / scale.speed)
    friction = by_sliding.clamp_min(0.0) * (scale.acceleration / scale.speed)
    dt = scale.step
    return (stiffness * dt + 2.0 * damping) * dt * inverse / 4.0, friction * dt * inverse / 2.0


def instability(kernels: Kernels, scale: Scale, generator: torch.Generator) -> torch.Tensor:
    """Mean square of what random encounters of all kinds exceed `MARGIN` by, in both directions.

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
    # slow ones more often, as they are in rollouts; friction is steepest where it begins
    separation = fastest * uniform(SAMPLES, -1.0, 1.0) ** 3
    speed = fastest * uniform(SAMPLES, 0.0, 1.0) ** 3
    codes, gap, separation, speed = (
        each.to(kernels.radius.device) for each in (first * kinds + second, gap, separation, speed)
    )
    both = torch.stack(shares(kernels, scale, codes, gap, separation, speed, slice(free, SAMPLES)))
    return (both - MARGIN).clamp_min(0.0).square().sum(0).mean()
