"""Answers of a network, as small tables that people can read.

A `Posterior` is a `JointTable` that knows where it comes from: the probability of the evidence and,
where an approximate engine made it, the diagnosis and the error of every cell. `Marginals` maps
nodes to tables and makes them when they are looked at. A `Configuration` maps nodes to states.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, meant
from novum.display import Paragraph, Table, element, notebook
from novum.distributions import JointTable, StateAxis, StateSpace, shown
from novum.graphical.inference.protocol import Beliefs, Diagnosis
from novum.graphical.models.arrays import read_only
from novum.graphical.models.conditional import kept_attributes
from novum.numerics import Floats, cached_property

# Lines of a long answer that are shown.
LINES = 20


_FLOAT = np.dtype(np.float64)


def _frozen(table: Any) -> Floats:
    """An engine's table if nobody can write to it any more, else a copy."""
    if type(table) is np.ndarray and table.dtype is _FLOAT and not table.flags.writeable:
        owner = table.base
        if owner is None or (type(owner) is np.ndarray and not owner.flags.writeable):
            return table
    return read_only(np.array(table, dtype=np.float64, order="C"))


class Posterior(JointTable):
    """A joint distribution of some nodes given what is known.

    Attributes
    ----------
    values : array
        The cells: another name of `probabilities`.
    log_evidence : float or None
        Logarithm of the probability of what is known, where the engine found it.
    diagnosis : Diagnosis or None
        How far an approximate answer is to be trusted; None where it is exact.
    errors : array or None
        Monte-Carlo standard error of each cell.
    """

    log_evidence: float | None
    diagnosis: Diagnosis | None
    errors: Floats | None

    _axes: tuple[StateAxis, ...]

    @classmethod
    def of(cls, axes: tuple[StateAxis, ...], beliefs: Beliefs, place: int = 0) -> Posterior:
        """One table of an engine's answer; nothing is checked, so that queries are quick."""
        posterior, diagnosis = object.__new__(cls), beliefs.diagnosis
        fields = posterior.__dict__
        fields["_axes"] = axes
        fields["probabilities"] = _frozen(beliefs.tables[place])
        fields["log_evidence"] = beliefs.log_evidence
        fields["diagnosis"] = diagnosis
        fields["errors"] = None
        if diagnosis is not None and diagnosis.errors is not None:
            fields["errors"] = read_only(diagnosis.errors[place])
        return posterior

    def __getstate__(self) -> dict[str, Any]:
        return kept_attributes(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        # Copies of arrays can be written to.
        self.__dict__.update(state)
        for array in (self.probabilities, self.errors):
            if array is not None:
                read_only(array)

    # What a table says about its variables, found when it is looked at.

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self._axes)

    @cached_property
    def states(self) -> tuple[tuple[Level, ...], ...]:
        return tuple(axis.states for axis in self._axes)

    @cached_property
    def ordered(self) -> tuple[str, ...]:
        return tuple(axis.name for axis in self._axes if axis.ordered)

    @cached_property
    def space(self) -> StateSpace:
        return StateSpace(self._axes)

    @property
    def values(self) -> Floats:
        return self.probabilities

    def __repr__(self) -> str:
        if self.diagnosis is None:
            return super().__repr__()
        lines = [super().__repr__(), self.diagnosis.sentence]
        if self.errors is not None:
            lines.append(f"standard error of a cell: at most {self.errors.max():.2g}")
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        if self.diagnosis is None:
            return super()._repr_html_()
        return super()._repr_html_() + element("p", self.diagnosis.sentence)


class Marginals(Mapping[str, Posterior]):
    """The posterior of each node.

    Examples
    --------
    >>> from novum.graphical.models.bayesian_network import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> network = network.add("wet", parents=["rain"], table=[[0.9, 0.1], [0.1, 0.9]])
    >>> network.marginals(given={"wet": "true"})
          true    false
    rain  0.6923  0.3077
    wet   1       0
    """

    def __init__(
        self, variables: Sequence[StateAxis], places: Mapping[str, int], beliefs: Beliefs
    ) -> None:
        self._variables = variables
        self._places = places
        self._beliefs = beliefs

    def __getstate__(self) -> dict[str, Any]:
        # A network's view of its places cannot be pickled, what it shows can.
        return {**self.__dict__, "_places": dict(self._places)}

    def __getitem__(self, name: str) -> Posterior:
        place = self._places.get(name)
        if place is None:
            raise KeyError(f"There is no node {label_text(name)}: {meant(name, list(self))}")
        return Posterior.of((self._variables[place],), self._beliefs, place)

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    @property
    def log_evidence(self) -> float | None:
        """Logarithm of the probability of what is known."""
        return self._beliefs.log_evidence

    @property
    def diagnosis(self) -> Diagnosis | None:
        """How far an approximate answer is to be trusted; None where it is exact."""
        return self._beliefs.diagnosis

    def __repr__(self) -> str:
        lines = []
        earlier: tuple[Level, ...] | None = None
        first = self._first
        width = max((len(shown(name)) for name, _, _ in first), default=0)
        for name, states, table in first:
            cells = [f"{cell:.4g}" for cell in table]
            widths = [max(len(shown(s)), 6) for s in states]
            if states != earlier:
                head = "  ".join(shown(s).ljust(w) for s, w in zip(states, widths, strict=True))
                lines.append(f"{'':{width}}  {head}".rstrip())
                earlier = states
            row = "  ".join(cell.ljust(w) for cell, w in zip(cells, widths, strict=True))
            lines.append(f"{shown(name):{width}}  {row}".rstrip())
        if len(self) > LINES:
            lines.append(f"... {len(self) - LINES} more nodes")
        if self.diagnosis is not None:
            lines.append(self.diagnosis.sentence)
        return "\n".join(lines)

    def _repr_html_(self) -> str:
        rows = []
        for name, states, table in self._first:
            cells = (f"{shown(s)} {cell:.4g}" for s, cell in zip(states, table, strict=True))
            rows.append((shown(name), ", ".join(cells)))
        more = [f"{len(self) - LINES} more nodes"] if len(self) > LINES else []
        more += [self.diagnosis.sentence] if self.diagnosis is not None else []
        return notebook(Table("", ["", ""], rows), *map(Paragraph, more))

    @property
    def _first(self) -> list[tuple[str, tuple[Level, ...], Floats]]:
        """Names, states and tables of the nodes that are shown."""
        shown_places = list(self._places.items())[:LINES]
        return [
            (name, self._variables[place].states, self._beliefs.tables[place])
            for name, place in shown_places
        ]


class Configuration(dict[str, Level]):
    """A state of every node.

    Attributes
    ----------
    log_probability : float
        Logarithm of the joint probability of all states, the evidence among them.
    """

    def __init__(self, states: Mapping[str, Level], log_probability: float) -> None:
        super().__init__(states)
        self.log_probability = float(log_probability)

    @property
    def probability(self) -> float:
        return math.exp(self.log_probability)

    def __repr__(self) -> str:
        width = max((len(shown(name)) for name in self), default=0)
        lines = [f"{shown(name):{width}}  {shown(state)}" for name, state in self.items()]
        return "\n".join([*lines, f"log-probability {self.log_probability:.6g}"])

    def _repr_html_(self) -> str:
        rows = [(shown(name), shown(state)) for name, state in self.items()]
        last = Paragraph(f"log-probability {self.log_probability:.6g}")
        return notebook(Table("", ["node", "state"], rows), last)


def row_of_codes(variables: Sequence[StateAxis], codes: Any) -> dict[str, Level]:
    """States by name, from their numbers."""
    if len(codes) < len(variables):
        raise InputError(f"{len(variables)} variables need as many states, got {len(codes)}.")
    return {axis.name: axis.states[int(code)] for axis, code in zip(variables, codes, strict=False)}
