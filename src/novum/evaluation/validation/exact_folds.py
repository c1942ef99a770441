"""Folds of learners with statistics: every row is summed once, for all folds and all candidates.

    model of fold k = fit_statistics(sum of the other folds' statistics)

`core.sums.exact_validation` gives the sums. Two things are added here. Candidates of a search that
differ only in parameters which reading and summing never look at (the penalty of ridge, the priors
of a Gaussian classifier) share their sums: what a function never looks at cannot change its result,
so it is watched. And leaving one out asks the learner's own formula where the scores are functions
of single rows.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import ClassifierMixin, clone

from novum.core.errors import InputError, MemoryLimitError, NotAdditiveError
from novum.core.runtime import check_cancelled
from novum.core.sums import StatisticsMixin, fold_statistics, left_out_predictions, whole_sample
from novum.evaluation.validation.fold_fits import FoldRun, FoldWork, judged_fold
from novum.numerics import Array, Floats, one_blas_thread

Runs = dict[str, dict[int, FoldRun]]


def has_exact_folds(model: Any, work: FoldWork) -> bool:
    """Whether the folds of this learner can come from sums."""
    return (
        isinstance(model, StatisticsMixin)
        and model._is_additive()
        and getattr(model, "unlabelled", None) is None
        and set(work.fit_params) <= {"sample_weight"}
        and work.y is not None
    )


def exact_runs(
    models: Mapping[str, Any], wanted: Mapping[str, Sequence[int]], work: FoldWork
) -> Runs | None:
    """Outcomes of the wanted folds of learners that share their sums; None where sums fail.

    Parameters
    ----------
    models : mapping of names to learners of one group (`groups_by_sums`)
    wanted : mapping of the same names to numbers of folds
    work : FoldWork
    """
    first = next(iter(models.values()))
    try:
        with one_blas_thread():
            if _has_quick_leaving(first, work):
                return {
                    name: _left_out(model, wanted[name], work) for name, model in models.items()
                }
            return _from_sums(models, wanted, work)
    except _SumsDifferError:
        alone = [exact_runs({name: model}, wanted, work) for name, model in models.items()]
        return None if None in alone else {k: v for runs in alone if runs for k, v in runs.items()}
    except (NotAdditiveError, MemoryLimitError, InputError):
        # The slow way may do better, and otherwise says in which fold it fails.
        return None


class _SumsDifferError(Exception):
    """Learners that were to share their sums turned out not to."""


def _from_sums(
    models: Mapping[str, Any], wanted: Mapping[str, Sequence[int]], work: FoldWork
) -> Runs:
    adder, seen = clone(next(iter(models.values()))), set[str]()
    if len(models) > 1:
        adder, seen = _watched(adder)
    runs: Runs = {name: {} for name in models}
    began = time.perf_counter()
    weight = work.fit_params.get("sample_weight")
    sample = whole_sample(adder, work.X, work.y, weight)
    reading = (time.perf_counter() - began) / (len(work.splits) * len(models))
    for repeat in range(work.splits.n_repeats):
        folds = work.splits.repeat(repeat)
        start = repeat * work.splits.n_folds
        numbers = range(start, start + len(folds))
        if not any(number in wanted[name] for name in models for number in numbers):
            continue
        check_cancelled()
        began = time.perf_counter()
        sums = fold_statistics(adder, sample, folds)
        _check_shared(models, seen)
        shared = reading + (time.perf_counter() - began) / (len(folds) * len(models))
        for number, statistics in zip(numbers, sums, strict=True):
            for name, model in models.items():
                if number in wanted[name]:
                    fit = partial(clone(model).fit_statistics, statistics)
                    runs[name][number] = judged_fold(
                        fit, model, work, number, exact=True, shared=shared
                    )
    return runs


# --- Leaving one out ------------------------------------------------------------------------------


def _has_quick_leaving(model: Any, work: FoldWork) -> bool:
    return (
        work.splits.is_leave_one_out
        and getattr(model, "_leave_one_out", None) is not None
        and work.keep in (None, "predict")
        and work.describe is None
        and not work.return_estimator
        and not work.train_scores
        and all(row_scores(scorer, model) is not None for scorer in work.scoring.values())
    )


def _left_out(model: Any, wanted: Sequence[int], work: FoldWork) -> dict[int, FoldRun]:
    began = time.perf_counter()
    weight = work.fit_params.get("sample_weight")
    sample = whole_sample(clone(model), work.X, work.y, weight)
    predicted = left_out_predictions(model, sample, work.X, model._leave_one_out)
    seconds = (time.perf_counter() - began) / len(work.splits)
    scores = {}
    for name, scorer in work.scoring.items():
        measure = row_scores(scorer, model)
        assert measure is not None
        scores[name] = np.asarray(measure(work.y, predicted), np.float64)
    runs = {}
    for number in wanted:
        row = int(work.splits.test(number)[0])
        runs[number] = FoldRun(
            scores={name: float(values[row]) for name, values in scores.items()},
            fit_seconds=seconds,
            n_train=work.splits.n_rows - 1,
            n_test=1,
            output=predicted[row : row + 1] if work.keep else None,
            exact=True,
        )
    return runs


# --- Learners that share their sums ---------------------------------------------------------------


def groups_by_sums(models: Mapping[str, Any], work: FoldWork) -> list[list[str]]:
    """Names of learners, together where their statistics are the same function of the rows."""
    groups: list[tuple[Any, frozenset[str], list[str]]] = []
    for name, model in models.items():
        for leader, seen, names in groups:
            if type(leader) is type(model) and _differs_elsewhere(leader, model, seen):
                names.append(name)
                break
        else:
            # Looked at once for each group; a learner on its own needs no look.
            seen = parameters_of_sums(model, work) if len(models) > 1 else frozenset()
            groups.append((model, seen, [name]))
    return [names for _, _, names in groups]


def parameters_of_sums(model: Any, work: FoldWork) -> frozenset[str]:
    """The parameters that reading and summing rows look at; all, where that cannot be told.

    Some rows are summed to find out; `_check_shared` looks again when all are.
    """
    watched, seen = _watched(clone(model))
    try:
        weight = work.fit_params.get("sample_weight")
        sample = whole_sample(watched, work.X, work.y, weight)
        with one_blas_thread():
            watched._sum(sample.rows(_some_of_each_class(sample)))
    except (NotAdditiveError, MemoryLimitError, InputError):
        return frozenset(model.get_params(deep=False))
    return _parameters(model, seen)


def _parameters(model: Any, seen: set[str]) -> frozenset[str]:
    # Whoever asks for the whole state may have looked at anything.
    whole = {"__dict__", "get_params", "__getstate__", "__reduce_ex__", "_validate_params"}
    everything = frozenset(model.get_params(deep=False))
    return everything if whole & seen else everything & frozenset(seen)


def _check_shared(models: Mapping[str, Any], seen: set[str]) -> None:
    first, *others = models.values()
    looked = _parameters(first, set(seen)) if others else frozenset()
    if not all(_differs_elsewhere(first, other, looked) for other in others):
        raise _SumsDifferError


def _some_of_each_class(sample: Any) -> Any:
    """A few rows that count, of every class."""
    n_rows = sample.n_rows
    counted = np.arange(n_rows) if sample.weight is None else np.flatnonzero(sample.weight > 0)
    if sample.classes is None:
        return counted[:1000]
    firsts = np.unique(sample.target[counted], return_index=True)[1]
    return np.unique(np.concatenate([counted[firsts], counted[:1000]]))


def _watched(model: Any) -> tuple[Any, set[str]]:
    """The model, and the names of all attributes it is asked for from now on."""
    seen: set[str] = set()
    kind: Any = type(model)

    def look(self: Any, name: str) -> Any:
        seen.add(name)
        return kind.__getattribute__(self, name)

    model.__class__ = type(kind.__name__, (kind,), {"__getattribute__": look})
    return model, seen


def _differs_elsewhere(one: Any, other: Any, seen: frozenset[str]) -> bool:
    ours, theirs = one.get_params(deep=False), other.get_params(deep=False)
    return all(_same(ours[name], theirs[name]) for name in seen)


def _same(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return type(one) is type(other) and bool(np.all(one == other))
    except (TypeError, ValueError):
        return False


# --- Scores of single rows ------------------------------------------------------------------------
# Scores of single rows: what leaving one out gives when a score is a function of one prediction.
#
# A fold that tests one row has the score of that row. For the measures below all n folds are scored
# at once in place of n calls of a scorer, and to the same numbers.


RowScores = Callable[[Array, Array], Floats]


def row_scores(scorer: Any, model: Any) -> RowScores | None:
    """Scores of rows by `(y, predictions)`, or None if the scorer is not known to be such.

    Examples
    --------
    >>> from sklearn.metrics import get_scorer
    >>> by_row = row_scores(get_scorer("neg_mean_squared_error"), None)
    >>> by_row(np.array([1.0, 2.0]), np.array([1.0, 4.0])).tolist()
    [-0.0, -4.0]
    """
    inner = getattr(scorer, "function", scorer)
    if getattr(inner, "measure", None) is not None:
        plain = inner.point is None and not inner.measure.settings
        return _OURS.get(inner.measure.name) if plain else None
    if type(inner).__name__ == "_PassthroughScorer":
        own = getattr(type(model), "score", None)
        return _hits if own is ClassifierMixin.score else None
    function = getattr(inner, "_score_func", None)
    if function is None or getattr(inner, "_kwargs", None):
        return None
    known = _THEIRS.get((getattr(function, "__name__", ""), getattr(inner, "_sign", 0)))
    return known if (getattr(function, "__module__", "") or "").startswith("sklearn.") else None


def _hits(y: Array, predicted: Array) -> Floats:
    return (y == predicted).astype(np.float64)


def _squares(y: Array, predicted: Array) -> Floats:
    return -_mean_over_targets((y.astype(np.float64) - predicted) ** 2)


def _distances(y: Array, predicted: Array) -> Floats:
    return -_mean_over_targets(np.abs(y.astype(np.float64) - predicted))


def _mean_over_targets(values: Floats) -> Floats:
    return values if values.ndim == 1 else values.mean(axis=1)


_THEIRS: dict[tuple[str, int], RowScores] = {
    ("accuracy_score", 1): _hits,
    ("mean_squared_error", -1): _squares,
    ("mean_absolute_error", -1): _distances,
    # The root of one square is the distance, target by target.
    ("root_mean_squared_error", -1): _distances,
}

_OURS: dict[str, RowScores] = {
    "accuracy": _hits,
    "mse": _squares,
    "mae": _distances,
    "rmse": _distances,
}
