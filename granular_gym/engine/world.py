"""world.py: the running world: what a user steps and sets; its tools: world_tools.py; what is read from it: readout.py.

A thin layer over `_core.World`: it turns what people pass into clean arrays, knows names, and keeps the frozen scene,
so that a world can be branched, copied and pickled.
"""

from __future__ import annotations

import dataclasses
import math
import multiprocessing
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import checks, names
from granular_gym.engine.bell import StiffestContact, lone_clumps, stiffest
from granular_gym.engine.colors import Paint
from granular_gym.engine.device import check_device, gpu_number
from granular_gym.engine.drives import Drive
from granular_gym.engine.frozen import FrozenScene
from granular_gym.engine.materials import LIMITS, PAIR_FIELDS
from granular_gym.engine.outputs import stream_handle
from granular_gym.engine.planar import lightest
from granular_gym.engine.results import Floats
from granular_gym.engine.solver import (
    CONVERGENT,
    DEFAULT_MODE,
    DEFAULT_PLANAR_MODE,
    PACKED_LAYERS,
    PACKED_OVERLAP,
    Solver,
    layers,
    load_ratio,
)
from granular_gym.engine.state import State
from granular_gym.engine.tabled import calm_step, with_table
from granular_gym.engine.world_settling import Settling
from granular_gym.errors import ArgumentError, StabilityWarning, StateError

#: what worlds that exchange states must have in common, in words, with the arrays of a scene that hold it
_IN_COMMON = {
    "radii of grains": ("radius",),
    "materials of grains": ("grain_material", "material_fixed"),
    "bounds": ("lower", "upper", "boundary", "wall_material"),
    "shapes of tools": ("part_integers", "part_floats", "grid_integers", "grid_floats", "sample"),
    "masses and axes of tools": ("tool_free", "tool_mass", "tool_inertia"),
}


class World(Settling):
    """`env_count` isolated copies of a scene; made by `Scene.build`.

    One thread at a time may use a world; another one gets BusyError. Every call after `close` raises ClosedError.

    Args:
        frozen: what the world is built from.
        env_count: number of copies.
        device: "auto", "cpu", "cuda" or "cuda:1", see `Scene.build`.
        solver: None: the defaults.
        num_threads: see `Scene.build`.
    """

    def __init__(
        self,
        frozen: FrozenScene,
        env_count: int = 1,
        device: str = "auto",
        solver: Solver | None = None,
        num_threads: int | None = None,
    ) -> None:
        if isinstance(solver, Solver) and solver.mode == "bell":
            frozen = dataclasses.replace(frozen, arrays=lone_clumps(frozen.arrays))
        if isinstance(solver, Solver) and solver.table is not None:
            frozen = with_table(frozen, solver.table)
        self._frozen = frozen
        self.env_count: int = checks.integer("env_count", env_count, 1)
        self.device: str = check_device(device)
        #: the settings; the mode is the one that is used
        self.solver: Solver = _solver(solver, DEFAULT_PLANAR_MODE if self.planar else DEFAULT_MODE)
        self._num_threads = checks.threads(num_threads)
        threads = self._num_threads or 0
        if not threads and multiprocessing.current_process().daemon:
            # a pool of workers brings its own parallelism
            threads = 1
        self._warned: set[str] = set()
        self._judged = 0.0  # the time step whose dangers were last looked at [s]
        # whether grains have been stepped, or have impulses from elsewhere
        self._begun = False
        #: calls so far that may have changed grains or tools
        self.changes: int = 0
        #: (env_count,) envs whose grains a state or positions put in place since somebody last set this to False
        self.placed: NDArray[np.bool_] = np.zeros(self.env_count, bool)
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
        self._load = load_ratio(frozen.arrays) if not self.planar else 1.0
        self._contact = self._stiffest()
        self._calm = self._calm_step()
        self._warn_of_solver()
        self._layout = frozen.layout()
        self._core = _core.World(
            env_count=self.env_count,
            solver=self.solver.fields(),
            thread_count=threads,
            gpu=gpu_number(self.device),
            **frozen.arrays,
        )
        self._thread_count = int(self._core.info()["thread_count"])

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
        counts = f"env_count={self.env_count}, grain_count={self.grain_count}, tool_count={self.tool_count}"
        return f"World({counts}, device={self.device!r}, num_threads={self.num_threads}{life})"

    def __reduce__(self) -> tuple[Any, ...]:
        settings = (self._frozen, self.env_count, self.device, self.solver, self._num_threads)
        return _restore, (*settings, self.save_state(), self._drive, self._paint)

    def __deepcopy__(self, memo: dict[int, Any]) -> World:
        # the frozen scene never changes and can be shared
        rebuild, arguments = self.__reduce__()
        copy = rebuild(*arguments)
        memo[id(self)] = copy
        result: World = copy
        return result

    def branch(self, env_count: int) -> World:
        """A new world of `env_count` envs, each a copy of env 0 to the bit, stored impulses and paint included."""
        state, paint = self.save_state(env=0), None if self._paint is None else self._paint.of_env_0()
        count = checks.integer("env_count", env_count, 1)
        return _restore(self._frozen, count, self.device, self.solver, self._num_threads, state, self._drive, paint)

    # ---- settings ----

    @property
    def num_threads(self) -> int:
        """Threads of a step, see `Scene.build`; settable, changes no result."""
        return self._thread_count

    @num_threads.setter
    def num_threads(self, count: int) -> None:
        number = checks.integer("num_threads", count, 1, checks.LARGEST_THREADS)
        self._core.set_thread_count(number)
        self._num_threads = self._thread_count = number

    def set_solver(self, solver: Solver) -> None:
        """Changes the settings of the solver from the next step on; a mode that is not named stays."""
        checked = _solver(solver, self.solver.mode or DEFAULT_MODE)
        if checked.table != self.solver.table:
            raise ArgumentError(
                f"table: expected that which the world was built with, {self.solver.table!r}, got {checked.table!r}"
            )
        self._core.set_solver(checked.fields())
        self.solver = checked
        self._contact = self._stiffest()
        self._warned.clear()
        self._judged = 0.0
        self._warn_of_solver()

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
                the tools reach at the end, at constant velocity and turn rate; None: they stay. Tools with a mass,
                fields of bodies and links of robots go by themselves: their rows are NaN, or the poses that they have.

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
            targets = self._poses("tool_poses", tool_poses, self.env_count)
        self._judge(length)
        if not self._begun:
            self._begun = True
            self._warn_of_bare_packing()
        self.changes += 1
        self._core.step(length, count, targets)

    def _judge(self, dt: float) -> None:
        """Warns of the dangers of a time step, when it changes."""
        if dt != self._judged and 0.0 < dt <= 1.0 and self.grain_count:
            self._judged = dt
            if self.continuous:
                return
            if not self.planar:
                self._warn(self.solver.step_dangers(dt, *self._scale) + self.solver.force_dangers(dt, self._contact))
                self._warn(self.solver.table_dangers(dt, self._calm))
            elif self._mass > 0.0:
                self._warn(self.solver.spring_dangers(dt, self._mass))

    # ---- grains ----

    def set_grains(
        self,
        positions: Any = None,
        velocities: Any = None,
        angular_velocities: Any = None,
        envs: Any = None,
        angles: Any = None,
    ) -> None:
        """Sets what is given in the listed envs; their stored impulses are dropped and `diverged` is cleared.

        `settle_impulses` finds the impulses of a packing whose positions were set.

        Args:
            positions: (listed, grain_count, 3) or (grain_count, 3) for all of them [m].
            velocities: likewise [m/s]; particles of continuous matter then move as given, and do not turn.
            angular_velocities: likewise [rad/s].
            envs: None (all), an index, a list of indices or a mask.
            angles: of planar grains (listed, grain_count) or (grain_count,) [rad].
        """
        listed, count = self._envs(envs)
        shape = (self.grain_count, 3)
        points, motion, spins = (
            None if value is None else self._per_env(name, value, shape, count)
            for name, value in (
                ("positions", positions),
                ("velocities", velocities),
                ("angular_velocities", angular_velocities),
            )
        )
        turned = None if angles is None else self._angles("angles", angles, shape[:1], count)
        self.changes += 1
        self._core.set_grains(listed, points, motion, spins, turned)
        if points is not None:
            self.placed[_rows(listed)] = True

    def set_clumps(self, poses: Any = None, velocities: Any = None, envs: Any = None) -> None:
        """See `WorldClumps.set_clumps`."""
        super().set_clumps(poses, velocities, envs)
        if poses is not None:
            self.placed[_rows(checks.envs(envs, self.env_count))] = True

    def transform_grains(self, translation: Any, yaw: Any, envs: Any = None) -> None:
        """Turns the grains of each listed env about the z axis through the origin, then shifts them.

        Velocities and stored impulses turn along, so that a settled bed stays settled.

        Args:
            translation: (listed, 3) or (3,) [m].
            yaw: (listed,) or one angle [rad].
            envs: None (all), an index, a list of indices or a mask.
        """
        listed, count = self._envs(envs)
        shifts = self._per_env("translation", translation, (3,), count)
        turns = self._angles("yaw", yaw, (), count)
        self.changes += 1
        self._core.transform_grains(listed, shifts, turns)

    # ---- parameters ----

    def set_gravity(self, gravity: Any, envs: Any = None) -> None:
        """Sets gravity (listed, 3) or (3,) [m/s2]."""
        listed, count = self._envs(envs)
        self._core.set_gravity(listed, self._per_env("gravity", gravity, (3,), count))

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
        if dense is not None:
            _check_densities("densities", dense)
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
        names.refuse_unknown("values", values, PAIR_FIELDS)
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
        _check_densities("density", dense)
        self._core.set_materials(listed, None, dense)
        self._load = load_ratio(self._frozen.arrays, dense)
        self._warn_of_solver()

    # ---- state ----

    def save_state(self, env: Any = None) -> State:
        """Everything that shapes the future of one env (an index), of some, or of all (None)."""
        listed = checks.envs(env, self.env_count, repeated=True)
        if listed is None:
            listed = np.arange(self.env_count, dtype=np.int32)
        state = State(tuple(self._core.save_state(int(index)) for index in listed), self._layout)
        state.mark_checked()
        return state

    def load_state(self, state: State, envs: Any = None) -> None:
        """Puts saved envs into envs of this world, bit for bit.

        Args:
            state: one env, which goes into all listed ones, or as many envs as are listed.
            envs: None (all), an index, a list of indices or a mask.

        Raises:
            StateError: a state of another scene, version or size, or with values that no env can have; the world is
                unchanged.
        """
        checks.instance("state", state, State)
        listed, count = self._envs(envs)
        if state.layout != self._layout:
            raise StateError("state: expected a state of a world of the same scene, this one belongs to another scene")
        self.changes += 1
        if state.env_count not in (1, count):
            wanted = "1 env" if count == 1 else f"1 env or the {count} that are listed"
            raise StateError(f"state: expected {wanted}, got {state.env_count}; State.env gives one of them")
        self._core.load_state(listed, state.envs, state.checked)
        self._begun = True
        self.placed[_rows(listed)] = True
        state.mark_checked()

    def difference(self, frozen: FrozenScene) -> str:
        """In what a scene differs from that of this world so that its states cannot be loaded here; "": in nothing.

        Args:
            frozen: the scene, see `Scene.freeze`.
        """
        if checks.instance("frozen", frozen, FrozenScene).layout() == self._layout:
            return ""
        mine, theirs = self._frozen.arrays, frozen.arrays
        for words, arrays in _IN_COMMON.items():
            if not all(np.array_equal(mine[name], theirs[name]) for name in arrays):
                return words
        return "shapes of grains, bonds or kinds of continuous matter"

    # ---- helpers ----

    def _pair_table(self, pairs: Any, listed: NDArray[np.int32] | None, count: int) -> Floats:
        """All columns (count, m, m, 6) from a table of all or of the first three."""
        m, every = self.material_count, len(PAIR_FIELDS)
        given = checks.numbers("pairs", pairs)
        wide = given.shape[-1:] != (3,)
        table = self._per_env("pairs", given, (m, m, every if wide else 3), count)
        if wide:
            return table
        whole = self._core.get_materials()[0]
        whole = whole if listed is None else whole[listed]
        whole[..., :3] = table
        whole[..., 3] = table[..., 2]
        return whole

    def _material(self, name: str, value: int | str) -> int:
        return names.index(name, value, self._frozen.material_names, "material")

    def _warn_of_solver(self) -> None:
        """Warns of the dangers of the settings with these grains and materials."""
        solver = self.solver
        self._warn(solver.dangers(self.tool_count > 0) + solver.impact_dangers(self._restitution))
        self._warn(solver.load_dangers(self._load))

    def _stiffest(self) -> StiffestContact:
        """The contact that asks for the shortest steps in bell mode."""
        law, arrays = self.solver.bell, self._frozen.arrays
        return StiffestContact() if law is None or self.planar else stiffest(law, arrays)

    def _calm_step(self) -> float:
        """The longest time step that piles bear in table mode [s]."""
        return math.inf if self.solver.table is None else calm_step(self.solver.table, self._frozen)

    def _warn_of_bare_packing(self) -> None:
        """Warns if the grains were set as a dense packing, by positions alone."""
        depth = self._scale[2]
        if self.planar or self.continuous or self.solver.mode not in CONVERGENT or depth < PACKED_LAYERS:
            return
        pairs, depths, complete = self._core.find_overlaps(0, 0.0)
        touching = not complete or 2 * (pairs[:, 1] >= 0).sum() >= self.grain_count
        if touching and np.median(depths) < PACKED_OVERLAP:
            self._warn(
                [
                    "the grains were set in contact, by positions alone: a bed sinks while the solver finds the "
                    "impulses that carry it; World.settle_impulses(dt) finds them before the first step"
                ]
            )

    def _warn(self, dangers: list[str]) -> None:
        for danger in dangers:
            if danger not in self._warned:
                self._warned.add(danger)
                warnings.warn(danger, StabilityWarning, stacklevel=4)


def _rows(listed: NDArray[np.int32] | None) -> NDArray[np.int32] | slice:
    """The rows of arrays (env_count, ...) that stand for the listed envs, None: all."""
    return slice(None) if listed is None else listed


def _check_densities(name: str, values: Floats) -> None:
    if not ((values > 0.0) & (values <= checks.LARGEST)).all():
        bad = values[~((values > 0.0) & (values <= checks.LARGEST))][0]
        raise ArgumentError(f"{name}: expected numbers > 0 up to {checks.LARGEST:g}, got {float(bad):g}")


def _restore(
    frozen: FrozenScene,
    env_count: int,
    device: str,
    solver: Solver,
    num_threads: int | None,
    state: State,
    drive: Drive | None,
    paint: Paint | None = None,
) -> World:
    with warnings.catch_warnings():
        # the first world has said it
        warnings.simplefilter("ignore", StabilityWarning)
        world = World(frozen, env_count, device, solver, num_threads)
    world.load_state(state)
    if drive is not None:
        world.set_drive(drive)
    world._paint = paint
    return world


def _solver(value: Solver | None, mode: str) -> Solver:
    """The settings given, or the defaults; in `mode` where they name none."""
    return (Solver() if value is None else checks.instance("solver", value, Solver)).in_mode(mode)
