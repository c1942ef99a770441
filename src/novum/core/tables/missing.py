"""Missing cells: what counts as one, and what to say where none is allowed.

Missing is NaN, None, pandas' NA, NaT and every masked cell, in arrays of any type and in columns of
any frame. Infinity, the empty string, 0 and the text "nan" are values. The rule is the same whether
pandas is installed or not, so a table means the same in every environment.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np

from novum.core.errors import MissingValuesError
from novum.numerics import Array, Mask

# Learners that give missing cells a meaning of their own, best choice first, by task.
LEARNERS: dict[str, tuple[str, ...]] = {
    "classification": (
        "novum.trees.RandomForestClassifier",
        "novum.trees.DecisionTreeClassifier",
        "novum.bayes.NaiveBayes",
        "novum.bayes.GaussianClassifier",
    ),
    "regression": (
        "novum.trees.RandomForestRegressor",
        "novum.trees.DecisionTreeRegressor",
    ),
}


# --- Recognition ----------------------------------------------------------------------------------


def missing_mask(values: Any) -> Mask:
    """True where a cell is missing.

    Parameters
    ----------
    values : array of any type and shape, masked array, or Series of any frame library
        Lists are taken as arrays of objects.

    Returns
    -------
    boolean array of the same shape

    Examples
    --------
    >>> missing_mask(np.array([1.0, np.nan, np.inf])).tolist()
    [False, True, False]
    >>> missing_mask(["a", None, "nan"]).tolist()
    [False, True, False]
    >>> missing_mask(np.ma.masked_array([1, 2], mask=[False, True])).tolist()
    [False, True]
    """
    if isinstance(values, np.ma.MaskedArray):
        return np.ma.getmaskarray(values) | missing_mask(values.data)
    if isinstance(values, np.ndarray):
        return _array_mask(values)
    if isinstance(values, nw.Series) or nw.dependencies.is_into_series(values):
        return _series_mask(nw.from_native(values, series_only=True, pass_through=False))
    return _array_mask(_as_objects(values))


def is_missing(cell: object) -> bool:
    """Whether one value of any type is missing.

    Examples
    --------
    >>> [is_missing(cell) for cell in (None, float("nan"), np.datetime64("NaT"), "", 0)]
    [True, True, True, False, False]
    """
    if cell is None or cell is np.ma.masked or type(cell).__name__ == "NAType":
        return True
    if isinstance(cell, (str, bytes, int, np.ndarray)):
        return False
    try:
        # Only NaN and its relatives, NaT among them, differ from themselves.
        return bool(cell != cell)
    except ArithmeticError:
        # A signaling NaN of `decimal` refuses to be compared at all.
        return True
    except (TypeError, ValueError):
        return False


def _array_mask(values: Array) -> Mask:
    if values.dtype.kind in "fc":
        return np.isnan(values)
    if values.dtype.kind in "mM":
        return np.isnat(values)
    if values.dtype.kind in "biuUS":
        return np.zeros(values.shape, dtype=bool)
    flat = values.astype(object).ravel()
    mask = np.fromiter((is_missing(cell) for cell in flat), dtype=bool, count=flat.size)
    return mask.reshape(values.shape)


def _as_objects(values: Any) -> Array:
    """Plain sequences cell by cell; `numpy.asarray` would turn `["a", nan]` into text."""
    return np.asarray(values, dtype=object)


def _series_mask(series: nw.Series[Any]) -> Mask:
    if series.dtype == nw.Object:
        return _array_mask(np.asarray(series.to_list(), dtype=object))
    mask = series.is_null().to_numpy()
    if series.dtype.is_float():
        mask = mask | series.is_nan().fill_null(True).to_numpy()
    return np.asarray(mask, dtype=bool)


# --- Refusal --------------------------------------------------------------------------------------


def refuse_missing(
    mask: Mask, names: Sequence[str], learner: str, *, task: str | None = None, what: str = "X"
) -> None:
    """Raise `MissingValuesError` if any cell is missing: which columns, how many, from which row.

    Parameters
    ----------
    mask : boolean array of shape (n_rows,) or (n_rows, n_columns)
        True where a cell is missing.
    names : sequence of str
        One name per column.
    learner : str
        Who cannot treat them.
    task : {"classification", "regression"}, optional
        Restricts the learners that are named instead.
    what : str
        The argument, "X" or "y".

    Examples
    --------
    >>> refuse_missing(np.array([[False, False]]), ["age", "income"], "LinearRegression")
    """
    if not np.any(mask):
        return
    table = np.asarray(mask, dtype=bool).reshape(len(mask), -1)
    counts = table.sum(axis=0)
    columns = np.flatnonzero(counts)
    listed = [
        f"{names[j]!r} ({counts[j]}, first at row {int(table[:, j].argmax())})" for j in columns[:5]
    ]
    if len(columns) > 5:
        listed.append(f"and {len(columns) - 5} more columns")
    if what == "y":
        advice = (
            "Select the rows whose target is known, and predict the others; NaiveBayes and "
            "GaussianClassifier learn from rows without a label with unlabelled='em', any "
            "classifier inside novum.ensemble.SelfTraining."
        )
    else:
        advice = learners_for_missing(task)
    raise MissingValuesError(
        f"Input {what} contains NaN or other missing cells, {int(counts.sum())} in all, in "
        f"{', '.join(listed)}. {learner} needs every cell. {advice}"
    )


def learners_for_missing(task: str | None = None) -> str:
    """The sentence that says what to do about missing cells, with the learners that take them.

    Examples
    --------
    >>> print(learners_for_missing("regression"))
    Use a learner that treats missing as missing (novum.trees.RandomForestRegressor, \
novum.trees.DecisionTreeRegressor), or fill in the cells in a step before it.
    """
    known = LEARNERS.values() if task is None else [LEARNERS.get(task, ())]
    names = ", ".join(name for group in known for name in group)
    if not names:
        return "Fill in the cells in a step before it."
    return (
        f"Use a learner that treats missing as missing ({names}), or fill in the cells in a step "
        "before it."
    )
