"""Measures of labels, as functions of the confusion matrix.

With true positives, false positives, false negatives and true negatives of one class against the
rest,

    precision = tp / (tp + fp)          recall = tp / (tp + fn)
    F_beta = (1 + beta^2) tp / ((1 + beta^2) tp + beta^2 fn + fp)
    false positive rate = fp / (fp + tn)      false negative rate = fn / (fn + tp)

and over classes: micro sums the four counts first, macro takes the plain mean of the classes,
weighted that by the weight of the true classes. A class that neither occurs nor is predicted takes
no part, unless it is asked for by name (`labels`). 0/0 counts as `zero_division`, by default 0, in
rates of which more is better, and as one minus that in the two error rates, so that they stay what
precision's kin leave to 1; "warn" is a `zero_division` of 0 with a warning, and a NaN takes no part
in an average.

Every function takes counts of shape (..., K, K) and gives values of shape (...): one call measures
one matrix, a thousand resamples, or every threshold.

References: Sokolova & Lapalme (2009); Gorodkin (2004) for Matthews' coefficient of K classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from sklearn.exceptions import UndefinedMetricWarning

from novum.core.errors import InputError
from novum.numerics import Floats, Mask

Average = Literal["binary", "micro", "macro", "weighted"] | None
ZeroDivision = float | Literal["warn"]


class Parts(NamedTuple):
    """Counts of each class against the rest, of shape (..., K)."""

    tp: Floats
    fp: Floats
    fn: Floats
    tn: Floats


def parts_of(counts: Floats) -> Parts:
    """True and false positives and negatives of each class.

    Examples
    --------
    >>> import numpy as np
    >>> parts_of(np.array([[5.0, 1.0], [2.0, 4.0]])).fp.tolist()
    [2.0, 1.0]
    """
    tp = np.diagonal(counts, axis1=-2, axis2=-1)
    true, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    total = true.sum(axis=-1, keepdims=True)
    # Sums of weights leave rounding below zero where nothing is left.
    fp, fn = np.maximum(predicted - tp, 0), np.maximum(true - tp, 0)
    return Parts(tp, fp, fn, np.maximum(total - tp - fp - fn, 0))


# --- Rates of a class -----------------------------------------------------------------------------


def _f_beta(p: Parts, beta: float) -> tuple[Floats, Floats]:
    gain = 1 + beta**2
    return gain * p.tp, gain * p.tp + beta**2 * p.fn + p.fp


# Numerator and denominator, by the counts of a class and beta.
RATES: dict[str, Callable[[Parts, float], tuple[Floats, Floats]]] = {
    "precision": lambda p, _: (p.tp, p.tp + p.fp),
    "recall": lambda p, _: (p.tp, p.tp + p.fn),
    "f1": lambda p, _: _f_beta(p, 1.0),
    "f_beta": _f_beta,
    "specificity": lambda p, _: (p.tn, p.tn + p.fp),
    "negative_predictive_value": lambda p, _: (p.tn, p.tn + p.fn),
    "false_positive_rate": lambda p, _: (p.fp, p.fp + p.tn),
    "false_negative_rate": lambda p, _: (p.fn, p.fn + p.tp),
    "jaccard": lambda p, _: (p.tp, p.tp + p.fp + p.fn),
}

ERROR_RATES = ("false_positive_rate", "false_negative_rate")


def rate_fraction(counts: Floats, rate: str, *, beta: float = 1.0) -> tuple[Floats, Floats]:
    """Numerator and denominator of a rate of each class, both of shape (..., K)."""
    return RATES[rate](parts_of(counts), _checked_beta(beta))


def class_rate(
    counts: Floats, rate: str, *, beta: float = 1.0, zero_division: ZeroDivision = 0.0
) -> Floats:
    """A rate of each class, of shape (..., K).

    Examples
    --------
    >>> import numpy as np
    >>> class_rate(np.array([[5.0, 1.0], [2.0, 4.0]]), "specificity").round(4).tolist()
    [0.6667, 0.8333]
    """
    return _rate(*rate_fraction(counts, rate, beta=beta), rate, zero_division)


def averaged_rate(
    counts: Floats,
    rate: str,
    *,
    average: Average = "binary",
    positive: int | None = None,
    labels: Sequence[int] | None = None,
    beta: float = 1.0,
    zero_division: ZeroDivision = 0.0,
) -> Floats:
    """A rate of the positive class, its average over classes, or that of every class.

    Parameters
    ----------
    counts : array of shape (..., K, K)
    rate : one of `RATES`
    average : "binary", "micro", "macro", "weighted" or None
        "binary" is the rate of the positive class, None gives values of shape (..., K).
    positive : int, optional
        Place of the positive class. Default: the last of two.
    labels : sequence of int, optional
        Places of the classes that take part in an average, or of which rates are given.
    beta : float
    zero_division : float or "warn"

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[5.0, 1.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 9.0]])
    >>> averaged_rate(counts, "recall", average=None, labels=[2, 0]).round(4).tolist()
    [1.0, 0.8333]
    """
    if average == "binary":
        if labels is not None:
            raise InputError(
                f"{rate} is about one class, `positive`; labels are the classes of an average. "
                "Give average='micro', 'macro', 'weighted' or None."
            )
        place = _positive_place(counts, rate, positive)
        above, below = rate_fraction(counts, rate, beta=beta)
        return _rate(above[..., place], below[..., place], rate, zero_division)
    parts = parts_of(counts)
    if labels is not None:
        parts = Parts(*(part[..., list(labels)] for part in parts))
    if average == "micro":
        summed = Parts(*(part.sum(axis=-1) for part in parts))
        return _rate(*RATES[rate](summed, _checked_beta(beta)), rate, zero_division)
    fractions = RATES[rate](parts, _checked_beta(beta))
    # A class that neither occurs nor is predicted is no reason to warn, unless it was asked for.
    occurs = parts.tp + parts.fp + parts.fn > 0 if labels is None else np.ones(parts.tp.shape, bool)
    values = _rate(*fractions, rate, zero_division, occurs)
    if average is None:
        return values
    if average == "macro":
        share = occurs.astype(float)
    elif average == "weighted":
        share = parts.tp + parts.fn
    else:
        raise InputError(
            f"average is 'binary', 'micro', 'macro', 'weighted' or None, got {average!r}."
        )
    share = np.where(np.isnan(values), 0.0, share)
    above = (share * np.nan_to_num(values)).sum(axis=-1)
    return _divided(above, share.sum(axis=-1), _undefined(rate, zero_division))


# --- Measures of the whole matrix -----------------------------------------------------------------


def accuracy(counts: Floats, **_: Any) -> Floats:
    """Share of the rows on the diagonal."""
    return _divided(np.trace(counts, axis1=-2, axis2=-1), counts.sum(axis=(-2, -1)), np.nan)


def error_rate(counts: Floats, **_: Any) -> Floats:
    """One minus the accuracy."""
    return 1 - accuracy(counts)


def balanced_accuracy(counts: Floats, **_: Any) -> Floats:
    """Mean recall of the classes that occur: accuracy if all of them were equally frequent.

    Examples
    --------
    >>> import numpy as np
    >>> float(balanced_accuracy(np.array([[90.0, 0.0], [10.0, 0.0]])))
    0.5
    """
    recalls, occurs = _recalls(counts)
    return _divided((recalls * occurs).sum(axis=-1), occurs.sum(axis=-1), np.nan)


def rebalanced_accuracy(counts: Floats, *, priors: Any = None, **_: Any) -> Floats:
    """Accuracy where the classes have the given priors: `sum_c prior_c recall_c`.

    Parameters
    ----------
    counts : array of shape (..., K, K)
    priors : array of shape (K,)
        Default: equal, which is the balanced accuracy.

    Notes
    -----
    NaN where a class of positive prior has no rows: its recall is unknown.

    Examples
    --------
    >>> import numpy as np
    >>> counts = np.array([[45.0, 5.0], [20.0, 30.0]])
    >>> round(float(rebalanced_accuracy(counts, priors=[0.9, 0.1])), 2)
    0.87
    """
    if priors is None:
        return balanced_accuracy(counts)
    shares = np.asarray(priors, float)
    if shares.shape != counts.shape[-1:] or not (shares >= 0).all():
        raise InputError(
            f"priors are one number of at least 0 for each of the {counts.shape[-1]} classes, got "
            f"{shares.tolist()}."
        )
    if abs(shares.sum() - 1) > 1e-9:
        raise InputError(f"priors sum to 1, those given to {shares.sum():.6g}.")
    recalls, occurs = _recalls(counts)
    known = ((occurs > 0) | (shares == 0)).all(axis=-1)
    return np.where(known, (recalls * shares).sum(axis=-1), np.nan)


def matthews(counts: Floats, **_: Any) -> Floats:
    """Matthews' correlation of true and predicted classes, 0 where either is constant.

    Examples
    --------
    >>> import numpy as np
    >>> round(float(matthews(np.array([[5.0, 1.0], [2.0, 4.0]]))), 4)
    0.5071
    """
    hits, true, predicted, total = _sums(counts)
    cross = (true * predicted).sum(axis=-1)
    spread = (total**2 - (true**2).sum(axis=-1)) * (total**2 - (predicted**2).sum(axis=-1))
    return _divided(hits * total - cross, np.sqrt(np.maximum(spread, 0)), 0.0)


def kappa(counts: Floats, *, labels: Sequence[int] | None = None, **_: Any) -> Floats:
    """Cohen's kappa: agreement beyond chance; NaN where chance alone agrees always.

    `labels` are the places of the classes that rows are judged of; all by default.

    Examples
    --------
    >>> import numpy as np
    >>> float(kappa(np.array([[5.0, 1.0], [2.0, 4.0]])))
    0.5
    """
    if labels is not None:
        counts = counts[..., list(labels), :][..., list(labels)]
    hits, true, predicted, total = _sums(counts)
    chance = (true * predicted).sum(axis=-1)
    return _divided(hits * total - chance, total**2 - chance, np.nan)


def mean_level_error(counts: Floats, **_: Any) -> Floats:
    """Mean distance of decided from true levels, for classes in their order.

    Examples
    --------
    >>> import numpy as np
    >>> float(mean_level_error(np.array([[3.0, 0.0, 1.0], [0.0, 2.0, 0.0], [0.0, 2.0, 0.0]])))
    0.5
    """
    distance = _level_distances(counts)
    return _divided((counts * distance).sum(axis=(-2, -1)), counts.sum(axis=(-2, -1)), np.nan)


def quadratic_kappa(counts: Floats, **_: Any) -> Floats:
    """Cohen's kappa for classes in their order, disagreement weighed by its squared distance.

    One minus the mean squared distance in levels over that of independent answers with the same
    shares; NaN where those have none.

    Examples
    --------
    >>> import numpy as np
    >>> float(quadratic_kappa(np.array([[5.0, 1.0], [2.0, 4.0]])))
    0.5
    """
    squares = _level_distances(counts) ** 2
    true, predicted, total = _sums(counts)[1:]
    chance = np.einsum("...i,...j,ij->...", true, predicted, squares)
    seen = (counts * squares).sum(axis=(-2, -1)) * total
    return _divided(chance - seen, chance, np.nan)


# --- Parts of the above ---------------------------------------------------------------------------


def _level_distances(counts: Floats) -> Floats:
    places = np.arange(counts.shape[-1], dtype=float)
    return np.abs(places[:, np.newaxis] - places)


def _rate(
    above: Floats,
    below: Floats,
    rate: str,
    zero_division: ZeroDivision,
    counted: Mask | None = None,
) -> Floats:
    """A fraction; says where it is 0/0 if asked to."""
    filled = _undefined(rate, zero_division)
    undefined = np.asarray(below) <= 0
    if counted is not None:
        undefined &= counted
    if isinstance(zero_division, str) and undefined.any():
        warnings.warn(
            f"{rate.replace('_', ' ')} is 0/0 in {np.count_nonzero(undefined)} of "
            f"{undefined.size} cases, and counted as {filled:g} there. Say what it counts as by "
            "`zero_division`.",
            UndefinedMetricWarning,
            stacklevel=5,
        )
    return _divided(above, below, filled)


def _undefined(rate: str, zero_division: ZeroDivision) -> float:
    """What 0/0 counts as: the complement of specificity is the false positive rate, also there."""
    if isinstance(zero_division, str):
        if zero_division != "warn":
            raise InputError(f"zero_division is a number or 'warn', got {zero_division!r}.")
        zero_division = 0.0
    return float(1 - zero_division if rate in ERROR_RATES else zero_division)


def _divided(above: Floats, below: Floats, zero_division: float) -> Floats:
    above, below = np.asarray(above, float), np.asarray(below, float)
    safe = np.where(below > 0, below, 1.0)
    return np.where(below > 0, above / safe, zero_division)


def _recalls(counts: Floats) -> tuple[Floats, Floats]:
    recalls = class_rate(counts, "recall")
    return recalls, (counts.sum(axis=-1) > 0).astype(float)


def _sums(counts: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    true, predicted = counts.sum(axis=-1), counts.sum(axis=-2)
    return np.trace(counts, axis1=-2, axis2=-1), true, predicted, true.sum(axis=-1)


def _positive_place(counts: Floats, rate: str, positive: int | None) -> int:
    n_classes = counts.shape[-1]
    if positive is not None:
        return positive
    if n_classes > 2:
        raise InputError(
            f"{rate} is about one class, and there are {n_classes}. Name it as `positive`, or "
            f"average over the classes: '{rate}_macro', '{rate}_weighted' or '{rate}_micro'."
        )
    return n_classes - 1


def _checked_beta(beta: float) -> float:
    if not (np.isfinite(beta) and beta > 0):
        raise InputError(
            f"beta says how many times recall counts more than precision, above 0, got {beta!r}."
        )
    return float(beta)
