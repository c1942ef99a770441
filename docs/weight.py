"""How heavy the source is: `make weight` prints it beside the last record in `weight.md`.

Code lines hold a token: no blank lines, comments or docstrings. Of tests all lines count, for the
package that their folder is named after. `make weight ARGS=--record` writes the table anew.
"""

from __future__ import annotations

import ast
import datetime
import io
import re
import sys
import tokenize
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
RECORD = ROOT / "docs" / "weight.md"
COLUMNS = ("code", "files", "functions", "tests")
SILENT = {
    tokenize.COMMENT, tokenize.NL, tokenize.NEWLINE, tokenize.INDENT, tokenize.DEDENT,
    tokenize.ENCODING, tokenize.ENDMARKER,
}  # fmt: skip


def code_lines(text: str) -> set[int]:
    """The lines of a program that hold a token, docstrings left out."""
    documented: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.Expr):
            value = body[0].value
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                documented |= set(range(body[0].lineno, (body[0].end_lineno or 0) + 1))
    lines: set[int] = set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type not in SILENT:
            lines |= set(range(token.start[0], token.end[0] + 1))
    return lines - documented


def functions(text: str) -> int:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return sum(isinstance(node, kinds) for node in ast.walk(ast.parse(text)))


def weights() -> Iterator[tuple[str, tuple[int, ...]]]:
    """Code lines, files, functions and lines of tests of each package, and of all."""
    sums = [0] * len(COLUMNS)
    source, tests = ROOT / "src" / "novum", ROOT / "tests"
    packages = sorted(path.name for path in source.iterdir() if (path / "__init__.py").exists())
    for name in packages:
        yield name, _add(sums, [*(source / name).rglob("*.py")], [*(tests / name).rglob("*.py")])
    others = [p for p in tests.rglob("*.py") if p.relative_to(tests).parts[0] not in packages]
    yield "(top)", _add(sums, list(source.glob("*.py")), others)
    yield "all", tuple(sums)


def _add(sums: list[int], files: list[Path], tests: list[Path]) -> tuple[int, ...]:
    texts = [path.read_text(encoding="utf-8") for path in files]
    row = (
        sum(len(code_lines(text)) for text in texts),
        len(files),
        sum(map(functions, texts)),
        sum(len(path.read_text(encoding="utf-8").splitlines()) for path in tests),
    )
    sums[:] = [total + part for total, part in zip(sums, row, strict=True)]
    return row


def recorded() -> dict[str, tuple[int, ...]]:
    """The last record, by package."""
    rows = re.findall(r"^\| `?([\w()]+)`? \|((?: *[\d,]+ \|)+)$", RECORD.read_text(), re.MULTILINE)
    return {
        name: tuple(int(cell.replace(",", "")) for cell in cells.split("|")[:-1])
        for name, cells in rows
    }


def main() -> None:
    before, rows = recorded(), list(weights())
    if "--record" in sys.argv[1:]:
        table = "\n".join(
            f"| {name} | " + " | ".join(f"{number:,}" for number in row) + " |"
            for name, row in rows
        )
        head = f"| package, {datetime.date.today()} | " + " | ".join(COLUMNS) + " |"
        text = re.sub(
            r"^\| package, .*?(?=\n\n)", f"{head}\n|---|--:|--:|--:|--:|\n{table}",
            RECORD.read_text(), flags=re.MULTILINE | re.DOTALL,
        )  # fmt: skip
        RECORD.write_text(text)
    print(f"{'':16}" + "".join(f"{column:>18}" for column in COLUMNS))
    for name, row in rows:
        last = before.get(name, (0,) * len(row))
        cells = (f"{now:,} ({now - then:+,})" for now, then in zip(row, last, strict=True))
        print(f"{name:16}" + "".join(f"{cell:>18}" for cell in cells))


if __name__ == "__main__":
    main()
