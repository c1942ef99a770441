"""The contract of statistics: large files and lost workers, and that it notices who breaks it."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from novum.bayes import GaussianClassifier, NaiveBayes
from novum.core.learners import Case, Check
from novum.core.sums.contracts import (
    check_cluster_that_loses_a_worker,
    check_file_larger_than_memory,
    check_partial_fit,
    check_removal,
    check_statistics_leave_the_model_alone,
)
from novum.data.scaling import StandardScaler
from novum.decomposition import PCA, DiscriminantProjection
from novum.linear import LinearRegression, Ridge


def numeric() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240, 4)) * [1.0, 10.0, 0.1, 1.0] + [0.0, 100.0, 0.0, -3.0]
    return X, X @ [1.0, -0.2, 3.0, 0.0] + rng.normal(size=240)


def mixed() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "age": rng.normal(40, 10, 240),
            "city": rng.choice(["Ulm", "Bonn", "Kiel"], 240),
            "member": rng.random(240) < 0.4,
        }
    )
    return frame, frame["age"].to_numpy() * 0.1 + (frame["city"] == "Ulm") + rng.normal(size=240)


CASES = {
    "least squares, numeric": Case(LinearRegression(), *numeric()),
    "ridge, mixed": Case(Ridge(2.0), *mixed()),
    "Gaussian classes": Case(GaussianClassifier(), numeric()[0], numeric()[1] > -20),
    "naive Bayes, mixed": Case(NaiveBayes(), mixed()[0], mixed()[1] > 4),
    "principal components": Case(PCA(n_components=2), *numeric()),
    "discriminant projection": Case(DiscriminantProjection(), numeric()[0], numeric()[1] > -20),
    "scaling": Case(StandardScaler(), *numeric()),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("learner", "target"),
    [
        ("novum.linear:LinearRegression", "numbers"),
        ("novum.bayes:GaussianClassifier", "classes"),
        ("novum.bayes:NaiveBayes", "classes"),
        ("novum.decomposition:DiscriminantProjection", "classes"),
        ("novum.data.scaling:StandardScaler", "numbers"),
    ],
)
def test_a_file_larger_than_the_memory_limit_is_fitted(
    learner: str, target: Any, tmp_path: Path
) -> None:
    check_file_larger_than_memory(learner, tmp_path, target=target)


# One way through a cluster is every statistic's: two of them are asked each time.
QUICK = ("least squares, numeric", "naive Bayes, mixed")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")  # the cluster complains about the worker that is killed
@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in CASES],
)
def test_a_cluster_that_loses_a_worker_gives_the_same_bits(name: str, client: Any) -> None:
    check_cluster_that_loses_a_worker(CASES[name], client)


@pytest.mark.parametrize("suffix", [".parquet", ".csv"])
def test_a_file_on_a_cluster_gives_the_bits_of_the_file_at_home(
    suffix: str, client: Any, tmp_path: Path
) -> None:
    frame, y = mixed()
    path = tmp_path / f"table{suffix}"
    table = frame.assign(target=y)
    if suffix == ".csv":
        table.to_csv(path, index=False)
    else:
        table.to_parquet(path, row_group_size=50)
    options: dict[str, Any] = {"target": "target", "chunk_rows": 60}
    there = LinearRegression().fit_file(path, client=client, **options)
    here = LinearRegression().fit_file(path, **options)
    assert there.coef_.tobytes() == here.coef_.tobytes()
    assert there.coef_names_ == here.coef_names_


# --- The checks can fail --------------------------------------------------------------------------


class Forgetful(LinearRegression):
    """Starts anew with every part."""

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Any:
        return self.fit(X, y, sample_weight)


class Unforgetting(LinearRegression):
    """Keeps what it should forget."""

    def forget(self, *_rows: Any) -> Any:
        return self


class Careless(LinearRegression):
    """Fits itself when asked for statistics."""

    def statistics(self, X: Any, y: Any = None, *args: Any, **kwargs: Any) -> Any:
        found = super().statistics(X, y, *args, **kwargs)
        self.seen_ = len(X)
        return found


@pytest.mark.parametrize(
    ("learner", "check"),
    [
        (Forgetful, check_partial_fit),
        (Unforgetting, check_removal),
        (Careless, check_statistics_leave_the_model_alone),
    ],
)
def test_a_broken_learner_is_noticed(learner: Any, check: Check) -> None:
    with warnings.catch_warnings(), pytest.raises(AssertionError):
        check(Case(learner(), *numeric()))
