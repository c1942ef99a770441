"""The solver: against a generic method, LIBSVM, the conditions of optimality, and bad luck."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC, SVR, NuSVC, NuSVR, OneClassSVM

from novum.core.errors import InputError
from novum.svm.solver.descent import relative
from novum.svm.solver.optimality import room_to_move
from novum.svm.solver.problem import QuadraticProblem, Solution, Stopping
from novum.svm.solver.solving import solve
from tests.oracles.svm_definitions import interior_point, objective, textbook_smo
from tests.svm.quadratic_problems import MEMBERS, GramRows, classes, cloud, gaussian, member

TIGHT = Stopping(tol=1e-9)


def check(problem: QuadraticProblem, K: np.ndarray, solution: Solution) -> None:
    """Feasible, with the gradient, the value and the conditions that it says it has."""
    b = solution.coefficients
    assert (b >= problem.lower).all()
    assert (b <= problem.upper).all()
    for group, total in enumerate(problem.totals):
        inside = b[problem.groups == group]
        assert inside.sum() == pytest.approx(total, abs=1e-13 * max(1.0, np.abs(inside).sum()))
    Q = K[np.ix_(problem.rows, problem.rows)]
    g = Q @ b + problem.linear
    # Single-precision kernel values, summed in double precision.
    size = 1e-6 * (np.abs(b).sum() * np.abs(K).max() + 1)
    np.testing.assert_allclose(solution.gradient, g, atol=size)
    assert solution.value == pytest.approx(objective(K, problem, b), rel=1e-6, abs=1e-9)
    rho = np.append(solution.multipliers, 0.0)[problem.groups]
    # A sum of coefficients is kept to rounding, so that one of them may miss its bound by an ulp.
    rises, falls = room_to_move(b, problem.lower, problem.upper)
    slack = solution.violation + size
    assert ((g >= rho - slack) | ~rises).all()
    assert ((g <= rho + slack) | ~falls).all()


# --- Against oracles ------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("name", MEMBERS)
@settings(max_examples=15, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    n=st.integers(3, 40),
    C=st.sampled_from([1e-3, 0.5, 10.0, 1e4]),
    nu=st.sampled_from([0.1, 0.5, 0.9]),
)
def test_every_member_agrees_with_a_generic_method(
    name: str, seed: int, n: int, C: float, nu: float
) -> None:
    X, y, t = cloud(n, seed)
    K = gaussian(X)
    problem = member(name, y, t, C, nu)
    best = interior_point(K, problem).value
    for tol in (1e-3, 1e-9):
        solution = solve(GramRows(K), problem, Stopping(tol=tol, max_iter=20_000))
        check(problem, K, solution)
        # Of the oracle, and of b'Kb, whose terms cancel where coefficients are large.
        rounding = 1e-9 * max(1.0, abs(best)) + 1e-16 * np.abs(solution.coefficients).sum() ** 2
        assert -rounding <= solution.value - best <= solution.gap + rounding
        if solution.stopped_by is None:
            assert relative(solution.gap, solution.value) <= tol


@pytest.mark.parametrize("name", MEMBERS)
def test_compiled_rounds_agree_with_plain_ones(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    X, y, t = cloud(240, seed=4)
    K, problem = gaussian(X), member(name, y, t)
    plain = solve(GramRows(K), problem, TIGHT)
    monkeypatch.setattr("novum.svm.solver.small.MOST_VARIABLES", 0)
    monkeypatch.setattr("novum.svm.solver.rounds.BLOCK", 32)
    compiled = solve(GramRows(K), problem, TIGHT, cache_bytes=0)
    assert plain.stopped_by is compiled.stopped_by is None
    check(problem, K, compiled)
    assert compiled.value == pytest.approx(plain.value, rel=2e-9, abs=1e-15)
    again = solve(GramRows(K), problem, TIGHT, cache_bytes=0)
    assert np.array_equal(again.coefficients, compiled.coefficients)
    assert (again.gap, again.iterations, again.trace) == (
        compiled.gap,
        compiled.iterations,
        compiled.trace,
    )


def test_textbook_steps_reach_the_same_point() -> None:
    X, y, _ = cloud(60, seed=1)
    K, problem = gaussian(X), classes(y, 3.0)
    book = textbook_smo(K, problem, np.zeros(60))
    ours = solve(GramRows(K), problem, TIGHT)
    np.testing.assert_allclose(ours.coefficients, book.coefficients, atol=1e-5)
    np.testing.assert_allclose(ours.multipliers, book.multipliers, atol=1e-6)


# --- Against LIBSVM -------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [80, 700])
@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_classes_as_libsvm(n: int, C: float) -> None:
    X, y, _ = cloud(n, seed=2)
    K, problem = gaussian(X), classes(y, C)
    peer = SVC(C=C, kernel="precomputed", tol=1e-9).fit(K, y)
    theirs = np.zeros(n)
    theirs[peer.support_] = peer.dual_coef_[0]
    ours = solve(GramRows(K), problem, Stopping(tol=1e-7))
    assert ours.stopped_by is None
    assert ours.value - ours.gap <= objective(K, problem, theirs) + 1e-9 * abs(ours.value)
    assert ours.value == pytest.approx(objective(K, problem, theirs), rel=1e-7)
    assert -ours.multipliers[0] == pytest.approx(peer.intercept_[0], abs=1e-3)


def test_regression_as_libsvm() -> None:
    X, y, t = cloud(350, seed=3)
    K, problem = gaussian(X), member("regression", y, t, C=1.0)
    peer = SVR(C=1.0, epsilon=0.1, kernel="precomputed", tol=1e-9).fit(K, t)
    theirs = np.zeros(700)
    theirs[peer.support_] = np.maximum(peer.dual_coef_[0], 0)
    theirs[350 + peer.support_] = np.minimum(peer.dual_coef_[0], 0)
    ours = solve(GramRows(K), problem, Stopping(tol=1e-7))
    assert ours.stopped_by is None
    assert ours.value == pytest.approx(objective(K, problem, theirs), rel=1e-7)


def test_one_class_as_libsvm() -> None:
    X, y, t = cloud(600, seed=5)
    K, problem = gaussian(X), member("one_class", y, t, nu=0.2)
    peer = OneClassSVM(nu=0.2, kernel="precomputed", tol=1e-9).fit(K)
    theirs = np.zeros(600)
    theirs[peer.support_] = peer.dual_coef_[0] / peer.dual_coef_.sum()
    ours = solve(GramRows(K), problem, Stopping(tol=1e-7))
    assert ours.stopped_by is None
    assert ours.value == pytest.approx(objective(K, problem, theirs), rel=1e-7)


def test_nu_programs_as_libsvm() -> None:
    X, y, t = cloud(120, seed=6)
    K = gaussian(X)
    n, nu = 120, 0.4
    signs = NuSVC(nu=nu, kernel="precomputed", tol=1e-10).fit(K, y)
    lower, upper = np.where(y > 0, 0.0, -1 / n), np.where(y > 0, 1 / n, 0.0)
    totals = np.array([nu / 2, -nu / 2])
    problem = QuadraticProblem(np.arange(n), np.zeros(n), lower, upper, (y < 0).astype(int), totals)
    theirs = np.zeros(n)
    theirs[signs.support_] = signs.dual_coef_[0]
    # LIBSVM scales by the margin: its coefficients are ours over their largest share of 1 / n.
    theirs *= nu / np.abs(theirs).sum()
    ours = solve(GramRows(K), problem, TIGHT)
    assert ours.value == pytest.approx(objective(K, problem, theirs), rel=1e-6)
    peer = NuSVR(nu=nu, C=1.0, kernel="precomputed", tol=1e-10).fit(K, t)
    theirs = np.zeros(2 * n)
    theirs[peer.support_] = np.maximum(peer.dual_coef_[0], 0)
    theirs[n + peer.support_] = np.minimum(peer.dual_coef_[0], 0)
    problem = member("nu_regression", y, t, C=1.0, nu=nu)
    ours = solve(GramRows(K), problem, TIGHT)
    assert ours.value == pytest.approx(objective(K, problem, theirs), rel=1e-6)


# --- Larger programs ------------------------------------------------------------------------------


def test_newton_and_extrapolation_finish_a_hard_program() -> None:
    X, y, _ = cloud(1500, seed=7, columns=4)
    K, problem = gaussian(X), classes(y, 1e3)
    solution = solve(GramRows(K), problem, Stopping(tol=1e-7))
    assert solution.stopped_by is None
    check(problem, K, solution)
    assert relative(solution.gap, solution.value) <= 1e-7


def test_a_single_precision_gap_is_a_bound_in_double_precision() -> None:
    X, y, _ = cloud(900, seed=8, columns=4)
    K, problem = gaussian(X), classes(y, 10.0)
    rough = solve(GramRows(K), problem, Stopping(tol=1e-3))
    fine = solve(GramRows(K), problem, Stopping(tol=1e-9))
    assert objective(K, problem, rough.coefficients) - fine.value <= rough.gap
    assert fine.value <= rough.value + 1e-6 * abs(fine.value)


def test_a_start_of_a_neighboring_program_saves_steps() -> None:
    X, y, _ = cloud(400, seed=9)
    K, rough = gaussian(X), Stopping(tol=1e-3)
    first = solve(GramRows(K), classes(y, 1.0), TIGHT)
    cold = solve(GramRows(K), classes(y, 1.05), rough)
    # In proportion to C, what was at its bound is again.
    warm = solve(GramRows(K), classes(y, 1.05), rough, start=1.05 * first.coefficients)
    assert warm.iterations < cold.iterations
    assert warm.value == pytest.approx(cold.value, rel=1e-3)
    # A start that is not feasible is as good as any.
    far = solve(GramRows(K), classes(y, 1.05), rough, start=np.full(400, 7.0))
    assert far.value == pytest.approx(cold.value, rel=1e-3)


# --- Degenerate programs --------------------------------------------------------------------------


@pytest.mark.parametrize("n", [6, 600])
def test_equal_points_with_different_labels_end_at_their_bounds(n: int) -> None:
    K = np.ones((n, n))
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    solution = solve(GramRows(K), classes(y, 5.0), Stopping(tol=1e-6))
    np.testing.assert_array_equal(solution.coefficients, 5.0 * y)
    assert solution.value == -5.0 * n
    assert solution.gap == pytest.approx(0.0, abs=1e-6)


@pytest.mark.parametrize("n", [6, 600])
def test_a_kernel_of_zeros_leaves_the_linear_part(n: int) -> None:
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    solution = solve(GramRows(np.zeros((n, n))), classes(y, 0.5), Stopping(tol=1e-6))
    assert solution.stopped_by is None
    assert solution.value == -0.5 * n


def test_all_rows_equal_in_a_sphere() -> None:
    y = np.ones(20)
    solution = solve(GramRows(np.ones((20, 20))), member("sphere", y, y), TIGHT)
    assert solution.stopped_by is None
    assert solution.value == pytest.approx(0.0, abs=1e-15)


def test_one_variable_and_fixed_variables() -> None:
    one = QuadraticProblem(
        np.zeros(1, int),
        np.array([-1.0]),
        np.zeros(1),
        np.full(1, 3.0),
        np.zeros(1, int),
        np.full(1, 2.0),
    )
    solution = solve(GramRows(np.eye(1)), one, TIGHT)
    assert solution.coefficients.tolist() == [2.0]
    assert (solution.value, solution.gap) == (0.0, 0.0)
    fixed = QuadraticProblem(
        np.arange(2), np.zeros(2), np.ones(2), np.ones(2), np.zeros(2, int), np.full(1, 2.0)
    )
    solution = solve(GramRows(np.eye(2)), fixed, TIGHT)
    assert solution.coefficients.tolist() == [1.0, 1.0]
    assert (solution.value, solution.gap, solution.stopped_by) == (1.0, 0.0, None)


def test_weightless_variables_change_nothing() -> None:
    X, y, _ = cloud(50, seed=10)
    K, problem = gaussian(X), classes(y, 2.0)
    keep = np.arange(50) % 5 != 2
    without = QuadraticProblem(
        problem.rows,
        problem.linear,
        problem.lower * keep,
        problem.upper * keep,
        problem.groups,
        problem.totals,
    )
    fewer = classes(y[keep], 2.0)
    some = solve(GramRows(K), without, TIGHT)
    assert (some.coefficients[~keep] == 0).all()
    rest = solve(GramRows(K[np.ix_(keep, keep)]), fewer, TIGHT)
    np.testing.assert_array_equal(some.coefficients[keep], rest.coefficients)
    assert some.value == rest.value


@pytest.mark.parametrize("scale", [1e-30, 1e30])
def test_units_of_the_kernel_do_not_matter(scale: float) -> None:
    X, y, _ = cloud(700, seed=11)
    K = gaussian(X)
    plain = solve(GramRows(K), classes(y, 1.0), Stopping(tol=1e-6))
    scaled = solve(GramRows(scale * K), classes(y, 1.0 / scale), Stopping(tol=1e-6))
    assert scaled.stopped_by is None
    assert scaled.value * scale == pytest.approx(plain.value, rel=2e-6)


# --- Budgets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [300, 700])
def test_a_budget_of_steps_is_kept_and_the_gap_is_honest(n: int) -> None:
    X, y, _ = cloud(n, seed=12)
    K, problem = gaussian(X), classes(y, 1e4)
    solution = solve(GramRows(K), problem, Stopping(tol=1e-6, max_iter=50))
    assert solution.stopped_by == "max_iter"
    assert solution.iterations == 50
    check(problem, K, solution)
    best = solve(GramRows(K), problem, Stopping(tol=1e-6)).value
    assert 0 < solution.value - best <= solution.gap


def test_a_budget_of_seconds_is_kept() -> None:
    X, y, _ = cloud(300, seed=13)
    solution = solve(GramRows(gaussian(X)), classes(y, 1e6), Stopping(tol=1e-9, max_seconds=0.0))
    assert solution.stopped_by == "max_seconds"


def test_an_impossible_tolerance_ends_at_the_precision() -> None:
    X, y, _ = cloud(200, seed=14)
    K, problem = gaussian(X), classes(y, 1e3)
    solution = solve(GramRows(K), problem, Stopping(tol=0.0))
    assert solution.stopped_by in (None, "precision")
    assert relative(solution.gap, solution.value) < 1e-9


# --- Refusals -------------------------------------------------------------------------------------


def test_programs_without_a_feasible_point_are_refused() -> None:
    y = np.ones(3)
    problem = member("one_class", y, y, nu=0.5)
    short = QuadraticProblem(
        problem.rows,
        problem.linear,
        problem.lower,
        problem.upper / 9,
        problem.groups,
        problem.totals,
    )
    with pytest.raises(InputError, match=r"cannot add up to 1: their bounds allow 0 to 0\.2222"):
        solve(GramRows(np.eye(3)), short)
    with pytest.raises(InputError, match="beyond the 2 that were prepared"):
        solve(GramRows(np.eye(2)), problem)
    with pytest.raises(InputError, match="one finite coefficient for each of the 3 variables"):
        solve(GramRows(np.eye(3)), problem, start=np.full(3, np.nan))


def test_the_gap_is_that_of_the_multipliers_delivered() -> None:
    for seed in range(8):
        X, y, _ = cloud(200, seed)
        K = gaussian(X)
        found = solve(GramRows(K), classes(y, 10.0), Stopping(tol=1e-3))
        b = found.coefficients
        losses = np.maximum(0.0, 1 - y * (K @ b - found.multipliers[0]))
        primal = b @ K @ b / 2 + 10.0 * losses.sum()
        assert found.gap == pytest.approx(primal + found.value, abs=1e-9 * primal)
        assert primal + found.value <= 1e-3 * primal * (1 + 1e-9)


def test_without_time_nothing_is_computed_beyond_a_piece() -> None:
    class Counted(GramRows):
        entries = 0

        def cross(self, other: GramRows, dtype: type = np.float64) -> np.ndarray:
            Counted.entries += len(self) * len(other)
            return super().cross(other, dtype)

    X, _, _ = cloud(1500, 0)
    nu = QuadraticProblem(
        np.arange(1500),
        np.zeros(1500),
        np.zeros(1500),
        np.full(1500, 2 / 1500),
        np.zeros(1500, int),
        np.ones(1),
    )
    found = solve(Counted(gaussian(X)), nu, Stopping(max_seconds=0.0), cache_bytes=1)
    assert found.stopped_by == "max_seconds"
    assert found.gap == np.inf
    assert Counted.entries == 0
    b = found.coefficients
    # Without products the value is a bound: of the dual it claims no more than is true.
    assert b @ gaussian(X) @ b / 2 <= found.value
