"""Labels by name and class priors: what a Gaussian classifier is told about its classes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.core.errors import InputError
from novum.core.text import label_text

Floats = NDArray[np.float64]


def code_of(label: Any, classes: NDArray[Any]) -> int:
    """Position of a label among the classes.

    Raises
    ------
    InputError
        If there is no such class.
    """
    found = np.flatnonzero(classes == label)
    if not found.size:
        raise InputError(f"{label!r} is not one of the classes {classes.tolist()[:20]}.")
    return int(found[0])


def checked_class_prior(
    given: ArrayLike | None,
    statistics: GaussianStatistics,
    present: NDArray[np.bool_],
    learner: str,
) -> Floats:
    """Class priors: as given, or the proportions of the weights."""
    if given is None:
        total = float(statistics.weight.sum())
        return statistics.weight / total
    prior, classes = np.array(given, float), statistics.classes
    if prior.shape != (len(classes),):
        raise InputError(
            f"{learner} was given priors of shape {prior.shape} for the {len(classes)} classes "
            f"{classes.tolist()[:20]}. Give one for each, in this order."
        )
    if not (prior >= 0).all():
        raise InputError(f"priors must be non-negative, got {prior.tolist()}.")
    if not abs(prior.sum() - 1) <= 1e-9:
        raise InputError(
            f"The priors do not sum to 1 but to {prior.sum():.12g}. Divide them by their sum if "
            "they are meant as proportions."
        )
    unknown = np.flatnonzero((prior > 0) & ~present)
    if unknown.size:
        raise InputError(
            f"Class {label_text(classes[unknown[0]])} has prior {prior[unknown[0]]:g} but no "
            "rows, so its law is unknown. Give it prior 0, or use estimate='predictive'."
        )
    return prior
