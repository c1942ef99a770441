"""Text that is safe to print.

Names of columns, files and kernels come from elsewhere. A terminal obeys escape sequences in what
it is shown: it can be made to hide lines, to change its title or to type for the user. Control
characters and the invisible marks that turn the direction of writing are therefore shown by their
codes.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

# Control and format characters, lone surrogates, and the two line separators.
_UNSAFE = ("Cc", "Cf", "Cs", "Zl", "Zp")


def printable(text: str, limit: int | None = None) -> str:
    """`text` on one line, unsafe characters written as their codes, cut to `limit` characters.

    Examples
    --------
    >>> printable("income\\x1b[2J")
    'income\\\\x1b[2J'
    >>> printable("a very long name", 10)
    'a very ...'
    """
    seen = text if limit is None else text[: limit + 1]
    clean = "".join(repr(c)[1:-1] if unicodedata.category(c) in _UNSAFE else c for c in seen)
    return clean if limit is None or len(clean) <= limit else clean[: limit - 3] + "..."


def label_text(label: object, limit: int = 60) -> str:
    """A label as people write it, not as NumPy shows it.

    Examples
    --------
    >>> import numpy as np
    >>> label_text(np.int64(7)), label_text(np.str_("a"))
    ('7', "'a'")
    """
    # NumPy itself is not imported: the command line answers `--help` with this module.
    plain = label.item() if type(label).__module__ == "numpy" and hasattr(label, "item") else label
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
