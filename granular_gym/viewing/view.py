"""view.py: plays a task in a live view: by a policy or driven by the person who looks, also beside a second one.

`python -m granular_gym view TASK`; see viewer.py for worlds that a script steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.registry import short_name, task_id
from granular_gym.teleop.bindings import parts_of
from granular_gym.training.policies import BUILT_IN, trained_arguments
from granular_gym.viewing.played import Played, check_alike, difference
from granular_gym.viewing.server import viser_module
from granular_gym.viewing.viewer import OUT, Viewer
from granular_gym.viewing.world_view import Look

__all__ = ["Look", "Viewer", "view"]


def view(
    task: str,
    *,
    policy: str | None = None,
    drive: bool = False,
    beside: dict[str, Any] | None = None,
    beside_policy: str | None = None,
    paused: bool = False,
    env_count: int = 1,
    seed: int = 0,
    steps: int | None = None,
    port: int = 8080,
    host: str = "127.0.0.1",
    arguments: dict[str, Any] | None = None,
    record: str | Path | None = None,
    out: str | Path = OUT,
    say: Callable[[str], None] = print,
) -> None:
    """Plays a task in a viewer, episode after episode, until interrupted.

    Args:
        task: name, see `granular_gym.tasks.registry.task_id`.
        policy: see `granular_gym.training.policies.load_policy`; with several envs a user's function is called with the
            batch and returns a batch of actions. None: "expert".
        drive: the person in the browser gives the actions, of all envs alike, in place of a policy. Steps wait until a
            browser is connected, for the first one as well as after the last was closed.
        beside: arguments of a second copy of the task, besides `arguments`: it is shown beside the first and plays the
            same seeds, step by step; where one episode ends, so does the other.
        beside_policy: what acts in the second copy; None: as in the first. One of these two makes a second copy. Where
            it was not trained itself, the copy has the arguments that the first one's policy was trained with.
        paused: begin paused, after the first step.
        env_count: number of envs; the browser selects the one shown.
        seed: of the first episode, >= 0; env k has seed + k.
        steps: most env steps; None: no limit.
        port: see `Viewer`.
        host: see `Viewer`.
        arguments: of the task; default: those that a policy in a file was trained with.
        record: see `Viewer`.
        out: see `Viewer`.
        say: called with the address of the view, when it waits for a browser, and with the path of each file written.

    Raises:
        ArgumentError: an invalid argument, a port in use, two copies whose steps or actions differ.
        GranularError: the `view` extra is not installed, or for `record` the `video` extra.
        OSError: the port cannot be opened, or the film not written.
    """
    name = task_id(task)
    count = checks.integer("env_count", env_count, 1)
    checks.integer("seed", seed, 0)
    if steps is not None:
        checks.integer("steps", steps, 1)
    if checks.flag("drive", drive):
        for argument, other in (("policy", policy), ("beside_policy", beside_policy)):
            if other is not None:
                raise ArgumentError(f"{argument}: expected none where a person drives (drive), got {other!r}")
    acting = None if drive else checks.text("policy", BUILT_IN[0] if policy is None else policy)
    for argument, value in (("arguments", arguments), ("beside", beside)):
        if value is not None:
            checks.instance(argument, value, dict)
    viser_module()
    given = dict(arguments or {})
    played = [Played(name, acting, count, seed, given)]
    try:
        if beside is not None or beside_policy is not None:
            second = acting if beside_policy is None else checks.text("beside_policy", beside_policy)
            # a policy that was trained plays as it was; another plays what the first plays
            trained = second is not None and trained_arguments(name, second)
            shared = given if trained else played[0].arguments
            played.append(Played(name, second, count, seed, {**shared, **(beside or {})}))
            check_alike(*played)
        labels = difference(*played) if len(played) > 1 else ("first", "second")
        with Viewer(
            played[0].task.world,
            port=port,
            host=host,
            look=played[0].look,
            beside=played[1].task.world if len(played) > 1 else None,
            beside_look=played[1].look if len(played) > 1 else None,
            labels=labels,
            plots=(played[0].measure, "reward", "return"),
            record=record,
            out=out,
            say=say,
        ) as viewer:
            actor = "driven" if acting is None else acting
            tunnel = f"ssh -L {viewer.port}:localhost:{viewer.port}"
            say(f"{name}, {actor}: {viewer.url} (Ctrl-C ends; from elsewhere through {tunnel})")
            viewer.paused = paused
            _play(viewer, played, f"**{short_name(name)}**, {actor}", steps)
    except KeyboardInterrupt:
        pass
    finally:
        for each in played:
            each.close()


def _play(viewer: Viewer, played: list[Played], text: str, steps: int | None) -> None:
    """Steps all copies alike until `steps` were made; the shown env starts afresh where it is asked for."""
    panel = viewer.drive(parts_of(played[0].env.unwrapped.task)) if played[0].policy is None else None
    seconds, made = float(played[0].task.step_period), 0
    while steps is None or made < steps:
        if panel is not None:
            viewer.wait_for_browser()
        action = None if panel is None else panel.action()
        over = played[0].step(action)
        for other in played[1:]:
            over |= other.step(action)
        made += 1
        values = [each.values() for each in played]
        viewer.update(seconds, text, values)
        if viewer.reset_asked():
            over[viewer.env] = True
        if over.any():
            for each in played:
                each.reset(over)
            viewer.restart(over)
