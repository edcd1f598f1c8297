"""mujoco.py: the public name of `granular_gym.robots.mujoco`: robots of MuJoCo among grains."""

from granular_gym.robots.coupling import CoupledState, Coupling, Links, Robots
from granular_gym.robots.mujoco import MujocoRobots, body_sdf

__all__ = ["CoupledState", "Coupling", "Links", "MujocoRobots", "Robots", "body_sdf"]
