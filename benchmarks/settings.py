"""settings.py: settings of the solver and the time step, as a command line gives them."""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from typing import Any

import granular_gym as gg


@dataclasses.dataclass(frozen=True)
class Setting:
    """A solver and a time step.

    Attributes:
        label: as given.
        fields: of `Solver`, those that were given.
        dt: time step [s]; None: not given.
    """

    label: str
    fields: dict[str, Any]
    dt: float | None

    @classmethod
    def parse(cls, text: str) -> Setting:
        """From a text like "mode=convergent,iterations=10,dt=2e-3"; "" is the default.

        Raises:
            argparse.ArgumentTypeError: not of this form, or no such setting.
        """
        kinds = {field.name: field.default for field in dataclasses.fields(gg.Solver)}
        fields: dict[str, Any] = {}
        for part in filter(None, text.replace(" ", "").split(",")):
            name, _, value = part.partition("=")
            if name != "dt" and name not in kinds:
                raise argparse.ArgumentTypeError(f"expected dt or a field of Solver before each =, got {part!r}")
            fields[name] = _value(value, kinds.get(name, 1.0))
        dt = fields.pop("dt", None)
        try:
            gg.Solver(**fields)
        except (gg.GranularError, TypeError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return cls(text.replace(" ", "") or "default", fields, None if dt is None else float(dt))

    def solver(self, **others: Any) -> gg.Solver:
        """The solver, with some fields changed."""
        return gg.Solver(**{**self.fields, **others})

    def world(self, scene: gg.Scene, **others: Any) -> gg.World:
        """A world of a scene on one thread, without warnings; others: fields of the solver to change."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gg.StabilityWarning)
            return scene.build(solver=self.solver(**others), num_threads=1)


def _value(text: str, like: Any) -> Any:
    """A value of the type of another; flags (whose default is None) are true or false."""
    if isinstance(like, str):
        return text
    if like is None:
        flags = {"true": True, "false": False, "1": True, "0": False}
        if text.lower() not in flags:
            raise argparse.ArgumentTypeError(f"expected true or false, got {text!r}")
        return flags[text.lower()]
    try:
        return int(text) if isinstance(like, int) else float(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"expected a number, got {text!r}") from error
