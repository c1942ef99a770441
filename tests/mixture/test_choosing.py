"""Numbers of components: criteria by definition, the choice, its table, chart and sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from novum.core.errors import InputError
from novum.core.files import load, save
from novum.data import load as bundled
from novum.mixture import GaussianMixture, MixedMixture, Mixture, choose_components
from novum.mixture.choosing import _best


def three(seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    centers = np.array([[0, 0], [7, 0], [0, 7]])
    return (centers[:, None] + rng.normal(size=(3, 60, 2))).reshape(-1, 2)


def test_criteria_are_those_of_the_models() -> None:
    X = three()
    choice = choose_components(GaussianMixture(random_state=0), X)
    assert choice.n_components == 3
    for row in choice.rows:
        model = GaussianMixture(row.n_components, random_state=0).fit(X)
        assert row.bic == pytest.approx(model.bic(X))
        assert row.icl == pytest.approx(model.icl(X))
        assert row.n_free == model._n_parameters()
    assert choice.model.predict(X).shape == (180,)


def test_families_and_held_out_rows() -> None:
    X = three()
    options = {"families": ["spherical", "full"], "criterion": "held_out"}
    choice = choose_components(GaussianMixture(random_state=0), X, [1, 3, 5], **options)
    assert choice.n_components == 3
    assert len(choice.rows) == 6
    assert "held-out log-density is largest" in choice.reason
    assert "held out" in repr(choice)
    best = max(choice.rows, key=lambda row: row.held_out)
    # Fresh rows of the same law agree with rows set aside, up to the errors of both means.
    apart = abs(choice.model.score(three(1)) - best.held_out)
    assert apart < 4 * np.sqrt(2) * best.held_out_error


def test_the_choice_shows_itself() -> None:
    choice = choose_components(GaussianMixture(random_state=0), three(), range(1, 5))
    assert "3 components: BIC is smallest there" in repr(choice)
    assert "<svg" in choice._repr_html_()
    assert choice.chart().title == "Numbers of components"


def test_auto_takes_the_number_of_smallest_bic(tmp_path: Any) -> None:
    X = three()
    model = GaussianMixture("auto", random_state=0).fit(X)
    assert model.n_components_ == 3 == model.choice_.n_components
    assert len(model.weights_) == 3
    with pytest.raises(InputError, match="compares fits of rows in memory"):
        GaussianMixture("auto").fit_stream([(X,)])
    save(model, tmp_path / "m.novum")
    assert np.array_equal(load(tmp_path / "m.novum").predict(X), model.predict(X))


def test_one_group_is_one_component() -> None:
    X = np.random.default_rng(3).normal(size=(200, 2))
    assert choose_components(GaussianMixture(random_state=0), X).n_components == 1


def test_refusals() -> None:
    X = three()
    with pytest.raises(InputError, match="criterion is"):
        choose_components(GaussianMixture(), X, criterion="aic")
    with pytest.raises(InputError, match="not possible"):
        choose_components(GaussianMixture(), X[:3], [5])


def test_iris_has_the_bic_of_mclust() -> None:
    # Published output of mclustBIC(iris[, -5]), whose sign is the other one.
    published = {
        "VVV": (829.9782, 574.0178),
        "EEE": (829.9782, 688.0972),
        "VVI": (1522.1202, 857.5515),
    }
    table = bundled("iris", frame="pandas").table.drop(columns="species")
    for family, values in published.items():
        model = GaussianMixture(covariance_type=family, tol=1e-8, random_state=0)
        found = [row.bic for row in choose_components(model, table, [1, 2]).rows]
        np.testing.assert_allclose(found, values, atol=2e-3)
    choice = choose_components(GaussianMixture(random_state=0), table, range(1, 6))
    assert choice.n_components == 2


def test_a_collapsed_component_is_not_chosen() -> None:
    rng = np.random.default_rng(0)
    # Rows that agree in a column to the last digit tempt a component to shrink onto them.
    X = np.column_stack([rng.normal(size=150), rng.normal(size=150)])
    X[:40, 1] = 0.25
    start = {"means_init": [[0.0, 0.25], [0.0, 0.0]]}
    start["precisions_init"] = [np.diag([1.0, 1e4]), np.eye(2)]
    tempted = GaussianMixture(2, **start).fit(X)
    assert tempted.n_collapsed_ == 1
    assert tempted.bic(X) < GaussianMixture(1).fit(X).bic(X)
    choice = choose_components(GaussianMixture(**start), X, [2])
    assert choice.n_components == 2
    rows = [*choose_components(GaussianMixture(), X, [1]).rows, *choice.rows]
    assert _best(rows, "bic").n_components == 1
    assert "collapsed" in repr(choice)


@pytest.mark.parametrize("model", [GaussianMixture("auto"), MixedMixture("auto"), Mixture()])
def test_a_table_without_a_cell_has_nothing_to_choose_by(model: Any) -> None:
    empty = np.full((5, 2), np.nan)
    with pytest.raises(InputError, match="No row has a present cell"):
        model.fit(empty)
    with pytest.raises(InputError, match="nothing to compare by"):
        choose_components(clone(model).set_params(n_components=1), empty)
