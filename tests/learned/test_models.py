"""Learned simulators: what holds for any weights (action and reaction, symmetries, pair laws), the search of
neighbours, and what a discrete element learner finds from pairs that collide by a known law."""

from __future__ import annotations

import math
import sys
from dataclasses import fields, is_dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import granular_gym as gg

torch = pytest.importorskip("torch", reason="torch is not installed")

from granular_gym.learned import models  # noqa: E402
from granular_gym.learned.discrete_element import DiscreteElementLearner  # noqa: E402
from granular_gym.learned.graph import find_pairs  # noqa: E402
from granular_gym.learned.kernels import BOND_REACH, REACH  # noqa: E402
from granular_gym.learned.law import WALL  # noqa: E402
from granular_gym.learned.rollout import rollout  # noqa: E402
from granular_gym.learned.settings import Settings  # noqa: E402
from granular_gym.learned.simulator import Matter, Scale, State  # noqa: E402
from granular_gym.learned.train import Trainer  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
import made_matter as made  # noqa: E402
from made_matter import RADIUS, SCALE, bed, wake  # noqa: E402

LEARNERS = [name for name, each in models.MODELS.items() if each.learns]


@pytest.fixture(autouse=True)
def one_thread() -> None:
    torch.set_num_threads(1)


def woken(name: str, scale: Scale = SCALE, **options: object) -> torch.nn.Module:
    torch.manual_seed(1)
    return wake(models.make(name, scale, **options))


def moved(state: State, matrix: torch.Tensor, shift: torch.Tensor) -> State:
    return State(state.positions @ matrix.T + shift, state.velocities @ matrix.T)


def doubled(value: Any) -> Any:
    """A tensor, or what is made of some, in double precision."""
    if isinstance(value, torch.Tensor):
        return value.double() if value.is_floating_point() else value
    if is_dataclass(value):
        return replace(value, **{field.name: doubled(getattr(value, field.name)) for field in fields(value)})
    return value


def difference(one: State, two: State) -> float:
    """Largest distance of positions in radii."""
    return float((one.positions - two.positions).detach().abs().max()) / RADIUS


# ---- what holds for any weights ----


def test_internal_forces_sum_to_zero() -> None:
    state, matter = bed()
    model = woken("del")
    forces = model.internal_forces(state, matter).detach()
    unit = float(forces.abs().max())
    assert unit > 0.1 * model.unit_force, "the test needs forces"
    assert float(forces.sum(1).abs().max()) < 1e-5 * unit * matter.kinds.shape[1]
    assert float(forces.sum(1).abs().max()) < 1e-5 * model.unit_force * 10


def test_without_decomposition_they_do_not() -> None:
    state, matter = bed()
    model = woken("del", decomposition=False)
    with torch.no_grad():
        total, normal = model.accelerations(state, replace(matter, bounds=torch.tensor([[-9.0] * 3, [9.0] * 3])))
        weight = model.free.masses()[matter.kinds][..., None]
    assert normal is None and float((total * weight).sum(1).abs().max()) > 1e-2
    with pytest.raises(gg.ArgumentError, match=r"^decomposition: expected True"):
        model.pair_law(0, 0)


@pytest.mark.parametrize("name", LEARNERS)
def test_symmetries(name: str) -> None:
    state, matter = bed()
    model = woken(name)
    after = model.step(state, matter)
    rest = State(state.positions + state.velocities * SCALE.dt, state.velocities)
    assert difference(after, rest) > 0.05, "the test needs motion beyond that of a free flight"
    # a shift along the floor; far walls see another distance, which is clipped
    shift, still = torch.tensor([0.3, -0.2, 0.0]), torch.eye(3)
    # bits of positions are coarser there: no more than the rounding of positions
    assert difference(model.step(moved(state, still, shift), matter), moved(after, still, shift)) < 5e-5
    angle = 0.7
    turn = torch.tensor(
        [[math.cos(angle), -math.sin(angle), 0.0], [math.sin(angle), math.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    )
    turned = difference(model.step(moved(state, turn, torch.zeros(3)), matter), moved(after, turn, torch.zeros(3)))
    # the network without symmetry shows that the test can fail
    assert turned > 1e-3 if name == "gns" else turned < 1e-5
    model, state, matter, still, shift = model.double(), *map(doubled, (state, matter, still, shift))
    after = model.step(state, matter)
    assert difference(model.step(moved(state, still, shift), matter), moved(after, still, shift)) < 1e-12


@pytest.mark.parametrize("name", LEARNERS)
def test_order_and_batch_do_not_matter(name: str) -> None:
    state, matter = bed()
    model = woken(name)
    after = model.step(state, matter)
    count = matter.kinds.shape[1]
    order = torch.randperm(count, generator=torch.Generator().manual_seed(2))
    place = torch.argsort(order)
    bonds = place[matter.bonds % count] + matter.bonds // count * count
    mixed = replace(matter, kinds=matter.kinds[:, order], bodies=matter.bodies[:, order], bonds=bonds)
    again = model.step(State(state.positions[:, order], state.velocities[:, order]), mixed)
    assert difference(again, State(after.positions[:, order], after.velocities[:, order])) < 1e-5
    # the second of the batch alone
    own = matter.bonds[:, 0] >= count
    alone = replace(
        matter,
        kinds=matter.kinds[1:],
        bodies=matter.bodies[1:],
        bonds=matter.bonds[own] - count,
        rest_lengths=matter.rest_lengths[own],
    )
    single = model.step(State(state.positions[1:], state.velocities[1:]), alone)
    assert difference(single, State(after.positions[1:], after.velocities[1:])) < 1e-5


@pytest.mark.parametrize("name", LEARNERS)
def test_an_untrained_model_falls_and_stays_bounded(name: str) -> None:
    state, matter = bed()
    torch.manual_seed(0)
    model = models.make(name, SCALE)
    quiet, _ = model.accelerations(state, matter)
    assert 0.0 < float(quiet.detach().abs().max()) < 0.5
    crushed = State(0.05 * state.positions, 100.0 * state.velocities)
    wild, _ = woken(name).accelerations(crushed, matter)
    assert bool(torch.isfinite(wild).all())
    # of a discrete element learner each encounter is bounded, of the networks each particle
    most = 3 * SCALE.largest * (matter.kinds.shape[1] if name == "del" else 1)
    assert float(wild.detach().abs().max()) <= most


def test_a_ballistic_particle_stops_at_walls() -> None:
    _, matter = bed(8, 1)
    state = State(torch.zeros(1, 8, 3) + torch.tensor([0.0, 0.0, 0.03]), torch.zeros(1, 8, 3))
    model = models.make("ballistic", SCALE)
    for _ in range(20):
        state = model.step(state, matter)
    assert torch.allclose(state.positions[..., 2], torch.tensor(RADIUS), atol=1e-6)
    assert float(state.velocities.abs().max()) < 1e-4


# ---- neighbours ----


@pytest.mark.parametrize("seed", range(3))
def test_cells_find_what_all_distances_find(seed: int) -> None:
    positions = torch.rand(3, 150, 3, generator=torch.Generator().manual_seed(seed)) * torch.tensor([0.5, 0.3, 0.1])
    cutoff = 2.5 * RADIUS
    pairs = find_pairs(positions, cutoff, dense=True)
    flat = positions.reshape(-1, 3).double()
    gaps = (flat[:, None] - flat[None]).norm(dim=-1)
    same = torch.arange(450)[:, None] // 150 == torch.arange(450)[None] // 150
    brute = ((gaps < cutoff) & same).triu(1).nonzero().T
    assert pairs.shape[1] > 200
    assert torch.equal(pairs, brute) and torch.equal(pairs, find_pairs(positions, cutoff, dense=False))
    bonds = pairs[:, ::7].T.contiguous()
    without = {tuple(each) for each in find_pairs(positions, cutoff, bonds).T.tolist()}
    assert without == {tuple(each) for each in pairs.T.tolist()} - {tuple(each) for each in bonds.tolist()}


def test_states_without_numbers_have_no_neighbours() -> None:
    positions = torch.full((1, 4, 3), math.nan)
    assert find_pairs(positions, 1.0, dense=True).shape == find_pairs(positions, 1.0, dense=False).shape == (2, 0)


# ---- pair laws ----


@pytest.mark.parametrize("bonded", [False, True])
def test_a_pair_law_is_what_a_step_does(bonded: bool) -> None:
    model = woken("del")
    kinds, rest = (0, 1), 2.2 * RADIUS if bonded else 2.0 * RADIUS
    gap, separation, slide = -0.2 * RADIUS, -0.4, 0.3
    positions = torch.tensor([[[0.0, 0.0, 1.0], [0.0, rest + gap, 1.0]]])
    velocities = torch.tensor([[[0.0, 0.0, 0.0], [slide, separation, 0.0]]])
    matter = Matter(
        torch.tensor(kinds),
        torch.tensor([-1, -1]),
        torch.tensor([[0, 1]]) if bonded else torch.zeros(0, 2, dtype=torch.long),
        torch.tensor([rest]) if bonded else torch.zeros(0),
        RADIUS,
        torch.zeros(3),
        torch.tensor([[-9.0] * 3, [9.0] * 3]),
    )
    after = model.step(State(positions, velocities), matter)
    change = ((after.velocities - velocities)[0] / SCALE.dt).detach().numpy() * model.masses()[:, None]
    elastic, dissipative, tangential = model.pair_law(*kinds, bonded)(gap, separation, slide)
    assert abs(elastic + dissipative) > 0.05 and dissipative != 0.0 and tangential > 0.05
    assert change[1] == pytest.approx([-tangential, elastic + dissipative, 0.0], abs=2e-3 * abs(change).max())
    assert change[0] == pytest.approx(-change[1], abs=1e-4 * abs(change).max())
    assert model.pair_law(1, 0, bonded)(gap, separation, slide) == (elastic, dissipative, tangential), "symmetric"


def test_a_pair_law_of_a_wall_is_what_a_step_does() -> None:
    model = woken("del")
    _, matter = bed(4, 1)
    none = {"bonds": matter.bonds[:0], "rest_lengths": matter.rest_lengths[:0], "gravity": torch.zeros(3)}
    matter = replace(matter, kinds=torch.tensor([1]), bodies=torch.tensor([-1]), **none)
    state = State(torch.tensor([[[0.0, 0.0, 0.9 * RADIUS]]]), torch.tensor([[[0.2, 0.0, -0.5]]]))
    change = (model.step(state, matter).velocities - state.velocities)[0, 0] / SCALE.dt * model.masses()[1]
    elastic, dissipative, tangential = model.pair_law(1, WALL)(-0.1 * RADIUS, -0.5, 0.2)
    assert change.detach().numpy() == pytest.approx([-tangential, 0.0, elastic + dissipative], rel=1e-3, abs=1e-4)


def test_what_a_pair_law_promises() -> None:
    model = woken("del")
    gap = np.linspace(-2.0, 3.0, 301) * RADIUS
    for bonded, end in ((False, REACH), (True, BOND_REACH)):
        law = model.pair_law(0, 1, bonded)
        elastic, dissipative, tangential = law(gap[:, None], np.array([[-0.5, 0.0, 0.5]]), 0.3)
        assert elastic.shape == (301, 3) and np.isfinite(elastic).all() and (tangential >= 0.0).all()
        assert not dissipative[:, 1].any(), "at rest there is no dissipation"
        for each in (elastic, dissipative, tangential):
            assert not each[gap >= end * RADIUS + 1e-9].any(), "beyond its reach"
        assert model.reach(bonded) == pytest.approx(end * RADIUS)
        assert not law(gap, 0.0, 0.0)[2].any(), "without sliding no friction"
    assert (model.pair_law(0, 1)(gap, 0.3, 0.1)[0] >= 0.0).all(), "contacts repel"
    for wrong in ((2, 0), (0, 2), (-1, 0), (0, -2)):
        with pytest.raises(gg.ArgumentError, match=r"^kind_[ab]: expected a kind in"):
            model.pair_law(*wrong)
    with pytest.raises(gg.ArgumentError, match=r"^bonded: expected False for a wall"):
        model.pair_law(0, WALL, True)


def test_without_tangential_forces_there_are_none() -> None:
    model = woken("del", tangential=False)
    assert not model.pair_law(0, 0)(-0.1 * RADIUS, 0.0, 1.0)[2].any()
    state, matter = bed()
    total, normal = model.accelerations(state, matter)
    assert torch.equal(total, normal)


def test_bad_input() -> None:
    state, matter = bed(8, 1)
    model = models.make("del", SCALE)
    with pytest.raises(
        gg.ArgumentError, match=r"^positions: expected the shape \(1, 8, 3\) of the matter, got \(1, 7, 3\)"
    ):
        model.step(State(state.positions[:, :7], state.velocities), matter)
    with pytest.raises(gg.ArgumentError, match=r"^radius: expected 0.03 m"):
        models.make("del", Scale(0.01, 0.03, 2)).step(state, matter)
    with pytest.raises(gg.ArgumentError, match=r"^kinds: expected 0 \.\. 1, which the model knows, got . \.\. 5"):
        model.step(state, replace(matter, kinds=matter.kinds * 0 + 5))
    with pytest.raises(gg.ArgumentError, match=r"^bonds: expected ids in 0 \.\. 7, got 0 \.\. 9"):
        replace(matter, bonds=torch.tensor([[0, 9]]), rest_lengths=torch.ones(1))
    with pytest.raises(gg.ArgumentError, match=r"^rest_lengths: expected a length for each of 3 bonds, got 1"):
        replace(matter, rest_lengths=torch.ones(1))
    with pytest.raises(gg.ArgumentError, match=r"^model: expected one of .*got 'engn'; did you mean 'egnn'"):
        models.make("engn", SCALE)
    with pytest.raises(gg.ArgumentError, match=r"^options: expected .*got 'widht'; did you mean 'width'"):
        models.make("del", SCALE, widht=3)


# ---- substeps ----


@pytest.mark.parametrize("name", models.MODELS)
def test_substeps_are_frames_of_a_shorter_time(name: str) -> None:
    """Units do not depend on the frame, so that the same weights step through it in parts."""
    state, matter = bed()
    with torch.no_grad():
        often = woken(name, replace(SCALE, dt=SCALE.dt / 3))
        after = often.step(often.step(often.step(state, matter), matter), matter)
        whole = woken(name, replace(SCALE, substeps=3))
        assert difference(whole.step(state, matter), after) < 1e-6
        parts = whole.substep(whole.substep(whole.substep(state, matter), matter), matter)
        assert difference(whole.step(state, matter), parts) == 0.0
    assert replace(SCALE, substeps=3).largest == pytest.approx(9.0 * SCALE.largest)


def test_where_normal_forces_alone_bring_particles_in_substeps() -> None:
    """Without other forces it is where the particles are."""
    state, matter = bed()
    for options, same in (({"tangential": False}, True), ({}, False)):
        after, via_normal = woken("del", replace(SCALE, substeps=3), **options).advance(state, matter)
        assert via_normal is not None and torch.equal(via_normal, after.positions) == same


# ---- learning a known law ----


def test_the_contact_curve_of_a_known_law_is_found(tmp_path: Path) -> None:
    data = made.Dataset(made.pairs(6), made.pairs(1, seed=9), dt=made.PAIR_DT, gravity=(0.0, 0.0, 0.0))
    settings = Settings(
        supervision="tracks",
        substeps=1,
        iterations=300,
        batch=2,
        horizon=(8, 12),
        learning_rate=1e-2,
        decay=0.7,
        decay_every=50,
        options={"width": 32},
    )
    trainer = Trainer.begin(tmp_path, data, settings, progress=False)
    assert trainer.run() and trainer.diverged == 0
    model = trainer.simulator
    assert isinstance(model, DiscreteElementLearner)
    law, mass = model.pair_law(0, 0), model.masses()[0]
    # overlaps and velocities that collisions of the data have
    gap, velocity = np.meshgrid(np.linspace(-0.35, 0.4, 40) * RADIUS, np.linspace(-1.0, 0.8, 10))
    elastic, dissipative, _ = law(gap, velocity, 0.0)
    curve = law(gap[0], 0.0, 0.0)[0]

    def r2(found: np.ndarray, true: np.ndarray) -> float:
        return 1.0 - float(((found - true) ** 2).sum() / ((true - true.mean()) ** 2).sum())

    assert r2(curve / mass, made.true_acceleration(gap[0], 0.0)) > 0.98
    assert r2((elastic + dissipative) / mass, made.true_acceleration(gap, velocity)) > 0.97
    # and an unseen episode is foretold: far better than free flight
    episode = data.test[0]
    error = np.square(rollout(model, data, episode).positions - episode.positions).sum(-1).mean()
    free = episode.positions[0] + episode.velocities[0] * (made.PAIR_DT * np.arange(25))[:, None, None]
    assert error < 0.01 * np.square(free - episode.positions).sum(-1).mean()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU")
@pytest.mark.parametrize("name", LEARNERS)
def test_a_gpu_steps_as_the_cpu_does(name: str) -> None:
    state, matter = bed()
    model = woken(name)
    after = model.step(state, matter)
    arrays = ("kinds", "bodies", "bonds", "rest_lengths", "gravity", "bounds")
    there = replace(matter, **{each: getattr(matter, each).cuda() for each in arrays})
    found = model.cuda().step(State(state.positions.cuda(), state.velocities.cuda()), there)
    assert difference(State(found.positions.cpu(), found.velocities.cpu()), after) < 1e-4
