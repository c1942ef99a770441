"""EM against enumeration: expected counts, likelihoods that never fall, draws."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.core.sums import StopRule
from novum.graphical import BayesianNetwork, Dag
from novum.graphical.learning import expectation_kernels
from novum.graphical.learning.coded_table import CodedTable
from novum.graphical.learning.expectation import (
    ExpectedCounts,
    RowFamilies,
    drawn_rows,
    fit_expectation,
    score_with_missing,
)
from novum.graphical.learning.parameters import Dirichlet, fit_parameters
from novum.graphical.learning.scores import AIC, BIC, NML, BDeu, score
from tests.graphical.learning.learning_tables import random_graph, random_network, sampled
from tests.oracles.network_learning_definitions import (
    expected_family_tables,
    observed_log_likelihood,
)


def case(seed: int, n: int = 12, missing: float = 0.35) -> tuple[BayesianNetwork, CodedTable]:
    rng = np.random.default_rng(seed)
    cards = tuple(int(c) for c in rng.integers(1, 4, 5))
    network = random_network(rng, random_graph(rng, 5, 0.5), cards)
    table = sampled(network, n, seed)
    codes = table.codes.copy()
    codes[rng.random(codes.shape) < missing] = -1
    return network, CodedTable(table.variables, codes, rng.random(n) + 0.5)


def flat(network: BayesianNetwork) -> np.ndarray:
    return np.concatenate([item.table.ravel() for item in network.conditionals])


@given(seed=st.integers(0, 10**6))
def test_expected_counts_equal_enumeration(seed: int) -> None:
    network, table = case(seed)
    parents, cards = network.graph.parents, table.cards.tolist()
    tables = [item.table for item in network.conditionals]
    rows = table.codes.T.tolist()
    statistics = RowFamilies(table, parents).expected(flat(network))
    expected = expected_family_tables(tables, parents, cards, rows, table.weights)
    np.testing.assert_allclose(
        statistics.counts, np.concatenate([t.ravel() for t in expected]), atol=1e-12
    )
    logs = [observed_log_likelihood(tables, parents, cards, row) for row in rows]
    assert statistics.log_likelihood == pytest.approx(float(table.weights @ logs), rel=1e-12)


def by_junction_trees(
    network: BayesianNetwork, table: CodedTable, monkeypatch: pytest.MonkeyPatch
) -> ExpectedCounts:
    """The statistics where no row is left to the kernel."""

    def leaves_all(families, tables, rows, weights, begin, end, counts, logs) -> None:
        del families, tables, rows, weights, counts
        logs[begin:end] = np.nan

    rows = RowFamilies(table, network.graph.parents)
    with monkeypatch.context() as patch:
        patch.setattr(expectation_kernels, "add_expected", leaves_all)
        return rows.expected(flat(network))


def test_rows_of_large_components_go_to_a_junction_tree(monkeypatch: pytest.MonkeyPatch) -> None:
    network, table = case(11)
    quick = RowFamilies(table, network.graph.parents).expected(flat(network))
    slow = by_junction_trees(network, table, monkeypatch)
    np.testing.assert_allclose(quick.counts, slow.counts, atol=1e-12)
    assert quick.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("seed", range(6))
def test_missing_cells_that_hang_together_as_trees(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Below a class that is known a tree of eleven columns, and a known child of two of them."""
    rng = np.random.default_rng(seed)
    parents = [(), (0,), *((0, int(rng.integers(1, v))) for v in range(2, 12)), (1, 2)]
    names = [f"v{i}" for i in range(13)]
    graph = Dag(names, parents)
    network = random_network(rng, graph, tuple(int(c) for c in rng.integers(1, 4, 13)))
    table = sampled(network, 10, seed)
    codes = table.codes.copy()
    codes[1:12] = np.where(rng.random((11, 10)) < 0.7, -1, codes[1:12])
    gaps = CodedTable(table.variables, codes, rng.random(10) + 0.5)
    logs = np.empty(10)
    rows = RowFamilies(gaps, graph.parents)
    expectation_kernels.add_expected(
        rows.families, flat(network), rows.rows, rows.weights, 0, len(rows.rows),
        np.zeros(rows.n_cells), logs[: len(rows.rows)],
    )  # fmt: skip
    assert not np.isnan(logs[: len(rows.rows)]).any()
    quick, slow = rows.expected(flat(network)), by_junction_trees(network, gaps, monkeypatch)
    np.testing.assert_allclose(quick.counts, slow.counts, atol=1e-12)
    assert quick.log_likelihood == pytest.approx(slow.log_likelihood, rel=1e-12)


@pytest.mark.parametrize("prior", [None, BDeu(2.0), Dirichlet(0.5)], ids=str)
def test_the_objective_never_falls(prior: BDeu | None) -> None:
    for seed in range(6):
        network, table = case(seed, 60)
        fitted = fit_expectation(network.graph, table, prior)
        trace = np.array(fitted.certificate.trace)
        assert (np.diff(trace) >= -1e-9 * np.abs(trace[1:])).all()
        again = fit_expectation(network.graph, table, prior, stop=StopRule(tol=1e-12))
        assert again.certificate.value >= fitted.certificate.value - 1e-6
        frame = {
            axis.name: [None if c < 0 else axis.states[c] for c in codes]
            for axis, codes in zip(table.variables, table.codes, strict=True)
        }
        assert fitted.log_likelihood == pytest.approx(
            float(table.weights @ fitted.network.log_probabilities(frame)), rel=1e-9
        )


def test_whole_rows_need_one_round() -> None:
    network, table = case(2, 50, 0.0)
    fitted = fit_expectation(network.graph, table, BDeu(1.0))
    plain = fit_parameters(network.graph, table, BDeu(1.0))
    for name in network.names:
        np.testing.assert_allclose(fitted.network[name].table, plain[name].table, atol=1e-9)


def test_cells_that_are_missing_at_random_leave_no_bias() -> None:
    """Deleting rows would: `b` is missing where `a` is 1, and says what `a` was."""
    rng = np.random.default_rng(0)
    a = (rng.random(20_000) < 0.5).astype(int)
    b = (rng.random(20_000) < np.where(a == 1, 0.9, 0.2)).astype(int)
    cells = np.where((a == 1) & (rng.random(20_000) < 0.8), None, b.astype(object))
    rows = {"a": a, "b": [None if c is None else int(c) for c in cells]}
    graph = Dag.from_edges([("a", "b")])
    network = fit_parameters(graph, rows)
    (found,) = fit_expectation(graph, rows).missing_dependence
    assert (found.a, found.b) == ("b is missing", "a")
    truth = 0.5 * 0.9 + 0.5 * 0.2
    assert network.query("b").values[1] == pytest.approx(truth, abs=0.02)
    present = [c for c in cells if c is not None]
    assert np.mean(present) < truth - 0.1


def test_a_hidden_variable_explains_what_it_made() -> None:
    truth = (
        BayesianNetwork()
        .add("h", table=[0.4, 0.6])
        .add("x", parents="h", table=[[0.9, 0.1], [0.2, 0.8]])
        .add("y", parents="h", table=[[0.85, 0.15], [0.1, 0.9]])
        .add("z", parents="h", table=[[0.8, 0.2], [0.15, 0.85]])
    )
    rows = truth.sample(5000, random_state=0, frame="pandas").drop(columns="h")
    fitted = fit_expectation(truth.graph, rows, hidden={"h": 2})
    assert fitted.log_likelihood >= truth.log_likelihood(rows)
    shares = sorted(fitted.network.query("h").values.tolist())
    assert shares == pytest.approx([0.4, 0.6], abs=0.05)
    assert len(fitted.certificate.details["finals"]) == 10


def test_scores_with_missing_cells_are_those_of_the_known() -> None:
    network, table = case(5, 80, 0.2)
    fitted = fit_expectation(network.graph, table)
    expected = fitted.log_likelihood - fitted.network.n_parameters
    assert score(network.graph, table, AIC()) == pytest.approx(expected, rel=1e-9)
    whole = CodedTable(table.variables, np.maximum(table.codes, 0), table.weights)
    for criterion in (BIC(), BDeu(3.0)):
        assert score_with_missing(network.graph, whole, criterion, None) == pytest.approx(
            score(network.graph, whole, criterion), rel=1e-9
        )


def test_draws_follow_the_posterior() -> None:
    network = BayesianNetwork().add("a", table=[0.3, 0.7])
    network = network.add("b", parents="a", table=[[0.9, 0.1], [0.4, 0.6]])
    codes = np.array([[-1, -1], [0, -1]], np.int32)
    table = CodedTable(network.variables, codes)
    drawn = drawn_rows(network, table, 20_000, 0)
    assert (drawn.codes >= 0).all()
    first = drawn.codes[:, 0::2]
    assert (first[1] == 0).all()
    assert np.mean(first[0] == 0) == pytest.approx(0.27 / (0.27 + 0.28), abs=0.015)
    second = drawn.codes[:, 1::2]
    assert np.mean((second[0] == 1) & (second[1] == 1)) == pytest.approx(0.42, abs=0.015)


def test_bad_input_is_one_sentence() -> None:
    network, table = case(0)
    with pytest.raises(InputError, match="counts whole rows, and cells are missing"):
        score(network.graph, table, NML())
    with pytest.raises(InputError, match="'q' is no node"):
        fit_expectation(network.graph, table, hidden={"q": 2})
