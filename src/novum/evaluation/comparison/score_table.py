"""What an experiment measured: scores of all models on shared folds of one or more data sets.

Everything that is said about models is a function of this table, so that a comparison can be
judged again by another measure, region of equivalence or level without fitting anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.evaluation.comparison.pairs.outcome import checked_ratio
from novum.numerics import Floats, Mask


@dataclass(frozen=True)
class Plan:
    """How the folds of a data set were drawn.

    Attributes
    ----------
    n_repeats, n_folds : int
        `n_repeats * n_folds` scores for each model.
    test_train_ratio : float
        Rows tested over rows trained on.
    name : str
        In words, such as "10 x 10 stratified folds".
    repeatable : bool
        Whether the folds can be drawn anew, so that more repeats are possible.
    """

    n_repeats: int
    n_folds: int
    test_train_ratio: float
    name: str
    repeatable: bool = True


@dataclass(frozen=True, eq=False)
class DatasetScores:
    """Scores on one data set.

    Attributes
    ----------
    scores : mapping of measure to array of shape (n_models, n_repeats * n_folds)
        As they are: a loss is not turned round.
    plan : Plan
    halves : mapping of measure to array of shape (n_models, 10)
        Scores of five repeats of two folds; empty if they were not run.
    right : array of bool of shape (n_models, n_rows), or None
        Which rows the out-of-fold predictions of the first repeat have right.
    """

    scores: Mapping[str, Floats]
    plan: Plan
    halves: Mapping[str, Floats] = field(default_factory=dict)
    right: Mask | None = None


@dataclass(frozen=True, eq=False)
class ScoreTable:
    """Scores of models on data sets.

    Attributes
    ----------
    models : tuple of str
    datasets : mapping of name to DatasetScores
    measures : tuple of str
    losses : frozenset of str
        Those of the measures of which less is better.
    """

    models: tuple[str, ...]
    datasets: Mapping[str, DatasetScores]
    measures: tuple[str, ...]
    losses: frozenset[str] = frozenset()

    def greater_is_better(self, measure: str) -> bool:
        """Which way a measure is better."""
        return measure not in self.losses

    def means(self, measure: str) -> Floats:
        """Mean scores, shape (n_datasets, n_models)."""
        return np.array([entry.scores[measure].mean(axis=1) for entry in self.datasets.values()])


# --- Checks ---------------------------------------------------------------------------------------


def checked_names(names: Sequence[Any], kind: str, at_least: int) -> tuple[str, ...]:
    """Different names as text, at least so many."""
    checked = tuple(str(name) for name in names)
    if len(checked) < at_least:
        counted = "none" if not checked else f"only {printable(repr(checked[0]), 60)}"
        raise InputError(
            f"A comparison needs at least {at_least} {kind}{'s' if at_least > 1 else ''}, got "
            f"{counted}."
        )
    twice = sorted({name for name in checked if checked.count(name) > 1})
    if twice:
        shown = ", ".join(printable(repr(name), 60) for name in twice)
        raise InputError(f"Every {kind} needs a name of its own; {shown} is used more than once.")
    return checked


def table_of_scores(
    scores: Mapping[str, Mapping[str, Any]],
    measure: str,
    test_train_ratio: float,
    n_repeats: int = 1,
    *,
    greater_is_better: bool = True,
) -> ScoreTable:
    """The table of scores computed elsewhere, `{data set: {model: scores on the folds}}`."""
    ratio = checked_ratio(test_train_ratio)
    datasets = checked_names(list(scores), "data set", 1)
    models = checked_names(list(scores[next(iter(scores))]), "model", 2)
    entries = {}
    for name, given in zip(datasets, scores.values(), strict=True):
        _check_same_models(models, [str(model) for model in given], datasets[0], name)
        matrix = _matrix({str(model): values for model, values in given.items()}, models, name)
        n_folds, rest = divmod(matrix.shape[1], n_repeats)
        if rest:
            raise InputError(
                f"{matrix.shape[1]} scores on data set {printable(repr(name))} are not "
                f"{n_repeats} repeats of equally many folds."
            )
        plan = Plan(n_repeats, n_folds, ratio, f"{matrix.shape[1]} folds")
        entries[name] = DatasetScores({measure: matrix}, plan)
    losses = frozenset[str]() if greater_is_better else frozenset([measure])
    return ScoreTable(models, entries, (measure,), losses)


def check_finite(matrix: Floats, models: Sequence[str], dataset: str) -> None:
    """Refuses scores that are no numbers, by name."""
    bad = np.argwhere(~np.isfinite(matrix))
    if bad.size:
        model, fold = bad[0]
        raise InputError(
            f"{len(bad)} of {matrix.size} scores on data set {printable(repr(dataset))} are not "
            f"finite: the first is {matrix[model, fold]:g} of model "
            f"{printable(repr(models[model]))} in fold {fold}. Find out why the fold failed; "
            "leaving it out would favor a model."
        )


def _check_same_models(
    models: Sequence[str], given: Sequence[str], first: str, dataset: str
) -> None:
    missing = [name for name in models if name not in given]
    extra = [name for name in given if name not in models]
    if missing or extra:
        parts = [
            f"{verb} {', '.join(printable(repr(name), 60) for name in names)}"
            for verb, names in (("lacks", missing), ("has besides", extra))
            if names
        ]
        raise InputError(
            f"All data sets need scores of the same models. Compared with "
            f"{printable(repr(first), 60)}, data set {printable(repr(dataset), 60)} "
            f"{' and '.join(parts)}."
        )


def _matrix(given: Mapping[str, Any], models: Sequence[str], dataset: str) -> Floats:
    rows = [np.asarray(given[name], float).ravel() for name in models]
    sizes = {row.size for row in rows}
    if len(sizes) > 1:
        counts = ", ".join(
            f"{printable(name, 60)} {row.size}" for name, row in zip(models, rows, strict=True)
        )
        raise InputError(
            f"Models share their folds, but on data set {printable(repr(dataset), 60)} they have "
            f"unequal numbers of scores: {counts}."
        )
    if sizes == {0} or sizes == {1}:
        raise InputError(
            f"Data set {printable(repr(dataset), 60)} has {sizes.pop()} scores for each model; a "
            "comparison needs at least 2 folds."
        )
    matrix = np.array(rows)
    check_finite(matrix, models, dataset)
    return matrix
