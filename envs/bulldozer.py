"""bulldozer.py: `granular_gym/Bulldozer-v0`: a tracked vehicle pushes a heap of grains into a goal box.

After Millard et al., "GranularGym", section III.A: actions are forward speed and yaw rate, observations the depth
images of an ego camera above the blade and of a sky camera, and the vehicle's pose; each grain inside the goal box
earns 100 / n, each grain outside costs its distance to the box / n. The field is 8 x 4 m, control runs at 10 Hz for
600 steps. Ours: goal, heap and start are drawn from the seed, heaps are settled, and a heap keeps its volume whatever
the number of grains (the radius shrinks with the cube root).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from .. import checks
from ..assets import asset_path
from ..beds import settled_bed
from ..cameras import DepthCamera
from ..device import parse_device
from ..errors import ArgumentError
from ..pictures import grain_colors
from ..rotations import rotate
from ..scene import Scene
from ..sdf import Sdf
from ..solver import Solver
from ..state import State
from ..task import Arrays, Floats, Task
from ..vector import GranularEnv, GranularVectorEnv
from ..vehicle import TrackedVehicle, wrap_angle, yaw_quaternions

CONTROL_PERIOD = 0.1  # [s] per env step
FIELD_LOWER, FIELD_UPPER = (-4.0, -2.0, 0.0), (4.0, 2.0, 2.0)  # [m]
GOAL_SIZE = (2.0, 2.0)  # [m]
GOAL_HEIGHT = 2.0  # [m]: a grain on top of a pile in the goal counts
RADIUS_OF_2000 = 0.025  # [m] radius of a grain where the heap has 2,000
GRAIN_LIMIT = 200_000
EGO_SHAPE, SKY_SHAPE = (36, 36), (36, 72)
EGO_RANGE, SKY_RANGE = (0.2, 3.0), (0.0, 3.0)  # [m]; the sky camera looks down from 3 m: the floor reads 3
IMAGE_RANGES = {"ego": EGO_RANGE, "sky": SKY_RANGE}
GOAL_COLOR, BLADE_COLOR, HULL_COLOR = (62, 150, 92), (96, 100, 108), (236, 170, 40)
VIEW_SHAPE = (400, 704)  # of rendered pictures
HEAPS = ("cone", "ridge", "mesa")  # shapes the grains are poured in
SETTLING = (0.5, 10, 2e-3)  # [s] at a time, at most so often, until no grain is faster than [m/s]
HEAP_REACH = 1.15  # [m] no grain of a settled heap lies further from its centre
PARKING = (3.3, 1.4, 0.0)  # [m] where the vehicle stands while heaps settle
GRAIN_FRICTION = 0.5


@dataclass(frozen=True)
class Preset:
    """How finely an env step of 0.1 s is computed."""

    dt: float  # [s]
    substeps: int
    iterations: int


PRESETS = {"accurate": Preset(1e-3, 100, 10), "fast": Preset(5e-3, 20, 20)}


def grain_radius(grain_count: int) -> float:
    """Radius that keeps the volume of the heap at any number of grains [m]."""
    return RADIUS_OF_2000 * (2000.0 / grain_count) ** (1.0 / 3.0)


class BulldozerTask(Task):
    """The rules of the bulldozer task for `env_count` envs.

    Action (2,) in [-1, 1]: forward speed (1 = 0.8 m/s), yaw rate (1 = 1 rad/s, left positive).
    Observation: "ego" (36, 36) float32 depth [m] and "sky" (36, 72) float32 depth [m] (a miss reads `far`), or both as
    (1, H, W) uint8, 0 = near, 255 = far; "pose" (3,) float32 x [m], y [m], yaw [rad] in [-pi, pi].
    Reward: mean over the grains of 100 inside the goal box, else minus the distance to it [m]; "incremental": the
    change of that mean over the step.
    Info: "goal_share" of the grains in the goal, "goal" (6,) lower and upper corner of the goal box [m], and of the
    step the engine's "overlap_mean" and "overlap_max" [share of a diameter], "residual" [m/s], "contact_count",
    "escaped_count", "fast_count", "diverged".

    Args:
        env_count: number of envs.
        grain_count: grains per env; 500 to 50,000 is what the task is meant for.
        preset: "fast" (dt 5 ms, 20 iterations) or "accurate" (dt 1 ms, 10 iterations). At full speed the blade moves
            4 mm per substep of "fast": with 10,000 grains and more (radius below 15 mm) it presses them visibly.
        depth: "float32" or "uint8".
        reward: "level" or "incremental".
        device: "cpu", "cuda" or "auto".
        num_threads: None: one per core this process may use. On a machine that is busy with other work, 1 is faster.
        friction_range: None, or (lower, upper): each episode draws the friction between grains from it.
        render_mode: None, "rgb_array" or "depth_array" (the sky camera).

    Raises:
        ArgumentError: an argument is not what it should be.
        BackendError: the device is missing.
    """

    memory: ClassVar[tuple[str, ...]] = ("pose", "goal", "score", "gain", "share", "friction")
    control_period: ClassVar[float] = CONTROL_PERIOD
    vehicle: ClassVar[TrackedVehicle] = TrackedVehicle(
        rear=-0.45,
        front=0.62,
        half_width=0.47,
        lower=FIELD_LOWER[:2],
        upper=FIELD_UPPER[:2],
        speed=0.8,
        turn_rate=1.0,
        clearance=0.06,
    )

    def __init__(
        self,
        env_count: int = 1,
        *,
        grain_count: int = 2000,
        preset: str = "fast",
        depth: str = "float32",
        reward: str = "level",
        device: str = "cpu",
        num_threads: int | None = None,
        friction_range: tuple[float, float] | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__(env_count, render_mode)
        self.grain_count = checks.integer("grain_count", grain_count, 1, GRAIN_LIMIT)
        self.preset = PRESETS[checks.choice("preset", preset, list(PRESETS))]
        self.depth = checks.choice("depth", depth, ["float32", "uint8"])
        self.reward = checks.choice("reward", reward, ["level", "incremental"])
        self.device = parse_device(device)
        self.num_threads = checks.threads(num_threads)
        self.friction_range: tuple[float, float] | None = None
        if friction_range is not None:
            low, high = (float(x) for x in checks.floats("friction_range", friction_range, (2,)))
            if not 0.0 <= low <= high:
                raise ArgumentError(f"friction_range: expected 0 <= lower <= upper, got {friction_range!r}")
            self.friction_range = (low, high)
        self.radius = grain_radius(self.grain_count)
        self.action_space = spaces.Box(-1.0, 1.0, (2,), np.float32)
        low_pose = np.array([*FIELD_LOWER[:2], -np.pi], np.float32)
        images = {"ego": (EGO_SHAPE, EGO_RANGE), "sky": (SKY_SHAPE, SKY_RANGE)}
        self.observation_space = spaces.Dict(
            {
                **{name: self._image_space(*image) for name, image in images.items()},
                "pose": spaces.Box(low_pose, -low_pose, dtype=np.float32),
            }
        )
        self.pose = np.zeros((self.env_count, 3))  # x, y, yaw; yaw is not wrapped
        self.goal = np.zeros((self.env_count, 6), np.float32)
        self.score = np.zeros(self.env_count)  # the paper's mean, after the last step
        self.gain = np.zeros(self.env_count)  # its change over the last step
        self.share = np.zeros(self.env_count)  # of the grains in the goal
        self.friction = np.full(self.env_count, GRAIN_FRICTION)
        self._heaps: dict[str, State] = {}  # settled; made when first drawn

    def _image_space(self, shape: tuple[int, int], limits: tuple[float, float]) -> spaces.Box:
        if self.depth == "uint8":
            return spaces.Box(0, 255, (1, *shape), np.uint8)
        return spaces.Box(limits[0], limits[1], shape, np.float32)

    # the scene -------------------------------------------------------------------------------------------------------

    def scene(self, grains: Floats) -> Scene:
        """The field with the vehicle in it.

        Args:
            grains: (n, 3) positions [m].
        """
        scene = Scene(bounds=(FIELD_LOWER, FIELD_UPPER), boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand = scene.add_material(
            radius=self.radius, density=1600.0, friction=GRAIN_FRICTION, restitution=0.0, rolling_friction=0.3
        )
        steel = scene.add_material(density=7800.0, friction=0.3)
        scene.set_pair(sand, steel, friction=0.3, restitution=0.0, rolling_friction=0.1)
        scene.add_grains(sand, grains)
        for name, coarsest in (("blade", 0.012), ("hull", 0.015)):
            # sharp enough for the grains, and for a picture
            spacing = min(max(0.8 * self.radius, 0.008), coarsest)
            field = Sdf.from_mesh(asset_path(f"bulldozer_{name}.stl"), spacing=spacing)
            scene.add_tool(field, name=name, material=steel, pose=(*PARKING, 1.0, 0.0, 0.0, 0.0))
        return scene

    def _add_cameras(self, scene: Scene) -> None:
        scene.add_camera(
            DepthCamera.perspective(
                height=EGO_SHAPE[0],
                width=EGO_SHAPE[1],
                fov=0.5 * math.pi,
                position=(0.1, 0.0, 0.75),
                target=(1.0, 0.0, 0.1),
                near=EGO_RANGE[0],
                far=EGO_RANGE[1],
            ),
            name="ego",
            tool="hull",
        )
        scene.add_camera(
            DepthCamera.orthographic(
                height=SKY_SHAPE[0],
                width=SKY_SHAPE[1],
                extent=FIELD_UPPER[1],
                position=(0.0, 0.0, SKY_RANGE[1]),
                target=(0.0, 0.0, 0.0),
                up=(0.0, 1.0, 0.0),
                near=SKY_RANGE[0],
                far=SKY_RANGE[1],
            ),
            name="sky",
        )
        if self.render_mode == "rgb_array":
            scene.add_camera(view_camera(), name="view")

    def build(self) -> Any:
        """The world of all envs."""
        solver = Solver(iterations=self.preset.iterations)
        scene = self.scene(heap_lattice(HEAPS[0], self.grain_count, self.radius))
        self._add_cameras(scene)
        return scene.build(env_count=self.env_count, device=self.device, solver=solver, num_threads=self.num_threads)

    def heap(self, shape: str) -> State:
        """A settled heap around the z axis: settled once, then taken from the cache."""
        if shape in self._heaps:
            return self._heaps[shape]
        solver = Solver(iterations=self.preset.iterations)
        scene = self.scene(heap_lattice(shape, self.grain_count, self.radius))

        def settle() -> State:
            with scene.build(device=self.device, solver=solver, num_threads=self.num_threads) as world:
                for _ in range(SETTLING[1]):
                    world.step(dt=self.preset.dt, substeps=round(SETTLING[0] / self.preset.dt))
                    if np.abs(world.velocities).max() < SETTLING[2]:
                        break
                return world.save_state()

        key = {"solver": solver.fields(), "dt": self.preset.dt, "settling": SETTLING}
        self._heaps[shape] = settled_bed(scene, key, settle)
        return self._heaps[shape]

    # episodes --------------------------------------------------------------------------------------------------------

    def start(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws heap, goal and start of each listed env and puts grains and vehicle there."""
        world = self.world
        chosen = np.zeros(len(envs), np.int64)
        shifts, turns = np.zeros((len(envs), 3), np.float32), np.zeros(len(envs), np.float32)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = draw.integers(len(HEAPS))
            side = 1.0 if draw.random() < 0.5 else -1.0
            goal = side * draw.uniform(1.5, 2.2), draw.uniform(-0.8, 0.8)
            heap = -side * draw.uniform(0.9, 1.4), draw.uniform(-0.5, 0.5)
            turns[row] = draw.uniform(-math.pi, math.pi)
            shifts[row, :2] = heap
            self.goal[env] = goal_box(*goal)
            self.pose[env] = self._start_pose(draw, heap)
            low, high = self.friction_range or (GRAIN_FRICTION, GRAIN_FRICTION)
            self.friction[env] = draw.uniform(low, high)
        for number, shape in enumerate(HEAPS):
            if (chosen == number).any():
                world.load_state(self.heap(shape), envs=envs[chosen == number])
        world.place_grains(shifts, turns, envs=envs)
        world.set_tool_poses(self._tool_poses()[envs], envs=envs)
        if self.friction_range is not None:
            self._set_friction(envs)
        self._measure()
        self.gain[envs] = 0.0

    def _start_pose(self, draw: np.random.Generator, heap: tuple[float, float]) -> tuple[float, ...]:
        """A pose of the vehicle clear of heap and walls."""
        gap = HEAP_REACH + self.vehicle.reach
        edge = self.vehicle.reach + self.vehicle.clearance
        lower, upper = self.vehicle.lower, self.vehicle.upper
        for _ in range(1000):
            x, y = draw.uniform(lower[0] + edge, upper[0] - edge), draw.uniform(lower[1] + edge, upper[1] - edge)
            if math.hypot(x - heap[0], y - heap[1]) >= gap:
                return x, y, draw.uniform(-math.pi, math.pi)
        # a heap this large leaves the far end of the field
        return math.copysign(upper[0] - edge, -heap[0]), 0.0, 0.0

    def _tool_poses(self) -> Floats:
        """Blade and hull share the vehicle's frame: (env_count, 2, 7)."""
        poses = np.zeros((self.env_count, 2, 7), np.float32)
        poses[:, :, :2] = self.pose[:, None, :2]
        poses[:, :, 3:] = yaw_quaternions(self.pose[:, 2])[:, None]
        return poses

    def advance(self, actions: Floats, held: NDArray[np.bool_]) -> None:
        """One control period."""
        target = self.vehicle.advance(self.pose, actions, CONTROL_PERIOD)
        self.pose = np.where(held[:, None], self.pose, target)
        self.world.step(dt=self.preset.dt, substeps=self.preset.substeps, tool_poses=self._tool_poses())
        before = self.score.copy()
        self._measure()
        self.gain = self.score - before

    def _set_friction(self, envs: NDArray[np.int32]) -> None:
        """Gives the grains of the listed envs their own friction."""
        pairs = self.world.materials[0][envs]
        pairs[:, 0, 0, 0] = self.friction[envs]
        self.world.set_materials(pairs=pairs, envs=envs)

    def _measure(self) -> None:
        """Share of the grains in the goal, and the paper's mean reward, of all envs."""
        counts, distances = self.world.box_stats(self.goal[:, :3], self.goal[:, 3:])
        self.share = np.asarray(counts, np.float64) / self.grain_count
        self.score = 100.0 * self.share - np.asarray(distances, np.float64)

    def outcome(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """Reward, terminated (never: the task has no end but its time), infos."""
        reward = self.score if self.reward == "level" else self.gain
        infos: Arrays = {"goal_share": self.share.copy(), "goal": self.goal.copy()}
        return reward.copy(), np.zeros(self.env_count, bool), infos

    def observe(self) -> Arrays:
        """Depth images and pose of all envs."""
        return self.observe_as("numpy")

    def observe_as(self, output: str) -> dict[str, Any]:
        """The same as `output` arrays; depth stays where the world runs."""
        pose = self.pose.copy()
        pose[:, 2] = wrap_angle(pose[:, 2])
        space = self.observation_space["pose"]
        pose = np.clip(pose.astype(np.float32), space.low, space.high)  # type: ignore[attr-defined]
        placed = self.world.put(pose, output)  # ahead of the images: an upload would wait for them
        images = {name: self._image(name, limits, output) for name, limits in IMAGE_RANGES.items()}
        return {**images, "pose": placed}

    def _image(self, camera: str, limits: tuple[float, float], output: str) -> Any:
        depth = self.world.depth(camera, output, limits=limits, dtype=self.depth)
        # learners want bytes with a channel
        return depth if self.depth == "float32" else depth.reshape(depth.shape[0], 1, *depth.shape[1:])

    # pictures --------------------------------------------------------------------------------------------------------

    def picture(self, env: int, camera: DepthCamera | str = "view") -> NDArray[np.uint8]:
        """The field seen from the side of the lower y wall; grains in the goal are painted, its floor is tinted."""
        goal = self.goal[env]
        positions = self.world.positions[env]
        inside = ((positions >= goal[:3]) & (positions <= goal[3:])).all(axis=1)
        colors = grain_colors(self.grain_count)
        colors[inside] = 0.45 * colors[inside] + 0.55 * np.array(GOAL_COLOR)
        frame = self.world.picture(
            camera,
            env=env,
            grain_colors=colors.astype(np.uint8),
            tool_colors=np.array([BLADE_COLOR, HULL_COLOR], np.uint8),
        )
        if camera == "view":
            tint_floor(frame, view_camera(), self.world.depth("view")[env], goal)
        return frame

    def depth_picture(self, env: int) -> Floats:
        """What the sky camera sees, (36, 72) float32 [m]."""
        return self.world.depth("sky")[env].copy()


def view_camera() -> DepthCamera:
    """The camera pictures for people are taken with: the whole field from above the lower y wall."""
    return DepthCamera.perspective(
        height=VIEW_SHAPE[0],
        width=VIEW_SHAPE[1],
        fov=0.7,
        position=(0.0, -5.9, 4.9),
        target=(0.0, 0.02, 0.0),
        near=0.1,
        far=20.0,
    )


@lru_cache(maxsize=4)
def camera_rays(camera: DepthCamera) -> Floats:
    """What a perspective camera's pixels see per metre of depth, world axes, (H, W, 3)."""
    rows, columns = np.indices((camera.height, camera.width), np.float64)
    scale = 2.0 * camera.extent / camera.height
    x = (columns + 0.5 - 0.5 * camera.width) * scale
    y = (rows + 0.5 - 0.5 * camera.height) * scale
    return rotate(np.array(camera.pose[3:]), np.stack([x, y, np.ones_like(x)], axis=-1))


def tint_floor(frame: NDArray[np.uint8], camera: DepthCamera, depth: Floats, goal: Floats) -> None:
    """Tints the pixels of a perspective picture that show the floor inside the goal, in place; darker at its edge."""
    rays = camera_rays(camera)
    floor = np.abs(camera.pose[2] + depth * rays[..., 2]) < 0.004
    places = depth[floor][:, None] * rays[floor][:, :2] + np.array(camera.pose[:2])
    margin = np.minimum(places - goal[:2], goal[3:5] - places).min(axis=1)
    share = np.where(margin < 0.0, 0.0, np.where(margin < 0.03, 0.7, 0.28))[:, None]
    frame[floor] = ((1.0 - share) * frame[floor] + share * np.array(GOAL_COLOR)).astype(np.uint8)


def goal_box(x: float, y: float) -> Floats:
    """Lower and upper corner (6,) of a goal centred at (x, y) [m]."""
    half_x, half_y = 0.5 * GOAL_SIZE[0], 0.5 * GOAL_SIZE[1]
    return np.array([x - half_x, y - half_y, 0.0, x + half_x, y + half_y, GOAL_HEIGHT], np.float32)


def heap_lattice(shape: str, grain_count: int, radius: float) -> Floats:
    """Where grains are before they settle: a jittered lattice cut to a shape around the z axis, (n, 3) [m].

    The lattice points with the smallest key are taken, so that each shape comes out with exactly `grain_count` grains.
    """
    step, rise, shake = 2.7 * radius, 2.2 * radius, 0.27 * radius
    side = math.ceil(2.6 * grain_count ** (1.0 / 3.0)) | 1
    layers = math.ceil(1.3 * grain_count ** (1.0 / 3.0))
    line = np.arange(side) - side // 2
    i, j, k = (a.ravel() for a in np.meshgrid(line, line, np.arange(layers), indexing="ij"))
    # so loose that no trace of a lattice is left once the heap has settled
    x, y, z = (i + 0.5 * (k % 2)) * step, (j + 0.5 * (k % 2)) * step, k * rise
    if shape == "cone":
        key = np.hypot(x, y) + z
    elif shape == "ridge":
        size = 0.33 * step * grain_count ** (1.0 / 3.0)
        key = np.hypot(np.maximum(np.abs(x) - size, 0.0), y) + z
    else:
        key = np.maximum(np.hypot(x, y), 1.6 * z)
    chosen = np.sort(np.argsort(key, kind="stable")[:grain_count])
    points = np.stack([x, y, z + 1.3 * radius], axis=1)[chosen]
    jitter = np.random.Generator(np.random.PCG64(HEAPS.index(shape))).uniform(-shake, shake, points.shape)
    return (points + jitter).astype(np.float32)


class BulldozerEnv(GranularEnv):
    """`gymnasium.make("granular_gym/Bulldozer-v0")`; arguments: BulldozerTask."""

    metadata = Task.metadata
    task_class = BulldozerTask


class BulldozerVectorEnv(GranularVectorEnv):
    """`gymnasium.make_vec("granular_gym/Bulldozer-v0", num_envs=n)`; arguments: BulldozerTask, GranularVectorEnv."""

    metadata = Task.metadata
    task_class = BulldozerTask
