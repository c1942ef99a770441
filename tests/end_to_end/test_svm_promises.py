"""What the support vector family promises, checked through its public doors only."""

from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sklearn.svm
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV

from novum.core.errors import InputError, MissingValuesError
from novum.data import read_svmlight
from novum.kernels import (
    Gaussian,
    IndefiniteKernelError,
    Precomputed,
    check_kernel,
)
from novum.numerics import Array, Floats
from novum.svm import (
    SVC,
    SVDD,
    SVR,
    KernelPegasos,
    KernelPerceptron,
    KernelRidge,
    LinearSVC,
    LinearSVR,
    NuSVC,
    NuSVR,
    OneClassSVM,
    RankingSVM,
)

GAMMA = 0.3
# Two solvers that both reach the optimum differ by rounding of sums of a hundred terms.
ROUNDING = 1e-9


def sample(n: int = 120, seed: int = 0) -> tuple[Floats, Array, Floats]:
    """Rows, labels in text and numeric targets, both with noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 3))
    labels = np.where(X[:, 0] + 0.4 * rng.normal(size=n) > 0, "yes", "no")
    return X, labels, np.sin(X[:, 0]) + 0.1 * rng.normal(size=n)


def full_coefficients(model: Any, n: int) -> Floats:
    """Dual coefficients of all rows."""
    b = np.zeros(n)
    b[model.support_] = np.asarray(model.dual_coef_).ravel()
    return b


def values(model: Any, X: Any) -> Floats:
    """Decision values, or predictions of learners that have no others."""
    decide = getattr(model, "decision_function", model.predict)
    return np.asarray(decide(X))


FAMILY: list[tuple[Any, str]] = [
    (SVC(tol=1e-9, gamma=GAMMA), "labels"),
    (NuSVC(tol=1e-9, gamma=GAMMA, nu=0.3), "labels"),
    (SVR(tol=1e-9, gamma=GAMMA), "numbers"),
    (NuSVR(tol=1e-9, gamma=GAMMA), "numbers"),
    (OneClassSVM(tol=1e-9, gamma=GAMMA), "none"),
    (SVDD(tol=1e-9, gamma=GAMMA), "none"),
    (LinearSVC(tol=1e-9), "labels"),
    (LinearSVC(tol=1e-9, loss="hinge"), "labels"),
    (LinearSVR(tol=1e-9), "numbers"),
    (KernelRidge(kernel="rbf", gamma=GAMMA), "numbers"),
]


def fitted(model: Any, X: Any, target: Any, **more: Any) -> Any:
    """A fitted copy; novelty detectors get no target."""
    model = clone(model)
    return model.fit(X, **more) if target is None else model.fit(X, target, **more)


def target_of(kind: str, labels: Any, numbers: Any) -> Any:
    return {"labels": labels, "numbers": numbers, "none": None}[kind]


# Optima


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("C", [0.01, 1.0, 1e4])
def test_dual_of_classification_is_libsvms_within_the_gap(C: float, tol: float) -> None:
    X, labels, _ = sample()
    K = rbf_kernel(X, gamma=GAMMA)
    model = SVC(C=C, gamma=GAMMA, tol=tol).fit(X, labels)
    rival = sklearn.svm.SVC(C=C, gamma=GAMMA, tol=1e-8).fit(X, labels)

    def dual(b: Floats) -> float:
        return float(np.abs(b).sum() - 0.5 * b @ K @ b)

    found, theirs = dual(full_coefficients(model, 120)), dual(full_coefficients(rival, 120))
    certificate = model.certificate_
    assert certificate.relative_gap <= tol
    assert certificate.dual == pytest.approx(found, rel=ROUNDING)
    # Theirs is feasible, so it is at most the optimum, which lies within our gap.
    assert theirs <= certificate.primal * (1 + ROUNDING)
    assert theirs - found <= certificate.gap + ROUNDING * abs(theirs)
    # At the end of its tolerance theirs is the optimum to 1e-6, so ours must not be above it.
    assert found <= theirs * (1 + 1e-6)


@pytest.mark.parametrize("tol", [1e-3, 1e-7])
@pytest.mark.parametrize("C", [0.1, 10.0])
def test_dual_of_regression_is_libsvms_within_the_gap(C: float, tol: float) -> None:
    X, _, numbers = sample()
    K = rbf_kernel(X, gamma=GAMMA)
    model = SVR(C=C, gamma=GAMMA, tol=tol).fit(X, numbers)
    rival = sklearn.svm.SVR(C=C, gamma=GAMMA, tol=1e-9).fit(X, numbers)

    def dual(b: Floats) -> float:
        return float(numbers @ b - 0.1 * np.abs(b).sum() - 0.5 * b @ K @ b)

    found, theirs = dual(full_coefficients(model, 120)), dual(full_coefficients(rival, 120))
    assert model.certificate_.relative_gap <= tol
    assert model.certificate_.dual == pytest.approx(found, rel=ROUNDING)
    assert -1e-6 * theirs <= theirs - found <= model.certificate_.gap + ROUNDING * theirs


@pytest.mark.parametrize("nu", [0.1, 0.4])
def test_machines_of_nu_are_libsvms(nu: float) -> None:
    X, labels, numbers = sample()
    for ours, theirs, target in (
        (NuSVC, sklearn.svm.NuSVC, labels),
        (NuSVR, sklearn.svm.NuSVR, numbers),
        (OneClassSVM, sklearn.svm.OneClassSVM, None),
    ):
        model = fitted(ours(nu=nu, gamma=GAMMA, tol=1e-9), X, target)
        rival = fitted(theirs(nu=nu, gamma=GAMMA, tol=1e-10), X, target)
        assert model.certificate_.relative_gap <= 1e-9
        # LIBSVM stops by gradients before it divides by the margin, which is small here.
        size = np.abs(values(model, X)).max()
        np.testing.assert_allclose(values(model, X), values(rival, X), atol=1e-4 * size)


@pytest.mark.parametrize("nu", [0.1, 0.4])
def test_the_sphere_of_a_gaussian_is_the_one_class_machine(nu: float) -> None:
    X, _, _ = sample()
    sphere = SVDD(nu=nu, gamma=GAMMA, tol=1e-9).fit(X)
    plane = sklearn.svm.OneClassSVM(nu=nu, gamma=GAMMA, tol=1e-10).fit(X)
    b = full_coefficients(sphere, len(X))
    theirs = full_coefficients(plane, len(X)) / (nu * len(X))
    np.testing.assert_allclose(b, theirs, atol=1e-6)
    squared = 1 - 2 * rbf_kernel(X, gamma=GAMMA) @ b + b @ rbf_kernel(X, gamma=GAMMA) @ b
    np.testing.assert_allclose(sphere.distance(X) ** 2, squared, atol=1e-12)
    unbound = sphere.unbound_
    np.testing.assert_allclose(sphere.distance(X[unbound]), sphere.radius_, atol=1e-7)


def test_conditions_of_karush_kuhn_and_tucker() -> None:
    X, labels, _ = sample()
    C = 2.0
    model = SVC(C=C, gamma=GAMMA, tol=1e-10).fit(X, labels)
    sign = np.where(labels == model.classes_[1], 1.0, -1.0)
    a = sign * full_coefficients(model, len(X))
    margins = sign * values(model, X)
    assert a.min() >= 0
    assert a.max() <= C * (1 + 1e-12)
    assert abs(a @ sign) <= 1e-10 * a.sum()
    # Conditions hold to about the square root of the gap.
    assert margins[a == 0].min() >= 1 - 1e-5
    assert margins[model.bound_].max() <= 1 + 1e-5
    np.testing.assert_allclose(margins[model.unbound_], 1.0, atol=1e-5)
    np.testing.assert_allclose(model.xi_, np.maximum(0, 1 - margins), atol=1e-9)
    assert set(model.bound_) | set(model.unbound_) == set(model.support_)
    norm = a * sign @ rbf_kernel(X, gamma=GAMMA) @ (a * sign)
    assert model.margin_ == pytest.approx(1 / np.sqrt(norm), rel=1e-9)


def test_all_pairs_have_libsvms_layout() -> None:
    X, _, _ = sample()
    labels = np.digitize(X[:, 0] + 0.3 * X[:, 1], [-0.5, 0.5])
    for shape in ("ovr", "ovo"):
        model = SVC(tol=1e-9, decision_function_shape=shape).fit(X, labels)
        rival = sklearn.svm.SVC(tol=1e-9, decision_function_shape=shape).fit(X, labels)
        np.testing.assert_array_equal(model.support_, rival.support_)
        np.testing.assert_allclose(model.dual_coef_, rival.dual_coef_, atol=1e-5)
        np.testing.assert_allclose(values(model, X), values(rival, X), atol=1e-5)


def test_removing_rows_that_are_no_support_vectors_changes_nothing() -> None:
    X, labels, numbers = sample()
    for model, target in (
        (SVC(tol=1e-10, gamma=GAMMA), labels),
        (SVR(tol=1e-10, gamma=GAMMA), numbers),
    ):
        whole = fitted(model, X, target)
        kept = np.sort(whole.support_)
        assert len(kept) < len(X)
        np.testing.assert_allclose(
            values(fitted(model, X[kept], target[kept]), X), values(whole, X), atol=1e-7
        )


def test_hard_margins_are_found_or_refused() -> None:
    apart, mixed = [[0.0, 0.0], [1.0, 1.0], [3.0, 3.0], [4.0, 4.0]], [0, 1, 1, 0]
    model = SVC(C=np.inf, kernel="linear", tol=1e-9).fit(apart, [0, 0, 1, 1])
    assert model.margin_ == pytest.approx(np.sqrt(2), rel=1e-7)
    with pytest.raises(InputError, match="infeasible: no hyperplane of this kernel separates"):
        SVC(C=np.inf, kernel="linear").fit(apart, mixed)
    assert SVC(C=np.inf, gamma=1.0).fit(apart, mixed).score(apart, mixed) == 1.0
    with pytest.raises(InputError, match="infeasible"):
        SVC(C=np.inf).fit([[0.0], [0.0], [1.0]], [0, 1, 1])


# Weights and forms of input


@pytest.mark.parametrize(("model", "kind"), FAMILY)
def test_weights_count_repetitions(model: Any, kind: str) -> None:
    X, labels, numbers = sample(80)
    target = target_of(kind, labels, numbers)
    weights = np.random.default_rng(1).integers(0, 4, size=len(X))
    rows = np.repeat(np.arange(len(X)), weights)
    weighted = fitted(model, X, target, sample_weight=weights)
    repeated = fitted(model, X[rows], None if target is None else target[rows])
    np.testing.assert_allclose(values(weighted, X), values(repeated, X), atol=1e-6)


def test_class_weights_are_prices() -> None:
    X, labels, _ = sample()
    by_class = SVC(gamma=GAMMA, class_weight={"yes": 3.0}, tol=1e-9).fit(X, labels)
    by_row = SVC(gamma=GAMMA, tol=1e-9).fit(
        X, labels, sample_weight=np.where(labels == "yes", 3.0, 1.0)
    )
    np.testing.assert_allclose(values(by_class, X), values(by_row, X), atol=1e-7)
    balanced = SVC(gamma=GAMMA, class_weight="balanced", tol=1e-9).fit(X, labels)
    rival = sklearn.svm.SVC(gamma=GAMMA, class_weight="balanced", tol=1e-9).fit(X, labels)
    np.testing.assert_allclose(values(balanced, X), values(rival, X), atol=1e-5)


@pytest.mark.parametrize(("model", "kind"), FAMILY)
def test_sparse_single_precision_and_read_only_rows(model: Any, kind: str) -> None:
    X, labels, numbers = sample(60)
    target = target_of(kind, labels, numbers)
    dense = values(fitted(model, X, target), X)
    by_sparse = fitted(model, sparse.csr_matrix(X), target)
    np.testing.assert_allclose(values(by_sparse, sparse.csr_matrix(X)), dense, atol=1e-7)
    np.testing.assert_allclose(values(by_sparse, X), dense, atol=1e-7)
    # Rows rounded to single precision move values by some 1e-7 each.
    single = X.astype(np.float32)
    np.testing.assert_allclose(values(fitted(model, single, target), single), dense, atol=1e-5)
    locked = X.copy()
    locked.setflags(write=False)
    np.testing.assert_array_equal(values(fitted(model, locked, target), locked), dense)


def test_labels_survive_offsets_and_tiny_units() -> None:
    X, labels, _ = sample()
    exact = np.round(X * 2.0**20) / 2.0**20
    plain = SVC(tol=1e-7).fit(exact, labels)
    # Powers of two: the offset and the unit lose no digit of the cells.
    moved = SVC(tol=1e-7).fit(exact + 2.0**26, labels)
    np.testing.assert_array_equal(moved.predict(exact + 2.0**26), plain.predict(exact))
    small = SVC(tol=1e-7).fit(exact * 2.0**-27, labels)
    np.testing.assert_array_equal(small.predict(exact * 2.0**-27), plain.predict(exact))


def test_a_matrix_of_similarities_stands_for_its_kernel() -> None:
    X, labels, numbers = sample()
    K = rbf_kernel(X, gamma=GAMMA)
    for model, kind in FAMILY:
        if "kernel" not in model.get_params() or isinstance(model, SVDD):
            continue
        target = target_of(kind, labels, numbers)
        by_matrix = fitted(clone(model).set_params(kernel="precomputed"), K, target)
        np.testing.assert_allclose(
            values(by_matrix, K), values(fitted(model, X, target), X), atol=1e-7
        )
    grid = {"C": [0.1, 1.0, 10.0]}
    scores = [
        GridSearchCV(SVC(kernel=kernel, gamma=GAMMA), grid, cv=3).fit(rows, labels).cv_results_
        for kernel, rows in (("precomputed", K), (Precomputed(), K), ("rbf", X))
    ]
    for other in scores[1:]:
        np.testing.assert_allclose(other["mean_test_score"], scores[0]["mean_test_score"])


# Probabilities


@pytest.mark.parametrize("method", [True, "isotonic"])
def test_probabilities_sum_to_one_and_never_fall(method: Any) -> None:
    X, labels, _ = sample()
    model = SVC(probability=method, gamma=GAMMA).fit(X, labels)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    assert np.all(np.diff(p[np.argsort(values(model, X)), 1]) >= 0)
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    for multiclass in ("pairs", "rest"):
        many = SVC(probability=method, gamma=GAMMA, multiclass=multiclass).fit(X, three)
        p = many.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
        assert p.min() >= 0
        assert np.mean(p.argmax(axis=1) == three) > 0.8


# Bad input


def test_minus_the_identity_is_no_kernel() -> None:
    _, labels, numbers = sample(40)
    K = -np.eye(40)
    assert check_kernel(K).verdict == "invalid"
    for model, target in (
        (SVC(), labels),
        (NuSVC(), labels),
        (SVR(), numbers),
        (NuSVR(), numbers),
        (OneClassSVM(), None),
        (SVDD(), None),
        (KernelRidge(), numbers),
        (RankingSVM(), numbers),
        (KernelPerceptron(), labels),
        (KernelPegasos(), labels),
    ):
        with pytest.raises(IndefiniteKernelError, match="smallest eigenvalue is -1"):
            fitted(model.set_params(kernel="precomputed"), K, target)
    projected = SVC(kernel="precomputed", indefinite="project").fit(K, labels)
    # The nearest kernel is zero: every row of the smaller class costs twice the price.
    smaller = min(np.sum(labels == "yes"), np.sum(labels == "no"))
    assert projected.certificate_.primal == pytest.approx(2.0 * smaller)


@pytest.mark.parametrize("C", [0.0, -1.0, float("nan")])
def test_prices_are_above_zero(C: float) -> None:
    X, labels, numbers = sample(20)
    for model, target in (
        (SVC(C=C), labels),
        (SVR(C=C), numbers),
        (NuSVR(C=C), numbers),
        (LinearSVC(C=C), labels),
        (LinearSVR(C=C), numbers),
        (RankingSVM(C=C), numbers),
    ):
        with pytest.raises(ValueError, match="'C' parameter"):
            model.fit(X, target)
    with pytest.raises(InputError, match="width must be a finite number above 0"):
        Gaussian(C)


def test_one_class_and_missing_cells() -> None:
    X, labels, numbers = sample(20)
    for model in (SVC(), NuSVC(), LinearSVC(), KernelPerceptron(), KernelPegasos()):
        with pytest.raises(InputError, match="one class only: all 20 rows are of class 'a'"):
            model.fit(X, ["a"] * 20)
    X[3, 1] = np.nan
    for model, target in (
        (SVC(), labels),
        (SVR(), numbers),
        (OneClassSVM(), None),
        (SVDD(), None),
        (LinearSVC(), labels),
        (KernelRidge(), numbers),
        (RankingSVM(), numbers),
    ):
        with pytest.raises(MissingValuesError, match=r"row 3.*Use a learner that treats missing"):
            fitted(model, X, target)


def test_equal_rows_and_duplicates_with_different_labels() -> None:
    equal, labels = np.ones((9, 2)), ["a"] * 5 + ["b"] * 4
    model = SVC().fit(equal, labels)
    assert model.predict(equal[:1]).tolist() == ["a"]
    assert model.certificate_.primal == pytest.approx(8.0)
    assert SVR().fit(equal, np.full(9, 3.0)).predict(equal[:1]) == pytest.approx(3.0, abs=0.1)
    assert OneClassSVM().fit(equal).predict(equal).tolist() == [1] * 9
    assert SVDD().fit(equal).radius_ == pytest.approx(0.0, abs=1e-7)
    X, _, _ = sample(15)
    twice = SVC(tol=1e-9).fit(np.repeat(X, 2, axis=0), [0, 1] * 15)
    np.testing.assert_allclose(values(twice, X), 0.0, atol=1e-9)
    assert twice.certificate_.dual == pytest.approx(30.0)


# Budgets


def test_budgets_end_with_an_honest_certificate() -> None:
    X, labels, numbers = sample(400, seed=2)
    K = rbf_kernel(X, gamma=GAMMA)
    # Nobody is cleverer than the optimum, which lies between dual and primal wherever a fit ended.
    best = SVC(C=1e4, gamma=GAMMA, tol=1e-8).fit(X, labels).certificate_.primal
    for budget in ({"max_iter": 1}, {"max_iter": 50}, {"max_seconds": 1e-6}):
        with pytest.warns(ConvergenceWarning, match="stopped early"):
            model = SVC(C=1e4, gamma=GAMMA, tol=1e-8, **budget).fit(X, labels)
        certificate = model.certificate_
        assert str(certificate.verdict) == "stopped early"
        assert model.fit_status_ == 1
        assert certificate.dual <= best * (1 + 1e-7)
        assert certificate.primal >= best * (1 - 1e-7)
        b = full_coefficients(model, 400)
        assert certificate.dual == pytest.approx(
            np.abs(b).sum() - 0.5 * b @ K @ b, rel=ROUNDING, abs=ROUNDING
        )
    for other, target in ((SVR(C=1e3), numbers), (OneClassSVM(), None), (NuSVR(), numbers)):
        with pytest.warns(ConvergenceWarning, match="stopped early"):
            model = fitted(other.set_params(max_iter=1, tol=1e-8), X, target)
        assert model.certificate_.gap > 0


def test_a_tolerance_that_was_reached_warns_of_nothing() -> None:
    X, labels, _ = sample(300, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = SVC(C=1e4, tol=1e-7).fit(X, labels)
    assert model.certificate_.relative_gap <= 1e-7
    assert model.fit_status_ == 0


INTERRUPTED = """
import numpy as np
from novum.svm import SVC
X = np.random.default_rng(0).normal(size=(20000, 10))
y = np.arange(20000) % 2
SVC().fit(X[:100], y[:100])
print("ready", flush=True)
try:
    SVC(C=1e4, tol=1e-9).fit(X, y)
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""


@pytest.mark.slow
def test_an_interrupt_ends_a_long_fit() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", INTERRUPTED], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        try:
            process.wait(timeout=1.0)
        except subprocess.TimeoutExpired:
            process.send_signal(signal.SIGINT)
        try:
            out, _ = process.communicate(timeout=20)
        except subprocess.TimeoutExpired:
            process.kill()
            raise
    assert out == "interrupted\n"
    assert process.returncode == 0


# Files


def test_svmlight_files_are_learned_from(tmp_path: Path) -> None:
    path = tmp_path / "rows.svm"
    path.write_text("# head\n+1 1:0.5 3:2 # x\n-1 2:1\n\n+1 1:1e-3 3:1\n-1 2:3 3:-1\n")
    table = read_svmlight(path)
    np.testing.assert_array_equal(
        table.X.toarray(), [[0.5, 0, 2], [0, 1, 0], [1e-3, 0, 1], [0, 3, -1]]
    )
    model = SVC(kernel="linear", C=10.0).fit(table.X, table.y)
    assert model.score(table.X, table.y) == 1.0
