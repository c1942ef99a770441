"""What the learners of one class share: contracts, borders, weights."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.kernels.normalization import normalize
from novum.kernels.strings.spectrum import Spectrum
from novum.svm.novelty import SVDD, OneClassSVM
from tests.svm.machine_tables import as_files, blobs, strings

BOTH = (OneClassSVM, SVDD)


@parametrize_with_checks([OneClassSVM(), SVDD()], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("cls", BOTH)
def test_contract(cls: Any, check: Check) -> None:
    X, y = blobs()
    if check_name(check) == "failed_fit_changes_nothing":
        pytest.skip("y is not used, so that a missing one is no failure")
    with as_files():
        check(Case(cls(nu=0.3), X, y))


@pytest.mark.parametrize("nu", [0.1, 0.35])
@pytest.mark.parametrize("cls", BOTH)
def test_nu_is_between_rows_outside_and_support(cls: Any, nu: float) -> None:
    X, _ = blobs(100)
    model = cls(nu=nu, tol=1e-9).fit(X)
    assert (model.predict(X) == -1).mean() <= nu + 1e-9
    assert len(model.support_) / 100 >= nu - 1e-9
    assert (model.predict(X[model.unbound_]) == 1).all()


@pytest.mark.parametrize("cls", BOTH)
def test_slack_is_what_is_outside(cls: Any) -> None:
    X, _ = blobs(80)
    model = cls(nu=0.3, tol=1e-10).fit(X)
    np.testing.assert_allclose(model.xi_, np.maximum(-model.decision_function(X), 0), atol=1e-8)
    np.testing.assert_array_equal(
        model.decision_function(X), model.score_samples(X) - model.offset_
    )


def test_both_have_the_region_of_the_other_for_gaussian_kernels() -> None:
    X, _ = blobs(80)
    a, b = (kind(nu=0.27, tol=1e-10).fit(X).decision_function(X) for kind in BOTH)
    scale = float(a @ b / (b @ b))
    np.testing.assert_allclose(a, scale * b, atol=1e-5 * np.abs(a).max())


@pytest.mark.parametrize("cls", BOTH)
def test_strings(cls: Any) -> None:
    words, _ = strings()
    model = cls(kernel=normalize(Spectrum(1)), nu=0.2).fit(words)
    assert model.decision_function(["zzz"])[0] < model.decision_function([words[0]])[0]
