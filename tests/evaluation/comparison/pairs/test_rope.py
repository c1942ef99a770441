"""Bayesian correlated t test: integration of its model, the corrected interval, calibration."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from novum.evaluation.comparison.pairs.rope import bayesian_correlated_t_test
from novum.evaluation.comparison.pairs.t_tests import corrected_t_test
from tests.evaluation.comparison.definitions import correlated_posterior_density

samples = st.lists(st.floats(-1, 1), min_size=2, max_size=30).filter(lambda d: np.ptp(d) > 1e-3)


def test_probabilities_are_those_of_the_model_integrated() -> None:
    differences, ratio, rope = [0.02, 0.05, 0.01, 0.04, -0.01], 0.25, 0.01
    correlation = ratio / (1 + ratio)

    def mass(a: float, b: float) -> float:
        density = lambda m: correlated_posterior_density(m, differences, correlation)  # noqa: E731
        return float(integrate.quad(density, a, b, limit=200)[0])

    # Beyond 2, a hundred scales away, Student's law with 4 degrees has less than 1e-6.
    parts = [mass(-2, -rope), mass(-rope, rope), mass(rope, 2)]
    found = bayesian_correlated_t_test(differences, ratio, rope=rope)
    assert found.probabilities == pytest.approx(np.array(parts) / sum(parts), abs=1e-5)


@given(samples, st.floats(0.01, 1), st.floats(0, 0.2))
def test_scipys_law_and_the_corrected_interval(
    differences: list[float], ratio: float, rope: float
) -> None:
    n, values = len(differences), np.array(differences)
    scale = values.std(ddof=1) * np.sqrt(1 / n + ratio)
    law = stats.t(n - 1, values.mean(), scale)
    found = bayesian_correlated_t_test(differences, ratio, rope=rope)
    assert found.left == pytest.approx(law.cdf(-rope), rel=1e-8, abs=1e-14)
    assert found.right == pytest.approx(law.sf(rope), rel=1e-8, abs=1e-14)
    assert sum(found.probabilities) == pytest.approx(1.0, abs=1e-12)
    frequentist = corrected_t_test(differences, ratio).interval
    assert frequentist is not None
    assert tuple(found.interval) == pytest.approx(tuple(frequentist), rel=1e-9, abs=1e-12)


@given(samples, st.floats(0.01, 1), st.floats(0, 0.2))
def test_swapping_the_models_mirrors_the_probabilities(
    differences: list[float], ratio: float, rope: float
) -> None:
    forward = bayesian_correlated_t_test(differences, ratio, rope=rope)
    back = bayesian_correlated_t_test([-d for d in differences], ratio, rope=rope)
    assert back.probabilities == pytest.approx(forward.probabilities[::-1], rel=1e-9, abs=1e-14)


def test_tails_keep_their_digits() -> None:
    found = bayesian_correlated_t_test([-0.5, -0.51, -0.49] * 20, 0.01, rope=0.01)
    assert 0 < found.right < 1e-20


def test_without_a_region_there_is_no_equality() -> None:
    assert bayesian_correlated_t_test([0.1, 0.2, 0.4], 0.1, rope=0.0).inside == 0.0


@pytest.mark.parametrize(
    ("value", "expected"),
    [(0.0, (0, 1, 0)), (0.2, (0, 0, 1)), (-0.2, (1, 0, 0)), (0.01, (0, 1, 0))],
)
def test_no_spread_is_a_limit_and_says_so(value: float, expected: tuple[int, ...]) -> None:
    with np.errstate(all="raise"):
        found = bayesian_correlated_t_test([value] * 5, 0.1, rope=0.01)
    assert found.probabilities == expected
    assert found.law is None
    assert "without spread" in repr(found)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"rope": -0.01}, "rope is the largest difference.*got -0.01"),
        ({"level": 1.0}, "between 0 and 1"),
    ],
)
def test_bad_input_is_named(options: dict[str, float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        bayesian_correlated_t_test([0.1, 0.2], 0.1, **options)  # type: ignore[arg-type]
