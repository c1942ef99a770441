"""Many classes by binary learners: each class against the rest, or every pair of classes.

    one against the rest   K members; member k learns "is it k?" from all rows
    all pairs              K (K - 1) / 2 members; member (i, j) learns "is it j?" from the rows of
                           i and j

Both are loops over independent binary problems, for any learner. They are functions of arrays, so
that learners of lower layers (a support vector machine) have many classes by them; the classes
`OneVsRestClassifier` and `OneVsOneClassifier` are their doors. Targets of many labels are the first
loop with the labels as classes (binary relevance).

Tables reach the learner as they are: frames stay frames, missing cells stay missing.
"""

from __future__ import annotations

import copy
import inspect
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split
from sklearn.utils.validation import _check_method_params

from novum.core.errors import InputError
from novum.core.learners.multiclass_members import (
    ConstantPredictor,
    ConstantTargetWarning,
    unfitted_members,
)
from novum.core.runtime import RandomSource, fitted_model, run_tasks
from novum.core.tables import LabelTarget, n_rows_of, rows_of, with_checked_weight
from novum.numerics import Integers, Positions, pair_indices

Params = Mapping[str, Any]


class BinaryTask(NamedTuple):
    """One member and what it is fitted to."""

    member: Any
    X: Any
    target: Integers
    params: Params
    question: str


# --- One against the rest -------------------------------------------------------------------------


def fit_one_vs_rest(
    estimator: Any,
    X: Any,
    labels: LabelTarget,
    params: Params | None = None,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
    random_state: RandomSource = None,
) -> list[Any]:
    """One fitted member for each label; of two classes one for the second.

    Parameters
    ----------
    estimator : classifier or regressor
        Cloned for each member.
    X : table of any kind
    labels : LabelTarget
        Of as many rows.
    params : mapping, optional
        Further arguments of `estimator.fit`, such as `sample_weight`.
    n_jobs, verbose
        As in `run_tasks`; results do not depend on them.
    random_state
        Seeds members whose estimator has no seed.

    Notes
    -----
    A label that no row or every row has gets a `ConstantPredictor`, with a warning.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.core.tables import read_labels
    >>> X = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.2]]
    >>> labels = read_labels(["a", "a", "b", "b", "c", "c"], "Learner")
    >>> len(fit_one_vs_rest(GaussianNB(), X, labels))
    3
    """
    chosen = positive_labels(labels)
    constant = {k: c for k in chosen if (c := _constant(labels, k)) is not None}
    for k, member in constant.items():
        _warn_constant(labels.classes[k], member.label == 1, labels.n_rows)
    members = unfitted_members(estimator, len(chosen), random_state)
    given = dict(params or {})
    tasks = (
        BinaryTask(constant.get(k, member), X, labels.column(k), given, _question(labels, k))
        for k, member in zip(chosen, members, strict=True)
    )
    return run_tasks(_fitted, tasks, n_jobs, verbose=verbose)


def positive_labels(labels: LabelTarget) -> list[int]:
    """The labels that have a member: all, but of two classes the second only."""
    n_labels = len(labels.classes)
    return [1] if n_labels == 2 and not labels.is_multilabel else list(range(n_labels))


def _constant(labels: LabelTarget, label: int) -> ConstantPredictor | None:
    # Classes of single-label targets all have rows, and there are at least two of them.
    if not labels.is_multilabel:
        return None
    count = int(labels.column(label).sum())
    return ConstantPredictor(int(count > 0)) if count in (0, labels.n_rows) else None


def _warn_constant(label: Any, always: bool, n_rows: int) -> None:
    share, answer = ("all", "yes") if always else ("none", "no")
    warnings.warn(
        f"Label {label!s} is in {share} of the {n_rows} rows, so there is nothing to learn about "
        f"it, and its member always says {answer}. Leave the label out, or add rows.",
        ConstantTargetWarning,
        stacklevel=4,
    )


def _fitted(task: BinaryTask) -> Any:
    if isinstance(task.member, ConstantPredictor):
        return task.member
    try:
        return fitted_model(task.member, task.X, task.target, **task.params)
    except Exception as error:
        error.add_note(f"This happened in the fit of the member for {task.question}.")
        raise


def _question(labels: LabelTarget, label: int) -> str:
    return f"label {labels.classes[label]!s} against the rest"


# --- All pairs ------------------------------------------------------------------------------------


def fit_all_pairs(
    estimator: Any,
    X: Any,
    labels: LabelTarget,
    params: Params | None = None,
    *,
    n_jobs: int | None = None,
    random_state: RandomSource = None,
) -> tuple[list[Any], list[Positions]]:
    """One fitted member for each pair of classes, and the rows it was fitted to.

    Pairs are in the order of `novum.numerics.pair_indices`; a member says 1 for the second
    class of its pair. Arguments are those of `fit_one_vs_rest`. Where the estimator takes tables of
    rows against rows (its tag `pairwise`), a member gets the columns of its rows too.

    Examples
    --------
    >>> from novum.bayes import GaussianNB
    >>> from novum.core.tables import read_labels
    >>> X = [[0.0], [0.1], [2.0], [2.1], [5.0], [5.2]]
    >>> labels = read_labels(["a", "a", "b", "b", "c", "c"], "Learner")
    >>> members, rows = fit_all_pairs(GaussianNB(), X, labels)
    >>> [r.tolist() for r in rows]
    [[0, 1, 2, 3], [0, 1, 4, 5], [2, 3, 4, 5]]
    """
    rows = pair_rows(labels)
    members = unfitted_members(estimator, len(rows), random_state)
    tasks = _pair_tasks(members, estimator, X, labels, rows, dict(params or {}))
    return run_tasks(_fitted, tasks, n_jobs), rows


def pair_rows(labels: LabelTarget) -> list[Positions]:
    """For each pair of classes the rows that belong to one of the two, in their order."""
    codes = _one_label(labels)
    own = [np.flatnonzero(codes == k) for k in range(len(labels.classes))]
    pairs = zip(*pair_indices(len(own)), strict=True)
    return [np.sort(np.concatenate((own[i], own[j]))) for i, j in pairs]


def _pair_tasks(
    members: Sequence[Any],
    estimator: Any,
    X: Any,
    labels: LabelTarget,
    rows: Sequence[Positions],
    params: Params,
) -> Iterator[BinaryTask]:
    codes, pairwise = _one_label(labels), get_tags(estimator).input_tags.pairwise
    pairs = zip(*pair_indices(len(labels.classes)), strict=True)
    for member, chosen, (i, j) in zip(members, rows, pairs, strict=True):
        part = _safe_split(estimator, X, None, chosen)[0] if pairwise else rows_of(X, chosen)
        own = _check_method_params(X, params, chosen)
        question = f"{labels.classes[j]!s} against {labels.classes[i]!s}"
        yield BinaryTask(member, part, (codes[chosen] == j).astype(np.int64), own, question)


def _one_label(labels: LabelTarget) -> Integers:
    if labels.codes is None:
        raise InputError("Pairs of classes need one label for each row; y has sets of them.")
    return labels.codes


# --- Rows that come later -------------------------------------------------------------------------


def add_one_vs_rest(
    members: Sequence[Any], X: Any, labels: LabelTarget, params: Params, n_jobs: int | None = None
) -> list[Any]:
    """Members with these rows added by `partial_fit`; the given ones do not change."""
    tasks = (
        BinaryTask(member, X, labels.column(k), params, _question(labels, k))
        for k, member in zip(positive_labels(labels), members, strict=True)
    )
    return run_tasks(_with_rows, tasks, n_jobs)


def add_all_pairs(
    members: Sequence[Any], X: Any, labels: LabelTarget, params: Params, n_jobs: int | None = None
) -> list[Any]:
    """Pairs with their rows of these added by `partial_fit`; the given ones do not change."""
    tasks = _pair_tasks(members, members[0], X, labels, pair_rows(labels), params)
    return run_tasks(_with_rows, tasks, n_jobs)


def _with_rows(task: BinaryTask) -> Any:
    if len(task.target) == 0:
        return task.member
    return member_with_rows(task.member, task.X, task.target, np.array([0, 1]), task.params)


def member_with_rows(member: Any, X: Any, y: Any, classes: Any, params: Params) -> Any:
    """A copy of the member with rows added; a batch that fails half-way leaves the model alone.

    `classes` are passed on if its `partial_fit` knows them.
    """
    if isinstance(member, ConstantPredictor):
        raise InputError(
            f"All rows of `fit` had the label {member.label!s}, so there is no learner to add rows "
            "to. Start with partial_fit, or fit anew to all rows."
        )
    updated = copy.deepcopy(member)
    known = inspect.signature(updated.partial_fit).parameters
    more = {"classes": classes} if "classes" in known and classes is not None else {}
    updated.partial_fit(X, y, **more, **params)
    return updated


# --- Rows of weight zero --------------------------------------------------------------------------


def weighted_rows(params: Params) -> Positions | None:
    """The rows that count, where some have weight zero and are absent; None where all count.

    Parameters
    ----------
    params : mapping
        Of `with_checked_weight`.
    """
    weight = params.get("sample_weight")
    return None if weight is None or weight.all() else np.flatnonzero(weight)


def without_zero_weights(
    X: Any, labels: LabelTarget, params: Params
) -> tuple[Any, LabelTarget, Params]:
    """The rows that count: a row of weight zero is absent, and so is a class only it has."""
    params = with_checked_weight(params, labels.n_rows)
    kept = weighted_rows(params)
    if kept is None:
        return X, labels, params
    return rows_of(X, kept), labels.rows(kept), dict(_check_method_params(X, params, kept))


def check_rows(X: Any, n_targets: int, learner: str) -> None:
    """Refuses a table without rows, and targets of another number of rows."""
    n_rows = n_rows_of(X)
    if n_rows == 0:
        raise InputError(
            f"Found array with 0 sample(s) (shape={getattr(X, 'shape', (0,))}) while a minimum of "
            f"1 is required by {learner}. Give it rows to learn from."
        )
    if n_rows != n_targets:
        raise InputError(
            f"X has {n_rows} rows, but y has {n_targets}: found input variables with inconsistent "
            "numbers of samples. Pass one target for each row."
        )
