"""Independent samples: forward, rejection and likelihood weighting.

    forward      every variable from its table, parents first: rows of the network
    rejection    forward rows, those that contradict the evidence thrown away
    weighting    observed variables are set, and a row weighs  product of P(observed | parents)

Rejection keeps a row with the probability of the evidence, so it needs 1 / P(e) draws for each row
it keeps. Weighting keeps all rows, but a few may carry all the weight: the effective size tells.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from novum.core.errors import InputError, MemoryLimitError
from novum.core.runtime import RandomSource, check_memory, stream, time_sliced
from novum.graphical.inference.limits import check_count, check_seconds
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine, Trust, impossible
from novum.graphical.inference.weighted_rows import (
    MET,
    RowSource,
    Totals,
    check_directed,
    drawing_arrays,
    soft_constant,
)
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays
from novum.numerics import Codes

# Fewer independent rows than this leave a probability of one half uncertain by 0.05, two errors.
ENOUGH = 400
# More than this share of the weight must not lie with states too rare to be met.
MOST_HIDDEN = 0.1
# Of drawing one variable of a row, on a reference machine.
SECONDS_PER_STATE = 6e-9
# What finding out that evidence is impossible may be forecast to take.
MOST_SECONDS = 1.0


class NothingAcceptedError(InputError):
    """No row of all that were drawn agreed with the evidence."""


def forward_codes(model: ModelArrays, size: int, random_state: RandomSource) -> Codes:
    """Rows of a network, states by number.

    Parameters
    ----------
    model : ModelArrays
        Directed.
    size : int
    random_state : int, generator or None

    Returns
    -------
    int32 array of shape (size, n_variables)
        Columns are contiguous; hidden variables come last.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("a", table=[1.0], states=["only"])
    >>> forward_codes(network.arrays, 3, random_state=0).tolist()
    [[0], [0], [0]]
    """
    check_count("size", size, least=0)
    check_directed(model, "Forward sampling")
    check_memory(
        4 * int(size) * model.n_variables,
        f"A sample of {size} rows of {model.n_variables} variables",
        "Draw fewer rows at a time.",
    )
    from novum.graphical.inference.sampling_kernels import BLOCK, draw_columns

    codes = np.empty((model.n_variables, size), np.int32)
    free = np.full(model.n_variables, UNKNOWN, np.int64)
    key = stream(random_state, "rows").integers(0, 2**64, dtype=np.uint64)
    offsets = np.empty(BLOCK, np.int64)
    arrays = drawing_arrays(model)
    for start, stop in time_sliced(size, block=BLOCK):
        draw_columns(*arrays, model.order, free, key, start, stop, offsets, codes)
    return codes.T


class _IndependentSampling(Engine):
    """An engine that answers by one run of independent rows."""

    size: int
    random_state: RandomSource

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        asked = range(model.n_variables - model.n_hidden) if variables is None else variables
        return self._answer(model, evidence, [(variable,) for variable in asked])

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        return self._answer(model, evidence, [tuple(variables)])

    def _answer(
        self, model: ModelArrays, evidence: Evidence, targets: Sequence[Sequence[int]]
    ) -> Beliefs:
        check_directed(model, type(self).__name__)
        source = RowSource(model, evidence, targets, self.random_state)
        check_seconds(
            SECONDS_PER_STATE * self.size * max(1, len(source.order)),
            f"A run of {self.size:.3g} rows of {len(source.order)} variables",
            "Draw fewer rows.",
        )
        return self._run(source)

    @abstractmethod
    def _run(self, source: RowSource) -> Beliefs:
        """Estimates from the rows of a source."""


@dataclass(frozen=True)
class ForwardSampling(_IndependentSampling):
    """Estimates from rows of the network; without evidence only.

    Parameters
    ----------
    size : int
        Rows.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> found = network.query("rain", engine=ForwardSampling(10_000, random_state=0))
    >>> bool(abs(found.values[0] - 0.2) < 4 * found.errors[0])
    True
    """

    size: int = 10_000
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        check_count("size", self.size)

    def _run(self, source: RowSource) -> Beliefs:
        evidence = source.evidence
        if evidence.observed.size or evidence.likelihoods:
            raise InputError(
                "Forward sampling draws rows of the network as it is and cannot use evidence. Use "
                "LikelihoodWeighting() or RejectionSampling()."
            )
        source.weigh(self.size)
        estimate = source.result(source.hidden())
        said = f"{self.size} independent rows."
        return beliefs_of("forward sampling", estimate, said, 0.0)


@dataclass(frozen=True)
class LikelihoodWeighting(_IndependentSampling):
    """Estimates from rows in which the evidence is set, weighed by how likely it is there.

    Parameters
    ----------
    size : int
        Rows.
    random_state : int, generator or None

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> engine = LikelihoodWeighting(10_000, random_state=0)
    >>> found = network.query("rain", given={"wet": "true"}, engine=engine)
    >>> bool(abs(found.values[0] - 9 / 13) < 4 * found.errors[0]), found.diagnosis.trusted
    (True, True)
    """

    size: int = 10_000
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        check_count("size", self.size)

    def _run(self, source: RowSource) -> Beliefs:
        source.weigh(self.size)
        if source.totals[2] == 0:
            refuse_weightless(source.model, source.evidence, self.size)
        estimate = source.result(source.hidden())
        worth = f"worth about {estimate.effective_size:.0f} independent ones"
        said = f"{self.size} weighted rows, {worth}."
        return beliefs_of("likelihood weighting", estimate, said, soft_constant(source.evidence))


def refuse_weightless(model: ModelArrays, evidence: Evidence, size: int) -> None:
    """Says whether evidence without any weight is impossible, where that can be found out."""
    log = _quick_log_evidence(model, evidence)
    if log == -math.inf:
        raise impossible()
    if log is None:
        raise NothingAcceptedError(
            f"All {size} rows have weight 0: the evidence is impossible, or the states that allow "
            "it are too rare to be drawn. Which of them would take long to find out: draw more "
            "rows, or use JunctionTree() where its forecast can be paid for."
        )
    raise NothingAcceptedError(
        f"All {size} rows have weight 0. The evidence is possible (log-probability {log:.4g}), but "
        "the states that allow it are too rare to be drawn. Use JunctionTree(), which is quick "
        "here."
    )


def _quick_log_evidence(model: ModelArrays, evidence: Evidence) -> float | None:
    """The exact one; None where it is forecast to take long, or too much memory."""
    from novum.graphical.inference.junction import JunctionTree, is_plain

    try:
        if not is_plain(model) and _seconds_of_log_evidence(model, evidence) > MOST_SECONDS:
            return None
        return JunctionTree().log_evidence(model, evidence)
    except MemoryLimitError:
        return None


def _seconds_of_log_evidence(model: ModelArrays, evidence: Evidence) -> float:
    from novum.graphical.inference.compiled.layout import ANCESTORS, JOINT
    from novum.graphical.inference.compiled.questions import question_of
    from novum.graphical.inference.forecast import forecast, seconds_of

    question = question_of(model, evidence)
    if math.isnan(question.log):
        # Products leave the range of floats: that way has no program.
        return forecast(model, evidence).seconds
    if question.log == -math.inf:
        return 0.0
    program = question.program((), ANCESTORS, JOINT)
    return seconds_of(program.cells, len(program.variables))


@dataclass(frozen=True)
class RejectionSampling(_IndependentSampling):
    """Estimates from rows of the network that agree with the evidence; others are thrown away.

    Parameters
    ----------
    size : int
        Rows to keep.
    max_draws : int
        Rows to draw at most.
    random_state : int, generator or None

    Notes
    -----
    A row is kept with the probability of the evidence; soft evidence keeps it with its
    likelihood over the largest. Fewer than `size` rows are used as they are, and the diagnosis
    says so; if none is kept, `NothingAcceptedError` is raised.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> engine = RejectionSampling(2_000, random_state=0)
    >>> found = network.query("rain", given={"wet": "true"}, engine=engine)
    >>> bool(abs(found.values[0] - 9 / 13) < 4 * found.errors[0])
    True
    """

    size: int = 10_000
    max_draws: int = 10_000_000
    random_state: RandomSource = None

    def __post_init__(self) -> None:
        check_count("size", self.size)
        check_count("max_draws", self.max_draws)

    def _run(self, source: RowSource) -> Beliefs:
        source.accept(self.size, self.max_draws)
        kept = int(source.totals[2])
        if kept == 0:
            self._refuse(source)
        # Every row that is kept has the weight 1.
        estimate = source.result(MET / kept)
        rate = kept / source.rows
        said = f"{kept} of {source.rows} rows agreed with the evidence ({rate:.3g} of all)."
        if kept < self.size:
            said += (
                f" {self.size} would need about {self.size / rate:.2g} draws: raise max_draws, or "
                "use LikelihoodWeighting()."
            )
        return beliefs_of("rejection sampling", estimate, said, soft_constant(source.evidence))

    def _refuse(self, source: RowSource) -> None:
        if _quick_log_evidence(source.model, source.evidence) == -math.inf:
            raise impossible()
        # With probability 0.95 something would have been kept at a rate of 3 / draws.
        raise NothingAcceptedError(
            f"None of {source.rows} rows agreed with the evidence: its probability is probably "
            f"below {3 / source.rows:.1g}. Use LikelihoodWeighting() or JunctionTree()."
        )


def beliefs_of(method: str, totals: Totals, said: str, log_constant: float) -> Beliefs:
    """Tables and errors of weighted rows, and whether they are to be trusted."""
    is_proved = totals.effective_size >= ENOUGH and totals.hidden <= MOST_HIDDEN
    if totals.hidden > MOST_HIDDEN:
        said += (
            f" Not to be trusted: states too rare to be drawn may have {totals.hidden:.0%} of the "
            "posterior."
        )
    elif not is_proved:
        said += (
            f" They are worth fewer than {ENOUGH} independent rows: the errors are large and "
            "themselves uncertain."
        )
    if not is_proved:
        other = "" if method == "importance sampling" else "ImportanceSampling() or "
        said += f" Draw more rows, or use {other}JunctionTree()."
    diagnosis = Diagnosis(
        method,
        Trust.PROVED if is_proved else Trust.FAULT_FOUND,
        f"{method.capitalize()}: {said}",
        totals.rows,
        totals.errors,
        totals.effective_size,
    )
    return Beliefs(totals.tables, totals.log_mean_weight + log_constant, diagnosis)
