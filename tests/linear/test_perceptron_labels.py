"""Labels of a perceptron: factors by hand, and labels that nobody knows."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.core.label_sets import LabelTarget
from novum.linear.perceptron import Perceptron
from novum.linear.perceptron_labels import class_factors, labels_among, places_among

LABELS = LabelTarget("classes", np.array([2, 5, 9]), codes=np.array([0, 1, 1, 2, 2, 2]))


def test_balanced_classes_have_equal_weight() -> None:
    factors = class_factors("balanced", LABELS, None)
    np.testing.assert_allclose(factors * [1, 2, 3], 2.0)
    weight = np.array([4.0, 1.0, 1.0, 1.0, 1.0, 2.0])
    weighted = class_factors("balanced", LABELS, weight)
    np.testing.assert_allclose(weighted * [4, 2, 4], 10 / 3)


def test_factors_by_label() -> None:
    assert class_factors({5: 0.5}, LABELS, None).tolist() == [1.0, 0.5, 1.0]
    with pytest.raises(InputError, match=r"names the class 7, but the classes are \[2, 5, 9\]"):
        class_factors({7: 1.0}, LABELS, None)


def test_places_among_known_classes() -> None:
    known = np.array(["a", "b", "c"])
    assert places_among(known, np.array(["c", "a"])).tolist() == [2, 0]
    with pytest.raises(InputError, match=r"label 'd', which is none of the classes"):
        places_among(known, np.array(["a", "d"]))


def test_labels_of_a_sample() -> None:
    from novum.core.validation import check_sample

    sample = check_sample(Perceptron(), [[0.0], [1.0]], ["c", "a"], target="classes")
    found = labels_among(np.array(["a", "b", "c"]), sample)
    assert found.codes is not None
    assert found.codes.tolist() == [2, 0]
    assert found.classes.tolist() == ["a", "b", "c"]
