"""Student's t: 60-digit values (mpmath), SciPy, limits, moments that do not exist."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT

degrees_of_freedom = st.floats(0.1, 1e6)

# degrees of freedom, z, log density, entropy
VALUES = [
    (0.1, 3.0, -4.39089346995255, 12.228957898730014),
    (1.0, 1e300, -1382.695785682277, 2.5310242469692907),
    (3.0, 0.5, -1.1609742649705825, 1.773477571863291),
    (1e10, 2.0, -2.9189385330296727, 1.4189385333046727),
    (1e15, 5.0, -13.41893853320453, 1.4189385332046738),
]


@pytest.mark.parametrize(("v", "z", "log_density", "entropy"), VALUES)
def test_sixty_digit_values(v: float, z: float, log_density: float, entropy: float) -> None:
    law = StudentT(v, 0.0, 1.0)
    assert float(law.log_density(z)) == pytest.approx(log_density, rel=1e-14)
    assert float(law.log_density(-z)) == pytest.approx(log_density, rel=1e-14)
    assert law.entropy == pytest.approx(entropy, rel=1e-14)


@given(degrees_of_freedom, st.floats(-1e3, 1e3), st.floats(1e-3, 1e3), st.floats(0.01, 0.99))
def test_agrees_with_scipy(v: float, location: float, scale: float, level: float) -> None:
    law, other = StudentT(v, location, scale), stats.t(v, location, scale)
    x = float(law.quantile(level))
    if abs(x) < 1e12:
        digit = 1e-9 + 10 * np.spacing(abs(x)) / scale
        assert float(law.log_density(x)) == pytest.approx(other.logpdf(x), rel=1e-8, abs=digit)
        assert float(law.cdf(x)) == pytest.approx(other.cdf(x), rel=1e-8, abs=digit)


def test_cauchy_is_the_closed_form() -> None:
    law, x = StudentT(1.0, 2.0, 3.0), np.array([-1e5, -1.0, 2.0, 7.0])
    z = (x - 2) / 3
    np.testing.assert_allclose(law.density(x), 1 / (3 * np.pi * (1 + z * z)), rtol=1e-13)
    np.testing.assert_allclose(law.cdf(x), 0.5 + np.arctan(z) / np.pi, rtol=1e-10)
    assert law.entropy == pytest.approx(np.log(4 * np.pi * 3))


def test_infinite_degrees_are_the_normal_law() -> None:
    law, normal = StudentT(np.inf, 2.0, 3.0), Normal(2.0, 9.0)
    x = np.array([-4.0, 2.0, 30.0])
    np.testing.assert_array_equal(law.log_density(x), normal.log_density(x))
    np.testing.assert_allclose(law.cdf(x), normal.cdf(x), rtol=1e-14)
    assert law.entropy == normal.entropy
    assert law.variance == 9.0
    np.testing.assert_allclose(law.quantile([0.1, 0.9]), normal.quantile([0.1, 0.9]), rtol=1e-14)


def test_mixture_of_normals_with_gamma_precision() -> None:
    """The definition: a normal law whose precision is gamma with shape v/2 and rate v s^2/2."""
    from scipy import integrate

    v, s, x = 5.0, 2.0, 3.0

    def integrand(precision: float) -> float:
        return stats.norm.pdf(x, 0, precision**-0.5) * stats.gamma.pdf(
            precision, v / 2, scale=2 / (v * s * s)
        )

    expected, _ = integrate.quad(integrand, 0, np.inf)
    assert float(StudentT(v, 0.0, s).density(x)) == pytest.approx(expected, rel=1e-8)


def test_moments_that_do_not_exist_raise() -> None:
    law = StudentT(1.0, 5.0, 2.0)
    with pytest.raises(InputError, match="has no mean; its median is `location`"):
        _ = law.mean
    with pytest.raises(InputError, match="no variance"):
        _ = law.variance
    assert StudentT(2.0).variance == np.inf
    assert StudentT(1.5, 4.0).mean == 4.0
    assert StudentT(4.0, 0.0, 3.0).variance == 18.0


def test_intervals_on_either_side_and_across() -> None:
    law = StudentT(3.0, 1.0, 2.0)
    ends = [(-9.0, -5.0), (-3.0, 4.0), (1.0, 2.0), (1e6, 1e7)]
    for a, b in ends:
        z = (np.array([a, b]) - 1) / 2
        expected = stats.t.cdf(z[1], 3) - stats.t.cdf(z[0], 3)
        if a > 1:
            expected = stats.t.sf(z[0], 3) - stats.t.sf(z[1], 3)
        assert float(law.probability(a, b)) == pytest.approx(expected, rel=1e-9)


def test_affine_map() -> None:
    law = StudentT(3.0, 1.0, 2.0).affine(-2.0, 5.0)
    assert law == StudentT(3.0, 3.0, 4.0)
    with pytest.raises(InputError, match="scale of 0"):
        law.affine(0.0)


def test_fit_moments_matches_the_kurtosis() -> None:
    x = StudentT(8.0, 3.0, 2.0).sample(5000, random_state=0)
    law = StudentT.fit_moments(x)
    assert law.mean == pytest.approx(x.mean())
    assert law.variance == pytest.approx(x.var())
    excess = 6 / (law.degrees_of_freedom - 4)
    assert excess == pytest.approx(stats.kurtosis(x))
    assert StudentT.fit_moments([1.0, 2.0, 3.0]).degrees_of_freedom == np.inf


def test_weights_repeat_in_the_moments() -> None:
    x, weight = np.array([0.0, 1.0, 2.0, 9.0]), np.array([1, 3, 2, 1])
    assert StudentT.fit_moments(x, weight).degrees_of_freedom == pytest.approx(
        StudentT.fit_moments(np.repeat(x, weight)).degrees_of_freedom
    )


@pytest.mark.parametrize("v", [1e-2, 1.0, 1e10, 1e300, np.inf])
@pytest.mark.parametrize("scale", [1e-150, 1.0, 1e150])
def test_extreme_parameters_give_no_nan(v: float, scale: float) -> None:
    law = StudentT(v, 0.0, scale)
    x = np.array([-np.inf, -1e300, 0.0, 1e-300, 1e-150, 1.0, 1e150, 1e300, np.inf])
    for found in (law.log_density(x), law.cdf(x), law.density(x), law.quantile([1e-300, 0.3, 1])):
        assert not np.isnan(found).any()
    assert np.isfinite(law.entropy)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: StudentT(0.0), "degrees_of_freedom above 0"),
        (lambda: StudentT(np.nan), "degrees_of_freedom above 0"),
        (lambda: StudentT(1.0, 0.0, 0.0), "finite scale above 0"),
        (lambda: StudentT(1.0, np.inf), "finite location"),
        (lambda: StudentT.fit([1.0, 2.0], degrees_of_freedom=-1), "above 0"),
        (lambda: StudentT.fit([1.0, np.nan]), "nan at position 1"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
