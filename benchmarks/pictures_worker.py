"""pictures_worker.py: times the picture of one task with one build of the package, as it is told.

    python benchmarks/pictures_worker.py FOLDER TASK GRAINS STEPS

FOLDER as in speed_worker.py. The scripted expert plays STEPS env steps; then every line of standard input is answered
with one of JSON: "picture" draws one, "file" writes one as PNG and throws it away, "save PATH" writes it as .npy.
"""

from __future__ import annotations

import importlib
import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any


def begun(task: str, grains: int, steps: int) -> Any:
    """An env in which the expert has played."""
    gymnasium = importlib.import_module("gymnasium")
    importlib.import_module("granular_gym")
    expert = importlib.import_module("granular_gym.tasks.expert")
    env = gymnasium.make(task, render_mode="rgb_array", grain_count=grains, num_threads=1)
    env.reset(seed=1)
    plays = expert.scripted_expert(env)
    for _ in range(steps):
        env.step(plays.act())
    env.render()
    return env


def main() -> None:
    """Answers lines until there are no more."""
    folder, task, grains, steps = sys.argv[1:5]
    if folder != "-":
        importlib.import_module("speed_worker").import_from(Path(folder).resolve())
    numpy = importlib.import_module("numpy")
    env = begun(task, int(grains), int(steps))
    write_png = importlib.import_module("granular_gym").write_png
    print(json.dumps({"height": env.render().shape[0], "width": env.render().shape[1]}), flush=True)
    with tempfile.TemporaryDirectory() as scratch:
        for line in sys.stdin:
            word, _, rest = line.strip().partition(" ")
            picture = None if word == "picture" else env.render()
            start = time.process_time()
            if word == "picture":
                env.render()
            elif word == "file":
                write_png(str(Path(scratch) / "picture.png"), picture)
            else:
                numpy.save(rest, picture)
            print(json.dumps({"cpu": time.process_time() - start}), flush=True)
    env.close()


if __name__ == "__main__":
    main()
