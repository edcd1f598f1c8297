"""lammps_input.py: input scripts of LAMMPS that run a packing of ours."""

from __future__ import annotations

import numpy as np

from granular_gym.base import checks
from granular_gym.engine.bounds import BOUNDARIES
from granular_gym.engine.materials import PAIR_FIELDS
from granular_gym.engine.world import World
from granular_gym.errors import ArgumentError
from granular_gym.exchange.lammps_data import check_lone
from granular_gym.exchange.lammps_dump import WRITTEN
from granular_gym.exchange.snapshot import check

#: contact laws of LAMMPS by name
LAWS = {"hooke": "hooke/history", "hertz": "hertz/history"}
#: boundaries of LAMMPS by those of a face: grains that leave through an open one are not lost
_FACES = {BOUNDARIES["periodic"]: "p", BOUNDARIES["wall"]: "f", BOUNDARIES["open"]: "m"}


def lammps_input(
    world: World,
    env: int = 0,
    *,
    data: str,
    law: str,
    stiffness: float,
    tangential_stiffness: float,
    damping: float,
    tangential_damping: float,
    dt: float,
    steps: int,
    friction: float | None = None,
    dump: str | None = None,
    dump_every: int = 1000,
    without_tools: bool = False,
) -> str:
    """An input script of LAMMPS that runs what `write_lammps` wrote: contact law, walls, gravity, boundaries, dump.

    The engine's contacts are rigid, those of LAMMPS are springs: their values are the caller's to choose. Rolling
    friction, cohesion and air are not in gran/hooke and gran/hertz.

    Args:
        world: of lone spheres.
        env: index of the env.
        data: path of the data file, as LAMMPS finds it.
        law: "hooke" (linear) or "hertz", both with history: https://docs.lammps.org/pair_gran.html.
        stiffness: Kn, of hooke [N/m], of hertz [Pa]; > 0.
        tangential_stiffness: Kt, likewise; >= 0.
        damping: gamma_n, of hooke [1/s], of hertz [1/(s m)]; >= 0.
        tangential_damping: gamma_t, likewise.
        dt: time step [s], > 0.
        steps: how many.
        friction: of grains and walls; None: that of the world, where all pairs of its materials have the same.
        dump: path of a text dump; None: none is written.
        dump_every: time steps between its frames.
        without_tools: write a script of a world with tools, which are left out.

    Raises:
        ArgumentError: a value that makes no sense; tools, cyclic faces or grains that such a script cannot have.
    """
    world, env = check(world, env)
    check_lone(world)
    if world.tool_count and not checks.flag("without_tools", without_tools):
        raise ArgumentError(
            f"world: expected one without tools, which a script of LAMMPS cannot have, got {world.tool_count}; "
            "without_tools=True leaves them out"
        )
    style = LAWS[checks.choice("law", law, list(LAWS))]
    values = [
        checks.number("stiffness", stiffness, 0.0, 1e15, above=True),
        checks.number("tangential_stiffness", tangential_stiffness, 0.0, 1e15),
        checks.number("damping", damping, 0.0, 1e15),
        checks.number("tangential_damping", tangential_damping, 0.0, 1e15),
        _friction(world, env) if friction is None else checks.number("friction", friction, 0.0, 1e4),
    ]
    contact = " ".join(f"{value:.9g}" for value in values) + " 1"
    arrays = world._frozen.arrays
    letters = [_letters(axis, faces) for axis, faces in zip("xyz", arrays["boundary"].tolist(), strict=True)]
    gravity = world.gravity[env].astype(np.float64)
    pull = float(np.linalg.norm(gravity))
    lines = [
        "# granular_gym",
        "units si",
        "atom_style sphere",
        f"boundary {' '.join(letters)}",
        "newton off",
        "comm_modify vel yes",
        f"read_data {_word('data', data)}",
        f"pair_style gran/{style} {contact}",
        "pair_coeff * *",
        f"neighbor {0.1 * 2.0 * float(world.radii[env].max(initial=0.0)) or 1.0:.9g} bin",
        "neigh_modify delay 0 every 1 check yes",
        "fix motion all nve/sphere",
    ]
    if pull > 0.0:
        lines.append(f"fix weight all gravity {pull:.9g} vector {' '.join(f'{g / pull:.9g}' for g in gravity)}")
    for row, axis in enumerate("xyz"):
        wall = [face == BOUNDARIES["wall"] for face in arrays["boundary"][row]]
        ends = [
            f"{arrays[name][row]:.9g}" if is_wall else "NULL"
            for name, is_wall in zip(("lower", "upper"), wall, strict=True)
        ]
        if any(wall):
            lines.append(f"fix wall_{axis} all wall/gran {style} {contact} {axis}plane {' '.join(ends)}")
    if dump is not None:
        every = checks.integer("dump_every", dump_every, 1)
        lines += [
            f"dump look all custom {every} {_word('dump', dump)} {' '.join(WRITTEN)}",
            "dump_modify look sort id format float %.9g units yes time yes",
        ]
    lines += [
        f"timestep {checks.number('dt', dt, 0.0, 1.0, above=True):.9g}",
        f"thermo {max(checks.integer('steps', steps, 0) // 10, 1)}",
        f"run {steps}",
    ]
    return "\n".join(lines) + "\n"


def _letters(axis: str, faces: list[int]) -> str:
    """The boundary of an axis, as LAMMPS writes it."""
    if any(face not in _FACES for face in faces):
        raise ArgumentError(f'world: expected no cyclic faces, which LAMMPS does not know, got one at "{axis}"')
    lower, upper = (_FACES[face] for face in faces)
    return lower if lower == upper else lower + upper


def _friction(world: World, env: int) -> float:
    """The friction of all pairs of materials."""
    every = np.unique(world.materials[0][env][..., PAIR_FIELDS.index("friction")])
    if len(every) > 1:
        raise ArgumentError(f"friction: expected a number, as pairs of materials differ, {every[0]:g} .. {every[-1]:g}")
    return float(every[0])


def _word(name: str, value: str) -> str:
    """A path that is one word of a script."""
    text = str(checks.path(name, value))
    if not all(letter.isalnum() or letter in "/._-+=" for letter in text):
        raise ArgumentError(
            f"{name}: expected letters, digits and / . _ - + =, as a script of LAMMPS splits words, got {text!r}"
        )
    return text
