"""The table of a search: scikit-learn's `cv_results_`, with intervals.

For each candidate and score: the score of every fold, their mean, their standard deviation and
rank, as in scikit-learn; besides the standard error of the mean, corrected for the overlap of the
folds' training parts, and the limits of its 95 % interval (`certainty`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.ma import MaskedArray
from numpy.typing import NDArray
from scipy.stats import rankdata

from novum.evaluation.validation.certainty import corrected_interval, variance_of_mean
from novum.evaluation.validation.outcomes import FoldRun
from novum.numerics.ties import merge_rounding

Floats = NDArray[np.float64]
Table = dict[str, Any]


def search_results(
    candidates: Sequence[Mapping[str, Any]],
    outcomes: Sequence[tuple[FoldRun, ...]],
    ratios: Sequence[float],
    more: Mapping[str, Sequence[Any]] | None = None,
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
    """
    table: Table = {name: np.asarray(values) for name, values in (more or {}).items()}
    for key, name in (("fit_seconds", "fit_time"), ("score_seconds", "score_time")):
        times = np.array([[getattr(run, key) for run in runs] for runs in outcomes])
        table[f"mean_{name}"] = times.mean(axis=1)
        table[f"std_{name}"] = times.std(axis=1)
    table["params"] = [dict(candidate) for candidate in candidates]
    for name in score_names(outcomes):
        scores = _scores(outcomes, "scores", name)
        _add_scores(table, f"test_{name}", scores)
        table[f"rank_test_{name}"] = _ranks(table[f"mean_test_{name}"])
        _add_intervals(table, f"test_{name}", scores, ratios)
        if outcomes[0][0].train_scores:
            _add_scores(table, f"train_{name}", _scores(outcomes, "train_scores", name))
    return table


def score_names(outcomes: Sequence[tuple[FoldRun, ...]]) -> list[str]:
    """Names of the scores, by a fold that did not fail."""
    runs = [run for folds in outcomes for run in folds]
    whole = (run for run in runs if run.error is None and not run.failed_scores)
    done = next(whole, runs[0])
    return list(done.scores)


def with_parameters(table: Mapping[str, Any]) -> Table:
    """The table with a masked column `param_<name>` for every parameter, as scikit-learn's."""
    found: Table = {}
    for key, column in table.items():
        if key == "params":
            found.update(_parameter_columns(column))
        found[key] = column
    return found


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


def _scores(outcomes: Sequence[tuple[FoldRun, ...]], kind: str, name: str) -> Floats:
    def value(run: FoldRun) -> float:
        scores: Mapping[str, float] = getattr(run, kind)
        return scores[name] if name in scores else next(iter(scores.values()), np.nan)

    return np.array([[value(run) for run in runs] for runs in outcomes], np.float64)


def _add_scores(table: Table, name: str, scores: Floats) -> None:
    for fold in range(scores.shape[1]):
        table[f"split{fold}_{name}"] = scores[:, fold]
    table[f"mean_{name}"] = scores.mean(axis=1)
    table[f"std_{name}"] = scores.std(axis=1)


def _add_intervals(table: Table, name: str, scores: Floats, ratios: Sequence[float]) -> None:
    errors, limits = np.full(len(scores), np.nan), np.full((len(scores), 2), np.nan)
    for i, (row, ratio) in enumerate(zip(scores, ratios, strict=True)):
        if len(row) > 1 and np.isfinite(row).all():
            errors[i] = np.sqrt(variance_of_mean(row, ratio))
            limits[i] = tuple(corrected_interval(row, ratio))
    table[f"standard_error_{name}"] = errors
    table[f"low_{name}"], table[f"high_{name}"] = limits.T


def _ranks(means: Floats) -> NDArray[np.int32]:
    """1 for the best; candidates without a score share the last place."""
    if np.isnan(means).all():
        return np.ones(len(means), np.int32)
    filled = np.where(np.isnan(means), np.nanmin(means) - 1, means)
    return rankdata(-merge_rounding(filled), method="min").astype(np.int32)
