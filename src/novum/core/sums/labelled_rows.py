"""Rows of which some have no label, as sums over them: in memory, or in passes over chunks.

EM over missing labels (`core.sums.unlabelled`) asks for sums over all rows, over those with and
over those without a label, again and again. A `PartlyLabelledRows` gives them for a sample in
memory and for chunks of a stream, a file or a cluster. Chunks are read by one schema, and their
labels are coded by the classes of all of them, which a first pass finds.

The weight of unlabelled rows is judged by held-out labels, with some twenty fits. In passes that is
done in memory, by at most 20,000 labelled and as many unlabelled rows: those whose keys, numbers
made of what a row holds, are smallest, whatever the chunks. Rows that stand for others count for
them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from novum.core.errors import InputError
from novum.core.sums.additive import Additive
from novum.core.sums.chunk_passes import ChunkPasses
from novum.core.sums.engine import sum_blocks
from novum.core.tables import UNLABELLED, Sample, Schema, check_classes
from novum.core.text import label_text
from novum.numerics import Array

# Rows of each kind by which the weight of unlabelled rows is judged in passes over chunks.
JUDGED_ROWS = 20_000


@dataclass(frozen=True, eq=False)
class PartlyLabelledRows:
    """Sums over rows of which some have no label.

    Attributes
    ----------
    total : callable
        Given `sample -> statistics`, the sum of the statistics over all rows.
    judged : Sample
        The rows by which the weight of unlabelled ones is judged; in memory all of them.
    n_labelled, n_unlabelled : int

    Examples
    --------
    >>> from novum.bayes import NaiveBayes
    >>> model = NaiveBayes(unlabelled="em")
    >>> sample = model._read([[0.0], [1.0], [4.0]], ["a", None, "b"], None, None)
    >>> rows = PartlyLabelledRows.of(sample)
    >>> rows(lambda part: part.n_rows), rows.unlabelled(lambda part: part.numeric.sum())
    (3, np.float64(1.0))
    """

    total: Callable[[Callable[[Sample], Any]], Any]
    judged: Sample
    n_labelled: int
    n_unlabelled: int

    @classmethod
    def of(cls, sample: Sample) -> PartlyLabelledRows:
        """Rows in memory."""
        labelled = int((sample.target >= 0).sum())
        return cls(partial(sum_blocks, sample=sample), sample, labelled, sample.n_rows - labelled)

    @classmethod
    def in_passes(cls, passes: ChunkPasses, classes: Any = None) -> PartlyLabelledRows:
        """Chunks that can be read again and again, after two passes that find levels and classes.

        Parameters
        ----------
        passes : ChunkPasses
        classes : array-like, optional
            Labels that must occur.
        """
        if passes.schema is None:
            # Codes of levels must mean the same in every chunk.
            passes = replace(passes, schema=passes(SchemaSums.of).schema)
        first: _FirstPass = passes(_FirstPass.of)
        if not first.labels:
            raise InputError(
                f"None of the {first.rows} rows has a label, so {type(passes.learner).__name__} "
                "does not know what classes there are. Give at least one row of each its label."
            )
        own_classes, _ = check_classes(_labels(first.labels), type(passes.learner).__name__)
        if classes is not None:
            unmet = [label for label in np.unique(classes).tolist() if label not in first.labels]
            if unmet:
                raise InputError(
                    f"No row has the label {label_text(unmet[0])} of `classes`, so EM cannot learn "
                    "what such rows are like. Label some, or leave the class out."
                )
        labelled = sum(count for count, _ in first.labels.values())
        assert passes.schema is not None
        judged = first.kept.sample(passes.schema, own_classes, first.weight)
        over = partial(_coded_total, passes, own_classes)
        return cls(over, judged, labelled, first.rows - labelled)

    @property
    def classes(self) -> Array:
        assert self.judged.classes is not None
        return self.judged.classes

    def __call__(self, step: Callable[[Sample], Any]) -> Any:
        return self.total(step)

    def labelled(self, step: Callable[[Sample], Any]) -> Any:
        """The sum over rows with a label."""
        return self.total(partial(_of_some, step, True))

    def unlabelled(self, step: Callable[[Sample], Any]) -> Any:
        """The sum over rows without one."""
        return self.total(partial(_of_some, step, False))

    def without_unlabelled(self) -> PartlyLabelledRows:
        """The rows with a label only."""
        judged = self.judged.rows(np.flatnonzero(self.judged.target >= 0))
        return PartlyLabelledRows(self.labelled, judged, self.n_labelled, 0)


@dataclass(frozen=True, eq=False)
class SchemaSums(Additive):
    """A pass that learns the levels."""

    schema: Schema

    @classmethod
    def of(cls, sample: Sample) -> SchemaSums:
        return cls(sample.schema)


def _of_some(step: Callable[[Sample], Any], is_labelled: bool, sample: Sample) -> Any:
    rows = np.flatnonzero((sample.target >= 0) == is_labelled)
    return None if not rows.size else step(sample.rows(rows))


# --- Chunks ---------------------------------------------------------------------------------------


def count_unlabelled(sample: Sample) -> int:
    """Rows without a label."""
    return int((sample.target < 0).sum())


def _coded_total(passes: ChunkPasses, classes: Array, step: Callable[[Sample], Any]) -> Any:
    return passes(partial(_coded, step, classes))


def _coded(step: Callable[[Sample], Any], classes: Array, sample: Sample) -> Any:
    """A step over a chunk whose labels are coded by the classes of all chunks."""
    codes = np.full(sample.n_rows, UNLABELLED, np.int64)
    if sample.classes is not None:
        places = {label: code for code, label in enumerate(classes.tolist())}
        strange = [label for label in sample.classes.tolist() if label not in places]
        if strange:
            raise InputError(
                f"Label {label_text(strange[0])} did not occur in the first pass over the chunks. "
                "A callable must return the same chunks every time."
            )
        own = np.array([places[label] for label in sample.classes.tolist()], np.int64)
        known = sample.target >= 0
        codes[known] = own[sample.target[known]]
    return step(replace(sample, target=codes, classes=classes))


def _labels(labels: dict[Any, Any]) -> Array:
    """Labels as an array of their own type; of several types as objects."""
    kinds = {type(label) for label in labels}
    return np.array(list(labels), None if len(kinds) == 1 else object)


@dataclass(frozen=True, eq=False)
class _FirstPass:
    """Which labels there are, how many rows and how much weight they have, and some of the rows.

    Attributes
    ----------
    rows : int
    labels : dict from labels to pairs of a number of rows and a weight
    weight : pair of floats
        Of rows with and of rows without a label.
    kept : _KeptRows
    """

    rows: int
    labels: dict[Any, tuple[int, float]]
    weight: tuple[float, float]
    kept: _KeptRows

    @classmethod
    def of(cls, sample: Sample) -> _FirstPass:
        labels: dict[Any, tuple[int, float]] = {}
        for code, label in enumerate([] if sample.classes is None else sample.classes.tolist()):
            own = sample.target == code
            labels[label] = int(own.sum()), float(sample.weights[own].sum())
        known = sample.target >= 0
        weights = float(sample.weights[known].sum()), float(sample.weights[~known].sum())
        return cls(sample.n_rows, labels, weights, _KeptRows.of(sample))

    def __add__(self, other: _FirstPass) -> _FirstPass:
        labels = dict(self.labels)
        for label, (count, weight) in other.labels.items():
            before = labels.get(label, (0, 0.0))
            labels[label] = before[0] + count, before[1] + weight
        weights = self.weight[0] + other.weight[0], self.weight[1] + other.weight[1]
        return _FirstPass(self.rows + other.rows, labels, weights, self.kept + other.kept)


@dataclass(frozen=True, eq=False)
class _KeptRows:
    """Rows of smallest keys, some with and some without a label.

    Attributes
    ----------
    numeric, codes
        As of a `Sample`.
    labels : object array (n,)
        None without a label.
    weights : array (n,)
    keys : uint64 array (n,)
    """

    numeric: Any
    codes: Any
    labels: Array
    weights: Any
    keys: Array

    @classmethod
    def of(cls, sample: Sample) -> _KeptRows:
        labels = np.full(sample.n_rows, None, object)
        known = sample.target >= 0
        if known.any():
            assert sample.classes is not None
            labels[known] = np.array([*sample.classes.tolist(), None], object)[sample.target[known]]
        kept = cls(sample.numeric, sample.codes, labels, sample.weights, _keys(sample))
        return kept._smallest()

    def __add__(self, other: _KeptRows) -> _KeptRows:
        both = self.numeric, other.numeric
        is_sparse = sparse.issparse(self.numeric)
        numeric: Any = sparse.vstack(both, "csr") if is_sparse else np.concatenate(both)
        pairs = ((getattr(self, name), getattr(other, name)) for name in _ROW_FIELDS[1:])
        return _KeptRows(numeric, *map(np.concatenate, pairs))._smallest()

    def _smallest(self) -> _KeptRows:
        known = self.labels != np.array(None)
        chosen = []
        for rows in (np.flatnonzero(known), np.flatnonzero(~known)):
            if len(rows) > JUDGED_ROWS:
                rows = rows[np.argsort(self.keys[rows], kind="stable")[:JUDGED_ROWS]]
            chosen.append(rows)
        places = np.sort(np.concatenate(chosen))
        if len(places) == len(self.keys):
            return self
        return _KeptRows(*(getattr(self, name)[places] for name in _ROW_FIELDS))

    def sample(self, schema: Schema, classes: Array, weight: tuple[float, float]) -> Sample:
        """The rows as a sample, each group with the weight of all rows that it stands for."""
        codes = {label: code for code, label in enumerate(classes.tolist())}
        target = np.array([codes.get(label, UNLABELLED) for label in self.labels], np.int64)
        target[self.labels == np.array(None)] = UNLABELLED
        weights = self.weights.copy()
        for rows, own in zip((target >= 0, target < 0), weight, strict=True):
            if rows.any() and abs(weights[rows].sum() - own) > 1e-9 * own:
                weights[rows] *= own / weights[rows].sum()
        same = None if (weights == 1.0).all() else weights
        return Sample(schema, self.numeric, self.codes, target, classes, same)


_ROW_FIELDS = ("numeric", "codes", "labels", "weights", "keys")


def _keys(sample: Sample) -> Array:
    """Pseudo-random numbers of what rows hold, the same in every chunk."""
    numeric = sample.numeric
    factors = np.modf(np.sqrt(np.arange(2.0, 2 + numeric.shape[1] + sample.codes.shape[1])))[0]
    first, rest = np.split(factors, [numeric.shape[1]])
    if sparse.issparse(numeric):
        # Row by row: the result must not depend on the rows beside.
        sums = np.asarray(numeric.multiply(first).sum(axis=1)).ravel()
    else:
        sums = np.nan_to_num(np.asarray(numeric) * first, nan=0.5).sum(axis=1)
    sums = sums + (sample.codes * rest).sum(axis=1)
    with np.errstate(over="ignore"):
        words = np.ascontiguousarray(sums + 0.0).view(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        return np.asarray((words ^ (words >> np.uint64(31))) * np.uint64(0xBF58476D1CE4E5B9))
