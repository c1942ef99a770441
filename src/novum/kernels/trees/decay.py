"""The decay of tree kernels: how much less a shared part counts for each further node."""

from __future__ import annotations

from numbers import Real
from typing import Any

from novum.core.errors import InputError
from novum.core.text import label_text


def checked_decay(decay: Any, kernel: str) -> float:
    """A decay above 0 and at most 1.

    Examples
    --------
    >>> checked_decay(0.5, "SubtreeKernel")
    0.5
    """
    if not (isinstance(decay, Real) and not isinstance(decay, bool) and 0 < float(decay) <= 1):
        raise InputError(
            f"The decay of {kernel} is a number above 0 and at most 1, got {label_text(decay)}. "
            "1 counts every shared part alike; smaller values let large parts count less."
        )
    return float(decay)
