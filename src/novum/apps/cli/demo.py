"""`novum demo`: a regression on a bundled table, judged by predictions it did not learn from."""

from __future__ import annotations

from typing import Any


def demo() -> None:
    """Fit a linear regression to a bundled table and show what can be trusted about it."""
    import typer
    from sklearn.model_selection import KFold

    from novum.core import exact_cross_val_predict
    from novum.data import load
    from novum.linear import LinearRegression

    table = load("diabetes_progression")
    X = table.table.drop_columns([table.target])
    y = table.table.column(table.target).to_numpy()
    model = LinearRegression().fit(X, y)
    folds = KFold(10, shuffle=True, random_state=0)
    predicted = exact_cross_val_predict(LinearRegression(), X, y, folds)
    for part in (repr(table), repr(model.certificate_), repr(model.inference())):
        typer.echo(part + "\n")
    typer.echo(report(y, predicted, folds.split(y), float(model.score(X, y))))


def report(y: Any, predicted: Any, folds: Any, in_sample: float) -> str:
    """The cross-validated score in words, with the variance of the mean over folds."""
    import numpy as np

    squares = (y - predicted) ** 2
    errors = np.array([np.sqrt(squares[test].mean()) for _, test in folds])
    spread = errors.std(ddof=1) / np.sqrt(len(errors))
    r2 = 1 - squares.sum() / ((y - y.mean()) ** 2).sum()
    return (
        f"Predictions of rows left out in {len(errors)} folds: R2 {r2:.3f} "
        f"(in sample {in_sample:.3f}, which flatters), "
        f"root mean squared error {errors.mean():.2f} +- {spread:.2f}."
    )
