"""plots.py: plots over the time of the episode: forces and torques of the grains on a tool, and chosen values.

Where two worlds are shown, both are in every plot, the second dashed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.viewing.series import Series
from granular_gym.viewing.ticks import ticks_of
from granular_gym.viewing.units import with_unit

#: tools that tasks work with: the first of them that a world has is plotted first
WORKING_TOOLS = ("blade", "bucket", "cup", "receiver", "roller", "gear0", "torso")
#: of lines, in turn
COLORS = ("#d9480f", "#2b8a3e", "#1864ab", "#5f3dc4")
AXES = "xyz"
HEIGHT = 160  # of a plot [pixels]
FONT = "11px sans-serif"
#: of numbers beside an axis [pixels]: a digit is at most so wide, and what else stands there, ticks and gaps
DIGIT_WIDTH, BESIDE = 7, 18
#: least room for them: plots whose numbers are short begin at the same place
LEAST_ROOM = 48


class Plots:
    """The panel of plots.

    Args:
        gui: of viser, in the container that holds the plots.
        tool_names: of the worlds.
        names: of values that are plotted, one plot each.
        labels: one per world; a single one is not shown.
    """

    def __init__(self, gui: Any, tool_names: Sequence[str], names: Sequence[str], labels: Sequence[str]) -> None:
        self._tool_names, self._names, self._labels = list(tool_names), list(names), list(labels)
        worlds, tools = len(labels), len(tool_names)
        self._values = Series(worlds * len(names))
        self._wrenches = Series(worlds * tools * 6)
        self._wrench_plots: list[Any] = []
        if tools:
            first = next((name for name in WORKING_TOOLS if name in tool_names), tool_names[0])
            self._choice = gui.add_dropdown("tool", tuple(tool_names), initial_value=first)
            lines = [f"{label}{axis}" for label in self._prefixes for axis in AXES]
            self._wrench_plots = [_plot(gui, title, lines, worlds) for title in self._titles()]
        self._value_plots = [
            _plot(gui, with_unit(name), [prefix + name for prefix in self._prefixes], worlds) for name in names
        ]

    @property
    def _prefixes(self) -> list[str]:
        return [""] if len(self._labels) == 1 else [f"{label}: " for label in self._labels]

    def _titles(self) -> tuple[str, str]:
        """Of the plots of the tool that is selected."""
        tool = self._choice.value
        return f"force of the grains on {tool} [N]", f"torque of the grains on {tool} [N m]"

    def clear(self) -> None:
        """An episode begins, or another env is shown."""
        self._values.clear()
        self._wrenches.clear()

    def add(self, time: float, wrenches: Sequence[NDArray[Any]], values: Sequence[Mapping[str, Any]]) -> None:
        """Adds what a step gave.

        Args:
            time: of the episode [s].
            wrenches: one (tool_count, 6) per world [N], [N m].
            values: numbers by name, one mapping per world; a missing one leaves a gap.
        """
        self._wrenches.add(time, np.concatenate([np.ravel(each) for each in wrenches]).astype(np.float64))
        self._values.add(time, np.array([float(each.get(name, np.nan)) for each in values for name in self._names]))

    def send(self) -> None:
        """Sends all lines."""
        worlds, times = len(self._labels), self._values.times
        if self._wrench_plots:
            tool = self._tool_names.index(self._choice.value)
            rows = self._wrenches.rows.reshape(len(times), worlds, len(self._tool_names), 2, 3)
            for kind, (plot, title) in enumerate(zip(self._wrench_plots, self._titles(), strict=True)):
                _fill(plot, times, rows[:, :, tool, kind].reshape(len(times), 3 * worlds))
                if plot.title != title:
                    plot.title = title
        rows = self._values.rows.reshape(len(times), worlds, len(self._names))
        for k, plot in enumerate(self._value_plots):
            _fill(plot, times, rows[:, :, k])


def _fill(plot: Any, times: NDArray[np.float64], rows: NDArray[np.float64]) -> None:
    plot.data = (times, *np.ascontiguousarray(rows.T))
    scales, axes = _scales_and_axes(times, rows)
    # the browser builds a plot anew where these change
    if plot.scales != scales:
        plot.scales, plot.axes = scales, axes


def _scales_and_axes(times: Any, rows: Any) -> tuple[dict[str, Any], tuple[dict[str, Any], ...]]:
    """Scales and axes of a plot, as uPlot takes them.

    Time has a given range, too: viser's page keeps what share of it is seen, and loses that where a plot is built anew
    and has new times at once.
    """
    ticks, span = ticks_of(rows), ticks_of(times)
    room = max(LEAST_ROOM, BESIDE + DIGIT_WIDTH * max(map(len, ticks.texts)))
    return (
        {"x": {"time": False, "range": (0.0, span.upper)}, "y": {"range": (ticks.lower, ticks.upper)}},
        (
            {"label": "time [s]", "labelSize": 16, "labelFont": FONT, "size": 26, "font": FONT},
            {"size": room, "font": FONT, "splits": ticks.places, "values": ticks.texts},
        ),
    )


def _plot(gui: Any, title: str, lines: Sequence[str], worlds: int) -> Any:
    """An empty plot over time; lines of one world after the other."""
    each = len(lines) // worlds
    series: list[dict[str, Any]] = [{"label": "time [s]"}]
    for k, label in enumerate(lines):
        line = {"label": label, "stroke": COLORS[k % each], "width": 1.5, "points": {"show": False}}
        series.append({**line, "dash": (6, 4)} if k >= each else line)
    scales, axes = _scales_and_axes((), ())
    return gui.add_uplot(
        tuple(np.zeros(0) for _ in series),
        tuple(series),
        title=title,
        height=HEIGHT,
        padding=(8, 16, 0, 0),
        scales=scales,
        axes=axes,
        legend={"show": len(lines) > 1, "live": False},
    )
