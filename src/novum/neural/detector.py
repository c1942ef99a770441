"""What detectors by networks share: who is trained on, where the line is, and how sure that is.

Of the training rows, a part is set aside. Its first half ends the training and draws the line,

    mean + k standard deviations of the errors,  or  the quantile that leaves a share beyond it,

and its second half, which neither the weights nor the line have seen, counts how often an ordinary
row is beyond the line: r of n, with the interval of Clopper and Pearson.
"""

from __future__ import annotations

import math
import os
import warnings
from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError, ModelFileError
from novum.core.learners import (
    Certificate,
    ConvergenceWarning,
    FewRowsWarning,
    Learner,
    NoveltyMixin,
    Stopwatch,
    Verdict,
    fitted,
    parameter,
    share_line,
    warn_if_stopped,
)
from novum.core.runtime import (
    CallbackSupport,
    RandomSource,
    check_memory,
    fit_context,
    fitting,
    seed_sequence,
    stream,
    track,
)
from novum.core.tables import Sample, Schema, check_features, check_sample
from novum.display import counted, percent
from novum.neural.backend import device_of, one_torch_thread, torch_library
from novum.neural.layers import ACTIVATIONS
from novum.neural.stack import Stack
from novum.neural.table_coding import CodedRows, NetworkCoding, image_rows
from novum.neural.training import Schedule, Task, TrainingState, fingerprint_of, train
from novum.numerics import Floats, Positions

# Rows that are scored at once.
_CHUNK = 4096
_FEWEST = 4
# With fewer rows than this, no false alarm at all is still no evidence that it is less than half.
_FEW = 6


@dataclass(frozen=True)
class DeviationThreshold:
    """The line at the mean error plus `k` standard deviations."""

    k: float = 3.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.k):
            raise InputError(f"k is a finite number of standard deviations, got {self.k!r}.")

    def line(self, errors: Floats) -> float:
        return float(errors.mean() + self.k * errors.std())


@dataclass(frozen=True)
class QuantileThreshold:
    """The line beyond which a share of ordinary errors is."""

    false_alarms: float = 0.05

    def __post_init__(self) -> None:
        if not 0 < self.false_alarms < 1:
            raise InputError(f"false_alarms is a share in (0, 1), got {self.false_alarms!r}.")

    def line(self, errors: Floats) -> float:
        return -share_line(-errors, self.false_alarms)


Threshold = DeviationThreshold | QuantileThreshold


class NeuralDetector(NoveltyMixin, CallbackSupport, Learner):
    """A network whose loss is least for rows like those of its training.

    Parameters
    ----------
    hidden : sequence of int or "auto"
        Widths of the layers between the columns and the code; the way back has them in reverse.
    layers : Stack, optional
        Layers from images to the code, instead of `hidden`; rows are images of its input shape,
        flat or not. The way back is its mirror.
    activation : {"tanh", "relu", "leaky_relu", "sigmoid", "softplus", "linear"}
        Of the layers of `hidden`.
    threshold : DeviationThreshold, QuantileThreshold or None
        Where the line between ordinary and novel errors is drawn; None is at three deviations.
    validation_fraction : float
        Share of the rows that are not trained on; see the module's text.
    learning_rate : float
    batch_size : int
        Rows of a step; all of them where there are fewer.
    max_iter : int
        Most epochs, passes over the training rows.
    tol : float
        Share by which the loss must fall to count as progress.
    patience : int
        Epochs without progress before the rate is lowered, and at last the training ended.
    checkpoint : path, optional
        A `.novum` file with the state after each epoch. A fit to the same rows with the same
        settings and seed goes on from it, and ends with the same bits as without interruption.
    device : str
        Where torch computes, such as "cpu" or "cuda".
    random_state : int, RandomState, Generator or None
    verbose : int
        Shows a bar on a terminal.
    categorical_features : as for trees
    """

    invariances: ClassVar[tuple[str, ...]] = ("column_scale", "common_scale")
    _unsaved_parameters: ClassVar[tuple[str, ...]] = ("checkpoint",)
    # What the result of a training does not depend on, or what may change between its parts.
    _no_settings = ("checkpoint", "verbose", "max_iter", "threshold", "device", "random_state")
    _loss_name: ClassVar[str]

    hidden: Any = parameter({"auto"}, "array-like", default="auto")
    layers: Any = parameter(Stack, None, default=None)
    activation: str = parameter(set(ACTIVATIONS), default="tanh")
    threshold: Any = parameter(DeviationThreshold, QuantileThreshold, None, default=None)
    validation_fraction: float = parameter(default=0.2, above=0, below=1)
    learning_rate: float = parameter(default=1e-2, above=0)
    batch_size: int = parameter(default=128, at_least=1)
    max_iter: int = parameter(default=300, at_least=1)
    tol: float = parameter(default=1e-2, at_least=0)
    patience: int = parameter(default=3, at_least=1)
    checkpoint: Any = parameter(str, os.PathLike, None, default=None)
    device: str = parameter(default="cpu")
    random_state: RandomSource = parameter(default=None)
    verbose: int = parameter("verbose", default=0)
    categorical_features: Any = parameter(str, None, "array-like", default="auto")

    coding_: NetworkCoding = fitted()
    weights_: list[Floats] = fitted()
    schema_: Schema = fitted()
    usual_errors_: Floats = fitted()
    n_iter_: int = fitted()
    certificate_: Certificate = fitted()

    # What subclasses say

    @abstractmethod
    def _shapes(self) -> list[tuple[int, ...]]:
        """Shapes of all weights, in order; needs `coding_` and what `_prepare` sets."""

    @abstractmethod
    def _prepare(self, rows: CodedRows, root: np.random.SeedSequence) -> None:
        """Chooses the network, from the coded training rows."""

    @abstractmethod
    def _task(self, rows: CodedRows, held: CodedRows, root: np.random.SeedSequence) -> Task:
        """What is trained, by tensors of the training rows and of those that are judged."""

    @abstractmethod
    def _cell_errors(self, rows: CodedRows, weights: Sequence[Any]) -> tuple[Any, Any]:
        """Errors of rows (n,) and of their cells (n, columns), coded order; tensors."""

    def _store(self, state: TrainingState, task: Any, judged: CodedRows) -> dict[str, Any]:
        """Keeps what the training found; returns details for the certificate.

        The rows to judge by are those that have neither been trained on nor ended the training.
        """
        del state, judged
        (optimizer,) = task.optimizers.values()
        self.weights_ = [view.detach().cpu().double().numpy().copy() for view in optimizer.views]
        return {}

    # Fit

    @fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: Any, y: Any = None) -> Self:
        """Trains the network and draws the line.

        Parameters
        ----------
        X : array-like or data frame of shape (n_rows, n_columns)
            Numbers and levels; cells may be missing. Images of a stack may have their axes.
        y : ignored
        """
        del y
        with fitting(self) as watch, one_torch_thread():
            sample = check_sample(self, image_rows(X), None, target="none", allow_missing=True)
            self._fit_sample(sample, watch)
        return self

    def _fit_sample(self, sample: Sample, watch: Stopwatch) -> None:
        checkpoint = self._checkpoint()
        root = seed_sequence(self.random_state)
        chosen = self._parts(sample.n_rows, stream(root, "rows"))
        shape = self.layers.input_shape if self.layers is not None else ()
        self.schema_ = sample.schema
        self.coding_ = NetworkCoding.of(sample.rows(chosen[0]), shape)
        coded = [self.coding_.rows(sample.rows(rows)) for rows in chosen]
        self._prepare(coded[0], root)
        cells = sum(math.prod(shape) for shape in self._shapes())
        check_memory(32 * cells, f"a network of {cells:,} weights", "Give narrower layers.")
        device, dtype = device_of(self.device)
        task = self._task(coded[0].to(device, dtype), coded[1].to(device, dtype), root)
        settings = {
            name: value
            for name, value in self.get_params(deep=False).items()
            if name not in self._no_settings
        }
        schedule = Schedule(
            coded[0].n_rows, self.batch_size, self.max_iter, self.learning_rate, self.tol,
            self.patience,
        )  # fmt: skip
        mark = fingerprint_of(
            type(self).__name__, settings | {"seed": root.entropy}, [*coded[0], *coded[1]]
        )
        with track(self, total=self.max_iter) as progress:
            state, trouble = train(task, schedule, root, mark, checkpoint, progress)
        details = self._store(state, task, coded[2])
        self.n_iter_ = state.epoch
        self._draw_line(coded[1], coded[2])
        if min(coded[1].n_rows, coded[2].n_rows) < _FEW:
            self._warn_of_few(coded[1].n_rows, coded[2].n_rows)
        stopped_by = state.stopped_by or "max_iter"
        done = stopped_by == "validation"
        self.certificate_ = Certificate(
            objective=self._loss_name,
            verdict=Verdict.LOCAL if done else Verdict.STOPPED_EARLY,
            value=state.best_loss,
            iterations=state.epoch,
            trace=state.losses.tolist(),
            details={"stopped_by": stopped_by, "best_epoch": state.best_epoch}
            | ({"trouble": trouble} if trouble else {})
            | details,
            seconds=watch.seconds,
        )
        if trouble:
            advice = f"Lower learning_rate={self.learning_rate:g}."
            said = f"{type(self).__name__}: {trouble}. {advice}"
            warnings.warn(said, ConvergenceWarning, stacklevel=5)
        elif stopped_by != "callback":
            warn_if_stopped(self.certificate_, type(self).__name__, stacklevel=5)

    def _checkpoint(self) -> Path | None:
        if self.checkpoint is None:
            return None
        if not isinstance(self.random_state, (int, np.integer)):
            raise InputError(
                "A training can go on from a checkpoint only if its seed is known: give an integer "
                f"as random_state, not {self.random_state!r}."
            )
        return Path(self.checkpoint)

    def _parts(self, n: int, rng: np.random.Generator) -> list[Positions]:
        """Rows that are trained on, that end the training, and that count false alarms."""
        if n < _FEWEST:
            raise InputError(
                f"{type(self).__name__} trains on some rows and judges by others, and needs at "
                f"least {_FEWEST} rows, got {n} (n_samples = {n})."
            )
        held = max(1, round(0.5 * self.validation_fraction * n))
        held = min(held, (n - 2) // 2)
        order = rng.permutation(n)
        return [np.sort(part) for part in np.split(order, [n - 2 * held, n - held])]

    def _draw_line(self, held: CodedRows, judged: CodedRows) -> None:
        errors, cells = self._errors(held)
        others, more = self._errors(judged)
        self.offset_ = -(self.threshold or DeviationThreshold()).line(errors)
        self._judge_line(-others)
        present = np.vstack([held.present, judged.present])
        total = np.vstack([cells, more]).sum(axis=0)
        self.usual_errors_ = total / np.maximum(present.sum(axis=0), 1.0)

    def _warn_of_few(self, n_line: int, n_judged: int) -> None:
        low, high = self.false_alarm_interval_
        warnings.warn(
            f"{type(self).__name__} draws its line by {counted(n_line, 'row')} and counts false "
            f"alarms by {counted(n_judged, 'other')}: of new ordinary rows, a share between "
            f"{percent(low)} and {percent(high)} may be called novel (95 % confidence). Pass more "
            f"rows, or a larger validation_fraction={self.validation_fraction:g}.",
            FewRowsWarning,
            stacklevel=6,
        )

    # Answers

    def score_samples(self, X: Any) -> Floats:
        """Minus the error of every row, (n_rows,); the larger, the more typical."""
        return -self._errors(self._rows(X))[0]

    def _rows(self, X: Any) -> CodedRows:
        check_is_fitted(self, "weights_")
        sample = check_features(self, image_rows(X), allow_missing=True)
        return self.coding_.rows(sample)

    def _errors(self, rows: CodedRows) -> tuple[Floats, Floats]:
        """Errors of coded rows and of their cells, as arrays."""
        with one_torch_thread() as torch, torch.no_grad():
            device, dtype = device_of(self.device)
            weights = self._tensors()
            totals, cells = [], []
            for start in range(0, rows.n_rows, _CHUNK):
                some = rows.take(slice(start, start + _CHUNK)).to(device, dtype)
                total, each = self._cell_errors(some, weights)
                totals.append(total.cpu().double().numpy())
                cells.append(each.cpu().double().numpy())
        return np.concatenate(totals), np.concatenate(cells)

    def _tensors(self) -> list[Any]:
        torch = torch_library()
        device, dtype = device_of(self.device)
        return [torch.tensor(w, device=device, dtype=dtype) for w in self.weights_]

    # Files and tags

    def _check_state(self) -> None:
        """Refuses a loaded model whose parts do not fit together."""
        self.coding_.check()
        if self.coding_.schema.n_columns != self.schema_.n_columns:
            raise ModelFileError("The coding of the model is of other columns.")
        shapes = [np.shape(w) for w in self.weights_]
        if shapes != [tuple(s) for s in self._shapes()]:
            raise ModelFileError("The weights of the model are those of another network.")
        if not all(np.isfinite(w).all() for w in self.weights_):
            raise ModelFileError("Weights of the model are not finite.")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = self.categorical_features is not None
        tags.non_deterministic = False
        return tags

    def _widths(self, auto: tuple[int, ...]) -> tuple[int, ...]:
        """Widths of the hidden layers."""
        if isinstance(self.hidden, str):
            return auto
        widths = tuple(self.hidden)
        if any(not isinstance(w, (int, np.integer)) or w < 1 for w in widths):
            raise InputError(
                f"hidden={self.hidden!r} must be whole numbers of at least 1, one for each layer; "
                "() is no layer."
            )
        return tuple(int(w) for w in widths)
