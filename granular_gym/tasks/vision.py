"""vision.py: what the cameras of a task see besides depth, as further entries of an observation."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from gymnasium.spaces import Box
from numpy.typing import NDArray

from granular_gym.engine.outputs import Output
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.tasks.images import DepthImages


class _Kind(NamedTuple):
    """What a camera sees at a pixel."""

    channels: int  # of the images; 0: they have no such axis
    read: Callable[[World, str, Output, bool, bool], Any]  # images: camera, output, `far` is the floor, channels first


def _rgb(world: World, camera: str, output: Output, floor: bool, first: bool) -> Any:
    return world.color(camera, output, far_is_floor=floor, channels_first=first)


def _segmentation(world: World, camera: str, output: Output, floor: bool, first: bool) -> Any:
    return world.segmentation(camera, output, dtype="uint8", far_is_floor=floor)


RGB, SEGMENTATION = "rgb", "segmentation"
_KINDS: Mapping[str, _Kind] = {RGB: _Kind(3, _rgb), SEGMENTATION: _Kind(0, _segmentation)}
KINDS = tuple(_KINDS)
#: numbers of a segmentation; tool k of the world reads TOOL + k
NOTHING, BOUNDS, GRAIN, TOOL = range(4)


def check_vision(value: Any, cameras: bool) -> tuple[str, ...]:
    """The argument `vision` of tasks.

    Args:
        value: what came: one of KINDS, a sequence of them, or None.
        cameras: the observation has images that cameras take.

    Raises:
        ArgumentError: something else, or there is no camera.
    """
    if value is None:
        return ()
    asked = (value,) if isinstance(value, str) else value
    if not isinstance(asked, (tuple, list)):
        raise ArgumentError(f"vision: expected a sequence out of {list(KINDS)} or None, got {value!r}")
    for kind in asked:
        if kind not in KINDS:
            raise ArgumentError(f"vision: expected names out of {list(KINDS)}, got {kind!r}")
    if asked and not cameras:
        raise ArgumentError(f"vision: expected None where the observation has no image of a camera, got {value!r}")
    return tuple(kind for kind in KINDS if kind in asked)


class Vision:
    """What the cameras of the observation see besides depth: of each camera NAME the entries NAME_KIND.

    Args:
        kinds: out of KINDS.
        images: of the observation; those that the task draws are seen by no camera.
        env_count: number of envs.
        grain_count: of what the world counts in an env.
        painted: episodes draw the colours of grains; else the first env's are those of all, and stay.
    """

    def __init__(
        self, kinds: Sequence[str], images: DepthImages, env_count: int, grain_count: int, *, painted: bool
    ) -> None:
        self.kinds: tuple[str, ...] = tuple(kinds)
        self._cameras = {name: images.images[name] for name in images.seen}
        # as learners want bytes: the depth images have their channel first, too
        self._first = images.encoding == "uint8"
        self._painted = painted
        palettes = 0 if RGB not in self.kinds else env_count if painted else 1
        self._colors: NDArray[np.uint8] = np.zeros((palettes, grain_count, 3), np.uint8)
        self._stale: NDArray[np.bool_] = np.ones(palettes, bool)  # whose colours the world does not have

    @property
    def names(self) -> list[str]:
        """Of the entries."""
        return [f"{name}_{kind}" for name in self._cameras for kind in self.kinds]

    def spaces(self) -> dict[str, Box]:
        """The space of each entry, by name."""
        shown: dict[str, Box] = {}
        for name, image in self._cameras.items():
            shape = image.camera.height, image.camera.width
            for kind in self.kinds:
                channels = (_KINDS[kind].channels,) if _KINDS[kind].channels else ()
                sides = (*channels, *shape) if self._first else (*shape, *channels)
                shown[f"{name}_{kind}"] = Box(0, 255, sides, np.uint8)
        return shown

    def repaint(self, envs: Any) -> None:
        """The grains of these envs may have other colours from now on."""
        if self._painted and len(self._stale):
            self._stale[envs] = True

    def sense(self, world: World, output: Output) -> dict[str, Any]:
        """Observations (env_count, ...) by name, of a world that was painted.

        Args:
            world: of the task.
            output: "numpy", "torch" or "device"; images stay where the world runs.
        """
        return {
            f"{name}_{kind}": _KINDS[kind].read(world, name, output, image.floor, self._first)
            for name, image in self._cameras.items()
            for kind in self.kinds
        }

    def paint(self, world: World, colors_of: Callable[[int], Any], tool_colors: Any) -> None:
        """Gives grains and tools their colours, where the world does not have them.

        Args:
            world: of the task.
            colors_of: colours of the grains of an env, (grain_count, 3) in 0 .. 255.
            tool_colors: (tool_count, 3) in 0 .. 255; None: one colour for all.
        """
        if not self._stale.any():
            return
        for env in np.flatnonzero(self._stale):
            self._colors[env] = colors_of(int(env))
        world.paint(grain_colors=self._colors if self._painted else self._colors[0], tool_colors=tool_colors)
        self._stale[:] = False
