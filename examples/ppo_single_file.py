"""ppo_single_file.py: proximal policy optimisation (PPO) in one file, on a native batch with torch tensors.

    python examples/ppo_single_file.py [TASK] [--steps 200000] [--envs 8] [--grains 500] [--device cpu] [--out out/ppo]
    python examples/ppo_single_file.py Bulldozer-v1 --observation state --frame-skip 5 --grains 100 --envs 1024
        --rollout 32 --minibatches 16 --device cuda
    python examples/ppo_single_file.py Pour-v1 --vision rgb --see side_rgb cup_rgb state --grains 300

To be read and changed. Sources: Schulman et al., "Proximal Policy Optimization Algorithms" (2017), and for advantages
"High-Dimensional Continuous Control Using Generalized Advantage Estimation" (2016). Needs torch. With `--device cuda`
world and network are on the GPU, and so are the arrays between them: the second command is meant for that. The third
learns from colours in place of depth.

Prints one line per iteration and writes into the folder: policy.pt (weights), report.json (settings, and steps, return
and speed of each iteration).

Truncation is told apart from termination: a batch with next-step autoreset returns the last observation of an episode,
whose value is the bootstrap of a truncated episode. The step after it resets the env, ignores its action, and is not
part of the loss.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

import granular_gym
from granular_gym.tasks.registry import task_id


def layer(module: Any, gain: float = 2.0**0.5) -> Any:
    """A layer with orthogonal initial weights and zero biases."""
    nn.init.orthogonal_(module.weight, gain)
    nn.init.zeros_(module.bias)
    return module


class Encoder(nn.Module):
    """Features of a dict of observations: images through convolutions, vectors as they are, scaled to -1 .. 1.

    Args:
        space: the observation space of one env; keys with two axes or more are images, those of colours with their
            channels last.
    """

    def __init__(self, space: gym.spaces.Dict) -> None:
        super().__init__()
        self.images = nn.ModuleDict()
        self.size = 0
        for key, box in space.spaces.items():
            assert isinstance(box, gym.spaces.Box)
            finite = bool(np.isfinite(box.low).all() and np.isfinite(box.high).all())
            low = torch.as_tensor(box.low, dtype=torch.float32) if finite else -torch.ones(box.shape)
            high = torch.as_tensor(box.high, dtype=torch.float32) if finite else torch.ones(box.shape)
            self.register_buffer(f"{key}_middle", 0.5 * (low + high))
            self.register_buffer(f"{key}_half", (0.5 * (high - low)).clamp_min(1e-6))
            if len(box.shape) < 2:
                self.size += int(np.prod(box.shape))
                continue
            rows, columns = box.shape[:2] if key.endswith("_rgb") else box.shape[-2:]
            channels = int(np.prod(box.shape)) // (rows * columns)
            stack = nn.Sequential(
                layer(nn.Conv2d(channels, 16, 5, stride=2, padding=2)),
                nn.ReLU(),
                layer(nn.Conv2d(16, 32, 3, stride=2, padding=1)),
                nn.ReLU(),
                layer(nn.Conv2d(32, 32, 3, stride=2, padding=1)),
                nn.ReLU(),
                nn.Flatten(),
            )
            with torch.no_grad():
                width = stack(torch.zeros(1, channels, rows, columns)).shape[1]
            self.images[key] = nn.Sequential(stack, layer(nn.Linear(width, 128)), nn.ReLU())
            self.size += 128
        self.keys = list(space.spaces)

    def forward(self, observation: dict[str, Tensor]) -> Tensor:
        """(n, size) from tensors (n, ...) by key."""
        parts = []
        for key in self.keys:
            value = (observation[key].float() - getattr(self, f"{key}_middle")) / getattr(self, f"{key}_half")
            if key in self.images:
                value = value.movedim(-1, 1) if key.endswith("_rgb") else value
                value = self.images[key](value.unsqueeze(1) if value.ndim == 3 else value)
            parts.append(value.flatten(1))
        return torch.cat(parts, dim=1)


class Agent(nn.Module):
    """Policy (a normal distribution of actions) and value."""

    def __init__(self, space: gym.spaces.Dict, action_size: int) -> None:
        super().__init__()
        self.encoder = Encoder(space)
        self.mean = self.head(action_size, 0.01)
        self.value = self.head(1, 1.0)
        self.log_std = nn.Parameter(torch.full((action_size,), -0.5))

    def head(self, outputs: int, gain: float) -> nn.Sequential:
        """A perceptron with two hidden layers, each normalised."""
        sizes, layers = (self.encoder.size, 128, 128), []
        for k in range(2):
            layers += [layer(nn.Linear(sizes[k], sizes[k + 1])), nn.LayerNorm(128), nn.ReLU()]
        return nn.Sequential(*layers, layer(nn.Linear(128, outputs), gain))

    def forward(self, observation: dict[str, Tensor]) -> tuple[torch.distributions.Normal, Tensor]:
        """The distribution of actions (n, k), and the value (n,)."""
        features = self.encoder(observation)
        mean = self.mean(features)
        return torch.distributions.Normal(mean, self.log_std.exp().expand_as(mean)), self.value(features).squeeze(-1)


class ReturnScale:
    """Divides rewards by a running standard deviation of discounted returns, so that all tasks have one scale."""

    def __init__(self, env_count: int, gamma: float) -> None:
        self.gamma = gamma
        self.running = np.zeros(env_count)
        self.count, self.mean, self.square = 1e-4, 0.0, 1e-4

    def __call__(self, rewards: Tensor, done: Tensor) -> Tensor:
        """Rewards (n,) of one step, scaled."""
        self.running = self.running * self.gamma + rewards.double().cpu().numpy()
        for value in self.running:  # Welford's update
            self.count += 1.0
            change = value - self.mean
            self.mean += change / self.count
            self.square += change * (value - self.mean)
        self.running[done.cpu().numpy()] = 0.0
        return rewards / (self.square / self.count + 1e-8) ** 0.5


def advantages(rewards: Tensor, values: Tensor, terminated: Tensor, done: Tensor, gamma: float, decay: float) -> Tensor:
    """Generalised advantage estimates (steps, n).

    Args:
        rewards: (steps, n).
        values: (steps + 1, n), of the observations before each step and after the last.
        terminated: (steps, n) bool: the step terminates the episode.
        done: (steps, n) bool: the step ends the episode, terminated or truncated.
        gamma: discount.
        decay: lambda of the estimate.
    """
    result, following = torch.zeros_like(rewards), torch.zeros_like(rewards[0])
    for step in reversed(range(len(rewards))):
        error = rewards[step] + gamma * values[step + 1] * ~terminated[step] - values[step]
        following = error + gamma * decay * following * ~done[step]
        result[step] = following
    return result


def update(agent: Agent, optimizer: Any, batch: dict[str, Any], args: argparse.Namespace) -> dict[str, float]:
    """Trains for some epochs on one rollout; returns means of the losses."""
    count, sums, parts = len(batch["actions"]), {"policy": 0.0, "value": 0.0, "kl": 0.0}, 0
    for _ in range(args.epochs):
        for chosen in torch.randperm(count, device=batch["actions"].device).chunk(args.minibatches):
            distribution, value = agent({key: array[chosen] for key, array in batch["observations"].items()})
            log_ratio = distribution.log_prob(batch["actions"][chosen]).sum(-1) - batch["log_probs"][chosen]
            ratio = log_ratio.exp()
            gain = batch["advantages"][chosen]
            gain = (gain - gain.mean()) / (gain.std() + 1e-8) if len(gain) > 1 else gain
            policy_loss = -torch.min(gain * ratio, gain * ratio.clamp(1.0 - args.clip, 1.0 + args.clip)).mean()
            value_loss = 0.5 * (value - batch["returns"][chosen]).square().mean()
            loss = policy_loss + 0.5 * value_loss - args.entropy * distribution.entropy().sum(-1).mean()
            optimizer.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(agent.parameters(), 0.5)
            optimizer.step()
            parts += 1
            kl = ((ratio - 1.0) - log_ratio).mean().item()
            for key, term in (("policy", policy_loss.item()), ("value", value_loss.item()), ("kl", kl)):
                sums[key] += term
    return {key: total / parts for key, total in sums.items()}


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("task", nargs="?", default="Level-v0")
    parser.add_argument("--steps", type=int, default=200_000, help="total env steps")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--grains", type=int, default=500)
    parser.add_argument("--observation", help="of the task, as state; default: images")
    parser.add_argument("--vision", nargs="+", metavar="KIND", help="of the task: rgb, segmentation, or both")
    parser.add_argument("--see", nargs="+", metavar="KEY", help="entries that the agent sees; default: all")
    parser.add_argument("--frame-skip", type=int, help="control periods per decision; default: 1")
    parser.add_argument("--max-episode-steps", type=int, help="default: the task's")
    parser.add_argument("--rollout", type=int, default=128, help="steps of each env between updates")
    parser.add_argument("--epochs", type=int, default=4)
    parser.add_argument("--minibatches", type=int, default=4)
    parser.add_argument("--learning-rate", type=float, default=3e-4)
    parser.add_argument("--gamma", type=float, default=0.99)
    parser.add_argument("--decay", type=float, default=0.95, help="lambda of the generalised advantage estimate")
    parser.add_argument("--clip", type=float, default=0.2)
    parser.add_argument("--entropy", type=float, default=0.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu", help="cpu or cuda, for the world and the network")
    parser.add_argument("--threads", type=int, help="threads of the world; default: all cores")
    parser.add_argument("--out", type=Path, default=Path("out/ppo"))
    return parser.parse_args()


def main() -> None:
    """Trains; writes weights and report."""
    args = parse()
    sys.path.append(os.getcwd())  # where modules with tasks of one's own lie
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    names = ("max_episode_steps", "observation", "frame_skip", "vision")
    asked = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    envs = gym.make_vec(
        task_id(args.task),
        num_envs=args.envs,
        grain_count=args.grains,
        device=args.device,
        num_threads=args.threads,
        output="torch",
        **asked,
    )
    observation, _ = envs.reset(seed=args.seed)
    space, action_shape = envs.single_observation_space, envs.single_action_space.shape
    assert isinstance(space, gym.spaces.Dict) and action_shape is not None
    if unknown := sorted({*(args.see or ())} - {*space}):
        raise SystemExit(f"--see: expected entries out of {list(space)}, got {', '.join(unknown)}")
    space = gym.spaces.Dict({key: part for key, part in space.items() if not args.see or key in args.see})
    agent = Agent(space, action_shape[0]).to(args.device)
    optimizer = torch.optim.Adam(agent.parameters(), lr=args.learning_rate, eps=1e-5)
    scale = ReturnScale(args.envs, args.gamma)
    starting = torch.zeros(args.envs, dtype=torch.bool, device=args.device)  # envs that the next step resets
    totals, finished, lines = torch.zeros(args.envs, device=args.device), [], []
    begin = time.perf_counter()
    iterations = max(args.steps // (args.envs * args.rollout), 1)
    for iteration in range(1, iterations + 1):
        optimizer.param_groups[0]["lr"] = args.learning_rate * (1.0 - (iteration - 1) / iterations)
        kept: dict[str, list[Any]] = {name: [] for name in ("observation", "action", "log_prob", "value", "reward")}
        kept.update(terminated=[], done=[], counts=[])
        for _ in range(args.rollout):
            with torch.no_grad():
                distribution, value = agent(observation)
                action = distribution.sample()
            following, reward, terminated, truncated, _ = envs.step(action)
            done = terminated | truncated
            totals += reward
            finished += totals[done].tolist()
            totals[done] = 0.0
            entry = {"observation": observation, "action": action, "value": value, "reward": scale(reward, done)}
            entry.update(
                log_prob=distribution.log_prob(action).sum(-1), terminated=terminated, done=done, counts=~starting
            )
            for name, item in entry.items():
                kept[name].append(item)
            observation, starting = following, done
        with torch.no_grad():
            values = torch.stack([*kept["value"], agent(observation)[1]])
        done = torch.stack(kept["done"])
        gain = advantages(
            torch.stack(kept["reward"]), values, torch.stack(kept["terminated"]), done, args.gamma, args.decay
        )
        counts = torch.stack(kept["counts"])
        batch = {
            "observations": {key: torch.stack([o[key] for o in kept["observation"]])[counts] for key in space.spaces},
            "actions": torch.stack(kept["action"])[counts],
            "log_probs": torch.stack(kept["log_prob"])[counts],
            "advantages": gain[counts],
            "returns": (gain + values[:-1])[counts],
        }
        losses = update(agent, optimizer, batch, args)
        steps = iteration * args.envs * args.rollout
        line = {"steps": steps, "episodes": len(finished), "steps_per_second": steps / (time.perf_counter() - begin)}
        line["return"] = float(np.mean(finished[-20:])) if finished else None
        lines.append({**line, **losses})
        shown = "-" if line["return"] is None else f"{line['return']:.2f}"
        print(
            f"{steps:9d} steps, return of the last 20 episodes {shown}, {line['steps_per_second']:.0f} steps/s",
            flush=True,
        )
    envs.close()
    torch.save(agent.state_dict(), args.out / "policy.pt")
    report = {"settings": vars(args), "machine": granular_gym.info(), "iterations": lines}
    (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
