"""Distances cell by cell, straight from their definitions, as slowly as they read."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def is_missing(cell: Any) -> bool:
    return cell is None or (isinstance(cell, float) and math.isnan(cell))


def apart(x: Any, z: Any, column: list[Any], power: float) -> float:
    """E |x - z|^p, where a missing cell is any of those that its column has."""
    known = [cell for cell in column if not is_missing(cell)]
    xs = known if is_missing(x) else [x]
    zs = known if is_missing(z) else [z]
    if not xs or not zs:
        return 0.0
    terms = [abs(a - b) if math.isinf(power) else abs(a - b) ** power for a in xs for b in zs]
    return sum(terms) / len(terms)


def minkowski(x: Any, z: Any, rows: list[Any], power: float, missing: str) -> float:
    """Rows of numbers; `rows` are those that missing cells are drawn from."""
    columns = list(zip(*rows, strict=True))
    pairs = list(zip(x, z, columns, strict=True))
    if missing == "partial":
        kept = [one for one in pairs if not (is_missing(one[0]) or is_missing(one[1]))]
        if not kept:
            return math.inf
        scale = 1.0 if math.isinf(power) else len(pairs) / len(kept)
        pairs = kept
    else:
        scale = 1.0
    terms = [apart(a, b, list(column), power) for a, b, column in pairs]
    if math.isinf(power):
        return max(terms)
    return float((scale * sum(terms)) ** (1.0 / power))


def gower(x: Any, z: Any, rows: list[Any], kinds: list[Any], missing: str) -> float:
    """Rows of numbers, of nominal levels, and of ordinal ones, whose levels `kinds` lists."""
    total = weight = 0.0
    for j, (a, b) in enumerate(zip(x, z, strict=True)):
        column = [row[j] for row in rows]
        known = [cell for cell in column if not is_missing(cell)]
        if missing == "partial" and (is_missing(a) or is_missing(b)):
            continue
        weight += 1.0

        def differ(p: Any, q: Any, kind: Any = kinds[j], known: Any = known) -> float:
            if kind == "nominal":
                return float(p != q)
            if kind == "numeric":
                width = max(known) - min(known)
                return abs(p - q) / width if width > 0 else 0.0
            return abs(kind.index(p) - kind.index(q)) / (len(kind) - 1)

        xs, zs = (known if is_missing(cell) else [cell] for cell in (a, b))
        terms = [differ(p, q) for p in xs for q in zs]
        total += sum(terms) / len(terms)
    return total / weight if weight else math.inf


def nearest(powers: Any, k: int, own: bool = False) -> tuple[Any, Any]:
    """The k smallest of every line, of equals the first; without the diagonal if they are own."""
    D = np.array(powers, float)
    if own:
        np.fill_diagonal(D, np.inf)
    order = np.argsort(D, axis=1, kind="stable")[:, :k]
    return np.take_along_axis(D, order, axis=1), order
