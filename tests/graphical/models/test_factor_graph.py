"""Factor graphs: products of factors against their definition."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import FileFormatError, InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    Factor,
    FactorGraph,
    NetworkWarning,
    PlainJunctionTree,
    VariableElimination,
    noisy_or,
)
from tests.graphical.textbook_networks import alarm

BITS = (0, 1)


def random_graph(seed: int) -> FactorGraph:
    rng = np.random.default_rng(seed)
    sizes = {"a": 2, "b": 3, "c": 2, "d": 1, "e": 2}
    scopes = [rng.permutation(list(sizes))[: rng.integers(0, 4)].tolist() for _ in range(6)]
    scopes.append(["a"])
    return FactorGraph(
        Factor(
            rng.uniform(0.1, 3.0, [sizes[n] for n in scope]),
            {n: tuple(range(sizes[n])) for n in scope},
        )
        for scope in scopes
    )


def brute(graph: FactorGraph) -> dict[tuple[Any, ...], float]:
    found = {}
    for states in itertools.product(*(axis.states for axis in graph.variables)):
        row = dict(zip(graph.names, states, strict=True))
        found[states] = math.prod(
            float(f.values[tuple(row[name] for name in f.names)]) for f in graph.factors
        )
    return found


@given(st.integers(0, 2000))
def test_answers_are_those_of_the_product(seed: int) -> None:
    graph = random_graph(seed)
    weights = brute(graph)
    total = sum(weights.values())
    assert graph.log_partition() == pytest.approx(math.log(total), rel=1e-10, abs=1e-12)
    place = graph.places["a"]
    ones = sum(w for states, w in weights.items() if states[place] == 1)
    assert graph.probability({"a": 1}) == pytest.approx(ones / total, rel=1e-11)
    for engine in (None, PlainJunctionTree(), VariableElimination()):
        assert graph.query("a", engine=engine).values[1] == pytest.approx(ones / total, rel=1e-11)
    best = graph.most_probable()
    assert best.probability == pytest.approx(max(weights.values()) / total, rel=1e-11)
    rows = {"a": [1, None]}
    wanted = [math.log(ones / total), 0.0]
    assert np.allclose(graph.log_probabilities(rows), wanted, rtol=1e-10, atol=1e-12)


def test_a_network_as_factors_is_the_same_distribution() -> None:
    network = alarm()
    graph = FactorGraph.of(network)
    assert graph.log_partition() == pytest.approx(0.0, abs=1e-12)
    known = {"JohnCalls": "true"}
    for name in network.names:
        mine, theirs = graph.query(name, given=known), network.query(name, given=known)
        assert np.allclose(mine.values, theirs.values, rtol=1e-12)
    assert graph.log_evidence(known) == pytest.approx(network.log_evidence(known), rel=1e-12)


def test_values_beyond_floating_point_numbers_are_no_problem() -> None:
    huge = Factor([1e200, 3e200], {"a": BITS})
    graph = FactorGraph([huge] * 5)
    wanted = 3**5 / (3**5 + 1)
    for engine in (PlainJunctionTree(), VariableElimination()):
        assert graph.query("a", engine=engine).values[1] == pytest.approx(wanted, rel=1e-11)
        log = graph.log_evidence(engine=engine)
        assert log == pytest.approx(5 * 200 * math.log(10) + math.log(3**5 + 1), rel=1e-12)


def test_trees_are_told_from_graphs_with_cycles() -> None:
    def edge(x: str, y: str) -> Factor:
        return Factor(np.ones((2, 2)), {x: BITS, y: BITS})

    assert FactorGraph([edge("a", "b"), edge("b", "c")]).is_tree
    assert not FactorGraph([edge("a", "b"), edge("b", "c"), edge("c", "a")]).is_tree
    # Two factors over the same pair are a cycle, and separate parts are a forest.
    assert not FactorGraph([edge("a", "b"), edge("a", "b")]).is_tree
    assert FactorGraph([edge("a", "b"), edge("c", "d"), Factor(2.0, {})]).is_tree


def test_a_graph_is_a_value() -> None:
    graph = random_graph(3)
    graph.marginals()
    with pytest.raises(AttributeError, match="FactorGraph never changes"):
        graph.factors = ()  # type: ignore[misc]
    again = pickle.loads(pickle.dumps(graph))
    assert again.query("a").values.tolist() == graph.query("a").values.tolist()
    assert repr(graph).startswith("FactorGraph of ")
    with pytest.raises(TypeError, match="does not support item assignment"):
        graph.places["a"] = 5  # type: ignore[index]


def test_what_is_wrong_is_said() -> None:
    for wrong in (None, [1], 3):
        with pytest.raises(InputError, match="made of factors"):
            FactorGraph(wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="at least one variable"):
        FactorGraph([])
    with pytest.raises(InputError, match="'a' has the states 0, 1 in one factor and 1, 0"):
        FactorGraph([Factor([1, 2], {"a": (0, 1)}), Factor([1, 2], {"a": (1, 0)})])
    nothing = FactorGraph([Factor([0.0, 0.0], {"a": BITS})])
    with pytest.raises(ImpossibleEvidence, match="no state of all variables that is possible"):
        nothing.query("a")
    with pytest.raises(InputError, match="no conditional tables"):
        random_graph(1).sample(3)


@pytest.mark.parametrize("name", ["pair.uai", "pair.UAI", "my.pair.uai.gz"])
def test_files_keep_every_factor(name: str, tmp_path: Path) -> None:
    graph = FactorGraph(
        [Factor([[1 / 3, 1.0], [1.0, 3.0]], {"x0": (0, 1), "x1": (0, 1)}), Factor(0.1, {})]
    )
    graph.write(tmp_path / name)
    again = FactorGraph.read(tmp_path / name)
    assert again.variables == graph.variables
    for old, new in zip(graph.factors, again.factors, strict=True):
        assert (old.variables, old.values.tobytes()) == (new.variables, new.values.tobytes())


def test_files_of_networks_are_factors_where_they_have_numbers_only(tmp_path: Path) -> None:
    network = BayesianNetwork().add("x0", table=[0.2, 0.8], states=[0, 1])
    network = network.add("x1", ["x0"], [[0.9, 0.1], [0.3, 0.7]], states=[0, 1])
    network.write(tmp_path / "x.uai")
    graph = FactorGraph.read(tmp_path / "x.uai")
    assert graph.log_partition() == pytest.approx(0.0, abs=1e-15)
    graph.write(tmp_path / "y.uai")
    with pytest.raises(FileFormatError, match=r"MARKOV file.* Read it with FactorGraph\.read"):
        BayesianNetwork.read(tmp_path / "y.uai")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("x.bif", r"'x.bif' is a file of a Bayesian network; .* FactorGraph\.of\(network\)"),
        ("x.network.gz", "is a file of a Bayesian network"),
        ("x.txt", r"no suffix of a factor graph's file. Use \.uai, also with \.gz"),
        ("x", "no suffix of a factor graph's file"),
    ],
)
def test_other_suffixes_say_what_to_do(name: str, words: str, tmp_path: Path) -> None:
    graph = FactorGraph([Factor([1.0, 2.0], {"x0": (0, 1)})])
    with pytest.raises(InputError, match=words):
        graph.write(tmp_path / name)
    with pytest.raises(InputError, match=words):
        FactorGraph.read(tmp_path / name)


def many_causes() -> BayesianNetwork:
    network = BayesianNetwork()
    for number in range(30):
        network = network.add(f"p{number}", table=[0.1 + 0.01 * number, 0.9 - 0.01 * number])
    strengths = [0.1 + 0.02 * number for number in range(30)]
    network = network.add("x", network.names, noisy_or(strengths, leak=0.05))
    return network.add("y", ["x"], [[0.9, 0.1], [0.2, 0.8]])


def test_a_noisy_or_of_many_parents_becomes_small_factors() -> None:
    network = many_causes()
    graph = FactorGraph.of(network)
    assert set(graph.names) == set(network.names)
    assert max(factor.values.size for factor in graph.factors) == 8
    known = {"y": "true", "p3": "false"}
    one, other = graph.query("p7", given=known), network.query("p7", given=known)
    np.testing.assert_allclose(one.values, other.values, rtol=1e-12)
    assert graph.most_probable(known) == network.most_probable(known)
    assert graph.probability(known) == pytest.approx(network.probability(known), rel=1e-12)
    assert len(graph.auxiliary) == 29
    assert graph.auxiliary[0].name not in graph


def test_auxiliary_variables_stay_hidden_in_copies(tmp_path: Path) -> None:
    graph = FactorGraph.of(many_causes())
    for again in (pickle.loads(pickle.dumps(graph)), FactorGraph._from_saved(graph.record)):
        assert again.names == graph.names
        assert again.auxiliary == graph.auxiliary
        assert again.marginals()["x"].isclose(graph.marginals()["x"])
    with pytest.warns(NetworkWarning):
        graph.write(tmp_path / "x.uai")
    assert len(FactorGraph.read(tmp_path / "x.uai")) == len(graph) + len(graph.auxiliary)


def test_a_name_that_an_auxiliary_variable_would_have_is_left_to_its_node() -> None:
    network = many_causes().rename({"p0": "auxiliary 1"})
    assert "auxiliary 1" in FactorGraph.of(network)


def test_a_graph_is_a_collection_of_its_variables() -> None:
    graph = FactorGraph([Factor([1.0, 2.0], {"a": (0, 1)}), Factor([1.0, 2.0], {"b": (0, 1)})])
    assert list(graph) == ["a", "b"]
    assert len(graph) == 2
    assert "a" in graph
    assert "c" not in graph
    assert 3 not in graph


def test_factors_have_an_order() -> None:
    with pytest.raises(InputError, match="Factors are a list"):
        FactorGraph({Factor([1.0, 2.0], {"a": (0, 1)})})
