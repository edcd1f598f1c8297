"""gamepad.py: the policy "gamepad": somebody steers a single env with a gamepad of this machine, in real time.

Devices are read by pygame (SDL), which knows the layout of most: sticks and buttons have the same names on all.
"""

from __future__ import annotations

import importlib
import os
import sys
import time
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import GranularError, MissingError
from granular_gym.teleop.bindings import Binding, Inputs, bindings_of, parts_of, single_task
from granular_gym.teleop.pace import Pace
from granular_gym.teleop.screen import Screen

INPUTS = Inputs(
    "gamepad",
    (
        ("left stick up", "left stick down"),
        ("left stick left", "left stick right"),
        ("right stick up", "right stick down"),
        ("right stick left", "right stick right"),
        ("right trigger", "left trigger"),
        ("right shoulder", "left shoulder"),
        ("pad up", "pad down"),
        ("pad right", "pad left"),
        ("button Y", "button A"),
        ("button B", "button X"),
    ),
    {
        "forward": [("left stick up", "left stick down")],
        "left": [("left stick left", "left stick right")],
        "right": [("left stick right", "left stick left")],
        "up": [("left stick up", "left stick down"), ("right stick up", "right stick down")],
        "turn left": [("left stick left", "left stick right"), ("right stick left", "right stick right")],
        "turn right": [("left stick right", "left stick left"), ("right stick right", "right stick left")],
    },
)
#: SDL's axes, and the sign with which each input moves its own; down and right are positive
_AXES = {
    "left stick up": ("LEFTY", -1),
    "left stick down": ("LEFTY", 1),
    "left stick left": ("LEFTX", -1),
    "left stick right": ("LEFTX", 1),
    "right stick up": ("RIGHTY", -1),
    "right stick down": ("RIGHTY", 1),
    "right stick left": ("RIGHTX", -1),
    "right stick right": ("RIGHTX", 1),
    "right trigger": ("TRIGGERRIGHT", 1),
    "left trigger": ("TRIGGERLEFT", 1),
}
_BUTTONS = {
    "right shoulder": "RIGHTSHOULDER",
    "left shoulder": "LEFTSHOULDER",
    "pad up": "DPAD_UP",
    "pad down": "DPAD_DOWN",
    "pad left": "DPAD_LEFT",
    "pad right": "DPAD_RIGHT",
    "button A": "A",
    "button B": "B",
    "button X": "X",
    "button Y": "Y",
}
#: what SDL calls full deflection, and the share of it that a stick at rest may show
FULL, DEAD = 32767.0, 0.12


class Pad(Protocol):
    """A gamepad."""

    def update(self) -> None:
        """Takes in what has happened since the last call.

        Raises:
            GranularError: it was unplugged.
        """

    def share(self, name: str) -> float:
        """How far an input is pressed, 0 .. 1.

        Args:
            name: an input in INPUTS.
        """


class SdlPad:
    """The first gamepad that SDL knows.

    Args:
        pygame: the library; None: it is imported.

    Raises:
        MissingError: pygame is not installed.
        GranularError: no gamepad is connected.
    """

    def __init__(self, pygame: Any = None) -> None:
        if pygame is None:
            # a gamepad needs no window, and a machine without a display has none
            os.environ.setdefault("SDL_VIDEODRIVER", "dummy")
            os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")
            os.environ.setdefault("PYGAME_HIDE_SUPPORT_PROMPT", "1")
            try:
                pygame = importlib.import_module("pygame")
                importlib.import_module("pygame._sdl2.controller")
            except ImportError:
                raise MissingError("policy: 'gamepad' needs pygame: pip install 'granular_gym[teleop]'") from None
        self._pygame = pygame
        pygame.display.init()
        controllers = pygame._sdl2.controller
        controllers.init()
        found = [number for number in range(controllers.get_count()) if controllers.is_controller(number)]
        if not found:
            others = controllers.get_count()
            raise GranularError(
                "policy: expected a gamepad for 'gamepad', "
                + (f"got {others} devices that SDL has no layout of" if others else "none is connected")
            )
        self._device = controllers.Controller(found[0])

    def update(self) -> None:
        """See `Pad`."""
        self._pygame.event.pump()
        if not self._device.attached():
            raise GranularError("gamepad: it was unplugged")

    def share(self, name: str) -> float:
        """See `Pad`."""
        if name in _BUTTONS:
            button = getattr(self._pygame, f"CONTROLLER_BUTTON_{_BUTTONS[name]}")
            return float(self._device.get_button(button))
        axis, sign = _AXES[name]
        value: float = sign * self._device.get_axis(getattr(self._pygame, f"CONTROLLER_AXIS_{axis}")) / FULL
        return min(max((value - DEAD) / (1.0 - DEAD), 0.0), 1.0)


class Gamepad:
    """A policy that reads a gamepad.

    Args:
        env: a single env that has been reset.
        pad: the gamepad; None: the first that is connected.

    Raises:
        ArgumentError: a batch of envs, or a task with more numbers per action than there are inputs.
        MissingError: pygame is not installed.
        GranularError: no gamepad is connected.
    """

    def __init__(self, env: Any, pad: Pad | None = None) -> None:
        self._task = single_task("gamepad", env)
        self.bindings: list[Binding] = bindings_of(parts_of(self._task), INPUTS)
        self._pad: Pad = SdlPad() if pad is None else pad
        self._screen = Screen(sys.stdout) if sys.stdout.isatty() else None
        self._pace = Pace(self._task.step_period)

    def __call__(self, observation: Any) -> NDArray[np.float32]:
        """The action (k,) that the inputs ask for when the step is due.

        Raises:
            GranularError: the gamepad was unplugged.
        """
        time.sleep(self._pace.left())
        self._pace.step()
        self._pad.update()
        shares = [self._pad.share(binding.plus) - self._pad.share(binding.minus) for binding in self.bindings]
        if self._screen is not None:
            lines = [
                f"{binding.plus} / {binding.minus}  {share:+.2f}  {binding.part.name}"
                for binding, share in zip(self.bindings, shares, strict=True)
            ]
            self._screen.draw(self._task, lines)
        return np.array(shares, np.float32)

    def close(self) -> None:
        """Takes the picture off the screen; further calls do nothing."""
        if self._screen is not None:
            self._screen.close()
