"""Cuts of columns: by hand, by brute force over all cuts, and in turns with the search."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical import (
    AIC,
    BIC,
    BayesianNetwork,
    BDeu,
    BGe,
    ByScore,
    Dag,
    EqualFrequency,
    MinimumDescription,
    fit_parameters,
    learn_structure,
    read_table,
    score,
)
from novum.graphical.learning import read_numbers
from novum.graphical.learning.discretization import cuts_score, with_intervals
from novum.graphical.naive_network import intervals_after


def rows_of(seed: int, n: int = 400) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    kind = rng.integers(0, 3, n)
    x = rng.normal(size=n) + 3 * kind
    y = x + rng.normal(size=n) * 0.5
    return {"kind": np.array(list("abc"))[kind], "x": x, "y": y, "noise": rng.normal(size=n)}


def test_equal_frequencies_and_few_numbers() -> None:
    table = read_numbers({"x": np.arange(24.0), "few": [1.0, 2.0, 5.0] * 8})
    coded = EqualFrequency(4).cut(table)
    assert np.bincount(coded.codes[0]).tolist() == [6, 6, 6, 6]
    assert coded.variables[1].states == (1.0, 2.0, 5.0)
    assert coded.variables[0].states == ("up to 5.5", "5.5 to 11.5", "11.5 to 17.5", "above 17.5")


def test_a_target_decides_where_to_cut() -> None:
    rows = {"size": np.arange(40.0), "kind": ["a"] * 15 + ["b"] * 25, "noise": [0.0, 1.0] * 20}
    coded = MinimumDescription("kind").cut(read_numbers(rows))
    assert coded.variables[0].states == ("up to 14.5", "above 14.5")
    assert coded.variables[2].states == ("all numbers",)
    assert read_table(rows, numbers=MinimumDescription("kind")).codes[0].sum() == 25


@pytest.mark.parametrize("criterion", [BIC(), AIC()])
def test_cuts_given_a_graph_are_the_best_of_all(criterion: BIC) -> None:
    rng = np.random.default_rng(2)
    x = np.round(rng.normal(size=60), 1)
    x = np.clip(x, -0.6, 0.6)
    up = np.where(rng.random(60) < 0.85, x > 0.1, x <= 0.1)
    rows = {"side": rng.integers(0, 2, 60).astype(str), "x": x, "up": up}
    raw = read_numbers(rows)
    values = np.unique(x)
    graph = Dag(("side", "x", "up"), ((), (0,), (1, 0)))

    def worth(ends) -> float:
        item = intervals_after("x", values, np.array(ends, np.int64))
        coded = with_intervals(raw, [None, item, None])
        return score(graph, coded, criterion) + cuts_score(raw, coded)

    gaps = range(len(values) - 1)
    best = max(worth(ends) for k in (1, 2, 3) for ends in itertools.combinations(gaps, k))
    rule = ByScore(max_intervals=4)
    coded, gain = rule.given_graph(raw, rule.cut(raw), graph, criterion.penalty(60))
    reached = score(graph, coded, criterion) + cuts_score(raw, coded)
    assert reached == pytest.approx(best, rel=1e-9)
    first = rule.cut(raw)
    assert gain == pytest.approx(
        reached - score(graph, first, criterion) - cuts_score(raw, first), rel=1e-9
    )


def test_search_and_cuts_take_turns_and_never_lose() -> None:
    rows = rows_of(0)
    learned = learn_structure(rows, numbers=ByScore())
    trace = np.array(learned.certificate.details["scores_with_cuts"])
    assert (np.diff(trace) > 0).all()
    assert learned.dag.skeleton == {frozenset({"kind", "x"}), frozenset({"x", "y"})}
    raw = read_numbers(rows)
    assert learned.score + cuts_score(raw, learned.table) == pytest.approx(trace[-1])
    fixed = learn_structure(rows)
    assert trace[-1] > fixed.score + cuts_score(raw, fixed.table)


def test_answers_are_in_the_terms_of_the_table() -> None:
    rows = rows_of(1)
    network = learn_structure(rows, numbers=ByScore()).network(BDeu(1.0))
    by_number = network.query("kind", given={"x": 3.2})
    state = network["x"].variable.states[int(np.searchsorted(_ends(network, "x"), 3.2))]
    assert by_number.values.tolist() == network.query("kind", given={"x": state}).values.tolist()
    shares = network.posteriors({"x": rows["x"], "y": rows["y"]}, "kind")["kind"]
    guessed = np.array(network["kind"].variable.states)[shares.argmax(axis=1)]
    assert (guessed == rows["kind"]).mean() > 0.85
    again = BayesianNetwork.from_text(network.to_text())
    # Names of intervals say all there is, so a file keeps the meaning of numbers.
    np.testing.assert_allclose(
        again.posteriors({"x": rows["x"]}, "kind")["kind"],
        network.posteriors({"x": rows["x"]}, "kind")["kind"],
    )


def _ends(network: BayesianNetwork, name: str) -> list[float]:
    return [
        float(str(s).removeprefix("up to ").split(" to ")[-1])
        for s in network[name].variable.states[:-1]
    ]


def test_a_graph_that_is_given_gets_its_cuts() -> None:
    rows = rows_of(3)
    graph = Dag(("kind", "x", "y", "noise"), ((), (0,), (1,), ()))
    network = fit_parameters(graph, rows, numbers=ByScore())
    assert network["x"].variable.states != read_table(rows).variables[1].states
    # A column without edges says nothing about its cuts.
    assert network["noise"].variable.states == read_table(rows).variables[3].states
    weights = np.full(400, 2.0)
    twice = fit_parameters(graph, {k: np.repeat(v, 2) for k, v in rows.items()}, numbers=ByScore())
    assert fit_parameters(graph, rows, numbers=ByScore(), sample_weight=weights) == twice


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (
            lambda: learn_structure(rows_of(0), numbers="cut"),
            "numbers is 'frequency', 'mdl', 'score', or a value such as EqualFreq",
        ),
        (lambda: learn_structure(rows_of(0), BDeu(1.0), numbers=ByScore()), "BDeu is none"),
        (lambda: learn_structure(rows_of(0), BGe(), numbers=EqualFrequency()), "one of both out"),
        (
            lambda: learn_structure({"x": [1.0, np.nan, 2.0], "k": list("aab")}, numbers=ByScore()),
            "'x' has missing cells",
        ),
        (
            lambda: read_table({"x": [1.0, 2.0]}, numbers=MinimumDescription("z")),
            "target 'z' is no column",
        ),
        (lambda: EqualFrequency(1), "at least 2"),
        (lambda: ByScore(start=ByScore()), "start of ByScore"),
    ],
)
def test_bad_input_is_one_sentence(call: object, sentence: str) -> None:
    with pytest.raises(InputError, match=sentence):
        call()  # type: ignore[operator]
