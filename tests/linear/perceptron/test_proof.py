"""What a run proves: margins by definition, bounds by hand, and one certificate for all classes."""

from __future__ import annotations

import numpy as np
import pytest

from novum.core.learners import ConvergenceWarning, Verdict
from novum.linear.perceptron.classifier import Perceptron
from novum.linear.perceptron.proof import certify, margins_of, proof_of
from novum.linear.perceptron.training import Training, train, visits_of

# Many tables here overlap, so that training ends without a proof, and says so.
pytestmark = pytest.mark.filterwarnings("ignore:.*passes gain no more")

RULE = Training("stochastic", 1.0, 100, None, 5)


def test_two_rows_on_a_line_by_hand() -> None:
    """Rows 3 and -1 without an intercept: R = 3, the margin is 1, and one mistake is enough."""
    visits = visits_of(np.array([[3.0], [-1.0]]), np.array([1, 0]), None, False, True)
    run = train(visits, RULE, 0)
    proof = proof_of(visits, run, RULE, True)
    assert proof.radius == 3.0
    assert proof.margin == 1.0
    assert proof.mistake_bound == 9.0
    assert run.mistakes == 1
    # The one mistake made is the mean of the mistakes: no margin beyond its length.
    assert proof.margin_at_most in (1.0, 3.0)


def test_batch_mistakes_are_bounded_by_all_weight_times_as_many() -> None:
    X, y = np.array([[3.0], [-1.0], [2.0]]), np.array([1, 0, 1])
    visits = visits_of(X, y, np.array([1.0, 2.0, 1.0]), False, True)
    training = Training("batch", 1.0, 100, None, 5)
    run = train(visits, training, 0)
    assert proof_of(visits, run, training, True).mistake_bound == 4 * 9.0


def test_the_rate_leaves_the_ceiling_alone() -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30) % 2
    visits = visits_of(X, y, None, True, True)
    ceilings = []
    for rate in (1.0, 4.0):
        training = Training("stochastic", rate, 5, None, 5)
        ceilings.append(proof_of(visits, train(visits, training, 0), training, True).margin_at_most)
    assert ceilings[0] == pytest.approx(ceilings[1], rel=1e-12)
    training = Training("stochastic", 1.0, 5, None, 5)
    assert proof_of(visits, train(visits, training, 0), training, False).margin_at_most is None


@pytest.mark.parametrize("scale", [1e200, 1e-200])
def test_proofs_in_extreme_units(scale: float) -> None:
    X, y = np.array([[3.0, 1.0], [-1.0, -1.0]]), np.array([1, 0])
    plain, other = (visits_of(X * s, y, None, False, False) for s in (1.0, scale))
    rule = Training("stochastic", 1.0, 100, None, 5, shuffle=False)
    first, second = (proof_of(v, train(v, rule, 0), rule, True) for v in (plain, other))
    assert second.mistake_bound == pytest.approx(first.mistake_bound, rel=1e-9)
    for name in ("radius", "margin", "margin_at_most"):
        assert getattr(second, name) == pytest.approx(getattr(first, name) * scale, rel=1e-9)


def test_margins_without_a_direction_are_not_numbers() -> None:
    found = margins_of(np.ones((2, 1)), np.zeros((1, 3)), np.array([0, 1]))
    assert np.isnan(found.geometric).all()
    assert found.functional.tolist() == [-1.0, 1.0]


def test_margins_of_two_classes_by_hand() -> None:
    scores = np.array([[10.0], [-5.0]])
    found = margins_of(scores, np.array([[3.0, 4.0]]), np.array([1, 1]))
    assert found.geometric.tolist() == [2.0, -1.0]
    assert found.smallest == -1.0


def test_one_certificate_for_all_runs() -> None:
    rng = np.random.default_rng(0)
    apart = visits_of(np.array([[3.0], [-1.0]]), np.array([1, 0]), None, True, True)
    mixed = visits_of(rng.normal(size=(20, 1)), np.arange(20) % 2, None, True, True)
    limited = Training("stochastic", 1.0, 4, None, 5)
    runs = [train(apart, limited, 0), train(mixed, limited, 0)]
    proofs = [proof_of(v, r, limited, True) for v, r in zip((apart, mixed), runs, strict=True)]
    both = certify(runs, proofs, limited, 0.1)
    assert both.verdict is Verdict.STOPPED_EARLY
    assert both.value == runs[1].error
    assert both.lower_bound is None
    assert both.details["separable"] == ("yes", "not seen")
    assert both.details["margin"][1] is None
    assert both.iterations == 4
    one = certify(runs[:1], proofs[:1], limited, 0.1)
    assert one.verdict is Verdict.PROVED
    assert one.gap == 0
    assert one.details["mistakes"] == runs[0].mistakes


def test_margins_of_three_classes_are_against_the_best_other() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.arange(30) % 3
    model = Perceptron().fit(X, y)
    scores, found = model.decision_function(X), model.margins(X, y)
    for i, k in enumerate(y):
        other = max((j for j in range(3) if j != k), key=lambda j: scores[i, j])
        gap = scores[i, k] - scores[i, other]
        assert found.functional[i] == pytest.approx(gap, rel=1e-12)
        length = np.linalg.norm(model.coef_[k] - model.coef_[other])
        assert found.geometric[i] == pytest.approx(gap / length, rel=1e-12)


@pytest.mark.parametrize("n_classes", [2, 3])
def test_random_labels_do_not_end_converged(n_classes: int) -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(120, 3)), rng.integers(0, n_classes, 120)
    with pytest.warns(ConvergenceWarning, match=r"on the wrong side.*LogisticRegression"):
        model = Perceptron(random_state=0).fit(X, y)
    assert not model.certificate_.converged
    assert model.n_iter_ < 1000
