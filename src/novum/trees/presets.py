"""Trees by name: the settings of ID3, C4.5 and CART.

Each returns an unfitted `DecisionTreeClassifier`, whose parameters can be read and changed.
"""

from __future__ import annotations

from typing import Any

from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.pruning.cost_complexity import CostComplexity
from novum.trees.pruning.pessimistic import Pessimistic


def id3(**parameters: Any) -> DecisionTreeClassifier:
    """Quinlan's ID3: information gain, one branch for each level, no pruning.

    Numeric columns, which ID3 did not know, are cut at thresholds, and missing cells go down all
    branches in parts.

    Parameters
    ----------
    **parameters
        Of `DecisionTreeClassifier`, in place of the preset's.

    Examples
    --------
    >>> id3().criterion, id3().nominal
    ('entropy', 'multiway')
    """
    preset = {"criterion": "entropy", "nominal": "multiway", "max_bins": None}
    return DecisionTreeClassifier(**{**preset, **parameters})


def c45(
    confidence: float = 0.25, min_samples_leaf: float = 2, **parameters: Any
) -> DecisionTreeClassifier:
    """Quinlan's C4.5, release 8, as Weka's J48 runs it: `-C confidence -M min_samples_leaf`.

    Gain ratio among the tests of at least average gain, numeric tests that pay for their many
    thresholds, one branch for each level, missing cells in parts, pessimistic pruning with subtree
    raising. Like J48 it takes neighboring numbers that differ by no more than 1e-5 for one.

    Parameters
    ----------
    confidence : float
        Of pessimistic pruning; smaller prunes more.
    min_samples_leaf : float
        Two branches of a split need at least this weight.
    **parameters
        Of `DecisionTreeClassifier`, in place of the preset's.

    Examples
    --------
    >>> c45().pruning
    Pessimistic(confidence=0.25, raising=True)
    """
    preset = {
        "criterion": GainRatio(resolution=1e-5),
        "nominal": "multiway",
        "min_samples_leaf": min_samples_leaf,
        "pruning": Pessimistic(confidence),
        "max_bins": None,
    }
    return DecisionTreeClassifier(**{**preset, **parameters})


def cart(**parameters: Any) -> DecisionTreeClassifier:
    """CART of Breiman and others: Gini, splits in two, cost-complexity pruning by validation.

    The price of a leaf is chosen by 10-fold cross-validation with the rule of one standard error.
    Missing cells go down both branches in parts, in place of CART's surrogate splits.

    Parameters
    ----------
    **parameters
        Of `DecisionTreeClassifier`, in place of the preset's.

    Examples
    --------
    >>> cart().pruning.rule
    'one_standard_error'
    """
    preset = {
        "criterion": "gini",
        "nominal": "subset",
        "pruning": CostComplexity("cross_validation"),
        "max_bins": None,
    }
    return DecisionTreeClassifier(**{**preset, **parameters})
