"""Answers for every row that has one.

A row that a model cannot answer, because it lacks a cell that the model needs or holds a number
that is too large to compute with, costs no other row its answer: its own is empty, and the reason
is counted.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from novum.apps.job.outputs import Predictions
from novum.core.errors import InputError
from novum.display import counted
from novum.numerics import Mask, Positions

Answer = Callable[[pa.Table, Positions], Predictions]
Lost = dict[str, list[int]]

_NEEDED = "a cell that the model needs is missing"
_EMPTY = "no cell is known"
_INFINITE = "a number is infinite"
_LARGE = "numbers are too large to compute with"


def answered(
    answer: Answer, X: pa.Table, rows: Positions, n_classes: int | None
) -> tuple[Predictions, Lost]:
    """Answers for all rows, empty where there is none, and the rows without one by reason.

    Parameters
    ----------
    answer : callable of a table and the positions of its rows
    X : pyarrow.Table
    rows : array (m,)
        Positions, from 0.
    n_classes : int or None
        How many probabilities an answer has.
    """
    lost: Lost = {}
    try:
        parts = list(_halved(answer, X, rows, lost))
    except InputError:
        # Some row may be the reason: kinds of rows are asked for on their own.
        parts, lost = [], {}
        for reason, kind in _kinds(X).items():
            at = np.flatnonzero(kind)
            try:
                parts += list(_halved(answer, X.take(at), rows[at], lost)) if len(at) else []
            except InputError:
                if not reason:
                    raise
                lost[reason] = rows[at].tolist()
    return _joined(parts, rows, n_classes) if lost or len(parts) > 1 else parts[0], lost


def without_answer(lost: Mapping[str, Sequence[int]], n_rows: int) -> str:
    """How many rows have no answer, and why.

    Examples
    --------
    >>> without_answer({"a number is infinite": [4, 7]}, 10)
    '2 of the 10 rows have no answer: a number is infinite (2, the first is row 5).'
    """
    n_lost = sum(map(len, lost.values()))
    have = "has" if n_lost == 1 else "have"
    reasons = "; ".join(
        f"{reason} ({len(rows):,}, the first is row {min(rows) + 1})"
        for reason, rows in lost.items()
    )
    return f"{n_lost:,} of the {counted(n_rows, 'row')} {have} no answer: {reasons}."


def _halved(answer: Answer, X: pa.Table, rows: Positions, lost: Lost) -> Iterator[Predictions]:
    """Answers of parts without the rows whose numbers overflow, which halving finds."""
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("error", "overflow", RuntimeWarning)
            part = answer(X, rows)
        if not all(map(_is_finite, (part.predicted, part.probabilities))):
            raise OverflowError
        yield part
    except (RuntimeWarning, OverflowError):
        if len(rows) == 1:
            lost.setdefault(_LARGE, []).append(int(rows[0]))
            return
        half = len(rows) // 2
        yield from _halved(answer, X.slice(0, half), rows[:half], lost)
        yield from _halved(answer, X.slice(half), rows[half:], lost)


def _is_finite(values: Any) -> bool:
    """Whether no number is infinite or none; labels are no numbers."""
    numbers = np.asarray(values)
    return numbers.dtype.kind != "f" or bool(np.isfinite(numbers).all())


def _kinds(X: pa.Table) -> dict[str, Mask]:
    """Rows by what may keep a model from answering; nothing is to be said of whole ones."""
    is_known = np.zeros(X.num_rows, bool)
    lacks, infinite = np.zeros(X.num_rows, bool), np.zeros(X.num_rows, bool)
    for column in X.columns:
        gone = np.asarray(column.is_null(nan_is_null=True))
        lacks |= gone
        is_known |= ~gone
        if pa.types.is_floating(column.type):
            infinite |= np.asarray(pc.fill_null(pc.is_inf(column), False))
    return {
        "": ~(lacks | infinite),
        _INFINITE: infinite,
        _NEEDED: lacks & is_known & ~infinite,
        _EMPTY: ~is_known,
    }


def _joined(parts: Sequence[Predictions], rows: Positions, n_classes: int | None) -> Predictions:
    """All answers in the order of the rows, with empty ones between them."""

    def spread(name: str, empty: Any) -> Any:
        known = [(part, getattr(part, name)) for part in parts]
        known = [(part, values) for part, values in known if values is not None and len(values)]
        if not known:
            return None
        first = np.asarray(known[0][1])
        kind = object if first.ndim == 1 else np.float64
        out = np.full((len(rows), *first.shape[1:]), empty, kind)
        for part, values in known:
            out[np.searchsorted(rows, part.rows)] = values
        return out

    probabilities = spread("probabilities", np.nan)
    if probabilities is None and n_classes is not None:
        probabilities = np.full((len(rows), n_classes), np.nan)
    predicted = spread("predicted", "")
    return Predictions(
        rows,
        "model",
        None,
        np.full(len(rows), "", object) if predicted is None else predicted,
        probabilities,
        spread("decisions", ""),
        _texts(spread("reasons", "")),
        spread("limits", np.nan),
        _texts(spread("sets", "")),
    )


def _texts(values: Any) -> tuple[str, ...]:
    return () if values is None else tuple(values.tolist())
