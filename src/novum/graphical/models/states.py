"""Names and states as people give them: in order, and told apart when they are written.

A table's columns belong to states by their order, so a set is refused where a list is meant. Files
and command lines know text only, and tables often hold 0, 1 and truth values where a network has
text: a state is therefore also found by the way it is written, and no two states of a node may be
written alike.
"""

from __future__ import annotations

import functools
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text
from novum.distributions import StateAxis, names_of
from novum.numerics import Floats

_END = r"[-+]?[0-9.]+(?:e[-+]?[0-9]+)?"
# How intervals are written: "up to 3", "3 to 4.5", "above 4.5".
_INTERVAL = re.compile(rf"(?:(?:up|(?:above )?(?P<low>{_END})) ?(?:to (?P<high>{_END}))?)")


def refuse_set(values: object, what: str) -> None:
    """Refuses a set in place of a list."""
    if isinstance(values, (set, frozenset)):
        raise InputError(
            f"{what} are a list, because their order matters; got a {type(values).__name__}."
        )


def names_in_order(names: Any, what: str) -> tuple[str, ...]:
    """One name or several, as a tuple; `what` begins messages, such as "The parents of 'a'"."""
    refuse_set(names, what)
    if not isinstance(names, Iterable):
        raise InputError(f"{what} are names of nodes, got {label_text(names)}.")
    return names_of(names)


def state_like(axis: StateAxis, state: object) -> int | None:
    """The number of a state, or of the only one that is written alike where the types differ.

    `"1"` is found for 1 or 1.0, `True` for `"true"`, and the other way round. A number that is no
    state belongs to the interval that holds it, where the states are intervals.

    Examples
    --------
    >>> state_like(StateAxis("calls", ("true", "false")), True)
    0
    >>> state_like(StateAxis("calls", ("true", "false")), "True") is None
    True
    """
    try:
        return axis.position(state)
    except InputError:
        pass
    plain = state.item() if isinstance(state, np.generic) else state
    if not isinstance(plain, (str, bool, int, float)):
        return None
    alike = [place for place, known in enumerate(axis.states) if _are_alike(plain, known)]
    if len(alike) == 1:
        return alike[0]
    cuts = interval_cuts(axis.states)
    if cuts is None or isinstance(plain, bool):
        return None
    try:
        number = float(plain)
    except ValueError:
        return None
    return None if math.isnan(number) else int(np.searchsorted(cuts, number, side="left"))


@functools.lru_cache(maxsize=4096)
def interval_cuts(states: tuple[Level, ...]) -> Floats | None:
    """The cuts between states that are intervals of numbers; None of other states.

    Examples
    --------
    >>> interval_cuts(("up to 3", "3 to 4.5", "above 4.5"))
    array([3. , 4.5])
    >>> interval_cuts(("low", "high")) is None
    True
    """
    if len(states) < 2 or not all(isinstance(state, str) for state in states):
        return None
    parts = [_INTERVAL.fullmatch(str(state)) for state in states]
    if not all(parts) or not str(states[0]).startswith("up") or str(states[-1])[0] != "a":
        return None
    lows = [part["low"] for part in parts if part]
    highs = [part["high"] for part in parts if part]
    if lows[0] is not None or highs[-1] is not None or None in lows[1:] or lows[1:] != highs[:-1]:
        return None
    cuts = np.array([float(end) for end in highs[:-1]])
    return cuts if bool((np.diff(cuts) > 0).all()) else None


def _are_alike(one: Level, other: Level) -> bool:
    if isinstance(one, str) == isinstance(other, str):
        return False
    text, value = (one, other) if isinstance(one, str) else (other, one)
    # The letters of truth values may be large or small.
    written = str(text).casefold() if isinstance(value, bool) else str(text)
    return written in _spellings(value)


def _spellings(value: Level) -> tuple[str, ...]:
    """How a number or truth value is written."""
    if isinstance(value, bool):
        return (str(value).casefold(),)
    if isinstance(value, float) and value.is_integer():
        return (str(value), str(int(value)))
    return (str(value),)


def check_told_apart(axis: StateAxis) -> None:
    """Refuses a node with two states that nobody can tell apart once they are written."""
    pair = _alike(axis.states)
    if pair is not None:
        raise InputError(
            f"The states {label_text(pair[0])} and {label_text(pair[1])} of "
            f"{label_text(axis.name)} are the same once they are written or compared. Rename one "
            "of them."
        )


def _alike(states: Sequence[Level]) -> tuple[Level, Level] | None:
    others = [state for state in states if not isinstance(state, str)]
    if not others:
        return None
    texts = {state: state for state in states if isinstance(state, str)}
    folded = {text.casefold(): text for text in texts}
    values: dict[Level, Level] = {}
    for state in others:
        # 1 and True are one key.
        if state in values:
            return values[state], state
        values[state] = state
        known = folded if isinstance(state, bool) else texts
        for spelling in _spellings(state):
            if spelling in known:
                return known[spelling], state
    return None
