"""excavator.py: `granular_gym/Excavator-v1`: a 7-joint arm with a bucket scoops grains from a tray into a bin.

After Millard et al., "GranularGym", section III.C: a Franka Emika Panda with an excavator's bucket on its flange takes
joint velocities, at dt 5e-4 s. The paper names no observation, reward or end; these are ours, and so are the bucket,
the tray, the bin, the guard that keeps the motion possible (csrc/geometry/arm_guard.h) and the optional end of an
episode where the grains ask for more torque than the arm has, which the paper proposes as the remedy for tools that
nothing pushes back. The bed keeps its volume whatever the number of grains (the radius shrinks with the cube root).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.arms.description import Array
from granular_gym.arms.load import load_arm
from granular_gym.base import checks
from granular_gym.base.assets import asset_path
from granular_gym.base.types import Arrays, Floats
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.drives import Drive
from granular_gym.engine.scene import Scene
from granular_gym.envs.excavator_difficulty import BEDS, DIFFICULTIES, GRAIN_FRICTION, Difficulty
from granular_gym.envs.excavator_state import VECTOR, inside_boxes, state_of, tray_grid
from granular_gym.shapes.sdf import Sdf
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.arm import Arm, ArmTool
from granular_gym.tasks.beds import Settling, add_sand_and_steel
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.grain_shapes import GRAIN_SHAPES
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.heights import HeightGrid
from granular_gym.tasks.images import Image, view_camera
from granular_gym.tasks.matter import MATTERS
from granular_gym.tasks.pace import Pace, Preset
from granular_gym.tasks.scaled import Scaled
from granular_gym.tasks.state_vector import StateVector
from granular_gym.tasks.task import Task
from granular_gym.tasks.touch import TouchPad

CONTROL_PERIOD = 0.05  # [s] per env step
WORLD_LOWER, WORLD_UPPER = (-0.75, -0.95, 0.0), (1.05, 0.95, 1.4)  # [m]; z = 0 is the table the arm stands on
GRAIN_VOLUME = 4.5e-3  # [m3] of all grains together
RADIUS_OF_2000 = (3.0 * GRAIN_VOLUME / (4.0 * math.pi * 2000)) ** (1.0 / 3.0)  # [m]
DENSITY = 1600.0  # [kg/m3]
TRAY_CENTER, TRAY_HALF, TRAY_HEIGHT = (0.52, 0.0), (0.20, 0.15), 0.12  # [m] inside
WALL = 0.012  # [m] thickness of the walls of tray and bin
LIFTED = 0.15  # [m] a grain above this height was lifted
SPILL_LAYERS = 2.5  # a grain outside tray and bin and lower than so many radii lies on the table
HOME = (0.0, -0.25 * math.pi, 0.0, -0.75 * math.pi, 0.0, 0.5 * math.pi, 0.0)  # [rad]; the bucket hangs over the tray
WRENCH_LIMIT = (200.0, 50.0)  # [N], [N m] of the observation
WRIST_CAMERA = DepthCamera.perspective(
    height=36,
    width=36,
    fov=1.2,
    position=(0.115, 0.0, -0.03),
    target=(0.085, 0.0, 0.20),
    up=(1.0, 0.0, 0.0),
    near=0.03,
    far=0.6,
)
SIDE_CAMERA = DepthCamera.perspective(
    height=36,
    width=72,
    fov=0.62,
    position=(1.45, 0.0, 1.05),
    target=(0.25, 0.0, 0.12),
    near=0.3,
    far=2.5,
)
#: which boxes the shares count: the bin; what lies low, less tray and bin; what is lifted
SHARES = np.array([[1, 0, 0], [0, 1, 0], [0, -1, 0], [0, -1, 0], [0, 0, 1]], np.int64)
# a bucket on a spring: its mass [kg], its damper over the critical one, and the solver's iterations and tolerance [m/s]
MOUNT_MASS, MOUNT_DAMPING = 0.3, 0.4
MOUNT_ITERATIONS, MOUNT_TOLERANCE = 100, 1e-3
FULL_RETURN = 20.0  # of a perfect episode: half a minute is enough for a fifth of the grains
SHAPING = 10.0  # points per metre of the grains' mean distance from the bin
LINK_COLORS = ((236, 238, 240), (222, 225, 228))
BUCKET_COLOR, TRAY_COLOR, BIN_COLOR = (224, 146, 40), (124, 132, 142), (62, 150, 92)

# the bucket's section in (x, z) from the lip round to the front of the top plate, in the middle of the plates; where
# the guard's capsules along it are and how thick they are (assets/make_bucket.py) [m]
BUCKET_SECTION = (
    (0.072, 0.1555),
    (-0.018, 0.1575),
    (-0.040, 0.148),
    (-0.055, 0.133),
    (-0.064, 0.108),
    (-0.0645, 0.078),
    (-0.056, 0.058),
    (-0.038, 0.050),
    (0.008, 0.050),
)
BUCKET_SIDE, BUCKET_PLATE = 0.066, 0.007


def bucket_capsules() -> NDArray[np.float64]:
    """What the guard sees of the bucket: ax ay az bx by bz radius (n, 7) [m], in the frame of the meshes."""
    y, r = BUCKET_SIDE, BUCKET_PLATE
    rows = []
    for (x0, z0), (x1, z1) in itertools.pairwise(BUCKET_SECTION):
        rows += [[x0, side, z0, x1, side, z1, r] for side in (-y, y)]
    # across: lip, bends, front of the top plate; along: the middle of the floor
    rows += [[x, -y, z, x, y, z, r] for x, z in (BUCKET_SECTION[k] for k in (0, 3, 5, 8))]
    rows.append([BUCKET_SECTION[0][0], 0.0, BUCKET_SECTION[0][1], BUCKET_SECTION[1][0], 0.0, BUCKET_SECTION[1][1], r])
    # front edges of the cheeks, and the mount
    rows += [[0.010, side, 0.056, 0.066, side, 0.150, 0.009] for side in (-y, y)]
    rows.append([0.0, 0.0, 0.0, -0.012, 0.0, 0.026, 0.044])
    return np.array(rows)


BUCKET_APART = (0, 1, 2, 3, 4, 5)  # frames of the arm it must not meet
# from the flange to the bucket: half a turn about z, so that the mouth faces the base as a backhoe's does, and a lean
# of half a radian about y, as the mount of the mesh has it
BUCKET_ROWS = np.array([[0.0, 0.0, 0.0, 1.5 * math.pi], [0.0, -0.5, 0.0, -0.5 * math.pi]])


def bucket_sdf() -> Sdf:
    """The bucket as a tool: shell and two cheeks, each a field of its own."""
    # on one thread: making a task starts none
    shell = Sdf.from_mesh(asset_path("bucket_shell.stl"), spacing=0.002, num_threads=1)
    cheek = Sdf.from_mesh(asset_path("bucket_cheek.stl"), spacing=0.002, num_threads=1)
    return Sdf.union(shell, cheek.at((0.0, 0.067, 0.0)), cheek.at((0.0, -0.067, 0.0)))


def walls(half_x: float, half_y: float, height: float) -> Floats:
    """Four walls around a rectangle, open above, on the table: centre and half extents (4, 6) [m]."""
    t, h = 0.5 * WALL, 0.5 * height
    return np.array(
        [
            [half_x + t, 0.0, h, t, half_y + WALL, h],
            [-half_x - t, 0.0, h, t, half_y + WALL, h],
            [0.0, half_y + t, h, half_x + WALL, t, h],
            [0.0, -half_y - t, h, half_x + WALL, t, h],
        ]
    )


def walls_sdf(table: Floats) -> Sdf:
    """Walls as a tool, a part each, so that grains in corners feel both."""
    return Sdf.union(Sdf.box(row[3:]).at(row[:3]) for row in table)


@lru_cache(maxsize=1)
def make_arm() -> Arm:
    """The Panda with the bucket; the same for all tasks of this process, and never changed."""
    tool = ArmTool(BUCKET_ROWS, bucket_sdf(), bucket_capsules(), BUCKET_APART)
    return Arm(load_arm("panda.json"), tool)


class ExcavatorTask(Task):
    """The excavator task in `env_count` envs.

    ## Description
    A 7-joint arm (Franka Emika Panda) with a bucket scoops grains from a tray into a bin. The arm's limits hold:
    acceleration, end stops, 1.7 m/s, no contact with itself, table, tray or bin. Control runs at 20 Hz.

    ## Action Space
    Box (7,) float32 in [-1, 1]: joint velocities, 1 = the joint's largest (2.175 rad/s for joints 1 to 4, 2.61 rad/s
    for 5 to 7).

    ## Observation Space
    Dict of
    - "wrist" (36, 36) float32: depth [m] of a camera on the bucket, 0.03 .. 0.6 m;
    - "side" (36, 72) float32: depth [m] of a fixed camera, 0.3 .. 2.5 m; a miss reads `far`;
    - "joints" (7,) float32 [rad];
    - "velocities" (7,) float32 [rad/s];
    - "wrench" (6,) float32: mean force [N] and torque [N m] of the grains on the bucket over the step, in the bucket's
      frame, clipped to 200 N and 50 N m; 0 after a reset;
    - "bin" (2,) float32: x, y of the bin on the table [m].

    With depth="uint8" the images are (1, H, W) uint8, 0 near and 255 far.

    ## Rewards
    The change over the step of a score: 100 points for all grains in the bin, minus `spill_penalty` times 100 for all
    on the table, minus 10 per metre of the grains' mean distance from the bin; with reward="level" the score itself.

    ## Starting State
    A settled bed (flat, ridge or slope) in the tray; the bin's direction and distance from the arm's base; the arm's
    posture; the friction between grains; all drawn from the seed within the limits of the difficulty.

    ## Episode End
    Truncated after 600 steps of 0.05 s. Terminated, with `force_limit` only, where the grains ask for more torque.

    Infos: "bin_share", "spill_share", "lifted_share" of the grains (in the bin; on the table; above 0.15 m), "success"
    (bin_share and spill_share meet the difficulty's), "torque_share" (largest joint torque that holds the grains'
    wrench over the joint's limit), "overloaded" (that share was above `force_limit`), "guard" (bits: 1 end stop, 2
    Cartesian speed, 4 collision), "fast_tool_count", "bin" (2,) [m], and what every task reports
    (docs/tasks/README.md).

    ## Arguments
    - `env_count`: number of envs.
    - `reward`: "incremental" or "level".
    - `spill_penalty`: points lost per spilled grain over points earned per grain in the bin, >= 0.
    - `force_limit`: None, or the share of the arm's joint torques above which an episode is terminated; 1: the real
      arm's. Its own weight is not counted.
    - `bucket_stiffness`: None: the bucket is rigid on the arm, which goes through any bed. Else [N/m] of a spring
      between flange and bucket, which gives way along all axes and turns with the flange; the solver then iterates
      until velocities change by less than 1 mm/s, at most 100 times, with any preset.
    - others: see `Task`; preset "train" (dt 3.3 ms), "fast" (2.5 ms, both less for small grains) or "accurate" (0.5 ms,
      as in the paper); difficulty "easy", "medium" or "hard", see DIFFICULTIES.

    ## Version History
    - v1: `ExcavatorV1Task`.
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        DescriptionError: the arm's description file is damaged.
        BackendError: the device is missing.
    """

    episode_state: ClassVar[tuple[str, ...]] = (
        "joints",
        "velocities",
        "bin",
        "events",
        "torque_share",
        "score",
        "gain",
        "shares",
    )
    control_period = CONTROL_PERIOD
    radius_of_2000 = RADIUS_OF_2000
    density = DENSITY
    images: Mapping[str, Image] = {"wrist": Image(WRIST_CAMERA, "bucket"), "side": Image(SIDE_CAMERA)}
    pads: Sequence[TouchPad] = (TouchPad("bucket", "y", (-0.07, -0.02), (0.08, 0.162)),)  # its section
    depth_view = "side"
    view: DepthCamera = view_camera((1.55, -1.25, 1.15), (0.16, 0.02, 0.24))
    difficulties: ClassVar[Mapping[str, Difficulty]] = DIFFICULTIES
    difficulty: Difficulty
    # no tool may move over half a radius per substep; the guard limits the speed. Grains that fall from the bucket are
    # faster than it: with longer steps in "train" many grains would move over half a radius, see `fast_count`
    presets: ClassVar[Mapping[str, Preset]] = {
        "train": Preset(3.5e-3, 0.5, 10, 0.03),
        "fast": Preset(2.5e-3, 0.5, 10),
        "accurate": Preset(5e-4, 0.5, 10),
    }
    grains: ClassVar[tuple[str, ...]] = GRAIN_SHAPES
    matters: ClassVar[tuple[str, ...]] = tuple(MATTERS)
    settling: Settling = Settling(0.5, 20, 2e-3)
    tray: ClassVar[tuple[float, float, float, float]] = (*TRAY_CENTER, *TRAY_HALF)
    score: Floats
    gain: Floats

    def __init__(
        self,
        env_count: int = 1,
        *,
        reward: str = "incremental",
        spill_penalty: float = 1.0,
        force_limit: float | None = None,
        bucket_stiffness: float | None = None,
        **kwargs: Any,
    ) -> None:
        self.bucket_stiffness: float | None = None
        if bucket_stiffness is not None:
            self.bucket_stiffness = checks.number("bucket_stiffness", bucket_stiffness, 1.0, 1e8)
        self.arm: Arm = make_arm()
        self.fastest: float = self.arm.description.tip_speed
        super().__init__(env_count, **kwargs)
        self.reward: str = checks.choice("reward", reward, ["incremental", "level"])
        self.spill_penalty: float = checks.number("spill_penalty", spill_penalty, 0.0, 1e6)
        self.force_limit: float | None = None
        if force_limit is not None:
            self.force_limit = checks.number("force_limit", force_limit, 0.0, 1e6, above=True)
        links = len(self.arm.shapes) - 1
        self.tool_colors: Sequence[tuple[int, int, int]] = (
            *(LINK_COLORS[k % 2] for k in range(links)),
            BUCKET_COLOR,
            TRAY_COLOR,
            BIN_COLOR,
        )
        self.action_space: spaces.Box = spaces.Box(-1.0, 1.0, (self.arm.joint_count,), np.float32)
        self.action_parts: Sequence[ActionPart] = [
            ActionPart(f"speed of joint {number}", full=f"{speed:.4g} rad/s")
            for number, speed in enumerate(self.arm.description.speed, 1)
        ]
        self.observation_space: spaces.Dict = self._observation_space()
        n, joints = self.env_count, self.arm.joint_count
        # of the drive: joints, velocities, events of the guard, bin
        self._driven: Floats = np.zeros((n, 2 * joints + 3))
        self._held_loads: tuple[Array, Array] | None = None
        self.boxes: Floats = self._boxes()
        self.torque_share: Floats = np.zeros(n)  # joint torques of the last step over their limits, largest
        self.score, self.gain = np.zeros(n), np.zeros(n)
        self.shares: Floats = np.zeros((n, 3))  # of the grains in the bin, on the table, lifted

    def _observation_space(self) -> spaces.Dict:
        def vector(high: Any, low: Any = None) -> spaces.Box:
            top = np.asarray(high, np.float32)
            return spaces.Box(-top if low is None else np.asarray(low, np.float32), top, dtype=np.float32)

        arm = self.arm.description
        return spaces.Dict(
            {
                **self.depth_images.spaces(),
                "joints": vector(arm.upper, arm.lower),
                "velocities": vector(arm.speed),
                "wrench": vector(np.repeat(WRENCH_LIMIT, 3)),
                "bin": vector(WORLD_UPPER[:2], WORLD_LOWER[:2]),
            }
        )

    # the state of the drive ------------------------------------------------------------------------------------------

    @property
    def joints(self) -> Floats:
        """Angles of the joints (env_count, joints) [rad]."""
        return self._driven[:, : self.arm.joint_count]

    @joints.setter
    def joints(self, values: Floats) -> None:
        self.joints[:] = values

    @property
    def velocities(self) -> Floats:
        """Of the joints (env_count, joints) [rad/s]."""
        return self._driven[:, self.arm.joint_count : -3]

    @velocities.setter
    def velocities(self, values: Floats) -> None:
        self.velocities[:] = values

    @property
    def events(self) -> NDArray[np.int32]:
        """Of the guard in the last step (env_count,), as bits."""
        return self._driven[:, -3].astype(np.int32)

    @events.setter
    def events(self, values: NDArray[np.int32]) -> None:
        self._driven[:, -3] = values

    @property
    def bin(self) -> Floats:
        """x and y of the bin (env_count, 2) [m]."""
        return self._driven[:, -2:]

    @bin.setter
    def bin(self, values: Floats) -> None:
        self.bin[:] = values

    # the scene -------------------------------------------------------------------------------------------------------

    def bed_scene(self, number: int) -> Scene:
        """Arm, bin, and a tray with grains."""
        scene = Scene(bounds=(WORLD_LOWER, WORLD_UPPER), boundary={"x": "wall", "y": "wall", "z": ("wall", "open")})
        sand, steel = add_sand_and_steel(scene, self.form, DENSITY, GRAIN_FRICTION, 0.3, on_steel=(0.3, 0.1))
        form = self.form
        points = bed_lattice(BEDS[number], self.grain_count, form.reach, form.looseness)
        form.add_to(scene, sand, points, number)
        frames = self.arm.frames(np.array([HOME]))[0].copy()
        frames[:, 2] *= form.looseness  # out of the way of a lattice that is higher
        names = [f"link{k}" for k in range(len(self.arm.shapes) - 1)] + ["bucket"]
        for (frame, sdf), name in zip(self.arm.shapes, names, strict=True):
            scene.add_tool(sdf, name=name, material=steel, pose=frames[frame], **self.moved_by(frame))
        tray = walls_sdf(walls(*TRAY_HALF, TRAY_HEIGHT))
        scene.add_tool(tray, name="tray", material=steel, pose=(*TRAY_CENTER, 0.0))
        scene.add_tool(walls_sdf(self._bin_walls()), name="bin", material=steel, pose=(0.0, 0.6, 0.0))
        return scene

    def moved_by(self, frame: int) -> dict[str, Any]:
        """What moves the link of a frame: arguments of `Scene.add_tool`; by default its targets."""
        if self.bucket_stiffness is None or frame != self.arm.shapes[-1][0]:
            return {}
        damping = 2.0 * MOUNT_DAMPING * math.sqrt(self.bucket_stiffness * MOUNT_MASS)
        return {"mass": MOUNT_MASS, "stiffness": self.bucket_stiffness, "damping": damping}

    def pace_of(self, preset: Preset) -> Pace:
        """See `Task.pace_of`; forces on a bucket on a spring are those of a solve that has converged."""
        pace = super().pace_of(preset)
        if self.bucket_stiffness is None:
            return pace
        return replace(pace, iterations=MOUNT_ITERATIONS, tolerance=MOUNT_TOLERANCE)

    def _bin_walls(self) -> Floats:
        return walls(self.difficulty.bin_half, self.difficulty.bin_half, self.difficulty.bin_height)

    def _loads(self) -> tuple[Array, Array]:
        """Joint torques that hold the grains on the bucket, and their wrenches in its frame, where the joints are."""
        if self._held_loads is None:
            self._held_loads = self.arm.loads(self.joints, self._bucket_wrenches())
        return self._held_loads

    def _bucket_wrenches(self) -> Floats:
        """Mean wrenches of the grains on the bucket over the last control period (env_count, 6), world axes."""
        wrenches: Floats = self.results.wrenches[:, len(self.arm.shapes) - 1]
        return wrenches

    def load(self, saved: dict[str, Any] | None) -> None:
        """See `Task.load`."""
        super().load(saved)
        self._held_loads = None
        self.boxes = self._boxes()

    def _obstacles(self) -> tuple[Floats, NDArray[np.bool_]]:
        """Table and walls of tray and bin, (9, 10) as in Arm.clearance, and which of them stand at the bin."""
        tray, bin_walls = walls(*TRAY_HALF, TRAY_HEIGHT), self._bin_walls()
        out = np.zeros((1 + len(tray) + len(bin_walls), 10))
        out[:, 3] = 1.0
        out[0, 2], out[0, 7:] = -0.5, (5.0, 5.0, 0.5)
        out[1:5, :3], out[1:5, 7:] = tray[:, :3] + (*TRAY_CENTER, 0.0), tray[:, 3:]
        out[5:, :3], out[5:, 7:] = bin_walls[:, :3], bin_walls[:, 3:]
        return out, np.arange(len(out)) >= 5

    def blocks(self) -> Floats:
        """The obstacles of each env, (env_count, 9, 10)."""
        boxes, at_bin = self._obstacles()
        out = np.repeat(boxes[None], self.env_count, axis=0)
        out[:, at_bin, :2] += self.bin[:, None]
        return out

    def drive(self) -> Drive:
        """The arm within its limits; tray and bin stand, the bin where the episode has it."""
        still = np.zeros((2, 7))
        still[:, 3] = 1.0
        still[0, :2] = TRAY_CENTER
        return self.arm.drive(CONTROL_PERIOD, still, (False, True), *self._obstacles())

    def _drive_state(self) -> Floats:
        """Joints, velocities, events of the guard, bin: (env_count, 2 joints + 3)."""
        return self._driven

    def _tool_poses(self, envs: NDArray[np.int32]) -> Floats:
        """Of arm, tray and bin in the listed envs, (n, tool_count, 7)."""
        return self.world.drive_poses(self._drive_state()[envs])

    # episodes --------------------------------------------------------------------------------------------------------

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """Draws bed, bin and posture of each listed env, and sets grains, arm and bin."""
        world, difficulty = self.world, self.difficulty
        chosen = np.zeros(len(envs), np.int64)
        for row, env in enumerate(envs):
            draw = self.generator(env)
            chosen[row] = BEDS.index(difficulty.beds[draw.integers(len(difficulty.beds))])
            side = -1.0 if difficulty.both_sides and draw.random() < 0.5 else 1.0
            angle, distance = side * draw.uniform(*difficulty.azimuth), draw.uniform(*difficulty.distance)
            self.bin[env] = distance * math.cos(angle), distance * math.sin(angle)
            self.joints[env] = np.array(HOME) + draw.uniform(-difficulty.jitter, difficulty.jitter, len(HOME))
            self.friction[env] = draw.uniform(*self.friction_range)
        self.load_beds(envs, chosen)
        self._held_loads = None
        self.boxes = self._boxes()
        self.velocities[envs], self._driven[envs, -3], self.torque_share[envs] = 0.0, 0.0, 0.0
        world.set_tool_poses(self._tool_poses(envs), envs=envs)
        self.set_materials(envs)
        self._measure()
        self.gain[envs] = 0.0

    def advance(self, actions: Any, idle: NDArray[np.bool_]) -> None:
        """One control period."""
        self._driven = self._moved(actions, idle)
        self._held_loads = None
        self.torque_share = _core.largest_shares(self._loads()[0], self.arm.description.torque)
        before = self.score
        self._measure()
        self.gain = self.score - before

    def _moved(self, actions: Any, idle: NDArray[np.bool_]) -> Floats:
        """Steps the world; the state of the drive afterwards."""
        return self.simulate_driven(actions, idle, self._drive_state())

    def readings(self) -> dict[str, Any]:
        """Forces on the bucket."""
        return {"wrenches": True}

    def counted(self) -> dict[str, Any]:
        """Grains in the boxes, which stay where they are for a whole episode."""
        return {"boxes": self.boxes}

    def _boxes(self) -> Floats:
        """Of the bin; of floor, tray and bin with their walls, as high as what was spilled lies; of what is lifted.

        (env_count, 5, 6) [m].
        """
        difficulty = self.difficulty
        rim, top = difficulty.bin_half + WALL, SPILL_LAYERS * self.radius
        bins = np.concatenate([self.bin, np.zeros((self.env_count, 1))], axis=1)

        def box(center: Any, half: Any, high: float) -> tuple[Floats, Floats]:
            offset = np.array([half[0], half[1], 0.0])
            return center - offset, center + offset + (0.0, 0.0, high)

        tray_rim = (TRAY_HALF[0] + WALL, TRAY_HALF[1] + WALL)
        corners = np.empty((2, self.env_count, 5, 3))
        corners[:, :, 0] = box(bins, (difficulty.bin_half, difficulty.bin_half), difficulty.bin_height)
        corners[0, :, 1], corners[1, :, 1] = WORLD_LOWER, (*WORLD_UPPER[:2], top)
        corners[:, :, 2] = np.array(box((*TRAY_CENTER, 0.0), tray_rim, top))[:, None]
        corners[:, :, 3] = box(bins, (rim, rim), top)
        corners[0, :, 4], corners[1, :, 4] = (*WORLD_LOWER[:2], LIFTED), WORLD_UPPER
        return np.concatenate(corners, axis=2).astype(np.float32)

    def _measure(self) -> None:
        """Where the grains of all envs are, and the score."""
        self.shares = self.sums_of(self.results.box_counts, SHARES)
        self.score = (
            100.0 * self.shares[:, 0]
            - 100.0 * self.spill_penalty * self.shares[:, 1]
            - SHAPING * self.results.box_distances[:, 0].astype(np.float64)
        )

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `Task.evaluate`; terminated where the arm was overloaded."""
        reward = self.gain if self.reward == "incremental" else self.score
        overloaded = np.zeros(self.env_count, bool)
        if self.force_limit is not None:
            overloaded = self.torque_share > self.force_limit
        difficulty = self.difficulty
        infos: Arrays = {
            "bin_share": self.shares[:, 0].copy(),
            "spill_share": self.shares[:, 1].copy(),
            "lifted_share": self.shares[:, 2].copy(),
            "success": (self.shares[:, 0] >= difficulty.share) & (self.shares[:, 1] <= difficulty.spill),
            "torque_share": self.torque_share.copy(),
            "overloaded": overloaded.copy(),
            "guard": self._driven[:, -3].astype(np.int64),
            "fast_tool_count": self.results.fast_tool_count.copy(),
            "bin": self.bin.astype(np.float32),
        }
        return reward.copy(), overloaded, infos

    def sense(self) -> Arrays:
        """Joints, wrench and the position of the bin of all envs."""
        vectors = {
            "joints": self.joints,
            "velocities": self.velocities,
            "wrench": self._wrench(),
            "bin": self.bin,
        }
        return self.vectors(vectors)

    def _wrench(self) -> Floats:
        """Of the grains on the bucket in its frame (env_count, 6)."""
        return self.unless_fresh(self._loads()[1])


class ExcavatorV1Task(Scaled, ExcavatorTask):
    """The excavator task in `env_count` envs, with rewards that add up to about 1.

    ## Description, Action Space, Observation Space, Starting State, Episode End, Arguments
    Those of `ExcavatorTask`; the same seed and actions give the same episode. With observation="state" there is "state"
    alone, see `granular_gym.envs.excavator_state.VECTOR`.

    ## Rewards
    The change of the score of `ExcavatorTask` over the step, over the 20 points of a perfect episode; with
    reward="paper" the change itself.

    ## Version History
    - v1: rewards scaled; observation="state".
    - v0: `ExcavatorTask`.

    Raises:
        ArgumentError: an argument is not what it should be.
        DescriptionError: the arm's description file is damaged.
        BackendError: the device is missing.
    """

    full_return: ClassVar[float] = FULL_RETURN
    state_vector: StateVector | None = VECTOR
    grid: ClassVar[HeightGrid] = tray_grid(ExcavatorTask.tray)

    def _bucket(self) -> Floats:
        """Frames of the buckets (env_count, 7)."""
        return self.arm.frames(self.joints)[:, -1]

    def readings(self) -> dict[str, Any]:
        """For `sense_state` also the bed."""
        return super().readings() | ({"columns": self.grid.columns} if self.reads_state else {})

    def counted(self) -> dict[str, Any]:
        """For `sense_state` also what the bucket holds."""
        return super().counted() | ({"turned_boxes": inside_boxes(self._bucket())} if self.reads_state else {})

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        vectors: NDArray[np.float32] = state_of(
            self.grid,
            self.arm.description,
            joints=self.joints,
            velocities=self.velocities,
            bucket=self._bucket(),
            tray=TRAY_CENTER,
            bins=self.bin,
            bin_height=self.difficulty.bin_height,
            wrench=self._wrench(),
            load=self.torque_share,
            held=self.shares_of(self.results.turned_box_counts[:, 0]),
            shares=self.shares,
            heights=self.grid.heights_of(self.results.column_counts, GRAIN_VOLUME / self.world_grain_count),
        )
        return vectors


def bed_lattice(shape: str, grain_count: int, radius: float, looseness: float = 1.0) -> Floats:
    """Positions of the grains before they settle: a jittered lattice in the tray, cut to a shape, (n, 3) [m].

    The lattice points with the smallest key are taken, so that each shape comes out with exactly `grain_count` grains.

    Args:
        shape: one of BEDS.
        grain_count: number of grains.
        radius: of a grain, or of the ball that holds it [m].
        looseness: of the lattice, see `GrainForm`.
    """
    step, shake = 2.3 * radius, 0.14 * radius
    nx, ny = (max(int((2.0 * half - 2.0 * radius) / step) + 1, 1) for half in TRAY_HALF)
    layers = 4 * math.ceil(grain_count / (nx * ny)) + 2
    i, j, k = (a.ravel() for a in np.meshgrid(np.arange(nx), np.arange(ny), np.arange(layers), indexing="ij"))
    x, y = ((n - 0.5 * (count - 1)) * step for n, count in ((i, nx), (j, ny)))
    z = k * step
    level = z / looseness
    if shape == "flat":
        key = level
    elif shape == "ridge":
        key = level + 0.3 * np.hypot(x, y)
    else:
        key = level - 0.15 * x
    chosen = np.sort(np.argsort(key, kind="stable")[:grain_count])
    points = np.stack([x + TRAY_CENTER[0], y + TRAY_CENTER[1], z + 1.2 * radius], axis=1)[chosen]
    jitter = np.random.Generator(np.random.PCG64(BEDS.index(shape))).uniform(-shake, shake, points.shape)
    return (points + jitter).astype(np.float32)


ExcavatorEnv: type[GranularEnv]
ExcavatorVectorEnv: type[GranularVectorEnv]
ExcavatorEnv, ExcavatorVectorEnv = env_classes(ExcavatorTask)
ExcavatorV1Env: type[GranularEnv]
ExcavatorV1VectorEnv: type[GranularVectorEnv]
ExcavatorV1Env, ExcavatorV1VectorEnv = env_classes(ExcavatorV1Task)
