"""curve.py: what a training run leaves to be read: a CSV, TensorBoard where it is installed, and a line of progress."""

from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

from granular_gym.base import cache

NAME = "curve.csv"
#: of the CSV; losses are means over the iterations since the row before, empty where there is no such part
COLUMNS = (
    *("iteration", "seconds", "loss", "picture", "normal", "gradient", "track", "stability"),
    *("horizon", "reach", "learning_rate", "diverged"),
)


class Curve:
    """Rows of a run.

    Args:
        folder: of the run.
        rows: of an earlier part of it.
        total: iterations of the whole run.
        progress: whether to show a bar; None: where standard error is a terminal.
    """

    def __init__(self, folder: Path, rows: list[dict[str, Any]], total: int, progress: bool | None = None) -> None:
        self.folder, self.rows = folder, rows
        self._board = _board(folder, rows[-1]["iteration"] if rows else 0)
        self._bar = _bar(total, rows[-1]["iteration"] if rows else 0, progress)

    def add(self, row: dict[str, Any]) -> None:
        """A row more, in TensorBoard and in the bar at once."""
        self.rows.append(row)
        if self._board is not None:
            for name, value in row.items():
                if name not in ("iteration", "seconds") and isinstance(value, (int, float)):
                    self._board.add_scalar(name, value, row["iteration"])
        if self._bar is not None:
            self._bar.update(row["iteration"] - self._bar.n)
            self._bar.set_postfix_str(f"loss {row['loss']:.4g}" if isinstance(row["loss"], float) else "diverging")

    def write(self) -> None:
        """Writes the CSV, whole or not at all.

        Raises:
            OSError: it cannot be written.
        """
        text = io.StringIO()
        writer = csv.DictWriter(text, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.rows)
        cache.write_atomic(self.folder / NAME, text.getvalue().encode())

    def close(self) -> None:
        """Ends board and bar."""
        if self._board is not None:
            self._board.close()
        if self._bar is not None:
            self._bar.close()


def _board(folder: Path, begin: int) -> Any:
    try:
        from torch.utils.tensorboard import SummaryWriter
    except ImportError:  # the CSV has the same numbers
        return None
    return SummaryWriter(str(folder / "board"), purge_step=begin + 1)


def _bar(total: int, begin: int, progress: bool | None) -> Any:
    try:
        from tqdm import tqdm
    except ImportError:
        return None
    # None: tqdm hides it where standard error is no terminal
    return tqdm(total=total, initial=begin, unit="it", disable=None if progress is None else not progress)
