"""drive_panel.py: sliders and keys by which a person in the browser gives the actions of a task.

viser tells of keys that go down, again and again while one is held, never of keys that come up. So a key changes its
action by NUDGE each time, and a held one goes on doing so; a key of its own sets all to 0, and with "spring back" an
action whose keys rest falls back to 0.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.tasks.actions import ActionPart
from granular_gym.teleop.bindings import Binding, Inputs, bindings_of

#: what moves the camera of a browser: viser's page takes these keys whether or not they are bound to anything else
CAMERA_KEYS = "W, A, S, D, Q, E and arrows"
#: keys of a browser, none of them of its camera; they lie as the ways do on a common keyboard
KEYS = Inputs(
    "browser",
    (("I", "K"), ("J", "L"), ("Y", "H"), ("U", "O"), ("T", "G"), ("R", "F"), ("V", "B"), ("Z", "X")),
    {
        "forward": (("I", "K"),),
        "left": (("J", "L"),),
        "right": (("L", "J"),),
        "up": (("Y", "H"), ("I", "K")),
        "turn left": (("U", "O"), ("J", "L")),
        "turn right": (("O", "U"), ("L", "J")),
    },
    alone=False,
)
#: the key that sets all actions to 0
ZERO_KEY = "space"
#: what a key changes an action by
NUDGE = 0.1
#: wall-clock time after which an action whose keys rest falls back [s]; keyboards wait this long before they repeat
REST = 0.6


class DrivePanel:
    """Sliders and keys for actions.

    Args:
        gui: of viser, in the container that holds the sliders.
        parts: what the numbers of an action move, in order.
    """

    def __init__(self, gui: Any, parts: Sequence[ActionPart]) -> None:
        self._touched = [0.0] * len(parts)  # when a key last moved it
        bindings = bindings_of(parts, KEYS)
        gui.add_markdown(_help(bindings))
        self._sliders = [
            gui.add_slider(_title(binding), -1.0, 1.0, 0.01, 0.0, hint=f"{_label(binding)}; {_keys(binding)}")
            for binding in bindings
        ]
        zero = gui.add_button("all to 0", hint=f"or the key {ZERO_KEY}")
        self._spring = gui.add_checkbox(
            "spring back", False, hint=f"actions fall back to 0 when their keys rest for {REST} s"
        )
        zero.on_click(lambda _: self.zero())
        gui.add_command("all actions to 0", hotkey=ZERO_KEY).on_trigger(lambda _: self.zero())
        for k, binding in enumerate(bindings):
            for key, change in ((binding.plus, NUDGE), (binding.minus, -NUDGE)) if binding.plus else ():
                gui.add_command(f"{binding.part.name}: {change:+g}", hotkey=key).on_trigger(self._nudger(k, change))

    def _nudger(self, index: int, change: float) -> Callable[[Any], None]:
        return lambda _: self.nudge(index, change)

    def nudge(self, index: int, change: float) -> None:
        """Changes an action, within [-1, 1]."""
        slider = self._sliders[index]
        slider.value = round(min(max(float(slider.value) + change, -1.0), 1.0), 2)
        self._touched[index] = time.monotonic()

    def zero(self) -> None:
        """Sets all actions to 0."""
        for slider in self._sliders:
            slider.value = 0.0

    def action(self) -> NDArray[np.float32]:
        """What is asked for now, (k,) in [-1, 1]."""
        if self._spring.value:
            now = time.monotonic()
            for k, slider in enumerate(self._sliders):
                if self._touched[k] and now - self._touched[k] > REST:
                    slider.value, self._touched[k] = 0.0, 0.0
        return np.array([slider.value for slider in self._sliders], np.float32)


def _title(binding: Binding) -> str:
    return f"{binding.part.name} ({binding.minus} {binding.plus})" if binding.plus else binding.part.name


def _label(binding: Binding) -> str:
    return f"{binding.part.name}, 1 = {binding.part.full}" if binding.part.full else binding.part.name


def _keys(binding: Binding) -> str:
    return f"{binding.plus} raises it, {binding.minus} lowers it" if binding.plus else "no keys"


def _help(bindings: Sequence[Binding]) -> str:
    """Markdown: what 1 stands for, and the keys."""
    rows = ["| action | 1 is | keys - + |", "|---|---|---|"]
    for binding in bindings:
        keys = f"`{binding.minus}` `{binding.plus}`" if binding.plus else ""
        rows.append(f"| {binding.part.name} | {binding.part.full} | {keys} |")
    return "\n".join([*rows, "", f"Key `{ZERO_KEY}`: all to 0. A held key goes on. {CAMERA_KEYS} move the camera."])
