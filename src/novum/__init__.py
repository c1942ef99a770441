"""Novum: statistical learning from table to decision.

`import novum` costs little more than `import numpy`: each package below is imported when it is
first touched (`novum.linear`, `novum.data`, ...), never before. `novum.run` is the main job.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

__version__ = "0.1.0"

_PACKAGES = (
    "apps",
    "bayes",
    "clustering",
    "core",
    "data",
    "decomposition",
    "display",
    "distances",
    "distributions",
    "ensemble",
    "evaluation",
    "graphical",
    "kernels",
    "linear",
    "mixture",
    "neighbors",
    "neural",
    "numerics",
    "reinforcement",
    "svm",
    "trees",
)

__all__ = ["__version__", "run"]


def __getattr__(name: str) -> Any:
    if name in _PACKAGES:
        return importlib.import_module(f"novum.{name}")
    if name == "run":
        return importlib.import_module("novum.apps").run
    raise AttributeError(f"novum has no package {name!r}; it has {', '.join(_PACKAGES)}.")


def __dir__() -> list[str]:
    return sorted({*globals(), *_PACKAGES, "run"})


def lazy_door(
    package: str, file: str
) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """`__getattr__`, `__dir__` and `__all__` of a package whose stub lists its public names.

    The stub beside the package's `__init__.py` says `from module import name`; a name is imported
    from there when it is first asked for. Type checkers and editors read the same list. Names
    that the stub's `__all__` leaves out are for the other packages of Novum.
    """
    stub = ast.parse(Path(file).with_suffix(".pyi").read_text(encoding="utf-8"))
    (public,) = (ast.literal_eval(node.value) for node in stub.body if isinstance(node, ast.Assign))
    homes = {
        alias.name: node.module
        for node in stub.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }

    def find(name: str) -> Any:
        if name not in homes:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return getattr(importlib.import_module(homes[name]), name)

    return find, lambda: list(public), public
