"""Models that were never fitted say so, whatever they are asked: over all of the registry."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from novum.core import WorkingPoint
from novum.core.files import registry
from novum.core.files.registered_names import ESTIMATOR_NAMES
from tests.strategies.every_class import default

rng = np.random.default_rng(0)
X, Y = rng.normal(size=(20, 3)), np.arange(20) % 2
POINT = WorkingPoint.binary(prior=0.5, cost_fn=1, cost_fp=1, classes=(0, 1))
# What is asked of a fitted model; `ConstantPredictor` has all it knows from its parameters.
ASKED = (
    "predict", "predict_proba", "predict_log_proba", "predict_quantile", "decision_function",
    "score", "score_samples", "transform", "inverse_transform", "staged_predict",
    "staged_predict_proba", "staged_decision_function", "staged_score", "apply", "decision_path",
    "get_feature_names_out", "get_support", "quadratic_form", "matvec", "blocks",
    "get_covariance", "get_precision", "predict_interval", "predict_joint_log_proba", "intervals",
    "predict_set", "predict_union",
)  # fmt: skip


def questions() -> Iterator[tuple[str, str]]:
    for module, names in ESTIMATOR_NAMES.items():
        importlib.import_module(module)
        for name in names:
            if name != "ConstantPredictor":
                yield from (
                    (name, method)
                    for method in ASKED
                    if hasattr(default(registry.estimator(name)), method)
                )


@pytest.mark.parametrize(("name", "method"), sorted(questions()))
def test_an_unfitted_model_says_so(name: str, method: str) -> None:
    model = default(registry.estimator(name))
    if name == "Pipeline" and method == "get_feature_names_out":
        return  # Of a pipeline whose last step has none.
    ask = getattr(model, method)
    known = {"X": X, "y": Y, "point": POINT, "weights": np.ones(3), "Z": X, "T": X}
    given = [
        known[p.name]
        for p in inspect.signature(ask).parameters.values()
        if p.name in known and (p.default is p.empty or p.name == "y")
    ]

    def answered() -> Any:
        answer = ask(*given)
        # Generators begin to work when they are asked for the first time.
        return next(answer) if inspect.isgenerator(answer) else answer

    with pytest.raises(NotFittedError):
        answered()
