"""Bounds on what a reader accepts, so that a hostile file ends in a message and not in a hang.

Every bound is far above what honest tables need. A file that passes one of them is refused with
`FileFormatError`, which names the bound and the way around it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """What a reader accepts at most.

    Parameters
    ----------
    field_bytes : int
        Length of one cell.
    record_bytes : int
        Length of one record.
    columns : int
    levels : int
        Different values of one nominal column. A column with more is an identifier or free text.
    expansion : int
        Unpacked bytes per packed byte of a gzip file, checked beyond `expansion_floor` bytes.
    expansion_floor : int
    """

    field_bytes: int = 1 << 20
    record_bytes: int = 1 << 26
    columns: int = 50_000
    levels: int = 1_000_000
    expansion: int = 250
    expansion_floor: int = 1 << 26


LIMITS = Limits()
