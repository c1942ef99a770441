"""Networks as densities: laws that add up to one, tails, levels, gaps, and detection."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import ModelFileError
from novum.core.files import load, save
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.graphical import NetworkDensity


@parametrize_with_checks([NetworkDensity(n_intervals=3)], legacy=True)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


def rows(n: int = 200) -> Any:
    rng = np.random.default_rng(0)
    x = rng.normal(size=n)
    return np.c_[x, x + 0.3 * rng.normal(size=n)]


def mixed(n: int = 200) -> Any:
    rng = np.random.default_rng(1)
    x = rng.normal(size=n)
    return pd.DataFrame({"x": x, "level": np.where(x > 0, "high", "low"), "one": "same"})


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Any) -> None:
    check(Case(NetworkDensity(n_intervals=4), rows()))


def test_the_density_integrates_to_one_and_sums_over_gaps() -> None:
    model = NetworkDensity(n_intervals=3).fit(rows())

    # The midpoint rule; cells that a cut divides are the error.
    places = (np.arange(500) + 0.5) * 24 / 500 - 12
    a, b = np.meshgrid(places, places)
    densities = np.exp(model.score_samples(np.c_[a.ravel(), b.ravel()]))
    assert densities.sum() * (24 / 500) ** 2 == pytest.approx(1.0, abs=0.02)
    (alone,) = np.exp(model.score_samples([[0.4, np.nan]]))
    grid = np.linspace(-9, 9, 20001)
    both = np.exp(model.score_samples(np.c_[np.full(20001, 0.4), grid])).sum() * (grid[1] - grid[0])
    assert both == pytest.approx(alone, rel=1e-2)


def test_levels_constants_and_new_ones() -> None:
    table = mixed()
    model = NetworkDensity().fit(table)
    usual, odd = model.score_samples(
        pd.DataFrame({"x": [1.0, 1.0], "level": ["high", "low"], "one": ["same", "same"]})
    )
    assert usual - odd > 2
    with pytest.warns(UserWarning, match="not met in training"):
        (new,) = model.score_samples(
            pd.DataFrame({"x": [1.0], "level": ["high"], "one": ["other"]})
        )
    assert new == pytest.approx(usual - np.log(201.0))
    gap = model.score_samples(pd.DataFrame({"x": [1.0], "level": [None], "one": ["same"]}))
    assert gap[0] == pytest.approx(np.logaddexp(usual, odd))
    assert (model.predict(table) == -1).mean() == pytest.approx(0.05, abs=0.01)
    constant = NetworkDensity().fit(np.ones((5, 2)))
    assert constant.network_ is None
    assert constant.score_samples([[1.0, 1.0], [1.0, 2.0]]).tolist() == [0.0, -np.log(6.0)]


def test_far_rows_are_found_and_files_kept(tmp_path: Path) -> None:
    model = NetworkDensity().fit(rows())
    near, far, further = model.score_samples([[0.0, 0.0], [0.0, 9.0], [0.0, 90.0]])
    assert near > far > further
    save(model, tmp_path / "model.novum")
    assert (
        load(tmp_path / "model.novum").score_samples(rows()).tolist()
        == model.score_samples(rows()).tolist()
    )
    model.excess_ = model.excess_[:1]
    save(model, tmp_path / "model.novum")
    with pytest.raises(ModelFileError, match="do not fit"):
        load(tmp_path / "model.novum")
