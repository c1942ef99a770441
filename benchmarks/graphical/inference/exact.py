"""A network with its exact marginals, to judge samplers by."""

from __future__ import annotations

from benchmarks.graphical.likelihood import flat
from benchmarks.graphical.networks import network
from benchmarks.graphical.pyagrum_adapter import PyAgrum
from benchmarks.recipes import Data


def network_with_marginals(name: str, n: int) -> Data:
    """`prior` and `posterior` (given the one evidence case) as flat arrays; `n` draws to make."""
    data = network(name, cases=1)
    adapter = PyAgrum()
    bn = adapter.load(data.path)
    data.n = n
    data.prior = flat(adapter.marginals(bn, [{}]), data.nodes)
    data.posterior = flat(adapter.marginals(bn, data.cases), data.nodes)
    return data
