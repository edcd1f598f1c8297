"""view.py: the public names of `granular_gym.viewing.view`."""

from granular_gym.viewing.view import Look, Viewer, view

__all__ = ["Look", "Viewer", "view"]
