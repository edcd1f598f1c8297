"""Checks of physical laws: see run.py. Tests and benchmarks use the same scenes: testbed/."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
