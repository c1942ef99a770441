"""Names of states and of actions, and where each stands.

Without names they are 0, 1, ..., held as a `range`, so that a process of a million states keeps no
million names.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import label_text, meant
from novum.numerics import Integers, cached_property


@dataclass(frozen=True, eq=False)
class Names(Sequence[Any]):
    """Distinct names in their order; `kind` says in messages what they name.

    Examples
    --------
    >>> rooms = Names.of(["hall", "kitchen"], 2, "state")
    >>> rooms.position("kitchen"), rooms[0], list(Names.of(None, 3, "action"))
    (1, 'hall', [0, 1, 2])
    """

    kind: str
    labels: Sequence[Any]

    @classmethod
    def of(cls, labels: Iterable[Any] | None, count: int, kind: str) -> Names:
        """The names given, or 0, 1, ...; there must be as many as there are things to name."""
        if labels is None:
            return cls(kind, range(count))
        given = labels if isinstance(labels, range) else tuple(_plain(label) for label in labels)
        if len(given) != count:
            raise InputError(f"{count} {kind}s need as many names, got {len(given)}.")
        names = cls(kind, given)
        if not isinstance(given, range) and len(names.positions) != count:
            twice = next(label for label in given if given.count(label) > 1)
            raise InputError(
                f"The {kind} {label_text(twice)} is named twice. Give every {kind} its own name."
            )
        return names

    @cached_property
    def positions(self) -> dict[Any, int]:
        """Where each name stands; 1 and True are different names, as people mean them."""
        try:
            return {_key(label): place for place, label in enumerate(self.labels)}
        except TypeError:
            bad = next(label for label in self.labels if not isinstance(label, Hashable))
            raise InputError(
                f"The {self.kind} {label_text(bad)} cannot be a name: names are texts, numbers or "
                "tuples of these."
            ) from None

    def position(self, label: Any) -> int:
        """Where a name stands; an unknown one is an error that says which was meant."""
        if type(label) is int and isinstance(self.labels, range) and 0 <= label < len(self.labels):
            return label
        plain = _plain(label)
        if isinstance(self.labels, range):
            is_number = isinstance(plain, Integral) and not isinstance(plain, bool)
            place = int(plain) if is_number and plain in self.labels else None
        else:
            try:
                place = self.positions.get(_key(plain))
            except TypeError:
                place = None
        if place is None:
            raise InputError(
                f"There is no {self.kind} {label_text(plain)}; {meant(plain, self.labels)}"
            )
        return place

    def codes(self, labels: Iterable[Any]) -> Integers:
        """The places of several names."""
        if isinstance(labels, np.ndarray) and labels.size and isinstance(self.labels, range):
            are_codes = np.issubdtype(labels.dtype, np.integer)
            if are_codes and labels.min() >= 0 and labels.max() < len(self.labels):
                return labels.astype(np.int64)
        return np.array([self.position(label) for label in labels], np.int64)

    def same_as(self, other: Names) -> bool:
        return len(self) == len(other) and (
            self.labels == other.labels or list(self) == list(other)
        )

    def __len__(self) -> int:
        return len(self.labels)

    def __getitem__(self, place: Any) -> Any:
        return self.labels[place]

    def __iter__(self) -> Iterator[Any]:
        return iter(self.labels)


def _plain(label: Any) -> Any:
    if isinstance(label, np.generic):
        return label.item()
    if isinstance(label, list):
        return tuple(_plain(part) for part in label)
    return label


def _key(label: Any) -> Any:
    return (isinstance(label, bool), label)
