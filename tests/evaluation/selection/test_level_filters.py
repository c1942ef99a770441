"""Filters by level: what they promise about columns without association."""

from __future__ import annotations

import numpy as np
import pytest

from novum.evaluation.selection.filters import SelectFdr, SelectFpr, SelectFwe


def runs(model: object, n: int, useful: int, seed: int) -> list[tuple[int, int]]:
    """Useless and all columns that pass, in tables of 30 columns of which some are useful."""
    rng = np.random.default_rng(seed)
    found = []
    y = np.arange(60) % 2
    for _ in range(n):
        X = rng.normal(size=(60, 30))
        X[:, :useful] += y[:, None] * 1.2
        mask = model.fit(X, y).get_support()  # type: ignore[attr-defined]
        found.append((int(mask[useful:].sum()), int(mask.sum())))
    return found


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["holm", "bonferroni"])
def test_any_useless_column_is_rare(correction: str) -> None:
    wrong = np.mean([bad > 0 for bad, _ in runs(SelectFwe(correction=correction), 150, 10, 0)])
    assert wrong < 0.05 + 4 * np.sqrt(0.05 * 0.95 / 150)


@pytest.mark.slow
@pytest.mark.parametrize("correction", ["benjamini_hochberg", "benjamini_yekutieli"])
def test_the_share_of_useless_columns_is_small(correction: str) -> None:
    found = runs(SelectFdr(correction=correction), 150, 10, 1)
    shares = [bad / max(1, total) for bad, total in found]
    # The expectation is at most 0.05 * 20/30.
    assert np.mean(shares) < 0.05 * 20 / 30 + 4 * np.std(shares) / np.sqrt(150)


def test_uncorrected_levels_let_their_share_pass() -> None:
    passed = np.mean([bad for bad, _ in runs(SelectFpr(), 100, 0, 2)])
    # 30 columns at 0.05: 1.5 on average, with an error of 0.12.
    assert passed == pytest.approx(1.5, abs=0.5)


def test_power_grows_with_what_may_go_wrong() -> None:
    counts = [
        np.mean([total for _, total in runs(model, 40, 10, 3)])
        for model in (SelectFwe(), SelectFdr(), SelectFpr())
    ]
    assert counts == sorted(counts)
