"""Linear response: the Bayes risk by simulation and by least squares."""

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.data.synthetic.linear import LinearResponse

LAW = LinearResponse([2.0, -1.0, 0.5], intercept=3.0, variance=0.25, scales=[1.0, 2.0, 0.1])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_simulation_meets_the_stated_risk(missing: float) -> None:
    sample = LAW.sample(20_000, random_state=1, missing=missing)
    squares = (sample.bayes_predict(sample.X) - sample.y) ** 2
    assert abs(squares.mean() - sample.bayes_error) < 4 * squares.std() / np.sqrt(20_000)
    assert sample.bayes_accuracy == 0


def test_closed_form() -> None:
    assert LAW.error() == 0.25
    assert LAW.error(0.5) == pytest.approx(0.25 + 0.5 * (4 + 4 + 0.0025))


def test_least_squares_recovers_the_coefficients() -> None:
    sample = LAW.sample(5_000, random_state=2)
    design = np.column_stack([np.ones(5_000), sample.X])
    found = np.linalg.lstsq(design, sample.y, rcond=None)[0]
    errors = np.sqrt(0.25 * np.diag(np.linalg.inv(design.T @ design)))
    assert (np.abs(found - [3.0, 2.0, -1.0, 0.5]) < 4 * errors).all()


def test_same_seed_same_bits() -> None:
    np.testing.assert_array_equal(LAW.sample(9, 7).y, LAW.sample(9, 7).y)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"coefficients": []}, "one number per column"),
        ({"coefficients": [1.0], "variance": -1.0}, "variance of at least 0"),
        ({"coefficients": [1.0], "scales": 0.0}, "positive scales"),
    ],
)
def test_impossible_laws_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        LinearResponse(**options)  # type: ignore[arg-type]
