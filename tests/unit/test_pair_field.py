"""Pair fields of planar shapes: against exact distances, folding, files, the published overlay."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.shapes import pair_network
from granular_gym.shapes.pair_field import pack_fields
from granular_gym.shapes.pair_overlay import Overlay, signed_distance
from granular_gym.shapes.pair_table import RECORD

HASH, OCTAGON, LETTER_N = gg.Shape2D.hash(), gg.Shape2D.octagon(0.8), gg.Shape2D.letter("N")
TEE = gg.Shape2D.from_vertices(
    [(-1, 0.6), (-1, 0.2), (-0.2, 0.2), (-0.2, -1), (0.2, -1), (0.2, 0.2), (1, 0.2), (1, 0.6)]
)


def poses(field: gg.PairField, count: int, angles: int = 60, seed: int = 0) -> np.ndarray:
    """Poses all over the reach; few angles, so that exact distances are cheap."""
    rng = np.random.default_rng(seed)
    theta = np.repeat(rng.uniform(-7, 7, angles), count // angles)
    radius, phase = field.reach * np.sqrt(rng.uniform(0, 1, len(theta))), rng.uniform(0, 2 * np.pi, len(theta))
    return np.stack([theta, radius * np.cos(phase), radius * np.sin(phase)], axis=1).astype(np.float32)


@pytest.fixture(scope="module")
def fields():
    pairs = [(OCTAGON, OCTAGON), (HASH, HASH), (LETTER_N, HASH), (OCTAGON, LETTER_N), (TEE, OCTAGON)]
    return [gg.PairField.build(a, b, theta_count=64, count=48, cache=False) for a, b in pairs]


def test_a_field_says_what_is_exact(fields):
    for field in fields:
        at = poses(field, 6000)
        exact, found = gg.exact_distance(field.a, field.b, at), field.query(at)
        size = field.a.circumradius + field.b.circumradius
        near = np.abs(exact.d) < 0.05 * size
        assert near.sum() > 300
        error = np.abs(found.d - exact.d)[near] / size
        assert np.sqrt((error**2).mean()) < 0.004 and error.max() < 0.03, field
        cosine = (found.normal * exact.normal).sum(axis=1)[near]
        assert np.median(np.degrees(np.arccos(np.clip(cosine, -1, 1)))) < 7, field
        assert np.median(np.abs(found.arm_a - exact.arm_a)[near]) < 0.02 * size, field
        assert np.median(np.abs(found.dtheta - exact.dtheta)[near]) < 0.05 * size, field
        assert np.allclose(np.linalg.norm(found.normal, axis=1), 1, atol=1e-5)


def test_finer_tables_are_more_exact_and_cubic_more_than_linear():
    def error(**settings) -> float:
        field = gg.PairField.build(TEE, OCTAGON, cache=False, **settings)
        at = poses(field, 3000)
        return float(np.abs(field.query(at).d - gg.exact_distance(TEE, OCTAGON, at).d).mean())

    coarse, fine = error(theta_count=32, count=24), error(theta_count=64, count=48)
    assert fine < 0.6 * coarse
    assert coarse < 0.9 * error(kind="linear", theta_count=32, count=24)


def test_both_shapes_symmetries_are_folded(fields):
    sizes = [field.nbytes for field in fields]
    assert sizes[0] < sizes[1] < sizes[2] / 1.5
    for field in fields:
        at = poses(field, 600)
        base = field.query(at)
        # B turned onto itself
        turned = at.copy()
        turned[:, 0] += 2 * np.pi / field.b.symmetry
        assert np.allclose(field.query(turned).d, base.d, atol=2e-5)
        # A turned onto itself: B turns with it
        quarter = int(field.record["fold_a"])
        if quarter == 1:
            continue
        angle = 2 * np.pi / quarter
        c, s = np.cos(angle), np.sin(angle)
        turn = np.array([[c, s], [-s, c]])
        turned = np.concatenate([at[:, :1] + angle, at[:, 1:] @ turn], axis=1)
        found = field.query(turned)
        assert np.allclose(found.d, base.d, atol=2e-5)
        assert np.median(np.abs(found.normal - base.normal @ turn)) < 1e-4
        assert np.median(np.abs(found.arm_a - base.arm_a)) < 1e-4


def test_faces_that_meet_lie_on_nodes():
    tilted = gg.Shape2D.from_vertices(gg.Shape2D.block(2, 0.4).vertices @ np.array([[0.8, 0.6], [-0.6, 0.8]]))
    block = gg.Shape2D.block(2, 0.4)
    field = gg.PairField.build(block, tilted, theta_count=32, count=64, cache=False)
    # face on face: the angle that undoes the tilt
    angle = -np.arctan2(0.6, 0.8)
    for angle_off, most in ((0.0, 1e-3), (0.03, 0.05)):
        at = np.array([[angle + angle_off, x, 0.4 + 0.02] for x in np.linspace(-0.5, 0.5, 21)])
        error = np.abs(field.query(at).d - gg.exact_distance(block, tilted, at).d)
        assert error.max() < most
    arms = field.query(np.array([[angle, 0.3, 0.41]]))
    assert arms.arm_a[0] == pytest.approx(0.2, abs=2e-3) and arms.normal[0] == pytest.approx([0, 1], abs=1e-3)


def test_beyond_the_reach_distances_go_on(fields):
    """Along the gradient at its edge: of convex shapes exact but for the table, of others better than circles."""
    rng = np.random.default_rng(1)
    for field in fields:
        phase, radius = rng.uniform(0, 6.28, 200), field.reach * rng.uniform(1.0001, 1.5, 200)
        at = np.stack([rng.uniform(-3, 3, 200), radius * np.cos(phase), radius * np.sin(phase)], axis=1)
        found, exact = field.query(at).d, gg.exact_distance(field.a, field.b, at).d
        size = field.a.circumradius + field.b.circumradius
        circles = np.abs(radius - size - exact)
        assert (found > 0.0).all()
        assert np.abs(found - exact).mean() < (0.5 * circles.mean() if field.a.name != "octagon" else 0.01 * size)


def test_many_fields_share_a_blob(fields):
    records, blob = pack_fields(fields)
    assert (records["offset"] % 64 == 0).all() and records.dtype == RECORD
    for field, record in zip(fields, records, strict=True):
        moved = dataclasses.replace(field, record=record, blob=blob)
        at = poses(field, 60)
        assert (moved.query(at).d == field.query(at).d).all()


def test_files_are_read_whole_or_refused(tmp_path, fields):
    field, path = fields[3], tmp_path / "field"
    field.save(path)
    again = gg.PairField.load(path, OCTAGON, LETTER_N)
    assert again.record == field.record and (again.blob == field.blob).all() and again.settings == field.settings
    with pytest.raises(gg.StateError, match=r"of # .* and N .*it was built for octagon .* and N"):
        gg.PairField.load(path, HASH, LETTER_N)
    data = path.read_bytes()
    for damaged, said in (
        (data[:-1], "checksum"),
        (data[:20], "cut short"),
        (data[:500] + bytes([data[500] ^ 1]) + data[501:], "checksum"),
        (b"GGSTATE\n" + data[8:], "begins differently"),
        (data[:8] + b"\x09" + data[9:], "version 2, got 9"),
    ):
        path.write_bytes(damaged)
        with pytest.raises(gg.StateError, match=said):
            gg.PairField.load(path, OCTAGON, LETTER_N)


def test_the_cache_gives_the_same_field(tmp_path, monkeypatch):
    monkeypatch.setenv("GRANULAR_GYM_CACHE", str(tmp_path))
    settings = {"theta_count": 16, "count": 16}
    first = gg.PairField.build(OCTAGON, TEE, **settings)
    assert len(list(tmp_path.rglob("*.ggpair"))) == 1
    monkeypatch.setattr("granular_gym.shapes.pair_field.GENERATORS", {"exact": None})
    again = gg.PairField.build(OCTAGON, TEE, **settings)
    assert (again.blob == first.blob).all()
    # other settings are another field, which has to be made
    with pytest.raises(TypeError):
        gg.PairField.build(OCTAGON, TEE, theta_count=16, count=18)


def test_threads_change_no_bit():
    settings = {"theta_count": 16, "count": 16, "cache": False}
    one = gg.PairField.build(HASH, TEE, num_threads=1, **settings)
    two = gg.PairField.build(HASH, TEE, num_threads=2, **settings)
    assert (one.blob == two.blob).all()


def test_the_overlay_is_near_the_exact_distance():
    overlay = Overlay(TEE, TEE)
    inside = np.array([[0.0, 0.0], [0.0, 0.4], [0.9, 0.4]]) + TEE.rings[0][0] - [-1, 0.6]
    assert (signed_distance(TEE, inside) < 0).all()
    rng = np.random.default_rng(0)
    at = np.stack([np.repeat(rng.uniform(-3, 3, 3), 10), *rng.uniform(-1.5, 1.5, (2, 30))], axis=1)
    exact = gg.exact_distance(TEE, TEE, at).d
    near = np.abs(exact) < 0.3
    error = np.array([overlay.distance(*pose)[0] for pose in at])[near] - exact[near]
    # one grid step where the shapes are apart; depths are too small
    assert np.abs(error[exact[near] > 0]).max() < 0.04
    assert np.median(np.abs(error)) < 0.05


@pytest.mark.parametrize(
    "call",
    [
        lambda: gg.PairField.build(HASH, 5),
        lambda: gg.PairField.build(HASH, HASH, kind="quartic"),
        lambda: gg.PairField.build(HASH, HASH, count=33),
        lambda: gg.PairField.build(HASH, HASH, theta_count=0),
        lambda: gg.PairField.build(HASH, HASH, margin=-1.0),
        lambda: gg.PairField.build(HASH, HASH, generator="guess"),
        lambda: gg.exact_distance(HASH, HASH, [[0, 0]]),
        lambda: gg.exact_distance(HASH, HASH, [[0, 0, np.nan]]),
    ],
)
def test_bad_arguments_are_refused(call):
    with pytest.raises(gg.ArgumentError):
        call()


@pytest.mark.torch
@pytest.mark.parametrize(("folded", "activation"), [(True, "sine"), (False, "relu")])
def test_the_engine_runs_a_network_as_torch_does(folded, activation, monkeypatch):
    torch = pytest.importorskip("torch")
    trained = []
    plain = pair_network.Plan._network
    monkeypatch.setattr(pair_network.Plan, "_network", lambda *given: trained.append(plain(*given)) or trained[-1])
    settings = {"layers": 2, "width": 32, "folded": folded, "activation": activation}
    field = gg.PairField.train(HASH, OCTAGON, samples=20_000, iterations=150, cache=False, **settings)
    plan = pair_network.Plan.make(HASH, OCTAGON, 2, 32, folded, activation, 20_000, 150, None, 0)
    at = poses(field, 600)
    inputs = torch.tensor(plan.inputs(at.astype(np.float64)), dtype=torch.float32)
    wanted = [plan._forward(torch, net, inputs).detach().numpy() * plan.scale for net in trained]
    found = field.query(at)
    assert np.allclose(found.d, wanted[0], atol=2e-5) and np.allclose(found.arm_a, wanted[1], atol=2e-5)
    if not folded:
        return  # networks with the angle as input need thousands of iterations: docs/pair_fields.md
    # better than the mean of the samples
    exact = gg.exact_distance(HASH, OCTAGON, at).d
    near = np.abs(exact) < 0.09
    assert np.sqrt(((found.d - exact)[near] ** 2).mean()) < 0.75 * exact[near].std()


@pytest.mark.parametrize("bad", [{"width": 40}, {"layers": 9}, {"activation": "tanh"}, {"samples": 10}, {"folded": 1}])
def test_bad_networks_are_refused(bad):
    with pytest.raises(gg.ArgumentError, match=next(iter(bad))):
        gg.PairField.train(HASH, OCTAGON, **bad)
