"""What an inference engine offers.

An engine is an immutable value that holds settings only; it is given a model as arrays and what is
known, and answers with tables. Exact engines also know the probability of the evidence and the
most probable configuration; approximate ones attach a diagnosis to every answer, which says how
far to trust it.

Evidence of probability zero raises `ImpossibleEvidence`, except in `log_evidence`, which is
`-inf`. Work beyond the memory limit raises `MemoryLimitError` with the forecast, before it starts.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from novum.distributions import ImpossibleEvidence
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.numerics import Floats


class Trust(StrEnum):
    """How far an approximate answer is to be trusted, from most to least.

    Attributes
    ----------
    PROVED
        The checks found nothing wrong, and a proof bounds what draws or messages can have missed.
    NO_FAULT_FOUND
        The checks found nothing wrong; states that all chains missed would not have shown.
    FAULT_FOUND
        A check failed, or the method leaves something out whose size is not known.
    """

    PROVED = "proved"
    NO_FAULT_FOUND = "no fault found"
    FAULT_FOUND = "fault found"


@dataclass(frozen=True, eq=False)
class Diagnosis:
    """How far an approximate answer is to be trusted.

    Attributes
    ----------
    method : str
        Name of the engine, in words.
    trust : Trust
        "proved", "no fault found" or "fault found".
    sentence : str
        What was found, in words.
    iterations : int
        Sweeps, messages passes or samples.
    errors : tuple of arrays, one for each table of the answer, or None
        Monte-Carlo standard error of every cell.
    effective_size : float or None
        Independent samples that would give the same error, of the worst cell.
    r_hat : float or None
        Ratio of spreads between and within chains, of the worst cell; near 1 when mixed.
    bound : float or None
        Proved lower bound of the log-evidence (mean field).
    """

    method: str
    trust: Trust
    sentence: str
    iterations: int
    errors: tuple[Floats, ...] | None = None
    effective_size: float | None = None
    r_hat: float | None = None
    bound: float | None = None

    @property
    def trusted(self) -> bool:
        """Whether the answer is proved to lie within what it states."""
        return self.trust is Trust.PROVED


@dataclass(frozen=True, eq=False)
class Beliefs:
    """Tables that answer a question, with what is known about their quality.

    Attributes
    ----------
    tables : tuple of arrays
        Each sums to one.
    log_evidence : float or None
        Logarithm of the probability of the evidence (for undirected models of the sum over all
        states that agree with it), where the engine knows it.
    diagnosis : Diagnosis or None
        None for exact answers.
    """

    tables: tuple[Floats, ...]
    log_evidence: float | None = None
    diagnosis: Diagnosis | None = None


class Engine(ABC):
    """A way to compute posteriors."""

    is_exact: bool = False

    @abstractmethod
    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        """The posterior of each variable (by default of all that are not hidden), one table each.

        An observed variable has a table of one 1.
        """

    @abstractmethod
    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        """The joint posterior of some variables, as one table with axes in the order given."""


class ExactEngine(Engine):
    """An engine whose answers are exact up to rounding."""

    is_exact = True

    @abstractmethod
    def log_evidence(self, model: ModelArrays, evidence: Evidence) -> float:
        """Logarithm of the probability of the evidence; `-inf` where it is zero."""

    def families(self, model: ModelArrays, evidence: Evidence) -> Beliefs:
        """The joint posterior of the variables of each factor, with the axes of its table.

        In a network these are a variable and its parents: what its table is learned from.
        """
        scopes = [model.scope(factor).tolist() for factor in range(model.n_factors)]
        return Beliefs(tuple(self.joint(model, evidence, scope).tables[0] for scope in scopes))


# --- Answers --------------------------------------------------------------------------------------


def impossible() -> ImpossibleEvidence:
    """The error of evidence that has probability zero."""
    return ImpossibleEvidence(
        "The evidence has probability 0, so nothing can be said given it. Check its states."
    )


def table_of(
    model: ModelArrays, evidence: Evidence, variable: int, beliefs: Mapping[int, Floats]
) -> Floats:
    """What was found for a variable; a one at its state where it is observed."""
    code = int(evidence.codes[variable])
    if code < 0:
        return beliefs[variable]
    table = np.zeros(model.cards[variable])
    table[code] = 1.0
    return table


def with_observed(
    model: ModelArrays,
    evidence: Evidence,
    variables: Sequence[int],
    free: Sequence[int],
    table: Floats,
) -> Floats:
    """A table of the unobserved variables as one of all: zero where observed ones differ."""
    if len(free) == len(variables):
        return table
    whole = np.zeros([int(model.cards[variable]) for variable in variables])
    at = tuple(
        slice(None) if evidence.codes[variable] < 0 else int(evidence.codes[variable])
        for variable in variables
    )
    whole[at] = table
    return whole
