"""Temperatures: scikit-learn's, the derivative, bounds, units, bad input."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import special
from sklearn.calibration import _TemperatureScaling

from novum.numerics import fit_temperature

rng = np.random.default_rng(0)
Z = 3 * rng.normal(size=(100, 3))
CODES = (Z + 4 * rng.gumbel(size=Z.shape)).argmax(axis=1)


def test_temperature_is_scikit_learns() -> None:
    weight = rng.random(100)
    for w in (None, weight):
        found = fit_temperature(Z, CODES, w)
        theirs = _TemperatureScaling().fit(Z, CODES, w)
        assert found.inverse_temperature == pytest.approx(theirs.beta_, rel=1e-4)
        assert found.residual < 1e-12
        np.testing.assert_allclose(found.predict(Z), theirs.predict(Z), atol=1e-4)


def test_no_other_temperature_has_less_loss() -> None:
    found = fit_temperature(Z, CODES)

    def loss(beta: float) -> float:
        return float(-special.log_softmax(beta * Z, axis=1)[np.arange(100), CODES].mean())

    assert found.loss == pytest.approx(loss(found.inverse_temperature))
    for factor in (0.9, 0.99, 1.01, 1.1):
        assert found.loss < loss(factor * found.inverse_temperature)


@pytest.mark.parametrize("unit", [1e-150, 1e-6, 1e150])
def test_units_do_not_matter(unit: float) -> None:
    one, two = fit_temperature(Z, CODES), fit_temperature(unit * Z, CODES)
    assert two.inverse_temperature * unit == pytest.approx(one.inverse_temperature, rel=1e-9)
    assert one.temperature == pytest.approx(1 / one.inverse_temperature)


def test_bounds_are_said() -> None:
    right = Z.argmax(axis=1)
    assert fit_temperature(Z, right).bound == "high"
    assert fit_temperature(Z, Z.argmin(axis=1)).bound == "low"
    flat = fit_temperature(np.ones((4, 2)), [0, 1, 1, 1])
    assert (flat.inverse_temperature, flat.bound) == (1.0, "")
    assert flat.loss == pytest.approx(np.log(2))


def test_weight_two_is_the_row_twice() -> None:
    weight = rng.integers(0, 3, 100)
    one = fit_temperature(Z, CODES, weight)
    two = fit_temperature(np.repeat(Z, weight, axis=0), np.repeat(CODES, weight))
    assert one.inverse_temperature == pytest.approx(two.inverse_temperature, rel=1e-10)


@pytest.mark.parametrize(
    ("scores", "codes", "weight", "message"),
    [
        ([1.0, 2.0], [0, 1], None, "shape \\(n, K\\)"),
        ([[1.0, np.inf]], [0], None, "Row 0 has the scores"),
        ([[1.0, 2.0]], [2], None, "0 to 1"),
        ([[1.0, 2.0]], [0], [0.0], "at least one is positive"),
        ([[1.0, 2.0]], [0.5], None, "shape"),
    ],
)
def test_bad_input_is_named(scores: Any, codes: Any, weight: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        fit_temperature(scores, codes, weight)
