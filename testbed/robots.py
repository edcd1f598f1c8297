"""robots.py: MuJoCo models and scenes that tests of coupled robots share."""

from __future__ import annotations

from typing import Any

import numpy as np

import granular_gym as gg
from testbed.beds import DENSITY, GRAVITY, RADIUS

DT = 1e-3


def bowl_model(mass: float) -> str:
    """A bowl on a vertical slide, pushed by one actuator: MJCF."""
    walls = "".join(
        f'<geom type="box" size="{size}" pos="{place}" mass="0"/>'
        for size, place in (
            (".06 .06 .005", "0 0 0"),
            (".005 .06 .04", ".055 0 .045"),
            (".005 .06 .04", "-.055 0 .045"),
            (".06 .005 .04", "0 .055 .045"),
            (".06 .005 .04", "0 -.055 .045"),
        )
    )
    return f"""<mujoco><option timestep="{DT}"/><worldbody>
    <body name="bowl" pos="0 0 .3"><joint name="z" type="slide" axis="0 0 1"/>
    <inertial pos="0 0 0" mass="{mass}" diaginertia="{1e-3 * mass} {1e-3 * mass} {1e-3 * mass}"/>{walls}</body>
    </worldbody><actuator><general joint="z"/></actuator></mujoco>"""


def bowl_scene(payload: float, count: int = 60, radius: float = 0.01) -> gg.Scene:
    """Grains of a given mass in all that fall into a bowl; nothing else is there."""
    scene = gg.Scene(((-0.3, -0.3, 0.0), (0.3, 0.3, 1.0)), boundary=dict.fromkeys("xyz", "open"))
    density = payload / (count * 4.0 / 3.0 * np.pi * radius**3)
    scene.add_material(density=density, radius=radius, friction=0.5, rolling_friction=0.1, name="grain")
    scene.add_material(density=1000.0, friction=0.5, name="steel")
    scene.fill_box("grain", (-0.045, -0.045, 0.31), (0.045, 0.045, 0.6), count=count)
    return scene


def hold(data: Any, mass: float, payload: float) -> None:
    """Sets the force that holds the bowl where it was: a spring and damper, and the weight of bowl and payload."""
    stiffness = 200.0 * (mass + payload)
    damping = 1.4 * np.sqrt(stiffness * (mass + payload))
    data.ctrl[0] = -stiffness * data.qpos[0] - damping * data.qvel[0] + (mass + payload) * GRAVITY


#: two boxes joined by a hinge, free in space
PAIR = f"""<mujoco><option timestep="{DT}" gravity="0 0 0"/><worldbody>
<body name="first"><freejoint/><geom type="box" size=".03 .02 .02" mass=".05"/>
<body name="second" pos=".05 0 0"><joint type="hinge" axis="0 1 0" pos="-.02 0 0"/>
<geom type="capsule" size=".015" fromto="0 0 0 .05 0 0" mass=".02"/></body></body></worldbody></mujoco>"""

#: half the width of the box of `pressing` [m]
HALF = 0.04
#: lever of the arm on a hinge [m]
LEVER = 0.4

_MOTOR = '</worldbody><actuator><motor joint="j"/></actuator></mujoco>'
#: arms that a motor presses onto a bed: a plate on a vertical slide, and a block at the end of a lever on a hinge
ARMS = {
    "slide": f"""<mujoco><option timestep="{DT}"/><worldbody><body name="arm" pos="0 0 .2">
    <joint name="j" type="slide" axis="0 0 1"/><geom type="box" size=".038 .038 .005" mass=".2"/></body>{_MOTOR}""",
    "hinge": f"""<mujoco><option timestep="{DT}"/><worldbody><body name="arm" pos="{-LEVER} 0 .3">
    <joint name="j" type="hinge" axis="0 1 0"/><geom type="capsule" size=".004" fromto="0 0 0 {LEVER} 0 0" mass=".1"/>
    <geom type="box" size=".03 .03 .02" pos="{LEVER} 0 -.1" mass=".2"/></body>{_MOTOR}""",
}


def pressing(kind: str, num_threads: int = 1) -> Any:
    """A coupled arm of ARMS a little above a bed of 350 grains at rest, in a box 8 cm wide."""
    import mujoco

    from granular_gym.mujoco import Coupling, MujocoRobots

    scene = gg.Scene(((-HALF, -HALF, 0.0), (HALF, HALF, 0.5)))
    sand = scene.add_material(density=DENSITY, radius=RADIUS, friction=0.5, rolling_friction=0.1)
    scene.fill_box(sand, (-HALF, -HALF, 0.0), (HALF, HALF, 0.15), count=350)
    robots = MujocoRobots(mujoco.MjModel.from_xml_string(ARMS[kind]), ["arm"])
    robots.add_to(scene)
    both = Coupling(scene.build(num_threads=num_threads), robots)
    both.step(600, still=np.array([True]))
    top = float(both.world.positions[0, :, 2].max()) + RADIUS
    # the plate is 1 cm thick; the block reaches 12 cm below the lever, and swings up to 2 mm lower than that
    robots.data[0].qpos[0] = top + 0.006 - 0.2 if kind == "slide" else np.arcsin((0.3 - 0.12 - 0.016 - top) / LEVER)
    both.place()
    return both
