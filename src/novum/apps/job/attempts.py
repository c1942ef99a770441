"""Steps that may fail without taking the run with them: what was fitted is never lost.

A search can take hours, its explanation a second. So whatever explains, judges, compares or draws
is an attempt: if it fails, one sentence stands where its result would, the run ends as others do,
and a warning repeats the sentence.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from novum.apps.job.record_json import to_json
from novum.core.text import printable

Result = TypeVar("Result")


class Attempts:
    """Makes attempts and keeps a sentence for each that failed.

    Attributes
    ----------
    sentences : list of str
        What is not there, with the reason, in the order of the failures.

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
            found = step()
            if is_recorded:
                to_json(found)
        except Exception as error:
            sentence = failed(what, error)
            self.sentences.append(sentence)
            return otherwise(sentence)
        return found


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
