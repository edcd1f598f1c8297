"""film.py: MP4 films that stay readable up to the point where writing stopped.

A film is written in fragments of a second: a full disk or a killed process loses only its end. `close` raises where
pictures are missing.
"""

from __future__ import annotations

import contextlib
import logging
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from granular_gym.base import checks
from granular_gym.base.interrupts import uninterrupted
from granular_gym.errors import ArgumentError, ClosedError

#: ending of the files
SUFFIX = ".mp4"
#: least and most pictures per second of a film
RATES = 0.1, 240.0


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Suppresses warnings of the encoder's library, which the exception repeats."""
    logger = logging.getLogger("imageio_ffmpeg")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        yield
    finally:
        logger.setLevel(level)


def real_time(seconds: float) -> float:
    """Pictures per second of a film that has a picture of every so many seconds, as near as films can have it."""
    return min(max(1.0 / seconds, RATES[0]), RATES[1])


class Film:
    """Writes an MP4 file (H.264); a context manager.

        with Film("heap.mp4", pictures_per_second=20) as film:
            for _ in range(100):
                world.step(dt=1e-3, substeps=50)
                film.add(world.picture("view"))

    Args:
        path: of the file, which ends in .mp4; one that exists is replaced.
        pictures_per_second: frame rate, 0.1 .. 240.

    Attributes:
        path: of the file.
        count: pictures added.

    Raises:
        ArgumentError: not a path of such a file, or another rate.
        ImportError: imageio with ffmpeg, the `video` extra, is not installed.
    """

    path: Path
    count: int

    def __init__(self, path: str | Path, pictures_per_second: float) -> None:
        rate = checks.number("pictures_per_second", pictures_per_second, *RATES)
        file = checks.path("path", path)
        if file.suffix.lower() != SUFFIX:
            raise ArgumentError(f"path: expected a file that ends in {SUFFIX}, got {str(file)!r}")
        import imageio.v2 as imageio
        import imageio_ffmpeg

        self.path, self.count = file, 0
        self._shape: tuple[int, ...] | None = None  # of all pictures
        self._closed = False
        self._count_pictures = imageio_ffmpeg.count_frames_and_secs
        self._writer: Any = imageio.get_writer(
            file,
            fps=rate,
            quality=8,
            macro_block_size=16,
            ffmpeg_log_level="quiet",
            output_params=["-g", str(math.ceil(rate)), "-movflags", "+frag_keyframe+empty_moov+default_base_moof"],
        )

    def add(self, picture: NDArray[np.uint8]) -> None:
        """Adds a picture, uint8 (H, W, 3) sRGB, of the size of the first; sides grow to multiples of 16 in the file.

        Raises:
            ArgumentError: not such a picture, or of another size.
            ClosedError: the film is complete.
            OSError: the film cannot be written; pictures written before stay readable.
        """
        if self._closed:
            raise ClosedError(f"film: {self.path} is complete, no picture can be added")
        if not isinstance(picture, np.ndarray) or picture.dtype != np.uint8 or picture.shape[2:] != (3,):
            got = f"{picture.dtype} {picture.shape}" if isinstance(picture, np.ndarray) else type(picture).__name__
            raise ArgumentError(f"picture: expected uint8 (H, W, 3), got {got}")
        self._shape = self._shape or picture.shape
        if picture.shape != self._shape:
            raise ArgumentError(f"picture: expected {self._shape}, the size of the first, got {picture.shape}")
        if self._writer is None:
            raise self._failed()
        with _quiet(), uninterrupted():
            try:
                self._writer.append_data(picture)
            except OSError as error:
                # close now: the encoder would otherwise run until this process ends
                writer, self._writer = self._writer, None
                with contextlib.suppress(OSError):
                    writer.close()
                raise self._failed() from error
            self.count += 1

    def close(self) -> None:
        """Completes the film; further calls do nothing. The end of `with` calls it.

        Raises:
            OSError: pictures are missing in the file.
        """
        self._closed = True
        if self._writer is None:
            return
        writer, self._writer = self._writer, None
        try:
            with _quiet(), uninterrupted():
                writer.close()
            found = self._count_pictures(str(self.path))[0] if self.count else 0
        except (OSError, RuntimeError) as error:
            raise self._failed() from error
        if found != self.count:
            raise self._failed(f", {found} of {self.count} pictures are in it")

    def _failed(self, more: str = "") -> OSError:
        """The error to raise where writing failed."""
        return OSError(f"film: could not write {self.path}{more}; is the disk full?")

    def __enter__(self) -> Film:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()
