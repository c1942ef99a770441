"""Named members: parameters, what is refused, routing of metadata, order of results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.neighbors import KNeighborsClassifier

from novum.bayes import GaussianNB, LinearDiscriminantAnalysis, MultinomialNB, NaiveBayes
from novum.core.errors import InputError
from novum.ensemble.members import (
    combine_input_tags,
    consumes_weights,
    fitted_member,
    member_codes,
    run_members,
    shared_invariances,
)
from novum.ensemble.voting import VotingClassifier, VotingRegressor
from novum.linear import LinearRegression, Ridge
from tests.ensemble.ensemble_tables import classes, numbers


def vote(**more: Any) -> VotingClassifier:
    members = [("nb", GaussianNB()), ("lda", LinearDiscriminantAnalysis())]
    return VotingClassifier(members, **more)


class Recorder(ClassifierMixin, BaseEstimator):
    """Keeps what `fit` was given besides rows."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, price: Any = None) -> Recorder:
        assert len(X) == len(y)
        self.classes_, self.given_ = np.unique(y), (sample_weight, price)
        return self

    def predict(self, X: Any) -> Any:
        return np.zeros(len(X), int)


# --- Parameters -----------------------------------------------------------------------------------


def test_nested_parameters_can_be_read_and_set() -> None:
    model = vote().set_params(nb__var_smoothing=0.1, lda="drop")
    assert model.get_params()["nb__var_smoothing"] == 0.1
    assert model.named_estimators.lda == "drop"
    model.fit(*classes())
    assert len(model.estimators_) == 1
    assert model.named_estimators_.lda == "drop"
    assert model.named_estimators_["nb"] is model.estimators_[0]
    assert clone(model).get_params()["lda"] == "drop"


def test_names_of_fitted_members_do_not_follow_later_changes() -> None:
    model = vote().fit(*classes())
    model.set_params(nb="drop")
    assert list(model.named_estimators_) == ["nb", "lda"]
    assert model.get_feature_names_out().tolist() == ["votingclassifier_nb", "votingclassifier_lda"]


@pytest.mark.parametrize(
    ("members", "message"),
    [
        ([], "non-empty list of"),
        ([GaussianNB()], r"it holds GaussianNB\(\)"),
        ([("a", GaussianNB()), ("a", GaussianNB())], "not unique"),
        ([("a__b", GaussianNB())], "must not contain __"),
        ([("voting", GaussianNB())], "conflict with constructor"),
        ([("a", "drop")], "All estimators are dropped"),
        ([("a", Ridge())], "The estimator Ridge should be a classifier. Replace or drop 'a'"),
        ([("a", "gnb")], "The estimator str should be a classifier"),
    ],
)
def test_what_is_no_list_of_members_is_refused(members: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        VotingClassifier(members).fit(*classes())


def test_an_error_says_which_member_it_was() -> None:
    X, y = classes()
    X[0, 0] = -1
    model = VotingClassifier([("nb", GaussianNB()), ("counts", MultinomialNB())])
    with pytest.raises(ValueError, match="egative") as caught:
        model.fit(X, y)
    assert caught.value.__notes__ == [
        "This happened in the fit of member 'counts', a MultinomialNB."
    ]
    with pytest.raises(TypeError, match="unexpected keyword") as caught_type:
        fitted_member(GaussianNB(), X, y, {"speed": 3}, "member 4")
    assert caught_type.value.__notes__ == ["This happened in the fit of member 4, a GaussianNB."]


def test_tags_and_invariances_are_those_all_members_have() -> None:
    model = VotingClassifier([("a", NaiveBayes()), ("b", MultinomialNB())])
    tags = model.__sklearn_tags__().input_tags
    assert tags.allow_nan
    assert tags.positive_only
    assert not vote().__sklearn_tags__().input_tags.sparse
    assert shared_invariances([LinearRegression(), KNeighborsClassifier()]) == ()
    assert VotingClassifier([("a", None)]).__sklearn_tags__() is not None
    tags = vote().__sklearn_tags__()
    combine_input_tags(tags, [MultinomialNB()])
    assert tags.input_tags.sparse


def test_results_come_in_the_order_of_the_members() -> None:
    model = vote(n_jobs=3)
    assert run_members(model, lambda k: k * k, range(9)) == [k * k for k in range(9)]


def test_a_verbose_fit_draws_a_bar_on_a_terminal_only(capsys: pytest.CaptureFixture[str]) -> None:
    vote(verbose=True).fit(*classes())
    assert capsys.readouterr() == ("", "")


def test_codes_of_labels_that_are_strange_are_refused() -> None:
    X, y = classes()
    model = GaussianNB().fit(X, y)
    assert member_codes(model, X[:3], np.array(["a", "b", "c"])).max() <= 2
    with pytest.raises(InputError, match="GaussianNB predicts 'c', which is not among"):
        member_codes(model, X, np.array(["a", "b"]))


def test_the_picture_of_an_ensemble_shows_its_members() -> None:
    assert "LinearDiscriminantAnalysis" in vote()._repr_html_()


# --- Metadata -------------------------------------------------------------------------------------


def test_without_routing_all_members_get_the_weights_or_none() -> None:
    X, y = classes()
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    model = VotingClassifier([("a", Recorder()), ("b", Recorder())]).fit(X, y, weight)
    for member in model.estimators_:
        np.testing.assert_array_equal(member.given_[0], weight)
    with pytest.raises(InputError, match=r"'knn' takes no sample_weight\. Drop it, or leave"):
        VotingClassifier([("a", Recorder()), ("knn", KNeighborsClassifier())]).fit(X, y, weight)
    with pytest.raises(ValueError, match="price"):
        model.fit(X, y, price=weight)


def test_routing_sends_metadata_where_they_are_requested() -> None:
    X, y = classes()
    weight, price = np.arange(len(y), dtype=float), np.arange(len(y))
    with config_context(enable_metadata_routing=True):
        wants = Recorder().set_fit_request(sample_weight=True, price=True)
        declines = Recorder().set_fit_request(sample_weight=False, price=False)
        model = VotingClassifier([("a", wants), ("b", declines)])
        model.fit(X, y, sample_weight=weight, price=price)
        # The first row has weight zero, so it is absent for all, and its price too.
        np.testing.assert_array_equal(model.estimators_[0].given_[0], weight[1:])
        np.testing.assert_array_equal(model.estimators_[0].given_[1], price[1:])
        assert model.estimators_[1].given_ == (None, None)
        assert consumes_weights(wants)
        assert not consumes_weights(declines)
        with pytest.raises(UnsetMetadataPassedError):
            VotingClassifier([("a", Recorder())]).fit(X, y, sample_weight=weight)


def test_regressors_take_regressors_only() -> None:
    with pytest.raises(InputError, match="The estimator GaussianNB should be a regressor"):
        VotingRegressor([("a", GaussianNB())]).fit(*numbers())
