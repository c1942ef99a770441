"""Numbers as people read them: as many digits as are known, and a dash for what does not exist."""

from __future__ import annotations

import math
from collections.abc import Sequence

NOTHING = "–"
_MINUS = "−"
_BLANK = "\u00a0"


def number(value: float | None, digits: int = 4) -> str:
    """`value` with `digits` significant digits; whole numbers in full.

    Examples
    --------
    >>> number(1234567), number(0.123456), number(9999.7), number(-2e-7), number(None)
    ('1,234,567', '0.1235', '10,000', '−2e-07', '–')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if math.isinf(value):
        return "∞" if value > 0 else f"{_MINUS}∞"
    # Adding zero takes the sign off a negative one.
    value += 0.0
    size = abs(value)
    if size < 1e15 and (float(value).is_integer() or size >= 10 ** (digits - 1)):
        return _signed(f"{value:,.0f}")
    return _signed(f"{value:,.{digits}g}")


def about(value: float | None, digits: int = 3) -> str:
    """`value` rounded to `digits` significant digits and written out, as in a sentence.

    Examples
    --------
    >>> about(67_412.3), about(0.15849), about(-2.0), about(0.0000123), about(None)
    ('67,400', '0.158', '−2', '0.0000123', '–')
    """
    if value is None or not math.isfinite(value) or not 1e-9 < abs(value) < 1e15:
        return number(value, digits)
    decimals = digits - 1 - math.floor(math.log10(abs(value)))
    shown = f"{round(value, decimals):,.{max(decimals, 0)}f}"
    return _signed(shown.rstrip("0").rstrip(".") if "." in shown else shown)


def interval_texts(
    value: float | None,
    low: float | None = None,
    high: float | None = None,
    most_decimals: int = 15,
) -> tuple[str, str]:
    """Value and interval, both with the decimals that the interval's width makes sense of.

    Examples
    --------
    >>> interval_texts(0.83214, 0.80111, 0.86222), interval_texts(0.83214, 0.83211, 0.83222, 3)
    (('0.832', '[0.801, 0.862]'), ('0.832', '[0.832, 0.832]'))
    >>> interval_texts(-12.5), interval_texts(None)
    (('−12.5', ''), ('–', ''))
    """
    if low is None and high is None:
        return number(value), ""
    if low is None or high is None or not math.isfinite(high - low):
        return number(value), f"[{number(low)}, {number(high)}]"
    if high - low < 1e-6 or max(abs(low), abs(high)) >= 1e9:
        return number(value), f"[{number(low)}, {number(high)}]"
    # Two digits of the half width.
    decimals = min(most_decimals, max(0, 1 - math.floor(math.log10((high - low) / 2))))
    shown = NOTHING if value is None else fixed(value, decimals)
    return shown, f"[{fixed(low, decimals)}, {fixed(high, decimals)}]"


def fixed(value: float, decimals: int) -> str:
    """`value` with so many decimals, and no sign before a zero.

    Examples
    --------
    >>> fixed(-0.001, 2), fixed(-1234.5, 1)
    ('0.00', '−1,234.5')
    """
    if not math.isfinite(value):
        return number(value)
    shown = f"{value:,.{decimals}f}"
    return _signed(shown if float(shown.replace(",", "")) != 0 else shown.lstrip("-"))


def probability(value: float | None) -> str:
    """A p value or probability, never rounded to certainty.

    Examples
    --------
    >>> probability(0.00001), probability(0.034), probability(0.9999)
    ('< 0.001', '0.034', '> 0.999')
    """
    if value is None or math.isnan(value):
        return NOTHING
    if 0 < value < 0.001:
        return "< 0.001"
    if 0.999 < value < 1:
        return "> 0.999"
    return f"{value:.3f}"


def percent(share: float | None) -> str:
    """A share in percent; the blank before the sign does not break.

    Examples
    --------
    >>> [percent(share).replace(_BLANK, " ") for share in (0.256, 0.0004, 0.9996, None)]
    ['25.6 %', '< 0.1 %', '> 99.9 %', '–']
    """
    if share is None or not math.isfinite(share):
        return NOTHING
    if 0 < share < 0.001:
        return f"< 0.1{_BLANK}%"
    if 0.9995 <= share < 1:
        return f"> 99.9{_BLANK}%"
    return f"{100 * share:.1f}".removesuffix(".0") + f"{_BLANK}%"


def seconds(value: float | None) -> str:
    """A time in the unit that suits it.

    Examples
    --------
    >>> [seconds(t).replace(_BLANK, " ") for t in (0.00042, 0.25, 3.21, 200, 7320)]
    ['0.42 ms', '250 ms', '3.2 s', '3 min 20 s', '2 h 2 min']
    """
    if value is None or not math.isfinite(value):
        return NOTHING
    if value < 1:
        thousandths = 1000 * value
        return (
            f"{thousandths:.2g}{_BLANK}ms" if thousandths < 100 else f"{thousandths:.0f}{_BLANK}ms"
        )
    if value < 60:
        return f"{value:.1f}{_BLANK}s"
    whole = round(value)
    if whole < 3600:
        return _two(whole // 60, "min", whole % 60, "s")
    return _two(whole // 3600, "h", whole % 3600 // 60, "min")


def counted(count: float, one: str, many: str = "") -> str:
    """A number with its noun.

    Examples
    --------
    >>> counted(1, "row"), counted(1200, "row"), counted(2, "class", "classes")
    ('1 row', '1,200 rows', '2 classes')
    """
    return f"{number(count)} {one if count == 1 else many or one + 's'}"


def tick_texts(values: Sequence[float]) -> list[str]:
    """Numbers with the fewest decimals that tell all of them exactly, the same for each.

    Examples
    --------
    >>> tick_texts([0.8, 0.85, 0.9]), tick_texts([0.0, 2000.0]), tick_texts([0.0, 1e-9])
    (['0.80', '0.85', '0.90'], ['0', '2,000'], ['0', '1e-09'])
    """
    size = max((abs(value) for value in values), default=0.0)
    for decimals in range(6):
        # Places are multiples of a step, up to rounding.
        if all(abs(value - round(value, decimals)) <= 1e-9 * size for value in values):
            return [fixed(value, decimals) for value in values]
    return [number(value) for value in values]


def round_ticks(low: float, high: float, most: int = 6) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten between two ends, at most `most` of them.

    Examples
    --------
    >>> round_ticks(0.0, 1.0), round_ticks(-3.2, 3.2, 4)
    ([0.0, 0.2, 0.4, 0.6000000000000001, 0.8, 1.0], [-2.0, 0.0, 2.0])
    >>> round_ticks(5.0, 5.0)
    [5.0]
    """
    reach = high - low
    if not (reach > 0 and math.isfinite(reach)):
        return [low] if math.isfinite(low) else []
    power = 10.0 ** math.floor(math.log10(reach / most))
    for factor in (1, 2, 2.5, 5, 10, 20, 25, 50):
        step = factor * power
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        if last - first < most:
            break
    return [k * step for k in range(first, last + 1)]


def _two(large: int, unit: str, small: int, part: str) -> str:
    """Two units, the smaller only where there is any of it."""
    rest = f" {small}{_BLANK}{part}" if small else ""
    return f"{large:,}{_BLANK}{unit}{rest}"


def _signed(shown: str) -> str:
    return _MINUS + shown[1:] if shown.startswith("-") else shown
