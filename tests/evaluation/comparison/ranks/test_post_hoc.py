"""Nemenyi and Holm on ranks: the published table, integration, simulation, bad input."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from novum.evaluation.comparison.ranks.friedman import (
    baseline_p_values,
    critical_difference,
    friedman_test,
    nemenyi_p_values,
)
from tests.evaluation.comparison.definitions import normal_range_tail

# Demsar (2006), table 5a: q at 0.05 and 0.10 for 2 to 10 models.
AT_05 = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164]
AT_10 = [1.645, 2.052, 2.291, 2.459, 2.589, 2.693, 2.780, 2.855, 2.920]


@pytest.mark.parametrize(("level", "table"), [(0.95, AT_05), (0.90, AT_10)])
def test_the_published_critical_values(level: float, table: list[float]) -> None:
    for k, q in enumerate(table, start=2):
        unit = math.sqrt(k * (k + 1) / (6 * 30))
        # The table has three digits, some of them cut instead of rounded.
        assert critical_difference(k, 30, level=level) / unit == pytest.approx(q, abs=1.1e-3)


@pytest.mark.parametrize("k", [2, 3, 6])
def test_p_values_by_integration(k: int) -> None:
    ranks = np.linspace(1, k, k)
    found = nemenyi_p_values(ranks, 12)
    unit = math.sqrt(k * (k + 1) / (6 * 12))
    for i in range(k):
        for j in range(i):
            q = abs(ranks[i] - ranks[j]) / unit * math.sqrt(2)
            assert found[i, j] == pytest.approx(normal_range_tail(q, k), abs=1e-8)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_array_equal(np.diag(found), 1.0)


def test_the_critical_difference_has_the_p_value_of_the_size() -> None:
    distance = critical_difference(4, 60)
    found = nemenyi_p_values([1.0, 1.0 + distance, 2.5, 2.5], 60)
    assert found[0, 1] == pytest.approx(0.05, abs=1e-6)


@pytest.mark.slow
def test_any_false_pair_has_the_probability_of_the_size() -> None:
    # 2000 tables, standard error 0.0049. Nemenyi is somewhat cautious, so only from above.
    rng = np.random.default_rng(1)
    distance = critical_difference(5, 20)
    ranges = [np.ptp(friedman_test(rng.normal(size=(20, 5))).mean_ranks) for _ in range(2000)]
    assert np.mean(np.array(ranges) >= distance) < 0.05 + 4 * 0.0049


def test_against_a_baseline_by_hand() -> None:
    found = baseline_p_values([1.2, 2.0, 2.8], 15, baseline=0)
    unit = math.sqrt(3 * 4 / (6 * 15))
    plain = [2 * stats.norm.sf(d / unit) for d in (0.8, 1.6)]
    assert found.tolist() == pytest.approx([1.0, plain[0], 2 * plain[1]])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: critical_difference(1, 10), "n_models is a whole number of at least 2"),
        (lambda: critical_difference(3, 1), "n_datasets is a whole number of at least 2"),
        (lambda: nemenyi_p_values([0.5, 2.0], 10), "Mean ranks are one number from 1"),
        (lambda: baseline_p_values([1.0, 2.0], 10, 2), "position from 0 to 1, got 2"),
    ],
)
def test_bad_input_is_named(call: object, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()  # type: ignore[operator]
