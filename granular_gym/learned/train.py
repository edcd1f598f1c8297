"""train.py: trains a simulator from pictures alone or from tracks, in a folder, and goes on bit for bit.

A run that was stopped and resumed on a CPU learns to the last bit what an uninterrupted one does: a checkpoint holds
weights, optimiser, generator, the states that walkers stand at and what the next row of the curve has summed so far.
"""

from __future__ import annotations

import dataclasses
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np

from granular_gym.base import cache
from granular_gym.errors import ArgumentError, DivergenceError, StateError
from granular_gym.learned import checkpoints, losses, models
from granular_gym.learned.curve import Curve
from granular_gym.learned.loaded import Loaded, load
from granular_gym.learned.losses import PictureWeights, Render, Target
from granular_gym.learned.needs import torch
from granular_gym.learned.rollout import Limits
from granular_gym.learned.settings import Settings
from granular_gym.learned.simulator import Matter, Scale, Simulator, State
from granular_gym.learned.windows import Sampler, Windows

#: windows in a row that may diverge before a run gives up
PATIENCE = 100


class Trainer:
    """A training run in a folder; made by `begin` or `resume`.

    Attributes:
        simulator: the model.
        settings: of the run.
        iteration: steps done.
        diverged: windows that were left out, in all.
        seconds: of training, in all parts of the run together.
    """

    def __init__(
        self,
        folder: Path,
        dataset: Any,
        settings: Settings,
        simulator: Simulator,
        render: Render | None = None,
        device: str = "cpu",
        progress: bool | None = None,
        rows: list[dict[str, Any]] | None = None,
    ) -> None:
        if settings.supervision == "images" and render is None:
            raise ArgumentError("render: expected a renderer for training from images, got None")
        self.folder, self.dataset, self.settings = folder, dataset, settings
        self.simulator, self.render, self.device = simulator.to(device), render, device
        self._episodes = load(dataset, settings)
        folder.mkdir(parents=True, exist_ok=True)
        self._signature = _signature(dataset, self._episodes)
        self.sampler = Sampler(self._episodes, settings, device)
        weights = list(self.simulator.parameters())
        self._optimizer = torch.optim.AdamW(weights, lr=settings.learning_rate) if weights else None
        self._weights = PictureWeights(settings.normal, settings.gradient, settings.depth)
        self.iteration, self.diverged = 0, 0
        self.seconds, self._in_a_row, self._norm = 0.0, 0, 0.0
        self._sums: dict[str, float] = defaultdict(float)
        self._curve = Curve(folder, rows or [], settings.iterations, progress)

    @classmethod
    def begin(cls, folder: str | Path, dataset: Any, settings: Settings, **arguments: Any) -> Trainer:
        """A new run.

        Args:
            folder: made; must not hold a run.
            dataset: a `Dataset`.
            settings: of the run.
            arguments: `render`, needed for pictures; `device`; `progress`.

        Raises:
            ArgumentError: an argument that does not fit, or a folder that holds a run.
        """
        folder = Path(folder)
        if (folder / checkpoints.NAME).exists():
            raise ArgumentError(f"folder: expected one without a run, {folder} holds one; resume it")
        # test episodes may have kinds that training lacks, as in a swap of materials
        kinds = 1 + max(int(np.max(each.kinds, initial=0)) for split in (dataset.train, dataset.test) for each in split)
        scale = Scale(float(dataset.dt), float(dataset.radius), max(kinds, 2), settings.substeps)
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(settings.seed)
            simulator = models.make(settings.model, scale, **settings.options)
        trainer = cls(folder, dataset, settings, simulator, **arguments)
        trainer.save()
        return trainer

    @classmethod
    def resume(cls, folder: str | Path, dataset: Any, **arguments: Any) -> Trainer:
        """Goes on with the run in a folder, with the settings it began with.

        Raises:
            StateError: no run, a damaged one, or one of another dataset.
        """
        folder = Path(folder)
        content = checkpoints.read(folder)
        run = content["run"]
        if run is None:
            raise StateError(f"{folder}: expected a run to go on with, got a model alone")
        simulator = checkpoints.restore(content, folder)
        trainer = cls(folder, dataset, Settings.of(run["settings"]), simulator, rows=list(run["rows"]), **arguments)
        if run["dataset"] != trainer._signature:
            raise StateError(f"{folder}: expected the dataset of the run, {run['dataset']}, got {trainer._signature}")
        if trainer._optimizer is not None:
            trainer._optimizer.load_state_dict(run["optimizer"])
        trainer.sampler.load_state_dict(run["sampler"])
        trainer.iteration, trainer.diverged = run["iteration"], run["diverged"]
        trainer.seconds, trainer._in_a_row, trainer._norm = run["seconds"], run["in_a_row"], run["norm"]
        trainer._sums.update(run["sums"])
        return trainer

    @staticmethod
    def settings_of(folder: str | Path) -> Settings:
        """The settings that the run in a folder began with.

        Raises:
            StateError: no run, or a damaged one.
        """
        run = checkpoints.read(Path(folder))["run"]
        if run is None:
            raise StateError(f"{folder}: expected a run to go on with, got a model alone")
        return Settings.of(run["settings"])

    def run(self, iterations: int | None = None, minutes: float | None = None) -> bool:
        """Trains until the settings' iterations are done, or so many more, or so long, and saves.

        Returns:
            Whether the run is over.

        Raises:
            DivergenceError: 100 windows in a row (`PATIENCE`) diverged; the last good checkpoint is kept.
        """
        total = self.settings.iterations if self.simulator.learns else 0
        last = total if iterations is None else min(total, self.iteration + iterations)
        begin, before = time.perf_counter(), self.seconds
        try:
            while self.iteration < last:
                self._iterate()
                self.seconds = before + time.perf_counter() - begin
                if self.iteration % self.settings.log_every == 0:
                    self._log()
                if self.iteration % self.settings.save_every == 0:
                    self.save()
                if minutes is not None and self.seconds - before > 60.0 * minutes:
                    break
            self.save()
        finally:
            self._curve.close()
        return self.iteration >= total

    def save(self) -> None:
        """Writes checkpoint, settings and curve."""
        run = {
            "settings": {**dataclasses.asdict(self.settings), "horizon": list(self.settings.horizon)},
            "dataset": self._signature,
            "optimizer": None if self._optimizer is None else self._optimizer.state_dict(),
            "sampler": self.sampler.state_dict(),
            "iteration": self.iteration,
            "diverged": self.diverged,
            "seconds": self.seconds,
            "in_a_row": self._in_a_row,
            "norm": self._norm,
            "sums": dict(self._sums),
            "rows": self._curve.rows,
        }
        checkpoints.write(self.folder / checkpoints.NAME, self.simulator, self.settings.options, run)
        cache.write_atomic(self.folder / "settings.json", json.dumps(run["settings"], indent=1).encode() + b"\n")
        self._curve.write()

    def _iterate(self) -> None:
        """A step of the optimiser, or a window that is left out."""
        group, windows = self.sampler.draw(self.iteration)
        episodes = [self._episodes[k] for k in windows.episodes]
        matter = Matter.of(self.dataset, episodes, self.device)
        limits = Limits.of(windows.state, matter)
        loss, parts, state = self._predict(windows, episodes, matter)
        loss = self._with_stability(loss, parts)
        good = not limits.broken(state) and bool(torch.isfinite(loss))
        good = good and self._descend(loss)
        self.sampler.proceed(group, windows, state if good else None)
        self.iteration += 1
        if good:
            self._in_a_row = 0
            for name, value in {"loss": float(loss.detach()), **parts, "count": 1.0}.items():
                self._sums[name] += value
            return
        self.diverged, self._in_a_row = self.diverged + 1, self._in_a_row + 1
        if self._in_a_row >= PATIENCE:
            raise DivergenceError(
                f"training: {PATIENCE} windows in a row diverged at iteration {self.iteration}; "
                f"expected states within the limits, got {limits.broken(state) or 'slopes that are not finite'}"
            )

    def _predict(
        self, windows: Windows, episodes: list[Loaded], matter: Matter
    ) -> tuple[torch.Tensor, dict[str, float], State]:
        """The loss of windows, its parts, and the states where they end."""
        state, states, via_normal = windows.state, [], []
        for _ in range(windows.length):
            state, normal = self.simulator.advance(state, matter)
            states.append(state)
            via_normal.append(normal)
        positions = torch.stack([each.positions for each in states])
        if self.settings.supervision == "tracks":
            truth = [each.positions[t + 1 : t + 1 + windows.length] for each, t in self._pairs(windows, episodes)]
            there = torch.from_numpy(np.stack(truth, 1)).to(self.device).float()
            loss = losses.track_loss(positions, there, self.simulator.scale.acceleration * self.dataset.dt**2)
            return loss, {"track": float(loss.detach())}, state
        velocities = torch.stack([each.velocities for each in states])
        known = [each for each in via_normal if each is not None]
        normals = torch.stack(known) if known else None
        targets = [self._target(each, t, windows.length) for each, t in self._pairs(windows, episodes)]
        assert self.render is not None
        loss, parts = losses.window_loss(self.render, targets, positions, velocities, normals, self._weights)
        return loss, parts, state

    def _with_stability(self, loss: torch.Tensor, parts: dict[str, float]) -> torch.Tensor:
        """A loss and that of a law that is too steep, which is noted among the parts."""
        if not self.settings.stability:
            return loss
        # of the iteration alone, so that a run that is resumed draws the same
        drawn = np.random.SeedSequence([self.settings.seed, self.iteration]).generate_state(1, np.uint64)
        generator = torch.Generator().manual_seed(int(drawn[0]) >> 1)
        excess = self.simulator.instability(generator)
        if excess is None:
            return loss
        parts["stability"] = float(excess.detach())
        return loss + self.settings.stability * excess

    def _pairs(self, windows: Windows, episodes: list[Loaded]) -> list[tuple[Loaded, int]]:
        return list(zip(episodes, windows.frames, strict=True))

    def _target(self, episode: Loaded, frame: int, length: int) -> Target:
        part = slice(frame + 1, frame + 1 + length)

        def tensor(value: Any) -> torch.Tensor:
            return torch.from_numpy(value).to(self.device).float()

        assert episode.shown is not None
        color = tensor(episode.shown[part]) / 255.0
        depth = None if episode.shown_depth is None else tensor(episode.shown_depth[part])
        return Target(tensor(episode.colors), color, depth)

    def _descend(self, loss: torch.Tensor) -> bool:
        """A step down, unless slopes are not finite."""
        if self._optimizer is None:
            return True
        self._optimizer.zero_grad(set_to_none=True)
        loss.backward()
        # clipping only at spikes: Adam has the scale of slopes already
        longest = self.settings.clip * self._norm if self._norm else float("inf")
        norm = float(torch.nn.utils.clip_grad_norm_(self.simulator.parameters(), longest))
        if not np.isfinite(norm):
            return False
        self._norm = min(norm, longest) if not self._norm else 0.98 * self._norm + 0.02 * min(norm, longest)
        for group in self._optimizer.param_groups:
            group["lr"] = self._rate()
        self._optimizer.step()
        return True

    def _rate(self) -> float:
        return self.settings.learning_rate * self.settings.decay ** (self.iteration // self.settings.decay_every)

    def _log(self) -> None:
        count = self._sums.pop("count", 0.0)
        settings = self.settings
        row: dict[str, Any] = {
            "iteration": self.iteration,
            "seconds": round(self.seconds, 3),
            "loss": "",
            **{name: value / count for name, value in self._sums.items()},
            "horizon": settings.grown(self.iteration, *settings.horizon),
            "reach": settings.grown(self.iteration, min(settings.reach, self.sampler.frames), self.sampler.frames),
            "learning_rate": self._rate(),
            "diverged": self.diverged,
        }
        self._sums.clear()
        self._curve.add(row)


def _signature(dataset: Any, episodes: list[Loaded]) -> dict[str, Any]:
    """What tells a dataset from another."""
    return {
        "scene": str(dataset.scene),
        "dt": float(dataset.dt),
        "radius": float(dataset.radius),
        "episodes": len(episodes),
        "frames": sum(len(each.positions) for each in episodes),
        "sum": float(sum(np.sum(each.positions[0], dtype=np.float64) for each in episodes)),
    }
