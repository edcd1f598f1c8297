"""panel.py: the panel of a view: what a person asks for, and the table of numbers with their units.

viser calls back on threads of its own. They leave what was asked for here; the script that steps the worlds takes it.
"""

from __future__ import annotations

import collections
import html
import threading
from collections.abc import Mapping, Sequence
from typing import Any

from granular_gym.viewing.units import name_and_unit, number_text

#: what may be asked for besides steps
RESET, SAVE, RECORD = "reset", "save state", "record"
_STEP, _STOP = "step", "stop recording"


class Panel:
    """Controls and numbers.

    Args:
        gui: of viser.
        env_count: of the worlds.
        env: shown first.
        labels: one per world; a single one is not shown.

    Attributes:
        changed: set when anything was asked for.
        steps: single steps asked for and not taken.
    """

    changed: threading.Event
    steps: int

    def __init__(self, gui: Any, env_count: int, env: int, labels: Sequence[str]) -> None:
        self.changed, self.steps, self._count = threading.Event(), 0, env_count
        self._asked: collections.deque[str] = collections.deque()
        self._labels = list(labels)
        self._text = gui.add_markdown("")
        self._pause = gui.add_checkbox("pause", False, hint="or the key P")
        self._buttons = gui.add_button_group("", (_STEP, RESET, SAVE))
        self._record = gui.add_button(RECORD, hint="a film of what is shown")
        self._speed = gui.add_slider(
            "speed", 0.0, 10.0, 0.1, 1.0, hint="most simulated seconds per second; 0: unlimited"
        )
        self._choice = gui.add_slider("env", 0, max(env_count - 1, 1), 1, env, visible=env_count > 1)
        self._status = gui.add_markdown("")
        self._numbers = gui.add_html("")
        self._buttons.on_click(lambda event: self._press(event.target.value))
        self._record.on_click(lambda _: self._ask(RECORD))
        self._pause.on_update(lambda _: self.changed.set())
        self._choice.on_update(lambda _: self.changed.set())
        gui.add_command("pause, or go on", hotkey="P").on_trigger(lambda _: self._toggle())
        gui.add_command("one step", hotkey="N").on_trigger(lambda _: self._press(_STEP))

    def _press(self, button: str) -> None:
        if button == _STEP:
            self._pause.value = True
            self.steps += 1
            self.changed.set()
        else:
            self._ask(button)

    def _ask(self, what: str) -> None:
        self._asked.append(what)
        self.changed.set()

    def _toggle(self) -> None:
        self.paused = not self.paused

    def asked(self) -> str | None:
        """The next of RESET, SAVE, RECORD that was asked for; None: nothing."""
        return self._asked.popleft() if self._asked else None

    @property
    def paused(self) -> bool:
        """Whether steps wait; settable."""
        return bool(self._pause.value)

    @paused.setter
    def paused(self, value: bool) -> None:
        self._pause.value = value
        self.changed.set()

    @property
    def speed(self) -> float:
        """Most simulated seconds per second; 0: unlimited."""
        return float(self._speed.value)

    @property
    def env(self) -> int:
        """The env that is shown; settable."""
        return min(int(self._choice.value), self._count - 1)

    @env.setter
    def env(self, index: int) -> None:
        self._choice.value = index

    def recording(self, on: bool) -> None:
        """Shows whether a film is being written."""
        label = _STOP if on else RECORD
        if self._record.label != label:
            self._record.label = label

    def say(self, text: str) -> None:
        """Shows a line of text under the controls."""
        self._status.content = text

    def show(self, text: str, rows: Sequence[Mapping[str, Any]]) -> None:
        """Shows Markdown over the controls, and numbers by name, one mapping per world."""
        if self._text.content != text:
            self._text.content = text
        self._numbers.content = numbers_table(rows, self._labels)


def numbers_table(rows: Sequence[Mapping[str, Any]], labels: Sequence[str]) -> str:
    """HTML: a row for each name, a column for each world, and the unit."""
    style = "padding:1px 4px;overflow-wrap:anywhere"
    cell = f'<td style="{style};text-align:{{}}">{{}}</td>'
    grey = f'<td style="{style};width:24%;opacity:.6">{{}}</td>'
    lines = []
    if len(labels) > 1:
        # a line may break where a name ends
        heads = [f"<b>{html.escape(each).replace('=', '=<wbr>')}</b>" for each in labels]
        lines.append(
            "".join([cell.format("left", ""), *(cell.format("right", each) for each in heads), grey.format("")])
        )
    for label in dict.fromkeys(name for each in rows for name in each):
        name, unit = name_and_unit(label)
        values = [number_text(each[label]) if label in each else "" for each in rows]
        cells = [cell.format("left", html.escape(name)), *(cell.format("right", value) for value in values)]
        lines.append("".join([*cells, grey.format(html.escape(unit))]))
    body = "".join(f'<tr style="border-top:1px solid rgba(128,128,128,.25)">{line}</tr>' for line in lines)
    return (
        '<table class="numbers" style="width:100%;table-layout:fixed;border-collapse:collapse;font-size:12px;'
        f'font-variant-numeric:tabular-nums">{body}</table>'
    )
