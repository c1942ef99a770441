"""The number of groups: known answers, one group, mixed tables, trees, what is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from novum.clustering import (
    DBSCAN,
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    choose_clusters,
)
from novum.clustering.choosing import OneModeLaw, bend, one_mode
from novum.core.errors import InputError

QUICK = {"n_references": 8, "n_subsamples": 4}


def groups(k: int, n: int = 150, p: int = 2, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    angles = 2 * np.pi * (np.arange(n) % k) / k
    X = rng.normal(size=(n, p))
    X[:, :2] += 8.0 * np.column_stack([np.cos(angles), np.sin(angles)])
    return X


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("learner", [None, AgglomerativeClustering()], ids=repr)
def test_separated_groups_are_counted(k: int, learner: Any) -> None:
    choice = choose_clusters(groups(k), learner, range(1, 8), **QUICK)
    assert choice.n_clusters == k
    assert choice.p_value < 0.01
    assert list(choice.votes.values()).count(k) >= 4
    assert len(np.unique(choice.labels)) == k
    assert choice.model.n_clusters == k
    assert choice.reason.startswith(f"{k} groups: ")


@pytest.mark.parametrize("seed", range(4))
def test_one_group_is_an_answer(seed: int) -> None:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 3)) @ rng.normal(size=(3, 3)) if seed % 2 else rng.random((150, 2))
    choice = choose_clusters(X, range=[1, 2, 3, 4], **QUICK)
    assert choice.n_clusters == 1
    assert choice.reason.startswith("One group: ")
    assert choice.model is None
    assert set(choice.labels) == {0}


CLOUDS: dict[str, Any] = {
    "exponential": lambda rng, size: rng.exponential(size=size),
    "lognormal": lambda rng, size: rng.lognormal(size=size),
    "uniform": lambda rng, size: rng.random(size),
    "normal": lambda rng, size: rng.normal(size=size) @ [[2.0, 1.0], [0.0, 0.5]],
    "t": lambda rng, size: rng.standard_t(3, size),
}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("law", ["exponential", "lognormal"])
def test_long_tails_are_no_groups(law: str, seed: int) -> None:
    X = CLOUDS[law](np.random.default_rng(seed), (90, 2))
    assert choose_clusters(X, range=range(1, 7), **QUICK).n_clusters == 1


@pytest.mark.slow
@pytest.mark.parametrize("law", CLOUDS)
def test_clouds_have_groups_as_rarely_as_the_level_says(law: str) -> None:
    counts = [
        choose_clusters(
            CLOUDS[law](np.random.default_rng(seed), (80, 2)),
            range=range(1, 7),
            n_references=15,
            n_subsamples=1,
        ).n_clusters
        for seed in range(40)
    ]
    # At the level of 5 % more than 6 of 40 happen once in 300 times.
    assert sum(k > 1 for k in counts) <= 6


def test_a_law_with_one_mode_keeps_shapes_and_fills_valleys() -> None:
    rng = np.random.default_rng(3)
    X = np.c_[rng.exponential(size=900), np.r_[rng.normal(-6, 1, 450), rng.normal(6, 1, 450)]]
    X = np.c_[X, X[:, 0] + 0.1 * rng.normal(size=900)]
    X[:5, 0] = np.nan
    drawn = OneModeLaw.of(X).draw(np.random.default_rng(0))
    assert np.array_equal(np.isnan(drawn), np.isnan(X))
    known = drawn[5:]
    # Kolmogorov's distance of 900 rows to 900 rows is beyond 0.08 once in 200 times.
    assert stats.ks_2samp(known[:, 0], X[5:, 0]).statistic < 0.08
    assert stats.spearmanr(known[:, 0], known[:, 2])[0] > 0.95
    assert (abs(X[:, 1]) < 2).mean() < 0.01
    assert (abs(known[:, 1]) < 2).mean() > 0.15
    values, below = one_mode(np.array([3.0, 3.0]))
    assert values.tolist() == [3.0]
    assert len(below) == 1
    assert len(one_mode(np.empty(0))[0]) == 0
    # A gap so narrow that its density is no double.
    _, below = one_mode(np.array([0.0, 1e-310, 1.0, 2.0]))
    assert np.all(np.diff(below) >= 0)
    np.testing.assert_allclose(below[-1], 1.0, rtol=1e-12)


def test_mixed_columns_with_missing_cells() -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame(
        {
            "a": np.r_[rng.normal(size=40), rng.normal(size=40) + 9],
            "b": ["u"] * 38 + ["v"] * 42,
            "c": np.r_[rng.normal(size=40), rng.normal(size=40) + 9],
        }
    )
    table.loc[3, "a"] = None
    choice = choose_clusters(table, KMedoids(metric="gower"), [1, 2, 3, 4], **QUICK)
    assert choice.n_clusters == 2
    assert "calinski_harabasz" not in choice.votes
    as_list = table.iloc[5:].to_numpy(object).tolist()
    again = choose_clusters(as_list, KMedoids(metric="gower"), [1, 2, 3], **QUICK)
    assert again.n_clusters == 2


def test_a_missing_cell_changes_no_choice() -> None:
    X = groups(3)
    X[4, 0] = np.nan
    choice = choose_clusters(X, range=[1, 2, 3, 4], **QUICK)
    assert choice.n_clusters == 3
    cloud = np.random.default_rng(0).normal(size=(120, 3))
    cloud[5, 1] = np.nan
    assert choose_clusters(cloud, range=[1, 2, 3], **QUICK).n_clusters == 1


def test_what_is_shown() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    choice = choose_clusters(groups(3), KMeans(n_init=2), range(1, 6), **QUICK)
    text = repr(choice)
    assert "silhouette" in text
    assert "±" in text
    assert text.endswith(choice.reason)
    assert choice.reason in choice._repr_html_().replace("&lt;", "<")
    assert choice.chart().as_svg().startswith("<svg")
    assert len(choice.plot().lines) >= 4
    row = choice.rows[2]
    assert row.k == 3
    assert sum(row.sizes) == 150
    low, high = row.silhouette[1:]
    assert low < row.silhouette[0] < high


def test_the_same_seed_gives_the_same_choice() -> None:
    first, again = (choose_clusters(groups(3), range=[1, 2, 3], **QUICK) for _ in range(2))
    assert first.rows == again.rows


def test_many_rows_are_judged_by_some_of_them() -> None:
    choice = choose_clusters(groups(3, 4000), range=[1, 2, 3, 4], n_references=3, n_subsamples=2)
    assert choice.n_clusters == 3
    assert len(choice.labels) == 4000
    assert sum(choice.rows[0].sizes) == 3000


def test_bends() -> None:
    assert bend([1, 2, 3, 4, 5], [100.0, 60.0, 20.0, 15.0, 12.0]) == 3
    assert bend([1, 2], [2.0, 1.0]) is None
    assert bend([1, 2, 3], [1.0, 1.0, 1.0]) is None
    assert bend([1, 2, 3], [9.0, 9.0, 1.0]) is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda X: choose_clusters(
                np.where(np.arange(30)[:, None] % 2 == [0, 1], X, np.nan),
                KMedoids(metric="nan_euclidean"),
            ),
            "Some rows are infinitely far apart",
        ),
        (lambda X: choose_clusters(X, DBSCAN()), "DBSCAN has no parameter n_clusters"),
        (lambda X: choose_clusters(X, range=[0, 1]), "at least 1"),
        (lambda X: choose_clusters(X[:2]), "leave no two numbers of groups"),
        (lambda X: choose_clusters(X, range=[2, 3], n_references=1), "At least 2 reference"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(groups(2, 30))
