"""viewer.py: `Viewer`: a live view of grains and tools in a browser, also over ssh.

A web server in this process (viser) sends the scene once, then what changes. It listens on the local machine only; from
another machine use

    ssh -L 8080:localhost:8080 machine

and open http://localhost:8080. Needs the `view` extra: pip install "granular_gym[view]".

The script steps its worlds and calls `update`; everything that touches a world happens in that call.
"""

from __future__ import annotations

import collections
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, ClosedError, GranularError
from granular_gym.tasks.actions import ActionPart
from granular_gym.viewing.drive_panel import DrivePanel
from granular_gym.viewing.panel import RECORD, RESET, SAVE, Panel
from granular_gym.viewing.plots import Plots
from granular_gym.viewing.server import open_server
from granular_gym.viewing.view_files import ViewFiles
from granular_gym.viewing.world_view import Look, add_worlds

#: largest rate of updates that are sent: of the scene, and of numbers and plots [1/s]
PICTURE_RATE, NUMBER_RATE = 30.0, 5.0
#: over which the speed is measured [s]
SPEED_WINDOW = 2.0
#: files that buttons write go here, unless told otherwise
OUT = Path("out") / "view"
#: of the panel of controls and numbers of one world [pixels]
PANEL_WIDTH = 320
_POLL = 0.02  # interval between checks of the controls [s]


class Viewer:
    """Shows one env of a world in a browser, or of two worlds side by side: the scene, numbers with their units, plots,
    and controls for pause, single steps, speed, reset, films and saved states.

    Args:
        world: the world to show; the caller steps it and calls `update`.
        port: of the web server; 0: any free port.
        host: address to listen on: "127.0.0.1" for this machine only, "0.0.0.0" for all its networks.
        env: index of the env shown first; the browser can select another.
        grain_colors: (grain_count, 3) in 0 .. 255; None: the colours of sand.
        tool_colors: (tool_count, 3) in 0 .. 255; None: TOOL_COLORS.
        look: in place of these two, how the world is shown.
        beside: a second world with as many envs and the same tools, shown to the right of the first.
        beside_look: how that is shown.
        labels: names of the two worlds.
        plots: names of values of `update` that are plotted over time, besides the wrenches on a tool.
        record: a film to write from the start, .mp4; None: none.
        out: folder of the files that buttons write.
        say: called with the path of each file written.

    Raises:
        ArgumentError: an invalid argument, among them a port in use.
        GranularError: the `view` extra is not installed, or for `record` the `video` extra.
        OSError: the port or the film cannot be opened.
    """

    def __init__(
        self,
        world: World,
        *,
        port: int = 8080,
        host: str = "127.0.0.1",
        env: int = 0,
        grain_colors: Any = None,
        tool_colors: Any = None,
        look: Look | None = None,
        beside: World | None = None,
        beside_look: Look | None = None,
        labels: Sequence[str] = ("first", "second"),
        plots: Sequence[str] = (),
        record: str | Path | None = None,
        out: str | Path = OUT,
        say: Callable[[str], None] = print,
    ) -> None:
        self.world = checks.instance("world", world, World)
        if look is not None and (grain_colors is not None or tool_colors is not None):
            raise ArgumentError("look: expected None together with grain_colors or tool_colors, got both")
        if look is None:
            colors = None if grain_colors is None else np.asarray(grain_colors)
            look = Look(None if colors is None else lambda _: colors, tool_colors)
        worlds, looks = [world], [look]
        if beside is not None:
            _check_beside(world, checks.instance("beside", beside, World))
            worlds, looks = [world, beside], [look, beside_look or Look()]
        names = [checks.text("labels", label) for label in labels][: len(worlds)]
        if len(names) < len(worlds):
            raise ArgumentError(f"labels: expected {len(worlds)}, one per world, got {list(labels)}")
        for name in plots:
            checks.text("plots", name)
        first = checks.integer("env", env, 0, world.env_count - 1)
        checks.path("out", out)
        self._say = say
        self._server = open_server(host, port)
        self._closed, self._reset = False, False
        self._due, self._sent, self._told = 0.0, -np.inf, -np.inf
        self._steps, self._times = np.zeros(world.env_count, np.int64), np.zeros(world.env_count)
        self._pace: collections.deque[tuple[float, float]] = collections.deque()  # wall-clock and simulated time [s]
        self._simulated = 0.0
        self._text = ""
        self._values: list[Mapping[str, Any]] = [{} for _ in worlds]
        try:
            self._views = add_worlds(self._server, worlds, looks, names)
            self._files = ViewFiles(out, record, self._views, self._server.get_clients, self._tell_of)
            self._panel = Panel(self._server.gui, world.env_count, first, names)
            self._env = first
            panel = self._server.gui.add_panel()
            with panel.add_tab("plots"):
                self._plots = Plots(self._server.gui, world.tool_names, plots, names)
            panel.dock_left()
            self._server.gui.main_panel.dock_right()
            self._server.gui.main_panel.set_width(PANEL_WIDTH + 80 * (len(worlds) - 1))
            self._show()
            self._tell()
        except BaseException:
            self.close()
            raise

    # ---- for the script that steps the worlds ----

    @property
    def port(self) -> int:
        """Port of the web server."""
        return int(self._server.get_port())

    @property
    def url(self) -> str:
        """Address of the view for a browser on this machine."""
        return f"http://localhost:{self.port}"

    @property
    def env(self) -> int:
        """The env that is shown; settable."""
        return self._panel.env

    @env.setter
    def env(self, index: int) -> None:
        self._panel.env = checks.integer("env", index, 0, self.world.env_count - 1)

    @property
    def paused(self) -> bool:
        """Whether `update` waits; settable."""
        return self._panel.paused

    @paused.setter
    def paused(self, value: bool) -> None:
        self._panel.paused = checks.flag("paused", value)

    @property
    def closed(self) -> bool:
        """Whether the viewer was closed."""
        return self._closed

    @property
    def viewer_count(self) -> int:
        """Number of connected browsers."""
        return len(self._server.get_clients())

    def drive(self, parts: Sequence[ActionPart]) -> DrivePanel:
        """Adds sliders and keys for what the numbers of an action move; `DrivePanel.action` is what they stand at."""
        for part in parts:
            checks.instance("parts", part, ActionPart)
        with self._server.gui.add_folder("drive", order=-1.0):
            return DrivePanel(self._server.gui, parts)

    def wait_for_browser(self) -> None:
        """Waits until a browser is connected, or the viewer closed from elsewhere; says so where there is none."""
        if self.viewer_count or self._closed:
            return
        self._say("no browser is connected: waiting for one")
        while not self.viewer_count and not self._closed:
            time.sleep(_POLL)
        # what was not played says nothing of the speed
        self._pace.clear()

    def reset_asked(self) -> bool:
        """Whether reset was pressed since the last call."""
        asked, self._reset = self._reset, False
        return asked

    def restart(self, envs: Any = None) -> None:
        """Episodes begin: steps and time count from 0, plots of the env shown begin anew.

        Args:
            envs: mask (env_count,) of bool; None: all.
        """
        count = self.world.env_count
        mask = np.ones(count, bool) if envs is None else checks.flags("envs", envs, count)
        self._steps[mask], self._times[mask] = 0, 0.0
        if mask[self._env]:
            self._plots.clear()

    def update(
        self,
        seconds: float = 0.0,
        text: str = "",
        values: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None,
    ) -> None:
        """Shows the present state of the worlds; to be called after each step.

        Waits while the view is paused, until step, reset or continue is pressed, and keeps the selected speed.

        Args:
            seconds: simulated time since the last call [s]; 0: do not wait for the clock.
            text: Markdown for the panel.
            values: numbers for the panel by name, of each env (env_count,) or one for all; a name brings its unit
                ("height [m]") unless `units.UNITS` has it. With two worlds two mappings. What is no number is left out.

        Raises:
            ArgumentError: an invalid argument.
            ClosedError: the viewer or the world was closed.
            OSError: the film asked for at the start cannot be written.
        """
        length = checks.number("seconds", seconds, 0.0)
        given = self._check_values(values)
        self._check_open()
        self._text, self._values = text, given
        self._steps += 1
        self._times += length
        self._follow_env()
        self._measure(length)
        shown = [_of_env(each, self._env, len(self._steps)) for each in given]
        self._plots.add(self._times[self._env], [view.world.wrenches[self._env] for view in self._views], shown)
        self._files.add(self._env, length)
        self._panel.recording(self._files.recording)
        speed = self._panel.speed
        now = time.monotonic()
        # a late step is not caught up on
        self._due = max(self._due + (length / speed if speed > 0.0 else 0.0), now - 0.1)
        if now - self._sent >= 1.0 / PICTURE_RATE or self.paused:
            self._show()
        if now - self._told >= 1.0 / NUMBER_RATE or self.paused:
            self._tell()
        self._wait(length)

    def _wait(self, length: float) -> None:
        """Until the clock says so, and while paused; serves what is asked for."""
        panel = self._panel
        while not self._closed and not self._reset:
            panel.changed.clear()
            self._serve()
            if self._follow_env():
                self._show()
                self._tell()
            if self._reset:
                break
            if self.paused:
                if panel.steps > 0:
                    panel.steps -= 1
                    break
                panel.changed.wait(_POLL)
                self._due = time.monotonic()
                self._pace.clear()
            else:
                left = self._due - time.monotonic()
                if length == 0.0 or left <= 0.0:
                    break
                panel.changed.wait(min(left, _POLL))

    def _serve(self) -> None:
        """Does what was asked for by buttons."""
        acts = {
            RESET: self._ask_reset,
            SAVE: lambda: self._files.save_states(self._env),
            RECORD: self._files.toggle_film,
        }
        while not self._closed and (what := self._panel.asked()) is not None:
            try:
                acts[what]()
                self._panel.recording(self._files.recording)
            except (GranularError, OSError) as error:
                self._tell_of(f"{what}: {error}")

    def _ask_reset(self) -> None:
        self._reset = True

    def _follow_env(self) -> bool:
        """Whether another env was selected; its plots begin anew."""
        changed = self._panel.env != self._env
        if changed:
            self._env = self._panel.env
            self._plots.clear()
        return changed

    # ---- what is sent ----

    def _show(self) -> None:
        """Sends poses of tools and positions of grains."""
        with self._server.atomic():
            for view in self._views:
                view.show(self._env)
        self._sent = time.monotonic()

    def _tell(self) -> None:
        """Sends numbers and plots."""
        own = {
            "step": int(self._steps[self._env]),
            "time": float(self._times[self._env]),
            "speed over real time": self._speed(),
        }
        rows = [
            {
                **own,
                "grains": each.world.grain_count,
                "threads": each.world.num_threads,
                **_of_env(values, self._env, len(self._steps)),
            }
            for each, values in zip(self._views, self._values, strict=True)
        ]
        with self._server.atomic():
            self._panel.show(self._text, rows)
            self._plots.send()
        self._told = time.monotonic()

    def _tell_of(self, text: str) -> None:
        self._panel.say(text)
        self._say(text)

    def _measure(self, length: float) -> None:
        now = time.monotonic()
        self._simulated += length
        self._pace.append((now, self._simulated))
        while now - self._pace[0][0] > SPEED_WINDOW:
            self._pace.popleft()

    def _speed(self) -> float:
        """Simulated over wall-clock time, of the last SPEED_WINDOW; 0: paused, or not known yet."""
        if len(self._pace) < 2:
            return 0.0
        (wall, simulated), (end, reached) = self._pace[0], self._pace[-1]
        return (reached - simulated) / max(end - wall, 1e-9)

    # ---- the end ----

    def _check_values(self, values: Any) -> list[Mapping[str, Any]]:
        """One mapping per world."""
        count = len(self._views)
        given = [{} for _ in range(count)] if values is None else [values] if isinstance(values, Mapping) else values
        if (
            not isinstance(given, (list, tuple))
            or len(given) != count
            or not all(isinstance(v, Mapping) for v in given)
        ):
            wanted = "a mapping" if count == 1 else f"{count} mappings, one per world"
            raise ArgumentError(f"values: expected {wanted}, got {values!r}")
        return list(given)

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the viewer is closed; make a new one")

    def close(self) -> None:
        """Completes the film and stops the server; further calls do nothing. The worlds stay open.

        Raises:
            OSError: pictures are missing in the film.
        """
        if self._closed:
            return
        self._closed = True
        try:
            if hasattr(self, "_files"):
                self._files.end_film()
        finally:
            if hasattr(self, "_panel"):
                self._panel.changed.set()
            self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _of_env(values: Mapping[str, Any], env: int, count: int) -> dict[str, Any]:
    """The numbers among values, those of an env where there is one for each of them."""
    found: dict[str, Any] = {}
    for name, value in values.items():
        array = np.asarray(value)
        if array.shape == (count,):
            array = array[env]
        if array.ndim == 0 and array.dtype.kind in "fiub":
            found[name] = array.item()
    return found


def _check_beside(world: World, beside: World) -> None:
    for what, first, second in (
        ("envs", world.env_count, beside.env_count),
        ("tools", world.tool_names, beside.tool_names),
    ):
        if first != second:
            raise ArgumentError(f"beside: expected a world with the same {what}, {first}, got {second}")
