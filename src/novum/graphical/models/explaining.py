"""Which evidence moved a posterior, and by how much.

For a state x of a node and findings e = {e_1, ..., e_m}, each finding e_i is judged three ways:

    alone      P(x | e_i)              what it says by itself
    without    P(x | e without e_i)    what the others say
    weight     log2 of  odds(x | e) / odds(x | e without e_i)     bits that it adds to the others

A weight of 1 doubles the odds. Weights of findings that depend on each other do not add up; the
sum over an order of arrival always does, and is given too (`steps`).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text
from novum.display import Paragraph, Table, notebook
from novum.distributions import shown
from novum.graphical.inference.protocol import Diagnosis, Engine
from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.models.questions import States, place_of, state_of
from novum.numerics import Floats, Integers

if TYPE_CHECKING:
    from novum.graphical.models.network_questions import NetworkQuestions

# Cells of the rows that are asked at once.
_MOST_CELLS = 2**22
# Of log-odds: what two ways to the same posterior may differ by, with room.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Finding:
    """One piece of evidence and what it did.

    Attributes
    ----------
    node, state
        What was observed.
    alone, without : float
        Probability of the explained state given this finding only, and given all others.
    weight : float
        Bits that it adds to the others; infinite where it decides alone.
    """

    node: str
    state: Level
    alone: float
    without: float
    weight: float


@dataclass(frozen=True, repr=False)
class Explanation:
    """How the evidence moved one state of one node.

    Attributes
    ----------
    node, state
        What is explained.
    prior, posterior : float
        Its probability before and after all findings.
    findings : tuple of Finding
        By the size of their weight, the heaviest first.
    steps : tuple of float
        Probabilities as the findings arrive in their given order, from the prior on.
    diagnosis : Diagnosis or None
        How far the posterior of an approximate engine is to be trusted; None where it is exact.
    """

    node: str
    state: Level
    prior: float
    posterior: float
    findings: tuple[Finding, ...]
    steps: tuple[float, ...]
    diagnosis: Diagnosis | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        return "\n".join([self._head(), self._table().as_text(), *self._said()])

    def _repr_html_(self) -> str:
        said = map(Paragraph, self._said())
        return notebook(Paragraph(self._head()), self._table(), *said)

    def _head(self) -> str:
        return (
            f"{shown(self.node)} = {shown(self.state)}: {self.prior:.4g} before the evidence, "
            f"{self.posterior:.4g} after"
        )

    def _table(self) -> Table:
        return Table.of_numbers("", ("finding", "bits", "alone", "without it"), self._rows())

    def _said(self) -> list[str]:
        return [] if self.diagnosis is None else [self.diagnosis.sentence]

    def _rows(self) -> list[tuple[str, str, str, str]]:
        return [
            (
                f"{shown(f.node)} = {shown(f.state)}",
                f"{f.weight:+.3g}",
                f"{f.alone:.4g}",
                f"{f.without:.4g}",
            )
            for f in self.findings
        ]


def explained(
    network: NetworkQuestions, node: str, given: States, state: Any, engine: Engine | None
) -> Explanation:
    """How each finding moved a node; its most probable state where none is named.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("ill", table=[0.01, 0.99])
    >>> network = network.add("test", parents=["ill"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.explain("ill", {"test": "true"}, state="true")
    ill = true: 0.01 before the evidence, 0.08333 after
    finding       bits    alone  without it
    test = true  +3.17  0.08333        0.01
    """
    from novum.graphical.inference.batches import batch_marginals

    if not given:
        raise InputError("There is nothing to explain without evidence. Give some states.")
    if node in given:
        raise InputError(f"Node {label_text(node)} is observed itself. Explain another node.")
    asked = place_of(network, node)
    axis = network.variables[asked]
    # Asked first and by itself: it raises whatever is wrong with the evidence.
    after = network.query(node, given=given, engine=engine)
    place = int(after.probabilities.argmax()) if state is None else state_of(axis, state)
    codes = network.known(given, None, None)[1].codes
    places = [place_of(network, name) for name in given]
    solver: Any = engine
    tables = np.concatenate(
        [batch_marginals(network.arrays, rows, [asked], solver)[0] for rows in _rows(codes, places)]
    )
    odds = _log_odds(tables, place)
    # Rows: nothing, what arrived so far (the last is everything), each alone, all but each.
    m = len(places)
    steps, alone, without = np.split(tables[:, place], [m + 1, 2 * m + 1])
    effects = []
    for i, (name, at) in enumerate(zip(given, places, strict=True)):
        observed = network.variables[at].states[codes[at]]
        weight = _bits(float(odds[m]), float(odds[2 * m + 1 + i]))
        effects.append(Finding(name, observed, float(alone[i]), float(without[i]), weight))
    effects.sort(key=lambda finding: -abs(finding.weight))
    return Explanation(
        node,
        axis.states[place],
        float(steps[0]),
        float(steps[-1]),
        tuple(effects),
        tuple(steps.tolist()),
        after.diagnosis,
    )


def _rows(codes: Integers, places: Sequence[int]) -> Iterator[Integers]:
    """The findings that arrived so far, each alone, and all but each, in blocks of rows."""
    m = len(places)
    block = max(1, _MOST_CELLS // len(codes))
    at = np.array(places)
    order = np.arange(m)
    for start in range(0, 3 * m + 1, block):
        numbers = np.arange(start, min(start + block, 3 * m + 1))[:, np.newaxis]
        taken = np.where(
            numbers <= m,
            order < numbers,
            np.where(numbers <= 2 * m, order == numbers - m - 1, order != numbers - 2 * m - 1),
        )
        rows = np.full((len(numbers), len(codes)), UNKNOWN, np.int64)
        rows[:, at] = np.where(taken, codes[at], UNKNOWN)
        yield rows


def _log_odds(tables: Floats, place: int) -> Floats:
    """Base-2 logarithms of the odds of a state in each row.

    The other states are added: one less the state would lose them where it is nearly certain.
    """
    others = np.delete(tables, place, axis=1).sum(axis=1)
    with np.errstate(divide="ignore"):
        return np.asarray(np.log2(tables[:, place]) - np.log2(others))


def _bits(after: float, before: float) -> float:
    """How much the odds grew, in doublings; nothing where it is within rounding."""
    if after == before:
        return 0.0
    size = max(1.0, abs(after), abs(before))
    grown = after - before
    return 0.0 if size < math.inf and abs(grown) <= _ROUNDING * size else grown
