"""Indices of groups: scikit-learn's numbers, definitions by pairs, other distances, bad input."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics as theirs

from novum import clustering
from novum.core.errors import InputError
from novum.distances import Gower

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@given(LABELS)
def test_agreement_is_scikit_learns(pairs: Any) -> None:
    a, b = np.array(pairs).T
    for name, other in (
        ("rand_score", theirs.rand_score),
        ("adjusted_rand_score", theirs.adjusted_rand_score),
        ("adjusted_mutual_info_score", theirs.adjusted_mutual_info_score),
        ("v_measure_score", theirs.v_measure_score),
        ("fowlkes_mallows_score", theirs.fowlkes_mallows_score),
    ):
        found, expected = getattr(clustering, name)(a, b), other(a, b)
        assert found == pytest.approx(expected, abs=1e-9), name


@given(LABELS)
def test_agreement_by_pairs_and_majorities(pairs: Any) -> None:
    a, b = np.array(pairs).T
    both = either = 0
    for i, j in itertools.combinations(range(len(a)), 2):
        together = (a[i] == a[j], b[i] == b[j])
        both += all(together)
        either += any(together)
    assert clustering.pair_jaccard_score(a, b) == pytest.approx(both / either if either else 1.0)
    right = sum(np.bincount(a[b == j]).max() for j in np.unique(b))
    assert clustering.purity_score(a, b) == pytest.approx(right / len(a))


def groups(n: int = 200, seed: int = 0) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    labels = rng.integers(0, 4, n)
    return rng.normal(size=(n, 3)) + 2.0 * labels[:, None], np.array(["a", "b", "c", "d"])[labels]


@pytest.mark.parametrize("seed", range(3))
def test_separation_is_scikit_learns(seed: int) -> None:
    X, labels = groups(seed=seed)
    labels[0] = "alone"
    for metric in ("euclidean", "manhattan", "cosine"):
        found = clustering.silhouette_samples(X, labels, metric=metric)
        np.testing.assert_allclose(
            found, theirs.silhouette_samples(X, labels, metric=metric), atol=1e-9
        )
    score = clustering.silhouette_score(X, labels)
    assert score == pytest.approx(theirs.silhouette_score(X, labels))
    assert clustering.silhouette_score(X, labels, sample_size=150, random_state=0) == pytest.approx(
        score, abs=0.1
    )
    ours, other = clustering.calinski_harabasz_score(X, labels), theirs.calinski_harabasz_score
    assert ours == pytest.approx(other(X, labels))
    ours, other = clustering.davies_bouldin_score(X, labels), theirs.davies_bouldin_score
    assert ours == pytest.approx(other(X, labels))


def test_silhouettes_of_mixed_columns_and_matrices() -> None:
    table = pd.DataFrame({"a": [0.0, 0.1, None, 5.0, 5.1], "b": list("uuuvv")})
    labels = [0, 0, 0, 1, 1]
    D = Gower().pairwise(table)
    np.fill_diagonal(D, 0.0)
    expected = theirs.silhouette_samples(D, labels, metric="precomputed")
    for X, metric in ((table, Gower()), (D, "precomputed")):
        np.testing.assert_allclose(
            clustering.silhouette_samples(X, labels, metric=metric), expected
        )


def test_rows_that_are_all_equal_have_no_silhouette() -> None:
    assert clustering.silhouette_samples(np.ones((4, 1)), [0, 0, 1, 1]).tolist() == [0.0] * 4
    assert clustering.davies_bouldin_score(np.ones((4, 1)), [0, 0, 1, 1]) == 0.0
    assert clustering.calinski_harabasz_score(np.ones((4, 1)), [0, 0, 1, 1]) == 1.0


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: clustering.silhouette_score(X, np.zeros(len(X))), "Number of labels is 1"),
        (lambda X: clustering.silhouette_score(X, [0, 1]), "rows need a label each"),
        (lambda X: clustering.davies_bouldin_score(X, range(len(X))), "Number of labels is 200"),
        (lambda _: clustering.rand_score([0, 1], [0]), "a label for each of the same rows"),
        (
            lambda _: clustering.calinski_harabasz_score([["a"], ["b"], ["c"]], [0, 1, 1]),
            "for columns of numbers",
        ),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(groups()[0])
