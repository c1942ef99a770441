"""Lessons end where the learners of the library do, and say what is missing in one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from novum.apps.studio.frames import line
from novum.apps.studio.grid_lessons import METHODS, frames, world_of
from novum.apps.studio.lessons import LESSONS, MOST_FRAMES, Points
from novum.clustering import KMeans
from novum.core.errors import InputError
from novum.decomposition import PCA
from novum.linear import Perceptron
from novum.mixture import GaussianMixture
from novum.reinforcement import GridWorld, solve

BY_NAME = {one.name: one for one in LESSONS}


def cloud(spread: float = 0.08) -> Points:
    rng = np.random.default_rng(0)
    middles = np.array([[0.3, 0.35], [0.7, 0.65]])
    X = np.vstack([rng.normal(middle, spread, (25, 2)) for middle in middles])
    return Points(X.clip(0, 1), np.repeat([0, 1], 25))


def lesson(name: str, points: Points | None = None, **settings: Any) -> list[dict[str, Any]]:
    return BY_NAME[name].frames(cloud() if points is None else points, settings)


def numbers(frame: dict[str, Any]) -> dict[str, float]:
    return dict(frame["numbers"])


def places(frame: dict[str, Any], kind: str) -> list[tuple[float, float]]:
    return [(one["x"], one["y"]) for one in frame["marks"] if one["kind"] == kind]


@pytest.mark.parametrize("name", BY_NAME)
def test_every_lesson_has_frames_of_plain_data(name: str) -> None:
    found = lesson(name)
    assert 1 <= len(found) <= MOST_FRAMES
    for frame in found:
        assert frame["title"]
        assert frame["formula"]
        assert all(isinstance(value, float) for _, value in frame["numbers"])
        if frame["colors"] is not None:
            assert len(frame["colors"]) == 50


def test_k_means_is_that_of_the_library_and_never_grows() -> None:
    points = cloud(0.2)
    found = lesson("k_means", points, groups=3, seed=4)
    costs = [numbers(frame)["J"] for frame in found[1:]]
    assert (np.diff(costs) <= 1e-12).all()
    start = np.array(places(found[0], "center"))
    model = KMeans(3, init=start, n_init=1).fit(points.X)
    np.testing.assert_allclose(places(found[-1], "center"), model.cluster_centers_, atol=1e-9)
    np.testing.assert_allclose(costs[-1], model.inertia_, rtol=1e-9)


def test_em_never_falls_and_ends_at_a_fixed_point_of_the_library() -> None:
    points = cloud()
    found = lesson("mixture", points, groups=2, seed=1)
    likelihoods = [numbers(frame)["log L"] for frame in found if "log L" in numbers(frame)]
    assert (np.diff(likelihoods) > -1e-9).all()
    # The same start: equal weights, round laws, and the means of the first frame.
    start = {
        "weights_init": [0.5, 0.5],
        "means_init": places(found[0], "center"),
        "precisions_init": np.tile(2 * np.eye(2) / points.X.var(axis=0).mean(), (2, 1, 1)),
    }
    best = GaussianMixture(2, moves=0, tol=1e-9, random_state=0, **start).fit(points.X)
    assert likelihoods[-1] == pytest.approx(best.log_likelihood_, abs=0.01)


@pytest.mark.parametrize("seed", range(8))
def test_no_step_shows_a_number_that_its_sentence_denies(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points = Points(rng.random((30, 2)).round(1 + seed % 3), rng.integers(0, 2, 30))
    shown = [numbers(frame) for frame in lesson("k_means", points, groups=3, seed=seed)]
    costs = [one["J"] for one in shown if "J" in one]
    # To the last bit: J never grows.
    assert (np.diff(costs) <= 0).all()
    assert all(one.get("falls by", 0.0) >= 0.0 for one in shown)
    shown = [numbers(frame) for frame in lesson("mixture", points, groups=2, seed=seed)]
    assert all(one.get("gained", 0.0) >= 0.0 for one in shown)


def test_a_border_without_probabilities_has_none_in_its_formula() -> None:
    for learner, has_some in (("perceptron", False), ("naive Bayes", True)):
        (shown,) = lesson("regions", learner=learner)
        assert ("P(c | x)" in shown["formula"]) == has_some


def test_the_perceptron_makes_the_mistakes_of_the_library() -> None:
    points = cloud()
    last = lesson("perceptron", points)[-1]
    model = Perceptron(shuffle=False, tol=None).fit(points.X, points.y)
    shown = numbers(last)
    np.testing.assert_allclose([shown["w₁"], shown["w₂"]], model.coef_[0], atol=1e-9)
    assert shown["b"] == pytest.approx(float(model.intercept_[0]))
    assert f"after {model.certificate_.details['mistakes']:.0f}" in last["title"]


def test_the_component_is_that_of_the_library() -> None:
    points = cloud(0.1)
    last = lesson("components", points)[-1]
    assert numbers(last)["vᵀSv"] == pytest.approx(
        PCA(1).fit(points.X).explained_variance_[0] * 49 / 50, rel=1e-6
    )


def test_margins_narrow_as_slack_becomes_dear() -> None:
    margins = [numbers(frame)["margin 2/‖w‖"] for frame in lesson("machine")]
    assert (np.diff(margins) <= 1e-6).all()


@pytest.mark.parametrize(
    ("name", "points", "settings", "words"),
    [
        ("k_means", Points(np.empty((0, 2)), np.empty(0, np.int64)), {}, "There is no point yet"),
        ("k_means", Points(np.full((9, 2), 0.5), np.zeros(9, np.int64)), {}, "3 groups need"),
        ("k_means", None, {"groups": 99}, "Groups lies from 2 to 6"),
        ("k_means", None, {"groups": "many"}, "Groups lies from 2 to 6"),
        ("perceptron", Points(np.eye(2), np.zeros(2, np.int64)), {}, "second color"),
        ("descent", Points(np.eye(3)[:, :2], np.arange(3)), {}, "erase the third"),
        ("regions", None, {"learner": "oracle"}, "Classifier is one of"),
        ("components", Points(np.full((9, 2), 0.5), np.zeros(9, np.int64)), {}, "that differ"),
    ],
)
def test_what_is_missing_is_said(
    name: str, points: Points | None, settings: dict[str, Any], words: str
) -> None:
    with pytest.raises(InputError, match=words):
        lesson(name, points, **settings)


# --- Grid world -----------------------------------------------------------------------------------


@pytest.mark.parametrize("method", METHODS)
def test_methods_come_to_the_values_of_the_notes(method: str) -> None:
    world = world_of(GridWorld.notes().map)
    last = frames(world, method)[-1]
    best = dict(zip(map(tuple, world.process.states), solve(world.process).values, strict=True))
    own = {tuple(one["field"]): one["value"] for one in last["fields"]}
    assert own.keys() == best.keys()
    # An agent seldom visits fields that are not on its way.
    asked = [(1, 1), (1, 2), (1, 3), (2, 3), (3, 3)] if method == "Q-learning" else list(best)
    bound = {"value iteration": 2e-3, "policy iteration": 0.01, "Q-learning": 0.1}[method]
    for field in asked:
        assert own[field] == pytest.approx(best[field], abs=bound)


def test_worlds_that_cannot_be_are_said() -> None:
    with pytest.raises(InputError, match="needs an end"):
        world_of("...\n...")
    with pytest.raises(InputError, match="wander for ever"):
        world_of("..+", living_reward=0.1)
    with pytest.raises(InputError, match="too many fields"):
        world_of("." * 300)
    with pytest.raises(InputError, match="field to start from"):
        frames(world_of("..+"), "Q-learning")
    with pytest.raises(InputError, match="method is one of"):
        frames(world_of("..+"), "guessing")


@pytest.mark.parametrize("w", [(1.0, 0.0), (0.0, -2.0), (3.0, -1.0), (1.0, 1.0)])
def test_lines_end_at_the_border_of_the_square(w: tuple[float, float]) -> None:
    weights = np.array(w)
    inside = -float(weights @ [0.4, 0.6])
    [drawn] = line(weights, inside)
    for end in np.array(drawn["points"]):
        assert float(weights @ end + inside) == pytest.approx(0.0, abs=1e-3)
        assert np.abs(end - 0.5).max() == pytest.approx(0.5, abs=1e-3)
    assert line(weights, 100.0) == line(np.zeros(2), 1.0) == []


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("machine", {}),
        ("machine", {"kernel": "bent"}),
        ("descent", {}),
        ("tree", {}),
        ("regions", {"learner": "nearest neighbors"}),
    ],
)
def test_two_classes_on_one_place_have_frames(name: str, settings: dict[str, Any]) -> None:
    assert lesson(name, Points(np.full((2, 2), 0.5), np.array([0, 1])), **settings)
