"""Exact work beyond the memory."""

from __future__ import annotations

import pytest

from novum.core.errors import MemoryLimitError
from novum.graphical.inference.limits import check_price


def test_the_refusal_has_the_forecast_and_a_way_out() -> None:
    check_price(4, 32, 512, "1kB")
    with pytest.raises(MemoryLimitError) as refused:
        check_price(40, 2.0**41, 2.0**44, "1GB")
    said = str(refused.value)
    assert "cliques of up to 41 variables and 2.2e+12 cells needs 17.6 TB" in said
    assert "limit of 1.0 GB" in said
    assert "engine=WithinLimits()" in said


def test_prices_beyond_all_integers_are_refused_too() -> None:
    with pytest.raises(MemoryLimitError, match=r"needs 1000\.0 PB"):
        check_price(5000, float("inf"), float("inf"), None)
