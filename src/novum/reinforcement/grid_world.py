"""Grid worlds: fields, walls, ends, and moves that slip.

A map is text, one line for each row of fields:

    ...+      . a field        # a wall        + an end that gives 1
    .#.-      S the start      - an end that gives -1
    S...      or fields by name, separated by blanks, of which those with a reward are ends

States are (column, row), counted from 1 at the left lower corner, as the lecture notes and Russell
and Norvig do. A move goes where it is meant to with probability 1 - slip, and to either side with
slip / 2; who runs into a wall or the edge stays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.text import label_text
from novum.numerics import cached_property
from novum.reinforcement.process import MarkovDecisionProcess

MOVES = {"up": (0, 1), "right": (1, 0), "down": (0, -1), "left": (-1, 0)}
ARROWS = {"up": "↑", "right": "→", "down": "↓", "left": "←"}
NOTES_MAP = "...+\n.#.-\nS..."
Field = tuple[int, int]


@dataclass(frozen=True, eq=False)
class GridWorld:
    """A grid world, and the decision process that it is.

    Parameters
    ----------
    map : str
        See above.
    living_reward : float
        Of every field that is no end, received when it is left.
    slip : float
        Probability of going astray, half to either side.
    discount : float
    ends : mapping, optional
        Rewards of fields that end the process, by (column, row), besides those of the map.

    Examples
    --------
    >>> world = GridWorld(".+\\nS-", living_reward=-0.1, slip=0.0)
    >>> world.process
    MarkovDecisionProcess of 4 states (2 terminal), 4 actions, discount 1
    >>> from novum.reinforcement import solve
    >>> print(solve(world.process).draw())
     0.900   +1
       →
     0.800   -1
       ↑
    """

    map: str = NOTES_MAP
    living_reward: float = -0.04
    slip: float = 0.2
    discount: float = 1.0
    ends: Mapping[Field, float] | None = None

    @classmethod
    def notes(cls, living_reward: float = -0.04) -> GridWorld:
        """The 4 x 3 world of the notes: a wall, an end of +1, an end of -1."""
        return cls(living_reward=living_reward)

    @cached_property
    def _cells(self) -> tuple[dict[Field, str], int, int]:
        lines = [line.strip() for line in self.map.strip().splitlines() if line.strip()]
        width = max((len(line) for line in lines), default=0)
        if not lines or any(len(line) != width for line in lines):
            raise InputError(
                "The rows of a map have the same number of fields; these have "
                f"{', '.join(str(len(line)) for line in lines) or 'none'}."
            )
        cells = {}
        for row, line in enumerate(reversed(lines), start=1):
            for column, sign in enumerate(line, start=1):
                if sign not in ".#+-SG":
                    raise InputError(
                        f"The map has {label_text(sign)} in column {column}, row {row}; signs are "
                        "'.' for a field, '#' a wall, '+' and '-' ends, 'S' the start."
                    )
                cells[column, row] = sign
        return cells, width, len(lines)

    @property
    def width(self) -> int:
        return self._cells[1]

    @property
    def height(self) -> int:
        return self._cells[2]

    @cached_property
    def terminal_rewards(self) -> dict[Field, float]:
        """Rewards of the fields that end the process."""
        signs = {"+": 1.0, "-": -1.0, "G": 1.0}
        rewards = {field: signs[sign] for field, sign in self._cells[0].items() if sign in signs}
        for field, reward in (self.ends or {}).items():
            column, row = field
            if self._cells[0].get((column, row), "#") == "#":
                raise InputError(f"The end {label_text(field)} is outside of the map, or a wall.")
            rewards[column, row] = float(reward)
        return rewards

    @cached_property
    def process(self) -> MarkovDecisionProcess:
        """The decision process; its states know their places in the grid."""
        if not 0 <= self.slip <= 1:
            raise InputError(f"slip is a probability, got {label_text(self.slip)}.")
        cells = self._cells[0]
        fields = sorted((f for f, sign in cells.items() if sign != "#"), key=lambda f: (f[1], f[0]))
        place = {field: i for i, field in enumerate(fields)}
        steps = {
            move: np.array(
                [place.get((c + dc, r + dr), i) for i, (c, r) in enumerate(fields)], np.int64
            )
            for move, (dc, dr) in MOVES.items()
        }
        n, names = len(fields), list(MOVES)
        here = np.arange(n)
        transitions = []
        for number, move in enumerate(names):
            sides = (steps[names[(number + 1) % 4]], steps[names[(number - 1) % 4]])
            parts = [(steps[move], 1 - self.slip), *((side, self.slip / 2) for side in sides)]
            columns = np.concatenate([to for to, _ in parts])
            shares = np.concatenate([np.full(n, share) for _, share in parts])
            matrix = sparse.csr_array((shares, (np.tile(here, 3), columns)), shape=(n, n))
            matrix.eliminate_zeros()
            transitions.append(matrix)
        ends = self.terminal_rewards
        rewards = np.full(n, float(self.living_reward))
        for field, reward in ends.items():
            rewards[place[field]] = reward
        starts = [field for field, sign in cells.items() if sign == "S"]
        process = MarkovDecisionProcess(
            transitions,
            rewards,
            self.discount,
            states=fields,
            actions=names,
            terminal=list(ends),
            start={field: 1 / len(starts) for field in starts} if starts else None,
        )
        process.layout = self
        return process

    def with_living_reward(self, reward: float) -> GridWorld:
        """The same world with another living reward."""
        return GridWorld(self.map, reward, self.slip, self.discount, self.ends)

    def is_wall(self, field: Field) -> bool:
        return self._cells[0][field] == "#"

    def __str__(self) -> str:
        return self.map.strip()
