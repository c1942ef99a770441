"""Newton's method: it finds the optimum to all digits, safely and with few readings."""

from __future__ import annotations

import numpy as np
import pytest

from novum.linear.logistic import newton as newton_module
from novum.linear.logistic.newton import newton, newton_from_subsamples
from tests.linear.logistic_tables import SMALL_X, SMALL_Y, SMALL_Y3, logistic_table, loss_of
from tests.oracles.plain_logistic import exact_logistic


@pytest.mark.parametrize("K", [2, 3])
@pytest.mark.parametrize("penalty", [0.0, 0.7])
def test_it_finds_the_optimum_of_forty_digits(K: int, penalty: float) -> None:
    y = SMALL_Y if K == 2 else SMALL_Y3
    loss = loss_of(SMALL_X, y, penalty=penalty)
    found = newton(loss, loss.start(), tol=1e-6, max_iter=50)
    W = loss.shape.coefficients(found.vector)
    W[:, -1] -= W[:, :-1] @ loss.rows.center
    exact, value = exact_logistic(SMALL_X.tolist(), y.tolist(), n_classes=K, penalty=penalty)
    np.testing.assert_allclose(W, np.array(exact, float), rtol=1e-11, atol=1e-12)
    assert found.evaluation.value == pytest.approx(float(value), rel=1e-12)
    assert found.stopped_by == "tol"
    assert found.converged
    assert found.iterations == len(found.trace) - 1


def test_the_objective_never_rises() -> None:
    X, y = logistic_table(300, 5, 3, strength=8.0)
    loss = loss_of(X, y, penalty=1e-3)
    far = 30 * np.random.default_rng(0).normal(size=loss.shape.size)
    found = newton(loss, far, tol=1e-6, max_iter=100)
    assert found.stopped_by == "tol"
    assert (np.diff(found.trace) <= 1e-12 * found.trace[0]).all()
    near = newton(loss, loss.start(), tol=1e-6, max_iter=100)
    np.testing.assert_allclose(found.vector, near.vector, rtol=1e-8, atol=1e-9)


def test_subsamples_save_readings_and_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = logistic_table(20_000, 4)
    plain, quick = loss_of(X, y), loss_of(X, y)
    expected = newton(plain, plain.start(), tol=1e-6, max_iter=50)
    monkeypatch.setattr(newton_module, "LARGE", 0.0)
    found = newton_from_subsamples(quick, quick.start(), tol=1e-6, max_iter=50)
    np.testing.assert_allclose(found.vector, expected.vector, rtol=1e-9, atol=1e-11)
    assert quick.passes < plain.passes
    assert found.hessian is not None


def test_limits_and_watches_end_it() -> None:
    X, y = logistic_table(200, 3)
    loss = loss_of(X, y)
    cut = newton(loss, loss.start(), tol=1e-6, max_iter=1)
    assert (cut.stopped_by, cut.iterations) == ("max_iter", 1)
    assert not cut.last_step.any()
    seen: list[float] = []

    def watch(now: newton_module.Evaluation) -> bool:
        seen.append(now.value)
        return len(seen) == 2

    watched = newton(loss, loss.start(), tol=1e-12, max_iter=50, watch=watch)
    assert (watched.stopped_by, len(seen)) == ("callback", 2)


def test_patience_ends_a_walk_to_infinity() -> None:
    # Rows 0 and 1 share x = 0 with both labels; the third separates.
    loss = loss_of(np.array([[0.0], [0.0], [1.0]]), np.array([0, 1, 1]), penalty=0.0)
    found = newton(loss, loss.start(), tol=1e-6, max_iter=100, patience=6)
    assert found.stopped_by == "slow"
    assert found.iterations < 20
