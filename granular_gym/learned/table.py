"""table.py: learned laws as tables that the engine runs.

What a table is: `granular_gym.engine.pair_table`; `export.py` makes one of any law of pairs, and
`gg.Solver(mode="table", table=...)` runs it. Here are all names that this needs.
"""

from __future__ import annotations

from granular_gym.engine.pair_forces import PairForces
from granular_gym.engine.pair_table import WALL, PairTable
from granular_gym.engine.pair_table_file import VERSION, load_pair_table, save_pair_table

__all__ = ["VERSION", "WALL", "PairForces", "PairTable", "load_pair_table", "save_pair_table"]
