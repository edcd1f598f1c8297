"""growth.py: cost by numbers of grains, layers, tools, mesh triangles and envs."""

from __future__ import annotations

import time

import numpy as np

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from testbed import standard

BYTES_PER_GRAIN_LIMIT = 1000.0


def scaling(quick: bool) -> list[Row]:
    """All tables."""
    return [*grains(quick), *depths(quick), *tools(quick), *triangles(quick), *envs(quick)]


def _per_substep(row: Row, substeps: int, axis: str, value: int) -> Row:
    row.update({"axis": axis, axis: value, "ms_per_substep": 1e3 * row["cpu_seconds"]["median"] / substeps})
    return row


def _settled(scene: gg.Scene, env_count: int = 1, threads: int = 1) -> gg.World:
    """A world of tiled beds after its impulses have built up."""
    world = scene.build(env_count=env_count, num_threads=threads)
    world.step(standard.DT, 60)
    return world


def grains(quick: bool) -> list[Row]:
    """Beds of equal depth and growing area, the smallest of fewer layers, one thread."""
    rows = []
    areas = [(1, 1), (2, 1), (3, 3)] if quick else [(1, 1), (2, 1), (3, 3), (5, 5), (10, 8), (13, 13), (29, 29)]
    for tiles, layers in [((1, 1), 5), *((tiles, 12) for tiles in areas)]:
        scene = standard.wide_bed(tiles, layers)
        count = scene.grain_count
        substeps = max(4, 400_000 // count)
        subject = measure.world_subject(f"{count} grains", lambda s=scene: _settled(s), substeps)
        row = _per_substep(measure.run(subject), substeps, "grains", count)
        row["us_per_grain_substep"] = 1e3 * row["ms_per_substep"] / count
        rows.append(row)
    return rows


def depths(quick: bool) -> list[Row]:
    """Beds of 6,000 grains, few layers and wide or many layers, one thread."""
    rows = []
    for layers, tiles in (
        [(5, (4, 3)), (60, (1, 1))] if quick else [(5, (4, 3)), (12, (5, 1)), (30, (2, 1)), (60, (1, 1))]
    ):
        scene = standard.wide_bed(tiles, layers)
        subject = measure.world_subject(f"{layers} layers", lambda s=scene: _settled(s), 80)
        row = _per_substep(measure.run(subject), 80, "layers", layers)
        row["us_per_grain_substep"] = 1e3 * row["ms_per_substep"] / scene.grain_count
        rows.append(row)
    return rows


def _bed_with(count: int, tool: gg.Sdf) -> tuple[gg.World, np.ndarray]:
    """A bed of about 5,000 grains with `count` tools above it, and poses of the tools inside the bed."""
    scene = standard.wide_bed((2, 2))
    grid = int(np.ceil(np.sqrt(count)))
    side = 20 * standard.DIAMETER
    top = 13 * standard.DIAMETER
    poses = np.zeros((count, 7), np.float32)
    for k in range(count):
        x = (k % grid + 0.5) / grid * side - 0.25 * side
        y = (k // grid + 0.5) / grid * side - 0.25 * side
        poses[k] = (x, y, top + 4 * standard.DIAMETER, 1.0, 0.0, 0.0, 0.0)
        scene.add_tool(tool, name=f"tool {k}", pose=tuple(poses[k]))
    dipped = poses.copy()
    dipped[:, 2] = top
    return scene.build(num_threads=1), dipped


def _dipped(count: int, tool: gg.Sdf) -> gg.World:
    world, poses = _bed_with(count, tool)
    world.step(standard.DT, 100, poses)
    return world


def tools(quick: bool) -> list[Row]:
    """Small boxes in the top of a bed."""
    rows = []
    tool = gg.Sdf.box((0.006, 0.006, 0.02))
    for count in [1, 8, 32] if quick else [1, 2, 4, 8, 16, 32]:
        subject = measure.world_subject(f"{count} tools", lambda n=count: _dipped(n, tool), 80)
        rows.append(_per_substep(measure.run(subject), 80, "tools", count))
    return rows


def triangles(quick: bool) -> list[Row]:
    """One box, its faces divided into more and more triangles."""
    rows = []
    for cuts in [3, 29] if quick else [3, 10, 29, 92]:
        mesh = standard.box_mesh((0.04, 0.02, 0.03), cuts)
        count = len(mesh.faces)
        start = time.process_time()
        tool = gg.Sdf.from_mesh(mesh, spacing=0.8 * standard.RADIUS, cache=False, num_threads=1)
        made = time.process_time() - start
        subject = measure.world_subject(f"{count} triangles", lambda t=tool: _dipped(1, t), 80)
        row = _per_substep(measure.run(subject), 80, "triangles", count)
        row["grid_seconds"] = made
        rows.append(row)
    return rows


def envs(quick: bool) -> list[Row]:
    """Envs with a bed of 1,200 grains, on one thread and on all."""
    rows = []
    scene = standard.wide_bed((1, 1))
    most = gg.info()["threads"]
    for count in [1, 8, 64] if quick else [1, 2, 4, 8, 16, 32, 64]:
        for threads in sorted({1, most}):
            substeps = max(3, 192 // count)
            subject = measure.world_subject(
                f"{count} envs, {threads} threads",
                lambda n=count, t=threads: _settled(scene, n, t),
                substeps,
            )
            row = _per_substep(measure.run(subject), substeps, "envs", count)
            row["wall_ms_per_env_substep"] = 1e3 * row["wall_seconds"]["median"] / substeps / count
            rows.append(row)
    return rows
