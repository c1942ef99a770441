"""Labels by name, and class priors."""

from __future__ import annotations

import numpy as np
import pytest

from novum.bayes.gaussian import GaussianClassifier
from novum.bayes.gaussian_statistics import code_of
from novum.core.errors import InputError
from tests.bayes.normal_classes import normal_classes


def test_unknown_labels_are_named() -> None:
    assert code_of("b", np.array(["a", "b"])) == 1
    with pytest.raises(InputError, match="'c' is not one of the classes"):
        code_of("c", np.array(["a", "b"]))


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([0.5, 0.5, 0.0], r"shape \(3,\) for the 2 classes \[0, 1\]"),
        ([1.5, -0.5], "non-negative"),
        ([0.5, 0.4], r"sum to 1 but to 0\.9"),
        ([0.5, np.nan], "non-negative"),
    ],
)
def test_priors_that_are_none_are_refused(prior: list[float], message: str) -> None:
    X, y = normal_classes(2, 2, 20)
    with pytest.raises(InputError, match=message):
        GaussianClassifier(class_prior=prior).fit(X, y)


def test_priors_are_given_or_shares_of_the_weight() -> None:
    X, y = normal_classes(2, 2, 20)
    weight = np.where(y == 0, 3.0, 1.0)
    assert GaussianClassifier().fit(X, y, weight).class_prior_.tolist() == [0.75, 0.25]
    model = GaussianClassifier(class_prior=[1.0, 0.0]).fit(X, y)
    assert (model.predict(X) == 0).all()
    assert (model.predict_proba(X)[:, 1] == 0).all()
