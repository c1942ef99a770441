"""Peers: import strings, parameters from the data, and the three ways of not being there."""

import sys
import types

import pytest

from benchmarks.peers import NotYetError, build, function, load, novum, threads
from benchmarks.recipes import Data


def test_build_calls_the_class_with_values_of_the_data() -> None:
    made = build("fractions:Fraction", numerator="@top", denominator=4)(Data(top=3))
    assert made == 3 / 4


def test_function_binds_parameters() -> None:
    assert function("builtins:sorted", reverse=True)(Data())([1, 3, 2]) == [3, 2, 1]


@pytest.mark.parametrize(
    "path", ["novum.no_such_package:Thing", "novum.core:NoSuchThing", "novum.linear:Nothing.at_all"]
)
def test_what_novum_lacks_is_not_yet(path: str) -> None:
    with pytest.raises(NotYetError, match="novum"):
        load(path)


def test_a_rival_that_lacks_something_is_an_error() -> None:
    with pytest.raises(AttributeError):
        load("math:no_such_function")
    with pytest.raises(ModuleNotFoundError):
        load("no_such_rival:Thing")


def test_a_dependency_missing_below_novum_is_not_hidden(monkeypatch: pytest.MonkeyPatch) -> None:
    class Broken(types.ModuleType):
        def __getattr__(self, name: str) -> object:
            raise ModuleNotFoundError("No module named 'duckdb'", name="duckdb")

    monkeypatch.setitem(sys.modules, "novum.broken", Broken("novum.broken"))
    with pytest.raises(ModuleNotFoundError, match="duckdb"):
        load("novum.broken:Thing")


def test_novum_is_marked_as_ours() -> None:
    assert novum("novum.linear:LinearRegression").ours


def test_threads_come_from_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    assert threads() == 2
