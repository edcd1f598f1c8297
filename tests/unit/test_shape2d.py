"""Planar shapes: areas and moments against closed forms, symmetry, convex pieces, SVG paths, invalid arguments."""

from __future__ import annotations

import math

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.shapes import outlines

SQUARE = [(0, 0), (2, 0), (2, 2), (0, 2)]


def built_in() -> list[gg.Shape2D]:
    shapes = [gg.Shape2D.letter(letter) for letter in outlines.LETTERS]
    shapes += [gg.Shape2D.hash(), gg.Shape2D.octagon(), gg.Shape2D.heart(), gg.Shape2D.chain_link()]
    return [*shapes, gg.Shape2D.block(2, 0.5), *(gg.Shape2D.arc(closure) for closure in (0.25, 0.5, 0.75, 1.0))]


def test_moments_of_known_shapes():
    block = gg.Shape2D.block(2.0, 0.5)
    assert block.area == pytest.approx(1.0) and block.inertia == pytest.approx((4 + 0.25) / 12)
    assert block.circumradius == pytest.approx(math.hypot(1, 0.25)) and block.symmetry == 2
    # a square with an eccentric square hole
    frame = gg.Shape2D.from_vertices(SQUARE, [[(1, 0.5), (1.5, 0.5), (1.5, 1), (1, 1)]])
    center = (4 * np.array([1, 1]) - 0.25 * np.array([1.25, 0.75])) / 3.75
    assert frame.area == pytest.approx(3.75)
    assert np.allclose(frame.rings[0][0], -center)
    offset = [float(np.sum((np.array(p) - center) ** 2)) for p in ((1, 1), (1.25, 0.75))]
    assert frame.inertia == pytest.approx(4 * (8 / 12 + offset[0]) - 0.25 * (0.5 / 12 + offset[1]))
    octagon = gg.Shape2D.octagon(3.0)
    assert octagon.area == pytest.approx(2 * math.sqrt(2) * 9) and octagon.circumradius == pytest.approx(3.0)
    ring = gg.Shape2D.arc(1.0, 1.0, 0.25)
    assert ring.area == pytest.approx(16 * math.sin(math.pi / 16) * (1 - 0.75**2))


def test_every_built_in_shape_is_sound():
    for shape in built_in():
        vertices = shape.vertices
        piece, piece_end = shape.pieces
        area, moment = 0.0, np.zeros(2)
        for index in np.split(piece, piece_end[:-1]):
            x, y = vertices[index].T
            cross = x * np.roll(y, -1) - np.roll(x, -1) * y
            area += 0.5 * cross.sum()
            moment += [(cross * (x + np.roll(x, -1))).sum() / 6, (cross * (y + np.roll(y, -1))).sum() / 6]
            ex, ey = np.roll(x, -1) - x, np.roll(y, -1) - y
            assert (ex * np.roll(ey, -1) - ey * np.roll(ex, -1)).min() > -1e-9, shape
        assert area == pytest.approx(shape.area, rel=1e-9), shape
        assert np.abs(moment).max() < 1e-9 * shape.area, shape
        if not shape.name.startswith("arc") and shape.name != "block":
            assert shape.circumradius == pytest.approx(1.0)


def test_symmetry_is_found():
    order = {shape.name: shape.symmetry for shape in built_in()}
    assert [order[name] for name in ("#", "octagon", "block", "O", "arc 100 %")] == [4, 8, 2, 4, 32]
    assert [order[name] for name in "HINSXZ"] == [2] * 6
    assert [order[name] for name in "ABCDEFGJKLMPQRTUVWY"] == [1] * 19
    assert gg.Shape2D.regular(5).symmetry == 5
    # its vertices fall on each other at twice as many angles as its teeth do
    for teeth in (2, 3, 4, 6):
        turns = np.pi / teeth * np.array([[k, k + 1, k + 1, k + 2] for k in range(0, 2 * teeth, 2)])
        ring = np.array([1.0, 1.0, 0.6, 0.6])[:, None] * np.stack([np.cos(turns), np.sin(turns)], axis=-1)
        assert gg.Shape2D.from_vertices(ring.reshape(-1, 2)).symmetry == teeth


def test_svg_paths():
    # relative and absolute commands, shorthand curves, flags without separators; y points down in SVG
    square = gg.Shape2D.from_svg("M0,0 h2 v2 h-2z", scale=0.5)
    assert square.area == pytest.approx(1.0) and square.symmetry == 4
    same = gg.Shape2D.from_svg("m 0 0 L 2 0 2 2 H0 Z")
    assert same.area == pytest.approx(4.0)
    disc = gg.Shape2D.from_svg("M1 0a1 1 0 11-2 0 1 1 0 012 0z", tolerance=1e-4)
    assert disc.area == pytest.approx(math.pi, rel=3e-4) and disc.area < math.pi
    # area under a cubic and its mirrored continuation, by the integral of x dy
    wave = gg.Shape2D.from_svg("M0 0 C1 -1 2 -1 3 0 S5 1 6 0 V3 H0 Z", tolerance=1e-4)
    assert wave.area == pytest.approx(18.0, rel=1e-4)
    bowl = gg.Shape2D.from_svg("M0 0 Q1 2 2 0 T4 0 V-2 H0 Z", tolerance=1e-4)
    assert bowl.area == pytest.approx(8.0, rel=1e-4)
    upright = gg.Shape2D.from_svg("M0 0 H1 V5 H0 Z M0.2 0.2 V0.4 H0.8 V0.2 Z")
    # the hole is near the top: the centre of mass is below the middle
    assert upright.rings[1][:, 1].mean() > 0


@pytest.mark.parametrize(
    ("outer", "holes", "said"),
    [
        (SQUARE[::-1], [], "counter-clockwise.*area -4 m2"),
        ([(0, 0), (3, 0), (0, 2), (2, 3)], [], "edge 1 .* and edge 3 .*cross or touch"),
        ([(0, 0), (2, 0), (2, 2), (1, 0), (0, 2)], [], "cross or touch"),
        ([*SQUARE, (0, 0)], [], "0 and 4 are both.*closes by itself"),
        ([(0, 0), (1, 0), (1, 0), (0, 1)], [], "1 and 2 are both"),
        ([(0, 0), (1, 0), (2, 0), (3, 1e-9)], [], "with an area"),
        ([(0, 0), (2, 0), (2, 2), (3, 3), (2.5, 2.5), (0, 2)], [], "overlap|cross or touch"),
        ([(0, 0), (1, math.nan), (0, 1)], [], "finite.*vertex 1"),
        ([(0, 0), (1, 1e300), (0, 1)], [], "finite.*vertex 1"),
        ([(0, 0), (1, 0)], [], "shape"),
        ("abc", [], "vertices"),
        ([(math.cos(a), math.sin(a)) for a in np.linspace(0, 6.28, 600)], [], "at most 512 vertices.*600"),
        (SQUARE, [[(3, 3), (4, 3), (4, 4)]], "holes.0.*inside the outer"),
        (SQUARE, [[(1, 1), (3, 1), (1, 1.5)]], "cross or touch"),
        (SQUARE, [[(0.2, 0.2), (1.8, 0.2), (1, 1.8)], [(0.9, 0.5), (1.1, 0.5), (1, 0.7)]], "lies within holes.0"),
    ],
)
def test_bad_outlines_are_refused_with_the_numbers(outer, holes, said):
    with pytest.raises(gg.ArgumentError, match=said):
        gg.Shape2D.from_vertices(outer, holes)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("M0 0 L1 0 L1 1", "number 0 is open: its ends are 1.41421 apart"),
        ("L1 0 Z", "M first"),
        ("M0 0 L1", "2 numbers after L, got 1"),
        ("M0 0 L1 0 L1 1 Z 5", "a command at character 16"),
        ("M0 0 X", "2 numbers|a command"),
        ("", "at least one closed subpath"),
        (5, "path: expected an SVG path"),
    ],
)
def test_bad_paths_are_refused(path, said):
    with pytest.raises(gg.ArgumentError, match=said):
        gg.Shape2D.from_svg(path)


def test_bad_sizes_are_refused():
    for call in (
        lambda: gg.Shape2D.letter("a"),
        lambda: gg.Shape2D.arc(1.5),
        lambda: gg.Shape2D.arc(0.5, 1.0, 1.0),
        lambda: gg.Shape2D.block(0, 1),
        lambda: gg.Shape2D.octagon(math.inf),
        lambda: gg.Shape2D.regular(2),
    ):
        with pytest.raises(gg.ArgumentError):
            call()


def test_ends_of_rings_beyond_the_vertices_are_refused():
    """Also where their sums would wrap around in 32 bits."""
    vertices = np.array([[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0], [0.2, 0.5]])
    for ends in ([2147483646, -2147483600, 5], [6], [3, 5], [-1, 5]):
        with pytest.raises(gg.ArgumentError, match="ring_end: expected"):
            _core.polygon_split(vertices, np.array(ends, np.int32))
