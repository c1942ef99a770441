"""Arguments go to who asked for them."""

from typing import Any

import numpy as np
import pytest
import sklearn
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import get_scorer
from sklearn.model_selection import GroupKFold

from novum.core.errors import InputError
from novum.evaluation.validation.routing import named_scorers, route
from novum.linear import Ridge

WEIGHT, GROUPS = np.ones(4), np.arange(4)


def unweighed(model: Any, X: Any, y: Any) -> float:
    del model, X, y
    return 0.0


def test_single_scores_are_called_score_several_by_their_names() -> None:
    for single in (None, "r2", unweighed):
        scorers, several = named_scorers(Ridge(), single)
        assert list(scorers) == ["score"]
        assert not several
    assert list(named_scorers(Ridge(), ["r2", "max_error"])[0]) == ["r2", "max_error"]
    assert named_scorers(Ridge(), {"a": "r2"})[1]


def test_without_routing_weights_go_to_the_learner_and_the_scores() -> None:
    scorers = {"score": get_scorer("r2")}
    found = route("caller", Ridge(), scorers, None, GROUPS, {"sample_weight": WEIGHT, "a": 1})
    assert dict(found.fit) == {"sample_weight": WEIGHT, "a": 1}
    assert found.score["score"]["sample_weight"] is WEIGHT
    assert found.groups is GROUPS
    assert route("caller", Ridge(), scorers, None, None, {"groups": GROUPS}).groups is GROUPS


def test_a_score_that_takes_no_weights_is_named() -> None:
    with pytest.warns(UserWarning, match="The scoring score=.* does not support sample_weight"):
        found = route("c", Ridge(), {"score": unweighed}, None, None, {"sample_weight": WEIGHT})
    assert found.score == {}


def test_with_routing_everyone_asks() -> None:
    with sklearn.config_context(enable_metadata_routing=True):
        model = Ridge().set_fit_request(sample_weight=True)
        plain = get_scorer("r2").set_score_request(sample_weight=False)
        params = {"sample_weight": WEIGHT, "groups": GROUPS}
        found = route("caller", model, {"score": plain}, GroupKFold(2), None, params)
        assert found.fit["sample_weight"] is WEIGHT
        assert found.score == {"score": {}}
        assert found.groups is GROUPS
        with pytest.raises(UnsetMetadataPassedError, match="caller"):
            route("caller", Ridge(), {"score": plain}, None, None, {"sample_weight": WEIGHT})
        with pytest.raises(InputError, match=r"params=\{'groups': groups\}"):
            route("caller", model, {}, None, GROUPS)
