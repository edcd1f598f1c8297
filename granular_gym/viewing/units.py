"""units.py: the unit of every number that a view shows, and the text of a number.

Names are those of infos and of counters (docs/tasks, docs/counters.md); a name may bring its unit, as "height [m]".
"""

from __future__ import annotations

import numbers
from typing import Any

#: by name; "1": a count, "-": a share or another number without a unit
UNITS = {
    # of the viewer itself
    "step": "1",
    "time": "s",
    "speed over real time": "s/s",
    "grains": "1",
    "threads": "1",
    # of all tasks
    "reward": "-",
    "return": "-",
    "success": "-",
    "overlap_mean": "diameter",
    "overlap_max": "diameter",
    "residual": "m/s",
    "contact_count": "1",
    "escaped_count": "1",
    "fast_count": "1",
    "fast_tool_count": "1",
    "diverged": "-",
    # of single tasks
    "goal_share": "-",
    "bin_share": "-",
    "spill_share": "-",
    "lifted_share": "-",
    "torque_share": "-",
    "motor_share": "-",
    "overloaded": "-",
    "guard": "-",
    "received": "-",
    "spilled": "-",
    "held": "-",
    "discharged": "-",
    "commanded": "-",
    "dose": "-",
    "dose_error": "-",
    "mass": "kg",
    "rate": "kg/s",
    "clogged": "-",
    "error": "m",
    "error_share": "-",
    "mixing": "-",
    "power": "W",
    "x_position": "m",
    "y_position": "m",
    "x_velocity": "m/s",
    "y_velocity": "m/s",
    "height": "m",
    "reward_forward": "-",
    "reward_survive": "-",
    "reward_ctrl": "-",
    "reward_contact": "-",
}

#: of what `randomize` draws, by the end of the name: "sand_steel_friction"
DRAWN_UNITS = {
    "cohesion_range": "m",
    "cohesion": "N/m",
    "air_density": "kg/m3",
    "density": "kg/m3",
    "viscosity": "Pa s",
    "friction": "-",
    "restitution": "-",
}


def name_and_unit(label: str) -> tuple[str, str]:
    """The name in a label and its unit: ("height", "m") of "height [m]", ("rate", "kg/s") of "rate"; "": not known."""
    name, bracket, unit = label.partition(" [")
    if bracket and unit.endswith("]"):
        return name, unit[:-1]
    if label in UNITS:
        return label, UNITS[label]
    return label, next((unit for end, unit in DRAWN_UNITS.items() if label.endswith(end)), "")


def with_unit(label: str) -> str:
    """A label with its unit: "rate [kg/s]" of "rate"; as it is where the unit is not known."""
    name, unit = name_and_unit(label)
    return f"{name} [{unit}]" if unit else name


def number_text(value: Any) -> str:
    """A number as text: yes or no, an integer with its thousands, or four digits."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, numbers.Integral):
        return f"{int(value):,}"
    return f"{float(value):.4g}"
