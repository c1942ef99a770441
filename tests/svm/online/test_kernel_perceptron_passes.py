"""Dual visits: the linear perceptron on equal orders, the rule by the book, budgets of memory."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.linear.perceptron.training import Training, train, visits_of
from novum.numerics import Array, Floats
from novum.svm.online.kernel_perceptron_passes import Columns, DualVisits, train_dual

RULES = ("stochastic", "averaged", "batch")
PLENTY = 10**8


@st.composite
def tables(draw: st.DrawFn) -> tuple[Floats, Floats, Floats]:
    """Whole numbers, so that both ways compute without rounding."""
    n, d = draw(st.integers(2, 10)), draw(st.integers(1, 3))
    X = draw(hnp.arrays(float, (n, d), elements=st.integers(-4, 4).map(float)))
    sign = draw(hnp.arrays(float, (n,), elements=st.sampled_from([-1.0, 1.0])))
    weight = draw(hnp.arrays(float, (n,), elements=st.sampled_from([1.0, 2.0, 3.0])))
    return X, sign, weight


@settings(max_examples=150)
@given(tables(), st.sampled_from(RULES), st.booleans(), st.integers(0, 5))
def test_the_linear_kernel_repeats_the_linear_perceptron(
    table: tuple[Floats, Floats, Floats], rule: str, intercept: bool, seed: int
) -> None:
    X, sign, weight = table
    training = Training(rule, 1.0, 12, None, 5, shuffle=True)
    visits = visits_of(X, (sign > 0).astype(int), weight, intercept, canonical=False)
    primal = train(visits, training, seed)
    columns = Columns(Linear().prepare(X), float(intercept), PLENTY)
    found = train_dual(columns, DualVisits(np.arange(len(X)), sign, weight), training, seed)
    assert found.run.mistakes == primal.mistakes
    assert found.run.trace == primal.trace
    assert found.run.stopped_by == primal.stopped_by
    compared = [(found.run.last, primal.last)]
    # A mean with a row exactly on the boundary is right or wrong by its rounding, and is carried
    # on for another pass accordingly; the steps before it were whole numbers.
    if rule != "averaged" or found.run.visited == primal.visited:
        assert found.run.visited == primal.visited
        compared.append((found.run.weights, primal.weights))
    for ours, theirs in compared:
        np.testing.assert_allclose(ours @ X, theirs[:-1], atol=1e-9)
        assert intercept * float(ours.sum()) == pytest.approx(theirs[-1], abs=1e-9)
    if rule != "averaged":
        assert found.run.error == primal.error


def by_the_book(K: Floats, sign: Floats, order: Array, passes: int) -> Floats:
    """Freund and Schapire's rule, row by row, for weights of one."""
    mistakes = np.zeros(len(sign))
    for _ in range(passes):
        for i in order:
            if sign[i] * sum(mistakes[j] * sign[j] * K[j, i] for j in range(len(sign))) <= 0:
                mistakes[i] += 1
    return mistakes


@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_mistakes_are_counted_as_in_the_book(n: int, passes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    X, sign = rng.integers(-3, 4, (n, 2)).astype(float), rng.choice([-1.0, 1.0], n)
    kernel = Polynomial(2, 1.0)
    training = Training("stochastic", 1.0, passes, None, 5, shuffle=False)
    found = train_dual(
        Columns(kernel.prepare(X), 0.0, PLENTY),
        DualVisits(np.arange(n), sign, np.ones(n)),
        training,
        0,
    )
    # A training that is done makes no more mistakes, however many passes the book is given.
    expected = by_the_book(kernel.gram(X), sign, np.arange(n), len(found.run.trace))
    np.testing.assert_array_equal(found.moves, expected)
    np.testing.assert_array_equal(found.run.last, expected * sign)
    assert found.run.mistakes == expected.sum()


def test_a_small_budget_of_memory_changes_no_bit_of_the_mistakes() -> None:
    rng = np.random.default_rng(0)
    X = rng.integers(-9, 10, (700, 2)).astype(float)
    sign = np.where((X**2).sum(axis=1) > 60, 1.0, -1.0)
    visits = DualVisits(np.arange(700), sign, np.ones(700))
    training = Training("stochastic", 1.0, 10, None, 5)
    rows = Polynomial(2, 1.0).prepare(X)
    whole = Columns(rows, 1.0, PLENTY)
    part = Columns(rows, 1.0, 8 * 700 * 40)
    assert whole.holds_all
    assert not part.holds_all
    first, second = (train_dual(each, visits, training, 3) for each in (whole, part))
    np.testing.assert_array_equal(first.moves, second.moves)
    assert len(part._kept) <= 40


def test_the_proof_is_that_of_the_feature_space() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    sign = np.where((X**2).sum(axis=1) > 1.5, 1.0, -1.0)
    columns = Columns(Gaussian(0.5).prepare(X), 1.0, PLENTY)
    found = train_dual(
        columns,
        DualVisits(np.arange(40), sign, np.ones(40)),
        Training("stochastic", 1.0, 1000, None, 5),
        0,
    )
    K = Gaussian(0.5).gram(X) + 1.0
    a = found.run.weights
    margin = float((sign * (K @ a)).min()) / float(np.sqrt(a @ K @ a))
    assert found.run.stopped_by == "separated"
    assert found.proof.margin == pytest.approx(margin)
    assert found.proof.radius == pytest.approx(np.sqrt(2.0))
    assert found.proof.mistake_bound is not None
    assert found.run.mistakes <= found.proof.mistake_bound
    assert found.proof.margin_at_most is not None
    assert margin <= found.proof.margin_at_most * (1 + 1e-12)


def test_time_runs_out_between_passes() -> None:
    X, sign = np.array([[1.0], [1.0]]), np.array([1.0, -1.0])
    visits = DualVisits(np.arange(2), sign, np.ones(2))
    columns = Columns(Linear().prepare(X), 1.0, PLENTY)
    training = Training("stochastic", 1.0, 10**6, None, 5)
    found = train_dual(columns, visits, training, 0, max_seconds=0.0)
    assert found.run.stopped_by == "max_seconds"
    assert len(found.run.trace) == 1


@pytest.mark.parametrize("rule", ["stochastic", "averaged", "batch"])
def test_without_time_nothing_is_proved(rule: str) -> None:
    # Too many objects for the whole matrix, so that values are summed under the clock.
    X = np.linspace(-1, 1, 2500)[:, None]
    columns = Columns(Linear().prepare(X), 1.0, 10**6)
    visits = DualVisits(np.arange(2500), np.where(X[:, 0] > 0.3, 1.0, -1.0), np.ones(2500))
    found = train_dual(columns, visits, Training(rule, 1.0, 100, None, 5), 0, max_seconds=0.0)
    assert found.run.stopped_by == "max_seconds"
    assert found.run.separating is None
    assert found.run.error > 0
    assert found.proof.margin is None
    assert len(found.run.trace) == 1
