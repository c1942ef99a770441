"""What takes part in a workload: rivals, and Novum by an import string.

A peer is a name and `make(data)`, which builds what the workload's protocol calls: an estimator, a
function or an adapter. Nothing is imported before `make` runs, and that happens in the peer's own
process. A peer that cannot be built says why: a rival that is missing is *not installed*, a learner
Novum does not have is *not yet*; any other failure is an error.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.recipes import Data

Make = Callable[[Data], Any]


class NotYetError(Exception):
    """Novum has no object under this import string."""


@dataclass(frozen=True)
class Peer:
    """One side of a comparison.

    Parameters
    ----------
    name : str
        Shown in the tables.
    make : callable
        `data -> estimator, function or adapter`.
    slow : bool
        Far behind, or shows only a limit: takes part with `--slow` alone.
    other_method : bool
        A neighbor of the method, not the method itself: shown, but sets no bar.
    ours : bool
        Novum's side.
    """

    name: str
    make: Make
    slow: bool = False
    other_method: bool = False
    ours: bool = False


def novum(path: str, **parameters: Any) -> Peer:
    """Novum's side of a workload: the class at `path`, built with `parameters`."""
    return Peer("novum", build(path, **parameters), ours=True)


def novum_function(path: str, **parameters: Any) -> Peer:
    """Novum's side of a workload whose protocol calls a function."""
    return Peer("novum", function(path, **parameters), ours=True)


def load(path: str) -> Any:
    """The object at `'package.module:attribute'`.

    Examples
    --------
    >>> load("math:hypot")(3, 4)
    5.0
    """
    module, _, attributes = path.partition(":")
    ours = module.partition(".")[0] == "novum"
    try:
        value: Any = importlib.import_module(module)
        for attribute in attributes.split("."):
            if ours and not hasattr(value, attribute):
                raise NotYetError(path)
            value = getattr(value, attribute)
    except ModuleNotFoundError as missing:
        if ours and (missing.name or "").partition(".")[0] == "novum":
            raise NotYetError(path) from None
        raise
    return value


def build(path: str, **parameters: Any) -> Make:
    """`make(data)` that calls the object at `path`; a parameter `'@x'` stands for `data.x`."""

    def make(data: Data) -> Any:
        if path.startswith("sklearnex"):
            load("daal4py:daalinit")(threads())
        return load(path)(**bound(parameters, data))

    return make


def function(path: str, **parameters: Any) -> Make:
    """`make(data)` that gives the function at `path` itself, with `parameters` bound."""

    def make(data: Data) -> Any:
        chosen, values = load(path), bound(parameters, data)
        return lambda *arguments: chosen(*arguments, **values)

    return make


def bound(parameters: dict[str, Any], data: Data) -> dict[str, Any]:
    """The parameters with every `'@x'` replaced by the workload's `data.x`."""
    return {
        name: getattr(data, value[1:]) if isinstance(value, str) and value[:1] == "@" else value
        for name, value in parameters.items()
    }


def threads() -> int:
    """The number of threads of this run; libraries without a variable of their own ask here."""
    return int(os.environ.get("OMP_NUM_THREADS", "1"))
