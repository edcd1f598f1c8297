"""Steering: names of what actions move, keys from a pseudo-terminal, a gamepad that is not there."""

from __future__ import annotations

import os
import pty
import termios
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gymnasium as gym
import numpy as np
import pytest

import granular_gym as gg
from granular_gym.tasks.actions import WAYS, ActionPart
from granular_gym.tasks.registry import newest_ids, short_name, task_class, task_ids
from granular_gym.teleop.bindings import bindings_of, parts_of
from granular_gym.teleop.gamepad import INPUTS, Gamepad, SdlPad
from granular_gym.teleop.keyboard import KEYS, Keyboard, words_of
from granular_gym.teleop.pace import Pace
from granular_gym.teleop.screen import Screen, in_characters, size_in
from granular_gym.training.policies import load_policy
from granular_gym.viewing.drive_panel import KEYS as BROWSER

PAGES = Path(__file__).parents[2] / "docs" / "tasks"
#: pages that leave the speeds of joints to another's
ALSO = {"ExcavatorForce-v0": "Excavator-v1"}


@pytest.mark.parametrize("inputs", [KEYS, INPUTS, BROWSER], ids=lambda inputs: inputs.device)
@pytest.mark.parametrize("name", task_ids())
def test_every_number_of_every_task_is_named_and_moved(name: str, inputs: Any) -> None:
    if name.endswith(("AntOnSand-v0", "ExcavatorForce-v0")):
        pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    task = task_class(name)(grain_count=300)
    count = task.action_space.shape[0]
    assert len(task.action_parts) == count and len({part.name for part in task.action_parts}) == count
    bindings = bindings_of(parts_of(task), inputs)
    assert [binding.part.name for binding in bindings] == [part.name for part in task.action_parts]
    used = [key for binding in bindings for key in (binding.plus, binding.minus)]
    assert len(set(used)) == 2 * count, "no input moves two numbers"
    for part, binding in zip(task.action_parts, bindings, strict=True):
        assert part.way == "" or (binding.plus, binding.minus) in inputs.ways[part.way]
    task.close()


@pytest.mark.parametrize("name", newest_ids())
def test_what_1_stands_for_is_that_of_the_page(name: str) -> None:
    if name.endswith(("AntOnSand-v0", "ExcavatorForce-v0")):
        pytest.importorskip("mujoco", reason="MuJoCo is not installed")
    short = short_name(name)
    pages = "".join((PAGES / f"{page}.md").read_text() for page in (short, ALSO.get(short)) if page)
    for options in ({}, {"control": "torque"}) if short == "ExcavatorForce-v0" else ({},):
        task = task_class(name)(grain_count=300, **options)
        for part in task.action_parts:
            assert part.full and part.full in pages, part
        task.close()


def test_arguments_that_change_the_actions() -> None:
    silo = task_class("granular_gym/Silo-v1")
    for shaker, names in ((False, 2), (True, 3)):
        task = silo(grain_count=300, shaker=shaker)
        assert len(task.action_parts) == task.action_space.shape[0] == names
        task.close()
    tower = task_class("granular_gym/GearTower-v1")(grain_count=600, gear_count=9)
    keys = [binding.plus for binding in bindings_of(parts_of(tower), BROWSER)]
    assert keys == [*(pair[0] for pair in BROWSER.pairs), ""], "a slider is left where keys are not"
    tower.close()


def test_the_browsers_camera_keeps_its_keys() -> None:
    keys = {key for pair in BROWSER.pairs for key in pair}
    assert len(keys) == 2 * len(BROWSER.pairs) and not set("WASDQE") & keys


def test_ways_have_pairs_of_every_device() -> None:
    for inputs in (KEYS, INPUTS, BROWSER):
        assert set(inputs.ways) == set(WAYS)
        assert all(
            pair in inputs.pairs or pair[::-1] in inputs.pairs for pairs in inputs.ways.values() for pair in pairs
        )
    with pytest.raises(gg.ArgumentError, match="way: expected one of .*, got 'upp'; did you mean 'up'"):
        ActionPart("gate", "upp")


def test_numbers_without_names_and_too_many() -> None:
    task = SimpleNamespace(action_space=SimpleNamespace(shape=(2,)), action_parts=())
    assert [binding.part.name for binding in bindings_of(parts_of(task), KEYS)] == [
        "number 0 of the action",
        "number 1 of the action",
    ]
    # those with a way choose first, and in the order of the ways
    parts = [ActionPart("a"), ActionPart("b", "forward")]
    task = SimpleNamespace(action_space=SimpleNamespace(shape=(2,)), action_parts=parts)
    assert [binding.plus for binding in bindings_of(parts_of(task), KEYS)] == ["a", "w"]
    task.action_parts = [ActionPart("a", "turn left"), ActionPart("b", "left")]
    assert [binding.plus for binding in bindings_of(parts_of(task), KEYS)] == ["q", "a"]
    task.action_parts = [ActionPart("a", "turn left"), ActionPart("b", "up")]
    assert [binding.plus for binding in bindings_of(parts_of(task), KEYS)] == ["a", "w"]
    task.action_space.shape, task.action_parts = (10,), ()
    with pytest.raises(gg.ArgumentError, match="at most 9 numbers per action for 'keyboard', got 10"):
        bindings_of(parts_of(task), KEYS)


@pytest.fixture(scope="module")
def silo() -> Iterator[Any]:
    """An env of two numbers: gate (up), receiver (right)."""
    env = gym.make("granular_gym/Silo-v1", grain_count=100, num_threads=1)
    env.reset(seed=0)
    yield env
    env.close()


def test_keys_of_a_terminal() -> None:
    assert words_of("w\x1b[Ca") == (["w", "d", "a"], "")
    assert words_of("w\x1b[") == (["w"], "\x1b["), "the rest of an arrow key is still to come"
    assert words_of("\x1bOA") == (["w"], "") and words_of("\x1bx") == (["\x1b", "x"], "")


def test_keyboard(silo: Any) -> None:
    user, terminal = pty.openpty()
    before = termios.tcgetattr(terminal)
    policy = Keyboard(silo, terminal)
    policy._pace = Pace(0.0)
    assert not termios.tcgetattr(terminal)[3] & termios.ECHO, "keys are not shown"

    def press(text: str) -> list[float]:
        os.write(user, text.encode())
        return policy(None).tolist()

    assert press("") == [0.0, 0.0]
    assert press("w") == [0.5, 0.0] and press("") == [0.5, 0.0], "it stays"
    assert press("www\x1b[D") == [1.0, -0.5], "bounded; the left arrow"
    assert press("\x1b") == [1.0, -0.5] and press("[C") == [1.0, 0.0], "an arrow in two pieces"
    assert press("Sx9") == [0.5, 0.0], "capitals count, other keys do not"
    assert press(" ") == [0.0, 0.0]
    policy.close()
    assert termios.tcgetattr(terminal) == before
    policy = Keyboard(silo, terminal)
    del policy
    assert termios.tcgetattr(terminal) == before, "one that is forgotten gives it back, too"
    first = Keyboard(silo, terminal)
    policy = Keyboard(silo, terminal)
    del first
    assert not termios.tcgetattr(terminal)[3] & termios.ECHO, "that of the next episode reads on"
    policy.close()
    assert termios.tcgetattr(terminal) == before
    policy = Keyboard(silo, terminal)
    os.close(user)
    with pytest.raises(gg.GranularError, match="keyboard: the terminal went away"):
        policy(None)
    os.close(terminal)


def test_a_key_is_waited_for_until_the_step_is_due() -> None:
    now = [10.0]
    pace = Pace(0.5, lambda: now[0])
    assert pace.left() == 0.0
    pace.step()
    assert pace.left() == 0.5
    now[0] = 10.4
    assert pace.left() == pytest.approx(0.1)
    now[0] = 10.5
    pace.step()
    now[0] = 13.0
    assert pace.left() == 0.0
    pace.step()
    assert pace.left() == 0.0, "late"
    now[0] = 13.1
    pace.step()
    assert pace.left() == pytest.approx(0.4), "steps that were missed are not caught up"


def test_a_batch_cannot_be_steered() -> None:
    envs = gym.make_vec("granular_gym/Silo-v1", num_envs=2, grain_count=100, num_threads=1)
    for device in ("keyboard", "gamepad"):
        with pytest.raises(gg.ArgumentError, match=f"plays a batch, got '{device}', which steers a single env"):
            load_policy(device, envs)
    envs.close()


class Screened:
    """A text stream."""

    def __init__(self) -> None:
        self.text = ""

    def write(self, text: str) -> None:
        self.text += text

    def flush(self) -> None:
        """Nothing."""


def test_screen(silo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    picture = np.zeros((4, 2, 3), np.uint8)
    picture[0, 0], picture[1, 0] = (1, 2, 3), (4, 5, 6)
    lines = in_characters(picture)
    assert len(lines) == 2 and [line.count("\u2580") for line in lines] == [2, 2]
    assert lines[0].startswith("\x1b[38;2;1;2;3;48;2;4;5;6m\u2580"), "the upper half, the lower half"
    assert size_in(100, 60, 480, 640) == (74, 100), "bounded by the columns"
    assert size_in(80, 10, 480, 640) == (20, 26), "bounded by the rows"
    assert size_in(1, 1, 480, 640) == (2, 1)
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setenv("LINES", "40")
    out = Screened()
    screen = Screen(out)  # type: ignore[arg-type]
    screen.draw(silo.unwrapped.task, ["gate +0.5"])
    assert out.text.count("\u2580") == 15 * 40 and "gate +0.5" in out.text
    assert len(set(out.text.split("\x1b"))) > 50, "a picture of many colours"
    length = len(out.text)
    screen.draw(silo.unwrapped.task, ["gate +1.0"])
    assert len(out.text) == length, "not faster than can be seen"


class FakePad:
    """A gamepad whose inputs are pressed by a test."""

    def __init__(self, **pressed: float) -> None:
        self.pressed, self.updates = pressed, 0

    def update(self) -> None:
        self.updates += 1

    def share(self, name: str) -> float:
        return self.pressed.get(name.replace(" ", "_"), 0.0)


def test_gamepad(silo: Any) -> None:
    pad = FakePad(left_stick_up=0.75, left_stick_left=0.5)
    policy = Gamepad(silo, pad)
    assert policy(None).tolist() == [0.75, -0.5] and pad.updates == 1
    pad.pressed = {"left_stick_down": 1.0, "left_stick_right": 0.25}
    assert policy(None).tolist() == [-1.0, 0.25]


def fake_pygame(controllers: int, **device: Any) -> Any:
    """What SdlPad uses of pygame, with as many gamepads."""
    constants = {
        f"CONTROLLER_{kind}_{name}": name
        for kind, names in (
            ("AXIS", "LEFTX LEFTY RIGHTX RIGHTY TRIGGERLEFT TRIGGERRIGHT"),
            ("BUTTON", "A B X Y LEFTSHOULDER RIGHTSHOULDER DPAD_UP DPAD_DOWN DPAD_LEFT DPAD_RIGHT"),
        )
        for name in names.split()
    }
    made = SimpleNamespace(
        attached=lambda: device.get("attached", True),
        get_axis=lambda axis: device.get(axis, 0),
        get_button=lambda button: device.get(button, False),
    )
    module = SimpleNamespace(
        init=lambda: None,
        get_count=lambda: controllers,
        is_controller=lambda number: device.get("known", True),
        Controller=lambda number: made,
    )
    nothing = SimpleNamespace(init=lambda: None, pump=lambda: None)
    return SimpleNamespace(display=nothing, event=nothing, _sdl2=SimpleNamespace(controller=module), **constants)


def test_inputs_of_sdl() -> None:
    pad = SdlPad(fake_pygame(1, LEFTY=-32768, RIGHTX=16384, LEFTX=3000, TRIGGERRIGHT=32767, A=True))
    pad.update()
    pressed = {name: pad.share(name) for pair in INPUTS.pairs for name in pair}
    assert pressed.pop("left stick up") == 1.0 and pressed.pop("right trigger") == 1.0
    assert pressed.pop("right stick right") == pytest.approx((0.5 - 0.12) / 0.88, abs=1e-3)
    assert pressed.pop("button A") == 1.0
    assert not any(pressed.values()), "a stick at rest does not move"
    with pytest.raises(gg.GranularError, match="gamepad: it was unplugged"):
        SdlPad(fake_pygame(1, attached=False)).update()
    with pytest.raises(gg.GranularError, match="expected a gamepad for 'gamepad', none is connected"):
        SdlPad(fake_pygame(0))
    with pytest.raises(gg.GranularError, match="got 1 devices that SDL has no layout of"):
        SdlPad(fake_pygame(1, known=False))


def test_no_gamepad_and_no_pygame(silo: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "pygame", None)
    with pytest.raises(gg.MissingError, match=r"policy: 'gamepad' needs pygame: pip install 'granular_gym\[teleop\]'"):
        load_policy("gamepad", silo)
    monkeypatch.undo()
    pytest.importorskip("pygame", reason="pygame is not installed")
    with pytest.raises(gg.GranularError, match="none is connected"):
        load_policy("gamepad", silo)
