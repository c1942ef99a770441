"""DensityDetector: offsets and rates by definition, coverage of the interval, categories, files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import NaiveBayes
from novum.core import load, save
from novum.core.errors import InputError
from novum.core.learners.contracts import Case, check_name, estimator_checks
from novum.distributions import Poisson
from novum.evaluation import compare_detectors
from novum.mixture import DensityDetector, GaussianMixture, MixedMixture, Mixture
from novum.neighbors import NeighborDistance


def rows(n: int = 200, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, 2)) + 8.0 * (np.arange(n) % 2)[:, None]


@pytest.mark.filterwarnings("ignore::novum.core.learners.certificate.ConvergenceWarning")
@parametrize_with_checks([DensityDetector(GaussianMixture(1))])
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    model = DensityDetector(GaussianMixture(2, random_state=0), random_state=0)
    check(Case(model, rows(80)))


def test_scores_offset_and_rate_by_definition() -> None:
    X = rows()
    model = DensityDetector(GaussianMixture(2, random_state=0), random_state=1).fit(X)
    np.testing.assert_array_equal(model.score_samples(X), model.density_.score_samples(X))
    below = model.training_scores_ < model.offset_
    assert below.sum() == 10 == round(model.false_alarm_rate_ * 200)
    # A row is scored by a density that has not seen it: further away than by one that has.
    far = np.vstack([X, [[40.0, 0.0]]])
    alone = DensityDetector(GaussianMixture(2, random_state=0), random_state=1).fit(far)
    assert alone.training_scores_[-1] < alone.score_samples(far[-1:])[0]
    assert model.predict([[4.0, 4.0], [0.0, 0.0]]).tolist() == [-1, 1]


@pytest.mark.slow
def test_the_interval_holds_the_rate_of_new_rows() -> None:
    inside = 0
    for seed in range(20):
        model = DensityDetector(GaussianMixture(2, random_state=0), random_state=0)
        model.fit(rows(150, seed))
        low, high = model.false_alarm_interval_
        rate = np.mean(model.predict(rows(4000, 100 + seed)) == -1)
        inside += low <= rate <= high
    # Held with 95 % confidence: fewer than 15 of 20 in less than one of 1000 runs.
    assert inside >= 15


def test_the_number_of_components_is_chosen_once() -> None:
    model = DensityDetector(random_state=0).fit(rows(120))
    assert model.density_.n_components_ == 2
    assert model.predict([[4.0, 4.0]]).tolist() == [-1]


def test_tables_of_any_columns_and_other_detectors(tmp_path: Path) -> None:
    frame = pd.DataFrame(rows(120), columns=["a", "b"])
    frame["kind"] = np.where(np.arange(120) % 2, "x", "y")
    frame.loc[5, "kind"] = "rare"
    frame.loc[::9, "a"] = np.nan
    model = DensityDetector(MixedMixture(2, random_state=0), random_state=0).fit(frame)
    assert model.training_scores_.argmin() == 5
    save(model, tmp_path / "m.novum")
    again = load(tmp_path / "m.novum")
    np.testing.assert_array_equal(again.decision_function(frame), model.decision_function(frame))
    X = np.vstack([rows(100), [[4.0, 4.0]]])
    detectors = {"mixture": DensityDetector(GaussianMixture(2)), "near": NeighborDistance()}
    assert compare_detectors(X, detectors=detectors).most_unusual[0] == 100


def test_counts_and_refusals() -> None:
    X = np.random.default_rng(0).poisson(3.0, (60, 2)).astype(float)
    model = DensityDetector(Mixture(Poisson), random_state=0).fit(X)
    assert model.predict([[3.0, 3.0], [30.0, 0.0]]).tolist() == [1, -1]
    with pytest.raises(InputError, match="at least 3 rows, got"):
        DensityDetector(GaussianMixture(1)).fit([[1.0]])
    with pytest.raises(InputError, match="one row alone has no density"):
        DensityDetector().fit([[1.0], [2.0]])
    with pytest.raises(InputError, match="estimator with `score_samples`"):
        DensityDetector(NaiveBayes()).fit(X)
