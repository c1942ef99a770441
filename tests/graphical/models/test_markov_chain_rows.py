"""Transition matrices that are wrong are refused by the name of the state."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import InputError
from novum.graphical.models.conditional import NetworkWarning
from novum.graphical.models.markov_chain import MarkovChain


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[0.5, 0.4], [0.5, 0.5]], "row of state 'a' .* sum 0.9"),
        ([[0.5, 0.5], [1.5, -0.5]], "row of state 'b' must have probabilities"),
        ([[0.5, 0.5], [np.nan, 1.0]], "row of state 'b'"),
        ([[0.5, 0.5]], r"square with at least one row, got shape \(1, 2\)"),
        (np.empty((0, 0)), "square with at least one row"),
        (np.eye(3), "3 rows need as many states, got 2"),
    ],
)
def test_bad_rows(rows: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        MarkovChain(rows, states=["a", "b"])


def test_rounded_rows_are_said() -> None:
    with pytest.warns(NetworkWarning, match="row of state 'a' sums to 0.9999 and was divided"):
        chain = MarkovChain([[0.4999, 0.5], [0.5, 0.5]], states=["a", "b"])
    assert chain.transition.sum(axis=1) == pytest.approx([1.0, 1.0], abs=1e-15)


def test_mappings() -> None:
    chain = MarkovChain({"a": {"b": 1.0}, "b": {"a": 0.25, "b": 0.75}})
    assert chain.transition.tolist() == [[0.0, 1.0], [0.25, 0.75]]
    with pytest.raises(InputError, match="no state 'c'"):
        MarkovChain({"a": {"c": 1.0}})
    with pytest.raises(ValueError, match="read-only"):
        chain.transition[0, 0] = 1.0
