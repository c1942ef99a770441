"""Rows that are weighed by the evidence: what all samplers of independent rows share.

    P(t | e)  is estimated by  p = sum of w_i [row i has t] / sum of w_i
    variance of p  by  sum of w_i^2 ([row i has t] - p)^2 / (sum of w_i)^2 + (hidden / 2)^2

The first term is that of the delta method. *Hidden* is a bound of the share of the posterior that
the rows may not show at all: no set of states that is drawn more often than `3 / n` is missed by n
rows (with probability 0.95), so with a bound w of all weights

    hidden <= 3 w / (sum of w_i)

Rows of a network come variable by variable, parents first. Weights are kept as logarithms until a
block of rows is done, so that many observed variables do not underflow. Their bound is the product
of the largest likelihoods of all observations, one by one the best case, together often far above
what can be. Where that says too little, bounded elimination (`mini_buckets`) gives a bound U of the
evidence, and the rows, whose mean weight m estimates it with error s, leave out at most

    hidden <= 1 - m / U + 2 s / m
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.runtime import RandomSource, stream, time_sliced
from novum.distributions import check_cells
from novum.graphical.inference.flat_factors import flat_factors_of, starts_of
from novum.graphical.inference.mini_buckets import mini_buckets
from novum.graphical.inference.potentials import ancestors_of
from novum.graphical.inference.protocol import with_observed
from novum.graphical.models.arrays import UNKNOWN, Evidence, ModelArrays
from novum.numerics import Floats, Integers, Mask, as_argument

# Variance of two rows more (Agresti and Coull 1998): a cell never met is not known to be empty.
TWO_ROWS = 2.0
# What has this expected number of rows is met with probability 0.95.
MET = 3.0
# Cells of a table for the bound of the evidence.
BOUND_CELLS = 2**16


@dataclass(frozen=True, eq=False)
class Totals:
    """What a run of weighted rows adds up to.

    Attributes
    ----------
    tables, errors : tuples of arrays
        Estimates and their standard errors.
    rows : int
        Rows drawn.
    positive : int
        Rows of positive weight.
    effective_size : float
        Independent rows that would give the error of the worst cell.
    log_mean_weight : float
    hidden : float
        Share of the posterior that states may have which were too rare to be met, at most.
    """

    tables: tuple[Floats, ...]
    errors: tuple[Floats, ...]
    rows: int
    positive: int
    effective_size: float
    log_mean_weight: float
    hidden: float


class Sums:
    """Weights of rows, added up by the cells of some targets.

    Parameters
    ----------
    model : ModelArrays
    evidence : Evidence
    targets : sequence of sequences of variables
        One table each.
    places : int64 array, optional
        Where the codes of each variable stand in a row; by default at its number.
    """

    def __init__(
        self,
        model: ModelArrays,
        evidence: Evidence,
        targets: Sequence[Sequence[int]],
        places: Integers | None = None,
    ) -> None:
        self.model = model
        self.evidence = evidence
        self.targets = targets
        for target in targets:
            if len(target) > 1:
                check_cells([int(model.cards[variable]) for variable in target])
        self.free = [[v for v in target if evidence.codes[v] < 0] for target in targets]
        starts, variables, *rest = _target_arrays(model, self.free)
        self.cells = starts, variables if places is None else places[variables], *rest
        self.sums = np.zeros(int(self.cells[3][-1]))
        self.squares = np.zeros_like(self.sums)
        self.totals = np.array([0.0, 0.0, 0.0, -math.inf])
        self.rows = 0

    def add(self, n: int, offsets: Integers, codes: Any, logs: Floats, squares: Floats) -> None:
        """Adds n rows; `logs` of their weights become the weights, `offsets` are room to work."""
        from novum.graphical.inference.sampling_kernels import add_weights

        add_weights(
            *self.cells, n, codes, logs, squares, offsets, self.sums, self.squares, self.totals
        )
        self.rows += n

    @property
    def log_mean_weight(self) -> float:
        return math.log(self.totals[0] / self.rows) + float(self.totals[3])

    @property
    def error_of_mean(self) -> float:
        """Standard error of the mean weight, as a share of it."""
        total, squared = self.totals[:2].tolist()
        return math.sqrt(max(squared / total**2 - 1 / self.rows, 0.0))

    @property
    def kish_size(self) -> float:
        """Rows of equal weight whose mean would be as exact."""
        total, squared = self.totals[:2].tolist()
        return float(total**2 / squared)

    def result(self, hidden: float) -> Totals:
        """Estimates with their errors; some weight must be positive."""
        hidden = min(hidden, 1.0)
        total, squared, positive, _ = (float(value) for value in self.totals)
        estimates = self.sums / total
        spread = self.squares * (1 - 2 * estimates) + estimates**2 * squared
        errors = np.sqrt(np.maximum(spread, 0.0)) / total
        size = worst_size(estimates, errors, self.kish_size)
        errors = np.sqrt(errors**2 + (hidden / 2) ** 2)
        starts = self.cells[3].tolist()
        tables, stated = [], []
        for t, (target, free) in enumerate(zip(self.targets, self.free, strict=True)):
            shape = self.model.cards[free]
            own = slice(starts[t], starts[t + 1])
            # What has one state is known without drawing.
            error = errors[own] if own.stop - own.start > 1 else np.zeros(1)
            known = self.model, self.evidence, target, free
            tables.append(with_observed(*known, estimates[own].reshape(shape)))
            stated.append(with_observed(*known, error.reshape(shape)))
        return Totals(
            tuple(tables),
            tuple(stated),
            self.rows,
            int(positive),
            size,
            self.log_mean_weight,
            hidden,
        )


class RowSource(Sums):
    """Draws rows of a network and adds up their weights by targets.

    Parameters
    ----------
    model : ModelArrays
        Directed.
    evidence : Evidence
    targets : sequence of sequences of variables
        One table each.
    random_state : RandomSource
    """

    def __init__(
        self,
        model: ModelArrays,
        evidence: Evidence,
        targets: Sequence[Sequence[int]],
        random_state: RandomSource,
    ) -> None:
        super().__init__(model, evidence, targets)
        rng = stream(random_state, "rows")
        self.key, self.second_key = rng.integers(0, 2**64, 2, dtype=np.uint64)
        needed = needed_for(model, evidence, targets)
        self.order = np.ascontiguousarray(model.order[needed[model.order]])
        self.tree = drawing_arrays(model)
        self.soft = _soft_arrays(evidence)

    def weigh(self, size: int) -> None:
        """Draws rows with the evidence set, weighed by how likely it is given its parents."""
        from novum.graphical.inference.sampling_kernels import BLOCK, draw_block, weigh_by_tables

        _, scope_starts, scopes, strides, table_starts, _ = self.tree
        with np.errstate(divide="ignore"):
            log_tables = np.log(self.model.tables)
        observed = self.evidence.observed
        work = self._work(BLOCK)
        for start, stop in time_sliced(size, block=BLOCK):
            for first in range(start, stop, BLOCK):
                n = min(BLOCK, stop - first)
                draw_block(
                    *self.tree, self.order, self.evidence.codes, self.key,
                    first, n, 0, work[0], work[1],
                )  # fmt: skip
                weigh_by_tables(
                    scope_starts, scopes, strides, table_starts, log_tables, observed,
                    *self.soft, n, *work[:3],
                )  # fmt: skip
                self.add(n, *work)

    def accept(self, wanted: int, most: int) -> None:
        """Draws rows freely and keeps those that agree, until there are enough or `most` drawn."""
        from novum.graphical.inference.sampling_kernels import BLOCK, draw_block, weigh_by_agreement

        free = np.full(self.model.n_variables, UNKNOWN, np.int64)
        observed = self.evidence.observed
        work = self._work(BLOCK)
        left = wanted
        for start, stop in time_sliced(most, block=BLOCK):
            for first in range(start, stop, BLOCK):
                n = min(BLOCK, stop - first)
                draw_block(*self.tree, self.order, free, self.key, first, n, 0, work[0], work[1])
                left -= weigh_by_agreement(
                    self.evidence.codes, observed, *self.soft, self.second_key, first, n, left,
                    work[1], work[2],
                )  # fmt: skip
                # Rows drawn after the last that was wanted do not count.
                enough = left == 0
                self.add(int(np.flatnonzero(work[2][:n] == 0)[-1]) + 1 if enough else n, *work)
                if enough:
                    return

    def _work(self, block: int) -> tuple[Any, ...]:
        shape = (self.model.n_variables, block)
        return np.empty(block, np.int64), np.zeros(shape, np.int32), *np.empty((2, block))

    def hidden(self) -> float:
        """Share of the posterior that states have at most which no row met, after `weigh`."""
        highest = sum(math.log(self._highest(int(v))) for v in self.evidence.observed)
        by_weights = MET / self.rows * math.exp(min(highest - self.log_mean_weight, 700.0))
        by_evidence = 2 * self.error_of_mean
        if by_weights > by_evidence:
            factors = np.flatnonzero(needed_for(self.model, self.evidence, ()))
            left = flat_factors_of(self.model, self.evidence, factors)
            bound = mini_buckets(left, BOUND_CELLS).log_bound - soft_constant(self.evidence)
            by_evidence += max(0.0, -math.expm1(min(self.log_mean_weight - bound, 0.0)))
        # What is not hidden may still be too rare for this many rows.
        return min(by_weights, max(by_evidence, MET / self.kish_size))

    def _highest(self, variable: int) -> float:
        """How likely what is observed of a variable is, given the best states of its parents."""
        model, codes = self.model, self.evidence.codes
        scope = model.scope(variable).tolist()
        at = tuple(int(codes[v]) if codes[v] >= 0 else slice(None) for v in scope)
        return float(np.max(model.table(variable)[at]))


def worst_size(estimates: Floats, errors: Floats, most: float) -> float:
    """Independent rows that would give the error of the worst cell, `p (1 - p) / error^2`."""
    # Cells met hardly ever say more about chance than about the rows.
    inside = (estimates > 5 / most) & (estimates < 1 - 5 / most) & (errors > 0)
    p, e = estimates[inside], errors[inside]
    return float(np.min(p * (1 - p) / e**2, initial=most))


def drawing_arrays(model: ModelArrays) -> tuple[Any, ...]:
    """Cards, scopes, strides and cumulative tables of a network, as kernels draw from them."""
    from novum.graphical.inference.sampling_kernels import cumulate_tables

    strides = np.empty(len(model.scopes), np.int64)
    cumulative = np.empty(len(model.tables), np.int64)
    arrays = model.cards, model.scope_starts, model.scopes
    tables = as_argument(model.tables)
    cumulate_tables(*arrays, model.table_starts, tables, strides, cumulative)
    return (*arrays, strides, model.table_starts, cumulative)


def needed_for(model: ModelArrays, evidence: Evidence, targets: Sequence[Sequence[int]]) -> Mask:
    """Which variables of a network the targets and the evidence depend on."""
    named = {variable for target in targets for variable in target}
    return ancestors_of(model, [*named, *evidence.observed.tolist(), *evidence.likelihoods])


def check_directed(model: ModelArrays, engine: str) -> None:
    """Refuses models whose variables cannot be drawn one after the other."""
    if not model.is_directed:
        raise InputError(
            f"{engine} draws each variable given its parents, and this model has factors that are "
            "no conditional tables. Use Gibbs(), LoopyPropagation() or JunctionTree()."
        )


def _soft_arrays(evidence: Evidence) -> tuple[Integers, Integers, Floats]:
    """Variables with likelihoods, where theirs begin, and logarithms relative to the largest."""
    variables = sorted(evidence.likelihoods)
    weights = [np.asarray(evidence.likelihoods[variable]) for variable in variables]
    with np.errstate(divide="ignore"):
        logs = [np.log(values / values.max()) for values in weights]
    joined = np.concatenate(logs) if logs else np.empty(0)
    return np.array(variables, np.int64), starts_of([len(part) for part in logs]), joined


def soft_constant(evidence: Evidence) -> float:
    """Logarithm of what `_soft_arrays` divides by."""
    return sum(math.log(float(np.max(values))) for values in evidence.likelihoods.values())


def _target_arrays(model: ModelArrays, targets: Sequence[Sequence[int]]) -> tuple[Integers, ...]:
    strides: list[int] = []
    sizes: list[int] = []
    for target in targets:
        shape = [int(model.cards[variable]) for variable in target]
        strides += [math.prod(shape[axis + 1 :]) for axis in range(len(shape))]
        sizes.append(math.prod(shape))
    return (
        starts_of([len(target) for target in targets]),
        np.array([variable for target in targets for variable in target], np.int64),
        np.array(strides, np.int64),
        starts_of(sizes),
    )
