"""check_includes.py: fails where an #include of csrc runs upwards: a layer includes itself and the layers below it.

python3 tools/check_includes.py [folder of the sources]
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

#: layers from the lowest to the highest; those of one line do not include each other
LAYERS = (
    ("base",),
    ("geometry",),
    ("state",),
    ("contact",),
    ("solvers", "sensors"),
    ("phases",),
    ("backend",),
    ("world",),
    ("py",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}
#: the public interface, above all but the extension module
PUBLIC = "gg.h"
#: the layer of the laws, a folder each; laws do not include each other
LAWS = "solvers"
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)


def layer(path: Path) -> str:
    """The layer of a file, given relative to the sources."""
    return "world" if path.as_posix() == PUBLIC else path.parts[0]


def law(path: Path) -> str | None:
    """The law of a file; None: shared by all, or of another layer."""
    return path.parts[1] if path.parts[0] == LAWS and len(path.parts) > 2 else None


def runs_up(source: Path, target: Path) -> bool:
    """Whether `source` must not include `target`, both relative to the sources."""
    lower, upper = RANK[layer(target)], RANK[layer(source)]
    if layer(source) == layer(target):
        return None not in (law(source), law(target)) and law(source) != law(target)
    return lower >= upper


def problems(root: Path) -> list[str]:
    """Faults of the includes below `root`, a line each."""
    found = []
    for file in sorted(root.rglob("*")):
        if file.suffix not in (".h", ".c", ".cu", ".cuh"):
            continue
        source = file.relative_to(root)
        if layer(source) not in RANK:
            found.append(f"{source}: not in a known layer")
            continue
        for name in INCLUDE.findall(file.read_text(encoding="utf-8")):
            beside, below = (file.parent / name).resolve(), (root / name).resolve()
            path = beside if beside.is_file() else below
            if not path.is_file():
                continue  # of a library
            target = path.relative_to(root)
            if runs_up(source, target):
                found.append(f"{source} includes {target}: {layer(target)} is not below {layer(source)}")
    return found


def main() -> int:
    """Prints all faults; exit status 1 where there are any."""
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent / "csrc").resolve()
    found = problems(root)
    print("\n".join(found) if found else f"includes of {root.name}: all run downwards")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
