"""pair_fields.py: accuracy, size and speed of the kinds of pair fields.

    python benchmarks/pair_fields.py [--pairs NAME ...] [--kinds NAME ...] [--out FOLDER] [--iterations N]

Prints the table of docs/pair_fields.md and writes FOLDER/pair_fields.json and pair_fields.png (default
benchmarks/results/cpu); existing rows are kept unless measured again. Errors are at 100,000 poses with |d| below a
tenth of the mean circumradius, in percent of the sum of both circumradii. Times are processor time of one thread, per
instruction set. Tables take seconds each, networks minutes (PyTorch).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

if __package__ in (None, ""):
    # run as a script: import packages from the root of the project
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import granular_gym as gg
from benchmarks import measure
from benchmarks.measure import Row
from granular_gym import _core
from granular_gym.shapes.pair_distance import PairContact
from granular_gym.shapes.pair_overlay import Overlay

OUT = Path(__file__).resolve().parent / "results" / "cpu"
SHAPES = {
    "octagon": gg.Shape2D.octagon(),
    "#": gg.Shape2D.hash(),
    "U": gg.Shape2D.letter("U"),
    "N": gg.Shape2D.letter("N"),
    "arc": gg.Shape2D.arc(0.75),
}
PAIRS = ("octagon octagon", "# #", "U U", "N N", "U #", "arc arc")
POSES, OVERLAY_POSES = 100_000, 200
TIMED = {"table": 100_000, "network": 10_000}
#: builds of the query (csrc/backend/kernels.c); "vector128" compiles to what "scalar" does
KERNELS = ("scalar", "avx2", "avx512")


def table(kind: str, theta_count: int, count: int) -> Callable[..., gg.PairField]:
    return lambda a, b, options: gg.PairField.build(
        a, b, kind, theta_count=theta_count, count=count, cache=False, num_threads=1
    )


def network(layers: int, width: int, folded: bool, activation: str) -> Callable[..., gg.PairField]:
    return lambda a, b, options: gg.PairField.train(
        a,
        b,
        layers=layers,
        width=width,
        folded=folded,
        activation=activation,
        iterations=options.iterations,
        cache=False,
    )


KINDS: dict[str, Callable[..., gg.PairField]] = {
    "linear 128 x 64": table("linear", 128, 64),
    "cubic 64 x 32": table("cubic", 64, 32),
    "cubic 128 x 64": table("cubic", 128, 64),
    "cubic 128 x 128": table("cubic", 128, 128),
    "network 3 x 32 (paper)": network(3, 32, False, "relu"),
    "network 5 x 64 (paper)": network(5, 64, False, "relu"),
    "network 5 x 64 folded, sine": network(5, 64, True, "sine"),
}
OVERLAY = "overlay 201 x 201 (paper)"


def near_poses(a: gg.Shape2D, b: gg.Shape2D, count: int) -> tuple[np.ndarray, Any]:
    """Poses near contact in random order, and their exact contacts."""
    rng = np.random.default_rng(1)
    size = a.circumradius + b.circumradius
    found: list[np.ndarray] = []
    while sum(map(len, found)) < count:
        # 64 positions for each angle: consecutive poses of equal angle are cheap
        theta = np.repeat(rng.uniform(-np.pi, np.pi, 500), 64)
        radius, phase = size * np.sqrt(rng.uniform(0, 1, theta.size)), rng.uniform(0, 2 * np.pi, theta.size)
        poses = np.stack([theta, radius * np.cos(phase), radius * np.sin(phase)], axis=1).astype(np.float32)
        found.append(poses[np.abs(gg.exact_distance(a, b, poses).d) < 0.05 * size])
    near = np.concatenate(found)[:count]
    exact = gg.exact_distance(a, b, near)
    # shuffled, so that a query does not find its data in the cache
    order = rng.permutation(count)
    shuffled = [getattr(exact, name)[order] for name in ("d", "normal", "dtheta", "arm_a")]
    return near[order], PairContact(*shuffled)


def query_times(field: gg.PairField, poses: np.ndarray) -> dict[str, Row]:
    """Nanoseconds per query, by instruction set."""
    record = np.frombuffer(field.record.tobytes(), np.uint8)

    def query(kernel: str) -> None:
        _core.pair_query(record, field.blob, poses, kernel)

    times: dict[str, Row] = {}
    for kernel in KERNELS:
        try:
            query(kernel)
        except gg.BackendError:
            continue  # not for this processor
        seconds = [measure.time_block(query, kernel)[0] for _ in range(measure.REPEATS)]
        times[kernel] = {name: 1e9 * value / len(poses) for name, value in measure.spread(seconds).items()}
    return times


def errors(found: Any, exact: Any, size: float) -> Row:
    """Errors of lengths in percent of the size, and of the normal in degrees."""
    d = 100 * np.abs(found.d - exact.d) / size
    angle = np.degrees(np.arccos(np.clip((found.normal * exact.normal).sum(axis=1), -1, 1)))
    arm = 100 * np.abs(found.arm_a - exact.arm_a) / size
    return {
        "d_rms": float(np.sqrt((d**2).mean())),
        "d_max": float(d.max()),
        "normal_median": float(np.median(angle)),
        "normal_mean": float(angle.mean()),
        "arm_median": float(np.median(arm)),
        "arm_rms": float(np.sqrt((arm**2).mean())),
    }


def measure_field(pair: str, kind: str, options: argparse.Namespace) -> Row:
    a, b = (SHAPES[name] for name in pair.split())
    poses, exact = near_poses(a, b, POSES)
    start = time.process_time()
    field = KINDS[kind](a, b, options)
    build = time.process_time() - start
    found = field.query(poses)
    row: Row = {
        "pair": pair,
        "kind": kind,
        "poses": len(poses),
        **errors(found, exact, a.circumradius + b.circumradius),
    }
    row["bytes"] = field.nbytes
    row["build_seconds"] = build
    network = "network" in kind
    row["query_ns"] = query_times(field, poses[: TIMED["network" if network else "table"]])
    if network:
        row["iterations"] = options.iterations
    return row


def measure_overlay(pair: str) -> Row:
    """The published approximation without a table; d only."""
    a, b = (SHAPES[name] for name in pair.split())
    near, exact = near_poses(a, b, OVERLAY_POSES)
    poses, d = near.astype(float), exact.d
    overlay = Overlay(a, b)
    start = time.process_time()
    found = np.array([overlay.distance(*pose)[0] for pose in poses])
    seconds = time.process_time() - start
    error = 100 * (found - d) / (a.circumradius + b.circumradius)
    return {
        "pair": pair,
        "kind": OVERLAY,
        "poses": len(poses),
        "d_rms": float(np.sqrt((error**2).mean())),
        "d_max": float(np.abs(error).max()),
        "d_rms_apart": float(np.sqrt((error[d > 0] ** 2).mean())),
        "d_rms_within": float(np.sqrt((error[d < 0] ** 2).mean())),
        "query_ns": {"python": {"median": 1e9 * seconds / len(poses)}},
        "exact_d": d.round(5).tolist(),
        "error": error.round(4).tolist(),
    }


def line(row: Row) -> str:
    cells = [row["pair"], row["kind"], f"{row['d_rms']:.3f} / {row['d_max']:.2f}"]
    if "normal_mean" in row:
        cells.append(f"{row['normal_median']:.2f} / {row['normal_mean']:.1f}")
        cells.append(f"{row['arm_median']:.3f} / {row['arm_rms']:.1f}")
        cells += [f"{row['bytes'] / 1000:.0f}", f"{row['build_seconds']:.1f}"]
    else:
        cells += ["", "", "", ""]
    times = " / ".join(f"{found['median']:.0f}" for found in row["query_ns"].values())
    return "| " + " | ".join([*cells, times]) + " |"


def draw(rows: list[Row], path: Path) -> None:
    """Plots the error of the overlay over the exact distance, pair by pair."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    rows = [row for row in rows if row["kind"] == OVERLAY]
    figure, axes = plt.subplots(
        1, max(1, len(rows)), figsize=(2.6 * max(1, len(rows)), 2.6), sharey=True, squeeze=False
    )
    for row, axis in zip(rows, axes[0], strict=False):
        a, b = (SHAPES[name] for name in row["pair"].split())
        size = a.circumradius + b.circumradius
        axis.plot(100 * np.array(row["exact_d"]) / size, row["error"], ".", markersize=3)
        axis.axhline(0, color="black", linewidth=0.5)
        axis.set_title(row["pair"])
        axis.set_xlabel("exact d [% of size]")
    axes[0][0].set_ylabel("overlay - exact [% of size]")
    figure.tight_layout()
    figure.savefig(path, dpi=100)
    plt.close(figure)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--pairs", nargs="+", choices=PAIRS, default=PAIRS)
    parser.add_argument("--kinds", nargs="+", choices=[*KINDS, OVERLAY], default=[OVERLAY, *KINDS])
    parser.add_argument("--out", type=Path, default=OUT)
    parser.add_argument("--iterations", type=int, default=4000, help="of training")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    path = options.out / "pair_fields.json"
    before = json.loads(path.read_text())["rows"] if path.exists() else []
    known = {(row["pair"], row["kind"]): row for row in before}
    print(
        "| pair | representation | d RMS / max | normal median / mean | arm median / RMS | kB | build s "
        f"| ns, {' / '.join(KERNELS)} |"
    )
    for kind in options.kinds:
        for pair in options.pairs:
            row = measure_overlay(pair) if kind == OVERLAY else measure_field(pair, kind, options)
            known[pair, kind] = row
            print(line(row), flush=True)
            order = [(p, k) for p in PAIRS for k in (OVERLAY, *KINDS)]
            rows = [known[key] for key in order if key in known]
            path.write_text(json.dumps({"machine": measure.facts(), "rows": rows}, indent=1) + "\n")
    draw(rows, options.out / "pair_fields.png")


if __name__ == "__main__":
    main()
