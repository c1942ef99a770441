"""Questions to networks, by the front door."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical import (
    BayesianNetwork,
    Enumeration,
    JunctionTree,
    PlainJunctionTree,
    VariableElimination,
)
from novum.graphical.inference.sampling import LikelihoodWeighting
from tests.graphical.textbook_networks import alarm, brute_posterior, joint_of, random_network

HALF = [0.5, 0.5]


def copying() -> BayesianNetwork:
    """b is a copy of a, c depends on b, z on nothing."""
    return (
        BayesianNetwork()
        .add("a", table=HALF)
        .add("z", table=HALF)
        .add("b", parents=["a"], table=lambda a: a, states=["true", "false"])
        .add("c", parents=["b"], table=[[0.5, 0.5], [0.1, 0.9]])
    )


def test_joint_answers_have_the_axes_asked_also_of_observed_nodes() -> None:
    network = alarm()
    known = {"JohnCalls": "true"}
    table = network.query("JohnCalls", "Burglary", given=known)
    assert table.names == ("JohnCalls", "Burglary")
    assert table.values[1].tolist() == [0.0, 0.0]
    assert table.values[0].tolist() == network.query("Burglary", given=known).values.tolist()
    turned = network.query("Burglary", "JohnCalls", given=known)
    assert np.array_equal(turned.values, table.values.T)
    assert network.query("JohnCalls", given=known).values.tolist() == [1.0, 0.0]


@given(st.integers(0, 500), st.floats(1e-300, 1e300), st.floats(0.01, 100.0))
def test_soft_evidence_is_a_weight_of_states(seed: int, scale: float, odds: float) -> None:
    network = random_network(seed, 5)
    weights = {
        name: [odds**k for k in range(len(network[name].variable.states))] for name in ("v1", "v3")
    }
    scaled = {name: [scale * value for value in values] for name, values in weights.items()}
    wanted, total = brute_posterior(network, "v0", {}, weights)
    found = network.query("v0", likelihood=scaled)
    assert np.allclose(found.values, wanted, rtol=1e-11)
    log = network.log_evidence(likelihood=scaled)
    assert log == pytest.approx(math.log(total) + 2 * math.log(scale), rel=1e-9, abs=1e-9)


def test_certain_soft_evidence_is_evidence() -> None:
    network = alarm()
    soft = network.marginals(likelihood={"JohnCalls": [1, 0]})
    hard = network.marginals({"JohnCalls": "true"})
    for name in network.names:
        assert np.allclose(soft[name].values, hard[name].values, rtol=1e-13)


@pytest.mark.parametrize(
    ("ask", "parts"),
    [
        (lambda n, e: n.query("c", given=e), ["'a' = 'true'", "'b' = 'false'"]),
        # The answer itself does not depend on the contradiction.
        (lambda n, e: n.query("z", given=e), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.query("z", "a", given=e), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.marginals(e), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.most_probable(e), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.most_probable(e, nodes=["c"]), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.explain("c", e), ["'a' = 'true'", "'b' = 'false'"]),
        (lambda n, e: n.posteriors([{}, e], "c"), ["Row 1 ", "'a' = 'true'", "'b' = 'false'"]),
        (
            lambda n, e: n.query("c", given={"a": e["a"]}, likelihood={"b": [0, 1]}),
            ["'a' = 'true'", "the likelihood of 'b'"],
        ),
    ],
)
def test_impossible_evidence_names_a_smallest_conflict(ask: Any, parts: list[str]) -> None:
    known = {"z": "true", "a": "true", "b": "false"}
    network = copying()
    if "likelihood of" not in parts[-1]:
        assert network.log_evidence(known) == -math.inf
    with pytest.raises(ImpossibleEvidence) as caught:
        ask(network, known)
    text = str(caught.value)
    assert all(part in text for part in parts), text
    assert "'z'" not in text
    assert "cannot hold together" in text


def test_one_impossible_finding_is_said_alone() -> None:
    network = copying().do({"a": "true"})
    with pytest.raises(ImpossibleEvidence, match=r"'b' = 'false' is impossible\. Check that"):
        network.query("c", given={"z": "true", "b": "false"})
    # An intervention contradicts nothing.
    found = copying().query("c", given={"a": "true"}, do={"b": "false"})
    assert found.values.tolist() == [0.1, 0.9]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda n: n.query(), "at least one node"),
        (lambda n: n.query("Alarm", "Alarm"), "'Alarm' is asked twice"),
        (lambda n: n.query(["Alarm"]), "no node"),
        (lambda n: n.query("Alarm", given=["x"]), "given is a mapping"),
        (lambda n: n.query("Alarm", engine="junction"), "engine is an object such as"),
        (lambda n: n.query("Alarm", engine=JunctionTree), "engine is an object such as"),
        (lambda n: n.marginals(engine=3), "engine is an object such as"),
        (lambda n: n.log_evidence(engine="x"), "engine is an object such as"),
        (lambda n: n.most_probable(nodes=[]), "at least one node"),
        (lambda n: n.most_probable(nodes=["Alarm", "Alarm"]), "asked twice"),
        (lambda n: n.most_probable(k=0), "at least 1; got 0"),
        (lambda n: n.most_probable(k="a"), "at least 1; got 'a'"),
        (lambda n: n.most_probable(k=True), "at least 1; got True"),
        (lambda n: n.posteriors({"Alarm": ["true"]}, "Burglary", "Burglary"), "asked twice"),
        (lambda n: n.forecast(given={"x": 1}), "no node 'x'"),
        (lambda n: n.sample(-1), "at least 0"),
    ],
)
def test_wrong_questions_are_refused_in_words(ask: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        ask(alarm())


def test_engines_agree_and_say_the_probability_of_the_evidence() -> None:
    network = alarm()
    known = {"JohnCalls": "true"}
    for engine in (Enumeration(), VariableElimination(), PlainJunctionTree(), JunctionTree()):
        found = network.marginals(known, engine=engine)
        assert found["Burglary"].values[0] == pytest.approx(0.016283729946769937, rel=1e-12)
        assert found.log_evidence == pytest.approx(math.log(0.0521389757), rel=1e-12)
        assert network.log_evidence(known, engine=engine) == pytest.approx(found.log_evidence)
    with pytest.raises(InputError, match="does not know the probability of the evidence"):
        network.log_evidence(known, engine=LikelihoodWeighting())  # type: ignore[arg-type]


def test_most_probable_of_all_of_some_and_several() -> None:
    network = alarm()
    known = {"JohnCalls": "true", "MaryCalls": "true"}
    joint = joint_of(network)
    fits = sorted((p for s, p in joint.items() if s[3:] == ("true", "true")), reverse=True)
    best = network.most_probable(known, k=3)
    assert [c.probability for c in best] == pytest.approx(fits[:3], rel=1e-12)
    assert len(network.most_probable(k=100)) == 32
    # Alone, the alarm is more likely on than off; its states together with the rest are not.
    some = network.most_probable(known, nodes="Alarm")
    assert dict(some) == {"Alarm": "true"}
    wanted = sum(p for s, p in joint.items() if s[2:] == ("true",) * 3)
    assert some.probability == pytest.approx(wanted, rel=1e-12)


@pytest.mark.parametrize(
    "frame",
    [
        lambda c: c,
        lambda c: pd.DataFrame(c),
        lambda c: pd.DataFrame(c).astype("category"),
        lambda c: pl.DataFrame(c),
        lambda c: pl.DataFrame(c).cast(pl.Categorical),
        lambda c: pa.table(c),
        lambda c: [dict(zip(c, row, strict=True)) for row in zip(*c.values(), strict=True)],
    ],
)
def test_rows_with_missing_cells_in_any_frame(frame: Any) -> None:
    network = alarm()
    columns = {
        "JohnCalls": ["true", None, "false", None],
        "MaryCalls": [None, "true", "false", None],
        "Burglary": ["true", "false", None, "true"],
        "other": ["1", "2", "3", "4"],
    }
    rows = frame(columns)
    found = network.posteriors(rows, "Alarm", "Burglary")
    logs = network.log_probabilities(rows)
    for row in range(4):
        known = {n: columns[n][row] for n in network.names if columns.get(n, [None] * 4)[row]}
        wanted, total = brute_posterior(network, "Earthquake", known)
        assert logs[row] == pytest.approx(math.log(total), rel=1e-12, abs=1e-14)
        # What is asked is not used as evidence, of any of the nodes asked.
        rest = {n: s for n, s in known.items() if n != "Burglary"}
        for node in ("Alarm", "Burglary"):
            wanted, _ = brute_posterior(network, node, rest)
            assert np.allclose(found[node][row], wanted, rtol=1e-12)
    assert network.log_likelihood(rows) == pytest.approx(float(logs.sum()))


def test_samples_come_back_as_rows() -> None:
    network = alarm()
    for frame in ("arrow", "pandas", "polars"):
        rows = network.sample(50, 1, frame=frame)
        assert np.isfinite(network.log_probabilities(rows)).all()
    fixed = network.sample(20, 1, do={"Alarm": "true"}).column("Alarm").to_pylist()
    assert set(fixed) == {"true"}


def test_a_node_of_thousands_of_states() -> None:
    # More than a block of any program has cells.
    rng = np.random.default_rng(0)
    states = [str(i) for i in range(3000)]
    prior, chances = rng.dirichlet(np.ones(3000)), rng.uniform(0.1, 0.9, 3000)
    network = BayesianNetwork().add("wide", (), prior, states)
    for i in range(8):
        network = network.add(f"x{i}", ["wide"], np.stack([chances, 1 - chances], 1))
    expected = prior * chances * (1 - chances)
    expected /= expected.sum()
    known = {"x0": "true", "x5": "false"}
    for found in (
        network.query("wide", given=known).values,
        network.marginals(known)["wide"].values,
        network.posteriors([known, {"x0": "true"}], "wide")["wide"][0],
        network.posteriors([known, {"x0": "true"}])["wide"][0],
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-10)
