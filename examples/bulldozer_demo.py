"""bulldozer_demo.py: films one episode of the bulldozer task, played by its expert.

    python examples/bulldozer_demo.py [--grains 2000] [--preset fast] [--seed 0] [--steps 600] [--out out/bulldozer]

Writes into the folder: bulldozer.mp4 (the scene with insets of both depth cameras), picture.png, ego.png and
sky.png (the depth cameras), progress.png (return and share of the grains in the goal over time), report.json.
Needs the `demo` extra: pip install "granular_gym[demo]".
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
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

matplotlib.use("Agg")
import matplotlib.pyplot as plt

TASK = "granular_gym/Bulldozer-v1"
STEPS_PER_FRAME, FRAME_RATE = 2, 15  # the film runs at three times real time
BEST_FRAME = 0.45  # share of the grains in the goal when picture.png is taken
FAR = {"ego": 3.0, "sky": 3.0}  # depth of pixels without a surface [m]
SKY_LEFT, SKY_TOP, SKY_WIDTH = -4.0, 2.0, 8.0  # [m] the field that the sky camera sees


def depth_image(depth: np.ndarray, far: float, zoom: int) -> Image.Image:
    """A depth image [m] in colours, near is bright, enlarged without smoothing; contrast stretched to its range."""
    near = float(depth.min())
    share = (far - np.clip(depth, near, far)) / max(far - near, 1e-6)
    colors = plt.get_cmap("magma")(share**0.7)[..., :3]
    image = Image.fromarray((colors * 255.0).astype(np.uint8))
    return image.resize((image.width * zoom, image.height * zoom), Image.Resampling.NEAREST)


def draw_goal(image: Image.Image, goal: np.ndarray) -> None:
    """Outlines the goal box of the observation (lower x, y, upper x, y [m]) on an image of the sky camera."""
    scale = image.width / SKY_WIDTH
    left, bottom, right, top = (float(x) for x in goal)
    corners = (left - SKY_LEFT, SKY_TOP - top, right - SKY_LEFT, SKY_TOP - bottom)
    ImageDraw.Draw(image).rectangle(tuple(scale * x for x in corners), outline=(98, 214, 140), width=image.width // 108)


def compose(picture: np.ndarray, observation: dict[str, np.ndarray], seconds: float, share: float) -> np.ndarray:
    """One frame of the film: the picture, both depth cameras, the goal as it is observed, time and progress."""
    frame = Image.fromarray(picture)
    draw = ImageDraw.Draw(frame, "RGBA")
    font = ImageFont.load_default(13)
    edge, text = (255, 255, 255, 230), (52, 58, 66, 255)
    for name, zoom, side in (("ego", 3, "left"), ("sky", 3, "right")):
        inset = depth_image(observation[name], FAR[name], zoom)
        if name == "sky":
            draw_goal(inset, observation["goal"])
        x = 10 if side == "left" else frame.width - 10 - inset.width
        frame.paste(inset, (x, 10))
        draw.rectangle((x - 1, 9, x + inset.width, 10 + inset.height), outline=edge)
        draw.text((x, 13 + inset.height), f"{name} camera (depth)", fill=text, font=font)
    left, right, top = 240, frame.width - 240, frame.height - 26
    draw.rounded_rectangle((left, top, right, top + 12), 6, fill=(255, 255, 255, 200))
    if share > 0.02:
        draw.rounded_rectangle((left, top, left + share * (right - left), top + 12), 6, fill=(62, 150, 92, 255))
    draw.text((left, top - 19), f"{share:.0%} of the grains in the goal", fill=text, font=font)
    draw.text((right - 40, top - 19), f"{seconds:4.1f} s", fill=text, font=font)
    return np.asarray(frame)


def plot_progress(path: Path, times: list[float], shares: list[float], rewards: list[float]) -> None:
    """Plots return and share of the grains in the goal over time."""
    figure, axes = plt.subplots(2, 1, figsize=(7.5, 5.0), sharex=True, layout="constrained")
    axes[0].plot(times, np.array(shares) * 100.0, color="#3e965c", linewidth=2)
    axes[0].set_ylabel("grains in the goal [%]")
    axes[0].set_ylim(0, 100)
    axes[1].plot(times, np.cumsum(rewards), color="#c77d0a", linewidth=2)
    axes[1].set_ylabel("return so far")
    axes[1].set_xlabel("time [s]")
    for axis in axes:
        axis.grid(alpha=0.3)
        axis.spines[["top", "right"]].set_visible(False)
    figure.suptitle("Bulldozer, scripted driver")
    figure.savefig(path, dpi=120)
    plt.close(figure)


def machine_facts() -> dict[str, Any]:
    """Facts about the machine."""
    model = platform.processor()
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        model = next((line.split(":", 1)[1].strip() for line in lines if line.startswith("model name")), model)
    except OSError:
        pass
    return {"processor": model, "cores": os.cpu_count(), "system": platform.platform(), **gg.info()}


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--grains", type=int, default=2000, help="number of grains")
    parser.add_argument("--preset", choices=("fast", "accurate"), default="fast", help="time step 5 ms or 1 ms")
    parser.add_argument("--seed", type=int, default=0, help="of the heap, the goal and the initial pose")
    parser.add_argument("--steps", type=int, default=600, help="env steps of 0.1 s")
    parser.add_argument("--out", type=Path, default=Path("out/bulldozer"), help="folder for the results")
    return parser.parse_args()


def main() -> None:
    """Plays the episode; writes all files."""
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    begin = time.perf_counter()
    print(f"granular_gym: preparing {args.grains} grains (meshes and heaps are kept for the next time)", flush=True)
    env = gym.make(
        TASK, grain_count=args.grains, preset=args.preset, render_mode="rgb_array", max_episode_steps=args.steps
    )
    observation, info = env.reset(seed=args.seed)
    drivers = BulldozerDrivers(env)
    print(f"granular_gym: ready after {time.perf_counter() - begin:.1f} s", flush=True)

    stepping, rewards, shares = 0.0, [], []
    means, largest, residuals = [], [], []
    counts = {"escaped": 0, "fast": 0, "diverged": 0, "contacts_most": 0}
    shown = False
    film = imageio.get_writer(args.out / "bulldozer.mp4", fps=FRAME_RATE, quality=8, macro_block_size=16)
    try:
        for step in tqdm(range(args.steps), desc="bulldozer", unit="step"):
            action = drivers.act()
            tick = time.perf_counter()
            observation, reward, _, _, info = env.step(action)
            stepping += time.perf_counter() - tick
            rewards.append(reward)
            shares.append(info["goal_share"])
            means.append(info["overlap_mean"])
            largest.append(info["overlap_max"])
            residuals.append(info["residual"])
            counts["escaped"] = max(counts["escaped"], info["escaped_count"])
            counts["fast"] += info["fast_count"]
            counts["diverged"] += info["diverged"]
            counts["contacts_most"] = max(counts["contacts_most"], info["contact_count"])
            last = step == args.steps - 1 or info["diverged"]
            if step % STEPS_PER_FRAME and not last:
                continue
            picture = env.render()
            film.append_data(compose(picture, observation, 0.1 * (step + 1), shares[-1]))
            if not shown and (shares[-1] >= BEST_FRAME or last):
                shown = True
                gg.write_png(str(args.out / "picture.png"), np.ascontiguousarray(picture))
                for name in ("ego", "sky"):
                    depth_image(observation[name], FAR[name], 8).save(args.out / f"{name}.png")
            if info["diverged"]:
                break
    finally:
        film.close()
        env.close()

    plot_progress(args.out / "progress.png", [0.1 * (k + 1) for k in range(len(shares))], shares, rewards)
    simulated = 0.1 * len(shares)
    report = {
        "task": TASK,
        "seed": args.seed,
        "grains": args.grains,
        "preset": args.preset,
        "steps": len(shares),
        "simulated_seconds": simulated,
        "stepping_seconds": stepping,
        "speed_over_real_time": simulated / stepping,
        "env_steps_per_second": len(shares) / stepping,
        "wall_seconds": time.perf_counter() - begin,
        "goal_share": shares[-1],
        "return": float(np.sum(rewards)),
        "overlap_mean": float(np.mean(means)),
        "overlap_max": float(np.max(largest)),
        "residual_mean": float(np.mean(residuals)),
        "residual_max": float(np.max(residuals)),
        "counters": counts,
        "units": {"overlap": "share of a grain's diameter", "residual": "m/s"},
        "machine": machine_facts(),
    }
    (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")
    print(
        f"granular_gym: {shares[-1]:.0%} of {args.grains} grains in the goal, {simulated / stepping:.1f} times real "
        f"time, everything in {report['wall_seconds']:.0f} s; see {args.out}"
    )


if __name__ == "__main__":
    main()
