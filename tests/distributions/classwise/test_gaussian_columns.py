"""Column densities: scipy's laws, missing cells by quadrature, joint against separate variances."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import integrate, stats

from novum.distributions.classwise.gaussian_columns import ColumnDensities
from novum.numerics import Floats

LOCATION = np.array([[0.0, 1.0], [2.0, -1.0]])
VARIANCES = np.array([[1.0, 4.0], [0.25, 9.0]])
PRESENT = np.ones(2, bool)
X = np.random.default_rng(0).normal(size=(6, 2))


def law(degrees: float, joint: bool = False) -> ColumnDensities:
    return ColumnDensities(LOCATION, VARIANCES, np.full((2, 2), degrees), joint, PRESENT)


def expected(degrees: float, joint: bool) -> Floats:
    found = []
    for m, v in zip(LOCATION, VARIANCES, strict=True):
        if np.isinf(degrees):
            found.append(stats.norm(m, np.sqrt(v)).logpdf(X).sum(axis=1))
        elif joint:
            found.append(stats.multivariate_t(m, np.diag(v), df=degrees).logpdf(X))
        else:
            found.append(stats.t(degrees, m, np.sqrt(v)).logpdf(X).sum(axis=1))
    return np.array(found).T


@pytest.mark.parametrize(("degrees", "joint"), [(np.inf, False), (5.0, False), (5.0, True)])
def test_densities_are_those_of_scipy(degrees: float, joint: bool) -> None:
    found = law(degrees, joint)
    np.testing.assert_allclose(found.log_density(X), expected(degrees, joint), rtol=1e-11)
    np.testing.assert_array_equal(
        found.best(X, np.zeros(2)), expected(degrees, joint).argmax(axis=1)
    )


@pytest.mark.parametrize(("degrees", "joint"), [(np.inf, False), (5.0, False), (5.0, True)])
def test_a_missing_cell_is_integrated_out(degrees: float, joint: bool) -> None:
    found = law(degrees, joint)
    holes = np.array([[0.4, np.nan], [np.nan, np.nan], [0.4, 0.1]])
    values = found.log_density(holes)
    for k in range(2):
        total, _ = integrate.quad(
            lambda b, k=k: float(np.exp(found.log_density(np.array([[0.4, b]]))[0, k])),
            -np.inf,
            np.inf,
            epsabs=1e-13,
        )
        assert np.exp(values[0, k]) == pytest.approx(total, rel=1e-8)
    assert values[1].tolist() == [0.0, 0.0]
    np.testing.assert_allclose(values[2], found.log_density(holes[2:])[0], rtol=1e-14)
    np.testing.assert_allclose(
        values[0], found.marginal(np.array([0])).log_density(holes[:1, :1])[0], rtol=1e-13
    )


def test_one_variance_holds_for_all_columns() -> None:
    found = ColumnDensities.normal(LOCATION, np.array([2.0, 3.0]), PRESENT)
    assert found.variances.tolist() == [[2.0, 2.0], [3.0, 3.0]]
    assert found.is_normal
    assert not found.is_shared


def test_joint_samples_share_their_variance() -> None:
    n = 40_000
    draws = {
        joint: law(4.5, joint).sample(0, n, np.random.default_rng(0)) for joint in (False, True)
    }
    squares = {
        joint: ((rows - LOCATION[0]) ** 2 / VARIANCES[0]).clip(max=20)
        for joint, rows in draws.items()
    }
    assert np.corrcoef(squares[True].T)[0, 1] > 0.15
    # Four standard errors of a correlation that is zero.
    assert abs(np.corrcoef(squares[False].T)[0, 1]) < 4 / np.sqrt(n)


def test_arrays_that_are_no_laws_are_refused() -> None:
    law(3.0).check()
    for name, value in {
        "variances": np.zeros((2, 2)),
        "location": np.full((2, 2), np.nan),
        "degrees": np.ones((1, 2)),
    }.items():
        broken = law(3.0)
        object.__setattr__(broken, name, value)
        with pytest.raises(ValueError, match=r"must|shape"):
            broken.check()
