"""Hypothesis spaces: the notes' examples, fractions, order of data, and refusal of nonsense."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from novum.bayes.hypotheses import HypothesisSpace, conjunctive_concepts
from novum.core.errors import InputError
from novum.distributions.univariate.bernoulli import Bernoulli
from novum.distributions.univariate.normal import Normal

CHERRY = {"h1": 1, "h2": Fraction(3, 4), "h3": Fraction(1, 2), "h4": Fraction(1, 4), "h5": 0}
PRIOR = {
    "h1": Fraction(1, 10),
    "h2": Fraction(2, 10),
    "h3": Fraction(4, 10),
    "h4": Fraction(2, 10),
    "h5": Fraction(1, 10),
}


@pytest.fixture
def bags() -> HypothesisSpace:
    """Five bags of candy (Russell and Norvig, 21.1)."""
    tables = {n: {"cherry": float(c), "lime": float(1 - c)} for n, c in CHERRY.items()}
    return HypothesisSpace(tables, {name: float(share) for name, share in PRIOR.items()})


@pytest.mark.parametrize("n", [0, 1, 2, 3, 10])
def test_posterior_after_limes_is_that_of_fractions(bags: HypothesisSpace, n: int) -> None:
    weights = {name: PRIOR[name] * (1 - CHERRY[name]) ** n for name in PRIOR}
    total = sum(weights.values())
    after = bags.update(["lime"] * n)
    for name, share in after.posterior.items():
        assert share == pytest.approx(float(weights[name] / total), abs=1e-15)
    next_lime = sum(weights[name] / total * (1 - CHERRY[name]) for name in PRIOR)
    assert after.predict_proba()["lime"] == pytest.approx(float(next_lime), abs=1e-14)
    assert after.log_evidence == pytest.approx(math.log(total), abs=1e-13)


def test_map_and_prediction_change_as_limes_come(bags: HypothesisSpace) -> None:
    # With equal posteriors (h3 and h4 after one lime differ: 0.4 and 0.3) the first wins.
    chosen = [bags.update(["lime"] * n).map_hypothesis for n in range(4)]
    assert chosen == ["h3", "h3", "h4", "h5"]
    assert bags.update(["lime"]).ml_hypothesis == "h5"
    assert "h1" not in bags.update(["lime"]).consistent


def test_the_optimal_label_can_differ_from_that_of_the_best_hypothesis() -> None:
    # Mitchell 1997, 6.7: posteriors 0.4, 0.3, 0.3; the first says plus, the others minus.
    space = HypothesisSpace(
        {"h1": lambda _: "+", "h2": lambda _: "-", "h3": lambda _: "-"},
        prior={"h1": 0.4, "h2": 0.3, "h3": 0.3},
        labels=("+", "-"),
    )
    assert space.map_hypothesis == "h1"
    assert space.predict_with("h1", "x") == "+"
    assert space.predict("x") == "-"
    assert space.predict_proba("x") == pytest.approx({"+": 0.4, "-": 0.6})


def test_the_optimal_label_can_be_one_that_no_hypothesis_gives() -> None:
    space = HypothesisSpace(
        {
            "left": {"a": 0.55, "b": 0.0, "middle": 0.45},
            "right": {"a": 0.0, "b": 0.55, "middle": 0.45},
        }
    )
    assert space.predict_with("left") == "a"
    assert space.predict_with("right") == "b"
    assert space.predict() == "middle"
    assert space.predict_proba()["middle"] == pytest.approx(0.45)


outcomes = st.lists(st.sampled_from(["cherry", "lime"]), max_size=12)


@given(outcomes, outcomes)
def test_two_updates_are_one(a: list[str], b: list[str]) -> None:
    space = HypothesisSpace({f"h{i}": {"cherry": i / 10, "lime": 1 - i / 10} for i in range(1, 10)})
    twice, once = space.update(a).update(b), space.update(a + b)
    np.testing.assert_array_equal(twice.log_likelihood, once.log_likelihood)
    turned = space.update((a + b)[::-1])
    np.testing.assert_allclose(turned.log_posterior, once.log_posterior, atol=1e-12)


@given(outcomes)
def test_evidence_is_the_product_of_the_predictions(data: list[str]) -> None:
    space = HypothesisSpace({f"h{i}": {"cherry": i / 4, "lime": 1 - i / 4} for i in (1, 2, 3)})
    total, state = 0.0, space
    for outcome in data:
        total += state.log_predictive(outcome)
        state = state.update([outcome])
    assert state.log_evidence == pytest.approx(total, abs=1e-12)


def test_a_thousand_observations_do_not_underflow(bags: HypothesisSpace) -> None:
    after = bags.update(["lime", "cherry"] * 2000)
    assert after.posterior["h3"] == 1.0
    assert math.isfinite(after.log_evidence)
    assert after.log_evidence < -2700


def test_the_space_itself_is_never_changed(bags: HypothesisSpace) -> None:
    before = bags.posterior
    bags.update(["lime"])
    assert bags.posterior == before
    with pytest.raises(ValueError, match="read-only"):
        bags.log_likelihood[0] = 1.0


def test_laws_are_hypotheses() -> None:
    space = HypothesisSpace({"low": Normal(0.0, 1.0), "high": Normal(3.0, 1.0)})
    after = space.update([2.8, 3.1])
    odds = math.exp(-0.5 * (2.8**2 + 3.1**2) + 0.5 * (0.2**2 + 0.1**2))
    assert after.posterior["low"] == pytest.approx(odds / (1 + odds), rel=1e-10)
    mixture = sum(
        share * float(law.density(1.0))
        for share, law in zip(after.posterior.values(), space.hypotheses.values(), strict=True)
    )
    assert math.exp(after.log_predictive(1.0)) == pytest.approx(mixture, rel=1e-10)
    coins = HypothesisSpace({"fair": Bernoulli(0.5), "loaded": Bernoulli(0.9)})
    assert coins.update([1] * 10).map_hypothesis == "loaded"


# --- Concepts -------------------------------------------------------------------------------------

DAYS = [
    {"sky": "sunny", "air": "warm", "wind": "strong"},
    {"sky": "sunny", "air": "warm", "wind": "weak"},
    {"sky": "rainy", "air": "cold", "wind": "strong"},
]
ATTRIBUTES = {"sky": ["sunny", "rainy"], "air": ["warm", "cold"], "wind": ["strong", "weak"]}


def test_the_version_space_is_what_agrees_with_the_data() -> None:
    concepts = conjunctive_concepts(ATTRIBUTES)
    space = HypothesisSpace(concepts, labels=(True, False)).update([True, True, False], DAYS)
    agreeing = {
        name
        for name, concept in concepts.items()
        if [concept(day) for day in DAYS] == [True, True, False]
    }
    assert set(space.consistent) == agreeing == {"sky=sunny & air=warm", "sky=sunny", "air=warm"}
    # A uniform prior without noise gives every consistent concept the same posterior.
    assert space.posterior["sky=sunny"] == pytest.approx(1 / 3)
    assert space.predict({"sky": "sunny", "air": "cold", "wind": "weak"}) is False


def test_noise_keeps_every_hypothesis_alive() -> None:
    concepts = conjunctive_concepts(ATTRIBUTES)
    space = HypothesisSpace(concepts, noise=0.1, labels=(True, False))
    after = space.update([True, True, False], DAYS)
    assert len(after.consistent) == len(concepts)
    rows = list(zip(DAYS, (True, True, False), strict=True))
    agree = {name: sum(c(day) is label for day, label in rows) for name, c in concepts.items()}
    weights = {name: 0.9**k * 0.1 ** (3 - k) for name, k in agree.items()}
    total = sum(weights.values())
    for name, share in after.posterior.items():
        assert share == pytest.approx(weights[name] / total, rel=1e-10)


def test_functions_may_return_distributions() -> None:
    space = HypothesisSpace(
        {
            "steep": lambda x: {"up": x, "down": 1 - x},
            "flat": lambda _: {"up": 0.5, "down": 0.5},
        }
    )
    after = space.update(["up"], [0.9])
    assert after.posterior["steep"] == pytest.approx(0.9 / 1.4)


# --- Nasty input ----------------------------------------------------------------------------------

COIN = {"fair": {"h": 0.5, "t": 0.5}, "sure": {"h": 1.0, "t": 0.0}}


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: HypothesisSpace({}), "at least one hypothesis"),
        (lambda: HypothesisSpace({"a": 3}), "'a' is a int"),
        (lambda: HypothesisSpace({"a": {"x": 0.5}}), "'a' are at least 0 and sum to one"),
        (lambda: HypothesisSpace(COIN, {"fair": 1.0}), "'sure' is only in one"),
        (lambda: HypothesisSpace(COIN, {"fair": 0.9, "sure": 0.9}), "sums to 1.8"),
        (lambda: HypothesisSpace(COIN, {"fair": 1.5, "sure": -0.5}), "smallest is -0.5"),
        (lambda: HypothesisSpace(COIN, noise=0.1), "pass all `labels`"),
        (lambda: HypothesisSpace(COIN, noise=1.0), "from 0 to below 1"),
        (lambda: HypothesisSpace(COIN, labels=("a", "a")), "not all different"),
        (lambda: HypothesisSpace({"sure": COIN["sure"]}).update(["h", "t"]), "observation 1"),
        (lambda: HypothesisSpace(COIN).update(["h"], [1, 2]), "2 inputs and 1 outcomes"),
        (lambda: HypothesisSpace({"f": lambda _: 1}).predict(), "Pass `x`"),
        (lambda: HypothesisSpace({"f": lambda _: 1}, labels=(0, 2)).predict(1), "gives 1, which"),
        (lambda: HypothesisSpace({"f": lambda _: {1: 2.0}}).predict(1), "sum to one"),
        (lambda: HypothesisSpace({"n": Normal()}).predict_proba(), "Ask `log_predictive`"),
        (lambda: HypothesisSpace(COIN).predict_with("biased"), "no hypothesis 'biased'"),
    ],
)
def test_nonsense_is_refused(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
