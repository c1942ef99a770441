"""What stands in the box of a node: its name and, for each state, a bar and a percentage."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.text import printable
from novum.display import text_width
from novum.distributions import shown
from novum.graphical.models.conditional import Conditional

LINE = 17.0
PADDING = 8.0
BAR_WIDTH = 64.0
BAR_HEIGHT = 9.0
PERCENT_WIDTH = 54.0
_LONGEST_NAME = 26
_LONGEST_STATE = 16
_BETWEEN = 6.0


@dataclass(frozen=True)
class StateLine:
    """A state's line: what stands left, the share its bar fills, and what stands right."""

    label: str
    share: float
    percentage: str
    is_observed: bool


@dataclass(frozen=True)
class Box:
    """A node as it is painted, without its place.

    Attributes
    ----------
    name : str
        Cut where it is long.
    lines : tuple of StateLine
    rest : str
        What is said of states that are not shown; empty where all are.
    hover : str
        All figures, shown by pointing at the node.
    label_width : float
        Room for the labels of states.
    width, height : float
    """

    name: str
    lines: tuple[StateLine, ...]
    rest: str
    hover: str
    is_observed: bool
    label_width: float
    width: float
    height: float


def bar_box(item: Conditional, shares: np.ndarray, observed: Sequence[int], max_states: int) -> Box:
    """A box with bars.

    Parameters
    ----------
    item : Conditional
    shares : array
        The probability of each state.
    observed : sequence of int
        The state that is known, several of which one is, or none.
    max_states : int
        Lines for states; the least likely are put together in one.
    """
    states = item.variable.states
    kept = _kept(shares, max_states)
    lines = tuple(
        StateLine(
            shortened(shown(states[place]), _LONGEST_STATE),
            float(shares[place]),
            percentage(float(shares[place])),
            place in observed,
        )
        for place in kept
    )
    left = len(states) - len(kept)
    others = 1.0 - float(shares[kept].sum())
    rest = f"{left} more: {percentage(max(others, 0.0))}" if left else ""
    name = shortened(printable(item.name), _LONGEST_NAME)
    labels = max(text_width(line.label) for line in lines)
    inner = max(
        labels + BAR_WIDTH + PERCENT_WIDTH + _BETWEEN, 1.1 * text_width(name), text_width(rest)
    )
    height = LINE * (1 + len(lines) + bool(rest)) + 2 * PADDING + 3
    hover = _hover(item, shares, observed)
    label_width = inner - BAR_WIDTH - PERCENT_WIDTH
    known = bool(observed)
    return Box(name, lines, rest, hover, known, label_width, inner + 2 * PADDING, height)


def name_box(item: Conditional, observed: Sequence[int]) -> Box:
    """A box with a name only, and the state where it is known."""
    name = shortened(printable(item.name), _LONGEST_NAME)
    rest = shortened(f"= {_known(item, observed)}", _LONGEST_NAME) if observed else ""
    inner = max(1.1 * text_width(name), text_width(rest), 30.0)
    height = LINE * (1 + bool(rest)) + 2 * PADDING - 4
    hover = _hover(item, None, observed)
    known = bool(observed)
    return Box(name, (), rest, hover, known, 0.0, inner + 2 * PADDING, height)


def number_box(name: str, law: Any) -> Box:
    """A box of a number: its value where it is known, else the mean and spread of its law."""
    known = isinstance(law, (int, float))
    text = f"= {law:.6g}" if known else f"{law.mean:.4g} ± {law.standard_deviation:.3g}"
    title = shortened(printable(name), _LONGEST_NAME)
    inner = max(1.1 * text_width(title), text_width(text), 30.0)
    height = 2 * LINE + 2 * PADDING - 4
    hover = f"{printable(name)}: {text if known else repr(law)}"
    return Box(title, (), text, hover, known, 0.0, inner + 2 * PADDING, height)


def plain_box(name: str) -> Box:
    """A box with a name only, of a variable without a table."""
    text = shortened(printable(name), _LONGEST_NAME)
    inner = max(1.1 * text_width(text), 30.0)
    return Box(
        text, (), "", printable(name), False, 0.0, inner + 2 * PADDING, LINE + 2 * PADDING - 4
    )


def percentage(share: float) -> str:
    """A probability for people: a digit behind the point, and no rounding to certainty.

    Examples
    --------
    >>> [percentage(share) for share in (0.0, 1e-6, 0.284172, 0.99999, 1.0)]
    ['0 %', '<0.1 %', '28.4 %', '>99.9 %', '100 %']
    """
    if share <= 0.0 or share >= 1.0:
        return "0 %" if share <= 0.0 else "100 %"
    if share < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if share >= 0.9995 else f"{100 * share:.1f} %"


def shortened(text: str, longest: int) -> str:
    return text if len(text) <= longest else text[: longest - 1] + "…"


def _kept(shares: np.ndarray, max_states: int) -> list[int]:
    """The states that are shown, in their order: all, or the most likely ones."""
    if len(shares) <= max_states:
        return list(range(len(shares)))
    likeliest = np.argsort(-shares, kind="stable")[: max_states - 1]
    return sorted(likeliest.tolist())


def _known(item: Conditional, observed: Sequence[int]) -> str:
    return " or ".join(shown(item.variable.states[place]) for place in observed)


def _hover(item: Conditional, shares: np.ndarray | None, observed: Sequence[int]) -> str:
    states = item.variable.states
    lines = [printable(item.name)]
    if item.parents:
        lines.append("given " + ", ".join(printable(parent.name) for parent in item.parents))
    if observed:
        lines.append(f"observed: {_known(item, observed)}")
    if len(observed) == 1:
        return "\n".join(lines)
    if shares is None:
        lines += [shown(state) for state in states[:100]]
    else:
        lines += [f"{shown(s)}: {p:.6g}" for s, p in list(zip(states, shares, strict=True))[:100]]
    return "\n".join(lines)
