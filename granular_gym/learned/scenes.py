"""scenes.py: the scenes of the data: which grains, in which box, what they do, and how large each scene can be had."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.learned import layouts
from granular_gym.learned.law import ELASTIC, PLASTIC, RIGID, SAND
from granular_gym.learned.layouts import Draws, Layout, Part, assembled, shaped

Floats = NDArray[np.float64]

#: radius of all grains [m], that of the paper
RADIUS = 0.025
GRAVITY = (0.0, 0.0, -9.81)


@dataclasses.dataclass(frozen=True)
class Size:
    """How large a scene is.

    Attributes:
        sand: grains of sand where the scene has some; in Plasticine they belong to the toy.
        bonded: grains of bodies, of all together.
        frames: frames after the first.
        pixels: height and width of the images.
    """

    sand: int
    bonded: int
    frames: int
    pixels: int


#: tiny is for tests; medium is the size of the tables
SIZES = {
    "tiny": Size(12, 12, 4, 16),
    "small": Size(48, 48, 40, 32),
    "medium": Size(256, 128, 40, 64),
}


@dataclasses.dataclass(frozen=True)
class Plan:
    """What the layout of an episode depends on, besides its draws.

    Attributes:
        sand: see `Size`.
        bonded: see `Size`.
        half: half the width of the box [m].
        drop: factor on heights of fall.
    """

    sand: int
    bonded: int
    half: float
    drop: float


@dataclasses.dataclass(frozen=True)
class SceneKind:
    """A scene of the data.

    Attributes:
        layout: grains of an episode.
        note: what happens, a line.
        dt: time between frames [s].
        gravity: [m/s^2].
        room: width of the box over that of the cube that all grains would fill.
    """

    layout: Callable[[Plan, Draws], Layout]
    note: str
    dt: float = 0.01
    gravity: tuple[float, float, float] = GRAVITY
    room: float = 2.6


def _still() -> Floats:
    return np.zeros(3)


def _middle(points: Floats) -> Floats:
    """The middle of their box in the plane (3,) [m]."""
    return np.asarray((points.min(axis=0) + points.max(axis=0)) / 2.0 * (1.0, 1.0, 0.0))


def _sand_fall(plan: Plan, draws: Draws) -> Layout:
    shape = draws.choice(("ball", "cuboid", "cylinder"))
    body = layouts.resting(shaped(shape, plan.bonded, RADIUS, draws), RADIUS)
    sand = shaped(draws.choice(("ring", "ball", "cuboid")), plan.sand, RADIUS, draws)
    jitter = draws.many(3 * plan.sand, -0.008, 0.008).reshape(-1, 3) * RADIUS
    sand = sand + jitter + draws.uniform(0.0, 1.5 * RADIUS) * draws.heading()
    sand = layouts.above(sand, body, RADIUS, plan.drop * draws.uniform(0.01, 0.06))
    down = np.sqrt(plan.drop) * draws.uniform(0.3, 1.0)
    velocity = 0.3 * draws.uniform() * draws.heading() - (0.0, 0.0, down)
    return assembled([Part(SAND, sand, velocity), Part(ELASTIC, body, _still())], RADIUS)


def _swap(plan: Plan, draws: Draws) -> Layout:
    return layouts.swapped(_sand_fall(plan, draws), ELASTIC, RADIUS)


def _plasticine(plan: Plan, draws: Draws) -> Layout:
    total = plan.sand + plan.bonded
    toy = layouts.resting(shaped(draws.choice(("blob", "cuboid", "cylinder")), (3 * total) // 5, RADIUS, draws), RADIUS)
    heading = draws.heading()
    ball = layouts.resting(
        shaped("ball", total - len(toy), RADIUS, draws), RADIUS, plan.drop * draws.uniform(0.01, 0.05)
    )
    ball = ball + draws.uniform(-0.5, 0.5) * RADIUS * np.array([-heading[1], heading[0], 0.0])
    ball = layouts.beside(ball, toy, heading, RADIUS)
    middle = _middle(np.concatenate([toy, ball]))
    toy, ball = toy - middle, ball - middle
    velocity = -draws.uniform(1.0, 1.8) * heading + (0.0, 0.0, draws.uniform(0.0, 0.3))
    return assembled([Part(PLASTIC, toy, _still()), Part(ELASTIC, ball, velocity)], RADIUS)


def _multi_objects(plan: Plan, draws: Draws) -> Layout:
    each = plan.bonded // 4
    heading = draws.heading()
    shapes = (("cuboid", RIGID), ("cylinder", ELASTIC), ("ring", ELASTIC))
    parts, taken = [], np.zeros((0, 3))
    for shape, kind in shapes:
        points = layouts.resting(shaped(shape, each, RADIUS, draws), RADIUS)
        if len(taken):
            turn = draws.uniform(-0.5, 0.5)
            cos, sin = np.cos(turn), np.sin(turn)
            away = np.array([cos * heading[0] - sin * heading[1], sin * heading[0] + cos * heading[1], 0.0])
            points = layouts.beside(points, taken, away, RADIUS, gap=draws.uniform(0.0, 0.02))
        parts.append(Part(kind, points, _still()))
        taken = np.concatenate([taken, points])
    striker = layouts.resting(shaped("ball", plan.bonded - 3 * each, RADIUS, draws), RADIUS, 0.005)
    striker = layouts.beside(striker, taken, -heading, RADIUS, gap=draws.uniform(0.0, 0.02))
    parts.insert(0, Part(RIGID, striker, draws.uniform(1.2, 2.0) * heading))
    taken = np.concatenate([taken, striker])
    middle = _middle(taken)
    parts = [dataclasses.replace(part, positions=part.positions - middle) for part in parts]
    sand = shaped("ball", plan.sand, RADIUS, draws) + draws.uniform(0.0, RADIUS) * draws.heading()
    sand = layouts.above(sand, taken, RADIUS, plan.drop * 0.01)
    parts.insert(0, Part(SAND, sand, np.array([0.0, 0.0, -np.sqrt(plan.drop) * draws.uniform(0.2, 0.8)])))
    return assembled(parts, RADIUS)


def _pairs(plan: Plan, draws: Draws) -> Layout:
    """A third of the sand meets the floor, the rest meets in pairs; bonded grains are pairs that swing. No gravity."""
    lone = plan.sand // 3
    lone += (plan.sand - lone) % 2
    pairs, bonded = (plan.sand - lone) // 2, plan.bonded // 2
    cells = lone + pairs + bonded
    side = int(np.ceil(np.sqrt(cells)))
    pitch = 2.0 * plan.half / side
    index = np.arange(cells)
    centers = np.stack([(index % side + 0.5) * pitch - plan.half, (index // side + 0.5) * pitch - plan.half], axis=1)
    positions, velocities, kinds, bodies = [], [], [], []
    for cell, (x, y) in enumerate(centers):
        speed = draws.uniform(0.15, 0.8)
        center = np.array([x, y, 3.0 * RADIUS])
        if cell < lone:
            center[2] = RADIUS + draws.uniform(0.1, 0.8) * RADIUS
            starts, motions = [center], [np.array([0.0, 0.0, -speed]) + 0.4 * draws.uniform() * draws.heading()]
        else:
            heading = draws.heading()
            across = np.array([-heading[1], heading[0], 0.0])
            free = cell < lone + pairs
            gap = draws.uniform(0.05, 0.3) if free else draws.uniform(-0.09, 0.09)
            offset = (1.0 + gap) * RADIUS * heading
            motion = 0.5 * (speed * heading + 0.4 * draws.uniform(-1.0, 1.0) * across) if free else np.zeros(3)
            starts, motions = [center - offset, center + offset], [motion, -motion]
        positions += starts
        velocities += motions
        kinds += [SAND if cell < lone + pairs else ELASTIC] * len(starts)
        bodies += [-1 if cell < lone + pairs else cell] * len(starts)
    bodies_of = np.array(bodies, np.int32)
    first = np.flatnonzero((bodies_of[:-1] == bodies_of[1:]) & (bodies_of[1:] >= 0))
    bonds = np.stack([first, first + 1], axis=1).astype(np.int32)
    groups = np.array([0 if kind == SAND else 1 for kind in kinds], np.int32)
    rest = np.full(len(first), 2.0 * RADIUS, np.float32)
    return Layout(np.array(positions), np.array(velocities), np.array(kinds, np.int8), bodies_of, groups, bonds, rest)


#: the scenes by name
SCENES = {
    "SandFall": SceneKind(_sand_fall, "sand falls on an elastic body"),
    "Plasticine": SceneKind(_plasticine, "an elastic ball hits a plastic toy"),
    "MultiObjs": SceneKind(
        _multi_objects, "a rigid ball hits a cuboid, a cylinder and a ring; sand falls on them", room=3.4
    ),
    "Swap": SceneKind(_swap, "SandFall with the sand made elastic: the same starts, what a swap of kernels must give"),
    "Pairs": SceneKind(
        _pairs, "lone pairs, bonded pairs and impacts on the floor", dt=0.002, gravity=(0.0, 0.0, 0.0), room=4.0
    ),
}


def size(name: str, scale: float = 1.0) -> Size:
    """A size by name, with `scale` times the grains.

    Raises:
        ArgumentError: there is no such size, or a scale beyond 1/4 .. 16.
    """
    known = SIZES[checks.choice("size", name, list(SIZES))]
    factor = checks.number("scale", scale, 0.25, 16.0)
    return dataclasses.replace(known, sand=round(factor * known.sand), bonded=round(factor * known.bonded))


def box(scene: SceneKind, wanted: Size, drop: float) -> NDArray[np.float32]:
    """Bounds of the box of a scene, (2, 3) [m]: wide enough for its grains, high enough for their fall."""
    side = np.cbrt(wanted.sand + wanted.bonded) * 2.0 * RADIUS
    half = round(0.5 * scene.room * side + RADIUS, 3)
    return np.array([[-half, -half, 0.0], [half, half, round(1.6 * half + 0.2 * drop, 3)]], np.float32)


def layout(scene: SceneKind, wanted: Size, drop: float, seed: int, episode: int) -> Layout:
    """The grains of an episode at its start.

    Raises:
        ArgumentError: see `size`; a drop beyond 1/4 .. 8.
    """
    factor = checks.number("drop", drop, 0.25, 8.0)
    half = float(box(scene, wanted, factor)[1, 0])
    found = scene.layout(Plan(wanted.sand, wanted.bonded, half, factor), Draws(seed, episode))
    lower, upper = box(scene, wanted, factor) + np.array([[RADIUS], [-RADIUS]], np.float32)
    outside = ((found.positions < lower - 1e-4) | (found.positions > upper)).any(axis=1).sum()
    if outside:
        raise ArgumentError(f"scale, drop: expected grains within the box, got {outside} of episode {episode} outside")
    return found
