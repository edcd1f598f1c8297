"""covered.py: a solid as a field with spheres under its surface: what a rigid body is made of.

Source: N. Bell, Y. Yu, P. J. Mucha, *Particle-based simulation of granular materials* (SCA 2005), section 3.3.
"""

from __future__ import annotations

import numpy as np

from granular_gym.shapes.clump import Clump
from granular_gym.shapes.mesh import Mesh
from granular_gym.shapes.sdf import Sdf

#: samples of the field of a mesh along its longest and at least across its shortest side
_PER_LENGTH = 64
_PER_SIDE = 12


def covered(solid: Mesh | Sdf, count: int) -> tuple[Clump, Sdf]:
    """Spheres under the surface of a solid, and its field, both in the frame of the centre of mass.

    Args:
        solid: a closed mesh or a field with an end on all sides.
        count: of the spheres, 4 .. 1024.

    Raises:
        ArgumentError: a field without an end, a solid too thin for the spheres.
        MeshError: the mesh is not closed.
    """
    clump = Clump.under_surface(solid, count)
    if isinstance(solid, Sdf):
        return clump, solid.at(clump.origin)
    sides = np.ptp(solid.bounds, axis=0)
    spacing = float(min(sides.max() / _PER_LENGTH, sides.min() / _PER_SIDE))
    return clump, Sdf.from_mesh(solid, spacing=spacing).at(clump.origin)
