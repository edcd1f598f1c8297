"""world_images.py: images of the cameras of a world, pictures for people, and where what is read goes."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym._core import DeviceArray
from granular_gym.base import checks, names
from granular_gym.engine import colors, outputs
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.frozen import FrozenScene, Mounted
from granular_gym.engine.outputs import Output
from granular_gym.engine.point_clouds import PointCloud, points_of
from granular_gym.errors import ArgumentError, BackendError

Floats = NDArray[np.float32]
#: of depth images: metres, or shares of their limits
DepthType = Literal["float32", "uint8"]
#: of segmentations: codes, or classes
CodeType = Literal["int32", "uint8"]


class WorldImages:
    """What the cameras of a `World` see.

    Attributes:
        env_count: number of envs.
        device: "cpu" or the GPU, "cuda:0".
    """

    _core: _core.World
    _frozen: FrozenScene
    _paint: colors.Paint | None = None
    env_count: int
    device: str

    @property
    def grain_count(self) -> int:
        """Grains per env."""
        return self._frozen.grain_count

    @property
    def tool_count(self) -> int:
        """Tools per env, without walls."""
        return self._frozen.tool_count

    @overload
    def depth(
        self,
        camera: str | int,
        output: Literal["numpy"] = "numpy",
        *,
        limits: tuple[float, float] | None = None,
        dtype: Literal["float32"] = "float32",
    ) -> Floats: ...
    @overload
    def depth(
        self,
        camera: str | int,
        output: Literal["numpy"] = "numpy",
        *,
        limits: tuple[float, float] | None = None,
        dtype: Literal["uint8"],
    ) -> NDArray[np.uint8]: ...
    @overload
    def depth(
        self,
        camera: str | int,
        output: Literal["device"],
        *,
        limits: tuple[float, float] | None = None,
        dtype: DepthType = "float32",
    ) -> DeviceArray: ...
    @overload
    def depth(
        self,
        camera: str | int,
        output: Output,
        *,
        limits: tuple[float, float] | None = None,
        dtype: DepthType = "float32",
    ) -> Any: ...
    def depth(
        self,
        camera: str | int,
        output: Output = "numpy",
        *,
        limits: tuple[float, float] | None = None,
        dtype: DepthType = "float32",
    ) -> Any:
        """Depth image of a camera of the scene in every env (env_count, height, width) [m]; misses read `far`.

        A camera draws when it is read, and again only in envs whose grains or tools have changed since.

        Args:
            camera: name or index.
            output: see `read`.
            limits: (near, far) [m] that depth is clipped to; None: the camera's own range.
            dtype: "float32" [m], or "uint8": 0 at the nearer limit, 255 at the further one.
        """
        index, near, far, whole = self._image(camera, limits, dtype)
        if limits is None and not whole:
            return self._read_as(lambda device: self._core.depth(index, device), output)
        return self._read_as(lambda device: self._core.depth_image(index, near, far, whole, device), output)

    def point_cloud(self, camera: str | int, output: Output = "numpy", *, frame: str = "world") -> PointCloud:
        """The points that a camera of the scene sees in every env.

        Args:
            camera: name or index.
            output: "numpy" or "torch", see `read`; tensors are made where the world runs.
            frame: of the points: "world", or "camera": +x to the right of the image, +y down, +z along the view.

        Returns:
            Points (env_count, height * width, 3) [m] and which of them were seen; the others lie at `far`. For depth
            images that you have: `points_of`.

        Raises:
            ArgumentError: no such camera or frame, or output is "device".
        """
        in_world = checks.choice("frame", frame, ("world", "camera")) == "world"
        kind: Any = checks.choice("output", output, ("numpy", "torch"))
        mounted = self._camera(camera)[1]
        eye, tool = mounted.camera, mounted.tool
        depth = self.depth(camera, kind)
        if in_world:
            points = points_of(depth, eye, self._core.get_tool_poses()[:, tool] if tool >= 0 else None)
        else:
            points = points_of(depth, dataclasses.replace(eye, pose=(0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)))
        return PointCloud(points, depth.reshape(self.env_count, -1) < eye.far)

    def segmentation(
        self, camera: str | int, output: Output = "numpy", *, dtype: CodeType = "int32", far_is_floor: bool = False
    ) -> Any:
        """Whose surface `depth` sees at each pixel of a camera, in every env (env_count, height, width) int32.

        A grain reads its id, of a clump the sphere that is seen, of continuous matter the particle nearest to the
        surface. Other codes are negative:

        | code | class | seen |
        |---|---|---|
        | id >= 0 | 2 | grain |
        | -1 | 0 | nothing: depth reads `far` |
        | -2 | 1 | the floor, the only face of the bounds that cameras see |
        | -3 - k | 3 + k | tool k in the order of `tool_names`, fields of bodies and links of robots among them |

        Depth and segmentation come of one drawing. Where the depth of a camera is read at each step and its
        segmentation after it, it is drawn once.

        Args:
            camera: name or index.
            output: see `read`.
            dtype: "int32": codes; "uint8": classes, as learners want them, which do not tell grains apart.
            far_is_floor: what reads `far` is the floor, as where the camera's range ends there.

        Raises:
            ArgumentError: there is no such camera, `output` or `dtype` is unknown, or there are too many tools for a
                byte.
            BackendError: "device" on the CPU.
        """
        index, _ = self._camera(camera)
        whole = checks.choice("dtype", dtype, ("int32", "uint8")) == "uint8"
        floor = checks.flag("far_is_floor", far_is_floor)
        return self._read_as(lambda device: self._core.segmentation(index, whole, floor, device), output)

    def color(
        self,
        camera: str | int,
        output: Output = "numpy",
        *,
        far_is_floor: bool = False,
        channels_first: bool = False,
    ) -> Any:
        """What a camera sees in colour, in every env (env_count, height, width, 3) uint8 sRGB.

        One ray a pixel, the same as that of `depth`; surfaces are matt (Lambert) and cast no shadows; misses read the
        background. `paint` sets colours and light. The bytes are the same on every device. `picture` is for people.

        Args:
            camera: name or index.
            output: see `read`.
            far_is_floor: what reads `far` is the floor, as where the camera's range ends there.
            channels_first: (env_count, 3, height, width).

        Raises:
            ArgumentError: there is no such camera, or `output` is unknown.
            BackendError: "device" on the CPU.
        """
        index, _ = self._camera(camera)
        floor = checks.flag("far_is_floor", far_is_floor)
        first = checks.flag("channels_first", channels_first)
        if self._paint is None:
            self.paint()
        look = self._paint
        assert look is not None
        look_of = look.grain_colors, look.tool_colors, look.background, look.light, look.ambient
        return self._read_as(lambda device: self._core.color(index, *look_of, floor, first, device), output)

    def paint(
        self,
        *,
        grain_colors: Any = None,
        tool_colors: Any = None,
        background: Any = (190, 205, 220),
        light: Any = (0.4, -0.5, 0.8),
        ambient: float = 0.35,
    ) -> None:
        """Sets how surfaces look in `color` from now on, in all envs; copies, pickles and branches look alike.

        Args:
            grain_colors: (grain_count, 3) integers 0 .. 255, by grain id, or those of each env, (env_count,
                grain_count, 3), which go to a GPU at every reading; None: sand.
            tool_colors: (tool_count, 3) integers 0 .. 255; None: one colour for all.
            background: (3,) integers 0 .. 255, where nothing is seen.
            light: direction towards the light (3,), of any length but 0.
            ambient: share of the light that comes from everywhere, 0 .. 1.

        Raises:
            ArgumentError: an argument is not what it should be.
        """
        self._paint = colors.Paint(
            colors.grain_colors(grain_colors, self.grain_count, self.env_count),
            colors.tool_colors(tool_colors, self.tool_count),
            colors.background_color(background),
            colors.direction(light),
            checks.number("ambient", ambient, 0.0, 1.0),
        )

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
        heights: Floats = np.float32(eye.pose[2]) - self._core.depth(index)
        return heights

    def picture(
        self,
        camera: DepthCamera | str | int,
        env: int = 0,
        *,
        tool: str | int | None = None,
        light: Any = (0.4, -0.5, 0.8),
        grain_colors: Any = None,
        tool_colors: Any = None,
        floor_mark: Any = None,
        show_walls: bool = False,
        samples: int = 2,
    ) -> NDArray[np.uint8]:
        """A shaded picture of one env for people: sunlight, shadows, a floor under a sky (docs/your_own_task.md).

        In perspective the distance fades into the sky, in haze: the floor from 12 % of the camera's `far` on, all else
        from half of it, both wholly at `far`. Where the scene is to be clear, `far` is several times its distance.

        Args:
            camera: any camera, or one of the scene by name or index; nothing nearer than its `near` or further than its
                `far` is seen.
            env: index.
            tool: name or index of the tool that a given camera rides on: its pose is relative to the tool; None: fixed.
            light: direction towards the sun (3,), of any length but 0.
            grain_colors: (grain_count, 3) integers 0 .. 255, by grain id; None: sand.
            tool_colors: (tool_count, 3) integers 0 .. 255; None: one colour for all.
            floor_mark: a rectangle of the floor to tint, its edge more: (8,) lower x, y, upper x, y, width of the edge
                [m], red, green, blue 0 .. 255; None: none.
            show_walls: draw all walls, not only the floor.
            samples: rays per pixel along each axis, 1 .. 4; the time goes with its square.

        Returns:
            (height, width, 3) uint8 sRGB, row 0 at the top, as `Film.add` and `write_png` take it.

        Raises:
            ArgumentError: an argument is not what it should be.
            ClosedError: the world is closed.
        """
        mounted = self._mounted(camera, tool)
        sun = colors.direction(light)
        return self._core.picture(
            checks.integer("env", env, 0, self.env_count - 1),
            mounted.camera.integers(mounted.tool),
            mounted.camera.floats(),
            sun,
            colors.grain_colors(grain_colors, self.grain_count),
            colors.tool_colors(tool_colors, self.tool_count),
            None if floor_mark is None else _mark(floor_mark),
            checks.flag("show_walls", show_walls),
            checks.integer("samples", samples, 1, 4),
        )

    def picture_depth(self, camera: DepthCamera | str | int, env: int = 0, *, tool: str | int | None = None) -> Floats:
        """How far what `picture` shows is away, at the middle of each pixel: for marks drawn into it.

        Args:
            camera: see `picture`.
            env: index.
            tool: see `picture`.

        Returns:
            (height, width) [m]; misses read `far`. Walls other than the floor are not seen.

        Raises:
            ArgumentError: an argument is not what it should be.
            ClosedError: the world is closed.
        """
        mounted = self._mounted(camera, tool)
        number = checks.integer("env", env, 0, self.env_count - 1)
        return self._core.picture_depth(number, mounted.camera.integers(mounted.tool), mounted.camera.floats())

    # ---- helpers ----

    def _read_as(self, read: Callable[[bool], Any], output: Output) -> Any:
        """The answer of `read(on the GPU?)` as `output`."""
        if isinstance(output, str) and output == "numpy":
            return read(False)
        answer = read(self._stays_on_device(output))
        if output != "torch":
            return answer
        return tuple(map(outputs.as_torch, answer)) if isinstance(answer, tuple) else outputs.as_torch(answer)

    def _stays_on_device(self, output: Output) -> bool:
        """Whether what is read as `output` stays on the world's GPU."""
        if isinstance(output, str) and output == "numpy":
            return False
        outputs.check_output(output)
        on_gpu = self.device != "cpu"
        if output == "device" and not on_gpu:
            raise BackendError("output: expected numpy or torch, got 'device': this world runs on the CPU")
        return on_gpu

    def _image(
        self, camera: str | int, limits: tuple[float, float] | None = None, dtype: DepthType = "float32"
    ) -> tuple[int, float, float, bool]:
        """Index of the camera, nearest and furthest depth [m], and whether the image is of bytes."""
        index, mounted = self._camera(camera)
        whole = checks.choice("dtype", dtype, ("float32", "uint8")) == "uint8"
        eye = mounted.camera
        near, far = (eye.near, eye.far) if limits is None else checks.pair("limits", limits)
        return index, near, far, whole

    def _mounted(self, camera: DepthCamera | str | int, tool: str | int | None) -> Mounted:
        """A camera of the scene, or any camera and the tool that it rides on."""
        if isinstance(camera, DepthCamera):
            rides = -1 if tool is None else names.index("tool", tool, list(self._frozen.tool_names), "tool")
            return Mounted(camera, rides)
        if tool is not None:
            raise ArgumentError("tool: expected None with a camera of the scene, which has its tool already")
        return self._camera(camera)[1]

    def _camera(self, value: str | int) -> tuple[int, Mounted]:
        cameras = self._frozen.cameras
        index = names.index("camera", value, list(cameras), "camera")
        return index, list(cameras.values())[index]


def _mark(value: Any) -> Floats:
    mark = checks.floats("floor_mark", value, (8,))
    if not (mark[:2] <= mark[2:4]).all() or mark[4] < 0.0 or (mark[5:] < 0.0).any() or (mark[5:] > 255.0).any():
        raise ArgumentError(
            f"floor_mark: expected lower <= upper corner, edge >= 0 and a colour in 0 .. 255, got {mark.tolist()}"
        )
    return mark
