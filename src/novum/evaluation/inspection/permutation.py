"""Permutation importance: how much a model loses when a column tells it nothing.

    importance(j) = S(X, y) - mean over permutations P of S(X with column j in the order P, y)

Permuting keeps the column's own values, missing ones included, and breaks what ties them to the
rest. Columns that stand for each other share their importance; permuted together as one group they
show it.

Intervals. For a fitted model, rows are dealt into B blocks (classes evenly) and the importance is
taken in each: its mean has the error `s / sqrt(B)` and Student's t with B - 1 degrees of freedom,
which holds the chance of rows and of permutations. With folds (`cv`) every fold has a model and
rows of its own, and the mean over folds has the corrected interval for overlapping training parts,
which holds the chance of training too.

References
----------
Breiman (2001), "Random forests", section 10; Fisher, Rudin & Dominici (2019), section 3.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from novum.core.errors import InputError
from novum.core.runtime import run_tasks, seed, seed_sequence, stream
from novum.core.tables import (
    as_table,
    checked_weight,
    column_names,
    column_places,
    plain_target,
)
from novum.core.text import printable
from novum.display import Axis, Rule, Table, interval_chart
from novum.evaluation.inspection.curve_values import fold_interval
from novum.evaluation.inspection.permuted_scores import Permutations, Question, part_of
from novum.evaluation.measures.interval import Interval
from novum.evaluation.measures.intervals import check_level, mean_interval
from novum.evaluation.measures.scorers import natural_form
from novum.evaluation.validation.fold_runs import run_folds
from novum.evaluation.validation.routing import named_scorers
from novum.evaluation.validation.splits import plan_splits
from novum.numerics import Floats, Positions

# Blocks of fewer rows make scores such as R2 or the area under a curve erratic.
_SMALLEST_BLOCK = 25
_MOST_BLOCKS = 20


# --- Results --------------------------------------------------------------------------------------
# Permutation importances as values: numbers, intervals, text and picture.


_KEYS = ("importances", "importances_mean", "importances_std")


@dataclass(frozen=True, eq=False)
class PermutationImportance(Mapping[str, Any]):
    """How much worse the score becomes without each column; like scikit-learn's `Bunch`.

    Attributes
    ----------
    names : tuple of str
        Of the columns, or of the groups of columns that were permuted together.
    importances : array of shape (n_names, n_permutations)
        Score of the table as it is minus score with the column permuted; over all folds, if there
        are any.
    intervals : tuple of Interval
        Of the mean importance of each name; `reach` says what they are about.
    score : float
        Of the table as it is; the mean over the folds.
    measure : str
        Name of what is measured.
    reach : str
        "this model, rows like these", or "models trained on such tables" if folds were used.
    sign : float
        -1 where less is better: the score is turned round, texts and pictures are not.
    """

    names: tuple[str, ...]
    importances: Floats
    intervals: tuple[Interval, ...]
    score: float
    measure: str
    reach: str
    sign: float = 1.0

    @property
    def importances_mean(self) -> Floats:
        """Mean over the permutations, of shape (n_names,)."""
        return self.importances.mean(axis=1)

    @property
    def importances_std(self) -> Floats:
        """Deviation over the permutations, of shape (n_names,); it is no error of the mean."""
        return self.importances.std(axis=1)

    # A mapping, as scikit-learn's Bunch is

    def __getitem__(self, key: str) -> Any:
        if key not in _KEYS:
            raise KeyError(key)
        return getattr(self, key)

    def __iter__(self) -> Iterator[str]:
        return iter(_KEYS)

    def __len__(self) -> int:
        return len(_KEYS)

    # Reading

    def ranking(self) -> list[str]:
        """Names by falling mean importance."""
        return [self.names[j] for j in np.argsort(-self.importances_mean, kind="stable")]

    def plot(self, ax: Any = None, *, most: int = 20) -> Any:
        """Draws the largest importances with their intervals into axes, which are returned."""
        order = np.argsort(-self.importances_mean, kind="stable")[:most]
        estimates = [(float(self.importances_mean[j]), *self.intervals[j]) for j in order]
        names = [printable(self.names[j], 30) for j in order]
        x = Axis(f"{self._change} of {self.measure} without the column")
        return interval_chart(names, estimates, x, below=[Rule(x=0.0)]).plot(ax)

    def __repr__(self) -> str:
        order = np.argsort(-self.importances_mean, kind="stable")
        rows = [[printable(self.names[j], 40), repr(self.intervals[j])] for j in order]
        table = Table.of_numbers(
            "", ["column", f"{self._change} of {self.measure}"], rows
        ).as_text()
        shown = self.sign * self.score
        return f"{table}\n{self.measure} {shown:.4g} with all columns; for {self.reach}"

    @property
    def _change(self) -> str:
        return "loss" if self.sign > 0 else "rise"


def permutation_importance(
    estimator: Any,
    X: Any,
    y: Any,
    *,
    scoring: Any = None,
    n_repeats: int = 5,
    n_jobs: int | None = None,
    random_state: Any = None,
    sample_weight: Any = None,
    max_samples: float = 1.0,
    columns: Any = None,
    cv: Any = None,
    groups: Any = None,
    level: float = 0.95,
) -> Any:
    """How much worse the score of a model becomes when columns are permuted.

    Parameters
    ----------
    estimator : estimator
        Fitted, unless `cv` is given.
    X, y
        Rows to judge by, best such that the model has not seen; any container, with nominal columns
        and missing cells as the model takes them.
    scoring : None, str, callable, list or dict
        As for `cross_validate`; of several scores the result is a dict by name.
    n_repeats : int
        Permutations of each column.
    n_jobs : int, optional
        Columns at once, in threads; the bits do not depend on it.
    random_state : int, RandomState, Generator or None
    sample_weight : array-like of shape (n_rows,), optional
        Passed on to the scorer, and with `cv` to the fits.
    max_samples : int or float
        Rows that are permuted, drawn without replacement; a share if a fraction.
    columns : list, or mapping of names to lists, optional
        What to permute: names or positions, and tuples of those that are permuted together. Every
        column by itself by default.
    cv : int, text, splitter or iterable, optional
        Fits models on folds, and judges each by the rows it has not seen.
    groups : array-like of shape (n_rows,), optional
        For splitters that use groups.
    level : float
        Confidence of the intervals.

    Returns
    -------
    PermutationImportance
        `importances`, `importances_mean`, `importances_std`, `intervals`, `plot()`.

    Notes
    -----
    With an integer `random_state` the importances are scikit-learn's, bit for bit.

    Examples
    --------
    >>> from novum.linear import LinearRegression
    >>> X = np.random.default_rng(0).normal(size=(200, 2))
    >>> model = LinearRegression().fit(X, 3 * X[:, 0])
    >>> found = permutation_importance(model, X, 3 * X[:, 0], random_state=0)
    >>> found.importances_mean.round(1).tolist(), found.ranking()
    ([2.0, 0.0], ['x0', 'x1'])
    """
    check_level(level)
    if not (isinstance(n_repeats, Integral) and n_repeats >= 1):
        raise InputError(f"n_repeats is a number of permutations of at least 1, got {n_repeats!r}.")
    table = as_table(X, dense_for="permutation_importance")
    units = column_units(columns, column_names(table))
    scorers, several = named_scorers(estimator, scoring)
    weight = checked_weight(sample_weight, _num_samples(table))
    target = None if y is None else plain_target(y)
    question = Question(tuple(units.values()), scorers, int(n_repeats), max_samples)
    if cv is None:
        check_is_fitted(estimator)
        importances = _of_model(
            estimator, question, (table, target, weight), random_state, n_jobs, level
        )
    else:
        splits = plan_splits(table, target, cv, groups=groups, sample_weight=weight,
                             classifier=is_classifier(estimator))  # fmt: skip
        fits = {} if weight is None else {"sample_weight": weight}
        runs = run_folds({"model": estimator}, table, target, splits, {}, params=fits,
                         n_jobs=n_jobs, return_estimator=True)["model"]  # fmt: skip
        models = [run.estimator for run in runs]
        parts = [part_of((table, target, weight), test) for _, test in splits.split()]
        root = seed_sequence(random_state)
        importances = _of_folds(
            models, question, parts, splits.test_train_ratio, root, n_jobs, level
        )
    results = {name: result.named(tuple(units), name) for name, result in importances.items()}
    return results if several else results["score"]


def column_units(columns: Any, names: Sequence[str]) -> dict[str, list[int]]:
    """Positions of the columns that are permuted together, by name.

    Examples
    --------
    >>> column_units(["c", ("a", 1)], ["a", "b", "c"])
    {'c': [2], 'a + b': [0, 1]}
    """
    if columns is None:
        return {name: [j] for j, name in enumerate(names)}
    if isinstance(columns, Mapping):
        return {str(name): column_places(group, names) for name, group in columns.items()}
    if isinstance(columns, str) or not hasattr(columns, "__iter__"):
        columns = [columns]
    units: dict[str, list[int]] = {}
    for entry in columns:
        group = entry if isinstance(entry, (list, tuple, set, np.ndarray)) else [entry]
        places = column_places(group, names)
        if not places:
            raise InputError("`columns` has an empty group. Name at least one column in each.")
        units[" + ".join(names[j] for j in places)] = places
    if not units:
        raise InputError("`columns` names no column. Leave it out to permute every one.")
    return units


# --- One model ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Importances:
    """Importances under one score, before they have names."""

    importances: Floats
    intervals: tuple[Interval, ...]
    score: float
    reach: str
    measure: str
    sign: float

    def named(self, names: tuple[str, ...], key: str) -> PermutationImportance:
        natural = key.removeprefix("neg_") if self.sign < 0 else key
        measure = self.measure if key == "score" else natural
        return PermutationImportance(
            names, self.importances, self.intervals, self.score, measure, self.reach, self.sign
        )


def _of_model(
    model: Any,
    question: Question,
    part: tuple[Any, Any, Any],
    random_state: Any,
    n_jobs: int | None,
    level: float,
) -> dict[str, _Importances]:
    seed = _first_seed(random_state)
    whole = question.scores(model, part)
    rows = question.drawn(_num_samples(part[0]), np.random.RandomState(seed))
    blocks = row_blocks(None if part[1] is None else part[1][rows], rows.size, model, seed)

    permutations = Permutations(question, part, seed)

    def one(unit: list[int]) -> tuple[Floats, Floats]:
        return permutations.scores(model, unit, blocks)

    parts = run_tasks(one, question.units, n_jobs)
    base = question.scores_of_parts(model, part_of(part, rows), blocks)
    results = {}
    for s, (name, score) in enumerate(question.scorers.items()):
        importances = np.array([whole[s] - scores[:, s] for scores, _ in parts])
        intervals = tuple(
            _block_interval(float(values.mean()), base[:, s] - of_blocks[:, s], level)
            if blocks
            else _no_interval(float(values.mean()), level)
            for values, (_, of_blocks) in zip(importances, parts, strict=True)
        )
        reach = "this model, rows like these"
        results[name] = _Importances(
            importances, intervals, float(whole[s]), reach, *natural_form(score)
        )
    return results


def row_blocks(y: Any, n_rows: int, model: Any, seed: int) -> list[Positions]:
    """Rows dealt into blocks of at least 25, classes evenly; no block where there are too few."""
    n_blocks = min(_MOST_BLOCKS, n_rows // _SMALLEST_BLOCK)
    order = stream(seed, "blocks").permutation(n_rows)
    if y is not None and y.ndim == 1 and is_classifier(model):
        codes, counts = np.unique(y, return_inverse=True, return_counts=True)[1:]
        n_blocks = min(n_blocks, int(counts.min()))
        order = order[np.argsort(codes[order], kind="stable")]
    return [order[b::n_blocks] for b in range(n_blocks)] if n_blocks >= 2 else []


def _block_interval(estimate: float, by_block: Floats, level: float) -> Interval:
    if not np.isfinite(by_block).all():
        return _no_interval(estimate, level)
    around = mean_interval(by_block, level)
    reach = around.half_width
    return Interval(estimate, estimate - reach, estimate + reach, level, "t over blocks of rows")


def _no_interval(estimate: float, level: float) -> Interval:
    why = f"needs {2 * _SMALLEST_BLOCK} rows and 2 of each class, or cv"
    return Interval(estimate, math.nan, math.nan, level, why)


# --- Folds ----------------------------------------------------------------------------------------


def _of_folds(
    models: Sequence[Any],
    question: Question,
    parts: Sequence[tuple[Any, Any, Any]],
    ratio: float,
    root: Any,
    n_jobs: int | None,
    level: float,
) -> dict[str, _Importances]:
    base = np.array([question.scores(m, part) for m, part in zip(models, parts, strict=True)])

    def one(task: tuple[int, list[int]]) -> Floats:
        k, unit = task
        return permutations[k].scores(models[k], unit)[0]

    permutations = [
        Permutations(question, part, seed(root, "fold", k)) for k, part in enumerate(parts)
    ]
    tasks = [(k, unit) for unit in question.units for k in range(len(models))]
    scores = np.array(run_tasks(one, tasks, n_jobs))
    shape = (len(question.units), len(models), question.n_repeats, len(question.scorers))
    drops = base[None, :, None, :] - scores.reshape(shape)
    results = {}
    for s, (name, score) in enumerate(question.scorers.items()):
        by_fold = drops[..., s].mean(axis=2)
        intervals = tuple(fold_interval(values, ratio, level) for values in by_fold)
        results[name] = _Importances(
            drops[..., s].reshape(len(question.units), -1),
            intervals,
            float(base[:, s].mean()),
            "models trained on such tables",
            *natural_form(score),
        )
    return results


def _first_seed(random_state: Any) -> int:
    if isinstance(random_state, (np.random.Generator, np.random.SeedSequence)):
        return seed(random_state, "permutation")
    return int(check_random_state(random_state).randint(np.iinfo(np.int32).max + 1))
