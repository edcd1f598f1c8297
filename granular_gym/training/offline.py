"""offline.py: learners from a dataset alone: behaviour cloning, IQL and TD3+BC.

Behaviour cloning fits the actor to the dataset's actions by their squared error. IQL (Kostrikov et al., "Offline
reinforcement learning with implicit Q-learning", 2021) fits the value of a state as an expectile of those of the
dataset's actions, and weighs each action by the exponential of its advantage. TD3+BC (Fujimoto & Gu, "A minimalist
approach to offline reinforcement learning", 2021) follows the critics' values and stays near the dataset's actions.

Networks, n-step returns and mirror images are those of `sac.py`, so that the file of a policy is, too. The state vector
is within -3 .. 3: it is not normalised further. In IQL the actor is a normal distribution of fixed spread, whose
weighted likelihood is a weighted squared error.
"""

from __future__ import annotations

import copy
import math
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from granular_gym.base import checks
from granular_gym.errors import ArgumentError
from granular_gym.tasks.state_vector import StateVector
from granular_gym.training.batch import make_batch
from granular_gym.training.demonstrations import Demonstrations
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.networks import Actor, Critics, Value, descend, follow, optimiser_of
from granular_gym.training.pretrained import Card, entries_of
from granular_gym.training.replay import Replay, Transitions, half_mirrored
from granular_gym.training.run import versions

#: largest weight of an action in IQL
HEAVIEST = 100.0


@dataclass(frozen=True)
class OfflineSettings:
    """How it learns. Defaults of single methods are those of their papers.

    Attributes:
        method: one of METHODS.
        batch: transitions per gradient step.
        width: of the two hidden layers of each network.
        learning_rate: of all networks.
        discount: per decision.
        n_steps: n of the n-step returns.
        rate: at which target networks follow per gradient step.
        expectile: IQL: of the values of the dataset's actions, that of a state; .5: their mean, 1: the best.
        inverse_temperature: IQL: an action is weighed by exp(inverse_temperature advantage).
        value_weight: TD3+BC: of the critics' value, in units of its mean size, beside the squared error.
        noise: TD3+BC: standard deviation of the noise on the target's actions.
        noise_limit: TD3+BC: its largest size.
        actor_every: TD3+BC: gradient steps of the critics per step of the actor.

    Raises:
        ArgumentError: a value that makes no sense.
    """

    method: str = "iql"
    batch: int = 256
    width: int = 128
    learning_rate: float = 3e-4
    discount: float = 0.98
    n_steps: int = 3
    rate: float = 0.005
    expectile: float = 0.7
    inverse_temperature: float = 3.0
    value_weight: float = 2.5
    noise: float = 0.2
    noise_limit: float = 0.5
    actor_every: int = 2

    def __post_init__(self) -> None:
        checks.choice("method", self.method, tuple(METHODS))
        for name, least in (("batch", 2), ("width", 1), ("n_steps", 1), ("actor_every", 1)):
            checks.integer(name, getattr(self, name), least)
        for name in ("learning_rate", "discount", "rate", "expectile"):
            checks.number(name, getattr(self, name), 0.0, 1.0, above=True)
        for name in ("inverse_temperature", "value_weight", "noise", "noise_limit"):
            checks.number(name, getattr(self, name), 0.0)


class Offline:
    """A learner from a dataset; METHODS are its subclasses, `make_learner` makes one.

    Args:
        env: what the policy will play; it is not played.
        dataset: what is learned from.
        seed: of weights and what is drawn from the dataset.
        settings: how it learns.

    Raises:
        ArgumentError: the dataset is of another task, version, observation, pace or reward than the env, or the env has
            no state vector.
    """

    def __init__(self, env: Any, dataset: Demonstrations, seed: int, settings: OfflineSettings) -> None:
        dataset.check_for(env.about)
        if env.state_vector is None:
            raise ArgumentError("env: expected one that shows the state vector of its task, got another observation")
        self.settings: OfflineSettings = settings
        self.seed: int = checks.integer("seed", seed, 0)
        self.updates: int = 0  # gradient steps so far
        self.about: dict[str, Any] = dataset.about
        self.vector: StateVector = env.state_vector
        self.action_size: int = dataset.steps["actions"].shape[1]
        self.observation_size: int = dataset.steps["observations"].shape[1]
        self._draw = np.random.default_rng(seed)
        self._replay = Replay.of(dataset.steps, settings.discount, settings.n_steps)
        # weights and noise are those of the seed, whatever else of the process draws from torch's generator
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.actor: Actor = Actor(self.observation_size, self.action_size, settings.width)
            self._actor_step = optimiser_of(self.actor, settings.learning_rate)
            self._make_networks()
            self._noise = torch.Generator()
            self._noise.set_state(torch.get_rng_state())

    def learn(self, updates: int) -> None:
        """So many gradient steps more; the result depends on their sum only."""
        for _ in range(checks.integer("updates", updates, 0)):
            drawn = self._replay.sample(self._draw, self.settings.batch)
            turned: Any = (torch.from_numpy(part) for part in half_mirrored(self._draw, self.vector, **drawn._asdict()))
            self._update(Transitions(*turned))
            self.updates += 1

    def predict(self, observations: Any, deterministic: bool = True) -> tuple[NDArray[np.float32], None]:
        """Actions (n, k) for observations (n, size), and None, as Stable-Baselines3 gives them."""
        with torch.no_grad():
            actions = self._actions(torch.from_numpy(np.asarray(observations, np.float32)))
        return actions.numpy(), None

    def card(self, name: str, command: str, seconds: float) -> Card:
        """What `export.write_policy` takes: the card of the policy without results.

        Args:
            name: of the policy.
            command: that trained it.
            seconds: of training.
        """
        about = self.about
        return {
            "name": name,
            "task": about["task"],
            "arguments": about["arguments"],
            "entries": entries_of(self.vector),
            "algorithm": self.settings.method,
            "command": command,
            "seed": self.seed,
            "env_steps": len(self._replay) * about["frame_skip"] * about["repeat"],
            "seconds": seconds,
            "training": {"dataset": about, "learner": asdict(self.settings), "updates": self.updates},
            "versions": versions(),
        }

    def _make_networks(self) -> None:
        """Those besides the actor."""

    def _update(self, batch: Any) -> None:
        """A gradient step on Transitions of tensors."""
        raise NotImplementedError

    def _actions(self, observations: Tensor) -> Tensor:
        return torch.tanh(self.actor(observations)[0])

    def _distances(self, observations: Tensor, actions: Tensor) -> Tensor:
        """(n,) squared errors of the actor, means over the numbers of an action."""
        error = self._actions(observations) - actions
        return (error * error).mean(1)


class Cloning(Offline):
    """Behaviour cloning."""

    def _update(self, batch: Any) -> None:
        descend(self._actor_step, self._distances(batch.observations, batch.labels).mean())


class WithCritics(Offline):
    """A learner with two critics and their targets."""

    def _make_networks(self) -> None:
        settings = self.settings
        self.critics: Critics = Critics(self.observation_size, self.action_size, settings.width)
        self.targets: Critics = copy.deepcopy(self.critics)
        self._critics_step = optimiser_of(self.critics, settings.learning_rate)

    def _fit_critics(self, batch: Any, following: Tensor) -> None:
        """A gradient step to n-step returns with the values (n,) of what follows."""
        error = self.critics(batch.observations, batch.actions) - (batch.rewards + batch.discounts * following)
        descend(self._critics_step, (error * error).mean(1).sum())


class IQL(WithCritics):
    """Implicit Q-learning."""

    def _make_networks(self) -> None:
        super()._make_networks()
        self.value: Value = Value(self.observation_size, self.settings.width)
        self._value_step = optimiser_of(self.value, self.settings.learning_rate)

    def _update(self, batch: Any) -> None:
        settings = self.settings
        with torch.no_grad():
            best = self.targets(batch.observations, batch.actions).amin(0)
            following = self.value(batch.following)
        advantage = best - self.value(batch.observations)
        side = torch.where(advantage > 0.0, settings.expectile, 1.0 - settings.expectile)
        descend(self._value_step, (side * advantage * advantage).mean())
        self._fit_critics(batch, following)
        follow(self.targets, self.critics, settings.rate)
        # bounded before exp: no overflow
        exponent = (settings.inverse_temperature * advantage.detach()).clamp(max=math.log(HEAVIEST))
        descend(self._actor_step, (exponent.exp() * self._distances(batch.observations, batch.actions)).mean())


class TD3BC(WithCritics):
    """TD3 held near the actions of the dataset."""

    def _make_networks(self) -> None:
        super()._make_networks()
        self.target_actor: Actor = copy.deepcopy(self.actor)

    def _update(self, batch: Any) -> None:
        settings = self.settings
        with torch.no_grad():
            wanted = torch.tanh(self.target_actor(batch.following)[0])
            noise = settings.noise * torch.randn(wanted.shape, generator=self._noise)
            noise = noise.clamp(-settings.noise_limit, settings.noise_limit)
            following = self.targets(batch.following, (wanted + noise).clamp(-1.0, 1.0)).amin(0)
        self._fit_critics(batch, following)
        if self.updates % settings.actor_every:
            return
        self.critics.requires_grad_(False)
        value = self.critics(batch.observations, self._actions(batch.observations))[0]
        weight = settings.value_weight / value.detach().abs().mean().clamp(min=1e-6)
        distance = self._distances(batch.observations, batch.actions).mean()
        descend(self._actor_step, distance - weight * value.mean())
        self.critics.requires_grad_(True)
        follow(self.targets, self.critics, settings.rate)
        follow(self.target_actor, self.actor, settings.rate)


METHODS: dict[str, type[Offline]] = {"bc": Cloning, "iql": IQL, "td3bc": TD3BC}


def make_learner(env: Any, dataset: Demonstrations, seed: int, settings: OfflineSettings) -> Offline:
    """The learner of a method, see `Offline`."""
    return METHODS[settings.method](env, dataset, seed, settings)


def env_of(dataset: Demonstrations) -> Any:
    """A `LearnerEnv` of one env as a dataset was recorded with, for `make_learner` to compare with.

    Raises:
        ArgumentError: the dataset does not say what it was recorded with, or there is no such task any more.
    """
    about = dataset.about
    missing = [name for name in ("task", "arguments", "repeat", "reward", "scale") if name not in about]
    if missing:
        raise ArgumentError(f"dataset: expected one that `dataset` wrote, got one without {', '.join(missing)}")
    pace = {name: about[name] for name in ("repeat", "reward", "scale")}
    return LearnerEnv(make_batch(about["task"], 1, {**about["arguments"], "num_threads": 1}), **pace)
