"""From a row of the table to an estimator: which steps it has, and its settings."""

from __future__ import annotations

import pytest

from novum.apps.job.building import build, candidate, grid, imported, learner_of, settings_text
from novum.apps.job.families import FAMILIES, family
from novum.core.learners import Pipeline
from novum.trees import DecisionTreeClassifier, RandomForestClassifier


def steps(name: str, kind: str) -> list[str]:
    model = build(family(name), kind, seed=0)
    return [step for step, _ in model.steps] if isinstance(model, Pipeline) else []


def test_import_strings() -> None:
    assert imported("novum.trees:RandomForestClassifier") is RandomForestClassifier


@pytest.mark.parametrize(
    ("name", "kind", "expected"),
    [
        ("linear", "binary", ["fill", "scale", "learner"]),
        ("linear", "regression", ["fill", "scale", "learner"]),
        ("gaussian", "multiclass", []),
        ("tree", "binary", []),
        ("forest", "regression", []),
        ("naive_bayes", "binary", []),
    ],
)
def test_steps_stand_only_where_they_are_needed(name: str, kind: str, expected: list[str]) -> None:
    assert steps(name, kind) == expected


def test_no_row_of_the_table_fills_for_learners_that_take_missing_cells() -> None:
    for row in FAMILIES:
        for kind in ("binary", "regression"):
            if row.role(kind) is not None:
                assert ("fill" in steps(row.name, kind)) == (not row.takes_missing)
                assert ("scale" in steps(row.name, kind)) == row.scales


def test_the_preferred_candidate_is_built() -> None:
    model = build(family("linear"), "binary", seed=0)
    assert learner_of(model).get_params()["C"] == 1.0
    assert (
        learner_of(DecisionTreeClassifier()).get_params() == DecisionTreeClassifier().get_params()
    )


def test_the_seed_reaches_learners_and_their_parts() -> None:
    forest = build(family("forest"), "binary", seed=17)
    assert forest.get_params()["random_state"] == 17
    boosted = build(family("boosting"), "binary", seed=17)
    params = boosted.get_params()
    assert (params["random_state"], params["n_estimators"]) == (17, 100)
    assert (params["estimator"].random_state, params["estimator"].max_depth) == (17, 3)
    later = candidate(family("boosting"), "binary", 2, boosted, 17)
    assert (later["estimator"].random_state, later["estimator"].max_depth) == (17, 6)


def test_candidates_are_named_as_set_params_takes_them() -> None:
    piped = build(family("linear"), "binary", seed=0)
    assert candidate(family("linear"), "binary", 1, piped, 0) == {"learner__C": 0.1}
    plain = build(family("tree"), "binary", seed=0)
    assert candidate(family("tree"), "binary", 1, plain, 0) == {"min_samples_leaf": 2}


def test_a_grid_has_the_first_candidates_in_their_order() -> None:
    row = family("forest")
    model = build(row, "binary", seed=0)
    assert grid(row, "binary", 3, model, 0) == [
        {"max_features": ["sqrt"]},
        {"max_features": [0.5]},
        {"max_features": ["sqrt"], "min_samples_leaf": [3]},
    ]


def test_a_family_without_the_learner_is_refused() -> None:
    with pytest.raises(ValueError, match="naive_bayes has no learner for regression"):
        build(family("naive_bayes"), "regression", seed=0)


def test_settings_as_text_are_short_sorted_and_on_one_line() -> None:
    shown = settings_text(
        {
            "learner__max_features": "sqrt",
            "learner__C": 0.5,
            "estimator": DecisionTreeClassifier(max_depth=3),
        }
    )
    assert shown == (
        ("C", "0.5"),
        ("estimator", "DecisionTreeClassifier(max_depth=3)"),
        ("max_features", "sqrt"),
    )
    wide = settings_text({"a": list(range(60))})[0][1]
    assert "\n" not in wide
    assert settings_text({}) == ()
