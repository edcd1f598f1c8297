"""web_film.py: makes a small animated WebP, as in docs/tasks, of a film.

    python tools/web_film.py out/silo/Silo-v1.mp4 docs/tasks/Silo-v1.webp [--width 360] [--kilobytes 290]

The quality is lowered until the file is small enough. Needs pip install "granular_gym[video]" pillow.
"""

from __future__ import annotations

import argparse
import io
import sys
from pathlib import Path

import imageio.v2 as imageio
from PIL import Image

QUALITIES = (75, 60, 45, 30, 20, 10)


def main() -> int:
    """Exit status 1 where no quality makes the file small enough."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("film", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--width", type=int, default=360, help="[pixels]")
    parser.add_argument("--rate", type=float, default=10.0, help="pictures per second")
    parser.add_argument("--kilobytes", type=int, default=290, help="largest size of the file")
    args = parser.parse_args()
    with imageio.get_reader(args.film) as reader:
        pictures = [Image.fromarray(frame) for frame in reader]
    size = args.width, round(args.width * pictures[0].height / pictures[0].width)
    pictures = [picture.resize(size, Image.Resampling.LANCZOS) for picture in pictures]
    pause = round(1000.0 / args.rate)
    # hold the last picture
    pauses = [pause] * (len(pictures) - 1) + [12 * pause]
    for quality in QUALITIES:
        data = io.BytesIO()
        pictures[0].save(
            data, "WEBP", save_all=True, append_images=pictures[1:], duration=pauses, loop=0, quality=quality, method=4
        )
        if data.tell() <= 1000 * args.kilobytes:
            args.out.write_bytes(data.getvalue())
            print(f"{args.out}: {len(pictures)} pictures, {data.tell() / 1000:.0f} kB, quality {quality}")
            return 0
    print(f"{args.film}: more than {args.kilobytes} kB at the lowest quality; fewer pictures or a smaller width help")
    return 1


if __name__ == "__main__":
    sys.exit(main())
