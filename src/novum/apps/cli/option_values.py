"""Values of options that are written in a short form: times, cross-validations, lists of names."""

from __future__ import annotations

import re

import typer

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*(h|min|m|s|)")
_CROSS_VALIDATION = re.compile(r"(?:(\d{1,4})\s*[xX])?\s*(\d{1,4})")


def seconds_of(text: str) -> float:
    """A time such as `90`, `90s`, `2m` or `1h30m`, in seconds.

    Examples
    --------
    >>> seconds_of("2m"), seconds_of("1h 30m"), seconds_of("0.5 min"), seconds_of("45")
    (120.0, 5400.0, 30.0, 45.0)
    """
    parts = [match.groups() for match in _TIME.finditer(text)]
    rest = _TIME.sub("", text).strip()
    total = sum(float(value) * _UNITS[unit] for value, unit in parts)
    if rest or not parts or not 0 < total < 1e9:
        raise typer.BadParameter(
            f"{text!r} is no time above 0. Write it like 90s, 2m or 1h30m.",
            param_hint="'--budget'",
        )
    return total


def cross_validation_of(text: str) -> tuple[int | None, int]:
    """Repeats and folds of `REPEATSxFOLDS`; folds alone leave the repeats to the preset.

    Examples
    --------
    >>> cross_validation_of("3x10"), cross_validation_of("5")
    ((3, 10), (None, 5))
    """
    match = _CROSS_VALIDATION.fullmatch(text.strip())
    repeats, folds = match.groups() if match else (None, "0")
    if int(folds) < 2 or (repeats is not None and int(repeats) < 1):
        raise typer.BadParameter(
            f"{text!r} is no cross-validation. Write repeats and folds like 2x5: one repeat or "
            "more, two folds or more.",
            param_hint="'--cv'",
        )
    return (None if repeats is None else int(repeats)), int(folds)


def jobs_of(jobs: int) -> int:
    """How many fits at once: a number above 0, or -1 for all cores.

    Examples
    --------
    >>> jobs_of(-1)
    -1
    """
    if jobs == 0 or jobs < -1:
        raise typer.BadParameter(
            f"{jobs} is no number of fits. Write 1 or more, or -1 for all cores.",
            param_hint="'--jobs'",
        )
    return jobs


def names_of(text: str) -> tuple[str, ...]:
    """Names with commas between them.

    Examples
    --------
    >>> names_of("tree, forest"), names_of("")
    (('tree', 'forest'), ())
    """
    return tuple(name for part in text.split(",") if (name := part.strip()))
