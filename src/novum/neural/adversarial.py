"""Generative adversarial networks: one network draws rows, another tells them from real ones.

The generator G makes rows of normal draws z, the discriminator D says how likely a row is real:

    min over G, max over D   E log D(x) + E log(1 - D(G(z)))

A generator that is told apart easily has no gradient in the second term; the non-saturating
objective lets it maximize E log D(G(z)) instead, with the same point of rest. There D is 1/2
everywhere and G draws from the law of the rows.

Nothing in the two losses says how good the rows are. What does is the energy distance between drawn
rows and rows that are not trained on: it chooses the epoch that is kept, and a test by permutations
says whether chance explains it. The generator that is kept has the running mean of its weights.

References
----------
I. Goodfellow et al. (2014). Generative adversarial nets. NeurIPS 27.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import fitted, parameter
from novum.core.runtime import RandomSource, stream
from novum.display import number, percent
from novum.neural.backend import device_of, one_torch_thread, torch_library
from novum.neural.detector import NeuralDetector
from novum.neural.energy import EnergyTest, energy_test
from novum.neural.layers import Flatten, Shape
from novum.neural.stack import Stack, dense_stack
from novum.neural.table_coding import CodedRows, NetworkCoding, indicators
from novum.neural.training import Adam, TrainingState, start_values
from novum.numerics import Floats

_MEMORY = 0.99
# Rows that a distance is computed of, and the ratios from which on somebody has won or collapsed.
_COMPARED, _WINS, _SPREAD = 512, 0.95, 0.5


@dataclass(frozen=True)
class GeneratorReport:
    """How well the drawn rows are, by rows that were not trained on.

    Attributes
    ----------
    test : EnergyTest
        Drawn rows against held-out ones.
    spread : float
        Mean distance between drawn rows over that between held-out ones: small where the
        generator draws the same few rows again.
    narrowest : str
        The column whose spread is least against that of the held-out rows.
    accuracy : float
        Of the discriminator: 1/2 at the point of rest.
    """

    test: EnergyTest
    spread: float
    narrowest: str
    accuracy: float

    @property
    def has_collapsed(self) -> bool:
        return self.spread < _SPREAD

    @property
    def sentence(self) -> str:
        said = [f"{self.test!r}"]
        said.append(
            f"collapsed: drawn rows are {number(self.spread)} times as far apart as real ones, "
            f"least in {self.narrowest!r}"
            if self.has_collapsed
            else f"drawn rows are {number(self.spread)} times as far apart as real ones"
        )
        balance = "in balance"
        if self.accuracy > _WINS:
            balance = "out of balance: the discriminator has won, and the generator learns nothing"
        said.append(f"the discriminator is right in {percent(self.accuracy)}, {balance}")
        return "; ".join(said) + "."


class _Players:
    """The generator and the discriminator, each with its optimizer."""

    unit, warm_up = 0.0, 0

    def __init__(
        self, model: GenerativeAdversarialNetwork, rows: CodedRows, held: CodedRows, root: Any
    ) -> None:
        torch, like = torch_library(), rows.numbers
        self._model, self._rows, self._coding = model, rows, model.coding_
        self._saturates = model.objective == "minimax"
        rng, gain = stream(root, "weights"), 2.0
        first = [v for s in model._generator_shapes() for v in start_values([s], rng, gain)]
        second = [v for s in model._critic_shapes() for v in start_values([s], rng, gain)]
        betas = (0.5, 0.99)
        self._generator = Adam(first, like.device, like.dtype, betas)
        self._critic = Adam(second, like.device, like.dtype, betas)
        # The running mean is no part of the game, and is kept as if it were a third player.
        self._mean = Adam(first, like.device, like.dtype)
        self.optimizers = {
            "generator": self._mean, "critic": self._critic, "playing": self._generator,
        }  # fmt: skip
        drawn = stream(root, "judge").standard_normal((_COMPARED, model.latent))
        self._codes = torch.tensor(drawn, device=like.device, dtype=like.dtype)
        self._held = indicators(model.coding_, _as_arrays(held))[:_COMPARED]

    def learn(self, rows: Any, rng: np.random.Generator, rate: float, epoch: int) -> float:
        del epoch
        torch = torch_library()
        real, coding = self._rows.take(rows), self._coding
        like = real.numbers
        softplus = torch.nn.functional.softplus

        def codes() -> Any:
            drawn = rng.standard_normal((real.n_rows, self._codes.shape[1]))
            return torch.tensor(drawn, device=like.device, dtype=like.dtype)

        critic, generator = self._critic.views, self._generator.views
        with torch.no_grad():
            drawn = self._model._drawn(codes(), generator, coding)
        true = self._model._judged(real, critic, coding)
        false = self._model._judged_outputs(drawn, real.present, critic, coding)
        loss = (softplus(-true) + softplus(false)).mean()
        self._critic.step(loss, rate)
        drawn = self._model._drawn(codes(), generator, coding)
        false = self._model._judged_outputs(drawn, real.present, critic, coding)
        own = -softplus(false).mean() if self._saturates else softplus(-false).mean()
        self._generator.step(own, rate / 2)
        with torch.no_grad():
            self._mean.steps += 1
            pace = min(_MEMORY, self._mean.steps / (self._mean.steps + 10.0))
            self._mean.weights.mul_(pace).add_(self._generator.weights, alpha=1 - pace)
        return float(loss.detach()) + float(own.detach())

    def judge(self) -> float:
        """The energy distance of drawn and held-out rows, in units of that between the latter."""
        torch = torch_library()
        with torch.no_grad():
            outputs = self._model._drawn(self._codes, self._mean.views, self._coding)
        drawn = outputs.cpu().double().numpy()
        if not np.isfinite(drawn).all():
            return math.nan
        return energy_test(drawn, self._held, n_permutations=0).distance

    def locate(self, rows: Any) -> str:
        del rows
        finite = [bool(p.weights.isfinite().all()) for p in (self._generator, self._critic)]
        return "the generator" if not finite[0] else "the discriminator"


def _as_arrays(rows: CodedRows) -> CodedRows:
    return CodedRows(*(part.cpu().numpy() for part in rows))


class GenerativeAdversarialNetwork(NeuralDetector):
    """Draws rows like those of its training; its discriminator tells rows that are unlike them.

    Parameters
    ----------
    latent : int
        Normal draws behind every row.
    objective : {"non_saturating", "minimax"}
        What the generator optimizes; see the module's text.
    hidden : sequence of int or "auto"
        Widths of the layers of both networks.
    layers : Stack, optional
        Layers of the discriminator for images; the generator is the mirror.

    Attributes
    ----------
    weights_ : list of arrays
        Of the generator (mean over the last steps), then of the discriminator.
    report_ : GeneratorReport
        Distance to held-out rows with its test, collapse and balance, in a sentence.
    offset_, false_alarm_rate_, false_alarm_interval_, coding_, n_iter_, n_features_in_,\
 feature_names_in_, schema_, certificate_
        As for `AutoencoderDetector`.

    Notes
    -----
    Scores are log-odds of being real. A discriminator learns where drawn rows are, so that far from
    both it may say anything; autoencoders are the steadier detectors. Drawn rows get the missing
    cells of real ones before they are judged.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(400, 1))
    >>> model = GenerativeAdversarialNetwork(1, hidden=(8,), random_state=0).fit(X)
    >>> drawn = model.sample(1000)
    >>> bool(abs(drawn.mean() - 3.0) < 0.5)
    True
    """

    _loss_name = "energy distance of drawn rows to rows that are not trained on"
    activation = "leaky_relu"
    batch_size = 64
    learning_rate = 5e-3
    patience = 20

    latent: int = parameter(default=8, at_least=1, kw_only=False)
    objective: str = parameter({"non_saturating", "minimax"}, default="non_saturating")

    generator_: Stack = fitted()
    discriminator_: Stack = fitted()
    report_: GeneratorReport = fitted()

    def _prepare(self, rows: CodedRows, root: np.random.SeedSequence) -> None:
        del rows, root
        coding, k = self.coding_, self.latent
        if self.layers is not None:
            shape, before = self.layers.input_shape, self.layers.layers
            if len(self.layers.output_shape) > 1:
                before = (*before, Flatten())
            width = math.prod(self.layers.output_shape)
            there = Stack(shape, (*before, *dense_stack((width, 1), "linear").layers))
            mirror = Stack(shape, before).mirrored()
            back = Stack((k,), (*dense_stack((k, width), "linear").layers, *mirror.layers))
        else:
            (n_inputs,) = coding.input_shape
            hidden = self._widths(auto=(32, 32))
            there = dense_stack((n_inputs, *hidden, 1), self.activation)
            back = dense_stack((k, *hidden[::-1], coding.output_width), self.activation)
        self.generator_, self.discriminator_ = back, there

    def _generator_shapes(self) -> list[Shape]:
        return [shape for shapes in self.generator_.parameter_shapes for shape in shapes]

    def _critic_shapes(self) -> list[Shape]:
        own = [shape for shapes in self.discriminator_.parameter_shapes for shape in shapes]
        return [*self.coding_.embedding_shapes, *own]

    def _shapes(self) -> list[Shape]:
        return [*self._generator_shapes(), *self._critic_shapes()]

    def _task(self, rows: CodedRows, held: CodedRows, root: np.random.SeedSequence) -> Any:
        return _Players(self, rows, held, root)

    # The two networks

    def _drawn(self, codes: Any, weights: Sequence[Any], coding: NetworkCoding) -> Any:
        """Rows of the generator: standardized numbers, and chances of levels; (n, width)."""
        left = iter(weights)
        own = [[next(left) for _ in shapes] for shapes in self.generator_.parameter_shapes]
        outputs = self.generator_.apply(codes, own).flatten(1)
        if not coding.level_counts:
            return outputs
        chances = [logs.exp() for logs in coding.log_probabilities(outputs)]
        return torch_library().cat([outputs[:, : coding.n_numeric], *chances], dim=1)

    def _judged(self, rows: CodedRows, weights: Sequence[Any], coding: NetworkCoding) -> Any:
        """Log-odds that real rows are real, (n,)."""
        vectors = weights[: len(coding.embedding_shapes)]
        return self._log_odds(coding.inputs(rows, vectors), weights, coding)

    def _judged_outputs(
        self, drawn: Any, present: Any, weights: Sequence[Any], coding: NetworkCoding
    ) -> Any:
        """Log-odds that drawn rows are real, with the missing cells of others."""
        q = coding.n_numeric
        numbers = drawn[:, :q] * present[:, :q]
        if coding.image_shape:
            return self._log_odds(numbers.reshape(-1, *coding.image_shape), weights, coding)
        parts, start = [numbers], q
        if coding.flagged.any():
            parts.append(present[:, np.flatnonzero(coding.flagged)])
        vectors = coding.level_vectors(weights[: len(coding.embedding_shapes)])
        for j, (own, n_levels) in enumerate(zip(vectors, coding.level_counts, strict=True)):
            chances = drawn[:, start : start + n_levels]
            parts.append((chances @ own[:-1]) * present[:, q + j : q + j + 1])
            start += n_levels
        return self._log_odds(torch_library().cat(parts, dim=1), weights, coding)

    def _log_odds(self, inputs: Any, weights: Sequence[Any], coding: NetworkCoding) -> Any:
        left = iter(weights[len(coding.embedding_shapes) :])
        own = [[next(left) for _ in shapes] for shapes in self.discriminator_.parameter_shapes]
        return self.discriminator_.apply(inputs, own)[:, 0]

    def _cell_errors(self, rows: CodedRows, weights: Sequence[Any]) -> tuple[Any, Any]:
        critic = weights[len(self._generator_shapes()) :]
        odds = self._judged(rows, critic, self.coding_)
        return -odds, torch_library().zeros_like(rows.present)

    def _store(self, state: TrainingState, task: Any, held: CodedRows) -> dict[str, Any]:
        del state
        views = [*task.optimizers["generator"].views, *task.optimizers["critic"].views]
        self.weights_ = [view.detach().cpu().double().numpy().copy() for view in views]
        self.report_ = self._reported(held)
        report = self.report_
        return {
            "p_value": report.test.p_value,
            "spread": report.spread,
            "discriminator_accuracy": report.accuracy,
            "collapsed": report.has_collapsed,
        }

    def _reported(self, held: CodedRows) -> GeneratorReport:
        rng, coding = stream(0, "report"), self.coding_
        n = min(_COMPARED, held.n_rows)
        real = indicators(coding, held)[:n]
        numbers, codes, outputs = self._generate(max(n, 2), rng)
        levels = [codes[:, [j]] == np.arange(k) for j, k in enumerate(coding.level_counts)]
        drawn = np.hstack([numbers, *levels]).astype(float)
        spread = _mean_distance(drawn) / (_mean_distance(real) or 1.0)
        width = drawn[:, : coding.n_numeric].std(axis=0) / np.maximum(
            real[:, : coding.n_numeric].std(axis=0), 1e-12
        )
        narrow = int(np.argmin(width)) if width.size else 0
        with torch_library().no_grad():
            weights = self._tensors()[len(self._generator_shapes()) :]
            some = held.take(slice(0, n)).to(*device_of(self.device))
            true = self._judged(some, weights, coding)
            false = self._judged_outputs(outputs[:n], some.present, weights, coding)
        right = 0.5 * (float((true > 0).double().mean()) + float((false < 0).double().mean()))
        name = coding.schema.names[coding.order[narrow]]
        return GeneratorReport(energy_test(drawn, real), spread, name, right)

    def _generate(self, n: int, rng: np.random.Generator) -> tuple[Floats, Any, Any]:
        """Standardized numbers, codes of levels, and the outputs they come from."""
        coding = self.coding_
        with one_torch_thread() as torch, torch.no_grad():
            device, dtype = device_of(self.device)
            drawn = rng.standard_normal((n, self.latent))
            weights = self._tensors()[: len(self._generator_shapes())]
            outputs = self._drawn(torch.tensor(drawn, device=device, dtype=dtype), weights, coding)
        values = outputs.cpu().double().numpy()
        codes, start = np.empty((n, len(coding.level_counts)), np.int64), coding.n_numeric
        for j, n_levels in enumerate(coding.level_counts):
            chances = np.cumsum(values[:, start : start + n_levels], axis=1)
            codes[:, j] = (rng.random((n, 1)) > chances[:, :-1]).sum(axis=1)
            start += n_levels
        return values[:, : coding.n_numeric], codes, outputs

    def _check_state(self) -> None:
        if self.discriminator_.input_shape != self.coding_.input_shape or (
            self.generator_.input_shape != (self.latent,)
            or math.prod(self.generator_.output_shape) != self.coding_.output_width
        ):
            raise InputError("The networks of the model are of other columns.")
        super()._check_state()

    # Answers

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> Any:
        """Rows drawn by the generator, as numbers, or as numbers and levels."""
        check_is_fitted(self, "weights_")
        if n_samples < 1:
            raise InputError(f"n_samples must be at least 1, got {n_samples!r}.")
        rng = stream(self.random_state if random_state is None else random_state)
        numbers, codes, _ = self._generate(int(n_samples), rng)
        return self.coding_.cells(numbers, codes)

    def distance_to(self, X: Any, random_state: RandomSource = 0) -> EnergyTest:
        """Tests drawn rows against given ones, which should not be those of the training."""
        rows = indicators(self.coding_, self._rows(X))
        numbers, codes, _ = self._generate(len(rows), stream(random_state))
        levels = [codes[:, [j]] == np.arange(k) for j, k in enumerate(self.coding_.level_counts)]
        drawn = np.hstack([numbers, *levels]).astype(float)
        return energy_test(drawn, rows, random_state=random_state)


def _mean_distance(rows: Floats) -> float:
    from scipy.spatial.distance import pdist

    return float(pdist(rows).mean()) if len(rows) > 1 else 0.0
