"""planning.py: the public name of `granular_gym.training.planning`."""

from granular_gym.training.planning import Planner, correlated_noise

__all__ = ["Planner", "correlated_noise"]
