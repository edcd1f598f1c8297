"""world.py: the running world: what a user steps, reads and sets.

A thin layer over `_core.World`: it turns what people pass into clean arrays, knows names, and keeps the frozen scene,
so that a world can be branched, copied and pickled. What it returns is always a fresh array: NumPy's, or, where
`output` says so, one that stays on the world's GPU.
"""

from __future__ import annotations

import hashlib
import multiprocessing
import struct
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _core, checks
from .cameras import DepthCamera
from .contacts import Contacts
from .device import check_device, gpu_number
from .errors import ArgumentError, BackendError, StabilityWarning, StateError
from .materials import LIMITS, PAIR_FIELDS
from .outputs import as_torch, check_output, stream_handle
from .planar import lightest
from .scene import FrozenScene, Mounted, tool_index
from .solver import Solver, layers
from .state import State

Floats = NDArray[np.float32]
#: tools that the engine makes of the faces of the bounds, ahead of the user's
WALL_COUNT = 6
_WALL_COLOR = (205, 205, 210)
_TOOL_COLOR = (232, 164, 58)


class World:
    """`env_count` isolated copies of a scene; made by `Scene.build`.

    One thread at a time may use a world; another one gets BusyError. Every call after `close` raises ClosedError.

    Args:
        frozen: what the world is built from.
        env_count: number of copies.
        device: "auto", "cpu", "cuda" or "cuda:1", see `Scene.build`.
        solver: None: the defaults.
        num_threads: None: one per usable core, one in daemon worker processes.
    """

    def __init__(
        self,
        frozen: FrozenScene,
        env_count: int = 1,
        device: str = "auto",
        solver: Solver | None = None,
        num_threads: int | None = None,
    ) -> None:
        self._frozen = frozen
        self.env_count = checks.integer("env_count", env_count, 1)
        self.device = check_device(device)
        self.solver = _solver(solver)
        self._num_threads = checks.threads(num_threads)
        threads = self._num_threads or 0
        if not threads and multiprocessing.current_process().daemon:
            # a pool of workers brings its own parallelism
            threads = 1
        self._warned: set[str] = set()
        self._judged = 0.0  # the time step whose dangers were last looked at [s]
        # what the time step is measured by: mean diameter [m], gravity of the scene [m/s2], depth as built
        radii, gravity = frozen.arrays["radius"], frozen.arrays["gravity"]
        self._scale = (
            2.0 * float(radii.mean()) if len(radii) else 0.0,
            float(np.linalg.norm(gravity)),
            layers(frozen.arrays["position"], radii, gravity),
        )
        self._mass = lightest(frozen.arrays)
        # largest restitution of all pairs; impacts are crowded from three grains on
        pairs = frozen.arrays["pair"].reshape(-1, len(PAIR_FIELDS))
        crowded = len(pairs) > 0 and len(radii) > 2
        self._restitution = float(pairs[:, PAIR_FIELDS.index("restitution")].max()) if crowded else 0.0
        self._warn(self.solver.dangers(frozen.tool_count > 0) + self.solver.impact_dangers(self._restitution))
        self._layout = frozen.layout()
        self._core = _core.World(
            env_count=self.env_count,
            solver=self.solver.fields(),
            thread_count=threads,
            gpu=gpu_number(self.device),
            **frozen.arrays,
        )

    # ---- life ----

    def close(self) -> None:
        """Frees the world; closing twice is fine.

        Raises:
            BusyError: another thread is using it.
        """
        self._core.close()

    @property
    def closed(self) -> bool:
        """Whether the world was closed."""
        return self._core.closed

    def __enter__(self) -> World:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        life = ", closed" if self.closed else ""
        return f"World(env_count={self.env_count}, grain_count={self.grain_count}, tool_count={self.tool_count}{life})"

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (self._frozen, self.env_count, self.device, self.solver, self._num_threads)
        return _restore, (*settings, self.save_state())

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        # the frozen scene never changes and can be shared
        rebuild, arguments = self.__reduce__()
        copy = rebuild(*arguments)
        memo[id(self)] = copy
        return copy

    def branch(self, env_count: int) -> World:
        """A new world of `env_count` envs, each a copy of env 0 to the bit, stored impulses included."""
        state = self.save_state(env=0)
        count = checks.integer("env_count", env_count, 1)
        return _restore(self._frozen, count, self.device, self.solver, self._num_threads, state)

    # ---- sizes and settings ----

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
        """Sizes and settings: memory [bytes], thread_count, kernel (instruction set), solver with safe values, ..."""
        return self._core.info()

    @property
    def num_threads(self) -> int:
        """Threads a step uses; settable, changes no result."""
        return int(self._core.info()["thread_count"])

    @num_threads.setter
    def num_threads(self, count: int) -> None:
        number = checks.integer("num_threads", count, 1, checks.LARGEST_THREADS)
        self._core.set_thread_count(number)
        self._num_threads = number

    def set_solver(self, solver: Solver) -> None:
        """Changes the settings of the solver from the next step on."""
        checked = _solver(solver)
        self._core.set_solver(checked.fields())
        self.solver = checked
        self._warned.clear()
        self._judged = 0.0
        self._warn(checked.dangers(self.tool_count > 0) + checked.impact_dangers(self._restitution))

    @property
    def stream(self) -> int:
        """Handle of the CUDA stream that a world on a GPU works on; 0: the legacy default stream, or the CPU."""
        return self._core.get_stream()

    def set_stream(self, stream: Any) -> None:
        """Works on this stream from now on, after all that was put on the one before.

        What reads a DeviceArray by DLPack on another stream waits by itself; a world on the caller's own stream spares
        that. The stream must live as long as the world and the arrays it gave use it.

        Args:
            stream: torch.cuda.Stream, cupy.cuda.Stream, what has `__cuda_stream__`, or a handle as an integer: 0 or 1
                the legacy default stream, 2 the per-thread one.

        Raises:
            ArgumentError: none of these.
            BackendError: the world runs on the CPU.
        """
        self._core.set_stream(stream_handle(stream))

    # ---- time ----

    def step(self, dt: float, substeps: int = 1, tool_poses: Any = None) -> None:
        """Advances all envs by substeps * dt.

        Args:
            dt: length of a substep [s], above 0, at most 1.
            substeps: >= 1.
            tool_poses: (env_count, tool_count, 7) or, the same for all envs, (tool_count, 7): x y z qw qx qy qz that
                the tools reach at the end, at constant velocity and turn rate; None: they stay.

        Raises:
            ArgumentError: a value outside what the engine accepts.
            CapacityError: the grains overlap massively.
            MemoryError: a buffer could not grow. Each env stands at the end of a whole substep, maybe not the last; the
                same call again finishes the step with the bits it would have had, unless grains, tools or states were
                set meanwhile; a call with other arguments is a new step from there.
            KeyboardInterrupt: after Ctrl-C, at the end of a whole substep; the world can be used further.
        """
        length = checks.number("dt", dt)
        count = checks.integer("substeps", substeps, 1)
        targets = None
        if tool_poses is not None:
            targets = self._per_env("tool_poses", tool_poses, (self.tool_count, 7), self.env_count)
        if length != self._judged and 0.0 < length <= 1.0 and self.grain_count:
            self._judged = length
            if not self.planar:
                self._warn(self.solver.step_dangers(length, *self._scale))
            elif self._mass > 0.0:
                self._warn(self.solver.spring_dangers(length, self._mass))
        self._core.step(length, count, targets)

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

    def set_grains(
        self,
        positions: Any = None,
        velocities: Any = None,
        angular_velocities: Any = None,
        envs: Any = None,
        angles: Any = None,
    ) -> None:
        """Sets what is given in the listed envs; their stored impulses are dropped and `diverged` is cleared.

        Args:
            positions: (listed, grain_count, 3) or (grain_count, 3) for all of them [m].
            velocities: likewise [m/s].
            angular_velocities: likewise [rad/s].
            envs: None (all), an index, a list of indices or a mask.
            angles: of planar grains (listed, grain_count) or (grain_count,) [rad].
        """
        listed, count = self._envs(envs)
        shape = (self.grain_count, 3)
        places, speeds, spins = (
            None if value is None else self._per_env(name, value, shape, count)
            for name, value in (
                ("positions", positions),
                ("velocities", velocities),
                ("angular_velocities", angular_velocities),
            )
        )
        turned = None if angles is None else self._per_env("angles", angles, shape[:1], count)
        self._core.set_grains(listed, places, speeds, spins, turned)

    def place_grains(self, translation: Any, yaw: Any, envs: Any = None) -> None:
        """Turns the grains of each listed env about the z axis through the origin, then shifts them.

        Velocities and stored impulses turn along, so that a settled bed stays settled.

        Args:
            translation: (listed, 3) or (3,) [m].
            yaw: (listed,) or one angle [rad].
            envs: None (all), an index, a list of indices or a mask.
        """
        listed, count = self._envs(envs)
        shifts = self._per_env("translation", translation, (3,), count)
        self._core.place_grains(listed, shifts, self._per_env("yaw", yaw, (), count))

    # ---- parameters ----

    @property
    def gravity(self) -> Floats:
        """(env_count, 3) [m/s2]."""
        return self._core.get_gravity()

    def set_gravity(self, gravity: Any, envs: Any = None) -> None:
        """Sets gravity (listed, 3) or (3,) [m/s2]."""
        listed, count = self._envs(envs)
        self._core.set_gravity(listed, self._per_env("gravity", gravity, (3,), count))

    @property
    def air(self) -> Floats:
        """Density [kg/m3], viscosity [Pa s] and wind x y z [m/s] of the air (env_count, 5); see `Air`."""
        return self._core.get_air()

    def set_air(self, density: Any = None, viscosity: Any = None, wind: Any = None, envs: Any = None) -> None:
        """Sets the air of the listed envs; None leaves a value.

        Args:
            density: (listed,) or one for all [kg/m3], >= 0.
            viscosity: likewise [Pa s], >= 0.
            wind: (listed, 3) or (3,) [m/s].
            envs: None (all), an index, a list of indices or a mask.
        """
        listed, count = self._envs(envs)
        air = self._core.get_air()
        air = air if listed is None else air[listed]
        for column, (name, value) in enumerate((("density", density), ("viscosity", viscosity))):
            if value is not None:
                air[:, column] = self._per_env(name, value, (), count)
                if not ((air[:, column] >= 0.0) & (air[:, column] <= 1e5)).all():
                    raise ArgumentError(f"{name}: expected numbers from 0 to 1e5, got {value!r}")
        if wind is not None:
            air[:, 2:] = self._per_env("wind", wind, (3,), count)
            if not (np.abs(air[:, 2:]) <= 1e5).all():
                raise ArgumentError(f"wind: expected at most 1e5 m/s, got {wind!r}")
        self._core.set_air(listed, air)

    @property
    def material_names(self) -> list[str]:
        """Names of the materials by index."""
        return list(self._frozen.material_names)

    @property
    def materials(self) -> tuple[Floats, Floats]:
        """Pairs (env_count, m, m, 6), columns as in `Pair`; and densities (env_count, m) [kg/m3]."""
        return self._core.get_materials()

    def set_materials(self, pairs: Any = None, densities: Any = None, envs: Any = None) -> None:
        """Sets how materials meet in the listed envs; see `set_pair` for one pair.

        Args:
            pairs: (listed, m, m, 6) or (m, m, 6), symmetric, columns as in `Pair`. Tables of 3 columns give friction,
                restitution and rolling friction; twisting friction is then like rolling friction, cohesion stays.
            densities: (listed, m) or (m,) [kg/m3].
            envs: None (all), an index, a list of indices or a mask.
        """
        listed, count = self._envs(envs)
        m = self.material_count
        table = None if pairs is None else self._pair_table(pairs, listed, count)
        if table is not None:
            for column, name in enumerate(PAIR_FIELDS):
                lower, upper = LIMITS[name]
                values = table[..., column]
                if not ((values >= lower) & (values <= upper)).all():
                    bad = values[~((values >= lower) & (values <= upper))][0]
                    raise ArgumentError(f"pairs: expected {name} from {lower:g} to {upper:g}, got {float(bad)}")
            if not np.array_equal(table, table.swapaxes(1, 2)):
                raise ArgumentError("pairs: expected a symmetric table, pair (a, b) differs from pair (b, a)")
        dense = None if densities is None else self._per_env("densities", densities, (m,), count)
        if dense is not None and not (dense > 0.0).all():
            raise ArgumentError(f"densities: expected numbers > 0, got {float(dense.min())}")
        self._core.set_materials(listed, table, dense)

    def set_pair(self, first: int | str, second: int | str, *, envs: Any = None, **values: Any) -> None:
        """Sets how two materials (or one with itself) meet in the listed envs; what is not given stays.

        Args:
            first: a material by index or name.
            second: likewise.
            envs: None (all), an index, a list of indices or a mask.
            values: by name as in `Pair`, each one number or (listed,). Where twisting friction was like rolling
                friction, it follows it.
        """
        a, b = self._material("first", first), self._material("second", second)
        listed, count = self._envs(envs)
        table = self._core.get_materials()[0]
        table = table if listed is None else table[listed]
        for name in values:
            checks.choice("values", name, PAIR_FIELDS)
        if "rolling_friction" in values and "twisting_friction" not in values:
            row = table[:, a, b].copy()
            rolling = self._per_env("rolling_friction", values["rolling_friction"], (), count)
            values["twisting_friction"] = np.where(row[:, 2] == row[:, 3], rolling, row[:, 3])
        for name, value in values.items():
            column, (lower, upper) = PAIR_FIELDS.index(name), LIMITS[name]
            each = self._per_env(name, value, (), count)
            if not ((each >= lower) & (each <= upper)).all():
                raise ArgumentError(f"{name}: expected numbers from {lower:g} to {upper:g}, got {value!r}")
            table[:, a, b, column] = table[:, b, a, column] = each
        self._core.set_materials(listed, table, None)

    def set_density(self, material: int | str, density: Any, envs: Any = None) -> None:
        """Sets the density of one material in the listed envs: (listed,) or one for all [kg/m3]."""
        index = self._material("material", material)
        listed, count = self._envs(envs)
        dense = self._core.get_materials()[1]
        dense = dense if listed is None else dense[listed]
        dense[:, index] = self._per_env("density", density, (), count)
        if not (dense > 0.0).all():
            raise ArgumentError(f"density: expected numbers > 0, got {density!r}")
        self._core.set_materials(listed, None, dense)

    # ---- tools ----

    @property
    def tool_poses(self) -> Floats:
        """(env_count, tool_count, 7): x y z qw qx qy qz."""
        return self._core.get_tool_poses()

    def set_tool_poses(self, poses: Any, envs: Any = None) -> None:
        """Moves the tools of the listed envs at once, without velocity: (listed, tool_count, 7) or (tool_count, 7)."""
        listed, count = self._envs(envs)
        self._core.set_tool_poses(listed, self._per_env("poses", poses, (self.tool_count, 7), count))

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
        """Counters of the last step by name, each (env_count,); see gg_env_stats in csrc/phases/view.h."""
        return self._core.get_stats()

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
        """Grains in a box, and how far all are from it.

        Args:
            lower: (3,) or (env_count, 3) [m].
            upper: (3,) or (env_count, 3) [m].
            output: see `read`.

        Returns:
            Number of grains whose centre lies in the box, int64 (env_count,), and the mean distance of all centres to
            the box [m], float32 (env_count,).
        """
        boxes = np.empty((self.env_count, 6), np.float32)
        boxes[:, :3] = checks.floats("lower", lower, (self.env_count, 3), (3,))
        boxes[:, 3:] = checks.floats("upper", upper, (self.env_count, 3), (3,))
        return self._give(lambda device: self._core.box_stats(boxes, device), output)

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

    # ---- state ----

    def save_state(self, env: Any = None) -> State:
        """Everything that shapes the future of one env (an index), of some, or of all (None)."""
        listed = checks.envs(env, self.env_count)
        if listed is None:
            listed = np.arange(self.env_count, dtype=np.int32)
        return State(tuple(self._core.save_state(int(index)) for index in listed), self._layout)

    def load_state(self, state: State, envs: Any = None) -> None:
        """Puts saved envs into envs of this world, bit for bit.

        Args:
            state: one env, which goes into all listed ones, or as many envs as are listed.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            StateError: a state of another scene, version or size; the world is unchanged.
        """
        if not isinstance(state, State):
            raise ArgumentError(f"state: expected a State, got {type(state).__name__}")
        listed, count = self._envs(envs)
        if state.layout != self._layout:
            raise StateError("state: expected a state of a world of the same scene, this one belongs to another scene")
        if state.env_count == 1:
            self._core.load_state(listed, state.envs[0])
            return
        if state.env_count != count:
            raise StateError(f"state: expected 1 or {count} envs, got {state.env_count}")
        targets = range(self.env_count) if listed is None else listed
        for target, data in zip(targets, state.envs, strict=True):
            self._core.load_state(np.array([target], np.int32), data)

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

    def _per_env(self, name: str, value: Any, shape: tuple[int, ...], count: int) -> Floats:
        """float32 (count, *shape) from that shape or one for all."""
        array = checks.floats(name, value, (count, *shape), shape)
        if array.ndim == len(shape):
            array = np.ascontiguousarray(np.broadcast_to(array, (count, *shape)))
        return array

    def _pair_table(self, pairs: Any, listed: NDArray[np.int32] | None, count: int) -> Floats:
        """All columns (count, m, m, 6) from a table of all or of the first three."""
        m, every = self.material_count, len(PAIR_FIELDS)
        wide = np.shape(pairs)[-1:] != (3,)
        table = self._per_env("pairs", pairs, (m, m, every if wide else 3), count)
        if wide:
            return table
        whole = self._core.get_materials()[0]
        whole = whole if listed is None else whole[listed]
        whole[..., :3] = table
        whole[..., 3] = table[..., 2]
        return whole

    def _grid(self, lower: Any, upper: Any, shape: Any, axes: int) -> tuple[Floats, Floats, NDArray[np.int32]]:
        corners = checks.floats("lower", lower, (axes,)), checks.floats("upper", upper, (axes,))
        if not (corners[0] < corners[1]).all():
            raise ArgumentError(f"lower: expected less than upper along each axis, got {lower!r} and {upper!r}")
        return *corners, checks.integers("shape", shape, (axes,), 1, 2**31 - 1)

    def _material(self, name: str, value: int | str) -> int:
        names = self._frozen.material_names
        if isinstance(value, str):
            if value not in names:
                raise ArgumentError(f"{name}: expected one of the materials {list(names)}, got {value!r}")
            return names.index(value)
        return checks.integer(name, value, 0, self.material_count - 1)

    def _envs(self, value: Any) -> tuple[NDArray[np.int32] | None, int]:
        listed = checks.envs(value, self.env_count)
        return listed, self.env_count if listed is None else len(listed)

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

    def _warn(self, dangers: list[str]) -> None:
        for danger in dangers:
            if danger not in self._warned:
                self._warned.add(danger)
                warnings.warn(danger, StabilityWarning, stacklevel=4)


def _restore(
    frozen: FrozenScene, env_count: int, device: str, solver: Solver, num_threads: int | None, state: State
) -> World:
    with warnings.catch_warnings():
        # the first world has said it
        warnings.simplefilter("ignore", StabilityWarning)
        world = World(frozen, env_count, device, solver, num_threads)
    world.load_state(state)
    return world


def _solver(value: Solver | None) -> Solver:
    if value is None:
        return Solver()
    if not isinstance(value, Solver):
        raise ArgumentError(f"solver: expected a Solver, got {type(value).__name__}")
    return value


def _colors(name: str, value: Any, count: int) -> NDArray[np.uint8]:
    return checks.integers(name, np.asarray(value).reshape(-1, 3) if not count else value, (count, 3), 0, 255).astype(
        np.uint8
    )
