"""scene_tools.py: the tools of a scene, and the cameras, which may ride on them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from granular_gym.base import checks, names
from granular_gym.engine.cameras import DepthCamera
from granular_gym.engine.frozen import Mounted
from granular_gym.engine.scene_arrays import Tool
from granular_gym.engine.scene_materials import SceneMaterials
from granular_gym.engine.tool_mass import tool_mass
from granular_gym.errors import ArgumentError
from granular_gym.shapes.sdf import Sdf, as_sdf


class SceneTools(SceneMaterials):
    """The part of a `Scene` that knows tools and cameras."""

    tools: list[Tool]
    cameras: dict[str, Mounted]

    def add_tool(
        self,
        sdf: Sdf | Sequence[Sdf],
        name: str | None = None,
        material: int | str | None = None,
        pose: Any = (0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0),
        *,
        mass: float | None = None,
        free: str | None = None,
        travel: Mapping[str, tuple[float, float]] | None = None,
        stiffness: float | None = None,
        damping: float | None = None,
        inertia: Any = None,
        coupled: bool = False,
    ) -> int:
        """Adds a body that grains meet and returns its index: one that is posed, one that forces move as it has a mass,
        or one that another engine moves.

        A tool with a mass follows Newton's law under gravity, the force that `World.set_tool_force` gives and the
        impulses of the grains. It keeps its rotation, but for one with an inertia, and passes through other tools.

        Args:
            sdf: an Sdf or a list of them; one contact per grain and part is found. Fields of meshes are sampled as far
                out as the largest grain is wide when a world is built; for other grids see `SdfWarning`.
            name: for cameras and people; unique.
            material: name or index; None: the first material.
            pose: x y z qw qx qy qz at the start [m].
            mass: [kg], > 0; None: the tool goes where it is told (`World.step`).
            free: axes of the world along which a tool with a mass moves, such as "z"; None: "xyz".
            travel: by axis, the lowest and the highest position of its origin [m], where it stops without a rebound.
                An axis that is not given ends where the tool, turned as it is here, would reach into a wall of the
                bounds.
            stiffness: [N/m], > 0, of a spring that holds a tool with a mass to the poses that it is told, as the arm or
                the mount of a real tool does: it gives way by force over stiffness along all axes, and turns as it is
                told. Nothing stops it, and its mount carries its weight. None: no spring.
            damping: [N s/m] of a damper beside the spring; None: 0.
            inertia: of a tool with a mass and without a spring beside continuous matter, which then turns: about its
                origin, which is its centre of mass, in the axes of the SDF, tensor (3, 3) or moments (3,) [kg m2].
                None: it does not turn. Among grains `add_body` adds what turns.
            coupled: it is a link of a robot that another engine moves (`World.set_coupled`, `granular_gym.mujoco`): its
                velocity is solved together with the contacts, with the inverse inertia that this engine gives.
        """
        index = len(self.tools)
        if checks.flag("coupled", coupled) and (mass is not None or self.planar):
            raise ArgumentError("coupled: expected a tool without a mass of its own, in space")
        name = f"tool{index}" if name is None else checks.text("name", name)
        if any(tool.name == name for tool in self.tools):
            raise ArgumentError(f"name: expected a new name, {name!r} is taken by another tool")
        solid = as_sdf("sdf", sdf)
        made_of = self._material("material", 0 if material is None else material)
        at = tuple(float(x) for x in checks.pose("pose", pose))
        massive = tool_mass(mass, free, travel, stiffness, damping, inertia, self.planar)
        self.tools.append(Tool(solid, name, made_of, at, massive, coupled))
        return index

    def add_camera(self, camera: DepthCamera, name: str | None = None, tool: str | int | None = None) -> int:
        """Adds a depth camera and returns its index.

        Args:
            camera: what it is.
            name: for `World.depth`; unique.
            tool: name or index of the tool it rides on; its pose is then in the tool's frame.
        """
        index = len(self.cameras)
        if not isinstance(camera, DepthCamera):
            raise ArgumentError(f"camera: expected a DepthCamera, got {type(camera).__name__}")
        name = f"camera{index}" if name is None else checks.text("name", name)
        if name in self.cameras:
            raise ArgumentError(f"name: expected a new name, {name!r} is taken by another camera")
        tools = [each.name for each in self.tools]
        self.cameras[name] = Mounted(camera, -1 if tool is None else names.index("tool", tool, tools, "tool"))
        return index
