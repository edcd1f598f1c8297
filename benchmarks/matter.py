"""matter.py: tasks in grains and in a continuum.

    python -m benchmarks.matter [--tasks Level-v1] [--policy level-sac] [--seeds 10] [--grains 200] [--preset fast]
    python -m benchmarks.matter --angles [--seeds 2]
    python -m benchmarks.matter --forces [--grains 200] [--steps 100] [--seeds 2]

A policy on both: mean return of episodes and how many succeed, env steps per second of one thread (of its time on the
CPU), unsolved solves and envs that diverged.

--angles: angles of friction for a continuum that spreads as grains do, the table of matter.py. Columns collapse beside
a wall, between smooth side walls, on a floor as rough as they are; what is compared is how far off the wall their
centre of mass comes to rest.

--forces: on the blade of Level-v1 over the weight of the bed, each by the actions of the expert on grains: mean, median
of control periods in which there is one, and 95 % quantile.
"""

from __future__ import annotations

import argparse
import time
from itertools import product

import gymnasium as gym
import numpy as np

import granular_gym as gg
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.matter import FRICTIONS, MATTERS, ROLLING, sand_in_place_of
from granular_gym.training.policies import load_policy, trained_arguments

SAND = "sand_continuum"
RADIUS = 0.025  # [m]
WIDTH, DEPTH, LENGTH = 20 * RADIUS, 12 * RADIUS, 100 * RADIUS  # [m] of the column, of both, of the field
COUNT = 900
ANGLES = (16.0, 22.0, 28.0, 34.0, 40.0)  # [degrees]
OPEN = [[[0.0, 0.0, -0.05, 1.0, 0.0, 0.0, 0.0], [50.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]]]  # floor, and gate out of the way


def column(friction: float, seed: int) -> gg.Scene:
    """Grains that fall behind a gate."""
    scene = gg.Scene(((0, 0, 0), (LENGTH, DEPTH, 3.0)))
    sand = scene.add_material(
        density=1600.0, radius=RADIUS, friction=friction, restitution=0.0, rolling_friction=ROLLING, name="sand"
    )
    glass = scene.add_material(density=2500.0, friction=0.0, rolling_friction=0.0, name="glass")
    scene.wall_material = glass
    scene.add_tool(gg.Sdf.box((10.0, 10.0, 0.05)), "floor", sand, (0.0, 0.0, -0.0499))
    scene.add_tool(gg.Sdf.box((0.05, 2.0 * DEPTH, 3.0)), "gate", glass, (WIDTH + 0.05, 0.5 * DEPTH, 0.0))
    scene.fill_box(sand, (0, 0, 0), (WIDTH, DEPTH, 2.9), COUNT, seed)
    return scene


def spread(world: gg.World, dt: float) -> float:
    """How far off the wall the centre of mass is 3 s after the gate went, over the width of the column."""
    world.set_tool_poses(np.array(OPEN, np.float32))
    world.step(dt, round(3.0 / dt))
    return float(world.positions[0, :, 0].mean()) / WIDTH


def angles(seeds: int) -> None:
    """Prints the table of matter.py."""
    for friction in FRICTIONS:
        found = []
        for seed in range(seeds):
            scene = column(friction, seed)
            with scene.build(device="cpu", num_threads=1) as world:
                world.step(2e-3, 1000)
                places = world.positions[0].copy()
                way = spread(world, 2e-3)
            curve = []
            for angle in ANGLES:
                same = sand_in_place_of(scene, places, RADIUS, angle)
                with same.build(device="cpu", solver=gg.Solver(tolerance=1e-2), num_threads=1) as world:
                    world.step(0.01, 20)
                    curve.append(spread(world, 0.01))
            found.append(float(np.interp(-way, -np.array(curve), ANGLES)))
        print(f"friction {friction:g}: {' '.join(f'{each:.1f}' for each in found)} degrees", flush=True)


def play(name: str, policy: str, matter: str, count: int, seeds: int, preset: str) -> str:
    """Episodes with seeds 0, 1, ..., all in one world."""
    task = f"granular_gym/{name}"
    fixed = {"matter": matter, "grain_count": count, "preset": preset, "num_threads": 1}
    arguments = {**trained_arguments(task, policy), **fixed}
    envs = gym.make_vec(task, num_envs=seeds, autoreset_mode="Disabled", **arguments)
    observation, _ = envs.reset(seed=0)
    world, act = envs.unwrapped.task.world, load_policy(policy, envs)
    total, steps, unsolved = np.zeros(seeds), 0, 0
    over, diverged = np.zeros(seeds, bool), np.zeros(seeds, bool)
    began = time.process_time()
    while not over.all():
        observation, rewards, terminated, truncated, infos = envs.step(act(observation))
        total += np.where(over, 0.0, rewards)
        over |= terminated | truncated
        diverged |= infos["diverged"]
        unsolved += 0 if matter == "grains" else int(world.stats["unsolved_count"].sum())
        steps += 1
    rate, won = seeds * steps / (time.process_time() - began), int(infos["success"].sum())
    envs.close()
    who = f"{name}, {policy}, {matter}, {count} grains"
    earned = f"return {total.mean():.3f} ({total.min():.2f} .. {total.max():.2f}), success {won} of {seeds}"
    return f"{who}: {earned}, {rate:.1f} env steps/s, unsolved {unsolved}, diverged {diverged.sum()}"


def forces(count: int, seeds: int, steps: int) -> None:
    """Prints a line for each matter and preset."""
    actions: list[np.ndarray] = []
    for matter, preset in (
        ("grains", "fast"),
        ("grains", "accurate"),
        *((SAND, each) for each in ("train", "accurate")),
    ):
        arguments = {"matter": matter, "grain_count": count, "preset": preset}
        envs = gym.make_vec("granular_gym/Level-v1", num_envs=seeds, num_threads=1, **arguments)
        envs.reset(seed=0)
        task, expert, found = envs.unwrapped.task, scripted_expert(envs), []
        for k in range(steps):
            if len(actions) == k:
                actions.append(expert.act())
            _, _, terminated, truncated, _ = envs.step(actions[k])
            if (terminated | truncated).any():
                break
            found.append(np.linalg.norm(task.world.wrenches[:, 0, :3].astype(np.float64), axis=1))
        share = np.array(found) / (task.mass * 9.81)
        envs.close()
        pushed = share[share > 1e-3]
        print(
            f"Level-v1, {count} grains, {matter}, {preset}: mean {share.mean():.3f}, median {np.median(pushed):.3f}, "
            f"95 % {np.quantile(share, 0.95):.2f}",
            flush=True,
        )


def main() -> None:
    """Reads the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--angles", action="store_true")
    parser.add_argument("--forces", action="store_true")
    parser.add_argument(
        "--steps", type=int, default=100, help="control periods of --forces, fewer where an episode ends"
    )
    parser.add_argument("--tasks", nargs="+", default=["Bulldozer-v1", "Level-v1", "Excavator-v1"])
    parser.add_argument("--policy", default="expert", help="of the one task that --tasks names, else the experts")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--preset", default="fast")
    parser.add_argument("--grains", type=int, default=200)
    options = parser.parse_args()
    if options.angles:
        angles(options.seeds)
        return
    if options.forces:
        forces(options.grains, options.seeds, options.steps)
        return
    for name, matter in product(options.tasks, MATTERS):
        print(play(name, options.policy, matter, options.grains, options.seeds, options.preset), flush=True)


if __name__ == "__main__":
    main()
