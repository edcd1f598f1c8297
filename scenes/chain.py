"""chain.py: a chain that nothing but the shape of its links holds together, ball in socket, is lowered onto a floor."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.shapes.pair_distance import exact_distance
from granular_gym.shapes.pair_field import PairField
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, SceneRun

LINK = Shape2D.chain_link(0.1)
#: of the link as drawn (`Shape2D.chain_link`): ball and inside of the socket over the distance of their middles
_BALL, _SOCKET = 1.0 / 4.0, 1.15 / 4.0
#: Root of stiffness over mass of a link [1/s]. A joint bends by 31 degrees; beyond, the ball finds no room in its
#: socket at that angle, and the depth, being the shortest way out along a line, jumps from none to .29 circumradii:
#: levers there are 17 circumradii long, which bounds stiffness and step.
OMEGA = 3000.0
SPEED = 2.0  # [m/s]


def _middles() -> tuple[float, float, float]:
    """Places of the ball and of the socket along a link, and the distance of the two [m]."""
    x, y = LINK.vertices.T
    # the ball is what stands out most to the right, as high as it is wide
    ball = float(np.abs(y[x > 0.5 * x.max()]).max())
    pitch = ball / _BALL
    place = float(x.max()) - ball
    return place, place - pitch, pitch


BALL, SOCKET, PITCH = _middles()


class Chain(SceneRun):
    """Links of circumradius .1 m hang from one that comes down at 2 m/s; the implicit law would need as many iterations
    as there are links to hold them, so contacts are springs here, in steps of 25 us."""

    about = "a chain coils on a floor"
    labels = ("chain",)
    default_grains = 100
    dt = 2.5e-5
    solver = Solver(mode="penalty", stiffness=1000.0 * LINK.area * OMEGA**2)

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.hang = self._hanging()
        self.start = 0.2 + self.hang * max(self.grains - 1, 0)
        self.seconds = max(0.2, (self.start - self._low()) / SPEED)
        high = max(3.0, self._low() + 0.5)
        self.view = ((-0.7 * high, -0.1), (0.7 * high, high))
        self.way: list[tuple[float, float]] = []
        self.held = 0

    def _low(self) -> float:
        """Height down to which the first link comes: above the loops that the others make, for a hand that presses on
        them breaks joints [m]."""
        return min(0.3 + 0.2 * math.sqrt(max(self.grains, 1)), self.start)

    @staticmethod
    def _hanging() -> float:
        """Distance of two links of which one hangs from the other, without load [m]."""
        low, high = PITCH, PITCH + 0.5 * LINK.circumradius
        for _ in range(40):
            middle = 0.5 * (low + high)
            free = float(exact_distance(LINK, LINK, [[0.0, middle, 0.0]]).d[0]) >= 0.0
            low, high = (middle, high) if free else (low, middle)
        return low

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-20.0, 0.0), (20.0, self.start + 1.0)), boundary={"x": "wall", "y": ("wall", "open")})
        # finer than usual: the ball has less clearance than a cell is wide
        scene.set_pair_field(PairField.build(LINK, LINK, count=256))
        free = scene.add_material(density=1000.0, friction=0.4, shape=LINK)
        held = scene.add_material(density=1000.0, friction=0.4, shape=LINK, fixed=True)
        heights = self.start - self.hang * np.arange(self.grains)
        down = -0.5 * math.pi
        # a touch of a lean, or a chain could stand on its end
        aside = 1e-4 * np.random.default_rng(self.seed).uniform(-1.0, 1.0, self.grains)
        places = np.stack([aside, heights], axis=1)
        speeds = np.tile([0.0, -SPEED], (self.grains, 1))
        scene.add_grains(held, places[:1], angles=down, velocities=speeds[:1])
        scene.add_grains(free, places[1:], angles=down, velocities=speeds[1:])
        return scene

    def gaps(self, world: World) -> NDArray[np.float64]:
        """How far the middle of each ball is from that of the socket that holds it [m]."""
        angle = world.angles[0].astype(np.float64)
        along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        place = world.positions[0, :, :2].astype(np.float64)
        return np.linalg.norm((place + BALL * along)[:-1] - (place + SOCKET * along)[1:], axis=1)

    def watch(self, label: str, world: World, now: float) -> None:
        gaps = self.gaps(world)
        self.held = int((gaps < self._most()).sum())
        if len(gaps):
            self.way.append((now, float(gaps.max())))

    def checks(self) -> list[Check]:
        worst = max((gap for _, gap in self.way), default=0.0)
        # a ball that hangs rests on the lips; one whose middle is between them is about to leave. A link that came
        # further than half of that way is taken for snapped.
        lips, play, most, joints = self._lips(), self.hang - PITCH, self._most(), max(self.grains - 1, 0)
        target = f"under {most:.4f}, half-way from the play, {play:.4f}, to the lips, {lips:.4f}"
        return [
            Check("furthest that a ball came from its socket's middle [m]", worst, target, worst < most),
            Check("joints that hold at the end", self.held, f"all {joints}", self.held == joints),
        ]

    @staticmethod
    def _lips() -> float:
        """How far the lips of a socket, 45 degrees to both sides, are out from its middle [m]."""
        return _SOCKET * PITCH * math.sqrt(0.5)

    def _most(self) -> float:
        """Beyond this distance of its ball from its socket's middle a joint is taken for snapped [m]."""
        return 0.5 * (self.hang - PITCH + self._lips())

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, worst = np.array(self.way).T
        return {"play": ("time [s]", "furthest ball from its socket [m]", {"worst of all": (time, worst)})}
