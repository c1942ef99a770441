"""Wishart: scipy, the gamma law as its case d = 1, sums of squares, ML equations, extreme input."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.wishart import Wishart
from novum.distributions.univariate.gamma import Gamma

T = np.array([[2.0, 0.5], [0.5, 1.0]])
LAW = Wishart(5.5, T)


def cone_rule(reach: float = 120.0) -> tuple[np.ndarray, np.ndarray]:
    """Matrices [[a, r sqrt(ab)], [., b]] by Gauss-Legendre in sqrt(a), sqrt(b) and r."""
    nodes, weights = np.polynomial.legendre.leggauss(50)
    root, width = 0.5 * np.sqrt(reach) * (nodes + 1), 0.5 * np.sqrt(reach) * weights
    # r = sin(angle) removes the singular power of 1 - r^2 at the ends.
    angle, turn = 0.5 * np.pi * nodes, 0.5 * np.pi * weights
    s, t, phi = (grid.ravel() for grid in np.meshgrid(root, root, angle, indexing="ij"))
    a, b, r = s * s, t * t, np.sin(phi)
    cross = r * s * t
    matrices = np.stack([np.stack([a, cross], -1), np.stack([cross, b], -1)], -1)
    area = np.multiply.outer(np.multiply.outer(width, width), turn).ravel()
    # da db dc = (2 s ds) (2 t dt) (s t cos(phi) dphi).
    return matrices, area * 4 * (s * t) ** 2 * np.cos(phi)


CASE = LawCase(LAW, Wishart(7.0, T * 0.8), rule=cone_rule(), tolerance=1e-8, size=10_000)


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
def test_contract(check: Any) -> None:
    check(CASE)


def random_scale(seed: int, size: int) -> np.ndarray:
    half = np.random.default_rng(seed).normal(size=(size, size))
    return half @ half.T + 0.3 * np.eye(size)


# --- Density and moments --------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.integers(1, 5), st.floats(0.1, 40))
def test_agrees_with_scipy(seed: int, size: int, room: float) -> None:
    scale, v = random_scale(seed, size), size - 1 + room
    law, x = Wishart(v, scale), random_scale(seed + 1, size)
    expected = stats.wishart(v, scale).logpdf(x)
    assert float(law.log_density(x)) == pytest.approx(float(expected), rel=1e-9, abs=1e-8)
    assert law.entropy == pytest.approx(
        float(stats.wishart(v, scale).entropy()), rel=1e-9, abs=1e-8
    )


def test_one_row_is_a_gamma_law() -> None:
    law, gamma = Wishart(7.0, [[0.4]]), Gamma(3.5, 1.25)
    x = np.array([1e-300, 0.3, 2.0, 50.0, 1e300])
    np.testing.assert_allclose(law.log_density(x[:, None, None]), gamma.log_density(x), rtol=1e-13)
    assert law.entropy == pytest.approx(gamma.entropy, rel=1e-13)
    assert law.kl(Wishart(4.0, [[0.7]])) == pytest.approx(
        gamma.kl(Gamma(2.0, 0.5 / 0.7)), rel=1e-12
    )


def test_huge_degrees_of_freedom_keep_their_digits() -> None:
    # At its mean the gamma law of shape a has log-density -log(2 pi a)/2 + log b - 1/(12 a).
    v = 1e14
    found = float(Wishart(v, [[1.0]]).log_density([[v]]))
    assert found == pytest.approx(-0.5 * np.log(2 * np.pi * v / 2) + np.log(0.5), abs=1e-13)
    two = float(Wishart(v, np.eye(2)).log_density(v * np.eye(2)))
    # For large v the entries are independent normals with variances 2v, 2v and v.
    assert two == pytest.approx(-1.5 * np.log(2 * np.pi) - 0.5 * np.log(4 * v**3), abs=1e-12)


def test_variances_of_entries() -> None:
    v = LAW.degrees_of_freedom
    np.testing.assert_allclose(LAW.variance, v * (T**2 + np.outer(np.diag(T), np.diag(T))))
    np.testing.assert_allclose(np.einsum("ijij->ij", LAW.covariance), LAW.variance)
    x = LAW.sample(20_000, random_state=3).reshape(-1, 4)
    products = (x - LAW.mean.ravel())[:, :, None] * (x - LAW.mean.ravel())[:, None, :]
    error = products.std(axis=0) / np.sqrt(len(x))
    assert np.all(np.abs(products.mean(axis=0) - LAW.covariance.reshape(4, 4)) < 5 * error)


def test_bartlett_has_the_law_of_sums_of_squares() -> None:
    law = Wishart(3.0, T)
    drawn = law.sample(4000, random_state=0)
    z = np.random.default_rng(1).multivariate_normal([0, 0], T, size=(4000, 3))
    summed = np.einsum("nki,nkj->nij", z, z)
    for i, j in ((0, 0), (0, 1), (1, 1)):
        # One in a thousand such comparisons fails by chance; these seeds pass.
        assert stats.ks_2samp(drawn[:, i, j], summed[:, i, j]).pvalue > 1e-3


def test_mode_is_a_maximum() -> None:
    law = Wishart(6.0, T)
    assert law.mode.tolist() == (3 * T).tolist()
    best = law.log_density(law.mode)
    for change in ([[0.01, 0], [0, 0]], [[0, 0.01], [0.01, 0]], [[0, 0], [0, -0.01]]):
        assert law.log_density(law.mode + change) < best
    with pytest.raises(InputError, match=r"a mode from 3 degrees of freedom on; it has 2\.5"):
        _ = Wishart(2.5, T).mode


def test_off_the_support_and_missing() -> None:
    points = [[[1, 2], [2, 1]], [[1, 1], [1, 1]], [[-1, 0], [0, 1]], [[1, 0.5], [0.1, 1]]]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert LAW.log_density(points).tolist() == [-np.inf] * 4
        assert LAW.log_density([[np.inf, 0], [0, 1]]) == -np.inf
        assert np.isnan(LAW.log_density([[np.nan, 0], [0, 1]]))
        assert np.isfinite(LAW.log_density(1e-300 * np.eye(2)))
        assert LAW.log_density(np.array([T, np.zeros((2, 2))]))[0] > -10


@given(st.integers(0, 10**6), st.integers(-100, 100))
def test_units_do_not_matter(seed: int, power: int) -> None:
    unit = np.ldexp(1.0, [power, 0, -power])
    scale, x = random_scale(seed, 3), random_scale(seed + 1, 3)
    law = Wishart(4.5, scale)
    other = Wishart(4.5, scale * unit * unit[:, None])
    # The volume of the entries changes by the product of the units to the power d + 1.
    found = other.log_density(x * unit * unit[:, None]) + 4 * np.log(unit).sum()
    assert float(found) == pytest.approx(float(law.log_density(x)), rel=1e-11, abs=1e-10)


# --- Relations ------------------------------------------------------------------------------------


@given(st.integers(0, 10**6), st.floats(0.5, 30), st.floats(0.5, 30))
def test_divergence_is_the_formula(seed: int, room: float, other_room: float) -> None:
    from scipy import special

    v, u, d = 2 + room, 2 + other_room, 3
    S, R = random_scale(seed, d), random_scale(seed + 1, d)
    ratio = np.linalg.inv(R) @ S
    logs = np.linalg.slogdet(ratio)[1]
    digamma = special.digamma((v - np.arange(d)) / 2).sum()
    expected = (
        -u / 2 * logs + v / 2 * (np.trace(ratio) - d)
        + special.multigammaln(u / 2, d) - special.multigammaln(v / 2, d) + (v - u) / 2 * digamma
    )  # fmt: skip
    assert Wishart(v, S).kl(Wishart(u, R)) == pytest.approx(expected, rel=1e-7, abs=1e-8)


def test_blocks_and_maps() -> None:
    law = Wishart(6.0, random_scale(1, 3))
    assert law.marginal([2, 0]) == Wishart(6.0, law.scale[np.ix_([2, 0], [2, 0])])
    assert law.marginal(1) == Gamma(3.0, 0.5 / law.scale[1, 1])
    A = np.array([[1.0, 2.0, 0.0], [0.0, 1.0, -1.0]])
    np.testing.assert_allclose(law.affine(A).scale, A @ law.scale @ A.T, rtol=1e-13)
    x = law.sample(20_000, random_state=0)[:, 1, 1]
    assert stats.kstest(x, law.marginal(1).cdf).pvalue > 1e-3


def test_inverse_scale_goes_round() -> None:
    law = Wishart.from_inverse_scale(6.0, np.linalg.inv(T))
    np.testing.assert_allclose(law.scale, T, rtol=1e-13)
    np.testing.assert_allclose(law.inverse_scale, np.linalg.inv(T), rtol=1e-13)


# --- Estimation -----------------------------------------------------------------------------------


# Below v = 2.5 many matrices are singular to the last digit, and are refused as such.
@pytest.mark.parametrize("v", [2.6, 3.0, 40.0, 1e5])
def test_the_fit_solves_its_equations(v: float) -> None:
    x = Wishart(v, random_scale(2, 3)).sample(300, random_state=0)
    law = Wishart.fit(x)
    np.testing.assert_allclose(law.mean, x.mean(axis=0), rtol=1e-10)
    expected = np.linalg.slogdet(x)[1].mean()
    # Determinants of nearly singular matrices have lost up to ten digits.
    assert law.mean_log_determinant == pytest.approx(expected, rel=1e-9, abs=1e-6)
    room = law.degrees_of_freedom - 2
    # The standard error of log(v - d + 1) is about 8 % with 300 matrices.
    assert abs(np.log(room / (v - 2))) < 0.35


def test_moments_are_matched() -> None:
    x = LAW.sample(4000, random_state=1)
    law = Wishart.fit_moments(x)
    np.testing.assert_allclose(law.mean, x.mean(axis=0), rtol=1e-12)
    unit = np.outer(np.sqrt(np.diag(law.mean)), np.sqrt(np.diag(law.mean)))
    spread = (x.var(axis=0) / unit**2).sum()
    assert (law.variance / unit**2).sum() == pytest.approx(spread, rel=1e-10)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: Wishart(1.0, T), "law of 2 x 2 matrices must be a finite number above 1"),
        (lambda: Wishart(5.0, [[1.0, 1.0], [1.0, 1.0]]), r"x\[0\] - x\[1\] has no variance"),
        (lambda: Wishart(5.0, [[1.0, 2.0], [2.0, 1.0]]), "negative variance"),
        (lambda: LAW.log_density(np.eye(3)), r"shape \(..., 2, 2\), got \(3, 3\)"),
        (lambda: Wishart.fit([T, -T]), "1 of 2 are not, the first is matrix 1"),
        (lambda: Wishart.fit([T, T]), "matrices are all equal"),
        (lambda: Wishart.fit_moments([T, T]), "matrices are all equal"),
        (lambda: Wishart.fit([T]), "matrices are all equal"),
        (lambda: Wishart.fit(np.empty((0, 2, 2))), "total weight is 0"),
        (lambda: Wishart.fit(T), r"shape \(n, d, d\)"),
        (lambda: LAW.kl(Wishart(3.0, [[1.0]])), "2 and 1 rows"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
