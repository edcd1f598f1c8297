"""instrumented.py: the emulated package whose every load and store is seen (GG_CUDA=instrument), in build/instrumented.

`measure` runs a block of work and returns what its kernels moved, which barriers they had, and which of their accesses
nothing puts in order: tests/emulator/meter says what each means.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

from testbed.emulated import ROOT, build_as

PLACE = ROOT / "build" / "instrumented"
METER = ROOT / "tests" / "emulator" / "meter"
LIBRARY = PLACE / "libmeter.so"


def build() -> Path:
    """Builds the package and the meter where they are not up to date; the folder to put on the path."""
    package = build_as("instrument", PLACE)
    sources = [*METER.iterdir(), METER.parent / "instrument.h", *(ROOT / "csrc").rglob("*.h")]
    if not LIBRARY.is_file() or LIBRARY.stat().st_mtime < max(path.stat().st_mtime for path in sources):
        flags = ["-std=c++17", "-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-Wall", "-Wextra", "-Werror"]
        fresh = LIBRARY.with_suffix(f".{os.getpid()}")
        command = [os.environ.get("CXX", "g++"), *flags, "-DGG_EMULATOR_INSTRUMENT", METER / "meter.cpp", "-o", fresh]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-4000:]
        fresh.replace(LIBRARY)
    return package


def load(library: Path = LIBRARY) -> ctypes.CDLL:
    """Loads the meter; before granular_gym, whose instrumented code calls it."""
    meter = ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)
    meter.gg_meter_report.restype = ctypes.c_char_p
    meter.gg_meter_cache.argtypes = [ctypes.c_uint64]
    return meter


def measure(meter: ctypes.CDLL, block: Callable[[], Any], cache: int = 0) -> dict[str, Any]:
    """What the kernels of a block of work did: kernels, traffic, barriers, races; cache: bytes at the second level."""
    meter.gg_meter_cache(cache)
    meter.gg_meter_clear()
    block()
    return json.loads(meter.gg_meter_report())


def lines(places: set[str]) -> dict[str, str]:
    """Source lines of places in libraries ("library+offset"), from the innermost function to where it is inlined."""
    tool, found = shutil.which("addr2line"), {place: place for place in places}
    for library in {place.rpartition("+")[0] for place in places if tool and "+" in place}:
        offsets = sorted(place.rpartition("+")[2] for place in places if place.startswith(library + "+"))
        command = [tool, "-a", "-i", "-e", library, *offsets]
        text = subprocess.run(command, capture_output=True, text=True, check=True).stdout  # type: ignore[arg-type]
        for part in re.split(r"^(?=0x)", text, flags=re.MULTILINE)[1:]:
            address, *chain = part.splitlines()
            where = [os.path.normpath(re.sub(r"^.*?((csrc|tests)/)", r"\1", line.split(" (")[0])) for line in chain]
            found[f"{library}+{int(address, 16):#x}"] = " < ".join(dict.fromkeys(where))
    return found
