"""Planar grains and tools that are narrower than a grain: they rest on plates and pegs, and are not in them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.engine.planar import outline_points

#: circumradius of the block is .52 m; points of its outline are .077 m apart
LENGTH, WIDTH = 1.0, 0.3
WEIGHT = 1000.0 * LENGTH * WIDTH * 9.81

#: tools, by the height of their top, and where that is; of the last one the outline's points stand on both sides of it
TOOLS: dict[str, tuple[gg.Sdf, tuple[float, ...]]] = {
    "plate of 200 mm": (gg.Sdf.box((0.1, 0.5, 1.0)), (0.0, 0.5)),
    "plate of 60 mm": (gg.Sdf.box((0.03, 0.5, 1.0)), (0.0, 0.5)),
    "plate of 20 mm": (gg.Sdf.box((0.01, 0.5, 1.0)), (0.0, 0.5)),
    "peg of 20 mm": (gg.Sdf.cylinder(0.02, 1.0), (0.0, 0.98)),
    "peg of 80 mm": (gg.Sdf.cylinder(0.08, 1.0), (0.0, 0.92)),
}


def block_above(name: str, height: float) -> tuple[gg.World, float]:
    """A block whose lower face is so far above a tool, level with it; and the height of the tool."""
    shape, at = TOOLS[name]
    scene = gg.Scene(((-3.0, -1.0), (3.0, 5.0)))
    wood = scene.add_material(density=1000.0, friction=0.5, shape=gg.Shape2D.block(LENGTH, WIDTH))
    scene.add_tool(shape, name="tool", material=wood, pose=(*at, 0.0, 1.0, 0.0, 0.0, 0.0))
    scene.add_grains(wood, [(0.0, 1.0 + WIDTH / 2 + height)])
    return scene.build(device="cpu", solver=gg.Solver(iterations=20), num_threads=1), 1.0


@pytest.mark.parametrize("name", list(TOOLS))
def test_a_block_that_falls_on_a_narrow_tool_stays_on_it(name: str) -> None:
    world, top = block_above(name, 0.1)
    world.step(1e-3, 1000)
    assert world.positions[0, 0, 1] - WIDTH / 2 == pytest.approx(top, abs=2e-3)
    assert abs(world.angles[0, 0]) < 0.02
    assert world.wrenches[0, 0, 1] == pytest.approx(-WEIGHT, rel=0.1)
    assert world.stats["overlap_max"][0] < 1e-3


def test_a_plate_carries_a_block_at_both_of_its_edges() -> None:
    """A force beside the middle of a plate, within its edges, does not turn a block over."""
    world, top = block_above("plate of 200 mm", 0.0)
    at = world.positions.copy()
    at[0, 0, 0] = 0.03  # the centre of mass, 30 mm beside the middle
    world.set_grains(positions=at)
    world.step(1e-3, 2000)
    assert abs(world.angles[0, 0]) < 1e-3 and world.positions[0, 0, 1] == pytest.approx(top + WIDTH / 2, abs=1e-3)


def test_an_outline_that_a_narrow_tool_is_in_is_found() -> None:
    world, _ = block_above("plate of 20 mm", -0.2)
    found = world.overlaps(0, 0.0)
    assert found.pairs.tolist() == [[0, -1]]
    assert found.depths[0] * 2 * np.hypot(LENGTH / 2, WIDTH / 2) == pytest.approx(0.01, abs=1e-3)


def crossing(shape: Any, speed: float, clearance: float) -> tuple[float, float]:
    """Two grains that pass each other: what is left of their speed, and by how much they turned aside [rad]."""
    scene = gg.Scene(((-1.0, -1.0), (1.0, 1.0)))
    stuff = scene.add_material(density=1000.0, friction=0.3, shape=shape)
    half = float(np.abs(shape.vertices[:, 1]).max())
    scene.add_grains(stuff, [(-0.05, 0.0), (0.05, 2 * half + clearance)])
    world = scene.build(device="cpu", num_threads=1)
    world.set_gravity((0.0, 0.0, 0.0))
    world.set_grains(velocities=[[(speed / 2, 0.0, 0.0), (-speed / 2, 0.0, 0.0)]])
    world.step(1e-3, int(150 / speed))
    x, y = world.velocities[0, 0, :2]
    return float(np.hypot(x, y) / (speed / 2)), float(np.arctan2(y, x))


@pytest.mark.parametrize("speed", [1.0, 1.5, 2.0])
@pytest.mark.parametrize(
    "shape", [gg.Shape2D.block(0.01, 0.01), gg.Shape2D.block(0.02, 0.005), gg.Shape2D.octagon(0.005)], ids=str
)
def test_grains_that_pass_each_other_do_not_meet(shape: gg.Shape2D, speed: float) -> None:
    """Up to .14 of a circumradius per grain and substep; bounds of the circumscribed circles would collide."""
    left, aside = crossing(shape, speed, 0.001)
    assert left == pytest.approx(1.0, abs=1e-3) and aside == pytest.approx(0.0, abs=1e-3)


def test_shapes_too_thin_for_their_field_are_told() -> None:
    scene = gg.Scene(((-2.0, -2.0), (2.0, 2.0)))
    rod = gg.Shape2D.block(1.0, 0.02)
    scene.add_grains(scene.add_material(density=1000.0, shape=rod), [(0.0, 0.0)])
    with pytest.warns(gg.StabilityWarning, match=r"'block' and 'block'.* at most 0.0267 m apart.*count=82"):
        scene.build(device="cpu", num_threads=1)
    scene.set_pair_field(gg.PairField.build(rod, rod, count=82, theta_count=16))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        scene.build(device="cpu", num_threads=1)


def test_fields_are_used_in_either_order_or_refused() -> None:
    shapes = gg.Shape2D.hash(0.06), gg.Shape2D.letter("U", 0.06), gg.Shape2D.octagon(0.06)

    def scene(*fields: gg.PairField) -> gg.Scene:
        made = gg.Scene(((0.0, 0.0), (2.0, 2.0)))
        for k, shape in enumerate(shapes[:2]):
            made.add_grains(made.add_material(density=1000.0, shape=shape), [(1.0 + 0.01 * k, 0.1 + 0.3 * k)])
        for field in fields:
            made.set_pair_field(field)
        return made

    coarse = {"kind": "linear", "theta_count": 16, "count": 24}
    default = scene().freeze().arrays["planar"]["pair_data"].size
    for a, b in ((0, 1), (1, 0)):
        field = gg.PairField.build(shapes[a], shapes[b], **coarse)
        assert scene(field).freeze().arrays["planar"]["pair_data"].size < default
    with pytest.raises(gg.ArgumentError, match="field: expected one of two of the scene's shapes"):
        scene(gg.PairField.build(shapes[0], shapes[2], **coarse)).freeze()
    both = [gg.PairField.build(shapes[a], shapes[b], **coarse) for a, b in ((0, 1), (1, 0))]
    with pytest.raises(gg.ArgumentError, match="field: expected fields that put shapes in an order"):
        scene(*both).freeze()


def test_an_outline_has_as_many_points_as_there_is_room_for() -> None:
    turns = np.linspace(0.0, 2.0 * np.pi, 132, endpoint=False)
    star = np.where(np.arange(132) % 2, 1.0, 0.3)[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=1)
    points, integers = outline_points(gg.Shape2D.from_vertices(star))
    assert 132 < len(points) <= 512 and (integers[integers[:, 2] == 2, 0] >= 0).any()


def test_spins_beyond_the_plane_are_refused() -> None:
    world, _ = block_above("plate of 60 mm", 0.1)
    with pytest.raises(gg.ArgumentError, match="angular_velocities: expected x = y = 0"):
        world.set_grains(angular_velocities=[[(1.0, 0.0, 1.0)]])
    world.set_grains(angular_velocities=[[(0.0, 0.0, 1.0)]])


def test_an_angle_stays_within_a_turn() -> None:
    world, _ = block_above("plate of 60 mm", 3.0)
    world.set_grains(angular_velocities=[[(0.0, 0.0, 2.5e4)]])
    world.step(1e-3, 1)
    assert abs(world.angles[0, 0]) <= np.pi + 1e-5
