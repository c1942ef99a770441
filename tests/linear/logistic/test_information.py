"""The information of a fit: sandwiches, rows given again, what is not determined, nested models."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy import special
from scipy.sparse import csr_array

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning
from novum.linear.logistic.inference import ChiSquaredTest
from novum.linear.logistic.information import likelihood_ratio_test
from novum.linear.logistic.regression import LogisticRegression
from novum.numerics import Floats
from tests.linear.logistic_tables import SMALL_X, SMALL_Y, logistic_table

INF = float("inf")


def test_robust_values_of_statsmodels() -> None:
    model = LogisticRegression(C=INF).fit(SMALL_X, SMALL_Y)
    errors = model.inference(SMALL_X, SMALL_Y, covariance="HC0").standard_errors
    expected = [1.6630691941218176, 0.8696482975524843, 1.3613378497596607]
    np.testing.assert_allclose(errors, expected, rtol=1e-8)
    more = model.inference(SMALL_X, SMALL_Y, covariance="HC1").standard_errors
    np.testing.assert_allclose(more, errors * math.sqrt(12 / 9), rtol=1e-12)


@pytest.mark.parametrize("solver", ["lbfgs", "newton-cg", "newton-cholesky"])
def test_rows_give_what_no_information_was_kept_of(solver: str) -> None:
    X, y = logistic_table(4000, 3)
    expected = LogisticRegression(C=INF).fit(X, y).inference()
    model = LogisticRegression(C=INF, solver=solver, tol=1e-9).fit(X, y)
    if solver != "newton-cholesky":
        with pytest.raises(InputError, match="needs the rows again"):
            model.inference()
    found = model.inference(X, y)
    np.testing.assert_allclose(found.standard_errors, expected.standard_errors, rtol=1e-7)
    with pytest.raises(InputError, match="rows of the fit"):
        model.inference(X, 1 - y)
    with pytest.raises(InputError, match="other rows"):
        model.inference(2 * X, y)


def test_undetermined_coefficients_have_no_errors() -> None:
    X, y = logistic_table(100, 2)
    wide = np.column_stack([X, X[:, 0], np.ones(100)])
    model = LogisticRegression(C=INF).fit(wide, y)
    plain = LogisticRegression(C=INF).fit(X, y).inference()
    for found in (model.inference(), model.inference(wide, y)):
        errors = found.standard_errors
        assert np.isnan(errors[[0, 1, 3, 4]]).all()
        assert errors[2] == pytest.approx(plain.standard_errors[2], rel=1e-9)
        assert found.likelihood_ratio.degrees_of_freedom == 2
        assert "nan" in repr(found)
    with pytest.raises(InputError, match="do not determine"):
        model.inference().wald_test("x0")


def test_without_an_intercept() -> None:
    X, y = logistic_table(200, 2, 3)
    found = LogisticRegression(C=INF, fit_intercept=False).fit(X, y).inference()
    assert found.names == ("x0", "x1")
    assert found.null_log_likelihood == pytest.approx(-200 * math.log(3))
    assert found.n_parameters == 4


def test_penalized_and_reweighted_fits_say_how_to_read_them() -> None:
    X, y = logistic_table(100, 2)
    model = LogisticRegression(C=0.5).fit(X, y)
    found = model.inference()
    assert found.penalized
    assert "C=inf" in found.notes[0]
    assert "note: penalized" in repr(found)
    assert math.isnan(found.likelihood_ratio.p_value)
    # The spread over tables of a shrunken estimate is less than that of a free one.
    free = LogisticRegression(C=INF).fit(X, y).inference()
    assert (found.standard_errors[1:] < free.standard_errors[1:]).all()
    weighted = LogisticRegression(C=INF, prior=[0.3, 0.7]).fit(X, y)
    assert "HC0" in weighted.inference().notes[0]
    assert not weighted.inference(X, y, covariance="HC0").notes


def test_separated_classes_have_no_inference() -> None:
    with pytest.warns(ConvergenceWarning):
        model = LogisticRegression(C=INF).fit([[0.0], [1.0], [2.0]], [0, 0, 1])
    with pytest.raises(InputError, match="no maximum"):
        model.inference()
    with pytest.raises(InputError, match="is not known"):
        LogisticRegression().fit([[0.0], [1.0]], [0, 1]).inference(covariance="HC7")  # type: ignore[arg-type]


def test_nested_models() -> None:
    X, y = logistic_table(300, 3, 3)
    small, large = (LogisticRegression(C=INF).fit(X[:, :k], y) for k in (1, 3))
    test = likelihood_ratio_test(small, large)
    ratio = 2 * (small.summary_.loss - large.summary_.loss)
    assert test == ChiSquaredTest.of(ratio, 4)
    assert test.p_value == pytest.approx(special.chdtrc(4, ratio))
    with pytest.raises(InputError, match="smaller model first"):
        likelihood_ratio_test(large, small)
    with pytest.raises(InputError, match="use C=inf"):
        likelihood_ratio_test(LogisticRegression().fit(X, y), large)
    with pytest.raises(InputError, match="other rows"):
        likelihood_ratio_test(LogisticRegression(C=INF).fit(X[5:, :1], y[5:]), large)


def test_models_that_are_not_nested_are_refused() -> None:
    X, y = logistic_table(300, 4)
    table = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    one, three = (LogisticRegression(C=INF).fit(table[list(names)], y) for names in ("a", "bcd"))
    with pytest.raises(InputError, match=r"not nested: the smaller one has 'a'"):
        likelihood_ratio_test(one, three)
    # Without names, the first column of both is x0, but not the same column.
    one, three = (LogisticRegression(C=INF).fit(X[:, at], y) for at in ([0], [1, 2, 3]))
    with pytest.raises(InputError, match=r"column 'x0' has mean"):
        likelihood_ratio_test(one, three)
    free, through_zero = (
        LogisticRegression(C=INF, fit_intercept=on).fit(X[:, :k], y)
        for on, k in ((True, 1), (False, 2))
    )
    with pytest.raises(InputError, match="has 'intercept'"):
        likelihood_ratio_test(free, through_zero)
    smaller = LogisticRegression(C=INF, fit_intercept=False).fit(X[:, :1], y)
    assert likelihood_ratio_test(smaller, free).degrees_of_freedom == 1


@pytest.mark.parametrize("kind", ["dense", "sparse", "stream", "constant"])
def test_fits_to_other_rows_are_told_by_their_statistics(kind: str) -> None:
    """Other rows and other targets of the same balance; the same rows pass, whatever the way."""
    X, y = logistic_table(400, 3)
    if kind == "constant":
        X[:, 0] = 1e6 / 3
    rng = np.random.default_rng(0)

    def fitted(table: Floats, target: Floats) -> LogisticRegression:
        model = LogisticRegression(C=INF)
        if kind == "stream":
            return model.fit_stream([(table[:150], target[:150]), (table[150:], target[150:])])
        return model.fit(csr_array(table) if kind == "sparse" else table, target)

    larger = LogisticRegression(C=INF).fit(X, y)
    assert likelihood_ratio_test(fitted(X[:, :2], y), larger).degrees_of_freedom == 1
    with pytest.raises(InputError, match="fitted to other rows"):
        likelihood_ratio_test(fitted(X[:, :2], rng.permutation(y)), larger)
    order = np.concatenate([np.flatnonzero(y == 0), np.flatnonzero(y == 1)])
    others = X[order] + rng.normal(size=X.shape)
    with pytest.raises(InputError, match="fitted to other rows"):
        likelihood_ratio_test(fitted(others[:, :2], y[order]), larger)
    # Rows in another order are the same rows.
    assert likelihood_ratio_test(fitted(X[order, :2], y[order]), larger).p_value <= 1


@pytest.mark.slow
def test_a_ratio_is_tested_under_the_null() -> None:
    """p values of columns that do not matter are uniform: 200 tables, within 4 deviations."""
    p_values, rng = [], np.random.default_rng(0)
    for _ in range(200):
        X, y = rng.normal(size=(150, 3)), rng.integers(0, 2, 150)
        small, large = (LogisticRegression(C=INF).fit(X[:, :k], y) for k in (1, 3))
        p_values.append(likelihood_ratio_test(small, large).p_value)
    assert np.mean(p_values) == pytest.approx(0.5, abs=4 / np.sqrt(12 * 200))


def test_collinear_standardized_columns_leave_the_intercept_its_error() -> None:
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.integers(0, 9, size=(60, 2)).astype(float)
        X = np.column_stack([X, X[:, 0] + X[:, 1]])
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        y = rng.integers(0, 2, 60)
        found = LogisticRegression(C=INF).fit(X, y).inference()
        plain = LogisticRegression(C=INF).fit(X[:, :2], y).inference()
        assert found.standard_errors[0] == pytest.approx(plain.standard_errors[0], rel=1e-8)
        assert np.isnan(found.standard_errors[1:]).all()
