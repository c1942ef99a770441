"""Declared parameters: the constructor, the check, the names and the documentation that follow."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pkgutil
import re
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils._param_validation import InvalidParameterError

import novum
from novum.core.files import registry
from novum.core.learners import Learner, count, deferred, fitted, later, parameter, share
from novum.core.learners.parameters import REQUIRED

RandomSource = Any


class Smoother(Learner):
    """A smoother.

    Parameters
    ----------
    width, rate : float
        How far, and how fast.
    shape : {"box", "normal"}

    Notes
    -----
    Nothing else.
    """

    width: float = parameter(default=1.0, above=0, kw_only=False)
    rate: float = parameter(default=0.5, at_least=0, at_most=1)
    shape: str = parameter({"box", "normal"}, default="box")
    n_rows: int | None = parameter(default=None, at_least=2)
    size: Any = parameter(count(), share(), default=1)
    flag: bool = parameter(default=False)
    random_state: RandomSource = parameter(default=None)
    free: Any = parameter(default=None)
    answer_: float = fitted()


class Normal(Smoother):
    """A smoother of one shape."""

    shape = "normal"
    least: int = parameter(default=3)


class Given(Learner):
    learner: Any = parameter(kw_only=False)


def test_the_constructor_is_the_one_a_person_would_write() -> None:
    signature = inspect.signature(Normal)
    kinds = {name: p.kind.name for name, p in signature.parameters.items()}
    assert kinds["width"] == "POSITIONAL_OR_KEYWORD"
    assert set(kinds.values()) == {"POSITIONAL_OR_KEYWORD", "KEYWORD_ONLY"}
    assert signature.parameters["shape"].default == "normal"
    assert Normal(2.0).width == 2.0
    with pytest.raises(TypeError, match="positional argument"):
        Normal(2.0, 0.5)  # type: ignore[misc]
    with pytest.raises(TypeError, match="learner"):
        Given()  # type: ignore[call-arg]
    assert Normal.__init__.__qualname__ == "Normal.__init__"


def test_a_default_is_changed_in_one_line_and_only_below() -> None:
    assert Smoother().shape == "box"
    assert Normal().get_params()["shape"] == "normal"
    assert clone(Normal(shape="box")).shape == "box"
    assert not hasattr(Smoother, "shape")
    assert not hasattr(Smoother(), "answer_")


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("width", [1, 0.5, np.float32(2)], [0, -1.0, "wide", None]),
        ("rate", [0, 1], [1.1, -0.1]),
        ("shape", ["box", "normal"], ["triangle", 1, None]),
        ("n_rows", [2, None, np.int64(9)], [1, 2.5]),
        ("size", [1, 7, 0.5, 1.0], [0, 1.5, "all"]),
        ("flag", [True, np.False_], ["yes", None]),
        ("random_state", [None, 3, np.random.default_rng(0)], ["seed"]),
        ("free", [None, "anything", object()], []),
    ],
)
def test_values_are_checked_by_type_bounds_and_alternatives(
    name: str, good: list[Any], bad: list[Any]
) -> None:
    for value in good:
        Smoother().set_params(**{name: value})._validate_params()
    for value in bad:
        with pytest.raises(InvalidParameterError, match=f"The '{name}' parameter of Smoother"):
            Smoother().set_params(**{name: value})._validate_params()


def test_the_documentation_is_inherited_and_shows_defaults() -> None:
    text = inspect.getdoc(Normal) or ""
    assert "width, rate : float, default=1.0 and 0.5\n    How far, and how fast." in text
    assert 'shape : {"box", "normal"}, default=\'normal\'' in text
    assert "least : int, default=3" in text
    assert (inspect.getdoc(Smoother) or "").count("Parameters") == 1
    assert (inspect.getdoc(Smoother) or "").endswith("Notes\n-----\nNothing else.")


def test_a_constructor_that_somebody_wrote_stays() -> None:
    class Own(Smoother):
        def __init__(self, width: float = 3.0, height: float = 1.0) -> None:
            super().__init__(width)
            self.height = height

    class Below(Own):
        pass

    assert Below(4.0).width == 4.0
    assert Below._get_param_names() == ["height", "width"]


def test_every_learner_declares_and_documents_its_parameters() -> None:
    others = {"Pipeline", "ConstantPredictor"}
    for name in registry.ESTIMATORS:
        cls: Any = registry.estimator(name)
        if name in others:
            continue
        assert issubclass(cls, Learner), name
        assert hasattr(cls.__init__, "is_declared"), name
        section = re.search(r"Parameters\n-+\n(.*?)(\n\n|\Z)", inspect.getdoc(cls) or "", re.S)
        if cls._parameters:
            assert section, name
            heads = [line for line in section[1].splitlines() if not line.startswith(" ")]
            shown = [n.strip() for line in heads for n in line.split(" : ")[0].split(",")]
            assert sorted(shown) == cls._get_param_names(), name


# --- Attributes for later ---


class Later(Learner):
    total_: float = deferred()

    def fit(self, X: list[float]) -> Later:
        self.total_ = later(_total, X)
        return self


def _total(numbers: list[float]) -> float:
    _calls.append(len(numbers))
    return sum(numbers)


_calls: list[int] = []


@pytest.mark.parametrize("value", [1, [1, 2], Smoother(0.5)])
def test_a_clone_has_values_of_its_own(value: Any) -> None:
    model = Smoother(2.0, free=value)
    twin = clone(model)
    assert twin is not model
    assert type(twin) is Smoother
    assert repr(twin) == repr(model)
    assert (twin.free is value) == (value == 1)


def test_a_clone_keeps_what_was_requested_and_forgets_what_was_fitted() -> None:
    model: Any = Normal()
    model._sklearn_output_config = {"transform": "pandas"}
    model.answer_ = 1.0
    twin = clone(model)
    assert twin._sklearn_output_config == {"transform": "pandas"}
    assert not hasattr(twin, "answer_")


def test_a_deferred_attribute_is_computed_once_when_it_is_read() -> None:
    _calls.clear()
    model = Later().fit([1.0, 2.0])
    assert not _calls
    assert model.total_ == model.total_ == 3.0
    assert _calls == [2]
    assert model.fit([5.0]).total_ == 5.0


def test_a_deferred_attribute_survives_pickle_and_is_no_part_of_a_clone() -> None:
    model = Later().fit([1.0, 2.0])
    assert pickle.loads(pickle.dumps(model)).total_ == 3.0
    assert model.total_ == 3.0
    assert pickle.loads(pickle.dumps(model)).total_ == 3.0
    assert not hasattr(clone(model), "total_")
    del model.total_
    with pytest.raises(AttributeError, match="total_"):
        _ = model.total_
    with pytest.raises(AttributeError, match="total_"):
        del model.total_


def test_every_default_is_accepted() -> None:
    # Fits do not check a parameter that is the default.
    for package in pkgutil.iter_modules(novum.__path__, "novum."):
        door = importlib.import_module(package.name)
        for name in getattr(door, "__all__", ()):
            learner = getattr(door, name)
            if isinstance(learner, type) and issubclass(learner, Learner):
                for parameter, default, checks in learner._parameter_checks:
                    accepted = any(check.is_satisfied_by(default) for check in checks)
                    assert accepted or default is REQUIRED, (name, parameter)
