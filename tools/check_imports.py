"""Reads every import of the package and fails where an arrow runs up, in a circle, or is hidden in a function.

    python tools/check_imports.py

A room is a sub-package, or a module directly in the package. It may import from the rooms that its line of `ROOMS`
names, and those stand above it in the table. Within a room modules import each other without circles. The package's own
modules are imported at the top of a file, by absolute names: an import inside a function hides a circle, a relative one
hides the arrows of `envs` and `scenes`, which are installed as sub-packages. Tasks, experts and experiments are loaded
by names in registries; that is the one way up. Nothing is imported here: files are parsed.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = "granular_gym"
#: where the modules of a package lie
FOLDERS = {PACKAGE: ROOT / PACKAGE, f"{PACKAGE}.envs": ROOT / "envs", f"{PACKAGE}.scenes": ROOT / "scenes"}
#: any room may import these
GROUND = ("errors", "_core")
#: rooms from the ground up, each with the rooms it may import from; "": the package itself, with what it shows to users
ROOMS: dict[str, tuple[str, ...]] = {
    "errors": (),
    "_core": (),
    "base": (),
    "shapes": ("base",),
    "engine": ("base", "shapes"),
    "info": ("base", "engine"),
    "calibration": ("base", "shapes", "engine"),
    "tasks": ("base", "shapes", "engine"),
    "envs": ("base", "shapes", "engine", "tasks"),
    "training": ("base", "info", "tasks"),
    "viewing": ("base", "shapes", "engine", "tasks", "training"),
    "scenes": ("shapes", "engine", "viewing"),
    "": ("base", "shapes", "engine", "info", "calibration", "tasks", "training", "viewing"),
}
#: imported module and line, by importing module
Arrows = dict[str, list[tuple[str, int]]]


def main() -> int:
    """Prints what is wrong; 1: something is."""
    modules = find_modules(FOLDERS)
    faults = check(modules, ROOMS)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"imports: {len(modules)} modules in {len(ROOMS)} rooms, no arrow runs up and none in a circle")
    return 1 if faults else 0


def find_modules(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Files by the name they are imported by; stubs stand for compiled modules."""
    modules: dict[str, Path] = {}
    for package, folder in folders.items():
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
            parts = path.relative_to(folder).with_suffix("").parts
            modules[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return modules


def check(modules: Mapping[str, Path], rooms: Mapping[str, tuple[str, ...]]) -> list[str]:
    """What is wrong, one line each: table, then single imports, then arrows between rooms, then circles."""
    faults = []
    order = list(rooms)
    for room, below in rooms.items():
        faults += [
            f"table of rooms: {room or PACKAGE} may import from {other}, which does not stand above it"
            for other in below
            if other not in order or order.index(other) >= order.index(room)
        ]
    arrows: Arrows = {}
    for name, path in modules.items():
        arrows[name] = []
        for imported, line, fault in imports_of(path, modules):
            if fault:
                faults.append(f"{path}:{line}: {fault}")
            elif imported != name:
                arrows[name].append((imported, line))
    for name, targets in arrows.items():
        room = room_of(name, rooms)
        for imported, line in targets:
            other = room_of(imported, rooms)
            if other != room and other not in (*rooms[room], *GROUND):
                faults.append(f"{modules[name]}:{line}: {room or PACKAGE} imports {imported}, of {other or PACKAGE}")
    circle = find_circle({name: [imported for imported, _ in targets] for name, targets in arrows.items()})
    if circle:
        faults.append("circle: " + " -> ".join(circle))
    return faults


def imports_of(path: Path, modules: Mapping[str, Path]) -> Iterator[tuple[str, int, str]]:
    """Imports of the package's own modules in a file: module, line, and what is wrong with it or ""."""
    tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
    at_top = {id(node) for node in tree.body}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            named = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            yield "", node.lineno, "relative import: name the module in full"
            continue
        elif isinstance(node, ast.ImportFrom) and node.module:
            inside = (f"{node.module}.{alias.name}" for alias in node.names)
            named = [name if name in modules else node.module for name in inside]
        else:
            continue
        for name in dict.fromkeys(named):
            if name.partition(".")[0] != PACKAGE:
                continue
            if name not in modules:
                yield name, node.lineno, f"{name} is no module of the package"
            elif id(node) not in at_top:
                yield name, node.lineno, f"{name} is imported inside a function or a condition: import it at the top"
            else:
                yield name, node.lineno, ""


def room_of(module: str, rooms: Mapping[str, tuple[str, ...]]) -> str:
    """The room a module is in; what has none of its own is the package's."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in rooms else ""


def find_circle(arrows: Mapping[str, list[str]]) -> list[str]:
    """Modules that import each other in a circle, the first one again at the end; empty where there are none."""
    done: set[str] = set()

    def walk(name: str, way: list[str]) -> list[str]:
        if name in way:
            return [*way[way.index(name) :], name]
        if name in done:
            return []
        for imported in arrows.get(name, []):
            circle = walk(imported, [*way, name])
            if circle:
                return circle
        done.add(name)
        return []

    return next((circle for name in arrows if (circle := walk(name, []))), [])


if __name__ == "__main__":
    sys.exit(main())
