"""roofline.py: the memory-bound time of a substep on a GPU.

Counts the bytes that the phases of a substep must move, each array once per phase and data of neighbours once per
grain, and divides by the bandwidth of the GPU's memory. A step is slower by what this leaves out: arithmetic, barriers,
gathers that miss the caches, padding, building of lists. It may be faster where its arrays fit into the second-level
cache (50 MB on an H100 or H200), or bodies into shared memory.

The sizes of arrays are read from csrc/state. Uses the standard library only.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from pathlib import Path

STATE = Path(__file__).resolve().parents[2] / "csrc" / "state"
SIZES = {"int32_t": 4, "float": 4, "uint64_t": 8, "double": 8, "gg_vec4": 16, "gg_slice_stats": 40}
LANES, BODY = 16, 8  # GG_LANES, GG_BODY
#: bandwidth of the memory [B/s], by a word in the name of the GPU
BANDWIDTHS = {"H200": 4.8e12, "H100": 3.35e12, "A100": 2.0e12}
DEFAULT = "H200"
DEFAULT_MODE = "gauss_seidel"

#: arrays by phase: those that it reads, and those that it writes
Arrays = dict[str, tuple[str, str]]


@dataclass(frozen=True)
class Law:
    """What the phases of a law move. Bodies and positions are moved as a whole.

    Attributes:
        grains: arrays of grains and slices.
        contacts: likewise arrays of contacts; of candidates only those that became contacts are counted.
        sides: how many of the two grains of a contact read it.
        iterated: the phases of an iteration.
        late: arrays that the first iteration neither reads nor writes.
    """

    grains: Arrays
    contacts: Arrays
    sides: int
    iterated: tuple[str, ...]
    late: tuple[str, ...]


#: phases that the laws share
COMMON: Arrays = {
    "predict": (
        "grain_id body_a velocity_error position built_position",
        "body_a velocity_error velocity slice_stats",
    ),
    "count_contacts": (
        "grain_id position candidate_first candidate_count body_a",
        "active next_count next_tool_count count_over_mass slice_parts slice_rows slice_tool_contacts",
    ),
    "allocate_contacts": ("slice_rows slice_tool_contacts", "slice_first_row slice_first_tool_body"),
}
JACOBI = Law(
    grains={
        **COMMON,
        "list_contacts": (
            "grain_id material active candidate_first candidate_count contact_first contact_count next_count "
            "next_tool_count slice_first_row slice_rows",
            "next_first",
        ),
        "prepare_contacts": (
            "position body_a count_over_mass slice_first_row slice_rows",
            "correction start_velocity velocity body_b slice_stats",
        ),
        "iterate": ("body_a start_velocity velocity slice_first_row slice_rows", "body_b velocity slice_stats"),
        "project_tools": ("next_tool_count", ""),
        "load_tools": ("next_tool_count", ""),
        "integrate": (
            "next_first next_count next_tool_count grain_id velocity body_a position position_error correction",
            "contact_first contact_count tool_contact_count body_a position position_error slice_stats",
        ),
    },
    contacts={
        "count_contacts": ("candidate", ""),
        "list_contacts": (
            "candidate key_a impulse_a roll_a",
            "key_b other_body friction effective_mass bias normal impulse_b roll_limit roll_b",
        ),
        "prepare_contacts": (
            "other_body friction effective_mass bias normal impulse_b roll_limit roll_b",
            "effective_mass bias normal impulse_b roll_limit roll_weight roll_b",
        ),
        "iterate": (
            "other_body normal effective_mass bias friction impulse_a impulse_b roll_a roll_b roll_weight roll_limit",
            "impulse_b roll_b",
        ),
    },
    sides=2,
    iterated=("iterate",),
    late=("impulse_a", "roll_a"),  # the iterate before the last, which is overwritten
)
COLOURED = Law(
    grains={
        **COMMON,
        "coloured_list": (
            "grain_id active candidate_first candidate_count contact_first contact_count next_count next_tool_count "
            "slice_first_row slice_first_tool_body",
            "next_first",
        ),
        "colour_contacts": ("next_first next_count colours material", "colours uncoloured_first"),
        "open_bodies": ("body_a colours", "body_b start_velocity shift"),
        "prepare_colour": ("position body_b body_a shift colours", "body_a shift"),
        "sweep_colour": ("body_a body_b", "body_a body_b"),  # bodies are extrapolated by their first contact
        "note_change": ("body_a body_b", ""),
        "note_overlaps": ("", "slice_stats"),
        "coloured_load_tools": ("next_tool_count", ""),
        "coloured_integrate": (
            "grain_id position position_error body_a next_first next_count next_tool_count shift",
            "position position_error contact_first contact_count tool_contact_count slice_stats",
        ),
    },
    contacts={
        "count_contacts": ("candidate", ""),
        "coloured_list": ("candidate key_a link_a", "key_b link_b list_body list_owner"),
        "colour_contacts": (
            "list_body link_b key_b",
            "link_b first_body other_body contact_pair contact_from colour_contact",
        ),
        "prepare_colour": (
            "first_body other_body contact_pair contact_from impulse_a roll_a colour_contact push",
            "normal effective_mass bias friction impulse_b overlap push sweep_own sweep_other "
            "roll_b roll_weight roll_limit",
        ),
        "sweep_colour": (
            "sweep_own sweep_other normal effective_mass bias friction impulse_a impulse_b "
            "roll_a roll_b roll_weight roll_limit",
            "impulse_b roll_b",
        ),
        "note_overlaps": ("other_body overlap", ""),
    },
    sides=1,
    iterated=("sweep_colour",),
    late=("body_b", "impulse_a", "roll_a"),
)
#: by mode
LAWS = {"gauss_seidel": COLOURED, "jacobi": JACOBI}


@functools.lru_cache(maxsize=1)
def widths() -> dict[str, float]:
    """Bytes of each array per grain; of arrays of contacts per contact."""
    found: dict[str, float] = {}
    fields = "".join((STATE / name).read_text() for name in ("fields.h", "spheres.h", "coloured.h"))
    for kind, name, count in re.findall(r"^ +X\((\w+), (\w+), (.+?), (?:STATE|SCRATCH)\)", fields, re.M):
        size = float(SIZES.get(kind, 0))
        unit, _, times = count.replace(" ", "").partition("*")
        rows = float(times.partition("*")[2] or 1) if times.startswith("GG_LANES") else 0.0
        if unit in ("d->slots", "d->listed", "d->candidate_cap", "d->coloured.slots", "d->coloured.firsts"):
            found[name] = size * float(times or 1)
        elif unit in ("d->bodies", "d->listed_bodies"):
            found[name] = size * BODY
        elif unit in ("d->contact_rows", "d->coloured.rows", "d->coloured.pushes", "d->spheres.roll_rows"):
            found[name] = size * rows
        elif unit == "d->coloured.found":
            found[name] = size * 2.0  # an entry at each of the two grains of a contact
        elif unit == "d->slices":
            found[name] = size / LANES
    return found


def moved(law: Law, phase: str, contacts: float, rolling: bool = False, first: bool = False) -> float:
    """Least bytes that a phase moves per grain, each array once for reading and once for writing.

    Args:
        law: of LAWS.
        phase: of the law.
        contacts: per grain, each pair counted at both grains, without contacts with tools.
        rolling: with rolling friction.
        first: in the first iteration.
    """
    without = law.late if first and phase in law.iterated else ()

    def bytes_of(arrays: Arrays) -> float:
        names = [name for part in arrays.get(phase, ("", "")) for name in part.split() if name not in without]
        return sum(widths()[name] for name in names if rolling or not name.startswith("roll"))

    return bytes_of(law.grains) + 0.5 * law.sides * contacts * bytes_of(law.contacts)


def bytes_per_grain(contacts: float, iterations: int, rolling: bool = False, mode: str = DEFAULT_MODE) -> float:
    """Least bytes that one substep moves per grain.

    Args:
        contacts: per grain, each pair counted at both grains, without contacts with tools.
        iterations: of the contact solver.
        rolling: with rolling friction.
        mode: of the solver.
    """
    law = LAWS[mode]
    total = 0.0
    for phase in law.grains:
        total += moved(law, phase, contacts, rolling, first=True)
        total += (iterations - 1) * moved(law, phase, contacts, rolling) if phase in law.iterated else 0.0
    return total


def resident(contacts: float, rolling: bool = False, mode: str = DEFAULT_MODE) -> float:
    """Bytes per grain that the iterations use; the roofline holds where all of them do not fit into a cache."""
    law = LAWS[mode]

    def bytes_of(arrays: Arrays) -> float:
        names = {name for phase in law.iterated for part in arrays.get(phase, ()) for name in part.split()}
        return sum(widths()[name] for name in names if rolling or not name.startswith("roll"))

    return bytes_of(law.grains) + 0.5 * law.sides * contacts * bytes_of(law.contacts)


def bytes_per_image(pixels: int, grains: int) -> float:
    """Least bytes of one depth image: grains are read, pixels written, and copied to the output."""
    return 3.0 * 4.0 * pixels + grains * (widths()["position"] + widths()["grain_id"])


def bandwidth(gpu: str) -> tuple[float, str]:
    """Bandwidth [B/s] of a GPU's memory and the name it is known by; those of an H200 for unknown GPUs."""
    name = next((name for name in BANDWIDTHS if name in gpu), DEFAULT)
    return BANDWIDTHS[name], name


#: envs, grains, contacts per grain (counted at both grains) and rolling friction of the scenes with targets. Contacts
#: are from the same settled beds on a CPU (20, 10, 25 layers; the bulldozers' heap), bit for bit those on a GPU
SCENES: dict[str, tuple[int, int, float, bool]] = {
    "blade": (1, 50_000, 6.40, False),
    "bucket": (1, 50_000, 6.40, False),
    "large": (1, 500_000, 6.40, False),
    "batch": (1024, 1_000, 6.01, False),
    "wide": (148, 10_000, 6.51, False),
    "bulldozer": (1024, 1_000, 4.03, True),
    "crossover": (1, 1_500_000, 6.40, False),
}
ITERATIONS = 10
#: pixels of the two images of the bulldozers, and of the images of the depth case
BULLDOZER_PIXELS, PIXELS = 36 * 36 + 36 * 72, 64 * 64


def expected(key: str, gpu: str = DEFAULT) -> float | None:
    """Roofline of a figure with a target (a key of targets.TARGETS); None: not bound by memory."""
    rate = bandwidth(gpu)[0]
    if key in ("sky", "side"):
        return rate / bytes_per_image(PIXELS, 1_000)
    if key not in SCENES:
        return None
    envs, grains, contacts, rolling = SCENES[key]
    each = bytes_per_grain(contacts, ITERATIONS, rolling)
    substep = envs * grains * each / rate
    if key == "crossover":
        return 1e-3 * rate / each
    if key == "bulldozer":
        return envs / (50 * substep + envs * bytes_per_image(BULLDOZER_PIXELS, 2 * grains) / rate)
    return {"blade": 1e6 * substep, "bucket": 5e-4 / substep, "batch": envs * grains / substep}.get(key, 1e-3 / substep)


def working_set(key: str) -> float | None:
    """Bytes that the iterations of a scene with a target use; None: no such scene."""
    if key not in SCENES:
        return None
    envs, grains, contacts, rolling = SCENES[key]
    return envs * grains * resident(contacts, rolling)
