"""Steps that may fail without taking the run with them: what was fitted is never lost.

A search can take hours, its explanation a second. So whatever explains, judges, compares or draws
is an attempt: if it fails, one sentence stands where its result would, the run ends as others do,
and a warning repeats the sentence.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, TypeVar

from novum.apps.job.record_json import to_json
from novum.core.errors import FileFormatError
from novum.core.files import replacing
from novum.core.json_text import parsed_json
from novum.core.runtime import OutOfTime
from novum.core.text import printable

# --- Warnings -------------------------------------------------------------------------------------
# Warnings of many fits as a few sentences: counted by kind, none lost, none repeated.


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
            part = Warnings()
            try:
                for name, message, count in parsed_json(path.read_text(encoding="utf-8")):
                    part._add(str(name), str(message), int(count))
            except (ValueError, TypeError):
                raise FileFormatError(
                    f"{path} is not as a run writes it. Remove it and go on."
                ) from None
        elif part._count:
            rows = [[name, part._first[name], count] for name, count in part._count.items()]
            with replacing(path) as file:
                file.write(json.dumps(rows).encode())
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


Result = TypeVar("Result")


class Attempts:
    """Makes attempts and keeps a sentence for each that failed.

    Attributes
    ----------
    sentences : list of str
        What is not there, with the reason, in the order of the failures.
    omitted : list of str
        What there was no time for; no failure.

    Examples
    --------
    >>> attempts = Attempts()
    >>> attempts("The mean", lambda: 1 / 0, lambda sentence: None)
    >>> attempts("The mean", lambda: 0.5, lambda sentence: None)
    0.5
    >>> attempts.sentences
    ['The mean could not be made (ZeroDivisionError: division by zero).']
    """

    def __init__(self) -> None:
        self.sentences: list[str] = []
        self.omitted: list[str] = []

    def __call__(
        self,
        what: str,
        step: Callable[[], Result],
        otherwise: Callable[[str], Result],
        *,
        is_recorded: bool = True,
    ) -> Result:
        """What `step` gives; if it fails, what `otherwise` makes of the sentence about it.

        With `is_recorded`, a result that a record cannot hold, such as a NaN, is a failure too:
        met later, it would cost the whole record.
        """
        try:
            result = step()
            if is_recorded:
                to_json(result)
        except OutOfTime:
            sentence = f"{what} was left out, because the budget was used up; raise --budget."
            self.omitted.append(sentence)
            return otherwise(sentence)
        except Exception as error:
            sentence = failed(what, error)
            self.sentences.append(sentence)
            return otherwise(sentence)
        return result


def failed(what: str, error: BaseException) -> str:
    """The sentence about a step that failed.

    Examples
    --------
    >>> failed("The report", MemoryError())
    'The report could not be made (MemoryError).'
    """
    said = " ".join(str(error).split()).rstrip(".")
    reason = f"{type(error).__name__}: {said}" if said else type(error).__name__
    return f"{what} could not be made ({printable(reason, 400)})."
