"""Tables over discrete variables as text and as HTML.

One line for each joint state: the states, then the number. Long tables show their first lines and
how many more there are. Names and states come from elsewhere, so control characters are written by
their codes and HTML is escaped.
"""

from __future__ import annotations

import html
import itertools
import math

from novum.distributions.joint_table_states import Floats, StateSpace, shown

LINES = 20


def as_text(space: StateSpace, cells: Floats, heading: str = "probability") -> str:
    """Aligned columns, states to the left and numbers to the right.

    Examples
    --------
    >>> import numpy as np
    >>> from novum.distributions.joint_table_states import StateAxis
    >>> print(as_text(StateSpace([StateAxis("coin", ("head", "tail"))]), np.array([0.25, 0.75])))
    coin  probability
    head         0.25
    tail         0.75
    """
    rows = _rows(space, cells, heading)
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for *states, number in rows:
        left = [state.ljust(width) for state, width in zip(states, widths, strict=False)]
        lines.append("  ".join([*left, number.rjust(widths[-1])]))
    return "\n".join([*lines, *_more(cells)])


def as_html(space: StateSpace, cells: Floats, heading: str = "probability") -> str:
    """The same as a table that a notebook shows."""
    head, *body = [[html.escape(cell) for cell in row] for row in _rows(space, cells, heading)]
    top = "".join(f"<th>{cell}</th>" for cell in head)
    lines = "".join("<tr>" + "".join(f"<td>{c}</td>" for c in row) + "</tr>" for row in body)
    more = "".join(f"<p>{html.escape(line)}</p>" for line in _more(cells))
    return (
        '<div class="novum-table"><table>'
        f"<thead><tr>{top}</tr></thead><tbody>{lines}</tbody></table>{more}</div>"
    )


def _rows(space: StateSpace, cells: Floats, heading: str) -> list[list[str]]:
    states = itertools.islice(itertools.product(*(axis.states for axis in space)), LINES)
    body = [
        [*(shown(state) for state in joint), _number(float(cell))]
        for joint, cell in zip(states, cells.flat, strict=False)
    ]
    return [[*(shown(name) for name in space.names), heading], *body]


def _number(value: float) -> str:
    return "undefined" if math.isnan(value) else f"{value:.6g}"


def _more(cells: Floats) -> list[str]:
    return [f"... {cells.size - LINES} more joint states"] if cells.size > LINES else []
