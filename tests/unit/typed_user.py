"""typed_user.py: a program of a user who checks types: read by mypy --strict (test_typing.py), never run."""

from __future__ import annotations

from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from typing_extensions import assert_type

import granular_gym as gg
from granular_gym.tasks.gym_envs import GranularEnv, GranularVectorEnv
from granular_gym.tasks.task import Task

Floats = NDArray[np.float32]
Counts = NDArray[np.int64]

scene = gg.Scene(bounds=((-1, -1, 0), (1, 1, 1)), gravity=(0, 0, -9.81))
sand = scene.add_material(radius=0.01, density=1600.0, friction=0.5)
assert_type(sand, int)
scene.fill_box(sand, lower=(-0.3, -0.3, 0.02), upper=(0.3, 0.3, 0.4))
scene.add_tool(gg.Sdf.box((0.1, 0.1, 0.1)), name="block")
assert_type(scene.bounds, Floats)
assert_type(scene.planar, bool)
world = scene.build(env_count=4)
assert_type(world, gg.World)
assert_type(world.env_count, int)
assert_type(world.solver, gg.Solver)

# what is read of a world
assert_type(world.positions, Floats)
assert_type(world.wrenches, Floats)
assert_type(world.grain_materials, NDArray[np.int32])
assert_type(world.contacts(env=0).forces, Floats)
assert_type(world.depth("sky"), Floats)
assert_type(world.depth("sky", limits=(0.1, 2.0)), Floats)
assert_type(world.depth("sky", dtype="uint8"), NDArray[np.uint8])
assert_type(world.depth("sky", "device"), gg.DeviceArray)
assert_type(world.depth("sky", "torch"), Any)
assert_type(world.height_map("sky"), Floats)
assert_type(world.picture("sky"), NDArray[np.uint8])
assert_type(world.read("positions"), Floats)
assert_type(world.read("grain_materials"), NDArray[np.int32])
assert_type(world.read("wrenches", "device"), gg.DeviceArray)
assert_type(world.put(np.zeros(3)), gg.DeviceArray)
assert_type(world.put([1.0, 2.0], "numpy"), NDArray[Any])
assert_type(world.box_stats((0, 0, 0), (1, 1, 1)), tuple[Counts, Floats])
assert_type(world.count_cells((0, 0, 0), (1, 1, 1), (2, 2, 2)), Counts)
assert_type(world.count_cells((0, 0, 0), (1, 1, 1), (2, 2, 2), output="device"), gg.DeviceArray)
assert_type(world.count_columns((0, 0), (1, 1), (2, 2)), Counts)
assert_type(world.count_boxes([(0, 0, 0, 1, 0, 0, 0)], [(1, 1, 1)]), Counts)
assert_type(world.stats["overlap_max"], Floats)
assert_type(world.stats["diverged"], NDArray[np.int32])
assert_type(world.counters()["diverged"], NDArray[np.bool_])
assert_type(world.materials, tuple[Floats, Floats])
assert_type(world.save_state(), gg.State)
assert_type(world.branch(8), gg.World)

# mistakes that a checker finds: --strict reports a comment that silences nothing
world.depth("sky", "tensor")  # type: ignore[call-overload]
world.depth("sky", dtype="int8")  # type: ignore[call-overload]
world.read("position")  # type: ignore[call-overload]
world.stats["overlap"]  # type: ignore[typeddict-item]

# meshes, sizes
mesh = gg.Mesh([(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)])
assert_type(mesh.faces, NDArray[np.int32])
assert_type(gg.SizeDistribution.classes([0.01, 0.02], [0.5, 0.5]).radii, NDArray[np.float64])

# tasks
env = gym.make("granular_gym/Bulldozer-v1").unwrapped
assert isinstance(env, GranularEnv)
assert_type(env.task, Task)
assert_type(env.task.world, gg.World)
assert_type(env.observation_space, spaces.Dict)
assert_type(env.step(np.zeros(2))[1], float)
envs = gym.make_vec("granular_gym/Bulldozer-v1", num_envs=2)
assert isinstance(envs, GranularVectorEnv)
assert_type(envs.task.world.positions, Floats)
assert_type(envs.single_observation_space, spaces.Dict)
assert_type(envs.num_envs, int)
