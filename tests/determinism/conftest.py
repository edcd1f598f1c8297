"""Puts the folder of tests on the path: pytest's importlib mode does not."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))
