"""The table of a search: scikit-learn's columns, and limits by the definition."""

import numpy as np
import pytest

from novum.evaluation.search.search import search_results, with_parameters
from novum.evaluation.validation.certainty import corrected_interval
from novum.evaluation.validation.fold_fits import FoldRun

SCORES = [[0.5, 0.7, 0.6], [0.9, 0.7, 0.8], [np.nan, 0.7, 0.8], [0.9, 0.7, 0.8]]
OUTCOMES = [
    tuple(FoldRun({"score": s}, {"score": s + 1}, fit_seconds=2.0) for s in row) for row in SCORES
]
CANDIDATES = [{"a": 1}, {"a": 2, "b": "x"}, {"a": 3, "b": [1, 2]}, {"b": None}]


def test_means_deviations_and_ranks() -> None:
    table = search_results(CANDIDATES, OUTCOMES, [0.5] * 4, {"iter": [0, 0, 1, 1]})
    np.testing.assert_allclose(table["mean_test_score"], np.mean(SCORES, axis=1))
    np.testing.assert_allclose(table["std_test_score"], np.std(SCORES, axis=1))
    assert table["rank_test_score"].tolist() == [3, 1, 4, 1]
    assert table["split2_test_score"].tolist() == [0.6, 0.8, 0.8, 0.8]
    np.testing.assert_allclose(table["mean_train_score"], np.mean(SCORES, axis=1) + 1)
    assert table["mean_fit_time"].tolist() == [2.0] * 4
    assert table["iter"].tolist() == [0, 0, 1, 1]


def test_intervals_are_corrected() -> None:
    table = search_results(CANDIDATES, OUTCOMES, [0.5] * 4)
    low, high = corrected_interval(SCORES[0], 0.5)
    assert (table["low_test_score"][0], table["high_test_score"][0]) == pytest.approx((low, high))
    assert np.isnan(table["low_test_score"][2])
    # (1/3 + 1/2) times the variance 0.01.
    assert table["standard_error_test_score"][1] == pytest.approx(np.sqrt(0.01 * 5 / 6))


def test_parameters_are_masked_where_a_candidate_has_none() -> None:
    table = with_parameters(search_results(CANDIDATES, OUTCOMES, [0.5] * 4))
    assert table["param_a"].mask.tolist() == [False, False, False, True]
    assert table["param_a"].dtype.kind == "i"
    assert table["param_b"].tolist() == [None, "x", [1, 2], None]
    assert table["params"] == CANDIDATES


def test_without_any_score_all_share_the_first_place() -> None:
    failed = (FoldRun({"score": np.nan}, error="x"), FoldRun({"score": np.nan}, error="x"))
    table = search_results([{}, {}], [failed, failed], [0.5, 0.5])
    assert table["rank_test_score"].tolist() == [1, 1]
