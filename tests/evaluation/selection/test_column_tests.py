"""Tests as scores: scikit-learn's numbers, the right test for each pair of kinds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn import feature_selection as theirs

from novum.core.errors import InputError
from novum.distributions import SmallCountsWarning
from novum.evaluation.selection.column_tests import (
    AssociationTest,
    KruskalWallis,
    chi2,
    f_classif,
    f_regression,
)
from tests.evaluation.selection.selection_tables import mixed_frame, two_classes

rng = np.random.default_rng(0)
X, Y = two_classes(90, 4)
Z = X[:, 0] + rng.normal(size=90)


@pytest.mark.parametrize(
    ("ours", "other", "table", "target"),
    [
        (f_classif, theirs.f_classif, X, Y),
        (chi2, theirs.chi2, np.abs(X), Y),
        (f_regression, theirs.f_regression, X, Z),
    ],
    ids=["f_classif", "chi2", "f_regression"],
)
def test_scores_are_scikit_learns(ours: Any, other: Any, table: Any, target: Any) -> None:
    for mine, their in zip(ours(table, target), other(table, target), strict=True):
        np.testing.assert_allclose(mine, their, rtol=1e-9)


def test_each_pair_of_kinds_has_its_test() -> None:
    frame, y = mixed_frame()
    frame["grade"] = pd.Categorical(
        np.where(rng.random(120) < 0.5, "low", "high"), ["low", "high"], ordered=True
    )
    p = AssociationTest()(frame, y)[1]
    size = frame["size"].notna()
    parts = [frame.loc[size & (y == label), "size"] for label in ("no", "yes")]
    assert p[1] == pytest.approx(stats.f_oneway(*parts).pvalue, rel=1e-9)
    color = pd.crosstab(frame["color"], y)
    assert p[3] == pytest.approx(stats.chi2_contingency(color, correction=False).pvalue, rel=1e-9)
    ranks = AssociationTest("ranks")(frame, y)[1]
    assert ranks[1] == pytest.approx(stats.kruskal(*parts).pvalue, rel=1e-9)
    # Ordered levels have ranks.
    codes = [np.asarray(frame["grade"].cat.codes)[y == label] for label in ("no", "yes")]
    assert ranks[4] == pytest.approx(stats.kruskal(*codes).pvalue, rel=1e-9)


def test_numbers_as_target() -> None:
    frame, _ = mixed_frame()
    z = rng.normal(size=120)
    means, ranks = AssociationTest()(frame, z)[1], AssociationTest("ranks")(frame, z)[1]
    assert means[0] == pytest.approx(stats.pearsonr(frame["noise"], z).pvalue, rel=1e-9)
    assert ranks[0] == pytest.approx(stats.spearmanr(frame["noise"], z).pvalue, rel=1e-9)
    parts = [z[frame["shape"] == level] for level in ("ball", "cone", "cube")]
    assert means[2] == pytest.approx(stats.f_oneway(*parts).pvalue, rel=1e-9)
    assert ranks[2] == pytest.approx(stats.kruskal(*parts).pvalue, rel=1e-9)


def test_scores_rank_where_p_values_are_zero() -> None:
    y = np.arange(4000) % 2
    noise = rng.normal(size=(4000, 2))
    table = noise + np.column_stack([8 * y, 9 * y])
    scores, p_values = AssociationTest()(table, y)
    assert p_values.tolist() == [0, 0]
    assert scores[1] > scores[0] > 400
    perfect, _ = AssociationTest()(y[:, None] * 1.0, y)
    assert np.isfinite(perfect).all()


def test_ranks_take_ordinal_columns_but_not_nominal_ones() -> None:
    frame, y = mixed_frame()
    with pytest.raises(InputError, match="'shape' is nominal"):
        KruskalWallis()(frame, y)
    ordered = frame[["shape"]].astype(pd.CategoricalDtype(["ball", "cone", "cube"], ordered=True))
    assert 0 <= KruskalWallis()(ordered, y)[1][0] <= 1


def test_refusals_and_warnings() -> None:
    with pytest.raises(InputError, match=r"Negative values.*column 'x1' has"):
        chi2(X, Y)
    rare = np.array([["a"]] * 3 + [["b"]] * 30, object)
    with pytest.warns(SmallCountsWarning, match="p-values of 1 columns rough: 'x0'"):
        chi2(rare, [0, 1] + [0] * 31)
    with pytest.raises(InputError, match="numbers is"):
        AssociationTest("medians")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="target is"):
        AssociationTest(target="labels")  # type: ignore[arg-type]
