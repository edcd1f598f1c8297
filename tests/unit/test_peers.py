"""Other engines beside this one: one that is missing is named, and what is measured of grains and flows is right."""

from __future__ import annotations

import sys

import numpy as np
import pytest

import granular_gym as gg
from benchmarks import peers, peers_worker
from testbed.beds import DIAMETER, RADIUS, lattice
from validation import beside, bulk

START = np.array([[0.0, 0.0, RADIUS], [0.0, 0.0, 3.2 * RADIUS]])


def test_a_missing_engine_is_named_with_its_package(monkeypatch):
    absent = peers_worker.Peer("no-such-engine", "no_such_engine", "", lambda x, w: None)
    monkeypatch.setitem(peers_worker.PEERS, "absent", absent)
    monkeypatch.setattr(sys, "argv", ["peers_worker.py", "absent", "start.npy", "0.1", "1"])
    answer = type("", (), {"returncode": 0, "stdout": '{"missing": "no-such-engine"}', "stderr": ""})()
    monkeypatch.setattr(peers.subprocess, "run", lambda *_, **__: answer)
    with pytest.raises(
        peers.MissingPeerError, match=r"absent: expected the package no-such-engine in python3"
    ) as caught:
        peers.run("absent", START, 0.1, "python3", 1.0)
    assert isinstance(caught.value, gg.GranularError) and isinstance(caught.value, ImportError)


def test_a_worker_says_which_package_is_missing(monkeypatch, capsys):
    absent = peers_worker.Peer("no-such-engine", "no_such_engine", "", lambda x, w: None)
    monkeypatch.setitem(peers_worker.PEERS, "absent", absent)
    monkeypatch.setattr(sys, "argv", ["peers_worker.py", "absent", "start.npy", "0.1", "1"])
    monkeypatch.setattr(sys, "path", list(sys.path))
    peers_worker.main()
    assert capsys.readouterr().out == '{"missing": "no-such-engine"}\n'


def test_this_engine_is_a_peer_like_the_others():
    half = 4.0 * DIAMETER
    row = peers.run("granular_gym_2ms", lattice(100, 4.0), half, sys.executable, 60.0)
    assert row["grains"] == 100 and row["simulated_s"] == pytest.approx(0.8)
    # two layers lie on the floor
    assert 0.5 < row["mean_height_d"] < 1.5 and row["overlap_max_pct"] < 0.1
    assert row["fall_grain_s_per_cpu_s"] == pytest.approx(100 * row["fall_sim_per_cpu"])


def test_a_phase_ends_with_its_budget():
    row = peers_worker.run("granular_gym", START, 0.1, 0.0)
    assert row["simulated_s"] < 0.1


@pytest.mark.parametrize("apart, mean", [(1.1, 0.0), (0.98, 2.0)])
def test_overlaps_are_shares_of_a_diameter(apart, mean):
    rng = np.random.default_rng(0)
    # pairs far from each other, in any direction
    first = np.stack(np.meshgrid(*[np.arange(4.0)] * 3), axis=-1).reshape(-1, 3) * 5.0
    direction = rng.normal(size=first.shape)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    x = np.concatenate([first, first + apart * direction]) * DIAMETER
    found = peers_worker.overlaps(x, DIAMETER)
    assert found["overlap_mean_pct"] == pytest.approx(mean, abs=1e-9)
    assert found["overlap_max_pct"] == pytest.approx(mean, abs=1e-9)
    assert found["contacts_per_grain"] == (1.0 if mean else 0.0)


def test_contacts_are_those_of_the_tree_search():
    x = np.random.default_rng(1).uniform(0.0, 8.0 * DIAMETER, (400, 3))
    pairs = bulk.contacts(x, 1e-4)
    assert peers_worker.overlaps(x, DIAMETER)["contacts_per_grain"] == pytest.approx(2.0 * len(pairs) / 400)


def test_measures_of_flows():
    times = np.linspace(0.0, 1.0, 51)
    # slower until the flow is steady
    left = np.where(times < beside.STEADY, 1000.0 - 50.0 * times, 1000.0 - 300.0 * times)
    assert beside.rate(times, left) == pytest.approx(300.0)
    deposit = beside.deposit(np.array([4.0, 4.0, 4.0, 4.0, 4.0, 0.0]))
    assert deposit["half"] == pytest.approx(2.5) and deposit["most"] == pytest.approx(4.5) and deposit["height"] == 4.0
    frames = [np.array([[0.0, 0.0, 0.01], [0.0, 0.0, -1.9 * DIAMETER], [0.0, 0.0, -2.1 * DIAMETER]])]
    assert beside.above_slit(frames) == [2]
