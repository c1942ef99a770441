"""One hyperplane: by hand, by a generic solver, by its conditions of optimality."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.kernels.precomputed import Precomputed
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.svm import binary_machine
from novum.svm.binary_machine import BinaryMachine, BinaryTask, nu_program, soft_program
from novum.svm.solver import problems
from novum.svm.solver.problem import Solution, Stopping
from novum.svm.solver.vanishing import VanishingMarginWarning
from tests.oracles.svm_definitions import interior_point
from tests.svm.machine_tables import blobs

EXACT = Stopping(1e-10)
CACHE = 10**6


def task_of(X: Any, sign: Any, kernel: Any = None, weight: Any = None) -> BinaryTask:
    sign = np.asarray(sign, float)
    weight = np.ones(len(sign)) if weight is None else np.asarray(weight, float)
    prepared = (kernel or Linear()).prepare(np.asarray(X, float))
    return BinaryTask(prepared, sign, weight, weight, ("no", "yes"))


def soft_margin(task: BinaryTask, C: float, *args: Any) -> BinaryMachine:
    return binary_machine.soft_margin(task, soft_program(task, C), *args)


def nu_margin(task: BinaryTask, nu: float, *args: Any, **solution: Any) -> BinaryMachine:
    return binary_machine.nu_margin(task, nu_program(task, nu), nu, *args, **solution)


def values(task: BinaryTask, machine: BinaryMachine) -> Any:
    return task.prepared.gram() @ machine.coefficients + machine.intercept


def test_two_points_by_hand() -> None:
    machine = soft_margin(task_of([[1.0], [4.0]], [-1, 1]), np.inf, EXACT, CACHE)
    np.testing.assert_allclose(machine.coefficients, [-2 / 9, 2 / 9])
    assert machine.intercept == pytest.approx(-5 / 3)
    assert machine.margin == pytest.approx(1.5)


@settings(max_examples=25)
@given(st.integers(0, 10**6), st.floats(-2, 2))
def test_karush_kuhn_tucker_conditions(seed: int, log_price: float) -> None:
    X, y = blobs(24, seed=seed)
    price = 10.0**log_price
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, 24)
    task = task_of(X, 2 * y - 1, Gaussian(2.0), weight)
    machine = soft_margin(task, price, EXACT, CACHE)
    f = task.sign * values(task, machine)
    alpha = task.sign * machine.coefficients
    upper = price * weight
    inside = (alpha > 0) & (alpha < upper)
    allowed = 1e-4 * (1 + np.abs(f).max())
    assert (alpha >= 0).all()
    assert (alpha <= upper).all()
    assert abs(machine.coefficients.sum()) <= 1e-9 * upper.max()
    assert (np.abs(f[inside] - 1) <= allowed).all()
    assert (f[alpha == 0] >= 1 - allowed).all()
    assert (f[alpha == upper] <= 1 + allowed).all()
    np.testing.assert_array_equal(machine.bound, alpha == upper)
    np.testing.assert_allclose(machine.slack, np.maximum(1 - f, 0), atol=1e-9 * (1 + abs(f).max()))
    assert machine.squared_norm == pytest.approx(
        machine.coefficients @ task.prepared.gram() @ machine.coefficients
    )


@pytest.mark.parametrize("nu", [0.3, 0.6])
def test_nu_machine_is_the_soft_machine_of_its_price(nu: float) -> None:
    X, y = blobs(40)
    task = task_of(X, 2 * y - 1, Gaussian(1.5))
    machine = nu_margin(task, nu, EXACT, CACHE)
    exact = interior_point(
        task.prepared.gram(), problems.nu_classification(task.sign, task.weight, nu)
    )
    assert machine.solution.value == pytest.approx(exact.value, rel=1e-7)
    rho = (machine.solution.multipliers[0] - machine.solution.multipliers[1]) / 2
    same = soft_margin(task, 1 / (rho * 40), EXACT, CACHE)
    np.testing.assert_allclose(values(task, machine), values(task, same), atol=1e-4)


@pytest.mark.parametrize("nu", [0.3, 0.6])
def test_nu_bounds_errors_and_support(nu: float) -> None:
    X, y = blobs(60)
    task = task_of(X, 2 * y - 1, Gaussian(1.5))
    machine = nu_margin(task, nu, EXACT, CACHE)
    assert (machine.slack > 1e-6).mean() <= nu + 1e-9
    assert (machine.coefficients != 0).mean() >= nu - 1e-9


def test_without_unbound_vectors_the_bias_is_the_middle_of_its_interval() -> None:
    # So low a price puts all four at their bound, and any bias in an interval is best.
    X, sign = [[0.0], [1.0], [2.0], [3.0]], [-1, -1, 1, 1]
    machine = soft_margin(task_of(X, sign), 0.01, EXACT, CACHE)
    assert machine.bound.all()
    f = 0.04 * np.arange(4.0)
    w = float(np.array(X)[:, 0] @ machine.coefficients)
    assert w == pytest.approx(0.04)
    # y f <= 1 at every bound row: the bias lies between what the two sides allow.
    highest = min(1 - f[2:].max(), np.inf)
    lowest = -1 - f[:2].min()
    assert machine.intercept == pytest.approx((highest + lowest) / 2)


@pytest.mark.parametrize(
    ("X", "sign"),
    [([[0.0], [0.0]], [-1, 1]), ([[0.0], [1.0], [2.0]], [-1, 1, -1])],
    ids=["equal rows of both classes", "one class between the other"],
)
def test_hard_margins_of_overlapping_classes_are_refused(X: Any, sign: Any) -> None:
    with pytest.raises(InputError, match=r"C=inf.*'no' and 'yes'.*Choose a finite C"):
        soft_margin(task_of(X, sign), np.inf, EXACT, CACHE)


def test_hard_margins_are_the_limit_of_soft_ones() -> None:
    X = [[0.0, 0.0], [1.0, 0.5], [3.0, 3.0], [4.0, 2.0]]
    hard = soft_margin(task_of(X, [-1, -1, 1, 1]), np.inf, EXACT, CACHE)
    soft = soft_margin(task_of(X, [-1, -1, 1, 1]), 1e6, EXACT, CACHE)
    np.testing.assert_allclose(hard.coefficients, soft.coefficients, atol=1e-6)
    assert hard.margin == pytest.approx(soft.margin)
    assert not hard.bound.any()


def test_a_warm_start_ends_at_the_same_optimum() -> None:
    X, y = blobs(40)
    task = task_of(X, 2 * y - 1, Gaussian(1.5))
    first = soft_margin(task, 1.0, EXACT, CACHE)
    warm = soft_margin(task, 5.0, EXACT, CACHE, 5 * first.solution.coefficients)
    cold = soft_margin(task, 5.0, EXACT, CACHE)
    assert warm.solution.value == pytest.approx(cold.solution.value, rel=1e-8)


def test_a_margin_that_vanishes_is_said() -> None:
    X = np.random.default_rng(0).normal(size=(40, 2))
    task = task_of(X, np.where(np.arange(40) % 2, 1, -1))
    with pytest.warns(VanishingMarginWarning, match="Choose a larger nu"):
        nu_margin(task, 0.1, Stopping(), CACHE)


def test_a_class_of_almost_no_weight_gives_way() -> None:
    X, y = blobs(40)
    task = task_of(X, 2 * y - 1, Gaussian(1.5))
    light = BinaryTask(
        task.prepared, task.sign, np.where(y == 1, 1e-6, 1.0), task.count, task.labels
    )
    machine = nu_margin(light, 0.5, EXACT, CACHE)
    assert (values(task, machine) <= 1e-9).all()


def test_equal_classes_have_an_infinite_margin() -> None:
    machine = soft_margin(task_of([[1.0], [1.0]], [-1, 1]), 1.0, EXACT, CACHE)
    assert machine.margin == np.inf
    assert machine.slack.sum() == pytest.approx(2.0)


def test_a_margin_of_rounding_errors_is_none() -> None:
    # The classes are equal, and the matrix has errors of its last digit.
    K = np.kron(np.ones((2, 2)), np.diag([1.0, 2.0])) + 1e-16 * np.diag([1.0, -1.0, 2.0, 1.0])
    prepared = Precomputed().prepare((K + K.T) / 2)
    weight = np.ones(4)
    task = BinaryTask(prepared, np.array([-1.0, -1.0, 1.0, 1.0]), weight, weight, ("no", "yes"))
    with pytest.warns(VanishingMarginWarning, match="best margin between classes 'no' and 'yes'"):
        machine = nu_margin(task, 0.5, EXACT, CACHE)
    assert machine.solution.stopped_by == "vanishing"
    assert np.isfinite(machine.squared_norm)
    assert np.isfinite(machine.slack).all()


@pytest.mark.parametrize("rho", [1e-200, 5e-324, 1e-17])
def test_widths_below_rounding_do_not_overflow(rho: float) -> None:
    task = task_of([[1.0], [2.0], [1.0], [2.0]], [-1, -1, 1, 1])
    b = np.array([-0.25, -0.25, 0.25, 0.25])
    found = Solution(b, np.zeros(4), np.array([rho, -rho]), 0.0, 0.0, 0.0, 3)
    with pytest.warns(VanishingMarginWarning):
        machine = nu_margin(task, 1.0, EXACT, CACHE, solution=found)
    np.testing.assert_array_equal(machine.coefficients, b)


@pytest.mark.parametrize("stopped_by", ["max_iter", "max_seconds"])
def test_nothing_is_said_of_margins_that_were_not_reached(stopped_by: str) -> None:
    task = task_of([[1.0], [2.0]], [-1, 1])
    found = Solution(np.array([-0.5, 0.5]), np.zeros(2), np.zeros(2), 0.0, 1.0, 1.0, 0, stopped_by)
    machine = nu_margin(task, 1.0, EXACT, CACHE, solution=found)
    assert machine.solution.stopped_by == stopped_by


def test_small_kernel_values_do_not_overflow() -> None:
    task = task_of([[1e-150], [3e-150]], [-1, 1])
    machine = nu_margin(task, 1.0, EXACT, CACHE)
    assert machine.margin == pytest.approx(1e-150, rel=1e-6)
