"""Where a number lies inside its interval: what a network of states leaves open.

A column of many different numbers is cut into intervals, which are states of a network. Inside,

    between two cuts      uniform
    beyond the last cut   exponential, with the mean excess of the training cells as its scale

so that rows have a density, a number far outside of what was seen is improbable, and a state can
be turned back into a number. A column of few different numbers has each as a state of its own: it
has probabilities in place of a density, and a number between or beyond them is none of its states.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from novum.graphical.models.arrays import UNKNOWN
from novum.graphical.naive_network import ColumnStates
from novum.numerics import Floats, Integers, Mask


@dataclass(frozen=True, eq=False)
class NumberStates:
    """The numbers of one column, by state.

    Attributes
    ----------
    means : array of shape (n_states,)
        Mean of the training cells of each state; the number itself where each is a state.
    cuts : array of shape (n_states - 1,)
    scales : array of shape (n_states,), empty where each number is a state
        Widths of inner intervals, mean excess beyond the outer cuts.
    """

    means: Floats
    cuts: Floats
    scales: Floats

    @classmethod
    def of(cls, states: ColumnStates, cells: Floats, weights: Floats) -> NumberStates:
        """Of training cells, with their states."""
        assert states.cuts is not None
        cuts, names = states.cuts, states.axis.states
        if all(isinstance(name, float) for name in names):
            return cls(np.array(names, np.float64), cuts, np.empty(0))
        present = ~np.isnan(cells)
        x, w = cells[present], weights[present]
        codes = np.searchsorted(cuts, x, side="left")
        totals = np.bincount(codes, w, len(names))
        means = np.bincount(codes, w * x, len(names)) / totals
        low, high = cuts[0] - means[0], means[-1] - cuts[-1]
        scales = np.concatenate([[low], np.diff(cuts), [high]])
        # Neighbors among floats may have no number between them to cut at.
        return cls(means, cuts, np.maximum(scales, np.spacing(np.abs(means)) + 1e-300))

    @property
    def has_density(self) -> bool:
        """Whether states are intervals, so that a cell adds a density."""
        return self.scales.size > 0

    def strange(self, cells: Floats) -> Mask:
        """Cells that are present and none of the states."""
        if self.has_density:
            return np.zeros(len(cells), bool)
        nearest = self.means[np.searchsorted(self.cuts, cells, side="left")]
        return ~np.isnan(cells) & (nearest != cells)

    def log_density(self, cells: Floats, codes: Integers) -> Floats:
        """Of cells inside their states; 0 of missing cells and where states are numbers."""
        if not self.has_density:
            return np.zeros(len(cells))
        scale = self.scales[codes]
        logs = -np.log(scale)
        first, last = codes == 0, codes == len(self.scales) - 1
        logs[first] -= (self.cuts[0] - cells[first]) / scale[first]
        logs[last] -= (cells[last] - self.cuts[-1]) / scale[last]
        return np.where(codes == UNKNOWN, 0.0, logs)

    @property
    def expected_log_density(self) -> Floats:
        """Of a cell that is drawn from its state: minus the entropy of each state."""
        if not self.has_density:
            return np.zeros(len(self.means))
        logs = -np.log(self.scales)
        logs[[0, -1]] -= 1.0
        return logs

    def drawn(self, codes: Integers, rng: np.random.Generator) -> Floats:
        """A number of each state, by its law."""
        if not self.has_density:
            return self.means[codes]
        uniform = rng.random(len(codes))
        ends = np.concatenate([[self.cuts[0]], self.cuts])
        numbers = ends[codes] + uniform * self.scales[codes]
        first, last = codes == 0, codes == len(self.scales) - 1
        excess = -np.log1p(-uniform) * self.scales[codes]
        numbers[first] = self.cuts[0] - excess[first]
        numbers[last] = self.cuts[-1] + excess[last]
        return numbers
