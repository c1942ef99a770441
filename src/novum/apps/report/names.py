"""Names and sentences of a record made fit for a page.

Names of columns, classes and files are anyone's. Before anything is drawn, every text of a record
is rewritten once: characters that steer (controls, marks that turn the direction of writing, line
separators) are shown by their codes, characters that XML forbids by a replacement, and text beyond
a limit is cut. Escaping for HTML is left to `novum.display`, which escapes everything.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any, TypeVar

from novum.apps.job.judging import measure_title
from novum.apps.job.record import Standing
from novum.apps.job.record_model import Estimate
from novum.display import interval_texts, printable

Record = TypeVar("Record")

# No sentence of a report is longer; a name that is would bury the page.
LONGEST_TEXT = 2_000
LONGEST_NAME = 80
LONGEST_LABEL = 200

# U+FFFE and U+FFFF, in every plane, are no characters; XML refuses the first two.
_NO_CHARACTER = re.compile("[\ufffe\uffff]")
# Drawings are XML that the page checks by itself; these texts are made of lines.
_RAW = {"svg"}
_LINES = {"rules", "certificate"}


def cleaned(record: Record) -> Record:
    """The record with every text in it, keys included, fit for a page.

    Examples
    --------
    >>> from novum.apps.job.record import Finding
    >>> cleaned(Finding("leak", "danger", ("a\\x00b",), "", "")).columns
    ('a\\\\x00b',)
    """
    return _cleaned(record)


def text(value: str, limit: int = LONGEST_TEXT) -> str:
    """`value` on one line, unsafe characters by their codes, cut to `limit` characters."""
    return _NO_CHARACTER.sub("\ufffd", printable(value, limit))


def label(value: str, limit: int = LONGEST_LABEL) -> str:
    """A name for a chart or a sentence; blanks around it are dropped.

    Examples
    --------
    >>> label(" a very long name of a column ", 20)
    'a very long name ...'
    """
    return text(value.strip(), limit) or "(no name)"


def in_words(name: str) -> str:
    """The name of a measure as people write it.

    Examples
    --------
    >>> in_words("rmse"), in_words("bayes_risk"), in_words("log_loss")
    ('root mean squared error', 'cost of a decision', 'log loss')
    """
    return "cost of a decision" if name == "bayes_risk" else measure_title(name)


def estimate(given: Estimate | None, most_decimals: int = 15) -> tuple[str, str]:
    """Value and interval as texts.

    Examples
    --------
    >>> estimate(Estimate(0.83214, 0.80111, 0.86222)), estimate(None)
    (('0.832', '[0.801, 0.862]'), ('–', ''))
    """
    given = given or Estimate(None, None, None)
    return interval_texts(given.value, given.low, given.high, most_decimals)


def common_decimals(leaderboard: Sequence[Standing]) -> int:
    """The decimals that half of the intervals make sense of: more would only widen the column."""
    scores = [s.score for s in leaderboard if s.score.low != s.score.high]
    decimals = sorted(len(estimate(score)[0].partition(".")[2]) for score in scores)
    return decimals[len(decimals) // 2] if decimals else 15


def _cleaned(value: Any, field: str = "") -> Any:
    if isinstance(value, str):
        return value if field in _RAW else text(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        parts = {
            f.name: _cleaned(getattr(value, f.name), f.name) for f in dataclasses.fields(value)
        }
        return dataclasses.replace(value, **parts)
    if isinstance(value, dict):
        return {text(str(key), LONGEST_NAME): _cleaned(item) for key, item in value.items()}
    if isinstance(value, (tuple, list)):
        if field in _LINES:
            value = [line for item in value for line in str(item).split("\n")]
        return tuple(map(_cleaned, value))
    return value
