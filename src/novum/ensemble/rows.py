"""Rows for learners of learners: looked at, cut, never converted.

The members of an ensemble read the table themselves, so it reaches them in the container it came
in: a frame stays a frame with its nominal and missing cells, a sparse matrix stays sparse. The
ensemble needs to know only how many rows and columns there are, what the columns are called, and
which rows count: a row of weight zero is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import (
    _check_method_params,
    _num_samples,
    column_or_1d,
)

from novum.core.errors import InputError
from novum.core.exact_validation import rows_of
from novum.core.member_rows import checked_rows
from novum.core.tables import frame_of
from novum.core.targets import check_classes, check_numbers, plain_target
from novum.core.validation import checked_weight

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """What the members of an ensemble are trained on.

    Attributes
    ----------
    table : container of n rows
    target : array of shape (n,) or (n, n_targets)
        Numbers, or codes into `classes`.
    classes : array of labels in sorted order, a list of such for several labels, or None
    weight : array of shape (n,), all positive, or None when every row counts once
    kept : array of n positions, or None
        Which of the given rows these are; None for all.
    given : pair of table and targets
        All rows, those of weight zero included.
    """

    table: Any
    target: NDArray[Any]
    classes: Any
    weight: Floats | None
    kept: NDArray[np.intp] | None
    given: tuple[Any, NDArray[Any]]

    @property
    def n_rows(self) -> int:
        return len(self.target)

    @property
    def n_given(self) -> int:
        return len(self.given[1])

    @property
    def class_shares(self) -> Floats:
        """Share of the weight that each class has: the training priors."""
        counts = np.bincount(self.target, self.weight, len(self.classes)).astype(np.float64)
        return counts / counts.sum()

    def cut(self, params: Mapping[str, Any], chosen: NDArray[Any] | None = None) -> dict[str, Any]:
        """Arguments of `fit`; what has an entry for each given row is cut to these, or `chosen`."""
        rows = self.kept
        if chosen is not None:
            rows = chosen if self.kept is None else self.kept[chosen]
        if rows is None or not params:
            return dict(params)
        cut: dict[str, Any] = _check_method_params(np.empty(self.n_given), params, indices=rows)
        return cut


def training_rows(
    model: Any,
    X: Any,
    y: Any,
    sample_weight: Any = None,
    *,
    target: Literal["classes", "labels", "numbers", "one number"] = "numbers",
    reset: bool = True,
) -> TrainingRows:
    """Checks rows, targets and weights; sets `n_features_in_` and `feature_names_in_` of the model.

    Parameters
    ----------
    model : ensemble
        Gives its name to messages.
    X, y, sample_weight
        As given to `fit`.
    target : {"classes", "labels", "numbers", "one number"}
        What `y` is: a label for each row, one or an indicator of several, numbers in one or more
        columns, or one number for each row.
    reset : bool
        Unless true, the columns must be those of the last fit.
    """
    name = type(model).__name__
    if y is None:
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    table = checked_rows(model, X, reset=reset)
    n_rows = _num_samples(table)
    weight = checked_weight(sample_weight, n_rows)
    classes: Any = None
    values: NDArray[Any]
    if target == "classes":
        classes, values = check_classes(y, name)
    elif target == "labels":
        classes, values = _label_sets(y, name)
    else:
        values = check_numbers(y, name)
        if target == "one number" or (values.ndim == 2 and values.shape[1] == 1):
            values = column_or_1d(values, warn=True)
    if len(values) != n_rows:
        raise InputError(
            f"X has {n_rows} rows, but y has {len(values)}: found input variables with "
            "inconsistent numbers of samples. Pass one target for each row."
        )
    if weight is None or weight.all():
        return TrainingRows(table, values, classes, weight, None, (table, values))
    given = (table, values)
    kept = np.flatnonzero(weight > 0)
    values = values[kept]
    if isinstance(classes, np.ndarray):
        met, values = np.unique(values, return_inverse=True)
        classes = classes[met]
    return TrainingRows(rows_of(table, kept), values, classes, weight[kept], kept, given)


def columns_of(X: Any, columns: NDArray[Any]) -> Any:
    """Some columns of a table, possibly repeated; a repeated column of a frame is renamed.

    Examples
    --------
    >>> columns_of(np.array([[1, 2, 3]]), np.array([2, 0])).tolist()
    [[3, 1]]
    >>> import pyarrow as pa
    >>> columns_of(pa.table({"a": [1], "b": [2]}), np.array([1, 1])).column_names
    ['b', 'b (2)']
    """
    if sparse.issparse(X):
        part = X.tocsc()[:, columns]
        return part if X.format == "csc" else part.tocsr()
    if not is_frame(X):
        if len(np.shape(X)) != 2:
            raise InputError(
                "The rows of X are no cells in columns, so columns cannot be drawn. Leave "
                "max_features and bootstrap_features at their defaults."
            )
        return np.asarray(X)[:, columns]
    frame = frame_of(X)
    chosen: list[Any] = []
    used: set[str] = set()
    for column in columns.tolist():
        name, count = frame.columns[column], 1
        while name in used:
            count += 1
            name = f"{frame.columns[column]} ({count})"
        used.add(name)
        chosen.append(nw.col(frame.columns[column]).alias(name))
    return frame.select(*chosen).to_native()


def beside(columns: Floats, names: NDArray[Any], X: Any) -> Any:
    """Columns of numbers put in front of a table.

    An array or a frame of numbers gives an array, a sparse matrix a sparse one. A frame with other
    columns stays a frame, so that nominal and missing cells keep their meaning.
    """
    if sparse.issparse(X):
        return sparse.hstack([columns, X], format="csr")
    if not is_frame(X):
        if len(np.shape(X)) != 2:
            raise InputError(
                "The rows of X are no cells in columns, so predictions cannot be put beside them. "
                "Use passthrough=False."
            )
        return np.hstack([columns, X])
    frame = frame_of(X)
    if all(dtype.is_numeric() for dtype in frame.schema.values()):
        return np.hstack([columns, frame.to_numpy().astype(np.float64)])
    taken = sorted(set(names.tolist()) & set(frame.columns))
    if taken:
        raise InputError(
            f"X has a column {taken[0]!r}, the name of a member's predictions. Rename the column "
            "or the member."
        )
    space = nw.get_native_namespace(frame)
    new = [
        nw.new_series(name, columns[:, j], backend=space) for j, name in enumerate(names.tolist())
    ]
    return frame.with_columns(*new).select([*names.tolist(), *frame.columns]).to_native()


def is_frame(X: Any) -> bool:
    """Whether a table is a data frame of any library."""
    return bool(nw.dependencies.is_into_dataframe(X))


def _label_sets(y: Any, name: str) -> tuple[Any, NDArray[Any]]:
    """Classes and codes of one label for each row, or of each column of an indicator of labels."""
    values = plain_target(y)
    if values.ndim != 2 or type_of_target(values) != "multilabel-indicator":
        return check_classes(y, name)
    columns = [np.unique(column, return_inverse=True) for column in values.T]
    return [found for found, _ in columns], np.stack([codes for _, codes in columns], axis=1)
