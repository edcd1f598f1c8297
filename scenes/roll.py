"""roll.py: soft dough is flattened by a loose rolling pin that is pressed and moved to and fro."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.continuum import VonMises
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.shapes.sdf import Sdf
from granular_gym.viewing.matter_runs import MatterRun, spacing_for
from granular_gym.viewing.scene_runs import Check, Lines
from granular_gym.viewing.space_runs import GRAVITY, Floats, Point

DENSITY = 1000.0
MATTER = VonMises(2e4, 0.4, 1e3)
#: of the dough [m]
LONG, WIDE, HIGH = 0.32, 0.12, 0.10
#: the pin, of wood: radius and half length [m], mass [kg], moments of inertia about its axes, the last its own [kg m2]
RADIUS, HALF, MASS = 0.04, 0.08, 0.5
ACROSS = MASS * (RADIUS**2 / 4.0 + HALF**2 / 3.0)
INERTIA = (ACROSS, ACROSS, MASS * RADIUS**2 / 2.0)
#: a hand: spring [N/m] and damper [N s/m] that guide the axle, spring [N m] and damper [N m s] that keep it level
SPRING, DAMPER, LEVEL, STEADY = 200.0, 20.0, 5.0, 0.05
#: force with which each pass presses, besides the pin's weight [N]; half its way [m], its speed [m/s]
PRESSES, REACH, SPEED = (2.0, 4.0, 6.0), 0.1, 0.25
PASS = 2.0 * REACH / SPEED
#: time in which the pin comes down, and in which it is lifted [s], at a speed [m/s]
DOWN, UP, RISE = 0.3, 0.3, 0.3
#: where a pass is measured, and where the thickness is: distance from the middle [m]
MIDDLE = 0.07


def axle(pose: Floats) -> Floats:
    """Axis of the pin, its z, in a pose x y z qw qx qy qz."""
    w, x, y, z = pose[3:]
    return np.array([2.0 * (x * z + w * y), 2.0 * (y * z - w * x), 1.0 - 2.0 * (x * x + y * y)])


class Roll(MatterRun):
    """Two worlds: friction of 1 between pin and dough, and none. The axle is guided, the pin turns freely on it."""

    about = "soft dough under a loose rolling pin"
    labels: ClassVar[tuple[str, ...]] = ("friction 1", "friction 0")
    default_grains = 1300
    full_grains = 5863
    seconds: float = DOWN + len(PRESSES) * PASS + UP
    eye: Point = (0.35, -0.75, 0.5)
    target: Point = (0.0, 0.0, 0.05)
    fov: float = 0.5

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        #: of each pass, by label: speed of the rim over that of the axle
        self.spins: dict[str, list[list[float]]] = {label: [[] for _ in PRESSES] for label in self.labels}
        self.heights: dict[str, list[tuple[float, float, float]]] = {label: [] for label in self.labels}
        self.tilt: float = 0.0

    def scene(self, label: str) -> Scene:
        scene = Scene(((-0.3, -0.2, 0.0), (0.3, 0.2, 0.3)), wall_material="dough")
        dough = scene.add_material(density=DENSITY, friction=1.0, continuum=MATTER, name="dough")
        wood = scene.add_material(density=600.0, name="wood")
        scene.set_pair(dough, wood, friction=float(label.split()[1]))
        low, high = (-0.5 * LONG, -0.5 * WIDE, 0.0), (0.5 * LONG, 0.5 * WIDE, HIGH)
        scene.add_continuum(dough, low, high, spacing=spacing_for(LONG * WIDE * HIGH, self.grains))
        lying = (math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0)
        pose = (-REACH, 0.0, HIGH + RADIUS + 0.01, *lying)
        # the floor holds the dough, the hand the pin
        free = dict.fromkeys("xyz", (-1.0, 1.0))
        pin = Sdf.cylinder(RADIUS, HALF)
        scene.add_tool(pin, "pin", wood, pose, mass=MASS, inertia=INERTIA, travel=free)
        return scene

    @staticmethod
    def _pass(now: float) -> int:
        """Which pass it is; -1 before the first, their number after the last."""
        return math.floor((now - DOWN) / PASS + 1e-9) if now < DOWN + len(PRESSES) * PASS - 1e-9 else len(PRESSES)

    def drive(self, label: str, world: World, now: float) -> None:
        place = world.tool_poses[0, 0].astype(np.float64)
        velocity, spin = world.tool_velocity("pin")[0], world.tool_angular_velocity("pin")[0]
        axis = axle(place)
        turning = spin - (spin @ axis) * axis
        world.set_tool_torque("pin", LEVEL * np.cross(axis, (0.0, -1.0, 0.0)) - STEADY * turning)
        k = self._pass(now)
        if k == len(PRESSES):  # up from where it is
            force = DAMPER * (np.array([0.0, 0.0, RISE]) - velocity) + [0.0, 0.0, MASS * GRAVITY]
        else:
            share, sign = (now - DOWN) / PASS - k, 1.0 if k % 2 == 0 else -1.0
            x, v = (-REACH, 0.0) if k < 0 else (sign * REACH * (2.0 * share - 1.0), sign * SPEED)
            force = SPRING * (np.array([x, 0.0, 0.0]) - place[:3]) + DAMPER * (np.array([v, 0.0, 0.0]) - velocity)
            force[2] = -PRESSES[max(k, 0)]
        world.set_tool_force("pin", force)

    def measure(self, label: str, world: World, now: float) -> None:
        pose, k = world.tool_poses[0, 0].astype(np.float64), self._pass(now - self.dt)
        if 0 <= k < len(PRESSES) and abs(pose[0]) < MIDDLE:
            velocity, spin = world.tool_velocity("pin")[0], world.tool_angular_velocity("pin")[0]
            self.spins[label][k].append(float(spin[1] * RADIUS / velocity[0]))
        x = world.positions[0]
        # half a particle's distance above the highest centres
        top = float(np.quantile(x[np.abs(x[:, 0]) < MIDDLE, 2], 0.98)) + 0.25 * world.spacing
        masses = world.grain_masses[0].astype(np.float64)
        self.heights[label].append((now, top, float((masses / world.densities[0]).sum() * DENSITY / masses.sum())))
        self.tilt = max(self.tilt, math.degrees(math.acos(min(abs(float(axle(pose)[1])), 1.0))))

    def figures(self, label: str) -> dict[str, float]:
        _, first, _ = self.heights[label][0]
        _, last, volume = self.heights[label][-1]
        figures = {
            f"spin_at_{force:g}_N": float(np.mean(s)) for force, s in zip(PRESSES, self.spins[label], strict=True)
        }
        return {"thickness_at_first": first, "thickness": last, "volume": volume, **figures}

    def checks(self) -> list[Check]:
        rough, smooth = self.labels
        found = []
        for force, spins in zip(PRESSES, self.spins[rough], strict=True):
            mean = float(np.mean(spins))
            name = f"speed of the rim over speed at {force:g} N, mean of the pass"
            found.append(Check(name, mean, "1 within 20 %", abs(mean - 1.0) < 0.2))
        spin = max(abs(each) for spins in self.spins[smooth] for each in spins)
        found.append(Check("the same without friction, at most", spin, "< .001", spin < 1e-3))
        for label in self.labels:
            (_, first, _), (_, last, volume) = self.heights[label][0], self.heights[label][-1]
            found.append(Check(f"volume at the end, {label}", volume, "1 within 2 %", abs(volume - 1.0) < 0.02))
            found.append(
                Check(f"thickness at the end over that at first, {label}", last / first, "< .95", last < 0.95 * first)
            )
        return [*found, Check("tilt of the axle [degrees]", self.tilt, "< 1", self.tilt < 1.0), *self.solved()]

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        lines: Lines = {}
        for label, rows in self.heights.items():
            times, top, _ = np.array(rows).T
            lines[label] = (times, 1e3 * top)
        return {"thickness": ("time [s]", "thickness of the dough in the middle [mm]", lines)}

    def tool_colors(self, world: World) -> NDArray[np.uint8]:
        return np.array([(150, 96, 60)], np.uint8)
