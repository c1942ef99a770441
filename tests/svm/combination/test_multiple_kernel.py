"""learn_weights: grids over all weights, a general convex solver, certificates, odd kernels."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy import optimize

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.kernels.algebra import Constant
from novum.kernels.callables import FromCallable
from novum.kernels.parts import on
from novum.kernels.precomputed import Precomputed
from novum.kernels.protocol import Kernel
from novum.kernels.strings.spectrum import Spectrum
from novum.kernels.vectors.gaussian import Gaussian
from novum.kernels.vectors.linear import Linear
from novum.kernels.vectors.polynomial import Polynomial
from novum.kernels.vectors.sigmoid import Sigmoid
from novum.numerics import Array, Floats
from novum.svm.classifier import SVC, NuSVC
from novum.svm.combination.multiple_kernel import KernelWeights, learn_weights
from novum.svm.regression import SVR
from novum.svm.ridge.kernel_ridge import KernelRidge
from novum.svm.solver import problems
from tests.oracles.svm_definitions import interior_point

KERNELS = [Linear(), Gaussian(1.0), Polynomial(2)]


def table(n: int = 30, seed: int = 0) -> tuple[Floats, Array, Floats]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    return X, (X[:, 0] ** 2 + X[:, 1] > 0.7).astype(int), np.sin(2 * X[:, 0]) + X[:, 1]


def grid(steps: int) -> list[Floats]:
    """All weights on the simplex of three kernels, in steps."""
    points = product(range(steps + 1), repeat=2)
    return [np.array([i, j, steps - i - j]) / steps for i, j in points if i + j <= steps]


def value_of(X: Floats, d: Floats, program: Any) -> float:
    K = sum(w * kernel.gram(X) for w, kernel in zip(d, KERNELS, strict=True))
    return -interior_point(K, program).value


# --- The optimum ----------------------------------------------------------------------------------


def test_no_weights_on_a_grid_are_better_for_a_classifier() -> None:
    X, y, _ = table()
    program = problems.classification(2.0 * y - 1, np.full(30, 1.5))
    found = learn_weights(KERNELS, X, y, SVC(C=1.5), scaling=None, tol=1e-6)
    values = [value_of(X, d, program) for d in grid(10)]
    certificate = found.certificate
    assert certificate.dual <= min(values) * (1 + 1e-6)
    assert certificate.primal <= min(values) * (1 + 1e-6)
    assert certificate.primal == pytest.approx(value_of(X, found.weights, program), rel=1e-5)
    assert certificate.relative_gap <= 1e-6
    assert certificate.verdict is Verdict.WITHIN_TOLERANCE


def test_no_weights_on_a_grid_are_better_for_a_regression() -> None:
    X, _, y = table()
    program = problems.regression(y, np.full(30, 2.0), 0.1)
    found = learn_weights(KERNELS, X, y, SVR(C=2.0, epsilon=0.1), scaling=None, tol=1e-6)
    values = [value_of(X, d, program) for d in grid(8)]
    assert found.certificate.primal <= min(values) * (1 + 1e-6)
    assert found.certificate.dual <= found.certificate.primal


@pytest.mark.parametrize("norm", [1.0, 1.5, 2.0, 4.0])
def test_ridge_agrees_with_a_general_convex_solver(norm: float) -> None:
    X, _, y = table()
    grams = np.array([kernel.gram(X) for kernel in KERNELS])

    def value(d: Floats) -> float:
        return 0.2 * float(y @ np.linalg.solve(np.tensordot(d, grams, 1) + 0.2 * np.eye(30), y))

    found = learn_weights(KERNELS, X, y, KernelRidge(0.2), norm=norm, scaling=None, tol=1e-8)
    reference = optimize.minimize(
        value,
        np.full(3, 3 ** (-1 / norm)),
        bounds=[(0, 1)] * 3,
        constraints=[{"type": "ineq", "fun": lambda d: 1 - (d**norm).sum()}],
        method="SLSQP",
        options={"ftol": 1e-13, "maxiter": 500},
    )
    assert found.certificate.primal == pytest.approx(reference.fun, rel=1e-6)
    assert found.certificate.primal == pytest.approx(value(found.weights), rel=1e-9)
    np.testing.assert_allclose(found.weights, reference.x, atol=2e-3)
    assert np.linalg.norm(found.weights, norm) == pytest.approx(1.0)


def test_the_infinite_norm_is_the_plain_sum() -> None:
    X, y, _ = table()
    found = learn_weights(KERNELS, X, y, SVC(), norm=np.inf)
    np.testing.assert_allclose(found.weights, np.ones(3))


def test_the_learner_is_that_of_the_combination() -> None:
    X, y, _ = table(40)
    found = learn_weights(KERNELS, X, y, SVC(C=2.0, tol=1e-6), tol=1e-4)
    assert isinstance(found, KernelWeights)
    K = sum(
        w * s * kernel.gram(X)
        for w, s, kernel in zip(found.weights, found.scales, KERNELS, strict=True)
    )
    np.testing.assert_allclose(found.combined.gram(X), K, atol=1e-10)
    given = SVC(C=2.0, tol=1e-6, kernel="precomputed").fit(K, y)
    np.testing.assert_allclose(
        found.learner.decision_function(X), given.decision_function(K), atol=1e-2
    )
    # The value of the joint problem is that of the learner alone with these weights.
    assert found.learner.certificate_.dual == pytest.approx(found.certificate.primal, rel=1e-3)
    assert repr(found).startswith("KernelWeights")


def test_pairs_of_classes_share_their_weights() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(size=(45, 2))
    y = np.digitize((X**2).sum(axis=1), [0.7, 2.0])
    found = learn_weights([Linear(), Polynomial(2), Gaussian(1.0)], X, y, SVC(C=5.0), tol=1e-4)
    assert found.weights[0] < 0.05
    assert found.learner.score(X, y) > 0.9
    grams = [
        w * s * k.gram(X)
        for w, s, k in zip(found.weights, found.scales, found.kernels, strict=True)
    ]
    K, total = sum(grams), 0.0
    for a in range(3):
        for b in range(a + 1, 3):
            rows = np.flatnonzero((y == a) | (y == b))
            sign = np.where(y[rows] == b, 1.0, -1.0)
            program = problems.classification(sign, np.full(len(rows), 5.0))
            total -= interior_point(K[np.ix_(rows, rows)], program).value
    assert found.certificate.primal == pytest.approx(total, rel=1e-3)


def test_weights_of_rows_are_repetitions() -> None:
    X, y, _ = table(20)
    weight = np.random.default_rng(1).integers(0, 3, 20)
    rows = np.repeat(np.arange(20), weight)
    one = learn_weights(KERNELS, X, y, SVC(), tol=1e-5, sample_weight=weight.astype(float))
    many = learn_weights(KERNELS, X[rows], y[rows], SVC(), tol=1e-5)
    np.testing.assert_allclose(one.weights, many.weights, atol=1e-9)


# --- Kinds of kernels -----------------------------------------------------------------------------


def test_the_column_that_decides_gets_the_weight() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(60, 3))
    y = (X[:, 1] > 0).astype(int)
    found = learn_weights([on(j, Gaussian(1.0)) for j in range(3)], X, y, SVC(C=1.0))
    assert int(np.argmax(found.weights)) == 1
    assert found.weights[1] > 0.8


def test_constant_zero_and_equal_kernels() -> None:
    X, y, _ = table()
    alone = learn_weights([Gaussian(1.0)], X, y, SVC(), tol=1e-5)
    assert alone.weights.tolist() == [1.0]
    odd: list[Kernel] = [Gaussian(1.0), Gaussian(1.0), Constant(1.0), Constant(0.0)]
    found = learn_weights(odd, X, y, SVC(), tol=1e-5)
    # A constant adds nothing to a machine with a bias, and equal kernels divide their weight.
    assert found.weights[:2].sum() == pytest.approx(1.0, abs=1e-3)
    assert found.certificate.primal == pytest.approx(alone.certificate.primal, rel=1e-4)
    assert found.scales[3] == 1.0


def test_units_do_not_matter_with_scaling_and_do_without() -> None:
    X, y, _ = table()
    plain = learn_weights([Linear(), Gaussian(1.0)], X, y, SVC(), tol=1e-5)
    large = learn_weights([1e6 * Linear(), Gaussian(1.0)], X, y, SVC(), tol=1e-5)
    np.testing.assert_allclose(plain.weights, large.weights, atol=1e-3)
    assert plain.scales[1] == pytest.approx(1.0)
    raw = learn_weights([1e6 * Linear(), Gaussian(1.0)], X, y, SVC(), tol=1e-5, scaling=None)
    assert raw.scales.tolist() == [1.0, 1.0]
    assert raw.weights[0] > large.weights[0]


def test_strings_and_several_targets() -> None:
    words = ["banana", "bandana", "cabana", "stone", "tone", "bone"]
    found = learn_weights([Spectrum(1), Spectrum(2)], words, [0, 0, 0, 1, 1, 1], SVC())
    assert found.learner.predict(["ana", "one"]).tolist() == [0, 1]
    X, _, y = table()
    both = learn_weights(KERNELS, X, np.column_stack([y, y**2]), KernelRidge(0.1))
    assert both.learner.predict(X).shape == (30, 2)


# --- Limits and bad input -------------------------------------------------------------------------


def test_a_budget_ends_with_a_warning_and_a_bound() -> None:
    X, y, _ = table()
    with pytest.warns(ConvergenceWarning, match="stopped early"):
        found = learn_weights(KERNELS, X, y, SVC(), tol=1e-9, max_iter=2)
    assert found.certificate.verdict is Verdict.STOPPED_EARLY
    assert found.certificate.gap > 0
    assert found.certificate.details["stopped_by"] == "max_iter"


@pytest.mark.parametrize(
    ("kernels", "learner", "options", "message"),
    [
        ([], SVC(), {}, "no kernels"),
        (["rbf"], SVC(), {}, "Kernel 0 is 'rbf', which is no kernel"),
        (KERNELS, NuSVC(), {}, "takes an SVC, SVR or KernelRidge"),
        (KERNELS, SVC(C=np.inf), {}, "finite C"),
        (KERNELS, KernelRidge(0.0), {}, "one alpha above 0"),
        (KERNELS, KernelRidge([1.0, 2.0]), {}, "one alpha above 0"),
        (KERNELS, SVC(), {"norm": 0.5}, "norm is a number of at least 1"),
        (KERNELS, SVC(), {"scaling": "max"}, "scaling is 'trace' or None"),
        (KERNELS, SVC(), {"tol": 0.0}, "tol is a relative gap"),
        (KERNELS, SVC(), {"max_iter": 0}, "max_iter is a number"),
        ([Gaussian(1.0), Sigmoid(1.0, -3.0)], SVC(), {}, "semi-definite"),
        (KERNELS, SVC(C=-1.0), {}, "C"),
        (KERNELS, SVR(), {"y": np.ones((30, 2))}, "one number for each row"),
        (KERNELS, SVC(), {"y": np.zeros(30)}, "one class"),
    ],
)
def test_bad_input_is_named(kernels: Any, learner: Any, options: Any, message: str) -> None:
    X, y, _ = table()
    options = dict(options)
    with pytest.raises(ValueError, match=message):
        learn_weights(kernels, X, options.pop("y", y), learner, **options)


def test_the_given_learner_stays_as_it_was() -> None:
    X, y, _ = table()
    learner = SVC(C=3.0)
    learn_weights(KERNELS, X, y, learner)
    assert learner.kernel == "rbf"
    assert not hasattr(learner, "support_")


def test_matrices_are_kernels_of_positions() -> None:
    X, y, _ = table()
    with pytest.raises(InputError, match=r"Kernel 1 is of a matrix.*FromCallable"):
        learn_weights([Linear(), Precomputed()], X, y, SVC())
    matrices = [kernel.gram(X) for kernel in KERNELS]

    def of(K: Floats) -> Kernel:
        return FromCallable(lambda i, j: K[np.ix_(i, j)], takes="objects")

    found = learn_weights([of(K) for K in matrices], range(30), y, SVC(), tol=1e-6)
    expected = learn_weights(KERNELS, X, y, SVC(), tol=1e-6)
    np.testing.assert_allclose(found.weights, expected.weights, atol=1e-2)
    assert found.certificate.primal == pytest.approx(expected.certificate.primal, rel=1e-5)
