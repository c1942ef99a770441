"""UAI files: networks, factor graphs and evidence."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from novum.core.errors import FileFormatError
from novum.graphical.factor import Factor
from novum.graphical.formats import uai
from novum.graphical.formats.uai import read_evidence, read_factors, write_factors
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.factor_graph import FactorGraph
from tests.strategies.network_files import damaged, networks, refuses_or_reads

# The example of the competition's description, with a comment.
VALID = """BAYES
3
2 2 3
3
1 0   # scopes
2 0 1
2 1 2

2
 0.436 0.564
4
 0.128 0.872
 0.920 0.080
6
 0.210 0.333 0.457
 0.811 0.000 0.189
"""


def read(text: str) -> BayesianNetwork:
    return BayesianNetwork(uai.read(text.encode(), "file.uai"))


def test_the_last_of_a_scope_is_the_child() -> None:
    network = read(VALID)
    assert network.names == ("x0", "x1", "x2")
    assert network.edges == (("x0", "x1"), ("x1", "x2"))
    assert network["x2"].variable.states == (0, 1, 2)
    assert network["x2"].table.tolist() == [[0.21, 0.333, 0.457], [0.811, 0, 0.189]]


def test_tables_in_another_order_than_the_variables() -> None:
    text = "BAYES 2 2 1 2 2 0 1 1 0 2 1 1 2 0.5 0.5"
    assert read(text)["x0"].table.tolist() == [0.5, 0.5]


@given(networks())
def test_tables_and_edges_read_back_to_the_bit(network: BayesianNetwork) -> None:
    with pytest.warns(NetworkWarning, match="holds no names"):
        text = uai.written(network, "x.uai")
    again = read(text)
    for old, new in zip(network.conditionals, again.conditionals, strict=True):
        assert np.array_equal(old.table, new.table)
        assert [network.places[p.name] for p in old.parents] == [
            again.places[p.name] for p in new.parents
        ]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert uai.written(again, "x.uai") == text


def test_a_factor_graph_is_kept(tmp_path: Path) -> None:
    pair = {"a": ("x", "y"), "b": ("u", "v", "w")}
    graph = FactorGraph([Factor([[3, 1, 0.5], [1, 3, 2]], pair), Factor([1, 2], {"a": ("x", "y")})])
    with pytest.warns(NetworkWarning, match="x.uai.gz holds no names: the variables will be read"):
        write_factors(graph, tmp_path / "x.uai.gz")
    again = FactorGraph(read_factors(tmp_path / "x.uai.gz"))
    assert again.names == ("x0", "x1")
    for old, new in zip(graph.factors, again.factors, strict=True):
        assert np.array_equal(old.values, new.values)
    np.testing.assert_allclose(again.query("x1").values, graph.query("b").values, rtol=1e-15)


def test_variables_without_factors_and_constants_are_kept(tmp_path: Path) -> None:
    (tmp_path / "x.uai").write_text("MARKOV 2 2 3 2 1 0 0 2 3 4 1 0.5")
    factors = read_factors(tmp_path / "x.uai")
    assert [factor.names for factor in factors] == [("x0",), (), ("x1",)]
    assert [factor.values.tolist() for factor in factors] == [[3, 4], 0.5, [1, 1, 1]]


def test_a_network_is_a_product_of_factors_too(tmp_path: Path) -> None:
    (tmp_path / "x.uai").write_text(VALID)
    graph, network = FactorGraph(read_factors(tmp_path / "x.uai")), read(VALID)
    expected = network.query("x0", given={"x2": 1}).values
    np.testing.assert_allclose(graph.query("x0", given={"x2": 1}).values, expected, rtol=1e-14)


def test_numbers_of_variables_are_those_of_the_file(tmp_path: Path) -> None:
    # The first factor lists x1 first, and so does the graph.
    (tmp_path / "x.uai").write_text("MARKOV 2  2 3  1  2 1 0  6 1 2 3 4 5 6")
    (tmp_path / "x.evid").write_text("1 1 2")
    graph = FactorGraph.read(tmp_path / "x.uai")
    assert graph.names == ("x1", "x0")
    assert read_evidence(tmp_path / "x.evid", graph) == {"x1": 2}
    graph.write(tmp_path / "y.uai")
    again = FactorGraph.read(tmp_path / "y.uai")
    assert again.factors[0].names == ("x1", "x0")
    assert again.factors[0].values.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_tables_that_are_no_factors_are_named(tmp_path: Path) -> None:
    (tmp_path / "x.uai").write_text("MARKOV 1  2  2  1 0  1 0  2 1 2  2 1 -2")
    with pytest.raises(FileFormatError, match=r"x.uai: table 1: Values of a factor over 'x0' are"):
        FactorGraph.read(tmp_path / "x.uai")


@pytest.mark.parametrize("text", ["2 0 1 2 0", "1\n2 0 1 2 0"])
def test_evidence_in_both_forms(text: str, tmp_path: Path) -> None:
    (tmp_path / "x.evid").write_text(text)
    assert read_evidence(tmp_path / "x.evid", read(VALID)) == {"x0": 1, "x2": 0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("1 0 2", "2 is not a state of 'x0': they are numbered from 0 to 1"),
        ("1 9 0", "9 is not a variable: they are numbered from 0 to 2"),
        ("2 0 1", "2 numbers for 2 observations, 4 are needed"),
        ("", "expected the number of observed variables, found the end"),
    ],
)
def test_wrong_evidence_is_refused(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "x.evid").write_text(text)
    with pytest.raises(FileFormatError, match=words):
        read_evidence(tmp_path / "x.evid", read(VALID))


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("HELLO", 1, "expected BAYES or MARKOV, found 'HELLO'"),
        (VALID.replace("BAYES", "MARKOV"), 1, "this is a MARKOV file"),
        (VALID.replace("2 2 3", "2 2 2000000000"), 3, "expected a number of states"),
        (VALID.replace("2 2 3", "2 2 200000000"), 3, "the file has only"),
        (VALID.replace("2 2 3", "2 2 0"), 4, "every variable needs a state"),
        (VALID.replace("2 0 1", "2 0 3"), 6, "3 is not a variable of a scope"),
        (VALID.replace("2 0 1", "2 0 -1"), 6, "expected a variable of a scope, found '-1'"),
        (VALID.replace("2 0 1", "2 1 1"), 6, "stands twice in a scope"),
        (VALID.replace("\n4\n", "\n5\n"), 11, r"shape \(2, 2\) has 4 cells, not 5"),
        (VALID.replace("0.189", ""), 14, "a table needs 6 numbers, and 5 are left"),
        (VALID.replace("0.189", "nan"), 16, "expected a number, found 'nan'"),
        (VALID.replace("0.189", "1e"), 16, "expected a number, found '1e'"),
        (VALID + "1", 17, "expected the end of the file, found '1'"),
        (VALID.replace("2 0 1", "2 1 0"), None, "variable 0 is the last of two scopes"),
        ("BAYES 1 1 0 1", 1, "expected the end of the file"),
        ("", 1, "expected BAYES or MARKOV, found the end of the file"),
    ],
)
def test_malformed_files_name_place_and_reason(text: str, line: int | None, words: str) -> None:
    with pytest.raises(FileFormatError, match=words) as caught:
        read(text)
    assert caught.value.line == line, str(caught.value)


def test_many_large_variables_in_a_small_file_are_refused_at_once() -> None:
    n = 20_000
    with pytest.raises(FileFormatError, match="states in all"):
        read(f"MARKOV {n} " + "9000 " * n + "0 " * 10_000)


@settings(max_examples=200)
@given(damaged(VALID))
def test_damaged_files_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(uai, data)


@given(st.binary(max_size=100))
def test_random_bytes_are_refused_in_words(data: bytes) -> None:
    refuses_or_reads(uai, data)
