"""Adjusted p-values: the step procedures they stand for, and what they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.evaluation.comparison.ranks.multiplicity import adjusted_p_values
from tests.evaluation.selection import definitions

p_lists = st.lists(st.floats(0, 1), min_size=1, max_size=20)


@given(p_lists, st.sampled_from([0.01, 0.05, 0.2]))
def test_rejections_are_those_of_the_steps(p: list[float], alpha: float) -> None:
    holm = adjusted_p_values(p, "holm")
    hochberg = adjusted_p_values(p, "benjamini_hochberg")
    # Where an adjusted value is the level up to rounding, either answer is right.
    clear = np.abs(holm - alpha) > 1e-12
    assert (holm <= alpha)[clear].tolist() == np.array(definitions.holm_rejects(p, alpha))[
        clear
    ].tolist()
    clear = np.abs(hochberg - alpha) > 1e-12
    expected = np.array(definitions.hochberg_rejects(p, alpha))
    assert (hochberg <= alpha)[clear].tolist() == expected[clear].tolist()


@given(p_lists)
def test_false_discovery_corrections_are_scipys(p: list[float]) -> None:
    for ours, other in (("benjamini_hochberg", "bh"), ("benjamini_yekutieli", "by")):
        np.testing.assert_allclose(
            adjusted_p_values(p, ours),  # type: ignore[arg-type]
            stats.false_discovery_control(p, method=other),
            rtol=1e-12,
            # Subnormal p-values have few digits.
            atol=1e-300,
        )


@given(p_lists)
def test_order_of_strictness(p: list[float]) -> None:
    by = {c: adjusted_p_values(p, c) for c in ("bonferroni", "holm", "benjamini_hochberg")}  # type: ignore[arg-type]
    slack = 1e-12
    assert (np.asarray(p) <= by["benjamini_hochberg"] + slack).all()
    assert (by["benjamini_hochberg"] <= by["holm"] + slack).all()
    assert (by["holm"] <= by["bonferroni"] + slack).all()


def test_family_wise_level_holds() -> None:
    """Any rejection among 10 true hypotheses: at most 0.05, within four errors of 1000 runs."""
    rng = np.random.default_rng(0)
    wrong = [(adjusted_p_values(rng.random(10)) <= 0.05).any() for _ in range(1000)]
    assert np.mean(wrong) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 1000)
    assert np.mean(wrong) > 0.01


def test_refusals() -> None:
    with pytest.raises(InputError, match="from 0 to 1"):
        adjusted_p_values([0.2, np.nan])
    with pytest.raises(InputError, match="correction is one of"):
        adjusted_p_values([0.2], "none")  # type: ignore[arg-type]
    assert adjusted_p_values([]).shape == (0,)
