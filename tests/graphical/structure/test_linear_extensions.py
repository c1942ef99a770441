"""Orders of graphs, against the list of all permutations."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.graphical.structure.linear_extensions import count_linear_extensions, counted_within
from tests.graphical.learning.learning_tables import random_graph


@pytest.mark.parametrize("share", [0.2, 0.4, 0.7])
def test_counts_equal_the_permutations_that_keep_parents_first(share: float) -> None:
    for seed in range(15):
        parents = random_graph(np.random.default_rng(seed), 6, share).parents
        orders = sum(
            all(order.index(p) < order.index(v) for v in range(6) for p in parents[v])
            for order in itertools.permutations(range(6))
        )
        assert count_linear_extensions(parents) == orders


def test_forests_and_many_nodes_are_quick() -> None:
    assert count_linear_extensions([()] * 30) == math.factorial(30)
    star = [(), *[(0,)] * 40]
    assert count_linear_extensions(star) == math.factorial(40)
    turned = [*[()] * 40, tuple(range(40))]
    assert count_linear_extensions(turned) == math.factorial(40)


def test_what_is_too_hard_is_given_up() -> None:
    crossed = [*[()] * 14, *[tuple(p for p in range(14) if p != i) for i in range(14)]]
    with pytest.raises(MemoryLimitError, match="go through more than 50 sets"):
        counted_within(crossed, 50)
