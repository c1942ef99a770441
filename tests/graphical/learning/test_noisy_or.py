"""Noisy ors by their likelihood: closed forms, SciPy's optimizer, recovery, and what is proved."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize

from novum.core.errors import InputError
from novum.graphical import (
    BayesianNetwork,
    BDeu,
    Dag,
    NoisyOr,
    fit_expectation,
    fit_noisy_or,
    fit_parameters,
    noisy_or,
)


def truth(strengths=(0.8, 0.3, 0.0), leak=0.1, active=0.4) -> BayesianNetwork:
    network = BayesianNetwork()
    names = [f"cause{i}" for i in range(len(strengths))]
    for name in names:
        network = network.add(name, table=[active, 1 - active], states=["yes", "no"])
    return network.add(
        "effect", parents=names, table=noisy_or(list(strengths), leak), states=["yes", "no"]
    )


def log_likelihood(node: NoisyOr, rows) -> float:
    total = 0.0
    for row in rows.itertuples():
        silent = 1 - node.leak
        for parent, strength in zip(node.parents, node.strengths, strict=True):
            silent *= 1 - strength if getattr(row, parent.name) == "yes" else 1.0
        total += np.log(1 - silent if row.effect == "yes" else silent)
    return total


def test_strengths_come_back_and_the_maximum_is_proved() -> None:
    network = truth()
    rows = network.sample(4000, 1, frame="pandas")
    fitted = fit_noisy_or(network, rows, "effect")
    assert fitted.certificate.verdict.value == "proved"
    assert fitted.log_likelihood == pytest.approx(log_likelihood(fitted.conditional, rows))
    np.testing.assert_allclose(fitted.conditional.strengths, (0.8, 0.3, 0.0), atol=0.05)
    assert fitted.conditional.leak == pytest.approx(0.1, abs=0.03)
    again = fit_parameters(network, rows)
    assert isinstance(again["effect"], NoisyOr)
    assert again["effect"] == fitted.conditional
    # The node answers questions like any other.
    shares = again.query("cause0", given={"effect": "yes"}).values
    np.testing.assert_allclose(
        shares, network.query("cause0", given={"effect": "yes"}).values, atol=0.03
    )


@given(seed=st.integers(0, 10**6), n=st.integers(1, 40), weighted=st.booleans())
def test_no_strengths_have_a_larger_likelihood(seed: int, n: int, weighted: bool) -> None:
    rng = np.random.default_rng(seed)
    active = rng.random((n, 2)) < 0.5
    fires = rng.random(n) < 0.2 + 0.5 * active[:, 0]
    weights = rng.integers(1, 4, n).astype(float) if weighted else np.ones(n)
    rows = {"a": active[:, 0].astype(int), "b": active[:, 1].astype(int), "x": fires.astype(int)}
    either = {"strengths": [0.5, 0.5], "leak": 0.1}
    network = BayesianNetwork.from_dict({
        "a": {"states": [0, 1], "table": [0.5, 0.5]},
        "b": {"states": [0, 1], "table": [0.5, 0.5]},
        "x": {"states": [0, 1], "parents": ["a", "b"], "noisy_or": either},
    })  # fmt: skip
    fitted = fit_noisy_or(network, rows, "x", sample_weight=weights)

    def loss(p) -> float:
        silent = (1 - p[2]) * np.where(active, 1 - p[:2], 1.0).prod(axis=1)
        chance = np.clip(np.where(fires, 1 - silent, silent), 1e-300, None)
        return float(-(weights * np.log(chance)).sum())

    node = fitted.conditional
    own = loss(np.array([*node.strengths, node.leak]))
    assert own == pytest.approx(-fitted.log_likelihood, abs=1e-8)
    assert fitted.certificate.gap <= 1e-7 * max(own, 1.0)
    for start in (np.full(3, 0.5), rng.random(3)):
        found = minimize(loss, start, bounds=[(0.0, 1.0)] * 3, method="L-BFGS-B")
        assert own <= found.fun + 1e-6


def test_one_parent_has_a_closed_form() -> None:
    rows = {
        "a": ["yes"] * 10 + ["no"] * 10,
        "x": ["yes"] * 7 + ["no"] * 3 + ["yes"] * 2 + ["no"] * 8,
    }
    node = fit_noisy_or(Dag.from_edges([("a", "x")]), rows, "x").conditional
    assert node.leak == pytest.approx(0.2)
    assert node.strengths[0] == pytest.approx(1 - 0.3 / 0.8)


def test_certain_and_never_active_parents() -> None:
    graph = Dag.from_edges([("a", "x"), ("b", "x")])
    rows = {"a": [1, 1, 0, 0, 0], "b": [0, 0, 0, 0, 0], "x": [1, 1, 0, 1, 0]}
    network = fit_parameters(graph, {**rows, "b": [0, 0, 1, 0, 0]}, noisy_or=["x"])
    assert network["x"].strengths == pytest.approx((1.0, 0.0))
    kept = network.replace("x", noisy_or([0.5, 0.25], 0.1))
    fitted = fit_noisy_or(kept, rows, "x")
    assert fitted.conditional.strengths == pytest.approx((1.0, 0.25))
    assert fitted.certificate.details["never_active"] == ("b",)


def test_many_parents_need_no_table() -> None:
    network = truth(tuple(np.linspace(0.1, 0.9, 40)), 0.02, active=0.03)
    rows = network.sample(3000, 0)
    fitted = fit_parameters(network, rows)
    error = np.abs(np.array(fitted["effect"].strengths) - np.linspace(0.1, 0.9, 40))
    assert error.mean() < 0.1
    assert fitted.log_likelihood(rows) >= network.log_likelihood(rows)


def test_a_prior_adds_rows_and_bad_families_are_refused() -> None:
    graph = Dag.from_edges([("a", "x")])
    rows = {"a": [1, 1, 0, 0], "x": [1, 1, 0, 0]}
    node = fit_parameters(graph, rows, BDeu(4.0), noisy_or="x")["x"]
    # One more row in each of the four cells: 3 of 4 silent without the cause, 1 of 4 with it.
    assert node.leak == pytest.approx(0.25)
    assert node.strengths[0] == pytest.approx(1 - 0.25 / 0.75)
    with pytest.raises(InputError, match="A noisy or has two states"):
        fit_noisy_or(graph, {"a": [0, 1, 0], "x": [0, 1, 2]}, "x")
    with pytest.raises(InputError, match="Which state of 'a' is the inactive one"):
        fit_noisy_or(graph, {"a": ["p", "q"], "x": [0, 1]}, "x")
    with pytest.raises(
        InputError, match=r"'a' is 'yes' in every row .* Leave the edge from 'a' ou"
    ):
        fit_noisy_or(graph, {"a": ["yes", "yes"], "x": [0, 1]}, "x")
    with pytest.raises(
        InputError, match=r"'x' is 1.0 in every row .* network that has both states"
    ):
        fit_parameters(graph, {"a": [0, 1], "x": [1, 1]}, noisy_or=["x"])


def test_active_states_can_be_said() -> None:
    graph = Dag.from_edges([("a", "x")])
    rows = {"a": ["p", "q", "p", "q", "r"], "x": ["up", "down", "down", "down", "up"]}
    node = fit_noisy_or(graph, rows, "x", active={"x": "up"}, inactive={"a": "q"}).conditional
    assert (node.leak, node.strengths[0]) == pytest.approx((0.0, 2 / 3))


def known_log_likelihood(network: BayesianNetwork, rows) -> float:
    """Of rows with missing cells, by enumeration."""
    total = 0.0
    for cells in zip(*rows.values(), strict=True):
        gaps = [i for i, cell in enumerate(cells) if cell is None]
        chance = 0.0
        for states in itertools.product(["yes", "no"], repeat=len(gaps)):
            full = list(cells)
            for i, state in zip(gaps, states, strict=True):
                full[i] = state
            chance += np.exp(
                network.log_likelihood({n: [c] for n, c in zip(rows, full, strict=True)})
            )
        total += np.log(chance)
    return total


@pytest.mark.parametrize("prior", [None, BDeu(2.0)])
def test_missing_cells_are_expected(prior) -> None:
    """The likelihood by enumeration, which EM never lowers and a general solver cannot raise."""
    network = truth((0.8, 0.3), 0.1)
    full = network.sample(60, 3, frame="pandas").astype(object)
    gaps = np.random.default_rng(0).random(full.shape) < 0.25
    rows = {name: full[name].mask(gaps[:, i], None).tolist() for i, name in enumerate(full)}
    fitted = fit_expectation(network, rows, prior)
    node = fitted.network["effect"]
    assert isinstance(node, NoisyOr)
    assert fitted.log_likelihood == pytest.approx(known_log_likelihood(fitted.network, rows))
    trace = np.array(fitted.certificate.trace)
    assert (np.diff(trace) >= -1e-9 * np.abs(trace[:-1])).all()
    assert fit_noisy_or(network, rows, "effect", prior).conditional == node
    again = fit_parameters(network.graph, rows, prior, noisy_or=["effect"])["effect"]
    assert again.strengths == pytest.approx(node.strengths)

    def loss(vector) -> float:
        changed = network
        for name, share in zip(("cause0", "cause1"), vector[:2], strict=True):
            changed = changed.replace(name, [share, 1 - share])
        changed = changed.replace("effect", noisy_or(vector[2:4].tolist(), vector[4]))
        added = 0.0
        if prior is not None:
            for each in changed.conditionals:
                added += (prior.pseudo_counts(each.shape) * np.log(each.table)).sum()
        return -known_log_likelihood(changed, rows) - added

    names = ("cause0", "cause1")
    start = [*(fitted.network[n].table[0] for n in names), *node.strengths, node.leak]
    own = loss(np.array(start))
    assert own == pytest.approx(-fitted.certificate.value)
    solved = minimize(
        loss, start, bounds=[(1e-6, 1 - 1e-6)] * 5, method="L-BFGS-B", options={"maxiter": 5}
    )
    assert own <= solved.fun + 1e-4
