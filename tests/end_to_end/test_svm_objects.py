"""Strings, graphs, trees, tuples and tables in every learner with a kernel."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import Pipeline

from novum.core import load, save
from novum.kernels import (
    Constant,
    Delta,
    Gaussian,
    Graph,
    Mixed,
    Spectrum,
    SubsetTreeKernel,
    Substrings,
    SubtreeKernel,
    WeisfeilerLehman,
    check_kernel,
    check_kernel_contract,
    normalize,
    on,
)
from novum.numerics import Floats
from novum.svm import (
    SVC,
    SVR,
    KernelPerceptron,
    KernelRidge,
    OneClassSVM,
    RankingSVM,
)


def values(model: Any, X: Any) -> Floats:
    """Decision values, or predictions of learners that have no others."""
    decide = getattr(model, "decision_function", model.predict)
    return np.asarray(decide(X))


def fitted(model: Any, X: Any, target: Any, **more: Any) -> Any:
    """A fitted copy; novelty detectors get no target."""
    model = clone(model)
    return model.fit(X, **more) if target is None else model.fit(X, target, **more)


def objects(sort: str) -> tuple[Any, Any]:
    """Thirty objects, odd ones unlike even ones, and a kernel for them."""
    rng = np.random.default_rng(4)
    odd = [bool(i % 2) for i in range(30)]
    if sort in {"strings", "substrings"}:
        strings = [
            "".join(rng.choice(list("acgt"), size=rng.integers(0, 20), p=p))
            for p in ([0.4, 0.1, 0.1, 0.4] if flag else [0.1, 0.4, 0.4, 0.1] for flag in odd)
        ]
        kernel = normalize(Spectrum(up_to=3)) if sort == "strings" else Substrings(decay=0.5)
        return strings, kernel
    if sort == "graphs":
        sizes = [int(size) for size in rng.integers(0, 8, size=30)]
        return [
            Graph(
                [(a, b) for a in range(m) for b in range(a) if rng.random() < 0.3 + 0.4 * flag],
                labels=[int(v) for v in rng.integers(0, 2 + flag, size=m)],
            )
            for m, flag in zip(sizes, odd, strict=True)
        ], WeisfeilerLehman(iterations=2)
    if sort in {"trees", "subset trees"}:
        kernel = SubtreeKernel() if sort == "trees" else normalize(SubsetTreeKernel(0.5))
        return [
            ("S", ("NP", word), ("VP", word, ("NP", "b" if rng.random() < 0.5 else "c")))
            for word in ("a" if flag ^ (rng.random() < 0.2) else "b" for flag in odd)
        ], kernel
    ages = rng.normal(size=30) + 1.5 * np.array(odd)
    colors = rng.choice(["red", "green", "blue"], size=30)
    if sort == "tuples":
        pairs = list(zip(ages.tolist(), colors.tolist(), strict=True))
        return pairs, on([0], Gaussian(1.0)) * (on(1, Delta(0.5)) + Constant(0.5))
    table = [{"age": float(a), "color": str(c)} for a, c in zip(ages.tolist(), colors, strict=True)]
    import pandas as pd

    return pd.DataFrame(table), Mixed()


SORTS = ["strings", "substrings", "graphs", "trees", "subset trees", "tuples", "mixed table"]


def some(X: Any, positions: list[int]) -> Any:
    return X.iloc[positions] if hasattr(X, "iloc") else [X[i] for i in positions]


# The perceptron says that these objects cannot be separated.
@pytest.mark.filterwarnings("ignore:.*passes gain no more")
@pytest.mark.parametrize("sort", SORTS)
def test_every_learner_takes_every_object_and_is_kept(sort: str, tmp_path: Path) -> None:
    X, kernel = objects(sort)
    check_kernel_contract(kernel, X)
    assert check_kernel(kernel, X).verdict == "valid"
    labels = np.array(["even", "odd"] * 15)
    numbers = np.tile([0.0, 1.0], 15) + np.arange(30) / 30
    learners = [
        (SVC(kernel=kernel), labels),
        (SVC(kernel=kernel, probability=True), labels),
        (SVR(kernel=kernel), numbers),
        (OneClassSVM(kernel=kernel), None),
        (KernelRidge(kernel=kernel), numbers),
        (RankingSVM(kernel=kernel), numbers.round(1)),
        (KernelPerceptron(kernel=kernel), labels),
    ]
    for number, (learner, target) in enumerate(learners):
        model = fitted(learner, X, target)
        expected = values(model, X)
        np.testing.assert_allclose(
            values(model, some(X, [3, 1, 0])), expected[[3, 1, 0]], atol=1e-12
        )
        path = tmp_path / f"{number}.novum"
        save(model, path)
        for again in (load(path), pickle.loads(pickle.dumps(model))):
            np.testing.assert_array_equal(values(again, X), expected)
        assert clone(model).kernel == kernel


@pytest.mark.parametrize("sort", ["strings", "graphs", "trees", "mixed table"])
def test_kernels_are_searched_like_any_parameter(sort: str) -> None:
    X, kernel = objects(sort)
    labels = np.array(["even", "odd"] * 15)
    search = GridSearchCV(
        Pipeline([("machine", SVC())]),
        {"machine__kernel": [kernel, kernel + Constant(1.0)], "machine__C": [0.1, 10.0]},
        cv=3,
    ).fit(X, labels)
    assert search.best_score_ > 0.5
    assert search.best_estimator_.predict(X).shape == (30,)
    assert cross_val_score(SVC(kernel=kernel), X, labels, cv=3).shape == (3,)


def test_empty_objects_and_unseen_symbols() -> None:
    strings, kernel = objects("strings")
    model = SVC(kernel=kernel).fit(strings, [0, 1] * 15)
    # Nothing is shared with any support vector: the bias decides.
    np.testing.assert_array_equal(
        model.decision_function(["", "zzz", "\u20ac"]), np.repeat(model.intercept_, 3)
    )
    graphs, kernel = objects("graphs")
    model = SVC(kernel=kernel).fit(graphs, [0, 1] * 15)
    strange = [Graph([], labels=[]), Graph([(0, 1)], labels=["q", "z"])]
    np.testing.assert_array_equal(model.decision_function(strange), np.repeat(model.intercept_, 2))
    np.testing.assert_array_equal(
        SVC(kernel=Spectrum(2)).fit([""] * 4, [0, 1, 0, 1]).decision_function(["", "ab"]),
        [0.0, 0.0],
    )
