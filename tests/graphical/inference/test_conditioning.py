"""Joint tables by observing one variable after the other."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given

from novum.core.errors import InputError
from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.belief_propagation import joint_by_conditioning
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


@given(seeds)
def test_equals_the_joint_of_an_exact_engine(seed: int) -> None:
    network = random_network(seed)
    known = random_evidence(network, seed)
    evidence = evidence_of(network, known, random_likelihood(network, seed, known))
    asked = np.random.default_rng(seed).permutation(len(network))[:3].tolist()
    try:
        wanted = Enumeration().joint(network.arrays, evidence, asked).tables[0]
    except ImpossibleEvidence:
        with pytest.raises(ImpossibleEvidence):
            joint_by_conditioning(Enumeration(), network.arrays, evidence, asked)
        return
    found = joint_by_conditioning(Enumeration(), network.arrays, evidence, asked).tables[0]
    np.testing.assert_allclose(found, wanted, rtol=1e-11, atol=1e-14)


def test_too_many_runs_are_refused() -> None:
    network = BayesianNetwork()
    for i in range(14):
        network = network.add(f"v{i}", table=[0.5, 0.5])
    with pytest.raises(InputError, match="takes 8192 runs of Enumeration"):
        joint_by_conditioning(Enumeration(), network.arrays, Evidence.none(14), range(14))
