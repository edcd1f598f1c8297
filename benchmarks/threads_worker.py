"""threads_worker.py: steps one world with one build of the package and as many threads as it is told.

    python benchmarks/threads_worker.py FOLDER SETTING ENVS GRAINS HALF_WIDTH

FOLDER and SETTING as for speed_worker.py. Every line of standard input, a number of threads and a time [s], is answered
with one of JSON: steps per second of the clock on the wall, and processor time of all threads per step. A step is 16
substeps of 1 ms of a settled column.
"""

from __future__ import annotations

import json
import sys
import time
import warnings
from pathlib import Path

SUBSTEPS, DT = 16, 1e-3
SETTLING = 400  # substeps before the first measurement


def main() -> None:
    """Answers lines until there are no more."""
    folder, text, envs, grains, half_width = sys.argv[1:6]
    root = Path(__file__).resolve().parent.parent
    sys.path[0] = str(root)
    from benchmarks.speed_worker import import_from

    if folder != "-":
        import_from(Path(folder).resolve())
    from benchmarks.settings import Setting
    from testbed import standard

    # the tallest column is deeper than its iterations hold; it costs what it costs
    warnings.simplefilter("ignore")
    scene = standard.standard_column(int(grains), half_width=float(half_width))
    with Setting.parse("" if text == "default" else text).world(scene) as source:
        source.step(DT, SETTLING)
        world = source.branch(int(envs))
    for line in sys.stdin:
        count, seconds = line.split()
        world.num_threads = int(count)
        world.step(DT, SUBSTEPS)
        steps, cpu, start = 0, time.process_time(), time.perf_counter()
        while time.perf_counter() - start < float(seconds):
            world.step(DT, SUBSTEPS)
            steps += 1
        wall = time.perf_counter() - start
        reply = {"steps_per_s": steps / wall, "cpu_ms_per_step": 1e3 * (time.process_time() - cpu) / steps}
        print(json.dumps(reply), flush=True)


if __name__ == "__main__":
    main()
