"""Generative adversarial networks: one network draws rows, another tells them from real ones.

The generator G makes rows of normal draws z, the discriminator D says how likely a row is real:

    min over G, max over D   E log D(x) + E log(1 - D(G(z)))

A generator that is told apart easily has no gradient in the second term; the non-saturating
objective lets it maximize E log D(G(z)) instead, with the same point of rest. There D is 1/2
everywhere and G draws from the law of the rows.

Played as it stands the game circles around that point. Three known remedies make it settle: the
discriminator pays for its slope at real rows, half the mean of |gradient of its log-odds|^2 times
0.1; its steps are twice as long as the generator's; and the generator that is kept has the running
mean of the weights of its last steps, about 500.

Nothing in the two losses says how good the rows are. What does is the energy distance between drawn
and real rows: it chooses the epoch that is kept, and a test by permutations with rows that neither
the weights nor this choice have seen says whether chance explains it.

Rows with gaps are compared as what they are, the cells that are there and which these are: a cell
that is missing counts as the mean of its column, and that it is missing as one more column of 0 and
1. Drawn rows have no gaps of their own, and get those of real rows in another order. Where cells
are missing at random the two laws are then equal if the generator's is right; where it depends on
the values that a cell is missing, no generator of whole rows can pass.

References
----------
I. Goodfellow et al. (2014). Generative adversarial nets. NeurIPS 27.
M. Heusel et al. (2017). GANs trained by a two time-scale update rule converge to a local Nash
equilibrium. NeurIPS 30.
L. Mescheder, A. Geiger, S. Nowozin (2018). Which training methods for GANs do actually converge?
ICML.
Y. Yazici et al. (2019). The unusual effectiveness of averaging in GAN training. ICLR.
S. Li, B. Jiang, B. Marlin (2019). MisGAN: learning from incomplete data with generative adversarial
networks. ICLR.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
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

# Of the running mean of the generator's weights, and the price of the discriminator's slope.
_MEMORY, _SLOPE = 0.998, 0.1
# Steps, for each epoch of patience, before anything is concluded from a distance.
_STEPS = 25
# Drawn and real rows that a distance is computed of.
_DRAWN, _REAL = 512, 1024
# Ratios from which on somebody has won or collapsed.
_WINS, _SPREAD = 0.95, 0.5


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

    unit = 0.0

    def __init__(
        self, model: GenerativeAdversarialNetwork, rows: CodedRows, held: CodedRows, root: Any
    ) -> None:
        torch, like = torch_library(), rows.numbers
        self._model, self._rows, self._coding = model, rows, model.coding_
        n_batches = math.ceil(rows.n_rows / model.batch_size)
        self.warm_up = math.ceil(_STEPS * model.patience / n_batches)
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
        rng = stream(root, "judge")
        # Each code has one draw in every 512th of its law, so that they stand for more draws.
        strata = rng.permuted(np.tile(np.arange(_DRAWN), (model.latent, 1)), axis=1).T
        drawn = ndtri((strata + rng.random(strata.shape)) / _DRAWN)
        self._codes = torch.tensor(drawn, device=like.device, dtype=like.dtype)
        self._chances = rng.random((_DRAWN, len(model.coding_.level_counts)))
        both = [np.concatenate(parts) for parts in zip(_arrays(rows), _arrays(held), strict=True)]
        some = rng.permutation(len(both[0]))[:_REAL]
        real = CodedRows(*(part[some] for part in both))
        self._gaps = real.present[rng.integers(0, real.n_rows, _DRAWN)]
        self._real = _compared_rows(self._coding, real)
        self._within = _mean_distance(self._real, self._real)

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
        self._critic.step(loss + 0.5 * _SLOPE * self._squared_slope(real), rate)
        drawn = self._model._drawn(codes(), generator, coding)
        false = self._model._judged_outputs(drawn, real.present, critic, coding)
        own = -softplus(false).mean() if self._saturates else softplus(-false).mean()
        self._generator.step(own, rate / 2)
        with torch.no_grad():
            self._mean.steps += 1
            pace = min(_MEMORY, self._mean.steps / (self._mean.steps + 10.0))
            self._mean.weights.mul_(pace).add_(self._generator.weights, alpha=1 - pace)
        return float(loss.detach()) + float(own.detach())

    def _squared_slope(self, rows: CodedRows) -> Any:
        """Mean over rows of the squared gradient of the log-odds by what enters."""
        torch, critic = torch_library(), self._critic.views
        vectors = critic[: len(self._coding.embedding_shapes)]
        inputs = self._coding.inputs(rows, vectors).detach().requires_grad_()
        odds = self._model._log_odds(inputs, critic, self._coding)
        (slope,) = torch.autograd.grad(odds.sum(), inputs, create_graph=True)
        return (slope**2).flatten(1).sum(dim=1).mean()

    def judge(self) -> float:
        """The energy distance of drawn and real rows, drawn by the same codes in every epoch."""
        with torch_library().no_grad():
            outputs = self._model._drawn(self._codes, self._mean.views, self._coding)
        values = outputs.cpu().double().numpy()
        if not np.isfinite(values).all():
            return math.nan
        drawn = _compared_rows(
            self._coding, _drawn_rows(self._coding, values, self._chances, self._gaps)
        )
        own = _mean_distance(drawn, drawn)
        return 2 * _mean_distance(drawn, self._real) - own - self._within

    def locate(self, rows: Any) -> str:
        del rows
        finite = [bool(p.weights.isfinite().all()) for p in (self._generator, self._critic)]
        return "the generator" if not finite[0] else "the discriminator"


def _arrays(rows: CodedRows) -> list[Any]:
    return [part.cpu().numpy() for part in rows]


def _drawn_rows(coding: NetworkCoding, values: Floats, chances: Floats, gaps: Floats) -> CodedRows:
    """Rows of the generator's outputs, levels by uniform draws, with gaps where they are given."""
    codes, start = np.empty(chances.shape, np.int64), coding.n_numeric
    for j, n_levels in enumerate(coding.level_counts):
        heights = np.cumsum(values[:, start : start + n_levels], axis=1)
        codes[:, j] = (chances[:, [j]] > heights[:, :-1]).sum(axis=1)
        start += n_levels
    numbers = values[:, : coding.n_numeric]
    return CodedRows(numbers, gaps, codes, np.zeros(codes.shape))


def _compared_rows(coding: NetworkCoding, rows: CodedRows) -> Floats:
    """What a distance sees of rows: their cells, 0 where missing, and which of them are there."""
    q = coding.n_numeric
    levels = indicators(coding, rows)[:, q:]
    there = np.repeat(rows.present[:, q:], coding.level_counts, axis=1)
    return np.hstack([rows.numbers * rows.present[:, :q], levels * there, rows.present])


def _mean_distance(x: Floats, y: Floats) -> float:
    from scipy.spatial.distance import cdist

    return float(cdist(x, y).mean())


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
        Distance to rows that took no part, with its test; collapse and balance, in a sentence.
    offset_, false_alarm_rate_, false_alarm_interval_, coding_, n_iter_, n_features_in_,\
 feature_names_in_, schema_, certificate_
        As for `AutoencoderDetector`.

    Notes
    -----
    Scores are log-odds of being real. A discriminator learns where drawn rows are, so that far from
    both it may say anything; autoencoders are the steadier detectors. Drawn rows get the missing
    cells of real ones before they are judged, by the discriminator and by distances.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(3.0, 2.0, size=(400, 1))
    >>> model = GenerativeAdversarialNetwork(1, hidden=(8,), random_state=0).fit(X)
    >>> drawn = model.sample(1000)
    >>> bool(abs(drawn.mean() - 3.0) < 0.5)
    True
    """

    _loss_name = "energy distance of drawn rows to real ones"
    activation = "leaky_relu"
    batch_size = 256
    learning_rate = 1e-3
    max_iter = 1000
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

    def _store(self, state: TrainingState, task: Any, judged: CodedRows) -> dict[str, Any]:
        del state
        views = [*task.optimizers["generator"].views, *task.optimizers["critic"].views]
        self.weights_ = [view.detach().cpu().double().numpy().copy() for view in views]
        self.report_ = self._reported(judged)
        report = self.report_
        return {
            "p_value": report.test.p_value,
            "spread": report.spread,
            "discriminator_accuracy": report.accuracy,
            "collapsed": report.has_collapsed,
        }

    def _reported(self, rows: CodedRows) -> GeneratorReport:
        coding = self.coding_
        real = rows.take(slice(0, _DRAWN))
        drawn, outputs = self._drawn_like(real, stream(0, "report"))
        x, y = _compared_rows(coding, drawn), _compared_rows(coding, real)
        spread = _mean_distance(x, x) / (_mean_distance(y, y) or 1.0)
        # Both with the same gaps, and so with the same number of cells in every column.
        width = _deviations(drawn) / np.maximum(_deviations(real), 1e-12)
        narrow = int(np.argmin(width)) if width.size else 0
        with torch_library().no_grad():
            weights = self._tensors()[len(self._generator_shapes()) :]
            some = real.to(*device_of(self.device))
            true = self._judged(some, weights, coding)
            false = self._judged_outputs(outputs, some.present, weights, coding)
        right = 0.5 * (float((true > 0).double().mean()) + float((false < 0).double().mean()))
        name = coding.schema.names[coding.order[narrow]]
        return GeneratorReport(energy_test(x, y), spread, name, right)

    def _drawn_like(self, rows: CodedRows, rng: np.random.Generator) -> tuple[CodedRows, Any]:
        """As many rows as are given, with their gaps in another order; and the outputs."""
        gaps = rows.present[rng.permutation(rows.n_rows)]
        return self._generate(rows.n_rows, rng, gaps)

    def _generate(
        self, n: int, rng: np.random.Generator, gaps: Floats | None = None
    ) -> tuple[CodedRows, Any]:
        """Drawn rows, and the outputs of the generator that they come from."""
        coding = self.coding_
        with one_torch_thread() as torch, torch.no_grad():
            device, dtype = device_of(self.device)
            drawn = rng.standard_normal((n, self.latent))
            weights = self._tensors()[: len(self._generator_shapes())]
            outputs = self._drawn(torch.tensor(drawn, device=device, dtype=dtype), weights, coding)
        chances = rng.random((n, len(coding.level_counts)))
        there = np.ones((n, len(coding.order))) if gaps is None else gaps
        return _drawn_rows(coding, outputs.cpu().double().numpy(), chances, there), outputs

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
        rows, _ = self._generate(int(n_samples), rng)
        return self.coding_.cells(rows.numbers, rows.codes)

    def distance_to(self, X: Any, random_state: RandomSource = 0) -> EnergyTest:
        """Tests drawn rows against given ones, which should not be those of the training.

        Gaps of the given rows are those of the drawn ones too, in another order; that makes the
        test a little slow to reject.
        """
        rows = self._rows(X)
        drawn, _ = self._drawn_like(rows, stream(random_state))
        x, y = (_compared_rows(self.coding_, part) for part in (drawn, rows))
        return energy_test(x, y, random_state=random_state)


def _deviations(rows: CodedRows) -> Floats:
    """Standard deviation of every numeric column, over the cells that are there."""
    q = rows.numbers.shape[1]
    there = rows.present[:, :q]
    count = np.maximum(there.sum(axis=0), 1.0)
    mean = (rows.numbers * there).sum(axis=0) / count
    return np.asarray(np.sqrt((((rows.numbers - mean) * there) ** 2).sum(axis=0) / count))
