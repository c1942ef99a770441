"""What the caller says about columns: kinds, and the order of ordinal levels.

    kinds={"zip": "nominal", "size": ("small", "medium", "large"), "grade": "ordinal"}

A string or `Kind` fixes the kind; a sequence of levels makes the column ordinal in that order.
`"ordinal"` alone is enough where the order is known otherwise: from the file (ARFF, Parquet) or
because all levels are numbers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from novum.core.errors import SchemaError
from novum.core.schema import Kind, Level

KindWish = Kind | str | Sequence[Level]


@dataclass(frozen=True)
class Wish:
    """A column's kind and levels as far as they are settled before the file is read.

    Parameters
    ----------
    kind : Kind or None
        None leaves it to the cells.
    levels : tuple or None
        The only levels allowed, in order; None takes those that occur.
    by : str
        Who settled it, for messages: `"kinds"` (the caller) or the file's own declaration.
    """

    kind: Kind | None = None
    levels: tuple[Level, ...] | None = None
    by: str = "kinds"

    def as_text(self) -> Wish:
        """The same with levels as a text file writes them."""
        return self if self.levels is None else replace(self, levels=tuple(map(str, self.levels)))


def checked_wishes(kinds: Mapping[str, KindWish] | None) -> dict[str, Wish]:
    """The caller's `kinds` as `Wish` values; raises `SchemaError` for what is none.

    Examples
    --------
    >>> checked_wishes({"zip": "nominal"})["zip"].kind
    <Kind.NOMINAL: 'nominal'>
    """
    if kinds is not None and not isinstance(kinds, Mapping):
        raise SchemaError(
            "`kinds` maps names of columns to kinds, as in {'zip': 'nominal'}; "
            f"got {kinds!r:.80}."
        )
    return {name: _wish(name, value) for name, value in (kinds or {}).items()}


def check_known(wanted: Sequence[str], names: Sequence[str], argument: str) -> None:
    """Refuse names in `argument` that the file does not have."""
    known = set(names)
    strange = [name for name in wanted if name not in known]
    if strange:
        shown = ", ".join(repr(name) for name in names[:8]) + (", ..." if len(names) > 8 else "")
        raise SchemaError(
            f"`{argument}` names the column {strange[0]!r}, which the file does not have. "
            f"Its columns are {shown}."
        )


def _wish(name: str, value: KindWish) -> Wish:
    if isinstance(value, Kind):
        return Wish(value)
    known = {kind.value: kind for kind in Kind}
    if isinstance(value, str) and value in known:
        return Wish(known[value])
    if isinstance(value, str) or not isinstance(value, Iterable):
        raise SchemaError(
            f"`kinds` says {value!r} for column {name!r}. Say 'numeric', 'nominal', 'ordinal', "
            "or give the levels of an ordinal column from low to high."
        )
    levels = tuple(value)
    if not levels or len(set(levels)) != len(levels):
        raise SchemaError(
            f"`kinds` lists the levels {levels!r} for column {name!r}. "
            "List every level once, from low to high."
        )
    return Wish(Kind.ORDINAL, levels)
