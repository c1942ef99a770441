"""The bench of detectors: ranks by definition, who sees what, labels, and what is refused."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError
from novum.evaluation import compare_detectors, default_detectors, detector_bench
from novum.neighbors import NeighborDistance
from novum.neural import has_torch
from novum.trees import IsolationForest


class Distance(BaseEstimator):
    """Novelty by the distance to the mean of the training rows; remembers what it was shown."""

    seen: list[Any] = []  # noqa: RUF012

    def __init__(self, sign: float = -1.0) -> None:
        self.sign = sign

    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        self.mean_ = X.mean(axis=0)
        Distance.seen.append(X)
        return self

    def score_samples(self, X: Any) -> Any:
        return self.sign * np.linalg.norm(X - self.mean_, axis=1)


def table(n: int = 60, novel: int = 6) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 2))
    # Far away, and far from each other.
    X[:novel] += 7.0 * np.arange(1, novel + 1)[:, np.newaxis] * np.array([[1.0, -1.0]])
    return X, np.arange(n) < novel


def test_novel_rows_lead_and_detectors_agree() -> None:
    X, _ = table()
    detectors = {
        "distance": Distance(),
        "forest": IsolationForest(random_state=0, n_estimators=30),
        "neighbors": NeighborDistance(1),
    }
    found = compare_detectors(X, detectors=detectors)
    assert set(found.most_unusual[:6].tolist()) == set(range(6))
    assert all(r.agreement.estimate > 0.3 and r.stability.estimate > 0.3 for r in found.results)
    assert all(((r.ranks >= 0) & (r.ranks <= 1)).all() for r in found.results)
    estimates = [r.agreement.estimate for r in found.results]
    assert estimates == sorted(estimates, reverse=True)
    assert found.best in repr(found)
    assert "no detector is proved right" in found.sentence
    assert found.chart().as_svg("x")
    again = compare_detectors(X, detectors={"distance": Distance()})
    assert "only detector" in again.sentence


def test_known_novel_rows_judge_and_are_not_learned_from() -> None:
    X, novel = table()
    Distance.seen.clear()
    found = compare_detectors(X, novel, detectors={"far": Distance(), "near": Distance(1.0)})
    assert [r.name for r in found.results] == ["far", "near"]
    assert found.results[0].area is not None
    assert found.results[0].area.estimate == roc_auc_score(novel, found.results[0].ranks)
    assert found.results[0].area.estimate > 0.95
    assert all((np.abs(rows) < 5.0).all() for rows in Distance.seen)
    assert "tells novel rows best" in found.sentence


def test_detection_costs_by_thresholds_of_other_folds() -> None:
    rng = np.random.default_rng(2)
    X = rng.normal(size=(80, 2))
    novel = np.arange(80) < 20
    X[novel] *= 2.5
    point = WorkingPoint.binary(prior=0.1, cost_fn=5, cost_fp=1)
    far = {"far": Distance()}
    (found,) = compare_detectors(X, novel, detectors=far, point=point, n_folds=4).results
    order = np.random.Generator(
        np.random.PCG64(np.random.SeedSequence(0, spawn_key=(0,)))
    ).permutation(np.arange(80) % 4)
    misses = alarms = 0
    for fold in range(4):
        rest, own = order != fold, order == fold
        cuts = np.r_[-np.inf, np.sort(found.ranks[rest])]
        costs = [
            0.5 * (found.ranks[rest & novel] <= c).mean()
            + 0.9 * (found.ranks[rest & ~novel] > c).mean()
            for c in cuts
        ]
        # Half way to the next rank, where thresholds are put.
        best = int(np.argmin(costs))
        cut = np.inf if best + 1 == len(cuts) else cuts[best : best + 2].mean()
        misses += (found.ranks[own & novel] <= cut).sum()
        alarms += (found.ranks[own & ~novel] > cut).sum()
    assert found.cost is not None
    assert found.cost.estimate == pytest.approx((0.5 * misses / 20 + 0.9 * alarms / 60) / 0.5)
    assert 0 <= found.cost.low < found.cost.estimate < found.cost.high
    plain = compare_detectors(X, detectors=far).results[0]
    assert plain.cost is None


def test_neural_detectors_are_compared_by_their_contract() -> None:
    pytest.importorskip("torch")
    from novum.neural import AutoencoderDetector

    X, novel = table()
    detectors = {
        "autoencoder": AutoencoderDetector(1, hidden=(4,), random_state=0),
        "far": Distance(),
    }
    found = compare_detectors(X, novel, detectors=detectors, n_folds=2)
    assert {r.name for r in found.results} == {"autoencoder", "far"}
    assert all(r.area is not None and r.area.estimate > 0.9 for r in found.results)


def test_ranks_are_shares_of_all_rows() -> None:
    X = np.random.default_rng(1).normal(size=(30, 2))
    found = compare_detectors(X, detectors={"far": Distance()}, n_folds=3, random_state=4)
    by_hand = []
    for repeat in range(2):
        order = np.random.Generator(
            np.random.PCG64(np.random.SeedSequence(4, spawn_key=(repeat,)))
        ).permutation(np.arange(30) % 3)
        novelty = np.empty(30)
        for fold in range(3):
            apart = np.linalg.norm(X[order == fold] - X[order != fold].mean(axis=0), axis=1)
            low, middle, high = np.quantile(apart, [0.25, 0.5, 0.75])
            novelty[order == fold] = (apart - middle) / (high - low)
        by_hand.append((novelty[:, np.newaxis] > novelty).sum(axis=1) / 29)
    np.testing.assert_allclose(found.results[0].ranks, np.mean(by_hand, axis=0))


def test_a_detector_that_fails_is_told() -> None:
    X, _ = table()
    X[3, 0] = np.nan
    forest = IsolationForest(random_state=0, n_estimators=10)
    detectors = {"forest": forest, "bad": Refusing(), "worse": Refusing()}
    found = compare_detectors(X, detectors=detectors)
    assert found.not_done == {"bad": "no", "worse": "no"}
    assert found.omissions == ("bad, worse were not compared: no.",)
    assert found.omissions[0] in repr(found)
    with pytest.raises(InputError, match="No detector could be fitted; bad: no"):
        compare_detectors(X, detectors={"bad": Refusing()})


class Refusing(BaseEstimator):
    def fit(self, X: Any, y: Any = None) -> Any:  # noqa: ARG002
        raise ValueError("no")


def test_a_detector_that_tells_no_rows_apart_is_last() -> None:
    X, _ = table()
    detectors = {"none": Distance(0.0), "far": Distance(), "near": Distance(1.0)}
    assert compare_detectors(X, detectors=detectors).results[-1].name == "none"


ALWAYS = {"isolation forest", "neighbor distance", "local outlier factor", "mixture"}
NUMBERS = {"Gaussian", "kernel density", "one-class support vectors", "support vector sphere"}
NETWORKS = {"autoencoder", "variational autoencoder", "adversarial network"}


def test_a_table_alone_is_compared_by_detectors_of_every_kind(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    X, novel = table(40, 4)
    for name, network in dict(detector_bench.NETWORKS).items():
        # As many epochs as a test has time for.
        quick = functools.partial(network, hidden=(2,), patience=1, tol=0.5)
        monkeypatch.setitem(detector_bench.NETWORKS, name, quick)
    found = compare_detectors(X, novel, n_folds=2)
    names = ALWAYS | NUMBERS | {"Bayesian network"} | (NETWORKS if has_torch() else set())
    assert {result.name for result in found.results} == names
    assert not set(found.not_done) - NETWORKS
    for result in found.results:
        assert result.area is not None
        assert result.cost is not None
        assert result.area.low <= result.area.estimate <= result.area.high
    by_name = {result.name: result for result in found.results}
    assert all(by_name[name].area.estimate > 0.9 for name in ALWAYS | {"Gaussian"})
    # The labels of predict say the same.
    same = compare_detectors(X, np.where(novel, -1, 1), detectors={"far": Distance()})
    assert same.results[0].area == (
        compare_detectors(X, novel, detectors={"far": Distance()}).results[0].area
    )


def test_what_cannot_take_a_table_is_left_out_with_a_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = pd.DataFrame({"size": [1.0, 2.0, 3.0, np.nan] * 5, "color": ["red", "blue"] * 10})
    detectors, left_out = default_detectors(rows, network_cells=39)
    assert set(detectors) == ALWAYS | {"Bayesian network"}
    assert left_out["one-class support vectors"] == "5 cells are missing, and it needs all of them"
    assert left_out["Gaussian"] == "it takes numbers, and there are 1 column with levels"
    if has_torch():
        assert left_out["autoencoder"] == "40 cells take long to train on"
        assert set(default_detectors(rows, network_cells=40)[0]) >= NETWORKS
    monkeypatch.setattr(detector_bench, "has_torch", lambda: False)
    assert "pip install '.[neural]'" in default_detectors(rows)[1]["autoencoder"]
    wide = np.random.default_rng(0).normal(size=(20, 61))
    assert "60 columns at most" in default_detectors(wide)[1]["Bayesian network"]


def test_bad_input() -> None:
    X, novel = table()
    far = {"far": Distance()}
    with pytest.raises(InputError, match="The table comes first"):
        compare_detectors(far, X)
    with pytest.raises(InputError, match="at least one detector"):
        compare_detectors(X, detectors={})
    with pytest.raises(InputError, match="X has 60"):
        compare_detectors(X, novel[:5], detectors=far)
    with pytest.raises(InputError, match="novel rows and others"):
        compare_detectors(X, np.zeros(60, bool), detectors=far)
    with pytest.raises(InputError, match=r"as predict has them, got 'even', 'odd'"):
        compare_detectors(X, ["odd" if one else "even" for one in novel], detectors=far)
    with pytest.raises(InputError, match="need 10 rows, got 4"):
        compare_detectors(X[:4], detectors=far)
