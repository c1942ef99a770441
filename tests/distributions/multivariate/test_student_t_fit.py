"""EM of the Student t law: rising likelihood, a direct optimizer, recovery, limits, refusals."""

import numpy as np
import pytest
from scipy import optimize, stats

from novum.core.errors import InputError
from novum.core.learners import ConvergenceWarning, Verdict
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT

TRUE = MultivariateStudentT(4.0, [1.0, -2.0], [[2.0, 0.5], [0.5, 1.0]])
X = TRUE.sample(400, random_state=0)


def test_the_likelihood_rises_and_the_gradient_vanishes() -> None:
    law, certificate = MultivariateStudentT.fit_certified(X)
    assert certificate.verdict is Verdict.LOCAL
    assert certificate.trace is not None
    assert np.all(np.diff(certificate.trace) >= -1e-9)
    assert certificate.value == pytest.approx(float(law.log_density(X).sum()), rel=1e-12)
    assert certificate.residual is not None
    assert certificate.residual < 1e-6


def test_a_direct_optimizer_finds_nothing_better() -> None:
    law, certificate = MultivariateStudentT.fit_certified(X)

    def cost(theta: np.ndarray) -> float:
        half = np.array([[np.exp(theta[2]), 0.0], [theta[3], np.exp(theta[4])]])
        peer = stats.multivariate_t(theta[:2], half @ half.T, df=np.exp(theta[5]))
        return -float(peer.logpdf(X).sum())

    lower = np.linalg.cholesky(law.shape)
    logs = np.log(np.diagonal(lower))
    start = [*law.location, logs[0], lower[1, 0], logs[1], np.log(law.degrees_of_freedom)]
    found = optimize.minimize(cost, start, method="BFGS", options={"gtol": 1e-4})
    assert -found.fun <= certificate.value + 1e-6
    moved = optimize.minimize(cost, np.array(start) + 0.3, method="BFGS", options={"gtol": 1e-4})
    assert -moved.fun == pytest.approx(certificate.value, abs=1e-4)
    assert np.exp(moved.x[5]) == pytest.approx(law.degrees_of_freedom, rel=1e-3)


def test_known_degrees_of_freedom_stay() -> None:
    law = MultivariateStudentT.fit(X, degrees_of_freedom=1.0)
    assert law.degrees_of_freedom == 1.0
    # The equations of the maximum: rows weighted by (v + d) / (v + q).
    shares = 3 / (1 + law.mahalanobis(X) ** 2)
    away = X - law.location
    np.testing.assert_allclose(shares @ away / len(X), 0, atol=1e-5)
    scatter = (away * shares[:, None]).T @ away / len(X)
    np.testing.assert_allclose(scatter, law.shape, atol=1e-5)


def test_light_tails_end_at_the_normal_law() -> None:
    x = np.random.default_rng(0).uniform(size=(300, 2))
    law = MultivariateStudentT.fit(x)
    normal = MultivariateNormal.fit(x)
    assert law.degrees_of_freedom == np.inf
    np.testing.assert_allclose(law.location, normal.mean, atol=1e-6)
    np.testing.assert_allclose(law.shape, normal.covariance, atol=1e-6)
    assert MultivariateStudentT.fit_moments(x).degrees_of_freedom == np.inf


@pytest.mark.parametrize("power", [-60, 60])
def test_units_and_offset_do_not_matter(power: int) -> None:
    unit = np.ldexp(1.0, [power, 0])
    plain = MultivariateStudentT.fit(X)
    scaled = MultivariateStudentT.fit(X * unit)
    assert scaled.degrees_of_freedom == pytest.approx(plain.degrees_of_freedom, rel=1e-6)
    np.testing.assert_allclose(scaled.location / unit, plain.location, rtol=1e-6)
    moved = MultivariateStudentT.fit(X + 1e6)
    np.testing.assert_allclose(moved.shape, plain.shape, rtol=1e-5)


def test_outliers_hardly_move_the_location() -> None:
    dirty = np.vstack([X, np.full((4, 2), 1e4)])
    moved = MultivariateStudentT.fit(dirty).location - MultivariateStudentT.fit(X).location
    assert np.abs(moved).max() < 0.05
    assert np.abs(dirty.mean(axis=0) - X.mean(axis=0)).min() > 50


def test_moments_are_matched() -> None:
    law = MultivariateStudentT.fit_moments(X)
    np.testing.assert_allclose(law.covariance, np.cov(X.T, ddof=0), rtol=1e-10)
    q = MultivariateNormal(law.mean, law.covariance).mahalanobis(X) ** 2
    v = law.degrees_of_freedom
    assert (q**2).mean() == pytest.approx(8 * (v - 2) / (v - 4), rel=1e-9)


def test_a_fit_that_is_cut_short_says_so() -> None:
    _, certificate = MultivariateStudentT.fit_certified(X, max_iter=2)
    assert certificate.verdict is Verdict.STOPPED_EARLY
    assert not certificate.converged


def test_fit_warns_when_it_did_not_finish(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = MultivariateStudentT.fit_certified.__func__  # type: ignore[attr-defined]

    def short(cls: type, x: object, weight: object = None, **more: object) -> object:
        return whole(cls, x, weight, max_iter=1, **more)

    monkeypatch.setattr(MultivariateStudentT, "fit_certified", classmethod(short))
    with pytest.warns(ConvergenceWarning, match="MultivariateStudentT: stopped early"):
        MultivariateStudentT.fit(X)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]], "covariance of the sample is singular"),
        ([[1.0, 2.0]], "singular"),
        ([[1.0, np.nan], [2.0, 3.0]], "missing"),
        (np.empty((0, 2)), "total weight is 0"),
    ],
)
def test_degenerate_samples_are_refused(x: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MultivariateStudentT.fit(x)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=message):
        MultivariateStudentT.fit_moments(x)  # type: ignore[arg-type]


def test_known_degrees_must_be_positive() -> None:
    with pytest.raises(InputError, match="must be above 0, got -1"):
        MultivariateStudentT.fit(X, degrees_of_freedom=-1)
