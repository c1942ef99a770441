"""The objective of descents: differences, unbiased batches, bounds below every value, checks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse

from novum.core.errors import InputError
from novum.linear.descent.objective import linear_objective
from novum.numerics import (
    AbsoluteLoss,
    HingeLoss,
    LogisticLoss,
    PerceptronLoss,
    SquaredHingeLoss,
    SquaredLoss,
)
from novum.numerics.losses import HuberLoss

LOSSES = [
    SquaredLoss(), AbsoluteLoss(), HuberLoss(0.7), LogisticLoss(), HingeLoss(),
    SquaredHingeLoss(), PerceptronLoss(),
]  # fmt: skip


def make(loss: Any, seed: int = 0, alpha: float = 0.4, intercept: bool = True) -> Any:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(20, 3))
    y = np.where(X[:, 0] + rng.normal(size=20) > 0.3, 1.0, -1.0)
    return linear_objective(loss, X, y, rng.uniform(0.5, 2, 20), alpha, intercept)


@pytest.mark.parametrize("loss", [SquaredLoss(), HuberLoss(0.7), LogisticLoss()], ids=repr)
@pytest.mark.parametrize("intercept", [True, False])
def test_gradients_are_differences(loss: Any, intercept: bool) -> None:
    one = make(loss, intercept=intercept)
    params = np.random.default_rng(1).normal(size=one.n_params)
    _, gradient = one.value_and_gradient(params)
    for i, unit in enumerate(np.eye(one.n_params)):
        ends = [one.value_and_gradient(params + s * 1e-6 * unit)[0] for s in (1, -1)]
        assert gradient[i] == pytest.approx((ends[0] - ends[1]) / 2e-6, rel=1e-6, abs=1e-8)


@pytest.mark.parametrize("loss", LOSSES, ids=repr)
def test_batches_are_right_on_average(loss: Any) -> None:
    one = make(loss)
    params = np.random.default_rng(1).normal(size=one.n_params)
    parts = [one.batch_gradient(params, np.arange(i, i + 5)) for i in range(0, 20, 5)]
    np.testing.assert_allclose(np.mean(parts, axis=0), one.value_and_gradient(params)[1])


@given(st.sampled_from(LOSSES), st.integers(0, 99), st.floats(0.01, 10), st.booleans())
def test_no_value_is_below_the_bound(loss: Any, seed: int, alpha: float, intercept: bool) -> None:
    one = make(loss, seed, alpha, intercept)
    rng = np.random.default_rng(seed)
    points = [rng.normal(size=one.n_params) * size for size in (0.0, 0.1, 1.0, 5.0)]
    bounds = [one.lower_bound(point) for point in points]
    values = [one.value_and_gradient(point)[0] for point in points]
    known = [bound for bound in bounds if bound is not None]
    assert known
    assert max(known) <= min(values) + 1e-12 * max(1.0, abs(min(values)))


def test_without_a_penalty_there_is_no_bound() -> None:
    assert make(LogisticLoss(), alpha=0.0).lower_bound(np.zeros(4)) is None


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_gradients_change_no_faster_than_the_constant_says(kind: Any) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.where(rng.random(30) < 0.5, 1.0, -1.0)
    for loss in LOSSES:
        one = linear_objective(loss, kind(X), y, None, 0.2, True)
        largest = one.lipschitz()
        if not np.isfinite(loss.smoothness):
            assert largest == np.inf
            continue
        for _ in range(30):
            a, b = rng.normal(size=(2, 5))
            change = one.value_and_gradient(a)[1] - one.value_and_gradient(b)[1]
            assert np.linalg.norm(change) <= largest * np.linalg.norm(a - b) * (1 + 1e-12)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"loss": "hinge"}, "A loss has value, gradient"),
        ({"X": np.zeros(3)}, r"rows and columns, got shape \(3,\)"),
        ({"X": [["a"], ["b"], ["c"]]}, "no numbers"),
        ({"X": [[1.0], [np.nan], [2.0]]}, "missing or infinite cells"),
        ({"y": [1.0, -1.0]}, r"X has 3 rows, but y has shape \(2,\)"),
        ({"y": [1.0, 0.0, -1.0]}, r"sides -1 and \+1, but y holds 0\.0 at row 1"),
        ({"sample_weight": [1.0, -1.0, 1.0]}, "one finite number of at least 0"),
        ({"sample_weight": [0.0, 0.0, 0.0]}, "not all zero"),
        ({"alpha": -1.0}, "alpha must be"),
    ],
)
def test_bad_input_is_named(changes: dict[str, Any], message: str) -> None:
    given_: dict[str, Any] = {
        "loss": LogisticLoss(),
        "X": [[0.0], [1.0], [2.0]],
        "y": [1.0, -1.0, 1.0],
        "sample_weight": None,
        "alpha": 0.1,
        "fit_intercept": True,
    }
    with pytest.raises(InputError, match=message):
        linear_objective(**{**given_, **changes})
