"""Classes of a linear classifier: their weights, and labels that come after they are known.

Weights are as given, balanced, or such that a prior holds.

A row of class k counts `w_i u_k`. With `W_k` the weight of the rows of class k and `W` of all,

    class_weight={k: u}     u_k = u (1 where it is not listed)
    class_weight="balanced" u_k = W / (K W_k)
    prior=pi                u_k = pi_k W / W_k,

so that under a prior the classes weigh as much as they occur in the application, and the
probabilities of the model are those that hold there. The total weight stays, and with it the
strength of the penalty.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import LabelTarget, Sample
from novum.core.text import label_text, listed
from novum.numerics import Array, Floats, Integers


def class_factors(
    classes: Array, weights: Floats, class_weight: Any = None, prior: Any = None
) -> Floats:
    """The factor `u_k` of every class.

    Parameters
    ----------
    classes : array (K,)
    weights : array (K,)
        Sum of the sample weights of each class.
    class_weight : None, "balanced" or mapping of labels
    prior : None, array-like (K,) or mapping of labels

    Examples
    --------
    >>> class_factors(np.array(["a", "b"]), np.array([30.0, 10.0]), "balanced").round(4)
    array([0.6667, 2.    ])
    >>> class_factors(np.array(["a", "b"]), np.array([30.0, 10.0]), prior=[0.5, 0.5]).round(4)
    array([0.6667, 2.    ])
    """
    if prior is not None:
        if class_weight is not None:
            raise InputError(
                "Both class_weight and prior say how much classes count. Give one of them."
            )
        return np.asarray(_checked_prior(prior, classes) * weights.sum() / weights)
    if class_weight is None:
        return np.ones(len(classes))
    if isinstance(class_weight, str):
        return np.asarray(weights.sum() / (len(classes) * weights))
    return _given(class_weight, classes)


def _given(class_weight: Mapping[Any, float], classes: Array) -> Floats:
    labels = classes.tolist()
    unknown = [label for label in class_weight if label not in labels]
    if unknown:
        raise InputError(
            f"class_weight names {label_text(unknown[0])}, which is none of the classes "
            f"{listed(labels)}. Leave it out, or check its spelling."
        )
    factors = np.array([float(class_weight.get(label, 1.0)) for label in labels])
    wrong = np.flatnonzero(~(np.isfinite(factors) & (factors > 0)))
    if wrong.size:
        raise InputError(
            f"class_weight of {label_text(labels[wrong[0]])} is {factors[wrong[0]]}; weights of "
            "classes are finite and above 0. Leave the rows of a class out to ignore it."
        )
    return factors


def _checked_prior(prior: Any, classes: Array) -> Floats:
    labels = classes.tolist()
    if isinstance(prior, Mapping):
        if set(prior) != set(labels):
            raise InputError(
                f"prior names {listed(list(prior))}, but the classes are {listed(labels)}. Give "
                "the prior of each."
            )
        prior = [prior[label] for label in labels]
    priors = np.asarray(prior, float)
    if priors.shape != (len(labels),):
        raise InputError(
            f"prior has shape {priors.shape} for the {len(labels)} classes {listed(labels)}. Give "
            "one probability for each, in this order."
        )
    if not (np.isfinite(priors) & (priors > 0)).all():
        raise InputError(f"prior holds {listed(priors.tolist())}; give probabilities above 0.")
    if not abs(priors.sum() - 1) <= 1e-9:
        raise InputError(
            f"The prior sums to {priors.sum():.12g}, not to 1. Divide it by its sum if it is meant "
            "as proportions."
        )
    return priors


def labels_among(known: Array, sample: Sample) -> LabelTarget:
    """The labels of a sample as places among the known classes."""
    assert sample.classes is not None
    places = places_among(known, sample.classes)
    return LabelTarget("classes", known, codes=places[sample.target])


def places_among(known: Array, classes: Array) -> Integers:
    """Where each of `classes` stands among the known ones."""
    labels = known.tolist()
    unknown = [label for label in classes.tolist() if label not in labels]
    if unknown:
        raise InputError(
            f"y contains the label {label_text(unknown[0])}, which is none of the classes "
            f"{listed(labels)}. Name all classes before the first rows, or fit again."
        )
    return np.array([labels.index(label) for label in classes.tolist()], np.int64)
