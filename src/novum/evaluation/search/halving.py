"""Successive halving: many candidates on few rows, the better ones on more and more.

    round i:  n_i = ceil(n_(i-1) / factor) candidates,   r_i = factor^i r_0 of the resource

The resource is the number of rows, or a parameter such as the number of trees. With rows as the
resource the folds are those of the whole table, thinned at random on both sides, within classes
where a class would be lost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil, floor, log
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.model_selection import ParameterGrid
from sklearn.utils._param_validation import Interval

from novum.core.errors import InputError
from novum.core.learners import parameter
from novum.core.tables import plain_target
from novum.evaluation.search.randomized import refuse_unrepeatable
from novum.evaluation.search.search import Candidate, Search, Trial
from novum.evaluation.validation.smaller_parts import thinned
from novum.evaluation.validation.splits import Splits


@dataclass(frozen=True)
class Schedule:
    """How many rounds there are, and how much of the resource each gets.

    Examples
    --------
    >>> Schedule.of(9, 1, 9, factor=3, smallest=False, aggressive=False).resources
    (1, 3, 9)
    """

    resources: tuple[int, ...]
    n_required: int
    n_possible: int
    least: int

    @classmethod
    def of(
        cls, n: int, least: int, most: int, *, factor: float, smallest: bool, aggressive: bool
    ) -> Schedule:
        """For `n` candidates, from `least` to `most` of the resource.

        Unless `smallest`, the first round gets as much as lets the last one use all there is.
        """
        required = 1 + floor(log(n, factor)) if n > 1 else 1
        if not smallest:
            least = max(least, int(most // factor ** (required - 1)))
        possible = 1 + floor(log(most // least, factor))
        rounds = required if aggressive else min(possible, required)
        # Aggressive rounds hold the resource until what is left of them can raise it to the most.
        held = required - possible if aggressive else 0
        given = (min(int(factor ** max(0, i - held) * least), most) for i in range(rounds))
        return cls(tuple(given), required, possible, least)


class HalvingGridSearchCV(Search):
    """Tries every combination on little, and the better ones on more.

    Parameters
    ----------
    estimator : estimator
    param_grid : dict or list of dicts
    factor : float
        By how much candidates get fewer and resources more in each round.
    resource : "n_samples" or the name of a parameter with positive integers
    max_resources, min_resources : int, "auto", "exhaust" or "smallest"
        Of the resource in the last and the first round; see scikit-learn.
    aggressive_elimination : bool
        Whether early rounds repeat the smallest resource until few enough candidates are left.
    cv, scoring, refit, error_score, return_train_score, random_state, n_jobs, verbose, journal
        As for `GridSearchCV`, with one score only. `random_state` thins the folds.

    Attributes
    ----------
    n_resources_, n_candidates_ : list of int
        Of each round.
    n_remaining_candidates_, max_resources_, min_resources_, n_iterations_, \
n_possible_iterations_, n_required_iterations_ : int
    cv_results_ : dict
        With `iter` and `n_resources`; of all rounds, one after the other.
    best_estimator_, best_score_, best_params_, best_index_, scorer_, n_splits_, refit_time_, \
multimetric_, classes_, n_features_in_, feature_names_in_
        As of `GridSearchCV`; the best candidate is one of the last round.

    References
    ----------
    Karnin, Koren and Somekh (2013). Almost optimal exploration in multi-armed bandits. ICML.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> X, y = [[float(i)] for i in range(90)], [2.0 * i for i in range(90)]
    >>> grid = {"alpha": [0.1, 1.0, 10.0, 100.0]}
    >>> search = HalvingGridSearchCV(Ridge(), grid, random_state=0).fit(X, y)
    >>> search.n_resources_, search.n_candidates_, search.best_params_
    ([30, 90], [4, 2], {'alpha': 0.1})
    """

    param_grid: Any = parameter(dict, list, kw_only=False)
    factor: float = parameter(default=3, above=1)
    resource: str = parameter(default="n_samples")
    max_resources: Any = parameter(
        Interval(Integral, 0, None, closed="neither"), {"auto"}, default="auto"
    )
    min_resources: Any = parameter(
        Interval(Integral, 0, None, closed="neither"), {"exhaust", "smallest"}, default="exhaust"
    )
    aggressive_elimination: bool = parameter(default=False)
    cv = 5
    scoring: Any = parameter(str, callable, None, default=None)
    return_train_score = True
    random_state: Any = parameter("random_state", default=None)

    def _rounds(self, trial: Trial) -> Iterator[tuple[Sequence[Candidate], Splits, dict[str, Any]]]:
        refuse_unrepeatable(self)
        candidates: list[Candidate] = list(ParameterGrid(self.param_grid))
        self._check_resource(candidates)
        schedule = self._schedule(trial, len(candidates))
        self.n_resources_, self.n_candidates_ = list(schedule.resources), []
        self.n_required_iterations_ = schedule.n_required
        self.n_possible_iterations_ = schedule.n_possible
        self.n_iterations_ = len(schedule.resources)
        for number, amount in enumerate(schedule.resources):
            self.n_candidates_.append(len(candidates))
            splits = trial.splits
            if self.resource == "n_samples":
                splits = thinned(
                    splits,
                    amount / trial.n_counted,
                    self.random_state,
                    plain_target(trial.y) if is_classifier(self.estimator) else None,
                    trial.weight,
                )
            else:
                candidates = [{**candidate, self.resource: amount} for candidate in candidates]
            yield candidates, splits, {"iter": number, "n_resources": amount}
            candidates = _best(trial, number, ceil(len(candidates) / self.factor))
        self.n_remaining_candidates_ = len(candidates)

    def _n_fits(self, n_folds: int) -> int | None:
        # Known only once the rounds are.
        del n_folds
        return None

    def _chosen(self, results: Any, measure: str) -> int:
        if callable(self.refit):
            return super()._chosen(results, measure)
        last = np.flatnonzero(results["iter"] == results["iter"].max())
        means = results["mean_test_score"][last]
        return int(last[0 if np.isnan(means).all() else np.nanargmax(means)])

    def _check_resource(self, candidates: Sequence[Candidate]) -> None:
        if self.resource == "n_samples":
            return
        if self.resource not in self.estimator.get_params():
            raise InputError(
                f"Cannot use resource={self.resource} which is not supported by estimator "
                f"{type(self.estimator).__name__}. Name one of its parameters, or 'n_samples'."
            )
        if any(self.resource in candidate for candidate in candidates):
            raise InputError(
                f"Cannot use parameter {self.resource} as the resource since it is part of the "
                "searched parameters. Take it out of param_grid."
            )
        if self.max_resources == "auto":
            raise InputError(
                "max_resources='auto' is the number of rows; for a parameter as the resource give "
                "the largest value."
            )

    def _schedule(self, trial: Trial, n_candidates: int) -> Schedule:
        splits = trial.splits
        least = self.min_resources
        if isinstance(least, str):
            least = 1
            if self.resource == "n_samples":
                # Two rows of each class for each fold, as scikit-learn has it.
                labels = is_classifier(self.estimator) and trial.y is not None
                least = 2 * len(splits) * (len(np.unique(plain_target(trial.y))) if labels else 1)
                # Fewer rows than that are one round with all of them.
                least = min(least, trial.n_counted)
        most = trial.n_counted if self.max_resources == "auto" else self.max_resources
        if least > most:
            raise InputError(
                f"min_resources_={least} is greater than max_resources_={most}. Use fewer folds, "
                "more rows, or a smaller min_resources."
            )
        schedule = Schedule.of(
            n_candidates,
            least,
            most,
            factor=self.factor,
            smallest=self.min_resources != "exhaust",
            aggressive=self.aggressive_elimination,
        )
        self.min_resources_, self.max_resources_ = schedule.least, most
        return schedule


def _best(trial: Trial, number: int, n_kept: int) -> list[Candidate]:
    """The better candidates of a round, worst first, those without a score before all others."""
    table = trial.table
    round_ = np.flatnonzero(table["iter"] == number)
    means = table["mean_test_score"][round_]
    order = np.roll(np.argsort(means), np.count_nonzero(np.isnan(means)))
    return [trial.candidates[round_[i]] for i in order[-n_kept:]]
