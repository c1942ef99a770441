"""Categories, occurrences and counts: definitions, enumeration, and missing cells."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from scipy import sparse

from novum.bayes import CategoricalNB, MEstimate
from novum.bayes.column_models import level_prior
from novum.core.errors import ModelFileError
from novum.core.tables import MISSING, UNSEEN, Column, Kind, Sample, Schema
from novum.distributions.classwise import discrete as module
from novum.distributions.classwise.discrete import (
    BernoulliBlock,
    CategoricalBlock,
    CountBlock,
    expected_totals,
    level_table,
)
from novum.numerics import Floats, Positions
from tests.bayes.definitions import log_category, log_counts, multinomial_probability
from tests.bayes.naive_bayes_tables import codes

COLOR = Column("color", Kind.NOMINAL, ("blue", "green", "red"))


@dataclass(frozen=True)
class Totals:
    """Sums of count columns only."""

    totals: Floats
    class_count: Floats

    def totals_of(self, columns: Positions) -> tuple[Floats, None]:
        return self.totals[:, columns], None


def rows_of_numbers(X: Any) -> Sample:
    n, d = X.shape
    return Sample(Schema.of_array(d), X, np.empty((n, 0), np.int32))


# --- Categories -----------------------------------------------------------------------------------


def test_levels_have_their_posterior_means() -> None:
    cells = ["red", "red", "blue", None]
    counts = np.array([[1.0], [0.0], [2.0]])
    table = level_table(counts, level_prior(1.0, COLOR))
    for level, place in (("blue", 2), ("green", 3), ("red", 4)):
        expected = log_category(level, cells, dict.fromkeys(COLOR.levels, 1.0))
        assert table[place, 0] == pytest.approx(expected, rel=1e-14)
    assert table[1, 0] == 0.0
    # One more level with the pseudo-count 1: 1 / (3 + 4).
    assert np.exp(table[0, 0]) == pytest.approx(1 / 7, rel=1e-14)


def test_an_m_estimate_of_an_unseen_level() -> None:
    table = level_table(np.array([[1.0], [0.0], [2.0]]), level_prior(MEstimate(4.0), COLOR))
    assert np.exp(table[0, 0]) == pytest.approx((4 / 4) / (3 + 4), rel=1e-14)
    assert np.exp(table[2:, 0]).sum() == pytest.approx(1.0, rel=1e-14)


def test_a_class_without_cells_and_without_prior_says_nothing() -> None:
    table = level_table(np.array([[1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]), level_prior(0.0, COLOR))
    assert table[:, 1].tolist() == [0.0] * 5
    np.testing.assert_array_equal(np.exp(table[:, 0]), [0.0, 1.0, 0.5, 0.0, 0.5])


@pytest.mark.parametrize("compiled", [False, True])
def test_look_up_with_reserved_codes(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "COMPILED_FROM_TERMS", 0 if compiled else 2**60)
    X, y = codes(40)
    model = CategoricalNB().fit(X, y)
    block: CategoricalBlock = model._blocks[0]
    cells = np.array([[0, UNSEEN, 2], [MISSING, 1, MISSING], [MISSING] * 3], np.int32)
    sample = Sample(model.schema_, np.empty((3, 0)), cells)
    found = block.log_likelihood(sample)
    for i, k in np.ndindex(3, 3):
        parts = [block.table[block.starts[j] + 2 + cells[i, j], k] for j in range(3)]
        assert found[i, k] == pytest.approx(sum(parts), rel=1e-14)
    np.testing.assert_allclose(block.contributions(sample).sum(axis=2), found, rtol=1e-14)
    assert found[2].tolist() == [0.0, 0.0, 0.0]


# --- Occurrences ----------------------------------------------------------------------------------


def bernoulli(alpha: float) -> BernoulliBlock:
    sums: Any = Totals(np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([2.0, 3.0]))
    return BernoulliBlock.estimate(np.arange(2), sums, np.array([0.0]), np.array([alpha]))


def test_occurrences_sum_to_one_over_all_rows() -> None:
    X = np.array(list(itertools.product([0.0, 1.0], repeat=2)))
    for block in (bernoulli(1.0), bernoulli(0.0)):
        dense = block.log_likelihood(rows_of_numbers(X))
        np.testing.assert_allclose(np.exp(dense).sum(axis=0), 1.0, rtol=1e-14)
        thin = block.log_likelihood(rows_of_numbers(sparse.csr_matrix(X)))
        np.testing.assert_allclose(thin, dense, rtol=1e-13)
        parts = block.contributions(rows_of_numbers(sparse.csr_matrix(X)))
        np.testing.assert_allclose(parts.sum(axis=2), dense, rtol=1e-13)


def test_missing_occurrences_are_summed_over() -> None:
    block = bernoulli(0.5)
    holes = block.log_likelihood(rows_of_numbers(np.array([[1.0, np.nan]])))
    both = block.log_likelihood(rows_of_numbers(np.array([[1.0, 0.0], [1.0, 1.0]])))
    np.testing.assert_allclose(np.exp(holes[0]), np.exp(both).sum(axis=0), rtol=1e-13)


# --- Counts ---------------------------------------------------------------------------------------


def test_counts_are_the_definition() -> None:
    rows = [[2.0, 0.0, 1.0], [1.0, 1.0, 0.0]]
    sums: Any = Totals(np.sum(rows, axis=0, keepdims=True), np.array([2.0]))
    block = CountBlock.estimate(np.arange(3), sums, np.array([0.5]))
    found = block.log_likelihood(rows_of_numbers(np.array([[3.0, 1.0, 2.0]])))
    assert found[0, 0] == pytest.approx(log_counts([3, 1, 2], rows, 0.5), rel=1e-13)


def test_missing_counts_are_summed_over() -> None:
    """Of rows with four counts in all the first two columns: the third may be anything."""
    shares = np.array([0.5, 0.2, 0.3])
    block = CountBlock(
        np.arange(3), np.log(shares)[:, np.newaxis], np.array([6.0]), np.array([0.0])
    )
    # Given the sum of the present counts, they are multinomial with shares 5/7 and 2/7.
    found = block.log_likelihood(rows_of_numbers(np.array([[3.0, 1.0, np.nan]])))[0, 0]
    assert found == pytest.approx(3 * np.log(5 / 7) + np.log(2 / 7), rel=1e-13)
    # The same by enumeration: all rows of n counts whose first two are 3 and 1, or sum to 4.
    for n in (4, 6):
        rest = n - 4
        these = multinomial_probability([3, 1, rest], shares)
        all_of_four = sum(multinomial_probability([a, 4 - a, rest], shares) for a in range(5))
        coefficient = multinomial_probability([3, 1], [1.0, 1.0])
        assert np.exp(found) * coefficient == pytest.approx(these / all_of_four, rel=1e-12)


def test_expected_totals_are_poisson_rates() -> None:
    totals, missing = np.array([[6.0, 2.0]]), np.array([[0.0, 2.0]])
    # The second column was seen in two of four rows: a rate of 1 for each row.
    assert expected_totals(totals, missing, np.array([4.0])).tolist() == [[6.0, 4.0]]
    assert expected_totals(totals, None, np.array([4.0])) is totals
    # A class that never had the column takes the rate of all.
    both = expected_totals(
        np.array([[6.0, 2.0], [0.0, 0.0]]), np.array([[0, 2.0], [0, 3]]), np.array([4.0, 3.0])
    )
    assert both.tolist() == [[6.0, 4.0], [0.0, 3.0]]


def test_contributions_of_counts_sum_to_the_score() -> None:
    sums: Any = Totals(np.array([[4.0, 1, 0], [1, 1, 3]]), np.ones(2))
    block = CountBlock.estimate(np.arange(3), sums, np.ones(1))
    X = np.array([[2.0, np.nan, 1.0], [0.0, 0.0, 0.0], [1.0, 2.0, 0.0]])
    found = block.contributions(rows_of_numbers(X)).sum(axis=2)
    np.testing.assert_allclose(found, block.log_likelihood(rows_of_numbers(X)), rtol=1e-13)


def test_damaged_blocks_are_refused() -> None:
    schema = Schema.of_array(2)
    good = bernoulli(1.0)
    good.check(schema, 2)
    for damaged in (
        BernoulliBlock(good.columns, np.zeros(3), good.log_one, good.log_zero, np.ones(1)),
        BernoulliBlock(good.columns, np.zeros(1), good.log_one[:1], good.log_zero, np.ones(1)),
        CountBlock(np.arange(2), np.zeros((2, 2)), np.zeros(3), np.ones(1)),
        CountBlock(np.array([0, -1]), np.zeros((2, 2)), np.zeros(2), np.ones(1)),
        CategoricalBlock(np.array([0, 99]), np.zeros((99, 2)), np.zeros(99)),
    ):
        with pytest.raises(ModelFileError):
            damaged.check(schema, 2)
