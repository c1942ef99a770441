"""Sequential selection: columns added or removed one at a time by the score of a model on folds.

    forward:   S_0 = {},   S_t = S_{t-1} + argmax_j score(S_{t-1} + j)
    backward:  S_0 = all,  S_t = S_{t-1} - argmax_j score(S_{t-1} - j)

The score is cross-validated, all candidates on the same folds. The search is greedy: a set that
needs two columns at once is found by going backward, not forward. Its best score is the best of
many and too good; judge the selection by folds around it, as a step of a `Pipeline`.
"""

from __future__ import annotations

from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import MetaEstimatorMixin, _fit_context, clone, is_classifier
from sklearn.utils import get_tags
from sklearn.utils._param_validation import HasMethods, Interval, RealNotInt, StrOptions
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    _raise_for_params,
    _routing_enabled,
    process_routing,
)

from novum.core.certificate import Certificate, Verdict
from novum.core.errors import InputError
from novum.core.fitting import fitting
from novum.core.missing import missing_mask, refuse_missing
from novum.core.parallel import run_tasks
from novum.core.progress import CallbackSupport, track, with_callbacks
from novum.core.targets import plain_target
from novum.evaluation.inspection.containers import column_names, columns_of
from novum.evaluation.selection.selector import ColumnSelector, Support, checked_columns
from novum.evaluation.selection.stop_rules import MinimalGain, SelectionStep, StopRule
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.routing import Routed, named_scorers, router_of, scorer_key
from novum.evaluation.validation.splits import Splits, plan_splits
from novum.numerics.ties import best_of


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

    support_: Support
    n_features_to_select_: int
    path_: tuple[SelectionStep, ...]

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "estimator": [HasMethods(["fit"])],
        "n_features_to_select": [
            StrOptions({"auto"}),
            Interval(RealNotInt, 0, 1, closed="right"),
            Interval(Integral, 0, None, closed="neither"),
        ],
        "tol": [None, Interval(Real, None, None, closed="neither")],
        "direction": [StrOptions({"forward", "backward"})],
        "scoring": [None, str, callable],
        "cv": [object],
        "n_jobs": [None, Integral],
        "stop": [None, StopRule],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        estimator: Any,
        *,
        n_features_to_select: Any = "auto",
        tol: float | None = None,
        direction: str = "forward",
        scoring: Any = None,
        cv: Any = 5,
        n_jobs: int | None = None,
        stop: StopRule | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.n_features_to_select = n_features_to_select
        self.tol = tol
        self.direction = direction
        self.scoring = scoring
        self.cv = cv
        self.n_jobs = n_jobs
        self.stop = stop
        self.verbose = verbose

    @with_callbacks
    @_fit_context(prefer_skip_nested_validation=False)
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
            found = process_routing(self, "fit", **params)
            split = dict(found.splitter.split)
            score = {"score": dict(getattr(found, scorer_key("score")).score)}
            routed = Routed(dict(found.estimator.fit), score, split.pop("groups", None), split)
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
        found = run_tasks(one, sets, self.n_jobs)
        means = [float(np.mean(scores)) for scores in found]
        best = best_of(means)
        ratio = search.splits.test_train_ratio
        return SelectionStep(sets[best], free[best], found[best], len(sets), ratio)

    def _get_support_mask(self) -> Support:
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
        found: NDArray[np.float64] = np.array([run.scores["score"] for run in runs])
        if not np.isfinite(found).all():
            shown = ", ".join(self.names[j] for j in columns[:5])
            raise InputError(
                f"A fold has the score {found[~np.isfinite(found)][0]} with the columns {shown}"
                f"{', ...' if len(columns) > 5 else ''}, so candidates cannot be compared. Choose "
                "another scoring, or other folds."
            )
        return tuple(found.tolist())

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
