"""Checkerboard: XOR by hand, posteriors by counting fields, simulation."""

from itertools import product

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.data.synthetic.checkerboard import Checkerboard


def test_xor_by_hand() -> None:
    law = Checkerboard()
    corners = [[0.1, 0.1], [0.1, 0.9], [0.9, 0.1], [0.9, 0.9]]
    assert law.bayes_predict(corners).tolist() == [0, 1, 1, 0]
    assert law.error() == (0.0, 0.0)
    assert law.positive_probability([[np.nan, 0.3]]).tolist() == [0.5]


@pytest.mark.parametrize("cells", [1, 2, 3, 4])
@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_posteriors_are_counts_of_fields(cells: int, dimensions: int) -> None:
    law = Checkerboard(cells, 0.1, dimensions)
    fields = np.array(list(product(range(cells), repeat=dimensions)))
    parity = fields.sum(axis=1) % 2
    for row in ((fields[0] + 0.5) / cells, (fields[-1] + 0.5) / cells):
        X = row[None].copy()
        X[0, 0] = np.nan
        fits = (fields[:, 1:] == np.floor(row[1:] * cells)).all(axis=1)
        share = parity[fits].mean()
        expected = share * 0.9 + (1 - share) * 0.1
        assert law.positive_probability(X)[0] == pytest.approx(expected)


@pytest.mark.parametrize(
    "law", [Checkerboard(noise=0.1), Checkerboard(3, 0.2), Checkerboard(3, 0.0, 3)]
)
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_simulation_meets_the_stated_error(law: Checkerboard, missing: float) -> None:
    sample = law.sample(20_000, random_state=2, missing=missing)
    wrong = np.mean(sample.bayes_predict(sample.X) != sample.y)
    spread = np.sqrt(sample.bayes_error * (1 - sample.bayes_error) / 20_000)
    assert abs(wrong - sample.bayes_error) <= 4 * spread


@pytest.mark.parametrize("options", [{"cells": 0}, {"noise": 0.6}, {"dimensions": 0}])
def test_impossible_boards_are_refused(options: dict[str, float]) -> None:
    with pytest.raises(InputError, match="Checkerboard needs"):
        Checkerboard(**options)  # type: ignore[arg-type]
