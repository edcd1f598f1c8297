"""view.py: the public name of `granular_gym.viewing.view`."""

from granular_gym.viewing.view import Viewer, view

__all__ = ["Viewer", "view"]
