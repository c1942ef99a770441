"""Randomized search: candidates drawn from distributions, on the same folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

from sklearn.model_selection import ParameterSampler

from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.evaluation.search.search import Candidate, Search, Trial
from novum.evaluation.validation.splits import Splits


class RandomizedSearchCV(Search):
    """Tries parameters drawn at random by cross-validation.

    Parameters
    ----------
    estimator : estimator
    param_distributions : dict or list of dicts
        For each parameter values to draw from, or a distribution with `rvs` such as SciPy's. Lists
        only: without replacement.
    n_iter : int
        How many candidates are drawn.
    scoring, n_jobs, refit, cv, verbose, pre_dispatch, error_score, return_train_score, journal
        As for `GridSearchCV`. A journal needs a `random_state`, so that the same candidates are
        drawn again.
    random_state : int, RandomState or None

    Attributes
    ----------
    cv_results_, best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, \
refit_time_, multimetric_, classes_, n_features_in_, feature_names_in_
        As of `GridSearchCV`.

    Examples
    --------
    >>> from scipy.stats import loguniform
    >>> from novum.linear import Ridge
    >>> X, y = [[float(i)] for i in range(10)], [2.0 * i for i in range(10)]
    >>> space = {"alpha": loguniform(1e-3, 1e3)}
    >>> search = RandomizedSearchCV(Ridge(), space, n_iter=5, random_state=0).fit(X, y)
    >>> len(search.cv_results_["params"]), round(float(search.best_params_["alpha"]), 3)
    (5, 0.348)
    """

    param_distributions: Any = parameter(dict, list, kw_only=False)
    n_iter: int = parameter(default=10, at_least=1)
    random_state: Any = parameter("random_state", default=None)
    pre_dispatch: Any = parameter(Integral, str, default="2*n_jobs")

    def _rounds(self, trial: Trial) -> Iterator[tuple[Sequence[Candidate], Splits, dict[str, Any]]]:
        refuse_unrepeatable(self)
        drawn = ParameterSampler(
            self.param_distributions, self.n_iter, random_state=self.random_state
        )
        yield list(drawn), trial.splits, {}

    def _n_fits(self, n_folds: int) -> int:
        return n_folds * self.n_iter


def refuse_unrepeatable(search: Any) -> None:
    """A journal of a search that draws other candidates or rows each time would never be found."""
    if search.journal is not None and not isinstance(search.random_state, Integral):
        raise InputError(
            f"A journal resumes what is drawn again the same way; give {type(search).__name__} an "
            f"integer random_state, got {search.random_state!r}."
        )
