"""piles.py: settled piles of planar grains: time of a step by number, shape, law and kind of pair field."""

from __future__ import annotations

import importlib.util
import math

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row

TARGET_GRAINS, TARGET_MS = 11_000, 10.0  # number of # grains, wall time of a step on two cores [ms]
SETTLE = 3.0, 10.0  # time to settle [s]: of one shape; of ten shapes in layers, which fall from higher
RADIUS = 0.5  # circumradius [m]
ITERATIONS = 20
#: the published method: networks (layers, width) with the angle as input, springs, substeps of 50 us; our omega [1/s]
NETWORKS = ((3, 32), (5, 64))
SPRINGS_DT, OMEGA, DAMPING = 5e-5, 1000.0, 0.5
SPRINGS_SETTLE = 100  # substeps after the change of the law
#: ten shapes, 55 pairs
MIXTURE = "heart U N O D G R L M A"


def shapes(name: str) -> list[gg.Shape2D]:
    """The shape of a name, or the shapes of the mixture."""
    kinds = {"#": gg.Shape2D.hash, "octagon": gg.Shape2D.octagon, "heart": gg.Shape2D.heart}
    names = MIXTURE.split() if name == "ten kinds" else [name]
    return [kinds[one](RADIUS) if one in kinds else gg.Shape2D.letter(one, RADIUS) for one in names]


def scene_of(name: str, count: int) -> gg.Scene:
    """Grains above the floor of a box about as wide as the height of their pile."""
    width = math.ceil(1.1 * math.sqrt(count))
    scene = gg.Scene(bounds=((0.0, 0.0), (width, 4.0 * width)))
    kinds = [scene.add_material(density=1000.0, friction=0.4, shape=shape) for shape in shapes(name)]
    # a layer of each shape, ten times
    layers = 10 if len(kinds) > 1 else 1
    low = 0.0
    for k in range(layers * len(kinds)):
        share = count // (layers * len(kinds))
        share += 1 if k < count - share * layers * len(kinds) else 0
        high = low + math.ceil(share / math.floor(width / (2.1 * RADIUS)) + 1) * 2.1 * RADIUS
        scene.fill_box(kinds[k % len(kinds)], (0.0, low), (width, high), count=share, seed=k)
        low = high
    return scene


def pile(name: str, count: int, threads: int) -> gg.World:
    """A world with a settled pile."""
    world = scene_of(name, count).build(solver=gg.Solver(iterations=ITERATIONS), num_threads=threads)
    world.step(1e-3, round(SETTLE[len(shapes(name)) > 1] / 1e-3))
    return world


def planar(quick: bool) -> list[Row]:
    """Piles by number, by shape and by threads; dt 1 ms, 20 iterations."""
    cases = [("#", 500, 1), ("#", 2_000, 1), ("octagon", 2_000, 1), ("U", 2_000, 1), ("ten kinds", 2_000, 1)]
    if not quick:
        cases += [("#", TARGET_GRAINS, 1), ("#", TARGET_GRAINS, 2)]
    rows = []
    for shape, count, threads in cases:
        block = max(20, 200_000 // count)
        name = f"{shape}, {count:,} grains, {threads} thread{'s' if threads > 1 else ''}"
        subject = measure.world_subject(
            name, lambda s=shape, c=count, t=threads: pile(s, c, t), block, shape=shape, grains=count
        )
        row = measure.run(subject)
        row["ms_per_step"] = {key: 1e3 * value / block for key, value in row["wall_seconds"].items()}
        row["cpu_ms_per_step"] = {key: 1e3 * value / block for key, value in row["cpu_seconds"].items()}
        rows.append(row)
    return rows


def on_springs(start: gg.World, field: gg.PairField | None, count: int, threads: int) -> gg.World:
    """The grains of a pile of # with the springs of the published method; field None: the default table."""
    scene = scene_of("#", count)
    shape = gg.Shape2D.hash(RADIUS)
    if field is not None:
        scene.set_pair_field(field)
    law = gg.Solver(mode="penalty", stiffness=1000.0 * shape.area * OMEGA**2, damping=DAMPING)
    world = scene.build(solver=law, num_threads=threads)
    world.set_grains(positions=start.positions[0], angles=start.angles[0])
    world.step(SPRINGS_DT, SPRINGS_SETTLE)
    return world


def planar_laws(quick: bool) -> list[Row]:
    """One pile of # on two threads, by law and field. Networks need PyTorch, which trains them once."""
    count, threads = (500 if quick else TARGET_GRAINS), 2
    shape = gg.Shape2D.hash(RADIUS)
    fields: dict[str, gg.PairField | None] = {"springs, cubic table": None}
    if importlib.util.find_spec("torch"):
        for layers, width in NETWORKS:
            fields[f"springs, network {layers} x {width} (paper)"] = gg.PairField.train(
                shape, shape, layers=layers, width=width, folded=False, activation="relu"
            )
    else:
        print("planar_laws: networks are left out, PyTorch is not installed (pip install 'granular_gym[train]')")
    rows = []
    with pile("#", count, threads) as start:
        cases = {"implicit, cubic table": (1e-3, lambda: pile("#", count, threads))}
        for name, field in fields.items():
            cases[name] = (SPRINGS_DT, lambda f=field: on_springs(start, f, count, threads))
        for name, (dt, build) in cases.items():
            block = max(5, 100_000 // count)
            subject = measure.world_subject(name, build, block, dt=dt, law=name, grains=count, threads=threads)
            row = measure.run(subject)
            row["dt"] = dt
            row["ms_per_step"] = {key: 1e3 * value / block for key, value in row["wall_seconds"].items()}
            row["s_per_simulated_s"] = {key: value / (block * dt) for key, value in row["wall_seconds"].items()}
            rows.append(row)
    return rows
