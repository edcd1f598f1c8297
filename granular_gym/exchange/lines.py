"""lines.py: a text file as numbered lines and tables of numbers; whatever is wrong is told with its line."""

from __future__ import annotations

from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.errors import ExchangeError


class Lines:
    """The lines of a text file, read one after the other.

    Args:
        path: of the file.
        name: of the argument that gave it, for messages.

    Attributes:
        number: of the line read last, from 1.

    Raises:
        ExchangeError: it is no text.
        OSError: it cannot be read.
    """

    number: int

    def __init__(self, path: Any, name: str = "path") -> None:
        self.path: Path = checks.path(name, path)
        try:
            self._lines = self.path.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError:
            self.number = 0
            self.fail("expected text, got other bytes")
        if self._lines and not self._lines[-1]:
            self._lines.pop()
        self.number = 0

    def fail(self, message: str, line: int | None = None) -> NoReturn:
        """Raises an ExchangeError with file and line; None: the line read last."""
        at = self.number if line is None else line
        raise ExchangeError(f"{self.path}{f', line {at}' if at else ''}: {message}")

    @property
    def ended(self) -> bool:
        """Whether all lines were read."""
        return self.number >= len(self._lines)

    def peek(self) -> str:
        """The next line, without blanks around it; "" at the end."""
        return "" if self.ended else self._lines[self.number].strip()

    def next(self, what: str) -> str:
        """The next line, without blanks around it.

        Args:
            what: it should be, for the message where the file ends.
        """
        if self.ended:
            self.fail(f"expected {what}, the file ends")
        self.number += 1
        return self._lines[self.number - 1].strip()

    def numbers(self, what: str, count: int) -> list[float]:
        """The numbers of the next line, as many as `count`."""
        words = self.next(what).split()
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count or not np.isfinite(values).all():
            self.fail(f"expected {what}, got {' '.join(words)!r}")
        return values

    def whole(self, what: str) -> int:
        """The next line as a whole number >= 0."""
        text = self.next(what)
        if not text.isdecimal() or not text.isascii():
            self.fail(f"expected {what}, a whole number >= 0, got {text!r}")
        return int(text)

    def table(self, rows: Sequence[tuple[int, list[str]]], columns: Sequence[str]) -> NDArray[np.float64]:
        """Rows of words as numbers, (rows, columns).

        Args:
            rows: line and words of each.
            columns: names, for messages; rows of another length, and numbers that are not finite, are refused.
        """
        self.check_widths(rows, columns)
        try:
            values = np.array([words for _, words in rows], np.float64).reshape(len(rows), len(columns))
        except ValueError:
            values = np.full((len(rows), len(columns)), np.nan)
            for row, (_, words) in enumerate(rows):
                for column, word in enumerate(words):
                    values[row, column] = _number(word)
        bad = np.argwhere(~np.isfinite(values))
        if len(bad):
            row, column = bad[0]
            self.fail(f"expected a finite number for {columns[column]}, got {rows[row][1][column]!r}", rows[row][0])
        return values

    def block(
        self, count: int, columns: Sequence[str], wanted: Container[str]
    ) -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64]]:
        """The next `count` lines as columns of numbers by name, those wanted of all; and the line of each row."""
        first = self.number
        if len(self._lines) - first < count:
            self.number = len(self._lines)
            self.fail(f"expected {count} rows of {' '.join(columns)}, the file ends after {self.number - first}")
        rows = [(first + k + 1, self._lines[first + k].split()) for k in range(count)]
        self.number = first + count
        self.check_widths(rows, columns)
        kept = [k for k, name in enumerate(columns) if name in wanted]
        names = [columns[k] for k in kept]
        values = self.table([(line, [words[k] for k in kept]) for line, words in rows], names)
        return dict(zip(names, values.T, strict=True)), np.arange(first + 1, first + count + 1)

    def check_widths(self, rows: Sequence[tuple[int, list[str]]], columns: Sequence[str]) -> None:
        """Refuses rows of more or fewer words than there are columns."""
        for line, words in rows:
            if len(words) != len(columns):
                self.fail(f"expected {len(columns)} columns, {' '.join(columns)}, got {len(words)}", line)


def _number(word: str) -> float:
    try:
        return float(word)
    except ValueError:
        return np.nan
