"""matter.py: particles for the tests of learned simulators: a jittered bed with bonds, and pairs that collide by a law
that is known."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from granular_gym.learned.simulator import Matter, Scale, State

RADIUS, DT = 0.025, 0.01
SCALE = Scale(DT, RADIUS, 2)
GRAVITY = (0.0, 0.0, -9.81)


def bed(count: int = 40, batch: int = 2, seed: int = 0) -> tuple[State, Matter]:
    """A crowded heap on the floor, far from other walls: some bonds, two kinds, random velocities."""
    random = np.random.default_rng(seed)
    side = int(np.ceil(count ** (1 / 3)))
    grid = np.stack(np.meshgrid(*[np.arange(side)] * 3, indexing="ij"), -1).reshape(-1, 3)[:count]
    positions = np.stack([grid * 1.95 * RADIUS + (0, 0, RADIUS) for _ in range(batch)])
    positions = positions + 0.1 * RADIUS * random.standard_normal(positions.shape)
    velocities = 0.3 * random.standard_normal(positions.shape)
    kinds = (random.random((batch, count)) < 0.4).astype(np.int64)
    bonds = np.concatenate([np.array([[0, 1], [1, 2], [3, 2]]) + e * count for e in range(batch)])
    ends = positions.reshape(-1, 3)[bonds]
    rest = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) * random.uniform(0.9, 1.1, len(bonds))
    tensor = torch.as_tensor
    matter = Matter(
        tensor(kinds),
        torch.full((batch, count), -1),
        tensor(bonds),
        tensor(rest, dtype=torch.float32),
        RADIUS,
        tensor(GRAVITY),
        tensor([[-9.0, -9.0, 0.0], [9.0, 9.0, 9.0]]),
    )
    return State(tensor(positions, dtype=torch.float32), tensor(velocities, dtype=torch.float32)), matter


def wake(model: torch.nn.Module, seed: int = 0) -> torch.nn.Module:
    """Moves all weights, and lets heads that begin near zero act."""
    random = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for each in model.modules():
            if isinstance(each, torch.nn.Linear) and float(each.weight.abs().mean()) < 2e-3:
                each.weight.mul_(100.0)
                if each.bias is not None:
                    each.bias.clamp_(min=0.3)
        for parameter in model.parameters():
            parameter.add_(0.03 * torch.randn(parameter.shape, generator=random))
    return model


@dataclass(frozen=True)
class Episode:
    """What training needs of `data.Episode`."""

    positions: Any
    velocities: Any
    kinds: Any
    bodies: Any
    bonds: Any
    rest_lengths: Any
    colors: Any
    splat_color: Any = None
    splat_depth: Any = None
    color: Any = None
    depth: Any = None


@dataclass(frozen=True)
class Dataset:
    """What training needs of `data.Dataset`."""

    train: list[Episode]
    test: list[Episode]
    dt: float = DT
    radius: float = RADIUS
    gravity: Any = GRAVITY
    bounds: Any = ((-9.0, -9.0, 0.0), (9.0, 9.0, 9.0))
    cameras: Any = (None, None)
    scene: str = "made"
    version: int = 1
    colors: dict[str, Any] = field(default_factory=dict)


# pairs that collide ------------------------------------------------------------------------------------------------

PAIR_DT = 0.002
#: of the law below: acceleration of a particle [m/s^2] per overlap in radii^1.5, damping [s/m], friction
STIFFNESS, DAMPING, FRICTION = 600.0, 0.25, 0.4


def true_acceleration(gap: Any, normal_velocity: Any) -> Any:
    """Hunt and Crossley's contact: what a particle's normal acceleration is in a pair [m/s^2]."""
    overlap = np.maximum(-np.asarray(gap), 0.0) / RADIUS
    return STIFFNESS * overlap**1.5 * np.maximum(1.0 - DAMPING * np.asarray(normal_velocity) / 0.5, 0.0)


def pairs(episodes: int, count: int = 24, frames: int = 24, seed: int = 0) -> list[Episode]:
    """Episodes of lone pairs of kind 0 that meet at all speeds and angles, without gravity, in substeps of the law."""
    random = np.random.default_rng(seed)
    result = []
    for _ in range(episodes):
        centers = np.stack([np.arange(count) * 10 * RADIUS - 3.0, np.zeros(count), np.full(count, 4.0)], 1)
        heading = random.standard_normal((count, 3))
        heading /= np.linalg.norm(heading, axis=1, keepdims=True)
        across = np.cross(heading, random.standard_normal((count, 3)))
        gap = random.uniform(-0.05, 0.5, (count, 1)) * RADIUS
        speed = random.uniform(0.2, 1.5, (count, 1))
        half = 0.5 * (2 * RADIUS + gap) * heading
        motion = 0.5 * speed * heading + 0.15 * random.uniform(0, 1, (count, 1)) * across
        x, v = np.stack([centers - half, centers + half]), np.stack([motion, -motion])
        track, motions = [x], [v]
        for _ in range(frames):
            for _ in range(10):
                away = x[1] - x[0]
                length = np.linalg.norm(away, axis=1, keepdims=True)
                normal, relative = away / length, v[1] - v[0]
                normal_velocity = (relative * normal).sum(1, keepdims=True)
                sliding = relative - normal_velocity * normal
                push = true_acceleration(length - 2 * RADIUS, normal_velocity)
                drag = FRICTION * push * sliding / np.sqrt((sliding**2).sum(1, keepdims=True) + 0.05**2)
                force = push * normal - drag
                v = v + np.stack([-force, force]) * (PAIR_DT / 10)
                x = x + v * (PAIR_DT / 10)
            track.append(x)
            motions.append(v)

        def flat(values: list[np.ndarray]) -> np.ndarray:
            return np.stack(values).transpose(0, 2, 1, 3).reshape(frames + 1, -1, 3).astype(np.float32)

        none = np.zeros((0, 2), np.int32)
        kinds, bodies = np.zeros(2 * count, np.int8), np.full(2 * count, -1, np.int32)
        colors = np.full((2 * count, 3), 0.5, np.float32)
        result.append(Episode(flat(track), flat(motions), kinds, bodies, none, np.zeros(0, np.float32), colors))
    return result
