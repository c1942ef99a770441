"""What copies of a value hold: all that was given, nothing that is computed from it."""

from __future__ import annotations

from typing import Any

from novum.numerics.shared_state import cached_property


def kept_attributes(value: object) -> dict[str, Any]:
    """The attributes of a value but those that cached properties keep.

    Examples
    --------
    >>> class Square:
    ...     def __init__(self, side):
    ...         self.side = side
    ...     @cached_property
    ...     def area(self):
    ...         return self.side**2
    >>> square = Square(3)
    >>> square.area, kept_attributes(square)
    (9, {'side': 3})
    """
    kind = type(value)
    return {
        name: kept
        for name, kept in value.__dict__.items()
        if not isinstance(getattr(kind, name, None), cached_property)
    }
