"""Complexity curves: the score as a function of one parameter of the model.

    S(v) = mean over folds of the score of the model with parameter = v

Training scores rise with complexity, test scores first rise and then fall; the gap between them is
over-fitting. Among the values whose score cannot be told from the best one, the simplest is to be
preferred (`one_standard_error`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import Axis, Table
from novum.evaluation.inspection.curve_values import (
    curve_chart,
    intervals_of,
    natural,
)
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.scorers import natural_form, score_limits
from novum.evaluation.validation.certainty import UNLIMITED, variance_of_mean
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.routing import named_scorers, route
from novum.evaluation.validation.splits import plan_splits
from novum.numerics import Floats


@dataclass(frozen=True, eq=False)
class ComplexityCurve:
    """Scores by the value of a parameter; unpacks as scikit-learn's `train_scores, test_scores`.

    Attributes
    ----------
    param_name : str
    param_range : tuple of length n_values
    train_scores, test_scores : arrays of shape (n_values, n_folds)
    test_train_ratio : float
        Rows tested over rows trained on, which the intervals need.
    name : str
        Of what is measured.
    sign : float
        -1 where less is better: the scores are turned round, texts and pictures are not.
    limits : pair of float
        Between which scores lie; no interval of a score leaves them.
    """

    param_name: str
    param_range: tuple[Any, ...]
    train_scores: Floats
    test_scores: Floats
    test_train_ratio: float
    name: str = "score"
    sign: float = 1.0
    limits: tuple[float, float] = UNLIMITED

    def __iter__(self) -> Iterator[Floats]:
        return iter((self.train_scores, self.test_scores))

    def __len__(self) -> int:
        return 2

    def __getitem__(self, place: int) -> Floats:
        return (self.train_scores, self.test_scores)[place]

    @property
    def best(self) -> Any:
        """The value of the highest mean test score, the first among equals."""
        return self.param_range[self._best()]

    def one_standard_error(self, simplest: Literal["first", "last"] = "first") -> Any:
        """The simplest value whose score is within one standard error of the best.

        Parameters
        ----------
        simplest : {"first", "last"}
            At which end of `param_range` the simplest model is.
        """
        if simplest not in ("first", "last"):
            raise InputError(f"simplest is 'first' or 'last', got {simplest!r}.")
        best = self._best()
        scores = self.test_scores[best]
        error = math.sqrt(variance_of_mean(scores, self.test_train_ratio))
        near = np.flatnonzero(self.test_scores.mean(axis=1) >= scores.mean() - error)
        return self.param_range[near[0] if simplest == "first" else near[-1]]

    def intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Of the test score at each value, corrected for overlapping training parts."""
        return self._intervals(self.test_scores, level)

    def train_intervals(self, level: float = 0.95) -> tuple[Interval, ...]:
        """Of the training score at each value."""
        return self._intervals(self.train_scores, level)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draws both curves with their bands into matplotlib axes, which are returned.

        Numbers that span more than a factor of 100 have a logarithmic axis; other values are
        evenly spaced under their names.
        """
        places = self._positions()
        seen = natural(self.train_intervals(level), self.sign)
        new = natural(self.intervals(level), self.sign)
        if isinstance(places, range):
            x = Axis(self.param_name, names=[_shown(value) for value in self.param_range])
        else:
            is_wide = min(places) > 0 and max(places) > 100 * min(places)
            x = Axis(self.param_name, log=is_wide)
        return curve_chart(x, self.name, places, seen, new).plot(ax)

    def __repr__(self) -> str:
        scores = (natural(of, self.sign) for of in (self.train_intervals(), self.intervals()))
        pairs = zip(self.param_range, *scores, strict=True)
        rows = [[_shown(value), f"{seen.estimate:.4g}", repr(new)] for value, seen, new in pairs]
        head = [self.param_name, "training", f"test {self.name}"]
        table = Table.of_numbers("", head, rows).as_text()
        if not np.isfinite(self.test_scores).all():
            return f"{table}\nSome folds have no score, so no value is called the best."
        return f"{table}\nBest mean: {self.param_name} = {_shown(self.best)}."

    def _best(self) -> int:
        means = self.test_scores.mean(axis=1)
        if not np.isfinite(means).all():
            bad = self.param_range[int(np.flatnonzero(~np.isfinite(means))[0])]
            raise InputError(
                f"A fold of {self.param_name} = {_shown(bad)} has no score. Find out why with "
                "error_score='raise'."
            )
        return int(means.argmax())

    def _intervals(self, scores: Floats, level: float) -> tuple[Interval, ...]:
        ratios = np.full(len(scores), self.test_train_ratio)
        return intervals_of(scores, ratios, level, self.limits)

    def _positions(self) -> Any:
        numbers = all(
            isinstance(v, (int, float, np.number)) and not isinstance(v, bool)
            for v in self.param_range
        )
        return [float(v) for v in self.param_range] if numbers else range(len(self.param_range))


def complexity_curve(
    estimator: Any,
    X: Any,
    y: Any = None,
    *,
    param_name: str,
    param_range: Any,
    groups: Any = None,
    cv: Any = None,
    scoring: Any = None,
    n_jobs: int | None = None,
    pre_dispatch: Any = "all",
    verbose: int = 0,
    error_score: Any = np.nan,
    params: Mapping[str, Any] | None = None,
    journal: Any = None,
) -> ComplexityCurve:
    """Scores of a model for several values of one of its parameters, on the same folds.

    scikit-learn's `validation_curve`, under whose name it is found too.

    Parameters
    ----------
    estimator, X, y, groups, cv, scoring, n_jobs, verbose, error_score, params, journal
        As for `cross_validate`; one `scoring`.
    param_name : str
        Such as `"alpha"`, or `"tree__max_depth"` within a pipeline.
    param_range : list of n_values values
        From the simplest model to the most complex one, or back.
    pre_dispatch
        Kept for scikit-learn's signature; threads share the table.

    Returns
    -------
    ComplexityCurve
        Unpacks as `train_scores, test_scores`; `best`, `one_standard_error()`, `intervals()`,
        `plot()`.

    Examples
    --------
    >>> from novum.linear import Ridge
    >>> X = [[float(i % 7), float(i % 3)] for i in range(60)]
    >>> y = [a - 2 * b + (i * i % 5) for i, (a, b) in enumerate(X)]
    >>> curve = complexity_curve(Ridge(), X, y, param_name="alpha", param_range=[1e4, 100.0, 1.0])
    >>> curve.best, curve.test_scores.shape
    (1.0, (3, 5))
    """
    del pre_dispatch
    scorers, several = named_scorers(estimator, scoring)
    if several:
        raise InputError("A complexity curve is of one score; pass one name or scorer.")
    values = tuple(param_range)
    if not values:
        raise InputError("param_range is empty. Give the values that the parameter takes.")
    routed = route("complexity_curve", estimator, scorers, cv, groups, params)
    splits = plan_splits(X, y, cv, groups=routed.groups, classifier=is_classifier(estimator),
                         params=routed.split,
                         sample_weight=routed.fit.get("sample_weight"))  # fmt: skip
    models = {str(i): clone(estimator).set_params(**{param_name: clone(value, safe=False)})
              for i, value in enumerate(values)}  # fmt: skip
    runs = run_folds(
        models,
        X,
        y,
        splits,
        scorers,
        params=routed.fit,
        score_params=routed.score,
        n_jobs=n_jobs,
        journal=journal,
        train_scores=True,
        error_score=error_score,
        verbose=verbose,
    )
    train = np.array([[run.train_scores["score"] for run in runs[name]] for name in models])
    test = np.array([[run.scores["score"] for run in runs[name]] for name in models])
    name, sign = natural_form(scorers["score"])
    ratio, limits = splits.test_train_ratio, score_limits(scorers["score"])
    return ComplexityCurve(param_name, values, train, test, ratio, name, sign, limits)


validation_curve = complexity_curve


def _shown(value: Any) -> str:
    if isinstance(value, np.generic):
        value = value.item()
    return printable(f"{value:.4g}" if isinstance(value, float) else str(value), 30)
