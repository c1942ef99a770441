"""The bounds are wide enough for honest tables and small enough to stop the attacks."""

from novum.core.sources import LIMITS, Limits


def test_honest_tables_are_far_inside_and_attacks_outside() -> None:
    assert LIMITS.columns >= 20_000
    assert LIMITS.columns < 10**6
    assert LIMITS.levels < 10**7
    assert LIMITS.field_bytes < 10**9
    assert LIMITS.expansion < 1000


def test_bounds_are_values_that_can_be_replaced() -> None:
    assert Limits(columns=3).columns == 3
    assert Limits() == LIMITS
