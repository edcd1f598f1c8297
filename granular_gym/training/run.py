"""run.py: a training run: learns in chunks, writes a row per episode and checkpoints, and can be resumed bit for bit.

A chunk is what the algorithm does between two checks of the clock: a rollout and its update for PPO, some hundred
decisions for TD3. Runs stop and are saved between chunks only, so a run that was interrupted and resumed learns exactly
what an uninterrupted one does; only the seconds in its records differ.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import stable_baselines3
import torch
from stable_baselines3.common.callbacks import BaseCallback
from stable_baselines3.common.logger import configure

from granular_gym import _core
from granular_gym.base import checks
from granular_gym.errors import StateError
from granular_gym.tasks.task import BOTH
from granular_gym.training import checkpoint, records
from granular_gym.training.batch import make_batch
from granular_gym.training.learner_env import LearnerEnv
from granular_gym.training.policies import algorithm_class


@dataclass(frozen=True)
class Settings:
    """What a run learns, kept in its checkpoints.

    Attributes:
        task: id of the task.
        arguments: of the task.
        envs: number of envs.
        repeat: env steps per decision.
        reward: "sum" or "change", see LearnerEnv.
        scale: of the learner's reward.
        seed: of envs, weights and exploration.
        chunk: decisions of all envs together between two checks of the clock.
        privileged: the learner has the state vector beside the pixels that its policy sees.
        options: of the algorithm, by name, as they were asked for on the command line.

    Raises:
        ArgumentError: fewer than 1 of envs, repeat or chunk.
    """

    task: str
    arguments: dict[str, Any] = field(default_factory=dict)
    envs: int = 8
    repeat: int = 1
    reward: str = "sum"
    scale: float = 1.0
    seed: int = 0
    chunk: int = 512
    privileged: bool = False
    options: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("envs", "repeat", "chunk"):
            checks.integer(name, getattr(self, name), 1)


class Recorder(BaseCallback):
    """Notes each episode that ends, and writes the CSV."""

    def __init__(self, run: Run) -> None:
        super().__init__()
        self.run = run

    def _on_step(self) -> bool:
        ended = [info for info in self.locals["infos"] if "episode" in info]
        for info in ended:
            self.run.note(info)
        if ended:
            records.write_episodes(self.run.folder, self.run.episodes)
        self.run.tick()
        return True


class Run:
    """A training run in a folder; made by `begin` or `resume`.

    Attributes:
        folder: episodes.csv, checkpoint.zip, previous.zip and tensorboard/ lie there.
        model: of an algorithm of `policies.ALGORITHMS`.
        settings: see Settings.
        episodes: a row per episode, see records.COLUMNS.
    """

    folder: Path
    model: Any
    settings: Settings
    episodes: list[dict[str, Any]]

    def __init__(
        self,
        folder: Path,
        model: Any,
        settings: Settings,
        episodes: list[dict[str, Any]],
        seconds: float = 0.0,
        cpu_seconds: float = 0.0,
    ) -> None:
        self.folder, self.model, self.settings, self.episodes = folder, model, settings, episodes
        self._before, self._begun = seconds, time.perf_counter()
        self._cpu_before, self._cpu_begun = cpu_seconds, time.process_time()
        self.tick: Callable[[], None] = lambda: None
        folder.mkdir(parents=True, exist_ok=True)
        model.set_logger(configure(str(folder / "tensorboard"), ["tensorboard"]))

    @classmethod
    def begin(cls, folder: Path, settings: Settings, make_model: Callable[[LearnerEnv, int], Any]) -> Run:
        """A new run.

        Args:
            folder: made where it is missing.
            settings: what to learn.
            make_model: makes the model from env and seed.

        Raises:
            ArgumentError: a setting is not what it should be.
            StateError: the folder holds a run already.
        """
        _refuse_taken(folder)
        prepare(settings.seed)
        shown = {"observation": BOTH} if settings.privileged else {}
        batch = make_batch(settings.task, settings.envs, {**settings.arguments, **shown})
        env = LearnerEnv(batch, repeat=settings.repeat, reward=settings.reward, scale=settings.scale)
        return cls(folder, make_model(env, settings.seed), settings, [])

    @classmethod
    def resume(cls, path: Path, folder: Path | None = None) -> Run:
        """The run of a checkpoint, as it was when that was written; rows of the CSV written since are written again.

        Args:
            path: the checkpoint, or the folder of its run.
            folder: where to go on; None: where the checkpoint lies.

        Raises:
            StateError: the checkpoint is missing, damaged or of other versions, or the folder holds another run.
        """
        own = path if path.is_dir() else path.parent
        if folder is not None and folder.resolve() != own.resolve():
            _refuse_taken(folder)
        about, members = checkpoint.read(path)
        settings = Settings(**about["settings"])
        prepare(settings.seed)
        model = checkpoint.unpack(algorithm_class(about["algorithm"]), LearnerEnv.load, members)
        run_folder = folder or own
        run = cls(run_folder, model, settings, about["episodes"], about["seconds"], about["cpu_seconds"])
        records.write_episodes(run_folder, run.episodes)
        return run

    @property
    def env_steps(self) -> int:
        """Played so far by all envs."""
        return int(self.model.env.env_steps)

    @property
    def seconds(self) -> float:
        """Of training so far, those before a resume included."""
        return self._before + time.perf_counter() - self._begun

    @property
    def cpu_seconds(self) -> float:
        """The same in processor time of all threads."""
        return self._cpu_before + time.process_time() - self._cpu_begun

    def note(self, info: dict[str, Any]) -> None:
        """Adds the row of an episode that ended with this info."""
        self.episodes.append(
            {
                "episode": len(self.episodes),
                "env_steps": self.env_steps,
                "seconds": round(self.seconds, 3),
                "return": info["episode"]["r"],
                "length": info["episode"]["l"],
                "success": int(info.get("success", False)),
            }
        )

    def train(self, env_steps: int | None = None, minutes: float | None = None, save_every: float = 1.0) -> None:
        """Learns until so many env steps were played, or so many minutes were spent, since the beginning of the run.

        Args:
            env_steps: None: no limit.
            minutes: None: no limit; 0 trains nothing.
            save_every: minutes between checkpoints; one is written at the end in any case.

        Raises:
            ArgumentError: neither limit is given.
            OSError: a checkpoint or the CSV cannot be written; those that were there are untouched.
        """
        limit = np.inf if env_steps is None else checks.integer("env_steps", env_steps, 0)
        end = np.inf if minutes is None else 60.0 * checks.number("minutes", minutes, 0.0)
        if not np.isfinite(min(limit, end)):
            checks.number("minutes", minutes, 0.0)
        recorder, saved = Recorder(self), self.seconds
        while self.env_steps < limit and self.seconds < end:
            # a limit beyond reach of Stable-Baselines3's own count: a chunk is one call
            self.model.learn(self.settings.chunk, callback=recorder, reset_num_timesteps=self.model.num_timesteps == 0)
            if self.seconds - saved > 60.0 * save_every:
                self.save()
                saved = self.seconds
        self.save()

    def save(self) -> Path:
        """Writes the checkpoint, and the CSV beside it.

        Raises:
            OSError: one cannot be written; those that were there are untouched.
        """
        about = {
            "algorithm": type(self.model).__name__,
            "settings": asdict(self.settings),
            "env_steps": self.env_steps,
            "decisions": self.model.num_timesteps,
            "seconds": self.seconds,
            "cpu_seconds": self.cpu_seconds,
            "versions": versions(),
            "episodes": self.episodes,
        }
        records.write_episodes(self.folder, self.episodes)
        return checkpoint.write(self.folder, about, checkpoint.pack(self.model))

    def close(self) -> None:
        """Frees the envs and closes the TensorBoard file."""
        self.model.logger.close()
        self.model.env.close()


def _refuse_taken(folder: Path) -> None:
    """Refuses a folder that holds a run.

    Raises:
        StateError: it does.
    """
    if any((folder / name).exists() for name in (checkpoint.NAME, checkpoint.PREVIOUS)):
        raise StateError(f"{folder}: expected a folder without a run; resume this one, or choose another folder")


def prepare(seed: int) -> None:
    """One thread per run and no random order of sums: what `resume` promises needs both."""
    checks.integer("seed", seed, 0)
    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)


def versions() -> dict[str, str]:
    """Of what a checkpoint depends on."""
    return {
        "granular_gym": _core.build_info()["version"],
        "stable_baselines3": stable_baselines3.__version__,
        "torch": torch.__version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
    }
