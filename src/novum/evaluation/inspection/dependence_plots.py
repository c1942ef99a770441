"""Pictures of partial dependence: lines, points of levels, maps of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import new_axes
from novum.evaluation.inspection.dependence_grid import GridAxis
from novum.evaluation.inspection.partial_dependence import PartialDependence


def plot_dependence(found: PartialDependence, ax: Any, output: int, most_rows: int) -> Any:
    """The picture that `PartialDependence.plot` draws; returns the axes."""
    if not -len(found.outputs) <= output < len(found.outputs):
        raise InputError(
            f"output={output!r} is none of the {len(found.outputs)} outputs, counted from 0."
        )
    ax = new_axes() if ax is None else ax
    label = printable(str(found.outputs[output]), 30)
    name = f"{found.response} of {label}" if label else found.response
    if len(found.axes) == 2:
        _map(found, ax, output, name)
    else:
        _lines(found, ax, output, most_rows)
        ax.set_ylabel(name)
    return ax


def _lines(found: PartialDependence, ax: Any, output: int, most_rows: int) -> None:
    axis = found.axes[0]
    x = _coordinates(axis)
    style = "o" if axis.nominal else "-"
    if found.individuals is not None and found.kind != "average":
        rows = found.individuals[output]
        chosen = np.linspace(0, len(rows) - 1, min(most_rows, len(rows))).round().astype(int)
        ax.plot(x, rows[chosen].T, "-", color="0.7", lw=0.5, zorder=1)
    if found.kind != "individual":
        ax.plot(x, found.averages[output], style, color="tab:blue", lw=2, zorder=2)
    _label(ax.set_xticks, ax.set_xlabel, axis)


def _map(found: PartialDependence, ax: Any, output: int, name: str) -> None:
    first, second = found.axes
    values = found.averages[output].T
    if first.nominal or second.nominal:
        picture = ax.pcolormesh(_coordinates(first), _coordinates(second), values)
    else:
        picture = ax.contourf(first.values, second.values, values)
    ax.figure.colorbar(picture, ax=ax, label=name)
    _label(ax.set_xticks, ax.set_xlabel, first)
    _label(ax.set_yticks, ax.set_ylabel, second)


def _coordinates(axis: GridAxis) -> Any:
    return np.arange(len(axis.values)) if axis.nominal else axis.values


def _label(set_ticks: Any, set_label: Any, axis: GridAxis) -> None:
    if axis.nominal:
        set_ticks(range(len(axis.values)), [printable(str(v), 20) for v in axis.values])
    set_label(printable(axis.name, 40))
