"""Errors: what a caller can catch, under the names and the bases that users expect."""

from __future__ import annotations

import pickle

import pytest

from novum.core import errors


@pytest.mark.parametrize(
    ("name", "base"),
    [
        ("InputError", ValueError),
        ("SchemaError", ValueError),
        ("MissingValuesError", ValueError),
        ("FileFormatError", ValueError),
        ("ModelFileError", ValueError),
        ("NotAdditiveError", TypeError),
        ("MemoryLimitError", MemoryError),
        ("LostDigitsWarning", UserWarning),
        ("UnseenLevelWarning", UserWarning),
        ("MixedColumnWarning", UserWarning),
    ],
)
def test_errors_are_caught_by_what_scikit_learn_users_write(name: str, base: type) -> None:
    assert issubclass(getattr(errors, name), base)


def test_a_file_error_knows_where() -> None:
    error = errors.FileFormatError("A quote is never closed.", line=7, column=3)
    assert (str(error), error.line, error.column) == ("A quote is never closed.", 7, 3)


def test_errors_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(errors.SchemaError("Two columns are named 'a'.")))
    assert isinstance(error, errors.SchemaError)
    assert str(error) == "Two columns are named 'a'."
