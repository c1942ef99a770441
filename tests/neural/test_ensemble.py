"""Ensembles of detectors: votes, disagreement, scores by their members."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from novum.core.errors import InputError
from novum.core.learners import Case
from novum.core.learners.contracts import check_certificate, check_files_keep_predictions
from novum.neural import AutoencoderDetector, DetectorEnsemble
from tests.neural.tables import line, mixed_table

pytest.importorskip("torch")


def quick(n: int = 3, **settings: Any) -> DetectorEnsemble:
    member = AutoencoderDetector(1, hidden=(4,), max_iter=400)
    return DetectorEnsemble(member, n, random_state=0, **settings)


@pytest.mark.filterwarnings("ignore::novum.core.learners.FewRowsWarning")
@parametrize_with_checks(
    [DetectorEnsemble(AutoencoderDetector(1, hidden=(3,), patience=1), 1, random_state=0)],
    legacy=True,
)
def test_scikit_learns_checks(estimator: Any, check: Any) -> None:
    check(estimator)


@pytest.mark.parametrize("check", [check_certificate, check_files_keep_predictions])
def test_contract(check: Any) -> None:
    check(Case(quick(2), line()))


def test_scores_votes_and_disagreement_are_those_of_members() -> None:
    X = line(150)
    rows = np.vstack([X[:20], [[1.0, 2.0, 0.0], [0.0, 9.0, 0.0]]])
    mean, majority = quick().fit(X), quick(voting="majority").fit(X)
    errors = []
    for member in mean.members_:
        unit = abs(-member.offset_ - np.median(-member.score_samples(X)))
        errors.append((-member.score_samples(rows) + member.offset_) / unit)
    np.testing.assert_allclose(mean.score_samples(rows), -np.mean(errors, axis=0))
    np.testing.assert_allclose(mean.disagreement(rows), np.std(errors, axis=0))
    votes = np.mean([m.predict(rows) == -1 for m in mean.members_], axis=0)
    np.testing.assert_array_equal(mean.votes(rows), votes)
    np.testing.assert_array_equal(majority.predict(rows), np.where(votes > 0.5, -1, 1))
    assert mean.predict(rows[-1:]).tolist() == [-1]
    finals = {member.certificate_.value for member in mean.members_}
    assert len(finals) == 3
    assert mean.disagreement(rows)[-1] > mean.disagreement(rows)[:20].mean()


def test_mixed_tables_and_checkpoints(tmp_path: Path) -> None:
    table = mixed_table(80)
    model, alone = quick(2, n_jobs=2).fit(table), quick(2).fit(table)
    assert model.score_samples(table).tobytes() == alone.score_samples(table).tobytes()
    assert (
        DetectorEnsemble(n_estimators=1, random_state=0).fit(line()).members_[0].bottleneck == 0.9
    )
    shared = AutoencoderDetector(1, checkpoint=tmp_path / "state.novum")
    with pytest.raises(InputError, match="cannot share a checkpoint"):
        DetectorEnsemble(shared).fit(line())
