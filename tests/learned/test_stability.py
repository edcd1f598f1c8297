"""The stability term: it is what the table of a law says of its longest step, and training on it makes steps stable."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="torch is not installed")

from granular_gym.engine.pair_table import WALL  # noqa: E402
from granular_gym.learned.baselines import Equivariant  # noqa: E402
from granular_gym.learned.discrete_element import DiscreteElementLearner  # noqa: E402
from granular_gym.learned.export import export_model  # noqa: E402
from granular_gym.learned.stability import shares  # noqa: E402

sys.path.insert(0, str(Path(__file__).parent))
from made_matter import SCALE, wake  # noqa: E402

Note = Callable[..., None]
#: pairs of kinds, bonded or not
PAIRS = ((0, 0, False), (0, 1, False), (1, WALL, False), (1, 1, True))


@pytest.fixture
def model() -> Any:
    """One that has learned nothing, acts, and weighs kind 1 half again as much."""
    torch.manual_seed(1)
    torch.set_num_threads(1)
    made = wake(DiscreteElementLearner(SCALE, width=16), 3)
    with torch.no_grad():
        made.kernels.masses.logarithms[1] = 0.4
    return made.double()


def steps(model: Any) -> tuple[float, float]:
    """The longest stable and the longest calm step of its table, of all pairs [s]."""
    law = export_model(model, bonded=[(0, 0), (0, 1), (1, 1)], tolerance=0.02).table
    return law.longest_step(law.masses), law.calm_step(law.masses)


@pytest.mark.parametrize(("kind", "other", "bonded"), PAIRS)
def test_shares_are_those_of_the_law(model: Any, kind: int, other: int, bonded: bool) -> None:
    """Slopes by central differences of the law in SI units, and the effective mass."""
    law, masses = model.pair_law(kind, other, bonded), model.masses()
    rng, scale, count = np.random.default_rng(0), SCALE, 200
    gap = rng.uniform(-1.0, 0.4, count) * scale.radius
    velocity, sliding = rng.uniform(-2.0, 2.0, count), rng.uniform(0.0, 2.0, count)
    small = 1e-6

    def force(gap: Any, velocity: Any) -> Any:
        elastic, dissipative, _ = law(gap, velocity, sliding)
        return elastic + dissipative

    stiffness = -(force(gap + small, velocity) - force(gap - small, velocity)) / (2 * small)
    damping = -(force(gap, velocity + small) - force(gap, velocity - small)) / (2 * small)
    inverse, dt = 1.0 / masses[kind] + (0.0 if other == WALL else 1.0 / masses[other]), scale.step
    expected = (np.maximum(stiffness, 0.0) * dt + 2.0 * np.maximum(damping, 0.0)) * dt * inverse / 4.0
    code = kind * (scale.kinds + 1) + (scale.kinds if other == WALL else other)
    units = ((gap, scale.radius), (velocity, scale.speed), (sliding, scale.speed))
    inputs = [torch.as_tensor(each / unit) for each, unit in units]
    bonds = slice(0, count if bonded else 0)
    found = shares(model.kernels, scale, torch.full((count,), code), *inputs, bonds).detach().numpy()
    assert expected.max() > 0.01
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6 * expected.max())


@pytest.mark.parametrize(("kind", "other", "bonded"), PAIRS)
def test_friction_stops_sliding_in_a_step_at_most(model: Any, kind: int, other: int, bonded: bool) -> None:
    """However strong it is; and is as strong as its kernel says where sliding is fast."""
    with torch.no_grad():
        model.kernels.slide[-1].bias.fill_(30.0)
    law, masses = model.pair_law(kind, other, bonded), model.masses()
    inverse = 1.0 / masses[kind] + (0.0 if other == WALL else 1.0 / masses[other])
    gap, speed = np.linspace(-1.0, 0.4, 20)[:, None] * SCALE.radius, np.geomspace(1e-6, 2.0, 30)
    change = law(gap, 0.0, speed)[2] * inverse * SCALE.step / speed
    assert np.all((change > 0.0) & (change < 1.0))
    assert change[0, 0] > 0.99 and change[0, -1] < 0.9


def test_what_is_trained_on_it_is_stable_with_its_own_steps(model: Any, measured: Note) -> None:
    """Of a law that is too steep for them: the engine refuses its table before, and takes it after."""
    with torch.no_grad():
        for head in (model.kernels.contact.rest[-1], model.kernels.bond.rest[-1], model.kernels.slide[-1]):
            head.weight.mul_(400.0)
    model = model.float()
    before, _ = steps(model)
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-3)
    generator = torch.Generator().manual_seed(0)
    terms = []
    for _ in range(100):
        optimizer.zero_grad()
        loss = model.instability(generator)
        loss.backward()
        optimizer.step()
        terms.append(float(loss.detach()))
    after, calm = steps(model)
    measured(longest_before=before, longest_after=after, step=SCALE.step, term_before=terms[0], term_after=terms[-1])
    assert before < SCALE.step < after
    # friction trembles with none of them
    assert calm == pytest.approx(after / 2.0)


def test_of_what_has_no_law_of_pairs(model: Any) -> None:
    generator = torch.Generator()
    assert Equivariant(SCALE).instability(generator) is None
    assert DiscreteElementLearner(SCALE, width=8, decomposition=False).instability(generator) is None
