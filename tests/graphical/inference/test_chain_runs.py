"""What chains share: batches, kept sweeps, hidden variables."""

from __future__ import annotations

import numpy as np
import pytest

from novum.graphical.inference.gibbs import Gibbs
from novum.graphical.models.arrays import Evidence
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import noisy_or
from tests.strategies.stated_errors import sprinkler


def test_kept_sweeps() -> None:
    assert Gibbs(1000, 100, 3).kept == 300
    assert Gibbs(17, 1).kept == 16


@pytest.mark.parametrize(("sweeps", "thin"), [(58, 1), (999, 1), (1003, 7)])
def test_every_kept_sweep_counts_once(sweeps: int, thin: int) -> None:
    engine = Gibbs(sweeps, 8, thin, chains=2, random_state=0)
    found = sprinkler().query("rain", "cloudy", engine=engine)
    # A joint table counts whole sweeps, so its cells are multiples of one of them.
    counts = found.values * engine.kept * 2
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-6)
    assert found.values.sum() == pytest.approx(1.0)


def test_hidden_variables_are_not_shown() -> None:
    network = BayesianNetwork()
    for i in range(6):
        network = network.add(f"c{i}", table=[0.3, 0.7])
    names = [f"c{i}" for i in range(6)]
    network = network.add("e", names, noisy_or(dict.fromkeys(names, 0.6), leak=0.1))
    assert network.arrays.n_hidden > 0
    model = network.arrays
    engine = Gibbs(3000, 300, random_state=0)
    found = engine.marginals(model, Evidence.none(model.n_variables))
    assert len(found.tables) == 7
    answer = network.marginals({"e": "true"}, engine=engine)
    exact = network.marginals({"e": "true"})
    gap = np.abs(answer["c0"].values - exact["c0"].values)
    assert (gap <= 5 * answer["c0"].errors).all()


def test_bits_do_not_depend_on_slices_of_time(monkeypatch: pytest.MonkeyPatch) -> None:
    from novum.graphical.inference import chain_runs

    engine = Gibbs(400, 50, random_state=1)
    whole = sprinkler().query("rain", engine=engine).values

    def one_block_at_a_time(n: int, *, block: int, **_: object) -> object:
        return ((start, min(n, start + block)) for start in range(0, n, block))

    monkeypatch.setattr(chain_runs, "time_sliced", one_block_at_a_time)
    np.testing.assert_array_equal(sprinkler().query("rain", engine=engine).values, whole)
