"""Evidence: the weakest of all claims, invariances that folds leave."""

from __future__ import annotations

import numpy as np
from sklearn.naive_bayes import GaussianNB as TheirNB

from novum.bayes import GaussianNB
from novum.core.learners import Verdict
from novum.evaluation.calibration.evidence import certify, kept_invariances


def test_the_weakest_claim_counts() -> None:
    ours = GaussianNB().fit(np.array([[0.0], [1.0], [2.0], [3.0]]), [0, 0, 1, 1])
    alone = certify("loss", Verdict.PROVED, [ours], value=0.5)
    assert alone.verdict == max(
        [Verdict.PROVED, ours.certificate_.verdict], key=list(Verdict).index
    )
    assert (alone.value, alone.details["members"]) == (0.5, 1)
    foreign = certify("loss", Verdict.PROVED, [ours, TheirNB()])
    assert foreign.verdict is Verdict.LOCAL
    assert foreign.details["members_without_certificate"] == 1
    assert certify("loss", Verdict.STOPPED_EARLY, [ours]).converged is False


def test_invariances() -> None:
    assert kept_invariances(GaussianNB(), folds=False) == GaussianNB().invariances
    assert "row_order" not in kept_invariances(GaussianNB(), folds=True)
    assert kept_invariances(TheirNB(), folds=True) == ()
