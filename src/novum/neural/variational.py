"""Variational autoencoders: a density of mixed rows, with a bound that is known.

    z ~ N(0, I),   x_j | z ~ N(m_j(z), s_j^2) for numbers,  x_j | z ~ softmax(a_j(z)) for levels

with networks m, a of the code z, and a network q(z | x) = N(mu(x), diag(v(x))) for what is likely
behind a row. For the cells that a row has, log p(x) is at least

    bound(x) = E_q log p(x | z) - KL(q(z | x) || N(0, I)),

which training makes as large as it can, and at least as large as that, on average, is

    log 1/K sum_k p(x | z_k) p(z_k) / q(z_k | x),   z_k ~ q,

so that the difference of both shows how loose the bound is at least. With linear networks the model
is probabilistic PCA, whose likelihood the bound reaches.

References
----------
D. P. Kingma and M. Welling (2014). Auto-encoding variational Bayes. ICLR.
Y. Burda, R. Grosse and R. Salakhutdinov (2016). Importance weighted autoencoders. ICLR.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from novum.core.errors import InputError
from novum.core.learners import count, fitted, parameter, share
from novum.core.runtime import RandomSource, stream
from novum.core.tables import UNSEEN, as_table, cells_of, check_features
from novum.neural.autoencoder import AutoencoderNetwork
from novum.neural.backend import device_of, one_torch_thread, torch_library
from novum.neural.detector import NeuralDetector
from novum.neural.explanation import ExplainedCells
from novum.neural.layers import Dense, Flatten, Shape
from novum.neural.stack import Stack, dense_stack
from novum.neural.table_coding import (
    CodedRows,
    NetworkCoding,
    components_for,
    image_rows,
    indicators,
)
from novum.neural.training import Adam, TrainingState
from novum.neural.traversal import Traversal
from novum.numerics import Floats

_LOG_TWO_PI = math.log(2.0 * math.pi)
# Variances of the noise, in units of the column's, are not less than this.
_LEAST_VARIANCE = 1e-4
# Steps of an optimizer are alike for all weights, and variances have a longer way to go.
_PACE = 5.0
_WARM_UP = 10
# Below this many nats, on average, a dimension of the code says nothing about rows.
_COLLAPSED = 0.01
_PAIRS, _DRAWS, _ROUNDS = 8, 64, 20
# Rows that all draws of are held at once.
_CHUNK = 512


class _Latent:
    """The model's densities for given weights; all that is random comes in as `draws`."""

    def __init__(
        self, network: AutoencoderNetwork, coding: NetworkCoding, weights: Sequence[Any]
    ) -> None:
        self.coding, self._network = coding, network
        self._vectors, self._encoding, self._decoding = network.split(coding, weights[:-1])
        variance = _LEAST_VARIANCE + (_PACE * weights[-1]).exp()
        self.variance = variance.expand(coding.n_numeric)

    def posterior(self, rows: CodedRows) -> tuple[Any, Any]:
        """Means and log variances of the code, each (n, k).

        The encoder has not learned what to make of gaps in columns that were complete in training.
        There it is asked again with what the decoder expects in them, until both agree; any q
        gives a bound, and this one a tighter one. The gaps themselves are not scored.
        """
        if not torch_library().is_grad_enabled():
            known = torch_library().tensor(self.coding.flagged | self.coding.empty)
            gaps = (rows.present == 0) & ~known.to(rows.present.device)
            if bool(gaps.any()):
                for _ in range(_ROUNDS):
                    rows = self._filled(rows, gaps, self.outputs(self._encoded(rows)[0]))
        return self._encoded(rows)

    def _encoded(self, rows: CodedRows) -> tuple[Any, Any]:
        inputs = self.coding.inputs(rows, self._vectors)
        both = self._network.encoder.apply(inputs, self._encoding)
        k = both.shape[1] // 2
        return both[:, :k], both[:, k:].clamp(-14.0, 8.0)

    def _filled(self, rows: CodedRows, gaps: Any, outputs: Any) -> CodedRows:
        torch, q = torch_library(), self.coding.n_numeric
        numbers = torch.where(gaps[:, :q], outputs[:, :q], rows.numbers)
        logs = self.coding.log_probabilities(outputs)
        if not logs:
            return rows._replace(numbers=numbers)
        likeliest = torch.stack([each.argmax(dim=1) for each in logs], dim=1)
        return rows._replace(numbers=numbers, codes=torch.where(gaps[:, q:], likeliest, rows.codes))

    def outputs(self, code: Any) -> Any:
        return self._network.decoder.apply(code, self._decoding).flatten(1)

    def costs(self, outputs: Any, rows: CodedRows) -> Any:
        """Minus the log density of every cell, (n, columns) in units of the table."""
        torch, coding = torch_library(), self.coding
        away = outputs[:, : coding.n_numeric] - rows.numbers
        scale = torch.tensor(np.log(coding.scale), dtype=away.dtype, device=away.device)
        log_variance = self.variance.log() + _LOG_TWO_PI
        costs = 0.5 * (log_variance + away**2 / self.variance) + scale
        if coding.level_counts:
            costs = torch.cat([costs, coding.surprise(outputs, rows)], dim=1)
        return costs * rows.present

    @staticmethod
    def divergence(mean: Any, log_variance: Any) -> Any:
        """KL(q || N(0, I)) of every dimension, (n, k)."""
        return 0.5 * (log_variance.exp() + mean**2 - 1.0 - log_variance)

    def log_weights(self, rows: CodedRows, draws: Any) -> tuple[Any, Any]:
        """log p(x, z) - log q(z | x), (draws, n), and the outputs (draws, n, width)."""
        mean, log_variance = self.posterior(rows)
        torch = torch_library()
        ratios, outputs = [], []
        for draw in draws:
            code = mean + (0.5 * log_variance).exp() * draw
            out = self.outputs(code)
            inner = (draw**2 + log_variance - code**2).expand_as(code)
            ratios.append(0.5 * inner.sum(dim=1) - self.costs(out, rows).sum(dim=1))
            outputs.append(out)
        return torch.stack(ratios), torch.stack(outputs)


class _Bound:
    """Trains the bound to be large."""

    # Of a nat for each cell.
    unit, warm_up = 0.1, _WARM_UP

    def __init__(
        self, model: VariationalAutoencoder, rows: CodedRows, held: CodedRows, root: Any
    ) -> None:
        self._network, self._coding = model.network_, model.coding_
        self._rows, self._held = rows, held
        gain = 2.0 if model.activation in ("relu", "leaky_relu") else 1.0
        start = model.network_.start(model.coding_, stream(root, "weights"), gain)
        like = rows.numbers
        n_variances = 1 if model.noise_variance == "shared" else model.coding_.n_numeric
        self.optimizers = {
            "network": Adam([*start, np.full(n_variances, -0.1)], like.device, like.dtype)
        }
        k = model.network_.decoder.input_shape[0]
        drawn = stream(root, "judge").standard_normal((held.n_rows, k))
        self._judging = torch_library().tensor(drawn, device=like.device, dtype=like.dtype)
        # A constant, so that losses do not depend on units.
        self._offset = float((held.present.cpu().numpy() @ _log_units(model.coding_)).mean())

    def loss(self, rows: CodedRows, draw: Any, share: float = 1.0) -> Any:
        """Minus the bound for each cell, with a share of the divergence."""
        latent = _Latent(self._network, self._coding, self.optimizers["network"].views)
        mean, log_variance = latent.posterior(rows)
        code = mean + (0.5 * log_variance).exp() * draw
        costs = latent.costs(latent.outputs(code), rows).sum()
        bound = costs + share * latent.divergence(mean, log_variance).sum()
        return bound / rows.present.sum().clamp(min=1.0)

    def learn(self, rows: Any, rng: np.random.Generator, rate: float, epoch: int) -> float:
        some, like = self._rows.take(rows), self._judging
        drawn = rng.standard_normal((some.n_rows, like.shape[1]))
        draw = torch_library().tensor(drawn, device=like.device, dtype=like.dtype)
        loss = self.loss(some, draw, min(1.0, epoch / _WARM_UP))
        self.optimizers["network"].step(loss, rate)
        return float(loss.detach())

    def judge(self) -> float:
        with torch_library().no_grad():
            two = [self.loss(self._held, draw) for draw in (self._judging, -self._judging)]
        cells = float(self._held.present.sum()) / max(self._held.n_rows, 1)
        return float(sum(two)) / 2 - self._offset / max(cells, 1.0)

    def locate(self, rows: Any) -> str:
        torch, some = torch_library(), self._rows.take(rows)
        with torch.no_grad():
            latent = _Latent(self._network, self._coding, self.optimizers["network"].views)
            mean, log_variance = latent.posterior(some)
            if not bool((mean + log_variance).isfinite().all()):
                return "the encoder"
            return "the decoder" if not bool(latent.outputs(mean).isfinite().all()) else "the bound"


def _log_units(coding: NetworkCoding) -> Floats:
    """Log of the unit of every column, 0 for levels."""
    return np.concatenate([np.log(coding.scale), np.zeros(len(coding.level_counts))])


class VariationalAutoencoder(NeuralDetector, ExplainedCells):
    """A density of mixed rows by a network; novelty by its bound.

    Parameters
    ----------
    latent : int or float
        Dimensions of the code: a number, or the least that explains this share of the variance,
        as principal components do.
    noise_variance : {"column", "shared"}
        Whether every numeric column has a variance of its own around what is expected.

    Attributes
    ----------
    network_ : AutoencoderNetwork
    weights_ : list of arrays
        The last are logarithms of the noise's variances, over 5.
    noise_variance_ : array (numeric columns,)
        In units of the columns' variances.
    divergences_ : array (latent,)
        Mean divergence of each dimension of the code from its prior, over rows that were not
        trained on.
    collapsed_ : array of int
        Dimensions whose divergence is below 0.01: they say nothing about rows.
    draws_ : array (n_draws, latent)
        Normal draws, the same for all rows, by which the bound is computed.
    offset_, false_alarm_rate_, false_alarm_interval_, usual_errors_, coding_, n_iter_,\
 n_features_in_, feature_names_in_, schema_, certificate_
        As for `AutoencoderDetector`; errors are minus log densities.

    Notes
    -----
    `score_samples` is the bound: a log density of the cells that a row has, in units of the table.
    The certificate has the mean bound of rows that were not trained on beside the one weighted by
    importance, and their difference.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 1)) * [1.0, 2.0] + 0.1 * rng.normal(size=(300, 2))
    >>> model = VariationalAutoencoder(1, hidden=(16,), random_state=0).fit(X)
    >>> model.predict([[1.0, 2.0], [1.0, -2.0]]).tolist()
    [1, -1]
    >>> bool(abs(model.complete([[1.5, np.nan]])[0, 1] - 3.0) < 0.5)
    True
    """

    _loss_name = "minus the bound for each cell of rows that are not trained on"

    latent: Any = parameter(count(1), share("neither"), default=0.9, kw_only=False)
    noise_variance: str = parameter({"column", "shared"}, default="column")
    patience = 5

    network_: AutoencoderNetwork = fitted()
    noise_variance_: Floats = fitted()
    divergences_: Floats = fitted()
    collapsed_: Any = fitted()
    draws_: Floats = fitted()

    def _prepare(self, rows: CodedRows, root: np.random.SeedSequence) -> None:
        coding = self.coding_
        k = self.latent
        if not isinstance(k, (int, np.integer)):
            k = components_for(indicators(coding, rows), float(k))
        k = int(k)
        if self.layers is not None:
            before = self.layers.layers
            if len(self.layers.output_shape) > 1:
                before = (*before, Flatten())
            shape = self.layers.input_shape
            there = Stack(shape, (*before, Dense(2 * k)))
            back = Stack(shape, (*before, Dense(k))).mirrored()
        else:
            (n_inputs,) = coding.input_shape
            hidden = self._widths(auto=(max(64, k),))
            there = dense_stack((n_inputs, *hidden, 2 * k), self.activation)
            back = dense_stack((k, *hidden[::-1], coding.output_width), self.activation)
        self.network_ = AutoencoderNetwork(there, back)
        self.draws_ = _matched_draws(k, stream(root, "draws"))

    def _shapes(self) -> list[Shape]:
        n_variances = 1 if self.noise_variance == "shared" else self.coding_.n_numeric
        return [*self.network_.shapes(self.coding_), (n_variances,)]

    def _task(self, rows: CodedRows, held: CodedRows, root: np.random.SeedSequence) -> Any:
        return _Bound(self, rows, held, root)

    def _store(self, state: TrainingState, task: Any, judged: CodedRows) -> dict[str, Any]:
        super()._store(state, task, judged)
        with torch_library().no_grad():
            latent = self._latent()
            self.noise_variance_ = latent.variance.cpu().double().numpy().copy()
            rows = judged.to(*device_of(self.device))
            each = latent.divergence(*latent.posterior(rows)).mean(dim=0)
        self.divergences_ = each.cpu().double().numpy().copy()
        self.collapsed_ = np.flatnonzero(self.divergences_ < _COLLAPSED)
        both = [
            (ratios.mean(axis=0), _log_mean(ratios))
            for ratios, _ in self._log_weights(judged, _DRAWS, stream(0, "certificate"))
        ]
        plain, weighted = (float(np.concatenate(each).mean()) for each in zip(*both, strict=True))
        return {
            "bound": plain,
            "importance_weighted_bound": weighted,
            "gap_at_least": weighted - plain,
            "latent_dimensions": len(self.divergences_),
            "collapsed_dimensions": self.collapsed_.tolist(),
        }

    def _latent(self) -> _Latent:
        return _Latent(self.network_, self.coding_, self._tensors())

    def _cell_errors(self, rows: CodedRows, weights: Sequence[Any]) -> tuple[Any, Any]:
        torch = torch_library()
        latent = _Latent(self.network_, self.coding_, weights)
        mean, log_variance = latent.posterior(rows)
        draws = torch.tensor(self.draws_, device=mean.device, dtype=mean.dtype)
        costs: Any = 0.0
        for draw in draws:
            code = mean + (0.5 * log_variance).exp() * draw
            costs = costs + latent.costs(latent.outputs(code), rows) / len(draws)
        total = costs.sum(dim=1) + latent.divergence(mean, log_variance).sum(dim=1)
        return total, costs

    def _log_weights(
        self, rows: CodedRows, n_draws: int, rng: np.random.Generator
    ) -> Iterator[tuple[Floats, Floats]]:
        """Log weights (draws, n) and outputs (draws, n, width), for some rows at a time."""
        device, dtype = device_of(self.device)
        for start in range(0, rows.n_rows, _CHUNK):
            some = rows.take(slice(start, start + _CHUNK))
            drawn = rng.standard_normal((n_draws, some.n_rows, self.draws_.shape[1]))
            with one_torch_thread() as torch, torch.no_grad():
                draws = torch.tensor(drawn, device=device, dtype=dtype)
                ratios, outputs = self._latent().log_weights(some.to(device, dtype), draws)
            yield ratios.cpu().double().numpy(), outputs.cpu().double().numpy()

    def _check_state(self) -> None:
        k = np.shape(self.draws_)[-1]
        if self.network_.encoder.input_shape != self.coding_.input_shape or (
            self.network_.encoder.output_shape != (2 * k,)
            or self.network_.decoder.input_shape != (k,)
        ):
            raise InputError("The network of the model is of other columns or another code.")
        super()._check_state()

    # Answers

    def importance_bound(
        self, X: Any, n_draws: int = _DRAWS, random_state: RandomSource = 0
    ) -> Floats:
        """A tighter bound of the log density of every row, by importance weights; (n_rows,)."""
        weights = self._log_weights(self._rows(X), int(n_draws), stream(random_state))
        return np.concatenate([_log_mean(ratios) for ratios, _ in weights])

    def encode(self, X: Any) -> Floats:
        """The mean of the code of every row, (n_rows, latent)."""
        rows = self._rows(X)
        with one_torch_thread() as torch, torch.no_grad():
            mean, _ = self._latent().posterior(rows.to(*device_of(self.device)))
        return np.asarray(mean.cpu().double().numpy())

    def _expected(self, rows: CodedRows) -> tuple[Floats, Any]:
        with one_torch_thread() as torch, torch.no_grad():
            latent = self._latent()
            mean, _ = latent.posterior(rows.to(*device_of(self.device)))
            outputs = latent.outputs(mean)
        return self.coding_.likeliest(outputs)

    def complete(self, X: Any, random_state: RandomSource = 0) -> Any:
        """Rows whose missing cells hold what is expected given the others.

        Numbers are means and levels the likeliest ones, over draws of the code that are weighted by
        importance. Cells that are there stay as they are, and columns of which training knew no
        cell stay missing.
        """
        check_is_fitted(self, "weights_")
        given = as_table(image_rows(X))
        sample = check_features(self, given, allow_missing=True)
        rows, coding = self.coding_.rows(sample), self.coding_
        weights = self._log_weights(rows, _DRAWS, stream(random_state))
        expected = np.concatenate([_expectation(*some, coding) for some in weights])
        codes, start = np.empty_like(rows.codes), coding.n_numeric
        for j, n_levels in enumerate(coding.level_counts):
            best = expected[:, start : start + n_levels].argmax(axis=1)
            # Unlike any level, so that the cell is empty.
            best[:] = n_levels if coding.empty[coding.n_numeric + j] else best
            codes[:, j] = np.where(sample.codes[:, j] >= 0, sample.codes[:, j], best)
            start += n_levels
        table = coding.cells(expected[:, : coding.n_numeric], codes)
        for j, place in enumerate(coding.schema.numeric):
            is_there = ~np.isnan(sample.numeric[:, j])
            if coding.empty[j]:
                table[:, place] = np.nan
            table[is_there, place] = np.asarray(sample.numeric)[is_there, j]
        for j, place in enumerate(coding.schema.categorical):
            unseen = np.flatnonzero(sample.codes[:, j] == UNSEEN)
            table[unseen, place] = cells_of(given, int(place), unseen)
        return table

    def sample(self, n_samples: int = 1, random_state: RandomSource = None) -> Any:
        """Rows drawn from the model, as numbers, or as numbers and levels."""
        check_is_fitted(self, "weights_")
        if n_samples < 1:
            raise InputError(f"n_samples must be at least 1, got {n_samples!r}.")
        rng = stream(self.random_state if random_state is None else random_state)
        coding, k = self.coding_, self.draws_.shape[1]
        with one_torch_thread() as torch, torch.no_grad():
            device, dtype = device_of(self.device)
            code = torch.tensor(
                rng.standard_normal((int(n_samples), k)), device=device, dtype=dtype
            )
            latent = self._latent()
            outputs = latent.outputs(code)
            logs = [each.cpu().numpy() for each in coding.log_probabilities(outputs)]
            numbers = outputs[:, : coding.n_numeric].cpu().double().numpy()
        numbers = numbers + np.sqrt(self.noise_variance_) * rng.standard_normal(numbers.shape)
        codes = np.empty((len(numbers), len(logs)), np.int64)
        for j, each in enumerate(logs):
            # The largest of log chances with Gumbel noise is a draw.
            codes[:, j] = (each + rng.gumbel(size=each.shape)).argmax(axis=1)
        return coding.cells(numbers, codes)

    def traverse(self, dimension: int, steps: int = 9, reach: float = 3.0) -> Traversal:
        """What is expected as one dimension of the code goes from `-reach` to `reach`.

        The other dimensions are 0. The result has a chart, and for images a picture.
        """
        check_is_fitted(self, "weights_")
        coding, k = self.coding_, self.draws_.shape[1]
        if not 0 <= dimension < k or steps < 2:
            raise InputError(
                f"dimension is 0 to {k - 1} and steps at least 2, got {dimension} and {steps}."
            )
        positions = np.linspace(-reach, reach, steps)
        code = np.zeros((steps, k))
        code[:, dimension] = positions
        with one_torch_thread() as torch, torch.no_grad():
            device, dtype = device_of(self.device)
            outputs = self._latent().outputs(torch.tensor(code, device=device, dtype=dtype))
            chances = [
                np.exp(each.cpu().double().numpy()) for each in coding.log_probabilities(outputs)
            ]
            numbers, codes = coding.likeliest(outputs)
        return Traversal(
            dimension, positions, coding.cells(numbers, codes), numbers, tuple(chances),
            coding.schema, coding.image_shape,
        )  # fmt: skip


def _matched_draws(k: int, rng: np.random.Generator) -> Floats:
    """Draws with means 0 and variances 1, and where they are enough also without correlations.

    The bound of a linear network is then exact.
    """
    pairs = min(max(_PAIRS, k), 2 * _PAIRS)
    half = rng.standard_normal((pairs, k))
    half = np.linalg.qr(half)[0] if k <= pairs else half / np.sqrt((half**2).sum(axis=0))
    half = half * math.sqrt(pairs)
    return np.concatenate([half, -half])


def _expectation(ratios: Floats, outputs: Floats, coding: NetworkCoding) -> Floats:
    """Numbers and chances of levels, (n, width), over draws weighted by importance."""
    weights = np.exp(ratios - ratios.max(axis=0))
    weights /= weights.sum(axis=0)
    start = coding.n_numeric
    for n_levels in coding.level_counts:
        scores = outputs[:, :, start : start + n_levels]
        scores[:] = np.exp(scores - scores.max(axis=2, keepdims=True))
        scores /= scores.sum(axis=2, keepdims=True)
        start += n_levels
    return np.asarray(np.einsum("sn,snw->nw", weights, outputs))


def _log_mean(ratios: Floats) -> Floats:
    """log of the mean of exp over the first axis."""
    top = ratios.max(axis=0)
    return np.asarray(top + np.log(np.exp(ratios - top).mean(axis=0)))
