"""Gibbs sampling: each variable drawn again and again given all others.

    x_v  ~  P(x_v | all others)  proportional to  product of the factors that contain v

(the conditional tables of v and of its children: its Markov blanket). The chain has the posterior
as its only limit if every possible state can be reached, for which it suffices that no factor has
a zero; that is checked first. Variables tied by zeros, or by very uneven tables, are drawn
together (`novum.graphical.inference.blocks`), and where that would be too many, only jumps connect
the states.

Chains also jump to states drawn anew (`novum.graphical.inference.chain_runs`).

Estimates are averages of the conditional probabilities and not of the draws, which has a smaller
error by the theorem of Rao and Blackwell, above all for states that are seldom drawn.
"""

from __future__ import annotations

from dataclasses import dataclass

from novum.core.runtime import RandomSource
from novum.graphical.inference.chain_runs import ChainSampling


@dataclass(frozen=True)
class Gibbs(ChainSampling):
    """Estimates from chains that draw each variable given its Markov blanket.

    Parameters
    ----------
    sweeps : int
        Updates of every variable in each chain, those of `burn_in` included.
    burn_in : int
        Sweeps at the start of a chain that do not count.
    thin : int
        Of how many sweeps one counts. Thinning only loses information; the default keeps all.
    chains : int
        They start at states far from each other, and are compared at the end.
    block_cells : int
        Strongly dependent variables are drawn together while their joint states are at most this
        many; with 1 only those that zeros tie together.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network = network.add("slippery", parents=["wet"], table=[[0.8, 0.2], [0.1, 0.9]])
    >>> found = network.query("rain", given={"slippery": "true"}, engine=Gibbs(random_state=0))
    >>> bool(abs(found.values[0] - 0.5177) < 0.001 + 4 * found.errors[0]), found.diagnosis.trusted
    (True, True)
    """

    sweeps: int = 2_000
    burn_in: int = 500
    thin: int = 1
    chains: int = 4
    block_cells: int = 32
    random_state: RandomSource = None

    method = "Gibbs sampling"


# Metropolis-Hastings sampling: a change is proposed, and accepted by its gain.
#
#     accept x' with probability  min(1, P(x') / P(x))        for proposals that are symmetric
#
# One block of variables after the other is offered one of its joint states, all alike, the present
# one among them (without it two fair coins would flip for ever in step and never differ). Blocks,
# jumps, estimates and the diagnosis are those of Gibbs sampling; it mixes more slowly, and only
# jumps prove its answers.


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
    >>> bool(abs(found.values[0] - 7 / 15) < 1e-9 + 4 * found.errors[0]), found.diagnosis.trusted
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
