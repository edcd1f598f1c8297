"""Containers hold what is in them: closed boxes and a thin-walled scoop, swung and turned; grains shot at thin walls.

The rule under which a wall is promised to hold: nothing moves by more than half a radius per substep. Where it is broken,
`fast_count` and `fast_tool_count` say so.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg

RADIUS = 0.005
WALL = RADIUS
HALF = 0.04
DT = 1e-3
SUBSTEPS = 20
Note = Callable[..., None]


def walls(closed: bool) -> list[gg.Sdf]:
    """A box of inner half side HALF whose walls are one grain radius thick; one part per wall."""
    out, mid = HALF + WALL, HALF + WALL / 2
    parts = []
    for axis in range(3):
        for sign in (-1, 1):
            if not closed and (axis, sign) == (2, 1):
                continue
            half = np.full(3, out)
            half[axis] = WALL / 2
            place = np.zeros(3)
            place[axis] = sign * mid
            parts.append(gg.Sdf.box(tuple(half)).at(tuple(place)))
    return parts


def box_mesh(lower: np.ndarray, upper: np.ndarray, inward: bool) -> tuple[np.ndarray, np.ndarray]:
    """Corners and triangles of a box, seen from outside or from inside."""
    corners = np.array([[x, y, z] for x in (0, 1) for y in (0, 1) for z in (0, 1)], float)
    faces = np.array(
        [(0, 1, 3), (0, 3, 2), (4, 6, 7), (4, 7, 5), (0, 4, 5), (0, 5, 1), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4)]
        + [(1, 5, 7), (1, 7, 3)],
        np.int32,
    )
    return lower + corners * (upper - lower), faces[:, ::-1] if inward else faces


def scoop() -> gg.Sdf:
    """One field of an open bucket from a triangle mesh: a box with a pocket that is open at the top."""
    out, top = HALF + WALL, HALF + WALL
    outer, outer_faces = box_mesh(np.array([-out, -out, -out]), np.array([out, out, top]), False)
    inner, inner_faces = box_mesh(np.array([-HALF, -HALF, -HALF]), np.array([HALF, HALF, top]), True)
    # no lids: the two rims are joined by a ring instead
    upper = {1, 3, 5, 7}
    faces = [f for f in outer_faces.tolist() if not set(f) <= upper]
    faces += [[v + 8 for v in f] for f in inner_faces.tolist() if not set(f) <= upper]
    ring = [1, 5, 7, 3]
    for a, b in zip(ring, ring[1:] + ring[:1], strict=True):
        faces += [[a, b, b + 8], [a, b + 8, a + 8]]
    mesh = gg.Mesh(np.concatenate([outer, inner]), np.array(faces, np.int32)).repair()
    mesh.check()
    assert mesh.is_watertight
    assert mesh.volume == pytest.approx((2 * out) ** 3 - (2 * HALF) ** 2 * (HALF + top), rel=1e-6)
    return gg.Sdf.from_mesh(mesh, spacing=RADIUS / 2)


def container(parts: gg.Sdf | list[gg.Sdf], count: int) -> gg.World:
    """A world with one container full of grains in the middle of open space."""
    open_space = dict.fromkeys("xyz", "open")
    scene = gg.Scene(((-3, -3, -3), (3, 3, 3)), boundary=open_space)
    sand = scene.add_material(density=2500.0, radius=RADIUS, friction=0.5, rolling_friction=0.1)
    scene.add_tool(parts, name="box")
    room = HALF - 0.1 * RADIUS
    scene.fill_box(sand, (-room, -room, -room), (room, room, room), count=count, seed=3)
    return scene.build(num_threads=2)


def inside(world: gg.World, pose: np.ndarray, slack: float = WALL) -> np.ndarray:
    """Whether each grain's centre is within the outer faces of the walls."""
    w, q = pose[3], pose[4:]
    local = world.positions[0] - pose[:3]
    # rotate by the conjugate
    t = 2.0 * np.cross(-q, local)
    local = local + w * t + np.cross(-q, t)
    return (np.abs(local) < HALF + slack).all(axis=1)


def path(time: float, kind: str) -> np.ndarray:
    """Pose of the container: shaken to and fro at 1 m/s with instant reversals, turned, or both at once."""
    pose = np.array([0, 0, 0, 1, 0, 0, 0], float)
    if "shake" in kind:
        # a triangle wave along a diagonal: 1 m/s, 0.2 m to and fro
        phase = time % 0.4
        pose[:3] = (phase if phase < 0.2 else 0.4 - phase) * np.array([0.8, 0.36, 0.48]) / np.linalg.norm([0.8, 0.36, 0.48])
    if "turn" in kind:
        # walls move at up to 1 m/s
        angle = 1.0 / (np.sqrt(3.0) * HALF) * time
        axis = np.array([0.6, 0.0, 0.8])
        pose[3:] = np.cos(angle / 2), *(np.sin(angle / 2) * axis)
    return pose


def swing(world: gg.World, kind: str, seconds: float) -> tuple[int, float, int]:
    """Grains outside at the end, deepest overlap [diameters], counted fast moves."""
    deepest, fast = 0.0, 0
    steps = round(seconds / (SUBSTEPS * DT))
    for step in range(1, steps + 1):
        pose = path(step * SUBSTEPS * DT, kind)
        world.step(DT, SUBSTEPS, pose[None, None])
        deepest = max(deepest, float(world.stats["overlap_max"][0]))
        fast += int(world.stats["fast_tool_count"][0])
    return int((~inside(world, path(steps * SUBSTEPS * DT, kind))).sum()), deepest, fast


@pytest.mark.parametrize("kind", ["shake", "turn", "shake and turn"])
def test_a_closed_box_loses_no_grain(kind: str, measured: Note) -> None:
    with container(walls(closed=True), 300) as world:
        lost, deepest, fast = swing(world, kind, 10.0)
        measured(lost=lost, deepest=deepest, fast_tools=fast)
        assert lost == 0
        assert world.stats["diverged"][0] == 0


def test_a_thin_scoop_loses_no_grain(measured: Note) -> None:
    """Carried to and fro with its opening up, at 1 m/s; the few grains that jump over the rim are not leaks."""
    with container(scoop(), 250) as world:
        world.step(DT, 400)
        deepest = 0.0
        for step in range(1, 501):
            # smooth to and fro along x: 1 m/s at the most
            time = step * SUBSTEPS * DT
            pose = np.array([0.25 * (1.0 - np.cos(4.0 * time)), 0, 0, 1, 0, 0, 0])
            before = world.positions[0]
            world.step(DT, SUBSTEPS, pose[None, None])
            deepest = max(deepest, float(world.stats["overlap_max"][0]))
            # nobody may be within or below the walls: what left went over the rim
            local = world.positions[0] - pose[:3]
            gone = ~inside(world, pose)
            below_rim_before = before[:, 2] < HALF
            under = gone & below_rim_before & (local[:, 2] > -3 * HALF) & (np.abs(local[:, 0]) < HALF + WALL + 0.5 * RADIUS)
            assert not (under & (local[:, 2] < -HALF - WALL)).any()
        final = world.positions[0] - pose[:3]
        held = inside(world, pose)
        through = ~held & (np.abs(final[:, :2]) < HALF).all(axis=1) & (final[:, 2] < -HALF)
        measured(held=int(held.sum()), through_the_bottom=int(through.sum()), deepest=deepest)
        assert held.sum() >= 200
        assert not through.any()


@pytest.mark.parametrize("speed", [1.0, 2.0, 10.0, 50.0])
def test_grains_shot_at_a_thin_wall(speed: float, measured: Note) -> None:
    """A free grain does not tunnel at any speed, as its own motion is foreseen; beyond the rule it is counted."""
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0, 0, 0), boundary=dict.fromkeys("xyz", "open"))
    sand = scene.add_material(density=2500.0, radius=RADIUS, friction=0.3)
    scene.add_tool(gg.Sdf.box((WALL / 2, 0.5, 0.5)), name="wall")
    rng = np.random.default_rng(0)
    spots = np.stack([np.full(40, -0.3), *rng.uniform(-0.4, 0.4, (2, 40))], axis=1)
    scene.add_grains(sand, spots, velocities=np.tile([speed, 0.1, 0.0], (40, 1)))
    with scene.build(num_threads=1) as world:
        world.step(DT, round(0.6 / speed / DT) + 5)
        fast = int(world.stats["fast_count"][0])
        measured(passed=int((world.positions[0, :, 0] > 0).sum()), fast=fast)
        assert (world.positions[0, :, 0] < 0).all()
        assert (fast > 0) == (speed * DT > RADIUS / 2)
