"""recipe.py: `Recipe`: how a task is shown to a learner unless the user says otherwise."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from granular_gym.base import checks

#: what a learner is paid for a decision: the sum of the task's rewards, or how much the reward changed
REWARDS = ("sum", "change")


@dataclass(frozen=True)
class Recipe:
    """How a learner meets a task.

    Attributes:
        repeat: env steps per decision, >= 1.
        reward: of a decision, one of REWARDS.
        scale: the learner's reward is multiplied by it, > 0.
        log_std: PPO explores with noise; log of its first standard deviation per feature.
        noise_hold: decisions for which that noise keeps its direction, >= 1.
        disturbance: demonstrations are played with up to so much drifting noise on the expert's actions, >= 0. More
            shows how to recover, too much spoils what is shown.
        grain_count: grains of an env in which a learner sees the task's state vector, >= 1.
        sac: settings of SAC (`granular_gym.training.sac.SacSettings`) other than its defaults, by name.
        gaze: how SAC looks at the images of observation="pixels": "above" names those of a fixed camera over the field,
            the first of which shows the vehicle, "ahead" those of cameras on the vehicle; the state vector then has
            entries "place" (-1 .. 1 in the images above) and "heading" (cosine, sine). Empty: it sees their averages.
        pixels: the settings of SAC where it looks so.

    Raises:
        ArgumentError: a value outside these limits.
    """

    repeat: int = 1
    reward: str = "sum"
    scale: float = 1.0
    log_std: float = -0.5
    noise_hold: int = 8
    disturbance: float = 0.4
    grain_count: int = 100
    sac: Mapping[str, float] = field(default_factory=dict)
    gaze: Mapping[str, Sequence[str]] = field(default_factory=dict)
    pixels: Mapping[str, float | str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        checks.integer("repeat", self.repeat, 1)
        checks.choice("reward", self.reward, REWARDS)
        checks.number("scale", self.scale, 0.0, above=True)
        checks.number("log_std", self.log_std)
        checks.integer("noise_hold", self.noise_hold, 1)
        checks.number("disturbance", self.disturbance, 0.0)
        checks.integer("grain_count", self.grain_count, 1)
