"""Sequential selection: columns added or removed one at a time by the score of a model on folds.

    forward:   S_0 = {},   S_t = S_{t-1} + argmax_j score(S_{t-1} + j)
    backward:  S_0 = all,  S_t = S_{t-1} - argmax_j score(S_{t-1} - j)

The score is cross-validated, all candidates on the same folds. The search is greedy: a set that
needs two columns at once is found by going backward, not forward. Its best score is the best of
many and too good; judge the selection by folds around it, as a step of a `Pipeline`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import MetaEstimatorMixin, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from novum.core.errors import InputError
from novum.core.learners import Certificate, Verdict, fitted, parameter, share
from novum.core.runtime import (
    CallbackSupport,
    fit_context,
    fitting,
    run_tasks,
    track,
    with_callbacks,
)
from novum.core.tables import (
    column_names,
    columns_of,
    missing_mask,
    plain_target,
    refuse_missing,
)
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test
from novum.evaluation.selection.selector import ColumnSelector, checked_columns
from novum.evaluation.validation.certainty import variance_of_mean
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.routing import Routed, named_scorers, router_of, scorer_key
from novum.evaluation.validation.splits import Splits, plan_splits
from novum.numerics import Floats, Mask, at_least, best_of, merge_differences, score_differences

# --- When to stop ---------------------------------------------------------------------------------
# When a search for columns stops: values that a wrapper asks after every step.
#
#     MinimalGain(tol)       the mean score rose by less than `tol`
#     CorrectedGain(alpha)   a corrected test does not find the gain (forward), or finds the loss
#   WithinStandardError()     never; of the whole path the smallest set within one error of the best
#
# Scores of folds are correlated, so the test is Nadeau and Bengio's. The column that was added is
# the best of several candidates, whose gain is too good by that choice alone; forward steps
# therefore need `p <= alpha / number of candidates`.


@dataclass(frozen=True)
class SelectionStep:
    """One set of columns on the path of a search.

    Parameters
    ----------
    columns : tuple of int
        Positions of the columns of the set, ascending.
    changed : int or None
        The column that was added or removed; None where the path begins.
    scores : tuple of float
        Of the folds.
    n_candidates : int
        How many sets this one is the best of.
    test_train_ratio : float
        Rows tested over rows trained on.
    """

    columns: tuple[int, ...]
    changed: int | None
    scores: tuple[float, ...]
    n_candidates: int
    test_train_ratio: float

    @property
    def mean(self) -> float:
        return float(np.mean(self.scores))


class StopRule(ABC):
    """A rule that ends a search, and picks a set from its path."""

    @abstractmethod
    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        """Whether the step is taken; the search ends before the first one that is not."""

    def chosen(self, path: Sequence[SelectionStep]) -> int:
        """Which set of the path to keep; the last one, unless a rule says otherwise."""
        return len(path) - 1


@dataclass(frozen=True)
class MinimalGain(StopRule):
    """Goes on while the mean score gains at least `tol`.

    Examples
    --------
    >>> MinimalGain(0.01).tol
    0.01
    """

    tol: float

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        gain = score_differences(after.mean, before.mean)
        return not merge_differences(gain, self.tol) < self.tol


@dataclass(frozen=True)
class CorrectedGain(StopRule):
    """Goes on while a corrected test finds a gain, or when removing columns, finds no loss.

    Parameters
    ----------
    alpha : float
        Size of the test; divided among the candidates of a forward step.

    Examples
    --------
    >>> rule = CorrectedGain()
    >>> one = SelectionStep((0,), 0, (0.60, 0.62, 0.61, 0.63), 3, 1 / 3)
    >>> two = SelectionStep((0, 2), 2, (0.81, 0.82, 0.82, 0.83), 2, 1 / 3)
    >>> rule.accepts(one, two), rule.accepts(two, two)
    (True, False)
    """

    alpha: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise InputError(f"alpha is the size of a test, between 0 and 1, got {self.alpha!r}.")

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        differences = np.subtract(after.scores, before.scores)
        ratio = after.test_train_ratio
        if len(after.columns) < len(before.columns):
            loss = corrected_t_test(differences, ratio, alternative="less")
            return bool(loss.p_value > self.alpha)
        test = corrected_t_test(differences, ratio, alternative="greater")
        return bool(test.p_value <= self.alpha / after.n_candidates)


@dataclass(frozen=True)
class WithinStandardError(StopRule):
    """Searches the whole path, and takes the smallest set within one error of the best.

    The error is that of the best set's mean, corrected for overlapping training parts.
    """

    def accepts(self, before: SelectionStep, after: SelectionStep) -> bool:
        del before, after
        return True

    def chosen(self, path: Sequence[SelectionStep]) -> int:
        best = max(path, key=lambda step: step.mean)
        error = math.sqrt(variance_of_mean(best.scores, best.test_train_ratio))
        near = [i for i, step in enumerate(path) if at_least(step.mean, best.mean - error)]
        return min(near, key=lambda i: len(path[i].columns))


class SequentialFeatureSelector(CallbackSupport, MetaEstimatorMixin, ColumnSelector):
    """Columns chosen one at a time by the cross-validated score of a model.

    Parameters
    ----------
    estimator : estimator
        Cloned, never changed.
    n_features_to_select : "auto", int or float, default="auto"
        How many columns, or which share of them. Auto: half, unless `tol` or `stop` decides.
    tol : float, optional
        With "auto", stops at the first step that gains less; may be negative going backward.
    direction : {"forward", "backward"}, default="forward"
    scoring : None, str or callable
        As for `cross_validate`.
    cv : int, text, splitter or iterable, default=5
    n_jobs : int, optional
        Candidates at once, in threads; the bits do not depend on it.
    stop : StopRule, optional
        `CorrectedGain(alpha)`, `WithinStandardError()` or `MinimalGain(tol)`, with "auto".
    verbose : int, default=0
        Shows a bar on a terminal.

    Attributes
    ----------
    support_ : bool array of shape (n_columns,)
    n_features_to_select_ : int
        How many columns were chosen.
    path_ : tuple of SelectionStep
        Sets and their scores in the order met; going backward all columns come first where there
        is a `stop`, or nothing to remove.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(60, 4))
    >>> search = SequentialFeatureSelector(LinearRegression(), n_features_to_select=2)
    >>> search.fit(X, X[:, 1] - 2 * X[:, 3]).get_support().tolist()
    [False, True, False, True]
    """

    support_: Mask = fitted()
    n_features_to_select_: int = fitted()
    path_: tuple[SelectionStep, ...] = fitted()

    estimator: Any = parameter(HasMethods(["fit"]), kw_only=False)
    n_features_to_select: Any = parameter(
        {"auto"}, share(), Interval(Integral, 0, None, closed="neither"), default="auto"
    )
    tol: float | None = parameter(Interval(Real, None, None, closed="neither"), default=None)
    direction: str = parameter({"forward", "backward"}, default="forward")
    scoring: Any = parameter(None, str, callable, default=None)
    cv: Any = parameter(object, default=5)
    n_jobs: int | None = parameter(default=None)
    stop: StopRule | None = parameter(default=None)
    verbose: int = parameter("verbose", default=0)

    @with_callbacks
    @fit_context(prefer_skip_nested_validation=False)
    def fit(self, X: Any, y: Any = None, **params: Any) -> Self:
        """Searches for the columns.

        Parameters
        ----------
        X, y
            Rows of any container the model reads, and targets.
        **params
            For the model, the splitter and the scorer, under scikit-learn's metadata routing.
        """
        _raise_for_params(params, self, "fit")
        with fitting(self) as watch:
            table = checked_columns(self, X, reset=True)
            if y is not None:
                refuse_missing(missing_mask(plain_target(y)), ["y"], type(self).__name__, what="y")
            n_columns = _checked_width(table)
            count, rule = self._question(n_columns)
            search = self._search(table, y, params)
            path = self._walk(search, count, rule)
            kept = path[-1] if rule is None else path[rule.chosen(path)]
            self.path_ = tuple(path)
            self.support_ = np.isin(np.arange(n_columns), kept.columns)
            self.n_features_to_select_ = int(self.support_.sum())
            self.certificate_ = Certificate(
                objective="cross-validated score",
                verdict=Verdict.LOCAL,
                value=kept.mean,
                trace=[step.mean for step in path],
                iterations=len(path),
                details={"columns": n_columns, "kept": self.n_features_to_select_},
                seconds=watch.seconds,
            )
        return self

    def _question(self, n_columns: int) -> tuple[int, StopRule | None]:
        """How many steps at most, and the rule that may end them sooner."""
        forward, wanted = self.direction == "forward", self.n_features_to_select
        if self.tol is not None and self.tol < 0 and forward:
            raise InputError(
                f"tol must be strictly positive when doing forward selection, got {self.tol!r}."
            )
        if self.stop is not None and (self.tol is not None or wanted != "auto"):
            raise InputError(
                f"stop={self.stop!r} decides how many columns are kept; leave out tol and "
                "n_features_to_select."
            )
        if self.stop is not None:
            return n_columns if forward else n_columns - 1, self.stop
        if wanted == "auto":
            if self.tol is not None:
                return n_columns - 1, MinimalGain(float(self.tol))
            # scikit-learn removes as many as it would add, so that the larger half stays.
            return n_columns // 2, None
        if isinstance(wanted, Integral) and int(wanted) >= n_columns:
            raise InputError(
                f"n_features_to_select must be < n_features: {wanted} of {n_columns} columns. Pass "
                "a smaller number, or leave the selection out."
            )
        count = int(wanted) if isinstance(wanted, Integral) else int(n_columns * wanted)
        if count == 0:
            raise InputError(
                f"n_features_to_select={wanted} of {n_columns} columns is none. Give a larger "
                "share, or a number of columns."
            )
        return count if forward else n_columns - count, None

    def _search(self, table: Any, y: Any, params: dict[str, Any]) -> _Search:
        scorers, _ = named_scorers(self.estimator, self.scoring)
        routed = Routed({}, {}, None, {})
        if _routing_enabled():
            routing = process_routing(self, "fit", **params)
            split = dict(routing.splitter.split)
            score = {"score": dict(getattr(routing, scorer_key("score")).score)}
            routed = Routed(dict(routing.estimator.fit), score, split.pop("groups", None), split)
        splits = plan_splits(
            table,
            y,
            self.cv,
            groups=routed.groups,
            classifier=is_classifier(self.estimator),
            params=routed.split,
        )
        return _Search(clone(self.estimator), table, y, splits, scorers, routed)

    def _walk(self, search: _Search, count: int, rule: StopRule | None) -> list[SelectionStep]:
        forward = self.direction == "forward"
        everything = tuple(range(search.n_columns))
        current: tuple[int, ...] = () if forward else everything
        path: list[SelectionStep] = []
        if not forward and (self.stop is not None or count == 0):
            path.append(search.step(current, None, 1, self.n_jobs))
        with track(self, "search", count, X=search.table, y=search.y) as progress:
            for _ in range(count):
                step = self._best(search, current, forward)
                if rule is not None and path and not rule.accepts(path[-1], step):
                    break
                path.append(step)
                current = step.columns
                if progress.advance(note=f"{len(current)} columns, score {step.mean:.4g}"):
                    break
        return path

    def _best(self, search: _Search, current: tuple[int, ...], forward: bool) -> SelectionStep:
        """The best set that differs by one column; of equal ones that of the first column."""
        inside = set(current)
        free = [j for j in range(search.n_columns) if (j in inside) != forward]
        sets = [tuple(sorted(inside ^ {j})) for j in free]
        one = partial(search.scores, n_jobs=1)
        steps = run_tasks(one, sets, self.n_jobs)
        means = [float(np.mean(scores)) for scores in steps]
        best = best_of(means)
        ratio = search.splits.test_train_ratio
        return SelectionStep(sets[best], free[best], steps[best], len(sets), ratio)

    def _get_support_mask(self) -> Mask:
        return self.support_

    def get_metadata_routing(self) -> MetadataRouter:
        """Which metadata go to the model, the splitter and the scorer."""
        scorers, _ = named_scorers(self.estimator, self.scoring)
        splitter = self.cv if hasattr(self.cv, "split") else None
        return router_of(self, self.estimator, scorers, splitter)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator).input_tags
        for name in ("allow_nan", "sparse", "string", "categorical"):
            setattr(tags.input_tags, name, getattr(inner, name))
        return tags


class _Search:
    """What all candidates share: table, targets, folds and scorers."""

    def __init__(
        self, model: Any, table: Any, y: Any, splits: Splits, scorers: Any, routed: Routed
    ) -> None:
        self.model, self.table, self.y = model, table, y
        self.splits, self.scorers, self.routed = splits, scorers, routed
        self.names = column_names(table)

    @property
    def n_columns(self) -> int:
        return len(self.names)

    def scores(self, columns: tuple[int, ...], n_jobs: int | None = None) -> tuple[float, ...]:
        """Scores of the model on these columns, fold by fold."""
        part = columns_of(self.table, np.array(columns, np.intp))
        runs = run_folds(
            {"model": self.model},
            part,
            self.y,
            self.splits,
            self.scorers,
            params=self.routed.fit,
            score_params=self.routed.score,
            n_jobs=n_jobs,
        )["model"]
        scores: Floats = np.array([run.scores["score"] for run in runs])
        if not np.isfinite(scores).all():
            shown = ", ".join(self.names[j] for j in columns[:5])
            raise InputError(
                f"A fold has the score {scores[~np.isfinite(scores)][0]} with the columns {shown}"
                f"{', ...' if len(columns) > 5 else ''}, so candidates cannot be compared. Choose "
                "another scoring, or other folds."
            )
        return tuple(scores.tolist())

    def step(
        self, columns: tuple[int, ...], changed: int | None, n_candidates: int, n_jobs: int | None
    ) -> SelectionStep:
        """A set with its scores."""
        scores = self.scores(columns, n_jobs)
        return SelectionStep(columns, changed, scores, n_candidates, self.splits.test_train_ratio)


def _checked_width(table: Any) -> int:
    n_columns = len(column_names(table))
    if table.shape[0] < 2:
        raise InputError(f"n_samples = {table.shape[0]}: folds need at least 2 rows. Add rows.")
    if n_columns < 2:
        raise InputError(
            f"Found array with {n_columns} feature(s) (shape={tuple(table.shape)}) while a minimum "
            "of 2 is required: there is nothing to choose among one column."
        )
    return n_columns
