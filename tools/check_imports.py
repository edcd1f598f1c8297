"""check_imports.py: fails where an import of granular_gym runs upwards, in a cycle, or inside a function.

    python tools/check_imports.py

A package, here a sub-package of granular_gym or a module directly in it, may import from the packages that its line of
`ALLOWED` names; these stand above it in the table. Modules of one package import each other without cycles. Imports of
granular_gym stand at the top of a file and are absolute: an import inside a function hides a cycle, and `envs` and
`scenes` are installed as sub-packages from other folders. Tasks, experts and experiments are loaded by names in
registries; this is the only exception. Files are parsed, not imported.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "granular_gym"
#: folders of the modules
FOLDERS = {NAME: ROOT / NAME, f"{NAME}.envs": ROOT / "envs", f"{NAME}.scenes": ROOT / "scenes"}
#: packages that all others may import
COMMON = ("errors", "_core")
#: the packages, lowest first, each with those it may import from; "": granular_gym/__init__.py and modules beside it
ALLOWED: dict[str, tuple[str, ...]] = {
    "errors": (),
    "_core": (),
    "base": (),
    "shapes": ("base",),
    "engine": ("base", "shapes"),
    "info": ("base", "engine"),
    "robots": ("base", "shapes", "engine"),
    "calibration": ("base", "shapes", "engine"),
    "arms": ("base", "shapes", "robots"),
    "tasks": ("base", "shapes", "engine", "robots", "arms"),
    "envs": ("base", "shapes", "engine", "robots", "arms", "tasks"),
    "exchange": ("base", "shapes", "engine", "tasks"),
    "teleop": ("base", "tasks"),
    "training": ("base", "info", "tasks", "teleop"),
    "viewing": ("base", "shapes", "engine", "tasks", "exchange", "teleop", "training"),
    "learned": ("base", "engine", "viewing"),
    "recording": ("base", "tasks", "training", "viewing"),
    "scenes": ("shapes", "engine", "tasks", "viewing"),
    "": (
        *("base", "shapes", "engine", "info", "robots", "calibration", "arms", "tasks", "exchange", "training"),
        *("viewing", "recording"),
    ),
}
#: imported module and line, by importing module
Imports = dict[str, list[tuple[str, int]]]


def main() -> int:
    """Prints all faults; exit status 1 where there are any."""
    modules = find_modules(FOLDERS)
    faults = check(modules, ALLOWED)
    for fault in faults:
        print(fault, file=sys.stderr)
    if not faults:
        print(f"imports: {len(modules)} modules in {len(ALLOWED)} packages, all imports run downwards, no cycles")
    return 1 if faults else 0


def find_modules(folders: Mapping[str, Path]) -> dict[str, Path]:
    """Files by the name of their module; stubs represent compiled modules."""
    modules: dict[str, Path] = {}
    for package, folder in folders.items():
        for path in sorted([*folder.rglob("*.py"), *folder.rglob("*.pyi")]):
            parts = path.relative_to(folder).with_suffix("").parts
            modules[".".join([package, *(part for part in parts if part != "__init__")])] = path
    return modules


def check(modules: Mapping[str, Path], allowed: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Faults, one line each: of the table, of single imports, between packages, and cycles."""
    faults = []
    order = list(allowed)
    for package, below in allowed.items():
        faults += [
            f"table of packages: {package or NAME} may import from {other}, which does not stand above it"
            for other in below
            if other not in order or order.index(other) >= order.index(package)
        ]
    imports: Imports = {}
    for name, path in modules.items():
        imports[name] = []
        for imported, line, fault in imports_of(path, modules):
            if fault:
                faults.append(f"{path}:{line}: {fault}")
            elif imported != name:
                imports[name].append((imported, line))
    for name, targets in imports.items():
        package = package_of(name, allowed)
        for imported, line in targets:
            other = package_of(imported, allowed)
            if other != package and other not in (*allowed[package], *COMMON):
                faults.append(f"{modules[name]}:{line}: {package or NAME} imports {imported}, of {other or NAME}")
    cycle = find_cycle({name: [imported for imported, _ in targets] for name, targets in imports.items()})
    if cycle:
        faults.append("cycle: " + " -> ".join(cycle))
    return faults


def imports_of(path: Path, modules: Mapping[str, Path]) -> Iterator[tuple[str, int, str]]:
    """Imports of granular_gym in a file: module, line, and the fault of this import or ""."""
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
            if name.partition(".")[0] != NAME:
                continue
            if name not in modules:
                yield name, node.lineno, f"{name} is no module of the package"
            elif id(node) not in at_top:
                yield name, node.lineno, f"{name} is imported inside a function or a condition: import it at the top"
            else:
                yield name, node.lineno, ""


def package_of(module: str, allowed: Mapping[str, tuple[str, ...]]) -> str:
    """The package of a module, a key of the table."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 and parts[1] in allowed else ""


def find_cycle(imports: Mapping[str, list[str]]) -> list[str]:
    """A cycle of imports, its first module repeated at the end; empty where there is none."""
    done: set[str] = set()

    def walk(name: str, path: list[str]) -> list[str]:
        if name in path:
            return [*path[path.index(name) :], name]
        if name in done:
            return []
        for imported in imports.get(name, []):
            cycle = walk(imported, [*path, name])
            if cycle:
                return cycle
        done.add(name)
        return []

    return next((cycle for name in imports if (cycle := walk(name, []))), [])


if __name__ == "__main__":
    sys.exit(main())
