"""sb3.py: the public name of `granular_gym.training.sb3`."""

from granular_gym.training.sb3 import sb3_vec_env
from granular_gym.training.wrapped import split_infos

__all__ = ["sb3_vec_env", "split_infos"]
