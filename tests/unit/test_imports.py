"""Imports of the package run downwards without cycles, and the check of this finds faults."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))

import check_imports  # noqa: E402

ALLOWED = {"errors": (), "_core": (), "low": (), "high": ("low",), "": ("low", "high")}
#: a small package without a fault
FILES = {
    "__init__.py": "from granular_gym.high.b import thing\n",
    "errors.py": "",
    "low/__init__.py": "",
    "low/a.py": "import math\nfrom granular_gym.errors import Error\n",
    "high/__init__.py": "",
    "high/b.py": "from granular_gym import errors\nfrom granular_gym.low import a\nfrom granular_gym.low.a import x\n",
}


def faults(folder: Path, files: dict[str, str], allowed: dict[str, tuple[str, ...]] = ALLOWED) -> list[str]:
    """The faults that the check finds in a package of these files."""
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return check_imports.check(check_imports.find_modules({"granular_gym": folder}), allowed)


def test_the_package_has_no_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert check_imports.main() == 0, capsys.readouterr().err
    modules = check_imports.find_modules(check_imports.FOLDERS)
    for name in ("_core", "errors", "engine.world", "envs.bulldozer_expert", "scenes.silo", "__main__"):
        assert f"granular_gym.{name}" in modules


def test_few_modules_lie_outside_of_packages() -> None:
    loose = [path.name for path in (ROOT / "granular_gym").iterdir() if path.suffix in (".py", ".pyi")]
    assert len(loose) <= 12, sorted(loose)


def test_a_package_without_a_fault(tmp_path: Path) -> None:
    assert faults(tmp_path, FILES) == []


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("low/a.py", "from granular_gym.high.b import thing", "low imports granular_gym.high.b, of high"),
        ("low/a.py", "import granular_gym.high.b", "low imports granular_gym.high.b, of high"),
        ("low/a.py", "import granular_gym as gg", "low imports granular_gym, of granular_gym"),
        ("low/a.py", "def f():\n    from granular_gym.low import a2", "inside a function or a condition"),
        ("low/a.py", "if TYPE_CHECKING:\n    import granular_gym.low.a2", "inside a function or a condition"),
        ("low/a.py", "from . import a2", "relative import"),
        ("low/a.py", "from granular_gym.low.gone import f", "granular_gym.low.gone is no module"),
        ("low/a.py", "from granular_gym.low.a2 import f", "granular_gym.low.a -> granular_gym.low.a2"),
    ],
)
def test_faults_are_found(tmp_path: Path, name: str, text: str, said: str) -> None:
    """The fault is found, and no other."""
    package = {**FILES, "low/a2.py": "from granular_gym.low import a3", "low/a3.py": "from granular_gym.low import a"}
    package["low/a.py"] = ""
    assert faults(tmp_path, package) == []
    found = faults(tmp_path, {name: text})
    assert said in found[0] and (len(found) == 1 or found[1].startswith("cycle: ")), found


def test_the_table_itself_runs_up(tmp_path: Path) -> None:
    found = faults(tmp_path, FILES, {**ALLOWED, "low": ("high",)})
    assert found == ["table of packages: low may import from high, which does not stand above it"]
