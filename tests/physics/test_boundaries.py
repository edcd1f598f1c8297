"""The boundaries: walls, open, cyclic, periodic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from testbed.beds import DT, RADIUS, faces, space

Note = Callable[..., None]
HALF = 0.1


def flying(boundary: str, axis: int, sign: float, **kwargs) -> gg.World:
    """One grain 1 cm from a face, with a normal speed of 1 m/s and a tangential speed of .3 m/s."""
    place, speed = np.zeros(3), np.zeros(3)
    place[axis], speed[axis], speed[(axis + 1) % 3] = sign * (HALF - 0.01), sign, 0.3
    return space([place], [speed], half=HALF, boundary=faces(boundary), **kwargs).build(num_threads=1)


FACES = [(axis, sign) for axis in range(3) for sign in (-1.0, 1.0)]


@pytest.mark.parametrize(("axis", "sign"), FACES)
def test_wall_throws_back(axis: int, sign: float) -> None:
    world = flying("wall", axis, sign, friction=0.0, restitution=0.8)
    world.step(DT, 60)
    v = world.velocities[0, 0]
    assert v[axis] == pytest.approx(-0.8 * sign, abs=1e-5)
    assert v[(axis + 1) % 3] == pytest.approx(0.3, abs=1e-6)
    assert world.stats["escaped_count"][0] == 0
    # there is a force on the wall that was hit, and none on the others
    world = flying("wall", axis, sign, friction=0.0, restitution=0.8)
    world.step(DT, 60)
    force = np.linalg.norm(world.wall_wrenches[0, :, :3], axis=1)
    assert force.argmax() == 2 * axis + (sign > 0)
    assert np.count_nonzero(force) == 1


@pytest.mark.parametrize(("axis", "sign"), FACES)
def test_open_face_lets_grains_leave(axis: int, sign: float) -> None:
    """A grain counts as escaped when it is completely outside; it moves on without contacts."""
    world = flying("open", axis, sign)
    memory = world.info["memory"]
    world.step(DT, 10)
    assert world.stats["escaped_count"][0] == 0
    world.step(DT, 20)
    assert world.stats["escaped_count"][0] == 1
    for _ in range(10):
        world.step(4e-3, 1250)
    assert world.positions[0, 0, axis] * sign > 40.0
    assert world.velocities[0, 0, axis] == sign
    assert world.stats["escaped_count"][0] == 1
    assert world.info["memory"] == memory


@pytest.mark.parametrize("boundary", ["cyclic", "periodic"])
@pytest.mark.parametrize(("axis", "sign"), FACES)
def test_grain_is_carried_to_the_other_face(boundary: str, axis: int, sign: float) -> None:
    world = flying(boundary, axis, sign)
    world.step(DT, 20)
    x, v = world.positions[0, 0], world.velocities[0, 0]
    assert x[axis] == pytest.approx(sign * (HALF + 0.01 - 2.0 * HALF), abs=1e-6)
    assert x[(axis + 1) % 3] == pytest.approx(0.3 * 0.02, abs=1e-6)
    assert v[axis] == sign and v[(axis + 1) % 3] == np.float32(0.3)
    assert world.stats["escaped_count"][0] == 0
    # many times round
    world.step(DT, 2000)
    assert np.abs(world.positions[0, 0]).max() <= HALF


def row(boundary: str, axis: int, shift: float) -> gg.World:
    """A row of touching grains at rest, and one that hits it; all translated along the row."""
    count = 4
    along = np.r_[-0.03, DIAMETERS * np.arange(count)] + shift
    along = (along + HALF) % (2.0 * HALF) - HALF
    places, speeds = np.zeros((count + 1, 3)), np.zeros((count + 1, 3))
    places[:, axis], speeds[0, axis] = along, 1.0
    return space(places, speeds, restitution=0.0, friction=0.0, half=HALF, boundary=faces(boundary)).build(
        num_threads=1
    )


DIAMETERS = 2.0 * RADIUS * (1.0 + 1e-6)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_contacts_across_a_periodic_face(axis: int, measured: Note) -> None:
    """A row across the periodic boundary behaves as one in the middle."""
    ends = []
    for shift in (0.0, HALF - 0.5 * RADIUS, HALF + 0.3 * RADIUS, HALF - 0.02):
        world = row("periodic", axis, shift)
        world.step(DT, 100)
        ends.append(world.velocities[0, :, axis].astype(np.float64))
        assert world.stats["tool_contact_count"][0] == 0
    wrong = np.abs(np.array(ends) - ends[0]).max()
    measured(largest_difference=wrong)
    assert ends[0].sum() == pytest.approx(1.0, abs=1e-5)
    assert ends[0][-1] > 0.1
    assert wrong < 0.02


def test_no_contacts_across_a_cyclic_face() -> None:
    """Grains on both sides of a cyclic boundary overlap without contact (as in the gear tower)."""
    places = [[HALF - 0.3 * RADIUS, 0, 0], [-HALF + 0.3 * RADIUS, 0, 0]]
    for boundary, touches in (("cyclic", 0), ("periodic", 2)):
        with space(places, half=HALF, boundary=faces(boundary)).build(overlaps="ignore") as world:
            world.step(DT, 1)
            assert world.stats["overlap_count"][0] == touches


def test_periodic_bed_falls_through_no_seam(measured: Note) -> None:
    """A bed that is periodic in x and y stays on its floor under inclined gravity."""
    scene = gg.Scene(
        ((-0.05, -0.05, 0), (0.05, 0.05, 0.4)),
        gravity=(1.0, 0.5, -9.81),
        boundary={"x": "periodic", "y": "periodic", "z": ("wall", "open")},
    )
    sand = scene.add_material(density=2500.0, radius=RADIUS, friction=0.5, rolling_friction=0.3)
    scene.fill_box(sand, (-0.05, -0.05, 0.0), (0.05, 0.05, 0.3), count=700)
    world = scene.build(num_threads=1)
    world.step(DT, 1500)
    world.step(DT, 10)
    x = world.positions[0]
    speed = np.abs(world.velocities).max()
    measured(fastest=speed, overlap=world.stats["overlap_max"][0])
    assert speed < 1e-3
    assert (x[:, :2] >= -0.05).all() and (x[:, :2] < 0.05).all()
    assert x[:, 2].min() > 0.99 * RADIUS
    assert world.stats["overlap_max"][0] < 0.005


def test_mixed_faces() -> None:
    """Each axis has its own kind; only the open one loses grains."""
    scene = gg.Scene(
        ((-HALF,) * 3, (HALF,) * 3),
        gravity=(0, 0, 0),
        boundary={"x": ("wall", "open"), "y": "periodic", "z": "cyclic"},
    )
    grain = scene.add_material(density=2500.0, radius=RADIUS, restitution=1.0, friction=0.0)
    speeds = [[-1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0], [1.0, 0, 0]]
    scene.add_grains(grain, [[0, -0.05, 0], [-0.05, 0, 0], [-0.05, -0.05, 0], [0, 0.05, 0]], velocities=speeds)
    world = scene.build()
    world.step(DT, 150)
    assert world.stats["escaped_count"][0] == 1
    assert world.positions[0, 3, 0] > HALF
    # the first one rebounded from its wall
    assert world.velocities[0, 0, 0] == pytest.approx(1.0, abs=1e-5)
    assert np.abs(world.positions[0, 1:3]).max() <= HALF
