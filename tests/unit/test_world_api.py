"""A running world: shapes, units, values that are set and read, isolation of envs."""

from __future__ import annotations

import copy
import pickle
import re

import numpy as np
import pytest

import granular_gym as gg

COUNTED = ("escaped", "fast", "contact")


def test_shapes(world):
    envs, grains = 3, world.grain_count
    assert (world.env_count, grains, world.tool_count, world.material_count) == (3, 60, 1, 2)
    world.step(1e-3, 5)
    for name, shape, dtype in (
        ("positions", (envs, grains, 3), np.float32),
        ("velocities", (envs, grains, 3), np.float32),
        ("angular_velocities", (envs, grains, 3), np.float32),
        ("radii", (envs, grains), np.float32),
        ("grain_materials", (envs, grains), np.int32),
        ("tool_poses", (envs, 1, 7), np.float32),
        ("wrenches", (envs, 1, 6), np.float32),
        ("wall_wrenches", (envs, 6, 6), np.float32),
        ("gravity", (envs, 3), np.float32),
    ):
        value = getattr(world, name)
        assert (value.shape, value.dtype) == (shape, dtype), name
        assert value.flags.owndata and value.flags.writeable and np.isfinite(value).all(), name
        # a new array each time: writing to it has no effect
        value[...] = 1
        assert not np.array_equal(getattr(world, name), value) or name == "grain_materials", name
    pairs, densities = world.materials
    assert pairs.shape == (envs, 2, 2, 6) and densities.shape == (envs, 2)
    for value in world.stats.values():
        assert value.shape == (envs,)
    assert world.depth("sky").shape == world.depth(0).shape == world.height_map("sky").shape == (envs, 12, 16)
    assert world.depth("ego").shape == (envs, 8, 8)
    assert world.picture("sky").shape == (12, 16, 3)
    assert world.tool_names == ["ball"] and world.camera_names == ["sky", "ego"]


def test_what_is_set_is_read(world):
    rng = np.random.default_rng(0)
    places = world.positions + rng.uniform(-1e-3, 1e-3, world.positions.shape).astype(np.float32)
    speeds = rng.normal(size=places.shape).astype(np.float32)
    spins = rng.normal(size=places.shape).astype(np.float32)
    world.set_grains(places, speeds, spins)
    assert np.array_equal(world.positions, places)
    assert np.array_equal(world.velocities, speeds)
    np.testing.assert_allclose(world.angular_velocities, spins, rtol=1e-5, atol=1e-6)
    # one env, from a float64 strided view, and one pattern for several envs
    wide = np.zeros((60, 6))
    wide[:, ::2] = places[0]
    world.set_grains(velocities=wide[:, ::2], envs=1)
    np.testing.assert_array_equal(world.velocities[1], places[0])
    assert np.array_equal(world.velocities[[0, 2]], speeds[[0, 2]])
    world.set_grains(velocities=np.zeros((60, 3)), envs=[True, False, True])
    assert not world.velocities[[0, 2]].any() and world.velocities[1].any()


def test_parameters_per_env(world):
    world.set_gravity((0, 0, 0), envs=[2])
    assert world.gravity[:, 2].tolist() == pytest.approx([-9.81, -9.81, 0.0])
    world.step(1e-3, 10)
    assert not world.velocities[2].any()
    assert (world.velocities[0, :, 2] < 0).any()
    pairs, densities = world.materials
    pairs[1, 0, 0] = (0.9, 0.25, 0.1, 0.05, 0.5, 1e-3)
    world.set_materials(pairs=pairs[1], envs=[1])
    world.set_materials(densities=[500.0, 7800.0], envs=[0])
    now, dense = world.materials
    assert now[1, 0, 0] == pytest.approx((0.9, 0.25, 0.1, 0.05, 0.5, 1e-3))
    assert now[0, 0, 0] == pytest.approx(pairs[0, 0, 0])
    assert dense[:, 0].tolist() == [500.0, 1600.0, 1600.0]
    assert np.array_equal(densities[1:], dense[1:])


def test_material_refusals(world):
    pairs, _ = world.materials
    lopsided = pairs[0].copy()
    lopsided[0, 1, 0] += 0.1
    with pytest.raises(gg.ArgumentError, match="^pairs: expected a symmetric"):
        world.set_materials(pairs=lopsided)
    bouncy = pairs[0].copy()
    bouncy[0, 0, 1] = 1.5
    with pytest.raises(gg.ArgumentError, match="^pairs: expected"):
        world.set_materials(pairs=bouncy)
    with pytest.raises(gg.ArgumentError, match="^densities: expected"):
        world.set_materials(densities=[0.0, 1.0])
    assert np.array_equal(world.materials[0], pairs)


def test_weight_rests_on_the_floor(world):
    world.step(1e-3, 1500)
    weight = 60 * 1600.0 * 4 / 3 * np.pi * 0.01**3 * 9.81
    np.testing.assert_allclose(world.wall_wrenches[:, 4, 2], -weight, rtol=2e-3)
    assert not world.wrenches.any()


def test_tools_move_to_their_targets(world):
    target = np.array([0.02, -0.01, 0.45, 0.0, 1.0, 0.0, 0.0])
    world.step(1e-3, 10, tool_poses=target[None])
    np.testing.assert_allclose(world.tool_poses, np.broadcast_to(target, (3, 1, 7)), atol=1e-6)
    jump = np.array([[0.0, 0.0, 0.55, 1, 0, 0, 0]])
    world.set_tool_poses(jump, envs=[1])
    np.testing.assert_allclose(world.tool_poses[1, 0], jump[0], atol=1e-6)
    np.testing.assert_allclose(world.tool_poses[0, 0], target, atol=1e-6)


def test_counters_are_those_of_the_stats(world):
    world.step(1e-3, 20)
    stats, counters = world.stats, world.counters()
    assert stats["contact_count"].min() > 0 and not counters["diverged"].any()
    mean = stats["overlap_sum"] / np.maximum(stats["overlap_count"], 1)
    assert np.array_equal(counters["overlap_mean"], mean)
    for name, dtype in (("overlap_max", float), ("residual", float), *((f"{n}_count", int) for n in COUNTED)):
        assert np.array_equal(counters[name], stats[name]) and counters[name].dtype == dtype
    fresh = np.array([False, True, False])
    for name, values in world.counters(fresh).items():
        assert np.array_equal(values, np.where(fresh, 0, counters[name])) and values.dtype == counters[name].dtype
    # outputs are finite, and diverged envs are marked
    velocities = world.velocities
    velocities[2] = 3e38
    world.set_grains(velocities=velocities)
    with np.errstate(all="ignore"):
        world.step(1e-3, 1)
    counters = world.counters()
    assert counters["diverged"].tolist() == [False, False, True]
    assert all(np.isfinite(values).all() for values in counters.values())
    assert not world.counters(np.ones(3, bool))["diverged"].any()


def test_box_stats(world):
    places = world.positions
    lower, upper = np.array([-0.05, -0.05, 0.0]), np.array([0.05, 0.1, 0.05])
    counts, means = world.box_stats(lower, upper)
    inside = ((places >= lower) & (places <= upper)).all(-1).sum(-1)
    outside = np.maximum(np.maximum(lower - places, places - upper), 0)
    assert counts.tolist() == inside.tolist() and 0 < inside[0] < 60
    np.testing.assert_allclose(means, np.linalg.norm(outside, axis=-1).mean(-1), rtol=1e-5)
    with pytest.raises(gg.ArgumentError, match="^lower: expected"):
        world.box_stats(upper, lower)


def test_box_stats_of_several_boxes_are_those_of_each(world):
    rng = np.random.default_rng(0)
    lower = rng.uniform(-0.1, 0.0, (3, 4, 3)).astype(np.float32)
    upper = lower + rng.uniform(0.0, 0.1, lower.shape).astype(np.float32)
    counts, means = world.box_stats(lower, upper)
    assert counts.shape == means.shape == (3, 4) and counts.dtype == np.int64 and 0 < counts.sum() < 12 * 60
    for k in range(4):
        for together, alone in zip((counts, means), world.box_stats(lower[:, k], upper[:, k]), strict=True):
            assert np.array_equal(together[:, k], alone)
    assert world.box_stats(lower[:, :0], upper[:, :0])[0].shape == (3, 0)
    with pytest.raises(gg.ArgumentError, match="^upper: expected the shape of lower"):
        world.box_stats(lower, upper[:, :2])
    with pytest.raises(gg.ArgumentError, match="^upper: expected the shape of lower"):
        world.box_stats(lower[:, 0], upper)
    with pytest.raises(gg.ArgumentError, match="^lower: expected"):
        world.box_stats(np.where(np.arange(4)[:, None] == 2, upper + 1.0, lower), upper)


def test_place_grains_keeps_a_bed_settled(world):
    world.step(1e-3, 1500)
    before = world.positions
    world.transform_grains((0.01, 0.0, 0.0), np.pi, envs=[1])
    after = world.positions
    turned = before[1] * np.array([-1, -1, 1]) + np.array([0.01, 0, 0])
    np.testing.assert_allclose(after[1], turned, atol=1e-6)
    assert np.array_equal(after[0], before[0])


def test_height_map_sees_the_floor_and_the_ball(world):
    height = world.height_map("sky")
    # the pixels nearest to the ball's axis are half a pixel off it along x and y
    off = 0.1 / 12
    assert height.max() == pytest.approx(0.5 + np.sqrt(0.03**2 - 2 * off**2), abs=1e-5)
    assert height.min() > -0.1
    with pytest.raises(gg.ArgumentError, match="^camera: expected a fixed orthographic"):
        world.height_map("ego")


def test_branch_and_copies_go_on_with_the_same_bits(world):
    world.step(1e-3, 200)
    world.set_gravity((0.5, 0, -9.0), envs=[0])
    branched, copied = world.branch(2), copy.deepcopy(world)
    pickled = pickle.loads(pickle.dumps(world))
    for each in (world, branched, copied, pickled):
        each.step(1e-3, 50)
    first = world.state_hash(env=0)
    assert branched.state_hash(env=0) == branched.state_hash(env=1) == first
    assert copied.state_hash() == pickled.state_hash() == world.state_hash()
    assert copied.gravity[0].tolist() == world.gravity[0].tolist()
    for each in (branched, copied, pickled):
        each.close()


def test_a_state_of_other_envs_than_are_listed(world):
    state = world.save_state()
    for envs, wanted in ((0, "1 env"), ([0, 1], "1 env or the 2 that are listed")):
        with pytest.raises(gg.StateError, match=f"^state: expected {wanted}, got 3; State.env gives one of them"):
            world.load_state(state, envs=envs)


def test_worlds_know_which_envs_were_placed(world):
    state = world.save_state(env=0)
    for place in (
        lambda: world.load_state(state, envs=[1]),
        lambda: world.set_grains(positions=world.positions[0], envs=[1]),
    ):
        world.placed[:] = False
        world.set_grains(velocities=world.velocities)
        assert not world.placed.any()
        place()
        assert world.placed.tolist() == [env == 1 for env in range(world.env_count)]


def test_what_scenes_have_in_common_is_told(scene):
    world = scene.build(device="cpu")
    assert world.difference(scene.freeze()) == ""
    scene.add_tool(gg.Sdf.sphere(0.03), name="one more", pose=(0, 0, 0.9))
    assert world.difference(scene.freeze()) == "shapes of tools"
    scene.add_grains(0, [[0.0, 0.0, 0.8]], radius=0.01)
    assert world.difference(scene.freeze()) == "radii of grains"


def test_threads_change_no_bit(scene):
    hashes = set()
    for threads in (1, 2, 3):
        with scene.build(env_count=2, num_threads=threads) as world:
            assert world.num_threads == threads
            world.step(1e-3, 100)
            hashes.add(world.state_hash())
    assert len(hashes) == 1


def test_profile_names_phases(world):
    world.profile(True)
    world.step(1e-3, 20)
    seconds = world.profile(False)
    assert len(seconds) > 5 and sum(seconds.values()) > 0


def test_info():
    facts = gg.info()
    assert facts["version"] == gg.__version__
    assert facts["threads"] >= 1 and facts["kernel"] and facts["compiler"]
    assert facts["devices"]["cpu"]["available"] is True
    assert facts["devices"]["cuda"]["available"] or facts["devices"]["cuda"]["reason"]


def test_command_line(capsys):
    from granular_gym.__main__ import main

    assert main(["info"]) == 0
    text = capsys.readouterr().out
    assert "granular_gym" in text and "kernel" in text and "cuda" in text


def test_devices(scene, monkeypatch):
    monkeypatch.delenv("GG_DEVICE", raising=False)
    scene.build(device="auto").close()
    scene.build(device="cpu").close()
    with pytest.raises(gg.ArgumentError, match="^device: expected"):
        scene.build(device="tpu")
    cuda = gg.info()["devices"]["cuda"]
    if not cuda["available"]:
        with pytest.raises(gg.BackendError, match=f"^device: 'cuda' cannot be used: {re.escape(cuda['reason'])}$"):
            scene.build(device="cuda")


def test_info_says_why_there_is_no_gpu():
    """The reason depends on the build and the machine; CI has builds of both kinds."""
    from granular_gym.info import describe

    cuda = gg.info()["devices"]["cuda"]
    lines = [line.split(None, 1)[1] for line in describe().splitlines() if line.startswith("  cuda ")]
    if cuda["available"]:
        assert cuda["built"] and cuda["gpus"] and not cuda["reason"]
        assert lines == [f"available: {', '.join(gpu['name'] for gpu in cuda['gpus'])}"]
        return
    assert cuda["gpus"] == [] and lines == [f"not available: {cuda['reason']}"]
    if not cuda["built"]:
        assert cuda["reason"] == "this build has no CUDA backend: it was built without nvcc"
    else:
        reasons = (
            r"no CUDA driver was found \(.+\)|the CUDA driver is too old: .*|no GPU (was found|is visible: .*) \(.+\)"
        )
        assert re.fullmatch(reasons, cuda["reason"])


def test_png(tmp_path):
    image = np.arange(5 * 7 * 3, dtype=np.uint8).reshape(5, 7, 3)
    gg.write_png(tmp_path / "a.png", image)
    assert (tmp_path / "a.png").read_bytes()[:8] == b"\x89PNG\r\n\x1a\n"
    gg.write_png(str(tmp_path / "b.png"), image[..., 0].copy())
    with pytest.raises(gg.ArgumentError, match="^image: expected dtype uint8"):
        gg.write_png(tmp_path / "c.png", image.astype(np.float32))
    with pytest.raises(gg.ArgumentError, match="^image: expected"):
        gg.write_png(tmp_path / "c.png", np.zeros((4, 4, 2), np.uint8))
    with pytest.raises(gg.ArgumentError, match="C-contiguous"):
        gg.write_png(tmp_path / "c.png", image[:, ::2])
    with pytest.raises(OSError):
        gg.write_png(tmp_path / "no" / "c.png", image)


def test_a_variable_says_what_auto_means(scene, monkeypatch):
    monkeypatch.setenv("GG_DEVICE", "cpu")
    for device in ({}, {"device": "auto"}, {"device": "cpu"}):
        with scene.build(**device) as world:
            assert world.device == "cpu"
    for wrong in ("tpu", "cuda:", "CPU", " cpu"):
        monkeypatch.setenv("GG_DEVICE", wrong)
        with pytest.raises(gg.ArgumentError, match=f"^GG_DEVICE: expected auto, cpu, cuda or .*, got '{wrong}'"):
            scene.build()
        # named devices do not depend on the variable
        scene.build(device="cpu").close()
    monkeypatch.setenv("GG_DEVICE", "cuda:999")  # there is no fallback
    with pytest.raises(gg.BackendError, match="^GG_DEVICE: 'cuda:999' cannot be used: ."):
        scene.build()
