"""Labels that come after the classes are known: their places among them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.label_sets import LabelTarget
from novum.core.text import label_text, listed
from novum.core.validation import Sample


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
            f"y contains the label {label_text(unknown[0])}, which is none of the classes "
            f"{listed(labels)}. Name all classes before the first rows, or fit again."
        )
    return np.array([labels.index(label) for label in classes.tolist()], np.int64)
