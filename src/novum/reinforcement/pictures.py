"""Values and policies as pictures: fields of a grid, or bars of states.

A picture is data once; text, SVG and matplotlib are views of it (`novum.display`).
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.files import replacing
from novum.display import Box, Drawing, Label, Markup, Path, Table, fitting
from novum.display import notebook as in_notebook
from novum.numerics import Floats
from novum.reinforcement.grid_world import ARROWS, MOVES, GridWorld
from novum.reinforcement.policy import Policy
from novum.reinforcement.process import MarkovDecisionProcess

_SIDE, _ROOM = 66.0, 8.0
_WIDTH, _LINE, _NAMES = 520.0, 22.0, 170.0
_MOST = 60


@dataclass(frozen=True, eq=False, repr=False)
class PlanPicture:
    """Values with the actions that are taken.

    Attributes
    ----------
    process : MarkovDecisionProcess
    values : array (n_states,)
    policy : Policy
    """

    process: MarkovDecisionProcess
    values: Floats
    policy: Policy

    @classmethod
    def of(cls, process: MarkovDecisionProcess, values: Floats, policy: Any) -> PlanPicture:
        return cls(process, values, Policy.of(process, policy))

    def __str__(self) -> str:
        return self.as_text()

    __repr__ = __str__

    def as_text(self) -> str:
        """Fields of a grid with values and arrows, or a table of states."""
        grid = self.process.layout
        if grid is None:
            return self._table().as_text()
        lines = []
        for row in range(grid.height, 0, -1):
            fields = [(column, row) for column in range(1, grid.width + 1)]
            numbers = [self._number(grid, field) for field in fields]
            arrows = [self._arrow(grid, field) for field in fields]
            lines.append("".join(f"{text:^7}" for text in numbers).rstrip())
            lines.append("".join(f"{text:^7}" for text in arrows).rstrip())
        while lines and not lines[-1]:
            lines.pop()
        return "\n".join(lines)

    def drawing(self) -> Drawing:
        """The picture as shapes."""
        grid = self.process.layout
        return self._bars() if grid is None else self._grid(grid)

    def as_svg(self) -> Markup:
        return self.drawing().as_svg()

    def plot(self, ax: Any = None) -> Any:
        """Draws into matplotlib axes, which are returned."""
        return self.drawing().plot(ax)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the SVG."""
        with replacing(path) as file:
            file.write(str(self.as_svg()).encode("utf-8"))

    def _repr_html_(self) -> str:
        return in_notebook(self.drawing())

    # --- A grid -----------------------------------------------------------------------------------

    def _number(self, grid: GridWorld, field: tuple[int, int]) -> str:
        if grid.is_wall(field):
            return "███"
        if field in grid.terminal_rewards:
            return f"{grid.terminal_rewards[field]:+g}"
        return f"{self.values[self.process.states.position(field)]:.3f}"

    def _arrow(self, grid: GridWorld, field: tuple[int, int]) -> str:
        if grid.is_wall(field) or field in grid.terminal_rewards:
            return ""
        action = self.policy[field]
        shares = action if isinstance(action, dict) else {action: 1.0}
        return "".join(ARROWS.get(str(name), "?") for name in shares)

    def _grid(self, grid: GridWorld) -> Drawing:
        low, high = float(self.values.min()), float(self.values.max())
        reach = max(abs(low), abs(high), 1e-300)
        shapes: list[Any] = []
        for row in range(grid.height, 0, -1):
            for column in range(1, grid.width + 1):
                field = (column, row)
                x = _ROOM + (column - 1) * _SIDE
                y = _ROOM + (grid.height - row) * _SIDE
                if grid.is_wall(field):
                    shapes.append(Box(x, y, _SIDE, _SIDE, fill="muted", frame="ink"))
                    continue
                value = float(self.values[self.process.states.position(field)])
                color = 2 if value >= 0 else 5
                strength = 0.06 + 0.5 * abs(value) / reach
                shapes.append(Box(x, y, _SIDE, _SIDE, fill=color, opacity=strength, frame="ink"))
                middle = x + _SIDE / 2
                is_end = field in grid.terminal_rewards
                shapes.append(
                    Label(
                        middle,
                        y + (0.58 if is_end else 0.36) * _SIDE,
                        self._number(grid, field),
                        "middle",
                        bold=is_end,
                    )
                )
                if not is_end:
                    shapes += _arrows(middle, y + 0.68 * _SIDE, self.policy[field])
        title = f"Values and policy of a grid of {grid.width} by {grid.height} fields"
        return Drawing(
            2 * _ROOM + grid.width * _SIDE,
            2 * _ROOM + grid.height * _SIDE,
            shapes,
            title,
            f"The best field is worth {high:.3g}, the worst {low:.3g}.",
        )

    # --- Any other process ------------------------------------------------------------------------

    def _shown(self) -> range:
        return range(min(self.process.n_states, _MOST))

    def _table(self) -> Table:
        rows = [
            [str(state), f"{self.values[i]:.6g}", _text(self.policy[state])]
            for i, state in ((i, self.process.states[i]) for i in self._shown())
        ]
        more = self.process.n_states - len(rows)
        note = f"and {more} more states" if more else ""
        return Table.of_numbers("", ["state", "value", "action"], rows, note)

    def _bars(self) -> Drawing:
        values = self.values[: len(self._shown())]
        low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
        unit = (_WIDTH - _NAMES - 120.0) / max(high - low, 1e-300)
        zero = _NAMES - low * unit
        shapes: list[Any] = []
        for i in self._shown():
            y, state = _ROOM + i * _LINE, self.process.states[i]
            name, whole = fitting(str(state), _NAMES - 12)
            shapes.append(Label(_NAMES - 8, y + 15, name, "end", hover=whole))
            length = float(values[i]) * unit
            left = zero + min(length, 0.0)
            shapes.append(
                Box(left, y + 4, max(abs(length), 0.5), _LINE - 8, fill=0 if length >= 0 else 5)
            )
            action, hover = fitting(_text(self.policy[state]), 110.0)
            right = zero + max(length, 0.0) + 6
            shapes.append(Label(right, y + 15, f"{values[i]:.4g} {action}", hover=hover))
        bottom = _ROOM + len(values) * _LINE
        shapes.append(Path([(zero, _ROOM), (zero, bottom)], color="muted"))
        more = self.process.n_states - len(values)
        words = f"The first {len(values)} states; {more} more are not shown." if more else ""
        return Drawing(_WIDTH + 60, bottom + _ROOM, shapes, "Values and actions of states", words)


def _arrows(x: float, y: float, action: Any) -> list[Any]:
    shares = action if isinstance(action, dict) else {action: 1.0}
    shapes: list[Any] = []
    for name, share in shares.items():
        if name not in MOVES:
            shapes.append(Label(x, y + 4, fitting(str(name), _SIDE - 8)[0], "middle"))
            continue
        right, up = MOVES[name]
        reach = 11.0 * (0.5 + 0.5 * share)
        tip = (x + right * reach, y - up * reach)
        tail = (x - right * reach * 0.8, y + up * reach * 0.8)
        side = (up * 4.5, right * 4.5)
        back = (tip[0] - right * 7, tip[1] + up * 7)
        shapes.append(Path([tail, back], width=1.8))
        head = [tip, (back[0] + side[0], back[1] + side[1]), (back[0] - side[0], back[1] - side[1])]
        shapes.append(Path(head, fill="ink"))
    return shapes


def _text(action: Any) -> str:
    if action is None:
        return "(terminal)"
    if isinstance(action, dict):
        return ", ".join(f"{name} {np.round(share, 3):g}" for name, share in action.items())
    return str(action)
