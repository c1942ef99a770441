"""A column of dates or times as moments: Arrow's own types, and text as files write it.

A moment is kept twice: as the clock on the wall showed it, from which calendars are read, and in
UTC, from which elapsed time is. Without a zone both are the same.

Text is read by one order of day and month for the whole column. The year first leaves no doubt;
otherwise a piece above 12 settles which of both is the day, then dots, which only day-first
countries write. What is left (`03/04/2024`) is in doubt, and is told to the caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from novum.core.errors import InputError
from novum.numerics import Array, Mask

_ZONE = r"(?P<zone>Z|[+-]\d{2}:?\d{2})?"
_SECOND = r"(?::(?P<second>\d{2})(?:[.,](?P<part>\d+))?)?"
_CLOCK = rf"(?P<hour>\d{{1,2}}):(?P<minute>\d{{2}}){_SECOND}\s*{_ZONE}"
_DAY = r"(?P<first>\d{1,4})(?P<sign>[-/.])(?P<middle>\d{1,2})[-/.](?P<last>\d{1,4})"
_DATE_TEXT = rf"^\s*{_DAY}(?:[ T]+{_CLOCK})?\s*$"
_TIME_TEXT = rf"^\s*{_CLOCK}\s*$"
_COMPACT = r"^\s*(?P<first>\d{4})(?P<middle>\d{2})(?P<last>\d{2})\s*$"
# Two digits of a year from here on are of the twentieth century, as POSIX has it.
_PIVOT = 69
_MICROSECONDS = 1_000_000


@dataclass(frozen=True, eq=False)
class Moments:
    """The cells of a column of dates.

    Attributes
    ----------
    wall, utc : datetime64[us] arrays (n,)
        NaT where missing.
    has_date, has_time : bool
        Whether cells have a day, and a time of the day.
    day_first : bool
        Whether text was read with the day before the month.
    is_doubtful : bool
        Whether nothing in the text says which of both comes first.
    """

    wall: Array
    utc: Array
    has_date: bool
    has_time: bool
    day_first: bool = False
    is_doubtful: bool = False


def is_temporal(kind: pa.DataType) -> bool:
    """Whether an Arrow type is that of dates, moments or times of the day."""
    return bool(pa.types.is_date(kind) or pa.types.is_timestamp(kind) or pa.types.is_time(kind))


def moments_of(array: pa.Array, name: str, day_first: bool | None = None) -> Moments:
    """The moments of an Arrow column of dates, times or text.

    Parameters
    ----------
    array : Arrow array
    name : str
        Of the column, for messages.
    day_first : bool, optional
        Whether `03/04/2024` is a day in April; None finds it out.

    Raises
    ------
    InputError
        Where a cell is neither missing nor a date.

    Examples
    --------
    >>> moments_of(pa.array(["31.12.2023", None, "1.2.2024"]), "day").wall.astype("M8[D]").tolist()
    [datetime.date(2023, 12, 31), None, datetime.date(2024, 2, 1)]
    """
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if is_temporal(kind):
        decoded = array.dictionary_decode() if pa.types.is_dictionary(array.type) else array
        return _of_types(decoded)
    text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if not (text or pa.types.is_string_view(kind) or pa.types.is_null(kind)):
        raise InputError(
            f"Column {name!r} holds {kind}, which are no dates. Name columns of dates, or of text "
            "such as 2024-01-31."
        )
    coded = array if pa.types.is_dictionary(array.type) else array.dictionary_encode()
    used = np.unique(coded.indices.drop_null().to_numpy(zero_copy_only=False)).astype(np.int64)
    levels = coded.dictionary.cast(pa.string())
    known = levels.take(pa.array(used))
    moments, bad = _of_texts(known, day_first)
    if bad.any():
        code = int(used[bad.argmax()])
        row = pc.index(coded.indices, pa.scalar(code, coded.indices.type)).as_py()
        raise InputError(
            f"Column {name!r} holds {levels[code].as_py()!r:.60} at row {row}, which is no date. "
            "Write dates as 2024-01-31 or 2024-01-31 18:30, or leave the cell empty."
        )
    places = np.full(len(levels) + 1, len(used), np.int64)
    places[used] = np.arange(len(used))
    codes = places[pc.fill_null(coded.indices.cast(pa.int64()), len(levels)).to_numpy()]
    missing = np.datetime64("NaT", "us")
    wall, utc = (np.append(one, missing)[codes] for one in (moments.wall, moments.utc))
    return Moments(
        wall, utc, moments.has_date, moments.has_time, moments.day_first, moments.is_doubtful
    )


def are_dates(texts: pa.Array) -> bool:
    """Whether there is text, and all of it is written as dates with a day, or as times.

    Examples
    --------
    >>> are_dates(pa.array(["2024-02-29", "2024-03-01 12:30"])), are_dates(pa.array(["2023-02-29"]))
    (True, False)
    """
    return len(texts) > 0 and not _of_texts(texts, None)[1].any()


# --- Arrow's types --------------------------------------------------------------------------------


def _of_types(array: pa.Array) -> Moments:
    kind = array.type
    if pa.types.is_time(kind):
        since_midnight = array.cast(pa.time64("us"), safe=False).cast(pa.int64())
        wall = _moments(since_midnight.cast(pa.timestamp("us")))
        return Moments(wall, wall, has_date=False, has_time=True)
    if pa.types.is_date(kind):
        wall = _moments(array.cast(pa.timestamp("us"), safe=False))
        return Moments(wall, wall, has_date=True, has_time=False)
    local = array if kind.tz is None else pc.local_timestamp(array)
    wall = _moments(local.cast(pa.timestamp("us"), safe=False))
    utc = _moments(pc.cast(array, pa.timestamp("us"), safe=False))
    days = wall.astype("M8[D]").astype("M8[us]")
    return Moments(wall, utc, True, bool((wall != days)[~np.isnat(wall)].any()))


def _moments(array: pa.Array) -> Array:
    return np.asarray(array.to_numpy(zero_copy_only=False)).astype("M8[us]")


# --- Text -----------------------------------------------------------------------------------------


def _of_texts(texts: pa.Array, day_first: bool | None) -> tuple[Moments, Mask]:
    """Moments of different texts, none of them missing, and which texts are none."""
    dates = _pieces(texts, _DATE_TEXT)
    if not dates["matched"].any():
        compact = _pieces(texts, _COMPACT)
        if compact["matched"].any():
            dates |= compact
    times = _pieces(texts, _TIME_TEXT)
    if times["matched"].any() and not dates["matched"].any():
        clock, fits = _clock(times)
        wall = np.datetime64(0, "us") + clock
        return Moments(wall, wall, False, True), ~(times["matched"] & fits)
    first, middle, last = (dates[name] for name in ("first", "middle", "last"))
    year_first = (first > 31) | (dates["digits"] > 2)
    turned = dates["matched"] & ~year_first
    order, is_doubtful = _day_order(first[turned], middle[turned], dates["dotted"][turned])
    day_first = order if day_first is None else day_first
    year = np.where(year_first, first, last)
    short = dates["matched"] & (year < 100)
    year = np.where(short, year + np.where(year < _PIVOT, 2000, 1900), year)
    month = np.where(year_first | day_first, middle, first)
    day = np.where(year_first, last, np.where(day_first, first, middle))
    fits = dates["matched"] & (month >= 1) & (month <= 12) & (day >= 1) & (year <= 9999)
    months = (np.where(fits, year, 1970) - 1970) * 12 + np.where(fits, month, 1) - 1
    start = months.astype("M8[M]").astype("M8[D]")
    date = start + (np.where(fits, day, 1) - 1)
    # The 30th of February would fall into March.
    fits &= date.astype("M8[M]") == months.astype("M8[M]")
    clock, clock_fits = _clock(dates)
    wall = date.astype("M8[us]") + clock
    utc = wall - dates["offset"].astype("m8[m]")
    has_time = bool((dates["hour"] >= 0).any())
    return Moments(wall, utc, True, has_time, day_first, is_doubtful), ~(fits & clock_fits)


def _day_order(first: Array, middle: Array, dotted: Mask) -> tuple[bool, bool]:
    """Whether the day comes before the month, and whether that is in doubt."""
    if not first.size:
        return False, False
    if (first > 12).any() or (middle > 12).any():
        return not (middle > 12).any(), False
    return bool(dotted.all()), not dotted.all()


def _pieces(texts: pa.Array, pattern: str) -> dict[str, Any]:
    """Numbers that a pattern finds in each text; -1 where it has none."""
    match = pc.extract_regex(texts, pattern)
    n = len(texts)
    pieces: dict[str, Any] = {"matched": match.is_valid().to_numpy(zero_copy_only=False)}
    names = [field.name for field in match.type]
    for name in ("first", "middle", "last", "hour", "minute", "second"):
        cells = match.field(name) if name in names else pa.nulls(n, pa.string())
        empty = pc.fill_null(pc.equal(cells, ""), True)
        whole = pc.if_else(empty, pa.scalar("-1"), cells).cast(pa.int64())
        pieces[name] = whole.to_numpy(zero_copy_only=False)
    first = match.field("first") if "first" in names else pa.nulls(n, pa.string())
    pieces["digits"] = pc.fill_null(pc.utf8_length(first), 0).to_numpy(zero_copy_only=False)
    sign = match.field("sign") if "sign" in names else pa.nulls(n, pa.string())
    dotted = pc.fill_null(pc.equal(sign, "."), False)
    pieces["dotted"] = dotted.to_numpy(zero_copy_only=False)
    part = match.field("part").to_pylist() if "part" in names else [None] * n
    pieces["part"] = np.array([int(f"{text or '0':0<6.6}") for text in part], np.int64)
    zone = match.field("zone").to_pylist() if "zone" in names else [None] * n
    pieces["offset"] = np.array([_minutes(text) for text in zone], np.int64)
    return pieces


def _clock(pieces: dict[str, Any]) -> tuple[Array, Mask]:
    """Time since midnight, and whether there is such a time."""
    hour, minute, second = (np.maximum(pieces[name], 0) for name in ("hour", "minute", "second"))
    seconds = (hour * 60 + minute) * 60 + second
    clock = (seconds * _MICROSECONDS + pieces["part"]).astype("m8[us]")
    return clock, (hour <= 23) & (minute <= 59) & (second <= 59)


def _minutes(zone: str | None) -> int:
    """Minutes that a zone is ahead of UTC."""
    if not zone or zone == "Z":
        return 0
    sign = -1 if zone[0] == "-" else 1
    return sign * (60 * int(zone[1:3]) + int(zone[-2:]))
