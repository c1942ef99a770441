"""What is known of a graph before the table is seen: edges that must be, edges that cannot."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import InputError
from novum.core.text import label_text, meant
from novum.graphical.structure.dag import CyclicGraphError, Dag

Edge = tuple[str, str]
Matrix = NDArray[np.int8]


@dataclass(frozen=True)
class Constraints:
    """Knowledge about edges.

    Parameters
    ----------
    required : iterable of (parent, child)
        Edges that every graph has.
    forbidden : iterable of (parent, child)
        Edges that no graph has; name both directions to keep two nodes apart.
    tiers : sequence of names or of lists of names, optional
        Earlier before later: no edge points from a later tier into an earlier one. Nodes in no tier
        are free.
    max_parents : int, optional

    Examples
    --------
    >>> Constraints(required=[("smoke", "cancer")], tiers=[["age"], ["smoke", "cancer"]])
    Constraints(required=(('smoke', 'cancer'),), forbidden=(), tiers=(('age',), ('smoke', \
'cancer')), max_parents=None)
    """

    required: Iterable[Edge] = ()
    forbidden: Iterable[Edge] = ()
    tiers: Sequence[str | Sequence[str]] | None = None
    max_parents: int | None = None

    def __post_init__(self) -> None:
        store = object.__setattr__
        store(self, "required", _pairs(self.required, "required"))
        store(self, "forbidden", _pairs(self.forbidden, "forbidden"))
        if self.tiers is not None:
            tiers = tuple((t,) if isinstance(t, str) else tuple(t) for t in self.tiers)
            store(self, "tiers", tiers)
        most = self.max_parents
        if most is not None and (
            isinstance(most, bool) or not isinstance(most, Integral) or most < 0
        ):
            raise InputError(f"max_parents is a number of at least 0, or None; got {most!r}.")

    def rules(self, names: Sequence[str]) -> Rules:
        """The constraints on these nodes, after a check that some graph meets them."""
        return Rules.of(self, tuple(names))


@dataclass(frozen=True, eq=False)
class Rules:
    """Constraints by number.

    Attributes
    ----------
    names : tuple of str
    allowed, required : int8 arrays (child, parent)
    max_parents : int
    """

    names: tuple[str, ...]
    allowed: Matrix
    required: Matrix
    max_parents: int

    @classmethod
    def of(cls, constraints: Constraints, names: tuple[str, ...]) -> Rules:
        places = {name: place for place, name in enumerate(names)}

        def number(name: str, what: str) -> int:
            if name not in places:
                raise InputError(
                    f"{what} names {label_text(name)}, which is no column: {meant(name, names)}"
                )
            return places[name]

        d = len(names)
        allowed = (1 - np.eye(d)).astype(np.int8)
        required = np.zeros((d, d), np.int8)
        for parent, child in constraints.forbidden:
            allowed[number(child, "forbidden"), number(parent, "forbidden")] = 0
        tier_of: dict[int, int] = {}
        for tier, members in enumerate(constraints.tiers or ()):
            for name in members:
                place = number(name, "tiers")
                if place in tier_of:
                    raise InputError(
                        f"{label_text(name)} is in tier {tier_of[place] + 1} and in tier "
                        f"{tier + 1} (counted from 1). Name it once."
                    )
                tier_of[place] = tier
        for later, tier in tier_of.items():
            for earlier, other in tier_of.items():
                if other < tier:
                    allowed[earlier, later] = 0
        for parent, child in constraints.required:
            c, p = number(child, "required"), number(parent, "required")
            required[c, p] = 1
            if not allowed[c, p]:
                forbidding = "forbidden"
                if (parent, child) not in constraints.forbidden:
                    forbidding = "against the order of the tiers"
                raise InputError(
                    f"The edge {label_text(parent)} -> {label_text(child)} is required and "
                    f"{forbidding}. Take one of both back."
                )
        most = d - 1 if constraints.max_parents is None else int(constraints.max_parents)
        for place in range(d):
            if required[place].sum() > most:
                raise InputError(
                    f"{label_text(names[place])} has {int(required[place].sum())} required parents "
                    f"and max_parents is {most}. Raise it, or require fewer."
                )
        try:
            Dag(names, parents_of(required))
        except CyclicGraphError as error:
            raise InputError(f"The required edges cannot all be. {error}") from None
        return cls(names, allowed, required, most)

    def with_numbers(self, is_numeric: Sequence[bool]) -> Rules:
        """The rules of a table with columns of numbers: no column of states depends on them."""
        allowed = self.allowed.copy()
        allowed[np.ix_(~np.array(is_numeric, bool), np.array(is_numeric, bool))] = 0
        for child, parent in np.argwhere((self.required > 0) & (allowed == 0)).tolist():
            raise InputError(
                f"The edge {label_text(self.names[parent])} -> {label_text(self.names[child])} is "
                "required and leads from a number to a state, which no such network has. Cut the "
                "numbers into intervals, or take it back."
            )
        return replace(self, allowed=allowed)

    @property
    def is_symmetric(self) -> bool:
        """Whether only pairs are kept apart: nothing is said about directions."""
        return not self.required.any() and bool((self.allowed == self.allowed.T).all())

    def check(self, graph: Dag) -> None:
        """Refuses a graph that a search should start from and that breaks a rule."""
        for child, parents in enumerate(graph.parents):
            name = label_text(graph.names[child])
            for parent in parents:
                if not self.allowed[child, parent]:
                    raise InputError(
                        f"The start has the edge {label_text(graph.names[parent])} -> {name}, "
                        "which is not allowed. Remove it from the start."
                    )
            absent = [p for p in np.flatnonzero(self.required[child]) if p not in parents]
            if absent:
                raise InputError(
                    f"The start lacks the required edge {label_text(graph.names[absent[0]])} -> "
                    f"{name}. Add it to the start."
                )
            if len(parents) > self.max_parents:
                raise InputError(
                    f"The start gives {name} {len(parents)} parents and max_parents is "
                    f"{self.max_parents}."
                )


def parents_of(adjacency: Matrix) -> tuple[tuple[int, ...], ...]:
    """The parents of each node of a matrix (child, parent)."""
    return tuple(tuple(np.flatnonzero(row).tolist()) for row in adjacency)


def adjacency_of(graph: Dag) -> Matrix:
    """The matrix (child, parent) of a graph."""
    matrix = np.zeros((len(graph.names), len(graph.names)), np.int8)
    for child, parents in enumerate(graph.parents):
        matrix[child, list(parents)] = 1
    return matrix


def _pairs(edges: Iterable[Edge], what: str) -> tuple[Edge, ...]:
    pairs: tuple[Any, ...] = tuple(
        tuple(edge) if isinstance(edge, (tuple, list)) else edge for edge in edges
    )
    for edge in pairs:
        if not isinstance(edge, tuple) or len(edge) != 2 or edge[0] == edge[1]:
            raise InputError(
                f"{what} holds pairs (parent, child) of different nodes; got {label_text(edge)}."
            )
    return pairs
