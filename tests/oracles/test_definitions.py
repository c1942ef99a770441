"""The examples of the oracles that are definitions, written out."""

from __future__ import annotations

import doctest

import pytest

from tests.oracles import exact_numerics, plain_logistic, rational_least_squares


@pytest.mark.parametrize("oracle", [exact_numerics, plain_logistic, rational_least_squares])
def test_the_examples_of_an_oracle_hold(oracle: object) -> None:
    result = doctest.testmod(oracle)  # type: ignore[arg-type]
    assert result.attempted > 0
    assert result.failed == 0
