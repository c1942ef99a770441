"""Pictures of partial dependence: lines, points of levels, maps of two columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.text import printable
from novum.display import new_axes
from novum.evaluation.inspection.dependence_grid import GridAxis
from novum.evaluation.inspection.partial_dependence import PartialDependence


def plot_dependence(dependence: PartialDependence, ax: Any, output: int, most_rows: int) -> Any:
    """The picture that `PartialDependence.plot` draws; returns the axes."""
    if not -len(dependence.outputs) <= output < len(dependence.outputs):
        raise InputError(
            f"output={output!r} is none of the {len(dependence.outputs)} outputs, counted from 0."
        )
    ax = new_axes() if ax is None else ax
    label = printable(str(dependence.outputs[output]), 30)
    name = f"{dependence.response} of {label}" if label else dependence.response
    if len(dependence.axes) == 2:
        _map(dependence, ax, output, name)
    else:
        _lines(dependence, ax, output, most_rows)
        ax.set_ylabel(name)
    return ax


def _lines(dependence: PartialDependence, ax: Any, output: int, most_rows: int) -> None:
    axis = dependence.axes[0]
    x = _coordinates(axis)
    style = "o" if axis.nominal else "-"
    if dependence.individuals is not None and dependence.kind != "average":
        rows = dependence.individuals[output]
        chosen = np.linspace(0, len(rows) - 1, min(most_rows, len(rows))).round().astype(int)
        ax.plot(x, rows[chosen].T, "-", color="0.7", lw=0.5, zorder=1)
    if dependence.kind != "individual":
        ax.plot(x, dependence.averages[output], style, color="tab:blue", lw=2, zorder=2)
    _label(ax.set_xticks, ax.set_xlabel, axis)


def _map(dependence: PartialDependence, ax: Any, output: int, name: str) -> None:
    first, second = dependence.axes
    values = dependence.averages[output].T
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
