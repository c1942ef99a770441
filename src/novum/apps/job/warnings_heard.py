"""Warnings of many fits as a few sentences: counted by kind, none lost, none repeated."""

from __future__ import annotations

import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from novum.core.atomic_write import replacing
from novum.core.text import printable


class Warnings:
    """Hears what is warned of inside `with` blocks.

    Examples
    --------
    >>> heard = Warnings()
    >>> with heard:
    ...     warnings.warn("too few rows")
    ...     warnings.warn("too few rows")
    >>> heard.sentences()
    ('2 warnings (UserWarning) while models were fitted, the first: too few rows',)
    """

    def __init__(self) -> None:
        self._first: dict[str, str] = {}
        self._count: dict[str, int] = {}

    def __enter__(self) -> Warnings:
        self._catcher: Any = warnings.catch_warnings(record=True)
        self._caught = self._catcher.__enter__()
        warnings.simplefilter("always")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._catcher.__exit__(kind, error, traceback)
        for one in self._caught:
            self._add(one.category.__name__, str(one.message), 1)

    @contextmanager
    def remembered(self, path: Path) -> Iterator[None]:
        """Counts the warnings of the block, or, if it ended once before, those it had then."""
        part = Warnings()
        with part:
            yield
        if path.exists():
            known = json.loads(path.read_text(encoding="utf-8"))
            part = Warnings()
            for name, message, count in known:
                part._add(name, message, count)
        else:
            found = [[name, part._first[name], count] for name, count in part._count.items()]
            with replacing(path) as file:
                file.write(json.dumps(found).encode())
        for name, count in part._count.items():
            self._add(name, part._first[name], count)

    def sentences(self) -> tuple[str, ...]:
        """One for each kind of warning."""
        return tuple(
            f"{count} warning{'s' if count > 1 else ''} ({name}) while models were fitted, the "
            f"first: {printable(self._first[name], 300)}"
            for name, count in self._count.items()
        )

    def _add(self, name: str, message: str, count: int) -> None:
        self._first.setdefault(name, message)
        self._count[name] = self._count.get(name, 0) + count
