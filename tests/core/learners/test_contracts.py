"""The estimator contract notices what it is for; the tests of every learner run it on theirs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.core.files.registry import registered
from novum.core.learners import Case, Check, contracts
from novum.linear import LinearRegression, Ridge, RidgeCV


def numeric() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    return X, X @ [1.0, -2.0, 0.5] + rng.normal(size=120)


def mixed() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    age, city = rng.normal(40, 10, 120), rng.choice(["Ulm", "Bonn", "Kiel"], 120)
    y = 0.1 * age + (city == "Ulm") + rng.normal(size=120)
    return pd.DataFrame({"age": age, "city": city}), y


CASES = {
    "numeric": Case(LinearRegression(), *numeric()),
    "mixed": Case(Ridge(3.0), *mixed()),
    "cross-validated": Case(RidgeCV(), *numeric()),
}


def test_bits_do_not_depend_on_threads_or_processes() -> None:
    # Large enough for BLAS to use its threads and for the route by cross-products.
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20_000, 20))
    y = X.sum(axis=1) + rng.normal(size=20_000)
    contracts.check_bits_in_new_processes(Case(LinearRegression(), X, y))


@pytest.mark.parametrize("case", CASES.values(), ids=CASES.keys())
def test_an_interrupt_leaves_the_model_as_it_was(case: Case) -> None:
    contracts.check_interrupted_fit_changes_nothing(case)


# --- The checks can fail --------------------------------------------------------------------------


class Moody(LinearRegression):
    """Fits a little differently every time."""

    fits = 0

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        Moody.fits += 1
        self.coef_ = self.coef_ * (1 + 1e-15 * Moody.fits)
        return self


class HalfFitted(LinearRegression):
    """Changes itself before it looks at the data."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        self.started_ = True
        self.coef_ = np.zeros(3)
        return super().fit(X, y, sample_weight)


class Scaler(LinearRegression):
    """Claims not to depend on units, and does."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        super().fit(X, y, sample_weight)
        self.coef_ = self.coef_ / (1 + np.abs(self.coef_))
        return self


class Weightless(LinearRegression):
    """Takes weights and ignores them."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002
        return super().fit(X, y)


class Scribbler(LinearRegression):
    """Centers the caller's table in place."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:
        X -= X.mean(axis=0)
        return super().fit(X, y, sample_weight)


class Ordered(LinearRegression):
    """Learns from the first half of the rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002
        half = len(X) // 2
        return super().fit(X[:half], y[:half])


class FirstOfEquals(LinearRegression):
    """Of rows with equal first cells it learns from the first one."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Any:  # noqa: ARG002
        rows = np.unique(X[:, 0], return_index=True)[1]
        return super().fit(X[rows], y[rows])


class Unregistered(LinearRegression):
    """Loses a coefficient's last bits in a file."""

    def __getstate__(self) -> Any:
        state = dict(super().__getstate__())
        state["coef_"] = np.float32(state["coef_"]).astype(float)
        return state


@pytest.mark.parametrize(
    ("learner", "check"),
    [
        (Moody, contracts.check_same_fit_same_bits),
        (HalfFitted, contracts.check_failed_fit_changes_nothing),
        (HalfFitted, contracts.check_interrupted_fit_changes_nothing),
        (Scaler, contracts.check_column_scale),
        (Scaler, contracts.check_common_scale),
        (Weightless, contracts.check_duplication),
        (Scribbler, contracts.check_input_is_not_changed),
        (Ordered, contracts.check_row_order),
        (FirstOfEquals, contracts.check_row_order),
        (Unregistered, contracts.check_files_keep_predictions),
    ],
)
def test_a_broken_learner_is_noticed(learner: Any, check: Check) -> None:
    with registered(estimators={learner.__name__: learner}), pytest.raises(AssertionError):
        check(Case(learner(), *numeric()))


def test_an_undeclared_invariance_is_not_tested() -> None:
    assert "column_scale" not in Ridge.invariances
    contracts.check_column_scale(Case(Ridge(3.0), *numeric()))
