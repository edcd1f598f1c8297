"""speed_worker.py: times one scene with one build of the package, block by block, as it is told.

    python benchmarks/speed_worker.py FOLDER SCENE SETTING

FOLDER holds the package: a source tree with its extension built in place, or what `pip install --target` leaves; - for
the one that is installed. The scene itself always comes from this tree. Every line of standard input is answered with
one of JSON: "run" runs a block, "phases" tells what the time of a block is spent on, "positions PATH" writes where the
grains are at the start of a block.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
#: packages that lie elsewhere in a source tree than where they are installed
MOVED = {"granular_gym.envs": "envs", "granular_gym.scenes": "scenes"}


class _SourceTree:
    """Finds the subpackages that a source tree keeps beside the package."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def find_spec(self, name: str, path: object = None, target: object = None) -> object:
        del path, target
        at = self._folder / MOVED.get(name, "") / "__init__.py"
        if name not in MOVED or not at.is_file():
            return None
        return importlib.util.spec_from_file_location(name, at, submodule_search_locations=[str(at.parent)])


def import_from(folder: Path) -> None:
    """Imports the package from a folder.

    Raises:
        ImportError: it is not there.
    """
    if not (folder / "granular_gym").is_dir():
        raise ImportError(f"FOLDER: expected one that holds granular_gym, got {folder}")
    # an editable installation would be found for what the folder lacks
    sys.meta_path[:] = [finder for finder in sys.meta_path if "editable" not in str(finder).lower()]
    sys.meta_path.append(_SourceTree(folder))  # type: ignore[arg-type]
    sys.path.insert(0, str(folder))
    importlib.import_module("granular_gym")
    sys.path.pop(0)


def main() -> None:
    """Answers lines until there are no more."""
    folder, name, text = sys.argv[1:4]
    # this file's folder is first on the path
    sys.path.pop(0)
    if folder != "-":
        import_from(Path(folder).resolve())
    sys.path.insert(0, str(ROOT))
    speed_scenes = importlib.import_module("benchmarks.speed_scenes")
    settings = importlib.import_module("benchmarks.settings")
    numpy = importlib.import_module("numpy")
    scene = speed_scenes.made(name, settings.Setting.parse(text))
    facts = {key: getattr(scene, key) for key in ("grains", "substeps", "env_steps", "seconds")}
    print(json.dumps(facts), flush=True)
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "positions":
            numpy.save(rest, scene.positions())
            print(json.dumps({}), flush=True)
        elif word == "phases":
            print(json.dumps(scene.phases()), flush=True)
        else:
            scene.begin()
            print(json.dumps({"cpu": scene.run(), **scene.look()}), flush=True)


if __name__ == "__main__":
    main()
