"""The choice of the method by shape, and certificates of several machines."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from novum.core.learners import Verdict
from novum.svm.linear import coordinate as linear_coordinate
from novum.svm.linear import fit as linear_fit
from novum.svm.linear import proximal as linear_proximal
from novum.svm.linear.fit import NARROW, certify, solve_losses
from novum.svm.linear.losses import hinge_losses
from novum.svm.linear.solution import Budget, LinearSolution
from novum.svm.solver.problem import Stopping
from tests.svm.linear_tables import design, overlapping


@pytest.mark.parametrize(
    ("shape", "method"),
    [
        ((NARROW + 9, 5), linear_proximal.METHOD),
        ((5, NARROW + 9), linear_proximal.METHOD),
        ((NARROW + 9, NARROW + 9), linear_coordinate.METHOD),
    ],
)
def test_shape_alone_chooses(shape: tuple[int, int], method: str) -> None:
    X = sparse.random(*shape, density=0.02, random_state=0, format="csr")
    side = np.where(np.arange(shape[0]) % 2 == 0, 1.0, -1.0)
    stopping = Stopping(1e-3, 1000)
    found = {}
    for name, table in (("sparse", X), ("dense", X.toarray())):
        losses = hinge_losses(side, np.ones(shape[0]), squared=True)
        rng = np.random.default_rng(0)
        found[name] = solve_losses(design(table), losses, stopping, Budget(stopping), rng)
        assert found[name].method == method
        assert found[name].relative_gap <= 1e-3
    gap = found["sparse"].gap + found["dense"].gap
    difference = np.linalg.norm(found["sparse"].vector - found["dense"].vector)
    assert difference <= 2 * np.sqrt(2 * gap) + 1e-9


def solution(gap: float, stopped_by: str | None = None) -> LinearSolution:
    return LinearSolution(np.zeros(1), 2.0, 2.0 - gap, gap, 0.1, 3, "newton", stopped_by, (gap,))


def test_objectives_and_gaps_add_up() -> None:
    found = certify([solution(0.001), solution(0.003)], "losses", Stopping(0.01), 1.0)
    assert found.verdict is Verdict.WITHIN_TOLERANCE
    assert (found.primal, found.iterations) == (4.0, 6)
    assert found.gap == pytest.approx(0.004)
    assert found.distance_bound == pytest.approx(np.sqrt(0.008))
    assert found.details["gaps"] == (0.001, 0.003)
    assert "relative gap" in found.sentence


def test_verdicts() -> None:
    stopping = Stopping(0.01)
    assert certify([solution(0.0)], "losses", stopping, 1.0).verdict is Verdict.PROVED
    early = certify([solution(0.0), solution(1.0, "max_seconds")], "losses", stopping, 1.0)
    assert early.verdict is Verdict.STOPPED_EARLY
    assert early.details["stopped_by"] == "max_seconds"
    without = certify([solution(0.001)], "losses", stopping, 1.0, modulus=None)
    assert without.distance_bound is None


def test_slow_descent_is_finished_by_newton(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_fit, "NARROW", 5)
    monkeypatch.setattr(linear_fit, "PATIENCE", 6)
    X, side = overlapping(200, 12)
    X[:, 1] = X[:, 0] + 1e-3 * X[:, 1]
    losses, stopping = hinge_losses(side, np.full(200, 1e3), squared=False), Stopping(1e-6, 1000)
    found = [
        solve_losses(design(X), losses, stopping, Budget(stopping), np.random.default_rng(0))
        for _ in range(2)
    ]
    assert found[0].method == linear_proximal.METHOD
    assert found[0].iterations > linear_fit.PATIENCE
    assert found[0].relative_gap <= 1e-6
    assert found[0].vector.tobytes() == found[1].vector.tobytes()
    monkeypatch.setattr(linear_fit, "WIDEST", 5)
    alone = solve_losses(
        design(X),
        losses,
        Stopping(1e-6, 9),
        Budget(Stopping(1e-6, 9)),
        np.random.default_rng(0),
    )
    assert (alone.method, alone.stopped_by) == (linear_coordinate.METHOD, "max_iter")
