"""`{shell}` blocks: commands that run while the site is built, shown with what they print.

All blocks of a page share one empty folder, in order. A command that fails fails the build. An
option `:lines: 12` shows that many lines of the output only.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, ClassVar

from docutils import nodes
from docutils.parsers.rst import directives
from sphinx.util.docutils import SphinxDirective


class Shell(SphinxDirective):
    has_content = True
    option_spec: ClassVar[dict[str, Any]] = {"lines": directives.positive_int}

    def run(self) -> list[nodes.Node]:
        folder = self.env.temp_data.setdefault("shell_folder", tempfile.mkdtemp(prefix="novum-"))
        texts = []
        for command in "\n".join(self.content).replace("\\\n", "").splitlines():
            output = self.printed(command, folder)
            lines = output.splitlines()
            shown = lines[: self.options.get("lines", len(lines))]
            if len(shown) < len(lines):
                shown.append("...")
            texts.append("\n".join([f"$ {command}", *shown]))
        block = nodes.literal_block("\n".join(texts), "\n".join(texts), language="console")
        return [block]

    def printed(self, command: str, folder: str) -> str:
        binaries = Path(sys.executable).parent
        environment = os.environ | {
            "NO_COLOR": "1",
            "COLUMNS": "80",
            "TERM": "dumb",
            "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}",
            "PYTHONPATH": str(Path(__file__).resolve().parents[2] / "src"),
        }
        done = subprocess.run(
            command, shell=True, cwd=folder, env=environment, capture_output=True, text=True
        )
        if done.returncode:
            raise self.severe(f"{command!r} failed:\n{done.stdout}{done.stderr}")
        return done.stdout.replace(folder, ".").rstrip()


def clear(app: Any, doctree: Any) -> None:
    folder = app.env.temp_data.pop("shell_folder", None)
    if folder and doctree is not None:
        shutil.rmtree(folder, ignore_errors=True)


def setup(app: Any) -> dict[str, bool]:
    app.add_directive("shell", Shell)
    app.connect("doctree-read", clear)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
