"""settings.py: settings of the solver, the time step and the kernel, as a command line gives them."""

from __future__ import annotations

import argparse
import dataclasses
import warnings
from typing import Any

import granular_gym as gg

#: names besides those of Solver, with a value of their types
OTHERS: dict[str, Any] = {"dt": 1e-3, "kernel": ""}
#: the mode's default is None, and it is no flag
MODE: dict[str, Any] = {"mode": ""}


@dataclasses.dataclass(frozen=True)
class Setting:
    """A solver, a time step, and the instruction set it runs on.

    Attributes:
        label: as given.
        fields: of `Solver`, those that were given.
        dt: time step [s]; None: not given.
        kernel: "scalar", "vector128", "avx2" or "avx512" (same bits, other speed); None: the fastest.
    """

    label: str
    fields: dict[str, Any]
    dt: float | None
    kernel: str | None = None

    @classmethod
    def parse(cls, text: str) -> Setting:
        """From a text like "mode=gauss_seidel,iterations=10,dt=2e-3"; "" is the default.

        Raises:
            argparse.ArgumentTypeError: not of this form, or no such setting.
        """
        kinds: dict[str, Any] = {field.name: field.default for field in dataclasses.fields(gg.Solver)}
        kinds.update(OTHERS | MODE)
        fields: dict[str, Any] = {}
        for part in filter(None, text.replace(" ", "").split(",")):
            name, _, value = part.partition("=")
            if name not in kinds:
                raise argparse.ArgumentTypeError(
                    f"expected dt, kernel or a field of Solver before each =, got {part!r}"
                )
            fields[name] = _value(value, kinds[name])
        others = {name: fields.pop(name, None) for name in OTHERS}
        try:
            gg.Solver(**fields)
        except (gg.GranularError, TypeError) as error:
            raise argparse.ArgumentTypeError(str(error)) from error
        return cls(text.replace(" ", "") or "default", fields, **others)

    def solver(self, **others: Any) -> gg.Solver:
        """The solver, with some fields changed."""
        return gg.Solver(**{**self.fields, **others})

    def world(self, scene: gg.Scene, **others: Any) -> gg.World:
        """A world of a scene on one thread, without warnings; others: fields of the solver to change."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gg.StabilityWarning)
            return self.on_kernel(scene.build(solver=self.solver(**others), num_threads=1))

    def on_kernel(self, world: gg.World) -> gg.World:
        """The world, on the instruction set that was given."""
        if self.kernel is not None:
            world._core.set_kernel(self.kernel)
        return world


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
