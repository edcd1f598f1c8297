"""plan_bulldozer.py: a sampling planner that simulates rollouts in copies of the env, compared with the expert.

    python examples/plan_bulldozer.py [--seeds 6] [--grains 300] [--steps 300] [--copies 12] [--out out/plan_bulldozer]

Every 5 s 12 copies of the env load its state exactly (grains, velocities, stored impulses, tools). Each simulates a
rollout to the end of the episode, and the best one is executed. The first copy continues the current plan, one follows
the expert, the others experts with varied assumptions about the blade and with noise. Copies give the bits of the env,
so a plan's return is exact, later plans only improve it, and the planner never earns less than the expert.

Plays planner, expert and random on each seed, prints a table, and writes into the folder: report.json (all numbers,
kept after every episode), progress.png (share of the grains in the goal over time), plan.mp4 and picture.png (expert
and planner one above the other, first seed). Needs the `demo` extra: pip install "granular_gym[demo]".
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import gymnasium as gym
import imageio.v2 as imageio
import matplotlib
import numpy as np
from PIL import Image, ImageDraw, ImageFont
from tqdm import tqdm

import granular_gym as gg
from granular_gym.envs.bulldozer_expert import BulldozerDrivers
from granular_gym.tasks.expert import scripted_expert
from granular_gym.training.planning import Planner

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TASK = "granular_gym/Bulldozer-v1"
DRIVERS = ("planner", "expert", "random")
COLORS = {"planner": "#3e965c", "expert": "#c77d0a", "random": "#8a8f98"}
STEPS_PER_FRAME, FRAME_RATE = 3, 10  # the film runs at three times real time
PLAIN = 3  # the planner's first copies drive without noise: their drivers are not varied


class VariedDrivers(BulldozerDrivers):
    """Experts with varied assumptions about the blade's capacity, width and position, which plan different pushes.

    Args:
        env: the copies.
        variety: largest relative change of the capacity.
        seed: of the changes.
    """

    def __init__(self, env: Any, variety: float, seed: int) -> None:
        super().__init__(env)
        self.variety = variety
        self.draw = np.random.default_rng(seed)
        first = self.drivers[0]
        self.truth = first.capacity, first.blade_width, first.blade_x

    def reset(self, mask: Any = None) -> None:
        """Drops the plans of the masked envs and draws new assumptions of their drivers."""
        super().reset(mask)
        capacity, width, x = self.truth
        for env, driver in enumerate(self.drivers):
            if env >= PLAIN and (mask is None or mask[env]):
                change = self.draw.uniform(-self.variety, self.variety, 3)
                driver.capacity = capacity * (1.0 + change[0])
                driver.blade_width = width * (1.0 + 0.6 * change[1])
                driver.blade_x = x + 0.3 * change[2]


def make_planner(args: argparse.Namespace, seed: int) -> Planner:
    """The planner with its copies."""
    copies = gym.make_vec(TASK, num_envs=args.copies, grain_count=args.grains, num_threads=args.threads)
    return Planner(
        copies,
        guide=VariedDrivers(copies, args.variety, seed),
        horizon=args.horizon,
        interval=args.interval,
        noise=args.noise,
        correlation=0.9,
        temperature=0.05,
        seed=seed,
    )


def play(driver: str, seed: int, args: argparse.Namespace, filmed: bool, bar: Any) -> tuple[dict[str, Any], list[Any]]:
    """Plays one episode; returns its results, and its pictures where it is filmed."""
    env = gym.make(
        TASK,
        grain_count=args.grains,
        num_threads=args.threads,
        max_episode_steps=args.steps,
        render_mode="rgb_array" if filmed else None,
    )
    env.reset(seed=seed)
    env.action_space.seed(seed)
    planner = make_planner(args, seed) if driver == "planner" else None
    rewards: list[float] = []
    shares: list[float] = []
    act: Callable[[], Any] = env.action_space.sample
    if planner is not None:
        act = lambda: planner.act(env, args.steps - len(rewards))  # noqa: E731
    elif driver == "expert":
        act = scripted_expert(env).act
    begin = time.perf_counter()
    overlap, pictures, info = 0.0, [], {"diverged": False}
    for step in range(args.steps):
        _, reward, _, _, info = env.step(act())
        rewards.append(float(reward))
        shares.append(float(info["goal_share"]))
        overlap = max(overlap, info["overlap_max"])
        if filmed and (step % STEPS_PER_FRAME == 0 or step == args.steps - 1):
            pictures.append(env.render())
        bar.update()
    result = {
        "driver": driver,
        "seed": seed,
        "return": float(np.sum(rewards)),
        "goal_share": shares[-1],
        "half_after": next((0.1 * (k + 1) for k, share in enumerate(shares) if share >= 0.5), None),  # [s]
        "seconds": time.perf_counter() - begin,
        "env_steps_tried": 0 if planner is None else planner.steps_tried,
        "overlap_max": overlap,
        "diverged": bool(info["diverged"]),
        "shares": shares,
    }
    if planner is not None:
        planner.copies.close()
    env.close()
    return result, pictures


def print_table(results: list[dict[str, Any]]) -> dict[str, Any]:
    """Prints the table, seed by seed; returns the means."""
    by = {(result["driver"], result["seed"]): result for result in results}
    seeds = sorted({result["seed"] for result in results})

    def line(head: str, returns: list[float], shares: list[float], others: list[str]) -> str:
        cells = [head, *(f"{value:.0f}" for value in returns), *(f"{value:.1%}" for value in shares), *others]
        return " | ".join(f"{cell:>15}" for cell in cells)

    titles = [f"{name} {what}" for what in ("return", "in goal") for name in DRIVERS]
    print(" | ".join(f"{title:>15}" for title in ["seed", *titles, "steps tried", "planner takes s"]))
    for seed in seeds:
        rows = [by[driver, seed] for driver in DRIVERS]
        others = [f"{rows[0]['env_steps_tried']:,}", f"{rows[0]['seconds']:.0f}"]
        print(line(str(seed), [row["return"] for row in rows], [row["goal_share"] for row in rows], others))
    summary: dict[str, Any] = {"seeds": len(seeds)}
    for driver in DRIVERS:
        for key in ("return", "goal_share", "seconds", "env_steps_tried"):
            summary[f"{driver}_{key}"] = float(np.mean([by[driver, seed][key] for seed in seeds]))
    means = [[summary[f"{driver}_{key}"] for driver in DRIVERS] for key in ("return", "goal_share")]
    print(line("mean", *means, [f"{summary['planner_env_steps_tried']:,.0f}", f"{summary['planner_seconds']:.0f}"]))
    for key in ("return", "goal_share"):
        summary[f"planner_wins_{key}"] = sum(by["planner", seed][key] > by["expert", seed][key] for seed in seeds)
    print(
        f"the planner beats the expert's return on {summary['planner_wins_return']} of {len(seeds)} seeds, "
        f"its share of the grains in the goal on {summary['planner_wins_goal_share']}"
    )
    return summary


def plot(path: Path, results: list[dict[str, Any]]) -> None:
    """Share of the grains in the goal over time: each seed thin, the mean thick."""
    figure, axis = plt.subplots(figsize=(7.5, 4.0), layout="constrained")
    for driver in DRIVERS:
        shares = 100.0 * np.array([result["shares"] for result in results if result["driver"] == driver])
        times = 0.1 * (1.0 + np.arange(shares.shape[1]))
        axis.plot(times, shares.T, color=COLORS[driver], linewidth=0.7, alpha=0.45)
        axis.plot(times, shares.mean(axis=0), color=COLORS[driver], linewidth=2.4, label=driver)
    axis.set_xlabel("time [s]")
    axis.set_ylabel("grains in the goal [%]")
    axis.set_ylim(0, 100)
    axis.grid(alpha=0.3)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(frameon=False)
    figure.savefig(path, dpi=120)
    plt.close(figure)


def save_film(out: Path, films: dict[str, list[Any]], shares: dict[str, list[float]]) -> None:
    """Writes a film of the expert above and the planner below; the last picture as picture.png."""
    font = ImageFont.load_default(16)
    with imageio.get_writer(out / "plan.mp4", fps=FRAME_RATE, quality=8, macro_block_size=16) as film:
        frame = None
        for number in range(len(films["planner"])):
            step = min(number * STEPS_PER_FRAME, len(shares["planner"]) - 1)
            rows = []
            for driver in ("expert", "planner"):
                image = Image.fromarray(films[driver][number])
                text = f"{driver}: {shares[driver][step]:.0%} of the grains in the goal after {0.1 * (step + 1):.1f} s"
                ImageDraw.Draw(image).text((14, 12), text, fill=(52, 58, 66), font=font)
                rows.append(np.asarray(image))
            frame = np.concatenate(rows)
            film.append_data(frame)
    gg.write_png(str(out / "picture.png"), np.ascontiguousarray(frame))


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seeds", type=int, default=6, help="number of seeds")
    parser.add_argument(
        "--first-seed", type=int, default=20, help="settings were tuned on seeds below 20 and 100 to 102"
    )
    parser.add_argument("--grains", type=int, default=300, help="number of grains")
    parser.add_argument("--steps", type=int, default=300, help="env steps of 0.1 s")
    parser.add_argument("--copies", type=int, default=12, help="rollouts at a time")
    parser.add_argument(
        "--horizon", type=int, default=300, help="env steps of a rollout, at most to the end of the episode"
    )
    parser.add_argument("--interval", type=int, default=50, help="env steps executed of each plan")
    parser.add_argument("--noise", type=float, default=0.3, help="standard deviation of the noise on actions")
    parser.add_argument("--variety", type=float, default=0.5, help="largest relative change of assumptions")
    parser.add_argument("--threads", type=int, default=1, help="threads of each world; results do not depend on it")
    parser.add_argument("--no-film", action="store_true", help="numbers and plot only")
    parser.add_argument("--out", type=Path, default=Path("out/plan_bulldozer"), help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Plays all episodes; writes all files."""
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    results: list[dict[str, Any]] = []
    report: dict[str, Any] = {"task": TASK, "settings": {**vars(args), "out": str(args.out)}, "machine": gg.info()}
    seeds = range(args.first_seed, args.first_seed + args.seeds)
    with tqdm(total=len(seeds) * len(DRIVERS) * args.steps, desc="plan", unit="step") as bar:
        for seed in seeds:
            films: dict[str, list[Any]] = {}
            for driver in DRIVERS:
                filmed = not args.no_film and seed == args.first_seed and driver != "random"
                bar.set_postfix_str(f"seed {seed}, {driver}")
                result, films[driver] = play(driver, seed, args, filmed, bar)
                results.append(result)
                report["episodes"] = results
                (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")
            if films["planner"]:
                save_film(args.out, films, {result["driver"]: result["shares"] for result in results})
    report["summary"] = print_table(results)
    (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")
    plot(args.out / "progress.png", results)


if __name__ == "__main__":
    main()
