"""Errors and warnings, each with a name a caller can catch.

Every message has three parts: what is wrong, where (column, row, a sample value), what to do.
Errors that scikit-learn's users expect stay what they expect: wrong input is a `ValueError`.
"""

from __future__ import annotations

import sys


class InputError(ValueError):
    """Data or parameters that cannot be used as they are."""


class SchemaError(InputError):
    """Columns, kinds or levels that do not fit together."""


class MissingValuesError(InputError):
    """Missing cells given to a learner that cannot treat them as missing."""


class FileFormatError(InputError):
    """A data file that breaks its format; knows the line and column where it does."""

    def __init__(self, message: str, *, line: int | None = None, column: int | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.column = column


class ModelFileError(InputError):
    """A model file that is damaged, hostile, or of an unknown format version."""


class NotAdditiveError(TypeError):
    """A fit that is not a function of sums was asked for statistics or exact validation."""


class UnlabelledRowsError(NotAdditiveError):
    """Rows without a label belong to a class only in the course of a fit, and have no sums."""


class NoLabelsError(InputError):
    """None of the rows has a label."""


class MemoryLimitError(MemoryError):
    """Work refused before it starts, because it needs more memory than allowed."""


class LostDigitsWarning(UserWarning):
    """A result is right to fewer digits than usual; the message says how many are left."""


class UnseenLevelWarning(UserWarning):
    """A category that did not occur in training was met, and how it was treated."""


class MixedColumnWarning(UserWarning):
    """A column of a file holds values of more than one type; the message counts them."""


class ReportWarning(UserWarning):
    """A part of a report or of a run's results could not be made; all the rest is there."""


def caller_level() -> int:
    """The `stacklevel` at which a warning points to the line that called the library."""
    level, frame = 0, sys._getframe()
    while frame.f_back and str(frame.f_globals.get("__name__")).startswith(("novum.", "sklearn.")):
        level, frame = level + 1, frame.f_back
    return level
