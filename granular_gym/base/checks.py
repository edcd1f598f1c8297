"""checks.py: converts arguments to numbers and arrays of a known type, or raises ArgumentError.

Every message names the argument, what was expected and what was given. The engine checks again, but sees only arrays,
without the names of arguments.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from granular_gym import _core
from granular_gym.base import names
from granular_gym.errors import ArgumentError

FloatArray = NDArray[np.float32]
IntArray = NDArray[np.int32]

Kind = TypeVar("Kind")

_SINGLE = np.dtype(np.float32)
#: largest angle [rad]; above it single precision is coarser than a thousandth
LARGEST_ANGLE = 1e4
#: largest length, speed or acceleration that is accepted [SI units]
LARGEST = 1e9
#: most threads a world may use; the engine refuses more
LARGEST_THREADS = 1024


def number(name: str, value: Any, lower: float = -LARGEST, upper: float = LARGEST, *, above: bool = False) -> float:
    """A finite number in lower .. upper.

    Args:
        name: name of the argument in messages.
        value: int, float or NumPy scalar.
        lower: smallest value allowed.
        upper: largest value allowed.
        above: refuse `lower` itself.
    """
    if type(value) is float and lower < value < upper:  # of steps, many times a second
        return value
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise ArgumentError(f"{name}: expected a number, got {value!r}")
    try:
        result = float(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected a number, got {value!r}") from None
    if not math.isfinite(result) or result > upper or result < lower or (above and result == lower):
        if upper >= LARGEST and lower <= -LARGEST:
            wanted = "a finite number"
        elif upper >= LARGEST:
            wanted = f"a finite number {'>' if above else '>='} {lower:g}"
        else:
            wanted = f"a number {'above' if above else 'from'} {lower:g} to {upper:g}"
        raise ArgumentError(f"{name}: expected {wanted}, got {value!r}")
    return result


def integer(name: str, value: Any, lower: int, upper: int = 2**31 - 1) -> int:
    """An integer in lower .. upper."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        result = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}: expected an integer, got {value!r}") from None
    if not lower <= result <= upper:
        wanted = f">= {lower}" if upper >= 2**31 - 1 and result < lower else f"in {lower} .. {upper}"
        raise ArgumentError(f"{name}: expected an integer {wanted}, got {result}")
    return result


def threads(value: Any) -> int | None:
    """A number of threads from 1 to LARGEST_THREADS, or None."""
    return None if value is None else integer("num_threads", value, 1, LARGEST_THREADS)


def seed(name: str, value: Any) -> int:
    """An integer >= 0 of any size."""
    try:
        if isinstance(value, (bool, np.bool_)):
            raise TypeError
        result = operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}: expected an integer >= 0, got {value!r}") from None
    if result < 0:
        raise ArgumentError(f"{name}: expected an integer >= 0, got {result}")
    return result


def optional_seed(name: str, value: Any) -> int | None:
    """An integer >= 0 of any size, or None."""
    return None if value is None else seed(name, value)


def text(name: str, value: Any) -> str:
    """A string that is not empty."""
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name}: expected a name, got {value!r}")
    return value


def path(name: str, value: Any) -> Path:
    """A path that is not empty, from a str or a path object."""
    if not isinstance(value, (str, os.PathLike)) or not isinstance(found := os.fspath(value), str) or not found:
        raise ArgumentError(f"{name}: expected a path, got {value!r}")
    return Path(found)


def instance(name: str, value: Any, wanted: type[Kind]) -> Kind:
    """An object of a class."""
    if not isinstance(value, wanted):
        article = "an" if wanted.__name__[0] in "AEIOU" else "a"
        raise ArgumentError(f"{name}: expected {article} {wanted.__name__}, got {type(value).__name__}")
    return value


def mapping(name: str, value: Any) -> dict[Any, Any]:
    """A dict of its own from a dict or another mapping."""
    if not isinstance(value, Mapping):
        raise ArgumentError(f"{name}: expected a dict, got {value!r}")
    return dict(value)


def choice(name: str, value: Any, choices: Sequence[str]) -> str:
    """One of a few strings."""
    if not isinstance(value, str) or value not in choices:
        raise names.unknown(name, value, choices)
    return value


def flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ArgumentError(f"{name}: expected True or False, got {value!r}")
    return bool(value)


def flags(name: str, value: Any, count: int) -> NDArray[np.bool_]:
    """(count,) bools, from as many or from one for all."""
    array = np.asarray(value)
    if array.dtype != np.bool_ or array.shape not in ((), (count,)):
        raise ArgumentError(f"{name}: expected True, False or {count} of them, got {value!r}")
    return np.array(np.broadcast_to(array, (count,)))


def shape_text(shape: Sequence[int | None]) -> str:
    """A shape as text for a message; None: any length."""
    inner = ", ".join("*" if n is None else str(n) for n in shape)
    return f"({inner},)" if len(shape) == 1 else f"({inner})"


def _fits(shape: tuple[int, ...], wanted: Sequence[int | None]) -> bool:
    if shape == wanted:
        return True
    return len(shape) == len(wanted) and all(w is None or n == w for n, w in zip(shape, wanted, strict=True))


def host_array(value: Any) -> NDArray[Any]:
    """A NumPy array from anything array-like, also from an array on a GPU (torch, CuPy, JAX, DeviceArray): one copy."""
    if type(value) is np.ndarray:
        return value
    if hasattr(value, "detach"):  # torch: off the graph, off the GPU, and to a dtype that NumPy knows
        value = value.detach().cpu()
        value = value.float() if str(value.dtype) == "torch.bfloat16" else value
    elif hasattr(value, "__cuda_array_interface__") and hasattr(value, "get"):  # CuPy converts only when told to
        value = value.get()
    return np.asarray(value)


def _numbers(name: str, value: Any, kinds: str, what: str) -> NDArray[Any]:
    try:
        array = host_array(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected an array of {what}, got {type(value).__name__}") from None
    # an empty list is float64 whatever it was meant to hold
    if array.size and array.dtype.kind not in kinds:
        raise ArgumentError(f"{name}: expected an array of {what}, got dtype {array.dtype}")
    return array


def numbers(name: str, value: Any) -> NDArray[Any]:
    """An array of numbers of any type and shape."""
    return _numbers(name, value, "fiu", "numbers")


def floats(
    name: str, value: Any, shape: Sequence[int | None], *also: Sequence[int | None], finite: bool = True
) -> FloatArray:
    """A C-contiguous float32 array of finite numbers.

    Args:
        name: name of the argument in messages.
        value: anything array-like: lists, float64, integers, strided views, read-only arrays.
        shape: the expected shape; None: any length.
        also: further shapes allowed.
        finite: False: the engine looks for numbers that are not finite.
    """
    # fast path: called many times per step
    if type(value) is np.ndarray and value.dtype is _SINGLE and (value.shape == shape or value.shape in also):
        array = value
    else:
        array = _numbers(name, value, "fiu", "numbers")
    if not (_fits(array.shape, shape) or any(_fits(array.shape, wanted) for wanted in also)):
        wanted_text = " or ".join(shape_text(wanted) for wanted in (shape, *also))
        raise ArgumentError(f"{name}: expected shape {wanted_text}, got {array.shape}")
    if array.dtype == np.float32:
        result = array if array.flags.c_contiguous else np.ascontiguousarray(array)
    else:
        with np.errstate(over="ignore"):
            result = np.ascontiguousarray(array, np.float32).reshape(array.shape)
    if finite and not _core.all_finite(result):
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise ArgumentError(f"{name}: expected finite numbers, got {array[index]} at {list(index)}")
    return result


def doubles(name: str, value: Any, shape: Sequence[int | None], *also: Sequence[int | None]) -> NDArray[np.float64]:
    """A C-contiguous float64 array of finite numbers; arguments as of `floats`."""
    array = _numbers(name, value, "fiu", "numbers")
    if not (_fits(array.shape, shape) or any(_fits(array.shape, wanted) for wanted in also)):
        wanted_text = " or ".join(shape_text(wanted) for wanted in (shape, *also))
        raise ArgumentError(f"{name}: expected shape {wanted_text}, got {array.shape}")
    result = np.ascontiguousarray(array, np.float64).reshape(array.shape)
    if not np.isfinite(result).all():
        index = tuple(int(i) for i in np.argwhere(~np.isfinite(result))[0])
        raise ArgumentError(f"{name}: expected finite numbers, got {array[index]} at {list(index)}")
    return result


def pair(name: str, value: Any) -> tuple[float, float]:
    """Two finite numbers, rounded to single precision."""
    try:
        first, second = value
    except (TypeError, ValueError):
        raise ArgumentError(f"{name}: expected two numbers, got {value!r}") from None
    if not (type(first) is type(second) is float and -LARGEST <= first <= LARGEST and -LARGEST <= second <= LARGEST):
        first, second = number(name, first), number(name, second)
    return float(np.float32(first)), float(np.float32(second))


def angles(name: str, value: Any, shape: Sequence[int | None], *also: Sequence[int | None]) -> FloatArray:
    """Angles up to LARGEST_ANGLE; see `floats`."""
    found = floats(name, value, shape, *also)
    if found.size and float(np.abs(found).max()) > LARGEST_ANGLE:
        raise ArgumentError(f"{name}: expected angles within {LARGEST_ANGLE:g} rad, got {float(np.abs(found).max()):g}")
    return found


def integers(name: str, value: Any, shape: Sequence[int | None], lower: int, upper: int) -> IntArray:
    """A C-contiguous int32 array of numbers in lower .. upper."""
    array = _numbers(name, value, "iu", "integers")
    if not _fits(array.shape, shape):
        raise ArgumentError(f"{name}: expected shape {shape_text(shape)}, got {array.shape}")
    if array.size:
        low, high = int(array.min()), int(array.max())
        if low < lower or high > upper:
            raise ArgumentError(f"{name}: expected {lower} .. {upper}, got {low if low < lower else high}")
    return np.ascontiguousarray(array, np.int32).reshape(array.shape)


def bools(name: str, value: Any, shape: Sequence[int | None]) -> NDArray[np.uint8]:
    """A C-contiguous uint8 array of 0 and 1 from an array of bools."""
    array = _numbers(name, value, "b", "bools")
    if not _fits(array.shape, shape):
        raise ArgumentError(f"{name}: expected shape {shape_text(shape)}, got {array.shape}")
    return np.ascontiguousarray(array, np.uint8)


def vector(name: str, value: Any) -> FloatArray:
    """Three finite numbers."""
    return floats(name, value, (3,))


def unit_quaternions(name: str, value: FloatArray) -> FloatArray:
    """Quaternions w x y z normalised along the last axis, as a new array; refuses those of zero length."""
    length = np.linalg.norm(value.astype(np.float64), axis=-1, keepdims=True)
    if not np.all((length > 1e-4) & (length < 1e4)):
        raise ArgumentError(f"{name}: expected unit quaternions (w, x, y, z), one has length {float(length.min()):g}")
    # unit quaternions are kept bit for bit
    return np.where(np.abs(length - 1.0) < 1e-6, value, value / length).astype(np.float32)


def pose(name: str, value: Any) -> FloatArray:
    """A pose x y z qw qx qy qz, or x y z alone; (7,) float32."""
    array = floats(name, value, (7,), (3,))
    if array.shape == (3,):
        array = np.concatenate([array, np.array([1, 0, 0, 0], np.float32)])
    array[3:] = unit_quaternions(name, array[3:])
    return array


def envs(value: Any, env_count: int, *, repeated: bool = False) -> IntArray | None:
    """Env indices from None (all), an index, a list of indices or a mask (env_count,) of bool.

    Args:
        value: what came.
        env_count: number of envs.
        repeated: an index may come several times, as where envs are read; what is set is set once.
    """
    if value is None:
        return None
    try:
        array = host_array(value)
    except (TypeError, ValueError):
        raise ArgumentError(f"envs: expected an index, a list of indices or a mask, got {value!r}") from None
    if array.dtype.kind == "b":
        if array.shape != (env_count,):
            raise ArgumentError(f"envs: expected a mask of shape ({env_count},), got {array.shape}")
        return np.flatnonzero(array).astype(np.int32)
    if array.ndim == 0:
        return np.array([integer("envs", value, 0, env_count - 1)], np.int32)
    listed = integers("envs", array, (None,), 0, env_count - 1)
    if not repeated and not (listed[1:] > listed[:-1]).all() and len(np.unique(listed)) < len(listed):
        raise ArgumentError(f"envs: expected each env once, got {listed.tolist()}")
    return listed
