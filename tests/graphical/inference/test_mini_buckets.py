"""Bounded elimination: its bound, its rows and their weights, against enumeration."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings

from novum.distributions.joint_table import ImpossibleEvidence
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.flat_factors import FlatFactors, flat_factors
from novum.graphical.inference.mini_buckets import mini_buckets
from novum.graphical.models.questions import evidence_of
from tests.graphical.lattices import potts_grid
from tests.strategies.networks import random_evidence, random_likelihood, random_network, seeds


def log_product(left: FlatFactors, codes: np.ndarray) -> np.ndarray:
    """Logarithm of the product of all factors at each column of codes."""
    total = np.full(codes.shape[1], left.log_constant)
    with np.errstate(divide="ignore"):
        for factor in range(left.n_factors):
            total += np.log(left.table(factor)[tuple(codes[left.scope(factor)])])
    return total


@given(seeds)
@settings(max_examples=100, deadline=None)
def test_the_bound_holds_and_large_tables_reach_it(seed: int) -> None:
    network = random_network(seed)
    observed = random_evidence(network, seed)
    known = evidence_of(network, observed, random_likelihood(network, seed, observed))
    log = Enumeration().log_evidence(network.arrays, known)
    try:
        left = flat_factors(network.arrays, known)
        exact, split = (mini_buckets(left, cells) for cells in (2**12, 2))
    except ImpossibleEvidence:
        assert log == -math.inf
        return
    assert exact.n_split == 0
    if log > -math.inf:
        assert exact.log_bound == pytest.approx(log, abs=1e-9)
    assert split.log_bound >= log - 1e-9


@given(seeds)
def test_weights_are_what_the_rows_lack_and_below_one(seed: int) -> None:
    # The chance of a row, from draws of all rows: weight * chance is the model's product.
    network = random_network(seed, most=4, zeros=0.5)
    left = flat_factors(network.arrays, evidence_of(network, {}))
    buckets = mini_buckets(left, 2)
    codes, logs = buckets.draw(np.random.default_rng(seed), 20_000)
    assert (logs <= 0).all()
    rows, first, counts = np.unique(codes, axis=1, return_index=True, return_counts=True)
    weights = np.exp(logs[first])
    truth = np.exp(log_product(left, rows) - buckets.log_bound)
    found = weights * counts / 20_000
    # Five standard errors of the count, and one row.
    errors = weights * (np.sqrt(counts) + 1) / 20_000
    assert (np.abs(found - truth) <= 5 * errors + 1e-12).all()


def test_all_states_of_a_grid_are_drawn_by_their_weight() -> None:
    grid = potts_grid(3, 0.4, 2)
    left = flat_factors(grid.arrays, evidence_of(grid, {}))
    for cells in (4, 2**10):
        buckets = mini_buckets(left, cells)
        assert (buckets.n_split > 0) == (cells == 4)
        codes, logs = buckets.draw(np.random.default_rng(0), 100_000)
        every = np.array(list(itertools.product(range(2), repeat=9))).T
        log = np.logaddexp.reduce(log_product(left, every))
        mean = np.exp(logs).mean()
        error = np.exp(logs).std() / math.sqrt(100_000)
        assert abs(mean * math.exp(buckets.log_bound - log) - 1) < 5 * error / mean + 1e-9
        agrees = codes[0] == codes[8]
        exact = np.exp(log_product(left, every) - log)[every[0] == every[8]].sum()
        found = np.average(agrees, weights=np.exp(logs))
        assert found == pytest.approx(exact, abs=0.02)


def test_tables_keep_to_their_room(monkeypatch: pytest.MonkeyPatch) -> None:
    grid = potts_grid(8, 0.3, 2)
    left = flat_factors(grid.arrays, evidence_of(grid, {}))
    whole = mini_buckets(left, 2**16)
    assert whole.n_split == 0
    monkeypatch.setattr("novum.graphical.inference.mini_buckets.MOST_IN_ALL", 1000)
    smaller = mini_buckets(left, 2**16)
    assert smaller.n_split > 0
    assert sum(part.rows.size for parts in smaller.parts for part in parts) <= 1000
    assert smaller.log_bound >= whole.log_bound


@pytest.mark.slow
def test_thousands_of_children_are_planned_quickly() -> None:
    grid = potts_grid(40, 0.2, 2)
    left = flat_factors(grid.arrays, evidence_of(grid, {}))
    assert len(mini_buckets(left, 64).order) == 1600
