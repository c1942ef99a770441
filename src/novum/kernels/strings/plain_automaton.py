"""The suffix automaton of one string in plain Python: what `automaton` computes, bit for bit.

Short strings are read here, because loading compiled code would take longer than the work. The
formulas are told in `automaton`; each sum has the same terms in the same order.
"""

from __future__ import annotations

from collections.abc import Sequence


class PlainAutomaton:
    """The suffix automaton of a string of codes, with the values of its states.

    Parameters
    ----------
    codes : sequence of int
    cumulated : sequence of float
        Sums of the weights of the lengths 1 to l, for l = 0, 1, ...

    Examples
    --------
    >>> PlainAutomaton([0, 1], [0.0, 1.0, 2.0, 3.0]).read([0, 1, 1])
    4.0
    """

    def __init__(self, codes: Sequence[int], cumulated: Sequence[float]) -> None:
        self._cumulated = cumulated
        self._next: list[dict[int, int]] = [{}]
        self._link = [-1]
        self._length = [0]
        self._count = [0.0]
        last = 0
        for code in codes:
            last = self._extended(last, code)
        self._level = self._levels()

    def read(self, codes: Sequence[int]) -> float:
        """Sum of `w(|u|) count(u)` over all substrings u of the codes, as often as they occur."""
        state, length, total = 0, 0, 0.0
        for code in codes:
            while state and code not in self._next[state]:
                state = self._link[state]
            length = min(length, self._length[state])
            if code in self._next[state]:
                state, length = self._next[state][code], length + 1
            total += self._level[state] + self._count[state] * self._cumulated[length]
        return total

    def _extended(self, last: int, code: int) -> int:
        """Read one more symbol of the string itself (Blumer et al. 1985)."""
        current = self._new_state(self._length[last] + 1, {}, 0, 1.0)
        state = last
        while state >= 0 and code not in self._next[state]:
            self._next[state][code] = current
            state = self._link[state]
        if state < 0:
            return current
        target = self._next[state][code]
        if self._length[target] > self._length[state] + 1:
            # The longer substrings of the target end at fewer places from now on.
            clone = self._new_state(
                self._length[state] + 1, dict(self._next[target]), self._link[target], 0.0
            )
            while state >= 0 and self._next[state].get(code) == target:
                self._next[state][code] = clone
                state = self._link[state]
            self._link[target] = clone
            target = clone
        self._link[current] = target
        return current

    def _new_state(self, length: int, following: dict[int, int], link: int, count: float) -> int:
        self._length.append(length)
        self._next.append(following)
        self._link.append(link)
        self._count.append(count)
        return len(self._length) - 1

    def _levels(self) -> list[float]:
        """Counts of all places where states end, then their levels; links are shorter states."""
        order = sorted(range(1, len(self._length)), key=self._length.__getitem__)
        for state in reversed(order):
            if self._link[state]:
                self._count[self._link[state]] += self._count[state]
        level = [0.0] * len(self._length)
        for state in order:
            link = self._link[state]
            shorter = self._cumulated[self._length[link]]
            level[state] = level[link] + self._count[link] * shorter - self._count[state] * shorter
        return level
