"""What all searches share: candidates on the same folds, a table of results, a refit.

    best = choose over candidates c of   mean_k score(model_c fitted to train_k, test_k)

Every candidate sees the same folds, drawn once. Candidates with statistics are fitted from sums,
and those that differ only in what the sums do not depend on (the penalties of ridge) share them.
Finished folds go to the journal, so that an interrupted search goes on where it was. The score of
the chosen candidate is too good a judgment of it, because it was chosen for it:
`nested_cross_validate` gives a fair one.
"""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.ma import MaskedArray
from scipy.stats import rankdata
from sklearn.base import clone, is_classifier
from sklearn.model_selection._search import BaseSearchCV
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods
from sklearn.utils.metadata_routing import MetadataRouter, _routing_enabled, process_routing
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from novum.core.decisions import RetargetedClassifier, WorkingPoint
from novum.core.errors import InputError
from novum.core.learners import Learner, parameter
from novum.core.runtime import Progress, fit_context, fitted_model, fitting, track
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.scorers import score_limits
from novum.evaluation.validation.certainty import (
    UNLIMITED,
    corrected_interval,
    variance_of_mean,
)
from novum.evaluation.validation.fold_fits import (
    FoldRun,
    FoldWork,
    plain_table,
    plain_y,
    scores_of,
    whole_run,
)
from novum.evaluation.validation.fold_runs import experiment_parts, run_folds
from novum.evaluation.validation.journal import Journal, as_journal
from novum.evaluation.validation.routing import (
    Routed,
    named_scorers,
    route,
    router_of,
    scorer_key,
)
from novum.evaluation.validation.splits import NestedFolds, Splits, plan_splits
from novum.numerics import Codes, Floats, merge_rounding

Candidate = Mapping[str, Any]


@dataclass(eq=False)
class Trial:
    """A search under way: its data and folds, and what was found so far."""

    X: Any
    y: Any
    splits: Splits
    scorers: Mapping[str, Any]
    routed: Routed
    journal: Journal | None
    progress: Progress
    candidates: list[Candidate] = field(default_factory=list)
    outcomes: list[tuple[FoldRun, ...]] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    more: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def weight(self) -> Any:
        """Of the rows, as the learner gets them; None without."""
        return self.routed.fit.get("sample_weight")

    @property
    def n_counted(self) -> int:
        """Rows that are not absent."""
        weight = self.weight
        counted = self.splits.n_rows if weight is None else np.count_nonzero(np.asarray(weight) > 0)
        return int(counted) or self.splits.n_rows

    @property
    def table(self) -> Table:
        limits = {name: score_limits(one) for name, one in self.scorers.items()}
        return search_results(self.candidates, self.outcomes, self.ratios, self.more, limits)


def _decides(search: Search) -> bool:
    return hasattr(getattr(search, "best_estimator_", search.estimator), "predict_proba")


class Search(Learner, BaseSearchCV):
    """A search over parameters; subclasses say which candidates are tried, and when."""

    estimator: Any = parameter(HasMethods("fit"), kw_only=False)
    scoring: Any = parameter(str, callable, list, tuple, dict, None, default=None)
    n_jobs: int | None = parameter(default=None)
    refit: Any = parameter("boolean", str, callable, default=True)
    cv: Any = parameter("cv_object", str, NestedFolds, default=None)
    verbose: int = parameter("verbose", default=0)
    error_score: Any = parameter({"raise"}, Real, default=np.nan)
    return_train_score: bool = parameter(default=False)
    journal: Any = parameter(default=None)

    # Folds depend on the places of rows, and searched values may be in the units of the data.
    invariances: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def _rounds(self, trial: Trial) -> Iterator[tuple[Sequence[Candidate], Splits, dict[str, Any]]]:
        """Rounds of candidates, the folds they are tried on, and further columns of results."""

    @abstractmethod
    def _n_fits(self, n_folds: int) -> int | None:
        """How many fits there will be, for the bar; None if unknown."""

    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Tries all candidates, chooses one and fits it to all rows.

        Parameters
        ----------
        X, y
            A table in any container, and its targets.
        **params
            Arguments of the learner's `fit`, those with an entry for each row cut to the folds;
            `sample_weight` counts in scores too; `groups` is for the splitter.
        """
        return self._fit(plain_table(X), y, params)

    @fit_context(prefer_skip_nested_validation=False)
    def _fit(self, X: Any, y: Any, params: dict[str, Any]) -> Self:
        with fitting(self):
            scorers, several = named_scorers(self.estimator, self.scoring)
            if several:
                self._check_refit_for_multimetric(scorers)
            routed = route(type(self).__name__, self.estimator, scorers, self.cv, None, params)
            splits = plan_splits(
                X,
                y,
                self.cv.inner if isinstance(self.cv, NestedFolds) else self.cv,
                groups=routed.groups,
                classifier=is_classifier(self.estimator),
                params=routed.split,
                sample_weight=routed.fit.get("sample_weight"),
            )
            self.n_splits_ = len(splits)
            with (
                self._opened_journal(X, y, splits, scorers, routed) as journal,
                track(self, "search", self._n_fits(len(splits)), X=X, y=y) as progress,
            ):
                trial = Trial(X, y, splits, scorers, routed, journal, progress)
                self._try_all(trial)
            self._store(trial, several)
            self._refit(X, y, routed.fit)
        return self

    def score(self, X: Any, y: Any = None, **params: Any) -> float:
        """The score of the chosen model, by `scoring` (the one named by `refit`, of several)."""
        if not self.refit:
            raise AttributeError(
                f"This {type(self).__name__} was fitted with refit=False, so there is no model to "
                "score. Fit with refit=True, or fit a model with best_params_."
            )
        check_is_fitted(self)
        name = self._refit_measure()
        scorer = self.scorer_[name] if isinstance(self.scorer_, dict) else self.scorer_
        given: Mapping[str, Any] = params
        if _routing_enabled():
            given = process_routing(self, "score", **params)[scorer_key(name)]["score"]
        score = scorer(self.best_estimator_, X, y, **given)
        return float(score[name] if isinstance(score, Mapping) else score)

    # Results

    @property
    def cv_results_(self) -> Table:
        """scikit-learn's table, one entry for each candidate, with standard errors and limits."""
        if not hasattr(self, "_table"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        return with_parameters(self._table)

    @property
    def scorer_(self) -> Any:
        """The scorer, or a dictionary of scorers."""
        if not hasattr(self, "_table"):
            raise AttributeError(f"This {type(self).__name__} is not fitted yet.")
        scorers, several = named_scorers(self.estimator, self.scoring)
        return scorers if several else scorers["score"]

    @property
    def certificate_(self) -> Any:
        """The certificate of the chosen model, if it has one."""
        check_is_fitted(self)
        return self.best_estimator_.certificate_

    @property
    def class_prior_(self) -> Any:
        """Shares of the classes in training, of the chosen model."""
        return self.best_estimator_.class_prior_

    @available_if(_decides)
    def at(self, point: WorkingPoint) -> RetargetedClassifier:
        """The search at other priors and costs: what it chose decides there."""
        return RetargetedClassifier(self, point)

    def intervals(self, measure: str = "score", level: float = 0.95) -> list[Interval]:
        """For each candidate the mean score with its interval, corrected for overlapping folds.

        Each by itself: that of the best candidate is too good, because it was chosen.
        """
        check_is_fitted(self)
        key = f"_test_{measure}"
        columns = [c for name, c in self._table.items() if name.endswith(key) and "split" in name]
        if not columns:
            raise InputError(f"The search has no score {measure!r}.")
        rows = np.stack(columns, axis=1)
        pairs = zip(rows, self._ratios, strict=True)
        scorers, _ = named_scorers(self.estimator, self.scoring)
        limits = score_limits(scorers.get(measure))
        return [corrected_interval(row, ratio, level, limits) for row, ratio in pairs]

    # Steps of a fit

    def _opened_journal(
        self, X: Any, y: Any, splits: Splits, scorers: Mapping[str, Any], routed: Routed
    ) -> Any:
        if self.journal is None:
            return as_journal(None, {})
        work = FoldWork(X, plain_y(y), splits, scorers, routed.fit, routed.score)
        parts = experiment_parts(work)
        return as_journal(self.journal, {"search": type(self).__name__, **parts})

    def _try_all(self, trial: Trial) -> None:
        for candidates, splits, more in self._rounds(trial):
            if not candidates:
                raise InputError("There are no candidates to try. Give at least one value each.")
            models = {str(i): self._model(params) for i, params in enumerate(candidates)}
            runs = run_folds(
                models,
                trial.X,
                trial.y,
                splits,
                trial.scorers,
                params=trial.routed.fit,
                score_params=trial.routed.score,
                n_jobs=self.n_jobs,
                journal=trial.journal,
                train_scores=self.return_train_score,
                error_score=self.error_score,
                progress=trial.progress,
            )
            trial.candidates.extend(candidates)
            trial.outcomes.extend(runs[name] for name in models)
            ratio = splits.weighted_ratio(trial.routed.fit.get("sample_weight"))
            trial.ratios.extend([ratio] * len(models))
            for name, value in more.items():
                trial.more.setdefault(name, []).extend([value] * len(models))

    def _model(self, params: Candidate) -> Any:
        # Values may be estimators themselves, which several folds must not share.
        return clone(self.estimator).set_params(**clone(dict(params), safe=False))

    def _store(self, trial: Trial, several: bool) -> None:
        names = list(whole_run([run for runs in trial.outcomes for run in runs]).scores)
        self.multimetric_ = several or names != ["score"]
        if self.multimetric_:
            self._check_refit_for_multimetric(names)
        self._table, self._ratios = trial.table, np.array(trial.ratios)
        for name in ("best_index_", "best_score_", "best_params_", "best_estimator_"):
            self.__dict__.pop(name, None)
        if not self.refit and self.multimetric_:
            return
        measure = self._refit_measure()
        self.best_index_ = self._chosen(self.cv_results_, measure)
        if f"mean_test_{measure}" in self._table:
            self.best_score_ = float(self._table[f"mean_test_{measure}"][self.best_index_])
        self.best_params_ = self._table["params"][self.best_index_]

    def _refit_measure(self) -> str:
        if isinstance(self.refit, str) and self.multimetric_:
            return self.refit
        return str(getattr(self.refit, "measure", "score"))

    def _chosen(self, results: Table, measure: str) -> int:
        if not callable(self.refit):
            return int(results[f"rank_test_{measure}"].argmin())
        chosen = self.refit(results)
        if not isinstance(chosen, Integral):
            raise TypeError(
                f"best_index_ returned is not an integer: refit returned {chosen!r}, and it "
                "returns the index of a candidate."
            )
        index, last = int(chosen), len(results["params"]) - 1
        if not 0 <= index <= last:
            raise IndexError(
                f"best_index_ index out of range: refit returned {index}, but the candidates are "
                f"0 to {last}."
            )
        return index

    def _refit(self, X: Any, y: Any, params: Mapping[str, Any]) -> None:
        for name in ("refit_time_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        if not self.refit:
            return
        began = time.perf_counter()
        self.best_estimator_ = fitted_model(self._model(self.best_params_), X, y, **params)
        self.refit_time_ = time.perf_counter() - began
        if hasattr(self.best_estimator_, "feature_names_in_"):
            self.feature_names_in_ = self.best_estimator_.feature_names_in_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags = deepcopy(get_tags(self.estimator).input_tags)
        tags.target_tags = deepcopy(get_tags(self.estimator).target_tags)
        return tags

    def get_metadata_routing(self) -> MetadataRouter:
        """What learner, splitter and scorers ask for."""
        scorers, _ = named_scorers(self.estimator, self.scoring)
        return router_of(self, self.estimator, scorers, self.cv)

    # sklearn's way to run a search, which is not taken

    def _run_search(self, *_: Any, **__: Any) -> None:
        raise NotImplementedError("Rounds of candidates come from `_rounds`.")


# --- The table of results -------------------------------------------------------------------------
# The table of a search: scikit-learn's `cv_results_`, with intervals.
#
# For each candidate and score: the score of every fold, their mean, their standard deviation and
# rank, as in scikit-learn; besides the standard error of the mean, corrected for the overlap of the
# folds' training parts, and the limits of its 95 % interval (`certainty`).


Table = dict[str, Any]


def search_results(
    candidates: Sequence[Mapping[str, Any]],
    outcomes: Sequence[tuple[FoldRun, ...]],
    ratios: Sequence[float],
    more: Mapping[str, Sequence[Any]] | None = None,
    limits: Mapping[str, tuple[float, float]] | None = None,
) -> Table:
    """All columns but those of the parameters, which `with_parameters` adds.

    Parameters
    ----------
    candidates : sequence of mappings of parameters
    outcomes : sequence of the candidates' folds
    ratios : sequence of float
        Rows tested over rows trained on, of each candidate's folds.
    more : mapping, optional
        Further columns, one entry for each candidate.
    limits : mapping, optional
        Between which numbers the scores of that name lie.
    """
    table: Table = {name: np.asarray(values) for name, values in (more or {}).items()}
    for key, name in (("fit_seconds", "fit_time"), ("score_seconds", "score_time")):
        times = np.array([[getattr(run, key) for run in runs] for runs in outcomes])
        table[f"mean_{name}"] = times.mean(axis=1)
        table[f"std_{name}"] = times.std(axis=1)
    table["params"] = [dict(candidate) for candidate in candidates]
    for name in whole_run([run for runs in outcomes for run in runs]).scores:
        scores = np.array([scores_of(runs, name) for runs in outcomes])
        _add_scores(table, f"test_{name}", scores)
        table[f"rank_test_{name}"] = _ranks(table[f"mean_test_{name}"])
        possible = (limits or {}).get(name, UNLIMITED)
        _add_intervals(table, f"test_{name}", scores, ratios, possible)
        if outcomes[0][0].train_scores:
            train = np.array([scores_of(runs, name, train=True) for runs in outcomes])
            _add_scores(table, f"train_{name}", train)
    return table


def with_parameters(table: Mapping[str, Any]) -> Table:
    """The table with a masked column `param_<name>` for every parameter, as scikit-learn's."""
    columns: Table = {}
    for key, column in table.items():
        if key == "params":
            columns.update(_parameter_columns(column))
        columns[key] = column
    return columns


def _parameter_columns(candidates: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, Any]]:
    names = dict.fromkeys(name for candidate in candidates for name in candidate)
    for name in names:
        values = {i: c[name] for i, c in enumerate(candidates) if name in c}
        column = MaskedArray(np.empty(len(candidates), _type_of(list(values.values()))), mask=True)
        for i, value in values.items():
            column[i] = value
        yield f"param_{name}", column


def _type_of(values: list[Any]) -> Any:
    try:
        array = np.array(values)
    except ValueError:
        return object
    return array.dtype if array.dtype.kind != "U" and array.ndim == 1 else object


def _add_scores(table: Table, name: str, scores: Floats) -> None:
    for fold in range(scores.shape[1]):
        table[f"split{fold}_{name}"] = scores[:, fold]
    table[f"mean_{name}"] = scores.mean(axis=1)
    table[f"std_{name}"] = scores.std(axis=1)


def _add_intervals(
    table: Table,
    name: str,
    scores: Floats,
    ratios: Sequence[float],
    possible: tuple[float, float],
) -> None:
    errors, limits = np.full(len(scores), np.nan), np.full((len(scores), 2), np.nan)
    for i, (row, ratio) in enumerate(zip(scores, ratios, strict=True)):
        if len(row) > 1 and np.isfinite(row).all():
            errors[i] = np.sqrt(variance_of_mean(row, ratio))
            limits[i] = tuple(corrected_interval(row, ratio, limits=possible))
    table[f"standard_error_{name}"] = errors
    table[f"low_{name}"], table[f"high_{name}"] = limits.T


def _ranks(means: Floats) -> Codes:
    """1 for the best; candidates without a score share the last place."""
    if np.isnan(means).all():
        return np.ones(len(means), np.int32)
    filled = np.where(np.isnan(means), np.nanmin(means) - 1, means)
    return rankdata(-merge_rounding(filled), method="min").astype(np.int32)
