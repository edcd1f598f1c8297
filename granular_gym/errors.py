"""Exceptions and warnings of this package.

Each exception derives from GranularError and from the built-in class that fits: both ``except gg.GranularError`` and
``except ValueError`` work.
"""

from __future__ import annotations


class GranularError(Exception):
    """Base class of every error of this package."""


class ArgumentError(GranularError, ValueError):
    """A value outside what a call accepts; the message names the argument, what was expected and what was given."""


class MeshError(ArgumentError):
    """A triangle mesh or mesh file that cannot be used; the message names the fault."""


class TableError(ArgumentError):
    """A table of forces that cannot be used; the message names the file or the entry, and the fault."""


class DescriptionError(ArgumentError):
    """A robot description that cannot be used; the message names file, entry and fault."""


class ExchangeError(ArgumentError):
    """A file of another program that cannot be used; the message names file, line and fault."""


class DatasetError(ArgumentError):
    """Data of `granular_gym.learned` that cannot be used; the message names file, entry and fault."""


class OverlapError(ArgumentError):
    """A scene whose grains lie in each other, in tools, in walls or outside the bounds, or whose bodies of continuous
    matter share space; the message says how many, how deep and where."""


class CapacityError(GranularError, RuntimeError):
    """More contacts than any packing of grains can have: the scene overlaps massively."""


class StateError(GranularError, ValueError):
    """A saved state of another version, scene or size."""


class ReplayError(StateError):
    """A recorded episode that did not play again as it was; the message names episode, step and field."""


class BackendError(GranularError, RuntimeError):
    """The device asked for is missing or failed."""


class MissingError(GranularError, ImportError):
    """A library that not everybody needs is not installed; the message says how to install it."""


class ClosedError(GranularError, RuntimeError):
    """The object was closed."""


class BusyError(GranularError, RuntimeError):
    """Another thread is using the object."""


class StabilityWarning(UserWarning):
    """A combination of solver settings, time step and scene that is known to be unstable."""


class SdfWarning(UserWarning):
    """An SDF grid without a mesh whose box ends nearer to its solid than the largest grain is wide.

    Outside its box a grid gives a lower bound of the distance, so that grains there meet the tool too early. A box that
    cuts its solid on purpose, as terrain does, is fine where no grain leaves it.
    """


class DescriptionWarning(UserWarning):
    """A robot description that is taken with a change, or in part; the message names joints or links."""


class OverlapWarning(UserWarning):
    """What OverlapError says, of a scene that is built all the same."""


class CalibrationError(GranularError, RuntimeError):
    """A calibration that did not meet its targets; the message says how close it came."""


class DivergenceError(GranularError, RuntimeError):
    """A learned simulator whose states left every bound; the message says what broke and when."""
