"""Work beyond the memory, or without end."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.graphical import (
    BayesianNetwork,
    ForwardSampling,
    Gibbs,
    ImportanceSampling,
    LikelihoodWeighting,
    MeanField,
    MetropolisHastings,
    RejectionSampling,
    TimeLimitError,
)
from novum.graphical.inference import limits
from novum.graphical.inference.batches import batch_marginals
from novum.graphical.inference.limits import check_price
from tests.graphical.textbook_networks import grid


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


def chain(n: int) -> BayesianNetwork:
    network = BayesianNetwork().add("x0", table=[0.5, 0.5])
    for i in range(1, n):
        network = network.add(f"x{i}", [f"x{i - 1}"], [[0.9, 0.1], [0.2, 0.8]])
    return network


@pytest.mark.parametrize(
    ("engine", "price"),
    [
        (ForwardSampling(10**14), r"1e\+14 rows of 12 variables would take about .* days"),
        (LikelihoodWeighting(10**14), r"1e\+14 rows of 12 variables would take about"),
        (RejectionSampling(10**14), r"1e\+14 rows of 12 variables would take about"),
        (ImportanceSampling(10**14), r"1e\+14 rows of 12 variables would take about"),
        (Gibbs(10**13), r"4 chains of 1e\+13 sweeps would take about"),
        (MetropolisHastings(10**13), r"4 chains of 1e\+13 sweeps would take about"),
        (MeanField(starts=10**13), r"1e\+13 starts would take about"),
    ],
)
def test_runs_of_days_are_refused_before_they_start(engine, price: str) -> None:
    with pytest.raises(TimeLimitError, match=price):
        chain(12).query("x11", engine=engine)


def test_more_configurations_than_memory_are_refused() -> None:
    network = chain(60)
    with pytest.raises(MemoryLimitError, match=r"10,000,000,000 most probable .* fewer: k="):
        network.most_probable(k=10**10)
    # There are no more than all.
    assert len(chain(5).most_probable(k=10**10)) == 32


def test_exact_answers_of_days_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "MOST_SECONDS", 1e-5)
    network = grid(10)
    with pytest.raises(TimeLimitError, match=r"cells of cliques would take .*=WithinLimits"):
        network.marginals({"x9_9": "a"})


def test_posteriors_of_too_many_rows_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOVUM_MEMORY_LIMIT", "100kB")
    with pytest.raises(MemoryLimitError, match="Posteriors of 120 states in each of 1000 rows"):
        batch_marginals(chain(60).arrays, np.full((1000, 60), -1), range(60))
