"""The warning about levels that training did not have: one for each column of a prediction.

What a learner does with such a cell is its own rule; that there are some is said here. A prediction
that asks several models, such as the members of an ensemble or the folds of a validation, is one
prediction for its user: `said_once` gathers what they have to say.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, NamedTuple

import numpy as np

from novum.core.errors import UnseenLevelWarning
from novum.core.schema import UNSEEN


class _Finding(NamedTuple):
    """Cells of one column: how many, the first row, what becomes of them, in how many questions."""

    cells: int
    row: int
    rule: str
    questions: int = 1

    def joined(self, other: _Finding) -> _Finding:
        larger = self if self.cells >= other.cells else other
        return larger._replace(questions=self.questions + other.questions)

    def sentence(self, column: str) -> str:
        rule = f"; {self.rule}" if self.rule else ""
        if self.questions > 1:
            return (
                f"Column {column!r} has up to {self.cells} cells with a level not met in training, "
                f"in {self.questions} of the models or folds that were asked{rule}."
            )
        return (
            f"Column {column!r} has {self.cells} cells with a level not met in training, the first "
            f"at row {self.row}{rule}."
        )


# Context variables reach the threads of `core.parallel`, where warning filters do not.
_findings: ContextVar[dict[str, _Finding] | None] = ContextVar("novum_unseen", default=None)


def warn_unseen(sample: Any, rule: str = "", *, stacklevel: int = 2) -> None:
    """Says for every column of a sample how many of its cells have an unseen level.

    `rule` says what becomes of them; `{first}` in it stands for the first level of the column.
    """
    if not sample.codes.size or sample.codes.min() > UNSEEN:
        return
    findings = _findings.get()
    for j, column in enumerate(sample.schema.categorical_columns):
        unseen = np.flatnonzero(sample.codes[:, j] == UNSEEN)
        if unseen.size:
            first = repr(column.levels[0] if column.levels else None)
            found = _Finding(unseen.size, int(unseen[0]), rule.replace("{first}", first))
            if findings is None:
                sentence = found.sentence(column.name)
                warnings.warn(sentence, UnseenLevelWarning, stacklevel=stacklevel + 1)
            else:
                earlier = findings.get(column.name)
                findings[column.name] = found if earlier is None else earlier.joined(found)


@contextmanager
def said_once() -> Iterator[None]:
    """Gathers the warnings of the block, and gives one for each column at its end.

    Examples
    --------
    >>> with said_once(), said_once():
    ...     pass
    """
    if _findings.get() is not None:
        yield
        return
    findings: dict[str, _Finding] = {}
    token = _findings.set(findings)
    try:
        yield
    finally:
        _findings.reset(token)
    for column, found in list(findings.items()):
        warnings.warn(found.sentence(column), UnseenLevelWarning, stacklevel=4)
