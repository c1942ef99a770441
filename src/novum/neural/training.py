"""The training loop: batches, early stopping, checkpoints, and what to do when a loss is no number.

Adam minimizes a loss over batches drawn anew in every epoch. After each epoch the loss of rows that
are not trained on is judged; the weights with the least are kept. When it has not fallen by the
share `tol` within `patience` epochs, the rate is divided by 4, twice, and then the training ends.

Random numbers of an epoch are a function of the seed and its number, and the state after an epoch
(weights, moments, counters) is written whole or not at all. A training that was killed and goes on
from its checkpoint therefore ends with the same bits.

A loss or gradient that is not finite ends the training: the weights of the best epoch are kept, and
what is said is the epoch, the batch and the first layer where it began.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from novum.core.errors import InputError, ModelFileError
from novum.core.files import load, save
from novum.core.runtime import Progress, check_cancelled, stream
from novum.neural.backend import torch_library
from novum.neural.layers import Shape
from novum.numerics import Floats

_RATE_DIVISOR, _REDUCTIONS = 4.0, 2


class NotFiniteError(ArithmeticError):
    """A loss or gradient that is not a finite number."""


@dataclass(frozen=True, eq=False)
class TrainingState:
    """Everything that the rest of a training depends on, after some epochs.

    Attributes
    ----------
    fingerprint : str
        Of the rows and the settings that it belongs to.
    epoch : int
        Epochs done.
    vectors : dict from names to arrays
        Weights and moments of every optimizer.
    steps : int
        Batches done.
    best : dict from names to arrays
        Weights of the best epoch.
    best_loss : float
    best_epoch : int
    reference : float
        Loss at the last progress.
    waited, reductions : int
        Epochs since the loss fell, and how often the rate was divided.
    losses : array (epoch,)
        Of the rows that are judged.
    stopped_by : str
        Empty while the training goes on.
    """

    fingerprint: str
    epoch: int = 0
    vectors: dict[str, Floats] = field(default_factory=dict)
    steps: int = 0
    best: dict[str, Floats] = field(default_factory=dict)
    best_loss: float = math.inf
    best_epoch: int = 0
    reference: float = math.inf
    waited: int = 0
    reductions: int = 0
    losses: Floats = field(default_factory=lambda: np.empty(0))
    stopped_by: str = ""


class Adam:
    """Adam on all parameters as one vector, of which the parameters are views.

    m <- b1 m + (1 - b1) g,   v <- b2 v + (1 - b2) g^2
    w <- w - rate (m / (1 - b1^t)) / (sqrt(v / (1 - b2^t)) + 1e-8)
    """

    def __init__(
        self,
        arrays: Sequence[Floats],
        device: Any,
        dtype: Any,
        betas: tuple[float, float] = (0.9, 0.999),
    ) -> None:
        torch = torch_library()
        flat = np.concatenate([np.ravel(a) for a in arrays]) if arrays else np.empty(0)
        self.weights = torch.tensor(flat, device=device, dtype=dtype)
        self.first, self.second = torch.zeros_like(self.weights), torch.zeros_like(self.weights)
        self.betas, self.steps = betas, 0
        self.views, start = [], 0
        for array in arrays:
            stop = start + array.size
            self.views.append(self.weights[start:stop].view(array.shape).requires_grad_())
            start = stop

    def step(self, loss: Any, rate: float) -> None:
        torch = torch_library()
        gradients = torch.autograd.grad(loss, self.views)
        with torch.no_grad():
            gradient = torch.cat([g.reshape(-1) for g in gradients])
            if not math.isfinite(float(gradient.sum())):
                raise NotFiniteError("the gradient")
            self.steps += 1
            b1, b2 = self.betas
            self.first.mul_(b1).add_(gradient, alpha=1 - b1)
            self.second.mul_(b2).addcmul_(gradient, gradient, value=1 - b2)
            size = (self.second / (1 - b2**self.steps)).sqrt_().add_(1e-8)
            self.weights.addcdiv_(self.first, size, value=-rate / (1 - b1**self.steps))

    def vectors(self) -> dict[str, Floats]:
        parts = {"weights": self.weights, "first": self.first, "second": self.second}
        return {name: value.detach().cpu().double().numpy().copy() for name, value in parts.items()}

    def restore(self, vectors: dict[str, Floats], steps: int) -> None:
        torch = torch_library()
        with torch.no_grad():
            for name in ("weights", "first", "second"):
                own = getattr(self, name)
                own.copy_(torch.tensor(vectors[name], dtype=own.dtype))
        self.steps = steps


class Task(Protocol):
    """What is trained."""

    optimizers: dict[str, Adam]
    # A loss that may pass through zero falls by shares of this, at least.
    unit: float
    # Epochs in which nothing is concluded from a loss that does not fall.
    warm_up: int

    def learn(self, rows: Any, rng: np.random.Generator, rate: float, epoch: int) -> float:
        """One batch: computes the loss, steps the optimizers, returns the loss."""

    def judge(self) -> float:
        """The loss of rows that are not trained on."""

    def locate(self, rows: Any) -> str:
        """Where a batch stops being finite, in words."""


@dataclass(frozen=True)
class Schedule:
    """Settings of the loop."""

    n_rows: int
    batch_size: int
    max_iter: int
    rate: float
    tol: float
    patience: int


def train(
    task: Task,
    schedule: Schedule,
    root: np.random.SeedSequence,
    fingerprint: str,
    checkpoint: Path | None,
    progress: Progress,
) -> tuple[TrainingState, str]:
    """Runs the epochs; leaves the weights of the best one in the optimizers.

    Returns the state, and a sentence about what was not finite, or nothing.
    """
    state = _resumed(task, fingerprint, checkpoint)
    trouble = ""
    while not state.stopped_by and state.epoch < schedule.max_iter:
        try:
            state = _epoch(task, schedule, root, state)
        except NotFiniteError as error:
            if not state.best:
                raise InputError(
                    f"Training failed at once: {error}. Lower learning_rate={schedule.rate:g}, or "
                    "look for extreme values in the columns."
                ) from None
            trouble = f"{error}; the weights of epoch {state.best_epoch} were kept"
            state = replace(state, stopped_by="not finite")
        if checkpoint is not None:
            save(state, checkpoint)
        note = f"loss {state.losses[-1]:.4g}" if state.losses.size else ""
        if progress.advance(note=note) and not state.stopped_by:
            state = replace(state, stopped_by="callback")
    for name, optimizer in task.optimizers.items():
        vectors = {**optimizer.vectors(), "weights": state.best[name]}
        optimizer.restore(vectors, optimizer.steps)
    return state, trouble


def _epoch(
    task: Task, schedule: Schedule, root: np.random.SeedSequence, state: TrainingState
) -> TrainingState:
    epoch = state.epoch + 1
    rng = stream(root, "epoch", epoch)
    order = rng.permutation(schedule.n_rows)
    rate = schedule.rate / _RATE_DIVISOR**state.reductions
    # Batches of nearly equal size, so that no last one of a single row shakes the weights.
    n_batches = max(1, math.ceil(schedule.n_rows / schedule.batch_size))
    for batch, rows in enumerate(np.array_split(order, n_batches), start=1):
        check_cancelled()
        index = torch_library().tensor(rows)
        try:
            loss = task.learn(index, rng, rate, epoch)
            if not math.isfinite(loss):
                raise NotFiniteError("the loss")
        except NotFiniteError as error:
            raise NotFiniteError(
                f"{error} became NaN or infinite in epoch {epoch}, batch {batch} of "
                f"{n_batches}, first in {task.locate(index)}"
            ) from None
    judged = task.judge()
    if not math.isfinite(judged):
        raise NotFiniteError(
            f"the loss of rows that are not trained on became NaN or infinite after epoch {epoch}"
        )
    return _judged(task, schedule, state, judged)


def _judged(task: Task, schedule: Schedule, state: TrainingState, judged: float) -> TrainingState:
    """The state after an epoch: what is best so far, and whether to go on."""
    vectors = {
        f"{name}.{kind}": vector
        for name, optimizer in task.optimizers.items()
        for kind, vector in optimizer.vectors().items()
    }
    least = schedule.tol * max(abs(state.reference), task.unit) if state.best else 0.0
    fell = judged < state.reference - least
    best, best_loss, best_epoch = state.best, state.best_loss, state.best_epoch
    if judged < best_loss or not best:
        best = {name: vectors[f"{name}.weights"] for name in task.optimizers}
        best_loss, best_epoch = judged, state.epoch + 1
    waits = not fell and state.epoch >= task.warm_up
    waited, reductions, stopped_by = state.waited + 1 if waits else 0, state.reductions, ""
    if waited >= schedule.patience:
        waited, reductions = 0, reductions + 1
        stopped_by = "validation" if reductions > _REDUCTIONS else ""
    return TrainingState(
        state.fingerprint, state.epoch + 1, vectors, next(iter(task.optimizers.values())).steps,
        best, best_loss, best_epoch, judged if fell else state.reference, waited, reductions,
        np.append(state.losses, judged), stopped_by,
    )  # fmt: skip


# --- Checkpoints ----------------------------------------------------------------------------------


def fingerprint_of(name: str, settings: dict[str, Any], arrays: Sequence[Any]) -> str:
    """A digest of what a training depends on."""
    digest = hashlib.sha256(f"{name} {sorted(settings.items())!r}".encode())
    for array in arrays:
        part = np.ascontiguousarray(array)
        digest.update(f"{part.dtype} {part.shape}".encode())
        digest.update(part.tobytes())
    return digest.hexdigest()


def _resumed(task: Task, fingerprint: str, checkpoint: Path | None) -> TrainingState:
    """The state of the checkpoint, put into the optimizers; a new one where there is none."""
    if checkpoint is None or not checkpoint.exists():
        return TrainingState(fingerprint)
    state = load(checkpoint)
    if not isinstance(state, TrainingState) or state.fingerprint != fingerprint:
        raise InputError(
            f"{checkpoint.name} is the checkpoint of another training: of other rows, settings or "
            "another seed. Give the same ones, another file, or delete it."
        )
    for name, optimizer in task.optimizers.items():
        own: dict[str, Any] = {
            kind: state.vectors.get(f"{name}.{kind}") for kind in ("weights", "first", "second")
        }
        if any(np.shape(v) != tuple(optimizer.weights.shape) for v in own.values()):
            raise ModelFileError(f"{checkpoint.name} holds weights of another network.")
        optimizer.restore(own, state.steps)
    return state


# --- Start values ---------------------------------------------------------------------------------


def start_values(shapes: Sequence[Shape], rng: np.random.Generator, gain: float) -> list[Floats]:
    """Weights of one layer, uniform with variance gain / mean of inputs and outputs; no biases."""
    values = []
    for shape in shapes:
        if len(shape) == 1:
            values.append(np.zeros(shape))
            continue
        field_size = math.prod(shape[2:])
        limit = math.sqrt(gain * 6.0 / (field_size * (shape[0] + shape[1])))
        values.append(rng.uniform(-limit, limit, shape))
    return values
