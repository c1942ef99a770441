"""Laws of columns as values: smoothing, equality, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from novum.bayes.column_models import (
    BernoulliColumn,
    CategoricalColumn,
    CountsBlock,
    GaussianColumn,
    MEstimate,
    StudentTColumn,
    level_prior,
)
from novum.core.errors import InputError
from novum.core.tables import Column, Kind

COLOR = Column("color", Kind.NOMINAL, ("blue", "green", "red"))


def test_a_pseudo_count_for_each_level_is_an_m_estimate() -> None:
    known, unseen, _ = level_prior(0.5, COLOR)
    shared = level_prior(MEstimate(1.5), COLOR).levels
    assert known.tolist() == shared.tolist() == [0.5, 0.5, 0.5]
    assert unseen == 0.5


def test_an_m_estimate_shares_by_its_prior() -> None:
    known, unseen, total = level_prior(MEstimate(4, {"red": 0.5, "pink": 0.5}), COLOR)
    assert (known.tolist(), unseen, total) == ([0.0, 0.0, 2.0], 2.0, 4)


def test_unseen_levels_share_the_same_m_among_one_more() -> None:
    known, unseen, total = level_prior(MEstimate(4.0), COLOR)
    assert (known.tolist(), unseen, total) == ([4 / 3] * 3, 1.0, 4.0)


def test_values_are_equal_by_content() -> None:
    assert CountsBlock(["a", "b"]) == CountsBlock(("a", "b"))
    assert GaussianColumn(1e-9) == GaussianColumn()
    assert CategoricalColumn(MEstimate(2)) != CategoricalColumn(2.0)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: GaussianColumn(0.0), "positive part"),
        (lambda: StudentTColumn(strength=0), "strength of StudentTColumn is positive"),
        (lambda: StudentTColumn(variance=-1), "variance of StudentTColumn"),
        (lambda: StudentTColumn(mean=float("nan")), "prior mean"),
        (lambda: CategoricalColumn(-1.0), "smoothing of CategoricalColumn"),
        (lambda: CategoricalColumn("much"), "at least 0, got 'much'"),
        (lambda: BernoulliColumn(smoothing=float("inf")), "smoothing of BernoulliColumn"),
        (lambda: BernoulliColumn(threshold=float("nan")), "threshold"),
        (lambda: CountsBlock("words"), "goes into a list"),
        (lambda: CountsBlock([]), "at least one column"),
        (lambda: CountsBlock(["a", "a"]), "each once"),
        (lambda: MEstimate(-1), "m of MEstimate"),
        (lambda: MEstimate(1, {"a": 0.5}), "sum to one"),
    ],
)
def test_impossible_values_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
