"""Probabilities of classes from decision values of rows that the machine has not seen.

    P(positive | x) = g(f(x)),     g a sigmoid (Platt 1999) or any function that never falls

Support vectors of the training rows lie on the margin by construction, so `g` is fitted to decision
values of five machines, each trained without the rows it is asked about. Objects are dealt to the
folds class by class, so that every fold has its share of each; rows that are equal are one object
and never stand on both sides. The pairs of many classes are coupled by least squares (Wu, Lin and
Weng 2004); classes against the rest are normalized.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from novum.core.randomness import RandomSource, stream
from novum.numerics.coupling import couple_least_squares, normalize_one_vs_rest
from novum.numerics.isotonic import IsotonicMap, fit_isotonic
from novum.numerics.sigmoid import SigmoidMap, fit_sigmoid
from novum.svm.binary_machine import BinaryMachine, BinaryTask
from novum.svm.kernel_machine import expand

Floats = NDArray[np.float64]
Positions = NDArray[np.intp]
ScoreMap = SigmoidMap | IsotonicMap

N_FOLDS = 5


def fit_map(
    task: BinaryTask,
    fit: Callable[[BinaryTask], BinaryMachine],
    method: str,
    random_state: RandomSource = None,
) -> ScoreMap:
    """The map from decision values of one machine to probabilities of its positive class.

    Parameters
    ----------
    task : BinaryTask
    fit : callable
        From a task to its machine.
    method : {"sigmoid", "isotonic"}
    random_state : None, int or generator
        None deals objects to folds in the order of the task, which is that of digests of the rows
        of a table (`novum.svm.solver.distinct_rows`), so that the folds do not depend on the
        order of the table, and for precomputed similarities and other objects the given one.
        Anything else shuffles them before.
    """
    scores = held_out_scores(task, fit, folds_of(task.sign, random_state))
    positive = (task.sign > 0).astype(float)
    fitted = fit_sigmoid if method == "sigmoid" else fit_isotonic
    return fitted(scores, positive, task.count)


def folds_of(sign: Floats, random_state: RandomSource = None) -> NDArray[np.intp]:
    """The fold of every object, dealt class by class.

    Examples
    --------
    >>> folds_of(np.array([1.0, 1.0, -1.0, 1.0, -1.0])).tolist()
    [2, 3, 0, 4, 1]
    """
    folds = np.empty(len(sign), np.intp)
    dealt = 0
    for side in (-1.0, 1.0):
        rows = np.flatnonzero(sign == side)
        if random_state is not None:
            rows = stream(random_state, "folds", int(side > 0)).permutation(rows)
        folds[rows] = (dealt + np.arange(len(rows))) % N_FOLDS
        dealt += len(rows)
    return folds


def held_out_scores(
    task: BinaryTask, fit: Callable[[BinaryTask], BinaryMachine], folds: NDArray[np.intp]
) -> Floats:
    """For every object the decision value of a machine that was fitted without it."""
    scores = np.empty(len(folds))
    for fold in np.unique(folds):
        out = np.flatnonzero(folds == fold)
        scores[out] = _scores_of(task, fit, np.flatnonzero(folds != fold), out)
    return scores


def _scores_of(
    task: BinaryTask,
    fit: Callable[[BinaryTask], BinaryMachine],
    rows: Positions,
    out: Positions,
) -> Floats:
    sign = task.sign[rows]
    if not len(sign) or (sign == sign[0]).all():
        # All that is known without a class is the other one, at its margin.
        return np.full(len(out), sign[0] if len(sign) else 0.0)
    part = replace(
        task,
        prepared=task.prepared.take(rows),
        sign=sign,
        weight=task.weight[rows],
        count=task.count[rows],
    )
    machine = fit(part)
    kept = np.flatnonzero(machine.coefficients)
    support = part.prepared.take(kept)
    sums = expand(task.prepared.take(out), support, machine.coefficients[np.newaxis, kept])
    return sums[:, 0] + machine.intercept


def probabilities(maps: Sequence[ScoreMap], margins: Floats, *, paired: bool) -> Floats:
    """Probabilities of all classes, of shape (n, K), each row summing to one.

    Parameters
    ----------
    maps : sequence of maps
        Of the machines.
    margins : array of shape (n, n_members)
        Their decision values.
    paired : bool
        Whether the machines stand for pairs of classes; a single one does.
    """
    columns = np.column_stack([g.predict(margins[:, k]) for k, g in enumerate(maps)])
    if paired:
        first = np.column_stack([_other(g, margins[:, k]) for k, g in enumerate(maps)])
        return couple_least_squares(columns, first).probabilities
    with np.errstate(divide="ignore"):
        return normalize_one_vs_rest(np.log(columns))


def _other(fitted: ScoreMap, scores: Floats) -> Floats:
    """The probability of the negative class, to all its digits where the map allows."""
    if isinstance(fitted, SigmoidMap):
        return SigmoidMap(-fitted.slope, -fitted.intercept).predict(scores)
    return np.asarray(1.0 - fitted.predict(scores))
