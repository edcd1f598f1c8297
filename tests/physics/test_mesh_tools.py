"""Tools made from meshes: grains meet them at their surface, however fine the SDF grid is and whatever their size."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np
import pytest

import granular_gym as gg
from granular_gym import _core
from granular_gym.envs.bulldozer import BulldozerTask
from granular_gym.envs.excavator import ExcavatorTask
from granular_gym.envs.gear_tower import GearTowerTask
from granular_gym.envs.silo import SiloTask
from granular_gym.tasks.task import Task
from testbed.beds import DENSITY, DT, RADIUS
from testbed.standard import box_mesh

Note = Callable[..., None]
HALF = (5.0 * RADIUS, 5.0 * RADIUS, RADIUS)  # of a plate
SHARES = [1, 2, 3, 4, 5, 8]  # samples per radius


def plate(share: float) -> gg.Sdf:
    """The plate on a grid with so many samples per radius; nothing but the mesh says how far it reaches."""
    return gg.Sdf.from_mesh(box_mesh(HALF, 1), spacing=RADIUS / share, cache=False)


def over(
    solid: gg.Sdf, positions: object, radii: object, *, gravity: float = -9.81, restitution: float = 0.0
) -> gg.Scene:
    """Grains in open space over a solid whose upper face is z = 0."""
    boundary = dict.fromkeys("xyz", "open")
    scene = gg.Scene(((-1, -1, -1), (1, 1, 1)), gravity=(0.0, 0.0, gravity), boundary=boundary)
    grain = scene.add_material(density=DENSITY, restitution=restitution)
    scene.add_grains(grain, positions, radii)
    scene.add_tool(solid, name="plate", pose=(0.0, 0.0, -HALF[2], 1.0, 0.0, 0.0, 0.0))
    return scene


@pytest.mark.parametrize("share", SHARES)
def test_a_ball_rests_on_a_plate_at_one_radius(share: int, backend: str, measured: Note) -> None:
    with over(plate(share), [[0.0, 0.0, 1.45 * RADIUS]], RADIUS).build(device=backend) as world:
        world.step(DT, 400)
        height = float(world.positions[0, 0, 2]) / RADIUS
    measured(radii=height)
    assert height == pytest.approx(1.0, abs=2e-4)


@pytest.mark.parametrize("share", SHARES)
def test_the_largest_grain_decides(share: int) -> None:
    """Grains of radii 1 to 4 rest at their own radius on one plate, which is as fine as the smallest needs."""
    sizes = np.array([1.0, 2.0, 4.0])
    places = np.array([[-4.0, 4.0, 0.0], [-4.0, -3.0, 0.0], [3.0, 0.0, 0.0]]) * RADIUS
    places[:, 2] = 1.2 * sizes * RADIUS
    with over(plate(share), places, sizes * RADIUS).build(num_threads=1) as world:
        world.step(DT, 400)
        np.testing.assert_allclose(world.positions[0, :, 2], sizes * RADIUS, rtol=2e-4)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("tool_speed", [0.0, 0.5])
def test_an_impact_is_not_early(share: int, tool_speed: float, measured: Note) -> None:
    """A ball that moves by half a radius per substep bounces as off the primitive, though it is foreseen from afar.

    The tool moves towards it, by so many radii per substep.
    """
    starts = np.linspace(0.0, 0.5, 8, endpoint=False)
    speed = 0.5 * RADIUS / DT
    paths = []
    for solid in (plate(share), gg.Sdf.box(HALF)):
        scene = over(solid, [[0.0, 0.0, 0.5]], RADIUS, gravity=0.0, restitution=1.0)
        with scene.build(env_count=len(starts), num_threads=1) as world:
            x, v = np.zeros((len(starts), 1, 3)), np.zeros((len(starts), 1, 3))
            x[:, 0, 2], v[:, 0, 2] = RADIUS * (5.0 + starts), -speed
            world.set_grains(positions=x, velocities=v)
            path, pose = [], world.tool_poses
            for _ in range(12):
                pose[:, 0, 2] += tool_speed * RADIUS
                world.step(DT, 1, tool_poses=pose)
                path.append(world.positions[:, 0, 2].astype(np.float64))
        paths.append(np.array(path))
    wrong = np.abs(paths[0] - paths[1]).max() / RADIUS
    measured(radii=wrong)
    assert np.ptp(paths[1]) > 2.0 * RADIUS
    assert wrong < 1e-4


def test_a_ball_at_an_edge_and_a_corner(measured: Note) -> None:
    """Around an edge and a corner contact begins at one radius within the error of interpolation, h^2 / 4 r."""
    spacing = RADIUS / 4
    directions = np.array([[1, 0, 1], [0, 1, 1], [1, 1, 1], [1, -1, 1], [0.3, 0, 1], [1, 0.2, 0.4]], float)
    directions /= np.linalg.norm(directions, axis=1)[:, None]
    corners = np.array(HALF) * np.sign(directions) - (0.0, 0.0, HALF[2])
    heights = np.arange(0.9, 1.2, 0.002)
    count = len(heights)
    scene = over(plate(4), [[0.0, 0.0, 0.5]], RADIUS, gravity=0.0)
    with scene.build(env_count=len(directions) * count, num_threads=1) as world:
        places = corners[:, None] + heights[:, None] * RADIUS * directions[:, None]
        world.set_grains(positions=places.reshape(-1, 1, 3))
        world.step(1e-7, 1)
        touching = [len(world.contacts(env).pairs) > 0 for env in range(world.env_count)]
    # contacts are listed from a gap of 4 percent of a radius on
    last = heights[np.array(touching).reshape(-1, count).sum(axis=1) - 1] - 0.04
    measured(radii=np.abs(last - 1.0).max())
    np.testing.assert_allclose(last, 1.0, atol=0.003 + 0.25 * (spacing / RADIUS) ** 2)


TASKS: list[tuple[type[Task], dict[str, str], set[str]]] = [
    (GearTowerTask, {}, {"gear0"}),
    (BulldozerTask, {}, {"blade", "hull"}),
    (ExcavatorTask, {}, {"bucket"}),
    (SiloTask, {"hopper": "cone"}, {"hopper"}),
]


@pytest.mark.parametrize(
    ("task", "options", "tools", "grain_count"),
    [
        pytest.param(
            *made,
            count,
            id=f"{min(made[2])}-{count}",
            # the finest grids take longest
            marks=pytest.mark.full if count > 500 and made[0] in (GearTowerTask, BulldozerTask) else (),
        )
        for made in TASKS
        for count in (500, 10_000)
    ],
)
def test_tools_of_tasks_are_as_thick_as_their_meshes(
    task: type[Task], options: dict[str, str], tools: set[str], grain_count: int, measured: Note
) -> None:
    """One radius away, fields of tools are within the error of interpolation of the exact distance to the mesh.

    Compared in the middle of cells, where it is largest. Half a spacing too near: where two opposite sides of a slot
    are equally far; near convex edges, less too far.
    """
    made = task(1, grain_count=grain_count, num_threads=1, **options)
    seen, grids, low, high, rms = set(), [], 0.0, 0.0, 0.0
    for tool in made.bed_scene(0).tools:
        for part in tool.sdf.parts:
            if part.grid is None:
                continue
            seen.add("gear0" if tool.name.startswith("gear") else tool.name)
            if any(part.grid is grid for grid in grids):
                continue  # all gears share one
            grids.append(part.grid)
            wide = part.grid.reaching(2.0 * made.radius)
            assert wide.reaches(2.0 * made.radius)
            wrong = middle_errors(wide, made.radius) / wide.spacing
            low, high = min(low, wrong.min()), max(high, wrong.max())
            rms = max(rms, float(np.sqrt(np.mean(wrong**2))))
    measured(low=low, high=high, rms=rms)
    assert seen == tools
    assert low > -0.501 and high < 0.3 and rms < 0.1


def middle_errors(grid: gg.SdfGrid, distance: float) -> np.ndarray:
    """What the interpolant is wrong by in the middle of the cells about so far from the solid [m]."""
    assert grid.sampling is not None
    mesh, s = grid.sampling.mesh, grid.samples
    counts = np.array(s.shape) - 1
    x, y, z = (start + 0.5 * grid.spacing for start in grid.origin)
    exact = _core.mesh_to_grid(mesh.vertices, mesh.faces, grid.spacing, (x, y, z), tuple(counts[::-1].tolist()), 1)
    corners = itertools.product(*((slice(0, n), slice(1, n + 1)) for n in counts.tolist()))
    middle = sum(s[corner].astype(np.float64) for corner in corners) / 8.0
    return (middle - exact)[np.abs(exact - distance) < 0.5 * grid.spacing]
