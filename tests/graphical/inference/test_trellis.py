"""The trellis of a hidden Markov model, against recursions written out and enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.factor import Factor
from novum.graphical.inference.trellis import trellis
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.structure.dag import CyclicGraphError
from tests.strategies.stated_errors import sprinkler

START = np.array([0.6, 0.3, 0.1])
MOVE = np.array([[0.7, 0.2, 0.1], [0.1, 0.6, 0.3], [0.3, 0.3, 0.4]])
SHOW = np.array([[0.9, 0.1], [0.5, 0.5], [0.2, 0.8]])
SEEN = [0, 1, 1, 0, 1]
STATES = ["x", "y", "z"]


def hidden_markov() -> BayesianNetwork:
    network = BayesianNetwork().add("h0", table=START, states=STATES)
    for t in range(len(SEEN)):
        if t:
            network = network.add(f"h{t}", [f"h{t - 1}"], MOVE, STATES)
        network = network.add(f"o{t}", [f"h{t}"], SHOW, ["off", "on"])
    return network


def seen() -> dict[str, str]:
    return {f"o{t}": ("off", "on")[code] for t, code in enumerate(SEEN)}


def test_forward_and_backward_recursions() -> None:
    found = trellis(hidden_markov(), seen())
    assert found.names == tuple(f"h{t}" for t in range(5))
    message, log = START * SHOW[:, SEEN[0]], 0.0
    for t in range(5):
        if t:
            message = (message @ MOVE) * SHOW[:, SEEN[t]]
        log += math.log(message.sum())
        message = message / message.sum()
        np.testing.assert_allclose(found.forward[t], message, rtol=1e-12)
    assert found.log_evidence == pytest.approx(log, abs=1e-12)
    message = np.full(3, 1 / 3)
    for t in range(4, -1, -1):
        np.testing.assert_allclose(found.backward[t], message, rtol=1e-12)
        message = MOVE @ (SHOW[:, SEEN[t]] * message)
        message = message / message.sum()


def test_posteriors_and_best_path() -> None:
    network = hidden_markov()
    found = trellis(network, seen())
    exact = network.marginals(seen())
    best = network.most_probable(seen())
    for t, name in enumerate(found.names):
        np.testing.assert_allclose(found.posteriors[t], exact[name].values, rtol=1e-11)
    assert found.path == tuple(best[name] for name in found.names)
    assert found.log_probability == pytest.approx(best.log_probability, abs=1e-12)


def test_viterbi_scores() -> None:
    found = trellis(hidden_markov(), seen())
    scores = np.log(START * SHOW[:, SEEN[0]])
    for t in range(5):
        if t:
            scores = (scores[:, None] + np.log(MOVE)).max(axis=0) + np.log(SHOW[:, SEEN[t]])
        np.testing.assert_allclose(found.scores[t], scores - scores.max(), atol=1e-12)


def test_observed_in_the_middle_and_shown() -> None:
    network = hidden_markov()
    with pytest.raises(InputError, match="several chains"):
        trellis(network, {**seen(), "h2": "x"})
    found = trellis(network, {**seen(), "h2": "x", "h3": "y", "h4": "y"})
    assert found.names == ("h0", "h1")
    assert "posterior" in repr(found)
    assert repr(found).count("*") == 2


def test_what_is_no_chain() -> None:
    known = {name: state for name, state in seen().items() if name != "o1"}
    with pytest.raises(InputError, match="'h1' has 3 unobserved neighbors"):
        trellis(hidden_markov(), known)
    with pytest.raises(InputError, match="form a cycle"):
        trellis(sprinkler(), {"wet": "true"})
    network = sprinkler()
    with pytest.raises(InputError, match="no chain left"):
        trellis(network, dict.fromkeys(network.names, "true"))


def test_two_factors_over_one_pair_are_a_cycle_with_names() -> None:
    both = Factor([[3.0, 1.0], [1.0, 3.0]], {"a": (0, 1), "b": (0, 1)})
    with pytest.raises(CyclicGraphError, match=r"has a cycle: '[ab]' - '[ab]' - '[ab]'; messages"):
        trellis(FactorGraph([both, both]))


def test_impossible_evidence() -> None:
    network = BayesianNetwork().add("a", table=[0.5, 0.5])
    network = network.add("b", ["a"], lambda a: a, states=["true", "false"])
    network = network.add("c", ["a"], lambda a: a, states=["true", "false"])
    with pytest.raises(ImpossibleEvidence):
        trellis(network, {"b": "true", "c": "false"})


def test_scores_far_below_the_best_keep_their_digits() -> None:
    network = BayesianNetwork().add("h0", table=[0.5, 0.5])
    network = network.add("h1", ["h0"], [[0.5, 0.5], [0.5, 0.5]])
    for i in range(15):
        network = network.add(f"o{i}", ["h0"], [[0.5, 0.5], [1e-40, 1.0]])
    found = trellis(network, {f"o{i}": "true" for i in range(15)})
    wanted = 15 * (math.log(1e-40) - math.log(0.5))
    assert found.scores[0].tolist() == pytest.approx([0.0, wanted], rel=1e-13)
    assert found.path[0] == "true"
