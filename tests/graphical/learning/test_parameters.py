"""Counts of families by enumeration, tables by hand, sums that add and subtract."""

from __future__ import annotations

import dask
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError, MemoryLimitError
from novum.distributions import StateAxis
from novum.graphical import BayesianNetwork, Dag
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.parameters import (
    Dirichlet,
    MEstimate,
    counted,
    family_counts,
    fit_parameters,
    network_of,
)
from novum.graphical.learning.scores import K2, BDeu
from tests.oracles.network_learning_definitions import family_table

PARENTS = ((), (0,), (0, 1), (2, 0, 1))
GRAPH = Dag(("a", "b", "c", "d"), PARENTS)


def random_table(rng: np.random.Generator, n: int, missing: float = 0.0) -> CodedTable:
    cards = rng.integers(1, 5, 4)
    codes = np.stack([rng.integers(0, card, n) for card in cards]).astype(np.int32)
    codes[rng.random(codes.shape) < missing] = -1
    axes = tuple(
        StateAxis(name, tuple(range(int(card)))) for name, card in zip("abcd", cards, strict=True)
    )
    return CodedTable(axes, codes)


@given(seed=st.integers(0, 10**6), weighted=st.booleans(), missing=st.sampled_from([0.0, 0.2]))
def test_counts_equal_enumeration(seed: int, weighted: bool, missing: float) -> None:
    rng = np.random.default_rng(seed)
    table = random_table(rng, int(rng.integers(1, 200)), missing)
    weights = rng.random(table.n_rows) + 0.1 if weighted else np.ones(table.n_rows)
    if weighted:
        table = CodedTable(table.variables, table.codes, weights)
    cells = counted(table, PARENTS)
    rows, cards = table.codes.T.tolist(), table.cards.tolist()
    expected = [family_table(rows, weights, cards, p, v).ravel() for v, p in enumerate(PARENTS)]
    np.testing.assert_allclose(cells, np.concatenate(expected), rtol=1e-12)


def test_long_tables_and_tables_of_many_cells_count_alike() -> None:
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 9, (4, 70_000)).astype(np.int32)
    table = CodedTable(tuple(StateAxis(n, tuple(range(9))) for n in "abcd"), codes)
    cells = counted(table, ((), (0,), (0, 1), (0, 1, 2)))
    index = ((codes[0] * 9 + codes[1]) * 9 + codes[2]) * 9 + codes[3]
    assert cells[-(9**4) :].tolist() == np.bincount(index, minlength=9**4).tolist()
    assert cells[9 : 9 + 81].tolist() == np.bincount(codes[0] * 9 + codes[1]).tolist()


def test_priors_by_hand() -> None:
    rows = {"a": ["n", "n", "y", "y"], "b": ["n", "n", "y", "n"]}
    graph = Dag(("a", "b"), ((), (0,)))
    assert fit_parameters(graph, rows)["b"].table.tolist() == [[1.0, 0.0], [0.5, 0.5]]
    assert fit_parameters(graph, rows, K2())["b"].table.tolist() == [[0.75, 0.25], [0.5, 0.5]]
    assert fit_parameters(graph, rows, BDeu(8.0))["b"].table[0].tolist() == [4 / 6, 2 / 6]
    assert fit_parameters(graph, rows, MEstimate(2))["b"].table[0].tolist() == [0.75, 0.25]
    given_counts = Dirichlet({"b": [[0, 6], [0, 0]]})
    assert fit_parameters(graph, rows, given_counts)["b"].table[0].tolist() == [0.25, 0.75]


def test_what_no_row_says_is_uniform_and_states_of_a_network_stay() -> None:
    network = BayesianNetwork().add("a", table={"u": 0.5, "v": 0.25, "w": 0.25})
    network = network.add("b", parents="a", table=[[0.1, 0.9]] * 3, states=["no", "yes"])
    fitted = fit_parameters(network, {"a": ["u", "v"], "b": ["yes", "no"]})
    assert fitted["b"].table.tolist() == [[0, 1], [1, 0], [0.5, 0.5]]
    assert fitted.variables == network.variables


def test_counts_stream_and_forget() -> None:
    rng = np.random.default_rng(3)
    table = random_table(rng, 100)
    whole = family_counts(GRAPH, table)
    first = CodedTable(table.variables, np.ascontiguousarray(table.codes[:, :60]))
    rest = CodedTable(table.variables, np.ascontiguousarray(table.codes[:, 60:]))
    parts = [family_counts(GRAPH, t) for t in (first, rest)]
    assert (parts[0] + parts[1]).isclose(whole)
    assert (whole - parts[1]).isclose(parts[0])
    assert (2 * whole).weight == 200
    with pytest.raises(InputError, match="Remove only what was added"):
        parts[0] - whole
    weighted = CodedTable(table.variables, table.codes, np.full(100, 2.0))
    assert family_counts(GRAPH, weighted).isclose(2 * whole)


@pytest.mark.usefixtures("client")
def test_counts_of_a_cluster_are_those_of_the_table() -> None:
    table = random_table(np.random.default_rng(4), 120)
    pieces = [
        CodedTable(table.variables, np.ascontiguousarray(table.codes[:, begin : begin + 40]))
        for begin in (0, 40, 80)
    ]
    tasks = [dask.delayed(family_counts)(GRAPH, piece) for piece in pieces]
    first, *others = dask.compute(*tasks)
    assert sum(others, first).isclose(family_counts(GRAPH, table))


def test_intervals_cover_their_entries() -> None:
    """Of 95 % intervals of a known table, about 95 % hold the truth (binomial, 6 sigma)."""
    truth = network_of(
        (StateAxis("a", (0, 1)), StateAxis("b", (0, 1, 2))), ((), (0,)),
        np.array([0.3, 0.7, 0.2, 0.3, 0.5, 0.6, 0.1, 0.3]),
    )  # fmt: skip
    inside = []
    for seed in range(60):
        rows = truth.sample(200, random_state=seed)
        ends = family_counts(truth, rows).intervals(K2())
        for name in truth.names:
            table = truth[name].table
            inside += (
                ((ends[name][..., 0] <= table) & (table <= ends[name][..., 1])).ravel().tolist()
            )
    assert abs(np.mean(inside) - 0.95) < 6 * np.sqrt(0.95 * 0.05 / len(inside))


def test_no_distribution_is_an_interval_of_one_point() -> None:
    counts = family_counts(Dag(("a",), ((),)), {"a": ["x", "x"]})
    assert counts.intervals()["a"].tolist() == [[1.0, 1.0]]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: fit_parameters(GRAPH, {"a": [1], "b": [1], "c": [1]}), "no column 'd'"),
        (lambda: fit_parameters(Dag(("a",), ((),)), {"a": [1]}, 3.0), "prior is a value"),
        (lambda: fit_parameters("a", {"a": [1]}), "structure is a Dag"),
        (lambda: Dirichlet({"a": [1, 2, 3]}).pseudo_counts((2,), "a"), r"shape \(2,\)"),
        (
            lambda: fit_parameters(Dag(("a",), ((),)), {"a": [1]}, Dirichlet({"z": 1.0})),
            "'z', which are no nodes",
        ),
        (lambda: MEstimate(-1.0), "at least 0"),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]


def test_a_table_that_is_too_large_says_its_price() -> None:
    names = [f"v{i}" for i in range(12)]
    rows = {name: list(range(9)) for name in names}
    graph = Dag.from_edges([(name, "v0") for name in names[1:]], names)
    with pytest.raises(MemoryLimitError, match=r"'v0' with its 11 parents .* cells and needs"):
        fit_parameters(graph, rows)
