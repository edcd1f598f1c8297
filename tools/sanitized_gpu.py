"""sanitized_gpu.py: every kernel once on small worlds, short enough for compute-sanitizer."""

from __future__ import annotations

import granular_gym as gg


def scene(periodic: bool) -> gg.Scene:
    """Two sizes of grains, a ball and a camera; without tools and walls where it is periodic."""
    sides = {"x": "periodic", "y": "periodic"} if periodic else {"x": "wall", "y": "wall"}
    made = gg.Scene(((-0.08, -0.08, 0.0), (0.08, 0.08, 0.4)), boundary={**sides, "z": ("wall", "open")})
    sand = made.add_material(density=1600.0, friction=0.5, rolling_friction=0.2, radius=0.01)
    made.fill_box(sand, (-0.08, -0.08, 0.0), (0.08, 0.08, 0.2), count=150, radius=(0.006, 0.012))
    if not periodic:
        made.add_tool(gg.Sdf.sphere(0.03), name="ball", pose=(0.0, 0.0, 0.2))
    camera = gg.DepthCamera.orthographic(height=16, width=16, extent=0.1, position=(0, 0, 1), target=(0, 0, 0), far=2.0)
    made.add_camera(camera, name="sky")
    return made


def main() -> None:
    """Both ways of a step, both broad phases, one env and several, everything that can be read."""
    for periodic, settings in ((False, {}), (False, {"broad_phase": "linked_hash"}), (True, {"tolerance": 1e-4})):
        for kernel in ("team", "graph"):
            for env_count in (1, 3):
                with scene(periodic).build(env_count, device="cuda", solver=gg.Solver(**settings)) as world:
                    world._core.set_kernel(kernel)
                    poses = None if periodic else [[0.02, 0.0, 0.15, 1.0, 0.0, 0.0, 0.0]]
                    world.step(1e-3, 4, poses)
                    world.place_grains([0.001, 0.0, 0.0], 0.1)
                    world.step(1e-3, 2)
                    for name in ("positions", "wrenches", "tool_poses"):
                        world.read(name, "device")
                    world.depth("sky", "device")
                    world.box_stats([[-0.05, -0.05, 0.0]] * env_count, [[0.05, 0.05, 0.1]] * env_count)
                    world.load_state(world.save_state())
                    world.step(1e-3, 1)
                    assert not world.stats["diverged"].any()
    print("done")


if __name__ == "__main__":
    main()
