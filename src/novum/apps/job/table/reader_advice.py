"""What readers advise, in words for someone who has a file and a command line.

Readers speak to callers of the library: `dialect=Dialect(encoding='latin-1')`. A user of a run
cannot pass that, but can save the file in another way. What is wrong and where stays as it is.
"""

from __future__ import annotations

import re

_DIALECT = r"dialect=Dialect\([^)]*\)"
_WORDS: tuple[tuple[str, str], ...] = (
    (rf"If the first line is a row, say so: {_DIALECT}",
     "Add rows below it, or, if it is a row, put a line of names before it"),
    (rf"; if the file has no header, say so: {_DIALECT}", ", or put a line of names first"),
    (rf",? or read without quotes: {_DIALECT}", ""),
    (rf",? or name it: {_DIALECT}", ", such as UTF-8"),
    (rf"[^.;:]*\bsay so: {_DIALECT};?", " Save it as UTF-8;"),
    (rf"another sign is named by {_DIALECT}", "save a file with another sign with one of these"),
    (_DIALECT, "saving the file as comma-separated UTF-8 text"),
    (r"([Ll])eave (it|the column) out by `columns=`", r"\1eave \2 out of the file"),
    (r"(Read fewer columns) \(`columns=`\), or give the path itself to a learner's `fit_file`",
     "Give the run fewer columns or rows"),
    (r"Ask for smaller chunks \(`rows=`\) or fewer columns \(`columns=`\)", "Keep fewer columns"),
    (r"add the word to `missing`, or declare the column nominal",
     "or name the word with --missing-values"),
    (r"`kinds` makes column ('[^']*') ordinal without an order, and (.*?) is no number. Give the "
     r"levels from low to high: kinds=.*", r"--kind makes column \1 ordinal, and \2 is no number. "
     "Give its levels from low to high with --levels COLUMN=LOW,...,HIGH."),
    (r"none of the levels that `kinds` declares", "none of the levels that --levels lists"),
    (r"Declare it in `kinds`", "List it in --levels"),
    (r"sql=\"", "--sql \""),
    (r"Name another sheet\.", "Name another with --sheet."),
    (r"it has (.*)\. Name one of them\.", r"it has \1. Name one of them with --sheet."),
    (r"`kinds` declares column", "the table has column"),
    (r"that `kinds` declares", "of the table"),
    (r"(Open (it|the file)|Read it) again( with open_source)?", "Start the run again"),
)  # fmt: skip


def for_a_run(message: str) -> str:
    """The message of a reader with advice that a user of a run can follow.

    Examples
    --------
    >>> for_a_run("It is free text. Leave it out by `columns=`.")
    'It is free text. Leave it out of the file.'
    """
    for pattern, words in _WORDS:
        message = re.sub(pattern, words, message)
    return message
