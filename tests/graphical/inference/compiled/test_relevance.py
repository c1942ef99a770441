"""Relevance in compiled code against the readable rules."""

from __future__ import annotations

import numpy as np
from hypothesis import given

from novum.graphical.inference.compiled.factors_kernels import mark_ancestors, mark_connected
from novum.graphical.inference.compiled.prepared import prepared
from novum.graphical.inference.potentials import ancestors_of, relevant_factors
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_network, seeds


@given(seeds)
def test_marks_are_those_of_the_rules(seed: int) -> None:
    network = random_network(seed, most=9)
    model = network.arrays
    evidence = evidence_of(network, random_evidence(network, seed))
    n = model.n_variables
    soft = (np.random.default_rng(seed).random(n) < 0.2).astype(np.uint8)
    target = np.array([seed % n])
    needed, stack = np.empty(n, np.uint8), np.empty(n, np.int64)
    mark_ancestors(model.scope_starts, model.scopes, evidence.codes, soft, target, needed, stack)
    named = [seed % n, *evidence.observed.tolist(), *np.flatnonzero(soft).tolist()]
    np.testing.assert_array_equal(needed == 1, ancestors_of(model, named))
    layout = prepared(model).layout
    kept = np.empty(n, np.uint8)
    mark_connected(
        model.scope_starts, model.scopes, layout.var_starts, layout.var_factors, evidence.codes,
        target, needed, kept, stack, 1,
    )  # fmt: skip
    weighted = {int(v): np.ones(model.cards[v]) for v in np.flatnonzero(soft)}
    factors, _ = relevant_factors(model, type(evidence)(evidence.codes, weighted), [seed % n])
    assert np.flatnonzero(kept).tolist() == factors
