"""Scenes whose grains lie in each other, in tools, in walls or outside the bounds: refused at build, told of later."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import granular_gym as gg
from testbed.planar import COARSE

RADIUS = 0.01
LOWER, UPPER = (-0.1, -0.1, 0.0), (0.1, 0.1, 0.5)


def scene_of(*positions: Any, radius: Any = RADIUS, **settings: Any) -> gg.Scene:
    scene = gg.Scene((LOWER, UPPER), **settings)
    sand = scene.add_material(density=2500.0, radius=RADIUS, name="sand")
    if positions:
        scene.add_grains(sand, positions, radius)
    return scene


def refusal(scene: gg.Scene, **settings: Any) -> str:
    with pytest.raises(gg.OverlapError) as caught:
        scene.build(device="cpu", **settings)
    return str(caught.value)


def found(scene: gg.Scene, tolerance: float = 0.1) -> dict[tuple[int, int], float]:
    with scene.build(device="cpu", overlaps="ignore") as world:
        overlaps = world.overlaps(tolerance=tolerance)
    assert overlaps.complete and len(overlaps) == len(overlaps.pairs)
    return {(int(a), int(b)): float(depth) for (a, b), depth in zip(overlaps.pairs, overlaps.depths, strict=True)}


def test_a_box_filled_twice() -> None:
    scene = scene_of()
    count = len(scene.fill_box(0, LOWER, (0.1, 0.1, 0.1)))
    scene.build().close()
    scene.fill_box(0, LOWER, (0.1, 0.1, 0.1))
    message = refusal(scene)
    assert f"got {count} deeper ones, of {2 * count} grains: {count} of 'sand' in 'sand' (worst 100 %)" in message
    assert message.startswith("grains: expected overlaps of at most 10 % of a diameter") and "grain 0 at (" in message
    with pytest.raises(ValueError, match="overlaps: expected one of"):
        scene.build(overlaps="allow")


def test_asked_for_it_is_built(recwarn: pytest.WarningsRecorder) -> None:
    scene = scene_of((0, 0, 0.1), (0, 0, 0.1))
    scene.build(overlaps="ignore").close()
    assert not recwarn.list
    with pytest.warns(gg.OverlapWarning, match="1 of 'sand' in 'sand'") as caught:
        world = scene.build(overlaps="warn")
    assert caught[0].filename == __file__
    # copies are not judged again
    recwarn.clear()
    with world, world.branch(2) as branch, pickle.loads(pickle.dumps(world)) as copy:
        assert len(branch.overlaps(1)) == len(copy.overlaps()) == 1
    assert not recwarn.list


def test_outside_the_bounds() -> None:
    scene = scene_of()
    count = len(scene.fill_box(0, (0.2, -0.1, 0.0), (0.4, 0.1, 0.1)))
    message = refusal(scene, env_count=3)
    assert f"{count} in or beyond the wall 'x upper' (worst 1,499 %)" in message
    with scene.build(overlaps="ignore") as world:
        world.step(1e-3, 1)
        # the counters of a step tell too: of grains in a wall, and how deep they were
        assert world.stats["escaped_count"][0] == count and world.stats["overlap_max"][0] > 14.9


@pytest.mark.parametrize("face", range(6))
def test_walls_one_by_one(face: int) -> None:
    place = np.array([0.0, 0.0, 0.2])
    place[face // 2] = (LOWER, UPPER)[face % 2][face // 2]
    closed = dict.fromkeys("xyz", "wall")
    depths = found(scene_of(place, boundary=closed))
    assert depths == {(0, -1 - face): pytest.approx(0.5, abs=1e-5)}
    place[face // 2] += 0.9 * RADIUS * (1 - 2 * (face % 2))
    assert not found(scene_of(place, boundary=closed))
    # beyond an open face a grain may come back
    assert not found(scene_of(place + 3.0 * (place - [0.0, 0.0, 0.2]), boundary=dict.fromkeys("xyz", "open")))


@pytest.mark.parametrize("kind", ["cyclic", "periodic"])
def test_beyond_faces_that_join(kind: str) -> None:
    boundary = {"x": kind}
    assert not found(scene_of((0.109, 0, 0.1), boundary=boundary))
    assert found(scene_of((0.13, 0, 0.1), (0, 0, 0.1), boundary=boundary)) == {(0, -2): pytest.approx(2.0)}
    assert "1 beyond the face 'x lower'" in refusal(scene_of((-0.12, 0, 0.1), boundary=boundary))
    # contacts reach across a periodic face only
    across = found(scene_of((-0.095, 0, 0.1), (0.095, 0, 0.1), boundary=boundary))
    assert across == ({(0, 1): pytest.approx(0.5)} if kind == "periodic" else {})


def test_in_a_tool() -> None:
    scene = scene_of((0, 0, 0.1), (0.06, 0, 0.1), (0.04, 0, 0.3))
    block = gg.Sdf.union(gg.Sdf.box((0.05, 0.05, 0.05)), gg.Sdf.sphere(0.02))
    scene.add_tool(gg.Sdf.sphere(0.01), name="ball", pose=(0, 0, 0.4, 1, 0, 0, 0))
    scene.add_tool(block, name="block", pose=(0, 0, 0.1, 1, 0, 0, 0))
    # of several parts the deepest counts
    assert found(scene) == {(0, -2): pytest.approx(3.0)}
    assert "1 in tool 'block' (worst 300 %)" in refusal(scene)
    assert "grain 0 at (0, 0, 0.1) m" in refusal(scene)
    with scene.build(overlaps="ignore") as world:
        world.set_tool_poses([[0, 0, 0.4, 1, 0, 0, 0], [0, 0, 0.3, 1, 0, 0, 0]])
        after = world.overlaps()
        assert after.pairs.tolist() == [[2, -2]] and after.deepest == pytest.approx(1.0)
        assert after.grains.tolist() == [2]
        world.step(1e-4, 1)
        assert world.stats["overlap_max"][0] == pytest.approx(1.0, abs=1e-3)


def test_small_overlaps_pass() -> None:
    """What settled beds and packings from elsewhere have."""
    for share, passes in ((0.09, True), (0.11, False)):
        near = scene_of((0, 0, 0.1), (2 * RADIUS * (1 - share), 0, 0.1))
        wall = scene_of((0, 0, RADIUS * (1 - 2 * share)))
        for scene in (near, wall):
            assert (not found(scene)) is passes
            assert list(found(scene, 0.0).values()) == pytest.approx([share], abs=1e-4)


@pytest.mark.parametrize("ratio", [1.0, 4.0, 40.0])
@pytest.mark.parametrize("kind", ["wall", "periodic"])
def test_beside_every_pair(ratio: float, kind: str) -> None:
    """The cell search finds what a test of every pair finds, for sizes of one class and of four."""
    rng = np.random.default_rng(1)
    count = 400
    places = rng.uniform((-0.1, -0.1, 0.0), (0.1, 0.1, 0.5), (count, 3)).astype(np.float32)
    places[:3] = (50.0, 0.0, 0.1), (50.005, 0.0, 0.1), (0.0, 0.0, 3000.0)
    radii = np.exp(rng.uniform(np.log(0.02 / ratio), np.log(0.02), count)).astype(np.float32)
    scene = scene_of(*places, radius=radii, boundary={"x": kind, "y": "open", "z": "open"})
    apart = (places[:, None] - places[None]).astype(np.float64)
    if kind == "periodic":
        apart[..., 0] = np.where(np.abs(apart[..., 0]) > 0.1, np.abs(apart[..., 0]) - 0.2, apart[..., 0])
    depth = radii[:, None] + radii[None] - np.linalg.norm(apart, axis=-1)
    depth = np.triu(depth / (2 * np.minimum(radii[:, None], radii[None])), 1)
    wanted = {(int(a), int(b)): depth[a, b] for a, b in np.argwhere(depth > 0.1)}
    pairs = {pair: value for pair, value in found(scene).items() if pair[1] >= 0}
    assert len(pairs) > 20 and pairs == pytest.approx(wanted, rel=1e-3, abs=1e-4)


def test_all_in_one_place_ends() -> None:
    scene = scene_of(*np.tile([[0.0, 0.0, 0.1]], (2000, 1)))
    assert "at least 1,000,000 deeper ones" in refusal(scene)


def test_no_grains() -> None:
    assert found(scene_of()) == {}


def planar_scene(fixed: bool = False) -> gg.Scene:
    scene = gg.Scene(((0.0, 0.0), (1.0, 1.0)))
    shape = gg.Shape2D.hash(0.1)
    scene.add_material(density=900.0, shape=shape, name="hash", fixed=fixed)
    scene.set_pair_field(gg.PairField.build(shape, shape, **COARSE))
    return scene


def test_planar_grains() -> None:
    scene = planar_scene()
    scene.add_grains(0, [(0.3, 0.5), (0.7, 0.5)])
    scene.build().close()
    scene.add_grains(0, [(0.32, 0.5)])
    assert "1 of 'hash' in 'hash'" in refusal(scene) and "m;" in refusal(scene)
    outside = planar_scene()
    outside.add_grains(0, [(1.5, 0.5), (0.5, -0.5)])
    message = refusal(outside)
    assert "1 in or beyond the wall 'x upper'" in message and "1 in or beyond the wall 'y lower'" in message
    inside = planar_scene()
    inside.add_grains(0, [(0.5, 0.5)])
    inside.add_tool(gg.Sdf.box((0.2, 0.2, 1.0)), name="block", pose=(0.5, 0.5, 0, 1, 0, 0, 0))
    assert "1 in tool 'block'" in refusal(inside)


def test_fixed_grains_may_overlap() -> None:
    """A rough floor of fixed grains in each other and in the wall."""
    scene = planar_scene(fixed=True)
    scene.add_grains(0, [(0.3, 0.0), (0.35, 0.0)])
    scene.build().close()
    shape = gg.Shape2D.hash(0.1)
    moving = scene.add_material(density=900.0, shape=shape, name="loose")
    scene.add_grains(moving, [(0.4, 0.03)])
    assert "of 'hash' in 'loose'" in refusal(scene)


def test_after_grains_were_set() -> None:
    with scene_of((0, 0, 0.1), (0, 0, 0.2)).build(env_count=2) as world:
        assert len(world.overlaps(1)) == 0
        world.set_grains(positions=[[0, 0, 0.1], [0.01, 0, 0.1]], envs=[1])
        assert world.overlaps(1).pairs.tolist() == [[0, 1]] and len(world.overlaps(0)) == 0
        world.transform_grains((0.5, 0, 0), 0.0, envs=[0])
        assert world.overlaps(0).pairs.tolist() == [[0, -2], [1, -2]]
        before = world.save_state()
        world.overlaps()
        assert world.save_state().to_bytes() == before.to_bytes()
        for bad in (-1.0, np.nan, "x"):
            with pytest.raises(gg.ArgumentError, match="tolerance"):
                world.overlaps(tolerance=bad)
        with pytest.raises(gg.ArgumentError, match="env"):
            world.overlaps(2)


# ---- continuous matter ----


def matter(*boxes: Any, particles_per_cell: float = 8) -> gg.Scene:
    scene = gg.Scene(((-0.2, -0.2, 0.0), (0.2, 0.2, 0.4)))
    for k, (lower, upper) in enumerate(boxes):
        made_of = scene.add_material(density=1000.0, continuum=gg.Elastic(1e5, 0.3), name=f"rubber{k}")
        per_cell = particles_per_cell if k else 8
        scene.add_continuum(made_of, lower, upper, spacing=0.02, particles_per_cell=per_cell)
    return scene


@pytest.mark.parametrize("particles_per_cell", [1, 8, 27])
@pytest.mark.parametrize("aside", [0.0, 0.003, 0.005])
def test_bodies_of_matter_may_touch(aside: float, particles_per_cell: float) -> None:
    boxes = ((-0.1, 0.0, 0.0), (0.0, 0.1, 0.1)), ((0.0, aside, aside), (0.1, 0.1 + aside, 0.1 + aside))
    matter(*boxes, particles_per_cell=particles_per_cell).build(device="cpu").close()


@pytest.mark.parametrize("particles_per_cell", [8, 27])
def test_bodies_of_matter_share_no_space(particles_per_cell: float) -> None:
    boxes = ((-0.1, 0.0, 0.0), (0.0, 0.1, 0.1)), ((-0.015, 0.003, 0.003), (0.085, 0.103, 0.103))
    scene = matter(*boxes, particles_per_cell=particles_per_cell)
    message = refusal(scene)
    assert "particles of 'rubber1' (ids from 1000) in 'rubber0' (ids from 0), the first at (-0.01" in message
    with pytest.warns(gg.OverlapWarning, match="share no space") as caught:
        scene.build(device="cpu", overlaps="warn").close()
    assert caught[0].filename == __file__
    scene.build(device="cpu", overlaps="ignore").close()


def test_a_body_of_matter_added_twice() -> None:
    assert "got 1,000 particles" in refusal(matter(*[((0.0, 0.0, 0.0), (0.1, 0.1, 0.1))] * 2))
