"""Labels that come later: their places, and those that nobody knows."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.linear.class_labels import labels_among, places_among
from novum.linear.perceptron.classifier import Perceptron


def test_places_among_known_classes() -> None:
    known = np.array(["a", "b", "c"])
    assert places_among(known, np.array(["c", "a"])).tolist() == [2, 0]
    with pytest.raises(InputError, match=r"label 'd', which is none of the classes"):
        places_among(known, np.array(["a", "d"]))


def test_labels_of_a_sample() -> None:
    from novum.core.tables import check_sample

    sample = check_sample(Perceptron(), [[0.0], [1.0]], ["c", "a"], target="classes")
    found = labels_among(np.array(["a", "b", "c"]), sample)
    assert found.codes is not None
    assert found.codes.tolist() == [2, 0]
    assert found.classes.tolist() == ["a", "b", "c"]


def test_weights_of_classes_are_above_zero() -> None:
    with pytest.raises(InputError, match=r"class_weight of 'b' is -1\.0; weights of classes are"):
        Perceptron(class_weight={"b": -1.0}).fit([[0.0], [1.0]], ["a", "b"])
