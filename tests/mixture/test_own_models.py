"""EM for a model of one's own: agreement with the library's models, mistakes, weights, threads."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from novum.core.errors import InputError
from novum.core.sums import ObjectiveFallError
from novum.mixture import GaussianMixture, LatentModel, expectation_maximization


class TwoNormals(LatentModel):
    """Two normal laws of one number, written as in a lecture."""

    def start(self, X: Any, rng: Any) -> Any:
        return {"w": 0.5, "m": rng.choice(X, 2, replace=False), "v": np.full(2, X.var())}

    def expectation(self, p: Any, X: Any, weight: Any) -> Any:
        shares = np.array([1 - p["w"], p["w"]])
        joint = shares * stats.norm.pdf(X[:, None], p["m"], np.sqrt(p["v"]))
        R = weight[:, None] * joint / joint.sum(axis=1, keepdims=True)
        sums = R.sum(axis=0), R.T @ X, R.T @ X**2
        return float(weight @ np.log(joint.sum(axis=1))), sums

    def maximization(self, p: Any, sums: Any) -> Any:  # noqa: ARG002
        N, first, second = sums
        mean = first / N
        return {"w": N[1] / N.sum(), "m": mean, "v": second / N - mean**2}


class Accelerated(TwoNormals):
    def to_vector(self, p: Any) -> Any:
        return np.r_[np.log(p["w"] / (1 - p["w"])), p["m"], np.log(p["v"])]

    def from_vector(self, v: Any) -> Any:
        return {"w": 1 / (1 + np.exp(-v[0])), "m": v[1:3], "v": np.exp(v[3:])}


class Wrong(TwoNormals):
    def maximization(self, p: Any, sums: Any) -> Any:
        return {**super().maximization(p, sums), "m": p["m"] + 1.0}


def numbers(n: int = 300) -> Any:
    rng = np.random.default_rng(0)
    return np.where(rng.random(n) < 0.3, rng.normal(0, 1, n), rng.normal(3, 1.5, n))


def test_two_normals_are_a_gaussian_mixture() -> None:
    x = numbers()
    fit = expectation_maximization(TwoNormals(), x, tol=1e-13, max_iter=9999, random_state=0)
    ours = GaussianMixture(2, tol=1e-13, reg_covar=0.0, random_state=0, n_init=3).fit(x[:, None])
    assert fit.log_likelihood == pytest.approx(ours.log_likelihood_, rel=1e-9)
    np.testing.assert_allclose(np.sort(fit.params["m"]), np.sort(ours.means_[:, 0]), atol=1e-3)
    assert (np.diff(fit.certificate.trace) >= -1e-9).all()


def test_extrapolation_takes_fewer_passes_to_the_same_place() -> None:
    options: dict[str, Any] = {"tol": 1e-12, "max_iter": 9999, "random_state": 0}
    plain = expectation_maximization(TwoNormals(), numbers(), **options)
    quick = expectation_maximization(Accelerated(), numbers(), **options)
    assert quick.log_likelihood >= plain.log_likelihood - 1e-6
    passes = [f.certificate.details["evaluations"] for f in (quick, plain)]
    assert passes[0] < passes[1] / 2


def test_a_mistake_is_reported_as_one() -> None:
    with pytest.raises(
        ObjectiveFallError, match="which this method cannot do: update or objective of Wrong"
    ):
        expectation_maximization(Wrong(), numbers(), random_state=0)


def test_weights_chunks_threads_and_containers() -> None:
    x = numbers(60)
    counts = np.arange(60) % 3
    options: dict[str, Any] = {"tol": 1e-10, "max_iter": 9999, "random_state": 0, "n_init": 2}

    class Fixed(TwoNormals):
        def start(self, X: Any, rng: Any) -> Any:  # noqa: ARG002
            return {"w": 0.5, "m": np.array([0.0, 3.0]), "v": np.ones(2)}

    weighted = expectation_maximization(Fixed(), x, sample_weight=counts, **options)
    repeated = expectation_maximization(Fixed(), np.repeat(x, counts), **options)
    assert weighted.log_likelihood == pytest.approx(repeated.log_likelihood, rel=1e-10)
    parts = [
        expectation_maximization(Fixed(), x, chunk_rows=7, n_jobs=j, **options) for j in (1, 2)
    ]
    assert parts[0].log_likelihood == parts[1].log_likelihood
    whole = expectation_maximization(Fixed(), x, **options)
    assert parts[0].log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-10)

    class OfFrames(Fixed):
        def expectation(self, p: Any, X: Any, weight: Any) -> Any:
            cells = X["x"].to_numpy() if isinstance(X, pd.DataFrame) else np.array(X)
            return super().expectation(p, cells, weight)

    for rows in (pd.DataFrame({"x": x}), x.tolist()):
        fit = expectation_maximization(OfFrames(), rows, **options)
        assert fit.log_likelihood == pytest.approx(whole.log_likelihood, rel=1e-12)


def test_refusals() -> None:
    class Pairless(TwoNormals):
        def expectation(self, p: Any, X: Any, weight: Any) -> Any:
            return super().expectation(p, X, weight)[0]

    class ByRow(TwoNormals):
        def expectation(self, p: Any, X: Any, weight: Any) -> Any:
            return weight, super().expectation(p, X, weight)[1]

    with pytest.raises(InputError, match="returns a pair"):
        expectation_maximization(Pairless(), numbers())
    with pytest.raises(InputError, match="is one number, got an array of shape"):
        expectation_maximization(ByRow(), numbers())
    with pytest.raises(InputError, match="nothing to learn from"):
        expectation_maximization(TwoNormals(), numbers(3), sample_weight=[0, 0, 0])
    with pytest.raises(InputError, match="no rows to learn from"):
        expectation_maximization(TwoNormals(), [])
