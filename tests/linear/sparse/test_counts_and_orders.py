"""Corners for counts, amounts and ordered classes: optimal by the definition of the problem.

The oracle is SciPy's bounded quasi-Newton method on `b = u - v`, `u, v >= 0`, where the L1 penalty
is linear, with losses and gradients written out here.
"""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import optimize, special

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.linear import (
    L1,
    L2,
    AdaptiveL1,
    ElasticNetPenalty,
    GammaRegressor,
    GeneralizedLinearModel,
    Groups,
    OrdinalRegression,
    PoissonRegressor,
    TweedieRegressor,
)
from novum.linear.sparse.losses import AmountRows, CountRows, OrderedRows


def _table(seed: int = 0, n: int = 120, p: int = 8):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, p)) + 3.0
    score = (X - 3.0)[:, :3] @ [0.6, -0.5, 0.3]
    return rng, X, score, rng.integers(1, 4, n).astype(float)


def _minimized(loss, p: int, free, strength: float) -> tuple[float, np.ndarray]:
    """The least `loss(b, free) + strength |b|_1`, with the gradient by `b` and `free` given."""

    def objective(z):
        value, by_b, by_free = loss(z[:p] - z[p : 2 * p], z[2 * p :])
        gradient = np.concatenate([by_b + strength, -by_b + strength, by_free])
        return value + strength * z[: 2 * p].sum(), gradient

    bounds = [(0, None)] * (2 * p) + [(None, None)] * len(free)
    start = np.concatenate([np.zeros(2 * p), free])
    options = {"maxiter": 20_000, "maxfun": 50_000, "ftol": 1e-15, "gtol": 1e-10, "maxcor": 30}
    result = optimize.minimize(
        objective, start, jac=True, bounds=bounds, method="L-BFGS-B", options=options
    )
    return float(result.fun), result.x[:p] - result.x[p : 2 * p]


@pytest.mark.parametrize("strength", [0.01, 0.1])
@pytest.mark.parametrize("law", ["poisson", "gamma"])
def test_equals_quasi_newton(law: str, strength: float) -> None:
    rng, X, score, w = _table()
    years = rng.uniform(0.5, 2.0, len(X))
    mean = np.exp(score) * years
    y = rng.poisson(mean).astype(float) if law == "poisson" else rng.gamma(2.0, mean / 2) + 1e-9
    share, centered = w / w.sum(), X - X.mean(axis=0)

    def loss(b, free):
        m = np.exp(centered @ b + free[0]) * years
        if law == "poisson":
            value, r = share @ special.kl_div(y, m), share * (m - y)
        else:
            value, r = share @ (y / m - np.log(y / m) - 1), share * (1 - y / m)
        return value, centered.T @ r, np.array([r.sum()])

    expected, coef = _minimized(loss, X.shape[1], np.zeros(1), strength)
    model = GeneralizedLinearModel(law, penalty=L1(strength), tol=1e-10)
    model.fit(X, y, w, exposure=years)
    assert model.certificate_.value <= expected * (1 + 1e-9)
    assert model.certificate_.relative_gap <= 1e-10
    # The objective is flat at its optimum: its root is the precision of coefficients.
    np.testing.assert_allclose(model.coef_, coef, atol=2e-4)
    direct = loss(model.coef_, np.array([model.intercept_ + model.coef_ @ X.mean(axis=0)]))[0]
    assert model.certificate_.value == pytest.approx(
        direct + strength * np.abs(model.coef_).sum(), rel=1e-10
    )
    np.testing.assert_allclose(
        model.predict(X, exposure=years),
        np.exp(X @ model.coef_ + model.intercept_) * years,
        rtol=1e-12,
    )


@pytest.mark.parametrize("strength", [2.0, 10.0])
def test_ordinal_equals_quasi_newton(strength: float) -> None:
    rng, X, score, w = _table(1)
    codes = np.digitize(2 * score + rng.logistic(size=len(X)), [-1.0, 0.0, 1.5])
    names = np.array(["never", "seldom", "often", "always"])
    order = names.tolist()
    centered = X - X.mean(axis=0)

    def loss(b, free):
        # Thresholds as a first one and logarithms of widths, so that they stay in order.
        widths = np.exp(free[1:])
        theta = np.concatenate([[-np.inf], free[0] + np.cumsum(np.append(0.0, widths)), [np.inf]])
        f = centered @ b
        upper, lower = special.expit(theta[codes + 1] - f), special.expit(theta[codes] - f)
        width = upper - lower
        by_upper, by_lower = -upper * (1 - upper) / width, lower * (1 - lower) / width
        by_theta = np.bincount(codes + 1, w * by_upper, 5) + np.bincount(codes, w * by_lower, 5)
        tails = np.cumsum(by_theta[1:4][::-1])[::-1]
        by_free = np.append(tails[0], tails[1:] * widths)
        return -w @ np.log(width), centered.T @ (-w * (by_upper + by_lower)), by_free

    expected, coef = _minimized(loss, X.shape[1], np.array([-1.0, 0.0, 0.0]), strength)
    model = OrdinalRegression(classes=order, penalty=L1(strength)).fit(X, names[codes], w)
    assert model.certificate_.value <= expected * (1 + 1e-8)
    assert model.certificate_.relative_gap <= 1e-8
    np.testing.assert_allclose(model.coef_, coef, atol=2e-4)
    chances = model.predict_proba(X)[np.arange(len(X)), codes]
    own = -w @ np.log(chances) + strength * np.abs(model.coef_).sum()
    assert model.certificate_.value == pytest.approx(own, rel=1e-9)


def test_strong_penalties_leave_the_law_without_columns() -> None:
    rng, X, score, w = _table(2)
    y = rng.poisson(np.exp(score))
    model = PoissonRegressor(penalty=L1(1e3)).fit(X, y, w)
    assert not model.coef_.any()
    assert np.exp(model.intercept_) == pytest.approx(w @ y / w.sum(), rel=1e-12)
    codes = np.digitize(score, [-0.5, 0.5])
    ordinal = OrdinalRegression(penalty=L1(1e6)).fit(X, codes, w)
    assert not ordinal.coef_.any()
    shares = np.bincount(codes, w) / w.sum()
    np.testing.assert_allclose(ordinal.predict_proba(X[:1])[0], shares, rtol=1e-10)


def test_squares_alone_equal_alpha() -> None:
    rng, X, score, _ = _table(3)
    y, codes = rng.poisson(np.exp(score)), np.digitize(score + rng.logistic(size=len(X)), [0, 1])
    for learner, target in ((PoissonRegressor, y), (OrdinalRegression, codes)):
        by_alpha = learner(alpha=0.3).fit(X, target)
        np.testing.assert_array_equal(learner(penalty=L2(0.3)).fit(X, target).coef_, by_alpha.coef_)
        nearly = learner(penalty=ElasticNetPenalty(0.3, 1e-9), tol=1e-12).fit(X, target)
        # The penalty makes the objective strongly convex, which turns a gap into a distance.
        gap = nearly.certificate_.gap
        assert gap is not None
        reach = np.sqrt(2 * gap / 0.3) + 1e-7
        assert np.linalg.norm(nearly.coef_ - by_alpha.coef_) <= reach < 0.01


def test_groups_enter_as_a_whole() -> None:
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(4)
    color = rng.choice(["blue", "green", "red"], 400)
    noise = rng.choice(["a", "b", "c", "d"], 400)
    y = rng.poisson(np.exp(1.0 * (color == "red") + 0.5 * (color == "green")))
    model = PoissonRegressor(penalty=Groups(0.05)).fit(pl.DataFrame({"c": color, "n": noise}), y)
    assert model.coef_names_ == ("c=green", "c=red", "n=b", "n=c", "n=d")
    assert (model.coef_ != 0).tolist() == [True, True, False, False, False]


def test_adaptive_weights_come_from_a_ridge_fit() -> None:
    """The largest coefficient has the strength itself, another `|largest| / |own|` times it."""
    rng, X, score, _ = _table(5, n=400)
    y = rng.poisson(np.exp(score))
    first = GeneralizedLinearModel("poisson", alpha=1e-3, tol=1e-12).fit(X, y)
    ratio = np.abs(first.coef_).max() / np.abs(first.coef_)
    model = PoissonRegressor(penalty=AdaptiveL1(0.05), tol=1e-12).fit(X, y)
    # Where the slope of the loss is smaller than the strength, coefficients are zero; else equal.
    residual = y - model.predict(X)
    slope = (X - X.mean(axis=0)).T @ residual / len(X)
    active = model.coef_ != 0
    assert active[:3].all()
    assert not active.all()
    np.testing.assert_allclose(
        slope[active], 0.05 * ratio[active] * np.sign(model.coef_[active]), rtol=1e-4
    )
    assert (np.abs(slope[~active]) <= 0.05 * ratio[~active]).all()


def test_sparse_rows_and_weights_are_repetitions() -> None:
    sparse = pytest.importorskip("scipy.sparse")
    rng = np.random.default_rng(6)
    X = sparse.random(150, 60, 0.1, random_state=0, format="csr")
    w = rng.integers(0, 3, 150)
    y, codes = rng.poisson(1.0, 150), rng.integers(0, 3, 150)
    often = np.repeat(np.arange(150), w)
    for model, target in (
        (PoissonRegressor(penalty=L1(0.003)), y),
        (OrdinalRegression(penalty=L1(0.5)), codes),
    ):
        a = model.fit(X, target, w).coef_
        assert 0 < np.count_nonzero(a) < 60
        np.testing.assert_allclose(model.fit(X[often], target[often]).coef_, a, atol=1e-5)
        np.testing.assert_allclose(model.fit(X.toarray(), target, w).coef_, a, atol=1e-5)


@given(seed=st.integers(0, 10_000), scale=st.floats(0.0, 1.0), size=st.sampled_from([0.1, 1, 20]))
def test_bounds_are_below(seed: int, scale: float, size: float) -> None:
    """By Fenchel: for residuals `r`, `-phi*(-s r) <= phi(f) + s r f` at every `f`."""
    rng = np.random.default_rng(seed)
    y, w = rng.gamma(1.0, 2.0, 6) + 1e-6, rng.uniform(0.1, 3.0, 6)
    F, other = size * rng.normal(size=(2, 6, 1))
    offset = rng.normal(size=6)
    ordered = OrderedRows(np.array([0, 1, 2, 2, 1, 0]), w, np.sort(rng.normal(size=2)))
    for loss in (
        CountRows(np.floor(y), w, offset),
        AmountRows(y, w, offset),
        ordered.settled(F),
    ):
        r, bound = loss.residuals(F), loss.bound(F, scale)
        slack = 1e-12 * (1.0 + abs(bound) + np.abs(r).sum() * size * 5)
        own = loss.value(F) + scale * float((r * F).sum())
        assert bound <= own + slack
        elsewhere = loss.settled(other) if isinstance(loss, OrderedRows) else loss
        assert bound <= elsewhere.value(other) + scale * float((r * other).sum()) + slack
        if scale == 1.0:
            assert bound == pytest.approx(own, abs=slack)


def test_files_and_refusals(tmp_path) -> None:
    rng, X, score, _ = _table(7)
    y = rng.poisson(np.exp(score))
    model = PoissonRegressor(penalty=L1(0.05)).fit(X, y)
    save(model, tmp_path / "m.novum")
    np.testing.assert_array_equal(load(tmp_path / "m.novum").predict(X), model.predict(X))
    ordinal = OrdinalRegression(penalty=L1(0.5)).fit(X, y)
    save(ordinal, tmp_path / "o.novum")
    np.testing.assert_array_equal(load(tmp_path / "o.novum").predict(X), ordinal.predict(X))
    for refused in (model, ordinal):
        with pytest.raises(InputError, match="no penalty"):
            refused.inference()
    with pytest.raises(InputError, match="law is tweedie"):
        TweedieRegressor(power=1.5, penalty=L1(1.0)).fit(X, y)
    with pytest.raises(InputError, match="the link identity"):
        GeneralizedLinearModel("poisson", link="identity", penalty=L1(1.0)).fit(X, y + 1)
    with pytest.raises(InputError, match="Every count of y is 0"):
        PoissonRegressor(penalty=L1(1.0)).fit(X, np.zeros(len(X)))
    with pytest.raises(InputError, match="logit link"):
        OrdinalRegression("probit", penalty=L1(1.0)).fit(X, y)
    with pytest.raises(InputError, match="over chunks"):
        OrdinalRegression(penalty=L1(1.0)).fit_stream([(X, y)])
    with pytest.raises(ValueError, match="out of the valid range"):
        GammaRegressor(penalty=L1(1.0)).fit(X, y)


def test_separated_orders_have_an_optimum_under_corners() -> None:
    X = np.arange(12.0)[:, np.newaxis]
    model = OrdinalRegression(penalty=L1(0.1)).fit(X, np.arange(12) // 4)
    assert np.isfinite(model.coef_).all()
    assert model.certificate_.relative_gap <= 1e-8
    assert (model.predict(X) == np.arange(12) // 4).all()
