"""Stop rules: what they accept and which set they take."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.evaluation.selection.sequential import (
    CorrectedGain,
    MinimalGain,
    SelectionStep,
    WithinStandardError,
)


def step(columns: tuple[int, ...], scores: list[float], candidates: int = 1) -> SelectionStep:
    return SelectionStep(columns, columns[-1], tuple(scores), candidates, 0.25)


def test_minimal_gain() -> None:
    rule = MinimalGain(0.1)
    before = step((0,), [0.5, 0.5])
    assert rule.accepts(before, step((0, 1), [0.75, 0.75]))
    assert not rule.accepts(before, step((0, 1), [0.55, 0.55]))
    assert MinimalGain(-0.1).accepts(before, step((1,), [0.45, 0.45]))


def test_corrected_gain_is_the_test_divided_among_candidates() -> None:
    rng = np.random.default_rng(0)
    agreed = set()
    for _ in range(60):
        before = rng.normal(0.7, 0.05, 5)
        gains = rng.normal(0.04, 0.03, 5)
        error = gains.std(ddof=1) * np.sqrt(1 / 5 + 0.25)
        p = stats.t.sf(gains.mean() / error, 4)
        found = CorrectedGain(0.3).accepts(
            step((0,), before.tolist()), step((0, 1), (before + gains).tolist(), 3)
        )
        assert found == (p <= 0.3 / 3)
        agreed.add(found)
    assert agreed == {True, False}


def test_removal_goes_on_until_a_loss_is_found() -> None:
    rule = CorrectedGain(0.05)
    full = step((0, 1), [0.80, 0.82, 0.81, 0.83])
    assert rule.accepts(full, step((0,), [0.80, 0.81, 0.82, 0.83]))
    assert not rule.accepts(full, step((0,), [0.60, 0.61, 0.61, 0.63]))


def test_one_standard_error() -> None:
    path = [
        step((0,), [0.5, 0.6, 0.55]),
        step((0, 1), [0.70, 0.80, 0.76]),
        step((0, 1, 2), [0.71, 0.81, 0.77]),
    ]
    assert WithinStandardError().accepts(path[0], path[1])
    assert WithinStandardError().chosen(path) == 1


@pytest.mark.parametrize("alpha", [0, 1, -0.1])
def test_sizes_of_tests(alpha: float) -> None:
    with pytest.raises(InputError, match="alpha"):
        CorrectedGain(alpha)
