"""Words that look like a scale."""

from __future__ import annotations

import pytest

from novum.apps.job.table.level_words import scale_of


@pytest.mark.parametrize(
    "scale",
    [
        ["low", "Medium", "HIGH"],
        ["very low", "low", "very-high"],
        ["none", "mild", "moderate", "severe"],
        ["S", "M", "L", "XL"],
        ["unacc", "acc", "good", "vgood"],
        ["never", "sometimes", "always"],
        ["strongly disagree", "disagree", "neutral", "agree", "strongly agree"],
        ["I", "II", "III", "IV"],
        ["grade 2", "grade 3", "grade 10"],
    ],
)
def test_scales_are_found_in_any_order(scale: list[str]) -> None:
    assert scale_of(scale[::-1]) == scale
    assert scale_of(sorted(scale)) == scale


@pytest.mark.parametrize(
    "labels",
    [
        ["red", "green", "blue"],
        ["low", "high", "blue"],
        ["low", "medium", "mid"],
        ["setosa", "versicolor", "virginica"],
        ["a1", "b2", "c3"],
        ["1", "2", "3"],
        [1, 2, 3],
        ["low"],
        [],
    ],
)
def test_other_words_are_none(labels: list[object]) -> None:
    assert scale_of(labels) is None
