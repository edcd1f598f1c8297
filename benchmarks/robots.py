"""robots.py: what a robot of MuJoCo adds to a step: a plate on a chain of seven joints beside the same plate posed.

    OMP_NUM_THREADS=1 python -m benchmarks.robots [--grains 10000]

Both lie in a bed, in worlds of their own, and are stepped in turns; prints quartiles of the ratio of processor times,
residuals and contacts per grain.
"""

from __future__ import annotations

import argparse
import time

import mujoco
import numpy as np

import granular_gym as gg
from granular_gym.mujoco import Coupling, MujocoRobots

DT, BLOCK, PAIRS = 1e-3, 50, 61
PLATE = (0.005, 0.05, 0.05)  # half sizes [m]


def model() -> str:
    """A plate on a slide that carries six hinged links, in MJCF."""
    chain = "".join(
        f'<body pos="0 0 .08"><joint type="hinge" axis="{axis}" damping=".1"/>'
        '<geom type="capsule" size=".01" fromto="0 0 0 0 0 .08" contype="0" conaffinity="0"/>'
        for axis in ("1 0 0", "0 1 0") * 3
    )
    return f"""<mujoco><option timestep="{DT}" gravity="0 0 0"/><worldbody><body name="plate" pos="0 0 .05">
    <joint type="slide" axis="1 0 0"/><geom type="box" size=".005 .05 .05" mass=".5"/>{chain}{"</body>" * 6}
    </body></worldbody></mujoco>"""


def main() -> None:
    """Builds both worlds, lets the beds settle, and compares."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grains", type=int, default=10_000)
    count = parser.parse_args().grains
    worlds = []
    robots = MujocoRobots(mujoco.MjModel.from_xml_string(model()), ["plate"])
    for coupled in (True, False):
        scene = gg.Scene(((-0.2, -0.1, 0.0), (0.2, 0.1, 0.5)))
        scene.add_material(density=2500.0, radius=0.005, friction=0.5, rolling_friction=0.1)
        scene.fill_box(0, (-0.2, -0.1, 0.12), (0.2, 0.1, 0.5), count=count)
        if coupled:
            robots.add_to(scene)
        else:
            scene.add_tool(gg.Sdf.box(PLATE), name="plate", pose=(0.0, 0.0, 0.05, 1.0, 0.0, 0.0, 0.0))
        worlds.append(scene.build(num_threads=1))
    both, posed = Coupling(worlds[0], robots), worlds[1]
    both.step(700)
    posed.step(DT, 700)
    ratios = []
    for _ in range(PAIRS):
        start = time.process_time()
        both.step(BLOCK)
        middle = time.process_time()
        for _ in range(BLOCK):
            posed.step(DT)
        ratios.append((middle - start) / (time.process_time() - middle))
    low, median, high = np.quantile(ratios, (0.25, 0.5, 0.75))
    print(f"with a robot over posed: {median:.2f} (quartiles {low:.2f} to {high:.2f})")
    for name, world in (("robot", both.world), ("posed", posed)):
        contacts = float(world.stats["contact_count"][0]) / count
        residual, overlap = (float(world.stats[key][0]) for key in ("residual", "overlap_max"))
        print(f"{name}: residual {residual:.2g} m/s, overlap {100 * overlap:.2g} %, {contacts:.2f} contacts per grain")


if __name__ == "__main__":
    main()
