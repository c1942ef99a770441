"""Trees of merges as pictures: in letters, as SVG, or in matplotlib axes.

A leaf is a row, or a cluster of rows where there are too many to show; two branches meet at the
height at which their clusters were merged. Leaves stand in an order in which no branches cross.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import squareform

from novum.core.errors import InputError
from novum.display import (
    Drawing,
    Label,
    Path,
    aligned,
    counted,
    fitting,
    number,
    round_ticks,
    tick_texts,
)
from novum.numerics import Floats, cached_property

_LETTERS = 60
_LEAF, _HEIGHT, _ROOM = 16.0, 260.0, 110.0


@dataclass(frozen=True)
class Branch:
    """A node of the tree that is shown; `children` is empty for a leaf."""

    height: float
    size: int
    row: int
    children: tuple[Branch, ...] = ()

    @property
    def leaves(self) -> list[Branch]:
        """Its leaves from left to right, without recursion: trees may be as deep as long."""
        leaves: list[Branch] = []
        stack = [self]
        while stack:
            node = stack.pop()
            stack.extend(reversed(node.children))
            if not node.children:
                leaves.append(node)
        return leaves


@dataclass(frozen=True, eq=False)
class Dendrogram:
    """The tree of a linkage matrix.

    Parameters
    ----------
    Z : array (n - 1, 4)
        SciPy's linkage matrix, as `linkage` returns it.
    names : sequence of str, optional
        Of the rows; their numbers by default.
    most : int
        Leaves at most; the merges below are shown as one leaf with its number of rows.
    cut : float, optional
        A height to mark.

    Examples
    --------
    >>> from novum.clustering import linkage
    >>> print(Dendrogram(linkage([[0.0], [1.0], [5.0]], "single"), ["a", "b", "c"]).as_text())
    Tree of 3 rows, merged at heights from 1 to 4
      a  ───────────────┐
                        ├────────────────────────────────────────────┐
      b  ───────────────┘                                            ├
                                                                     │
      c  ────────────────────────────────────────────────────────────┘
         0                                                           4
    """

    Z: Floats
    names: Sequence[str] | None = None
    most: int = 30
    cut: float | None = None

    def __post_init__(self) -> None:
        Z = np.asarray(self.Z, np.float64)
        if Z.ndim != 2 or Z.shape[1] != 4 or len(Z) < 1:
            raise InputError(f"A linkage matrix has the shape (n - 1, 4), got {Z.shape}.")
        if self.names is not None and len(self.names) != len(Z) + 1:
            raise InputError(f"{len(Z) + 1} rows need as many names, got {len(self.names)}.")
        if self.most < 2:
            raise InputError(f"A tree shows at least 2 leaves, got most={self.most}.")

    @cached_property
    def root(self) -> Branch:
        """The last merges as a tree."""
        n, shown = len(self.Z) + 1, len(self.Z) - self.most + 1
        nodes: dict[int, Branch] = {}
        first = np.arange(2 * n - 1)
        for i, (a, b, height, size) in enumerate(np.asarray(self.Z)):
            left, right = int(a), int(b)
            first[n + i] = min(first[left], first[right])
            if i < shown:
                nodes.pop(left, None)
                nodes.pop(right, None)
                nodes[n + i] = Branch(float(height), int(size), int(first[n + i]))
                continue
            pair = [nodes.pop(c, Branch(0.0, 1, c)) for c in (left, right)]
            pair.sort(key=lambda branch: branch.row)
            nodes[n + i] = Branch(float(height), int(size), int(first[n + i]), tuple(pair))
        return nodes[2 * n - 2]

    @property
    def title(self) -> str:
        heights, never = self.Z[:, 2], int(np.isinf(self.Z[:, 2]).sum())
        text = f"Tree of {len(self.Z) + 1} rows"
        if never < len(heights):
            text += f", merged at heights from {number(float(heights.min()))} to "
            text += number(float(heights[np.isfinite(heights)].max()))
        return f"{text}, and {never} never" if never else text

    @cached_property
    def _reach(self) -> tuple[float, float]:
        """The top of the picture and the largest height; what is never merged meets at the top."""
        heights = np.asarray(self.Z)[:, 2]
        top = max(float(heights.max(where=np.isfinite(heights), initial=0.0)), 1e-300)
        return (1.1 * top, top) if np.isinf(heights).any() else (top, top)

    def _name(self, leaf: Branch) -> str:
        if leaf.size > 1:
            return counted(leaf.size, "row")
        return str(self.names[leaf.row]) if self.names is not None else str(leaf.row)

    @cached_property
    def _places(self) -> tuple[list[Branch], dict[int, float]]:
        """All nodes, children before parents, and the place of each across."""
        leaves = self.root.leaves
        place = {id(leaf): float(i) for i, leaf in enumerate(leaves)}
        order, stack = [], [self.root]
        while stack:
            node = stack.pop()
            order.append(node)
            stack.extend(node.children)
        order.reverse()
        for node in order:
            if node.children:
                place[id(node)] = sum(place[id(child)] for child in node.children) / 2
        return order, place

    def as_text(self) -> str:
        """The tree in letters, its leaves one below the other and the height to the right."""
        order, _ = self._places
        leaves = self.root.leaves
        top, largest = self._reach
        grid = [[" "] * (_LETTERS + 2) for _ in range(2 * len(leaves) - 1)]
        at = {id(leaf): (2 * i, -1) for i, leaf in enumerate(leaves)}
        for node in order:
            if not node.children:
                continue
            ends = sorted(at[id(child)] for child in node.children)
            column = round(min(node.height, top) / top * _LETTERS)
            column = max(column, ends[0][1] + 1, ends[1][1] + 1)
            column = min(column, _LETTERS + 1)
            for row, start in ends:
                for c in range(start + 1, column):
                    grid[row][c] = "─"
            for row in range(ends[0][0] + 1, ends[1][0]):
                grid[row][column] = "│"
            grid[ends[0][0]][column], grid[ends[1][0]][column] = "┐", "┘"
            middle = (ends[0][0] + ends[1][0]) // 2
            grid[middle][column] = "├"
            at[id(node)] = (middle, column)
        names = [self._name(leaves[i // 2]) if i % 2 == 0 else "" for i in range(len(grid))]
        scale, end = number(largest), round(largest / top * _LETTERS)
        grid.append(list("0" + " " * (end - len(scale)) + scale + " " * (_LETTERS - end)))
        cells = [[name, "".join(line)] for name, line in zip([*names, ""], grid, strict=True)]
        return "\n".join([self.title, *(f"  {line}" for line in aligned(cells, [False, False]))])

    def __repr__(self) -> str:
        return self.as_text()

    def drawing(self) -> Drawing:
        """The tree on a sheet, its leaves at the bottom."""
        order, place = self._places
        leaves = self.root.leaves
        top, largest = self._reach
        left, width = 60.0, 70.0 + _LEAF * len(leaves)

        def point(node: Branch, height: float) -> tuple[float, float]:
            return left + _LEAF * (place[id(node)] + 0.5), 30.0 + _HEIGHT * (
                1.0 - min(height, top) / top
            )

        shapes: list[Any] = []
        ticks = [t for t in round_ticks(0.0, largest, 5) if 0 <= t <= largest * 1.0001]
        for tick, text in zip(ticks, tick_texts(ticks), strict=True):
            y = 30.0 + _HEIGHT * (1.0 - tick / top)
            shapes.append(Path([(left - 4, y), (width, y)], "muted", opacity=0.25))
            shapes.append(Label(left - 8, y + 4, text, "end", size=10.0))
        for node in order:
            if node.children:
                a, b = node.children
                corner, other = point(a, node.height), point(b, node.height)
                shapes.append(Path([point(a, a.height), corner, other, point(b, b.height)], 0, 1.4))
        for leaf in leaves:
            x, y = point(leaf, 0.0)
            text, whole = fitting(self._name(leaf), _ROOM - 20, 10.0)
            shapes.append(Label(x + 3, y + 8, text, "end", size=10.0, turn=-90.0, hover=whole))
        if self.cut is not None and 0 <= self.cut <= top:
            y = 30.0 + _HEIGHT * (1.0 - self.cut / top)
            shapes.append(Path([(left - 4, y), (width, y)], "ink", dash=(4.0, 3.0)))
        return Drawing(width + 10, 40.0 + _HEIGHT + _ROOM, shapes, self.title)

    def as_svg(self, key: str = "") -> str:
        """SVG source; `key` as in `Drawing.as_svg`."""
        return self.drawing().as_svg(key)

    def _repr_html_(self) -> str:
        return self.as_svg()

    def plot(self, ax: Any = None) -> Any:
        """Draws into matplotlib axes, by default those of a new figure."""
        return self.drawing().plot(ax)


def cophenetic_distances(Z: Floats) -> Floats:
    """The height at which two rows come into one cluster, for all pairs, in condensed form.

    Examples
    --------
    >>> from novum.clustering import linkage
    >>> cophenetic_distances(linkage([[0.0], [1.0], [5.0]], "single"))
    array([1., 4., 4.])
    """
    n = len(Z) + 1
    members: dict[int, Any] = {i: np.array([i]) for i in range(n)}
    D = np.zeros((n, n))
    for i, (a, b, height, _) in enumerate(Z):
        left, right = members.pop(int(a)), members.pop(int(b))
        D[np.ix_(left, right)] = D[np.ix_(right, left)] = height
        members[n + i] = np.concatenate([left, right])
    return np.asarray(squareform(D, checks=False))
