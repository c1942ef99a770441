"""Color refinement: nodes are told apart by the colors of their neighbors, again and again.

    color_0(v) = label of v
    color_t(v) = number of ( color_{t-1}(v), multiset of (color_{t-1}(u), kind of the edge uv) )

over the neighbors u of v; of a directed edge both ends know on which end they are. Each iteration
can only split colors, so once their number stays the same the partition is stable: later
iterations repeat it, and, since numbers follow the order of first occurrence, with the same
numbers. Refinement stops there, and whoever sums over iterations counts the last one repeatedly.

The multisets are sorted without comparisons: arcs are put in the order of their neighbor's color
by counting, and then handed out to their nodes in that order, in time linear in the graphs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from novum.kernels.graphs.graph_sample import GraphSample
from novum.kernels.graphs.numbering import EMPTY, Rows, RowTable, numbered
from novum.numerics import Codes, Integers, Mask, as_argument, cached_property

# Below this many nodes and arcs NumPy's sort is quicker than loading the kernel.
COMPILED_FROM = 2**14


@dataclass(frozen=True, eq=False)
class Arcs:
    """Edges as their nodes see them: an undirected edge is an arc of each end, a self loop one.

    Attributes
    ----------
    nodes : int32 array
        The nodes whose arcs these are, ascending.
    node, neighbor : int32 arrays (n_arcs,)
        Place of the node among `nodes`, and its neighbor.
    kind : int32 array (n_arcs,), ascending
        0 is a plain edge; the two ends of a directed edge see two kinds.
    starts : int64 array (len(nodes) + 1,)
        Where the signature of each node begins: its color, then for each arc the neighbor's color,
        after minus the kind of the arc where that is not 0.
    """

    nodes: Codes
    node: Codes
    neighbor: Codes
    kind: Codes
    starts: Integers

    @classmethod
    def of(cls, nodes: Codes, node: Codes, neighbor: Codes, kind: Codes) -> Self:
        lengths = np.bincount(node, minlength=len(nodes)) + 1
        if kind.any():
            lengths += np.bincount(node[kind != 0], minlength=len(nodes))
        starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
        return cls(nodes, node, neighbor, kind, starts)

    def of_few(self, chosen: Mask) -> Self:
        """The arcs of some of all nodes, if these are a minority here; else all arcs."""
        is_kept = chosen[self.nodes]
        if 2 * np.count_nonzero(is_kept) > len(is_kept):
            return self
        kept = is_kept[self.node]
        place = np.cumsum(is_kept, dtype=np.int32) - 1
        return self.of(
            self.nodes[is_kept], place[self.node[kept]], self.neighbor[kept], self.kind[kept]
        )


@dataclass(frozen=True, eq=False)
class Refinement:
    """Colors by iteration, until they are stable or all iterations are done.

    Attributes
    ----------
    colors : tuple of int32 arrays (n_nodes,), of iterations 0, 1, ...
    sizes : tuple of int
        Number of colors in each iteration, with those known before.
    is_stable : bool
        Whether further iterations would tell no more nodes apart.
    arcs : Arcs
    known : tuple of RowTable
        Of the refinement that this one continues.
    """

    colors: tuple[Codes, ...]
    sizes: tuple[int, ...]
    is_stable: bool
    arcs: Arcs
    known: tuple[RowTable, ...]

    @cached_property
    def tables(self) -> tuple[RowTable, ...]:
        """Signatures of the colors of iterations 1, 2, ...

        Where the colors are stable there is one table more than colors, and the last one maps
        stable colors to themselves.
        """
        n_steps = len(self.colors) - 1 + self.is_stable
        return tuple(
            numbered(signatures(self.arcs, self.colors[t], self.sizes[t]), table_at(self.known, t))[
                1
            ]
            for t in range(n_steps)
        )


def refine(
    sample: GraphSample,
    iterations: int | None,
    known: Sequence[RowTable] = (),
    enough: Callable[[Codes, int], bool] | None = None,
) -> Refinement:
    """Refines the colors of all nodes of all graphs together.

    Parameters
    ----------
    sample : GraphSample
    iterations : int or None
        At most so many; None goes on until the colors are stable.
    known : sequence of RowTable
        Tables of an earlier refinement, whose label codes `sample` continues. Its colors keep
        their numbers. Where it was stable, its last table serves all later iterations.
    enough : callable, optional
        Asked after each iteration, with the colors and their number, whether to stop.

    Examples
    --------
    >>> from novum.kernels.graphs.graph_sample import read_sample
    >>> path = read_sample([([(0, 1), (1, 2), (2, 3)], "aaaa")])
    >>> [colors.tolist() for colors in refine(path, None).colors]
    [[0, 0, 0, 0], [0, 1, 1, 0]]
    """
    arcs = told = arcs_of(sample)
    colors, sizes, is_stable = [sample.nodes], [len(sample.node_codes)], False
    while not is_stable and (iterations is None or len(colors) <= iterations):
        if enough is not None and enough(colors[-1], sizes[-1]):
            break
        if not known:
            # A node whose color nobody shares will not share a later one: its arcs tell nothing.
            told = told.of_few(np.bincount(colors[-1], minlength=1)[colors[-1]] > 1)
        rows = signatures(told, colors[-1], sizes[-1])
        codes, table = numbered(rows, table_at(known, len(colors) - 1), len(arcs.node))
        refined, size = _of_all(codes, len(table), told.nodes, len(sample.nodes))
        is_stable = size == sizes[-1]
        if not is_stable:
            colors.append(refined)
            sizes.append(size)
    return Refinement(tuple(colors), tuple(sizes), is_stable, arcs, tuple(known))


def table_at(tables: Sequence[RowTable], step: int) -> RowTable:
    """The table of a step; the last one also serves those that follow."""
    return tables[min(step, len(tables) - 1)] if tables else EMPTY


def _of_all(numbers: Codes, size: int, nodes: Codes, n_nodes: int) -> tuple[Codes, int]:
    """Codes of all nodes in the order of first occurrence, where only some share theirs."""
    if len(nodes) == n_nodes:
        return numbers, size
    # A code that is larger than all before it occurs for the first time.
    first = np.flatnonzero(np.diff(np.maximum.accumulate(numbers), prepend=-1))
    is_new = np.ones(n_nodes, bool)
    is_new[nodes] = False
    is_new[nodes[first]] = True
    codes = np.cumsum(is_new, dtype=np.int32) - 1
    codes[nodes] = codes[nodes[first]][numbers]
    return codes, int(np.count_nonzero(is_new))


def arcs_of(sample: GraphSample) -> Arcs:
    """The arcs of a sample, by kind."""
    twice = sample.first != sample.second
    # A directed self loop is seen from both of its ends, which are one node.
    twice |= sample.directed
    node = np.concatenate([sample.first, sample.second[twice]])
    neighbor = np.concatenate([sample.second, sample.first[twice]])
    incoming = 2 * sample.edges[twice] + sample.directed[twice]
    kind = np.concatenate([2 * sample.edges, incoming]).astype(np.int32)
    if kind.any():
        order = np.argsort(kind, kind="stable")
        node, neighbor, kind = node[order], neighbor[order], kind[order]
    return Arcs.of(np.arange(len(sample.nodes), dtype=np.int32), node, neighbor, kind)


def signatures(arcs: Arcs, color: Codes, n_colors: int) -> Rows:
    """What the next color of each of the arcs' nodes is the number of."""
    values = np.empty(int(arcs.starts[-1]), np.int32)
    values[arcs.starts[:-1]] = color[arcs.nodes]
    if len(arcs.node) + len(color) < COMPILED_FROM:
        _fill_sorted(arcs, color, values)
    else:
        from novum.kernels.graphs.numbering_kernels import hand_out

        hand_out(
            as_argument(color, np.int32),
            as_argument(arcs.node, np.int32),
            as_argument(arcs.neighbor, np.int32),
            as_argument(arcs.kind, np.int32),
            arcs.starts[:-1] + 1,
            np.zeros(n_colors + 1, np.int64),
            np.empty(len(arcs.node), np.int32),
            values,
        )
    return Rows(arcs.starts, values)


def _fill_sorted(arcs: Arcs, color: Codes, out_values: Codes) -> None:
    """The arcs' part of the signatures, by sorting."""
    near = color[arcs.neighbor]
    order = np.lexsort((arcs.kind, near, arcs.node))
    near, kind = near[order], arcs.kind[order]
    # All entries in the order of the nodes: one of each arc, or two where it has a kind.
    rest = np.ones(len(out_values), bool)
    rest[arcs.starts[:-1]] = False
    entries = np.repeat(near, 1 + (kind != 0))
    last = np.cumsum(1 + (kind != 0)) - 1
    entries[last[kind != 0] - 1] = -kind[kind != 0]
    out_values[rest] = entries
