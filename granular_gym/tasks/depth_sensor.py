"""depth_sensor.py: `DepthSensor`: the errors of a depth camera, and `SensorNoise`: theirs in the envs of a task.

Key ideas: what a pixel draws is a function of the key of the episode, which comes from the seed of the env, of the
number of env steps made in it, of the image and of the pixel, and of nothing else; so envs, threads, snapshots and the
number of times that somebody looks change no bit. Only integers, sums, products, quotients and rounding are used, which
NumPy and torch compute alike: the normal distribution is a table of its quantiles.
"""

from __future__ import annotations

import copy
import functools
from collections.abc import Mapping
from dataclasses import dataclass, fields
from statistics import NormalDist
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.names import refuse_unknown, unknown
from granular_gym.base.rng import mixed
from granular_gym.base.types import Arrays
from granular_gym.engine.outputs import kit_of
from granular_gym.errors import ArgumentError

_WORD = 2**32 - 1
_QUANTILE_BITS = 14  # of the table: the largest error is 4.2 standard deviations
_NEAREST = 1e-6  # [m]: no inverse depth is larger than that of this


@dataclass(frozen=True)
class DepthSensor:
    """How a depth camera errs; each pixel on its own.

    A pixel at depth z first gets normal noise of the standard deviation noise + noise_of_distance z^2, then 1/z is
    rounded to a multiple of `quantum`, as cameras do that measure a disparity; then it is clipped to the limits of the
    image. A share of the pixels is lost: they read `far`, as misses do. What reads `far` without a sensor stays so,
    where it is a miss; where it is the floor (`Image.floor`) it errs as other surfaces do.

    That the error grows with the square of the distance, and in which steps depth comes, is what triangulation gives:
    Khoshelham and Oude Elberink, "Accuracy and resolution of Kinect depth data for indoor mapping applications",
    Sensors 12(2), 2012, eq. 10 and 11. With the constant term it is the form that Nguyen, Izadi and Lovell measured
    ("Modeling Kinect sensor noise for improved 3D reconstruction and tracking", 3DIMPVT 2012). Errors along the image,
    shadows, and how lost pixels gather at edges are not modelled.

    Attributes:
        noise: standard deviation at any depth [m].
        noise_of_distance: what is added to it per square of the depth [1/m].
        dropout: share of the pixels that are lost, 0 .. 1.
        quantum: step of the inverse depth [1/m]; 0: depth is not rounded.

    Raises:
        ArgumentError: a negative number, or a share above 1.
    """

    noise: float = 0.0
    noise_of_distance: float = 0.0
    dropout: float = 0.0
    quantum: float = 0.0

    def __post_init__(self) -> None:
        for name in ("noise", "noise_of_distance", "dropout", "quantum"):
            most = 1.0 if name == "dropout" else checks.LARGEST
            object.__setattr__(self, name, checks.number(name, getattr(self, name), 0.0, most))

    @classmethod
    def stereo(
        cls, focal_length: float, baseline: float, *, error: float = 0.1, step: float = 1 / 32, dropout: float = 0.0
    ) -> DepthSensor:
        """A camera that measures disparities d = focal_length * baseline / depth.

        Args:
            focal_length: [pixels] of the real camera, not of the image that a task shows.
            baseline: [m].
            error: standard deviation of the disparity [pixels].
            step: of the disparity [pixels].
            dropout: see the class.

        Raises:
            ArgumentError: a length that is not above 0, or see the class.
        """
        scale = 1.0 / (
            checks.number("focal_length", focal_length, 0.0, above=True)
            * checks.number("baseline", baseline, 0.0, above=True)
        )
        error, step = checks.number("error", error, 0.0), checks.number("step", step, 0.0)
        return cls(noise_of_distance=error * scale, quantum=step * scale, dropout=dropout)

    @classmethod
    def structured_light(cls, dropout: float = 0.0) -> DepthSensor:
        """The first Kinect, as Khoshelham and Oude Elberink (2012) calibrated it: at 5 m an error of 4 cm in steps of
        7 cm.

        Args:
            dropout: see the class; the paper gives no share.
        """
        inverse = 2.85e-3  # [1/m] of inverse depth per step of disparity
        return cls(noise_of_distance=0.5 * inverse, quantum=inverse, dropout=dropout)


#: what the argument `sensor` of tasks takes by name
SENSORS: Mapping[str, DepthSensor] = {"structured_light": DepthSensor.structured_light()}


def check_sensor(value: Any) -> DepthSensor | None:
    """The argument `sensor` of tasks.

    Raises:
        ArgumentError: neither a DepthSensor, nor its attributes by name, as files hold them, nor a key of SENSORS, nor
            None.
    """
    if value is None or isinstance(value, DepthSensor):
        return value
    if isinstance(value, Mapping):
        refuse_unknown("sensor", value, [field.name for field in fields(DepthSensor)])
        return DepthSensor(**value)
    if isinstance(value, str) and value not in SENSORS:
        raise unknown("sensor", value, list(SENSORS))
    if not isinstance(value, str):
        raise ArgumentError(f"sensor: expected a DepthSensor, one of {list(SENSORS)} or None, got {value!r}")
    return SENSORS[value]


class SensorNoise:
    """What the pixels of a task's images draw.

    Args:
        sensor: how they err.
        env_count: number of envs.
    """

    #: of what a snapshot of a task holds of it
    names: ClassVar[tuple[str, str]] = ("sensor_keys", "sensor_steps")

    def __init__(self, sensor: DepthSensor, env_count: int) -> None:
        self.sensor = sensor
        self.keys: NDArray[np.int64] = np.zeros(env_count, np.int64)  # of the episodes
        self.steps: NDArray[np.int64] = np.zeros(env_count, np.int64)  # env steps made in them

    def begin(self, env: int, generator: np.random.Generator) -> None:
        """A new episode: its key is what the generator would draw next, which it still draws afterwards."""
        self.keys[env] = copy.deepcopy(generator).integers(2**63)
        self.steps[env] = 0

    def arrays(self) -> Arrays:
        """What a snapshot of a task holds of it, by name."""
        return dict(zip(self.names, (self.keys, self.steps), strict=True))

    def load(self, saved: Mapping[str, Any]) -> None:
        """Goes back to a snapshot."""
        self.keys, self.steps = (saved[name].copy() for name in self.names)

    def measured(self, depth: Any, number: int, limits: tuple[float, float], floor: bool) -> tuple[Any, Any]:
        """Depth images as the sensor gives them.

        Args:
            depth: (env_count, height, width) float32 [m], a NumPy array or a tensor; it is left alone.
            number: of the image in its task: each draws its own.
            limits: nearest and furthest depth [m].
            floor: what reads the furthest depth is a surface.

        Returns:
            Depth, alike, and which pixels were lost, bool.
        """
        kit, (near, far), sensor = kit_of(depth), limits, self.sensor
        first, second = self._words(depth, number)
        lost = second < round(sensor.dropout * 2.0**32)
        seen = depth
        if sensor.noise or sensor.noise_of_distance:
            table = _quantiles() if kit is np else kit.from_numpy(_quantiles()).to(depth.device)
            seen = depth + (sensor.noise_of_distance * (depth * depth) + sensor.noise) * table[first]
        if sensor.quantum:
            inverse = 1.0 / (kit.clip(seen, _NEAREST, None) * sensor.quantum)
            seen = 1.0 / (kit.clip(kit.round(inverse), 1.0, None) * sensor.quantum)
        furthest = depth * 0.0 + far  # of the type, and where it is
        missed = lost if floor else lost | (depth >= furthest)
        return kit.where(missed, furthest, kit.clip(seen, near, far)), lost

    def _words(self, depth: Any, number: int) -> tuple[Any, Any]:
        """Two random integers for each pixel: numbers of quantiles, and words of 32 bits."""
        stream = mixed(mixed(mixed(self.keys.astype(np.uint64)) ^ self.steps.astype(np.uint64)) ^ np.uint64(number))
        halves = [(stream >> np.uint64(shift) & np.uint64(_WORD)).astype(np.int64) for shift in (0, 32)]
        count, shape = depth.shape[1] * depth.shape[2], depth.shape
        kit = kit_of(depth)
        if kit is np:
            low, high = (half[:, None] for half in halves)
            pixels = np.arange(count)
        else:
            low, high = (kit.from_numpy(half[:, None]).to(depth.device) for half in halves)
            pixels = kit.arange(count, device=depth.device)
        one = _scrambled(_scrambled(pixels ^ low) ^ high)
        two = _scrambled(one ^ 0x5BD1E995)
        return (one >> (32 - _QUANTILE_BITS)).reshape(shape), two.reshape(shape)


@functools.cache
def _quantiles() -> NDArray[np.float32]:
    """Equally likely values of a normal distribution of mean 0 and deviation 1."""
    count, normal = 2**_QUANTILE_BITS, NormalDist()
    upper = [normal.inv_cdf((k + 0.5) / count) for k in range(count // 2, count)]
    values = np.array([-x for x in reversed(upper)] + upper)
    scaled: NDArray[np.float32] = (values / np.sqrt(np.mean(values * values))).astype(np.float32)
    return scaled


def _scrambled(words: Any) -> Any:
    """32 bits of each integer, mixed ("lowbias32" of Wellons' search for hash functions); int64 that never overflow."""
    for shift, factor in ((16, 0x7FEB352D), (15, 0x846CA68B)):
        words = words ^ (words >> shift)
        words = (words * (factor & 0xFFFF) + ((words * (factor >> 16) & 0xFFFF) << 16)) & _WORD
    return words ^ (words >> 16)
