"""Every split that a node could have, with the figures by which one is chosen.

    gain          = I(node) - sum_b W_b/W I(branch b)      over the rows whose cell is known
    information   = -sum_b W_b/W log2 W_b/W                missing cells as one branch more
    gain ratio    = gain / information

Trees by entropy, Gini, squared or absolute error take the split of largest gain. C4.5's gain ratio
first takes the best threshold of each column by gain, then compares columns by ratio, but only
those whose gain is at least the average (see `trees.general.gain_ratio`): such splits *compete*.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.tables import Column, Kind, Schema
from novum.numerics import Array, Floats, Mask, Positions
from novum.trees.general.gain_ratio import SLACK, GainRatio, takes_part
from novum.trees.reading.candidate_table import Candidates, CandidateSplit
from novum.trees.reading.conditions import Interval, LevelSet, whole_code
from novum.trees.reading.questions import answer_text, condition_text, name_text, number_between
from novum.trees.reading.split_scores import ColumnSplits, NodeRows, absolute_mass, column_splits
from novum.trees.tree import Question

# Gains closer than this part of the node's impurity are ties: lowest column, lowest threshold.
_TIE = 1e-10
_MEASURES = {
    "gini": "gini",
    "entropy": "entropy",
    "log_loss": "entropy",
    "gain_ratio": "entropy",
    "squared_error": "squared_error",
    "absolute_error": "absolute_error",
}
_NUMBERS = ("squared_error", "absolute_error")
_NOMINAL = ("subset", "single", "auto", "multiway")


def candidates(
    cells: ArrayLike,
    targets: ArrayLike,
    weight: ArrayLike | None,
    schema: Schema,
    *,
    criterion: str | GainRatio = "gini",
    nominal: str = "subset",
    missing: str = "fractional",
    classes: tuple[Array, ...] | None = None,
    min_samples_leaf: float = 0.0,
    target: int = 0,
    limit: int | None = None,
) -> Candidates:
    """Every split of a node with these rows, best first.

    Parameters
    ----------
    cells : array of shape (n, number of columns)
        Numbers and codes of levels, NaN where missing.
    targets : array of shape (n,) or (n, n_targets), class codes or numbers
    weight : array of shape (n,), or None where every row counts once
    schema : Schema
    criterion : {"gini", "entropy", "gain_ratio", "squared_error", "absolute_error"} or GainRatio
    nominal : {"subset", "single", "auto", "multiway"}
    missing : {"fractional", "auto"}
        Whether there are also splits with a branch for missing cells.
    classes : tuple of label arrays, one for each target
        Codes name themselves where not given.
    min_samples_leaf : float
        Splits with a lighter branch are none; C4.5 asks it of two branches.
    target : int
        Whose class weights or means are told of each branch; gains are those of all targets.
    limit : int, optional
        Keep only so many.

    Returns
    -------
    Candidates

    Examples
    --------
    >>> from novum.core.tables import Schema
    >>> x, y = [[1.0], [2.0], [3.0], [4.0]], [0, 0, 1, 1]
    >>> best = candidates(x, y, None, Schema.of_array(1), criterion="entropy")[0]
    >>> best.words, best.gain
    ('x0 <= 2.5', 1.0)
    """
    rows, labels = checked_rows(cells, targets, weight, schema, criterion, nominal, classes)
    if not 0 <= target < rows.targets.shape[1]:
        raise InputError(f"There are {rows.targets.shape[1]} targets, got target={target!r}.")
    ratio = _gain_ratio(criterion)
    resolution = ratio.resolution if ratio else 0.0
    by_column = [
        column_splits(rows, column, kind, nominal, resolution, missing_alone=missing == "auto")
        for column, kind in enumerate(schema.columns)
    ]
    splits = [
        _heavy_enough(one, rows, ratio, min_samples_leaf) for one in by_column if one is not None
    ]
    scores = _Scores.of(splits, rows, ratio)
    order = scores.order(rows)
    return Candidates(
        splits=tuple(scores.split(int(k), rows, schema, target) for k in order[:limit]),
        impurity=node_impurity(rows),
        weight=rows.total,
        labels=None if labels is None else labels[target],
        n_splits=len(order),
        unlisted=sum(one.unlisted for one in splits),
    )


def node_impurity(rows: NodeRows) -> float:
    if rows.total <= 0:
        return 0.0
    if rows.measure == "absolute_error":
        return absolute_mass(rows.targets, rows.weight) / rows.total
    return float(rows.impurity_mass(rows.sums.sum(axis=0))) / rows.total


# --- Scores ---------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Scores:
    """All splits of all columns side by side.

    Attributes
    ----------
    owner : list of (ColumnSplits, place in it)
    gain, information, merit : arrays of shape (n_splits,)
    competes : boolean array of shape (n_splits,)
    """

    owner: list[tuple[ColumnSplits, int]]
    gain: Floats
    information: Floats
    merit: Floats
    competes: Mask

    @classmethod
    def of(cls, splits: list[ColumnSplits], rows: NodeRows, ratio: GainRatio | None) -> _Scores:
        owner = [(one, i) for one in splits for i in range(len(one))]
        gain = np.array([one.gains[i] for one, i in owner])
        information = np.array([_information(one.weights[i], rows) for one, i in owner])
        if ratio is None:
            return cls(owner, gain, information, gain, np.ones(len(owner), bool))
        paid = gain - np.array([_penalty(one, i, rows, ratio) for one, i in owner])
        merit = _quotient(paid, information)
        competes = _competing(splits, owner, paid, rows, ratio)
        return cls(owner, gain, information, merit, competes)

    def order(self, rows: NodeRows) -> Positions:
        """Those that compete first, then by merit; ties in the order they stand here."""
        scale = _TIE * max(node_impurity(rows), 1e-300)
        steps = np.round(self.merit / scale)
        return np.lexsort([np.arange(len(self.owner)), -steps, ~self.competes])

    def split(self, k: int, rows: NodeRows, schema: Schema, target: int) -> CandidateSplit:
        one, i = self.owner[k]
        threshold = float(one.thresholds[i]) if one.thresholds.size else math.nan
        low, high = one.between[i] if one.thresholds.size else (math.nan, math.nan)
        levels = one.groups[i] if one.groups else ()
        return CandidateSplit(
            column=one.column,
            words=_words(one, i, schema.columns[one.column]),
            gain=float(self.gain[k]),
            split_information=float(self.information[k]),
            gain_ratio=float(_quotient(self.gain[k : k + 1], self.information[k : k + 1])[0]),
            merit=float(self.merit[k]),
            competes=bool(self.competes[k]),
            branch_weights=tuple(map(float, one.weights[i])),
            question=one.question,
            threshold=threshold,
            between=(float(low), float(high)),
            levels=levels,
            branch_values=_branch_values(rows, one.column, threshold, levels, target),
        )


def _information(weights: Floats, rows: NodeRows) -> float:
    """Entropy in bits of the branches, where missing cells count as one branch more."""
    masses = [*map(float, weights), max(rows.total - float(weights.sum()), 0.0)]
    total = math.fsum(masses)
    parts = [mass / total for mass in masses if mass > 0]
    return -math.fsum(p * math.log2(p) for p in parts) if len(parts) > 1 else 0.0


def _quotient(gain: Floats, information: Floats) -> Floats:
    safe = np.where(information > 0, information, 1.0)
    return np.asarray(np.where(information > 0, gain / safe, 0.0))


def _branch_values(
    rows: NodeRows,
    column: int,
    threshold: float,
    levels: tuple[tuple[int, ...], ...],
    target: int,
) -> tuple[tuple[float, ...], ...]:
    """Class weights of each branch, or its mean."""
    cells = rows.cells[:, column]
    if levels:
        inside = [np.isin(cells, group) if group else np.isnan(cells) for group in levels]
    else:
        inside = [cells <= threshold, ~(cells <= threshold)]
        inside[1] &= ~np.isnan(cells) | np.isinf(threshold)
    y = rows.targets[:, target]
    if rows.n_classes is None:
        return tuple((float(np.average(y[b], weights=rows.weight[b])),) for b in inside)
    k = rows.n_classes[target]
    counts = [np.bincount(y[b].astype(int), rows.weight[b], k) for b in inside]
    return tuple(tuple(map(float, row)) for row in counts)


def _words(splits: ColumnSplits, i: int, column: Column) -> str:
    if splits.question is Question.THRESHOLD:
        if column.kind is Kind.ORDINAL or splits.parts_missing(i):
            bound = whole_code(column, float(splits.thresholds[i]))
            return condition_text(column, Interval(high=bound))
        low, high = map(float, splits.between[i])
        written = number_between(float(splits.thresholds[i]), low, high)
        return f"{name_text(column.name)} <= {written}"
    answers = [
        answer_text(column, LevelSet(group, column.n_levels, missing=not group))
        .removeprefix("= ")
        .removeprefix("in ")
        for group in splits.groups[i]
    ]
    return f"{name_text(column.name)}: {' | '.join(answers)}"


# --- The rules of C4.5 ----------------------------------------------------------------------------


def _gain_ratio(criterion: str | GainRatio) -> GainRatio | None:
    if isinstance(criterion, str):
        return GainRatio() if criterion == "gain_ratio" else None
    return criterion


def _heavy_enough(
    splits: ColumnSplits, rows: NodeRows, ratio: GainRatio | None, least: float
) -> ColumnSplits:
    """Without the splits that have too light a branch."""
    is_threshold = splits.question is Question.THRESHOLD
    bound = least
    if ratio is not None and is_threshold and rows.n_classes is not None:
        known = float(rows.weight[~np.isnan(rows.cells[:, splits.column])].sum())
        bound = max(least, min(25.0, known / (10 * rows.n_classes[0]))) if least > 0 else 0.0
    # C4.5 asks of a split with many branches that two are heavy enough.
    needed = 2 if ratio is not None else None
    slack = 1 - _TIE
    kept = [
        i
        for i, weights in enumerate(splits.weights)
        if (weights >= (least if splits.parts_missing(i) else bound) * slack).sum()
        >= (needed or len(weights))
    ]
    return replace(
        splits,
        thresholds=splits.thresholds[kept] if is_threshold else splits.thresholds,
        between=splits.between[kept] if is_threshold else splits.between,
        groups=tuple(splits.groups[i] for i in kept) if splits.groups else (),
        weights=[splits.weights[i] for i in kept],
        gains=splits.gains[kept],
    )


def _penalty(splits: ColumnSplits, i: int, rows: NodeRows, ratio: GainRatio) -> float:
    """What a threshold pays for having been chosen among many."""
    is_threshold = splits.question is Question.THRESHOLD and not splits.parts_missing(i)
    if not (ratio.numeric_penalty and is_threshold):
        return 0.0
    return math.log2(np.isfinite(splits.thresholds).sum()) / rows.total


def _competing(
    splits: list[ColumnSplits],
    owner: list[tuple[ColumnSplits, int]],
    paid: Floats,
    rows: NodeRows,
    ratio: GainRatio,
) -> Mask:
    """The best split of each column by gain, where that is at least the average of these."""
    competes = np.zeros(len(owner), bool)
    place, best, n_levels = 0, [], []
    for one in splits:
        if len(one):
            best.append(place + int(np.argmax(paid[place : place + len(one)])))
            n_levels.append(sum(map(len, one.groups[0])) if one.groups else 0)
            place += len(one)
    if best:
        gains = paid[best]
        counted = takes_part(np.array(n_levels), rows.total)
        floor = gains[counted].mean() - SLACK if ratio.at_least_average else -math.inf
        competes[[k for k, gain in zip(best, gains, strict=True) if gain >= floor]] = True
    return competes


# --- Checks ---------------------------------------------------------------------------------------


def checked_rows(
    cells: ArrayLike,
    targets: ArrayLike,
    weight: ArrayLike | None,
    schema: Schema,
    criterion: str | GainRatio,
    nominal: str,
    classes: tuple[Array, ...] | None,
) -> tuple[NodeRows, tuple[Array, ...] | None]:
    """The rows of a node, and the labels of the classes."""
    measure = _measure(criterion)
    if nominal not in _NOMINAL:
        raise InputError(f"nominal is one of {', '.join(_NOMINAL)}, got {nominal!r}.")
    table = np.asarray(cells, float)
    answers = np.asarray(targets, float)
    answers = answers[:, None] if answers.ndim == 1 else answers
    weights = np.ones(len(table)) if weight is None else np.asarray(weight, float)
    if table.ndim != 2 or table.shape[1] != schema.n_columns:
        raise InputError(
            f"The schema has {schema.n_columns} columns, the cells have shape {table.shape}. Give "
            "one cell for each column, in the order of the schema."
        )
    if not len(table) == len(answers) == len(weights):
        raise InputError(
            f"There are {len(table)} rows of cells, {len(answers)} targets and {len(weights)} "
            "weights. Give one of each for every row."
        )
    if measure in _NUMBERS:
        return NodeRows(table, answers, weights, None, measure), None
    labels = classes or tuple(np.arange(int(max(y, default=0)) + 1) for y in answers.T)
    n_classes = tuple(len(names) for names in labels)
    return NodeRows(table, answers, weights, n_classes, measure), labels


def _measure(criterion: str | GainRatio) -> str:
    name = criterion if isinstance(criterion, str) else "gain_ratio"
    if name not in _MEASURES:
        raise InputError(f"criterion is one of {', '.join(_MEASURES)}, got {criterion!r}.")
    return _MEASURES[name]
