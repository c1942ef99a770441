"""Rounds: the objective falls, products stay right, units are exact, slack is one variable."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.rounds import BlockRounds, WholeRounds, extremes, power_of_two, with_slack
from novum.svm.solver.row_cache import KernelRows
from tests.svm.quadratic_problems import MEMBERS, GramRows, cloud, gaussian, member


@pytest.mark.parametrize("name", MEMBERS)
@pytest.mark.parametrize("compiled", [False, True])
def test_rounds_descend_and_keep_the_products(
    name: str, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("novum.svm.solver.rounds.BLOCK", 24)
    X, y, t = cloud(90, seed=7)
    problem = member(name, y, t)
    b = feasible_start(problem)
    reduction = reduced(problem, b)
    descent = Descent(reduction, KernelRows(GramRows(gaussian(X))), b[reduction.order])
    rounds = BlockRounds(descent, 0) if compiled else WholeRounds(descent)
    values = [descent.value()]
    for _ in range(20):
        g = descent.gradient()
        ends = extremes(descent.terms, descent.b, g)
        if ends.violation < 1e-3:
            break
        assert rounds.advance(descent, g, ends, 10**6) > 0
        values.append(descent.value())
    # Steps follow single-precision gradients: near the optimum they may rise by rounding.
    assert (np.diff(values) <= 1e-6 * np.abs(values[-1])).all()
    assert values[-1] < values[0]
    single = descent.F.copy()
    descent.recompute()
    np.testing.assert_allclose(single, descent.F, atol=2e-6 * (1 + np.abs(descent.b).sum()))
    for part, total in zip(descent.terms.segments, descent.terms.totals, strict=True):
        if descent.terms.is_grouped:
            assert descent.b[part].sum() == pytest.approx(total, abs=1e-12 * (1 + len(y)))


def test_a_round_takes_no_more_steps_than_allowed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("novum.svm.solver.rounds.BLOCK", 24)
    X, y, t = cloud(90, seed=7)
    reduction = reduced(member("classes", y, t), np.zeros(90))
    for kind in (lambda d: BlockRounds(d, 0), WholeRounds):
        descent = Descent(reduction, KernelRows(GramRows(gaussian(X))), np.zeros(90))
        g = descent.gradient()
        assert kind(descent).advance(descent, g, extremes(descent.terms, descent.b, g), 3) == 3


def test_units_are_exact() -> None:
    for size in (1e-300, 0.1, 1.0, 3.0, 1e300):
        unit = power_of_two(size)
        assert unit <= size < 2 * unit
        assert np.frexp(unit)[0] == 0.5
    assert power_of_two(np.inf) == power_of_two(-1.0) == 1.0


def test_the_slack_has_no_bounds() -> None:
    _, y, t = cloud(5)
    terms = with_slack(reduced(member("ranking", y, t), np.zeros(5)).terms)
    assert terms.lower[-1] == -np.inf
    assert terms.upper[-1] == np.inf
    assert terms.starts.tolist() == [0, 6]
