"""Labels and scores as checked arrays: what every judgement of decisions starts from.

A label is one of the classes of the working point, a score is a number or infinite, a weight says
how often a case counts. What is wrong is named with its row; a class without cases has no error
rate and is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from novum.core.errors import InputError
from novum.core.tables import checked_weight, plain_target
from novum.numerics import Floats, Positions


def class_codes(y: Any, classes: Sequence[Any]) -> Positions:
    """Position of every label among `classes`; another label is an error that names it.

    Examples
    --------
    >>> class_codes(["no", "yes", "no"], ("no", "yes")).tolist()
    [0, 1, 0]
    """
    labels = plain_target(y)
    if labels.ndim != 1:
        raise InputError(
            f"y has one label for each case, got an array of shape {labels.shape}. Pass a column."
        )
    if labels.size == 0:
        raise InputError("There are no cases to judge: y is empty. Pass at least one case.")
    place = {label: code for code, label in enumerate(classes)}
    codes = np.array([_place_of(label, place) for label in labels.tolist()], dtype=np.intp)
    strange = np.flatnonzero(codes < 0)
    if strange.size:
        raise InputError(
            f"y has the label {labels.tolist()[strange[0]]!r} at row {strange[0]} ({strange.size} "
            f"such rows in all), but the classes are {_listed(classes)}. Make the working point "
            "with the labels of y, or select rows of these classes."
        )
    return codes


def case_weights(sample_weight: Any, n_cases: int) -> Floats:
    """The weight of every case; one each where none are given."""
    weight = checked_weight(sample_weight, n_cases)
    return np.ones(n_cases) if weight is None else weight


def class_weights(codes: Positions, weight: Floats, classes: Sequence[Any]) -> Floats:
    """Total weight of each class; a class without cases is an error that names it."""
    totals = np.bincount(codes, weight, len(classes)).astype(np.float64)
    absent = np.flatnonzero(totals == 0)
    if absent.size:
        raise InputError(
            f"No case of class {classes[absent[0]]!r} counts, so its error rate is not known. "
            "Judge on cases of every class."
        )
    return totals


def checked_scores(scores: ArrayLike, n_cases: int) -> Floats:
    """One number for each case, infinite ones included.

    Examples
    --------
    >>> checked_scores([1, float("inf")], 2).tolist()
    [1.0, inf]
    """
    try:
        checked = np.asarray(plain_target(scores), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError("scores must be numbers, one for each case.") from None
    if checked.shape != (n_cases,):
        raise InputError(
            f"scores has shape {checked.shape} for {n_cases} cases. Pass one score for each case: "
            "the log-likelihood ratio of the positive class."
        )
    missing = np.flatnonzero(np.isnan(checked))
    if missing.size:
        raise InputError(
            f"The score of row {missing[0]} is NaN ({missing.size} such rows in all), and NaN is "
            "neither above nor below a threshold. Find out why the model gave no score."
        )
    return checked


def _place_of(label: Any, place: dict[Any, int]) -> int:
    try:
        return place.get(label, -1)
    except TypeError:
        return -1


def _listed(labels: Sequence[Any]) -> str:
    shown = ", ".join(repr(label) for label in labels[:8])
    return shown if len(labels) <= 8 else f"{shown}, ... ({len(labels)} in all)"
