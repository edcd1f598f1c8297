"""lammps.py: the settled column in LAMMPS, from the same packing.

Springs and dashpots with tangential history (gran/hooke/history), normal stiffness 2.5e4 N/m, time step 2e-5 s: a 25th
of the duration of a collision. Clumps are bodies of fix rigid/small. LAMMPS is controlled through a pipe, so that its
runs can alternate with others; it reports its own processor time.
"""

from __future__ import annotations

import functools
import math
import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from testbed.beds import DENSITY, DIAMETER, RADIUS
from testbed.standard import FRICTION, RESTITUTION

STIFFNESS, DT = 2.5e4, 2e-5  # [N/m], [s]
MASS = DENSITY * 4.0 / 3.0 * math.pi * RADIUS**3

#: a collision takes so many time steps
STEPS_OF_A_COLLISION = 25


@dataclass(frozen=True)
class Grain:
    """A grain: a sphere, or a rigid clump of spheres.

    Attributes:
        spheres: number of its spheres, standard grains in size; above 1 they are a rigid body.
        mass: of the grain [kg].
        dt: time step [s].
    """

    spheres: int = 1
    mass: float = MASS
    dt: float = DT


def program() -> str | None:
    """Path of LAMMPS, None where it is not installed."""
    return shutil.which("lmp") or shutil.which("lmp_serial")


@functools.lru_cache(maxsize=1)
def version() -> str:
    """Its date of release, like "22 Jul 2025"; "" where it is not known."""
    text = subprocess.run([program() or "lmp", "-h"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"Simulator - (\d+ \w+ \d{4})", text)
    return found[1] if found else ""


def _local() -> str:
    """Keyword by which reductions take values of pairs; before 2024 they guessed it."""
    return " inputs local" if version()[-4:] >= "2024" else ""


def damping(mass: float, restitution: float = RESTITUTION, stiffness: float = STIFFNESS) -> float:
    """Damping [N s/m] of a spring [N/m] with an effective mass [kg] that gives a restitution."""
    log_e = math.log(restitution)
    return 2.0 * -log_e / math.sqrt(math.pi**2 + log_e**2) * math.sqrt(stiffness * mass)


def shortest_step(mass: float, inertia: float, arm: float) -> float:
    """Time step [s] of clumps [kg, kg m2] that touch at most so far from the line of their centres [m]."""
    effective = 0.5 / (1.0 / mass + arm * arm / inertia)
    return math.pi * math.sqrt(effective / STIFFNESS) / STEPS_OF_A_COLLISION


def laws(mass: float = MASS) -> tuple[str, str]:
    """Parameters of contacts between grains [kg], and of grains with walls."""
    tangent = 2.0 / 7.0 * STIFFNESS
    pair, wall = (damping(m) / m for m in (0.5 * mass, mass))
    # damping of gran/hooke in LAMMPS is per mass: force = effective mass * gamma * velocity
    return tuple(f"{STIFFNESS:g} {tangent:.8g} {g:.8g} {0.5 * g:.8g} {FRICTION} 1" for g in (pair, wall))  # type: ignore[return-value]


class Lammps:
    """A running LAMMPS with a packing between four walls and a floor.

    Args:
        positions: (n, 3) [m].
        half_width: of the box [m].
        folder: for the input file.
        kind: of grain; of clumps, positions are those of their spheres, clump after clump.
    """

    def __init__(self, positions: NDArray[Any], half_width: float, folder: Path, kind: Grain | None = None) -> None:
        self.kind = kind or Grain()
        rigid = self.kind.spheres > 1
        data = folder / "packing.data"
        self._write(data, positions, half_width)
        command = [program() or "lmp", "-log", "none"]
        if shutil.which("stdbuf"):
            command = ["stdbuf", "-oL", *command]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
        )
        grain, wall = laws(self.kind.mass)
        w = f"{half_width:.9g}"
        self._send(
            "units si\natom_style sphere\nnewton off\nboundary f f fm\ncomm_modify vel yes",
            "atom_modify map array\nfix molecules all property/atom mol" if rigid else "",
            f"read_data {data.name}" + (" fix molecules NULL Molecules" if rigid else ""),
            "neigh_modify exclude molecule/intra all" if rigid else "",
            f"neighbor {0.1 * DIAMETER:g} bin\nneigh_modify delay 0 every 10 check yes",
            f"pair_style gran/hooke/history {grain}\npair_coeff * *",
            *(
                f"fix wall_{axis} all wall/gran hooke/history {wall} {axis}plane {span}"
                for axis, span in (("x", f"-{w} {w}"), ("y", f"-{w} {w}"), ("z", "0.0 NULL"))
            ),
            "fix weight all gravity 9.81 vector 0 0 -1",
            "fix motion all " + ("rigid/small molecule" if rigid else "nve/sphere"),
            f"timestep {self.kind.dt:g}",
            "compute distances all pair/local dist",
            f"compute least all reduce min c_distances{_local()}",
            f"compute average all reduce ave c_distances{_local()}",
            "compute height all reduce ave z",
            "compute touching all contact/atom",
            "compute contacts all reduce ave c_touching",
            "thermo_style custom step c_least c_average c_height c_contacts\nthermo_modify format float %.9g norm no",
            "thermo 100000000",
        )

    def _write(self, path: Path, positions: NDArray[Any], half_width: float) -> None:
        wide, top = half_width + DIAMETER, float(positions[:, 2].max()) + 10.0 * DIAMETER
        spans = ((-wide, wide, "x"), (-wide, wide, "y"), (-DIAMETER, top, "z"))
        head = ["resting column", "", f"{len(positions)} atoms", "1 atom types", ""]
        head += [f"{low:.9g} {high:.9g} {axis}lo {axis}hi" for low, high, axis in spans]
        # clumps have their mass: where spheres overlap it counts once
        density = DENSITY * self.kind.mass / (self.kind.spheres * MASS)
        body = [f"{k + 1} 1 {DIAMETER} {density:.9g} {x:.9g} {y:.9g} {z:.9g}" for k, (x, y, z) in enumerate(positions)]
        lines = [*head, "", "Atoms", "", *body, ""]
        if self.kind.spheres > 1:
            molecules = [f"{k + 1} {k // self.kind.spheres + 1}" for k in range(len(positions))]
            lines += ["Molecules", "", *molecules, ""]
        path.write_text("\n".join(lines))

    def _send(self, *lines: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write("\n".join(lines) + "\n")
        self._process.stdin.flush()

    def run(self, steps: int) -> dict[str, float]:
        """Runs time steps; returns the processor seconds of the loop, and measures of the packing after it.

        Raises:
            RuntimeError: LAMMPS stopped.
        """
        self._send(f"run {steps}")
        assert self._process.stdout is not None
        seconds, share, table = math.nan, 1.0, None
        lines: list[str] = []
        for line in self._process.stdout:
            lines.append(line)
            values = line.split()
            if len(values) == 5 and re.fullmatch(r"\d+", values[0]):
                table = [float(v) for v in values[1:]]
            if line.startswith("Loop time of"):
                seconds = float(values[3])
            elif "CPU use" in line:
                share = float(line.split("%", 1)[0]) / 100.0
            elif line.startswith("Dangerous builds"):
                break
        else:
            raise RuntimeError("LAMMPS stopped: " + "".join(lines[-5:]).strip())
        if table is None:
            raise RuntimeError("LAMMPS printed no table")
        least, average, height, contacts = table
        return {
            "cpu_seconds": seconds * share,
            "overlap_max_pct": 100.0 * (1.0 - least / DIAMETER),
            "overlap_mean_pct": 100.0 * (1.0 - average / DIAMETER),
            "mean_height": height,
            "contacts_per_grain": contacts,
        }

    def close(self) -> None:
        """Ends the program."""
        if self._process.poll() is None:
            try:
                self._process.communicate("quit\n", timeout=10)
            except (subprocess.TimeoutExpired, OSError):
                self._process.kill()
                self._process.wait()


def settled(positions: NDArray[np.float32], half_width: float, folder: Path, steps: int) -> Lammps:
    """LAMMPS with the packing, after `steps` time steps in which its springs settle."""
    peer = Lammps(positions, half_width, folder)
    try:
        peer.run(steps)
    except BaseException:
        peer.close()
        raise
    return peer
