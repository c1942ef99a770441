"""Hidden Markov models of 5 states: smoothing a long sequence, ten steps of learning."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from benchmarks.clock import Clock
from benchmarks.peers import Make, Peer
from benchmarks.recipes import Data, Recipe, rows
from benchmarks.registry import Figures, Quality, workload

STEPS = 10


def sequence(n: int, states: int, symbols: int, seed: int = 0) -> Data:
    """A walk of the hidden states, the symbols it shows, and a start to learn from."""
    rng = np.random.default_rng(seed)
    transition = 0.7 * np.eye(states) + 0.3 * rng.dirichlet(np.ones(states), states)
    table = rng.dirichlet(np.full(symbols, 0.5), states)
    hidden = np.zeros(n, int)
    for t in range(1, n):
        hidden[t] = rng.choice(states, p=transition[hidden[t - 1]])
    seen = (rng.random(n)[:, None] > np.cumsum(table, axis=1)[hidden]).sum(axis=1)
    start = (
        np.full(states, 1 / states),
        rng.dirichlet(np.full(states, 5.0), states),
        rng.dirichlet(np.full(symbols, 5.0), states),
    )
    return Data(X=np.minimum(seen, symbols - 1), start=start, symbols=symbols)


def smoothing(make: Make, data: Data, clock: Clock) -> Figures:
    model = make(data)
    with clock("smoothing"):
        found = model.smooth(data.X)
    return {"_smoothed": np.asarray(found)}


def learning(make: Make, data: Data, clock: Clock) -> Figures:
    model = make(data)
    with warnings.catch_warnings(), clock("learning"):
        warnings.simplefilter("ignore")
        value = model.learn(data.X)
    return {"log_likelihood": float(value)}


class Novum:
    def __init__(self, data: Data) -> None:
        from novum.graphical import HiddenMarkovModel

        self.model = HiddenMarkovModel.of(*data.start)

    def smooth(self, X: Any) -> Any:
        return self.model.smoothed(X)

    def learn(self, X: Any) -> float:
        found = self.model.fit(X, max_iter=STEPS, tol=0.0, accelerate=False)
        return found.log_likelihood(X)


class HmmLearn:
    def __init__(self, data: Data) -> None:
        from hmmlearn.hmm import CategoricalHMM

        initial, transition, emission = data.start
        self.model = CategoricalHMM(
            len(initial), n_iter=STEPS, tol=-np.inf, init_params="", n_features=data.symbols
        )
        self.model.startprob_ = initial
        self.model.transmat_ = transition
        self.model.emissionprob_ = emission

    def smooth(self, X: Any) -> Any:
        return self.model.predict_proba(X[:, np.newaxis])

    def learn(self, X: Any) -> float:
        return float(self.model.fit(X[:, np.newaxis]).score(X[:, np.newaxis]))


for _name, _protocol, _quality in (
    ("smoothing", smoothing, None),
    ("learning", learning, Quality("log_likelihood", tolerance=1e-6)),
):
    workload(
        f"graphical.models.hidden_markov.{_name}",
        Recipe(sequence, rows(100_000), 5, 12),
        _protocol,
        [Peer("hmmlearn", HmmLearn)],
        novum=Peer("novum", Novum, ours=True),
        target=3.0,
        note=f"100k steps, 5 states, 12 symbols{'' if _quality is None else f', {STEPS} steps'}",
        **({} if _quality is None else {"quality": _quality}),
    )
