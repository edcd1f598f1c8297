"""command_line.py: a hook of MkDocs: a page with the help of every command of `python -m granular_gym`."""

from __future__ import annotations

import os
import subprocess
import sys

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from sources import ROOT


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the page."""
    overview = helped()
    commands = overview.partition("{")[2].partition("}")[0].split(",")
    parts = ["# Command line", block(overview)]
    for name in commands:
        parts += [f"## {name}", block(helped(name))]
    files.append(File.generated(config, "api/command_line.md", content="\n\n".join(parts) + "\n"))
    return files


def helped(*command: str) -> str:
    """What a command prints when it is asked for help, in lines that fit the page."""
    done = subprocess.run(
        [sys.executable, "-m", "granular_gym", *command, "--help"],
        cwd=ROOT,
        env={**os.environ, "COLUMNS": "84", "NO_COLOR": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout


def block(text: str) -> str:
    """Text as it stands."""
    return f"```text\n{text.rstrip()}\n```"
