"""Frames of a lesson as plain data: title, formula, numbers, and marks in the unit square.

Marks are `center`, `ring`, `path` and `region`; series are the colors of the page, counted from 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.numerics import Floats, Integers

Frame = dict[str, Any]
# Cells of a region on each side.
CELLS = 48


def frame(
    title: str,
    formula: str,
    numbers: list[tuple[str, Any]],
    *marks: dict[str, Any],
    colors: Integers | None = None,
    shares: Floats | None = None,
) -> Frame:
    return {
        "title": title,
        "formula": formula,
        "numbers": [[name, float(value)] for name, value in numbers if value is not None],
        "marks": list(marks),
        "colors": None if colors is None else colors.tolist(),
        "shares": None if shares is None else shares.round(3).tolist(),
    }


def mark(kind: str, at: Any, series: int = 8) -> dict[str, Any]:
    return {"kind": kind, "x": float(at[0]), "y": float(at[1]), "series": series}


def centers(centers: Floats) -> list[dict[str, Any]]:
    return [mark("center", at, k + 1) for k, at in enumerate(centers)]


def places(points: Any) -> list[list[float]]:
    return np.asarray(points, np.float64).round(4).tolist()


def line(w: Floats, b: float, *, dashed: bool = False) -> list[dict[str, Any]]:
    """The line `w'x + b = 0` within the square; nothing where it does not cross it."""
    along = np.array([-w[1], w[0]])
    length = float(w @ w)
    if length == 0.0:
        return []
    foot = 0.5 - w * (float(w @ [0.5, 0.5]) + b) / length
    # The stretch of `foot + t along` that lies in the square.
    with np.errstate(divide="ignore", invalid="ignore"):
        crossings = np.array([(0.0 - foot) / along, (1.0 - foot) / along])
    first, last = np.nanmax(crossings.min(axis=0)), np.nanmin(crossings.max(axis=0))
    if not first < last:
        return []
    ends = [foot + first * along, foot + last * along]
    return [{"kind": "path", "points": places(ends), "series": 8, "dashed": dashed}]


def ellipses(means: Floats, covariances: Floats) -> list[dict[str, Any]]:
    """One and two standard deviations of each law, and its mean."""
    turn = np.linspace(0, 2 * np.pi, 49)
    circle = np.column_stack([np.cos(turn), np.sin(turn)])
    marks = centers(means)
    for k, (mean, S) in enumerate(zip(means, covariances, strict=True)):
        values, vectors = np.linalg.eigh(S)
        shape = circle * np.sqrt(np.maximum(values, 0)) @ vectors.T
        marks += [
            {"kind": "path", "points": places(mean + size * shape), "series": k + 1}
            for size in (1, 2)
        ]
    return marks


def grid() -> Floats:
    """Middles of the cells of a region, row by row from below."""
    ticks = (np.arange(CELLS) + 0.5) / CELLS
    return np.column_stack([np.tile(ticks, CELLS), np.repeat(ticks, CELLS)])


def region(classes: Any, pale: Any = None) -> dict[str, Any]:
    """Classes of the cells as one digit each, and which of them are pale."""
    digits = "".join(map(str, np.asarray(classes, np.int64).tolist()))
    shade = "" if pale is None else "".join("1" if one else "0" for one in pale)
    return {"kind": "region", "cells": CELLS, "classes": digits, "pale": shade}
