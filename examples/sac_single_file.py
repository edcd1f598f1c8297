"""sac_single_file.py: soft actor-critic (SAC) that begins with demonstrations, in one file.

    python examples/sac_single_file.py [TASK] [--minutes 5] [--demonstrations 32] [--seed 0] [--out out/sac]

To be read and changed; `granular_gym/training/sac.py` is the same method with checkpoints, a thread for the envs and
checks. Sources: Haarnoja et al., "Soft actor-critic algorithms and applications" (2018); Ball et al., "Efficient online
reinforcement learning with offline data" (2023) for layer normalisation and batches of which half is demonstrations.
Needs torch. --demonstrations 0 learns from scratch.

Learns from the task's state vector with 100 grains; every action is held for --frame-skip control periods. Prints a
line every ten seconds, plays 10 episodes of 300 grains at the end, and writes policy.pt (weights) and report.json.
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
from torch.nn import functional

import granular_gym
from granular_gym.tasks.expert import scripted_expert
from granular_gym.tasks.registry import task_id

WIDTH, BATCH, RATE, DISCOUNT, STEPS = 128, 256, 1e-3, 0.98, 3  # STEPS: n of n-step returns
TARGET_RATE, CLONE_WEIGHT, SCALE = 0.005, 1.0, 10.0  # SCALE: of rewards; a perfect episode pays about 1
EPOCHS, CRITIC_UPDATES, WARM_UP = 60, 1500, 1000  # of cloning, of the critics alone, decisions before own experience
NOISE = 0.4  # largest share of the disturbance of a demonstration


def network(inputs: int, outputs: int) -> nn.Sequential:
    """A perceptron with two hidden layers, each normalised."""
    sizes, layers = (inputs, WIDTH, WIDTH), []
    for k in range(2):
        layers += [nn.Linear(sizes[k], sizes[k + 1]), nn.LayerNorm(WIDTH), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(WIDTH, outputs))


def sampled(actor: nn.Module, states: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Actions drawn for states (n, size), the logarithms of their densities (n,), and the actions without noise."""
    mean, spread = actor(states).chunk(2, dim=1)
    spread = -5.0 + 3.5 * (torch.tanh(spread) + 1.0)  # logarithm of the standard deviation, -5 .. 2
    noise = torch.randn_like(mean)
    raw = mean + noise * spread.exp()
    density = (-0.5 * noise**2 - spread - 0.5 * math.log(2.0 * math.pi)).sum(1)
    slope = 2.0 * (math.log(2.0) - raw - functional.softplus(-2.0 * raw)).sum(1)  # log(1 - tanh(raw)^2)
    return torch.tanh(raw), density - slope, torch.tanh(mean)


class Memory:
    """Transitions over STEPS decisions: state, action, action of the expert, reward, state after, discount.

    Args:
        vector: the task's state vector, which knows the mirror image of a state.
        env_count: envs that add steps side by side.
    """

    def __init__(self, vector: Any, env_count: int) -> None:
        self.vector = vector
        self.rows: list[tuple[Any, ...]] = []
        self.open: list[list[Any]] = [[] for _ in range(env_count)]  # steps of each env that wait for later rewards

    def add(
        self, env: int, state: Any, action: Any, label: Any, reward: float, after: Any, end: tuple[bool, bool]
    ) -> None:
        """A step of an env; `end`: whether it terminated the episode, and whether it ended it."""
        waiting = self.open[env]
        waiting.append([state, action, label, 0.0, 1.0])
        for step in waiting:
            step[3] += step[4] * reward
            step[4] *= DISCOUNT
        while waiting and (end[1] or len(waiting) == STEPS):
            state, action, label, paid, discount = waiting.pop(0)
            self.rows.append((state, action, label, paid, after, 0.0 if end[0] else discount))

    def batch(self, count: int, draw: np.random.Generator) -> list[Tensor]:
        """Transitions drawn evenly, half of them mirrored where the task has a mirror image."""
        chosen = [self.rows[k] for k in draw.integers(0, len(self.rows), count)]
        columns = [np.array(column, np.float32) for column in zip(*chosen, strict=True)]
        if self.vector.action_signs is not None:
            half = slice(0, count // 2)
            for k in (0, 4):
                columns[k][half] = self.vector.mirrored(columns[k][half])
            for k in (1, 2):
                columns[k][half] *= self.vector.action_signs
        return [torch.from_numpy(column) for column in columns]


class Learner:
    """Actor, two critics and temperature."""

    def __init__(self, state_size: int, action_size: int) -> None:
        self.action_size = action_size
        self.actor = network(state_size, 2 * action_size)
        self.critics = nn.ModuleList(network(state_size + action_size, 1) for _ in range(2))
        self.targets = copy.deepcopy(self.critics).requires_grad_(False)
        self.log_temperature = torch.tensor(math.log(0.05), requires_grad=True)
        groups: list[Any] = [self.actor.parameters(), self.critics.parameters(), [self.log_temperature]]
        self.optimisers = [torch.optim.Adam(list(group), lr=RATE) for group in groups]

    def act(self, states: Any, noise: bool) -> Any:
        """Actions (n, k) for state vectors (n, size)."""
        with torch.no_grad():
            drawn, _, quiet = sampled(self.actor, torch.from_numpy(np.asarray(states, np.float32)))
        return (drawn if noise else quiet).numpy()

    def clone(self, states: Tensor, labels: Tensor) -> None:
        """A step of the actor towards the actions of the expert."""
        self.descend(0, (sampled(self.actor, states)[2] - labels).square().mean())

    def update(self, batch: list[Tensor], shown: int, actor: bool = True) -> None:
        """A step of all; the first `shown` rows of the batch are demonstrations."""
        states, actions, labels, rewards, after, discounts = batch
        temperature = self.log_temperature.exp().detach()
        with torch.no_grad():
            following, density, _ = sampled(self.actor, after)
            wanted = rewards + discounts * (self.values(self.targets, after, following).amin(0) - temperature * density)
        self.descend(1, (self.values(self.critics, states, actions) - wanted).square().mean(1).sum())
        if actor:
            own, density, quiet = sampled(self.actor, states)
            loss = (temperature * density - self.values(self.critics, states, own).amin(0)).mean()
            if shown:
                loss = loss + CLONE_WEIGHT * (quiet[:shown] - labels[:shown]).square().mean()
            self.descend(0, loss)
            self.descend(2, self.log_temperature.exp() * (self.action_size - density.detach()).mean())
        with torch.no_grad():
            for target, source in zip(self.targets.parameters(), self.critics.parameters(), strict=True):
                target.lerp_(source, TARGET_RATE)

    @staticmethod
    def values(critics: nn.ModuleList, states: Tensor, actions: Tensor) -> Tensor:
        """(2, n)."""
        joined = torch.cat([states, actions], dim=1)
        return torch.stack([critic(joined).squeeze(1) for critic in critics])

    def descend(self, which: int, loss: Tensor) -> None:
        """A step of one optimiser; gradients that it leaves in the other networks are cleared by theirs."""
        self.optimisers[which].zero_grad()
        loss.backward()
        self.optimisers[which].step()


def play(envs: Any, actions: Any) -> tuple[Any, ...]:
    """A decision: states to act on (n, size), states after it, of an episode that ended its last one, scaled rewards,
    and for each env whether the episode was terminated, has ended, has diverged."""
    observation, rewards, terminated, truncated, infos = envs.step(actions)
    ended = terminated | truncated
    after, diverged = observation["state"].copy(), infos["diverged"].copy()
    for k in np.flatnonzero(ended):
        after[k], diverged[k] = infos["final_obs"][k]["state"], infos["final_info"]["diverged"][k]
    return observation["state"], after, SCALE * rewards, terminated, ended, diverged


def demonstrate(envs: Any, memory: Memory, episodes: int, seed: int, draw: np.random.Generator) -> None:
    """Plays the scripted expert, disturbed by noise that drifts, and keeps what it did and what it wanted."""
    done = 0
    while done < episodes:
        states = envs.reset(seed=seed + done)[0]["state"]
        expert, drift = scripted_expert(envs), np.zeros((envs.num_envs, envs.single_action_space.shape[0]))
        level, running = draw.uniform(0.0, NOISE, (envs.num_envs, 1)), np.ones(envs.num_envs, bool)
        while running.any():
            labels = expert.act()
            drift = 0.8 * drift + 0.6 * draw.normal(size=drift.shape)
            actions = np.clip(labels + level * drift, -1.0, 1.0).astype(np.float32)
            following, after, rewards, terminated, ended, diverged = play(envs, actions)
            for k in np.flatnonzero(running & ~diverged):
                memory.add(k, states[k], actions[k], labels[k], rewards[k], after[k], (terminated[k], ended[k]))
            states, running = following, running & ~ended
        memory.open = [[] for _ in memory.open]
        done += envs.num_envs


def make(args: argparse.Namespace, **arguments: Any) -> Any:
    """The batch of envs; an env whose episode ended begins the next one within the same step."""
    return gym.make_vec(
        task_id(args.task), observation="state", frame_skip=args.frame_skip, autoreset_mode="SameStep", **arguments
    )


def main() -> None:
    """Trains, evaluates, writes."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("task", nargs="?", default="Bulldozer-v1")
    parser.add_argument("--minutes", type=float, default=5.0, help="wall time of training, with demonstrations")
    parser.add_argument("--demonstrations", type=int, default=32, help="episodes of the expert; 0: none")
    parser.add_argument("--frame-skip", type=int, default=5, help="control periods per decision")
    parser.add_argument("--envs", type=int, default=8)
    parser.add_argument("--grains", type=int, default=100)
    parser.add_argument("--episodes", type=int, default=10, help="of the evaluation")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("out/sac"))
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)  # of networks this small, more are slower
    draw, begin = np.random.default_rng(args.seed), time.perf_counter()
    envs = make(args, num_envs=args.envs, grain_count=args.grains)
    vector, action_shape = envs.unwrapped.task.state_vector, envs.single_action_space.shape
    learner = Learner(vector.size, action_shape[0])
    shown, own = Memory(vector, args.envs), Memory(vector, args.envs)
    if args.demonstrations:
        demonstrate(envs, shown, args.demonstrations, args.seed, draw)
        for _ in range(EPOCHS * len(shown.rows) // BATCH):
            states, _, labels, *_ = shown.batch(BATCH, draw)
            learner.clone(states, labels)
        for _ in range(CRITIC_UPDATES):
            if time.perf_counter() - begin > 30.0 * args.minutes:
                break  # half of the time is for the task itself
            learner.update(shown.batch(BATCH, draw), BATCH, actor=False)
    states, decisions, lines, said = envs.reset(seed=args.seed)[0]["state"], 0, [], time.perf_counter()
    totals, finished = np.zeros(args.envs), []
    while not decisions or time.perf_counter() - begin < 60.0 * args.minutes:
        cold = not shown.rows and len(own.rows) < WARM_UP
        actions = (
            draw.uniform(-1.0, 1.0, (args.envs, *action_shape)).astype(np.float32)
            if cold
            else learner.act(states, True)
        )
        following, after, rewards, terminated, ended, diverged = play(envs, actions)
        totals += rewards / SCALE
        for k in range(args.envs):
            if diverged[k]:
                own.open[k] = []  # an env that is no longer finite teaches nothing
            else:
                own.add(k, states[k], actions[k], actions[k], rewards[k], after[k], (terminated[k], ended[k]))
        finished += totals[ended].tolist()
        totals[ended] = 0.0
        states, decisions = following, decisions + args.envs
        for _ in range(0 if cold else args.envs):
            if not shown.rows:
                learner.update(own.batch(BATCH, draw), 0)
            elif len(own.rows) < WARM_UP:
                learner.update(shown.batch(BATCH, draw), BATCH)
            else:
                halves = shown.batch(BATCH // 2, draw), own.batch(BATCH // 2, draw)
                learner.update([torch.cat(pair) for pair in zip(*halves, strict=True)], BATCH // 2)
        if time.perf_counter() - said > 10.0:
            said = time.perf_counter()
            mean = float(np.mean(finished[-20:])) if finished else math.nan
            lines.append({"seconds": said - begin, "env_steps": decisions * args.frame_skip, "return": mean})
            print(f"{said - begin:5.0f} s, {decisions * args.frame_skip:8,} env steps, return {mean:.3g}", flush=True)
    envs.close()
    envs = make(args, num_envs=args.episodes, grain_count=300)
    states, returns, running = (
        envs.reset(seed=100_000)[0]["state"],
        np.zeros(args.episodes),
        np.ones(args.episodes, bool),
    )
    while running.any():
        observation, rewards, terminated, truncated, _ = envs.step(learner.act(states, False))
        returns += running * rewards
        running &= ~(terminated | truncated)
        states = observation["state"]
    envs.close()
    print(f"{args.episodes} episodes, 300 grains: return {returns.mean():.3g}")
    torch.save(learner.actor.state_dict(), args.out / "policy.pt")
    report = {"settings": vars(args), "machine": granular_gym.info(), "env_steps": decisions * args.frame_skip}
    report |= {"lines": lines, "returns": returns.tolist()}
    (args.out / "report.json").write_text(json.dumps(report, indent=1, default=str) + "\n")


if __name__ == "__main__":
    main()
