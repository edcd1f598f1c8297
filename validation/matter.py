"""matter.py: what the checks of continuous matter share: the two modes of the solver."""

from __future__ import annotations

import granular_gym as gg
from validation.check import Params

ZONG = "Zong 2024"
#: where a parameter `mode` names them; explicit steps are the baseline
SOLVERS = {"implicit": gg.Solver(), "explicit": gg.Solver(mode="explicit")}


def build(scene: gg.Scene, params: Params, threads: int) -> gg.World:
    """A world in the mode of a case; its `tolerance` [m/s] is that of the implicit solve."""
    mode = params["mode"]
    solver = gg.Solver(tolerance=params["tolerance"]) if params.get("tolerance") else SOLVERS[mode]
    return scene.build(num_threads=threads, solver=solver)


def setup(params: Params, text: str) -> str:
    """The set-up of a row: a text, the distance of the nodes and the mode."""
    return f"{text}, nodes {100.0 * params['spacing']:.4g} cm apart, {params['mode']}"
