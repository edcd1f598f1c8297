"""world_contacts.py: the part of World that reads contacts and looks for overlaps."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from granular_gym.base import checks, names
from granular_gym.engine.contacts import Contacts, observed
from granular_gym.engine.overlaps import TOLERANCE, Overlaps
from granular_gym.engine.world_images import WorldImages


class WorldContacts(WorldImages):
    """What World reads of contacts."""

    def contacts(self, env: int = 0) -> Contacts:
        """The contacts of one env in its last substep and their impulses, on the host.

        Wrenches are means over a call of `step`, these are not. None before the first step and after grains were set; a
        loaded state brings its own.

        Args:
            env: index of the env.

        Raises:
            ArgumentError: not an env of this world, or the world is planar.
        """
        return Contacts(*self._core.get_contacts(checks.integer("env", env, 0, self.env_count - 1))).sorted()

    def observe_contacts(self, max_count: int, tool: int | str | None = None) -> dict[str, NDArray[Any]]:
        """The strongest contacts of every env in its last substep, as arrays of fixed sizes for an observation.

        Only contacts that carry a force are among them, the strongest first. Further rows have valid False, vectors 0
        and numbers -1.

        Args:
            max_count: m, rows of each env, >= 1.
            tool: name or index of the tool whose contacts are meant; None: all contacts.

        Returns:
            By name: valid bool (env_count, m); grain, partner and kind int32 (env_count, m): the partner is a grain of
            a higher number (kind 0), a tool (1), or a wall in the order of `wall_wrenches` (2); force [N], torque
            [N m], point [m] and normal float32 (env_count, m, 3): what acts on the grain, as in `Contacts`.

        Raises:
            ArgumentError: no such tool, max_count below 1, or the world is planar.
        """
        rows = checks.integer("max_count", max_count, 1)
        index = None if tool is None else names.index("tool", tool, list(self._frozen.tool_names), "tool")
        every = [self.contacts(env) for env in range(self.env_count)]
        wanted = every if index is None else [found.with_tool(index) for found in every]
        return observed(wanted, rows, self.tool_count)

    def overlaps(self, env: int = 0, tolerance: float = TOLERANCE) -> Overlaps:
        """Grains of one env that lie in each other, in tools, in walls or outside the bounds, as they are now.

        `Scene.build` looks for them by itself; after `set_grains`, `transform_grains`, `set_tool_poses` or `load_state`
        this does. A settled bed has overlaps of a few percent at most. The search runs on the host and changes nothing.

        Args:
            env: index of the env.
            tolerance: overlaps up to this share of the smaller grain's diameter are left out, 0 .. 1e6.

        Raises:
            ArgumentError: not an env of this world, or no such tolerance.
            MemoryError: not enough memory for the search.
        """
        index = checks.integer("env", env, 0, self.env_count - 1)
        share = checks.number("tolerance", tolerance, 0.0)
        pairs, depths, complete = self._core.find_overlaps(index, share)
        return Overlaps(pairs, depths, bool(complete))
