"""Checks of splits that `test_splits` does not reach through the front door."""

import numpy as np
import pytest
from sklearn.model_selection import LeaveOneGroupOut, LeavePGroupsOut, ShuffleSplit

from novum.core.errors import InputError
from novum.core.sums import Fold
from novum.evaluation.validation.split_checks import (
    check_classes_of_folds,
    check_groups,
    check_number_of_folds,
    checked_labels,
)


def test_splitters_of_groups_say_how_many_they_need() -> None:
    with pytest.raises(InputError, match="LeaveOneGroupOut needs at least 2 groups"):
        check_groups(LeaveOneGroupOut(), ["a", "a"], 2)
    with pytest.raises(InputError, match="LeavePGroupsOut needs at least 3 groups"):
        check_groups(LeavePGroupsOut(2), ["a", "b"], 2)
    check_groups(LeaveOneGroupOut(), ["a", "b"], 2)


def test_shuffled_splits_may_be_more_than_rows() -> None:
    check_number_of_folds(ShuffleSplit(100), 10, None)


def test_labels_of_objects_get_their_type_and_bad_ones_are_refused() -> None:
    assert checked_labels(np.array([2, 1], object)).dtype.kind == "i"
    assert checked_labels(np.array(["b", "a"])).tolist() == ["b", "a"]
    with pytest.raises(ValueError, match="infinity"):
        checked_labels(np.array([0.0, np.inf]))
    with pytest.raises(ValueError, match="continuous"):
        checked_labels(np.array([0.5, 0.25]))


def test_a_table_of_one_class_is_left_to_the_learner() -> None:
    check_classes_of_folds([Fold(None, np.array([0]))], 3, np.array(["a"]), np.array([0, 0, 0]))


def test_numbers_as_labels_are_shown_plainly() -> None:
    fold = Fold(np.array([0, 1]), np.array([2]))
    with pytest.raises(InputError, match=r"trains on class 7 only: all its 2 .* none has 8[.]"):
        check_classes_of_folds([fold], 3, np.array([7, 8]), np.array([0, 0, 1]))
