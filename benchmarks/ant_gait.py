"""ant_gait.py: the scripted gait of AntOnSand on sand and on a rigid floor: speed, sinkage, slip, effort.

    OMP_NUM_THREADS=1 python -m benchmarks.ant_gait [--grains 5000] [--seeds 3] [--seconds 20]

On the floor the same robot is stepped by MuJoCo alone, with the same time step and controls. A foot stands while it
carries 5 % of the weight or more. Prints means over the seeds, from the third second on:

- speed: of the torso along x [m/s];
- slip: mean horizontal speed of standing feet over that of the torso; 0 where they stick;
- sinkage: of the lowest point of standing feet below the surface [mm], which is the mean height of the highest grains
  over squares four radii wide as the episode begins;
- effort: mean of the absolute torques [N m], and their work per weight and distance (cost of transport).
"""

from __future__ import annotations

import argparse
from typing import Any

import gymnasium as gym
import mujoco
import numpy as np
from numpy.typing import NDArray

import granular_gym as gg
from granular_gym.envs.ant import CONTROL_PERIOD, PATCH, AntOnSandTask
from granular_gym.envs.ant_expert import MOTORS, Trot
from granular_gym.envs.ant_model import GEAR, SHINS, ant_model, height_over
from granular_gym.envs.ant_state import yaws
from granular_gym.tasks.expert import scripted_expert

Array = NDArray[Any]
BEGIN = round(3.0 / CONTROL_PERIOD)
LOADED = 0.05
COLUMNS = ("speed [m/s]", "slip [%]", "sinkage [mm]", "torque [N m]", "cost of transport")


class Record:
    """What a walk was like.

    Args:
        model: of the robot.
        surface: height of the ground [m].
    """

    def __init__(self, model: Any, surface: float) -> None:
        self.model, self.surface = model, surface
        self.weight = 9.81 * float(model.body_mass.sum())
        self.geoms = [int(model.body(f"shin_{leg}").geomadr[0]) for leg in range(1, 5)]
        self.rows: list[tuple[float, float, float]] = []
        self.slides: list[float] = []
        self.depths: list[float] = []
        self._feet: Any = None

    def feet(self, data: Any) -> Array:
        """Centres of the ends of the shins (4, 3) [m]."""
        half = self.model.geom_size[self.geoms, 1][:, None]
        axes = data.geom_xmat[self.geoms].reshape(-1, 3, 3)[:, :, 2]
        ends = np.stack([data.geom_xpos[self.geoms] + sign * half * axes for sign in (1.0, -1.0)])
        away = np.linalg.norm(ends - data.xpos[self.model.body("torso").id], axis=2)
        return ends[np.argmax(away, axis=0), np.arange(4)]

    def add(self, data: Any, speed: Array, loads: Array, action: Array) -> None:
        """One control period.

        Args:
            data: at its end.
            speed: of the torso along x and y in it [m/s].
            loads: upward forces on the shins (4,) [N].
            action: (8,).
        """
        mujoco.mj_kinematics(self.model, data)
        feet = self.feet(data)
        ahead = feet[:, :2] - data.qpos[:2]
        standing = loads > LOADED * self.weight
        if self._feet is not None:
            moved = np.linalg.norm(speed + (ahead - self._feet) / CONTROL_PERIOD, axis=1)
            self.slides += list(moved[standing])
        self._feet = ahead
        radius = float(self.model.geom_size[self.geoms[0], 0])
        self.depths += list((self.surface - (feet[:, 2] - radius))[standing])
        torques = GEAR * action
        self.rows.append((speed[0], np.abs(torques).mean(), np.abs(torques * data.qvel[6:][MOTORS]).sum()))

    def row(self) -> Array:
        """COLUMNS."""
        speed, torque, power = np.mean(self.rows, axis=0)
        return np.array(
            [
                speed,
                100.0 * np.mean(self.slides) / speed,
                1e3 * np.mean(self.depths),
                torque,
                power / (self.weight * speed),
            ]
        )


def mean_surface(grains: Array, radius: float) -> float:
    """Mean height of the highest grains (n, 3) over squares four radii wide [m]."""
    side = int(PATCH / (4.0 * radius))
    cells = np.clip(((grains[:, :2] / PATCH + 0.5) * side).astype(int), 0, side - 1)
    highest = np.zeros(side * side)
    np.maximum.at(highest, cells[:, 0] * side + cells[:, 1], grains[:, 2] + radius)
    return float(highest.mean())


def on_sand(seed: int, grains: int, steps: int, difficulty: str) -> Array:
    """A walk of the task's expert."""
    env = gym.make("granular_gym/AntOnSand-v0", grain_count=grains, difficulty=difficulty, num_threads=1)
    env.reset(seed=seed)
    task: AntOnSandTask = env.unwrapped.task  # type: ignore[attr-defined]
    record = Record(task.robots.model, mean_surface(task.world.positions[0].astype(float), task.radius))
    expert = scripted_expert(env)
    for step in range(steps):
        action = expert.act()
        info = env.step(action)[4]
        if step >= BEGIN:
            speed = np.array([info["x_velocity"], info["y_velocity"]])
            record.add(task.robots.data[0], speed, task.wrenches[0, SHINS, 2], action)
    env.close()
    return record.row()


def on_floor(seed: int, steps: int, dt: float, start: Any) -> Array:
    """The same gait without grains."""
    model = ant_model(dt)
    data, gait, record = mujoco.MjData(model), Trot(), Record(model, 0.0)
    data.qpos[:], data.qvel[:] = start
    mujoco.mj_forward(model, data)
    data.qpos[2] -= height_over(model, data, np.full((1, 3), 1e3), 0.01) - 0.002
    force = np.zeros(6)
    for step in range(steps):
        before = data.qpos[:2].copy()
        time = np.array([step * CONTROL_PERIOD])
        action = gait.actions(time, data.qpos[None, 7:], data.qvel[None, 6:], yaws(data.qpos[None, 3:7]))[0]
        data.ctrl[:] = action
        loads = np.zeros(4)
        count = round(CONTROL_PERIOD / dt)
        for _ in range(count):
            mujoco.mj_step(model, data)
            for k in range(data.ncon):
                geom = data.contact[k].geom2
                if geom in record.geoms:
                    mujoco.mj_contactForce(model, data, k, force)
                    loads[record.geoms.index(geom)] += force[0] / count
        if step >= BEGIN:
            record.add(data, (data.qpos[:2] - before) / CONTROL_PERIOD, loads, action)
    return record.row()


def main() -> None:
    """Prints a row for each ground."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grains", type=int, default=5000)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--difficulty", default="easy")
    args = parser.parse_args()
    steps = round(args.seconds / CONTROL_PERIOD)
    task = AntOnSandTask(grain_count=args.grains, difficulty=args.difficulty, num_threads=1)
    floor = []
    for seed in range(args.seeds):
        task.reset(np.zeros(1, np.int32), [seed], None)
        data = task.robots.data[0]
        floor.append(on_floor(seed, steps, task.pace.dt, (data.qpos.copy(), data.qvel.copy())))
    task.close()
    sand = [on_sand(seed, args.grains, steps, args.difficulty) for seed in range(args.seeds)]
    print(f"{args.seeds} seeds, {args.difficulty}, {args.grains} grains, granular_gym {gg.__version__}")
    print("| ground | " + " | ".join(COLUMNS) + " |")
    for name, rows in (("sand", sand), ("rigid floor", floor)):
        cells = [f"{np.mean(column):.3g} ± {np.std(column):.2g}" for column in np.transpose(rows)]
        print(f"| {name} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
