"""Forecasts against cliques that are known by hand, on both sides of the plain size."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from novum.core.errors import MemoryLimitError
from novum.graphical import BayesianNetwork, JunctionTree
from novum.graphical.inference import junction
from novum.graphical.inference.forecast import Forecast, forecast
from novum.graphical.models.arrays import Evidence, ModelArrays


def star(n: int) -> ModelArrays:
    """A child of `n` binary parents: one clique of them all."""
    scopes = np.r_[np.arange(n), np.arange(n + 1)]
    tables = np.full(2 * n + 2 ** (n + 1), 0.5)
    return ModelArrays(
        np.full(n + 1, 2),
        np.r_[np.arange(n + 1), 2 * n + 1],
        scopes,
        np.r_[2 * np.arange(n + 1), len(tables)],
        tables,
        np.arange(n + 1),
        np.arange(n + 1),
    )


@pytest.mark.parametrize("n", [4, 9])
def test_one_clique_has_its_cells(n: int) -> None:
    found = forecast(star(n), Evidence.none(n + 1))
    assert (found.width, found.largest, found.cells) == (n, 2 ** (n + 1), 2 ** (n + 1))
    assert found.bytes > 0
    assert found.seconds > 0


def test_evidence_makes_it_cheaper(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(junction, "PLAIN_VARIABLES", 0)
    codes = np.full(10, -1)
    codes[:5] = 0
    found = forecast(star(9), Evidence(codes))
    assert (found.width, found.largest) == (4, 32)


def test_is_read_in_words() -> None:
    text = str(Forecast(width=2, largest=8, cells=16, bytes=1000, seconds=2.5))
    assert "cliques of up to 3 variables" in text
    assert text.endswith("and 2.5 s")
    cold = Forecast(width=2, largest=8, cells=16, bytes=1000, seconds=2.5, compiles=True)
    assert str(cold) == f"{text}, and compiling before it, once on this machine"


def test_what_is_compiled_already_is_not_announced() -> None:
    assert not forecast(star(4), Evidence.none(5)).compiles
    evidence = Evidence.none(10)
    JunctionTree().marginals(star(9), evidence)
    assert not forecast(star(9), evidence).compiles


@pytest.mark.slow
def test_the_first_answer_on_a_machine_is_announced_to_compile(tmp_path: Path) -> None:
    script = """
from novum.graphical import Factor, FactorGraph
pair = lambda i: Factor([[3.0, 1.0], [1.0, 3.0]], {f"v{i}": (0, 1), f"v{i + 1}": (0, 1)})
graph = FactorGraph(map(pair, range(9)))
print(graph.forecast().compiles)
graph.marginals()
print(graph.forecast().compiles)
"""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert ran.stdout.split() == ["True", "False"]


def test_what_follows_from_zeros_costs_nothing() -> None:
    names = [f"x{i}" for i in range(500)]
    nodes: dict[str, dict[str, object]] = {"x0": {"states": [*"abc"], "table": [0.2, 0.3, 0.5]}}
    for earlier, name in itertools.pairwise(names):
        nodes[name] = {"states": [*"abc"], "parents": [earlier], "table": lambda state: state}
    network = BayesianNetwork.from_dict(nodes)
    assert network.forecast().cells > 0
    price = network.forecast({"x3": "a"})
    assert (price.cells, price.bytes) == (0, 0)
    assert "all follows from what is known" in str(price)
    assert network.query("x499", given={"x3": "a"}).values.tolist() == [1.0, 0.0, 0.0]


def test_without_evidence_a_wide_network_is_asked_by_ancestors() -> None:
    rng = np.random.default_rng(0)
    nodes: dict[str, dict[str, object]] = {f"r{i}": {"table": [0.3, 0.7]} for i in range(100)}
    for i in range(300):
        parents = [f"r{j}" for j in rng.choice(100, 3, replace=False)]
        first = rng.uniform(0.1, 0.9, (2, 2, 2))
        table = np.stack([first, 1 - first], axis=-1)
        nodes[f"c{i}"] = {"parents": parents, "table": table, "states": ["true", "false"]}
    network = BayesianNetwork.from_dict(nodes)
    # One tree of all would have cliques of dozens of variables.
    assert network.forecast({"c0": "true", "c1": "true"}).width > 3
    assert network.forecast().width == 3
    found = network.marginals()
    expected = np.einsum("abcd,a,b,c->d", network["c7"].table, *[[0.3, 0.7]] * 3)
    np.testing.assert_allclose(found["c7"].values, expected, atol=1e-14)
    with pytest.raises(MemoryLimitError):
        network.marginals({f"c{i}": "true" for i in range(60)})
