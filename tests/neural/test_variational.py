"""Variational autoencoders: bounds against known likelihoods, draws, completion, collapse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case
from novum.core.learners.contracts import (
    check_certificate,
    check_files_keep_predictions,
    check_same_fit_same_bits,
    check_threads_agree,
)
from novum.decomposition import ProbabilisticPCA
from novum.neural import Activation, Convolution, Stack, VariationalAutoencoder
from novum.neural.variational import _Latent
from tests.neural.tables import line, mixed_table

torch = pytest.importorskip("torch")


class OnAllRows(VariationalAutoencoder):
    """Trained on and judged by the same rows."""

    def _parts(self, n: int, rng: Any) -> Any:
        del rng
        return [np.arange(n)] * 3


def quick(**settings: Any) -> VariationalAutoencoder:
    return VariationalAutoencoder(
        **{"latent": 1, "hidden": (8,), "random_state": 0, "max_iter": 500} | settings
    )


@pytest.mark.filterwarnings("ignore::novum.core.learners.FewRowsWarning")
@parametrize_with_checks([quick(hidden=(3,), patience=1)], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check",
    [
        check_certificate,
        check_same_fit_same_bits,
        check_files_keep_predictions,
        check_threads_agree,
    ],
)
def test_contract(check: Any) -> None:
    check(Case(quick(), line()))


def test_densities_and_divergences_by_hand() -> None:
    X = line(60) * [10.0, 1.0, 0.1] + 5.0
    model = quick(hidden=(), activation="linear").fit(X)
    E, e, W, b = model.weights_[:4]
    Z = (X - model.coding_.mean) / model.coding_.scale
    both = Z @ E.T + e
    mean, log_variance = both[:, :1], both[:, 1:]
    kl = 0.5 * (np.exp(log_variance) + mean**2 - 1 - log_variance).sum(axis=1)
    total = np.zeros(60)
    spread = np.sqrt(model.noise_variance_) * model.coding_.scale
    for draw in model.draws_:
        code = mean + np.exp(0.5 * log_variance) * draw
        center = (code @ W.T + b) * model.coding_.scale + model.coding_.mean
        total += norm.logpdf(X, center, spread).sum(axis=1) / len(model.draws_)
    np.testing.assert_allclose(model.score_samples(X), total - kl, rtol=1e-10)
    # Bernoulli columns are columns of two levels.
    table = mixed_table(100)
    model = quick().fit(table)
    rows = model._rows(table[:3]).to("cpu", torch.float64)
    with torch.no_grad():
        latent = _Latent(model.network_, model.coding_, model._tensors())
        outputs = latent.outputs(latent.posterior(rows)[0])
        costs = latent.costs(outputs, rows).numpy()
    for i, sign in enumerate(table["sign"][:3]):
        chance = 1 / (1 + np.exp(float(outputs[i, 2] - outputs[i, 3])))
        known = chance if sign == "plus" else 1 - chance
        assert costs[i, 2] == pytest.approx(-np.log(known), rel=1e-10)


def test_the_bound_stays_below_the_likelihood_and_reaches_it() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(150, 2)) @ rng.normal(size=(2, 5)) + 0.5 * rng.normal(size=(150, 5))
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    model = OnAllRows(
        2, hidden=(), activation="linear", noise_variance="shared", tol=0.0, patience=20,
        max_iter=1500, batch_size=150, learning_rate=0.03, random_state=0,
    ).fit(X)  # fmt: skip
    W, b = model.weights_[2], model.weights_[3]
    own = multivariate_normal(b, W @ W.T + model.noise_variance_[0] * np.eye(5)).logpdf(X)
    bound = model.score_samples(X)
    assert (bound <= own + 1e-9).all()
    best = ProbabilisticPCA(2).fit(X).log_likelihood_ / len(X)
    assert bound.mean() <= own.mean() <= best + 1e-9
    assert best - bound.mean() < 0.03
    tighter = model.importance_bound(X, 200)
    assert bound.mean() < tighter.mean() <= own.mean() + 0.01
    details = model.certificate_.details
    assert 0 <= details["gap_at_least"] < 0.2
    assert details["bound"] == pytest.approx(bound.mean(), abs=0.2)


def test_bounds_of_present_cells_have_the_law_of_these_cells() -> None:
    X = line(300)
    model = quick(hidden=(), activation="linear", tol=1e-4, max_iter=2000).fit(X)
    W, b = model.weights_[2], model.weights_[3]
    scale, mean = model.coding_.scale, model.coding_.mean
    covariance = (W @ W.T + np.diag(model.noise_variance_)) * np.outer(scale, scale)
    rows = X[:20].copy()
    rows[:, 1] = np.nan
    known = multivariate_normal((b * scale + mean)[[0, 2]], covariance[np.ix_([0, 2], [0, 2])])
    known = known.logpdf(rows[:, [0, 2]])
    assert (model.score_samples(rows) <= known + 1e-9).all()
    # Gaps that training did not have are closed by what is expected in them.
    assert known.mean() - model.score_samples(rows).mean() < 1.0
    np.testing.assert_allclose(model.complete(rows)[:, 1], X[:20, 1], atol=0.4)


def test_a_dimension_that_says_nothing_is_told() -> None:
    model = quick(latent=3, tol=1e-3).fit(line(300))
    assert model.certificate_.details["collapsed_dimensions"] == tuple(model.collapsed_.tolist())
    assert len(model.collapsed_) == 2
    assert (model.divergences_[model.collapsed_] < 0.01).all()
    assert model.divergences_.max() > 0.5


def test_draws_completion_and_encoding() -> None:
    table = mixed_table(400)
    model = quick(hidden=(16,), tol=1e-3).fit(table)
    drawn = model.sample(500, random_state=1)
    assert drawn.shape == (500, 4)
    x, y = drawn[:, 0].astype(float), drawn[:, 1].astype(float)
    assert abs(x.mean()) < 0.2
    assert 0.8 < x.std() < 1.2
    assert np.corrcoef(x, y)[0, 1] > 0.8
    assert ((x > 0) == (drawn[:, 2] == "plus")).mean() > 0.8
    full = model.complete(table)
    assert full[3, 2] == ("plus" if table["x"][3] > 0 else "minus")
    np.testing.assert_allclose(full[5:9, 1].astype(float), 2 * table["x"][5:9], atol=0.6)
    present = table["y"].notna()
    assert full[present, 1].astype(float).tolist() == table["y"][present].tolist()
    codes = model.encode(table)[:, 0]
    assert abs(np.corrcoef(codes, table["x"])[0, 1]) > 0.95
    odd = table[20:21].assign(y=30.0)
    assert model.predict(odd).tolist() == [-1]
    assert model.explain(odd)[0].cells[0].column == "y"
    with pytest.raises(InputError, match="n_samples"):
        model.sample(0)


def test_traversals_are_drawn() -> None:
    table = mixed_table(200)
    model = quick(tol=1e-3).fit(table)
    along = model.traverse(0, steps=5)
    assert along.table.shape == (5, 4)
    slope = np.diff(along.table[:, 1].astype(float))
    assert (slope > 0).all() or (slope < 0).all()
    svg = along.chart().as_svg("t")
    assert "sign = " in svg or "size = " in svg
    with pytest.raises(InputError, match="dimension is 0 to 0"):
        model.traverse(1)
    rng = np.random.default_rng(0)
    images = rng.normal(size=(60, 1, 1)) * np.ones((60, 4, 4)) + 0.1 * rng.normal(size=(60, 4, 4))
    stack = Stack((1, 4, 4), (Convolution(2, 3, 2, 1), Activation("relu")))
    pictured = VariationalAutoencoder(1, layers=stack, random_state=0).fit(images)
    assert pictured.traverse(0, steps=3).picture().as_svg().count("<rect") > 10


def test_wrong_files_are_refused(tmp_path: Path) -> None:
    model = quick().fit(line())
    model.draws_ = np.ones((4, 2))
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="another code"):
        load(tmp_path / "model.novum")
