"""view.py: a live view of grains and tools in a browser, also over ssh.

`Viewer` shows a world that a script steps: a web server in this process (viser) sends the scene once, then poses only.
`python -m granular_gym view TASK` shows a task. The server listens on the local machine only; from another machine use

    ssh -L 8080:localhost:8080 machine

and open http://localhost:8080. Needs the `view` extra: pip install "granular_gym[view]".
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import gymnasium as gym
import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError, ClosedError, GranularError
from granular_gym.exchange.surfaces import TOOL_COLORS, tool_surface
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.grain_colors import linear, sand_colors
from granular_gym.tasks.registry import short_name, task_id
from granular_gym.training.policies import BUILT_IN, load_policy, trained_arguments

FLOOR_COLOR, EDGE_COLOR = (226, 226, 230), (120, 124, 132)
#: largest rate of updates that are sent [1/s]
PICTURE_RATE = 30.0
#: largest number of grains that are drawn as fine spheres
FINE_GRAINS = 5000
_POLL = 0.02  # interval between checks of the controls [s]


def _viser() -> Any:
    """The module viser.

    Raises:
        GranularError: the `view` extra is not installed.
    """
    try:
        import skimage  # noqa: F401
        import viser
    except ImportError as error:
        raise GranularError("a live view needs viser: pip install 'granular_gym[view]'") from error
    return viser


class Viewer:
    """Shows one env of a world in a browser, with controls for pause, single steps, speed and reset.

    Args:
        world: the world to show; the caller steps it and calls `update`.
        port: of the web server; 0: any free port. Where it is in use, the next free one.
        host: address to listen on: "127.0.0.1" for this machine only, "0.0.0.0" for all its networks.
        env: index of the env shown first; the browser can select another.
        grain_colors: (grain_count, 3) uint8; None: the colours of sand.
        tool_colors: (tool_count, 3) uint8; None: TOOL_COLORS.

    Raises:
        ArgumentError: an invalid argument.
        GranularError: the `view` extra is not installed.
        OSError: the port cannot be opened.
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
    ) -> None:
        if not isinstance(world, World):
            raise ArgumentError(f"world: expected a World, got {type(world).__name__}")
        self.world = world
        self._env = checks.integer("env", env, 0, world.env_count - 1)
        grains, tools = world.grain_count, world.tool_count
        colors = sand_colors(grains) if grain_colors is None else grain_colors
        self._grain_colors = checks.integers("grain_colors", np.asarray(colors).astype(np.int64), (grains, 3), 0, 255)
        if tool_colors is None:
            tool_colors = np.array([TOOL_COLORS[k % len(TOOL_COLORS)] for k in range(tools)], int).reshape(tools, 3)
        self._tool_colors = checks.integers("tool_colors", tool_colors, (tools, 3), 0, 255)
        port, host = checks.integer("port", port, 0, 65535), checks.text("host", host)
        self._server = _viser().ViserServer(
            host=host, port=port or _free_port(host), label="granular_gym", verbose=False
        )
        self._closed, self._changed = False, threading.Event()
        self._steps, self._reset = 0, False
        self._due, self._sent = 0.0, -np.inf
        try:
            self._set_scene()
            self._set_controls()
            self.update()
        except BaseException:
            self.close()
            raise

    # ---- scene and controls ----

    def _set_scene(self) -> None:
        """Sends bounds, floor, tools, grains and the camera, once."""
        scene, arrays = self._server.scene, self.world._frozen.arrays
        lower, upper = arrays["lower"].astype(np.float64), arrays["upper"].astype(np.float64)
        size = upper - lower
        scene.set_up_direction("+z")
        scene.configure_default_lights()
        corners = lower + size * (np.indices((2, 2, 2)).reshape(3, -1).T)
        edges = [(a, b) for a in range(8) for b in range(a + 1, 8) if (corners[a] != corners[b]).sum() == 1]
        scene.add_line_segments(
            "/bounds", corners[np.array(edges)], EDGE_COLOR, thickness=1.0, thickness_units="screen"
        )
        if arrays["boundary"][2, 0] == 1:
            thickness = 0.002 * float(size.max())
            middle = (*(0.5 * (lower + upper))[:2], lower[2] - 0.5 * thickness)
            scene.add_box("/floor", FLOOR_COLOR, (size[0], size[1], thickness), position=middle, cast_shadow=False)
        self._tools: list[Any] = []
        for index, name in enumerate(self.world.tool_names):
            vertices, faces = tool_surface(self.world._frozen, index)
            color = tuple(int(c) for c in self._tool_colors[index])
            self._tools.append(scene.add_mesh_simple(f"/tools/{name}", vertices, faces, color=color, flat_shading=True))
        self._grains = None
        if self.world.grain_count:
            import trimesh

            ball = trimesh.creation.icosphere(subdivisions=2 if self.world.grain_count <= FINE_GRAINS else 1)
            still = np.zeros((self.world.grain_count, 4), np.float32)
            still[:, 0] = 1.0
            self._grains = scene.add_batched_meshes_simple(
                "/grains",
                np.asarray(ball.vertices, np.float32),
                np.asarray(ball.faces, np.uint32),
                still,
                self.world.positions[self._env],
                batched_scales=self.world.radii[self._env],
                batched_colors=linear(self._grain_colors),
            )
        # the whole bounds in view, from above the lower y face
        camera, center = self._server.initial_camera, 0.5 * (lower + upper)
        reach = float(np.linalg.norm(size))
        camera.position = tuple(center + reach * np.array([0.0, -0.75, 0.55]))
        camera.look_at = tuple(np.array([center[0], center[1], lower[2] + 0.3 * size[2]]))
        camera.fov = 0.8

    def _set_controls(self) -> None:
        """Builds the panel of controls."""
        gui, count = self._server.gui, self.world.env_count
        self._text = gui.add_markdown("")
        self._pause = gui.add_checkbox("pause", False)
        step = gui.add_button("step")
        reset = gui.add_button("reset", hint="ask the script that steps the world for a reset")
        self._speed = gui.add_slider(
            "speed", 0.0, 10.0, 0.1, 1.0, hint="most simulated seconds per second; 0: unlimited"
        )
        self._choice = gui.add_slider("env", 0, max(count - 1, 1), 1, self._env, visible=count > 1)

        @step.on_click
        def _(_: Any) -> None:
            self._pause.value = True
            self._steps += 1
            self._changed.set()

        @reset.on_click
        def _(_: Any) -> None:
            self._reset = True
            self._changed.set()

        @self._pause.on_update
        def _(_: Any) -> None:
            self._changed.set()

        @self._choice.on_update
        def _(_: Any) -> None:
            self._env = min(int(self._choice.value), count - 1)
            self._changed.set()

    # ---- for the script that steps the world ----

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
        return self._env

    @env.setter
    def env(self, index: int) -> None:
        self._env = checks.integer("env", index, 0, self.world.env_count - 1)
        self._choice.value = self._env

    @property
    def paused(self) -> bool:
        """Whether `update` waits; settable."""
        return bool(self._pause.value)

    @paused.setter
    def paused(self, value: bool) -> None:
        self._pause.value = checks.flag("paused", value)
        self._changed.set()

    @property
    def closed(self) -> bool:
        """Whether the viewer was closed."""
        return self._closed

    @property
    def viewer_count(self) -> int:
        """Number of connected browsers."""
        return len(self._server.get_clients())

    def reset_asked(self) -> bool:
        """Whether reset was pressed since the last call."""
        asked, self._reset = self._reset, False
        return asked

    def update(self, seconds: float = 0.0, text: str = "") -> None:
        """Shows the present state of the world; to be called after each step.

        Waits while the view is paused, until step, reset or continue is pressed, and keeps the selected speed.

        Args:
            seconds: simulated time since the last call [s]; 0: do not wait for the clock.
            text: Markdown for the panel.

        Raises:
            ArgumentError: an invalid argument.
            ClosedError: the viewer or the world was closed.
        """
        length = checks.number("seconds", seconds, 0.0)
        self._check_open()
        speed = float(self._speed.value)
        now = time.monotonic()
        # a late step is not caught up on
        self._due = max(self._due + (length / speed if speed > 0.0 else 0.0), now - 0.1)
        if now - self._sent >= 1.0 / PICTURE_RATE or self.paused:
            self._send(text)
        while not self._closed and not self._reset:
            self._changed.clear()
            if self.paused:
                if self._steps > 0:
                    self._steps -= 1
                    break
                shown = self._env
                self._changed.wait(_POLL)
                if shown != self._env:
                    self._send(text)
                self._due = time.monotonic()
            else:
                left = self._due - time.monotonic()
                if length == 0.0 or left <= 0.0:
                    break
                self._changed.wait(min(left, _POLL))

    def _send(self, text: str) -> None:
        """Sends poses of tools, positions of grains and the text of the panel."""
        poses = self.world.tool_poses[self._env].astype(np.float64)
        with self._server.atomic():
            active = self.world.tools_active[self._env]
            for handle, pose, shown in zip(self._tools, poses, active, strict=True):
                handle.position, handle.wxyz = tuple(pose[:3]), tuple(pose[3:])
                handle.visible = bool(shown)
            if self._grains is not None:
                self._grains.batched_positions = self.world.positions[self._env]
            self._text.content = text
        self._sent = time.monotonic()

    def _check_open(self) -> None:
        if self._closed:
            raise ClosedError("the viewer is closed; make a new one")

    def close(self) -> None:
        """Stops the server; further calls do nothing. The world stays open."""
        if not self._closed:
            self._closed = True
            self._changed.set()
            self._server.stop()

    def __enter__(self) -> Viewer:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _free_port(host: str) -> int:
    """A free port."""
    import socket

    with socket.socket() as probe:
        probe.bind((host, 0))
        return int(probe.getsockname()[1])


def view(
    task: str,
    *,
    policy: str = "expert",
    env_count: int = 1,
    seed: int = 0,
    steps: int | None = None,
    port: int = 8080,
    host: str = "127.0.0.1",
    arguments: dict[str, Any] | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Plays a task in a viewer, episode after episode, until interrupted.

    Args:
        task: name, see `granular_gym.tasks.registry.task_id`.
        policy: see `granular_gym.training.policies.load_policy`; with several envs a user's function is called with the
            batch and returns a batch of actions.
        env_count: number of envs; the browser selects the one shown.
        seed: of the first episode, >= 0; env k has seed + k.
        steps: most env steps; None: no limit.
        port: see `Viewer`.
        host: see `Viewer`.
        arguments: of the task; default: those that a policy in a file was trained with.
        say: called with the address of the view.

    Raises:
        ArgumentError: an invalid argument.
        GranularError: the `view` extra is not installed.
        OSError: the port cannot be opened.
    """
    name = task_id(task)
    count = checks.integer("env_count", env_count, 1)
    checks.integer("seed", seed, 0)
    if steps is not None:
        checks.integer("steps", steps, 1)
    given = {**trained_arguments(name, checks.text("policy", policy)), **(arguments or {})}
    _viser()
    try:
        if count == 1:
            env: Any = gym.make(name, **given)
        else:
            env = gym.make_vec(name, num_envs=count, autoreset_mode="Disabled", **given)
    except TypeError as error:
        # the constructor's message names the unknown argument
        raise ArgumentError(f"argument: {error}") from None
    try:
        observation, _ = env.reset(seed=seed)
        env.action_space.seed(seed)
        expert = scripted_expert(env) if policy == BUILT_IN[0] else None
        act = load_policy(policy, env) if expert is None else lambda observation: expert.act()
        seconds = 1.0 / float(env.metadata.get("render_fps", 10))
        returns, played, made = np.zeros(count), np.zeros(count, np.int64), 0
        with Viewer(env.unwrapped.task.world, port=port, host=host) as viewer:
            tunnel = f"ssh -L {viewer.port}:localhost:{viewer.port}"
            say(f"{name}, {policy}: {viewer.url} (Ctrl-C ends; from elsewhere through {tunnel})")
            while steps is None or made < steps:
                observation, reward, terminated, truncated, info = env.step(act(observation))
                made, played = made + 1, played + 1
                returns += reward
                shown = viewer.env
                viewer.update(seconds, _panel(name, policy, int(played[shown]), float(returns[shown]), info, shown))
                over = np.atleast_1d(terminated | truncated)
                if viewer.reset_asked():
                    over[viewer.env] = True
                if over.any():
                    observation, _ = env.reset(**({} if count == 1 else {"options": {"reset_mask": over}}))
                    returns[over], played[over] = 0.0, 0
                    if expert is not None:
                        expert.reset(over)
    except KeyboardInterrupt:
        pass
    finally:
        env.close()


def _panel(name: str, policy: str, played: int, total: float, info: dict[str, Any], env: int) -> str:
    """Markdown for the panel: the episode so far, and the infos that are scalars."""
    lines = [f"**{short_name(name)}**, {policy}", f"step {played}, return {total:.1f}", "", "| | |", "|---|---|"]
    for key, values in info.items():
        value: NDArray[Any] = np.asarray(values)
        if value.ndim > 0 and value.shape[0] > env and not key.startswith("_"):
            value = np.asarray(value[env])
        if value.ndim == 0 and not key.startswith("_") and value.dtype.kind in "fiub":
            number = f"{value.item():.4g}" if value.dtype.kind == "f" else str(value.item())
            lines.append(f"| {key} | {number} |")
    return "\n".join(lines)
