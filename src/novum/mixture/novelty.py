"""Novel is what is unlikely: a line through the log-densities of rows, and its false alarms.

A row is novel whose log-density is below the offset. How often that hits an ordinary row is judged
by the training rows, each scored by a density that was fitted to the rows of the other folds: r of
n beyond the offset give the rate r / n, and the interval of Clopper and Pearson holds the true rate
with 95 % confidence, for rows that come from where the training rows came from.
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import OutlierMixin, _fit_context, clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    Learner,
    certified_together,
    fitted,
    fitted_density,
    parameter,
    schema_for,
    with_inputs_of,
)
from novum.core.runtime import fitting, stream
from novum.core.tables import checked_rows, n_rows_of, rows_of
from novum.mixture.gaussian_mixture import GaussianMixture
from novum.neighbors import false_alarms as rate_of_false_alarms
from novum.numerics import Floats, Positions


class DensityDetector(OutlierMixin, Learner):
    """Novel is what a density finds unlikely.

    Parameters
    ----------
    density : estimator with `score_samples`, optional
        A mixture of any kind, `KernelDensity`, `ProbabilisticPCA`; `GaussianMixture("auto")` by
        default.
    false_alarms : float
        Share of the training rows that the offset leaves beyond it, each scored by others.
    cv : int
        Folds by which training rows are scored.
    random_state : int, RandomState, Generator or None
        Draws the folds.

    Attributes
    ----------
    density_ : fitted estimator
        Of all training rows.
    offset_ : float
        `decision_function = score_samples - offset_`.
    training_scores_ : array (n_rows,)
        Log-densities of the training rows, each by the rows of other folds.
    false_alarm_rate_ : float
        Share of the training rows beyond the offset.
    false_alarm_interval_ : list of two floats
        Holds the rate for new ordinary rows with 95 % confidence.
    certificate_ : Certificate
        Of the density.
    n_features_in_, feature_names_in_
        As everywhere.

    Notes
    -----
    A log-density is of the cells that are present, so rows with few of them are on another scale:
    compare such rows with rows that lack the same cells.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = np.concatenate([rng.normal(0, 1, (150, 2)), rng.normal(9, 1, (150, 2))])
    >>> model = DensityDetector(GaussianMixture(2, random_state=0), random_state=0).fit(X)
    >>> model.predict([[0.0, 0.0], [9.0, 9.0], [4.5, 4.5]]).tolist()
    [1, 1, -1]
    >>> model.false_alarm_rate_, [round(end, 3) for end in model.false_alarm_interval_]
    (0.05, [0.028, 0.081])
    """

    density: Any = parameter(default=None, kw_only=False)
    false_alarms: float = parameter(default=0.05, above=0, below=1)
    cv: int = parameter(default=5, at_least=2)
    random_state: Any = parameter("random_state", np.random.Generator, default=None)

    density_: Any = fitted()
    certificate_: Certificate = fitted()
    training_scores_: Floats = fitted()
    offset_: float = fitted()
    false_alarm_rate_: float = fitted()
    false_alarm_interval_: Any = fitted()

    def __sklearn_tags__(self) -> Any:
        return with_inputs_of(super().__sklearn_tags__(), self._density())

    @property
    def invariances(self) -> tuple[str, ...]:
        """Those of the density that do not depend on which rows make a fold."""
        kept = ("shift", "column_scale", "common_scale")
        return tuple(n for n in getattr(self._density(), "invariances", ()) if n in kept)

    def _density(self) -> Any:
        return GaussianMixture("auto", random_state=0) if self.density is None else self.density

    @_fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Fits the density, scores each row by the others, and finds the offset.

        Parameters
        ----------
        X : table of n_rows, as the density takes it
        y : ignored
        """
        del y
        with fitting(self):
            table = checked_rows(self, X, reset=True)
            n = n_rows_of(table)
            if n < 2:
                raise InputError(
                    f"{type(self).__name__} needs at least 2 rows to judge one by the others, got "
                    f"{n} (n_samples = {n})."
                )
            schema = schema_for(self._density(), table)
            self.density_ = fitted_density(self._density(), table, None, schema)
            self.certificate_ = certified_together([self.density_])
            self.training_scores_ = self._scores_by_others(table, n, schema)
            # The largest offset that leaves no more than the share of scores below it.
            self.offset_ = float(np.sort(self.training_scores_)[int(self.false_alarms * n)])
            if not np.isfinite(self.offset_):
                n_impossible = int(np.isneginf(self.training_scores_).sum())
                raise InputError(
                    f"{n_impossible} of {n} rows are impossible under what is learned from the "
                    "others, so no line leaves so few. Choose a wider density."
                )
            rate, interval = rate_of_false_alarms(self.training_scores_, self.offset_)
            self.false_alarm_rate_, self.false_alarm_interval_ = rate, list(interval)
        return self

    def _scores_by_others(self, table: Any, n: int, schema: Any) -> Floats:
        density = clone(self._density())
        if getattr(density, "n_components", None) == "auto":
            # How many is a question to all rows; only the laws are learned without the fold.
            density.set_params(n_components=self.density_.n_components_)
        n_folds = min(self.cv, n)
        folds = stream(self.random_state, "folds").permutation(n) % n_folds
        scores = np.empty(n)
        for fold in range(n_folds):
            train, test = np.flatnonzero(folds != fold), np.flatnonzero(folds == fold)
            with warnings.catch_warnings():
                # The fit to all rows has said what there is to say.
                warnings.simplefilter("ignore", ConvergenceWarning)
                fit = fitted_density(density, rows_of(table, train), None, schema)
            scores[test] = fit.score_samples(rows_of(table, test))
        return scores

    # Answers

    def score_samples(self, X: Any) -> Floats:
        """Log-densities of the present cells, (n_rows,); the larger, the more typical."""
        check_is_fitted(self, "density_")
        return np.asarray(self.density_.score_samples(checked_rows(self, X, reset=False)))

    def decision_function(self, X: Any) -> Floats:
        """`score_samples(X) - offset_`: positive inside, negative outside."""
        return self.score_samples(X) - self.offset_

    def predict(self, X: Any) -> Positions:
        """1 for rows inside or on the border, -1 for those outside."""
        return np.where(self.decision_function(X) >= 0, 1, -1)

    def _check_state(self) -> None:
        if not hasattr(self.density_, "score_samples") or not np.isfinite(self.offset_):
            raise InputError("The density and the offset of this detector do not fit together.")
