"""Makes the mesh of the helical gears of the gear tower from parameters: gear.stl.

    python assets/make_gear.py [folder]

Needs only numpy and this package. Metres; the axis is z, the origin the centre. A spur gear's outline is an involute
above the base circle and radial below it; turned in proportion to z it becomes a helical gear. The end faces are fans
around points on the axis, so the mesh is closed by construction.

Involute of a base circle of radius b: at radius r its polar angle is inv(a) with cos a = b / r, inv(a) = tan a - a. The
half angle of a tooth at radius r is pi / (2 z) + inv(pressure angle) - inv(a), since on the pitch circle tooth and gap
are equally wide.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import granular_gym as gg

FLANK_POINTS = 7  # on each flank above the base circle


@dataclass(frozen=True)
class Gear:
    """A helical gear with involute teeth.

    Args:
        teeth: number of teeth.
        module: pitch diameter over number of teeth [m].
        width: along the axis [m].
        helix: angle of the teeth with the axis on the pitch circle [rad].
        pressure: pressure angle [rad].
    """

    teeth: int
    module: float
    width: float
    helix: float
    pressure: float = math.radians(20.0)

    @property
    def pitch_radius(self) -> float:
        """Radius of the pitch circle [m]."""
        return 0.5 * self.module * self.teeth

    @property
    def base_radius(self) -> float:
        """Radius of the base circle of the involutes [m]."""
        return self.pitch_radius * math.cos(self.pressure)

    @property
    def tip_radius(self) -> float:
        """Radius of the tips [m]."""
        return self.pitch_radius + self.module

    @property
    def root_radius(self) -> float:
        """Radius of the roots [m]."""
        return self.pitch_radius - 1.25 * self.module

    @property
    def twist(self) -> float:
        """Angle of the upper face relative to the lower one [rad]."""
        return self.width * math.tan(self.helix) / self.pitch_radius

    def half_angle(self, radius: float) -> float:
        """Half the angle of a tooth at a radius [rad]; flanks are radial below the base circle."""
        cosine = min(self.base_radius / radius, 1.0)
        a = math.acos(cosine)
        return math.pi / (2 * self.teeth) + involute(self.pressure) - involute(a)

    def outline(self) -> NDArray[np.float64]:
        """Corners of the transverse section, counter-clockwise, (n, 2) [m]."""
        lowest = max(self.base_radius, self.root_radius)
        radii = np.linspace(lowest, self.tip_radius, FLANK_POINTS).tolist()
        if self.root_radius < self.base_radius:
            radii = [self.root_radius, *radii]
        points = []
        for tooth in range(self.teeth):
            middle = 2.0 * math.pi * tooth / self.teeth
            right = [(r, middle - self.half_angle(r)) for r in radii]
            left = [(r, middle + self.half_angle(r)) for r in reversed(radii)]
            points += [(r * math.cos(a), r * math.sin(a)) for r, a in (*right, (self.tip_radius, middle), *left)]
        return np.array(points)

    def mesh(self, layers: int = 12) -> gg.Mesh:
        """The closed surface."""
        section = self.outline()
        count = len(section)
        vertices, faces = [], []
        for layer in range(layers + 1):
            share = layer / layers
            turn = self.twist * (share - 0.5)
            c, s = math.cos(turn), math.sin(turn)
            x, y = c * section[:, 0] - s * section[:, 1], s * section[:, 0] + c * section[:, 1]
            vertices.append(np.stack([x, y, np.full(count, self.width * (share - 0.5))], axis=1))
        around = np.arange(count)
        after = (around + 1) % count
        for layer in range(layers):
            a, b = layer * count + around, layer * count + after
            faces += [np.stack([a, b, b + count], axis=1), np.stack([a, b + count, a + count], axis=1)]
        # the end faces are fans around two points on the axis
        lower, upper = (layers + 1) * count, (layers + 1) * count + 1
        vertices.append(np.array([[0.0, 0.0, -0.5 * self.width], [0.0, 0.0, 0.5 * self.width]]))
        top = layers * count
        faces += [np.stack([after, around, np.full(count, lower)], axis=1)]
        faces += [np.stack([top + around, top + after, np.full(count, upper)], axis=1)]
        return gg.Mesh(np.concatenate(vertices), np.concatenate(faces).astype(np.int32))


def involute(angle: float) -> float:
    """inv(angle) = tan(angle) - angle [rad]."""
    return math.tan(angle) - angle


#: the gear of the tower; the depth of its gaps is about the diameter of a grain of the task with 2,000 grains
TOWER_GEAR = Gear(teeth=10, module=0.045, width=0.18, helix=math.radians(30.0))


def main() -> None:
    """Writes the file to the folder given on the command line; default: the folder of this script."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).resolve().parent
    path = folder / "gear.stl"
    mesh = TOWER_GEAR.mesh()
    gg.save_stl(path, mesh)
    gear = TOWER_GEAR
    print(
        f"{path.name}: {len(mesh.faces)} triangles, {path.stat().st_size / 1000:.0f} kB, {gear.teeth} teeth, radii "
        f"{gear.root_radius:.3f} / {gear.base_radius:.3f} / {gear.pitch_radius:.3f} / {gear.tip_radius:.3f} m"
    )


if __name__ == "__main__":
    main()
