"""Robots in two processes: the same plans, and the same bits from a state that the other one saved."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("mujoco")

#: plays half of a sequence of controls, saves the state to a file or takes that of a file, plays the rest
PRESS = """
import hashlib, pickle
import numpy as np
from testbed.robots import pressing
threads, file, saves = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "saves"
both = pressing("hinge", threads)
controls = np.random.default_rng(5).uniform(0.0, 4.0, 20)

def play(controls):
    felt = 0.0
    for control in controls:
        both.robots.data[0].ctrl[0] = control
        both.step(20)
        digest.update(both.wrenches.tobytes() + both.world.positions.tobytes() + both.robots.save(0))
        felt = max(felt, float(np.abs(both.wrenches).max()))
    return felt

digest = hashlib.blake2b()
if saves:
    play(controls[:10])
    with open(file, "wb") as out:
        pickle.dump(both.save_state(), out)
    digest = hashlib.blake2b()
else:
    with open(file, "rb") as saved:
        both.load_state(pickle.load(saved))
force = play(controls[10:])
assert force > 1.0, f"no grain was pressed: {force}"
print(digest.hexdigest())
"""

#: an Ant on sand that follows what a planner finds by trials in copies of its env; beds are made anew
PLAN = """
import hashlib, os
os.environ["GRANULAR_GYM_CACHE"] = sys.argv[2]
import gymnasium as gym
import numpy as np
import granular_gym
from granular_gym.planning import Planner
few = {"grain_count": 400, "num_threads": int(sys.argv[1])}
env = gym.make("granular_gym/AntOnSand-v0", **few)
copies = gym.make_vec("granular_gym/AntOnSand-v0", num_envs=3, **few)
env.reset(seed=3)
planner, digest, felt = Planner(copies, horizon=3, interval=2, seed=1), hashlib.blake2b(), 0.0
for _ in range(4):
    action = planner.act(env)
    env.step(action)
    task = env.unwrapped.task
    digest.update(action.tobytes() + task.wrenches.tobytes() + task.world.positions.tobytes() + task.robots.save(0))
    felt = max(felt, float(np.abs(task.wrenches).max()))
assert felt > 1.0, f"no leg met sand: {felt}"
print(digest.hexdigest())
"""


def run(code: str, *arguments: str) -> str:
    """What a new process prints."""
    path = f"import sys; sys.path.append({str(Path(__file__).parents[2])!r})\n"
    done = subprocess.run(
        [sys.executable, "-c", path + code, *arguments], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_a_state_goes_on_in_another_process(tmp_path: Path) -> None:
    """An arm that presses into grains: the same bits from a state that another process saved halfway."""
    file = str(tmp_path / "half")
    assert run(PRESS, "1", file, "saves") == run(PRESS, "2", file, "loads") != ""


def test_two_processes_plan_the_same(tmp_path: Path) -> None:
    """The same seed, other threads, each with a bed of its own making: actions, forces, grains and robots to the
    bit."""
    assert run(PLAN, "1", str(tmp_path / "one")) == run(PLAN, "2", str(tmp_path / "two")) != ""
