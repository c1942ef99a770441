"""Extrapolation: one step solves a quadratic in its plane, bounds and sums hold, it never rises."""

from __future__ import annotations

import numpy as np
import pytest

from novum.svm.solver.descent import Descent
from novum.svm.solver.feasibility import feasible_start, reduced
from novum.svm.solver.rounds import SPACING, Extrapolation
from novum.svm.solver.row_cache import KernelRows
from tests.svm.quadratic_problems import MEMBERS, GramRows, classes, cloud, gaussian, member


def begun(name: str, C: float = 2.0) -> tuple[Descent, np.ndarray]:
    X, y, t = cloud(12, seed=2)
    problem = classes(y, C) if name == "classes" else member(name, y, t, C)
    b = feasible_start(problem, np.random.default_rng(0).normal(size=len(problem.linear)))
    reduction = reduced(problem, b)
    K = gaussian(X)
    return Descent(reduction, KernelRows(GramRows(K)), b[reduction.order]), K


def step(descent: Descent, K: np.ndarray, extrapolation: Extrapolation) -> None:
    """As many rounds as make one snapshot."""

    def add_product(variables: np.ndarray, amounts: np.ndarray, out: np.ndarray) -> None:
        out += amounts @ K[descent.rows[variables]]

    for _ in range(SPACING):
        extrapolation.after_round(descent, np.arange(len(descent.b)), add_product)


def test_the_minimum_along_a_displacement_is_found() -> None:
    descent, K = begun("classes", C=1e3)
    extrapolation = Extrapolation()
    step(descent, K, extrapolation)
    d = -(descent.gradient() - descent.gradient().mean())
    # A tenth of the way to the minimum along d, inside the box.
    middle = (descent.terms.lower + descent.terms.upper) / 2
    descent.b = middle - middle.mean()
    descent.recompute()
    extrapolation = Extrapolation()
    step(descent, K, extrapolation)
    d = -(descent.gradient() - descent.gradient().mean())
    best = float(d @ d) / float(d @ K @ d)
    descent.b = descent.b + 0.1 * best * d
    descent.recompute()
    step(descent, K, extrapolation)
    assert descent.gradient() @ d == pytest.approx(0.0, abs=1e-8 * float(d @ d))
    np.testing.assert_allclose(descent.F, K @ descent.b, rtol=1e-9)


@pytest.mark.parametrize("name", MEMBERS)
def test_steps_stay_feasible_and_never_rise(name: str) -> None:
    descent, K = begun(name)
    terms = descent.terms
    extrapolation, rng = Extrapolation(), np.random.default_rng(3)
    sums = [descent.b[part].sum() for part in terms.segments]
    for _ in range(6):
        problem = descent.reduction.problem
        near = descent.reduction.restored(descent.b) + 0.05 * rng.normal(size=len(problem.linear))
        descent.b = feasible_start(problem, near)[descent.reduction.order]
        descent.recompute()
        value = descent.value()
        step(descent, K, extrapolation)
        assert descent.value() <= value + 1e-12
        products = descent.F.copy()
        descent.recompute()
        np.testing.assert_allclose(products, descent.F, atol=1e-10)
        assert (descent.b >= terms.lower).all()
        assert (descent.b <= terms.upper).all()
        if terms.is_grouped:
            now = [descent.b[part].sum() for part in terms.segments]
            assert now == pytest.approx(sums, abs=1e-12)
