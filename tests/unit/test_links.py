"""How links of robots move and yield: against NumPy's solution."""

from __future__ import annotations

import numpy as np
import pytest

from granular_gym import _core
from granular_gym.errors import ArgumentError


def robot(n: int, links: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Jacobian, inertia, velocities and accelerations of a robot that does not exist."""
    random = np.random.default_rng(n)
    half = random.normal(size=(n, n))
    return random.normal(size=(6 * links, n)), half @ half.T + np.eye(n), *random.normal(size=(2, n))


@pytest.mark.parametrize(("n", "links"), [(1, 1), (7, 1), (14, 4), (50, 12), (0, 1)])
def test_motion_and_inverse_inertia_are_those_of_linear_algebra(n: int, links: int) -> None:
    jacobian, inertia, velocities, accelerations = robot(n, links)
    twists, changes, response = _core.link_motion(jacobian, inertia, velocities, accelerations)
    assert np.allclose(twists, (jacobian @ velocities).reshape(links, 6), atol=1e-12)
    assert np.allclose(changes, (jacobian @ accelerations).reshape(links, 6), atol=1e-12)
    assert np.allclose(response, jacobian @ np.linalg.solve(inertia, jacobian.T), rtol=1e-9, atol=1e-9)
    assert (response == response.T).all()


@pytest.mark.parametrize("spoil", [-1.0, 0.0, np.nan, np.inf])
def test_an_inertia_that_is_none_gives_no_number(spoil: float) -> None:
    jacobian, inertia, *rates = robot(3, 1)
    inertia[1] = inertia[:, 1] = 0.0
    inertia[1, 1] = spoil
    assert np.isnan(_core.link_motion(jacobian, inertia, *rates)[2]).all()


def test_arrays_of_another_robot_are_refused() -> None:
    jacobian, inertia, *rates = robot(3, 1)
    for wrong, named in (
        ((jacobian[:5], inertia, *rates), "jacobian: expected 6 rows for each link, got 5"),
        ((jacobian, np.eye(2), *rates), "inertia: expected shape"),
        ((jacobian, inertia, np.zeros(2), rates[1]), "velocities: expected shape"),
        ((jacobian, inertia, rates[0], np.zeros(3, np.float32)), "accelerations: expected dtype"),
    ):
        with pytest.raises(ArgumentError, match=named):
            _core.link_motion(*wrong)
