"""Measures of clusterings with intervals: estimates, coverage, tables of other kinds."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics

from novum import evaluation
from novum.evaluation import agreement_measures, separation_measures


def test_estimates_are_scikit_learns_and_inside_their_intervals() -> None:
    rng = np.random.default_rng(0)
    true = rng.integers(0, 3, 300)
    given = np.where(rng.random(300) < 0.8, true, rng.integers(0, 3, 300))
    found = agreement_measures(true, given, n_resamples=100)
    assert found["adjusted_rand"].estimate == pytest.approx(
        metrics.adjusted_rand_score(true, given)
    )
    ami = metrics.adjusted_mutual_info_score(true, given)
    assert found["adjusted_mutual_information"].estimate == pytest.approx(ami)
    for name, interval in found.items():
        assert interval.low < interval.estimate <= interval.high <= 1.0, name


@pytest.mark.slow
def test_intervals_cover_the_truth() -> None:
    # Labels that are right with probability 0.8: the purity of infinitely many rows is 0.8 + 0.2/3.
    truth, hits = 0.8 + 0.2 / 3, 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        true = rng.integers(0, 3, 200)
        given = np.where(rng.random(200) < 0.8, true, rng.integers(0, 3, 200))
        hits += agreement_measures(true, given, n_resamples=200)["purity"].covers(truth)
    # 57 expected of 60; 51 or fewer have a probability below 0.01.
    assert hits >= 51


def test_separation_with_intervals() -> None:
    rng = np.random.default_rng(1)
    labels = np.repeat([0, 1], 60)
    X = rng.normal(size=(120, 2)) + 4.0 * labels[:, None]
    found = separation_measures(X, labels, n_resamples=50)
    assert found["silhouette"].estimate == pytest.approx(metrics.silhouette_score(X, labels))
    expected = metrics.calinski_harabasz_score(X, labels)
    assert found["calinski_harabasz"].estimate == pytest.approx(expected)
    expected = metrics.davies_bouldin_score(X, labels)
    assert found["davies_bouldin"].estimate == pytest.approx(expected)
    assert all(interval.low < interval.high for interval in found.values())
    table = pd.DataFrame({"a": X[:, 0], "b": np.where(labels, "u", "v")})
    assert list(separation_measures(table, labels, metric="gower")) == ["silhouette"]


def test_the_indices_are_in_the_door() -> None:
    assert evaluation.silhouette_score([[0.0], [1.0], [9.0]], [0, 0, 1]) > 0.5
    assert evaluation.rand_score([0, 1], [1, 0]) == 1.0
