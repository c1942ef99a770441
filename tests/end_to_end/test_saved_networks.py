"""Model files, pickles and copies: networks, factor graphs, chains, engines, the classifier."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Callable
from inspect import isabstract
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from sklearn.base import clone

import novum.graphical
from novum.core.errors import ModelFileError
from novum.core.files import describe, load, save
from novum.core.files.state_coding import StateEncoder
from novum.core.files.state_decoding import StateDecoder
from novum.distributions.joint_table_states import StateAxis
from novum.graphical import (
    BayesianNetwork,
    BayesianNetworkClassifier,
    Dag,
    Engine,
    Enumeration,
    Factor,
    FactorGraph,
    ForwardSampling,
    Gibbs,
    ImportanceSampling,
    JunctionTree,
    LikelihoodWeighting,
    LogJunctionTree,
    LoopyPropagation,
    MarkovChain,
    MeanField,
    MetropolisHastings,
    PlainJunctionTree,
    RejectionSampling,
    SumProduct,
    Tabular,
    VariableElimination,
    WithinLimits,
)
from tests.graphical.models.test_network_text import COMPACT
from tests.strategies.network_files import networks

ENGINES = [
    Enumeration(),
    ForwardSampling(500, random_state=3),
    Gibbs(random_state=5),
    ImportanceSampling(random_state=4),
    JunctionTree(memory_limit="1GB"),
    LikelihoodWeighting(random_state=1),
    LogJunctionTree(10**9),
    LoopyPropagation(damping=0.25),
    MeanField(starts=2),
    MetropolisHastings(random_state=7),
    PlainJunctionTree(10**9),
    RejectionSampling(random_state=2),
    SumProduct(),
    VariableElimination(),
    WithinLimits(LoopyPropagation(), time_limit=0.5),
]


def saved(value: Any, folder: Path) -> Any:
    save(value, folder / "value.novum")
    return load(folder / "value.novum")


def pickled(value: Any, _: Path) -> Any:
    return pickle.loads(pickle.dumps(value))


def copied(value: Any, _: Path) -> Any:
    return copy.deepcopy(copy.copy(value))


WAYS = pytest.mark.parametrize("way", [saved, pickled, copied])
Way = Callable[[Any, Path], Any]


def bits(network: BayesianNetwork) -> list[tuple[Any, ...]]:
    return [
        (type(item), item.variable, item.parents, item.table.tobytes())
        for item in network.conditionals
    ]


@WAYS
def test_networks_keep_every_bit(way: Way, tmp_path: Path) -> None:
    network = BayesianNetwork.from_text(COMPACT)
    network.query("both", given={"fever": "yes"})
    again = way(network, tmp_path)
    assert again == network
    assert bits(again) == bits(network)
    assert again.query("cold", given={"both": 1}).values.tobytes() == (
        network.query("cold", given={"both": 1}).values.tobytes()
    )
    for item in again.conditionals:
        with pytest.raises(ValueError, match="read-only"):
            item.table[...] = 0.5
    with pytest.raises(AttributeError, match="never changes"):
        again.conditionals = ()


@given(networks())
def test_any_network_is_coded_and_decoded(network: BayesianNetwork) -> None:
    encoder = StateEncoder()
    node = json.loads(json.dumps(encoder.encode(network, "network")))
    decoder = StateDecoder(encoder.arrays.__getitem__, len(encoder.arrays), 10**6)
    again = decoder.decode_model(node)
    assert again.variables == network.variables
    assert bits(again) == bits(network)


def test_the_empty_network(tmp_path: Path) -> None:
    assert saved(BayesianNetwork(), tmp_path) == BayesianNetwork()


@pytest.mark.slow
def test_ten_thousand_nodes_are_a_handful_of_arrays(tmp_path: Path) -> None:
    axes = [StateAxis(f"x{i}", ("a", "b")) for i in range(12_000)]
    made = [Tabular(axes[0], (), [0.25, 0.75])]
    made += [Tabular(axes[i], (axes[i - 1],), [[0.25, 0.75], [0.5, 0.5]]) for i in range(1, 12_000)]
    network = BayesianNetwork(made)
    assert saved(network, tmp_path) == network
    assert describe(tmp_path / "value.novum")["n_arrays"] == 3


@WAYS
def test_factor_graphs_keep_every_bit(way: Way, tmp_path: Path) -> None:
    pair = {"b": ("x", "y", "z"), "a": (0, 1)}
    graph = FactorGraph([Factor(np.arange(6.0).reshape(3, 2) / 7, pair), Factor(1 / 3, {})])
    graph.query("a")
    again = way(graph, tmp_path)
    assert again.variables == graph.variables
    for old, new in zip(graph.factors, again.factors, strict=True):
        assert (old.variables, old.values.tobytes()) == (new.variables, new.values.tobytes())
        assert not new.values.flags.writeable
    assert again.query("a").values.tobytes() == graph.query("a").values.tobytes()


@WAYS
def test_chains_keep_every_bit(way: Way, tmp_path: Path) -> None:
    rows = np.random.default_rng(0).dirichlet(np.ones(7), 7)
    chain = MarkovChain(rows, states=["a", "b", 1, True, 0.5, "1", "True"])
    again = way(chain, tmp_path)
    assert again.states == chain.states
    assert [type(state) for state in again.states] == [type(state) for state in chain.states]
    assert again.transition.tobytes() == chain.transition.tobytes()
    assert again.stationary().values.tobytes() == chain.stationary().values.tobytes()


@WAYS
@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: type(engine).__name__)
def test_engines_come_back(engine: Any, way: Way, tmp_path: Path) -> None:
    assert way(engine, tmp_path) == engine


def test_no_engine_is_left_out() -> None:
    exported = {getattr(novum.graphical, name) for name in novum.graphical.__all__}
    engines = {
        found
        for found in exported
        if isinstance(found, type) and issubclass(found, Engine) and not isabstract(found)
    }
    assert engines == {type(engine) for engine in ENGINES}


@WAYS
def test_parts_come_back(way: Way, tmp_path: Path) -> None:
    network = BayesianNetwork.from_text(COMPACT)
    for item in network.conditionals:
        assert way(item, tmp_path) == item
    graph = Dag.from_edges([("a", "b"), ("b", "c")])
    assert way(graph, tmp_path) == graph
    factor = Factor([[1.0, 0.1]], {"a": ("x",), "b": (0, 1)})
    again = way(factor, tmp_path)
    assert (again.variables, again.values.tobytes()) == (factor.variables, factor.values.tobytes())


def test_generators_are_refused_with_advice(tmp_path: Path) -> None:
    engine = LikelihoodWeighting(random_state=np.random.default_rng(0))
    with pytest.raises(ModelFileError, match="Give an integer as random_state"):
        save(engine, tmp_path / "x.novum")


# --- The classifier -------------------------------------------------------------------------------


def given_network() -> tuple[BayesianNetworkClassifier, Any]:
    network = BayesianNetwork.from_text(COMPACT)
    rows = {"fever": ["yes", "no", None], "flu": ["none", None, "severe"]}
    model = BayesianNetworkClassifier(network, target="cold").fit(rows, ["yes", "no", "yes"])
    return model, rows


def estimated() -> tuple[BayesianNetworkClassifier, Any]:
    rng = np.random.default_rng(1)
    rows = {
        "size": rng.normal(size=60),
        "few": rng.integers(0, 3, 60).astype(float),
        "color": rng.choice(["red", "green"], 60).tolist(),
        "empty": [None] * 60,
    }
    labels = np.where(rows["size"] + rng.normal(size=60) > 0, "b", "a")
    frame = pd.DataFrame(rows)
    return BayesianNetworkClassifier().fit(frame, labels), frame


CASES = pytest.mark.parametrize("case", [given_network, estimated])


@CASES
@WAYS
def test_classifiers_predict_the_same_bits(case: Any, way: Way, tmp_path: Path) -> None:
    model, rows = case()
    again = way(model, tmp_path)
    assert again.predict_proba(rows).tobytes() == model.predict_proba(rows).tobytes()
    assert again.predict(rows).tolist() == model.predict(rows).tolist()
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.network == model.network
    assert again.network_ == model.network_
    assert again.schema_ == model.schema_
    # A loaded model can be cloned and fitted again.
    assert clone(again).get_params() == model.get_params()


@CASES
def test_the_same_model_gives_the_same_file(case: Any, tmp_path: Path) -> None:
    for name in ("a.novum", "b.novum"):
        save(case()[0], tmp_path / name)
    assert (tmp_path / "a.novum").read_bytes() == (tmp_path / "b.novum").read_bytes()
    assert not describe(tmp_path / "a.novum")["holds_training_rows"]


def test_unfitted_classifiers(tmp_path: Path) -> None:
    again = saved(BayesianNetworkClassifier(BayesianNetwork.from_text(COMPACT)), tmp_path)
    assert again.network == BayesianNetwork.from_text(COMPACT)
    assert not hasattr(again, "network_")


def set_target(model: Any) -> None:
    model.target_ = "nobody"


def set_order(model: Any) -> None:
    model._order = model._order * 0


def set_classes(model: Any) -> None:
    model.classes_ = model.classes_[::-1]


def set_prior(model: Any) -> None:
    model.class_prior_ = model.class_prior_[:-1]


def set_columns(model: Any) -> None:
    model.n_features_in_ += 1


def set_states(model: Any) -> None:
    model.column_states_ = () if model.column_states_ else (None,)


@CASES
@pytest.mark.parametrize(
    ("change", "words"),
    [
        (set_target, "target is no node"),
        (set_order, "classes are in no order"),
        (set_classes, "classes are not the states of its target"),
        (set_prior, "class shares do not belong"),
        (set_columns, "another number of columns"),
        (set_states, "have not one set of states each"),
    ],
)
def test_models_whose_parts_do_not_fit(case: Any, change: Any, words: str, tmp_path: Path) -> None:
    model, _ = case()
    change(model)
    with pytest.raises(ModelFileError, match=words):
        saved(model, tmp_path)
