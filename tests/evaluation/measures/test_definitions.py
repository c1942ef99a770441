"""The definitions themselves, on cases small enough to count by hand."""

import pytest

from tests.evaluation.measures import definitions


def test_rates_by_hand() -> None:
    y, p, w = [1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [1, 1, 1, 1, 2]
    expected = {
        "precision": 2 / 3,
        "recall": 2 / 3,
        "specificity": 2 / 3,
        "false_positive_rate": 1 / 3,
        "false_negative_rate": 1 / 3,
        "f1": 2 / 3,
        "jaccard": 1 / 2,
    }
    for name, value in expected.items():
        assert definitions.rate(y, p, w, 1, name) == pytest.approx(value)
    assert definitions.confusion(y, p, [0, 1], w) == [[2, 1], [1, 2]]


def test_pairs_by_hand() -> None:
    assert definitions.roc_area([True, False], [1.0, 1.0], [1, 1]) == 0.5
    assert definitions.pair_error([2, 1, 1], [0, 5, -1], ["a", "a", "a"], [1, 1, 1]) == 0.5
    assert definitions.pair_error([2, 1, 1], [0, 5, -1], ["a", "b", "a"], [1, 1, 1]) == 0.0


def test_rates_at_a_threshold_by_hand() -> None:
    assert definitions.accepted_rates([True, True, False], [1, 3, 2], [1, 1, 1], 1.5) == (0.5, 1)


def test_probabilities_by_hand() -> None:
    assert definitions.cllr([True, False], [0.0, 0.0], [1, 1]) == 1.0
    found = definitions.calibration_error([True, False], [0.9, 0.9], [1, 1], 10)
    assert found == pytest.approx(0.4)


def test_agreement_by_hand() -> None:
    assert definitions.correlation_of_classes([[2, 0], [0, 3]]) == pytest.approx(1.0)
    assert definitions.correlation_of_classes([[0, 2], [3, 0]]) == pytest.approx(-1.0)
    assert definitions.correlation_of_classes([[1, 1], [1, 1]]) == pytest.approx(0.0)
