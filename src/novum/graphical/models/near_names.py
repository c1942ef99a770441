"""Names that were probably meant to be others.

Two names are near where they differ in the size of letters or in what is no letter or digit, or,
of four signs and more, in one letter that was added, left out, replaced or swapped with the next.
Digits are not forgiven: `x1` and `x2` are different things. Such names share a text that both give
when at most one sign is left out, so many names are compared at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

# Longer names are compared as a whole only, shorter ones too: "ab" is near to everything.
_LONGEST = 60
_SHORTEST = 4


def near_names(names: Iterable[str], known: Sequence[str]) -> list[tuple[str, str]]:
    """Pairs of a name and the known one that it is near to, without being it.

    Examples
    --------
    >>> near_names(["Alram", "alarm", "x2", "burglar"], ["Alarm", "x1", "Burglary"])
    [('Alram', 'Alarm'), ('alarm', 'Alarm'), ('burglar', 'Burglary')]
    """
    shortened: dict[str, str] = {}
    for name in known:
        for text in _shortened(_plain(name)):
            shortened.setdefault(text, name)
    found = []
    for name in names:
        plain = _plain(name)
        meant = next((shortened[t] for t in _shortened(plain) if t in shortened), None)
        if meant is not None and meant != name and _are_near(plain, _plain(meant)):
            found.append((name, meant))
    return found


def _plain(name: str) -> str:
    """Small letters and digits only; the name itself where there is none."""
    return "".join(filter(str.isalnum, name.casefold())) or name


def _shortened(plain: str) -> Iterator[str]:
    """The text itself and, of middling length, what is left without one of its signs."""
    yield plain
    if _SHORTEST <= len(plain) <= _LONGEST:
        for place in range(len(plain)):
            yield plain[:place] + plain[place + 1 :]


def _are_near(one: str, other: str) -> bool:
    if one == other:
        return True
    if min(len(one), len(other)) < _SHORTEST:
        return False
    return [c for c in one if c.isdigit()] == [c for c in other if c.isdigit()]
