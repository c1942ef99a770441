"""Classification by networks: against enumeration, with missing cells, in every kind of frame."""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.bayes import CategoricalNB
from novum.core import load, save
from novum.core.decisions import WorkingPoint
from novum.core.errors import InputError, ModelFileError, UnseenLevelWarning
from novum.core.learners import Case, ConstantTargetWarning
from novum.core.learners.contracts import (
    check_certificate,
    check_duplication,
    check_failed_fit_changes_nothing,
    check_input_is_not_changed,
    check_name,
    check_row_order,
    check_same_fit_same_bits,
)
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    BDeu,
    CodedTable,
    Dag,
    EqualFrequency,
    MinimumDescription,
    fit_parameters,
)
from novum.graphical.classifier import BayesianNetworkClassifier
from novum.graphical.learning.scores import FamilyScores
from tests.graphical.textbook_networks import alarm, brute_posterior, random_network
from tests.oracles.network_learning_definitions import all_graphs

ROWS = {
    "JohnCalls": ["true", None, "false", "true"],
    "MaryCalls": [None, "true", "false", "true"],
    "Earthquake": [None, "false", None, "true"],
}
LABELS = ["true", "false", "false", "true"]


@parametrize_with_checks(
    [BayesianNetworkClassifier(), BayesianNetworkClassifier(structure="tree")], legacy=True
)
def test_scikit_learn_checks(estimator: Any, check: Callable[[Any], None]) -> None:
    check(estimator)


def nominal_rows() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 80)
    X = pd.DataFrame({f"c{j}": [f"l{(v + rng.integers(0, 2)) % 4}" for v in y] for j in range(3)})
    X.loc[::7, "c1"] = None
    return X, np.array(["x", "y", "z"])[y]


@pytest.mark.parametrize(
    "check",
    [
        check_certificate,
        check_same_fit_same_bits,
        check_failed_fit_changes_nothing,
        check_input_is_not_changed,
        check_row_order,
        check_duplication,
    ],
    ids=check_name,
)
@pytest.mark.parametrize("structure", ["naive", "forest", "general", "blanket", "averaged"])
def test_contract(check: Callable[[Case], None], structure: str) -> None:
    check(Case(BayesianNetworkClassifier(structure=structure), *nominal_rows()))


@pytest.mark.parametrize("structure", ["tree", "forest", "general"])
def test_learned_structures_see_what_columns_say_together(structure: str) -> None:
    """The class is whether two columns are equal: alone, none says anything."""
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.integers(0, 2, (2000, 3)).astype(str), columns=list("abc"))
    y = np.where(X["a"] == X["b"], "same", "other")
    X.loc[rng.random(2000) < 0.05, "c"] = None
    assert BayesianNetworkClassifier().fit(X, y).score(X, y) < 0.7
    model = BayesianNetworkClassifier(structure=structure)
    if structure != "general":
        assert model.fit(X, y).score(X, y) > 0.99
    else:
        # No single edge of such a class gains, so a greedy search need not see it.
        assert model.fit(X, X["a"] + X["b"]).score(X, X["a"] + X["b"]) > 0.99


@pytest.mark.parametrize("structure", ["naive", "tree", "general", "blanket", "averaged"])
def test_numbers_are_cut_as_asked(structure: str, tmp_path: Any) -> None:
    """The class changes at one length, and nothing else does."""
    rng = np.random.default_rng(0)
    length, noise = rng.uniform(size=500), rng.normal(size=500)
    y = np.where((length > 0.8) ^ (rng.random(500) < 0.05), "long", "short")
    X = pd.DataFrame({"length": length, "noise": noise})
    by_frequency = BayesianNetworkClassifier(structure=structure).fit(X, y)
    assert len(by_frequency.column_states_[0].cuts) == 5
    for numbers in ("mdl", "score", MinimumDescription("class")):
        model = BayesianNetworkClassifier(structure=structure, numbers=numbers).fit(X, y)
        assert model.column_states_[0].cuts == pytest.approx([0.8], abs=0.02)
        # Frequencies cut at 0.67 and 0.83 only: rows between them are called wrongly.
        assert model.score(X, y) > by_frequency.score(X, y) + 0.03
        save(model, tmp_path / "model.novum")
        loaded = load(tmp_path / "model.novum")
        assert (loaded.predict_proba(X) == model.predict_proba(X)).all()
    if structure == "naive":
        fine = BayesianNetworkClassifier(numbers=EqualFrequency(3)).fit(X, y)
        assert [len(item.cuts) for item in fine.column_states_] == [2, 2]


def test_ways_to_cut_that_are_none_are_refused() -> None:
    X, y = np.arange(40.0)[:, None], np.repeat(["a", "b"], 20)
    with pytest.raises(InputError, match=r"numbers is 'frequency', 'mdl', 'score', or a value"):
        BayesianNetworkClassifier(numbers="width").fit(X, y)
    with pytest.raises(InputError, match=r"'normal' keeps numbers as they are, which learn_str"):
        BayesianNetworkClassifier(numbers="normal").fit(X, y)
    with pytest.raises(InputError, match=r"ByScore\(\) cuts columns of whole rows, and 'x0' has"):
        BayesianNetworkClassifier(numbers="score").fit([[np.nan], *X[1:].tolist()], y)
    with pytest.raises(InputError, match=r"'color' is no column"):
        BayesianNetworkClassifier(numbers=MinimumDescription("color")).fit(X, y)
    with pytest.raises(InputError, match=r"and X has 1 sample\. Give at least 2"):
        BayesianNetworkClassifier(structure="tree").fit(X[:1], y[:1])


# --- A given network ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [dict, pd.DataFrame, pl.DataFrame, pa.table, lambda c: pd.DataFrame(c).to_dict("records")],
)
def test_posteriors_of_rows_with_missing_cells_equal_enumeration(frame: Any) -> None:
    network, rows = alarm(), frame(ROWS)
    model = BayesianNetworkClassifier(network, "Burglary").fit(rows, LABELS)
    assert model.classes_.tolist() == ["false", "true"]
    assert model.class_prior_.tolist() == pytest.approx([0.999, 0.001])
    found = model.predict_proba(rows)
    for place in range(4):
        known = {name: cells[place] for name, cells in ROWS.items() if cells[place] is not None}
        wanted, _ = brute_posterior(network, "Burglary", known)
        assert np.allclose(found[place], wanted[::-1], rtol=1e-12)
    assert np.allclose(np.exp(model.predict_log_proba(rows)), found)
    assert model.predict(rows).tolist() == ["false"] * 4
    assert list(model.feature_names_in_) == [*ROWS]
    assert model.network_ is network
    assert "given" in repr(model.certificate_)


def test_random_networks_equal_enumeration_in_every_row() -> None:
    for seed in range(10):
        network = random_network(seed, 6)
        states = [axis.states for axis in network.variables]
        rng = np.random.default_rng(seed)
        cells = {
            name: [rng.choice([*s, None]) for _ in range(8)]
            for name, s in zip(network.names[1:], states[1:], strict=True)
        }
        y = [states[0][0]] * 8
        found = BayesianNetworkClassifier(network, "v0").fit(cells, y).predict_proba(cells)
        for row in range(8):
            known = {n: str(c[row]) for n, c in cells.items() if c[row] is not None}
            wanted, _ = brute_posterior(network, "v0", known)
            assert np.allclose(found[row], wanted, rtol=1e-11)


def test_the_target_is_the_only_node_without_a_column() -> None:
    rows = {**ROWS, "Alarm": [None] * 4}
    model = BayesianNetworkClassifier(alarm()).fit(rows, LABELS)
    assert model.target_ == "Burglary"
    array = np.array([[None, None, "true", "true"]], dtype=object)
    by_place = BayesianNetworkClassifier(alarm(), "Burglary").fit(array, ["true"])
    assert by_place.predict_proba(array)[0, 1] == pytest.approx(0.2841718353643929, rel=1e-12)
    with pytest.raises(InputError, match=r"X has 3 features, but .* is expecting 4"):
        by_place.predict(array[:, :3])


def test_unseen_states_are_unknown_with_a_warning() -> None:
    model = BayesianNetworkClassifier(alarm(), "Burglary").fit(ROWS, LABELS)
    with pytest.warns(UnseenLevelWarning, match="'maybe' in row 0"):
        found = model.predict_proba({"JohnCalls": ["maybe"], "MaryCalls": ["true"]})
    wanted, _ = brute_posterior(alarm(), "Burglary", {"MaryCalls": "true"})
    assert np.allclose(found[0], wanted[::-1], rtol=1e-12)


@pytest.mark.parametrize(
    ("network", "target", "X", "y", "message"),
    [
        (alarm(), "Burglry", ROWS, LABELS, "did you mean 'Burglary'"),
        (alarm(), None, ROWS, LABELS, "Which node is predicted.* 'Burglary', 'Alarm'"),
        (alarm(), "Burglary", {**ROWS, "id": [1] * 4}, LABELS, "'id' is no node of the network"),
        (alarm(), "JohnCalls", ROWS, LABELS, "'JohnCalls' is the target itself"),
        (alarm(), "Burglary", {"JohnCalls": ["ture"]}, ["true"], "did you mean 'true'"),
        (alarm(), "Burglary", ROWS, None, "requires y"),
        (alarm(), "Burglary", ROWS, ["true"], "X has 4 rows, but y has 1"),
        (alarm(), "Burglary", ROWS, ["yes"] * 4, "label 'yes', which is no state of 'Burglary'"),
        (alarm(), "Burglary", ROWS, [True] * 4, "label True.*Convert y to the states"),
        (alarm(), "Burglary", np.zeros((2, 3)), ["true"] * 2, r"but the target: 4 .* got 3"),
        (alarm(), "Burglary", np.zeros(3), ["true"] * 3, "two dimensions"),
        ("alarm", None, ROWS, LABELS, "'network' parameter"),
        (None, 3, ROWS, LABELS, "'target' parameter"),
    ],
)
def test_what_does_not_fit_the_network_is_said(
    network: Any, target: Any, X: Any, y: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        BayesianNetworkClassifier(network, target).fit(X, y)


def test_an_impossible_row_is_named_with_its_conflict() -> None:
    network = (
        BayesianNetwork()
        .add("a", table=[0.5, 0.5])
        .add("b", parents="a", table=lambda a: a, states=["true", "false"])
        .add("c", parents="b", table=[[0.5, 0.5], [0.1, 0.9]])
    )
    rows = {"a": ["true", "true"], "b": ["true", "false"]}
    model = BayesianNetworkClassifier(network, "c").fit({"a": ["true"]}, ["true"])
    with pytest.raises(ImpossibleEvidence, match=r"Row 1 .*'a' = 'true', 'b' = 'false'"):
        model.predict(rows)


# --- An estimated network -------------------------------------------------------------------------


def test_the_estimated_network_is_naive_bayes() -> None:
    X, y = nominal_rows()
    model = BayesianNetworkClassifier(target="kind").fit(X, y)
    # The reference learns its priors without pseudo-counts.
    counts = np.array([np.sum(y == label) for label in model.classes_]) + 1.0
    reference = CategoricalNB(class_prior=counts / counts.sum()).fit(X, y)
    assert np.allclose(model.predict_proba(X), reference.predict_proba(X), rtol=1e-10)
    assert model.network_.edges == (("kind", "c0"), ("kind", "c1"), ("kind", "c2"))
    assert np.allclose(model.class_prior_, counts / counts.sum())
    with pytest.warns(UnseenLevelWarning, match="'c2' has 1 cells"):
        odd = model.predict_proba(pd.DataFrame({"c0": ["l1"], "c1": [None], "c2": ["new"]}))
    wanted = model.network_.query("kind", given={"c0": "l1"}).values
    assert np.allclose(odd[0], wanted, rtol=1e-12)


def test_numbers_levels_and_empty_columns_together() -> None:
    rng = np.random.default_rng(1)
    y = rng.integers(0, 2, 200).astype(bool)
    X = pd.DataFrame(
        {
            "size": rng.normal(size=200) + 3 * y,
            "color": np.where(y ^ (rng.random(200) < 0.2), "red", "blue"),
            "nothing": pd.array([None] * 200, "string"),
            "class": rng.integers(0, 3, 200),
        }
    )
    X.loc[:50, "size"] = np.nan
    model = BayesianNetworkClassifier().fit(X, y)
    assert model.score(X, y) > 0.85
    assert model.target_ == "class_"
    assert "nothing" not in model.network_
    assert model.classes_.tolist() == [False, True]
    assert "up to" in model.network_["size"].variable.states[0]


# --- All graphs at once ---------------------------------------------------------------------------


def averaged_by_enumeration(table: CodedTable, rows: np.ndarray) -> np.ndarray:
    """P(class | cells), summed over every order, graph and way to fill a row."""
    d, cards = table.n_variables, table.cards.tolist()
    scores = FamilyScores(table, BDeu(1.0))
    joint = np.zeros((len(rows), cards[0]))
    for parents in all_graphs(d):
        orders = sum(
            all(order.index(p) < order.index(v) for v in range(d) for p in parents[v])
            for order in itertools.permutations(range(d))
        )
        weight = orders * math.exp(scores.total(parents))
        network = fit_parameters(Dag(table.names, parents), table, BDeu(1.0))
        for place, row in enumerate(rows):
            free = [v for v in range(d) if row[v] < 0]
            for states in itertools.product(*(range(cards[v]) for v in free)):
                full = row.copy()
                full[free] = states
                cells = [
                    network.conditionals[v].table[tuple(full[[*parents[v], v]])] for v in range(d)
                ]
                joint[place, full[0]] += weight * math.prod(cells)
    return joint / joint.sum(axis=1, keepdims=True)


def four_columns(n: int, seed: int) -> tuple[pd.DataFrame, Any]:
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    a = np.where(rng.random(n) < 0.8, y, 1 - y)
    b = np.where(rng.random(n) < 0.7, a, rng.integers(0, 3, n))
    X = pd.DataFrame({"a": a, "b": b, "c": rng.integers(0, 2, n)}).astype(str).astype(object)
    return X, np.array(["n", "y"])[y]


def test_averages_equal_the_sum_over_all_graphs_of_four_variables() -> None:
    X, y = four_columns(25, 3)
    model = BayesianNetworkClassifier(structure="averaged").fit(X, y)
    assert model.averaged_ is not None
    assert model.averaged_.is_exact
    rows = X[:10].copy()
    rows.iloc[2, 0] = rows.iloc[5, 1] = rows.iloc[7, 0] = rows.iloc[7, 2] = None
    codes = model._codes(rows)
    table = CodedTable(
        model.network_.variables,
        np.ascontiguousarray(np.column_stack([y == "y", model._codes(X)[:, 1:]]).T, np.int32),
    )
    wanted = averaged_by_enumeration(table, codes)
    np.testing.assert_allclose(model.predict_proba(rows), wanted, rtol=1e-8)
    # Drawn graphs come close.
    drawn = model.averaged_._by_networks(codes, 0)
    np.testing.assert_allclose(drawn / drawn.sum(axis=1, keepdims=True), wanted, atol=0.08)
    assert model.edge_probabilities_ is not None
    assert model.edge_probabilities_.joined("class", "a") > 0.5
    nothing = pd.DataFrame({"a": [None], "b": [None], "c": [None]}, dtype=object)
    np.testing.assert_allclose(model.predict_proba(nothing)[0], model.class_prior_, rtol=1e-9)


def test_averages_of_many_columns_and_of_gaps(tmp_path: Any, monkeypatch: Any) -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 3, 300)
    X = pd.DataFrame({f"c{j}": (y + (rng.random(300) < 0.4)) % 3 for j in range(13)}).astype(float)
    X = X.mask(rng.random(X.shape) < 0.02)
    model = BayesianNetworkClassifier(structure="averaged").fit(X, y)
    assert model.averaged_ is not None
    assert not model.averaged_.is_exact
    assert "drawn graphs" in model.certificate_.details["averaged over"]
    assert model.score(X, y) > 0.9
    few = BayesianNetworkClassifier(structure="averaged").fit(X[["c0", "c1"]], y)
    save(few, tmp_path / "few.novum")
    again = load(tmp_path / "few.novum")
    assert np.array_equal(again.predict_proba(X[["c0", "c1"]]), few.predict_proba(X[["c0", "c1"]]))
    again.averaged_ = replace(again.averaged_, cells=again.averaged_.cells[:-1])
    with pytest.raises(ModelFileError, match="do not fit together"):
        again._check_state()
    # Too many states of missing cells: by drawn graphs, and close to the sum.
    gone = pd.DataFrame({"c0": [np.nan, 1.0], "c1": [1.0, np.nan]})
    exact = few.predict_proba(gone)
    monkeypatch.setattr("novum.graphical.learning.averaged_network.MOST_STATES", 1)
    np.testing.assert_allclose(few.predict_proba(gone), exact, atol=0.05)


def test_the_blanket_is_all_that_is_kept() -> None:
    X, y = four_columns(600, 0)
    model = BayesianNetworkClassifier(structure="blanket").fit(X, y)
    assert model.network_.names == ("class", "a")
    assert model.predict_proba(X).shape == (600, 2)
    with pytest.warns(ConstantTargetWarning):
        alone = BayesianNetworkClassifier(structure="blanket").fit(X[["c"]], y)
    assert alone.network_.names == ("class",)
    assert np.ptp(alone.predict_proba(X[["c"]]), axis=0).max() == 0.0
    for structure in ("averaged", "blanket", "general"):
        one = BayesianNetworkClassifier(structure=structure).fit(X[:40], np.full(40, "same"))
        assert (one.predict(X) == "same").all()


def test_copies_files_in_memory_and_other_working_points() -> None:
    X, y = nominal_rows()
    model = BayesianNetworkClassifier().fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict_proba(X), model.predict_proba(X))
    fresh = clone(BayesianNetworkClassifier(alarm(), "Burglary"))
    assert fresh.network == alarm()
    given = BayesianNetworkClassifier(alarm(), "Burglary").fit(ROWS, LABELS)
    # A missed burglary that costs a thousand times a false alarm is worth a look.
    point = WorkingPoint.binary(prior=0.001, cost_fn=1000, cost_fp=1, classes=["false", "true"])
    assert given.at(point).predict(ROWS).tolist() == ["true", "true", "false", "true"]


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("target_", "nobody", "target is no node of its network"),
        ("_order", np.array([0, 0]), "classes are in no order"),
        ("_order", np.array([0, 2]), "classes are in no order"),
        ("classes_", np.array(["true", "false"]), "classes are not the states of its target"),
        ("class_prior_", np.array([1.0]), "class shares do not belong"),
        ("n_features_in_", 7, "another number of columns"),
        ("target_", "JohnCalls", "columns are no nodes"),
    ],
)
def test_parts_of_a_loaded_model_that_do_not_fit(name: str, value: Any, words: str) -> None:
    model = BayesianNetworkClassifier(alarm(), target="Burglary").fit(ROWS, LABELS)
    model._check_state()
    setattr(model, name, value)
    with pytest.raises(ModelFileError, match=words):
        model._check_state()


def test_an_estimated_model_has_the_nodes_of_its_columns() -> None:
    model = BayesianNetworkClassifier().fit([["a", "u"], ["b", "v"]], [0, 1])
    model._check_state()
    model.network_ = model.network_.rename({model.network_.names[1]: "other"})
    with pytest.raises(ModelFileError, match="columns are not the nodes of its network"):
        model._check_state()


@pytest.mark.parametrize("structure", ["general", "blanket"])
def test_a_class_that_nothing_is_joined_to_is_told(structure: str) -> None:
    X = pd.DataFrame({"coin": ["heads", "tails"] * 24})
    y = ["a", "a", "b", "b", "c", "c"] * 8
    with pytest.warns(ConstantTargetWarning, match='48 rows .* same answer. structure="naive"'):
        model = BayesianNetworkClassifier(structure=structure).fit(X, y)
    assert len(set(model.predict(X))) == 1
