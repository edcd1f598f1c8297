"""The wheel and the source distribution: names, contents, and that the wheel runs without a compiler."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest

from testbed import wheels

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.skipif(not (ROOT / "setup.py").is_file(), reason="needs the sources")
#: libraries that every Linux has: the threads are POSIX threads, no runtime of OpenMP comes beside that of torch
SYSTEM = re.compile(r"(lib(c|m|pthread|dl|rt)|ld-linux-[\w-]+)\.so\.\d+")
#: files in git that are of no use without git
GIT_ONLY = re.compile(r"\.gitignore|\.github/.*")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return wheels.build_wheel(tmp_path_factory.mktemp("wheel"))


@pytest.fixture(scope="module")
def extension(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".so"))
        return Path(archive.extract(name, tmp_path_factory.mktemp("extension")))


def test_one_wheel_serves_all_pythons(wheel: Path, extension: Path) -> None:
    assert "-cp310-abi3-" in wheel.name
    assert extension.name == "_core.abi3.so"


@pytest.mark.skipif(shutil.which("readelf") is None, reason="readelf is not installed")
def test_extension_is_stripped_and_needs_the_system_alone(extension: Path) -> None:
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", wheels.run(["readelf", "-d", extension]))
    assert "libc.so.6" in needed
    assert [name for name in needed if not SYSTEM.fullmatch(name)] == []
    sections = wheels.run(["readelf", "-S", "--wide", extension])
    assert ".dynsym" in sections and ".symtab" not in sections and ".debug_info" not in sections


@pytest.mark.skipif(sysconfig.get_platform() != "linux-x86_64", reason="the size is stated for x86-64")
def test_extension_is_small(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (one,) = (one for one in archive.infolist() if one.filename.endswith(".so"))
    # docs/packaging.md states it
    assert one.compress_size < 1.5e6


def test_metadata_stands_alone(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (one for one in archive.namelist() if one.endswith(".dist-info/METADATA"))
        text = archive.read(name).decode()
    head, page = text.split("\n\n", 1)
    assert "Author: granular_gym developers" in head
    assert "Description-Content-Type: text/markdown" in head
    for minor in (10, 11, 12, 13):
        assert f"Classifier: Programming Language :: Python :: 3.{minor}\n" in head
    repository = re.search(r"Project-URL: Repository, (\S+)", head)
    version = re.search(r"^Version: (\S+)", head, re.MULTILINE)
    assert repository and version
    # pictures and pages are those of the release
    assert f"]({repository[1]}/raw/v{version[1]}/docs/bulldozer.png)" in page
    assert f"]({repository[1]}/blob/v{version[1]}/docs/guarantees.md)" in page
    targets = re.findall(r"\]\(([^)\s]+)\)", page)
    assert len(targets) > 30
    assert [target for target in targets if not re.match(r"https?://|#", target)] == []


def test_wheel_runs_without_compiler_and_headers(wheel: Path, tmp_path: Path) -> None:
    """Installed in a new environment; NumPy and Gymnasium are those of this one, as pip's index may be out of reach.

    python -m testbed.wheels tries all Pythons, with packages of their own.
    """
    folder = tmp_path.resolve() / "env"
    wheels.run([sys.executable, "-m", "venv", "--without-pip", folder])
    site = next(folder.glob("lib/python3*/site-packages"))
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin" / "python", "install", "--quiet"]
    wheels.run([*pip, "--no-index", "--no-deps", wheel], env=wheels.bare_environment(folder))
    # behind the wheel: a line of a .pth file; those of that folder are not read, so no editable installation is found
    (site / "libraries.pth").write_text("".join(f"{one}\n" for one in sys.path if one.endswith("-packages")))
    facts = wheels.probe(folder)
    here = subprocess.run([sys.executable, "-c", wheels.PROBE], capture_output=True, text=True, cwd=ROOT, check=True)
    assert facts["state"] in here.stdout


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("sdist")
    wheels.run([sys.executable, "setup.py", "--quiet", "sdist", "--dist-dir", folder], cwd=ROOT)
    (archive,) = folder.glob("*.tar.gz")
    return archive


@pytest.mark.skipif(not (ROOT / ".git").exists() or shutil.which("git") is None, reason="needs git")
def test_source_distribution_is_complete(sdist: Path) -> None:
    with tarfile.open(sdist) as archive:
        held = {name.split("/", 1)[1] for name in archive.getnames() if "/" in name}
    tracked = wheels.run(["git", "ls-files"], cwd=ROOT).split("\n")[:-1]
    missing = [name for name in tracked if name not in held and (ROOT / name).exists() and not GIT_ONLY.fullmatch(name)]
    assert missing == []
    assert [name for name in held if name.endswith((".so", ".o", ".pyc"))] == []


@pytest.mark.parametrize(("label", "ending"), [("", ""), ("cuda", "+cuda")])
def test_wheels_of_a_source_distribution_are_labelled(sdist: Path, tmp_path: Path, label: str, ending: str) -> None:
    """As a release makes the wheel with CUDA, whose name would be that of the other one."""
    shutil.unpack_archive(sdist, tmp_path)
    (folder,) = tmp_path.iterdir()
    version = re.search(r"granular_gym-(.+)\.tar", sdist.name)
    assert version
    settings = {**os.environ, "GG_VERSION_LABEL": label, "GG_EXTENSION": "0"}
    printed = wheels.run([sys.executable, "setup.py", "--quiet", "egg_info"], cwd=folder, env=settings)
    told = (folder / "granular_gym.egg-info" / "PKG-INFO").read_text()
    assert f"\nVersion: {version[1]}{ending}\n" in told, printed
