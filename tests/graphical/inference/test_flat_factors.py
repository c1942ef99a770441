"""What is left of a model at what is known, against the joint table by enumeration."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors, flat_factors_of
from novum.graphical.inference.potentials import needed_factors
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


def total_of(left: FlatFactors) -> float:
    """The sum of the product over all states, cell by cell by strides."""
    total = 0.0
    for codes in np.ndindex(*left.cards.tolist()):
        value = 1.0
        for f in range(left.n_factors):
            edges = range(left.scope_starts[f], left.scope_starts[f + 1])
            at = sum(left.strides[e] * codes[left.scopes[e]] for e in edges)
            value *= left.tables[left.table_starts[f] + at]
        total += value
    return total * math.exp(left.log_constant)


@given(seeds)
def test_sum_is_the_probability_of_the_evidence(seed: int) -> None:
    network = random_network(seed, most=5)
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    wanted = math.exp(Enumeration().log_evidence(network.arrays, evidence))
    try:
        left = flat_factors(network.arrays, evidence)
        fewer = flat_factors_of(network.arrays, evidence, needed_factors(network.arrays, evidence))
    except ImpossibleEvidence:
        assert wanted == 0
        return
    assert total_of(left) == pytest.approx(wanted, rel=1e-12, abs=1e-300)
    assert total_of(fewer) == pytest.approx(wanted, rel=1e-12, abs=1e-300)
    assert np.all(left.tables <= 1)


@given(seeds)
@settings(max_examples=30, deadline=None)
def test_edges_by_variable_are_edges_by_factor(seed: int) -> None:
    model = random_network(seed).arrays
    left = flat_factors(model, Evidence.none(model.n_variables))
    starts, edges = left.variable_edges
    for v in range(left.n_variables):
        assert all(left.scopes[e] == v for e in edges[starts[v] : starts[v + 1]])
    assert sorted(edges.tolist()) == list(range(left.n_edges))
    for e in range(left.n_edges):
        f = left.factor_of_edge[e]
        assert left.scope_starts[f] <= e < left.scope_starts[f + 1]
