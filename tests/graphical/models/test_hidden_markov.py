"""Hidden Markov models against the enumeration of all paths, and what they refuse."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp
from scipy.stats import multivariate_normal, norm

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.graphical import HiddenMarkovModel, Normals, Symbols


def random_model(seed: int, n: int, kind: str) -> HiddenMarkovModel:
    rng = np.random.default_rng(seed)
    transition = rng.dirichlet(np.ones(n), n)
    if kind == "sparse":
        transition[0] = np.eye(n)[n - 1]
    if kind == "normal":
        roots = rng.normal(size=(n, 2, 2))
        covariances = roots @ roots.transpose(0, 2, 1) + 0.2 * np.eye(2)
        emission: Any = Normals(3 * rng.normal(size=(n, 2)), covariances)
    else:
        emission = Symbols(rng.dirichlet(np.ones(3), n), ("a", "b", "c"))
    return HiddenMarkovModel.of(rng.dirichlet(np.ones(n)), transition, emission)


def random_sequence(seed: int, steps: int, kind: str) -> Any:
    rng = np.random.default_rng(seed + 1000)
    if kind == "normal":
        rows = 3 * rng.normal(size=(steps, 2))
        rows[rng.random((steps, 2)) < 0.25] = np.nan
        return rows
    return [None if rng.random() < 0.2 else str(rng.choice(list("abc"))) for _ in range(steps)]


def shown(model: HiddenMarkovModel, state: int, cell: Any) -> float:
    """P(observation | state) by definition; a missing one has probability 1."""
    if isinstance(model.emission, Symbols):
        if cell is None:
            return 1.0
        return float(model.emission.table[state, model.emission.symbols.index(cell)])
    seen = ~np.isnan(cell)
    if not seen.any():
        return 1.0
    covariance = model.emission.covariances[state][np.ix_(seen, seen)]
    return float(multivariate_normal(model.emission.means[state][seen], covariance).pdf(cell[seen]))


def all_paths(model: HiddenMarkovModel, sequence: Any) -> dict[tuple[int, ...], float]:
    n = len(model.states)
    joint = {}
    for path in product(range(n), repeat=len(sequence)):
        p = model.initial[path[0]]
        for t, state in enumerate(path):
            p *= shown(model, state, sequence[t])
            if t:
                p *= model.transition[path[t - 1], state]
        joint[path] = float(p)
    return joint


KINDS = ["symbols", "sparse", "normal"]


@given(st.integers(0, 10**6), st.integers(1, 3), st.integers(1, 5), st.sampled_from(KINDS))
def test_answers_are_those_of_all_paths(seed: int, n: int, steps: int, kind: str) -> None:
    model, sequence = random_model(seed, n, kind), random_sequence(seed, steps, kind)
    joint = all_paths(model, sequence)
    total = sum(joint.values())
    assert model.log_likelihood([sequence]) == pytest.approx(np.log(total), rel=1e-10)
    expected = np.zeros((steps, n))
    for path, p in joint.items():
        expected[np.arange(steps), path] += p / total
    np.testing.assert_allclose(model.smoothed(sequence), expected, atol=1e-12)
    for t in range(steps):
        before = all_paths(model, sequence[: t + 1])
        last = np.zeros(n)
        for path, p in before.items():
            last[path[-1]] += p
        np.testing.assert_allclose(model.filtered(sequence)[t], last / last.sum(), atol=1e-12)
    best = model.most_probable(sequence)
    assert best.log_probability == pytest.approx(np.log(max(joint.values())), rel=1e-10)
    assert joint[tuple(best.states)] == pytest.approx(max(joint.values()), rel=1e-9)
    ahead = model.forecast(sequence, 2)
    now = model.filtered(sequence)[-1]
    np.testing.assert_allclose(ahead.states[1], now @ model.transition @ model.transition)


@given(st.integers(0, 10**6), st.sampled_from(KINDS))
def test_a_step_of_learning_is_that_of_all_paths(seed: int, kind: str) -> None:
    model = random_model(seed, 2, kind)
    sequences = [random_sequence(seed, 4, kind), random_sequence(seed + 1, 3, kind)]
    with pytest.warns(UserWarning, match="stopped early"):
        found = model.fit(sequences, max_iter=1, accelerate=False, tol=0.0)
    initial, pairs = np.zeros(2), np.zeros((2, 2))
    weights = [np.zeros((len(s), 2)) for s in sequences]
    for sequence, weight in zip(sequences, weights, strict=True):
        joint = all_paths(model, sequence)
        total = sum(joint.values())
        for path, p in joint.items():
            initial[path[0]] += p / total
            weight[np.arange(len(path)), path] += p / total
            for one, other in pairwise(path):
                pairs[one, other] += p / total
    np.testing.assert_allclose(found.initial, initial / 2, atol=1e-12)
    rows = np.divide(
        pairs, pairs.sum(axis=1, keepdims=True), out=model.transition.copy(),
        where=pairs.sum(axis=1, keepdims=True) > 0,
    )  # fmt: skip
    np.testing.assert_allclose(found.transition, rows, atol=1e-10)
    if kind == "normal":
        return
    counts = np.zeros((2, 3))
    for sequence, weight in zip(sequences, weights, strict=True):
        for cell, w in zip(sequence, weight, strict=True):
            if cell is not None:
                counts[:, "abc".index(cell)] += w
    table = np.divide(
        counts, counts.sum(axis=1, keepdims=True), out=model.emission.table.copy(),
        where=counts.sum(axis=1, keepdims=True) > 0,
    )  # fmt: skip
    np.testing.assert_allclose(found.emission.table, table, atol=1e-10)


def test_normal_laws_are_learned_from_weighted_rows() -> None:
    model, rows = random_model(3, 2, "normal"), 3 * np.random.default_rng(0).normal(size=(40, 2))
    weight = model.smoothed(rows)
    with pytest.warns(UserWarning, match="stopped early"):
        found = model.fit(rows, max_iter=1, accelerate=False, tol=0.0)
    for state in range(2):
        mean = np.average(rows, axis=0, weights=weight[:, state])
        np.testing.assert_allclose(found.emission.means[state], mean, atol=1e-10)
        covariance = np.cov(rows.T, aweights=weight[:, state], ddof=0)
        np.testing.assert_allclose(found.emission.covariances[state], covariance, atol=1e-10)


@pytest.mark.parametrize("accelerate", [False, True])
@pytest.mark.parametrize("kind", ["symbols", "normal"])
def test_the_likelihood_never_falls_and_the_truth_is_found(kind: str, accelerate: bool) -> None:
    truth = HiddenMarkovModel.of(
        [0.6, 0.4],
        [[0.95, 0.05], [0.1, 0.9]],
        Normals([[0.0], [3.0]], np.array([[[1.0]], [[0.5]]]))
        if kind == "normal"
        else Symbols([[0.8, 0.1, 0.1], [0.1, 0.2, 0.7]], tuple("abc")),
    )
    sequences = [truth.sample(400, seed)[1] for seed in range(5)]
    found = HiddenMarkovModel.learn(sequences, 2, n_init=3, random_state=0, accelerate=accelerate)
    assert found.certificate is not None
    trace = np.array(found.certificate.trace)
    assert (np.diff(trace) >= -1e-10 * np.abs(trace[1:])).all()
    assert found.log_likelihood(sequences) >= truth.log_likelihood(sequences)
    order = np.argsort(found.emission.mixed(np.eye(2))[:, 0])
    order = order if kind == "normal" else order[::-1]
    np.testing.assert_allclose(found.transition[np.ix_(order, order)], truth.transition, atol=0.04)
    ours = found.emission.mixed(np.eye(2))[order]
    np.testing.assert_allclose(ours, truth.emission.mixed(np.eye(2)), atol=0.15)


def test_long_sequences_neither_vanish_nor_overflow() -> None:
    model = random_model(0, 3, "symbols")
    sequence = random_sequence(0, 20_000, "symbols")
    value = model.log_likelihood([sequence])
    assert -40_000 < value < -1000
    np.testing.assert_allclose(model.smoothed(sequence).sum(axis=1), 1.0, atol=1e-9)
    far = Normals([[0.0], [1.0]], np.ones((2, 1, 1)))
    shifted = HiddenMarkovModel.of([0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], far)
    assert np.isfinite(shifted.log_likelihood(np.full(50, 1e6)))


def exact_passes(initial: Any, transition: Any, table: Any, codes: Any) -> Any:
    """Log-likelihood, smoothed states and expected transitions, from tables in parts of 64."""
    states, last = range(len(initial)), len(codes) - 1
    ahead = [[initial[j] * table[j][codes[0]] for j in states]]
    for code in codes[1:]:
        moved = [sum(ahead[-1][i] * transition[i][j] for i in states) for j in states]
        ahead.append([moved[j] * table[j][code] for j in states])
    back = [[1 for _ in states]]
    for code in reversed(codes[1:]):
        shown = [table[j][code] * back[0][j] for j in states]
        back.insert(0, [sum(transition[i][j] * shown[j] for j in states) for i in states])
    total = sum(ahead[-1])
    if not total:
        return -math.inf, None, None
    smoothed = [
        [float(Fraction(ahead[t][i] * back[t][i], total)) for i in states] for t in range(last + 1)
    ]
    pairs = np.zeros((len(initial), len(initial)))
    for i, j in product(states, states):
        shown = [ahead[t][i] * table[j][codes[t + 1]] * back[t + 1][j] for t in range(last)]
        pairs[i, j] = float(Fraction(transition[i][j] * sum(shown), total))
    return math.log(total) - 2 * len(codes) * math.log(64), np.array(smoothed), pairs


@pytest.mark.parametrize("seed", range(12))
def test_no_share_is_lost_where_states_cannot_be_returned_to(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = 2 + seed % 3
    later = np.triu(rng.dirichlet(np.ones(n), n)) + 0.05 * np.eye(n)
    transition = [rng.multinomial(64, row / row.sum()).tolist() for row in later]
    table = [rng.multinomial(64, row).tolist() for row in rng.dirichlet([0.15] * 3, n)]
    initial = [64, *[0] * (n - 1)]
    model = HiddenMarkovModel.of(*(np.array(cells) / 64 for cells in (initial, transition, table)))
    for _ in range(4):
        codes = np.repeat(rng.integers(0, 3, 4), rng.integers(1, 260, 4)).tolist()
        log, smoothed, pairs = exact_passes(initial, transition, table, codes)
        assert model.log_likelihood(codes) == pytest.approx(log, rel=1e-12)
        if log == -math.inf:
            continue
        assert model.most_probable(codes).log_probability <= log + 1e-12 * abs(log)
        np.testing.assert_allclose(model.smoothed(codes), smoothed, atol=1e-12)
        with pytest.warns(UserWarning, match="stopped early"):
            learned = model.fit(codes, max_iter=1, accelerate=False, tol=0.0)
        left = pairs.sum(axis=1, keepdims=True)
        expected = np.divide(pairs, left, out=model.transition.copy(), where=left > 0)
        np.testing.assert_allclose(learned.transition, expected, atol=1e-12)
        assert learned.log_likelihood(codes) >= log - 1e-12 * abs(log)


def test_numbers_tell_when_a_chain_moved_on() -> None:
    # Of two states, the second for ever, there is a path for each step at which it is entered.
    means, spread, stay = np.array([1.0, -3.0]), 0.25, 0.875
    model = HiddenMarkovModel.of(
        [1, 0], [[stay, 1 - stay], [0, 1]], Normals(means, np.full(2, spread**2))
    )
    steps = np.concatenate([np.full(40, -2.5), [np.nan] * 5, np.full(70, 0.5), [-1e4, 3e4]])
    logs = np.where(np.isnan(steps), 0.0, norm.logpdf(steps[:, np.newaxis], means, spread).T)
    entered = np.arange(1, len(steps) + 1)
    moved = np.where(entered < len(steps), np.log(1 - stay), 0.0)
    paths = np.array([logs[0, :t].sum() + logs[1, t:].sum() for t in entered])
    paths += (entered - 1) * np.log(stay) + moved
    total = logsumexp(paths)
    assert model.log_likelihood(steps) == pytest.approx(total, rel=1e-12)
    later = np.array([np.exp(paths[entered > t] - total).sum() for t in range(len(steps))])
    np.testing.assert_allclose(model.smoothed(steps)[:, 0], later, atol=1e-9)
    assert paths.max() == pytest.approx(model.most_probable(steps).log_probability, rel=1e-12)


@pytest.mark.parametrize("far", [1e160, -1e300])
def test_numbers_too_large_to_be_squared_are_refused(far: float) -> None:
    steps = np.array([0.5, 1.5, far, 2.5])
    with pytest.raises(InputError, match="too large to be squared"):
        HiddenMarkovModel.learn(steps, 2, random_state=0)
    near = HiddenMarkovModel.of([0.5, 0.5], np.full((2, 2), 0.5), Normals([0.0, 9.0], [1.0, 1.0]))
    for ask in (near.log_likelihood, near.smoothed, near.most_probable, near.fit):
        with pytest.raises(InputError, match="for its density to be a number"):
            ask(steps)


def test_one_state_is_a_law_of_its_own() -> None:
    found = HiddenMarkovModel.learn([["a", "b", "a", "a"]], 1, random_state=0)
    np.testing.assert_allclose(found.emission.table, [[0.75, 0.25]])
    x = np.array([1.0, 2.0, 4.0])
    normal = HiddenMarkovModel.learn(x, 1, random_state=0).emission
    assert normal.means[0, 0] == pytest.approx(x.mean())
    assert normal.covariances[0, 0, 0] == pytest.approx(x.var())


def test_constant_numbers_and_offsets_end_in_a_model() -> None:
    constant = HiddenMarkovModel.learn(np.full(20, 7.5), 2, random_state=0)
    assert np.isfinite(constant.log_likelihood(np.full(20, 7.5)))
    rng = np.random.default_rng(0)
    x = np.repeat([0.0, 5.0], 60) + rng.normal(size=120)
    near = HiddenMarkovModel.learn(x, 2, random_state=0)
    far = HiddenMarkovModel.learn(x + 1e8, 2, random_state=0)
    assert far.log_likelihood(x + 1e8) == pytest.approx(near.log_likelihood(x), rel=1e-5)


def test_certain_symbols_huge_units_and_other_columns() -> None:
    sure = HiddenMarkovModel.learn([list("aaaa"), list("aaa")], 2, random_state=0)
    assert sure.log_likelihood(list("aa")) == pytest.approx(0.0, abs=1e-12)
    rng = np.random.default_rng(0)
    steps = rng.normal(size=60) + 4.0 * np.repeat(np.arange(6) % 2, 10)
    plain = HiddenMarkovModel.learn(steps, 2, random_state=0)
    for unit in (1e150, 1e-150):
        other = HiddenMarkovModel.learn(steps * unit, 2, random_state=0)
        expected = plain.log_likelihood(steps) - 60 * np.log(unit)
        assert other.log_likelihood(steps * unit) == pytest.approx(expected, rel=1e-9)
    with pytest.raises(InputError, match=r"Sequence 1 has steps of shape \(1,\)"):
        HiddenMarkovModel.learn([rng.normal(size=(5, 2)), steps], 2)
    with pytest.raises(InputError, match="Sequence 0 holds numbers, but sequence 1 holds symbols"):
        HiddenMarkovModel.learn([steps, list("abab")], 2)
    mixed = HiddenMarkovModel.learn([[1, 2, 1], [2.0, np.nan, 1.0]], 2, random_state=0)
    assert isinstance(mixed.emission, Symbols)


def test_files_keep_a_model(tmp_path: Path) -> None:
    for kind in ("symbols", "normal"):
        model, sequence = random_model(1, 3, kind), random_sequence(1, 6, kind)
        save(model, tmp_path / f"{kind}.novum")
        again = load(tmp_path / f"{kind}.novum")
        assert again.log_likelihood([sequence]) == model.log_likelihood([sequence])


def test_bad_input() -> None:
    model = random_model(0, 2, "symbols")
    with pytest.raises(InputError, match="A sequence shows 'z', which the model does not know"):
        model.filtered(["a", "z"])
    with pytest.raises(InputError, match="at least one step"):
        model.filtered([])
    blocked = HiddenMarkovModel.of([1, 0], np.eye(2), [[1, 0], [0, 1]], symbols=["a", "b"])
    assert blocked.log_likelihood(["a", "b"]) == -np.inf
    for ask in (blocked.smoothed, blocked.most_probable):
        with pytest.raises(InputError, match="no state can show what is seen at step 1"):
            ask(["a", "b"])
    with pytest.raises(InputError, match="initial probabilities"):
        HiddenMarkovModel.of([0.5, 0.6], np.eye(2), np.eye(2))
    with pytest.raises(InputError, match="Row 1 of the emission"):
        HiddenMarkovModel.of([0.5, 0.5], np.eye(2), [[1, 0], [0.5, 0.6]])
    with pytest.raises(InputError, match="smallest eigenvalue"):
        Normals([[0.0]], [[[-1.0]]])
    with pytest.raises(InputError, match="sees 2 numbers in a step"):
        random_model(0, 2, "normal").filtered(np.zeros((3, 4)))
    with pytest.raises(InputError, match="nothing to learn"):
        HiddenMarkovModel.learn([[None], [None, None]], 2)
    with pytest.raises(InputError, match="needs 2 initial"):
        HiddenMarkovModel.of([1.0], np.eye(2), np.eye(2))
