"""readout.py: what is read from a running world: sizes, grains, tools, counters, counts of grains, images.

Nothing here changes the world. What it returns is always a fresh array: NumPy's, or, where `output` says so, one that
stays on the world's GPU.
"""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from granular_gym._core import DeviceArray
from granular_gym.base import checks
from granular_gym.engine import outputs
from granular_gym.engine.outputs import Field, FloatField, Output
from granular_gym.engine.results import Counts, Floats, Request, Results, turned_boxes
from granular_gym.engine.stats import Counters, Stats
from granular_gym.engine.world_clumps import WorldClumps
from granular_gym.engine.world_contacts import WorldContacts
from granular_gym.engine.world_continuum import WorldContinuum
from granular_gym.engine.world_coupled import WorldCoupled
from granular_gym.errors import ArgumentError

#: dtypes that `put` takes
_PUT = ("float32", "float64", "int32", "int64", "uint8", "bool")
#: depth images that one call of `results` may read
IMAGE_LIMIT = 16
#: camera (name or index), limits (near, far) [m] or None, dtype "float32" or "uint8"; what is left out is as in `depth`
ImageRequest = tuple[Any, ...]


class Readout(WorldContacts, WorldClumps, WorldContinuum, WorldCoupled):
    """The reading half of a `World`; its images: world_images.py."""

    # ---- sizes ----

    @property
    def planar(self) -> bool:
        """Whether grains are shapes in the plane."""
        return self._frozen.arrays["planar"] is not None

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
        """Sizes and settings: memory [bytes], thread_count, kernel (instruction set), solver with safe values, ...

        waits: how often this world and its arrays have waited for the GPU; drawn: depth images that its cameras have
        drawn, each of one camera in one env.
        """
        return self._core.info()

    # ---- reading ----

    @overload
    def read(self, name: FloatField, output: Literal["numpy"] = "numpy") -> Floats: ...
    @overload
    def read(self, name: Literal["grain_materials"], output: Literal["numpy"] = "numpy") -> NDArray[np.int32]: ...
    @overload
    def read(self, name: Field, output: Literal["device"]) -> DeviceArray: ...
    @overload
    def read(self, name: Field, output: Output) -> Any: ...
    def read(self, name: Field, output: Output = "numpy") -> Any:
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
            MemoryError: not enough memory on the GPU; the world goes on.
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
        return self._read_as(readers[checks.choice("name", name, list(readers))], output)

    @overload
    def put(self, array: ArrayLike, output: Literal["numpy"]) -> NDArray[Any]: ...
    @overload
    def put(self, array: ArrayLike, output: Literal["device"] = "device") -> DeviceArray: ...
    @overload
    def put(self, array: ArrayLike, output: Output) -> Any: ...
    def put(self, array: ArrayLike, output: Output = "device") -> Any:
        """A host array as `output`, see `read`: copied to the world's GPU where it has one.

        Args:
            array: at most 4 axes of float32, float64, int32, int64, uint8 or bool.
            output: see `read`; on the CPU the result may share the memory of `array`.
        """
        try:
            values = np.asarray(array, order="C")
        except (TypeError, ValueError):
            raise ArgumentError(f"array: expected numbers, got {type(array).__name__}") from None
        if values.dtype.name not in _PUT or values.ndim > 4:
            raise ArgumentError(
                f"array: expected at most 4 axes of {', '.join(_PUT)}, got {values.ndim} of {values.dtype}"
            )
        return self._read_as(lambda device: self._core.to_device(values) if device else values, output)

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
    def tools_active(self) -> NDArray[np.bool_]:
        """Which tools take part (env_count, tool_count); see `set_tool_active`."""
        return self._core.get_tools_active().astype(bool)

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
    def stats(self) -> Stats:
        """Counters of the last step by name, each (env_count,); `granular_gym.engine.stats.Stats` defines each.

        The overlaps (`overlap_sum`, `overlap_count`, `overlap_max`, `overlap_max_last`) and `residual` tell how well
        contacts were solved; `escaped_count`, `fast_count`, `fast_tool_count` and `diverged` should be 0;
        `contact_count`, `tool_contact_count`, `kinetic_energy` and `speed_max` describe the grains; `rebuild_count`,
        `iteration_count`, `step_count`, `rejected_count` and `growth_count` the work, and `asleep_share` what needed
        none. Of continuous matter `cost`, `linear_count` and `search_count` tell of Newton's method, and
        `unsolved_count` should be 0; so should `unsampled_count` of mode table. Units and periods: docs/counters.md.
        """
        return cast(Stats, self._core.get_stats())

    def counters(self, fresh: NDArray[np.bool_] | None = None) -> Counters:
        """What tasks tell of the last step: the counters that say how far to trust it.

        Args:
            fresh: (env_count,) envs that made no step since they were reset: all of theirs is 0; None: none of them.

        Returns:
            By name, each (env_count,): overlap_mean, overlap_max [share of a diameter] and residual [m/s] as float64,
            0 where they are not finite; escaped_count, fast_count and contact_count as int64; diverged as bool.

        Raises:
            ArgumentError: `fresh` is no array of bools of that shape.
        """
        return cast(Counters, self._core.get_counters(fresh))

    @overload
    def box_stats(
        self, lower: ArrayLike, upper: ArrayLike, output: Literal["numpy"] = "numpy"
    ) -> tuple[Counts, Floats]: ...
    @overload
    def box_stats(
        self, lower: ArrayLike, upper: ArrayLike, output: Literal["device"]
    ) -> tuple[DeviceArray, DeviceArray]: ...
    @overload
    def box_stats(self, lower: ArrayLike, upper: ArrayLike, output: Output) -> tuple[Any, Any]: ...
    def box_stats(self, lower: ArrayLike, upper: ArrayLike, output: Output = "numpy") -> tuple[Any, Any]:
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

        result: tuple[Any, Any] = self._read_as(read, output)
        return result

    @overload
    def count_boxes(self, poses: ArrayLike, half_sizes: ArrayLike, output: Literal["numpy"] = "numpy") -> Counts: ...
    @overload
    def count_boxes(self, poses: ArrayLike, half_sizes: ArrayLike, output: Literal["device"]) -> DeviceArray: ...
    @overload
    def count_boxes(self, poses: ArrayLike, half_sizes: ArrayLike, output: Output) -> Any: ...
    def count_boxes(self, poses: ArrayLike, half_sizes: ArrayLike, output: Output = "numpy") -> Any:
        """Grains in boxes that stand anyhow: each counts in the first box that holds its centre.

        Args:
            poses: (n, 7) or (env_count, n, 7), x y z qw qx qy qz of the middles [m].
            half_sizes: (n, 3) or (env_count, n, 3) along the axes of the boxes [m], >= 0.
            output: see `read`.

        Returns:
            int64 (env_count, n).
        """
        boxes = turned_boxes(poses, half_sizes, self.env_count)
        return self._read_as(lambda device: self._core.count_boxes(boxes, device), output)

    @overload
    def count_cells(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shape: ArrayLike,
        labels: ArrayLike | None = None,
        output: Literal["numpy"] = "numpy",
    ) -> Counts: ...
    @overload
    def count_cells(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shape: ArrayLike,
        labels: ArrayLike | None = None,
        *,
        output: Literal["device"],
    ) -> DeviceArray: ...
    @overload
    def count_cells(
        self, lower: ArrayLike, upper: ArrayLike, shape: ArrayLike, labels: ArrayLike | None = None, *, output: Output
    ) -> Any: ...
    def count_cells(
        self,
        lower: ArrayLike,
        upper: ArrayLike,
        shape: ArrayLike,
        labels: ArrayLike | None = None,
        output: Output = "numpy",
    ) -> Any:
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
        grid = self._grid(3, lower, upper, shape)
        kinds = None if labels is None else checks.bools("labels", labels, (self.env_count, self.grain_count))
        return self._read_as(lambda device: self._core.count_cells(*grid, kinds, device), output)

    @overload
    def count_columns(
        self, lower: ArrayLike, upper: ArrayLike, shape: ArrayLike, output: Literal["numpy"] = "numpy"
    ) -> Counts: ...
    @overload
    def count_columns(
        self, lower: ArrayLike, upper: ArrayLike, shape: ArrayLike, output: Literal["device"]
    ) -> DeviceArray: ...
    @overload
    def count_columns(self, lower: ArrayLike, upper: ArrayLike, shape: ArrayLike, output: Output) -> Any: ...
    def count_columns(self, lower: ArrayLike, upper: ArrayLike, shape: ArrayLike, output: Output = "numpy") -> Any:
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
        grid = self._grid(2, lower, upper, shape)
        return self._read_as(lambda device: self._core.count_columns(*grid, device), output)

    def request(
        self, *, images: Sequence[ImageRequest] = (), cells: Any = None, columns: Any = None, wrenches: bool = False
    ) -> Request:
        """What `results` reads at every step, checked once.

        Args:
            images: depth images: camera (name or index), limits and dtype as in `depth`; at most 16.
            cells: (lower, upper, shape) of a grid, see `count_cells`; None: no counts.
            columns: likewise, see `count_columns`.
            wrenches: whether wrenches on the tools are read.

        Raises:
            ArgumentError: no camera of the scene, or a grid that is none.
        """
        if isinstance(images, str) or not isinstance(images, Sequence):
            raise ArgumentError(f"images: expected a list of (camera, limits, dtype), got {images!r}")
        for image in images:
            if not isinstance(image, (tuple, list)) or not 1 <= len(image) <= 3:
                raise ArgumentError(f"images: expected (camera, limits, dtype) each, got {image!r}")
        for name, grid in (("cells", cells), ("columns", columns)):
            if grid is not None and (not isinstance(grid, (tuple, list)) or len(grid) != 3):
                raise ArgumentError(f"{name}: expected (lower, upper, shape) or None, got {grid!r}")
        if len(images) > IMAGE_LIMIT:
            raise ArgumentError(f"images: expected at most {IMAGE_LIMIT}, got {len(images)}")
        return Request(
            tuple(self._image(*image) for image in images),
            None if cells is None else self._grid(3, *cells),
            None if columns is None else self._grid(2, *columns),
            checks.flag("wrenches", wrenches),
        )

    def results(
        self,
        request: Request,
        *,
        boxes: Floats | None = None,
        turned_boxes: Floats | None = None,
        labels: NDArray[np.uint8] | None = None,
        fresh: NDArray[np.bool_] | None = None,
        images: bool = True,
        output: Output = "numpy",
    ) -> Results:
        """All that an env step is read for, in one call of the engine that waits for a GPU once.

        The values are those of `box_stats`, `count_boxes`, `count_cells`, `count_columns`, `wrenches`, `counters` and
        `depth`. Arrays must have these types and be C-contiguous.

        Args:
            request: what is read, from `request` of a world of this scene.
            boxes: (env_count, n, 6) float32, lower and upper corner [m] of boxes along the axes.
            turned_boxes: (env_count, n, 10) float32, see `granular_gym.engine.results.turned_boxes`.
            labels: (env_count, grain_count) uint8 of 0 and 1, two kinds of grains that `cells` tell apart.
            fresh: (env_count,) envs whose counters read 0, see `counters`.
            images: False: no images, whatever is requested.
            output: of the images, see `read`; all else is on the host.

        Raises:
            ArgumentError: an array that is not what it should be.
            BackendError, GranularError, MemoryError: see `read`.
        """
        checks.instance("request", request, Request)
        device = self._stays_on_device(output)
        read = Results(
            *self._core.read_results(
                boxes,
                turned_boxes,
                request.cells,
                labels,
                request.columns,
                request.wrenches,
                request.images if checks.flag("images", images) else (),
                fresh,
                device,
            )
        )
        return read if output != "torch" else read._replace(images=tuple(map(outputs.as_torch, read.images)))

    def profile(self, enable: bool) -> dict[str, float]:
        """Seconds spent in each phase since profiling was switched on; switches it on or off.

        On a GPU steps run as they do otherwise: one kernel runs all phases, and its time is shared out as env 0 spends
        its own. Steps take somewhat longer meanwhile, as the host waits for each.
        """
        return self._core.profile(checks.flag("enable", enable))

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

    def _grid(self, axes: int, lower: Any, upper: Any, shape: Any) -> tuple[Floats, Floats, NDArray[np.int32]]:
        corners = checks.floats("lower", lower, (axes,)), checks.floats("upper", upper, (axes,))
        if not (corners[0] < corners[1]).all():
            raise ArgumentError(f"lower: expected less than upper along each axis, got {lower!r} and {upper!r}")
        return *corners, checks.integers("shape", shape, (axes,), 1, 2**31 - 1)
