"""Scores and parameters of networks with numbers against least squares and whole determinants."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical import (
    AIC,
    BIC,
    BDeu,
    BGe,
    Constraints,
    Dag,
    Exact,
    GreedyEquivalence,
    HillClimbing,
    LinearGaussianNetwork,
    LogLikelihood,
    Tabu,
    family_moments,
    fit_parameters,
    learn_structure,
    number_axis,
    score,
)
from novum.graphical.learning import read_numbers
from novum.graphical.learning.scores import FamilyScores
from tests.graphical.models.test_conditional_gaussian import random_network
from tests.oracles.gaussian_network_definitions import family_bic, log_marginal
from tests.oracles.network_learning_definitions import all_graphs


def numeric_rows(seed: int, n: int = 60, d: int = 4) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    mixing = np.tril(rng.normal(size=(d, d)))
    cells = rng.normal(size=(n, d)) @ mixing.T * [1.0, 100.0, 0.01, 3.0][:d] + [0, 50, 2, -4][:d]
    return {name: cells[:, i] for i, name in enumerate("abcd"[:d])}


@pytest.mark.parametrize("weighted", [False, True])
def test_families_of_numbers_equal_least_squares(weighted: bool) -> None:
    network = random_network(3)
    rows = network.sample(80, 0)
    weights = np.random.default_rng(0).integers(1, 4, 80) if weighted else None
    table = read_numbers(rows, None, weights)
    scores = FamilyScores(table, BIC())
    w = np.ones(80) if weights is None else weights.astype(float)
    for child in range(3, 7):
        for parents in ((), (0,), (4 if child != 4 else 5,), (0, 1, 3 if child != 3 else 6)):
            numeric = [p for p in parents if p >= 3]
            cases = np.zeros(80, int)
            q = 1
            for p in parents:
                if p < 3:
                    cases = cases * 3 + table.codes[p]
                    q *= int(table.cards[p])
            numbers = np.array([table.numbers[p] for p in numeric]).reshape(len(numeric), 80).T
            fit, parameters, n = family_bic(table.numbers[child], numbers, cases, w)
            expected = fit - 0.5 * math.log(n) * q * parameters
            assert scores.local(child, parents) == pytest.approx(expected, rel=1e-9)


def test_configurations_with_too_few_rows_share_a_regression() -> None:
    rng = np.random.default_rng(1)
    kind = ["a"] * 20 + ["b"] * 20 + ["c", "d", "d"]
    size = rng.normal(size=43)
    size[41:] = 0.5  # two rows without spread
    rows = {"kind": kind, "other": rng.normal(size=43), "size": size}
    graph = Dag(("kind", "other", "size"), ((), (), (0, 1)))
    network = fit_parameters(graph, rows, numbers="normal")
    total = score(graph, rows, LogLikelihood(), numbers="normal")
    assert network.log_density(rows).sum() == pytest.approx(total, rel=1e-9)
    alone = np.linalg.lstsq(np.column_stack([np.ones(43), rows["other"]]), size, rcond=None)[0]
    size_node = network["size"]
    assert size_node.intercept[2:].tolist() == pytest.approx([alone[0]] * 2)


@pytest.mark.parametrize("seed", [0, 5, 9])
def test_the_score_is_that_of_the_fitted_network(seed: int) -> None:
    network = random_network(seed)
    rows = network.sample(300, seed)
    for criterion, penalty in ((BIC(), 0.5 * math.log(300)), (AIC(), 1.0)):
        fitted = fit_parameters(network, rows)
        expected = fitted.log_density(rows).sum() - penalty * fitted.n_parameters
        assert score(network, rows, criterion) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("variance", [None, 2.5])
def test_bge_equals_whole_determinants_for_every_graph(variance: float | None) -> None:
    rows = numeric_rows(2, d=3)
    cells = np.column_stack(list(rows.values()))
    criterion = BGe(mean_rows=1.5, degrees=7.0, variance=variance)
    spreads = cells.var(axis=0) if variance is None else np.full(3, variance)

    def marginal(members) -> float:
        chosen = list(members)
        centers = cells.mean(axis=0)[chosen]
        return log_marginal(cells[:, chosen], 3, 1.5, 7.0, spreads[chosen], centers)

    by_class: dict[object, list[float]] = {}
    for parents in all_graphs(3):
        graph = Dag(("a", "b", "c"), parents)
        value = score(graph, rows, criterion)
        expected = sum(marginal((*p, i)) - marginal(p) for i, p in enumerate(parents))
        assert value == pytest.approx(expected, rel=1e-9)
        by_class.setdefault(graph.pattern(), []).append(value)
    for values in by_class.values():
        assert values == pytest.approx([values[0]] * len(values), rel=1e-9)
    # A complete graph has the marginal likelihood of all columns, whatever its order.
    assert by_class[Dag(("a", "b", "c"), ((), (0,), (0, 1))).pattern()][0] == pytest.approx(
        marginal((0, 1, 2)), rel=1e-9
    )


def test_units_do_not_change_what_is_learned() -> None:
    rows = numeric_rows(4, 200)
    other = {name: 1000 * cells - 7 for name, cells in rows.items()}
    for criterion in (BIC(), BGe()):
        one = learn_structure(rows, criterion, numbers="normal")
        two = learn_structure(other, criterion, numbers="normal")
        assert one.dag == two.dag
        assert two.score == pytest.approx(one.score - 4 * 200 * math.log(1000), rel=1e-9)


@pytest.mark.parametrize("criterion", [BIC(), BGe()])
def test_exact_is_the_best_of_all_graphs_and_searches_reach_it(criterion: BIC) -> None:
    rows = numeric_rows(6, 40)
    best = max(
        score(Dag(("a", "b", "c", "d"), p), rows, criterion, numbers="normal")
        for p in all_graphs(4)
    )
    exact = learn_structure(rows, criterion, Exact(), numbers="normal")
    assert exact.score == pytest.approx(best, rel=1e-9)
    assert exact.sentence == "proved best"
    for search in (None, HillClimbing(restarts=3), Tabu(), GreedyEquivalence()):
        learned = learn_structure(rows, criterion, search, numbers="normal")
        assert learned.score <= best + 1e-8
        assert isinstance(learned.network(), LinearGaussianNetwork)
    assert learn_structure(rows, criterion, numbers="normal").score == pytest.approx(best)


@pytest.mark.parametrize("criterion", [BIC(), BGe()])
def test_states_have_no_numeric_parents_and_edges_come_back(criterion: BIC) -> None:
    network = random_network(11)
    rows = network.sample(4000, 1)
    learned = learn_structure(rows, criterion, numbers="normal")
    assert all(not (a.startswith("x") and b.startswith("d")) for a, b in learned.dag.edges)
    truth = score(network.graph, rows, criterion, numbers="normal")
    assert learned.score >= truth - 1e-6
    exact = learn_structure(rows, criterion, Exact(), numbers="normal")
    assert exact.score >= learned.score - 1e-6
    assert learned.network().log_density(rows).mean() == pytest.approx(
        network.log_density(rows).mean(), abs=0.05
    )


def test_sums_add_stream_and_forget() -> None:
    network = random_network(4)
    rows = network.sample(90, 3)
    pieces = [{k: v[i : i + 30] for k, v in rows.items()} for i in (0, 30, 60)]
    sums = [family_moments(network, piece) for piece in pieces]
    whole = family_moments(network, rows)
    assert (sums[0] + sums[1] + sums[2]).isclose(whole)
    assert (whole - sums[1]).isclose(sums[0] + sums[2])
    weights = np.full(90, 2.0)
    assert (2.0 * whole).isclose(family_moments(network, rows, sample_weight=weights))
    one, two = whole.network(), (sums[0] + sums[1] + sums[2]).network()
    np.testing.assert_allclose(one.log_density(rows), two.log_density(rows), rtol=1e-9)
    with pytest.raises(InputError, match="never added"):
        _ = sums[0] - whole


def test_a_prior_gives_expected_numbers_and_shrinks() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=5)
    rows = {"x": x, "y": 2 * x + rng.normal(size=5)}
    graph = Dag.from_edges([("x", "y")])
    prior = BGe(mean_rows=2.0, degrees=6.0, variance=3.0)
    fitted = fit_parameters(graph, rows, prior)
    cells = np.column_stack([rows["x"], rows["y"]])
    mean = cells.mean(axis=0)
    scale = 2 * (6 - 3) / 3 * 3.0 * np.eye(2) + (cells - mean).T @ (cells - mean)
    slope = scale[0, 1] / scale[0, 0]
    left = scale[1, 1] - slope * scale[0, 1]
    node = fitted["y"]
    assert node.coefficients[0] == pytest.approx(slope)
    assert node.variance == pytest.approx(left / (6 + 5 - 2))
    # One row, and a configuration without any, are no obstacle to a prior.
    single = fit_parameters(graph, {"x": [1.0], "y": [2.0]}, prior)
    assert single["y"].variance > 0


@pytest.mark.slow
def test_intervals_cover_what_made_the_rows() -> None:
    network = random_network(8, 2, 3)
    hits, total = 0, 0
    for seed in range(60):
        sums = family_moments(network, network.sample(60, seed))
        for place, name in enumerate(network.names):
            ends = sums.intervals(None if seed % 2 else BGe(), 0.9)[name]
            if not network.is_numeric[place]:
                continue
            node = network.nodes[place]
            for part in ("intercept", "coefficients", "variance"):
                truth = np.asarray(getattr(node, part))
                inside = (ends[part][..., 0] <= truth) & (truth <= ends[part][..., 1])
                hits, total = hits + int(inside.sum()), total + inside.size
    # Entries of one family hang together: three standard errors of 60 fits of 3 families.
    assert abs(hits / total - 0.9) < 3 * math.sqrt(0.09 / (60 * 3))


def test_intervals_are_those_of_least_squares() -> None:
    rows = {"x": [0.0, 1.0, 2.0, 3.0], "y": [1.1, 2.9, 5.1, 6.9]}
    ends = family_moments(Dag.from_edges([("x", "y")]), rows).intervals()["y"]
    # By hand: slope 1.96, residual sum of squares 0.032, 2 degrees of freedom, t = 4.302653.
    half = 4.302652729911275 * math.sqrt(0.032 / 2 / 5)
    assert ends["coefficients"][0].tolist() == pytest.approx([1.96 - half, 1.96 + half])
    assert ends["variance"].tolist() == pytest.approx([0.032 / 7.377758908, 0.032 / 0.05063561597])


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: learn_structure(numeric_rows(0), BDeu(1.0), numbers="normal"),
            "BDeu is a score of counts",
        ),
        (
            lambda: learn_structure({"a": [1.0, 1.0, 1.0], "b": [1.0, 2.0, 4.0]}, BGe()),
            "Column 'a' is constant",
        ),
        (lambda: learn_structure({"a": [1.0], "b": [2.0]}, BGe()), "in many rows, and the table"),
        (
            lambda: fit_parameters(
                Dag.from_edges([("x", "k")]), {"x": [1.0, 2.0], "k": ["a", "b"]}, numbers="normal"
            ),
            "numeric parent 'x'",
        ),
        (
            lambda: learn_structure(
                {"x": [1.0, 2.0, 4.0], "k": ["a", "b", "a"]},
                constraints=Constraints(required=[("x", "k")]),
                numbers="normal",
            ),
            "from a number to a state",
        ),
        (
            lambda: fit_parameters(random_network(0), {"x0": [1.0]}),
            "no column for 'd0'",
        ),
        (
            lambda: family_moments(
                Dag(("k",), ((),)), {"k": ["z"]}, random_network(0).discrete.variables[:1]
            ),
            "no column for 'd0'",
        ),
        (lambda: BGe(mean_rows=0.0), "mean_rows of BGe"),
        (lambda: learn_structure(numeric_rows(0), BGe(degrees=4.0)), "degrees of BGe is above"),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]


def test_a_level_that_the_network_does_not_know_is_named() -> None:
    network = random_network(0)
    rows = {name: cells.tolist() for name, cells in network.sample(3, 0).items()}
    rows["d0"][1] = "strange"
    with pytest.raises(InputError, match="'strange' in row 1"):
        fit_parameters(network, rows)
    axes = [number_axis("x"), number_axis("y")]
    pieces = family_moments(Dag(("x", "y"), ((), ())), {"x": [1.0], "y": [2.0]}, axes)
    assert pieces.weight == 1.0


def test_collinear_parents_and_columns_without_spread() -> None:
    rng = np.random.default_rng(3)
    x = rng.normal(size=30)
    rows = {"x": x, "twice": 2 * x, "y": x + rng.normal(size=30)}
    graph = Dag(("x", "twice", "y"), ((), (), (0, 1)))
    fitted = fit_parameters(graph, rows, numbers="normal")
    alone = fit_parameters(Dag(("x", "twice", "y"), ((), (), (0,))), rows, numbers="normal")
    assert fitted["y"].coefficients == pytest.approx((alone["y"].coefficients[0], 0.0))
    # A column that is a function of another has no density given it.
    with pytest.raises(InputError, match="'twice' is a linear function of 'x'"):
        learn_structure(rows, numbers="normal")
    edges = learn_structure(rows, BGe()).dag.edges
    assert {("x", "twice"), ("twice", "x")} & set(edges)
