"""settings.py: what a training run is, in one place; kept in its checkpoints, read from JSON and from plans."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from granular_gym.base import checks, names
from granular_gym.errors import ArgumentError

#: what a model learns from, and the arrays of an episode that hold it: the engine's cameras, or the training renderer
PICTURES = {"splat": ("splat_color", "splat_depth"), "camera": ("color", "depth")}
SUPERVISIONS = ("images", "tracks")
#: what is known of the first frame, see `starts.STARTS`
START_NAMES = ("known", "pictures")


@dataclass(frozen=True)
class Settings:
    """A training run.

    Attributes:
        model: a name that `make` knows.
        options: of the model.
        substeps: Euler steps of the model in a frame; 1 in the paper. Contacts are shorter than a frame of 10 ms.
        supervision: "images": pictures alone, from a start that is known; "tracks": positions of every particle.
        pictures: "splat": those of the training renderer; "camera": those of the engine's cameras.
        start: "known": the true grains of the first frame; "pictures": those that its pictures show.
        views: the first so many cameras; None: all.
        iterations: steps of the optimiser.
        batch: episodes at once.
        horizon: frames from a state to the loss, at the beginning and at the end.
        reach: frames of an episode that are walked at the beginning; at the end, all. With pictures a walk goes on from
            the model's own states, and what is far from its start makes sense once the model is good.
        growth: share of the run over which horizon and reach grow.
        learning_rate: AdamW's rate at the beginning.
        decay: what the rate is multiplied by each `decay_every` iterations.
        decay_every: iterations.
        clip: longest gradient, in mean lengths so far.
        normal: weight in the loss of the pictures after normal forces alone; 0 is the paper's ablation.
        gradient: weight of the gradient loss; 0 is the paper's ablation.
        depth: weight of depth images [1/m]; 0: from colours alone, as the paper.
        stability: weight of `Simulator.instability`, of models that have a law of pairs; 0: none.
        seed: of weights and of what is drawn.
        log_every: iterations between rows of the curve.
        save_every: iterations between checkpoints.
    """

    model: str = "del"
    options: dict[str, Any] = field(default_factory=dict)
    substeps: int = 2
    supervision: str = "images"
    pictures: str = "splat"
    start: str = "known"
    views: int | None = None
    iterations: int = 4000
    batch: int = 4
    horizon: tuple[int, int] = (2, 8)
    reach: int = 12
    growth: float = 0.4
    learning_rate: float = 5e-4
    decay: float = 0.9
    decay_every: int = 10_000
    clip: float = 3.0
    normal: float = 1.0
    gradient: float = 0.001
    depth: float = 0.0
    stability: float = 1.0
    seed: int = 0
    log_every: int = 20
    save_every: int = 200

    def __post_init__(self) -> None:
        checks.choice("supervision", self.supervision, SUPERVISIONS)
        checks.choice("pictures", self.pictures, list(PICTURES))
        checks.choice("start", self.start, START_NAMES)
        if self.start == "pictures" and self.supervision == "tracks":
            raise ArgumentError("start: expected 'known' with tracks, which tell every position, got 'pictures'")
        if not isinstance(self.options, dict):
            raise ArgumentError(f"options: expected options of the model by name, got {self.options!r}")
        if self.views is not None:
            checks.integer("views", self.views, 1)
        for name in ("substeps", "iterations", "batch", "reach", "decay_every", "log_every", "save_every"):
            checks.integer(name, getattr(self, name), 1)
        try:
            first, last = self.horizon
        except (TypeError, ValueError):
            raise ArgumentError(f"horizon: expected two numbers of frames, got {self.horizon!r}") from None
        checks.integer("horizon", first, 1)
        checks.integer("horizon", last, first)
        object.__setattr__(self, "horizon", (first, last))
        checks.number("growth", self.growth, 0.0, 1.0)
        checks.number("learning_rate", self.learning_rate, 0.0, 1.0, above=True)
        checks.number("decay", self.decay, 0.0, 1.0, above=True)
        checks.number("clip", self.clip, 0.0, above=True)
        for name in ("normal", "gradient", "depth", "stability"):
            checks.number(name, getattr(self, name), 0.0)
        checks.seed("seed", self.seed)

    @classmethod
    def of(cls, values: dict[str, Any]) -> Settings:
        """Settings from a dict, as JSON has them.

        Raises:
            ArgumentError: an unknown name, or a value out of range.
        """
        names.refuse_unknown("settings", values, [each.name for each in dataclasses.fields(cls)])
        return cls(**values)

    def grown(self, iteration: int, first: int, last: int) -> int:
        """What grows from `first` to `last`, at an iteration."""
        whole = self.growth * self.iterations
        share = min(iteration / whole, 1.0) if whole else 1.0
        return round(first + share * (last - first))
