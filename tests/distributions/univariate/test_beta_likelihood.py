"""The most likely beta law: its equations, a second optimizer, bad starts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from novum.core.learners import ConvergenceWarning
from novum.distributions.univariate import beta
from novum.distributions.univariate.beta import Beta, most_likely

shapes = st.floats(0.05, 1e3)


@given(shapes, shapes, st.floats(0.1, 10), st.floats(0.1, 10))
def test_expected_logarithms_give_the_shapes_back(a: float, b: float, c: float, d: float) -> None:
    means = special.digamma([a, b]) - special.digamma(a + b)
    found = most_likely(means, (c * a, d * b))
    # The means are rounded, and the larger shape magnifies that by its size.
    np.testing.assert_allclose(found, [a, b], rtol=1e-14 * (10 + (a + b)) * 1e2)


@pytest.mark.parametrize("start", [(1e-6, 1e-6), (1e6, 1e-3), (1e5, 1e5)])
def test_any_start_reaches_the_maximum(start: tuple[float, float]) -> None:
    means = special.digamma([2.0, 3.0]) - special.digamma(5.0)
    np.testing.assert_allclose(most_likely(means, start), [2.0, 3.0], rtol=1e-12)


def test_a_second_optimizer_finds_the_same() -> None:
    x = Beta(0.7, 4.0).sample(300, random_state=5)
    g, h = np.log(x).mean(), np.log1p(-x).mean()

    def loss(logs: np.ndarray) -> float:
        a, b = np.exp(logs)
        return float(special.betaln(a, b) - (a - 1) * g - (b - 1) * h)

    other = np.exp(optimize.minimize(loss, [0.0, 0.0], method="Nelder-Mead", tol=1e-12).x)
    found = Beta.fit(x)
    np.testing.assert_allclose([found.a, found.b], other, rtol=1e-5)
    gradient = [
        g - special.digamma(found.a) + special.digamma(found.a + found.b),
        h - special.digamma(found.b) + special.digamma(found.a + found.b),
    ]
    np.testing.assert_allclose(gradient, 0, atol=1e-14)


def test_no_convergence_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beta, "_MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="had not settled after 1 steps"):
        most_likely(np.array([-1.0, -0.5]), (30.0, 0.1))
