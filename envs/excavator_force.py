"""excavator_force.py: `granular_gym/ExcavatorForce-v0`: the excavator with an arm that grains push back.

Task, goal, reward and bed are those of `Excavator-v1`. Its arm is kinematic: it goes through a bed that would stop the
real one. Here the arm is a robot of MuJoCo (excavator_model.py) with the torque limits of the real one, solved together
with the contacts.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray

from granular_gym.arms.description import Array
from granular_gym.base import checks
from granular_gym.base.types import Arrays, Floats
from granular_gym.envs.excavator import (
    CONTROL_PERIOD,
    TRAY_CENTER,
    TRAY_HALF,
    TRAY_HEIGHT,
    ExcavatorV1Task,
    make_arm,
    walls,
)
from granular_gym.envs.excavator_model import CONTROLS, excavator_model, lead, names_of
from granular_gym.envs.excavator_state import VECTOR as ARM_VECTOR
from granular_gym.errors import ArgumentError
from granular_gym.robots.coupling import Robots
from granular_gym.robots.mujoco import MujocoRobots
from granular_gym.tasks.actions import ActionPart
from granular_gym.tasks.env_classes import env_classes
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.robot_task import RobotTask
from granular_gym.tasks.state_vector import LIMIT, Entry, StateVector

JOINTS = 7
VECTOR = StateVector(
    [*ARM_VECTOR.entries, Entry("torques", "of the motors over their limits, besides the arm's weight", (1,) * JOINTS)]
)


class ExcavatorForceTask(RobotTask, ExcavatorV1Task):  # type: ignore[misc, unused-ignore]
    """The excavator task with a robot of MuJoCo in `env_count` envs.

    ## Description
    `ExcavatorV1Task` with an arm of masses and motors: what the grains resist, the arm feels, and where its torque
    limits do not suffice, it lags behind or stops.

    ## Action Space
    Box (7,) float32 in [-1, 1]: joint velocities, 1 = the joint's largest, reduced by the guard of `ExcavatorV1Task`
    and tracked by motors within their torque limits; with control="torque" the torques, 1 = the limit (87 N m for
    joints 1 to 4, 12 N m for 5 to 7), without a guard.

    ## Observation Space
    That of `ExcavatorV1Task` (velocities clipped to the joints' largest), and
    - "torques" (7,) float32 [N m]: of the motors at the end of the step, besides those that carry the arm's weight; 0
      after a reset.

    With observation="state" there is "state" alone, see VECTOR.

    ## Rewards, Starting State, Arguments
    Those of `ExcavatorV1Task`, and
    - `control`: "velocity" or "torque"; `bucket_stiffness` is None, the arm itself gives way.

    ## Episode End
    That of `ExcavatorV1Task`. An env whose robot is no longer finite is truncated.

    Infos: those of `ExcavatorV1Task` but "fast_tool_count", and "motor_share": the largest torque of a motor over its
    limit.

    ## Version History
    - v0: first version.

    Raises:
        ArgumentError: an argument is not what it should be.
        DescriptionError: the arm's description file is damaged.
        BackendError: the device is missing.
        MissingError: MuJoCo is not installed.
    """

    episode_state: ClassVar[tuple[str, ...]] = (
        *RobotTask.episode_state,
        *ExcavatorV1Task.episode_state,
        "torques",
    )
    state_vector: StateVector | None = VECTOR
    matters: ClassVar[tuple[str, ...]] = ("grains",)  # a robot in a continuum runs, its expert spills (docs/tasks)
    robots: MujocoRobots

    def __init__(self, env_count: int = 1, *, control: str = "velocity", **kwargs: Any) -> None:
        self.control: str = checks.choice("control", control, list(CONTROLS))
        super().__init__(env_count, **kwargs)
        if self.bucket_stiffness is not None:
            raise ArgumentError(f"bucket_stiffness: expected None, the arm gives way, got {self.bucket_stiffness:g}")
        limits = self.arm.description.torque.astype(np.float32)
        self.observation_space: spaces.Dict = spaces.Dict(
            {**self.observation_space.spaces, "torques": spaces.Box(-limits, limits, dtype=np.float32)}
        )
        if self.control == "torque":
            self.action_parts: Sequence[ActionPart] = [
                ActionPart(f"torque of joint {number}", full=f"{limit:g} N m") for number, limit in enumerate(limits, 1)
            ]
        self.torques: Floats = np.zeros((self.env_count, JOINTS))

    def make_robots(self) -> Robots:
        """The arms."""
        arm = make_arm()
        tray = walls(*TRAY_HALF, TRAY_HEIGHT)
        tray[:, :2] += TRAY_CENTER
        model = excavator_model(arm, self.control, self.pace.dt, tray, self._bin_walls())
        return MujocoRobots(model, names_of(arm), self.env_count)

    def moved_by(self, frame: int) -> dict[str, Any]:
        """Robots move all links but the base."""
        return {"coupled": frame > 0}

    def drive(self) -> None:
        """None: robots move the tools."""

    def _tool_poses(self, envs: NDArray[np.int32]) -> Floats:
        """See `ExcavatorTask`."""
        frames = self.arm.frames(self.joints[envs])[:, [frame for frame, _ in self.arm.shapes]]
        still = np.zeros((len(envs), 2, 7))
        still[:, :, 3] = 1.0
        still[:, 0, :2], still[:, 1, :2] = TRAY_CENTER, self.bin[envs]
        return np.concatenate([frames, still], axis=1)

    def begin(self, envs: NDArray[np.int32], options: dict[str, Any]) -> None:
        """See `ExcavatorV1Task.begin`; the robots stand in the posture that was drawn."""
        super().begin(envs, options)  # type: ignore[safe-super, unused-ignore]
        for env in envs:
            self.robots.reset(int(env))
            data = self.robots.data[env]
            data.qpos[:] = self.joints[env]
            if self.control == "velocity":
                data.act[:] = self.joints[env]
            data.mocap_pos[0] = *self.bin[env], 0.0
        self.torques[envs] = 0.0
        self.place_robots(envs)

    def _moved(self, actions: Any, idle: NDArray[np.bool_]) -> Floats:
        """Steps world and robots; joints, velocities, events of the guard and bin afterwards."""
        arm, given = self.arm.description, np.where(idle[:, None], 0.0, actions).astype(np.float64)
        driven = self._driven.copy()
        if self.control == "velocity":
            joints = np.clip(self.joints, arm.lower, arm.upper)
            velocities = np.clip(self.velocities, -arm.speed, arm.speed)
            wanted, _, events = self.arm.guard(joints, velocities, given * arm.speed, self.blocks(), CONTROL_PERIOD)
            given, driven[:, -3] = (wanted - joints) / CONTROL_PERIOD, events
        for data, values in zip(self.robots.data, given, strict=True):
            if self.control == "velocity":
                lead(data, values, arm.torque)
            data.ctrl[:] = values
        self.simulate_robots(idle)
        driven[:, :JOINTS] = [data.qpos for data in self.robots.data]
        driven[:, JOINTS : 2 * JOINTS] = [data.qvel for data in self.robots.data]
        self.torques = np.array([data.actuator_force for data in self.robots.data])
        if self.control == "torque":
            self.torques = self.torques * arm.torque
        after: Floats = driven
        return after

    def _bucket_wrenches(self) -> Floats:
        """See `ExcavatorTask`."""
        wrenches: Floats = self.wrenches[:, -1]
        return wrenches

    def motor_shares(self) -> Array:
        """Torques of the motors over their limits (env_count, 7)."""
        shares: Array = self.torques / self.arm.description.torque
        return shares

    def evaluate(self) -> tuple[Floats, NDArray[np.bool_], Arrays]:
        """See `ExcavatorV1Task.evaluate`."""
        rewards, terminated, infos = super().evaluate()  # type: ignore[safe-super, unused-ignore]
        del infos["fast_tool_count"]  # of the last time step alone
        infos["motor_share"] = np.abs(self.motor_shares()).max(axis=1)
        return rewards, terminated, infos

    def sense(self) -> Arrays:
        """See `ExcavatorV1Task.sense`, and the torques."""
        seen = super().sense()  # type: ignore[safe-super, unused-ignore]
        return {**seen, **self.vectors({"torques": self.torques})}

    def sense_state(self) -> NDArray[np.float32]:
        """See `Task.sense_state`."""
        shares = np.clip(self.motor_shares(), -LIMIT, LIMIT).astype(np.float32)
        return np.concatenate([super().sense_state(), shares], axis=1)


ExcavatorForceEnv: type[GranularEnv]
ExcavatorForceVectorEnv: type[GranularVectorEnv]
ExcavatorForceEnv, ExcavatorForceVectorEnv = env_classes(ExcavatorForceTask)  # type: ignore[type-abstract, unused-ignore]
