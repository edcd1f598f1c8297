"""draw_shapes.py: a picture of all built-in planar shapes with their convex pieces and centres of mass.

python tools/draw_shapes.py [--out docs/shapes2d.png]
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib

import granular_gym as gg
from granular_gym.shapes import outlines

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np

COLUMNS = 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--out", type=Path, default=Path(__file__).resolve().parent.parent / "docs" / "shapes2d.png")
    out = parser.parse_args().out
    shapes = [gg.Shape2D.letter(letter) for letter in outlines.LETTERS]
    shapes += [gg.Shape2D.hash(), gg.Shape2D.octagon(), gg.Shape2D.heart(), gg.Shape2D.chain_link()]
    shapes += [gg.Shape2D.block(2, 0.6), *(gg.Shape2D.arc(closure) for closure in (0.25, 0.5, 0.75, 1.0))]
    rows = -(-len(shapes) // COLUMNS)
    figure, axes = plt.subplots(rows, COLUMNS, figsize=(1.5 * COLUMNS, 1.65 * rows))
    for axis in axes.flat:
        axis.axis("off")
    for shape, axis in zip(shapes, axes.flat, strict=False):
        piece, piece_end = shape.pieces
        for index in np.split(piece, piece_end[:-1]):
            axis.fill(*shape.vertices[index].T, alpha=0.4)
        for ring in shape.rings:
            axis.plot(*np.concatenate([ring, ring[:1]]).T, color="black", linewidth=0.8)
        axis.plot(0, 0, "+", color="black", markersize=4)
        axis.set_aspect("equal")
        axis.set_title(f"{shape.name}, {shape.symmetry}-fold" if shape.symmetry > 1 else shape.name, fontsize=8)
    figure.tight_layout()
    figure.savefig(out, dpi=80)


if __name__ == "__main__":
    main()
