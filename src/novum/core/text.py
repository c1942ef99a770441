"""Labels and lists of names in messages, safe to print.

Names of columns, files and kernels come from elsewhere, so control characters and the invisible
marks that turn the direction of writing are shown by their codes (`printable`, from `display`).
"""

from __future__ import annotations

from collections.abc import Sequence

from novum.display import printable as printable


def label_text(label: object, limit: int = 60) -> str:
    """A label as people write it, not as NumPy shows it.

    Examples
    --------
    >>> import numpy as np
    >>> label_text(np.int64(7)), label_text(np.str_("a"))
    ('7', "'a'")
    """
    # NumPy itself is not imported: the command line answers `--help` with this module.
    is_scalar = type(label).__module__ == "numpy" and getattr(label, "size", 0) == 1
    plain = label.item() if is_scalar else label  # type: ignore[attr-defined]
    return printable(repr(plain), limit)


def listed(labels: Sequence[object], limit: int = 8) -> str:
    """Labels as `label_text` shows them, the first of many.

    Examples
    --------
    >>> import numpy as np
    >>> listed(np.array(["b", "a"])), listed(range(9), limit=3)
    ("'b', 'a'", '0, 1, 2, ... (9 in all)')
    """
    shown = ", ".join(label_text(label) for label in labels[:limit])
    return shown if len(labels) <= limit else f"{shown}, ... ({len(labels)} in all)"


def meant(name: object, known: Sequence[object]) -> str:
    """The end of a message about an unknown name: the nearest known one, or a list of some.

    Examples
    --------
    >>> meant("Alram", ["Alarm", "Burglary"])
    "did you mean 'Alarm'?"
    >>> meant("x", ["Alarm", "Burglary"])
    "there are 'Alarm', 'Burglary'."
    """
    from difflib import get_close_matches

    # Matching is quadratic in the length of names and linear in their number.
    candidates = {str(item)[:200].casefold(): item for item in reversed(known[:20_000])}
    close = get_close_matches(str(name)[:200].casefold(), candidates, n=1)
    if close:
        return f"did you mean {label_text(candidates[close[0]])}?"
    return f"there are {listed(known)}." if known else "there is none."
