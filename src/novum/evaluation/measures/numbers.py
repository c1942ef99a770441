"""Measures of predicted numbers, with e = predicted - true and weights w.

    RMSE sqrt(mean e^2)     MAE mean |e|     R2 = 1 - sum w e^2 / sum w (y - mean y)^2

R2 compares with predicting the mean: 0 is no better, below 0 worse. Pearson's correlation ignores
shift and scale of the predictions, Spearman's every rising change of them. Integers become float64
first, so that nothing wraps around. Several targets are averaged as `multioutput` says:

    "uniform_average" plain mean   array of weights   "raw_values" one value for each target
    "variance_weighted" by the spread of y, for measures that compare with it
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.reading import NumberPair, read_number_pair
from novum.numerics import Floats

UNIFORM = "uniform_average"


def rmse(y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM) -> Any:
    """Root of the mean squared error.

    Examples
    --------
    >>> rmse([1, 2, 3], [1, 2, 6]) ** 2
    2.9999999999999996
    """
    pair = read_number_pair(y, predictions, sample_weight)
    squares = _mean((pair.predicted - pair.true) ** 2, pair)
    return _over_targets(np.sqrt(squares), multioutput)


def mse(y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM) -> Any:
    """Mean squared error.

    Examples
    --------
    >>> mse([1, 2, 3], [1, 2, 6])
    3.0
    """
    pair = read_number_pair(y, predictions, sample_weight)
    return _over_targets(_mean((pair.predicted - pair.true) ** 2, pair), multioutput)


def mae(y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM) -> Any:
    """Mean absolute error.

    Examples
    --------
    >>> mae([1, 2, 3], [1, 2, 6])
    1.0
    """
    pair = read_number_pair(y, predictions, sample_weight)
    return _over_targets(_mean(np.abs(pair.predicted - pair.true), pair), multioutput)


def median_absolute_error(
    y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM
) -> Any:
    """Median of the absolute errors.

    Examples
    --------
    >>> median_absolute_error([1, 2, 3], [1, 2, 6])
    0.0
    """
    pair = read_number_pair(y, predictions, sample_weight)
    medians = metrics.median_absolute_error(
        pair.true, pair.predicted, sample_weight=pair.weight, multioutput="raw_values"
    )
    return _over_targets(np.asarray(medians, float), multioutput)


def max_error(y: Any, predictions: Any, *, sample_weight: Any = None) -> float:
    """Largest absolute error of a row of positive weight, of all targets.

    Examples
    --------
    >>> max_error([1, 2, 3], [1, 2, 6])
    3.0
    """
    pair = read_number_pair(y, predictions, sample_weight)
    errors = np.abs(pair.predicted - pair.true)
    counted = errors if pair.weight is None else errors[pair.weight > 0]
    return float(counted.max())


def r2(y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM) -> Any:
    """Share of the variance of y that the predictions explain.

    Notes
    -----
    Where y is constant: 1 for perfect predictions and 0 for others, as in scikit-learn. One row
    has no variance and is refused.

    Examples
    --------
    >>> r2([1, 2, 3], [1, 2, 3]), r2([1, 2, 3], [2, 2, 2])
    (1.0, 0.0)
    """
    pair = _with_spread(y, predictions, sample_weight, "R2")
    errors = _mean((pair.true - pair.predicted) ** 2, pair)
    return _one_minus(errors, pair, multioutput)


def explained_variance(
    y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM
) -> Any:
    """R2 after a constant error has been taken off the predictions.

    Examples
    --------
    >>> explained_variance([1, 2, 3], [2, 3, 4])
    1.0
    """
    pair = _with_spread(y, predictions, sample_weight, "The explained variance")
    errors = pair.true - pair.predicted
    errors = _mean((errors - _mean(errors, pair)) ** 2, pair)
    return _one_minus(errors, pair, multioutput)


def pearson(
    y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM
) -> Any:
    """Correlation of true and predicted numbers; NaN where either is constant.

    Examples
    --------
    >>> round(pearson([1, 2, 3], [10, 20, 30]), 12)
    1.0
    """
    return _correlation(y, predictions, sample_weight, lambda column, _: column, multioutput)


def spearman(
    y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM
) -> Any:
    """Correlation of the ranks, equal numbers sharing their mean rank.

    Examples
    --------
    >>> round(spearman([1, 2, 3], [1, 10, 1000]), 12)
    1.0
    """
    return _correlation(y, predictions, sample_weight, weighted_ranks, multioutput)


def poisson_deviance(
    y: Any, predictions: Any, *, sample_weight: Any = None, multioutput: Any = UNIFORM
) -> Any:
    """`mean of 2 (y log(y / m) - y + m)` of counts or rates y >= 0 with predicted means m > 0.

    Notes
    -----
    Of rates `count / exposure`, with the exposures as weights, it is the deviance of the counts
    for each unit of exposure.

    Examples
    --------
    >>> poisson_deviance([0, 2], [1, 2])
    1.0
    """
    pair = read_number_pair(y, predictions, sample_weight)
    for what, wrong in (("y", pair.true < 0), ("predictions", pair.predicted <= 0)):
        if wrong.any():
            least = "at least 0" if what == "y" else "above 0"
            value = (pair.true if what == "y" else pair.predicted)[wrong][0]
            raise InputError(
                f"The Poisson deviance is of counts: {what} must be {least}, but row "
                f"{int(np.argwhere(wrong)[0, 0])} has {value:g}. Take another measure, such as mae."
            )
    deviances = 2.0 * (special.xlogy(pair.true, pair.true / pair.predicted) - pair.true)
    return _over_targets(_mean(deviances + 2.0 * pair.predicted, pair), multioutput)


def weighted_ranks(values: Floats, weight: Floats) -> Floats:
    """Mean ranks, less one half, where a row of weight 2 is two rows; they scale with the weights.

    Examples
    --------
    >>> import numpy as np
    >>> weighted_ranks(np.array([5.0, 7.0, 7.0]), np.ones(3)).tolist()
    [0.5, 2.0, 2.0]
    """
    _, block = np.unique(values, return_inverse=True)
    sizes = np.bincount(block, weight)
    return (np.cumsum(sizes) - sizes / 2)[block]


# --- Parts of the above ---------------------------------------------------------------------------


def _mean(values: Floats, pair: NumberPair) -> Floats:
    """Weighted mean of each column, of shape (n_targets,)."""
    return np.asarray(np.average(values, axis=0, weights=pair.weight))


def _with_spread(y: Any, predictions: Any, sample_weight: Any, what: str) -> NumberPair:
    pair = read_number_pair(y, predictions, sample_weight)
    n_rows = len(pair.true) if pair.weight is None else int((pair.weight > 0).sum())
    if n_rows < 2:
        raise InputError(f"{what} needs at least two rows, got {n_rows}. Judge more rows.")
    return pair


def _over_targets(values: Floats, multioutput: Any, spreads: Floats | None = None) -> Any:
    """Values of the targets, of shape (n_targets,), averaged as asked."""
    if isinstance(multioutput, str):
        if multioutput == "raw_values":
            return values
        if multioutput == UNIFORM:
            return float(np.mean(values))
        if multioutput == "variance_weighted" and spreads is not None:
            # Targets that are all constant have no spread to be weighted by.
            return float(np.average(values, weights=spreads if spreads.any() else None))
        known = "'raw_values', 'uniform_average', " + (
            "" if spreads is None else "'variance_weighted', "
        )
        raise InputError(f"multioutput is {known}or one weight a target, got {multioutput!r}.")
    weights = np.asarray(multioutput, float)
    if weights.shape != values.shape or not ((weights >= 0).all() and weights.any()):
        raise InputError(
            f"multioutput has one weight of at least 0, not all of them 0, for each of the "
            f"{values.size} targets, got {multioutput!r}."
        )
    return float(np.average(values, weights=weights))


def _one_minus(errors: Floats, pair: NumberPair, multioutput: Any) -> Any:
    spreads = _mean((pair.true - _mean(pair.true, pair)) ** 2, pair)
    shares = np.where(errors == 0, 0.0, 1.0)
    np.divide(errors, spreads, out=shares, where=spreads > 0)
    return _over_targets(1 - shares, multioutput, spreads)


def _correlation(
    y: Any,
    predictions: Any,
    sample_weight: Any,
    scale: Callable[[Floats, Floats], Floats],
    multioutput: Any,
) -> Any:
    pair = _with_spread(y, predictions, sample_weight, "A correlation")
    weight = np.ones(len(pair.true)) if pair.weight is None else pair.weight
    correlations = [
        weighted_correlation(scale(true, weight), scale(predicted, weight), weight)
        for true, predicted in zip(pair.true.T, pair.predicted.T, strict=True)
    ]
    return _over_targets(np.array(correlations), multioutput)


def weighted_correlation(first: Floats, second: Floats, weight: Floats) -> float:
    """Pearson's correlation of two columns; NaN where one is constant."""
    # A constant column leaves rounding when its mean is taken off, which is no variance.
    counted = weight > 0
    if np.ptp(first[counted]) == 0 or np.ptp(second[counted]) == 0:
        return float("nan")
    left = first - np.average(first, weights=weight)
    right = second - np.average(second, weights=weight)
    # Scaled first, so that squares neither overflow nor vanish.
    left, right = left / np.abs(left).max(), right / np.abs(right).max()
    cross = (weight * left * right).sum()
    correlation = cross / np.sqrt((weight * left**2).sum() * (weight * right**2).sum())
    return float(np.clip(correlation, -1, 1))
