"""Groups of columns that share one scale.

Columns measured in the same unit (pixels, expenses, months) lose their relation to each other when
each is scaled by itself. `groups` names such columns; every other numeric column is a group alone.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Schema, column_places
from novum.numerics import Positions

Groups = str | None | Iterable[Iterable[Any]]


def group_codes(groups: Groups, schema: Schema) -> Positions:
    """The number of the group of every numeric column, in order of their first columns.

    Parameters
    ----------
    groups : None, "all" or lists of names or positions of columns
        None puts every column in a group of its own, "all" all numeric columns in one.
    schema : Schema

    Examples
    --------
    >>> group_codes([[0, 2]], Schema.of_array(4)).tolist()
    [0, 1, 0, 2]
    """
    count = schema.numeric.size
    if groups is None:
        return np.arange(count)
    if isinstance(groups, str):
        if groups != "all":
            raise _not_groups(groups)
        return np.zeros(count, np.intp)
    places = {int(i): j for j, i in enumerate(schema.numeric)}
    head = np.arange(count)
    taken: set[int] = set()
    for members in _listed(groups):
        positions = column_places(members, schema.names, "groups")
        for position in positions:
            if position not in places:
                column = schema.columns[position]
                raise InputError(
                    f"Column {column.name!r} in `groups` is {column.kind.value} and has no scale. "
                    "Name numeric columns only."
                )
        codes = [places[position] for position in positions]
        for member, place in zip(members, codes, strict=True):
            if place in taken:
                raise InputError(
                    f"Column {member!r} is in `groups` twice. A column shares one scale; name it "
                    "in one group."
                )
            taken.add(place)
        head[codes] = min(codes, default=0)
    return np.unique(head, return_inverse=True)[1]


def _listed(groups: Any) -> list[list[Any]]:
    try:
        outer = list(groups)
        if any(isinstance(members, str) for members in outer):
            raise TypeError
        return [list(members) for members in outer]
    except TypeError:
        raise _not_groups(groups) from None


def _not_groups(groups: Any) -> InputError:
    return InputError(
        f"groups={groups!r} is not one of None, 'all', or lists of columns, each given by names or "
        "positions, such as [['width', 'height']]."
    )
