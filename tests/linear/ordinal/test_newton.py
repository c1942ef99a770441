"""Newton's method for ordinal regression: derivatives, the proof, separation, and its ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize

from novum.core.learners import Verdict
from novum.linear.ordinal.links import LINKS
from novum.linear.ordinal.newton import (
    NewtonSums,
    OrdinalLikelihood,
    fit_ordinal,
    interval_ends,
    newton_step,
    newton_sums,
    separation,
)
from novum.linear.ordinal.rows import Coordinates, OrdinalRows
from novum.numerics import Floats

M, RANK = 3, 2


def rows_of(n: int = 60, seed: int = 0) -> OrdinalRows:
    rng = np.random.default_rng(seed)
    z = rng.normal(size=(n, RANK))
    codes = np.digitize(z @ [1.0, -1.0] + rng.logistic(size=n), [-1.0, 0.0, 1.5])
    return OrdinalRows(z, codes.astype(np.int64), rng.uniform(0.5, 2, n))


def coordinates() -> Coordinates:
    return Coordinates(
        np.zeros(RANK), np.eye(RANK), np.empty((RANK, 0)), np.eye(RANK), np.arange(M + 1)
    )


def problem(link: str = "logit", alpha: float = 0.0) -> OrdinalLikelihood:
    start = np.array([-1.0, 0.0, 1.0, 0.0, 0.0])
    return OrdinalLikelihood(LINKS[link], coordinates(), alpha, start)


PARAMS = np.array([-0.8, 0.1, 1.2, 0.7, -0.4])


@pytest.mark.parametrize("link", sorted(LINKS))
def test_value_is_the_likelihood_by_definition(link: str) -> None:
    rows, law = rows_of(), LINKS[link]
    total = 0.0
    for z, k, w in zip(*rows, strict=True):
        ends = np.concatenate([[-np.inf], PARAMS[:M], [np.inf]]) - z @ PARAMS[M:]
        total -= w * np.log(law.cdf(ends[k + 1]) - law.cdf(ends[k]))
    found = newton_sums(law, PARAMS, rows, M)
    assert found.value == pytest.approx(total, rel=1e-12)
    assert found.weight == pytest.approx(rows.weight.sum())
    assert found.reach == pytest.approx((rows.z**2).sum(axis=1).max())


@pytest.mark.parametrize("alpha", [0.0, 1.5])
@pytest.mark.parametrize("link", sorted(LINKS))
def test_derivatives_are_differences(link: str, alpha: float) -> None:
    rows, one = rows_of(), problem(link, alpha)

    def value(params: Floats) -> float:
        return one.objective(params, one.step(params, rows))

    def gradient(params: Floats) -> Floats:
        return one.derivatives(params, one.step(params, rows))[0]

    first, second = one.derivatives(PARAMS, one.step(PARAMS, rows))
    h = 1e-5
    for i, unit in enumerate(np.eye(len(PARAMS))):
        slope = (value(PARAMS + h * unit) - value(PARAMS - h * unit)) / (2 * h)
        bend = (gradient(PARAMS + h * unit) - gradient(PARAMS - h * unit)) / (2 * h)
        assert first[i] == pytest.approx(slope, rel=1e-6, abs=1e-6)
        np.testing.assert_allclose(second[i], bend, rtol=1e-5, atol=1e-5)


def test_sums_of_parts_are_those_of_all_rows() -> None:
    rows, law = rows_of(), LINKS["logit"]
    parts = [OrdinalRows(*(part[i : i + 25] for part in rows)) for i in range(0, 60, 25)]
    added: Any = newton_sums(law, PARAMS, parts[0], M)
    for part in parts[1:]:
        added = added + newton_sums(law, PARAMS, part, M)
    whole = newton_sums(law, PARAMS, rows, M)
    assert added.value == pytest.approx(whole.value, rel=1e-13)
    np.testing.assert_allclose(added.gradient, whole.gradient, rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(added.hessian, whole.hessian, rtol=1e-11, atol=1e-12)
    assert added.reach == whole.reach


def test_thresholds_out_of_order_have_an_infinite_value() -> None:
    wrong = np.array([0.5, 0.1, 1.2, 0.0, 0.0])
    assert newton_sums(LINKS["logit"], wrong, rows_of(), M).value == np.inf
    assert problem().retreat(PARAMS, wrong).tolist() == ((PARAMS + wrong) / 2).tolist()


@pytest.mark.parametrize("alpha", [0.0, 1.5])
@pytest.mark.parametrize("link", sorted(LINKS))
def test_another_optimizer_finds_the_same(link: str, alpha: float) -> None:
    rows, one = rows_of(), problem(link, alpha)
    found = fit_ordinal(one, lambda step: step(rows), 1e-10, 100)
    other = optimize.minimize(
        lambda p: one.objective(p, one.step(p, rows)), PARAMS, method="Nelder-Mead",
        options={"xatol": 1e-9, "fatol": 1e-13, "maxiter": 20_000, "maxfev": 20_000},
    )  # fmt: skip
    np.testing.assert_allclose(found.params, other.x, atol=1e-5)
    assert found.certificate.value <= other.fun + 1e-12
    assert found.certificate.verdict is Verdict.WITHIN_TOLERANCE
    assert found.certificate.residual <= 1e-10
    trace = np.array(found.certificate.trace)
    assert (np.diff(trace) <= 1e-10 * np.abs(trace[0])).all()


def test_the_bounds_hold_on_the_way() -> None:
    """At points at all distances the optimum is no further and no lower than is proved."""
    rows, proved = rows_of(400), 0
    for alpha in (0.0, 2.0):
        one = problem(alpha=alpha)
        best = fit_ordinal(one, lambda step: step(rows), 1e-12, 100)
        optimum = one.objective(best.params, best.sums)
        rng = np.random.default_rng(0)
        for size in np.geomspace(1e-6, 0.3, 60):
            point = best.params + size * rng.normal(size=5) / np.sqrt(5)
            sums = one.step(point, rows)
            known = one.distance(point, sums)
            if known is None:
                continue
            proved += 1
            move = best.params - point
            away = np.sqrt(move @ one.derivatives(point, sums)[1] @ move)
            assert away <= known[1] * (1 + 1e-9)
            bound = one.bound(point, sums)
            assert bound is not None
            assert bound <= optimum + 1e-10
    assert proved > 40


def test_only_the_logit_link_has_a_proof() -> None:
    one, rows = problem("probit"), rows_of()
    assert one.distance(PARAMS, one.step(PARAMS, rows)) is None
    assert one.bound(PARAMS, one.step(PARAMS, rows)) is None


def test_steps_stay_finite_where_the_hessian_has_no_digits() -> None:
    gradient = np.array([1.0, -2.0])
    plain = newton_step(gradient, np.diag([2.0, 4.0]))
    np.testing.assert_allclose(plain, [-0.5, 0.5])
    flat = newton_step(gradient, np.diag([1.0, 0.0]))
    assert np.isfinite(flat).all()
    assert flat @ gradient < 0
    assert np.isfinite(newton_step(gradient, np.full((2, 2), np.nan))).all()


# --- Separation -----------------------------------------------------------------------------------


def test_directions_are_judged_by_all_rows() -> None:
    z = np.array([[-2.0, 0.0], [-1.0, 1.0], [1.0, 0.0], [2.0, 1.0]])
    rows = OrdinalRows(z, np.array([0, 0, 1, 1]), np.ones(4))
    good = separation(np.array([0.0, 1.0, 0.0]), lambda step: step(rows), 1)
    assert good is not None
    assert good.complete
    np.testing.assert_allclose(good.direction, [0.0, 0.5, 0.0])
    assert separation(np.array([0.0, 0.0, 1.0]), lambda step: step(rows), 1) is None
    touching = OrdinalRows(np.vstack([z, [[0.0, 0.0]]]), np.append(rows.codes, 1), np.ones(5))
    part = separation(np.array([0.0, 1.0, 0.0]), lambda step: step(touching), 1)
    assert part is not None
    assert not part.complete
    assert separation(np.zeros(3), lambda step: step(rows), 1) is None


def test_separated_rows_end_without_an_optimum() -> None:
    z = (
        np.linspace(-2, 2, 12)[:, np.newaxis] * [1.0, 0.0]
        + [0.0, 1.0] * np.sin(np.arange(12))[:, np.newaxis]
    )
    rows = OrdinalRows(z, np.repeat(np.arange(4), 3), np.ones(12))
    found = fit_ordinal(problem(), lambda step: step(rows), 1e-10, 100)
    assert found.certificate.verdict is Verdict.UNBOUNDED
    assert found.separated is not None
    upper, lower = interval_ends(found.separated.direction, rows, M)
    assert upper.min() >= -1e-6
    assert lower.max() <= 1e-6
    penalized = fit_ordinal(problem(alpha=0.1), lambda step: step(rows), 1e-10, 100)
    assert penalized.separated is None
    assert penalized.certificate.converged


def test_a_limit_of_steps_is_kept() -> None:
    rows = rows_of()
    found = fit_ordinal(problem(), lambda step: step(rows), 1e-10, 1)
    assert found.certificate.verdict is Verdict.STOPPED_EARLY
    assert found.certificate.iterations == 1
    loose = fit_ordinal(problem(), lambda step: step(rows), 1e-3, 100)
    assert loose.certificate.converged
    assert isinstance(loose.sums, NewtonSums)
