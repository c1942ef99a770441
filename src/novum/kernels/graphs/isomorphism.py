"""The Weisfeiler-Lehman test: a proof that two graphs differ, or the lack of one.

    isomorphic graphs have the same number of nodes of each color, in every iteration

so one iteration in which some color is not equally frequent proves that no isomorphism exists. The
converse fails: some graphs that are not isomorphic never part, regular graphs of one degree and
size among them. The test therefore answers "different at iteration i" or "not separated", never
"isomorphic". It decides trees and forests, and almost all graphs. It ends when the colors are
stable, after fewer iterations than there are nodes.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.text import label_text, printable
from novum.kernels.graphs.graph_sample import GraphSample, read_sample
from novum.kernels.graphs.refinement import Refinement, refine
from novum.numerics import Codes, Integers

# Longest description of a color; colors of late iterations stand for large trees.
LONGEST_TEXT = 80


@dataclass(frozen=True)
class ColorDifference:
    """A color that the two graphs do not have equally often.

    Attributes
    ----------
    color : str
        The label of the node, with those of its neighbors in brackets, theirs in theirs, and so on
        to the depth of the iteration. Long ones are cut.
    first, second : int
        How many nodes of each graph have it.
    """

    color: str
    first: int
    second: int

    def __str__(self) -> str:
        return f"{self.color}: {self.first} and {self.second} nodes"


@dataclass(frozen=True)
class IsomorphismTest:
    """What the test found.

    Attributes
    ----------
    iteration : int or None
        The first iteration in which the colors differ; 0 are the labels. None: not separated.
    n_iterations : int
        Iterations that were looked at; all further ones would tell nothing new if not separated.
    differences : tuple of ColorDifference
        What parted the graphs, the largest difference first; empty if not separated.
    """

    iteration: int | None
    n_iterations: int
    differences: tuple[ColorDifference, ...]

    @property
    def separated(self) -> bool:
        """Whether the graphs are proved to be different."""
        return self.iteration is not None

    @property
    def verdict(self) -> str:
        if self.iteration is None:
            return "not separated"
        return f"different at iteration {self.iteration}"

    def __bool__(self) -> bool:
        raise TypeError(
            f"The graphs are {self.verdict}, which is neither true nor false. Ask for .separated; "
            "graphs that are not separated need not be isomorphic."
        )

    def __repr__(self) -> str:
        if self.iteration is None:
            return (
                f"not separated: the colors are stable after {self.n_iterations} iterations and "
                "equally frequent in both graphs"
            )
        shown = "; ".join(str(difference) for difference in self.differences[:3])
        more = len(self.differences) - 3
        rest = f"; and {more} more" if more > 0 else ""
        return f"{self.verdict}: {shown}{rest}"


def isomorphism_test(G: Any, H: Any) -> IsomorphismTest:
    """Compares the colors of two graphs iteration by iteration, until they part or are stable.

    Parameters
    ----------
    G, H : graphs
        In any of the forms of `novum.kernels.graphs.graph_forms`. Labels of nodes and edges must
        agree too.

    Examples
    --------
    >>> path, star = [(0, 1), (1, 2), (2, 3)], [(0, 1), (0, 2), (0, 3)]
    >>> isomorphism_test((path, "CCCC"), (star, "CCCC")).verdict
    'different at iteration 1'
    >>> hexagon = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (0, 5)]
    >>> triangles = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5)]
    >>> isomorphism_test(hexagon, triangles).verdict
    'not separated'
    """
    sample = read_sample([G, H])
    middle = int(sample.node_starts[1])

    def counts(colors: Codes, size: int) -> tuple[Integers, Integers]:
        first, second = colors[:middle], colors[middle:]
        return np.bincount(first, minlength=size), np.bincount(second, minlength=size)

    def parted(colors: Codes, size: int) -> bool:
        first, second = counts(colors, size)
        return bool((first != second).any())

    refined = refine(sample, None, enough=parted)
    first, second = counts(refined.colors[-1], refined.sizes[-1])
    iteration = len(refined.colors) - 1
    odd = np.flatnonzero(first != second)
    if not odd.size:
        return IsomorphismTest(None, iteration, ())
    order = odd[np.argsort(-np.abs(first - second)[odd], kind="stable")]
    text = _ColorText(sample, refined)
    differences = tuple(
        ColorDifference(text.of(iteration, int(c)), int(first[c]), int(second[c])) for c in order
    )
    return IsomorphismTest(iteration, iteration, differences)


class _ColorText:
    """Colors as trees of labels."""

    def __init__(self, sample: GraphSample, refined: Refinement) -> None:
        self.labels: list[Hashable] = list(sample.node_codes)
        self.kinds = list(sample.edge_codes)
        self.tables = refined.tables

    def of(self, iteration: int, color: int) -> str:
        parts: list[str] = []
        self._write(iteration, color, parts)
        return printable("".join(parts), LONGEST_TEXT)

    def _write(self, iteration: int, color: int, parts: list[str]) -> None:
        """Appends the tree of a color, no more than can be shown of it."""
        if len(parts) > LONGEST_TEXT:
            return
        root = color
        for t in range(iteration, 0, -1):
            root = int(self._signature(t, root)[0])
        parts.append(label_text(self.labels[root]))
        if iteration == 0:
            return
        gap, kind = "(", 0
        for value in self._signature(iteration, color)[1:].tolist():
            if value < 0:
                kind = -value
                continue
            parts += [gap, self._kind_text(kind)]
            self._write(iteration - 1, value, parts)
            gap, kind = " ", 0
        parts.append("()" if gap == "(" else ")")

    def _signature(self, iteration: int, color: int) -> Any:
        if iteration == 0:
            return np.array([color])
        rows = self.tables[iteration - 1].rows
        return rows.values[rows.starts[color] : rows.starts[color + 1]]

    def _kind_text(self, kind: int) -> str:
        if kind == 0:
            return ""
        directed, label = self.kinds[kind // 2]
        arrow = ("<-" if kind % 2 else "->") if directed else ""
        return f"{arrow}{'' if label is None else label_text(label)}:"
