"""Cameras, the differentiable renderer, the engine's pictures of the same particles, the start state from pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.learned import initial, metrics, starts
from granular_gym.learned.cameras import PinholeCamera, around
from granular_gym.learned.data import Dataset, Episode
from granular_gym.learned.make_data import Request, make_data
from granular_gym.learned.pictures import RayCast
from granular_gym.learned.render import Renderer

torch = pytest.importorskip("torch")
torch.set_num_threads(1)
BOUNDS = [[-0.3, -0.3, 0.0], [0.3, 0.3, 0.5]]
RADIUS = 0.025


def some(count: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Particles about the middle of the box and their colours."""
    generator = np.random.default_rng(seed)
    return generator.uniform((-0.1, -0.1, 0.05), (0.1, 0.1, 0.25), (count, 3)), generator.uniform(size=(count, 3))


def fine(camera: PinholeCamera, factor: int) -> PinholeCamera:
    """The same camera with smaller pixels."""
    larger = {name: factor * getattr(camera, name) for name in ("height", "width", "focal")}
    return dataclasses.replace(camera, **larger)


# ---- cameras ----


def test_projection_is_that_of_the_engine() -> None:
    """Where the engine's rays meet lone spheres is where their centres project to, and back."""
    points, _ = some(5)
    for camera in around(BOUNDS, 3, 64):
        again = PinholeCamera.of(camera.depth_camera())
        np.testing.assert_allclose(again.world_to_camera, camera.world_to_camera, atol=1e-6)
        assert again.focal == pytest.approx(camera.focal)
        image, depth = camera.project(points)
        for point, (column, row), away in zip(points, image, depth, strict=True):
            eyes = RayCast([fine(camera, 4)], 0.01, np.full((1, 3), 200, np.uint8), 1)
            _, deep = eyes(point[None, None])
            eyes.close()
            rows, columns = np.nonzero(deep[0, 0] < camera.far)
            assert abs((columns + 0.5).mean() / 4 - column) < 0.1 and abs((rows + 0.5).mean() / 4 - row) < 0.1
            assert deep.min() == pytest.approx(away - 0.01, abs=2e-3)
    plane = np.full((64, 64), 0.7)
    back, depth = camera.project(camera.unproject(plane))
    np.testing.assert_allclose(depth, 0.7, atol=1e-9)
    np.testing.assert_allclose(back[5, 9], (9.5, 5.5), atol=1e-5)


def test_calibration_that_is_none() -> None:
    camera = around(BOUNDS, 1, 16)[0]
    values = camera.to_json()
    assert PinholeCamera.from_json("x", values).to_json() == values
    for change, said in (
        ({"focal": 0.0}, "focal: expected a finite number > 0"),
        ({"world_to_camera": np.zeros((4, 4)).tolist()}, "world_to_camera: expected a rigid motion"),
        ({"world_to_camera": [[1.0]]}, r"world_to_camera: expected shape \(4, 4\)"),
        ({"far": 0.01}, "far: expected more than near"),
    ):
        with pytest.raises(gg.DatasetError, match=f"^eye: {said}"):
            PinholeCamera.from_json("eye", {**values, **change})
    del values["focal"]
    for value in (values, None, 3):
        with pytest.raises(gg.DatasetError, match="^eye: expected the calibration"):
            PinholeCamera.from_json("eye", value)


# ---- the renderer ----


def test_gradients_beside_differences() -> None:
    """d(weighted sum of all pictures)/d(positions, colours), relative to their largest, by central differences."""
    points, tints = some(12)
    renderer = Renderer(around(BOUNDS, 2, 16), RADIUS)
    place = torch.tensor(points, dtype=torch.float64, requires_grad=True)
    paint = torch.tensor(tints, dtype=torch.float64, requires_grad=True)
    generator = torch.Generator().manual_seed(0)
    weights = [torch.rand(x.shape, generator=generator, dtype=torch.float64) for x in renderer(place, paint)]

    def total(p, c):
        return sum((weight * image).sum() for weight, image in zip(weights, renderer(p, c), strict=True))

    total(place, paint).backward()
    for variable, step in ((place, 1e-6), (paint, 1e-5)):
        found = variable.grad.reshape(-1)
        wanted = torch.zeros_like(found)
        for k in range(len(found)):
            shift = torch.zeros_like(found)
            shift[k] = step
            shift = shift.reshape(variable.shape)
            with torch.no_grad():
                ends = [
                    total(place + s * shift, paint) if variable is place else total(place, paint + s * shift)
                    for s in (1, -1)
                ]
            wanted[k] = (ends[0] - ends[1]) / (2 * step)
        assert wanted.abs().max() > 1e-3
        assert (found - wanted).abs().max() < 1e-3 * wanted.abs().max()


def test_coverage_is_that_of_spheres(measured) -> None:
    """The splat's share of each pixel beside spheres drawn with 64 rays a pixel; its depth beside theirs."""
    points, tints = some(60)
    cameras = around(BOUNDS, 4, 32)
    picture = Renderer(cameras, RADIUS)(torch.tensor(points, dtype=torch.float32), torch.tensor(tints))
    eyes = RayCast([fine(each, 8) for each in cameras], RADIUS, (tints * 255).astype(np.uint8), 1)
    _, deep = eyes(points[None])
    eyes.close()
    blocks = deep[0].reshape(4, 32, 8, 32, 8).swapaxes(2, 3).reshape(4, 32, 32, 64)
    far = cameras[0].far
    cover = (blocks < far).mean(axis=-1)
    error = np.sqrt(((picture.alpha.numpy() - cover) ** 2).mean())
    whole = cover == 1.0
    depth_error = np.abs(picture.depth.numpy() - blocks.mean(axis=-1))[whole].mean()
    measured(coverage_rms=error, covered=cover.mean(), depth_error=depth_error)
    assert cover.mean() > 0.05 and error < 0.04
    # half covered pixels next to them pull the depth towards the background; a grain is .05 m
    assert whole.sum() > 100 and depth_error < 0.05


def test_occlusion_is_soft_and_in_order() -> None:
    """Of two grains on a line of sight the nearer one tints the pixel, the more so the further they are apart."""
    camera = around(BOUNDS, 1, 33)[0]
    renderer = Renderer([camera], RADIUS)
    forward = camera.world_to_camera[2, :3]
    middle = np.array([0.0, 0.0, 0.1125])
    tints = torch.tensor([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]], dtype=torch.float64)
    shares = []
    for gap in (0.5, 2.0, 8.0):
        points = torch.tensor(np.stack([middle, middle + gap * RADIUS * forward]))
        image, _, alpha = renderer(points, tints)
        column, row = (int(x) for x in camera.project(middle)[0])
        assert alpha[0, row, column] > 0.9
        red, _, blue = image[0, row, column].tolist()
        shares.append((blue - red) / (blue + red))
    assert shares[0] > shares[1] > shares[2] and shares[1] < -0.3


def test_batches_types_and_what_is_behind_the_camera() -> None:
    points, tints = some(20)
    cameras = around(BOUNDS, 2, 24)
    renderer = Renderer(cameras, RADIUS, background=(0.0, 1.0, 0.0))
    stack = torch.tensor(np.stack([points, points + 0.05, points[::-1]]), dtype=torch.float32).reshape(3, 1, 20, 3)
    color, depth, alpha = renderer(stack, torch.tensor(tints, dtype=torch.float32))
    assert color.shape == (3, 1, 2, 24, 24, 3) and depth.shape == alpha.shape == (3, 1, 2, 24, 24)
    one = renderer(stack[1, 0], torch.tensor(tints, dtype=torch.float32))
    assert torch.allclose(color[1, 0], one.color, atol=1e-6) and torch.allclose(depth[1, 0], one.depth, atol=1e-5)
    # the order of particles means nothing
    again = renderer(stack[2, 0], torch.tensor(tints[::-1].copy(), dtype=torch.float32))
    assert torch.allclose(color[0, 0], again.color, atol=1e-5)
    assert torch.equal(color[0, 0, 0, 0, 0], torch.tensor([0.0, 1.0, 0.0])) and depth[0, 0, 0, 0, 0] == cameras[0].far
    # a particle behind a camera is not seen, and has a gradient of 0, not of nan
    behind = torch.tensor(2.0 * cameras[0].position[None], dtype=torch.float64, requires_grad=True)
    image = Renderer(cameras[:1], RADIUS)(behind, torch.tensor([[1.0, 0.0, 0.0]], dtype=torch.float64))
    (image.color.sum() + image.depth.sum()).backward()
    assert float(image.alpha.detach().max()) == 0.0 and torch.equal(behind.grad, torch.zeros_like(behind.grad))


def test_a_fit_finds_a_shift() -> None:
    """Descent on pictures alone brings particles back that were moved by a radius."""
    points, tints = some(10, 3)
    renderer, paint = Renderer(around(BOUNDS, 2, 20), RADIUS), torch.tensor(tints)
    true = torch.tensor(points)
    wanted = renderer(true, paint)
    shift = torch.tensor([0.025, -0.02, 0.02], dtype=torch.float64, requires_grad=True)
    descent = torch.optim.Adam([shift], 3e-3)
    for _ in range(40):
        descent.zero_grad()
        loss = ((renderer(true + shift, paint).color - wanted.color) ** 2).mean()
        loss.backward()
        descent.step()
    assert float(shift.detach().norm()) < 0.004


def test_what_a_renderer_refuses() -> None:
    cameras = around(BOUNDS, 2, 16)
    with pytest.raises(gg.ArgumentError, match="cameras: expected some of one size"):
        Renderer([], RADIUS)
    with pytest.raises(gg.ArgumentError, match="cameras: expected some of one size"):
        Renderer([cameras[0], fine(cameras[1], 2)], RADIUS)
    with pytest.raises(gg.ArgumentError, match="radius: expected"):
        Renderer(cameras, 0.0)
    with pytest.raises(gg.ArgumentError, match=r"positions, colors: expected shapes .* got \(3, 3\) and \(2, 3\)"):
        Renderer(cameras, RADIUS)(torch.zeros(3, 3), torch.zeros(2, 3))


# ---- the start state ----


@pytest.fixture(scope="module")
def sand(tmp_path_factory: pytest.TempPathFactory) -> Dataset:
    """Two episodes of SandFall as the small size has them."""
    folder: Path = tmp_path_factory.mktemp("sand") / "data"
    return make_data(Request("SandFall", "small", train=2, test=0, seed=5), folder)


def guesses(episode: Episode) -> tuple[list[initial.PartGuess], np.ndarray]:
    parts = (episode.kinds != 0).astype(np.int32)
    return initial.parts_of(episode.colors, parts), parts


def test_start_from_pictures(sand: Dataset, measured) -> None:
    for episode in sand.train:
        known, parts = guesses(episode)
        frames = episode.color[:3], episode.depth[:3]
        found = initial.start_state(*frames, sand.cameras, sand.bounds, sand.radius, sand.dt, known)
        assert np.array_equal(np.bincount(found.parts), np.bincount(parts))
        diameter = 2.0 * sand.radius
        for part in range(2):
            place, true = found.positions[found.parts == part], episode.positions[0][parts == part]
            error = metrics.chamfer(place, true) / diameter
            shift = np.linalg.norm(place.mean(axis=0) - true.mean(axis=0)) / diameter
            speed = np.linalg.norm(
                found.velocities[found.parts == part][0] - episode.velocities[1][parts == part].mean(axis=0)
            )
            measured(chamfer_in_diameters=error, shift_in_diameters=shift, velocity_error=speed)
            assert error < 0.45 and shift < 0.35 and speed < 0.3
        again = initial.start_state(*frames, sand.cameras, sand.bounds, sand.radius, sand.dt, known)
        assert np.array_equal(again.positions, found.positions)


def test_an_episode_as_pictures_show_it(sand: Dataset) -> None:
    """As many grains of each body as there are, bonded to their neighbours, and nothing of later frames."""
    for scene in (sand, dataclasses.replace(sand, train=[tracks_lost(each) for each in sand.train])):
        episode = scene.train[0]
        found = starts.from_pictures(scene, episode, "camera", None)
        for name in ("kinds", "bodies"):
            assert sorted(getattr(found, name)) == sorted(getattr(episode, name)), name
        assert np.isfinite(found.positions[0]).all() and np.isnan(found.positions[1:]).all()
        ends = found.bodies[found.bonds]
        assert len(found.bonds) > found.bodies.max() and (ends[:, 0] == ends[:, 1]).all() and (ends >= 0).all()
        one, two = (found.positions[0][found.bonds[:, k]] for k in (0, 1))
        assert np.allclose(np.linalg.norm(two - one, axis=1), found.rest_lengths, rtol=1e-5)


def tracks_lost(episode: Episode) -> Episode:
    """Without any place of any grain."""
    nothing = np.full_like(episode.positions, np.nan)
    return dataclasses.replace(episode, positions=nothing, velocities=nothing)


def test_what_a_start_refuses(sand: Dataset) -> None:
    episode = sand.train[0]
    known, _ = guesses(episode)
    rest = sand.cameras, sand.bounds, sand.radius, sand.dt
    with pytest.raises(gg.ArgumentError, match="depth: expected shape"):
        initial.start_state(episode.color[:3], episode.depth[:2], *rest, known)
    with pytest.raises(gg.ArgumentError, match="color: expected shape"):
        initial.start_state(episode.color[:3, :, 1:], episode.depth[:3], *rest, known)
    with pytest.raises(gg.ArgumentError, match="cameras, parts: expected"):
        initial.start_state(episode.color[:3], episode.depth[:3], *rest, [])
    with pytest.raises(gg.ArgumentError, match="parts: expected part 2 in the pictures"):
        initial.start_state(
            episode.color[:3], episode.depth[:3], *rest, [*known, initial.PartGuess(3, (0.0, 1.0, 0.0))]
        )
