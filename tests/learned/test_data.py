"""Scenes, the true law, datasets on disk: what they hold, the bits of a seed, what is refused."""

from __future__ import annotations

import dataclasses
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import granular_gym as gg
from granular_gym.learned import data, generate, scenes
from granular_gym.learned.__main__ import main
from granular_gym.learned.data import Dataset
from granular_gym.learned.law import ELASTIC, KINDS, PLASTIC, RIGID, SAND, WALL, Bonds, GrainLaw
from granular_gym.learned.layouts import Layout, shaped, swapped
from granular_gym.learned.make_data import Request, make_data
from granular_gym.learned.show import sheet

LAW = GrainLaw()
R = scenes.RADIUS


def moved(
    name: str, size: str = "tiny", episodes: int = 2, frames: int | None = None
) -> tuple[list[Layout], np.ndarray, np.ndarray]:
    """Layouts of a scene and positions and velocities (T+1, episodes, n, 3) of its grains."""
    scene, wanted = scenes.SCENES[name], scenes.size(size)
    layouts = [scenes.layout(scene, wanted, 1.0, 0, number) for number in range(episodes)]
    with generate.build(layouts, LAW, R, scenes.box(scene, wanted, 1.0), scene.gravity, [], num_threads=1) as world:
        steps = generate.frames(world, layouts, wanted.frames if frames is None else frames, scene.dt)
        tracks = [(np.array(world.positions), np.array(world.velocities)) for _ in steps]
    return layouts, np.stack([each[0] for each in tracks]), np.stack([each[1] for each in tracks])


def masses(kinds: np.ndarray) -> np.ndarray:
    return np.array([kind.density for kind in KINDS])[kinds] * (4.0 / 3.0 * np.pi * R**3)


# ---- the law ----


def test_the_true_law_moves_pairs_and_grains_on_the_floor(measured) -> None:
    """The change of velocity over a frame is the stated force over it: free pairs, bonded pairs, impacts on a wall."""
    layouts, positions, velocities = moved("Pairs", "medium", 1, 40)
    kinds, bonds = layouts[0].kinds, layouts[0].bonds
    mass, dt = masses(kinds), scenes.SCENES["Pairs"].dt
    lone = np.ones(len(kinds), bool)
    bonded = {int(a): int(b) for a, b in bonds}
    sand = np.flatnonzero(kinds == SAND)
    free = {
        a: a + 1
        for a in sand[:-1]
        if np.linalg.norm(positions[0, 0, a] - positions[0, 0, a + 1]) < 2.7 * R and a not in bonded
    }
    found: dict[str, list[tuple[np.ndarray, np.ndarray]]] = {"free": [], "bonded": [], "floor": []}
    cases = [("free", a, b) for a, b in free.items()] + [("bonded", a, b) for a, b in bonded.items()]
    for _, a, b in cases:
        lone[[a, b]] = False
    cases += [("floor", a, None) for a in np.flatnonzero(lone)]
    assert {name: sum(case[0] == name for case in cases) for name in found} == {"free": 21, "bonded": 16, "floor": 22}
    place, motion = positions[:, 0].astype(np.float64), velocities[:, 0].astype(np.float64)
    for name, a, b in cases:
        if b is None:
            normal = np.broadcast_to(np.array([0.0, 0.0, 1.0]), place[:, a].shape)
            gap, relative = place[:, a, 2] - R, motion[:, a]
            force = LAW.pair_law(SAND, WALL)
        else:
            offset = place[:, a] - place[:, b]
            length = np.linalg.norm(offset, axis=-1)
            normal, gap, relative = offset / length[:, None], length - 2 * R, motion[:, a] - motion[:, b]
            force = LAW.pair_law(int(kinds[a]), int(kinds[b]), bonded=name == "bonded")
        speed = (relative * normal).sum(axis=-1)
        slide = relative - speed[:, None] * normal
        slip = np.linalg.norm(slide, axis=-1)
        elastic, dissipative, tangential = force(gap, speed, slip)
        total = (elastic + dissipative)[:, None] * normal - (tangential / np.maximum(slip, 1e-12))[:, None] * slide
        # the trapezoidal rule over a frame
        impulse = 0.5 * dt * (total[1:] + total[:-1])
        found[name].append((mass[a] * np.diff(motion[:, a], axis=0), impulse))
    for name, each in found.items():
        change, wanted = (np.concatenate([pair[k] for pair in each]) for k in (0, 1))
        error = 1.0 - ((change - wanted) ** 2).sum() / (change**2).sum()
        measured(**{f"r2_{name}": error})
        assert np.abs(change).max() > 1e-3 and error > 0.995, name


def test_pair_laws() -> None:
    free = LAW.pair_law(SAND, SAND)
    gaps = np.array([0.001, 0.0, -0.002, -0.004])
    elastic, dissipative, tangential = free(gaps, np.full(4, -0.5), np.full(4, 10.0))
    np.testing.assert_allclose(elastic, LAW.stiffness * np.array([0, 0, 0.002, 0.004]) ** 1.5)
    np.testing.assert_allclose(dissipative, 0.5 * LAW.damping * np.sqrt([0, 0, 0.002, 0.004]))
    np.testing.assert_allclose(tangential, LAW.friction * (elastic + dissipative))
    np.testing.assert_allclose(free(-0.004, 0.0, 1e-3)[2], LAW.sliding * 1e-3)
    # a bond pulls where it is long, adds to the contact where it is short
    bond = LAW.pair_law(ELASTIC, ELASTIC, bonded=True, rest_gap=0.001)
    assert bond(0.003, 0.0, 0.0)[0] == pytest.approx(-KINDS[ELASTIC].stiffness * 0.002)
    assert bond(-0.001, 0.0, 0.0)[0] == pytest.approx(KINDS[ELASTIC].stiffness * 0.002 + LAW.stiffness * 0.001**1.5)
    for wrong in ((SAND, SAND, True), (ELASTIC, PLASTIC, True), (ELASTIC, WALL, True), (4, 0), (0, -2)):
        with pytest.raises(gg.ArgumentError, match=r"^(bonded|kind_a|kind_b): expected"):
            LAW.pair_law(*wrong)
    with pytest.raises(gg.ArgumentError, match="^friction: expected"):
        GrainLaw(friction=-0.1)


def test_bonds_keep_momentum_and_know_their_world() -> None:
    generator = np.random.default_rng(0)
    points, motion = generator.normal(size=(2, 6, 3)), generator.normal(size=(2, 6, 3))
    pairs = [np.array([[0, 1], [1, 2], [0, 5]], np.int32), np.array([[3, 4]], np.int32)]
    rest = [np.full(len(each), 0.7, np.float32) for each in pairs]
    kinds = np.full(6, ELASTIC, np.int8)
    both = Bonds(pairs, rest, kinds).forces(points, motion)
    np.testing.assert_allclose(both.sum(axis=1), 0.0, atol=1e-9)
    for world in range(2):
        one = Bonds(pairs[world : world + 1], rest[world : world + 1], kinds).forces(
            points[world : world + 1], motion[world : world + 1]
        )
        assert np.array_equal(one[0], both[world])
    assert not both[1, [0, 1, 2, 5]].any() and both[0, 0].any()


def test_plastic_bonds_follow_beyond_their_yield() -> None:
    pair, still = [np.array([[0, 1]], np.int32)], np.zeros((1, 2, 3))

    def pull(bonds: Bonds, length: float) -> float:
        points = np.array([[[0.0, 0.0, 0.0], [length, 0.0, 0.0]]])
        return float(bonds.forces(points, still)[0, 0, 0])

    for kind in (PLASTIC, ELASTIC, RIGID):
        bonds = Bonds(pair, [np.ones(1, np.float32)], np.full(2, kind, np.int8))
        small, large, back = pull(bonds, 1.03), pull(bonds, 1.3), pull(bonds, 1.03)
        assert small == pytest.approx(KINDS[kind].stiffness * 0.03, rel=1e-5)
        if kind == PLASTIC:
            rest = 1.3 / (1.0 + KINDS[kind].flow)
            assert large == pytest.approx(KINDS[kind].stiffness * (1.3 - rest), rel=1e-5)
            # pressed back, it has yielded the other way, too
            assert back == pytest.approx(KINDS[kind].stiffness * (1.03 - 1.03 / (1.0 - KINDS[kind].flow)), rel=1e-5)
        else:
            assert back == small and large == pytest.approx(KINDS[kind].stiffness * 0.3, rel=1e-5)


# ---- scenes ----


@pytest.mark.parametrize("name", list(scenes.SCENES))
@pytest.mark.parametrize("size", ["tiny", "small"])
def test_every_scene_starts_free_of_overlap_and_stays_in_its_box(name: str, size: str) -> None:
    layouts, positions, velocities = moved(name, size, 2, 8)
    lower, upper = scenes.box(scenes.SCENES[name], scenes.size(size), 1.0)
    assert np.isfinite(positions).all() and np.abs(velocities).max() < 4.0
    assert (positions > lower).all() and (positions < upper).all()
    assert np.abs(positions[-1] - positions[0]).max() > 0.2 * R, "something moves"
    for each in layouts:
        assert len(each.positions) == len(layouts[0].positions)
        offset = each.positions[:, None] - each.positions[None]
        distance = np.sqrt((offset**2).sum(axis=-1)) + np.eye(len(offset))
        assert distance.min() > (1.8 if name == "Pairs" else 1.99) * R
        assert (each.bodies[each.bonds[:, 0]] == each.bodies[each.bonds[:, 1]]).all()
        assert (each.kinds[each.bonds] != SAND).all() and ((each.bodies < 0) == (each.kinds == SAND)).all()
    assert not np.array_equal(layouts[0].positions, layouts[1].positions)


def test_what_scenes_hold() -> None:
    kinds = {
        name: set(scenes.layout(each, scenes.size("small"), 1.0, 0, 0).kinds.tolist())
        for name, each in scenes.SCENES.items()
    }
    assert kinds == {
        "SandFall": {SAND, ELASTIC},
        "Plasticine": {PLASTIC, ELASTIC},
        "MultiObjs": {SAND, ELASTIC, RIGID},
        "Swap": {ELASTIC},
        "Pairs": {SAND, ELASTIC},
    }
    medium = scenes.layout(scenes.SCENES["SandFall"], scenes.size("medium"), 1.0, 0, 0)
    assert (medium.kinds == SAND).sum() == 256 and (medium.kinds == ELASTIC).sum() == 128
    large = scenes.layout(scenes.SCENES["SandFall"], scenes.size("small", 4.0), 2.0, 0, 0)
    assert len(large.kinds) == 4 * 96 and large.positions[:, 2].max() > scenes.RADIUS


@pytest.mark.parametrize("shape", ["ball", "cuboid", "cylinder", "blob", "ring"])
def test_shapes_have_as_many_grains_as_asked_for(shape: str) -> None:
    for count in (12, 77, 256):
        points = shaped(shape, count, R, scenes.Draws(0, count))
        assert points.shape == (count, 3) and len(np.unique(points.round(6), axis=0)) == count
        assert np.abs(points.mean(axis=0)).max() < 2.5 * R


def test_the_swap_starts_as_sand_does_and_holds_together(measured) -> None:
    """The same grains at the same places; the change of distance of neighbours at the end, as sand and as a body."""
    sand, as_sand, _ = moved("SandFall", "small", 2)
    body, as_body, _ = moved("Swap", "small", 2)
    changes = []
    for number in range(2):
        assert np.array_equal(sand[number].positions, body[number].positions)
        assert np.array_equal(swapped(sand[number], ELASTIC, R).bonds, body[number].bonds)
        bonds = body[number].bonds[body[number].groups[body[number].bonds[:, 0]] == 0]
        lengths = [
            np.linalg.norm(x[:, bonds[:, 0]] - x[:, bonds[:, 1]], axis=-1)
            for x in (as_sand[[0, -1], number], as_body[[0, -1], number])
        ]
        changes.append([np.abs(each[1] / each[0] - 1.0).mean() for each in lengths])
    measured(sand=np.mean(changes, axis=0)[0], body=np.mean(changes, axis=0)[1])
    assert np.min(changes, axis=0)[0] > 0.3 and np.max(changes, axis=0)[1] < 0.06


# ---- datasets ----


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("torch")
    folder = tmp_path_factory.mktemp("learned") / "data"
    make_data(Request("MultiObjs", "tiny", train=2, test=1, seed=3), folder)
    return folder


def test_a_dataset_and_its_pictures(made: Path) -> None:
    loaded = Dataset.load(made)
    assert (loaded.scene, len(loaded.train), len(loaded.test), loaded.dt, loaded.radius) == ("MultiObjs", 2, 1, 0.01, R)
    assert loaded.law == LAW and loaded.made["seed"] == 3 and "2 + 1 episodes of 5 frames" in loaded.describe()
    episode = loaded.train[0]
    assert episode.positions.shape == (5, 24, 3) and episode.color.shape == (5, 4, 16, 16, 3)
    far = loaded.cameras[0].far
    for color, depth in ((episode.color, episode.depth), (episode.splat_color, episode.splat_depth)):
        assert 0.01 < (depth < 0.98 * far).mean() < 0.5 and depth.max() <= far and np.ptp(color) > 60
    # of the same particles, yet not the same pictures
    difference = np.abs(episode.color.astype(int) - episode.splat_color)
    assert 1.0 < difference.mean() < 25.0
    assert not np.array_equal(loaded.train[0].positions, loaded.train[1].positions)
    assert not np.array_equal(loaded.train[0].positions, loaded.test[0].positions)
    assert len(loaded.train[:]) == 2 and len(list(loaded.test)) == 1


def test_a_seed_has_its_bits_however_many_episodes_are_made(made: Path, tmp_path: Path) -> None:
    again = tmp_path / "again"
    make_data(Request("MultiObjs", "tiny", train=2, test=1, seed=3), again)
    for path in made.iterdir():
        assert path.read_bytes() == (again / path.name).read_bytes(), path.name
    fewer, other = tmp_path / "fewer", tmp_path / "other"
    make_data(Request("MultiObjs", "tiny", train=1, test=1, seed=3), fewer)
    make_data(Request("MultiObjs", "tiny", train=1, test=0, seed=4), other)
    for name in ("train_0000.npz", "test_0000.npz"):
        assert (fewer / name).read_bytes() == (made / name).read_bytes()
    assert not np.array_equal(Dataset.load(other).train[0].positions, Dataset.load(made).train[0].positions)


def test_saved_and_loaded(made: Path, tmp_path: Path) -> None:
    loaded = Dataset.load(made)
    copy = dataclasses.replace(loaded, train=list(loaded.train), test=[], law=None)
    copy.save(tmp_path / "copy")
    back = Dataset.load(tmp_path / "copy")
    assert back.law is None and len(back.test) == 0
    for name in data.LAYOUT:
        assert np.array_equal(getattr(back.train[1], name), getattr(loaded.train[1], name))
    with pytest.raises(gg.ArgumentError, match="out: expected a folder that is not there yet"):
        copy.save(tmp_path / "copy")


def episode_with(made: Path, **changes: object) -> data.Episode:
    loaded = Dataset.load(made)
    arrays = {name: getattr(loaded.train[0], name) for name in data.LAYOUT}
    arrays.update(changes)
    return data.check_episode("this", {k: v for k, v in arrays.items() if v is not None}, loaded.cameras)


@pytest.mark.parametrize(
    ("name", "change", "said"),
    [
        ("color", lambda x: x[:, :, :8], r"color: expected uint8 \(5, 4, 16, 16, 3\), got uint8 \(5, 4, 8, 16, 3\)"),
        ("depth", lambda x: x[:, :3], r"depth: expected float32 \(5, 4, 16, 16\)"),
        ("velocities", lambda x: x[:-1], r"velocities: expected float32 \(5, 24, 3\)"),
        ("positions", lambda x: x.astype(np.float64), r"positions: expected float32 \(5, 24, 3\), got float64"),
        ("positions", lambda x: x * np.float32(np.nan), "positions: expected finite numbers, got 360 others"),
        ("kinds", lambda x: x + np.int8(9), "kinds: expected 0 .. 3"),
        ("bonds", lambda x: x + np.int32(24), "bonds: expected 0 .. 23"),
        ("bodies", lambda x: None, "expected the arrays"),
    ],
)
def test_episodes_that_do_not_fit(made: Path, name: str, change, said: str) -> None:
    with pytest.raises(gg.DatasetError, match=f"^this: {said}"):
        episode_with(made, **{name: change(getattr(Dataset.load(made).train[0], name))})


def copied(made: Path, folder: Path) -> Path:
    folder.mkdir()
    for path in made.iterdir():
        (folder / path.name).write_bytes(path.read_bytes())
    return folder


def test_damaged_folders(made: Path, tmp_path: Path) -> None:
    folder = copied(made, tmp_path / "a")
    file = folder / "train_0001.npz"
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(gg.DatasetError, match=r"train_0001.npz: expected an .npz file, got \d+ bytes"):
        Dataset.load(folder)
    # a byte of compressed data that changed
    changed = bytearray(whole)
    changed[len(whole) // 3] ^= 0xFF
    file.write_bytes(bytes(changed))
    with pytest.raises(gg.DatasetError, match="train_0001.npz: expected an episode, the file is damaged"):
        Dataset.load(folder).train[1]
    file.unlink()
    with pytest.raises(gg.DatasetError, match="train_0001.npz: expected an episode, there is no such file"):
        Dataset.load(folder)
    file.write_bytes(whole)
    meta = folder / data.META
    good = json.loads(meta.read_text())
    for change, said in (
        ({"version": 2}, "expected version 1, got 2; make the data anew"),
        ({"format": "other"}, "expected the format"),
        ({"cameras": []}, "cameras: expected some of one size"),
        ({"cameras": [{**good["cameras"][0], "focal": None}]}, r"cameras\[0\]: focal: expected a number"),
        ({"cameras": [{"height": 16}]}, r"cameras\[0\]: expected the calibration"),
        ({"cameras": good["cameras"][:2]}, "color: expected"),
        ({"dt": "x"}, "dt: expected"),
        ({"dt": 0}, "dt: expected"),
        ({"law": {"stiff": 1}}, "stiff"),
        ({"train": 5}, "no such file"),
    ):
        meta.write_text(json.dumps({**good, **change}))
        with pytest.raises(gg.DatasetError, match=said):
            Dataset.load(folder).train[0]
    for text in ("", "[]", '{"format"'):
        meta.write_text(text)
        with pytest.raises(gg.DatasetError, match="meta.json: expected the"):
            Dataset.load(folder)
    with pytest.raises(gg.DatasetError, match="expected the description of a dataset"):
        Dataset.load(tmp_path / "nothing")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["SandFal"], "did you mean 'SandFall'"),
        (["SandFall", "--size", "smal"], "did you mean 'small'"),
        (["SandFall", "--train", "-1"], "train: expected"),
        (["SandFall", "--train", "0", "--test", "0"], "train, test: expected at least one episode"),
        (["SandFall", "--scale", "100"], "scale: expected"),
        (["SandFall", "--size", "tiny", "--scale", "0.5"], "scale: expected at least 8 grains of each, got 6 and 6"),
        (["SandFall", "--drop", "0"], "drop: expected"),
        (["SandFall", "--views", "0"], "views: expected"),
        (["SandFall", "--seed", "-3"], "seed: expected"),
    ],
)
def test_wrong_words(words: list[str], said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["make-data", *words, "--out", str(tmp_path / "new")]) == 2
    out, error = capsys.readouterr()
    assert out == "" and len(error.splitlines()) == 1 and said in error
    assert not list(tmp_path.iterdir()), "nothing is written"


def test_the_command_says_sizes_and_overwrites_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch")
    words = ["make-data", "Plasticine", "--size", "tiny", "--train", "1", "--test", "1", "--views", "2", "--out"]
    folder = str(tmp_path / "data")
    assert main([*words, folder]) == 0
    said = capsys.readouterr().err
    assert "1 + 1 episodes of 4 frames" in said and "2 cameras of 16 x 16" in said and "2 of 2 episodes" in said
    before = {path.name: path.read_bytes() for path in Path(folder).iterdir()}
    assert sorted(before) == ["meta.json", "test_0000.npz", "train_0000.npz"]
    assert main([*words, folder]) == 2
    assert "nothing is overwritten" in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in Path(folder).iterdir()} == before
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_an_episode_is_shown(made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    picture = tmp_path / "a.png"
    assert main(["show", str(made), "--columns", "3", "--out", str(picture)]) == 0
    assert "2 + 1 episodes" in capsys.readouterr().out and picture.read_bytes()[:4] == b"\x89PNG"
    assert sheet(Dataset.load(made), "test", 0, 1, 3).shape == (2 * 192, 3 * 192, 3)
    for words, said in (
        ([], "nothing is overwritten"),
        (["--episode", "2", "--out", str(tmp_path / "b.png")], "episode: expected an integer in 0 .. 1, got 2"),
        (["--camera", "4", "--out", str(tmp_path / "b.png")], "camera: expected"),
        (["--columns", "9", "--out", str(tmp_path / "b.png")], "columns: expected"),
        (["--split", "tset", "--out", str(tmp_path / "b.png")], "did you mean 'test'"),
    ):
        assert main(["show", str(made), "--out", str(picture), *words]) == 2
        assert said in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["a.png"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, OSError("disk full")])
def test_a_run_that_is_stopped_leaves_nothing(
    stop: type[BaseException] | BaseException,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("torch")

    def refuse(*_: object) -> None:
        raise stop

    monkeypatch.setattr("granular_gym.learned.make_data.write_episode", refuse)
    words = ["make-data", "Pairs", "--size", "tiny", "--train", "1", "--test", "0", "--out", str(tmp_path / "data")]
    assert main(words) == (130 if stop is KeyboardInterrupt else 2)
    assert not list(tmp_path.iterdir()) and "Traceback" not in capsys.readouterr().err


def test_without_torch_a_command_says_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "torch.py").write_text("raise ModuleNotFoundError('No module named torch', name='torch')")
    path = os.pathsep.join([str(tmp_path), str(Path(gg.__file__).resolve().parents[1])])
    words = [sys.executable, "-m", "granular_gym.learned", "train", "data", "--out", "run"]
    done = subprocess.run(words, env={**os.environ, "PYTHONPATH": path}, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1
    assert "learned simulators need torch: pip install 'granular_gym[learned]'" in done.stderr
