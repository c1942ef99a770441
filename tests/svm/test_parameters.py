"""Shared constraints: what every member refuses, with the message a user sees."""

from __future__ import annotations

from typing import Any

import pytest

from tests.svm.machine_tables import MEMBERS, table_for


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("kernel", "gaussian", "'kernel' parameter"),
        ("kernel", 3, "'kernel' parameter"),
        ("gamma", -1.0, "'gamma' parameter"),
        ("gamma", 0.0, "gamma must be a finite number above 0"),
        ("degree", -1, "'degree' parameter"),
        ("tol", 0.0, "'tol' parameter"),
        ("max_iter", -2, "'max_iter' parameter"),
        ("max_seconds", 0.0, "'max_seconds' parameter"),
        ("cache_size", 0, "'cache_size' parameter"),
        ("indefinite", "ignore", "'indefinite' parameter"),
    ],
)
@pytest.mark.parametrize("cls", MEMBERS)
def test_wrong_values_are_named(cls: Any, name: str, value: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        cls(**{name: value}).fit(*table_for(cls))


@pytest.mark.parametrize("price", [0.0, -1.0, float("nan")])
@pytest.mark.parametrize("cls", [c for c in MEMBERS if "C" in c().get_params()])
def test_prices_of_slack_are_above_zero(cls: Any, price: float) -> None:
    with pytest.raises(ValueError, match="'C' parameter"):
        cls(C=price).fit(*table_for(cls))


@pytest.mark.parametrize("share", [0.0, 1.5])
@pytest.mark.parametrize("cls", [c for c in MEMBERS if "nu" in c().get_params()])
def test_shares_are_above_zero_and_at_most_one(cls: Any, share: float) -> None:
    with pytest.raises(ValueError, match="'nu' parameter"):
        cls(nu=share).fit(*table_for(cls))
