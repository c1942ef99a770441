"""What all sparse models share: scikit-learn's checks, the contract, nasty input."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.learners import Case, Check
from novum.core.learners.contracts import check_name, estimator_checks
from novum.linear import ElasticNet, ElasticNetCV, Groups, Lasso, LassoCV, PenalizedRegression
from tests.linear.tables import normal_table

MODELS = [
    Lasso(alpha=0.05),
    ElasticNet(alpha=0.05),
    Lasso(alpha=0.05, positive=True, selection="random", random_state=0),
    PenalizedRegression(Groups(0.05)),
    LassoCV(alphas=8),
    ElasticNetCV(alphas=6, l1_ratio=[0.3, 0.9]),
]


@parametrize_with_checks(MODELS, legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


@pytest.mark.filterwarnings("ignore::novum.core.errors.UnseenLevelWarning")
@parametrize_with_checks([ElasticNet(alpha=0.05, categorical_features="all")], legacy=True)
def test_scikit_learn_checks_on_nominal_columns(
    estimator: Any, check: Callable[[Any], None]
) -> None:
    check(estimator)


def mixed_table(n: int = 60) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": rng.normal(size=n),
            "color": rng.choice(["blue", "green", "red"], n),
            "member": rng.random(n) < 0.5,
        }
    )
    effect = frame["color"].map({"blue": 0.0, "green": 1.0, "red": -2.0}).to_numpy(float)
    return frame, frame["age"].to_numpy() + effect + 0.1 * rng.normal(size=n)


def cases() -> list[Any]:
    X, y = normal_table(60, 3)
    frame, target = mixed_table()
    numeric = [pytest.param(Case(m, X, y), id=f"numeric {m!r}") for m in MODELS]
    return numeric + [pytest.param(Case(m, frame, target), id=f"mixed {m!r}") for m in MODELS[:2]]


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
@pytest.mark.parametrize("case", cases())
def test_contract(case: Case, check: Check) -> None:
    check(case)
