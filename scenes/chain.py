"""chain.py: a chain of links joined by ball and socket, held together by their shape alone, is lowered to a floor."""

from __future__ import annotations

import math
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.engine.scene import Scene
from granular_gym.engine.solver import Solver
from granular_gym.engine.world import World
from granular_gym.shapes.pair_distance import exact_distance
from granular_gym.shapes.pair_field import PairField
from granular_gym.shapes.shape2d import Shape2D
from granular_gym.viewing.scene_runs import Check, Lines, Rectangle, SceneRun

LINK = Shape2D.chain_link(0.1)
#: radii of the ball and of the inside of the socket over the distance of their centres (`Shape2D.chain_link`)
_BALL, _SOCKET = 1.0 / 4.0, 1.15 / 4.0
#: square root of stiffness over mass of a link [1/s]. A joint bends by up to 31 degrees. Beyond, the ball does not fit
#: into the socket at that angle: the overlap, the shortest translation that separates them, jumps from 0 to 0.29
#: circumradii, and lever arms reach 17 circumradii, which limits stiffness and time step.
OMEGA = 3000.0
SPEED = 2.0  # [m/s]


def _centres() -> tuple[float, float, float]:
    """Positions of the centres of ball and socket along a link, and the distance of the two [m]."""
    x, y = LINK.vertices.T
    # the ball is the right end of the link; its radius is the largest height there
    radius = float(np.abs(y[x > 0.5 * x.max()]).max())
    pitch = radius / _BALL
    ball = float(x.max()) - radius
    return ball, ball - pitch, pitch


BALL, SOCKET, PITCH = _centres()


class Chain(SceneRun):
    """Links of circumradius .1 m hang from one that descends at 2 m/s.

    The impulse solver would need as many iterations as there are links; contacts are springs here, substeps 25 us.
    """

    about = "a chain coils on a floor"
    labels: ClassVar[tuple[str, ...]] = ("chain",)
    default_grains = 100
    dt: float = 2.5e-5
    solver: Solver = Solver(mode="penalty", stiffness=1000.0 * LINK.area * OMEGA**2)

    def __init__(self, seed: int = 0, grains: int | None = None) -> None:
        super().__init__(seed, grains)
        self.hang: float = self._hanging()
        self.start: float = 0.2 + self.hang * max(self.grains - 1, 0)
        self.seconds: float = max(0.2, (self.start - self._low()) / SPEED)
        high = max(3.0, self._low() + 0.5)
        self.view: Rectangle = ((-0.7 * high, -0.1), (0.7 * high, high))
        self.distances: list[tuple[float, float]] = []
        self.held: int = 0

    def _low(self) -> float:
        """Final height of the first link [m]: above the loops of the others, as pressing on them breaks joints."""
        return min(0.3 + 0.2 * math.sqrt(max(self.grains, 1)), self.start)

    @staticmethod
    def _hanging() -> float:
        """Distance of two links that hang from each other without load [m], by bisection."""
        low, high = PITCH, PITCH + 0.5 * LINK.circumradius
        for _ in range(40):
            middle = 0.5 * (low + high)
            free = float(exact_distance(LINK, LINK, [[0.0, middle, 0.0]]).d[0]) >= 0.0
            low, high = (middle, high) if free else (low, middle)
        return low

    def scene(self, label: str) -> Scene:
        scene = Scene(bounds=((-20.0, 0.0), (20.0, self.start + 1.0)), boundary={"x": "wall", "y": ("wall", "open")})
        # finer than the default: the clearance of the ball is less than a default cell
        scene.set_pair_field(PairField.build(LINK, LINK, count=256))
        free = scene.add_material(density=1000.0, friction=0.4, shape=LINK)
        held = scene.add_material(density=1000.0, friction=0.4, shape=LINK, fixed=True)
        heights = self.start - self.hang * np.arange(self.grains)
        down = -0.5 * math.pi
        # a small perturbation, or the chain could stand upright
        sideways = 1e-4 * np.random.default_rng(self.seed).uniform(-1.0, 1.0, self.grains)
        positions = np.stack([sideways, heights], axis=1)
        velocities = np.tile([0.0, -SPEED], (self.grains, 1))
        scene.add_grains(held, positions[:1], angles=down, velocities=velocities[:1])
        scene.add_grains(free, positions[1:], angles=down, velocities=velocities[1:])
        return scene

    def gaps(self, world: World) -> NDArray[np.float64]:
        """Distance of the centre of each ball from that of its socket (grains - 1,) [m]."""
        angle = world.angles[0].astype(np.float64)
        along = np.stack([np.cos(angle), np.sin(angle)], axis=1)
        position = world.positions[0, :, :2].astype(np.float64)
        result: NDArray[np.float64] = np.linalg.norm(
            (position + BALL * along)[:-1] - (position + SOCKET * along)[1:], axis=1
        )
        return result

    def watch(self, label: str, world: World, now: float) -> None:
        gaps = self.gaps(world)
        self.held = int((gaps < self._most()).sum())
        if len(gaps):
            self.distances.append((now, float(gaps.max())))

    def checks(self) -> list[Check]:
        worst = max((gap for _, gap in self.distances), default=0.0)
        # a hanging ball rests on the lips of its socket (the play); one whose centre is between the lips is about to
        # leave it. A joint counts as broken halfway between.
        lips, play, most, joints = self._lips(), self.hang - PITCH, self._most(), max(self.grains - 1, 0)
        target = f"under {most:.4f}, halfway between the play, {play:.4f}, and the lips, {lips:.4f}"
        return [
            Check("largest distance of a ball from its socket's centre [m]", worst, target, worst < most),
            Check("joints that hold at the end", self.held, f"all {joints}", self.held == joints),
        ]

    @staticmethod
    def _lips() -> float:
        """Distance of the line between a socket's lips, 45 degrees to both sides, from its centre [m]."""
        return _SOCKET * PITCH * math.sqrt(0.5)

    def _most(self) -> float:
        """Distance of a ball from its socket's centre beyond which a joint counts as broken [m]."""
        return 0.5 * (self.hang - PITCH + self._lips())

    def plots(self) -> dict[str, tuple[str, str, Lines]]:
        time, worst = np.array(self.distances).T
        return {"play": ("time [s]", "largest distance of a ball from its socket [m]", {"all joints": (time, worst)})}
