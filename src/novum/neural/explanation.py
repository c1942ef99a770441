"""Why a row is novel: the cells that were not expected, and what was.

An error by itself says little: some columns are hard to foresee. Cells are told by how far their
error is beyond the usual error of their column, that of rows that were not trained on.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.text import printable
from novum.display import number
from novum.neural.table_coding import CodedRows, NetworkCoding
from novum.numerics import Floats


@dataclass(frozen=True)
class UnusualCell:
    """A cell that was not expected: its column, value, expected value, error, and the usual one."""

    column: str
    value: str
    expected: str
    error: float
    usual: float


@dataclass(frozen=True)
class Alarm:
    """Why a row is, or is not, called novel.

    Attributes
    ----------
    error, line : float
    cells : tuple of UnusualCell
        The largest errors beyond what is usual, the largest first.
    """

    error: float
    line: float
    cells: tuple[UnusualCell, ...]

    @property
    def sentence(self) -> str:
        what = "novel" if self.error > self.line else "ordinary"
        said = f"{what}: error {number(self.error)}, line {number(self.line)}"
        if not self.cells:
            return f"{said}; no cell is unusual."
        each = ", ".join(
            f"{printable(c.column, 40)} = {c.value} ({c.expected})" for c in self.cells
        )
        many = "this cell is" if len(self.cells) == 1 else f"these {len(self.cells)} cells are"
        return f"{said}; {many} unusual (expected values in brackets): {each}."


class ExplainedCells:
    """Answers of a detector that expects something in every cell."""

    coding_: NetworkCoding
    usual_errors_: Floats
    offset_: float

    def _rows(self, X: Any) -> CodedRows:
        raise NotImplementedError

    def _errors(self, rows: CodedRows) -> tuple[Floats, Floats]:
        raise NotImplementedError

    def _expected(self, rows: CodedRows) -> tuple[Floats, Any]:
        """Standardized numbers and codes of levels that are expected in every cell."""
        raise NotImplementedError

    def reconstruct(self, X: Any) -> Any:
        """What is expected in every cell: numbers, and the likeliest levels."""
        return self.coding_.cells(*self._expected(self._rows(X)))

    def explain(self, X: Any, most: int = 3) -> list[Alarm]:
        """For every row, the cells that were not expected, and what was.

        Parameters
        ----------
        X : rows
        most : int
            Cells that are told at most; only those whose error is above the usual one.

        Examples
        --------
        >>> rng = np.random.default_rng(0)
        >>> from novum.neural import AutoencoderDetector
        >>> x = rng.normal(size=300)
        >>> model = AutoencoderDetector(1, random_state=0).fit(np.c_[x, 2 * x, -x])
        >>> model.explain([[1.0, 2.0, 5.0]], most=1)[0].cells[0].column
        'x2'
        """
        rows = self._rows(X)
        errors, cells = self._errors(rows)
        return [
            Alarm(float(errors[i]), -self.offset_, told)
            for i, told in enumerate(self._unusual_cells(rows, cells, most))
        ]

    def _unusual_cells(
        self, rows: CodedRows, cells: Floats, most: int
    ) -> list[tuple[UnusualCell, ...]]:
        coding, usual = self.coding_, self.usual_errors_
        columns = [coding.schema.columns[j] for j in coding.order]
        own = _texts(coding, rows.numbers, rows.codes)
        expected = _texts(coding, *self._expected(rows))
        told = []
        for i, errors in enumerate(cells):
            excess = np.where(rows.present[i] > 0, errors - usual, -np.inf)
            # A level that was expected, if with less certainty than usual, is no surprise.
            order = [j for j in np.argsort(-excess, kind="stable") if own[i][j] != expected[i][j]]
            chosen = [j for j in order[:most] if excess[j] > 0]
            told.append(
                tuple(
                    UnusualCell(
                        columns[j].name, own[i][j], expected[i][j], float(errors[j]),
                        float(usual[j]),
                    )
                    for j in chosen
                )
            )  # fmt: skip
        return told


def _texts(coding: NetworkCoding, numbers: Floats, codes: Any) -> list[list[str]]:
    """Cells in words, columns in coded order."""
    values = numbers * coding.scale + coding.mean
    texts = [[number(v) for v in row] for row in values]
    for j, column in enumerate(coding.schema.categorical_columns):
        names = [*(printable(str(level), 40) for level in column.levels), "a new level"]
        for row, code in zip(texts, codes[:, j], strict=True):
            row.append(names[min(code, len(names) - 1)])
    return texts
