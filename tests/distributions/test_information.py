"""Information measures: worked numbers, identities, scipy, many digits, laws by closed forms."""

from __future__ import annotations

import decimal
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy import stats

from novum.core.errors import InputError
from novum.distributions.information import (
    cross_entropy,
    entropy,
    kl_divergence,
    mutual_information,
    perplexity,
)
from novum.distributions.joint_table import JointTable
from novum.distributions.multivariate.dirichlet import Dirichlet
from novum.distributions.multivariate.multinomial import Multinomial
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.student_t import StudentT


def shares(size: int) -> st.SearchStrategy[Any]:
    return hnp.arrays(float, size, elements=st.floats(1e-6, 1)).map(lambda w: w / w.sum())


@st.composite
def tables(draw: st.DrawFn) -> JointTable:
    counts = draw(hnp.arrays(np.int64, (2, 3, 2), elements=st.integers(0, 20)))
    counts.flat[0] += 1
    return JointTable.from_counts(counts, ["a", "b", "c"], [range(2), range(3), range(2)])


# --- Vectors --------------------------------------------------------------------------------------


def test_nine_yes_and_five_no_have_094_bits() -> None:
    # The weather table of the notes; Mitchell 1997, 3.4.1.
    assert entropy([9 / 14, 5 / 14], base=2) == pytest.approx(0.940286, abs=5e-7)


@given(shares(6))
def test_entropy_agrees_with_many_digits(p: Any) -> None:
    with decimal.localcontext(prec=40):
        digits = [decimal.Decimal(float(x)) for x in p]
        exact = -sum(x * x.ln() for x in digits) / decimal.Decimal(2).ln()
    assert entropy(p, base=2) == pytest.approx(float(exact), rel=1e-14)
    assert entropy(p, base=math.e) == pytest.approx(stats.entropy(p), rel=1e-12)


@given(shares(5), shares(5))
def test_divergence_is_never_negative_and_splits_the_cross_entropy(p: Any, q: Any) -> None:
    assert kl_divergence(p, q) >= 0
    assert kl_divergence(p, p) == 0
    assert kl_divergence(p, q) == pytest.approx(stats.entropy(p, q), rel=1e-9, abs=1e-13)
    assert cross_entropy(p, q) == pytest.approx(entropy(p) + kl_divergence(p, q), rel=1e-10)


def test_small_divergences_keep_their_digits() -> None:
    step = 1e-7
    # Second order: sum step^2 / (2 q) = 2 * 1e-14 nats; the next term is 1e-7 smaller.
    found = kl_divergence([0.5 + step, 0.5 - step], [0.5, 0.5], base=math.e)
    assert found == pytest.approx(2 * step**2, rel=1e-6)


@given(shares(4), st.floats(1.1, 50))
def test_the_base_is_only_a_unit(p: Any, base: float) -> None:
    assert entropy(p, base=base) * math.log(base) == pytest.approx(
        entropy(p, base=math.e), rel=1e-12
    )
    assert perplexity(p, base=base) == pytest.approx(perplexity(p), rel=1e-10)


def test_zero_probabilities_weigh_nothing() -> None:
    assert entropy([1.0, 0.0, 0.0]) == 0.0
    assert kl_divergence([1.0, 0.0], [0.5, 0.5], base=2) == 1.0
    assert kl_divergence([0.0, 1.0], [0.0, 1.0]) == 0.0
    assert cross_entropy([0.5, 0.5], [1.0, 0.0]) == math.inf
    assert cross_entropy([1.0, 0.0], [1.0, 0.0]) == 0.0
    assert entropy([5e-324, 1.0]) >= 0


# --- Tables ---------------------------------------------------------------------------------------


@given(tables())
def test_chain_rules(table: JointTable) -> None:
    joint = entropy(table)
    assert joint == pytest.approx(
        entropy(table, "a") + entropy(table, ["b", "c"], given="a"), abs=1e-12
    )
    assert entropy(table, given="a") == pytest.approx(joint - entropy(table, "a"), abs=1e-12)
    whole = mutual_information(table, "a", ["b", "c"])
    parts = mutual_information(table, "a", "c") + mutual_information(table, "a", "b", given="c")
    assert whole == pytest.approx(parts, abs=1e-12)


@given(tables())
def test_information_is_symmetric_bounded_and_never_negative(table: JointTable) -> None:
    one = mutual_information(table, "a", "b", given="c")
    assert one == pytest.approx(mutual_information(table, "b", "a", given="c"), abs=1e-12)
    assert 0 <= one <= entropy(table, "a") + 1e-12
    assert entropy(table, "a", given="b") <= entropy(table, "a") + 1e-12


@given(tables())
def test_information_is_a_divergence_from_independence(table: JointTable) -> None:
    product = table.marginal("a") * table.marginal("b")
    wanted = kl_divergence(table.marginal("a", "b"), product)
    assert mutual_information(table, "a", "b") == pytest.approx(wanted, abs=1e-12)


def test_tables_are_matched_by_names_and_states() -> None:
    p = JointTable([[0.1, 0.2], [0.3, 0.4]], ["x", "y"], [(0, 1), ("u", "v")])
    q = JointTable([[0.4, 0.2], [0.3, 0.1]], ["y", "x"], [("v", "u"), (1, 0)])
    assert kl_divergence(p, q) == 0.0
    assert cross_entropy(p, q) == pytest.approx(entropy(p))


def test_two_variables_need_no_names() -> None:
    table = JointTable([[0.5, 0.0], [0.0, 0.5]], ["x", "y"], [(0, 1), (0, 1)])
    assert mutual_information(table, base=2) == 1.0


def test_rare_states_do_not_underflow_to_impossible() -> None:
    cells = np.array([[1.0, 0.0], [0.0, 1e-200]])
    assert math.isfinite(mutual_information(cells))


# --- Laws -----------------------------------------------------------------------------------------


def test_laws_are_measured_by_their_closed_forms() -> None:
    assert entropy(Bernoulli(0.5), base=2) == pytest.approx(1.0)
    assert entropy(Normal(3.0, 4.0), base=math.e) == pytest.approx(
        0.5 * math.log(2 * math.pi * math.e * 4)
    )
    assert kl_divergence(Normal(0.0, 1.0), Normal(2.0, 1.0), base=math.e) == pytest.approx(2.0)
    assert cross_entropy(Normal(0.0, 1.0), Normal(2.0, 1.0), base=math.e) == pytest.approx(
        0.5 * math.log(2 * math.pi) + 0.5 + 2.0
    )


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_divergence_between_families_is_integrated(scale: float) -> None:
    p, q = Normal(0.0, scale**2), StudentT(3.0, 0.5 * scale, scale)
    # Independent: Gauss-Hermite quadrature of the difference of scipy's log densities.
    x, w = np.polynomial.hermite_e.hermegauss(200)
    gap = stats.norm.logpdf(x) - stats.t.logpdf(x, 3, 0.5)
    exact = float(w @ gap / math.sqrt(2 * math.pi))
    assert kl_divergence(p, q, base=math.e) == pytest.approx(exact, abs=1e-9)
    assert cross_entropy(p, q, base=math.e) == pytest.approx(
        exact + entropy(p, base=math.e), abs=1e-9
    )


def test_information_of_normal_vectors_is_half_the_log_of_the_determinants() -> None:
    rho = 0.6
    pair = MultivariateNormal([0.0, 0.0], [[1.0, rho], [rho, 1.0]])
    assert mutual_information(pair, 0, 1, base=math.e) == pytest.approx(
        -0.5 * math.log(1 - rho**2), rel=1e-12
    )
    assert entropy(pair, 0, given=1, base=math.e) == pytest.approx(
        0.5 * math.log(2 * math.pi * math.e * (1 - rho**2)), rel=1e-12
    )
    chain = MultivariateNormal(np.zeros(3), [[1, 0.5, 0.25], [0.5, 1, 0.5], [0.25, 0.5, 1]])
    assert mutual_information(chain, 0, 2, given=1) == pytest.approx(0.0, abs=1e-12)


def test_information_of_counts_is_that_of_their_table() -> None:
    law = Multinomial(3, [0.2, 0.3, 0.5])
    table = JointTable.from_function(
        lambda a, b: float(law.density([a, b, 3 - a - b])) if a + b <= 3 else 0.0,
        {"a": range(4), "b": range(4)},
    )
    assert mutual_information(law, [0], [1]) == pytest.approx(
        mutual_information(table, "a", "b"), rel=1e-9
    )


def test_all_shares_together_determine_each_other() -> None:
    law = Dirichlet([1.0, 2.0, 3.0])
    assert mutual_information(law, [0], [1, 2]) == math.inf
    assert entropy(law, [0], given=[1, 2]) == -math.inf
    assert mutual_information(law, [0], [1]) > 0


# --- Nasty input ----------------------------------------------------------------------------------

SMALL = JointTable([[0.25, 0.25], [0.25, 0.25]], ["a", "b"], [(0, 1), (0, 1)])


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: entropy([0.5, 0.6]), "these to 1.1"),
        (lambda: entropy([-0.5, 1.5]), "smallest is -0.5"),
        (lambda: entropy([float("nan"), 1.0]), "at least 0"),
        (lambda: entropy([]), "at least 0"),
        (lambda: entropy([1.0], base=1), "above 0 and not 1"),
        (lambda: entropy([1.0], base=-2), "got -2"),
        (lambda: entropy([0.5, 0.5], "a"), "no named variables"),
        (lambda: kl_divergence([0.5, 0.5], [1.0]), "need the same states"),
        (lambda: kl_divergence(SMALL, [1.0]), "a table with a table|compared with a table"),
        (lambda: kl_divergence(Normal(), [1.0]), "law is compared with a law"),
        (lambda: kl_divergence(SMALL, SMALL.marginal("a")), "other variables: a, b and a"),
        (
            lambda: kl_divergence(SMALL.marginal("a"), JointTable([0.5, 0.5], ["a"], [("x", "y")])),
            "other states of 'a'",
        ),
        (lambda: mutual_information([0.5, 0.5]), "two axes; it has 1"),
        (lambda: mutual_information(SMALL, "a"), "name a and b"),
        (lambda: mutual_information(SMALL, "a", "a"), "named twice"),
        (lambda: mutual_information(Normal(), 0, 1), "no marginals"),
        (
            lambda: mutual_information(MultivariateNormal([0, 0], np.eye(2)), 0, [0, 1]),
            "overlap",
        ),
    ],
)
def test_wrong_questions_are_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()


@pytest.mark.parametrize(
    "law", [Normal(1.0, 4.0), Bernoulli(0.3), MultivariateNormal([0, 0], np.eye(2))]
)
def test_functions_and_laws_have_one_unit(law: Any) -> None:
    assert entropy(law) == pytest.approx(law.entropy, rel=1e-12)
    assert entropy(law, base=2) == pytest.approx(law.entropy / math.log(2), rel=1e-12)
    assert kl_divergence(law, law) == law.kl(law)
    assert perplexity(law) == pytest.approx(math.exp(law.entropy), rel=1e-12)
