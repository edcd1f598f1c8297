"""world_view.py: one world in the scene of a viser server, and in pictures: bounds, floor, tools, grains, goal.

The server gets meshes once, then poses, positions and what else has changed.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.rotations import rotate
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.world import World
from granular_gym.exchange.surfaces import TOOL_COLORS, tool_surface
from granular_gym.tasks.grain_colors import linear, sand_colors

FLOOR_COLOR, EDGE_COLOR = (226, 226, 230), (120, 124, 132)
#: largest number of grains that are drawn as fine spheres
FINE_GRAINS = 5000
#: of pictures of a world that has no camera for them [pixels]
PICTURE_SHAPE = (480, 640)
#: how much further away than its camera a world is looked at: the panels leave less room than a picture has
ROOM = 0.2


@dataclasses.dataclass(frozen=True)
class Look:
    """How a world is shown.

    Attributes:
        grain_colors: of an env, (grain_count, 3) in 0 .. 255; None: sand.
        tool_colors: (tool_count, 3) in 0 .. 255; None: TOOL_COLORS.
        floor_mark: a rectangle of the floor in an env, as `World.picture` takes it, or None; None: none ever.
        camera: where the view begins, and what films see while no browser looks; None: above the lower y face.
    """

    grain_colors: Callable[[int], Any] | None = None
    tool_colors: Any = None
    floor_mark: Callable[[int], Any] | None = None
    camera: DepthCamera | None = None


class WorldView:
    """One world in the scene of a server.

    Args:
        server: of viser.
        root: name of the node of the scene that holds the world.
        world: the world.
        look: how it is shown.
        offset: of the world in the scene (3,) [m].
        label: text over the world; "": none.

    Raises:
        ArgumentError: colours of a wrong shape or kind.
    """

    def __init__(
        self, server: Any, root: str, world: World, look: Look, offset: Any = (0, 0, 0), label: str = ""
    ) -> None:
        self.world = world
        self._look, self._scene, self._root = look, server.scene, root
        self.grains: Any = None  # handles of viser
        self.tools: list[Any] = []
        self._mark: Any = None
        self._mark_shown: tuple[float, ...] = ()
        arrays = world._frozen.arrays
        self.lower, self.upper = arrays["lower"].astype(np.float64), arrays["upper"].astype(np.float64)
        self._painted = self._colors(0)
        colors = look.tool_colors
        if colors is None:
            tools = range(world.tool_count)
            colors = np.array([TOOL_COLORS[k % len(TOOL_COLORS)] for k in tools], int).reshape(len(tools), 3)
        self._tool_colors = checks.integers("tool_colors", colors, (world.tool_count, 3), 0, 255).astype(np.uint8)
        self._scene.add_frame(root, show_axes=False, position=tuple(float(x) for x in offset))
        self._draw_bounds(bool(arrays["boundary"][2, 0] == 1))
        for index, name in enumerate(world.tool_names):
            vertices, faces = tool_surface(world._frozen, index)
            color = tuple(int(c) for c in self._tool_colors[index])
            self.tools.append(
                self._scene.add_mesh_simple(f"{root}/tools/{name}", vertices, faces, color=color, flat_shading=True)
            )
        if world.grain_count:
            self._draw_grains()
        if label:
            middle = 0.5 * (self.lower + self.upper)
            self._scene.add_label(
                f"{root}/label", label, position=(middle[0], middle[1], self.upper[2]), anchor="bottom-center"
            )

    def _draw_bounds(self, floor: bool) -> None:
        """The edges of the bounds, and the floor where there is one."""
        lower, upper = self.lower, self.upper
        size = upper - lower
        corners = lower + size * (np.indices((2, 2, 2)).reshape(3, -1).T)
        edges = [(a, b) for a in range(8) for b in range(a + 1, 8) if (corners[a] != corners[b]).sum() == 1]
        self._scene.add_line_segments(
            f"{self._root}/bounds", corners[np.array(edges)], EDGE_COLOR, thickness=1.0, thickness_units="screen"
        )
        if floor:
            thickness = self._thin
            middle = (*(0.5 * (lower + upper))[:2], lower[2] - 0.5 * thickness)
            self._scene.add_box(
                f"{self._root}/floor", FLOOR_COLOR, (size[0], size[1], thickness), position=middle, cast_shadow=False
            )

    def _draw_grains(self) -> None:
        """A ball for each grain."""
        import trimesh

        count = self.world.grain_count
        ball = trimesh.creation.icosphere(subdivisions=2 if count <= FINE_GRAINS else 1)
        still = np.zeros((count, 4), np.float32)
        still[:, 0] = 1.0
        self.grains = self._scene.add_batched_meshes_simple(
            f"{self._root}/grains",
            np.asarray(ball.vertices, np.float32),
            np.asarray(ball.faces, np.uint32),
            still,
            self.world.positions[0],
            batched_scales=self.world.radii[0],
            batched_colors=linear(self._painted),
        )

    @property
    def _thin(self) -> float:
        """Thickness of the floor [m]."""
        return 0.002 * float((self.upper - self.lower).max())

    def _colors(self, env: int) -> NDArray[np.uint8]:
        """Of the grains of an env."""
        count, given = self.world.grain_count, self._look.grain_colors
        colors = np.asarray(sand_colors(count) if given is None else given(env))
        if colors.dtype.kind == "f":
            colors = colors.astype(np.int64)
        return checks.integers("grain_colors", colors, (count, 3), 0, 255).astype(np.uint8)

    def show(self, env: int) -> None:
        """Sends what has changed in an env, or since another was shown."""
        world = self.world
        poses, active = world.tool_poses[env].astype(np.float64), world.tools_active[env]
        for handle, pose, shown in zip(self.tools, poses, active, strict=True):
            handle.position, handle.wxyz = tuple(pose[:3]), tuple(pose[3:])
            handle.visible = bool(shown)
        if self.grains is not None:
            self.grains.batched_positions = world.positions[env]
            painted = self._colors(env)
            if not np.array_equal(painted, self._painted):
                self._painted = painted
                self.grains.batched_colors = linear(painted)
        self._show_mark(env)

    def _show_mark(self, env: int) -> None:
        """The marked rectangle of the floor."""
        found = None if self._look.floor_mark is None else self._look.floor_mark(env)
        mark = () if found is None else tuple(float(x) for x in found)
        if mark == self._mark_shown:
            return
        self._mark_shown = mark
        if self._mark is not None:
            self._mark.remove()
            self._mark = None
        if mark:
            size = (mark[2] - mark[0], mark[3] - mark[1], self._thin)
            middle = (0.5 * (mark[0] + mark[2]), 0.5 * (mark[1] + mark[3]), self.lower[2])
            color = tuple(int(c) for c in mark[5:])
            self._mark = self._scene.add_box(
                f"{self._root}/mark", color, size, position=middle, opacity=0.35, cast_shadow=False
            )

    @property
    def camera(self) -> DepthCamera:
        """Where the view begins: the look's camera, or one that sees the whole bounds, from above the lower y face."""
        if self._look.camera is not None:
            return self._look.camera
        size, center = self.upper - self.lower, 0.5 * (self.lower + self.upper)
        reach = float(np.linalg.norm(size))
        height, width = PICTURE_SHAPE
        return DepthCamera.perspective(
            height=height,
            width=width,
            fov=0.8,
            position=center + reach * np.array([0.0, -0.75, 0.55]),
            target=(center[0], center[1], self.lower[2] + 0.3 * size[2]),
            near=0.01 * reach,
            far=4.0 * reach,
        )

    def picture(self, env: int, camera: DepthCamera) -> NDArray[np.uint8]:
        """What a camera sees of an env, drawn by the engine, (height, width, 3) sRGB."""
        mark = None if self._look.floor_mark is None else self._look.floor_mark(env)
        return self.world.picture(
            camera, env=env, grain_colors=self._colors(env), tool_colors=self._tool_colors, floor_mark=mark
        )


def aim(camera: DepthCamera, distance: float) -> tuple[NDArray[np.float64], NDArray[np.float64], float]:
    """Position, a point `distance` ahead [m], and field of view [rad] for a browser, which draws in perspective.

    A browser sees as much as an orthographic camera where it is that far away.
    """
    pose = np.array(camera.pose, np.float64)
    ahead = rotate(pose[3:], np.array([0.0, 0.0, 1.0]))
    tangent = camera.extent if camera.kind == "perspective" else camera.extent / distance
    return pose[:3], pose[:3] + distance * ahead, 2.0 * math.atan(tangent)


def add_worlds(server: Any, worlds: Sequence[World], looks: Sequence[Look], labels: Sequence[str]) -> list[WorldView]:
    """One world, or two side by side as the first one's camera sees them, and where browsers look from first.

    Args:
        server: of viser.
        worlds: one or two.
        looks: one per world.
        labels: likewise; shown where there are two.

    Raises:
        ArgumentError: colours of a wrong shape or kind.
    """
    server.scene.set_up_direction("+z")
    server.scene.configure_default_lights()
    first = WorldView(server, "/world", worlds[0], looks[0], label=labels[0] if len(worlds) > 1 else "")
    views = [first]
    center = 0.5 * (first.lower + first.upper)
    distance = float(np.linalg.norm(center - first.camera.pose[:3]))
    eye, target, fov = aim(first.camera, distance)
    wanted = (1.0 + ROOM) * distance
    if len(worlds) > 1:
        # along the axis that points most to the right of the picture
        right = rotate(np.array(first.camera.pose[3:]), np.array([1.0, 0.0, 0.0]))
        axis = int(np.abs(right[:2]).argmax())
        size = (first.upper - first.lower)[axis]
        offset = np.zeros(3)
        offset[axis] = np.copysign(1.05 * size, right[axis])
        views.append(WorldView(server, "/beside", worlds[1], looks[1], offset, labels[1]))
        # what the first camera sees of a world, in both of them, is as wide as the page between the panels
        tangent = math.tan(0.5 * fov)
        half = 0.5 * abs(offset[axis]) + min(0.5 * size, distance * tangent * PICTURE_SHAPE[1] / PICTURE_SHAPE[0])
        wanted = max(wanted, half / tangent)
        eye, target = eye + 0.5 * offset, target + 0.5 * offset
    eye = target + (eye - target) * (wanted / distance)
    camera = server.initial_camera
    camera.position, camera.look_at, camera.fov = tuple(eye), tuple(target), fov
    return views
