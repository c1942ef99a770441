"""Clock: what is inside a phase counts, what is outside does not, and peaks are seen."""

import numpy as np
import pytest

from benchmarks.clock import Clock, reset_peak


@pytest.mark.slow
def test_a_phase_entered_twice_adds_up() -> None:
    clock = Clock()
    for _ in range(2):
        with clock("fit"):
            sum(range(10_000))
    first = clock.cpu["fit"]
    with clock("fit"):
        sum(range(10_000))
    assert list(clock.cpu) == list(clock.wall) == list(clock.memory) == ["fit"]
    assert clock.cpu["fit"] >= first > 0


@pytest.mark.slow
def test_a_temporary_array_shows_in_the_peak() -> None:
    # 64 MB of touched pages; whatever the allocator does beside them is far below half of that.
    clock = Clock()
    with clock("large"):
        np.ones(8_000_000).sum()
    with clock("small"):
        np.ones(8).sum()
    assert 55 < clock.memory["large"] < 96
    assert clock.memory["small"] < 32


@pytest.mark.slow
def test_the_peak_of_an_earlier_phase_is_forgotten() -> None:
    np.ones(8_000_000).sum()
    resident = reset_peak()
    clock = Clock()
    with clock("after"):
        pass
    assert clock.memory["after"] < 0.5 * max(resident, 64)
