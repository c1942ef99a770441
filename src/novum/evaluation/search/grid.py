"""Grid search: every combination of the given values, on the same folds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from numbers import Integral
from typing import Any

from sklearn.model_selection import ParameterGrid

from novum.core.learners import parameter
from novum.evaluation.search.search import Candidate, Search, Trial
from novum.evaluation.validation.splits import Splits


class GridSearchCV(Search):
    """Tries every combination of parameter values by cross-validation.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
        Values to try for each parameter; of several dicts each spans a grid of its own.
    scoring : None, str, callable, list or dict
        Names of Novum's measures or scikit-learn's scorers, or scorers; the learner's own `score`
        by default.
    n_jobs : int, optional
        Fits at once, in threads; the bits do not depend on it.
    refit : bool, str or callable, default=True
        Whether to fit the chosen candidate to all rows; which of several scores chooses; or a
        function from `cv_results_` to an index, such as `OneStandardError({"alpha": "largest"})`.
    cv : int, text such as "10x5", splitter, Splits or iterable of (train, test), optional
        Five folds by default, with equal shares of the classes for a classifier.
    verbose : int
        Shows a bar on a terminal.
    pre_dispatch
        Kept for scikit-learn's signature; threads share the table.
    error_score : number or "raise"
        Score of a fold whose fit or scorer fails; a warning says so.
    return_train_score : bool
    journal : path or Journal, optional
        Finished folds are stored there, and an interrupted search goes on from them. Candidates
        may be added between runs.

    Attributes
    ----------
    cv_results_ : dict
        scikit-learn's table; besides `standard_error_test_score`, `low_test_score` and
        `high_test_score` of each candidate's mean.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, \
multimetric_, classes_, n_features_in_, feature_names_in_

    Notes
    -----
    Candidates with statistics cost one pass over the rows for all folds, and those that differ in
    nothing the sums depend on share that pass. `best_score_` is too good an estimate, being the
    largest of several: see `nested_cross_validate`.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> X, y = [[float(i)] for i in range(10)], [2.0 * i for i in range(10)]
    >>> search = GridSearchCV(Ridge(), {"alpha": [0.1, 10.0]}).fit(X, y)
    >>> search.best_params_, search.predict([[5.0]]).round(1).tolist()
    ({'alpha': 0.1}, [10.0])
    """

    param_grid: Any = parameter(dict, list, kw_only=False)
    pre_dispatch: Any = parameter(Integral, str, default="2*n_jobs")

    def _rounds(self, trial: Trial) -> Iterator[tuple[Sequence[Candidate], Splits, dict[str, Any]]]:
        yield list(ParameterGrid(self.param_grid)), trial.splits, {}

    def _n_fits(self, n_folds: int) -> int:
        return n_folds * len(ParameterGrid(self.param_grid))
