"""Sums of weighted rows, against the same sums written out for the drawn rows."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.sampling import forward_codes
from novum.graphical.inference.sampling_kernels import PAST
from novum.graphical.inference.weighted_rows import (
    RowSource,
    drawing_arrays,
    worst_size,
)
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.questions import evidence_of
from tests.strategies.networks import random_network
from tests.strategies.stated_errors import sprinkler


def test_sums_are_those_of_the_rows() -> None:
    model = random_network(4, most=6).arrays
    n = model.n_variables
    targets = [(0,), (n - 1, 0)] if n > 1 else [(0,)]
    source = RowSource(model, Evidence.none(n), targets, 11)
    source.weigh(3000)
    codes = forward_codes(model, 3000, 11)
    for target, table in zip(targets, source.result(0.0).tables, strict=True):
        counts = np.zeros(table.shape)
        np.add.at(counts, tuple(codes[:, list(target)].T), 1)
        np.testing.assert_allclose(table, counts / 3000, rtol=1e-12)


def test_weights_and_errors_by_hand() -> None:
    network = sprinkler()
    known = evidence_of(network, {"wet": "true"}, {"rain": [0.5, 1.0]})
    source = RowSource(network.arrays, known, [(network.places["cloudy"],)], 2)
    source.weigh(2000)
    found = source.result(source.hidden())
    # The rows themselves: what is not observed is drawn as without evidence, in the same way.
    codes = forward_codes(network.arrays, 2000, 2)
    place = network.places
    table = network.arrays.table(place["wet"])
    weights = table[codes[:, place["sprinkler"]], codes[:, place["rain"]], 0]
    weights = weights * np.array([0.5, 1.0])[codes[:, place["rain"]]]
    inside = codes[:, place["cloudy"]] == 0
    p = weights[inside].sum() / weights.sum()
    # By the delta method, and what three rows of the largest weight would add.
    variance = np.sum(weights**2 * (inside - p) ** 2) / weights.sum() ** 2
    hidden = 3 * 0.9 / weights.sum()
    variance += (hidden / 2) ** 2
    assert found.hidden == pytest.approx(hidden, rel=1e-9)
    assert found.tables[0][0] == pytest.approx(p, rel=1e-12)
    assert found.errors[0][0] == pytest.approx(np.sqrt(variance), rel=1e-9)
    assert found.log_mean_weight == pytest.approx(np.log(weights.mean()), abs=1e-12)
    assert found.positive == 2000


def test_cumulative_tables_end_at_the_last_possible_state() -> None:
    model = random_network(3, zeros=1.0).arrays
    cumulative = drawing_arrays(model)[5]
    for f in range(model.n_factors):
        rows = model.table(f).reshape(-1, model.cards[f])
        ends = cumulative[model.table_starts[f] : model.table_starts[f + 1]].reshape(rows.shape)
        for row, places in zip(rows, ends, strict=True):
            last = np.flatnonzero(row)[-1]
            assert (places[last:] == PAST).all()
            np.testing.assert_allclose(places[:last] / 2**53, np.cumsum(row)[:last], atol=1e-15)


def test_what_is_known_has_no_error() -> None:
    network = sprinkler()
    known = evidence_of(network, {"rain": "true"})
    rain, wet = network.places["rain"], network.places["wet"]
    source = RowSource(network.arrays, known, [(rain,), (rain, wet)], 0)
    source.weigh(1000)
    found = source.result(source.hidden())
    assert found.tables[0].tolist() == [1.0, 0.0]
    assert found.errors[0].tolist() == [0.0, 0.0]
    assert (found.errors[1] > 0).tolist() == [[True, True], [False, False]]
    assert found.tables[1][1].tolist() == [0.0, 0.0]


def test_worst_size() -> None:
    # p = 0.5 with error 0.05 is what 100 rows give.
    estimates, errors = np.array([0.5, 0.5, 1.0]), np.array([0.05, 0.05, 0.0])
    assert worst_size(estimates, errors, 1000.0) == pytest.approx(100)
    assert worst_size(np.empty(0), np.empty(0), 70.0) == 70
