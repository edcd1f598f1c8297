"""Robots of MuJoCo that press on a bed at rest: forces and moments are those of statics."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from testbed.beds import GRAVITY
from testbed.robots import ARMS, LEVER, pressing

mujoco = pytest.importorskip("mujoco")

Note = Callable[..., None]


@pytest.mark.parametrize("kind", ARMS)
def test_an_arm_that_presses_feels_the_force_of_statics(kind: str, measured: Note) -> None:
    """At rest grains push back with the motor's force and the arm's weight, and walls carry so much more than the bed.

    On the slide forces are in balance, on the hinge moments: of the motor, of the weight and of the grains.
    """
    both = pressing(kind)
    world, model, data = both.world, both.robots.model, both.robots.data[0]
    bed = float(world.grain_masses[0].sum()) * GRAVITY
    assert -float(world.wall_wrenches[0, :, 2].sum()) == pytest.approx(bed, rel=1e-3)
    weight = float(model.body_mass[1]) * GRAVITY
    for load in (0.0, 5.0, 20.0):
        data.ctrl[0] = -load if kind == "slide" else LEVER * load
        both.step(500)
        both.step(100)
        mujoco.mj_kinematics(model, data)
        push = both.wrenches[0, 0]
        felt, expected = float(push[2]), load + weight
        if kind == "hinge":
            felt, expected = -float(push[4]), LEVER * load + weight * float(data.xipos[1, 0] - data.xpos[1, 0])
        carried = (-float(world.wall_wrenches[0, :, 2].sum()) - bed) / float(push[2])
        speed = float(np.abs(data.qvel).max())
        measured(load=load, felt=felt, error=felt / expected - 1.0, carried_error=carried - 1.0, speed=speed)
        assert speed < 1e-3
        assert felt == pytest.approx(expected, rel=0.01)
        assert carried == pytest.approx(1.0, abs=0.01)
