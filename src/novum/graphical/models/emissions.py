"""What is seen of a hidden state: symbols, or numbers with a normal law.

    Symbols   P(o | state) from a table
    Normals   N(x; mean of the state, covariance of the state)

An emission gives log-likelihoods of the steps of a sequence, learns from expected counts of states,
and mixes what states will show. A missing symbol, or a row of numbers without any, says nothing; of
a row with some numbers their marginal law counts, and learning takes the conditional means and
covariances of the others.

A covariance is kept above `10^-6` of the spread of its columns over all steps: the largest
likelihood under that bound has the eigenvalues below it lifted to it, so steps of learning never
lose likelihood. Without one a state could shrink to a single step, and the likelihood would grow
for ever.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np

from novum.core.errors import InputError
from novum.core.tables import Level
from novum.core.text import label_text, listed
from novum.numerics import Array, Floats, cached_property

FLOOR = 1e-6
_LOG_2PI = float(np.log(2 * np.pi))


class Emission(Protocol):
    """What a hidden Markov model asks of its emissions."""

    @property
    def n_states(self) -> int: ...

    def encoded(self, sequence: Any) -> Array:
        """A sequence as its log-likelihoods need it."""

    def log_likelihood(self, observed: Array) -> Floats:
        """Of every step and state, (T, n)."""

    def sums(self, observed: Array, weight: Floats) -> Floats:
        """Sufficient sums under the expected states (T, n), one row for each state."""

    def learned(self, sums: Floats) -> Self:
        """The emission of largest likelihood for such sums."""

    def drawn(self, rng: np.random.Generator, state: int) -> Any:
        """One observation of a state."""

    def mixed(self, states: Floats) -> Floats:
        """What distributions over states (k, n) show: probabilities of symbols, or means."""


@dataclass(frozen=True, eq=False)
class Symbols:
    """Symbols with a probability in every state.

    Parameters
    ----------
    table : array (n, m)
        Rows sum to one.
    symbols : tuple
    """

    table: Floats
    symbols: tuple[Level, ...]

    def __post_init__(self) -> None:
        table = np.array(self.table, np.float64)
        if table.ndim != 2 or table.shape[1] != len(self.symbols):
            raise InputError(
                f"An emission has a row for each state and a column for each of "
                f"{len(self.symbols)} symbols, got shape {table.shape}."
            )
        wrong = np.flatnonzero(~(np.abs(table.sum(axis=1) - 1) < 1e-6) | (table < 0).any(axis=1))
        if wrong.size:
            raise InputError(
                f"Row {wrong[0]} of the emission is no distribution: {table[wrong[0]].tolist()}. "
                "Probabilities are at least 0 and sum to 1."
            )
        object.__setattr__(self, "table", table / table.sum(axis=1, keepdims=True))
        object.__setattr__(self, "symbols", tuple(self.symbols))

    @property
    def n_states(self) -> int:
        return len(self.table)

    @cached_property
    def _code(self) -> dict[Level, int]:
        return {symbol: code for code, symbol in enumerate(self.symbols)}

    def encoded(self, sequence: Any) -> Array:
        """Codes of the symbols; -1 for missing ones."""
        array = np.asarray(sequence)
        if array.dtype.kind in "iub":
            values, places = np.unique(array, return_inverse=True)
            return self._codes_of(values.tolist())[places.ravel()]
        return self._codes_of(sequence.tolist() if hasattr(sequence, "tolist") else sequence)

    def _codes_of(self, cells: Any) -> Array:
        codes = [-1 if is_missing_symbol(cell) else self._code.get(cell, -2) for cell in cells]
        if -2 in codes:
            cell = list(cells)[codes.index(-2)]
            raise InputError(
                f"A sequence shows {label_text(cell)}, which the model does not know. Its symbols "
                f"are {listed(self.symbols)}."
            )
        return np.array(codes, np.int64)

    def log_likelihood(self, observed: Array) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self.table.T)
        # The last row is that of a missing symbol, which every state shows.
        return np.ascontiguousarray(np.vstack([logs, np.zeros(self.n_states)])[observed])

    def sums(self, observed: Array, weight: Floats) -> Floats:
        # Missing symbols are counted in a place of their own, the first, which is cut off.
        width = len(self.symbols) + 1
        return np.stack([np.bincount(observed + 1, w, width)[1:] for w in weight.T])

    def learned(self, sums: Floats) -> Symbols:
        total = sums.sum(axis=1, keepdims=True)
        # A state that nothing was seen of keeps its row.
        table = np.divide(sums, total, out=self.table.copy(), where=total > 0)
        return Symbols(table, self.symbols)

    def drawn(self, rng: np.random.Generator, state: int) -> Level:
        return self.symbols[int(rng.choice(len(self.symbols), p=self.table[state]))]

    def mixed(self, states: Floats) -> Floats:
        return np.asarray(states @ self.table)


@dataclass(frozen=True, eq=False)
class Normals:
    """Numbers with a normal law in every state.

    Parameters
    ----------
    means : array (n, d)
    covariances : array (n, d, d)
        Symmetric and positive definite.
    scale : array (d,), optional
        Spread of the columns over all steps, below a millionth of which (as variances) no law
        learns to shrink; the spread of these laws by default.
    """

    means: Floats
    covariances: Floats
    scale: Any = None

    def __post_init__(self) -> None:
        means = np.array(self.means, np.float64)
        means = means[:, np.newaxis] if means.ndim == 1 else means
        covariances = np.array(self.covariances, np.float64)
        if covariances.ndim == 1:
            covariances = covariances[:, np.newaxis, np.newaxis]
        n, d = means.shape
        if covariances.shape != (n, d, d):
            raise InputError(
                f"{n} means of {d} columns need covariances of shape {(n, d, d)}, got "
                f"{covariances.shape}."
            )
        for state, covariance in enumerate(covariances):
            low = np.linalg.eigvalsh(covariance)[0] if np.isfinite(covariance).all() else np.nan
            if not (low > 0 and np.allclose(covariance, covariance.T)):
                raise InputError(
                    f"The covariance of state {state} is not symmetric and positive definite: its "
                    f"smallest eigenvalue is {low:.3g}."
                )
        scale = self.scale
        if scale is None:
            inner = np.einsum("nii->ni", covariances).mean(axis=0)
            scale = np.sqrt(inner + means.var(axis=0))
        for name, value in (("means", means), ("covariances", covariances), ("scale", scale)):
            object.__setattr__(self, name, np.asarray(value, np.float64))

    @property
    def n_states(self) -> int:
        return len(self.means)

    def encoded(self, sequence: Any) -> Array:
        """Rows of numbers, NaN where missing."""
        rows = np.asarray(sequence, np.float64)
        rows = rows[:, np.newaxis] if rows.ndim == 1 else rows
        if rows.ndim != 2 or rows.shape[1] != self.means.shape[1]:
            raise InputError(
                f"The model sees {self.means.shape[1]} numbers in a step, but a sequence has shape "
                f"{rows.shape}."
            )
        if np.isinf(rows).any():
            step = int(np.argwhere(np.isinf(rows))[0, 0])
            raise InputError(f"Step {step} of a sequence is infinite. Mark it missing by NaN.")
        return rows

    def log_likelihood(self, observed: Array) -> Floats:
        logs = np.zeros((len(observed), self.n_states))
        for seen, rows in _patterns(observed):
            if not seen.any():
                continue
            x = observed[rows][:, seen]
            for state in range(self.n_states):
                L = np.linalg.cholesky(self.covariances[state][np.ix_(seen, seen)])
                z = np.linalg.solve(L, (x - self.means[state, seen]).T)
                size = 2 * np.log(np.diagonal(L)).sum() + seen.sum() * _LOG_2PI
                with np.errstate(over="ignore", invalid="ignore"):
                    logs[rows, state] = -0.5 * ((z**2).sum(axis=0) + size)
        far = np.argwhere(~np.isfinite(logs))
        if len(far):
            step, state = far[0].tolist()
            raise InputError(
                f"Step {step} of a sequence, {observed[step].tolist()}, is too far from the law of "
                f"state {state} for its density to be a number. Correct it, or mark it missing by "
                "NaN."
            )
        return logs

    def sums(self, observed: Array, weight: Floats) -> Floats:
        """Weight, sums and squares of what is seen or expected, relative to the present means."""
        n, d = self.means.shape
        sums = np.zeros((n, 1 + d + d * d))
        for seen, rows in _patterns(observed):
            if not seen.any():
                continue
            x, w = observed[rows], weight[rows]
            for state in range(n):
                mean, covariance = self.means[state], self.covariances[state]
                apart = np.where(seen, x - mean, 0.0)
                rest = np.zeros((d, d))
                if not seen.all():
                    gone = ~seen
                    inner = covariance[np.ix_(seen, seen)]
                    gain = np.linalg.solve(inner, covariance[np.ix_(seen, gone)]).T
                    apart[:, gone] = apart[:, seen] @ gain.T
                    rest[np.ix_(gone, gone)] = (
                        covariance[np.ix_(gone, gone)] - gain @ covariance[np.ix_(seen, gone)]
                    )
                own = w[:, state]
                total = own.sum()
                sums[state, 0] += total
                sums[state, 1 : 1 + d] += own @ apart
                squares = (apart * own[:, np.newaxis]).T @ apart + total * rest
                sums[state, 1 + d :] += squares.ravel()
        return sums

    def learned(self, sums: Floats) -> Normals:
        n, d = self.means.shape
        means, covariances = self.means.copy(), self.covariances.copy()
        for state in range(n):
            total = sums[state, 0]
            if not total > 0:
                continue
            move = sums[state, 1 : 1 + d] / total
            means[state] += move
            spread = sums[state, 1 + d :].reshape(d, d) / total - np.outer(move, move)
            covariances[state] = self._lifted(spread)
        return Normals(means, covariances, self.scale)

    def _lifted(self, covariance: Floats) -> Floats:
        """The covariance with no eigenvalue, in units of the columns' spread, below the bound."""
        units = np.outer(self.scale, self.scale)
        values, vectors = np.linalg.eigh((covariance + covariance.T) / (2 * units))
        lifted = (vectors * np.maximum(values, FLOOR)) @ vectors.T
        return np.asarray((lifted + lifted.T) / 2 * units)

    def drawn(self, rng: np.random.Generator, state: int) -> Floats:
        return rng.multivariate_normal(self.means[state], self.covariances[state], method="eigh")

    def mixed(self, states: Floats) -> Floats:
        return np.asarray(states @ self.means)


def is_missing_symbol(cell: Any) -> bool:
    """Whether a cell of a sequence of symbols is missing: None or NaN."""
    return cell is None or (isinstance(cell, float) and cell != cell)


def _holds_numbers(array: Array) -> bool:
    """Whether a sequence holds numbers with fractions, or nothing but missing cells."""
    if array.dtype.kind != "O":
        return array.dtype.kind == "f"
    return all(isinstance(cell, float) for cell in array.tolist() if cell is not None)


def _patterns(observed: Array) -> list[tuple[Array, Array]]:
    """Which columns are seen, and the steps where it is these."""
    seen = ~np.isnan(observed)
    if seen.all():
        return [(np.ones(observed.shape[1], bool), np.arange(len(observed)))]
    patterns, which = np.unique(seen, axis=0, return_inverse=True)
    return [(row, np.flatnonzero(which.ravel() == i)) for i, row in enumerate(patterns)]


def _has_fractions(array: Any) -> bool:
    """Whether there are rows, or numbers that are not whole and so no symbols."""
    if array.ndim != 1 or array.dtype.kind != "f":
        return array.ndim != 1
    present = array[~np.isnan(array)]
    return bool((present != np.floor(present)).any())


def guessed(sequences: Sequence[Any], n_states: int, rng: np.random.Generator) -> Emission:
    """An emission to start learning from: rows at random, symbols with random shares.

    Symbols where sequences hold labels or whole numbers, normal laws where they hold other numbers.
    """
    arrays = [np.asarray(sequence) for sequence in sequences]
    is_symbolic = [array.ndim == 1 and not _holds_numbers(array) for array in arrays]
    if any(is_symbolic):
        other = [k for k, own in enumerate(is_symbolic) if not own and _has_fractions(arrays[k])]
        if other:
            raise InputError(
                f"Sequence {other[0]} holds numbers, but sequence {is_symbolic.index(True)} holds "
                "symbols. Give sequences of one kind."
            )
        cells = [cell for array in arrays for cell in array.tolist()]
        present = {cell for cell in cells if not is_missing_symbol(cell)}
        symbols = tuple(sorted(present, key=lambda s: (type(s).__name__, s)))
        return Symbols(rng.dirichlet(np.full(len(symbols), 2.0), n_states), symbols)
    columns = [np.asarray(a, np.float64) for a in arrays]
    columns = [a[:, np.newaxis] if a.ndim == 1 else a for a in columns]
    for number, a in enumerate(columns):
        if a.shape[1:] != columns[0].shape[1:]:
            raise InputError(
                f"Sequence {number} has steps of shape {a.shape[1:]}, but the first has "
                f"{columns[0].shape[1:]}. Give all steps the same columns."
            )
    rows = np.concatenate(columns)
    if np.isinf(rows).any():
        raise InputError("A sequence has an infinite number. Mark it missing by NaN.")
    if np.isnan(rows).all():
        raise InputError("All steps of the sequences are missing; there is nothing to learn from.")
    if (gone := np.isnan(rows).all(axis=0)).any():
        raise InputError(
            f"Column {np.argmax(gone)} of the sequences has no number at all. Leave it out."
        )
    with np.errstate(over="ignore"):
        means, spread = np.nanmean(rows, axis=0), np.nanstd(rows, axis=0)
    if not np.isfinite(spread**2).all():
        raise InputError(
            f"Numbers of up to {np.nanmax(np.abs(rows)):.3g} are too large to be squared. Divide "
            "the columns of the sequences by constants, or mark outliers missing by NaN."
        )
    spread = np.where(spread > 0, spread, 1.0)
    filled = np.where(np.isnan(rows), means, rows)
    centers = filled[rng.choice(len(rows), n_states, replace=len(rows) < n_states)]
    centers = centers + 0.01 * spread * rng.normal(size=centers.shape)
    return Normals(centers, np.tile(np.diag(spread**2), (n_states, 1, 1)), spread)
