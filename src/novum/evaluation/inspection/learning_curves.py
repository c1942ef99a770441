"""Learning curves: the score as a function of how many rows a model is trained on.

    S(m) = mean over folds k of the score on test_k of the model fitted to m rows of train_k

The rows of a smaller size are among those of a larger one. If the curve still rises at its end,
more rows will help; if training and test scores have met below what is wanted, only another model
or other columns will.

A learner that goes on (`partial_fit`) can be given the rows between two sizes only, so that the
curve costs about one pass over the largest training part. Where its `partial_fit` depends on the
order or number of calls the scores differ from those of fresh fits, which is part of the question.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError
from novum.core.runtime import check_cancelled, run_tasks
from novum.core.tables import plain_target, with_checked_weight
from novum.display import Axis, Table
from novum.evaluation.inspection.curve_values import (
    curve_chart,
    fold_interval,
    intervals_of,
    natural,
)
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.scorers import natural_form, score_limits
from novum.evaluation.validation.certainty import UNLIMITED
from novum.evaluation.validation.fold_fits import FoldWork, judged_fold, plain_table, plain_y
from novum.evaluation.validation.fold_runs import FoldRun, run_folds, warn_of_failures
from novum.evaluation.validation.routing import named_scorers, route
from novum.evaluation.validation.smaller_parts import nested_splits
from novum.evaluation.validation.splits import Splits, plan_splits
from novum.numerics import Floats, Positions

DEFAULT_SIZES = (0.1, 0.325, 0.55, 0.775, 1.0)


@dataclass(frozen=True, eq=False)
class LearningCurve:
    """Scores by size of the training part; unpacks as scikit-learn's tuple.

    Attributes
    ----------
    train_sizes : int array of shape (n_sizes,)
    train_scores, test_scores : arrays of shape (n_sizes, n_folds)
    fit_times, score_times : arrays of shape (n_sizes, n_folds)
        Seconds.
    test_train_ratios : array of shape (n_sizes,)
        Rows tested over rows trained on, which the intervals need.
    name : str
        Of what is measured.
    sign : float
        -1 where less is better: the scores are turned round, texts and pictures are not.
    limits : pair of float
        Between which scores lie; no interval of a score leaves them.
    return_times : bool
        Whether the times are unpacked too.
    """

    train_sizes: Positions
    train_scores: Floats
    test_scores: Floats
    fit_times: Floats
    score_times: Floats
    test_train_ratios: Floats
    name: str = "score"
    return_times: bool = False
    sign: float = 1.0
    limits: tuple[float, float] = UNLIMITED

    def __iter__(self) -> Iterator[Any]:
        return iter(self._parts())

    def __len__(self) -> int:
        return len(self._parts())

    def __getitem__(self, place: int) -> Any:
        return self._parts()[place]

    def _parts(self) -> tuple[Any, ...]:
        """What scikit-learn's function returns."""
        parts = (self.train_sizes, self.train_scores, self.test_scores)
        return (*parts, self.fit_times, self.score_times) if self.return_times else parts

    def intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Of the test score at each size, corrected for overlapping training parts."""
        return intervals_of(self.test_scores, self.test_train_ratios, level, self.limits)

    def train_intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Of the training score at each size."""
        return intervals_of(self.train_scores, self.test_train_ratios, level, self.limits)

    def last_gain(self, level: float = 0.95) -> Interval:
        """What the last step to more rows gained on the same folds."""
        if len(self.train_sizes) < 2:
            raise InputError("A gain is between two sizes, and this curve has one. Add sizes.")
        gains = self.test_scores[-1] - self.test_scores[-2]
        return fold_interval(gains, float(self.test_train_ratios[-1]), level)

    def verdict(self, level: float = 0.95) -> str:
        """In words: whether more rows help."""
        gain = self.last_gain(level)
        (change,) = natural([gain], self.sign)
        step = f"from {self.train_sizes[-2]} to {self.train_sizes[-1]} rows"
        if gain.low > 0:
            verb = "gained" if self.sign > 0 else f"changed the {self.name} by"
            return f"More rows help: the step {step} {verb} {change}."
        if gain.high < 0:
            return f"More rows did harm: the step {step} changed the {self.name} by {change}."
        return f"No clear gain from more rows: the step {step} changed the {self.name} by {change}."

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draws both curves with their bands into matplotlib axes, which are returned."""
        seen = natural(self.train_intervals(level), self.sign)
        new = natural(self.intervals(level), self.sign)
        x = Axis("rows to train on")
        return curve_chart(x, self.name, self.train_sizes, seen, new).plot(ax)

    def __repr__(self) -> str:
        scores = (natural(of, self.sign) for of in (self.train_intervals(), self.intervals()))
        pairs = zip(self.train_sizes, *scores, strict=True)
        rows = [[str(size), f"{seen.estimate:.4g}", repr(new)] for size, seen, new in pairs]
        table = Table.of_numbers("", ["rows", "training", f"test {self.name}"], rows).as_text()
        return table if len(rows) < 2 else f"{table}\n{self.verdict()}"


def learning_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    groups: Any = None,
    train_sizes: ArrayLike = DEFAULT_SIZES,
    cv: Any = None,
    scoring: Any = None,
    exploit_incremental_learning: bool = False,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    shuffle: bool = False,
    random_state: Any = None,
    error_score: Any = np.nan,
    return_times: bool = False,
    params: Mapping[str, Any] | None = None,
) -> LearningCurve:
    """Scores of a model trained on more and more rows.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, n_jobs, verbose, error_score, params
        As for `cross_validate`; one `scoring`.
    train_sizes : array-like of shape (n_sizes,)
        Numbers of rows, or shares of the largest training part. Where the first rows of a
        classifier's smallest part lack a class, parts are drawn within classes, and in whole
        groups where there are groups; rows in time stay in their order.
    exploit_incremental_learning : bool
        Trains one model for each fold by `partial_fit`, size after size; `params` are then its
        arguments.
    pre_dispatch
        Kept for scikit-learn's signature; threads share the table.
    shuffle : bool
        Whether the rows of a training part are shuffled before the first ones are taken. Do so
        where the rows have an order.
    random_state : int or RandomState, optional
        Of the shuffling.
    return_times : bool
        Whether the result unpacks to times too.

    Returns
    -------
    LearningCurve
        Unpacks as `train_sizes, train_scores, test_scores`; `intervals()`, `verdict()`, `plot()`.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = [[float(i % 7), float(i % 3)] for i in range(60)]
    >>> y = [a - 2 * b + (i * i % 5) for i, (a, b) in enumerate(X)]
    >>> sizes, _, test = learning_curve(LinearRegression(), X, y, train_sizes=[8, 48], cv=5)
    >>> sizes.tolist(), test.shape, bool(test[1].mean() > test[0].mean())
    ([8, 48], (2, 5), True)
    """
    del pre_dispatch
    scorers, several = named_scorers(estimator, scoring)
    if several:
        raise InputError("A learning curve is of one score; pass one name or scorer as `scoring`.")
    method = "partial_fit" if exploit_incremental_learning else "fit"
    routed = route("learning_curve", estimator, scorers, cv, groups, params, method=method)
    classifier, weight = is_classifier(estimator), routed.fit.get("sample_weight")
    planned = plan_splits(X, y, cv, groups=routed.groups, classifier=classifier,
                          params=routed.split, sample_weight=weight)  # fmt: skip
    trains = [_counted(train, weight) for train, _ in planned.split()]
    labels = plain_target(y) if classifier and y is not None else None
    # A classifier has nothing to tell apart in one row.
    least = 1 if labels is None else 2
    sizes = checked_sizes(train_sizes, len(trains[0]), least)
    splits = nested_splits(planned, trains, sizes, shuffle, random_state, labels, routed.groups)
    run = _incremental_runs if exploit_incremental_learning else _fresh_runs
    runs = run(
        estimator,
        X,
        y,
        splits,
        scorers,
        params=routed.fit,
        score_params=routed.score,
        n_jobs=n_jobs,
        error_score=error_score,
        verbose=verbose,
    )
    return _curve(runs, splits, sizes, next(iter(scorers.values())), return_times)


def _counted(rows: Positions, weight: Any) -> Positions:
    """The rows that are not absent."""
    return rows if weight is None else rows[np.asarray(weight)[rows] > 0]


def checked_sizes(train_sizes: ArrayLike, largest: int, least: int = 1) -> Positions:
    """Numbers of rows, ascending and different, from numbers, or from shares and at least `least`.

    Examples
    --------
    >>> checked_sizes([0.5, 1.0], 9).tolist()
    [4, 9]
    """
    given = np.asarray(train_sizes)
    if given.ndim != 1 or given.size == 0 or given.dtype.kind not in "iuf":
        raise InputError(
            f"train_sizes is a list of numbers of rows or shares, got {train_sizes!r}."
        )
    shares = given.dtype.kind == "f"
    low, high = given.min(), given.max()
    if shares and not (low > 0 and high <= 1):
        raise InputError(f"Shares in train_sizes lie in (0, 1], got values from {low} to {high}.")
    sizes = (given * largest).astype(np.intp) if shares else given.astype(np.intp)
    sizes = np.clip(sizes, min(least, largest), None) if shares else sizes
    if not (sizes.min() > 0 and sizes.max() <= largest):
        raise InputError(
            f"train_sizes lie between 1 and the {largest} rows of a training part, got values "
            f"from {sizes.min()} to {sizes.max()}."
        )
    different = np.unique(sizes)
    if different.size < sizes.size:
        warnings.warn(
            f"{sizes.size - different.size} of {sizes.size} train_sizes are equal in rows and "
            "count once: removed duplicate entries from 'train_sizes'.",
            RuntimeWarning,
            stacklevel=3,
        )
    return different


def _fresh_runs(
    estimator: Any, X: Any, y: Any, splits: Splits, scorers: Mapping[str, Any], **more: Any
) -> tuple[FoldRun, ...]:
    runs = run_folds({"model": estimator}, X, y, splits, scorers, train_scores=True, **more)
    return runs["model"]


# --- One model for each fold, size after size -----------------------------------------------------


def _incremental_runs(
    estimator: Any,
    X: Any,
    y: Any,
    splits: Splits,
    scorers: Mapping[str, Any],
    *,
    params: Mapping[str, Any],
    score_params: Mapping[str, Any],
    n_jobs: int | None,
    error_score: Any,
    verbose: int,
) -> tuple[FoldRun, ...]:
    """The outcomes of all folds of all sizes, in the order of `splits`.

    `params` are arguments of `partial_fit`; those with an entry for each row are cut to the rows
    of a step.
    """
    del verbose
    if not hasattr(estimator, "partial_fit"):
        raise InputError(
            f"{type(estimator).__name__} has no partial_fit, so an estimator must support the "
            "partial_fit interface to exploit incremental learning. Leave it to fresh fits."
        )
    work = FoldWork(
        X=plain_table(X),
        y=plain_y(y, classifier=is_classifier(estimator)),
        splits=splits,
        scoring=scorers,
        fit_params=with_checked_weight(params, splits.n_rows),
        score_params={
            name: with_checked_weight(own, splits.n_rows) for name, own in score_params.items()
        },
        train_scores=True,
        error_score=error_score,
    )
    # The sizes of a fold test the same rows.
    folds: list[list[int]] = []
    for k, part in enumerate(splits.parts):
        if k and part.test is splits.parts[k - 1].test:
            folds[-1].append(k)
        else:
            folds.append([k])
    runs = run_tasks(lambda sizes: _runs_of_fold(estimator, work, sizes), folds, n_jobs)
    outcomes = tuple(run for of_fold in runs for run in of_fold)
    warn_of_failures({"model": outcomes}, work)
    return outcomes


def _runs_of_fold(estimator: Any, work: FoldWork, sizes: list[int]) -> list[FoldRun]:
    model = clone(estimator)
    classes = {}
    if is_classifier(model) and "classes" in inspect.signature(model.partial_fit).parameters:
        classes["classes"] = np.unique(work.y)
    weight = work.fit_params.get("sample_weight")
    n_learned, failure = 0, None

    def learn(size: int) -> Any:
        nonlocal n_learned, failure
        if failure is not None:
            # Half of a step may have been learned: nothing more is known of this model.
            raise failure
        train = work.splits.train(size)
        new = train[n_learned:]
        new = new if weight is None else new[weight[new] > 0]
        try:
            if new.size:
                more = {**classes, **work.cut(work.fit_params, new)}
                model.partial_fit(work.table(model, new, size), work.target(new), **more)
        except Exception as error:
            failure = error
            raise
        n_learned = len(train)
        return model

    runs = []
    for size in sizes:
        check_cancelled()
        runs.append(judged_fold(partial(learn, size), estimator, work, size))
    return runs


# --- The curve ------------------------------------------------------------------------------------


def _curve(
    runs: tuple[FoldRun, ...],
    splits: Splits,
    sizes: Positions,
    scorer: Any,
    return_times: bool,
) -> LearningCurve:
    def table(value: Any) -> Floats:
        return np.array([value(run) for run in runs], np.float64).reshape(-1, len(sizes)).T

    tested = np.array([len(fold.test) for fold in splits.parts], np.float64)
    trained = np.array([splits.n_train(k) for k in range(len(splits))], np.float64)
    ratios = (tested / trained).reshape(-1, len(sizes)).mean(axis=0)
    name, sign = natural_form(scorer)
    return LearningCurve(
        sizes,
        table(lambda run: run.train_scores["score"]),
        table(lambda run: run.scores["score"]),
        table(lambda run: run.fit_seconds),
        table(lambda run: run.score_seconds),
        ratios,
        name,
        return_times,
        sign,
        score_limits(scorer),
    )
