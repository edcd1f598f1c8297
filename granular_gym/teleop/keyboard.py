"""keyboard.py: the policy "keyboard": somebody steers a single env from a terminal, also over ssh.

A terminal tells which keys are pressed, not when they are let go. A key therefore moves a number of the action by a
half, where it stays until the other key of its pair moves it back; space sets all numbers to 0. Episodes run in real
time. Ctrl-C ends the program as ever; who plays closes the keyboard then, which empties the screen.
"""

from __future__ import annotations

import contextlib
import os
import select
import sys
import termios
import tty
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.errors import ArgumentError, GranularError
from granular_gym.tasks.registry import entry_of
from granular_gym.teleop.bindings import Binding, Inputs, bindings_of, parts_of, single_task
from granular_gym.teleop.pace import Pace
from granular_gym.teleop.screen import Screen

KEYS = Inputs(
    "keyboard",
    (("w", "s"), ("a", "d"), ("r", "f"), ("q", "e"), ("t", "g"), ("y", "h"), ("u", "j"), ("i", "k"), ("o", "l")),
    {
        "forward": [("w", "s")],
        "left": [("a", "d")],
        "right": [("d", "a")],
        "up": [("w", "s"), ("r", "f")],
        "turn left": [("a", "d"), ("q", "e")],
        "turn right": [("d", "a"), ("e", "q")],
    },
)
#: what terminals send for the arrow keys, and the keys that they stand for
ARROWS = {"\x1b[A": "w", "\x1b[B": "s", "\x1b[D": "a", "\x1b[C": "d"}
ARROWS |= {text.replace("[", "O"): key for text, key in ARROWS.items()}
STEP = 0.5
#: by file descriptor what gives back the terminals that are read
_OPEN: dict[int, Callable[[], Any]] = {}


def words_of(text: str) -> tuple[list[str], str]:
    """Keys in what a terminal sent, and the beginning of a key whose rest is still to come."""
    keys: list[str] = []
    while text:
        arrow = next((arrow for arrow in ARROWS if text.startswith(arrow)), None)
        if arrow is None and text[0] == "\x1b" and any(arrow.startswith(text) for arrow in ARROWS):
            return keys, text
        keys.append(text[0] if arrow is None else ARROWS[arrow])
        text = text[len(arrow or text[0]) :]
    return keys, ""


class Keyboard:
    """A policy that reads keys.

    Args:
        env: a single env that has been reset.
        terminal: file descriptor of a terminal to read; None: standard input.
        screen: draws what is seen; None: on standard output, where that is a terminal.

    Raises:
        ArgumentError: a batch of envs, a task with more numbers per action than there are keys, or no terminal.
    """

    def __init__(self, env: Any, terminal: int | None = None, screen: Screen | None = None) -> None:
        self._task = single_task("keyboard", env)
        self._measure = entry_of(env.unwrapped.spec.id).measure
        self.bindings: list[Binding] = bindings_of(parts_of(self._task), KEYS)
        self._moves = {
            key: (number, move)
            for number, binding in enumerate(self.bindings)
            for key, move in ((binding.plus, STEP), (binding.minus, -STEP))
        }
        self._terminal = sys.stdin.fileno() if terminal is None else terminal
        if not os.isatty(self._terminal):
            raise ArgumentError("policy: expected a terminal as standard input for 'keyboard', got another file")
        self._screen = screen or (Screen(sys.stdout) if sys.stdout.isatty() else None)
        self._pace = Pace(self._task.step_period)
        self._action: NDArray[np.float32] = np.zeros(len(self.bindings), np.float32)
        self._rest = ""
        # the keyboard of the episode before may not be forgotten yet: it must not give back what is now ours
        _OPEN.pop(self._terminal, lambda: None)()
        before = termios.tcgetattr(self._terminal)
        tty.setcbreak(self._terminal)
        # gives the terminal back as it was; also where this object is forgotten
        self._give_back = weakref.finalize(self, _restore, self._terminal, before)
        _OPEN[self._terminal] = self._give_back

    def __call__(self, observation: Any) -> NDArray[np.float32]:
        """The action (k,) after the keys that were pressed until the step is due.

        Raises:
            GranularError: the terminal went away.
        """
        while select.select([self._terminal], [], [], self._pace.left())[0]:
            self._press(self._read())
        self._pace.step()
        if self._screen is not None:
            self._screen.draw(self._task, self._lines())
        return np.array(self._action)

    def close(self) -> None:
        """Takes the picture off the screen and gives the terminal back as it was; further calls do nothing."""
        try:
            if self._screen is not None:
                self._screen.close()
        finally:
            self._give_back()

    def _read(self) -> list[str]:
        try:
            sent = os.read(self._terminal, 1024)
        except OSError:
            sent = b""
        if not sent:
            raise GranularError("keyboard: the terminal went away")
        keys, self._rest = words_of(self._rest + sent.decode("utf-8", "replace"))
        return keys

    def _press(self, keys: list[str]) -> None:
        for key in keys:
            if key == " ":
                self._action[:] = 0.0
            elif key.lower() in self._moves:
                number, move = self._moves[key.lower()]
                self._action[number] = np.clip(self._action[number] + move, -1.0, 1.0)

    def _lines(self) -> list[str]:
        infos = self._task.outcome().infos
        measured = [f"{self._measure} {infos[self._measure][0]:.3g}"] if self._measure in infos else []
        return [
            *(
                f"{binding.plus} / {binding.minus}  {value:+.1f}  {binding.part.name}"
                for binding, value in zip(self.bindings, self._action, strict=True)
            ),
            "   ".join(["space: stop", "Ctrl-C: end", *measured]),
        ]


def _restore(terminal: int, before: list[Any]) -> None:
    with contextlib.suppress(termios.error, OSError):  # it is gone
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)
