"""Independent bits: enumeration, scipy's one-bit law, and the contract of laws."""

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.contracts import LawCase, law_checks
from novum.distributions.multivariate.multivariate_bernoulli import MultivariateBernoulli
from novum.distributions.univariate.bernoulli import Bernoulli

CUBE = np.array(list(itertools.product([0, 1], repeat=3)), float)
LAW = MultivariateBernoulli([0.2, 0.5, 0.9])
CASE = LawCase(LAW, MultivariateBernoulli([0.3, 0.3, 0.8]), rule=(CUBE, np.ones(8)))

shares = st.lists(st.floats(0, 1), min_size=3, max_size=3)


@pytest.mark.parametrize("check", law_checks(), ids=lambda check: check.__name__[6:])
def test_contract(check: Any) -> None:
    check(CASE)


@given(shares)
def test_all_points_have_probability_one(p: list[float]) -> None:
    assert MultivariateBernoulli(p).density(CUBE).sum() == pytest.approx(1, abs=1e-14)


@given(shares)
def test_density_is_a_product_of_one_bit_laws(p: list[float]) -> None:
    expected = np.prod([stats.bernoulli.pmf(CUBE[:, j], p[j]) for j in range(3)], axis=0)
    found = MultivariateBernoulli(p).density(CUBE)
    # The exponential of a logarithm near -700 is right to 700 roundings.
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-300)


inner = st.lists(st.floats(1e-6, 1 - 1e-6), min_size=3, max_size=3)


@given(shares, inner)
def test_entropy_and_divergence_by_enumeration(p: list[float], q: list[float]) -> None:
    a, b = MultivariateBernoulli(p), MultivariateBernoulli(q)
    chance = a.density(CUBE)
    some = chance > 0
    logs = a.log_density(CUBE[some])
    assert a.entropy == pytest.approx(-(chance[some] @ logs), abs=1e-12)
    gaps = logs - b.log_density(CUBE[some])
    assert a.kl(b) == pytest.approx(chance[some] @ gaps, rel=1e-9, abs=1e-13)


def test_divergence_from_a_law_that_excludes_a_value_is_infinite() -> None:
    assert LAW.kl(MultivariateBernoulli([0.0, 0.5, 0.9])) == np.inf
    assert LAW.kl(MultivariateBernoulli([0.2, 1.0, 0.9])) == np.inf
    assert MultivariateBernoulli([0.0, 1.0]).kl(MultivariateBernoulli([0.0, 1.0])) == 0


def test_moments_by_enumeration() -> None:
    chance = LAW.density(CUBE)
    np.testing.assert_allclose(chance @ CUBE, LAW.mean)
    away = CUBE - LAW.mean
    np.testing.assert_allclose((chance[:, None] * away).T @ away, LAW.covariance, atol=1e-15)
    assert float(LAW.density(LAW.mode)) == pytest.approx(chance.max(), rel=1e-15)


def test_marginal_and_conditional_by_enumeration() -> None:
    chance = LAW.density(CUBE)
    for value in itertools.product([0, 1], repeat=2):
        rows = (CUBE[:, [2, 0]] == value).all(axis=1)
        assert LAW.marginal([2, 0]).density(value) == pytest.approx(chance[rows].sum())
        both = rows & (CUBE[:, 1] == 1)
        found = LAW.condition([2, 0], value).density([1.0])
        assert found == pytest.approx(chance[both].sum() / chance[rows].sum())


def test_one_coordinate_is_a_bernoulli_law() -> None:
    assert LAW.marginal(2) == Bernoulli(0.9)
    assert LAW.marginal([2]) == MultivariateBernoulli([0.9])


def test_impossible_condition_is_refused() -> None:
    law = MultivariateBernoulli([0.0, 0.5])
    with pytest.raises(InputError, match=r"values \[1.0\] of coordinates \[0\] have probability 0"):
        law.condition([0], [1.0])
    assert law.condition([0], [0.0]) == MultivariateBernoulli([0.5])


def test_off_the_support_and_missing() -> None:
    assert LAW.log_density([[0.5, 0, 0], [2, 0, 0], [np.inf, 0, 0]]).tolist() == [-np.inf] * 3
    assert np.isnan(LAW.log_density([np.nan, 0, 5]))
    tiny = MultivariateBernoulli([1e-300, 1 - 1e-16])
    assert tiny.log_density([1, 0]) == pytest.approx(np.log(1e-300) + np.log(2**-53), rel=1e-14)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: MultivariateBernoulli([0.5, 1.5]), "entry 1 is 1.5"),
        (lambda: MultivariateBernoulli.fit([[0, 1], [2, 0]]), "first is 2 at row 1, column 0"),
        (lambda: MultivariateBernoulli.fit([[np.nan]]), "first is nan at row 0"),
        (lambda: MultivariateBernoulli.fit(np.empty((0, 2))), "total weight is 0"),
        (lambda: LAW.kl(MultivariateBernoulli([0.5])), "3 and of 1 coordinates"),
    ],
)
def test_bad_input_is_named(call: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
