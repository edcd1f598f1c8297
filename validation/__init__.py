"""Physical laws as commands: see run.py. Scenes are shared with tests and benchmarks: testbed/."""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
