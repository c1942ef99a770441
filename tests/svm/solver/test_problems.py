"""Programs of the members: their primal objectives, by brute force, bound the dual ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.numerics import Floats
from novum.svm.solver import problems
from novum.svm.solver.problem import QuadraticProblem
from tests.oracles.svm_definitions import interior_point


def line(n: int = 8, seed: int = 0) -> tuple[Floats, Floats]:
    """Points on a line and their Gram matrix under the linear kernel."""
    x = np.random.default_rng(seed).normal(size=n)
    return x, np.outer(x, x)


def dual(K: Floats, problem: QuadraticProblem) -> float:
    return -interior_point(K, problem).value


def least(objective: Callable[..., float], ends: list[tuple[float, float]]) -> float:
    """The minimum of a convex function in a box, by grids that close in on it."""
    box = np.array(ends, float)
    for _ in range(14):
        grids = [np.linspace(low, high, 9) for low, high in box]
        points = np.stack(np.meshgrid(*grids, indexing="ij"), axis=-1).reshape(-1, len(grids))
        values = [objective(*point) for point in points]
        best = points[int(np.argmin(values))]
        # Half as wide each time: valleys that run across the grid are not lost.
        width = (box[:, 1] - box[:, 0]) / 4
        box = np.stack([best - width, best + width], axis=1)
    return float(min(values))


def test_classification_is_dual_to_the_hinge_loss() -> None:
    x, K = line()
    sign = np.where(x + 0.5 * np.sin(9 * x) > 0, 1.0, -1.0)
    price = np.linspace(0.5, 2.0, len(x))

    def primal(w: float, b: float) -> float:
        return w * w / 2 + price @ np.maximum(1 - sign * (w * x + b), 0)

    found = dual(K, problems.classification(sign, price))
    brute = least(primal, [(-1, 4), (-2, 2)])
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


def test_nu_classification_is_dual_to_its_primal() -> None:
    x, K = line(10)
    sign = np.where(x > 0.1, 1.0, -1.0)
    weight, nu = np.ones(10), 0.5

    def primal(w: float, b: float, rho: float) -> float:
        return w * w / 2 - nu * rho + np.maximum(rho - sign * (w * x + b), 0).mean()

    found = dual(K, problems.nu_classification(sign, weight, nu))
    grids = [(0, 1), (-0.5, 0.5), (0, 1)]
    brute = least(primal, grids)
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


def test_regression_is_dual_to_the_tube() -> None:
    x, K = line()
    y, price = 2 * x + np.sin(7 * x), np.linspace(0.5, 2.0, len(x))

    def primal(w: float, b: float) -> float:
        return w * w / 2 + price @ np.maximum(np.abs(y - w * x - b) - 0.3, 0)

    found = dual(K, problems.regression(y, price, 0.3))
    brute = least(primal, [(0, 4), (-2, 2)])
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


def test_nu_regression_is_dual_to_its_primal() -> None:
    x, K = line()
    y, price, nu = 2 * x + np.sin(7 * x), np.ones(len(x)), 0.4

    def primal(w: float, b: float, epsilon: float) -> float:
        outside = np.maximum(np.abs(y - w * x - b) - epsilon, 0)
        return w * w / 2 + nu * len(x) * epsilon + outside.sum()

    found = dual(K, problems.nu_regression(y, price, nu))
    grids = [(0, 3), (-1, 1), (0, 1.5)]
    brute = least(primal, grids)
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


def test_one_class_is_dual_to_its_primal() -> None:
    x, K = line()
    x, nu = x + 3, 0.4
    K = np.outer(x, x)

    def primal(w: float, rho: float) -> float:
        return w * w / 2 - rho + np.maximum(rho - w * x, 0).mean() / nu

    found = dual(K, problems.one_class(np.ones(len(x)), nu))
    brute = least(primal, [(0, 5), (0, 16)])
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


def test_sphere_is_half_of_its_primal() -> None:
    x, K = line()
    price = np.full(len(x), 0.4)

    def primal(center: float, square: float) -> float:
        return square + price @ np.maximum((x - center) ** 2 - square, 0)

    found = 2 * dual(K, problems.sphere(np.diag(K), price))
    brute = least(primal, [(-1, 1), (0, 3)])
    # Grids end near the minimum, from above; valleys are narrow, hence the third digit.
    assert found - 1e-6 <= brute <= found + 2e-3 * (1 + abs(found))


@pytest.mark.parametrize(("n", "expected"), [((3, 1), 0.5), ((2, 2), 1.0), ((1, 9), 0.2)])
def test_feasible_nu_is_twice_the_smaller_share(n: tuple[int, int], expected: float) -> None:
    sign = np.repeat([1.0, -1.0], n)
    assert problems.feasible_nu(sign, np.ones(len(sign))) == pytest.approx(expected)


def test_the_largest_feasible_nu_is_in_the_message() -> None:
    sign, weight = np.array([1.0, -1.0, -1.0]), np.ones(3)
    with pytest.raises(InputError, match=r"nu=0\.9 .* class 'yes' .* at most 0\.666666"):
        problems.check_nu(0.9, sign, weight, ("no", "yes"))
    problems.check_nu(0.666666, sign, weight, ("no", "yes"))
    problems.check_nu(2 / 3, sign, weight, ("no", "yes"))
