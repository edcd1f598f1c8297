"""film.py: the public name of `granular_gym.viewing.film`."""

from granular_gym.viewing.film import Film

__all__ = ["Film"]
