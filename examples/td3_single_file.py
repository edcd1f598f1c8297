"""td3_single_file.py: twin delayed deep deterministic policy gradient (TD3) from scratch, in one file, for many envs.

    python examples/td3_single_file.py [TASK] [--minutes 10] [--envs 32] [--batch 256] [--device cpu] [--out out/td3]

To be read and changed. Sources: Fujimoto et al., "Addressing function approximation error in actor-critic methods"
(2018); Seo et al., "FastTD3: simple, fast, and capable reinforcement learning for humanoid control" (2025) for many
envs, large batches, few updates per step and noise of another size in each env; Ball et al., "Efficient online
reinforcement learning with offline data" (2023) for layer normalisation. n-step returns; half of each batch is
mirrored, left for right. Needs torch. With `--device cuda` worlds, memory and networks are on the GPU: take there
`--envs 1024 --batch 32768`.

Learns from the task's state vector; every action is held for --frame-skip control periods. Prints a line every ten
seconds, plays 20 episodes of 300 grains at the end, and writes policy.pt (weights) and report.json.

A batch with next-step autoreset returns the last observation of an episode; the step after it resets the env, ignores
its action, and is not learned from.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import time
from pathlib import Path
from typing import Any

import gymnasium as gym
import numpy as np
import torch
from torch import Tensor, nn

import granular_gym
from granular_gym.tasks.registry import task_id

WIDTH, RATE, DISCOUNT, STEPS = 128, 5e-4, 0.98, 3  # STEPS: n of n-step returns
TARGET_RATE, TARGET_NOISE, TARGET_CLIP, DELAY = 0.005, 0.2, 0.5, 2  # DELAY: updates of the critics for one of the actor
LEAST_NOISE, LARGEST_NOISE, KEPT = 0.1, 0.6, 0.8  # exploration: standard deviations, and how much of it is kept
SCALE = 10.0  # of rewards; a perfect episode pays about 1


def network(inputs: int, outputs: int) -> nn.Sequential:
    """A perceptron with two hidden layers, each normalised."""
    sizes, layers = (inputs, WIDTH, WIDTH), []
    for k in range(2):
        layers += [nn.Linear(sizes[k], sizes[k + 1]), nn.LayerNorm(WIDTH), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, outputs))


class Memory:
    """A ring of steps of all envs, on the device.

    Args:
        steps: how many of each env it holds.
        env_count: number of envs.
        state_size: numbers of a state.
        action_size: numbers of an action.
        device: of torch.
    """

    def __init__(self, steps: int, env_count: int, state_size: int, action_size: int, device: str) -> None:
        def empty(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
            return torch.zeros((steps, env_count, *shape), dtype=dtype, device=device)

        self.states, self.after = empty(state_size), empty(state_size)
        self.actions, self.rewards = empty(action_size), empty()
        #: of each step: the episode was terminated, the episode ended, it is one to learn from
        self.terminated, self.ended, self.valid = (empty(dtype=torch.bool) for _ in range(3))
        self.added = 0

    def add(self, **parts: Tensor) -> None:
        """A step of all envs, by the names of the attributes."""
        for name, values in parts.items():
            getattr(self, name)[self.added % len(self.states)] = values
        self.added += 1

    def batch(self, count: int) -> tuple[Tensor, ...]:
        """Transitions over up to STEPS steps drawn evenly: states, actions, rewards, states after, discounts, and
        weights, which are 0 where a step is none to learn from."""
        steps, env_count = self.rewards.shape
        kept, device = min(self.added, steps), self.states.device
        first = torch.randint(self.added - kept, self.added, (count,), device=device)
        env = torch.randint(env_count, (count,), device=device)
        rewards, discounts = torch.zeros(count, device=device), torch.ones(count, device=device)
        row = last = first % steps
        running = weight = self.valid[row, env]
        for k in range(STEPS):
            row = (first + k) % steps
            running = running & self.valid[row, env] if k else running
            last = torch.where(running, row, last)
            rewards += torch.where(running, discounts * self.rewards[row, env], 0.0)
            discounts = torch.where(running, DISCOUNT * discounts, discounts)
            running = running & ~self.ended[row, env] & (first + k + 1 < self.added)
        discounts = torch.where(self.terminated[last, env], 0.0, discounts)
        row = first % steps
        return self.states[row, env], self.actions[row, env], rewards, self.after[last, env], discounts, weight.float()


class Learner:
    """Actor and two critics with their targets.

    Args:
        vector: the task's state vector, which knows the mirror image of a state.
        action_size: numbers of an action.
        device: of torch.
    """

    def __init__(self, vector: Any, action_size: int, device: str) -> None:
        self.actor = network(vector.size, action_size).to(device)
        self.critics = nn.ModuleList(network(vector.size + action_size, 1) for _ in range(2)).to(device)
        self.target_actor, self.target_critics = (
            copy.deepcopy(net).requires_grad_(False) for net in (self.actor, self.critics)
        )
        self.optimisers = [torch.optim.Adam(net.parameters(), lr=RATE) for net in (self.actor, self.critics)]
        self.updates = 0
        self.mirror: Tensor | None = None
        if vector.action_signs is not None:  # the mirror image of a row is its product with those of the unit vectors
            self.mirror = torch.from_numpy(vector.mirrored(np.eye(vector.size, dtype=np.float32))).to(device)
            self.signs = torch.from_numpy(vector.action_signs).to(device)

    def act(self, states: Tensor) -> Tensor:
        """Actions (n, k) without noise."""
        with torch.no_grad():
            return torch.tanh(self.actor(states))

    @staticmethod
    def values(critics: nn.ModuleList, states: Tensor, actions: Tensor) -> Tensor:
        """(2, n)."""
        joined = torch.cat([states, actions], dim=1)
        return torch.stack([critic(joined).squeeze(1) for critic in critics])

    def update(self, batch: tuple[Tensor, ...]) -> None:
        """A step of the critics, every DELAY-th time one of the actor and the targets."""
        states, actions, rewards, after, discounts, weights = batch
        if self.mirror is not None:
            half = len(states) // 2
            states = torch.cat([states[:half] @ self.mirror, states[half:]])
            after = torch.cat([after[:half] @ self.mirror, after[half:]])
            actions = torch.cat([actions[:half] * self.signs, actions[half:]])
        with torch.no_grad():
            noise = (TARGET_NOISE * torch.randn_like(actions)).clamp(-TARGET_CLIP, TARGET_CLIP)
            following = (torch.tanh(self.target_actor(after)) + noise).clamp(-1.0, 1.0)
            wanted = rewards + discounts * self.values(self.target_critics, after, following).amin(0)
        error = weights * (self.values(self.critics, states, actions) - wanted)
        self.descend(1, error.square().mean(1).sum())
        self.updates += 1
        if self.updates % DELAY:
            return
        self.critics.requires_grad_(False)
        value = self.values(self.critics, states, torch.tanh(self.actor(states)))[0]
        self.descend(0, -(weights * value).mean())
        self.critics.requires_grad_(True)
        with torch.no_grad():
            for target, source in ((self.target_actor, self.actor), (self.target_critics, self.critics)):
                for old, new in zip(target.parameters(), source.parameters(), strict=True):
                    old.lerp_(new, TARGET_RATE)

    def descend(self, which: int, loss: Tensor) -> None:
        """A step of one optimiser."""
        self.optimisers[which].zero_grad()
        loss.backward()
        self.optimisers[which].step()


def make(args: argparse.Namespace, **arguments: Any) -> Any:
    """The batch of envs, with torch tensors on the device."""
    return gym.make_vec(
        task_id(args.task),
        observation="state",
        frame_skip=args.frame_skip,
        device=args.device,
        num_threads=args.threads,
        output="torch",
        **arguments,
    )


def evaluate(learner: Learner, args: argparse.Namespace) -> list[float]:
    """Returns of episodes of 300 grains with seeds from 100,000 on."""
    envs = make(args, num_envs=args.episodes, grain_count=300)
    states = envs.reset(seed=100_000)[0]["state"]
    returns, running = torch.zeros(args.episodes, device=args.device), torch.ones(args.episodes, dtype=torch.bool)
    running = running.to(args.device)
    while running.any():
        observation, rewards, terminated, truncated, _ = envs.step(learner.act(states))
        returns += running * rewards
        running &= ~(terminated | truncated)
        states = observation["state"]
    envs.close()
    return returns.tolist()  # type: ignore[no-any-return]


def parse() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", nargs="?", default="Bulldozer-v1")
    parser.add_argument("--minutes", type=float, default=10.0, help="wall time of training")
    parser.add_argument("--frame-skip", type=int, default=5, help="control periods per decision")
    parser.add_argument("--envs", type=int, default=32)
    parser.add_argument("--grains", type=int, default=100)
    parser.add_argument("--batch", type=int, default=256, help="transitions per update")
    parser.add_argument("--updates", type=int, default=16, help="per decision of all envs together")
    parser.add_argument("--warm-up", type=int, default=50, help="random decisions of each env before learning")
    parser.add_argument("--memory", type=int, default=200_000, help="steps kept, of all envs together")
    parser.add_argument("--episodes", type=int, default=20, help="of the evaluation")
    parser.add_argument("--device", default="cpu", help="cpu or cuda, for the world and the networks")
    parser.add_argument("--threads", type=int, default=1, help="of the world")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/td3"))
    return parser.parse_args()


def main() -> None:
    """Trains, evaluates, writes."""
    args = parse()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    if args.device == "cpu":
        torch.set_num_threads(1)  # of networks this small, more are slower
    begin = time.perf_counter()
    envs = make(args, num_envs=args.envs, grain_count=args.grains)
    vector, action_size = envs.unwrapped.task.state_vector, envs.single_action_space.shape[0]
    learner = Learner(vector, action_size, args.device)
    memory = Memory(max(args.memory // args.envs, STEPS), args.envs, vector.size, action_size, args.device)
    # each env explores with noise of its own size that drifts: uncorrelated noise hardly moves a vehicle
    sizes = torch.linspace(LEAST_NOISE, LARGEST_NOISE, args.envs, device=args.device)[:, None]
    drift = torch.zeros(args.envs, action_size, device=args.device)
    starting = torch.zeros(args.envs, dtype=torch.bool, device=args.device)  # envs that the next step resets
    totals, finished, lines = torch.zeros(args.envs, device=args.device), [], []
    states, decisions, said = envs.reset(seed=args.seed)[0]["state"], 0, begin
    while time.perf_counter() - begin < 60.0 * args.minutes:
        cold = decisions < args.warm_up
        drift = KEPT * drift + (1.0 - KEPT**2) ** 0.5 * torch.randn_like(drift)
        actions = 2.0 * torch.rand_like(drift) - 1.0 if cold else (learner.act(states) + sizes * drift).clamp(-1.0, 1.0)
        observation, rewards, terminated, truncated, infos = envs.step(actions)
        after, ended = observation["state"], terminated | truncated
        diverged = torch.as_tensor(infos["diverged"], device=args.device)  # an env that is not finite teaches nothing
        memory.add(
            states=states,
            after=after,
            actions=actions,
            rewards=SCALE * rewards,
            terminated=terminated,
            ended=ended,
            valid=~starting & ~diverged,
        )
        totals += torch.where(starting, 0.0, rewards)
        finished += totals[ended].tolist()
        totals[ended] = 0.0
        states, starting, decisions = after, ended, decisions + 1
        for _ in range(0 if cold else args.updates):
            learner.update(memory.batch(args.batch))
        if time.perf_counter() - said > 10.0:
            said = time.perf_counter()
            mean = float(np.mean(finished[-args.envs :])) if finished else math.nan
            env_steps = decisions * args.envs * args.frame_skip
            lines.append({"seconds": said - begin, "env_steps": env_steps, "return": mean})
            print(f"{said - begin:5.0f} s, {env_steps:10,} env steps, return {mean:.3g}", flush=True)
    envs.close()
    returns = evaluate(learner, args) if args.episodes else []
    if returns:
        print(f"{args.episodes} episodes, 300 grains: return {np.mean(returns):.3g}")
    torch.save(learner.actor.state_dict(), args.out / "policy.pt")
    report = {"settings": vars(args), "machine": granular_gym.info(), "lines": lines, "returns": returns}
    (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
