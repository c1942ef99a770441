"""Which evidence moved a posterior, and by how much.

For a state x of a node and findings e = {e_1, ..., e_m}, each finding e_i is judged three ways:

    alone      P(x | e_i)              what it says by itself
    without    P(x | e without e_i)    what the others say
    weight     log2 of  odds(x | e) / odds(x | e without e_i)     bits that it adds to the others

A weight of 1 doubles the odds. Weights of findings that depend on each other do not add up; the
sum over an order of arrival always does, and is given too (`steps`).
"""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from novum.core.errors import InputError
from novum.core.schema import Level
from novum.core.text import label_text
from novum.distributions.joint_table_states import shown
from novum.graphical.inference.protocol import Engine
from novum.graphical.models.questions import States, place_of, state_of

if TYPE_CHECKING:
    from novum.graphical.models.network_questions import NetworkQuestions


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
    """

    node: str
    state: Level
    prior: float
    posterior: float
    findings: tuple[Finding, ...]
    steps: tuple[float, ...]

    def __repr__(self) -> str:
        head = (
            f"{shown(self.node)} = {shown(self.state)}: {self.prior:.4g} before the evidence, "
            f"{self.posterior:.4g} after"
        )
        rows = [("finding", "bits", "alone", "without it"), *self._rows()]
        widths = [max(len(row[column]) for row in rows) for column in range(4)]
        lines = [
            "  ".join([row[0].ljust(widths[0]), *(row[i].rjust(widths[i]) for i in (1, 2, 3))])
            for row in rows
        ]
        return "\n".join([head, *lines])

    def _repr_html_(self) -> str:
        head = html.escape(repr(self).splitlines()[0])
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>"
            for row in self._rows()
        )
        top = "<th>finding</th><th>bits</th><th>alone</th><th>without it</th>"
        return (
            f'<div class="novum-table"><p>{head}</p><table><thead><tr>{top}</tr></thead>'
            f"<tbody>{body}</tbody></table></div>"
        )

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
    if not given:
        raise InputError("There is nothing to explain without evidence. Give some states.")
    if node in given:
        raise InputError(f"Node {label_text(node)} is observed itself. Explain another node.")
    axis = network.variables[place_of(network, node)]
    after = network.query(node, given=given, engine=engine).probabilities
    place = int(after.argmax()) if state is None else state_of(axis, state)

    def probability(states: States) -> float:
        return float(network.query(node, given=states, engine=engine).probabilities[place])

    posterior = float(after[place])
    found, steps, arrived = [], [probability({})], {}
    for name, value in given.items():
        arrived[name] = value
        steps.append(probability(arrived))
        without = probability({n: s for n, s in given.items() if n != name})
        observed = network.variables[place_of(network, name)]
        found.append(
            Finding(
                node=name,
                state=observed.states[state_of(observed, value)],
                alone=probability({name: value}),
                without=without,
                weight=_bits(posterior, without),
            )
        )
    found.sort(key=lambda finding: -abs(finding.weight))
    return Explanation(node, axis.states[place], steps[0], posterior, tuple(found), tuple(steps))


def _bits(after: float, before: float) -> float:
    """How much the odds grew, in doublings."""
    return _log_odds(after) - _log_odds(before) if after != before else 0.0


def _log_odds(probability: float) -> float:
    if probability <= 0:
        return -math.inf
    return math.inf if probability >= 1 else math.log2(probability / (1 - probability))
