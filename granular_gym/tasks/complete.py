"""complete.py: whether a task has what its env needs of it, so that a slip of its writer is named and not met later."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping
from typing import Any

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.names import listed, refuse_unknown
from granular_gym.engine.scene import Scene
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.tasks.images import Image
from granular_gym.tasks.pace import Preset

# attributes of a task that are numbers above 0, and those that are tables by name, with what these hold
_NUMBERS = ("control_period", "radius_of_2000", "density", "fastest")
_TABLES = {"presets": Preset, "images": Image, "pixels": Image}
# attributes that are sequences of names: a lone string would be taken for its letters
_NAMES = ("episode_state", "option_names")
#: the argument `difficulty` where nobody gives one
DEFAULT_DIFFICULTY = "medium"
# hooks that say what is read of the world, and the keys that they know
_ASKED = {"readings": ("wrenches", "columns", "cells"), "counted": ("boxes", "turned_boxes", "labels")}


def check_attributes(task: Any, names: Iterable[str]) -> None:
    """Raises ArgumentError where a class does not say what every task must say."""
    missing = [name for name in names if not hasattr(task, name)]
    if missing:
        raise ArgumentError(f"{type(task).__name__}: expected the attributes {', '.join(missing)}, got none of them")


def check_class(task: Any) -> None:
    """Checks what a class says of its tasks, before one is made of it.

    Raises:
        ArgumentError: a number of _NUMBERS is missing or not above 0, a table of _TABLES holds something else, or what
            lists names is a string.
    """
    check_attributes(task, _NUMBERS)
    name = type(task).__name__
    for attribute in _NUMBERS:
        checks.number(f"{name}.{attribute}", getattr(task, attribute), 0.0, above=True)
    for attribute, kind in _TABLES.items():
        for key, value in checks.mapping(f"{name}.{attribute}", getattr(task, attribute)).items():
            checks.instance(f"{name}.{attribute}[{key!r}]", value, kind)
    for attribute in _NAMES:
        given = getattr(task, attribute)
        if isinstance(given, str):
            raise ArgumentError(f"{name}.{attribute}: expected a sequence of names, got {given!r}; take ({given!r},)")


def check_difficulty(task: Any, difficulty: Any) -> Any:
    """What `difficulties` has under the name that the argument `difficulty` gives.

    Raises:
        ArgumentError: there is none, or it has no range `friction`.
    """
    where = f"{type(task).__name__}.difficulties"
    known = checks.mapping(where, task.difficulties)
    if difficulty == DEFAULT_DIFFICULTY and difficulty not in known:
        raise ArgumentError(
            f"{where}: expected an entry {DEFAULT_DIFFICULTY!r}, the default of the argument `difficulty`, got "
            f"{listed(known) or 'none'}"
        )
    found = known[checks.choice("difficulty", difficulty, list(known))]
    if not hasattr(found, "friction"):
        raise ArgumentError(f"{where}[{difficulty!r}]: expected a range `friction` in it, got {found!r}")
    return found


def check_bed(task: Any, bed: Any) -> Scene:
    """What the hook `bed_scene` gave.

    Raises:
        ArgumentError: no Scene, one of another number of grains than the task has, one with cameras, or `tool_colors`
            are not as many as its tools.
    """
    name = f"{type(task).__name__}.bed_scene"
    scene = checks.instance(name, bed, Scene)
    if scene.grain_count != task.world_grain_count:
        raise ArgumentError(f"{name}: expected a scene of {task.world_grain_count} grains, got {scene.grain_count}")
    if scene.cameras:
        cameras = listed(scene.cameras)
        raise ArgumentError(f"{name}: expected a scene without cameras, got {cameras}; name them in `images`")
    colors = len(task.tool_colors)
    if colors not in (0, len(scene.tools)):
        wanted = f"one for each of the {len(scene.tools)} tools, or none"
        raise ArgumentError(f"{type(task).__name__}.tool_colors: expected {wanted}, got {colors}")
    return scene


def check_alike(task: Any, number: int, scene: Scene, world: World) -> None:
    """Checks that a bed can be loaded into the world of a task, which was built from bed 0.

    Raises:
        ArgumentError: they differ in more than a state holds; the message says in what.
    """
    different = world.difference(scene.freeze())
    if different:
        hint = "; give fill_box the same size_seed in every bed" if "radii" in different else ""
        raise ArgumentError(
            f"{type(task).__name__}.bed_scene: expected bed {number} to have the {different} of bed 0, they "
            f"differ{hint}. Beds may differ in places and motion of grains and tools, and in values of materials"
        )


def check_placed(task: Any, envs: NDArray[np.int32], placed: NDArray[np.bool_]) -> None:
    """Checks what the hook `begin` did.

    Args:
        task: whose episodes began.
        envs: in which they began.
        placed: (env_count,) envs whose grains were placed meanwhile.

    Raises:
        ArgumentError: not all of them.
    """
    left = envs[~placed[envs]]
    if len(left):
        raise ArgumentError(
            f"{type(task).__name__}.begin: expected the grains of every listed env to be placed, those of env "
            f"{left[0]} were not; call load_beds(envs, numbers), world.load_state or world.set_grains"
        )


def check_asked(task: Any, hook: str, asked: Any) -> dict[str, Any]:
    """What a hook of _ASKED gave.

    Raises:
        ArgumentError: no dict, or one with other keys than the hook knows.
    """
    name = f"{type(task).__name__}.{hook}"
    found = checks.mapping(name, asked)
    refuse_unknown(name, found, _ASKED[hook])
    return found


def check_complete(task: Any) -> None:
    """Checks what the constructor of a task leaves behind.

    Args:
        task: a Task, just made.

    Raises:
        ArgumentError: no `view`, spaces of another kind than tasks have, or `episode_state` names what is not an array
            (env_count, ...).
    """
    check_attributes(task, ("view",))
    name = type(task).__name__
    space = getattr(task, "observation_space", None)
    parts = space.spaces.values() if isinstance(space, spaces.Dict) else [None]
    if not all(isinstance(part, spaces.Box) for part in parts):
        raise ArgumentError(f"{name}.observation_space: expected a Dict of Box, got {space}")
    missing = [image for image in task.images if image not in space.spaces]  # type: ignore[union-attr]
    if missing:
        raise ArgumentError(
            f"{name}.observation_space: expected an entry for each of `images`, lacks {', '.join(missing)}; take "
            "**self.depth_images.spaces()"
        )
    twice = [entry for entry in task.vision.names if entry in space.spaces]  # type: ignore[union-attr]
    if twice:
        raise ArgumentError(f"vision: expected other entries than those of {name} itself, got {', '.join(twice)}")
    actions = getattr(task, "action_space", None)
    if not isinstance(actions, spaces.Box) or len(actions.shape) != 1 or actions.dtype != np.float32 or (
        (actions.low != -1.0).any() or (actions.high != 1.0).any()
    ):  # fmt: skip
        raise ArgumentError(f"{name}.action_space: expected a Box(-1, 1, (k,), float32), got {actions}")
    for attribute in task.episode_state:
        value = getattr(task, attribute, None)
        if not isinstance(value, np.ndarray) or value.shape[:1] != (task.env_count,):
            raise ArgumentError(
                f"{name}.{attribute}: expected an array ({task.env_count}, ...), one row per env, as `episode_state` "
                f"names it, got {_described(value)}"
            )


def check_evaluated(task: Any, evaluated: Any, given: Container[str]) -> None:
    """Checks what the hook `evaluate` gave; given: names of the infos that are not the task's.

    Raises:
        ArgumentError: not rewards, terminated and infos, not one row per env, or an info with a name that is given.
    """
    name, count = f"{type(task).__name__}.evaluate", task.env_count
    if not isinstance(evaluated, tuple) or len(evaluated) != 3 or not isinstance(evaluated[2], Mapping):
        raise ArgumentError(f"{name}: expected (rewards, terminated, infos), got {_described(evaluated)}")
    rewards, terminated, infos = evaluated
    for what, array, kind in (("rewards", rewards, np.float64), ("terminated", terminated, np.bool_)):
        if not isinstance(array, np.ndarray) or array.dtype != kind or array.shape != (count,):
            expected = f"an array of {np.dtype(kind)} ({count},)"
            raise ArgumentError(f"{name}: expected {what} to be {expected}, got {_described(array)}")
    for key, array in infos.items():
        if not isinstance(array, np.ndarray) or array.shape[:1] != (count,):
            raise ArgumentError(f"{name}: expected info {key!r} to be an array ({count}, ...), got {_described(array)}")
        if key in given:
            raise ArgumentError(
                f"{name}: expected infos beside those of the engine, got {key!r}, which is one of these"
            )


def finite_where(envs: NDArray[np.bool_], values: NDArray[Any]) -> NDArray[Any]:
    """Values (env_count, ...) with 0 in place of what is not finite in some envs."""
    if values.dtype.kind != "f":
        return values
    rows = envs.reshape(-1, *[1] * (values.ndim - 1))
    return np.where(rows & ~np.isfinite(values), 0.0, values)


def not_finite(task: Any, rewards: NDArray[Any]) -> ArgumentError:
    """The error of rewards that are not finite."""
    env = int(np.flatnonzero(~np.isfinite(rewards))[0])
    name = f"{type(task).__name__}.evaluate"
    return ArgumentError(f"{name}: expected finite rewards where no env diverged, got {rewards[env]} in env {env}")


def check_sensed(task: Any, hook: str, answer: Any, besides: Mapping[str, Any]) -> None:
    """Checks what a hook, `sense` or `sense_pixels`, gave.

    Args:
        task: whose hook it is.
        hook: its name.
        answer: what it gave.
        besides: entries of the observation that neither it nor a camera gives.

    Raises:
        ArgumentError: with these other entries than those of the space shown that no camera gives, or of other shapes.
    """
    name, seen = f"{type(task).__name__}.{hook}", {*task.depth_images.seen, *task.vision.names}
    wanted = [key for key in task.shown_space.spaces if key not in seen]
    if not isinstance(answer, Mapping) or {*answer, *besides} != {*wanted}:
        got = sorted({*answer, *besides}) if isinstance(answer, Mapping) else _described(answer)
        raise ArgumentError(f"{name}: expected the entries {sorted(wanted)}, got {got}")
    for key, array in answer.items():
        check_entry(task, hook, key, array)


def check_entry(task: Any, hook: str, key: str, array: Any) -> None:
    """Checks an entry of the observations that a hook gave.

    Raises:
        ArgumentError: no array (env_count, ...) of the entry's shape and type.
    """
    space = task.shown_space.spaces[key]
    shape = (task.env_count, *space.shape)
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != space.dtype:
        expected, name = f"an array of {space.dtype} {shape}", f"{type(task).__name__}.{hook}"
        raise ArgumentError(f"{name}: expected {key!r} to be {expected}, got {_described(array)}")


def check_finite(task: Any, seen: Mapping[str, NDArray[Any]], diverged: NDArray[np.bool_]) -> None:
    """Checks entries of the observations.

    Args:
        task: whose they are.
        seen: entries (env_count, ...) by name.
        diverged: (env_count,) envs whose values may be anything.

    Raises:
        ArgumentError: in an env that did not diverge a number that is not finite.
    """
    for key, values in seen.items():
        rows = values.reshape(len(values), -1)
        wrong = np.flatnonzero(~diverged & ~np.isfinite(rows).all(axis=1))
        if len(wrong):
            env = int(wrong[0])
            bad, where = rows[env][~np.isfinite(rows[env])][0], f"{key!r} of env {env}"
            name = type(task).__name__
            raise ArgumentError(f"{name}: expected finite observations where no env diverged, got {bad} in {where}")


def _described(value: Any) -> str:
    return f"an array of {value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value).__name__
