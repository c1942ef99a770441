"""Confusion matrix: `counts[true, predicted]`, the weight of rows of one class called another.

Every measure of labels is a function of it: see `novum.evaluation.measures.rates`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import Table, aligned, notebook
from novum.evaluation.measures.reading import (
    LabelPair,
    listed,
    place_of,
    plain_labels,
    read_label_pair,
    two_classes_of,
)
from novum.numerics import Floats


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


def resampled_counts_of(pair: LabelPair) -> Callable[[Floats], Floats]:
    """From row weights of shape (b, n) to counts of shape (b, K, K)."""
    n_classes, n_rows = len(pair.classes), len(pair.true)
    cells = pair.true * n_classes + pair.predicted
    membership = sparse.csr_array(
        (np.ones(n_rows), (cells, np.arange(n_rows))), shape=(n_classes**2, n_rows)
    )

    def counts(weights: Floats) -> Floats:
        summed = membership @ weights.T
        return np.asarray(summed).T.reshape(len(weights), n_classes, n_classes)

    return counts
