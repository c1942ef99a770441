"""Partial dependence: what a model predicts when some columns are set and the others stay.

    PD(v) = sum_i w_i f(v, rest of row i) / sum_i w_i          individual curve: f(v, rest of row i)

is computed by definition, for every value `v` of a grid over one or two columns. It is an average
over combinations that may never occur when the columns depend on each other; individual curves that
cross show an interaction that the average hides.

References
----------
Friedman (2001), "Greedy function approximation", section 8.2; Goldstein et al. (2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from typing import Any, Literal

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.utils.validation import _num_samples, check_is_fitted

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled
from novum.core.tables import as_table, cells_of, checked_weight, is_frame, set_columns
from novum.display import Table
from novum.evaluation.inspection.dependence_grid import FromRow, GridAxis, grid_axes
from novum.numerics import Array, Floats


@dataclass(frozen=True, eq=False)
class PartialDependence(Mapping[str, Any]):
    """Predictions over a grid of one or two columns; like scikit-learn's `Bunch`.

    Attributes
    ----------
    axes : tuple of GridAxis
        Columns and their values.
    outputs : tuple
        Labels of the predictions: classes, numbers of targets, or one empty text.
    averages : array of shape (n_outputs, n_values, ...)
    individuals : array of shape (n_outputs, n_rows, n_values, ...), or None
    kind : {"average", "individual", "both"}
    response : str
        What is predicted.
    """

    axes: tuple[GridAxis, ...]
    outputs: tuple[Any, ...]
    averages: Floats
    individuals: Floats | None
    kind: str
    response: str

    @property
    def grid_values(self) -> list[Array]:
        """The values of each column."""
        return [axis.values for axis in self.axes]

    @property
    def average(self) -> Floats:
        """Means over the rows, of shape (n_outputs, n_values, ...)."""
        return self._kept("average", self.averages)

    @property
    def individual(self) -> Floats:
        """Predictions of every row, of shape (n_outputs, n_rows, n_values, ...)."""
        return self._kept("individual", self.individuals)

    def _kept(self, name: str, values: Floats | None) -> Floats:
        if values is None or self.kind not in (name, "both"):
            raise AttributeError(
                f"Only kind={self.kind!r} was asked for; ask for {name!r} or both."
            )
        return values

    # A mapping, as scikit-learn's Bunch is

    def _keys(self) -> tuple[str, ...]:
        kinds = ("average", "individual") if self.kind == "both" else (self.kind,)
        return ("grid_values", *kinds)

    def __getitem__(self, key: str) -> Any:
        if key not in self._keys():
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys())

    def __len__(self) -> int:
        return len(self._keys())

    # Reading

    def plot(self, ax: Any = None, *, output: int = -1, most_rows: int = 100) -> Any:
        """Draws one output into matplotlib axes, which are returned.

        Lines of one numeric column, points of a nominal one, a map of two; individual curves of
        at most `most_rows` rows are thin.
        """
        from novum.evaluation.inspection.dependence_plots import plot_dependence

        return plot_dependence(self, ax, output, most_rows)

    def __repr__(self) -> str:
        names = " and ".join(axis.name for axis in self.axes)
        missing = sum(axis.n_missing for axis in self.axes)
        head = f"{self.response} by {names}, mean over the rows"
        note = f"\n{missing} missing cells gave no value of the grid" if missing else ""
        if len(self.axes) == 2:
            low, high = float(self.averages.min()), float(self.averages.max())
            return f"{head}: from {low:.4g} to {high:.4g}{note}"
        axis = self.axes[0]
        shown = np.unique(np.linspace(0, len(axis.values) - 1, 10).round().astype(int))
        columns = [str(label) or self.response for label in self.outputs]
        rows = [
            [f"{axis.values[i]:.4g}" if not isinstance(axis.values[i], str) else axis.values[i]]
            + [f"{value:.4g}" for value in self.averages[:, i]]
            for i in shown
        ]
        table = Table.of_numbers("", [axis.name, *columns], rows)
        return f"{head}\n{table.as_text()}{note}"


def partial_dependence(
    estimator: Any,
    X: Any,
    features: Any,
    *,
    sample_weight: Any = None,
    categorical_features: Any = None,
    feature_names: Any = None,
    response_method: Literal["auto", "predict_proba", "decision_function"] = "auto",
    percentiles: tuple[float, float] = (0.05, 0.95),
    grid_resolution: int = 100,
    custom_values: Mapping[Any, Any] | None = None,
    method: Literal["auto", "brute"] = "auto",
    kind: Literal["average", "individual", "both"] = "average",
) -> PartialDependence:
    """Mean prediction, and that of every row, as a function of one or two columns.

    Parameters
    ----------
    estimator : fitted classifier or regressor
    X : table
        Rows to average over, in any container the model reads.
    features : name, position, or a list of one or two
    sample_weight : array-like of shape (n_rows,), optional
        Weights of the average.
    categorical_features : mask, names or positions, optional
        Columns of numbers whose values are taken one by one. Text and categories always are.
    feature_names : list of str, optional
        Names of the columns of an array.
    response_method : {"auto", "predict_proba", "decision_function"}
        Of a classifier; auto takes probabilities where it has them.
    percentiles : pair of float
        Where the grid of a numeric column begins and ends.
    grid_resolution : int
        Largest number of values of a numeric column.
    custom_values : mapping of columns to lists of values, optional
    method : {"auto", "brute"}
        The average is always computed by definition.
    kind : {"average", "individual", "both"}

    Returns
    -------
    PartialDependence
        `grid_values`, `average`, `individual`, `plot()`.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = [[0.0, 1.0], [1.0, 0.0], [2.0, 2.0], [3.0, 1.0]]
    >>> model = LinearRegression().fit(X, [2 * a + b for a, b in X])
    >>> found = partial_dependence(model, X, 0)
    >>> found.grid_values[0].tolist(), found.average.round(6).tolist()
    ([0.0, 1.0, 2.0, 3.0], [[1.0, 3.0, 5.0, 7.0]])
    """
    check_is_fitted(estimator)
    _check_question(estimator, method, kind, response_method)
    table = as_table(X, dense_for="partial_dependence")
    if not is_frame(table) and table.dtype.kind in "iub":
        # A grid value between two integers must not be rounded.
        table = table.astype(np.float64)
    n_rows = _num_samples(table)
    weight = checked_weight(sample_weight, n_rows)
    axes = grid_axes(
        table,
        _by_position(features, feature_names),
        categorical_features=_by_position(categorical_features, feature_names),
        percentiles=percentiles,
        grid_resolution=grid_resolution,
        custom_values=custom_values,
    )
    response = _response(estimator, response_method)
    averages, rows = [], []
    for point in product(*(axis.fillings for axis in axes)):
        check_cancelled()
        columns = {}
        for axis, value in zip(axes, point, strict=True):
            if isinstance(value, FromRow):
                columns[axis.place] = cells_of(table, axis.place, np.full(n_rows, value.row))
            else:
                columns[axis.place] = np.full(n_rows, float(value))
        predicted = _predicted(estimator, set_columns(table, columns), response)
        averages.append(np.average(predicted, axis=0, weights=weight))
        if kind != "average":
            rows.append(predicted)
    shape = tuple(len(axis.values) for axis in axes)
    mean = np.array(averages).T
    individual = np.array(rows).transpose(2, 1, 0) if rows else None
    return PartialDependence(
        tuple(axes),
        _outputs(estimator, len(mean)),
        mean.reshape(len(mean), *shape),
        None if individual is None else individual.reshape(*individual.shape[:2], *shape),
        kind,
        response,
    )


def _check_question(estimator: Any, method: str, kind: str, response_method: str) -> None:
    if not (is_classifier(estimator) or is_regressor(estimator)):
        raise InputError(
            f"'estimator' must be a fitted regressor or classifier, got {type(estimator).__name__}."
        )
    if method not in ("auto", "brute"):
        raise InputError(
            f"method is 'auto' or 'brute', got {method!r}: the average is taken over the rows of X "
            "by definition, not over the rows a tree was trained on."
        )
    if kind not in ("average", "individual", "both"):
        raise InputError(f"kind is 'average', 'individual' or 'both', got {kind!r}.")
    if response_method not in ("auto", "predict_proba", "decision_function"):
        raise InputError(
            "response_method is 'auto', 'predict_proba' or 'decision_function', got "
            f"{response_method!r}."
        )
    if is_regressor(estimator) and response_method != "auto":
        raise InputError("response_method is for classifiers and must be 'auto' for regressors.")


def _by_position(columns: Any, names: Any) -> Any:
    """Columns by position, where an array's columns have names of their own."""
    if names is None or columns is None:
        return columns
    known = [str(name) for name in names]
    single = isinstance(columns, (str, int, np.integer))
    positions = [
        known.index(item) if isinstance(item, str) and item in known else item
        for item in ([columns] if single else columns)
    ]
    return positions[0] if single else positions


def _response(estimator: Any, wanted: str) -> str:
    if is_regressor(estimator):
        return "predict"
    methods = ("predict_proba", "decision_function") if wanted == "auto" else (wanted,)
    for name in methods:
        if hasattr(estimator, name):
            return name
    raise InputError(
        f"{type(estimator).__name__} has no {' or '.join(methods)}. Choose another "
        "response_method, or calibrate the model."
    )


def _predicted(estimator: Any, table: Any, response: str) -> Floats:
    """Predictions of shape (n_rows, n_outputs); of two classes those of the second."""
    predicted = getattr(estimator, response)(table)
    if isinstance(predicted, list):
        raise InputError("Multiclass-multioutput estimators are not supported; pass one target.")
    values = np.asarray(predicted, np.float64)
    values = values.reshape(len(values), -1)
    two = response == "predict_proba" and values.shape[1] == 2
    return values[:, 1:] if two else values


def _outputs(estimator: Any, count: int) -> tuple[Any, ...]:
    if is_classifier(estimator):
        labels = np.asarray(estimator.classes_).tolist()
        return tuple(labels[-1:] if count == 1 else labels)
    return ("",) if count == 1 else tuple(range(count))
