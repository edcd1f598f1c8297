"""readout.py: what is read from a running world: sizes, grains, tools, counters, counts of grains, images.

Nothing here changes the world. What it returns is always a fresh array: NumPy's, or, where `output` says so, one that
stays on the world's GPU.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.contacts import Contacts
from granular_gym.engine.frozen import FrozenScene, Mounted, tool_index
from granular_gym.engine.outputs import as_torch, check_output
from granular_gym.errors import ArgumentError, BackendError

Floats = NDArray[np.float32]
#: tools that the engine makes of the faces of the bounds, ahead of the user's
WALL_COUNT = 6
_WALL_COLOR = (205, 205, 210)
_TOOL_COLOR = (232, 164, 58)


class Readout:
    """The reading half of a `World`.

    Attributes:
        env_count: number of envs.
        device: "cpu" or the GPU, "cuda:0".
    """

    _core: _core.World
    _frozen: FrozenScene
    env_count: int
    device: str

    # ---- sizes ----

    @property
    def grain_count(self) -> int:
        """Grains per env."""
        return self._frozen.grain_count

    @property
    def planar(self) -> bool:
        """Whether grains are shapes in the plane."""
        return self._frozen.arrays["planar"] is not None

    @property
    def tool_count(self) -> int:
        """Tools per env, without walls."""
        return self._frozen.tool_count

    @property
    def material_count(self) -> int:
        """Materials."""
        return self._frozen.material_count

    @property
    def tool_names(self) -> list[str]:
        """Names of the tools by index."""
        return list(self._frozen.tool_names)

    @property
    def camera_names(self) -> list[str]:
        """Names of the cameras by index."""
        return list(self._frozen.cameras)

    @property
    def info(self) -> dict[str, Any]:
        """Sizes and settings: memory [bytes], thread_count, kernel (instruction set), solver with safe values, ...; and
        waits, how often this world and its arrays have waited for the GPU."""
        return self._core.info()

    # ---- reading ----

    def read(self, name: str, output: str = "numpy") -> Any:
        """What the property `name` holds, where and as `output` says.

        Args:
            name: positions, velocities, angular_velocities, angles (planar grains), radii, grain_materials, tool_poses,
                wrenches or wall_wrenches.
            output: "numpy": a NumPy array on the host. "device": a DeviceArray; a world on the CPU has none. "torch": a
                tensor on the world's GPU, or on the host where the world runs on the CPU; it shares the memory of the
                array it is made from, without a copy. Each is fresh: no later call changes it, and the caller may.

        Raises:
            ArgumentError: an unknown name or output.
            BackendError: "device", and the world runs on the CPU.
            GranularError: "torch" is not installed.
            MemoryError: no room on the GPU; the world goes on.
        """
        core = self._core
        readers: dict[str, Callable[[bool], Any]] = {
            "positions": lambda device: core.get_grains("position", device),
            "velocities": lambda device: core.get_grains("velocity", device),
            "angular_velocities": lambda device: core.get_grains("angular_velocity", device),
            "angles": lambda device: core.get_grains("angle", device),
            "radii": lambda device: core.get_grains("radius", device),
            "grain_materials": lambda device: core.get_grains("material", device),
            "tool_poses": core.get_tool_poses,
            "wrenches": lambda device: core.get_wrenches(False, device),
            "wall_wrenches": lambda device: core.get_wrenches(True, device),
        }
        return self._give(readers[checks.choice("name", name, list(readers))], output)

    def put(self, array: Any, output: str = "device") -> Any:
        """A host array as `output`, see `read`: copied to the world's GPU where it has one.

        Args:
            array: at most 4 axes of float32, float64, int32, int64, uint8 or bool.
            output: see `read`; on the CPU the result may share the memory of `array`.
        """
        values = np.asarray(array, order="C")
        return self._give(lambda device: self._core.to_device(values) if device else values, output)

    def _give(self, read: Callable[[bool], Any], output: str) -> Any:
        """The answer of `read(on the GPU?)` as `output`."""
        if output == "numpy":
            return read(False)
        check_output(output)
        on_gpu = self.device != "cpu"
        if output == "device" and not on_gpu:
            raise BackendError("output: expected numpy or torch, got 'device': this world runs on the CPU")
        answer = read(on_gpu)
        if output != "torch":
            return answer
        return tuple(map(as_torch, answer)) if isinstance(answer, tuple) else as_torch(answer)

    # ---- grains ----

    @property
    def positions(self) -> Floats:
        """Centres (env_count, grain_count, 3) [m]."""
        return self._core.get_grains("position")

    @property
    def velocities(self) -> Floats:
        """(env_count, grain_count, 3) [m/s]."""
        return self._core.get_grains("velocity")

    @property
    def angular_velocities(self) -> Floats:
        """(env_count, grain_count, 3) [rad/s]."""
        return self._core.get_grains("angular_velocity")

    @property
    def angles(self) -> Floats:
        """Of planar grains (env_count, grain_count), -pi .. pi [rad].

        Raises:
            ArgumentError: the grains are spheres.
        """
        return self._core.get_grains("angle")

    @property
    def radii(self) -> Floats:
        """(env_count, grain_count) [m]."""
        return self._core.get_grains("radius")

    @property
    def grain_materials(self) -> NDArray[np.int32]:
        """Material of each grain (env_count, grain_count)."""
        return self._core.get_grains("material")

    # ---- parameters ----

    @property
    def gravity(self) -> Floats:
        """(env_count, 3) [m/s2]."""
        return self._core.get_gravity()

    @property
    def air(self) -> Floats:
        """Density [kg/m3], viscosity [Pa s] and wind x y z [m/s] of the air (env_count, 5); see `Air`."""
        return self._core.get_air()

    @property
    def material_names(self) -> list[str]:
        """Names of the materials by index."""
        return list(self._frozen.material_names)

    @property
    def materials(self) -> tuple[Floats, Floats]:
        """Pairs (env_count, m, m, 6), columns as in `Pair`; and densities (env_count, m) [kg/m3]."""
        return self._core.get_materials()

    # ---- tools ----

    @property
    def tool_poses(self) -> Floats:
        """(env_count, tool_count, 7): x y z qw qx qy qz."""
        return self._core.get_tool_poses()

    @property
    def wrenches(self) -> Floats:
        """Mean force [N] and torque about the tool's origin [N m] that the grains exerted over the last step.

        (env_count, tool_count, 6), world axes.
        """
        return self._core.get_wrenches(False)

    @property
    def wall_wrenches(self) -> Floats:
        """The same on the walls (env_count, 6, 6): x lower, x upper, y lower, y upper, z lower, z upper."""
        return self._core.get_wrenches(True)

    # ---- read-out ----

    @property
    def stats(self) -> dict[str, NDArray[Any]]:
        """Counters of the last step by name, each (env_count,); see gg_env_stats in csrc/state/settings.h."""
        return self._core.get_stats()

    def counters(self, fresh: NDArray[np.bool_] | None = None) -> dict[str, NDArray[Any]]:
        """What tasks tell of the last step: the counters that say how far to trust it.

        Args:
            fresh: (env_count,) envs that made no step since they were reset: all of theirs is 0; None: none of them.

        Returns:
            By name, each (env_count,): overlap_mean, overlap_max [share of a diameter] and residual [m/s] as float64,
            0 where they are not finite; escaped_count, fast_count and contact_count as int64; diverged as bool.

        Raises:
            ArgumentError: `fresh` is no array of bools of that shape.
        """
        return self._core.get_counters(fresh)

    def contacts(self, env: int = 0) -> Contacts:
        """The contacts of one env in its last substep and their impulses, on the host.

        Wrenches are means over a call of `step`, these are not. None before the first step and after grains were set; a
        loaded state brings its own.

        Args:
            env: index of the env.

        Raises:
            ArgumentError: not an env of this world, or the world is planar.
        """
        return Contacts(*self._core.get_contacts(checks.integer("env", env, 0, self.env_count - 1)))

    def box_stats(self, lower: Any, upper: Any, output: str = "numpy") -> tuple[Any, Any]:
        """Grains in boxes along the axes, and how far all are from them.

        Args:
            lower: corner [m]: (3,), one per env (env_count, 3), or n boxes of each env (env_count, n, 3).
            upper: the other corner [m], likewise.
            output: see `read`.

        Returns:
            Number of grains whose centre lies in the box, int64 (env_count,) or (env_count, n), and the mean distance
            of all centres to the box [m], float32 of that shape.
        """
        shapes = (3,), (self.env_count, 3), (self.env_count, None, 3)
        low, high = checks.floats("lower", lower, *shapes), checks.floats("upper", upper, *shapes)
        if max(low.ndim, high.ndim) == 3 and low.shape != high.shape:
            raise ArgumentError(f"upper: expected the shape of lower, {low.shape}, got {high.shape}")
        shape = low.shape[:2] if low.ndim == 3 else (self.env_count,)
        boxes = np.empty((*shape, 6), np.float32)
        boxes[..., :3], boxes[..., 3:] = low, high
        boxes = boxes.reshape(self.env_count, shape[1] if low.ndim == 3 else 1, 6)

        def read(device: bool) -> Any:
            return tuple(sums.reshape(shape) for sums in self._core.box_stats(boxes, device))

        return self._give(read, output)

    def count_boxes(self, poses: Any, half_sizes: Any, output: str = "numpy") -> Any:
        """Grains in boxes that stand anyhow: each counts in the first box that holds its centre.

        Args:
            poses: (n, 7) or (env_count, n, 7), x y z qw qx qy qz of the middles [m].
            half_sizes: (n, 3) or (env_count, n, 3) along the axes of the boxes [m], >= 0.
            output: see `read`.

        Returns:
            int64 (env_count, n).
        """
        placed = checks.floats("poses", poses, (None, 7), (self.env_count, None, 7))
        count = placed.shape[-2]
        boxes = np.empty((self.env_count, count, 10), np.float32)
        boxes[:, :, :7] = placed
        boxes[:, :, 7:] = checks.floats("half_sizes", half_sizes, (count, 3), (self.env_count, count, 3))
        boxes[:, :, 3:7] = checks.unit_quaternions("poses", boxes[:, :, 3:7])
        return self._give(lambda device: self._core.count_boxes(boxes, device), output)

    def count_cells(self, lower: Any, upper: Any, shape: Any, labels: Any = None, output: str = "numpy") -> Any:
        """Grains by the cell of a grid that holds their centre; those outside the grid count at its edge.

        Args:
            lower: (3,) corner of the grid [m].
            upper: (3,) other corner [m], above the first along each axis.
            shape: cells along x, y, z, a million in all at most.
            labels: (env_count, grain_count) bools that tell two kinds of grains apart, or None.
            output: see `read`.

        Returns:
            int64 (env_count, *shape), with labels (env_count, *shape, 2): those with False, those with True.
        """
        grid = self._grid(lower, upper, shape, 3)
        kinds = None if labels is None else checks.bools("labels", labels, (self.env_count, self.grain_count))
        return self._give(lambda device: self._core.count_cells(*grid, kinds, device), output)

    def count_columns(self, lower: Any, upper: Any, shape: Any, output: str = "numpy") -> Any:
        """Grains by columns of a grid in plan; each is shared bilinearly between the four columns next to its centre.

        What falls beyond the edge of the grid is mirrored, so that no grain is lost.

        Args:
            lower: (2,) corner of the grid [m].
            upper: (2,) other corner [m], above the first along each axis.
            shape: columns along x, y, a million in all at most.
            output: see `read`.

        Returns:
            int64 (env_count, ny, nx), in units of 2**-20 grains.
        """
        grid = self._grid(lower, upper, shape, 2)
        return self._give(lambda device: self._core.count_columns(*grid, device), output)

    def profile(self, enable: bool) -> dict[str, float]:
        """Seconds spent in each phase since profiling was switched on; switches it on or off."""
        return self._core.profile(checks.flag("enable", enable))

    # ---- cameras ----

    def depth(
        self,
        camera: str | int,
        output: str = "numpy",
        *,
        limits: tuple[float, float] | None = None,
        dtype: str = "float32",
    ) -> Any:
        """Depth image of a camera of the scene in every env (env_count, height, width) [m]; misses read `far`.

        Args:
            camera: name or index.
            output: see `read`.
            limits: (near, far) [m] that depth is clipped to; None: the camera's own range.
            dtype: "float32" [m], or "uint8": 0 at the nearer limit, 255 at the further one.
        """
        index, mounted = self._camera(camera)
        whole = checks.choice("dtype", dtype, ("float32", "uint8")) == "uint8"
        if limits is None and not whole:
            return self._give(lambda device: self._core.depth(index, device), output)
        eye = mounted.camera
        near, far = (eye.near, eye.far) if limits is None else checks.pair("limits", limits)
        return self._give(lambda device: self._core.depth_image(index, near, far, whole, device), output)

    def height_map(self, camera: str | int) -> Floats:
        """Height z of what a camera that looks straight down sees (env_count, height, width) [m].

        Raises:
            ArgumentError: the camera is not orthographic, fixed in the world and pointed straight down.
        """
        index, mounted = self._camera(camera)
        eye = mounted.camera
        if eye.kind != "orthographic" or mounted.tool >= 0 or eye.forward[2] > -1.0 + 1e-6:
            raise ArgumentError(
                f"camera: expected a fixed orthographic camera that looks straight down, got {camera!r}"
            )
        return np.float32(eye.pose[2]) - self._core.depth(index)

    def picture(
        self,
        camera: DepthCamera | str | int,
        env: int = 0,
        *,
        tool: str | int | None = None,
        light: Any = (0.4, -0.5, 0.8),
        grain_colors: Any = None,
        tool_colors: Any = None,
        show_walls: bool = False,
        samples: int = 2,
    ) -> NDArray[np.uint8]:
        """A shaded picture of one env for people, (height, width, 3) uint8 sRGB.

        Args:
            camera: any camera, or one of the scene by name or index.
            env: index.
            tool: name or index of the tool a given camera rides on.
            light: direction towards the sun (3,).
            grain_colors: (grain_count, 3) uint8; None: sand.
            tool_colors: (tool_count, 3) uint8; None: one colour for all.
            show_walls: draw all walls, not only the floor.
            samples: rays per pixel along each axis, 1 .. 4.
        """
        if isinstance(camera, DepthCamera):
            rides = -1 if tool is None else tool_index("tool", tool, self._frozen.tool_names)
            mounted = Mounted(camera, rides)
        else:
            if tool is not None:
                raise ArgumentError("tool: expected None with a camera of the scene, which has its tool already")
            mounted = self._camera(camera)[1]
        sun = checks.vector("light", light)
        if not float(np.abs(sun).max()) > 0.0:
            raise ArgumentError(f"light: expected a direction, got {light!r}")
        walls = [_WALL_COLOR] * WALL_COUNT
        colors = [_TOOL_COLOR] * self.tool_count if tool_colors is None else tool_colors
        painted = np.concatenate([np.array(walls, np.uint8), _colors("tool_colors", colors, self.tool_count)])
        return self._core.picture(
            checks.integer("env", env, 0, self.env_count - 1),
            mounted.camera.integers(mounted.tool),
            mounted.camera.floats(),
            sun,
            None if grain_colors is None else _colors("grain_colors", grain_colors, self.grain_count),
            painted,
            checks.flag("show_walls", show_walls),
            checks.integer("samples", samples, 1, 4),
        )

    def state_hash(self, env: int | None = None) -> int:
        """Hash of position, velocity and spin of the grains and of the tool poses of one env, or of all (None)."""
        if env is not None:
            return self._core.state_hash(checks.integer("env", env, 0, self.env_count - 1))
        hashes = [self._core.state_hash(index) for index in range(self.env_count)]
        if len(hashes) == 1:
            return hashes[0]
        whole = hashlib.blake2b(struct.pack(f"<{len(hashes)}Q", *hashes), digest_size=8).digest()
        return int.from_bytes(whole, "little")

    # ---- helpers ----

    def _grid(self, lower: Any, upper: Any, shape: Any, axes: int) -> tuple[Floats, Floats, NDArray[np.int32]]:
        corners = checks.floats("lower", lower, (axes,)), checks.floats("upper", upper, (axes,))
        if not (corners[0] < corners[1]).all():
            raise ArgumentError(f"lower: expected less than upper along each axis, got {lower!r} and {upper!r}")
        return *corners, checks.integers("shape", shape, (axes,), 1, 2**31 - 1)

    def _camera(self, value: str | int) -> tuple[int, Mounted]:
        cameras = self._frozen.cameras
        if isinstance(value, str):
            if value not in cameras:
                raise ArgumentError(f"camera: expected one of {list(cameras)}, got {value!r}")
            return list(cameras).index(value), cameras[value]
        if not cameras:
            raise ArgumentError(f"camera: expected a camera of the scene, it has none, got {value!r}")
        index = checks.integer("camera", value, 0, len(cameras) - 1)
        return index, list(cameras.values())[index]


def _colors(name: str, value: Any, count: int) -> NDArray[np.uint8]:
    return checks.integers(name, np.asarray(value).reshape(-1, 3) if not count else value, (count, 3), 0, 255).astype(
        np.uint8
    )
