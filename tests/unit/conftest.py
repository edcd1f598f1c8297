"""The folder of tests on the path: scenes that tests share lie there."""

import sys
from pathlib import Path

# pytest's importlib mode puts no test folder on the path
sys.path.insert(0, str(Path(__file__).parents[1]))
