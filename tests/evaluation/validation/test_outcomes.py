"""Outcomes go to a journal and come back."""

import numpy as np

from novum.evaluation.validation.journal_values import decoded, encoded
from novum.evaluation.validation.outcomes import FoldRun


def test_a_record_is_the_outcome_without_the_model() -> None:
    run = FoldRun(
        {"score": 0.1},
        {"score": 0.2},
        fit_seconds=0.5,
        score_seconds=0.25,
        n_train=8,
        n_test=2,
        output=np.array(["a", "b"]),
        facts={"best": 1},
        estimator=object(),
        exact=True,
    )
    again = FoldRun.of(decoded(encoded(run.record())))
    assert again.scores == run.scores
    assert again.train_scores == run.train_scores
    assert (again.fit_seconds, again.score_seconds) == (0.5, 0.25)
    assert (again.n_train, again.n_test, again.exact) == (8, 2, True)
    assert again.output is not None
    assert again.output.tolist() == ["a", "b"]
    assert again.facts == {"best": 1}
    assert again.estimator is None
    assert again.error is None
