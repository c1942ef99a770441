"""Every class behind a public door that learns from a table, with its default arguments.

Where a class needs a member it is a named one, ridge or logistic regression. What is known not to
hold for a class, and why, stands in the table of `docs/extend/estimators.md`, which tests read.
"""

from __future__ import annotations

import inspect
import re
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier, is_regressor
from sklearn.utils import get_tags

import novum
from novum.linear import Lasso, LogisticRegression, Ridge
from novum.mixture import GaussianMixture
from novum.numerics import Array

PAGE = Path(__file__).parents[2] / "docs" / "extend" / "estimators.md"
N = 60
_RNG = np.random.default_rng(0)
NUMBERS = _RNG.normal(size=(N, 4))
SCORES = NUMBERS[:, 0] * 2 + NUMBERS[:, 1] + 0.3 * _RNG.normal(size=N)
LABELS = np.array(["a", "b"])[(NUMBERS[:, 0] + 0.5 * _RNG.normal(size=N) > 0).astype(int)]


@cache
def classes() -> dict[str, type]:
    """Classes by name; agents, which learn by acting, and readers of text and dates are others."""
    result = {}
    for package in dir(novum):
        door = getattr(novum, package)
        for name in getattr(door, "__all__", ()):
            own = getattr(door, name)
            if inspect.isclass(own) and issubclass(own, BaseEstimator) and hasattr(own, "fit"):
                result[name] = own
    others = ("TextClassifier", "TextFeatures", "DateFeatures")
    return {
        name: own
        for name, own in sorted(result.items())
        if not own.__module__.startswith("novum.reinforcement") and name not in others
    }


def default(own: type) -> Any:
    """An estimator with default arguments, and a named member where it needs one."""
    required = [
        p.name
        for p in inspect.signature(own).parameters.values()
        if p.default is p.empty and p.kind is not p.VAR_KEYWORD
    ]
    is_regressor = own.__name__.endswith("Regressor") or own.__name__ == "RegressorChain"
    member = Ridge() if is_regressor else LogisticRegression()
    members = {
        "estimator": member,
        "learner": member,
        "estimators": [("a", member)],
        "steps": [("a", member)],
        "param_grid": {},
        "param_distributions": {},
        "density": GaussianMixture(),
        "views": [[0], [1]],
    }
    model = own(**{name: members[name] for name in required})
    if own.__name__ == "StabilitySelection":
        model.set_params(estimator=Lasso())
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=0)
    return model


def table_for(model: Any) -> tuple[Array, Array | None]:
    """Numbers that the estimator can learn from, with its kind of target."""
    tags, name = get_tags(model), type(model).__name__
    X = NUMBERS
    if tags.input_tags.positive_only:
        X = np.floor(3 * np.abs(NUMBERS))
    elif name == "IsotonicRegression":
        X = NUMBERS[:, :1]
    if name in ("MultiOutputClassifier", "ClassifierChain"):
        return X, np.column_stack([LABELS, LABELS[::-1]])
    if name in ("MultiOutputRegressor", "RegressorChain"):
        return X, np.column_stack([SCORES, SCORES[::-1]])
    if is_regressor(model) or name == "RankingSVM":
        return X, np.exp(SCORES / 2) if tags.target_tags.positive_only else SCORES
    if is_classifier(model) or tags.target_tags.required or name == "SequentialFeatureSelector":
        return X, LABELS
    return X, None


def exceptions() -> dict[str, set[str]]:
    """What does not hold for which class, from the table of the page."""
    result: dict[str, set[str]] = {}
    for line in re.findall(r"^\| (`\w+`.*) \| (.*) \|.*\|$", PAGE.read_text(), re.MULTILINE):
        for name in re.findall(r"`(\w+)`", line[0]):
            result.setdefault(name, set()).update(re.findall(r"`(\w+)`", line[1]))
    return result
