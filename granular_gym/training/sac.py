"""sac.py: soft actor-critic that begins with demonstrations, where there are any, and learns while the envs step.

Haarnoja et al., "Soft actor-critic algorithms and applications" (2018): two critics, learned temperature. On top of it:
n-step returns; layer normalisation in all networks (Ball et al., "Efficient online reinforcement learning with offline
data", 2023), half of each batch demonstrations (the same), the actor first cloned and then held near them by their
squared error; scenes and their mirror images in equal numbers, where the task has one.

From pixels it is asymmetric (Pinto et al., "Asymmetric actor critic for image-based robot learning", 2018): in training
the critics see the task's state vector, and the actor, which looks at images alone (`gaze.py`), learns from it where
its vehicle is. What was learned acts by images alone.

It is shown to `run.py` as Stable-Baselines3 shows its algorithms. A thread plays the envs while the batch before is
learned from; what is learned does not depend on which is faster.
"""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from granular_gym.base import checks
from granular_gym.base.types import Floats
from granular_gym.errors import ArgumentError
from granular_gym.tasks.state_vector import NAME as STATE
from granular_gym.tasks.state_vector import StateVector
from granular_gym.training import demonstrations, hindsight
from granular_gym.training.demonstrations import Demonstrations
from granular_gym.training.gaze import Gaze
from granular_gym.training.hindsight import Hindsight
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.networks import (
    LARGEST_LOG_STD,
    LEAST_LOG_STD,
    Actor,
    Critics,
    GazingActor,
    descend,
    follow,
    optimiser_of,
)
from granular_gym.training.pretrained import load_pretrained
from granular_gym.training.recipes import recipe_of
from granular_gym.training.replay import Replay, Transitions, half_mirrored
from granular_gym.training.rows import Mirror, Rows, plain, vectors_of


@dataclass(frozen=True)
class SacSettings:
    """How it learns.

    Attributes:
        demonstrations: episodes of the scripted expert to begin with, where none are given; 0: from scratch.
        teacher: policy in a file, see `pretrained.load_pretrained`, that reads the state vector and says what was to be
            done in the demonstrations and in each decision of the actor's own (Ross et al., "A reduction of imitation
            learning and structured prediction to no-regret online learning", 2011); "": the expert says it of the
            demonstrations.
        epochs: passes over the demonstrations by which the actor is cloned.
        critic_updates: of the critics alone after that.
        clone_weight: of the squared error to the demonstrated actions in the actor's loss.
        value_weight: of entropy and the critics' values in the actor's loss; 0: it only clones.
        gaze_weight: of pixels: of the error of the vehicle's pose, as the actor reads it, in its loss.
        updates: gradient steps per decision of an env.
        warm_up: decisions before learning begins; from scratch they are random.
        batch: transitions per gradient step.
        width: of the two hidden layers of each network.
        learning_rate: of all networks and the temperature.
        discount: per decision.
        n_steps: n of the n-step returns.
        rate: at which the target critics follow per gradient step.
        temperature: at the beginning.
        log_std: largest log standard deviation of the actor's normal distribution, before tanh.
        entropy: aimed at, per number of an action.
        capacity: decisions in the replay buffer.
        hindsight: share of own experience in a batch that is relabelled as if another goal had been drawn, 0 .. 1, of
            tasks whose state vector can be computed for any goal (see hindsight.py).

    Raises:
        ArgumentError: a value that makes no sense.
    """

    demonstrations: int = 32
    teacher: str = ""
    epochs: int = 60
    critic_updates: int = 1500
    clone_weight: float = 1.0
    value_weight: float = 1.0
    gaze_weight: float = 1.0
    updates: int = 1
    warm_up: int = 1000
    batch: int = 256
    width: int = 128
    learning_rate: float = 5e-4
    discount: float = 0.98
    n_steps: int = 3
    rate: float = 0.005
    temperature: float = 0.05
    log_std: float = LARGEST_LOG_STD
    entropy: float = -1.0
    capacity: int = 200_000
    hindsight: float = 0.0

    def __post_init__(self) -> None:
        for name, least in (("demonstrations", 0), ("epochs", 0), ("critic_updates", 0), ("updates", 1), ("warm_up", 0),
                            ("batch", 2), ("width", 1), ("n_steps", 1), ("capacity", 1)):  # fmt: skip
            checks.integer(name, getattr(self, name), least)
        for name in ("clone_weight", "value_weight", "gaze_weight"):
            checks.number(name, getattr(self, name), 0.0)
        if not (self.clone_weight or self.value_weight):
            raise ArgumentError("clone_weight: expected more than 0 where value_weight is 0, got 0.0")
        checks.number("log_std", self.log_std, LEAST_LOG_STD, above=True)
        checks.number("entropy", self.entropy)
        checks.number("hindsight", self.hindsight, 0.0, 1.0)
        if self.hindsight and self.teacher:
            raise ArgumentError(f"hindsight: expected 0 with a teacher, who knows one goal, got {self.hindsight}")
        checks.number("temperature", self.temperature, 0.0, above=True)
        for name in ("learning_rate", "discount", "rate"):
            checks.number(name, getattr(self, name), 0.0, 1.0, above=True)

    @classmethod
    def of(cls, task: str, pixels: bool = False, **given: Any) -> SacSettings:
        """What is given, then the task's recipe, then the defaults.

        Args:
            task: id, see `task_id`.
            pixels: the actor looks at pixels.
            given: settings by name.

        Raises:
            ArgumentError: a value that makes no sense, or a name that is no setting.
        """
        recipe = recipe_of(task)
        values = {**(recipe.pixels if pixels else recipe.sac), **given}
        names = [field.name for field in fields(cls)]
        for name in values:
            if name not in names:
                raise ArgumentError(f"sac: expected settings of SAC ({', '.join(names)}), got {name!r}")
        return cls(**values)


# the learner ---------------------------------------------------------------------------------------------------------


def _gaze_of(env: LearnerEnv) -> dict[str, Any]:
    """Arguments of `Gaze` for a batch that shows pixels beside the state vector; of others none.

    Raises:
        ArgumentError: the task's recipe has no gaze, or one of images or entries of the vector that are not there, or
            images above that differ in size.
    """
    kind, task, named = env.features.kind, env.batch.spec.id, recipe_of(env.batch.spec.id).gaze
    if not kind.names:
        return {}
    shapes = {name: kind[name].shape for name in kind.names if name != STATE}
    if not named or {*named["above"], *named["ahead"]} != shapes.keys():
        raise ArgumentError(f"gaze: expected one in the recipe of {task} for {sorted(shapes)}, got {dict(named)}")
    if len({shapes[name] for name in named["above"]}) != 1:
        raise ArgumentError(f"gaze: expected images above of one size in the recipe of {task}, got {shapes}")
    return {"shapes": shapes, **named, "pose": env.batch.task.state_vector.numbers_of("place", "heading")}


def _tensors_of(rows: Any) -> Any:
    """Rows as a tensor (n, size), or records as tensors (n, ...) by name."""
    rows = np.asarray(rows)
    if rows.dtype.names:
        return {name: torch.from_numpy(np.ascontiguousarray(rows[name])) for name in rows.dtype.names}
    return torch.from_numpy(np.asarray(rows, np.float32))


def _states_of(observations: Any) -> Tensor:
    """Of observations, as `_tensors_of` gives them, the vectors (n, size)."""
    states: Tensor = observations[STATE] if isinstance(observations, dict) else observations
    return states


class Memory(NamedTuple):
    """What is learned from: own experience, demonstrations or None, and own experience with other goals or None."""

    own: Replay
    shown: Replay | None
    relabelled: Hindsight | None = None


class SAC:
    """The learner of a batch of envs.

    Args:
        env: the batch.
        seed: of weights, exploration and what is drawn from memory.
        settings: how it learns.
        shown: demonstrations; None: `settings.demonstrations` episodes are played in the batch before learning begins.

    Raises:
        ArgumentError: the demonstrations are of another task, observation or pace, or missing where only they are
            learned from; the env shows pixels that the task's recipe has no gaze for.
    """

    logger: Any

    def __init__(self, env: LearnerEnv, seed: int, settings: SacSettings, shown: Demonstrations | None = None) -> None:
        if shown is not None:
            shown.check_for(env.about)
        elif not (settings.demonstrations or settings.value_weight or settings.teacher):
            raise ArgumentError("demonstrations: expected some where value_weight is 0, got none: nothing is learned")
        self.settings: SacSettings = settings
        self.seed: int = checks.integer("seed", seed, 0)
        self.num_timesteps: int = 0  # decisions of all envs together
        torch.manual_seed(seed)
        self._draw = np.random.default_rng(seed)
        self.action_size: int = env.batch.single_action_space.shape[0]
        self.kind: np.dtype[Any] = env.features.kind
        self.gaze: dict[str, Any] = _gaze_of(env)
        self._make_networks()
        self._given: Demonstrations | None = shown
        self._observations: Rows | None = None
        self.set_env(env)
        self.replay_buffer: Memory = self._empty_memory()

    @property
    def observation_size(self) -> int:
        """Numbers of the vector that the critics see, and the actor where it does not look at pixels."""
        return int(vectors_of(np.zeros(1, self.kind)).shape[1])

    @property
    def looks_at(self) -> tuple[str, ...]:
        """Names of the images that the actor sees; (): it sees the features of `LearnerEnv`."""
        return tuple(self.gaze["shapes"]) if self.gaze else ()

    def _make_networks(self) -> None:
        sizes, rate = (self.observation_size, self.action_size, self.settings.width), self.settings.learning_rate
        self.actor: Actor = (
            GazingActor(Gaze(**self.gaze), *sizes[1:], self.settings.log_std)
            if self.gaze
            else Actor(*sizes, self.settings.log_std)
        )
        self.critics: Critics = Critics(*sizes)
        self.targets: Critics = Critics(*sizes)
        self.targets.load_state_dict(self.critics.state_dict())
        self.log_temperature: Tensor = torch.tensor(math.log(self.settings.temperature), requires_grad=True)
        self._optimisers: dict[str, Any] = {
            "actor": optimiser_of(self.actor, rate),
            "critics": optimiser_of(self.critics, rate),
            "temperature": torch.optim.Adam([self.log_temperature], lr=rate),
        }

    def set_env(self, env: LearnerEnv) -> None:
        """The batch to learn in."""
        if self.settings.hindsight:
            hindsight.check(env)
        self.env: LearnerEnv = env
        self.action_space: Any = env.action_space
        self.mirror: StateVector | Mirror | None = env.mirror
        teacher = self.settings.teacher
        self._teacher: Any = load_pretrained(teacher).policy(env.batch) if teacher else None

    def _replay(self, capacity: int, env_count: int) -> Replay:
        settings = self.settings
        return Replay(capacity, env_count, self.kind, self.action_size, settings.discount, settings.n_steps)

    def _empty_memory(self) -> Memory:
        capacity, count = self.settings.capacity, self.env.num_envs
        relabelled = Hindsight(count, self._replay(capacity, 1)) if self.settings.hindsight else None
        return Memory(self._replay(capacity, count), None, relabelled)

    def set_logger(self, logger: Any) -> None:
        """Where losses go: a logger of Stable-Baselines3."""
        self.logger = logger

    # acting ----------------------------------------------------------------------------------------------------------

    def predict(self, observations: Any, deterministic: bool = True) -> tuple[NDArray[np.float32], None]:
        """Actions (n, k) for observations in n rows, and None, as Stable-Baselines3 gives them."""
        with torch.no_grad():
            seen = self.actor.see(_tensors_of(observations))
            actions = torch.tanh(self.actor(seen)[0]) if deterministic else self.actor.sample(seen)[0]
        return actions.numpy(), None

    def _explore(self) -> NDArray[np.float32]:
        """Actions of all envs in training."""
        if self.replay_buffer.shown is None and self.num_timesteps < self.settings.warm_up:
            shape = self.env.num_envs, self.action_size
            return self._draw.uniform(-1.0, 1.0, shape).astype(np.float32)
        return self.predict(self._observations, deterministic=not self.settings.value_weight)[0]

    def _labels(self, observations: Rows, otherwise: Floats) -> Floats:
        """What the teacher would do in rows of observations; without one what is given."""
        if self._teacher is None:
            return otherwise
        labels: Floats = self._teacher({STATE: vectors_of(observations)})
        return labels

    # learning --------------------------------------------------------------------------------------------------------

    def learn(self, decisions: int, callback: Any, reset_num_timesteps: bool = False) -> SAC:
        """Plays and learns for so many decisions of all envs together.

        Args:
            decisions: how many; the first call also takes in the demonstrations.
            callback: of Stable-Baselines3, called after every decision of the batch with its infos.
            reset_num_timesteps: counts from 0.
        """
        if reset_num_timesteps:
            self.num_timesteps = 0
        callback.init_callback(self)
        if self._observations is None:
            self._begin()
        env, end = self.env, self.num_timesteps + decisions
        assert self._observations is not None
        with ThreadPoolExecutor(1) as pool:
            while self.num_timesteps < end:
                before, actions = self._observations, self._explore()
                relabelled = self.replay_buffer.relabelled
                if relabelled is not None:
                    relabelled.watch(env, actions)
                played = pool.submit(env.step, actions)
                if self._has_begun():
                    for _ in range(self.settings.updates * env.num_envs):
                        self._update()
                seen: Any
                seen, rewards, ends, infos = played.result()
                self._observations, last = seen, seen.copy()
                for k in np.flatnonzero(ends):
                    last[k] = infos[k]["terminal_observation"]
                over = np.array([not info["TimeLimit.truncated"] for info in infos]) & ends
                diverged = np.array([bool(info["diverged"]) for info in infos])
                labels = self._labels(before, actions)
                self.replay_buffer.own.add(before, actions, labels, rewards, last, over, ends, diverged)
                if relabelled is not None:
                    relabelled.end(env, ends, diverged, self._draw)
                self.num_timesteps += env.num_envs
                callback.update_locals({"infos": infos})
                callback.on_step()
        self._log()
        return self

    def _begin(self) -> None:
        """Takes in the demonstrations, clones them, and begins the first episodes."""
        settings, shown = self.settings, self._given
        if shown is None and settings.demonstrations:
            shown = demonstrations.collect(self.env, settings.demonstrations, self.seed)
        if shown is not None:
            steps = {**shown.steps, "labels": self._labels(shown.steps["observations"], shown.steps["labels"])}
            memory = Replay.of(steps, settings.discount, settings.n_steps)
            self.replay_buffer = self.replay_buffer._replace(shown=memory)
            self._clone(steps["observations"], steps["labels"])
            for _ in range(settings.critic_updates if settings.value_weight else 0):
                self._update(actor=False)
        self._given = None
        self.env.seed(self.seed)
        self._observations = self.env.reset()

    def _clone(self, observations: Rows, labels: Floats) -> None:
        """Fits the actor to demonstrated actions."""
        count, batch = len(observations), min(self.settings.batch, len(observations))
        for _ in range(self.settings.epochs):
            order = self._draw.permutation(count)
            for first in range(0, count - batch + 1, batch):
                chosen = order[first : first + batch]
                values, wanted = self._mirror_half(observations=observations[chosen], labels=labels[chosen])
                seen = self.actor.see(values)
                error = torch.tanh(self.actor(seen)[0]) - wanted
                self._step("actor", (error * error).mean() + self._misread(seen, values))

    def _misread(self, seen: Tensor, observations: Any) -> Tensor:
        """What the actor's loss has of how it reads its observations."""
        return self.settings.gaze_weight * self.actor.misread(seen, _states_of(observations))

    def _mirror_half(self, **fields: Rows) -> list[Any]:
        """Arrays as tensors, see `half_mirrored`."""
        return [_tensors_of(array) for array in half_mirrored(self._draw, self.mirror, **fields)]

    def _has_begun(self) -> bool:
        """Whether there is what to learn from: demonstrations, or own experience after the warm-up."""
        own, shown, _ = self.replay_buffer
        return shown is not None or (self.num_timesteps >= self.settings.warm_up and own.usable)

    def _sample(self) -> tuple[Transitions, int]:
        """A batch, and how many of its first rows have labels: demonstrations, or with a teacher all."""
        (own, shown, relabelled), batch = self.replay_buffer, self.settings.batch
        if shown is not None and (own.added < self.settings.warm_up or not own.usable):
            return shown.sample(self._draw, batch), batch
        half = 0 if shown is None else batch // 2
        others = None if relabelled is None or not relabelled.replay.usable else relabelled.replay
        other_count = 0 if others is None else round(self.settings.hindsight * (batch - half))
        counts = (shown, half), (own, batch - half - other_count), (others, other_count)
        parts = [replay.sample(self._draw, count) for replay, count in counts if replay is not None and count]
        joined = Transitions(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
        return joined, batch if self._teacher else half

    def _update(self, actor: bool = True) -> None:
        """A gradient step of the critics and, if wanted, of actor and temperature."""
        transitions, labelled = self._sample()
        observations, actions, labels, rewards, following, discounts = self._mirror_half(**transitions._asdict())
        if self.settings.value_weight:
            self._update_critics(_states_of(observations), actions, rewards, following, discounts)
        if actor:
            self._update_actor(observations, labels[:labelled])

    def _update_critics(
        self, states: Tensor, actions: Tensor, rewards: Tensor, following: Any, discounts: Tensor
    ) -> None:
        """A gradient step towards n-step returns; the targets follow."""
        temperature = self.log_temperature.exp().detach()
        with torch.no_grad():
            next_actions, density, _ = self.actor.sample(self.actor.see(following))
            value = self.targets(_states_of(following), next_actions).amin(0) - temperature * density
            wanted = rewards + discounts * value
        error = self.critics(states, actions) - wanted
        self._step("critics", (error * error).mean(1).sum())
        follow(self.targets, self.critics, self.settings.rate)

    def _update_actor(self, observations: Any, labels: Tensor) -> None:
        """A gradient step to higher values and entropy, near the labels of the first rows."""
        settings, temperature = self.settings, self.log_temperature.exp().detach()
        seen = self.actor.see(observations)
        own, density, quiet = self.actor.sample(seen)
        loss = self._misread(seen, observations)
        if settings.value_weight:
            self.critics.requires_grad_(False)
            value = self.critics(_states_of(observations), own).amin(0)
            loss = loss + settings.value_weight * (temperature * density - value).mean()
        if len(labels) and settings.clone_weight:
            distance = quiet[: len(labels)] - labels
            loss = loss + settings.clone_weight * (distance * distance).mean()
        self._step("actor", loss)
        if settings.value_weight:
            self.critics.requires_grad_(True)
            surplus = (-settings.entropy * self.action_size - density.detach()).mean()
            self._step("temperature", self.log_temperature.exp() * surplus)

    def _step(self, name: str, loss: Tensor) -> None:
        """One step of an optimiser down a loss."""
        descend(self._optimisers[name], loss)

    def _log(self) -> None:
        self.logger.record("train/temperature", self.log_temperature.exp().item())
        self.logger.record("train/diverged", self.replay_buffer.own.skipped)
        self.logger.record("time/total_timesteps", self.num_timesteps)
        self.logger.dump(self.num_timesteps)

    def get_parameters(self) -> dict[str, Any]:
        """Weights and the state of the optimisers, by name, as Stable-Baselines3 gives them."""
        networks: dict[str, Any] = {"actor": self.actor, "critics": self.critics, "targets": self.targets}
        return {
            **{name: net.state_dict() for name, net in networks.items()},
            "log_temperature": {"value": self.log_temperature.detach()},
            **{f"{name}.optimiser": optimiser.state_dict() for name, optimiser in self._optimisers.items()},
        }

    # files -----------------------------------------------------------------------------------------------------------

    def save(self, file: Any) -> None:
        """Writes weights, optimisers, counters and the generator to a binary file; not memory nor envs."""
        torch.save(
            {
                "settings": asdict(self.settings),
                "sizes": (self.observation_size, self.action_size),
                "seed": self.seed,
                "decisions": self.num_timesteps,
                "parameters": self.get_parameters(),
                "draw": self._draw.bit_generator.state,
                "observations": None if self._observations is None else torch.from_numpy(plain(self._observations)),
                # of pixels: names, types and shapes in a record, and arguments of `Gaze`
                "record": self.kind.descr if self.gaze else None,
                "gaze": self.gaze,
            },
            file,
        )

    @classmethod
    def load(cls, file: Any, env: LearnerEnv | None = None, device: str = "cpu", force_reset: bool = True) -> SAC:
        """What `save` wrote, as Stable-Baselines3 loads.

        Args:
            file: binary, or bytes in memory.
            env: to learn on in; None: it only predicts.
            device: must be "cpu".
            force_reset: the envs begin new episodes.
        """
        saved = torch.load(file, map_location=device, weights_only=True)
        model = cls.__new__(cls)
        model.settings, model.seed = SacSettings(**saved["settings"]), saved["seed"]
        size, model.action_size = saved["sizes"]
        record, model.gaze = saved.get("record"), saved.get("gaze", {})
        model.kind = np.dtype(record or (np.float32, (size,)))
        model._make_networks()
        parameters = saved["parameters"]
        model.actor.load_state_dict(parameters["actor"])
        model.critics.load_state_dict(parameters["critics"])
        model.targets.load_state_dict(parameters["targets"])
        with torch.no_grad():
            model.log_temperature.copy_(parameters["log_temperature"]["value"])
        for name, optimiser in model._optimisers.items():
            optimiser.load_state_dict(parameters[f"{name}.optimiser"])
        model._draw = np.random.default_rng()
        model._draw.bit_generator.state = saved["draw"]
        model.num_timesteps, model._given = saved["decisions"], None
        seen = saved["observations"]
        model._observations = None if seen is None or force_reset else seen.numpy().view(model.kind.base)
        if env is not None:
            model.set_env(env)
            model.replay_buffer = model._empty_memory()
        return model
