"""state_mutations.py: loads mutated states; a script, as what it looks for ends a process.

Arguments: kind ("planar", "springs", "asleep": spheres part of which sleep, "bodies", "bell", "table", "tools" with a
mass or on a spring, "links" of a robot, "continuum", "continuum_tools", "liquid"), device, number of mutations. Prints
how many were refused, accepted. Spheres awake: tests/c/test_states.c.
"""

from __future__ import annotations

import struct
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

sys.path.append(str(Path(__file__).parents[2]))

import granular_gym as gg
from testbed import planar
from testbed.continuum import handle, handled, knead, kneaded, stir, stirred
from testbed.dynamic_tools import pressed
from testbed.parity import BELL, TABLE, fielded, forced, tabled, wield, wielded

HEADER, CHECK = 88, slice(24, 32)
WORDS = [0, 1, -1, 7, 8, 9, 1 << 20, 2**31 - 1, -(2**31), 0x7FC00000, 0x7F800000, 0x7149F2CA]
Words = NDArray[np.uint64]


def mix(z: Words) -> Words:
    """gg_rng_mix of csrc/base/rng.h, of each number."""
    z = z + np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


def hashed(values: Words, data: NDArray[np.uint8]) -> Words:
    """gg_hash_bytes of csrc/world/snapshot.c, of each row; a loop over words, as each hash needs the one before."""
    whole = data.shape[1] // 8 * 8
    for column in np.ascontiguousarray(data[:, :whole].copy().view("<u8").T):
        values = mix(values ^ column)
    tail = np.full(len(data), data.shape[1] - whole, np.uint64)
    for column in data[:, whole:].T:
        tail = tail << np.uint64(8) | column
    return mix(values ^ tail)


def all_mended(states: Sequence[bytes | bytearray]) -> list[bytes]:
    """States of one length, each with the checksum that fits it."""
    made = np.array([np.frombuffer(data, np.uint8) for data in states])
    made[:, CHECK] = 0
    checks = hashed(hashed(np.zeros(len(made), np.uint64), made[:, :HEADER]), made[:, HEADER:])
    made[:, CHECK] = checks.astype("<u8")[:, None].view(np.uint8)
    return [row.tobytes() for row in made]


def mended(data: bytes) -> bytes:
    """The state with the checksum that fits it."""
    return all_mended([data])[0]


def asleep(device: str) -> gg.World:
    """Twelve grains at rest, of which the upper ones touch three others each, and two that fall far from them."""
    scene = gg.Scene(bounds=((0, 0, 0), (1, 0.2, 1)))
    sand = scene.add_material(radius=0.01, density=2500.0, rolling_friction=0.3)
    places = [(0.02 + 0.02 * (k % 3), 0.02 + 0.02 * (k // 3), 0.01) for k in range(9)]
    places += [(0.03, 0.03, 0.0242), (0.05, 0.03, 0.0242), (0.03, 0.05, 0.0242), (0.8, 0.1, 0.4), (0.9, 0.1, 0.5)]
    scene.add_grains(sand, places, 0.01)
    scene.add_tool(gg.Sdf.sphere(0.01), name="ball", pose=(0.5, 0.1, 0.5))
    world = scene.build(device=device, solver=gg.Solver(sleep=True), num_threads=1, overlaps="ignore")
    while world.stats["asleep_share"][0] == 0.0:
        world.step(1e-4, 20)
    return world


def among(scene: gg.Scene, device: str, solver: gg.Solver | None = None) -> gg.World:
    """A scene of clumps, bodies or tools that are pushed, once they touch grains."""
    world = scene.build(device=device, num_threads=1, solver=solver)
    if world.coupled_tools:
        wield(world)
    for _ in range(8):
        world.step(2.5e-4, 30)
    return world


def moulded(device: str) -> gg.World:
    """Dough on sand, a few steps after they met."""
    world = kneaded(0.04).build(device=device, num_threads=1)
    knead(world, 8)
    return world


def pushed(device: str) -> gg.World:
    """Dough under dynamic tools."""
    world = handled(0.04).build(device=device, num_threads=1)
    handle(world, 4)
    return world


def splashed(device: str) -> gg.World:
    """Oil that breaks over dough, a blade and a box."""
    world = stirred().build(device=device, num_threads=1)
    stir(world, 8)
    return world


OTHERS: dict[str, Callable[[str], gg.World]] = {
    "asleep": asleep,
    "bodies": lambda device: among(fielded(), device),
    "bell": lambda device: among(forced(), device, gg.Solver(mode="bell", bell=BELL)),
    "table": lambda device: among(tabled(), device, gg.Solver(mode="table", table=TABLE)),
    "tools": lambda device: among(pressed(60), device),
    "links": lambda device: among(wielded(), device),
    "continuum": moulded,
    "continuum_tools": pushed,
    "liquid": splashed,
}


def world_of(law: str, device: str) -> gg.World:
    """Eight planar grains that fall on each other and on a ball, or one of the others."""
    if law in OTHERS:
        return OTHERS[law](device)
    shape = gg.Shape2D.octagon(0.1)
    scene = gg.Scene(bounds=((0, 0), (1, 1)))
    scene.add_material(density=1000.0, friction=0.4, shape=shape)
    scene.set_pair_field(gg.PairField.build(shape, shape, **planar.COARSE))
    scene.add_grains(0, [(0.12 + 0.19 * (k % 4), 0.1 + 0.19 * (k // 4)) for k in range(8)])
    scene.add_tool(gg.Sdf.sphere(0.1), name="ball", pose=(0.5, 0.5, 0.0))
    solver = gg.Solver(mode="penalty", stiffness=1e6) if law == "springs" else None
    return scene.build(device=device, solver=solver, num_threads=1)


def main(law: str, device: str, count: int) -> None:
    world = world_of(law, device)
    if law not in OTHERS:
        world.step(1e-4, 1200)
    good = world.save_state()
    assert mended(good.envs[0]) == good.envs[0]
    draw = np.random.default_rng(7)
    mutations = []
    for _ in range(count):
        data = bytearray(good.envs[0])
        for _ in range(draw.integers(1, 4)):
            at = int(draw.integers(32, len(data) // 4)) * 4 if draw.random() < 0.9 else int(draw.integers(4, 16)) * 4
            if draw.random() < 0.5:
                struct.pack_into("<I", data, at, WORDS[draw.integers(len(WORDS))] & 0xFFFFFFFF)
            else:
                data[at + int(draw.integers(4))] ^= 1 << int(draw.integers(8))
        mutations.append(data)
    tally = {"refused": 0, "accepted": 0}
    for data in all_mended(mutations):
        before = world.state_hash()
        try:
            world.load_state(gg.State((data,), good.layout))
        except gg.StateError:
            tally["refused"] += 1
            assert world.state_hash() == before
            continue
        tally["accepted"] += 1
        world.step(1e-4, 3)
    print(tally["refused"], tally["accepted"])


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))
