"""Confusion matrix: `counts[true, predicted]`, the weight of rows of one class called another.

Every measure of labels is a function of it: see `novum.evaluation.measures.rates`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import Table, aligned, notebook
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.reading import (
    LabelPair,
    listed,
    place_of,
    plain_labels,
    read_label_pair,
    two_classes_of,
)
from novum.numerics import Floats

# Numbers in a block of tables, which stay in the cache of a core.
_BLOCK = 2**18


@dataclass(frozen=True, eq=False)
class ConfusionMatrix:
    """How often each class was called what.

    Parameters
    ----------
    classes : tuple of K labels
    counts : array of shape (K, K)
        `counts[true, predicted]`; sums of weights.

    Examples
    --------
    >>> matrix = confusion_matrix(["cat", "dog", "dog"], ["dog", "dog", "dog"])
    >>> matrix.counts.tolist()
    [[0.0, 1.0], [0.0, 2.0]]
    >>> print(matrix)
    true \\ predicted  cat  dog
                 cat    0    1
                 dog    0    2
    """

    classes: tuple[Any, ...]
    counts: Floats

    @property
    def total(self) -> float:
        """Weight of all rows."""
        return float(self.counts.sum())

    @property
    def support(self) -> Floats:
        """Weight of each true class, of shape (K,)."""
        return self.counts.sum(axis=1)

    @property
    def predicted(self) -> Floats:
        """Weight of each predicted class, of shape (K,)."""
        return self.counts.sum(axis=0)

    def shares(self) -> Floats:
        """`counts` divided by the weight of the true class; NaN for a class without rows."""
        with np.errstate(invalid="ignore"):
            return self.counts / self.support[:, None]

    def __add__(self, other: ConfusionMatrix) -> ConfusionMatrix:
        """Counts of two sets of rows of the same classes together."""
        order = [other.classes.index(label) for label in self.classes]
        return ConfusionMatrix(self.classes, self.counts + other.counts[np.ix_(order, order)])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, ConfusionMatrix)
            and self.classes == other.classes
            and np.array_equal(self.counts, other.counts)
        )

    __hash__ = None  # type: ignore[assignment]

    def __str__(self) -> str:
        return "\n".join(aligned(self._rows(), [True] * (len(self.classes) + 1)))

    def _repr_html_(self) -> str:
        caption = "Confusion matrix: rows are true, columns predicted classes"
        head, *rows = self._rows()
        return notebook(Table.of_numbers(caption, head, rows))

    def _rows(self) -> list[list[str]]:
        counts = zip(self._names(), self.counts, strict=True)
        rows = [[name, *(f"{count:.6g}" for count in line)] for name, line in counts]
        return [["true \\ predicted", *self._names()], *rows]

    def _names(self) -> list[str]:
        return [printable(str(label), 24) for label in self.classes]


def confusion_matrix(
    y: Any,
    predictions: Any,
    *,
    classes: Sequence[Any] | None = None,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
) -> ConfusionMatrix:
    """The confusion matrix of labels.

    Parameters
    ----------
    y, predictions : arrays of n labels
    classes : sequence of K labels, optional
        All classes in the order wanted. Default: those that occur, sorted.
    labels : sequence of labels, optional
        Some classes in the order wanted, in place of `classes`: rows that have, or are called,
        another one are left out.
    sample_weight : array of shape (n,), optional

    Examples
    --------
    >>> confusion_matrix([0, 1, 1], [0, 1, 0], sample_weight=[1, 1, 0.5]).counts.tolist()
    [[1.0, 0.0], [0.5, 1.0]]
    >>> confusion_matrix(["a", "b", "c"], ["a", "c", "c"], labels=["c", "b"]).counts.tolist()
    [[1.0, 0.0], [1.0, 0.0]]
    """
    matrix = matrix_of(read_label_pair(y, predictions, classes, sample_weight))
    if labels is None:
        return matrix
    chosen = plain_labels(labels)
    if not any(label in matrix.classes for label in chosen):
        raise InputError(
            f"None of the labels {listed(chosen)} is among the classes {listed(matrix.classes)}. "
            "At least one label must be in y."
        )
    matrix, places = _with_places(matrix, chosen)
    return ConfusionMatrix(chosen, matrix.counts[np.ix_(places, places)])


def _with_places(
    matrix: ConfusionMatrix, labels: tuple[Any, ...]
) -> tuple[ConfusionMatrix, list[int]]:
    """The matrix with empty rows and columns for new labels, and the places of all of them."""
    new = tuple(label for label in labels if label not in matrix.classes)
    classes = (*matrix.classes, *new)
    counts = np.pad(matrix.counts, (0, len(new)))
    return ConfusionMatrix(classes, counts), [classes.index(label) for label in labels]


def from_labels(
    y: Any,
    predictions: Any,
    *,
    of_counts: Callable[..., Floats],
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
    **settings: Any,
) -> Any:
    """A measure of confusion matrices applied to labels; `labels` are the classes it is about.

    Examples
    --------
    >>> from novum.evaluation.measures.rates import accuracy
    >>> float(from_labels(["a", "b"], ["a", "a"], of_counts=accuracy))
    0.5
    """
    matrix = confusion_matrix(y, predictions, classes=classes, sample_weight=sample_weight)
    return _of_matrix(matrix, of_counts, positive, labels, settings)


def rate_from_labels(
    y: Any,
    predictions: Any,
    *,
    of_counts: Callable[..., Floats],
    average: str | None = "binary",
    classes: Sequence[Any] | None = None,
    positive: Any = None,
    labels: Sequence[Any] | None = None,
    sample_weight: Any = None,
    **settings: Any,
) -> Any:
    """A rate of the positive class, or of all, applied to labels.

    Where one class alone occurs, it is not the positive one for that (`two_classes_of`).
    """
    matrix = confusion_matrix(y, predictions, classes=classes, sample_weight=sample_weight)
    if average == "binary" and classes is None and len(matrix.classes) == 1:
        both = two_classes_of(matrix.classes, positive)
        matrix = confusion_matrix(y, predictions, classes=both, sample_weight=sample_weight)
    return _of_matrix(matrix, of_counts, positive, labels, {"average": average, **settings})


def _of_matrix(
    matrix: ConfusionMatrix,
    of_counts: Callable[..., Floats],
    positive: Any,
    labels: Sequence[Any] | None,
    settings: dict[str, Any],
) -> Any:
    if positive is not None:
        settings["positive"] = place_of(positive, matrix.classes)
    if settings.get("priors") is not None:
        settings["priors"] = np.asarray(settings["priors"], float)
    if labels is not None:
        if "labels" not in inspect.signature(of_counts).parameters:
            raise InputError("This measure is about all classes; it takes no labels.")
        matrix, settings["labels"] = _with_places(matrix, plain_labels(labels))
    return of_counts(matrix.counts, **settings)


def matrix_of(pair: LabelPair) -> ConfusionMatrix:
    """The confusion matrix of coded labels."""
    n_classes = len(pair.classes)
    cells = pair.true * n_classes + pair.predicted
    counts = np.bincount(cells, pair.weight, minlength=n_classes**2).astype(float)
    return ConfusionMatrix(pair.classes, counts.reshape(n_classes, n_classes))


def table_intervals(
    of_counts: Callable[[Floats], Floats],
    counts: Floats,
    size: float,
    *,
    level: float,
    n_draws: int,
    rng: np.random.Generator,
) -> list[Interval]:
    """Intervals of functions of a table of counts `[true, decided]`, by its Dirichlet posterior.

    What no row shows, such as an error of a class without errors, is possible all the same, which
    no resampling of the rows would tell. Each class that has rows counts one row more, divided
    evenly among the decisions; two make it Jeffreys' prior.

    Parameters
    ----------
    of_counts : callable
        From tables of shape (b, K, A) to values of shape (b, q).
    counts : array of shape (K, A)
    size : float
        The effective number of rows.
    level : float
    n_draws : int
    rng : Generator

    Examples
    --------
    >>> from novum.evaluation.measures.rates import balanced_accuracy
    >>> table, rng = np.array([[20.0, 0.0], [0.0, 5.0]]), np.random.default_rng(0)
    >>> table_intervals(
    ...     lambda counts: balanced_accuracy(counts)[:, None], table, 25, level=0.95, n_draws=1000,
    ...     rng=rng)
    [1.00 [0.81, 1.00]]
    """
    if n_draws < 1:
        raise InputError(f"n_resamples is at least 1, such as 1000, got {n_draws!r}.")
    total, width = counts.sum(), counts.shape[1]
    prior = np.where(counts.sum(axis=1, keepdims=True) > 0, 1 / width, 0.0)
    shape, step = counts * (size / total) + prior, max(1, _BLOCK // counts.size)
    values = []
    for first in range(0, n_draws, step):
        draws = rng.gamma(shape, size=(min(step, n_draws - first), *counts.shape))
        draws *= total / draws.sum(axis=(1, 2), keepdims=True)
        values.append(of_counts(draws))
    estimates = of_counts(counts[None])[0].tolist()
    tails = [(1 - level) / 2, (1 + level) / 2]
    intervals = []
    for estimate, column in zip(estimates, np.concatenate(values).T, strict=True):
        defined = column[np.isfinite(column)]
        if np.isnan(estimate) or defined.size < column.size / 2:
            intervals.append(Interval(estimate, np.nan, np.nan, level, "Dirichlet: undefined"))
            continue
        low, high = np.quantile(defined, tails).tolist()
        limits = min(low, estimate), max(high, estimate)
        intervals.append(Interval(estimate, *limits, level, "Dirichlet"))
    return intervals
