"""The site: every page is in its navigation, every public name in its reference, and the notebook runs.

`make docs` holds the rest: links, anchors, and that the site can be built without a warning.
"""

from __future__ import annotations

import importlib
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

import granular_gym as gg
from granular_gym import learned

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
NOTEBOOK = DOCS / "notebooks" / "first_steps.ipynb"
#: modules with public names, beside the package itself and `learned`
MODULES = ("task", "film", "sb3", "planning", "view", "exchange", "mujoco")


def navigation() -> list[str]:
    """Pages that mkdocs.yml names."""
    return re.findall(r"([\w./-]+\.(?:md|ipynb))$", (ROOT / "mkdocs.yml").read_text().partition("\nnav:\n")[2], re.M)


def test_every_page_of_docs_is_in_the_navigation_once() -> None:
    pages = {path.relative_to(DOCS).as_posix() for kind in ("*.md", "*.ipynb") for path in DOCS.rglob(kind)}
    assert len(pages) > 70
    assert sorted(pages - set(navigation())) == []
    assert len(navigation()) == len(set(navigation()))


def test_the_navigation_names_pages_that_are_there_or_are_made() -> None:
    made = {"gallery.md", "validation/plots.md", "performance/plots.md", "api/command_line.md"}
    copied = {"changelog.md", "contributing.md", "security.md", "conduct.md"}
    assert {page for page in navigation() if not (DOCS / page).is_file()} == made | copied


def test_what_goes_on_within_a_list_is_indented_by_four_spaces() -> None:
    """With less it ends the list on the site, and a table shows its bars; GitHub takes both."""
    pages = [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md"]
    text = {page: re.sub(r"\A---\n.*?^---\n", "", page.read_text(), count=1, flags=re.M | re.S) for page in pages}
    code = {page: re.sub(r"^(```+).*?^\1", "", each, flags=re.M | re.S) for page, each in text.items()}
    assert [page for page, each in code.items() if re.search(r"\n\n {1,3}\S", each)] == []
    # and a blank line stands before the next item
    assert [page for page, each in code.items() if re.search(r"\n\n {4}[^\n]+(\n {4}[^\n]+)*\n[-*] ", each)] == []


def documented() -> list[str]:
    """What the pages of the reference name, in full."""
    pages = sorted((DOCS / "api").glob("*.md"))
    return [name for page in pages for name in re.findall(r"^::: (\S+)$", page.read_text(), re.M)]


def found(name: str) -> Any:
    """What a full name stands for: of a module the module, else its part."""
    module, _, part = name.rpartition(".")
    importlib.import_module(module)
    return getattr(sys.modules[module], part)


@pytest.mark.parametrize("module", ["", *MODULES])
def test_every_public_name_is_in_the_reference(module: str) -> None:
    if module == "mujoco":
        pytest.importorskip("mujoco")
    owner = importlib.import_module(f"granular_gym.{module}".rstrip("."))
    # modules of what need not be installed: theirs are asked for by name
    apart = {each for each in ("mujoco", "learned") if each != module}
    shown = {id(found(name)) for name in documented() if not apart & set(name.split("."))}
    missing = [name for name in owner.__all__ if id(getattr(owner, name)) not in shown]
    assert missing == []


def test_every_name_of_learned_is_in_the_reference() -> None:
    """By name, from where it is defined, as most modules need torch; names of tables are those of the package."""
    names = set(documented())
    package = {name for name in learned.__all__ if f"granular_gym.{name}" in names and learned._HOMES[name] == "table"}
    assert all(getattr(learned, name) is getattr(gg, name) for name in package)
    own = {f"granular_gym.learned.{learned._HOMES[name]}.{name}" for name in learned.__all__ if name not in package}
    assert sorted(own - names) == []
    page = (DOCS / "api" / "learned.md").read_text()
    assert [name for name in learned.__all__ if not re.search(rf"\b{name}\b", page)] == []


def test_all_modules_with_public_names_are_asked_for() -> None:
    """Those that name what is public, but for the package itself, and parts of others."""
    package = ROOT / "granular_gym"
    files = {*package.glob("*.py"), *package.glob("*/__init__.py")} - {package / "__init__.py"}
    public = {path for path in files if re.search(r"^__all__ = ", path.read_text(), re.M)}
    assert {(path.parent if path.stem == "__init__" else path).stem for path in public} == {*MODULES, "learned"}


def test_the_first_page_of_the_reference_lists_all_others_and_all_modules() -> None:
    text = (DOCS / "api" / "index.md").read_text()
    listed = re.findall(r"^\| \[[^]]+\]\((\w+\.md)\) \|", text, re.M)
    pages = {page.removeprefix("api/") for page in navigation() if page.startswith("api/")}
    assert sorted(listed) == sorted(pages - {"index.md"})
    assert [module for module in (*MODULES, "learned") if f"`{module}`" not in text] == []


def test_errors_are_all_in_the_reference() -> None:
    errors = {name for name, each in vars(gg.errors).items() if isinstance(each, type) and issubclass(each, Exception)}
    assert errors and errors <= {name.rpartition(".")[2] for name in documented()}


def test_nothing_is_in_the_reference_twice() -> None:
    names = documented()
    assert len(names) == len(set(names))


def test_the_notebook_is_kept_without_what_it_prints() -> None:
    cells = json.loads(NOTEBOOK.read_text())["cells"]
    assert all(not cell["outputs"] and cell["execution_count"] is None for cell in cells if cell["cell_type"] == "code")


def test_the_notebook_runs_from_top_to_bottom(tmp_path: Path) -> None:
    """Where the extra `docs` is installed, as in CI."""
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    client = nbclient.NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(tmp_path)}})
    client.execute()
    shown = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert sum("image/png" in output.get("data", {}) for output in shown) == 5
    assert not [output for output in shown if output.output_type == "error" or output.get("name") == "stderr"]


def test_the_citation_has_the_version_of_the_package() -> None:
    assert re.search(r"^version: (\S+)$", (ROOT / "CITATION.cff").read_text(), re.M)[1] == gg.__version__


def test_one_address_of_the_repository() -> None:
    """Files that no build makes name the address of pyproject.toml."""
    [address] = re.findall(r'^Repository = "([^"]+)"$', (ROOT / "pyproject.toml").read_text(), re.M)
    pages = (ROOT / "CITATION.cff", ROOT / "SECURITY.md", DOCS / "quick_start.md")
    for path in (*pages, *(ROOT / ".github").rglob("*.yml")):
        assert set(re.findall(r"https://github\.com/[\w-]+/granular_gym", path.read_text())) <= {address}, path
