"""Labels of a perceptron: weights of classes, and labels that come later."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.label_sets import LabelTarget
from novum.core.validation import Sample

Floats = NDArray[np.float64]


def class_factors(
    given: dict[Any, float] | str, labels: LabelTarget, weight: Floats | None
) -> Floats:
    """The factor of each class: given by label, or such that all classes have the same weight.

    Examples
    --------
    >>> labels = LabelTarget("classes", np.array(["a", "b"]), codes=np.array([0, 1, 1, 1]))
    >>> class_factors("balanced", labels, None).round(3).tolist()
    [2.0, 0.667]
    """
    if isinstance(given, str):
        counts = labels.counts(weight)
        return np.asarray(counts.sum() / (len(counts) * counts))
    known = labels.classes.tolist()
    unknown = [label for label in given if label not in known]
    if unknown:
        raise InputError(
            f"class_weight names the class {unknown[0]!r}, but the classes are {known}. Leave it "
            "out, or check its spelling."
        )
    return np.array([float(given.get(label, 1.0)) for label in known])


def labels_among(known: NDArray[Any], sample: Sample) -> LabelTarget:
    """The labels of a sample as places among the known classes."""
    assert sample.classes is not None
    places = places_among(known, sample.classes)
    return LabelTarget("classes", known, codes=places[sample.target])


def places_among(known: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """Where each of `classes` stands among the known ones."""
    labels = known.tolist()
    unknown = [label for label in classes.tolist() if label not in labels]
    if unknown:
        raise InputError(
            f"y contains the label {unknown[0]!r}, which is none of the classes {labels}. Pass all "
            "classes in the first call."
        )
    return np.array([labels.index(label) for label in classes.tolist()], np.int64)
