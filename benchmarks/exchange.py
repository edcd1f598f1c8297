"""exchange.py: size and processor time of files for other programs (docs/exchange.md).

python -m benchmarks.exchange [GRAINS ...]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import granular_gym as gg
from granular_gym import exchange


def bed(count: int) -> gg.World:
    """Grains that lie on a lattice in a box of 1 m x 1 m, pressed together for a little while."""
    scene = gg.Scene(((0, 0, 0), (1, 1, 3)))
    sand = scene.add_material(radius=0.009, density=2000.0)
    scene.fill_box(sand, (0, 0, 0), (1, 1, 3), count)
    world = scene.build(device="cpu", num_threads=1)
    world.step(dt=1e-3, substeps=30)
    return world


def measure(world: gg.World, folder: Path) -> Iterator[tuple[str, float, int, int]]:
    """What was written or read: its name, processor seconds, bytes, and of how many grains or contacts."""
    count, contacts = world.grain_count, len(world.contacts().pressing())

    def seconds(action: Callable[[], object]) -> float:
        begin = time.process_time()
        action()
        return time.process_time() - begin

    def dump() -> None:
        with exchange.LammpsDump(folder / "a.dump", world) as file:
            file.add(0.0)

    exchange.write_vtk(folder, world)  # loads the library
    exchange.write_gltf(folder / "a.glb", world, detail=0)
    spent = seconds(lambda: exchange.write_vtk(folder, world))
    yield "VTK, grains", spent, (folder / "grains.vtp").stat().st_size, count
    yield "VTK, contacts (in the same call)", spent, (folder / "contacts.vtp").stat().st_size, contacts
    for name, file, write in (
        ("LAMMPS data", "a.data", lambda: exchange.write_lammps(folder / "a.data", world)),
        ("LAMMPS dump", "a.dump", dump),
        ("glTF", "a.glb", lambda: exchange.write_gltf(folder / "a.glb", world)),
    ):
        spent = seconds(write)
        yield name, spent, (folder / file).stat().st_size, count
        if file != "a.glb":
            reading = seconds(lambda file=file: exchange.read_lammps(folder / file))  # type: ignore[misc]
            yield f"{name}, read", reading, (folder / file).stat().st_size, count


def main() -> None:
    """Prints a line for each kind of file."""
    for count in map(int, sys.argv[1:] or ("1000", "10000", "100000")):
        with bed(count) as world, tempfile.TemporaryDirectory() as folder:
            print(f"{count} grains")
            for name, spent, size, of in measure(world, Path(folder)):
                print(f"  {name:34}{spent:8.3f} s {size / 1e6:9.2f} MB {size / max(of, 1):9.0f} bytes each")


if __name__ == "__main__":
    main()
