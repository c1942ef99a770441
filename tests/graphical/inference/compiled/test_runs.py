"""Runs: weights are scaled, impossible evidence stops, and values are not shared between runs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from novum.graphical.inference.compiled.layout import CONNECTED, EVERYTHING, JOINT, MARGINALS
from novum.graphical.inference.compiled.planning import prepared, program_of
from novum.graphical.inference.compiled.runs import collected, distributed, root_table
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork

NETWORK = (
    BayesianNetwork()
    .add("rain", table=[0.2, 0.8])
    .add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
)
MODEL = NETWORK.arrays


def test_weights_of_any_scale_give_the_same_posterior() -> None:
    tables = []
    for scale in (1.0, 1e-200, 1e200):
        evidence = Evidence(np.full(2, -1), {1: scale * np.array([3.0, 1.0])})
        program = program_of(MODEL, evidence, [0], CONNECTED, JOINT)
        run = collected(prepared(MODEL), program, evidence.codes, evidence)
        # 0.2 (0.9 * 3 + 0.1) + 0.8 (0.1 * 3 + 0.9) = 1.52
        table = root_table(run)
        total = run.log + math.log(table.sum())
        assert total == pytest.approx(math.log(1.52) + math.log(scale), rel=1e-12)
        tables.append(table / table.sum())
    for table in tables:
        np.testing.assert_allclose(table, [0.56 / 1.52, 0.96 / 1.52], rtol=1e-12)


def test_weights_of_zero_are_impossible() -> None:
    evidence = Evidence(np.full(2, -1), {1: np.zeros(2)})
    program = program_of(MODEL, evidence, (), EVERYTHING, MARGINALS)
    assert collected(prepared(MODEL), program, evidence.codes, evidence).log == -math.inf


def test_runs_of_one_program_do_not_touch_each_other() -> None:
    codes = np.array([-1, 0])
    evidence = Evidence(codes)
    program = program_of(MODEL, evidence, (), EVERYTHING, MARGINALS)
    first = collected(prepared(MODEL), program, codes, evidence)
    other = np.array([-1, 1])
    collected(prepared(MODEL), program, other, Evidence(other))
    np.testing.assert_allclose(distributed(first, 2), [0.18 / 0.26, 0.08 / 0.26], rtol=1e-12)
