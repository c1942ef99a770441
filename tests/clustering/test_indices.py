"""Indices of groups: definitions by pairs, scikit-learn's numbers, other distances, bad input."""

from __future__ import annotations

import itertools
import pickle
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn import metrics as theirs

from novum import clustering
from novum.distances import Euclidean, Gower

LABELS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=30)


@given(LABELS)
def test_agreement_is_scikit_learns(pairs: Any) -> None:
    a, b = np.array(pairs).T
    table = clustering.contingency(a, b)[0]
    for name, other in (
        ("rand", theirs.rand_score),
        ("adjusted_rand", theirs.adjusted_rand_score),
        ("adjusted_mutual_information", theirs.adjusted_mutual_info_score),
        ("v_measure", theirs.v_measure_score),
        ("fowlkes_mallows", theirs.fowlkes_mallows_score),
    ):
        found, expected = clustering.INDICES[name](table), other(a, b)
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


def test_infinite_distances_make_silhouettes_of_one_and_less() -> None:
    D = np.full((6, 6), np.inf)
    D[:3, :3], D[3:5, 3:5], D[1, 3] = 1.0, 2.0, 3.0
    D[3, 1] = 3.0
    np.fill_diagonal(D, 0.0)
    found = clustering.silhouette_samples(D, [0, 0, 0, 1, 1, 1], metric="precomputed")
    # Rows 0 to 2 are whole and far from the rest; 3 and 4 are with 5, which is far from all.
    assert found.tolist() == [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]
    found = clustering.silhouette_samples(D, [0, 1, 0, 1, 1, 2], metric="precomputed")
    # Row 1 is apart from its own group alone, row 4 from its own and from all others.
    assert found.tolist() == [1.0, -1.0, 1.0, 1.0, 0.0, 0.0]
    X = [[0.0, np.nan], [1.0, np.nan], [np.nan, 5.0], [np.nan, 6.0]]
    partial = Euclidean(missing="partial")
    assert clustering.silhouette_samples(X, [0, 0, 1, 1], metric=partial).tolist() == [1.0] * 4
    assert clustering.silhouette_samples(X, [0, 1, 0, 1], metric=partial).tolist() == [0.0] * 4


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda X: clustering.silhouette_score(X, np.zeros(len(X))), "Number of labels is 1"),
        (lambda X: clustering.silhouette_score(X, [0, 1]), "rows need a label each"),
        (lambda X: clustering.silhouette_score(X, range(len(X))), "Number of labels is 200"),
        (lambda _: clustering.purity_score([0, 1], [0]), "a label for each of the same rows"),
        (lambda _: clustering.purity_score([0, 1, 1], [0, np.nan, 1]), "Row 1 has no label"),
        (lambda _: clustering.pair_jaccard_score(["a", "b", None], [0, 1, 1]), "Row 2 has no"),
        (
            lambda X: clustering.silhouette_score(X, np.r_[np.inf, np.arange(199) % 2]),
            "Row 0 has no label",
        ),
        (lambda _: clustering.adjusted_rand_score([0, 1, 1], [0, np.nan, 1]), "NaN"),
        (lambda _: clustering.rand_score([0, None, 1], [0, 1, 1]), "Row 1 has no label"),
        (lambda X: clustering.davies_bouldin_score(X[:3], [0, None, 1]), "Row 1 has no label"),
        (lambda X: clustering.calinski_harabasz_score(X[:3], [0, 1, None]), "Row 2 has no label"),
        (lambda _: clustering.adjusted_rand_score(["u", "v"], [None, "u"]), "Row 0 has no label"),
        (lambda _: clustering.v_measure_score([2, 1, None], [0, 1, 1]), "Row 2 has no label"),
        (
            lambda _: clustering.fowlkes_mallows_score([0, 1], np.array(["u", np.nan], object)),
            "Row 1 has no label",
        ),
        (
            lambda _: clustering.adjusted_mutual_info_score(
                [1, 2], pd.Series([1, None], dtype="Int8")
            ),
            "Row 1 has no label",
        ),
        (
            lambda _: clustering.silhouette_score(
                [[0.0, 1.0, 2.0], [1.0, 0.5, 1.0], [2.0, 1.0, 0.0]],
                [0, 0, 1],
                metric="precomputed",
            ),
            "non-zero elements on the diagonal: row 1 is 0.5 apart from itself",
        ),
        (
            lambda _: clustering.silhouette_score(
                sparse.eye(3, format="csr"), [0, 0, 1], metric="precomputed"
            ),
            "needs all distances",
        ),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call(groups()[0])


def test_scorers_of_agreement_can_be_sent_elsewhere() -> None:
    for name in ("adjusted_rand_score", "v_measure_score"):
        score = getattr(clustering, name)
        assert pickle.loads(pickle.dumps(score)) is score
