"""needs.py: torch, or the error that says how to install it."""

from __future__ import annotations

from granular_gym.errors import MissingError

try:
    import torch as torch
except ImportError as error:
    raise MissingError(f"learned simulators need torch: pip install 'granular_gym[learned]' ({error})") from error
