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
from novum.core.tables.schema import UNSEEN
from novum.numerics import Positions


class _Finding(NamedTuple):
    """Cells of one column: their rows, what becomes of them, in how many questions.

    `common` are the rows that all questions have found.
    """

    rows: Positions
    rule: str
    common: Positions
    questions: int = 1

    def joined(self, other: _Finding) -> _Finding:
        larger = self if self.rows.size >= other.rows.size else other
        common = np.intersect1d(self.common, other.common, assume_unique=True)
        return larger._replace(common=common, questions=self.questions + other.questions)

    def sentence(self, column: str) -> str:
        rule = f"; {self.rule}" if self.rule else ""
        if self.questions > 1:
            return (
                f"Column {column!r} has up to {self.rows.size} cells with a level not met in "
                f"training, in {self.questions} of the models or folds that were asked{rule}."
            )
        return (
            f"Column {column!r} has {self.rows.size} cells with a level not met in training, the "
            f"first at row {self.rows[0]}{rule}."
        )


# Context variables reach the threads of `core.runtime.parallel`, where warning filters do not.
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
            finding = _Finding(unseen, rule.replace("{first}", first), unseen)
            if findings is None:
                sentence = finding.sentence(column.name)
                warnings.warn(sentence, UnseenLevelWarning, stacklevel=stacklevel + 1)
            else:
                earlier = findings.get(column.name)
                findings[column.name] = finding if earlier is None else earlier.joined(finding)


@contextmanager
def said_once(by_all: int = 1) -> Iterator[None]:
    """Gathers the warnings of the block, and gives one for each column at its end.

    Parameters
    ----------
    by_all : int
        Where models have learned from different rows, what one has not met another one has: their
        number, for only those cells that all of them say it of.

    Examples
    --------
    >>> with said_once(), said_once():
    ...     pass
    """
    outer = _findings.get()
    if outer is not None and by_all == 1:
        yield
        return
    findings: dict[str, _Finding] = {}
    token = _findings.set(findings)
    try:
        yield
    finally:
        _findings.reset(token)
    for column, finding in list(findings.items()):
        if by_all > 1:
            if finding.questions < by_all or not finding.common.size:
                continue
            finding = _Finding(finding.common, finding.rule, finding.common)
        if outer is None:
            warnings.warn(finding.sentence(column), UnseenLevelWarning, stacklevel=4)
        else:
            outer[column] = outer[column].joined(finding) if column in outer else finding
