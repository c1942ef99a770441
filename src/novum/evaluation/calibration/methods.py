"""Ways to calibrate: from scores of rows with known classes to posteriors.

| method | posteriors | use |
|---|---|---|
| sigmoid | `1 / (1 + exp(-(a s + b)))` for each class against the others | few rows |
| isotonic | the best non-decreasing function of s, for each class | many rows |
| temperature | `softmax(s / T)` for all classes at once | scores that are nearly right |
| prior-weighted logistic | log-likelihoods `a s + b`, fitted at an effective prior | decisions |

Each is a value object with `fit`; its result is a frozen map with `probabilities`. One-vs-rest
probabilities are divided by their sum.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
from scipy import special

from novum.core.errors import InputError
from novum.numerics import (
    AffineSoftmax,
    Array,
    Floats,
    Integers,
    IsotonicMap,
    Mask,
    SigmoidMap,
    TemperatureMap,
    fit_affine_softmax,
    fit_isotonic,
    fit_sigmoid,
    fit_temperature,
    is_separated,
    normalize_one_vs_rest,
)


class SeparatedScoresWarning(UserWarning):
    """Scores separate the classes of the calibration rows, so that the best slope is infinite."""


class Calibration(Protocol):
    """A fitted map from scores to posteriors."""

    def probabilities(self, scores: ScoreColumns) -> Floats:
        """Posteriors of shape (n, K)."""


# --- Sigmoid and isotonic: one class at a time ----------------------------------------------------


@dataclass(frozen=True, eq=False)
class ColumnMaps:
    """One map for each class against the others; of two classes one for the positive class."""

    maps: tuple[SigmoidMap | IsotonicMap, ...]

    def probabilities(self, scores: ScoreColumns) -> Floats:
        columns = zip(self.maps, scores.values.T, strict=True)
        probabilities = np.column_stack([each.predict(column) for each, column in columns])
        if probabilities.shape[1] == 1:
            return np.hstack([1 - probabilities, probabilities])
        with np.errstate(divide="ignore"):
            return normalize_one_vs_rest(np.log(probabilities))


@dataclass(frozen=True)
class SigmoidCalibration:
    """Platt's sigmoid for each class against the others."""

    name: ClassVar[str] = "sigmoid"

    def fit(self, scores: ScoreColumns, codes: Integers, weight: Any, priors: Floats) -> ColumnMaps:
        del priors
        return ColumnMaps(
            tuple(fit_sigmoid(s, t, weight) for s, t in _against_others(scores, codes))
        )


@dataclass(frozen=True)
class IsotonicCalibration:
    """The best non-decreasing function for each class against the others."""

    name: ClassVar[str] = "isotonic"

    def fit(self, scores: ScoreColumns, codes: Integers, weight: Any, priors: Floats) -> ColumnMaps:
        del priors
        return ColumnMaps(
            tuple(fit_isotonic(s, t, weight) for s, t in _against_others(scores, codes))
        )


def _against_others(scores: ScoreColumns, codes: Integers) -> list[tuple[Floats, Mask]]:
    columns = scores.values.T
    classes = [1] if len(columns) == 1 else range(len(columns))
    return [(column, codes == k) for column, k in zip(columns, classes, strict=True)]


# --- Temperature: all classes at once -------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class SoftmaxMap:
    """Posteriors from scores of all classes at a temperature."""

    temperature: TemperatureMap

    def probabilities(self, scores: ScoreColumns) -> Floats:
        return self.temperature.predict(scores.logits)


@dataclass(frozen=True)
class TemperatureCalibration:
    """One temperature for the scores of all classes; which class is likeliest does not change."""

    name: ClassVar[str] = "temperature"

    def fit(self, scores: ScoreColumns, codes: Integers, weight: Any, priors: Floats) -> SoftmaxMap:
        del priors
        known = codes >= 0
        fitted = fit_temperature(
            scores.logits[known], codes[known], None if weight is None else weight[known]
        )
        if fitted.bound == "high":
            _warn_of_separation("the highest inverse temperature of the search is taken")
        return SoftmaxMap(fitted)


# --- Prior-weighted logistic: log-likelihoods -----------------------------------------------------


@dataclass(frozen=True, eq=False)
class LogLikelihoodMap:
    """Log-likelihoods of the classes as affine functions of their scores, and priors.

    Attributes
    ----------
    fitted : AffineSoftmax
        Slope and offsets.
    priors : array of shape (K,)
        Of the posteriors that `probabilities` gives: the classes' shares in training.
    """

    fitted: AffineSoftmax
    priors: Floats

    def log_likelihoods(self, scores: ScoreColumns) -> Floats:
        """Up to a number for each row, of shape (n, K); of two classes the first is 0."""
        return self.fitted.log_odds(scores.logits)

    def probabilities(self, scores: ScoreColumns) -> Floats:
        return np.asarray(
            special.softmax(self.log_likelihoods(scores) + np.log(self.priors), axis=1)
        )


@dataclass(frozen=True)
class PriorWeightedLogistic:
    """Log-likelihood ratios `a s + b`, fitted where the classes have the effective prior.

    Classes are weighted to the prior, whatever their shares among the rows are, and its log-odds
    are taken off again. With more classes one slope serves all, and each has an offset.

    Parameters
    ----------
    prior : float, tuple of K floats, or None
        Of the positive class where there are two; of each class; None for equal ones. Take the
        `effective_prior` of the working point that the scores are meant for.

    Examples
    --------
    >>> scores = ScoreColumns(np.array([[-1.0], [1.0], [-1.0], [1.0], [1.0]]), False)
    >>> codes = np.array([0, 0, 1, 1, 1])
    >>> fitted = PriorWeightedLogistic(0.5).fit(scores, codes, None, np.array([0.4, 0.6]))
    >>> fitted.log_likelihoods(scores)[:2, 1].round(6).tolist()
    [-0.405465, 0.287682]
    """

    prior: Any = None
    name: ClassVar[str] = "prior-weighted logistic"

    def fit(
        self, scores: ScoreColumns, codes: Integers, weight: Any, priors: Floats
    ) -> LogLikelihoodMap:
        known = codes >= 0
        z, y = scores.logits[known], codes[known]
        w = np.ones(len(y)) if weight is None else np.asarray(weight)[known]
        K = scores.n_classes
        totals = np.bincount(y, w, K)
        if not totals.all():
            raise InputError(
                f"A prior-weighted fit needs calibration rows of all {K} classes; class number "
                f"{int(np.flatnonzero(totals == 0)[0])} has none. Use folds with equal shares of "
                "the classes."
            )
        wanted = self._checked_prior(K)
        targets = np.eye(K)[y]
        if is_separated(z, y) and np.ptp(z - z[:, :1], axis=0).any():
            _warn_of_separation("targets are moved inwards by one row for each class, as Platt's")
            targets = (targets * totals[y][:, np.newaxis] + 1) / (totals[y] + K)[:, np.newaxis]
        fitted = fit_affine_softmax(z, targets, w * (wanted / totals)[y], np.log(wanted))
        return LogLikelihoodMap(fitted, priors)

    def _checked_prior(self, K: int) -> Floats:
        if self.prior is None:
            return np.full(K, 1 / K)
        given = np.asarray(self.prior, np.float64)
        shares = np.array([1 - given, given]) if given.ndim == 0 and K == 2 else given
        if shares.shape != (K,) or not (shares > 0).all() or abs(shares.sum() - 1) > 1e-9:
            raise InputError(
                f"The effective prior of {K} classes is "
                f"{'a probability' if K == 2 else 'a tuple'} with positive shares that sum to 1, "
                f"got {self.prior!r}."
            )
        return shares


# --- Choosing -------------------------------------------------------------------------------------

Method = SigmoidCalibration | IsotonicCalibration | TemperatureCalibration | PriorWeightedLogistic

METHODS: dict[str, Method] = {
    method.name: method
    for method in (
        SigmoidCalibration(),
        IsotonicCalibration(),
        TemperatureCalibration(),
        PriorWeightedLogistic(),
    )
}


def calibration_method(method: Any) -> Method:
    """The method of a name, or the value object itself.

    Examples
    --------
    >>> calibration_method("prior-weighted logistic")
    PriorWeightedLogistic(prior=None)
    """
    if isinstance(method, str) and method in METHODS:
        return METHODS[method]
    if isinstance(method, Method):
        return method
    raise InputError(
        f"The 'method' parameter is one of {', '.join(map(repr, METHODS))}, or an object such as "
        f"PriorWeightedLogistic(prior=0.1); got {method!r} instead."
    )


def calibration_evidence(calibration: Any) -> tuple[bool, float | None]:
    """Whether the fit of a map ended because it was done, and its mean log loss."""
    if isinstance(calibration, ColumnMaps):
        parts = calibration.maps
        losses = [part.loss for part in parts if isinstance(part, SigmoidMap)]
        done = all(part.converged for part in parts if isinstance(part, SigmoidMap))
        return done, float(np.mean(losses)) if losses else None
    if isinstance(calibration, SoftmaxMap):
        return True, calibration.temperature.loss
    return calibration.fitted.converged, calibration.fitted.loss


def _warn_of_separation(what: str) -> None:
    warnings.warn(
        "The scores separate the classes of the calibration rows perfectly, so the best map is a "
        f"step: {what}. Calibrate on more rows.",
        SeparatedScoresWarning,
        stacklevel=4,
    )


# --- Columns of scores ----------------------------------------------------------------------------
# What a classifier says, as columns to calibrate.
#
# A decision function is taken where there is one, since it is not squeezed between 0 and 1;
# otherwise probabilities. Two classes need one column, that of the positive class.


# The logarithm of a probability of zero; exp(-27.6), beyond what calibration rows can tell.
_LEAST = 1e-12


@dataclass(frozen=True, eq=False)
class ScoreColumns:
    """Scores or probabilities of some rows.

    Attributes
    ----------
    values : array of shape (n, 1) for two classes, (n, K) for more
    probabilistic : bool
        Whether the values are probabilities.

    Examples
    --------
    >>> ScoreColumns(np.array([[2.0]]), False).logits.tolist()
    [[0.0, 2.0]]
    """

    values: Floats
    probabilistic: bool

    @property
    def n_classes(self) -> int:
        return max(2, self.values.shape[1])

    @property
    def logits(self) -> Floats:
        """Scores of shape (n, K), of which a softmax gives posteriors."""
        values = self.values
        if not self.probabilistic:
            return np.hstack([np.zeros_like(values), values]) if values.shape[1] == 1 else values
        both = np.hstack([1 - values, values]) if values.shape[1] == 1 else values
        return np.log(np.maximum(both, _LEAST))

    def rows(self, chosen: Array) -> ScoreColumns:
        return ScoreColumns(self.values[chosen], self.probabilistic)


def scoring_method(model: Any) -> str:
    """The method whose answers are calibrated."""
    for method in ("decision_function", "predict_proba"):
        if hasattr(model, method):
            return method
    raise InputError(
        f"{type(model).__name__} has neither decision_function nor predict_proba, so there is "
        "nothing to calibrate. Choose a classifier that has one of them."
    )


def scores_of(model: Any, X: Any) -> ScoreColumns:
    """What a fitted classifier says about rows."""
    method = scoring_method(model)
    scores = getattr(model, method)(X)
    return as_columns(scores, method, len(model.classes_), type(model).__name__)


def as_columns(scores: Any, method: str, n_classes: int, name: str) -> ScoreColumns:
    """Answers of a method as checked columns."""
    values = np.asarray(scores, np.float64)
    probabilistic = method == "predict_proba"
    if values.ndim == 1:
        values = values[:, np.newaxis]
    elif n_classes == 2 and values.shape[1] == 2:
        values = values[:, 1:] if probabilistic else values[:, 1:] - values[:, :1]
    if values.shape[1] != (1 if n_classes == 2 else n_classes):
        raise InputError(
            f"{method} of {name} gives {values.shape[1]} columns for {n_classes} classes; each "
            "class needs one. (SVC: decision_function_shape='ovr'.)"
        )
    strange = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if strange.size:
        raise InputError(
            f"{method} of {name} gives {values[strange[0]].tolist()} at row {strange[0]} "
            f"({strange.size} such rows in all); scores must be finite to be calibrated."
        )
    return ScoreColumns(values, probabilistic)
