"""view_files.py: what a view writes: films in simulated time, and saved states.

Films are drawn by the engine: they need no browser and lose no picture.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.engine.cameras import DepthCamera
from granular_gym.errors import ArgumentError, MissingError
from granular_gym.viewing.film import Film
from granular_gym.viewing.world_view import WorldView

#: most pictures per simulated second
PICTURE_RATE = 30


class Recorder:
    """Writes a film whose seconds are simulated ones.

    Args:
        path: of the file; folders are made where they are missing.
        seconds: simulated time of a step [s]; 0: every step is a picture, PICTURE_RATE of them a second.

    Raises:
        MissingError: the `video` extra is not installed.
        OSError: the folder cannot be made.
    """

    def __init__(self, path: Path, seconds: float) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._rate = PICTURE_RATE if seconds == 0.0 else int(min(max(round(1.0 / seconds), 1), PICTURE_RATE))
        try:
            self._film = Film(path, self._rate)
        except ImportError as error:
            raise MissingError("a film needs imageio with ffmpeg: pip install 'granular_gym[video]'") from error
        self._elapsed = 0.0  # simulated since the film began [s]
        self.path: Path = path

    @property
    def count(self) -> int:
        """Pictures written."""
        return self._film.count

    def add(self, seconds: float, picture: Callable[[], NDArray[np.uint8]]) -> None:
        """Adds the pictures that are due after a step.

        Args:
            seconds: simulated time of the step [s].
            picture: draws what is shown, (H, W, 3), always of the same size; called where a picture is due.

        Raises:
            OSError: the film cannot be written.
        """
        self._elapsed += seconds if seconds > 0.0 else 1.0 / self._rate
        # rounded, as steps are no exact parts of a second
        due = round(self._elapsed * self._rate) - self._film.count
        if due > 0:
            drawn = np.ascontiguousarray(picture())
            for _ in range(due):
                self._film.add(drawn)

    def close(self) -> None:
        """Completes the film.

        Raises:
            OSError: pictures are missing in the file.
        """
        self._film.close()


class ViewFiles:
    """The files of a view.

    Args:
        out: folder of those that buttons ask for.
        record: a film that begins with the first step, .mp4; None: none.
        views: the worlds that are shown.
        browsers: gives the clients of the server, by number.
        say: is told of every file.

    Raises:
        ArgumentError: not a path, or not that of a film.
    """

    def __init__(
        self,
        out: Any,
        record: Any,
        views: Sequence[WorldView],
        browsers: Callable[[], dict[int, Any]],
        say: Callable[[str], None],
    ) -> None:
        self._out, self._views, self._browsers, self._say = checks.path("out", out), views, browsers, say
        self._promised = None if record is None else checks.path("record", record)
        if self._promised is not None and self._promised.suffix != ".mp4":
            raise ArgumentError(f"record: expected a file that ends in .mp4, got {str(record)!r}")
        self._waiting = self._promised  # the film that begins with the next step
        self._recorder: Recorder | None = None

    @property
    def recording(self) -> bool:
        """Whether a film is being written, or begins with the next step."""
        return self._recorder is not None or self._waiting is not None

    def _free_path(self, stem: str, ending: str) -> Path:
        """A file that does not exist yet."""
        number = 1
        while (path := self._out / f"{stem}_{number:03}{ending}").exists():
            number += 1
        return path

    def save_states(self, env: int) -> None:
        """Writes an env of each world, as `State.load` reads it.

        Raises:
            OSError: a file cannot be written.
        """
        self._out.mkdir(parents=True, exist_ok=True)
        paths = []
        for view, stem in zip(self._views, ("state", "state_beside"), strict=False):
            paths.append(self._free_path(stem, ".ggstate"))
            view.world.save_state(env=env).save(paths[-1])
        self._say(f"saved {', '.join(map(str, paths))}")

    def toggle_film(self) -> None:
        """Has a film begin with the next step, or ends the one that is written.

        Raises:
            OSError: pictures are missing in it.
        """
        if self.recording:
            self.end_film()
        else:
            self._waiting = self._free_path("film", ".mp4")

    def end_film(self) -> None:
        """Completes the film; nothing happens where there is none.

        Raises:
            OSError: pictures are missing in it.
        """
        recorder, self._recorder, self._waiting = self._recorder, None, None
        if recorder is not None:
            recorder.close()
            self._say(f"wrote {recorder.path}, {recorder.count} pictures")

    def add(self, env: int, seconds: float) -> None:
        """The pictures of a step, where a film is written.

        Raises:
            MissingError: the `video` extra is not installed. With OSErrors of films that a button asked for it is told
                in place of being raised.
            OSError: the film cannot be written.
        """
        waiting, self._waiting = self._waiting, None
        path = waiting if self._recorder is None else self._recorder.path
        if path is None:
            return
        try:
            if self._recorder is None:
                self._recorder = Recorder(path, seconds)
            self._recorder.add(seconds, lambda: self._picture(env))
        except (MissingError, OSError) as error:
            self._recorder = None
            if path == self._promised:
                raise
            self._say(f"record: {error}")

    def _picture(self, env: int) -> NDArray[np.uint8]:
        """One world as the browser that came last sees it, or as its own camera does; two as their cameras do, side by
        side."""
        cameras = [view.camera for view in self._views]
        browsers = self._browsers()
        if len(cameras) == 1 and browsers:
            cameras = [_seen_by(browsers[max(browsers)].camera, cameras[0])]
        pictures = [view.picture(env, camera) for view, camera in zip(self._views, cameras, strict=True)]
        return np.concatenate(pictures, axis=1)


def _seen_by(browser: Any, shape: DepthCamera) -> DepthCamera:
    """The camera of a browser, with the size and reach of another; the other where the browser looks straight down."""
    eye, target = np.asarray(browser.position, np.float64), np.asarray(browser.look_at, np.float64)
    distance = float(np.linalg.norm(target - eye))
    try:
        return DepthCamera.perspective(
            height=shape.height,
            width=shape.width,
            fov=float(browser.fov),
            position=eye,
            target=target,
            up=browser.up_direction,
            near=0.01 * max(distance, 1e-3),
            far=max(shape.far, 10.0 * distance),
        )
    except ArgumentError:
        return shape
