"""The number of groups: known answers, one group, mixed tables, trees, what is shown."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.clustering import (
    DBSCAN,
    AgglomerativeClustering,
    KMeans,
    KMedoids,
    choose_clusters,
)
from novum.clustering.choosing import bend
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
        (lambda X: choose_clusters(X, DBSCAN()), "DBSCAN has no parameter n_clusters"),
        (lambda X: choose_clusters(X, range=[0, 1]), "at least 1"),
        (lambda X: choose_clusters(X[:2]), "leave no two numbers of groups"),
        (lambda X: choose_clusters(X, range=[2, 3], n_references=1), "At least 2 reference"),
    ],
)
def test_bad_input(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call(groups(2, 30))
