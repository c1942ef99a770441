"""Novel is what is unlikely: a line through the log-densities of rows, and its false alarms.

A row is novel whose log-density is below the offset. How often that hits an ordinary row is judged
by the training rows, each scored by a density that was fitted to the rows of the other folds
(`core.learners.detectors`).
"""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    Learner,
    NoveltyMixin,
    certified_together,
    fitted,
    fitted_density,
    parameter,
    schema_for,
    share_line,
    with_inputs_of,
)
from novum.core.runtime import fit_context, fitting, stream
from novum.core.tables import checked_rows, n_rows_of, rows_of
from novum.mixture.gaussian_mixture import GaussianMixture
from novum.numerics import Floats

_FEWEST = 3


class DensityDetector(NoveltyMixin, Learner):
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

    def __sklearn_tags__(self) -> Any:
        return with_inputs_of(super().__sklearn_tags__(), self._density())

    @property
    def invariances(self) -> tuple[str, ...]:
        """Those of the density that do not depend on which rows make a fold."""
        kept = ("shift", "column_scale", "common_scale")
        return tuple(n for n in getattr(self._density(), "invariances", ()) if n in kept)

    def _density(self) -> Any:
        return GaussianMixture("auto", random_state=0) if self.density is None else self.density

    @fit_context(prefer_skip_nested_validation=False)
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
            if n < _FEWEST:
                raise InputError(
                    f"{type(self).__name__} scores each row by a density of the others, and one "
                    f"row alone has no density: it needs at least {_FEWEST} rows, got {n} "
                    f"(n_samples = {n})."
                )
            schema = schema_for(self._density(), table)
            self.density_ = fitted_density(self._density(), table, None, schema)
            self.certificate_ = certified_together([self.density_])
            self.training_scores_ = self._scores_by_others(table, n, schema)
            self.offset_ = share_line(self.training_scores_, self.false_alarms)
            if not np.isfinite(self.offset_):
                n_impossible = int(np.isneginf(self.training_scores_).sum())
                raise InputError(
                    f"{n_impossible} of {n} rows are impossible under what is learned from the "
                    "others, so no line leaves so few. Choose a wider density."
                )
            self._judge_line(self.training_scores_)
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

    def _check_state(self) -> None:
        if not hasattr(self.density_, "score_samples") or not np.isfinite(self.offset_):
            raise InputError("The density and the offset of this detector do not fit together.")
