"""models.py: the simulators by name."""

from __future__ import annotations

import inspect
from typing import Any

from granular_gym.base import names
from granular_gym.learned.baselines import Ballistic, Equivariant, GraphNetwork, Subequivariant
from granular_gym.learned.discrete_element import DiscreteElementLearner
from granular_gym.learned.simulator import Scale, Simulator

_CLASSES: tuple[type[Simulator], ...] = (DiscreteElementLearner, Ballistic, GraphNetwork, Equivariant, Subequivariant)
#: classes by name
MODELS: dict[str, type[Simulator]] = {each.name: each for each in _CLASSES}


def make(name: str, scale: Scale, **options: Any) -> Simulator:
    """A new simulator.

    Args:
        name: "del", "gns", "egnn", "sgnn" or "ballistic".
        scale: its units.
        options: of its class.

    Raises:
        ArgumentError: no such model or option; the message names the near one.
    """
    if name not in MODELS:
        raise names.unknown("model", name, list(MODELS))
    known = [each for each in inspect.signature(MODELS[name]).parameters if each != "scale"]
    names.refuse_unknown("options", options, known)
    return MODELS[name](scale, **options)
