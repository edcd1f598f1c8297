"""ranges.py: ranges from which each env draws its own materials, gravity and air, for use on reset.

What env k gets depends on generator k alone, never on which other envs are reset or how many there are; a lone world
that is given the same values has the same future, bit for bit.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks, names
from granular_gym.base.types import Arrays
from granular_gym.engine.materials import LIMITS, PAIR_FIELDS
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError

#: what a generator per env may be given as
Generators = int | Sequence[np.random.Generator] | Callable[[int], np.random.Generator]

# other ranges, by name: lower limit, upper limit, length
_OTHERS = {
    "density": (1e-6, 1e9, 1),
    "gravity": (-1e6, 1e6, 3),
    "air_density": (0.0, 1e5, 1),
    "viscosity": (0.0, 1e5, 1),
    "wind": (-1e5, 1e5, 3),
}

# ranges that mean nothing to planar grains, and the component from which on all of it must be 0
_OFF_PLANE = {
    "rolling_friction": 0,
    "twisting_friction": 0,
    "cohesion": 0,
    "gravity": 2,
    "air_density": 0,
    "viscosity": 0,
    "wind": 0,
}


@dataclasses.dataclass(frozen=True)
class MaterialRanges:
    """Ranges (lowest, highest) to draw evenly from; None leaves a value as it is.

    Attributes:
        pair: the two materials, by index or name, whose meeting the first six ranges are about; None: all pairs, with
            the same values.
        friction: see `Pair`.
        restitution: see `Pair`.
        rolling_friction: see `Pair`; twisting friction follows it where it was like it and has no range of its own.
        twisting_friction: see `Pair`.
        cohesion: see `Pair` [N/m].
        cohesion_range: see `Pair` [m].
        density: of the first material of the pair, or of all [kg/m3].
        gravity: two vectors, each component is drawn by itself [m/s2].
        air_density: [kg/m3].
        viscosity: of the air [Pa s].
        wind: two vectors [m/s].

    Raises:
        ArgumentError: a range that is no range, or reaches outside what the value may be.
    """

    pair: tuple[int | str, int | str] | None = None
    friction: Any = None
    restitution: Any = None
    rolling_friction: Any = None
    twisting_friction: Any = None
    cohesion: Any = None
    cohesion_range: Any = None
    density: Any = None
    gravity: Any = None
    air_density: Any = None
    viscosity: Any = None
    wind: Any = None

    def __post_init__(self) -> None:
        if self.pair is not None:
            if not isinstance(self.pair, (tuple, list)) or len(self.pair) != 2:
                raise ArgumentError(f"pair: expected two materials or None, got {self.pair!r}")
            each = [one if isinstance(one, str) else checks.integer("pair", one, 0) for one in self.pair]
            object.__setattr__(self, "pair", tuple(each))
        for name in (*PAIR_FIELDS, *_OTHERS):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, _range(name, value))

    def __repr__(self) -> str:
        """What is drawn, and from where."""
        drawn = [f"{name}={[np.asarray(end).tolist() for end in getattr(self, name)]}" for name in self.names]
        return f"MaterialRanges({', '.join([f'pair={self.pair!r}', *drawn])})"

    @property
    def names(self) -> list[str]:
        """What is drawn, in the order in which it is drawn."""
        return [name for name in (*PAIR_FIELDS, *_OTHERS) if getattr(self, name) is not None]

    @property
    def labels(self) -> dict[str, int]:
        """Names of what is drawn, with materials where there is a pair, and how many numbers each is.

        "sand_steel_friction", "sand_density", "gravity".
        """
        first, both = ("", "") if self.pair is None else (f"{self.pair[0]}_", f"{self.pair[0]}_{self.pair[1]}_")
        of_what = {**dict.fromkeys(PAIR_FIELDS, both), "density": first}
        return {of_what.get(name, "") + name: _length(name) for name in self.names}

    def check(self, materials: Sequence[str], planar: bool) -> None:
        """Whether a world can have what is drawn.

        Args:
            materials: of the world, by index.
            planar: its grains are shapes in the plane.

        Raises:
            ArgumentError: `pair` names no material of the world, or a range is of what planar grains do not have.
        """
        for one in self.pair or ():
            names.index("pair", one, materials, "material")
        for name in [name for name in self.names if planar and name in _OFF_PLANE]:
            ends = np.array(getattr(self, name))
            if ends.reshape(2, -1)[:, _OFF_PLANE[name] :].any():
                wanted = "no range" if _OFF_PLANE[name] == 0 else "z = 0"
                raise ArgumentError(f"{name}: expected {wanted} with planar grains, got {ends.tolist()}")

    def draw(self, generator: np.random.Generator) -> dict[str, Any]:
        """One value of each range: numbers, and (3,) arrays for gravity and wind."""
        checks.instance("generator", generator, np.random.Generator)
        values: dict[str, Any] = {}
        for name in self.names:
            low, high = getattr(self, name)
            drawn = np.float32(low + (high - low) * generator.random(low.shape))
            values[name] = drawn if drawn.ndim else float(drawn)
        return values

    def apply(self, world: World, generators: Generators, envs: Any = None) -> list[dict[str, Any]]:
        """Draws values for the listed envs and sets them.

        Args:
            world: its envs are set.
            generators: one per listed env, or a function that gives the one of an env (as `Task.generator` does), or a
                seed, from which env k gets a generator of its own.
            envs: None (all), an index, a list of indices or a mask.

        Returns:
            What was drawn, by listed env; `set` takes it.

        Raises:
            ArgumentError: an argument is not what it should be, or as `check`; nothing was drawn then.
        """
        listed = checks.envs(envs, checks.instance("world", world, World).env_count)
        self.check(world.material_names, world.planar)
        indices = range(world.env_count) if listed is None else listed.tolist()
        if callable(generators):
            each = [generators(env) for env in indices]
        elif isinstance(generators, Sequence):
            each = list(generators)
            if len(each) != len(indices):
                raise ArgumentError(f"generators: expected {len(indices)}, one per listed env, got {len(each)}")
        else:
            seed = checks.seed("generators", generators)
            each = [np.random.default_rng([seed, env]) for env in indices]
        values = [self.draw(generator) for generator in each]
        self.set(world, values, envs)
        return values

    def set(self, world: World, values: Sequence[dict[str, Any]], envs: Any = None) -> None:
        """Sets values that `draw` gave: one dict per listed env."""
        listed = checks.envs(envs, checks.instance("world", world, World).env_count)
        self.check(world.material_names, world.planar)
        count = world.env_count if listed is None else len(listed)
        if not isinstance(values, Sequence) or not all(isinstance(each, Mapping) for each in values):
            raise ArgumentError(f"values: expected a list of what draw() gave, got {values!r}")
        if len(values) != count:
            raise ArgumentError(f"values: expected {count}, one per listed env, got {len(values)}")
        for each in values:
            if each.keys() != set(self.names):
                raise ArgumentError(f"values: expected {names.listed(self.names)} for each env, got {list(each)}")
        if not count:
            return
        by_name = {name: np.array([each[name] for each in values], np.float32) for name in self.names}
        of_pair = {name: by_name.pop(name) for name in PAIR_FIELDS if name in by_name}
        materials = range(world.material_count)
        pairs = [self.pair] if self.pair is not None else [(a, b) for a in materials for b in materials if a <= b]
        if of_pair:
            for first, second in pairs:
                world.set_pair(first, second, envs=listed, **of_pair)
        if "density" in by_name:
            for material in [self.pair[0]] if self.pair is not None else materials:
                world.set_density(material, by_name["density"], envs=listed)
        if "gravity" in by_name:
            world.set_gravity(by_name["gravity"], envs=listed)
        air = {name: by_name.get("air_density" if name == "density" else name) for name in _AIR}
        if any(value is not None for value in air.values()):
            world.set_air(**air, envs=listed)


_AIR = ("density", "viscosity", "wind")


class Randomization:
    """What each env of a task draws from ranges for each episode.

    Args:
        ranges: to draw from, in this order.
        env_count: number of envs.

    Attributes:
        values: (env_count, n) what was drawn last, side by side.
    """

    def __init__(self, ranges: Sequence[MaterialRanges], env_count: int) -> None:
        self.ranges: tuple[MaterialRanges, ...] = tuple(ranges)
        self._columns: dict[str, int | slice] = {}
        width = 0
        for each in self.ranges:
            for label, length in each.labels.items():
                self._columns[label] = width if length == 1 else slice(width, width + length)
                width += length
        self.values: NDArray[np.float64] = np.zeros((env_count, width))

    def check(self, scene: Scene) -> None:
        """Raises ArgumentError where worlds of a scene cannot have what is drawn."""
        for each in self.ranges:
            try:
                each.check([material.name for material in scene.materials], scene.planar)
            except ArgumentError as error:
                raise ArgumentError(f"randomize.{error}") from None

    def draw(self, world: World, generator: Callable[[int], np.random.Generator], envs: NDArray[np.int32]) -> None:
        """Draws values for the listed envs, each from its own generator, and sets them in the world."""
        drawn = [each.apply(world, generator, envs) for each in self.ranges]
        if drawn:
            for env, *dicts in zip(envs, *drawn, strict=True):
                self.values[env] = np.hstack([value for values in dicts for value in values.values()])

    def infos(self) -> Arrays:
        """What was drawn, by label: (env_count,), or (env_count, 3) for gravity and wind."""
        return {label: self.values[:, column].copy() for label, column in self._columns.items()}


def check_ranges(name: str, value: Any) -> tuple[MaterialRanges, ...]:
    """The ranges of an argument: None, one MaterialRanges, or a sequence of them.

    Raises:
        ArgumentError: anything else.
    """
    found = () if value is None else (value,) if isinstance(value, MaterialRanges) else value
    if not isinstance(found, (tuple, list)) or not all(isinstance(one, MaterialRanges) for one in found):
        raise ArgumentError(f"{name}: expected None, a MaterialRanges or a sequence of them, got {value!r}")
    labels = [label for one in found for label in one.labels]
    twice = next((label for label in labels if labels.count(label) > 1), None)
    if twice:
        raise ArgumentError(f"{name}: expected each value once, got two ranges for {twice}")
    return tuple(found)


def _length(name: str) -> int:
    return 1 if name in LIMITS else _OTHERS[name][2]


def _range(name: str, value: Any) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    lower, upper = LIMITS[name] if name in LIMITS else _OTHERS[name][:2]
    length = _length(name)
    ends = checks.floats(name, value, (2,) if length == 1 else (2, length)).astype(np.float64)
    low, high = ends
    if not (low <= high).all() or not (low >= np.float32(lower)).all() or not (high <= upper).all():
        raise ArgumentError(f"{name}: expected (lowest, highest) within {lower:g} .. {upper:g}, got {value!r}")
    return low, high
