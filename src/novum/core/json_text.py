"""JSON whose writer is unknown: nesting is bounded before a recursive parser meets it."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

# Far more than any table or record has, far less than a stack holds.
MAX_DEPTH = 200
_BLOCK = 1 << 18


def json_depth(text: bytes) -> int:
    """How deep arrays and objects are nested, up to the first error in the text.

    Without escapes every quote opens or closes a string, so brackets that follow an even number of
    quotes are structure. A parser agrees up to the first error, where it stops.

    Examples
    --------
    >>> json_depth(b'{"a": [1, {"b": "[[[["}]}'), json_depth(b"7")
    (3, 0)
    """
    plain = text.replace(b"\\\\", b"").replace(b'\\"', b"") if b"\\" in text else text
    deepest = depth = quotes_before = 0
    for start in range(0, len(plain), _BLOCK):
        block = np.frombuffer(plain, np.uint8, min(_BLOCK, len(plain) - start), start)
        # [ and { differ in one bit, and so do ] and }.
        folded = block | 0x20
        brackets = np.flatnonzero((folded == ord("{")) | (folded == ord("}")))
        quotes = np.flatnonzero(block == ord('"'))
        inside = (quotes_before + np.searchsorted(quotes, brackets)) % 2 == 1
        quotes_before += len(quotes)
        steps = np.where(folded[brackets[~inside]] == ord("{"), 1, -1)
        if len(steps):
            depths = depth + np.cumsum(steps)
            deepest, depth = max(deepest, int(depths.max())), int(depths[-1])
    return deepest


def parsed_json(text: str | bytes) -> Any:
    """What a text says; a `ValueError` where it is no strict JSON or nested too deeply.

    Examples
    --------
    >>> parsed_json("[1, 2.5]")
    [1, 2.5]
    >>> parsed_json("[" * 100_000)
    Traceback (most recent call last):
    ...
    ValueError: it is nested too deeply
    """
    try:
        return json.loads(text, parse_constant=_refuse, parse_float=_finite)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None


def _finite(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)


def _refuse(text: str) -> float:
    raise ValueError(f"{text[:20]} is no number of JSON")
