"""Docstrings as the reference shows them.

In the sources a docstring is plain text: code in single backticks, formulas as indented lines,
names that end in an underscore as they are. reStructuredText would read some of it as markup. Here
code becomes a literal, an indented paragraph a literal block, and what only looks like markup is
escaped.
Parameters that a class lists without a word are described by the words of its bases.
"""

from __future__ import annotations

import inspect
import re
from typing import Any

_CODE = re.compile(r"(:[\w:]+:`[^`]+`|``.+?``|`[^`]+`__?(?!\w)|`[^`]+`)", re.DOTALL)
_UNDERSCORE = re.compile(r"(?<=[\w)\]'])_(?=[^\w]|$)")
_RULE = re.compile(r"^\s*-{3,}\s*$")


def escaped(text: str) -> str:
    """Text without markup other than code."""
    parts = _CODE.split(text)
    for position, part in enumerate(parts):
        if position % 2 == 0:
            part = part.replace("\\", "\\\\").replace("*", r"\*").replace("|", r"\|")
            parts[position] = _UNDERSCORE.sub(r"\\_", part)
        elif part.startswith("`") and not part.startswith("``") and not part.endswith("_"):
            # A letter right behind a literal would hide its end.
            behind = parts[position + 1][:1]
            end = "\\ " if behind.isalnum() else ""
            before = parts[position - 1][-1:]
            start = "\\ " if before.isalnum() or (before and before in "-=+/^") else ""
            inner = " ".join(part.strip("`").split())
            parts[position] = f"{start}``{inner}``{end}"
    return "".join(parts)


def blocks(lines: list[str]) -> list[list[str]]:
    """Lines between blank ones."""
    result: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            result[-1].append(line)
        elif result[-1]:
            result.append([])
    return [block for block in result if block]


def section_of(block: list[str]) -> str | None:
    if len(block) > 1 and _RULE.match(block[1]):
        return block[0].strip()
    return None


def prepared(lines: list[str]) -> list[str]:
    """Lines of a docstring as reStructuredText with NumPy's sections."""
    result: list[str] = []
    section = ""
    literal = False
    base = 0
    for block in blocks(lines):
        section = section_of(block) or section
        indents = [len(line) - len(line.lstrip()) for line in block]
        told = section in ("", "Notes", "References", "Examples", "Warnings")
        if block[0].lstrip().startswith(">>>"):
            result += [*block, ""]
            literal = False
        elif told and min(indents) >= base + 3 and section_of(block) is None:
            if not literal:
                result += [" " * base + "::", ""]
            result += [*block, ""]
            literal = True
        else:
            result += [*escaped_block(block, section), ""]
            literal = False
            base = indents[-1] if told else 0
    return result


def escaped_block(block: list[str], section: str) -> list[str]:
    if section == "See Also":
        return block
    start = 2 if section_of(block) else 0
    text = escaped("\n".join(block[start:]))
    return block[:start] + text.split("\n")


def described_in_bases(owner: type) -> dict[str, list[str]]:
    """What the docstrings of the bases say of parameters, the nearest base first."""
    from numpydoc.docscrape import NumpyDocString  # here: tests of the texts need no Sphinx

    result: dict[str, list[str]] = {}
    for base in owner.__mro__[1:]:
        text = inspect.cleandoc(vars(base).get("__doc__") or "")
        if base.__module__.startswith("novum") and "Parameters\n---" in text:
            for entry in NumpyDocString(text)["Parameters"]:
                for name in entry.name.split(","):
                    if entry.desc:
                        result.setdefault(name.strip(), list(entry.desc))
    return result


def with_descriptions(lines: list[str], owner: type) -> list[str]:
    """Parameters that a class lists without a word get the words of its bases."""
    known = described_in_bases(owner)
    result: list[str] = []
    section = ""
    for line, after in zip(lines, [*lines[1:], ""], strict=True):
        result.append(line)
        if _RULE.match(after):
            section = line.strip()
        name = line.partition(" : ")[0]
        alone = not after.startswith(" ")
        if section == "Parameters" and " : " in line and alone and name in known:
            result += [f"    {text}" for text in known[name]]
    return result


def process(_app: Any, what: str, _name: str, value: Any, _options: Any, lines: list[str]) -> None:
    text = list(lines)
    if what == "class" and inspect.isclass(value):
        if text and value.__doc__ and text[0].startswith(f"{value.__name__}("):
            text = []  # made by the dataclass, says what the signature says
        text = with_descriptions(text, value)
    lines[:] = prepared(text)


def class_signature(
    _app: Any,
    what: str,
    _name: str,
    value: Any,
    _options: Any,
    signature: str,
    _returns: str,
) -> tuple[str, str] | None:
    """Parameters of a class with their defaults; their types stand in the list below."""
    if what != "class" or not signature:
        return None
    given = inspect.signature(value)
    plain = [p.replace(annotation=inspect.Parameter.empty) for p in given.parameters.values()]
    return str(given.replace(parameters=plain, return_annotation=inspect.Signature.empty)), ""


def without_blank_ends(_app: Any, _page: str, source: list[str]) -> None:
    """The blank line that ends a doctest in a fence is for the test, not for the reader."""
    source[0] = re.sub(r"\n\n```(?=\n|$)", "\n```", source[0])


def setup(app: Any) -> dict[str, bool]:
    app.connect("source-read", without_blank_ends)
    app.connect("autodoc-process-signature", class_signature)
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
