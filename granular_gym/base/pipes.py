"""pipes.py: what a command line does when nobody reads its output any more, as in `| head`."""

from __future__ import annotations

import os
import sys


def reader_gone() -> int:
    """Discards what is still to be written, so that nothing fails at exit; returns the exit status of SIGPIPE, 141."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    return 128 + 13
