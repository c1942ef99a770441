"""Data of a workload as a recipe: which generator, with which arguments, cooked when needed.

Sizes that `--quick` shrinks and `--full` enlarges are written `rows(200_000)`. One data set is held
at a time, so workloads that follow each other share it and a long run stays small.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import types
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any, ClassVar


class Scale(StrEnum):
    """How large the data are: for a look, for the record, for the limits of memory."""

    QUICK = "quick"
    NORMAL = "normal"
    FULL = "full"


class Data(types.SimpleNamespace):
    """The arrays of a workload, by name."""


@dataclass(frozen=True)
class Rows:
    """A size that depends on the scale."""

    normal: int
    full: int
    quick: int

    def at(self, scale: Scale) -> int:
        sizes = {Scale.QUICK: self.quick, Scale.NORMAL: self.normal, Scale.FULL: self.full}
        return sizes[scale]


def rows(normal: int, *, full: int | None = None, quick: int | None = None) -> Rows:
    """`normal` rows; with `--full` as many as stated; with `--quick` a fiftieth, at least 500.

    Examples
    --------
    >>> [rows(200_000).at(scale) for scale in Scale]
    [4000, 200000, 200000]
    """
    shrunk = min(normal, max(500, normal // 50))
    return Rows(normal, full or normal, quick or shrunk)


class Recipe:
    """A generator with its arguments.

    Two recipes of the same generator and arguments are the same data.

    Examples
    --------
    >>> square = Recipe(lambda n, power: Data(total=n**power), rows(1000), power=2)
    >>> square(Scale.QUICK).total
    250000
    """

    _held: ClassVar[tuple[object, Data | None]] = (None, None)

    def __init__(self, generator: Callable[..., Data], *arguments: Any, **named: Any) -> None:
        self.generator = generator
        self.arguments = arguments
        self.named = named

    def __call__(self, scale: Scale = Scale.NORMAL) -> Data:
        arguments = [_sized(value, scale) for value in self.arguments]
        named = {name: _sized(value, scale) for name, value in self.named.items()}
        key = (self.generator, repr(arguments), repr(sorted(named.items())))
        held_key, held = Recipe._held
        if held is not None and held_key == key:
            return held
        Recipe.drop()
        made = self.generator(*arguments, **named)
        Recipe._held = (key, made)
        return made

    @classmethod
    def drop(cls) -> None:
        """Lets go of the data held, and so of their files."""
        cls._held = (None, None)


def scratch_folder(owner: Data, prefix: str) -> Path:
    """A temporary folder that lives as long as `owner` and is removed only by its own process."""
    folder = Path(tempfile.mkdtemp(prefix=prefix))
    weakref.finalize(owner, _remove, folder, os.getpid())
    return folder


def _remove(folder: Path, process: int) -> None:
    # Peers are forks that inherit the finalizer; the files are not theirs.
    if os.getpid() == process:
        shutil.rmtree(folder, ignore_errors=True)


def _sized(value: Any, scale: Scale) -> Any:
    return value.at(scale) if isinstance(value, Rows) else value
