"""Metropolis-Hastings sampling: a change is proposed, and accepted by its gain.

    accept x' with probability  min(1, P(x') / P(x))        for proposals that are symmetric

One block of variables after the other is offered one of its joint states, all alike, the present
one among them (without it two fair coins would flip for ever in step and never differ). Blocks,
jumps and the diagnosis are those of Gibbs sampling; it mixes more slowly, and asks no more of a
model than ratios.
"""

from __future__ import annotations

from dataclasses import dataclass

from novum.core.randomness import RandomSource
from novum.graphical.inference.chain_runs import ChainSampling


@dataclass(frozen=True)
class MetropolisHastings(ChainSampling):
    """Estimates from chains of proposed changes; parameters as in `Gibbs`.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.7, 0.3], [0.2, 0.8]])
    >>> engine = MetropolisHastings(random_state=0)
    >>> found = network.query("rain", given={"wet": "true"}, engine=engine)
    >>> bool(abs(found.values[0] - 7 / 15) < 4 * found.errors[0]), found.diagnosis.trusted
    (True, True)
    """

    sweeps: int = 10_000
    burn_in: int = 1_000
    thin: int = 1
    chains: int = 4
    block_cells: int = 32
    random_state: RandomSource = None

    method = "Metropolis-Hastings sampling"
    is_metropolis = True
