"""The one entrance of data: from what a user has to a checked sample.

    raw X, y, weight  ->  Sample(schema, numeric, codes, target, weight)

Arrays (masked ones too), SciPy sparse matrices, lists and every frame that narwhals knows are
accepted. scikit-learn's `validate_data` runs underneath, so `n_features_in_`,
`feature_names_in_` and its error messages are what its users know. What is added: kinds of
columns, integer codes of their levels, class codes, and messages that name column, row and value.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from scipy import sparse
from sklearn.base import is_classifier, is_regressor

from novum.core.errors import InputError, NoLabelsError
from novum.core.tables.missing import missing_mask, refuse_missing
from novum.core.tables.reading import read_table
from novum.core.tables.schema import MISSING, Schema
from novum.core.tables.targets import (
    check_classes,
    check_numbers,
    check_partial_classes,
    plain_target,
)
from novum.core.tables.unseen_levels import warn_unseen
from novum.numerics import Array, Codes, Floats, Mask

Target = Literal["numbers", "classes", "partial classes", "none"]


@dataclass(frozen=True, eq=False)
class Sample:
    """Checked rows: what a learner computes with.

    Attributes
    ----------
    schema : Schema
    numeric : array or CSR matrix of shape (n, number of numeric columns)
        Missing cells are NaN.
    codes : int32 array of shape (n, number of categorical columns)
        Codes of levels; `MISSING` and `UNSEEN` are reserved.
    target : array of shape (n,) or (n, n_targets), or None
        Numbers, or codes into `classes`; -1 for a row without a label, where such are taken.
    classes : array of labels in sorted order, or None
    weight : array of shape (n,), all positive, or None when every row counts once
    """

    schema: Schema
    numeric: Any
    codes: Codes
    target: Any = None
    classes: Array | None = None
    weight: Floats | None = None

    @property
    def n_rows(self) -> int:
        return int(self.numeric.shape[0])

    @property
    def is_sparse(self) -> bool:
        return bool(sparse.issparse(self.numeric))

    @property
    def targets(self) -> Any:
        """The target as columns, of shape (n, n_targets)."""
        return self.target[:, np.newaxis] if self.target.ndim == 1 else self.target

    @property
    def weights(self) -> Floats:
        """The weight of every row, of shape (n,)."""
        return np.ones(self.n_rows) if self.weight is None else self.weight

    def rows(self, chosen: slice | Array) -> Sample:
        """The sample of some of the rows."""
        return replace(
            self,
            numeric=self.numeric[chosen],
            codes=self.codes[chosen],
            target=None if self.target is None else self.target[chosen],
            weight=None if self.weight is None else self.weight[chosen],
        )


def check_sample(
    estimator: Any,
    X: Any,
    y: Any = None,
    sample_weight: Any = None,
    *,
    target: Target = "numbers",
    schema: Schema | None = None,
    allow_missing: bool = False,
    accept_sparse: bool = False,
) -> Sample:
    """The sample an estimator is fitted on; sets `n_features_in_` and `feature_names_in_`.

    Parameters
    ----------
    estimator : estimator
        Gives its name to messages, and its `categorical_features` where it has that parameter.
    X, y, sample_weight
        Rows, targets and non-negative weights.
    target : {"numbers", "classes", "partial classes", "none"}
        What `y` is: numbers (one column or several), labels of classes, labels of which some are
        missing, or not used.
    schema : Schema, optional
        Reads `X` by this schema in place of one learned from `X`.
    allow_missing, accept_sparse : bool
        What the learner can do with missing cells and sparse rows.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> sample = check_sample(LinearRegression(), [[1.5, "a"], [2.5, "b"]], target="none")
    >>> sample.numeric.ravel(), sample.codes.ravel(), sample.schema.columns[1].levels
    (array([1.5, 2.5]), array([0, 1], dtype=int32), ('a', 'b'))
    """
    name = type(estimator).__name__
    if y is None and target != "none":
        raise InputError(f"{name} requires y to be passed, but the target y is None.")
    sample, declared = _checked_rows(estimator, X, schema, True, allow_missing, accept_sparse)
    # Levels that a schema or a container declares stay, whether rows have them or not.
    fixed = frozenset(range(sample.schema.n_columns)) if schema is not None else declared
    weight = checked_weight(sample_weight, sample.n_rows)
    classes: Array | None = None
    values: Array
    if target == "none":
        return _without_zero_weights(replace(sample, weight=weight), fixed)
    if target == "classes":
        classes, values = check_classes(y, name)
    elif target == "partial classes":
        classes, values = check_partial_classes(y, name)
    else:
        values = check_numbers(y, name)
    if values.shape[0] != sample.n_rows:
        raise InputError(
            f"X has {sample.n_rows} rows, but y has {values.shape[0]}: found input variables with "
            "inconsistent numbers of samples. Pass one target for each row."
        )
    whole = Sample(sample.schema, sample.numeric, sample.codes, values, classes, weight)
    return _without_zero_weights(whole, fixed)


def check_features(
    estimator: Any,
    X: Any,
    *,
    allow_missing: bool = False,
    accept_sparse: bool = False,
    tell_unseen: bool = True,
) -> Sample:
    """Rows to predict, read by the schema of the fitted estimator.

    Cells with a level that training did not have are counted in a warning; `tell_unseen=False` is
    for learners that say themselves what they do with them, or that pass them on as they are.
    """
    if _is_plain(estimator, X):
        empty = np.empty((len(X), 0), np.int32)
        sample = Sample(estimator.schema_, np.ascontiguousarray(X), empty)
        return _checked_cells(estimator, sample, allow_missing)
    sample, _ = _checked_rows(estimator, X, estimator.schema_, False, allow_missing, accept_sparse)
    if tell_unseen:
        warn_unseen(sample, stacklevel=4)
    return sample


# --- Rows -----------------------------------------------------------------------------------------


def _checked_rows(
    estimator: Any,
    X: Any,
    schema: Schema | None,
    reset: bool,
    allow_missing: bool,
    accept_sparse: bool,
) -> tuple[Sample, frozenset[int]]:
    raw = read_table(estimator, X, schema, reset=reset, accept_sparse=accept_sparse)
    return _checked_cells(estimator, Sample(*raw[:3]), allow_missing), raw.declared


def _is_plain(estimator: Any, X: Any) -> bool:
    """A float array for a model without names needs no further look: one row stays quick."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and X.shape[0] > 0
        and X.shape[1] == estimator.schema_.n_columns
        and not estimator.schema_.named
        and estimator.schema_.is_numeric
    )


def _checked_cells(estimator: Any, sample: Sample, allow_missing: bool) -> Sample:
    cells = sample.numeric.data if sample.is_sparse else sample.numeric
    # A sum is finite exactly when all cells are, unless it overflows: then we look closer.
    with np.errstate(over="ignore", invalid="ignore"):
        finite = bool(np.isfinite(np.sum(cells)))
    if not finite:
        _refuse_infinite(sample)
    if not allow_missing and not (finite and (sample.codes != MISSING).all()):
        mask, names = _missing_cells(sample), sample.schema.names
        refuse_missing(mask, names, type(estimator).__name__, task=_task_of(estimator))
    return sample


def _refuse_infinite(sample: Sample) -> None:
    """Names the first infinite cell."""
    coordinates = sample.numeric.tocoo() if sample.is_sparse else sample.numeric
    cells = coordinates.data if sample.is_sparse else coordinates
    infinite = np.argwhere(np.isinf(cells))
    if infinite.size == 0:
        return
    if sample.is_sparse:
        at = int(infinite[0, 0])
        row, j, value = coordinates.row[at], coordinates.col[at], cells[at]
    else:
        row, j = infinite[0]
        value = cells[row, j]
    name = sample.schema.columns[sample.schema.numeric[j]].name
    raise InputError(
        f"Input X contains infinity: column {name!r} has {value} at row {row} ({len(infinite)} "
        "such cells in all). Replace infinite cells by numbers or mark them missing."
    )


def _task_of(estimator: Any) -> str | None:
    if not hasattr(estimator, "__sklearn_tags__"):
        return None
    if is_classifier(estimator):
        return "classification"
    return "regression" if is_regressor(estimator) else None


def _missing_cells(sample: Sample) -> Mask:
    mask = np.zeros((sample.n_rows, sample.schema.n_columns), bool)
    if sample.is_sparse:
        coordinates = sample.numeric.tocoo()
        mask[coordinates.row, coordinates.col] = np.isnan(coordinates.data)
    else:
        mask[:, sample.schema.numeric] = np.isnan(sample.numeric)
    mask[:, sample.schema.categorical] = sample.codes == MISSING
    return mask


def _without_zero_weights(sample: Sample, fixed: frozenset[int]) -> Sample:
    """A row of weight zero is absent: neither it nor a level or class that only it has is kept.

    The levels of the columns at the positions in `fixed` were declared, and stay.
    """
    if sample.weight is None or sample.weight.all():
        return sample
    kept = _with_met_classes(sample.rows(sample.weight > 0))
    columns = list(sample.schema.columns)
    for j, i in enumerate(sample.schema.categorical):
        if i not in fixed:
            met = set(kept.codes[:, j].tolist())
            levels = enumerate(columns[i].levels)
            columns[i] = replace(columns[i], levels=tuple(v for code, v in levels if code in met))
    schema = Schema(tuple(columns), sample.schema.named)
    return replace(kept, schema=schema, codes=sample.schema.recode(kept.codes, schema))


def _with_met_classes(sample: Sample) -> Sample:
    if sample.classes is None:
        return sample
    met = np.unique(sample.target[sample.target >= 0])
    if met.size == 0:
        raise NoLabelsError(
            "No row of positive weight has a label. Give at least one such row of each class."
        )
    codes = np.where(sample.target >= 0, np.searchsorted(met, sample.target), -1)
    return replace(sample, classes=sample.classes[met], target=codes.astype(np.int64))


# --- Weights --------------------------------------------------------------------------------------


def checked_weight(sample_weight: Any, n_rows: int) -> Floats | None:
    """Finite weights of at least 0, not all of them 0; None where every row counts once."""
    if sample_weight is None:
        return None
    weight = _weight_numbers(sample_weight)
    if weight.ndim == 0:
        weight = np.full(n_rows, float(weight))
    if weight.shape != (n_rows,):
        raise InputError(
            f"sample_weight has shape {weight.shape}, but X has {n_rows} rows. Pass one weight for "
            "each row."
        )
    wrong = np.flatnonzero(~(np.isfinite(weight) & (weight >= 0)))
    if wrong.size:
        value = weight[wrong[0]]
        what = "Negative values in sample_weight" if value < 0 else "No number in sample_weight"
        raise InputError(
            f"{what}: {value} at row {wrong[0]}, {wrong.size} such in all. A weight says how often "
            "a row counts; give finite numbers of at least 0."
        )
    if not weight.any():
        raise InputError(
            f"All {weight.size} weights are zero, so there is nothing to learn from. "
            "Give at least one row a positive weight."
        )
    with np.errstate(over="ignore"):
        squares = np.square(weight.sum())
    if not np.isfinite(squares):
        row = int(weight.argmax())
        raise InputError(
            f"The weights in sample_weight reach {weight[row]:.3g} at row {row}, and squares of "
            "their sum leave the range of double precision. Divide all weights by a power of ten."
        )
    return weight


def with_checked_weight(params: Mapping[str, Any], n_rows: int) -> dict[str, Any]:
    """Arguments of a `fit` or a score whose `sample_weight` is checked; None is no weight.

    Whoever hands weights on to learners that may be of another library checks them here, so that
    a wrong one is refused in the same words everywhere.

    Examples
    --------
    >>> with_checked_weight({"sample_weight": [1, 2], "check_input": True}, 2)
    {'check_input': True, 'sample_weight': array([1., 2.])}
    """
    others = {name: value for name, value in params.items() if name != "sample_weight"}
    weight = checked_weight(params.get("sample_weight"), n_rows)
    return others if weight is None else {**others, "sample_weight": weight}


def _weight_numbers(sample_weight: Any) -> Floats:
    weights = plain_target(sample_weight)
    if weights.dtype.kind == "O":
        weights = np.where(missing_mask(weights), np.nan, weights)
    try:
        if weights.dtype.kind not in "biufO":
            raise TypeError(f"weights of type {weights.dtype}")
        return weights.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"sample_weight holds {weights.ravel()[0]!r}, which is no number. Pass one number for "
            "each row."
        ) from error
