"""Multivariate normal: scipy, quadrature, definitions by inverses, missing cells, singular laws."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import integrate, stats

from novum.core.errors import InputError
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.positive_definite import SingularMatrixError
from novum.distributions.univariate.normal import Normal


def random_law(seed: int, size: int) -> MultivariateNormal:
    rng = np.random.default_rng(seed)
    half = rng.normal(size=(size, size))
    return MultivariateNormal(3 * rng.normal(size=size), half @ half.T + 0.1 * np.eye(size))


def square_rule(law: MultivariateNormal, reach: float = 9.0) -> tuple[np.ndarray, np.ndarray]:
    """The trapezoidal rule, which converges exponentially for a density that dies out."""
    step = np.linspace(-reach, reach, 181)
    grid = np.stack(np.meshgrid(step, step, indexing="ij"), axis=-1).reshape(-1, 2)
    width = (step[1] - step[0]) ** 2 * np.exp(0.5 * law.root.log_determinant)
    return law.mean + law.root.colored(grid), np.full(len(grid), width)


LAW = random_law(3, 2)
FAR = MultivariateNormal([1e8, -1e8], [[1e-4, 5e-5], [5e-5, 1e-4]])
# Coordinates at 1e8 are rounded to 1e-8, that is to 1e-6 of a standard deviation.
CASES = {
    "plain": LawCase(LAW, random_law(4, 2), rule=square_rule(LAW)),
    "far": LawCase(FAR, MultivariateNormal(FAR.mean + 0.01, 2 * FAR.covariance),
                   rule=square_rule(FAR), tolerance=1e-5),
}  # fmt: skip

seeds = st.integers(0, 10**6)


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
@pytest.mark.parametrize("name", CASES)
def test_contract(name: str, check: Any) -> None:
    check(CASES[name])


# --- Density --------------------------------------------------------------------------------------


@given(seeds, st.integers(1, 6))
def test_agrees_with_scipy(seed: int, size: int) -> None:
    law, x = random_law(seed, size), np.random.default_rng(seed).normal(size=(2, 3, size))
    peer = stats.multivariate_normal(law.mean, law.covariance)
    np.testing.assert_allclose(law.log_density(x), peer.logpdf(x), rtol=1e-9, atol=1e-9)
    assert law.entropy == pytest.approx(peer.entropy(), rel=1e-12, abs=1e-12)


@given(seeds, st.integers(-150, 150))
def test_units_do_not_matter(seed: int, power: int) -> None:
    law, unit = random_law(seed, 3), np.ldexp(1.0, [power, 0, -power])
    other = MultivariateNormal(law.mean * unit, law.covariance * unit * unit[:, None])
    x = np.random.default_rng(seed).normal(size=(4, 3))
    np.testing.assert_allclose(other.log_density(x * unit), law.log_density(x), rtol=1e-12)
    np.testing.assert_array_equal(other.mahalanobis(x * unit), law.mahalanobis(x))


def test_extreme_arguments() -> None:
    law = MultivariateNormal([0.0, 0.0], np.eye(2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        points = [[1e-300, 0], [1e300, 1.0], [np.inf, 0], [-np.inf, np.inf]]
        logs = law.log_density(points)
        assert logs[0] == -np.log(2 * np.pi)
        assert logs[1:].tolist() == [-np.inf] * 3
        assert law.mahalanobis(points).tolist() == [1e-300, 1e300, np.inf, np.inf]
        assert np.isnan(law.log_density([np.nan, 1.0]))
        for scale in (1e-300, 1e300):
            wide = MultivariateNormal([0.0, 0.0], scale * np.eye(2))
            assert float(wide.log_density([0.0, 0.0])) == pytest.approx(
                -np.log(2 * np.pi) - np.log(scale), rel=1e-14
            )


@given(seeds)
def test_missing_cells_are_integrated_out(seed: int) -> None:
    law, rng = random_law(seed, 4), np.random.default_rng(seed)
    x = rng.normal(size=(20, 4))
    x[rng.random((20, 4)) < 0.4] = np.nan
    x[0], x[1] = np.nan, 1.0
    found = law.log_density_observed(x.reshape(4, 5, 4)).ravel()
    for row, value in zip(x, found, strict=True):
        there = np.flatnonzero(~np.isnan(row))
        if not there.size:
            assert value == 0
            continue
        block = law.covariance[np.ix_(there, there)]
        expected = stats.multivariate_normal.logpdf(row[there], law.mean[there], block)
        assert value == pytest.approx(expected, rel=1e-9, abs=1e-9)


def test_missing_cells_by_quadrature() -> None:
    def slice_(t: float) -> float:
        return float(LAW.density([0.3, t]))

    total = integrate.quad(slice_, -40, 40, epsabs=1e-12, limit=400)[0]
    assert float(LAW.log_density_observed([0.3, np.nan])) == pytest.approx(np.log(total), abs=1e-9)
    assert float(LAW.marginal([0]).density([0.3])) == pytest.approx(total, rel=1e-9)


# --- Contours -------------------------------------------------------------------------------------


@pytest.mark.parametrize("probability", [0.1, 0.5, 0.95])
def test_contours_hold_their_probability(probability: float) -> None:
    law = random_law(8, 3)
    region = law.contour(probability)
    n = 20_000
    share = region.contains(law.sample(n, random_state=0)).mean()
    assert abs(share - probability) < 4 * np.sqrt(probability * (1 - probability) / n)
    edge = region.points(7, plane=(0, 2))
    np.testing.assert_allclose(
        law.mahalanobis(edge) ** 2, stats.chi2(3).ppf(probability), rtol=1e-10
    )
    assert np.ptp(law.log_density(edge)) < 1e-10
    values = np.linalg.eigvalsh(law.covariance)[::-1]
    np.testing.assert_allclose(region.half_axes / region.half_axes[0], np.sqrt(values / values[0]))


# --- Relations ------------------------------------------------------------------------------------


@given(seeds, st.permutations(range(4)), st.integers(1, 3))
def test_joint_is_marginal_times_conditional(seed: int, order: list[int], k: int) -> None:
    law, x = random_law(seed, 4), np.random.default_rng(seed).normal(size=4)
    fixed = order[:k]
    free = sorted(order[k:])
    rest = law.condition(fixed, x[fixed])
    total = law.marginal(fixed).log_density(x[fixed]) + rest.log_density(x[free])
    assert float(total) == pytest.approx(float(law.log_density(x)), rel=1e-8, abs=1e-8)


@given(seeds)
def test_conditional_is_the_schur_complement(seed: int) -> None:
    law = random_law(seed, 4)
    C, m = law.covariance, law.mean
    gain = C[:2, 2:] @ np.linalg.inv(C[2:, 2:])
    rest = law.condition([2, 3], [1.0, -1.0])
    np.testing.assert_allclose(
        rest.mean, m[:2] + gain @ ([1.0, -1.0] - m[2:]), rtol=1e-7, atol=1e-7
    )
    np.testing.assert_allclose(rest.covariance, C[:2, :2] - gain @ C[2:, :2], rtol=1e-7, atol=1e-9)


@given(seeds)
def test_divergence_is_the_formula(seed: int) -> None:
    p, q = random_law(seed, 3), random_law(seed + 1, 3)
    inverse, away = np.linalg.inv(q.covariance), p.mean - q.mean
    logs = np.linalg.slogdet(q.covariance)[1] - np.linalg.slogdet(p.covariance)[1]
    expected = 0.5 * (np.trace(inverse @ p.covariance) + away @ inverse @ away - 3 + logs)
    assert p.kl(q) == pytest.approx(expected, rel=1e-8)
    near = MultivariateNormal(p.mean, p.covariance * (1 + 1e-9))
    # Three coordinates of variance off by 1e-9: 3 (1e-9)^2 / 4, far below the terms' rounding.
    assert p.kl(near) == pytest.approx(0.75e-18, rel=1e-5)


def test_one_coordinate_is_a_normal_law() -> None:
    assert LAW.marginal(1) == Normal(LAW.mean[1], LAW.covariance[1, 1])
    assert LAW.marginal([1]) == MultivariateNormal(LAW.mean[1:], LAW.covariance[1:, 1:])


def test_affine_maps_and_sums() -> None:
    law, other = random_law(1, 3), random_law(2, 3)
    A, b = np.array([[1.0, 2.0, 0.0], [0.0, -1.0, 3.0]]), np.array([1.0, 2.0])
    image = law.affine(A, b)
    assert isinstance(image, MultivariateNormal)
    np.testing.assert_allclose(image.mean, A @ law.mean + b)
    np.testing.assert_allclose(image.covariance, A @ law.covariance @ A.T, rtol=1e-13)
    one = law.affine([1.0, 1.0, 1.0])
    assert isinstance(one, Normal)
    assert one.variance == pytest.approx(law.covariance.sum(), rel=1e-12)
    both = law + other
    np.testing.assert_array_equal(both.mean, law.mean + other.mean)
    np.testing.assert_array_equal(both.covariance, law.covariance + other.covariance)
    with pytest.raises(TypeError):
        law + 3  # type: ignore[operator]


# --- Singular laws --------------------------------------------------------------------------------

FLAT = MultivariateNormal([1.0, 2.0, 3.0], [[1.0, 2.0, 0.0], [2.0, 4.0, 0.0], [0.0, 0.0, 1.0]])


def test_a_singular_law_has_no_density_and_says_why() -> None:
    assert FLAT.is_singular
    for call in (
        lambda: FLAT.log_density([1.0, 2.0, 3.0]),
        lambda: FLAT.entropy,
        lambda: FLAT.mahalanobis([1.0, 2.0, 3.0]),
        lambda: random_law(1, 3).kl(FLAT),
    ):
        with pytest.raises(SingularMatrixError, match=r"x\[0\] - 0\.5 x\[1\] has no variance"):
            call()
    assert FLAT.kl(random_law(1, 3)) == np.inf


def test_a_singular_law_is_sampled_and_conditioned_on_its_flat() -> None:
    x = FLAT.sample(5000, random_state=0)
    np.testing.assert_allclose(x[:, 1] - 2, 2 * (x[:, 0] - 1), atol=1e-12)
    np.testing.assert_allclose(np.cov(x.T, ddof=0), FLAT.covariance, atol=0.25)
    rest = FLAT.condition([0], [1.5])
    np.testing.assert_allclose(rest.mean, [3.0, 3.0])
    np.testing.assert_allclose(rest.covariance, [[0.0, 0.0], [0.0, 1.0]], atol=1e-14)
    assert FLAT.condition([0, 1], [1.5, 3.0]).mean.tolist() == pytest.approx([3.0])
    with pytest.raises(InputError, match=r"coordinates \[0, 1\] cannot occur together"):
        FLAT.condition([0, 1], [1.5, 9.0])
    assert not FLAT.marginal([0, 2]).is_singular


def test_maps_to_more_coordinates_are_singular() -> None:
    law = MultivariateNormal([0.0], [[2.0]]).affine([[1.0], [3.0]])
    assert isinstance(law, MultivariateNormal)
    assert law.is_singular
    np.testing.assert_allclose(law.covariance, [[2.0, 6.0], [6.0, 18.0]])


# --- Estimation -----------------------------------------------------------------------------------


def test_fit_is_the_sample_moments() -> None:
    x = random_law(5, 3).sample(50, random_state=1)
    law = MultivariateNormal.fit(x)
    np.testing.assert_allclose(law.mean, x.mean(axis=0), rtol=1e-13)
    np.testing.assert_allclose(law.covariance, np.cov(x.T, ddof=0), rtol=1e-12)
    np.testing.assert_array_equal(MultivariateNormal.fit_moments(x).covariance, law.covariance)


@pytest.mark.parametrize("factor", [0.97, 1.03])
def test_no_other_law_is_likelier(factor: float) -> None:
    x = random_law(5, 3).sample(200, random_state=1)
    best = MultivariateNormal.fit(x)
    for worse in (
        MultivariateNormal(best.mean * factor, best.covariance),
        MultivariateNormal(best.mean, best.covariance * factor),
    ):
        assert worse.log_density(x).sum() < best.log_density(x).sum()


def test_degenerate_samples_give_the_limit_law() -> None:
    one = MultivariateNormal.fit([[1.0, 2.0]])
    assert one.is_singular
    assert one.sample(2, random_state=0).tolist() == [[1.0, 2.0]] * 2
    constant = MultivariateNormal.fit([[1.0, 5.0], [2.0, 5.0], [4.0, 5.0]])
    with pytest.raises(SingularMatrixError, match=r"x\[1\] has no variance. Drop this column"):
        constant.log_density([1.0, 5.0])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultivariateNormal([0.0], np.eye(2)), r"covariance of shape \(1, 1\)"),
        (lambda: MultivariateNormal([0.0, 0.0], [[1, 2], [2, 1]]), "negative variance"),
        (lambda: MultivariateNormal([0.0, 0.0], [[1, 0.5], [0.1, 1]]), "not symmetric"),
        (lambda: MultivariateNormal([0.0, np.inf], np.eye(2)), "entry 1 is inf"),
        (lambda: MultivariateNormal.fit([[1.0, np.nan]]), "missing"),
        (lambda: MultivariateNormal.fit(np.empty((0, 2))), "total weight is 0"),
        (lambda: MultivariateNormal.fit([1.0, 2.0]), r"shape \(n, d\)"),
        (lambda: LAW.contour(1.0), "below 1, got 1.0"),
        (lambda: LAW.affine([[1.0, 2.0, 3.0]]), r"shape \(k, 2\)"),
        (lambda: LAW.kl(random_law(1, 3)), "2 and of 3 coordinates"),
        (lambda: LAW.log_density([1.0]), "has 2 coordinates"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()


def test_laws_are_values() -> None:
    assert MultivariateNormal(LAW.mean, LAW.covariance) == LAW
    assert hash(LAW) == hash(MultivariateNormal(LAW.mean, LAW.covariance))
    assert random_law(4, 2) != LAW
