"""Autoencoders: what a narrow network cannot say back is unlike what it was trained on.

    code = encoder(x),   x' = decoder(code),   error(x) = mean over present cells of e_j(x_j, x'_j)

with the squared error of standardized numbers and the cross-entropy of levels. A row is novel whose
error is beyond the line; the cells with the largest errors are why, and x' is what was expected in
their place. With linear layers and one code the best error is that of principal components.

References
----------
G. E. Hinton and R. R. Salakhutdinov (2006). Reducing the dimensionality of data with neural
networks. Science 313, 504-507.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from novum.core.errors import InputError
from novum.core.learners import count, fitted, parameter, share
from novum.core.runtime import stream
from novum.neural.backend import device_of, one_torch_thread, torch_library
from novum.neural.detector import NeuralDetector
from novum.neural.explanation import ExplainedCells
from novum.neural.layers import Dense, Flatten, Shape
from novum.neural.stack import Stack, dense_stack
from novum.neural.table_coding import CodedRows, NetworkCoding, components_for, indicators
from novum.neural.training import Adam, start_values
from novum.numerics import Floats


@dataclass(frozen=True)
class AutoencoderNetwork:
    """Encoder and decoder of a table, and how weights enter them.

    Attributes
    ----------
    encoder, decoder : Stack
    tied : bool
        Whether the decoder's weights are the encoder's, transposed.
    """

    encoder: Stack
    decoder: Stack
    tied: bool = False

    def shapes(self, coding: NetworkCoding) -> list[Shape]:
        """Of vectors of levels, weights and biases of the encoder, and of the decoder."""
        own = [shape for shapes in self.encoder.parameter_shapes for shape in shapes]
        back = [s for shapes in self.decoder.parameter_shapes for s in shapes]
        if self.tied:
            back = [shape for shape in back if len(shape) == 1]
            levels = sum(coding.level_counts)
            if levels:
                back.append((levels, self.decoder.shapes[-2][0]))
        return [*coding.embedding_shapes, *own, *back]

    def start(self, coding: NetworkCoding, rng: np.random.Generator, gain: float) -> list[Floats]:
        return [
            value for shape in self.shapes(coding) for value in start_values([shape], rng, gain)
        ]

    def split(self, coding: NetworkCoding, weights: Sequence[Any]) -> tuple[Any, Any, Any]:
        """Vectors of levels, and the parameters of each layer of encoder and decoder."""
        left = iter(weights)
        vectors = [next(left) for _ in coding.embedding_shapes]
        encoding = [[next(left) for _ in shapes] for shapes in self.encoder.parameter_shapes]
        if not self.tied:
            return (
                vectors,
                encoding,
                [[next(left) for _ in s] for s in self.decoder.parameter_shapes],
            )
        transposed = iter([own[0] for own in encoding[::-1] if own])
        decoding: list[list[Any]] = []
        for layer, shapes in zip(self.decoder.layers, self.decoder.parameter_shapes, strict=True):
            own = [next(transposed)] if shapes else []
            if own and isinstance(layer, Dense):
                own = [own[0].T]
            decoding.append([*own, *(next(left) for shape in shapes if len(shape) == 1)])
        if not coding.image_shape:
            # Inputs that say what is there have no outputs, and levels have outputs of their own.
            first = decoding[-1][0][: coding.n_numeric]
            decoding[-1][0] = torch_library().cat([first, *left])
        return vectors, encoding, decoding

    def code(self, coding: NetworkCoding, weights: Sequence[Any], rows: CodedRows) -> Any:
        vectors, encoding, _ = self.split(coding, weights)
        return self.encoder.apply(coding.inputs(rows, vectors), encoding)

    def outputs(self, coding: NetworkCoding, weights: Sequence[Any], rows: CodedRows) -> Any:
        vectors, encoding, decoding = self.split(coding, weights)
        code = self.encoder.apply(coding.inputs(rows, vectors), encoding)
        return self.decoder.apply(code, decoding).flatten(1)


class _Reconstruction:
    """Trains a network to say its inputs back."""

    unit, warm_up = 0.0, 0

    def __init__(
        self, model: AutoencoderDetector, rows: CodedRows, held: CodedRows, start: list[Floats]
    ) -> None:
        self._coding, self._network = model.coding_, model.network_
        self._rows, self._held, self._noise = rows, held, model._noise()
        self.optimizers = {"network": Adam(start, rows.numbers.device, rows.numbers.dtype)}

    def loss(self, rows: CodedRows, given: CodedRows | None = None) -> Any:
        """Mean error over the cells that are present, of what is said back for what is given."""
        weights = self.optimizers["network"].views
        outputs = self._network.outputs(self._coding, weights, given or rows)
        return self._coding.errors(outputs, rows).sum() / rows.present.sum().clamp(min=1.0)

    def learn(self, rows: Any, rng: np.random.Generator, rate: float, epoch: int) -> float:
        del epoch
        some = self._rows.take(rows)
        loss = self.loss(some, self._disturbed(some, rng))
        self.optimizers["network"].step(loss, rate)
        return float(loss.detach())

    def _disturbed(self, rows: CodedRows, rng: np.random.Generator) -> CodedRows | None:
        """The rows with noise in their numbers, and some of their levels gone."""
        if self._noise == 0:
            return None
        torch, like = torch_library(), rows.numbers
        q = like.shape[1]
        shakes = torch.tensor(rng.standard_normal(tuple(like.shape)), device=like.device)
        numbers = like + self._noise * shakes.to(like.dtype) * rows.present[:, :q]
        codes = rows.codes
        if codes.shape[1]:
            lost = rng.random(tuple(codes.shape)) < self._noise**2 / (1 + self._noise**2)
            none = torch.tensor(self._coding.level_counts, device=like.device)
            codes = torch.where(torch.tensor(lost, device=like.device), none, codes)
        return rows._replace(numbers=numbers, codes=codes)

    def judge(self) -> float:
        with torch_library().no_grad():
            return float(self.loss(self._held))

    def locate(self, rows: Any) -> str:
        torch, weights = torch_library(), self.optimizers["network"].views
        some = self._rows.take(rows)
        with torch.no_grad():
            vectors, encoding, decoding = self._network.split(self._coding, weights)
            x = self._coding.inputs(some, vectors)
            for name, stack, own in (
                ("encoder", self._network.encoder, encoding),
                ("decoder", self._network.decoder, decoding),
            ):
                for at, (layer, params) in enumerate(zip(stack.layers, own, strict=True), start=1):
                    x = layer.apply(x, params)
                    if not bool(torch.isfinite(x).all()):
                        return f"layer {at} of the {name}, {layer}"
        return "the error of the cells or its gradient"


class AutoencoderDetector(NeuralDetector, ExplainedCells):
    """Novelty by what an autoencoder cannot say back.

    Parameters
    ----------
    bottleneck : int or float
        Width of the code: a number of columns, or the least that explains this share of the
        variance, as principal components do. With `layers` that end in a flat code, those.
    tied : bool
        Whether the way back has the transposed weights of the way there.
    noise : float or "auto"
        Standard deviation s, in units of the columns', of noise on what is given in training, where
        what is asked for is the row without it; levels are lost with the share s^2 / (1 + s^2). A
        network that has to mend rows cannot just pass them through. "auto" is the width of the
        code over that of what is said back: a narrow code needs none. 0 is the plain autoencoder.

    Attributes
    ----------
    network_ : AutoencoderNetwork
    weights_ : list of arrays
    offset_ : float
        `decision_function = score_samples - offset_`.
    false_alarm_rate_ : float
        Share beyond the line of rows that neither weights nor line have seen.
    false_alarm_interval_ : list of two floats
        Holds the rate for new ordinary rows with 95 % confidence.
    usual_errors_ : array (n_columns,)
        Mean error of every column over rows that were not trained on; numeric columns first.
    coding_, n_iter_, n_features_in_, feature_names_in_, schema_, certificate_

    Notes
    -----
    One epoch takes O(n w), w the number of weights. Rows whose cells are all missing have the
    error 0. Constant columns are judged in units of their value.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> angle = rng.uniform(0, 6.28, 400)
    >>> X = np.c_[np.cos(angle), np.sin(angle), np.cos(angle) + np.sin(angle)]
    >>> model = AutoencoderDetector(bottleneck=2, random_state=0).fit(X)
    >>> model.predict([[1.0, 0.0, 1.0], [1.0, 0.0, -1.0]]).tolist()
    [1, -1]
    """

    _loss_name = "mean error of the cells of rows that are not trained on"

    bottleneck: Any = parameter(count(1), share("neither"), default=0.9, kw_only=False)
    tied: bool = parameter(default=False)
    noise: float | str = parameter({"auto"}, default="auto", at_least=0)

    network_: AutoencoderNetwork = fitted()

    def _prepare(self, rows: CodedRows, root: np.random.SeedSequence) -> None:
        del root
        self.network_ = self._network(self.coding_, rows)

    def _network(self, coding: NetworkCoding, rows: CodedRows) -> AutoencoderNetwork:
        if self.layers is not None:
            encoder = self.layers
            if len(encoder.output_shape) > 1:
                width = self._width(coding, rows)
                encoder = Stack(encoder.input_shape, (*encoder.layers, Flatten(), Dense(width)))
            return AutoencoderNetwork(encoder, encoder.mirrored(), self.tied)
        width = self._width(coding, rows)
        (n_inputs,) = coding.input_shape
        hidden = self._widths(auto=(max(64, width),))
        there = dense_stack((n_inputs, *hidden, width), self.activation)
        back = dense_stack((width, *hidden[::-1], coding.output_width), self.activation)
        return AutoencoderNetwork(there, back, self.tied)

    def _width(self, coding: NetworkCoding, rows: CodedRows) -> int:
        if isinstance(self.bottleneck, (int, np.integer)):
            return int(self.bottleneck)
        return components_for(indicators(coding, rows), self.bottleneck)

    def _noise(self) -> float:
        if not isinstance(self.noise, str):
            return float(self.noise)
        width = math.prod(self.network_.encoder.output_shape)
        return min(1.0, width / self.coding_.output_width)

    def _shapes(self) -> list[Shape]:
        return self.network_.shapes(self.coding_)

    def _task(self, rows: CodedRows, held: CodedRows, root: np.random.SeedSequence) -> Any:
        gain = 2.0 if self.activation in ("relu", "leaky_relu") else 1.0
        start = self.network_.start(self.coding_, stream(root, "weights"), gain)
        return _Reconstruction(self, rows, held, start)

    def _cell_errors(self, rows: CodedRows, weights: Sequence[Any]) -> tuple[Any, Any]:
        cells = self.coding_.errors(self.network_.outputs(self.coding_, weights, rows), rows)
        return cells.sum(dim=1) / rows.present.sum(dim=1).clamp(min=1.0), cells

    def _check_state(self) -> None:
        if self.network_.encoder.input_shape != self.coding_.input_shape:
            raise InputError("The network of the model is of other columns.")
        super()._check_state()

    # Answers

    def encode(self, X: Any) -> Floats:
        """The code of every row, (n_rows, width)."""
        rows = self._rows(X)
        with one_torch_thread() as torch, torch.no_grad():
            code = self.network_.code(
                self.coding_, self._tensors(), rows.to(*device_of(self.device))
            )
        return np.asarray(code.flatten(1).cpu().double().numpy())

    def _expected(self, rows: CodedRows) -> tuple[Floats, Any]:
        with one_torch_thread() as torch, torch.no_grad():
            some = rows.to(*device_of(self.device))
            outputs = self.network_.outputs(self.coding_, self._tensors(), some)
        return self.coding_.likeliest(outputs)
