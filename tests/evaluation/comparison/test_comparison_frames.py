"""Comparisons as tables: the numbers of the pairs, in three libraries."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.comparison.comparison import Comparison, compare_scores

RNG = np.random.default_rng(0)


def one() -> Comparison:
    scores = {name: RNG.normal(0.8, 0.05, 6) for name in ("a", "b", "c")}
    return compare_scores(scores, 1 / 2, n_repeats=2, measure="accuracy")


def several() -> Comparison:
    scores = {str(i): {name: RNG.normal(0.8, 0.05, 5) for name in ("a", "b")} for i in range(5)}
    return compare_scores(scores, 1 / 4)


def test_pairs_of_one_data_set() -> None:
    found = one()
    table = found.to_frame()
    assert table.num_rows == 3
    row = table.to_pylist()[1]
    pair = found.pairs[1]
    assert (row["first"], row["second"]) == (pair.first, pair.second)
    assert row["difference"] == pair.difference.estimate
    assert row["adjusted_p_value"] == pair.adjusted_p_value
    assert row["mcnemar_p_value"] is None
    total = row["probability_first"] + row["probability_equal"] + row["probability_second"]
    assert total == pytest.approx(1.0)


def test_pairs_of_several_data_sets() -> None:
    row = several().to_frame().to_pylist()[0]
    assert row["wins"] + row["ties"] + row["losses"] == 5
    assert {"first_mean_rank", "signed_rank_p_value", "rank_p_value"} <= set(row)


def test_scores_fold_by_fold() -> None:
    found = one()
    rows = found.to_frame("scores").to_pylist()
    assert len(rows) == 3 * 6
    last = rows[-1]
    assert (last["model"], last["repeat"], last["fold"]) == ("c", 1, 2)
    assert last["accuracy"] == found.scores["data"]["c"][-1]


@pytest.mark.parametrize("library", ["pandas", "polars"])
@pytest.mark.parametrize("make", [one, several])
def test_other_libraries(library: str, make: object) -> None:
    found = make()  # type: ignore[operator]
    frame = found.to_frame(frame=library)
    assert type(frame).__module__.startswith(library)
    assert list(frame["first"]) == [pair.first for pair in found.pairs]
    differences = [pair.difference.estimate for pair in found.pairs]
    np.testing.assert_array_equal(np.asarray(frame["difference"]), differences)


def test_bad_input_is_named() -> None:
    with pytest.raises(ValueError, match="rows are 'pairs' or 'scores', got 'folds'"):
        one().to_frame("folds")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="'arrow', 'pandas' or 'polars'"):
        one().to_frame(frame="excel")  # type: ignore[arg-type]
