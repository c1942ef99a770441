"""Rankings: scikit-learn's NDCG with ties, pairs one by one, queries, bad input."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics

from novum.core.errors import InputError
from novum.evaluation.measures.ranking import ndcg, pair_error
from novum.evaluation.measures.separation import roc_area
from tests.evaluation.measures import definitions

rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(-3, 3), st.integers(0, 2), st.floats(0.1, 3)),
    min_size=2,
    max_size=25,
)


@given(rows)
def test_pairs_are_counted_as_one_by_one(found: Any) -> None:
    y, s, groups, w = (list(column) for column in zip(*found, strict=True))
    for queries in (groups, [0] * len(y)):
        levels = {(query, level) for query, level in zip(queries, y, strict=True)}
        if len(levels) == len(set(queries)):
            continue
        expected = definitions.pair_error(y, s, queries, w)
        assert pair_error(y, s, groups=queries, sample_weight=w) == pytest.approx(
            expected, abs=1e-12
        )


@given(rows, st.sampled_from([None, 1, 3]))
def test_ndcg_of_one_query_is_scikit_learns(found: Any, k: Any) -> None:
    y, s, _, _ = (list(column) for column in zip(*found, strict=True))
    expected = metrics.ndcg_score([y], [s], k=k)
    assert ndcg(y, s, k=k) == pytest.approx(expected, abs=1e-12)


def test_tables_of_queries_are_scikit_learns() -> None:
    rng = np.random.default_rng(0)
    Y, S, w = rng.integers(0, 4, (6, 5)), rng.integers(0, 4, (6, 5)), rng.random(6)
    for k in (None, 2):
        expected = metrics.ndcg_score(Y, S, k=k, sample_weight=w)
        assert ndcg(Y, S, k=k, sample_weight=w) == pytest.approx(expected, rel=1e-12)
    queries = np.repeat(np.arange(6), 5)
    assert ndcg(Y.ravel(), S.ravel(), groups=queries) == pytest.approx(ndcg(Y, S), rel=1e-14)


def test_exponential_gain_is_that_of_changed_relevances() -> None:
    y, s = [3, 1, 0, 2], [1, 4, 3, 2]
    assert ndcg(y, s, gain="exponential") == ndcg([7, 1, 0, 3], s)


def test_pairs_of_two_levels_are_the_roc_area() -> None:
    rng = np.random.default_rng(1)
    y, s, w = rng.integers(0, 2, 300), rng.integers(0, 20, 300), rng.random(300)
    expected = 1 - roc_area(y, s, sample_weight=w)
    assert pair_error(y, s, sample_weight=w) == pytest.approx(expected, abs=1e-12)


def test_the_best_order_has_no_error() -> None:
    y = np.random.default_rng(2).normal(size=2000)
    assert pair_error(y, np.exp(y)) == 0.0
    assert pair_error(y, -y) == 1.0
    assert ndcg(np.exp(y), y) == pytest.approx(1.0, rel=1e-12)


def test_a_query_without_relevant_rows_counts_zero() -> None:
    assert ndcg([1, 0, 0, 0], [2, 1, 2, 1], groups=["a", "a", "b", "b"]) == 0.5


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: ndcg([1, -1], [1, 2]), "A relevance is at least 0; row 1 has -1"),
        (lambda: ndcg([1, 0], [1, np.nan]), "scores has NaN at row 1"),
        (lambda: ndcg([1, 0], [1, 2], k=0), "k is a number of ranks"),
        (lambda: ndcg([1, 0], [1, 2], gain="square"), "gain is 'linear'"),
        (lambda: ndcg([1, 0], [1, 2], groups=["a"]), "groups has shape .1,., but y has 2 rows"),
        (
            lambda: ndcg([1, 0], [1, 2], sample_weight=[1, 2]),
            "Rows of one query have different weights, the first at row 1",
        ),
        (lambda: ndcg([[1, 0]], [[1, 2, 3]]), "pass scores of the same shape"),
        (lambda: pair_error([1, 1], [1, 2]), "no pair to put in order"),
        (lambda: pair_error([1, 2], [[1, 2], [3, 4]]), "one relevance and one score for each row"),
    ],
)
def test_bad_rankings_are_named(call: Any, message: Any) -> None:
    with pytest.raises(InputError, match=message):
        call()
