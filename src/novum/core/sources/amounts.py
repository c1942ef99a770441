"""Numbers as people write them: 1,234.50 and 1.234,50, with a currency or a percent sign.

Which of point and comma is the decimal sign is not seen in every cell. `1.234,50` tells, and so do
`0,5`, `1,234,567` and `€ 1,234`; `1,234` alone does not. A column is read as a whole: its cells
must agree, and where none of them tells, the sign that is not the file's decimal sign groups
thousands.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_UNITS = r"[%$€£¥₹₩₽₺₴₪¢]|AUD|CAD|CHF|CNY|CZK|DKK|EUR|GBP|HUF|INR|JPY|NOK|PLN|SEK|USD"
_BLANKS = " \u00a0\u202f"
_GROUPING = f"{_BLANKS}'’"
_AMOUNT = re.compile(
    rf"[+−-]?(?P<before>(?:{_UNITS})[{_BLANKS}]?)?[+−-]?"
    rf"(?P<body>(?:0|[1-9]\d*|[1-9]\d{{0,2}}(?P<by>[{_GROUPING}.,])\d{{3}}(?:(?P=by)\d{{3}})*)"
    rf"(?:[.,]\d+)?|[.,]\d+)"
    rf"(?P<after>[{_BLANKS}]?(?:{_UNITS}))?",
    re.ASCII,
)
_OTHER = {".": ",", ",": "."}


def is_amount_text(text: str) -> bool:
    """Whether a cell is a number as people write it.

    Examples
    --------
    >>> [is_amount_text(cell) for cell in ("1.234,50 €", "$5", "12 %", "1,23,4", "10 kg", "007")]
    [True, True, True, False, False, False]
    """
    return _AMOUNT.fullmatch(text) is not None


@dataclass(frozen=True)
class Amounts:
    """How the numbers of one column are written.

    Parameters
    ----------
    decimal : str
        `"."` or `","`; the other one groups thousands.

    Examples
    --------
    >>> Amounts(",").plain(pa.array(["1.234,50 €", "− 3 %"])).to_pylist()
    ['1234.50', '-3']
    """

    decimal: str

    def plain(self, texts: pa.StringArray) -> pa.StringArray:
        """The same numbers with digits, a point and a minus alone."""
        dropped = rf"{_UNITS}|[{_GROUPING}{_OTHER[self.decimal]}]"
        texts = pc.replace_substring_regex(texts, dropped, "")
        return pc.replace_substring(pc.replace_substring(texts, "−", "-"), self.decimal, ".")


def amounts_of(texts: Iterable[str], decimal: str) -> Amounts | None:
    """How the cells of a column are to be read; None where some is no amount or they disagree.

    Parameters
    ----------
    texts : iterable of str
        The different values.
    decimal : str
        The decimal sign of the file. A cell that is a number by it is read in another way only if
        a further cell proves that: `1.500` stays one and a half beside `2,5`, which may be a slip.

    Examples
    --------
    >>> amounts_of(["1,234", "950", "12,500"], "."), amounts_of(["€ 1.500", "€ 2,5"], ".")
    (Amounts(decimal='.'), Amounts(decimal=','))
    >>> amounts_of(["1.5", "2,5"], "."), amounts_of(["1,234", "none"], ".")
    (None, None)
    """
    units: set[str] = set()
    decimals: set[str] = set()
    groups: set[str] = set()
    open_: set[str] = set()
    is_any, is_proved, is_plain = False, False, False
    for text in texts:
        is_any = True
        match = _AMOUNT.fullmatch(text)
        if match is None or (match["before"] and match["after"]):
            return None
        unit = match["before"] or match["after"]
        if unit:
            units.add(unit.strip(_BLANKS))
        body = match["body"]
        marks = re.sub(r"[^.,]", "", body)
        if not marks:
            continue
        last, digits = marks[-1], len(body) - 1 - body.rindex(marks[-1])
        if len(set(marks)) == 2:
            decimals.add(last)
            groups.add(marks[0])
            is_proved = True
        elif len(marks) > 1:
            groups.add(last)
            is_proved = True
        elif unit and "%" not in unit and digits == 3:
            # Money has no thousandths.
            groups.add(last)
        elif digits != 3 or not 1 <= len(body) - 4 <= 3 or body[0] == "0":
            decimals.add(last)
        else:
            open_.add(last)
            is_plain = is_plain or (last == decimal and not unit)
    if not is_any or len(units) > 1 or len(decimals) > 1 or len(groups) > 1 or decimals & groups:
        return None
    if decimals or groups:
        (sign,) = decimals or {_OTHER[next(iter(groups))]}
    else:
        sign = decimal
    if sign != decimal and is_plain and not is_proved:
        return None
    return Amounts(sign)
