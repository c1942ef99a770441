"""Working sets: the worst of both sides, the unbound of before, all groups."""

from __future__ import annotations

import numpy as np

from novum.svm.solver.feasibility import reduced
from novum.svm.solver.rounds import extremes, select
from tests.svm.quadratic_problems import cloud, member

NOTHING = np.zeros(0, np.intp)


def test_extremes_are_over_what_can_rise_and_fall() -> None:
    _, y, t = cloud(10, seed=1)
    problem = member("classes", y, t)
    terms = reduced(problem, np.zeros(10)).terms
    g = np.arange(10.0)
    ends = extremes(terms, np.zeros(10), g)
    assert ends.least[0] == g[y > 0].min()
    assert ends.largest[0] == g[y < 0].max()
    assert ends.violation == ends.largest[0] - ends.least[0]


def test_without_groups_the_multiplier_is_zero() -> None:
    _, y, t = cloud(10, seed=1)
    terms = reduced(member("ranking", y, t), np.zeros(10)).terms
    ends = extremes(terms, np.zeros(10), np.full(10, 3.0))
    assert (ends.least[0], ends.largest[0]) == (0.0, 0.0)
    ends = extremes(terms, np.zeros(10), np.full(10, -3.0))
    assert ends.violation == 3.0


def test_the_worst_of_both_sides_are_taken() -> None:
    _, y, t = cloud(100, seed=2)
    terms = reduced(member("classes", y, t), np.zeros(100)).terms
    g = np.random.default_rng(0).normal(size=100)
    b = np.zeros(100)
    chosen = select(terms, b, g, extremes(terms, b, g), 16, NOTHING)
    assert chosen.size == 8
    rising = np.flatnonzero(y > 0)[np.argsort(g[y > 0])[:4]]
    falling = np.flatnonzero(y < 0)[np.argsort(-g[y < 0])[:4]]
    np.testing.assert_array_equal(chosen, np.sort(np.concatenate([rising, falling])))


def test_half_is_kept_unbound_variables_first() -> None:
    _, y, t = cloud(100, seed=3)
    terms = reduced(member("classes", y, t), np.zeros(100)).terms
    g = np.random.default_rng(1).normal(size=100)
    b = np.zeros(100)
    last = np.arange(20, 40)
    unbound = last[:5]
    b[unbound] = 0.5 * np.sign(y[unbound])
    chosen = select(terms, b, g, extremes(terms, b, g), 16, last)
    assert chosen.size == 16
    assert np.isin(unbound, chosen).all()
    assert np.array_equal(chosen, np.unique(chosen))


def test_every_violating_group_is_served() -> None:
    _, y, t = cloud(100, seed=4)
    problem = member("nu_classes", y, t)
    reduction = reduced(problem, np.zeros(100))
    b = (reduction.terms.lower + reduction.terms.upper) / 2
    g = np.random.default_rng(2).normal(size=100)
    chosen = select(reduction.terms, b, g, extremes(reduction.terms, b, g), 16, NOTHING)
    border = reduction.terms.starts[1]
    assert 0 < (chosen < border).sum() < chosen.size
    assert select(reduction.terms, b, g, extremes(reduction.terms, b, g), 100, NOTHING).size == 100
