"""The rules by which a tree is grown on exact values."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

import numpy as np

from novum.core.errors import InputError
from novum.trees.general.gain_ratio import GainRatio

CLASS_CRITERIA = ("entropy", "gini")
NUMBER_CRITERIA = ("squared_error", "absolute_error")
NOMINAL = ("multiway", "subset", "single")
MISSING = ("fractional", "direction", "auto")
SPLITTERS = ("best", "random")


@dataclass(frozen=True)
class GeneralRules:
    """How `grow_general` grows a tree.

    Parameters
    ----------
    criterion : {"entropy", "gini", "squared_error", "absolute_error"} or GainRatio
    nominal : {"multiway", "subset", "single"}
        One branch for each level, the best two sets of levels, or one level against the others.
    missing : {"fractional", "direction", "auto"}
        Missing cells go down every branch in parts, or down the branch where they cost least, or
        as gains more: in parts, down that branch, or down a branch of their own.
    max_depth : int, optional
        Questions on the longest way from the root.
    min_samples_split : float
        A lighter node is a leaf.
    min_samples_leaf, min_weight_leaf : float
        A split with a lighter branch is none: the larger of the two counts. See `GainRatio` for its
        own meaning.
    max_leaf_nodes : int, optional
        With it, the node whose split removes most impurity is split first.
    min_impurity_decrease : float
        A split that removes less, for one unit of the weight of all rows, is none.
    max_features : int, optional
        Columns tried in a node, drawn at random; more while those drawn are constant.
    max_thresholds : int, optional
        Thresholds tried in a column, drawn at random.
    splitter : {"best", "random"}
        Whether a column's best split is sought, or one drawn: a threshold uniformly in the range,
        two sets of levels at random.

    Examples
    --------
    >>> GeneralRules("entropy", max_depth=3).least_weight
    1.0
    """

    criterion: str | GainRatio = "gini"
    nominal: str = "multiway"
    missing: str = "fractional"
    max_depth: int | None = None
    min_samples_split: float = 2.0
    min_samples_leaf: float = 1.0
    min_weight_leaf: float = 0.0
    max_leaf_nodes: int | None = None
    min_impurity_decrease: float = 0.0
    max_features: int | None = None
    max_thresholds: int | None = None
    splitter: str = "best"

    def __post_init__(self) -> None:
        if not isinstance(self.criterion, GainRatio):
            _check_choice("criterion", self.criterion, (*CLASS_CRITERIA, *NUMBER_CRITERIA))
        _check_choice("nominal", self.nominal, NOMINAL)
        _check_choice("missing", self.missing, MISSING)
        _check_choice("splitter", self.splitter, SPLITTERS)
        _check_count("max_depth", self.max_depth, least=0)
        _check_count("max_leaf_nodes", self.max_leaf_nodes, least=2)
        _check_count("max_features", self.max_features, least=1)
        _check_count("max_thresholds", self.max_thresholds, least=1)
        for name in (
            "min_samples_split",
            "min_samples_leaf",
            "min_weight_leaf",
            "min_impurity_decrease",
        ):
            value = getattr(self, name)
            number = isinstance(value, int | float | np.number)
            if not (number and np.isfinite(value) and value >= 0):
                raise InputError(f"{name} is a number of at least 0, got {value!r}.")

    @property
    def in_bits(self) -> bool:
        """Whether impurity is entropy."""
        return isinstance(self.criterion, GainRatio) or self.criterion == "entropy"

    @property
    def for_classes(self) -> bool:
        return isinstance(self.criterion, GainRatio) or self.criterion in CLASS_CRITERIA

    @property
    def least_weight(self) -> float:
        """The weight that a branch must have."""
        return max(float(self.min_samples_leaf), float(self.min_weight_leaf))


def _check_choice(name: str, value: object, choices: tuple[str, ...]) -> None:
    if value not in choices:
        listed = ", ".join(map(repr, choices))
        more = " or a GainRatio" if name == "criterion" else ""
        raise InputError(f"{name} is one of {listed}{more}, got {value!r}.")


def _check_count(name: str, value: int | None, least: int) -> None:
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (whole and value >= least):
        raise InputError(f"{name} is None or a whole number of at least {least}, got {value!r}.")
