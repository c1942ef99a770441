"""Shared parts of the laws: patterns of missing cells, checks, erasing."""

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.data.synthetic.sample import averaged, check_size, checked_priors, erased


def test_patterns_are_weighted_by_their_probability() -> None:
    error, accuracy = averaged(lambda seen: (float(sum(seen)), 1.0), 3, 0.25)
    # The mean number of observed cells, and weights that sum to one.
    assert error == pytest.approx(3 * 0.75)
    assert accuracy == pytest.approx(1.0)
    assert averaged(lambda seen: (float(all(seen)), 0.0), 40, 0.0) == (1.0, 0.0)


def test_too_many_patterns_are_refused() -> None:
    with pytest.raises(InputError, match="13 columns have 8,192 patterns"):
        averaged(lambda _: (0.0, 0.0), 13, 0.1)


def test_erased_cells_have_the_rate() -> None:
    X = np.ones((10_000, 4))
    rng = np.random.default_rng(0)
    assert erased(X, 0.0, rng) is X
    share = np.isnan(erased(X, 0.3, rng)).mean()
    assert abs(share - 0.3) < 4 * np.sqrt(0.3 * 0.7 / X.size)


@pytest.mark.parametrize(
    ("n", "missing", "message"),
    [(0, 0.0, "at least one row"), (2.5, 0.0, "one row"), (1, 1.0, "rate"), (1, -0.1, "rate")],
)
def test_sizes_are_checked(n: int, missing: float, message: str) -> None:
    with pytest.raises(InputError, match=message):
        check_size(n, missing)


@pytest.mark.parametrize("priors", [[0.5], [0.5, 0.6], [1.0, 0.0], [0.5, np.nan]])
def test_priors_are_checked(priors: list[float]) -> None:
    assert checked_priors(None, 4).tolist() == [0.25] * 4
    with pytest.raises(InputError, match="2 positive numbers that sum to 1"):
        checked_priors(priors, 2)
