"""A tree as indented text: one line for each node, with its answer, prediction and class weights.

all rows [yes 9, no 5]
├─ outlook = overcast: yes [yes 4]
├─ outlook = rainy [yes 3, no 2]
│  ├─ windy = False: yes [yes 3]
...
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from novum.core.errors import InputError
from novum.trees.reading.outline import Entry, Outline, outline
from novum.trees.reading.questions import DIGITS
from novum.trees.tree import Tree


@dataclass(frozen=True)
class _Strokes:
    """The pieces that lines are drawn with: beside a child, beside the last, and below them."""

    child: str
    last: str
    down: str
    space: str = "   "


_STROKES = {
    "unicode": _Strokes("├─ ", "└─ ", "│  "),
    "ascii": _Strokes("|- ", "`- ", "|  "),
}


def tree_text(
    tree: Tree,
    *,
    max_depth: int | None = None,
    lines: Literal["unicode", "ascii"] = "unicode",
    target: int = 0,
    digits: int = DIGITS,
) -> str:
    """The tree as indented text.

    Parameters
    ----------
    tree : Tree
    max_depth : int, optional
        Questions from the root that are shown; what is below is counted.
    lines : {"unicode", "ascii"}
    target : int
        Which target, where there are several.
    digits : int
        Significant digits; more where thresholds of a column would look equal.

    Returns
    -------
    str
    """
    if lines not in _STROKES:
        raise InputError(f"lines is 'unicode' or 'ascii', got {lines!r}.")
    return _drawn(outline(tree, max_depth=max_depth, target=target, digits=digits), _STROKES[lines])


def _drawn(drawing: Outline, strokes: _Strokes) -> str:
    lines: list[str] = []
    # Entries that wait, each with what stands before it and before all below it.
    pending = [(0, "", "")]
    while pending:
        place, before, below = pending.pop()
        entry = drawing.entries[place]
        lines.append(before + _line(entry))
        if entry.hidden:
            lines.append(f"{below}{strokes.last}{entry.rest}")
        last = len(entry.children) - 1
        for rank in range(last, -1, -1):
            stroke = strokes.last if rank == last else strokes.child
            deeper = strokes.space if rank == last else strokes.down
            pending.append((entry.children[rank], below + stroke, below + deeper))
    return "\n".join(lines)


def _line(entry: Entry) -> str:
    head = entry.condition or "all rows"
    # A node whose children are not shown says what it would predict itself.
    says = f": {entry.prediction}" if entry.is_leaf or entry.hidden else ""
    return f"{head}{says} [{entry.counts}]"
