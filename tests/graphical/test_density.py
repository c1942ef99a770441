"""Rows as a learned network: scores, gaps and alarms against their definitions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core import load, save
from novum.core.errors import InputError, ModelFileError
from novum.core.learners import Case
from novum.core.learners.contracts import check_name, estimator_checks
from novum.evaluation import compare_detectors
from novum.graphical import (
    BIC,
    K2,
    BayesianNetworkDensity,
    BDeu,
    ByScore,
    Constraints,
    MinimumDescription,
    Tabu,
    fit_parameters,
)


@parametrize_with_checks([BayesianNetworkDensity()], legacy=True)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def levels(n: int = 300, seed: int = 0, gaps: float = 0.0) -> pd.DataFrame:
    """a -> b -> c in a row, and d apart."""
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, n)
    b = np.where(rng.random(n) < 0.85, a, 1 - a)
    c = np.where(rng.random(n) < 0.8, b, 2)
    d = rng.integers(0, 3, n)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d}).astype(str).astype(object)
    return frame.mask(rng.random(frame.shape) < gaps, None)


def mixed(n: int = 400, seed: int = 1) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    kind = rng.choice(["x", "y"], n)
    size = rng.normal(size=n) + 4 * (kind == "x")
    return pd.DataFrame({"kind": kind, "size": size, "count": rng.integers(0, 3, n).astype(float)})


@pytest.mark.parametrize("check", estimator_checks(), ids=check_name)
def test_contract(check: Callable[[Case], None]) -> None:
    check(Case(BayesianNetworkDensity(), levels(80, gaps=0.1)))


# --- Scores ---------------------------------------------------------------------------------------


def completions(model: BayesianNetworkDensity, row: dict[str, Any]) -> list[tuple[dict, float]]:
    """Every way to fill a row of levels, with its probability given what is known."""
    network = model.network_
    free = [axis for axis in network.variables if row.get(axis.name) is None]
    rows = [
        {**row, **dict(zip([a.name for a in free], states, strict=True))}
        for states in itertools.product(*(axis.states for axis in free))
    ]
    logs = network.log_probabilities(pd.DataFrame(rows))
    chances = np.exp(logs - np.logaddexp.reduce(logs))
    return list(zip(rows, chances.tolist(), strict=True))


def test_the_score_is_the_expected_log_probability_of_the_whole_row() -> None:
    model = BayesianNetworkDensity(prior=BDeu(2.0)).fit(levels(gaps=0.1))
    rows = levels(12, 5, 0.4)
    scores = model.score_samples(rows)
    for row, score in zip(rows.to_dict("records"), scores, strict=True):
        ways = completions(model, row)
        whole = model.network_.log_probabilities(pd.DataFrame([way for way, _ in ways]))
        chances = np.array([chance for _, chance in ways])
        assert score == pytest.approx(chances @ whole, rel=1e-10)
    known = model.network_.log_probabilities(rows)
    assert model.score(rows) == pytest.approx(known.mean(), rel=1e-12)


def test_densities_of_numbers_integrate_to_one() -> None:
    model = BayesianNetworkDensity().fit(mixed())
    grid = np.linspace(-30, 40, 35_001)
    total = 0.0
    for kind, count in itertools.product(["x", "y"], [0.0, 1.0, 2.0]):
        rows = pd.DataFrame({"kind": kind, "size": grid, "count": count})
        total += np.exp(model.score_samples(rows)).sum() * (grid[1] - grid[0])
    assert total == pytest.approx(1.0, abs=1e-3)


def test_an_unknown_number_counts_as_it_is_expected_to() -> None:
    model = BayesianNetworkDensity().fit(mixed())
    row = pd.DataFrame({"kind": ["x"], "size": [np.nan], "count": [1.0]})
    [drawn] = model.impute(pd.concat([row] * 4000), draws=1, random_state=0)
    full = pd.DataFrame({"kind": "x", "size": drawn["size"].to_numpy(), "count": 1.0})
    scores = model.score_samples(full)
    error = scores.std() / math.sqrt(len(scores))
    assert abs(scores.mean() - model.score_samples(row)[0]) < 5 * error


@pytest.mark.parametrize("weighted", [False, True])
def test_training_scores_are_those_of_tables_without_the_row(weighted: bool) -> None:
    rows = levels(60)
    weights = np.where(np.arange(60) % 3 == 0, 2.0, 1.0) if weighted else None
    model = BayesianNetworkDensity(prior=K2()).fit(rows, sample_weight=weights)
    for place in (0, 7, 30):
        fewer = np.ones(60) if weights is None else weights.copy()
        fewer[place] -= 1.0
        network = fit_parameters(model.network_, rows, K2(), sample_weight=fewer)
        expected = network.log_probabilities(rows.iloc[[place]])[0]
        assert model.training_scores_[place] == pytest.approx(expected, rel=1e-10)


def test_rows_with_gaps_are_left_out_too() -> None:
    rows = levels(40, gaps=0.2)
    rows.iloc[0] = ["0", "1", None, "2"]
    model = BayesianNetworkDensity().fit(rows)
    assert np.isfinite(model.training_scores_).all()
    assert model.training_scores_[0] < model.score_samples(rows)[0]


def test_what_breaks_the_dependence_is_novel_though_each_cell_is_ordinary() -> None:
    rows = levels(600)
    odd = rows.copy()
    odd.loc[590:, "b"] = np.where(odd.loc[590:, "a"] == "0", "1", "0")
    odd.loc[590:, "c"] = odd.loc[590:, "a"]
    model = BayesianNetworkDensity(false_alarms=0.04).fit(rows[:590])
    novel = model.predict(odd[590:]) == -1
    assert novel.mean() > 0.8
    assert model.false_alarm_rate_ <= 0.04
    low, high = model.false_alarm_interval_
    assert low < (model.predict(levels(3000, 9)) == -1).mean() < high + 0.02


def test_what_training_never_saw_is_less_likely_than_what_it_saw() -> None:
    model = BayesianNetworkDensity().fit(mixed())
    rows = pd.DataFrame(
        {
            "kind": ["x", "z", "x", "x", None],
            "size": [4.0, 4.0, 400.0, 4.0, np.nan],
            "count": [1.0, 1.0, 1.0, 7.5, np.nan],
        }
    )
    scores = model.score_samples(rows)
    assert (scores[1:4] < scores[0] - 3).all()
    assert model.predict(rows).tolist() == [1, -1, -1, -1, 1]


def test_it_is_compared_with_other_detectors() -> None:
    from novum.trees import IsolationForest

    rows = levels(200, gaps=0.05)
    novel = np.zeros(200, bool)
    novel[:20] = True
    rows.loc[:19, "b"] = np.where(rows.loc[:19, "a"] == "0", "1", "0")
    detectors = {"network": BayesianNetworkDensity(), "forest": IsolationForest(random_state=0)}
    found = compare_detectors(rows, novel, detectors=detectors)
    assert found.best == "network"
    assert found.results[0].area is not None
    assert found.results[0].area.estimate > 0.8


# --- Missing cells --------------------------------------------------------------------------------


def test_gaps_get_their_most_probable_states_together() -> None:
    model = BayesianNetworkDensity().fit(levels(gaps=0.1))
    rows = levels(20, 8, 0.5)
    filled = model.impute(rows)
    for row, full in zip(rows.to_dict("records"), filled.to_dict("records"), strict=True):
        ways = completions(model, row)
        best = max(p for _, p in ways)
        assert full in [way for way, p in ways if p == pytest.approx(best, rel=1e-9)]


def test_expected_numbers_are_means_over_the_posterior() -> None:
    model = BayesianNetworkDensity().fit(mixed())
    rows = pd.DataFrame({"kind": ["x", "y", None], "size": [np.nan, np.nan, 4.5], "count": 1.0})
    filled = model.impute(rows, "expected")
    train = mixed()
    means = train.groupby("kind")["size"].mean()
    assert filled["size"][0] == pytest.approx(means["x"], abs=0.2)
    assert filled["size"][1] == pytest.approx(means["y"], abs=0.2)
    assert filled["size"][2] == 4.5
    assert filled["kind"][2] == "x"


def test_draws_have_the_posterior_and_the_same_seed_the_same_draws() -> None:
    model = BayesianNetworkDensity().fit(levels())
    row = pd.DataFrame({"a": ["0"], "b": [None], "c": [None], "d": ["1"]}, dtype=object)
    rows = pd.concat([row] * 1500)
    tables = model.impute(rows, draws=2, random_state=4)
    again = model.impute(rows, draws=2, random_state=4)
    assert all(one.equals(other) for one, other in zip(tables, again, strict=True))
    assert not tables[0].equals(tables[1])
    drawn = pd.concat(tables)
    for way, chance in completions(model, {"a": "0", "b": None, "c": None, "d": "1"}):
        share = ((drawn["b"] == way["b"]) & (drawn["c"] == way["c"])).mean()
        assert abs(share - chance) < 5 * math.sqrt(chance * (1 - chance) / 3000) + 1e-9


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_frames_come_back_as_they_came(make: Any) -> None:
    train = mixed()
    model = BayesianNetworkDensity().fit(make({name: train[name].to_list() for name in train}))
    gaps = make({"kind": ["x", None, None], "size": [None, 4.0, -1.0], "count": [1.0, 1.0, None]})
    filled = model.impute(gaps)
    assert type(filled) is type(gaps)
    cells = {name: list(np.asarray(filled[name])) for name in train}
    assert cells["kind"] == ["x", "x", "y"]
    assert not np.isnan(cells["size"]).any()
    assert cells["count"][:2] == [1.0, 1.0]


# --- Odd tables -----------------------------------------------------------------------------------


def test_files_and_values_as_parameters(tmp_path: Any) -> None:
    model = BayesianNetworkDensity(
        BIC(), search=Tabu(), constraints=Constraints(tiers=[["kind"], ["size"]]), prior=K2()
    ).fit(mixed())
    save(model, tmp_path / "net.novum")
    again = load(tmp_path / "net.novum")
    assert np.array_equal(again.score_samples(mixed()), model.score_samples(mixed()))
    assert ("size", "kind") not in again.network_.edges
    again.network_ = again.network_.rename({"kind": "other"})
    with pytest.raises(ModelFileError, match="not the nodes"):
        again._check_state()


def test_odd_tables_say_what_is_wrong() -> None:
    with pytest.raises(InputError, match="at least 2 rows"):
        BayesianNetworkDensity().fit(levels(1))
    with pytest.raises(InputError, match="Every cell of the table is missing"):
        BayesianNetworkDensity().fit(pd.DataFrame({"a": [None, None], "b": [np.nan, np.nan]}))
    rows = levels(50).assign(empty=pd.array([None] * 50, "string"), same="k")
    with pytest.warns(UserWarning, match="Nothing is known of 'empty'"):
        model = BayesianNetworkDensity().fit(rows)
    assert "empty" not in model.network_
    assert np.isfinite(model.score_samples(rows)).all()
    assert model.impute(rows[:2])["empty"].isna().all()
    with pytest.raises(InputError, match="draws is a number"):
        model.impute(rows, draws=0)
    with pytest.raises(InputError, match="'most_probable' or 'expected'"):
        model.impute(rows, "mean")
    with pytest.raises(ValueError, match="'search' parameter"):
        BayesianNetworkDensity(search="tabu").fit(rows)
    with pytest.raises(InputError, match="prior is a value"):
        BayesianNetworkDensity(prior=3).fit(levels(20))


def test_nearly_all_rows_at_the_largest_number() -> None:
    numbers = np.concatenate([np.arange(20.0), np.full(400, 50.0)])
    model = BayesianNetworkDensity().fit(numbers[:, None])
    assert model.score_samples([[50.0]])[0] > model.score_samples([[3.0]])[0]


def test_numbers_are_cut_as_asked() -> None:
    """Two columns go together where one changes; a third goes with nothing."""
    rng = np.random.default_rng(0)
    x, noise = rng.uniform(size=600), rng.normal(size=600)
    kind = np.where((x > 0.7) ^ (rng.random(600) < 0.02), "b", "a")
    frame = pd.DataFrame({"x": x, "kind": kind, "noise": noise})
    by_frequency = BayesianNetworkDensity().fit(frame)
    for numbers in ("score", MinimumDescription("kind"), ByScore(start=MinimumDescription("kind"))):
        model = BayesianNetworkDensity(numbers=numbers).fit(frame)
        assert model.column_states_[0].cuts == pytest.approx([0.7], abs=0.02)
        # What no edge cuts keeps its intervals of equal frequency, and a density.
        assert model.column_states_[2].cuts == pytest.approx(by_frequency.column_states_[2].cuts)
        assert np.isfinite(model.score_samples(frame)).all()
        strange = pd.DataFrame({"x": [0.9, 0.1], "kind": ["a", "b"], "noise": [0.0, 0.0]})
        assert model.predict(strange).tolist() == [-1, -1]
    with pytest.raises(InputError, match=r"none is named. Name the column: numbers=MinimumDescr"):
        BayesianNetworkDensity(numbers="mdl").fit(frame)
    with pytest.raises(InputError, match=r"needs at least 2 rows .* got 1 sample\."):
        BayesianNetworkDensity().fit(frame[:1])
