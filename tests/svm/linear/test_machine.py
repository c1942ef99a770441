"""What linear machines share: limits, intercepts, states of files."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError, ModelFileError
from novum.svm.linear.classifier import LinearSVC
from novum.svm.linear.regressor import LinearSVR
from tests.svm.linear_tables import line, overlapping


@pytest.mark.parametrize("model", [LinearSVC(C=np.inf), LinearSVR(C=np.inf)])
def test_hard_margins_are_pointed_elsewhere(model: LinearSVC | LinearSVR) -> None:
    X, side = overlapping()
    with pytest.raises(InputError, match=r"C=inf.*SVC\(kernel='linear', C=inf\)"):
        model.fit(X, side)


def test_intercepts_are_the_constant_times_its_coefficient() -> None:
    X, y = line()
    free = LinearSVR(intercept_scaling=1000.0).fit(X, y)
    tied = LinearSVR(intercept_scaling=0.1).fit(X, y)
    none = LinearSVR(fit_intercept=False).fit(X, y)
    assert abs(free.intercept_[0] - 1.5) < 0.2
    assert abs(tied.intercept_[0]) < abs(free.intercept_[0])
    assert none.intercept_.tolist() == [0.0]
    np.testing.assert_allclose(none.predict(np.zeros((1, 3))), 0.0)


def test_names_of_coefficients() -> None:
    X, side = overlapping()
    assert LinearSVC().fit(X, side).coef_names_ == ("x0", "x1", "x2")


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_coefficients_that_are_no_numbers_are_refused(value: float) -> None:
    X, y = line()
    model = LinearSVR().fit(X, y)
    model._check_state()
    model.coef_ = np.full(3, value)
    with pytest.raises(ModelFileError, match="not finite"):
        model._check_state()
