"""Axioms of impurity: entropy and Gini satisfy all, others fail where theory says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.information import entropy
from novum.distributions.information_axioms import (
    check_impurity,
    error_impurity,
    gini_impurity,
)


@pytest.mark.parametrize("function", [entropy, gini_impurity])
@pytest.mark.parametrize("n_classes", [2, 3, 5])
def test_entropy_and_gini_satisfy_all(function: Any, n_classes: int) -> None:
    report = check_impurity(function, n_classes)
    assert report.holds
    assert report.failing == ()


@pytest.mark.parametrize("n_classes", [2, 3])
def test_error_rate_fails_strict_concavity_only(n_classes: int) -> None:
    report = check_impurity(error_impurity, n_classes)
    assert report.failing == ("strictly concave",)
    axiom = report["strictly concave"]
    assert axiom.violation == 0.0
    # The witness proves it: the mixture gains nothing.
    p, q = (np.array(point) for point in axiom.witness)
    gains = [
        error_impurity(t * p + (1 - t) * q) - t * error_impurity(p) - (1 - t) * error_impurity(q)
        for t in (0.25, 0.5, 0.75)
    ]
    assert min(gains) == pytest.approx(0.0, abs=1e-12)
    assert not np.allclose(p, q)


@pytest.mark.parametrize(
    ("function", "failing"),
    [
        (lambda p: entropy(p) + 0.1, {"zero at certainty"}),
        (lambda p: -gini_impurity(p), {"non-negative", "largest when uniform", "concave"}),
        (lambda p: float(p[0] * p[1] * (1 + p[0])), {"symmetric", "largest when uniform"}),
        (lambda p: gini_impurity(p) ** 2, {"concave"}),
    ],
)
def test_other_functions_fail_where_they_must(function: Any, failing: set[str]) -> None:
    found = set(check_impurity(function).failing)
    assert failing <= found
    if "concave" in found:
        assert "strictly concave" in found


def test_a_failing_axiom_has_a_witness_that_proves_it() -> None:
    axiom = check_impurity(lambda p: gini_impurity(p) ** 2)["concave"]
    p, q = (np.array(point) for point in axiom.witness)
    losses = [
        t * gini_impurity(p) ** 2
        + (1 - t) * gini_impurity(q) ** 2
        - gini_impurity(t * p + (1 - t) * q) ** 2
        for t in (0.25, 0.5, 0.75)
    ]
    assert max(losses) == pytest.approx(axiom.violation, abs=1e-9)
    assert axiom.violation > 0


def test_the_report_is_the_same_every_time() -> None:
    assert check_impurity(error_impurity, 4) == check_impurity(error_impurity, 4)


def test_text_names_axiom_and_point() -> None:
    text = str(check_impurity(lambda p: entropy(p) + 1.0))
    assert "zero at certainty: fails by 1 at (1, 0)" in text
    assert "concave: holds" in text


@given(st.lists(st.floats(0, 1), min_size=2, max_size=5))
def test_gini_is_the_chance_that_two_draws_differ(weights: list[float]) -> None:
    total = sum(weights)
    if total == 0:
        return
    p = np.array(weights) / total
    pairs = sum(p[i] * p[j] for i in range(len(p)) for j in range(len(p)) if i != j)
    assert gini_impurity(p) == pytest.approx(pairs, abs=1e-12)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: check_impurity(entropy, 1), "at least 2 classes, got 1"),
        (lambda: check_impurity(lambda _: float("nan")), "not finite at the class shares"),
        (lambda: check_impurity(entropy)["fair"], "no axiom 'fair'"),
    ],
)
def test_wrong_questions_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
