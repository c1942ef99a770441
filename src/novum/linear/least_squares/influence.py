"""What single rows do to a least-squares fit, and how far a new row may be from its prediction.

With `A = (X'WX)^-1` on the design with intercept, residuals `e_i` and leverages `h_i = x_i'A x_i`
of one copy of a row, the fit without that copy has coefficients and error variance

    b - b(i) = A x_i e_i / (1 - h_i),    s(i)^2 = (RSS - e_i^2 / (1 - h_i)) / (n - k - 1),

so that all of it follows from one fit:

    studentized   r_i = e_i / (s sqrt(1 - h_i)),       deleted   t_i = e_i / (s(i) sqrt(1 - h_i))
    Cook          D_i = r_i^2 h_i / (k (1 - h_i)),     DFFITS    t_i sqrt(h_i / (1 - h_i))
    DFBETAS       (b_j - b_j(i)) / (s(i) sqrt(A_jj))

A new row has the prediction `x'b`, whose variance is `s^2 x'A x`, and itself varies by `s^2` more.
A row of weight zero is such a row: the fit without it is the fit, and its residual has the variance
`s^2 (1 + x'A x)`.

References
----------
D. Belsley, E. Kuh, R. Welsch (1980). Regression Diagnostics. Wiley, section 2.1.
R. D. Cook (1977). Detection of influential observation in linear regression. Technometrics 19.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.core.tables import Sample, treatment_blocks
from novum.display import Table
from novum.linear.least_squares.inference import (
    LinearInference,
    inverse_root,
    rooted,
    turned_rows,
    unit_deviations,
)
from novum.linear.least_squares.solution import Design, Solution
from novum.numerics import Floats, column_norms


@dataclass(frozen=True, eq=False)
class Influence:
    """What each row of a fit does to it.

    Attributes
    ----------
    names : tuple of str
        Of the coefficients, intercept first where there is one.
    leverage, residuals, studentized, deleted, cooks_distance, dffits : arrays (n,)
        Of all rows of the table. NaN where a row is fitted whatever its target is (leverage 1).
        A row of weight 0 does nothing: its leverage, Cook's distance and DFFITS are 0, and its
        studentized and deleted residual are both that of a new row.
    dfbetas : array (n, k)
    """

    names: tuple[str, ...]
    leverage: Floats
    residuals: Floats
    studentized: Floats
    deleted: Floats
    cooks_distance: Floats
    dffits: Floats
    dfbetas: Floats

    def most(self, number: int = 10) -> Table:
        """The rows of largest Cook's distance, with the coefficient that each moves most."""
        order = np.argsort(-np.nan_to_num(self.cooks_distance), kind="stable")[:number]
        rows = []
        for i in order:
            moved = np.nan_to_num(self.dfbetas[i])
            j = int(np.argmax(np.abs(moved)))
            rows.append(
                [
                    str(i),
                    f"{self.cooks_distance[i]:.3g}",
                    f"{self.leverage[i]:.3g}",
                    f"{self.deleted[i]:.3g}",
                    f"{self.names[j]} {moved[j]:+.2f}",
                ]
            )
        head = ["row", "Cook's distance", "leverage", "deleted residual", "moves most"]
        return Table.of_numbers("", head, rows)

    def __repr__(self) -> str:
        return f"Influence of {len(self.leverage)} rows, the largest:\n{self.most().as_text()}"


def influence_of(
    sample: Sample,
    design: Design,
    solution: Solution,
    inference: LinearInference,
    fit_intercept: bool,
) -> Influence:
    """All of it for a fit of one target, in one pass over the rows."""
    total = inference.rows
    root = rooted(design, total, fit_intercept)
    sizes = unit_deviations(design, total, fit_intercept)
    turned = np.vstack(
        [turned_rows(x, design, total, fit_intercept) for _, x in treatment_blocks(sample)]
    )
    fitted = np.concatenate(
        [(x - design.x_mean) @ solution.coef[:, 0] for _, x in treatment_blocks(sample)]
    )
    residual = sample.targets[:, 0] - fitted - design.y_mean[0]
    counted = sample.weights > 0
    leverage = np.where(counted, (turned**2).sum(axis=1), 0.0)
    free = 1 - leverage
    if not counted.all():
        new = prediction_deviations(sample.rows(~counted), design, total, fit_intercept)
        free[~counted] = 1 + new**2
    freedom, k = inference.degrees_of_freedom, total - inference.degrees_of_freedom
    deviation = float(inference.residual_deviation)
    with np.errstate(divide="ignore", invalid="ignore"):
        free[~(free > 1e-10)] = np.nan
        studentized = residual / (deviation * np.sqrt(free))
        # s(i)^2 / s^2, whose terms are of size one whatever the unit of the target.
        without = np.maximum(freedom - studentized**2, 0.0) / (freedom - 1)
        without[~counted] = 1.0
        deleted = studentized / np.sqrt(without)
        moved = (turned * (counted * residual / free)[:, np.newaxis]) @ root.T
        dfbetas = moved / (deviation * np.sqrt(without)[:, np.newaxis] * sizes)
        return Influence(
            inference.names,
            leverage,
            residual,
            studentized,
            deleted,
            studentized**2 * leverage / (k * free),
            deleted * np.sqrt(leverage / free),
            dfbetas,
        )


def prediction_deviations(
    sample: Sample, design: Design, weight: float, fit_intercept: bool
) -> Floats:
    """Roots of `x'A x` for new rows, shape (n,); infinite where the fit does not determine them."""
    root = inverse_root(design)
    kept = design.spectrum[2][: design.rank]
    deviations = []
    for _, x in treatment_blocks(sample):
        centered = x - design.x_mean
        turned = centered @ root
        squares = (turned**2).sum(axis=1) + (1 / weight if fit_intercept else 0.0)
        if design.rank < centered.shape[1]:
            scaled = (centered * design.scale).T
            outside = column_norms(scaled - kept.T @ (kept @ scaled))
            squares[outside > 1e-8 * np.maximum(column_norms(scaled), 1e-300)] = np.inf
        deviations.append(np.sqrt(squares))
    return np.concatenate(deviations)
