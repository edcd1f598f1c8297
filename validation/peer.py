"""peer.py: simulations of LAMMPS from the same packing, with the same walls, for comparison.

Contact law, stiffness and time step are those of benchmarks/lammps.py: springs and dashpots with tangential history,
2.5e4 N/m, 2e-5 s.
"""

from __future__ import annotations

import re
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks import lammps
from testbed.beds import DENSITY, DIAMETER

Floats = NDArray[Any]
#: source of the targets from LAMMPS
CODE = "LAMMPS, same start"
#: restitution of grains in all comparisons, that of the dashpots of LAMMPS
RESTITUTION = lammps.RESTITUTION


def available() -> str:
    """Why LAMMPS cannot run here, or ""."""
    return "" if lammps.program() else "LAMMPS (lmp) is not on the path"


def run(
    positions: Floats,
    lower: Any,
    upper: Any,
    *,
    seconds: float,
    frames: int,
    periodic_y: bool = False,
    floor: bool = True,
    blocks: Any = (),
    velocities: Floats | None = None,
) -> tuple[list[float], list[Floats], float]:
    """Simulates a packing in LAMMPS.

    Args:
        positions: initial ones (n, 3) [m].
        lower: lower corner of the bounds [m]; walls are at its x and y faces, the floor at its z.
        upper: upper corner [m].
        seconds: simulated time [s].
        frames: number of evenly spaced outputs.
        periodic_y: y is periodic and has no walls.
        floor: a floor at lower z; otherwise grains are removed there.
        blocks: solid boxes ((x0, y0, z0), (x1, y1, z1)) [m].
        velocities: initial ones (n, 3) [m/s]; None: at rest.

    Returns:
        Times [s], positions of the remaining grains at each, (m, 3) [m], and processor seconds of LAMMPS.

    Raises:
        RuntimeError: LAMMPS stopped.
    """
    grain, wall = lammps.laws()
    steps = max(round(seconds / frames / lammps.DT), 1)
    low, high = np.asarray(lower, float), np.asarray(upper, float)
    # walls lie inside the simulation box of LAMMPS
    pad = np.array([DIAMETER, 0.0 if periodic_y else DIAMETER, DIAMETER if floor else 0.0])
    sides = [f"{a:.9g} {b:.9g} {n}lo {n}hi" for a, b, n in zip(low - pad, high + pad, "xyz", strict=True)]
    head = ["packing", "", f"{len(positions)} atoms", "1 atom types", "", *sides, "", "Atoms", ""]
    body = [f"{k + 1} 1 {DIAMETER} {DENSITY} {x:.9g} {y:.9g} {z:.9g}" for k, (x, y, z) in enumerate(positions)]
    if velocities is not None:
        body += ["", "Velocities", ""]
        body += [f"{k + 1} {u:.9g} {v:.9g} {w:.9g} 0 0 0" for k, (u, v, w) in enumerate(velocities)]
    lines = [
        f"units si\natom_style sphere\nnewton off\nboundary f {'p' if periodic_y else 'f'} f\ncomm_modify vel yes",
        f"read_data packing.data\nneighbor {0.1 * DIAMETER:g} bin\nneigh_modify delay 0 every 10 check yes",
        f"pair_style gran/hooke/history {grain}\npair_coeff * *",
    ]
    planes = [("x", low[0], high[0])] + ([] if periodic_y else [("y", low[1], high[1])])
    lines += [f"fix wall_{n} all wall/gran hooke/history {wall} {n}plane {a:.9g} {b:.9g}" for n, a, b in planes]
    if floor:
        lines.append(f"fix wall_z all wall/gran hooke/history {wall} zplane {low[2]:.9g} NULL")
    for k, (a, b) in enumerate(blocks):
        spans = " ".join(f"{x:.9g} {y:.9g}" for x, y in zip(a, b, strict=True))
        lines.append(f"region block{k} block {spans} side out")
        lines.append(f"fix block{k} all wall/gran/region hooke/history {wall} region block{k}")
    lines += [
        f"fix weight all gravity 9.81 vector 0 0 -1\nfix motion all nve/sphere\ntimestep {lammps.DT:g}",
        f"thermo_modify lost ignore\nthermo {steps * frames}",
        f"dump look all custom {steps} look.dump id x y z\ndump_modify look sort id format float %.9g",
        f"run {steps * frames}",
    ]
    data = "\n".join([*head, *body, ""])
    steps_of, found, spent = execute(data, lines)
    return [step * lammps.DT for step in steps_of], found, spent


def execute(data: str, lines: list[str]) -> tuple[list[int], list[Floats], float]:
    """Runs commands of LAMMPS.

    Args:
        data: content of packing.data.
        lines: commands; they dump id, x, y and z to look.dump, sorted by id.

    Returns:
        Time steps of the dumps, positions of the remaining grains at each, (m, 3) [m], and processor seconds.

    Raises:
        RuntimeError: LAMMPS stopped.
    """
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "packing.data").write_text(data)
        (Path(folder) / "in.packing").write_text("\n".join([*lines, ""]))
        command = [lammps.program() or "lmp", "-in", "in.packing", "-log", "none"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode or "ERROR" in done.stdout:
            raise RuntimeError(f"LAMMPS stopped: {(done.stdout + done.stderr)[-500:]}")
        text = (Path(folder) / "look.dump").read_text()
    loops = re.findall(r"Loop time of ([\d.e+-]+)", done.stdout)
    shares = re.findall(r"([\d.]+)% CPU use", done.stdout)
    spent = sum(float(loop) * float(share) / 100.0 for loop, share in zip(loops, shares, strict=True))
    found, steps = [], []
    for part in text.split("ITEM: TIMESTEP\n")[1:]:
        step, body = part.split("\n", 1)
        rows = body.split("ITEM: ATOMS id x y z\n", 1)[1].split()
        found.append(np.array(rows, float).reshape(-1, 4)[:, 1:])
        steps.append(int(step))
    return steps, found, spent
