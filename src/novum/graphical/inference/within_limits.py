"""Exact answers where they can be paid for, approximate ones where not, and word of it.

The price of an exact answer is known before it is computed (`forecast`). Within the limits the
junction tree answers, and the answer has no diagnosis; beyond them another engine does, and its
diagnosis begins with what the exact answer would have cost. Unless that engine is named, several
are asked, the quickest first, until one has passed its own checks: they fail on different models.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from novum.core.errors import InputError, MemoryLimitError
from novum.core.runtime import is_stated, memory_limit
from novum.core.text import label_text
from novum.graphical.inference.blocks import MixingError
from novum.graphical.inference.compiled.layout import CONNECTED, JOINT, MARGINALS
from novum.graphical.inference.compiled.questions import question_of
from novum.graphical.inference.forecast import duration, forecast, seconds_of
from novum.graphical.inference.gibbs import Gibbs
from novum.graphical.inference.importance import ImportanceSampling
from novum.graphical.inference.junction import JunctionTree, is_plain
from novum.graphical.inference.limits import TimeLimitError
from novum.graphical.inference.protocol import Beliefs, Engine, Trust
from novum.graphical.inference.sampling import LikelihoodWeighting, NothingAcceptedError
from novum.graphical.models.arrays import Evidence, ModelArrays


@dataclass(frozen=True)
class WithinLimits(Engine):
    """The junction tree within limits of memory and time, an approximate engine beyond them.

    Parameters
    ----------
    otherwise : Engine, optional
        By default `LikelihoodWeighting()` for networks, `ImportanceSampling()` and `Gibbs()`, the
        first whose answer has no fault found; where all have, that of `ImportanceSampling()`.
        Where it is an exact one, its answers have no diagnosis either.
    memory_limit : int, str or None
        For tables and messages; by default what `novum.core.runtime.memory` allows.
    time_limit : float or None
        Seconds that the forecast of an exact answer may have; by default any number.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("x0", table=[0.2, 0.8])
    >>> for i in range(1, 10):
    ...     network = network.add(f"x{i}", parents=f"x{i - 1}", table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.query("x9", engine=WithinLimits()).diagnosis is None
    True
    >>> tight = WithinLimits(LikelihoodWeighting(1000, random_state=0), time_limit=1e-9)
    >>> print(network.query("x9", engine=tight).diagnosis.sentence)
    An exact answer would take about 0.04 ms, more than the limit of 1e-06 ms. Likelihood \
weighting: 1000 weighted rows, worth about 1000 independent ones.
    """

    otherwise: Engine | None = None
    memory_limit: int | str | None = None
    time_limit: float | None = None

    def __post_init__(self) -> None:
        if self.otherwise is not None and not isinstance(self.otherwise, Engine):
            raise InputError(
                "otherwise is an engine such as LikelihoodWeighting() or LoopyPropagation(); got "
                f"{label_text(self.otherwise)}."
            )
        limit = self.time_limit
        if limit is not None and not (isinstance(limit, (int, float)) and limit > 0):
            raise InputError(f"time_limit is a positive number of seconds, got {limit!r}.")

    def marginals(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None = None
    ) -> Beliefs:
        return self._answered(
            model,
            lambda: self._refusal(model, evidence, variables, MARGINALS),
            lambda engine: engine.marginals(model, evidence, variables),
        )

    def joint(self, model: ModelArrays, evidence: Evidence, variables: Sequence[int]) -> Beliefs:
        return self._answered(
            model,
            lambda: self._refusal(model, evidence, variables, JOINT),
            lambda engine: engine.joint(model, evidence, variables),
        )

    def _answered(
        self, model: ModelArrays, refused: Callable[[], str], answer: Callable[[Engine], Beliefs]
    ) -> Beliefs:
        try:
            refusal = refused()
            if not refusal:
                return answer(JunctionTree(self.memory_limit))
        except (MemoryLimitError, TimeLimitError) as error:
            # Its last sentence says what to do instead, which is done here.
            refusal = str(error).split(". ")[0] + "."
        beliefs = self._approximated(model, answer)
        if beliefs.diagnosis is None:
            return beliefs
        told = replace(beliefs.diagnosis, sentence=f"{refusal} {beliefs.diagnosis.sentence}")
        return replace(beliefs, diagnosis=told)

    def _approximated(self, model: ModelArrays, answer: Callable[[Engine], Beliefs]) -> Beliefs:
        if self.otherwise is not None:
            return answer(self.otherwise)
        adapted = ImportanceSampling(max_cells=self._cells())
        last: Beliefs | None = None
        for engine in (LikelihoodWeighting() if model.is_directed else None, adapted, Gibbs()):
            if engine is None:
                continue
            with suppress(NothingAcceptedError, MixingError, MemoryLimitError):
                beliefs = answer(engine)
                diagnosis = beliefs.diagnosis
                if diagnosis is None or diagnosis.trust is not Trust.FAULT_FOUND:
                    return beliefs
                if last is None or engine is adapted:
                    last = beliefs
        return answer(adapted) if last is None else last

    def _cells(self) -> int:
        """Of a table of the approximate engine, which keeps to the memory limit as well."""
        if not is_stated(self.memory_limit):
            return ImportanceSampling.max_cells
        # A variable may have several tables, each of eight bytes a cell.
        return min(ImportanceSampling.max_cells, max(16, memory_limit(self.memory_limit) // 64))

    def _refusal(
        self, model: ModelArrays, evidence: Evidence, variables: Sequence[int] | None, purpose: int
    ) -> str:
        """What is wrong with the time of an exact answer; nothing where it is within the limit."""
        if self.time_limit is None or is_plain(model):
            return ""
        if variables is None:
            seconds = forecast(model, evidence).seconds
        else:
            question = question_of(model, evidence)
            if not math.isfinite(question.log):
                return ""
            free = [variable for variable in variables if question.known[variable] < 0]
            program = question.program(free, CONNECTED, purpose, self.memory_limit)
            seconds = seconds_of(program.cells, len(program.variables))
        if seconds <= self.time_limit:
            return ""
        return (
            f"An exact answer would take about {duration(seconds)}, more than the limit of "
            f"{duration(self.time_limit)}."
        )
