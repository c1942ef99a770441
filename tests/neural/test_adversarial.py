"""Adversarial networks: losses by hand, a Gaussian that passes its test, collapse and balance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, kstest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case
from novum.core.learners.contracts import (
    check_certificate,
    check_files_keep_predictions,
    check_same_fit_same_bits,
)
from novum.neural import (
    Activation,
    Convolution,
    EnergyTest,
    GenerativeAdversarialNetwork,
    GeneratorReport,
    Stack,
    energy_test,
)
from novum.neural.training import Adam
from tests.neural.tables import line, mixed_table

torch = pytest.importorskip("torch")


def quick(**settings: Any) -> GenerativeAdversarialNetwork:
    return GenerativeAdversarialNetwork(
        **{"latent": 1, "hidden": (4,), "random_state": 0, "patience": 5, "max_iter": 300}
        | settings
    )


@pytest.mark.filterwarnings("ignore::novum.core.learners.FewRowsWarning")
@parametrize_with_checks([quick(patience=1)], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize(
    "check", [check_certificate, check_same_fit_same_bits, check_files_keep_predictions]
)
def test_contract(check: Any) -> None:
    check(Case(quick(patience=2), line()))


@pytest.mark.parametrize("objective", ["minimax", "non_saturating"])
def test_losses_and_gradients_equal_those_by_hand(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Generator a z + b and discriminator c x + d, both affine, in the first step."""
    seen: list[tuple[float, list[Any], list[Any]]] = []
    whole = Adam.step

    def watched(self: Adam, loss: Any, rate: float) -> None:
        gradients = torch.autograd.grad(loss, self.views, retain_graph=True)
        weights = [float(view.detach()) for view in self.views]
        seen.append((float(loss.detach()), weights, [float(g) for g in gradients]))
        whole(self, loss, rate)

    monkeypatch.setattr(Adam, "step", watched)
    X = np.random.default_rng(0).normal(size=(60, 1))
    model = quick(hidden=(), batch_size=64, objective=objective)
    drawn: list[Any] = []
    made = GenerativeAdversarialNetwork._drawn

    def keeping(self: Any, codes: Any, weights: Any, coding: Any) -> Any:
        drawn.append(codes.numpy()[:, 0])
        return made(self, codes, weights, coding)

    monkeypatch.setattr(GenerativeAdversarialNetwork, "_drawn", keeping)
    real: list[Any] = []
    judged = GenerativeAdversarialNetwork._judged

    def looking(self: Any, rows: Any, weights: Any, coding: Any) -> Any:
        real.append(rows.numbers.numpy()[:, 0])
        return judged(self, rows, weights, coding)

    monkeypatch.setattr(GenerativeAdversarialNetwork, "_judged", looking)
    model.fit(X)
    (loss, (c, d), (dc, dd)), (own, (a, b), (da, db)) = seen[:2]
    x, z = real[0], drawn[0]
    sigmoid = lambda t: 1 / (1 + np.exp(-t))  # noqa: E731
    fake = a * z + b
    real_chance, fake_chance = sigmoid(c * x + d), sigmoid(c * fake + d)
    value = np.log(real_chance).mean() + np.log(1 - fake_chance).mean()
    # The log-odds have the slope c everywhere, which costs 0.1 c^2 / 2.
    assert loss == pytest.approx(-value + 0.05 * c**2, rel=1e-12)
    slope_c = ((1 - real_chance) * x).mean() - (fake_chance * fake).mean()
    slope_d = (1 - real_chance).mean() - fake_chance.mean()
    step_c, step_d = slope_c - 0.1 * c, slope_d
    np.testing.assert_allclose([dc, dd], [-step_c, -step_d], rtol=1e-10)
    # The discriminator has made its step, of known length, before the generator learns.
    new_c, new_d = c + 1e-3 * np.sign(step_c), d + 1e-3 * np.sign(step_d)
    z = drawn[1]
    chance = sigmoid(new_c * (a * z + b) + new_d)
    if objective == "minimax":
        assert own == pytest.approx(np.log(1 - chance).mean(), rel=1e-6)
        known = [(-chance * new_c * z).mean(), (-chance * new_c).mean()]
    else:
        assert own == pytest.approx(-np.log(chance).mean(), rel=1e-6)
        known = [-((1 - chance) * new_c * z).mean(), -((1 - chance) * new_c).mean()]
    np.testing.assert_allclose([da, db], known, rtol=1e-5)


def rejections(n_seeds: int, n_rows: int, patience: int, level: float = 0.05) -> int:
    """How many generators of a normal law a test at the level tells from it, by fresh rows."""
    found = 0
    for seed in range(n_seeds):
        rng = np.random.default_rng(seed)
        X = rng.normal(3.0, 2.0, size=(n_rows, 1))
        model = GenerativeAdversarialNetwork(random_state=seed, patience=patience).fit(X)
        drawn = model.sample(200, random_state=seed)[:, 0]
        found += kstest(drawn, "norm", args=(3.0, 2.0)).pvalue < level
    return found


def test_drawn_rows_of_a_gaussian_pass_a_test() -> None:
    """Of two exact generators, both would be rejected in one of 400."""
    assert rejections(2, 1000, patience=10) <= 1


@pytest.mark.slow
def test_drawn_rows_of_a_gaussian_pass_a_test_at_its_level() -> None:
    """Of exact generators, twenty would have more rejections in less than one of 1000."""
    assert rejections(20, 2000, patience=20) <= binom.ppf(0.999, 20, 0.05)


def test_distances_to_other_rows_and_the_report() -> None:
    X = np.random.default_rng(0).normal(3.0, 2.0, size=(1000, 1))
    model = quick(hidden=(8,), patience=10).fit(X)
    fresh = np.random.default_rng(100).normal(3.0, 2.0, size=(200, 1))
    assert model.distance_to(fresh + 2).p_value < 0.01
    assert model.distance_to(fresh).distance < model.distance_to(fresh + 2).distance
    assert not model.report_.has_collapsed
    assert "in balance" in model.report_.sentence
    assert model.certificate_.details["p_value"] == model.report_.test.p_value


def test_gaps_are_compared_as_gaps() -> None:
    """A generator that is right passes on rows with gaps; zeros in their place would betray it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2)) + 5.0
    model = quick(hidden=(), latent=2).fit(np.where(rng.random(X.shape) < 0.4, np.nan, X))
    # The law of the rows in standard units, from the hand of the test.
    scale = model.coding_.scale
    model.weights_[0] = np.diag(1.0 / scale)
    model.weights_[1] = (5.0 - model.coding_.mean) / scale
    values = []
    for seed in range(40):
        fresh = np.random.default_rng(1 + seed).normal(size=(60, 2)) + 5.0
        gaps = np.random.default_rng(100 + seed).random(fresh.shape) < 0.4
        rows = np.where(gaps, np.nan, fresh)
        values.append(model.distance_to(rows, random_state=seed).p_value)
    assert np.sum(np.array(values) < 0.05) <= binom.ppf(0.999, 40, 0.05)
    # A missing cell is not the mean of its column: rows of means are told apart.
    middle = np.where(gaps, 5.0, fresh)
    assert model.distance_to(middle).p_value < 0.01
    # The report sees the gaps too, and the spread is that of the cells that are there.
    report = model._reported(model._rows(rows))
    assert report.test.p_value > 0.01
    assert 0.8 < report.spread < 1.25


def test_the_energy_distance_is_its_definition() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(7, 2)), rng.normal(size=(5, 2))

    def mean(a: Any, b: Any) -> float:
        return float(np.mean([[np.linalg.norm(u - v) for v in b] for u in a]))

    known = 2 * mean(x, y) - mean(x, x) - mean(y, y)
    assert energy_test(x, y).distance == pytest.approx(known, rel=1e-12)
    # The test has its level: p-values of equal laws are uniform.
    values = [
        energy_test(rng.normal(size=(8, 1)), rng.normal(size=(8, 1)), 19, seed).p_value
        for seed in range(400)
    ]
    for level in (0.1, 0.5):
        # Five standard errors of a share of 400.
        assert abs(np.mean(np.array(values) <= level + 1e-9) - level) < 0.125
    with pytest.raises(InputError, match="same columns"):
        energy_test(x, y[:, :1])


def test_mixed_tables_images_and_missing_cells(tmp_path: Path) -> None:
    table = mixed_table(200)
    model = quick(hidden=(8,)).fit(table)
    drawn = model.sample(50, random_state=0)
    assert drawn.shape == (50, 4)
    assert set(drawn[:, 2]) <= {"plus", "minus"}
    assert set(drawn[:, 3]) <= {"small", "medium", "large"}
    save(model, tmp_path / "model.novum")
    again = load(tmp_path / "model.novum")
    assert again.report_ == model.report_
    assert (again.sample(5, random_state=1) == model.sample(5, random_state=1)).all()
    model.weights_ = model.weights_[:-1]
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="another network"):
        load(tmp_path / "model.novum")
    images = np.random.default_rng(0).normal(size=(60, 4, 4))
    stack = Stack((1, 4, 4), (Convolution(2, 3, 2, 1), Activation("relu")))
    pictured = quick(layers=stack).fit(images)
    assert pictured.sample(3).shape == (3, 16)
    assert pictured.score_samples(images).shape == (60,)
    with pytest.raises(InputError, match="n_samples"):
        pictured.sample(0)


def test_collapse_and_balance_are_told() -> None:
    test = EnergyTest(0.5, 0.005, 199)
    alike = GeneratorReport(test, 0.01, "x", 0.99)
    assert alike.has_collapsed
    assert "collapsed: drawn rows are 0.01 times as far apart" in alike.sentence
    assert "least in 'x'" in alike.sentence
    assert "the discriminator has won" in alike.sentence
    # A generator without a code draws one row only.
    model = quick(hidden=()).fit(line(200))
    model.weights_[0][:] = 0.0
    report = model._reported(model._rows(line(100)))
    assert report.has_collapsed
    assert report.test.p_value < 0.05


def test_the_energy_test_takes_numbers_and_refuses_gaps() -> None:
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=40), rng.normal(size=40) + 3
    assert energy_test(x, y) == energy_test(x[:, np.newaxis], y[:, np.newaxis])
    assert energy_test(x, y).p_value == 0.005
    with pytest.raises(InputError, match="finite"):
        energy_test(x, np.where(y > 3, np.nan, y))
