"""Known networks come back from samples: distances of classes over ten samples each."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical import BIC, BDeu, compare, learn_structure, score
from tests.graphical.learning.learning_tables import sampled
from tests.graphical.networks_on_disk import network_on_disk


@pytest.mark.slow
def test_small_equivalent_sizes_draw_few_edges_too_many() -> None:
    # True edges: 25, 46 and 112. Rare states are in the last.
    edges = []
    for name in ("child", "alarm", "win95pts"):
        network = network_on_disk(name)
        table = sampled(network, 5000, 0)
        criteria = BIC(), BDeu(1.0), BDeu(10.0)
        edges.append([len(learn_structure(table, rule).dag.edges) for rule in criteria])
    np.testing.assert_allclose(edges, [[25, 25, 25], [45, 50, 63], [98, 172, 307]], atol=3)


# Means and standard deviations over the ten samples: 3.2 (1.4), 0.8 (0.4), 0, 12.6 (5.1).
@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "rows", "most"),
    [("alarm", 20_000, 6), ("asia", 5_000, 2), ("child", 5_000, 1), ("insurance", 20_000, 20)],
)
def test_structures_come_back(name: str, rows: int, most: float) -> None:
    network = network_on_disk(name)
    distances = []
    for seed in range(10):
        table = sampled(network, rows, seed)
        learned = learn_structure(table)
        assert learned.score >= score(network, table) - 1e-6
        distances.append(compare(learned.dag, network).class_distance)
    assert np.mean(distances) <= most, distances
