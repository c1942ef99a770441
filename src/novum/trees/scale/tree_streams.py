"""Single trees from chunks: grown by passes, then pruned as a tree in memory is.

Pruning looks at the tree alone (a given price of a leaf) or at validation rows that were given with
the rule; rules that look at the training rows again are refused.
"""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any

import numpy as np

from novum.core.errors import NotAdditiveError
from novum.core.fitting import fitting
from novum.core.randomness import seed_sequence, stream
from novum.core.schema import Schema
from novum.core.statistics import set_feature_names
from novum.trees.growth.grown import tree_of
from novum.trees.pruning.cost_complexity import CostComplexity
from novum.trees.pruning.task import PruningRule, PruningTask, read_validation_part
from novum.trees.scale.level_growing import grow_trees
from novum.trees.scale.model import LevelGrowth
from novum.trees.scale.passes import Passes
from novum.trees.scale.preparation import Prepared, prepare
from novum.trees.tree import Tree


class TreeStreams(LevelGrowth):
    """Gives a tree model `fit_stream` and `fit_file`."""

    def _fit_passes(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        from novum.trees.model import certify

        model: Any = self
        rule = model._pruning_rule()
        refuse_pruning_by_rows(rule)
        with fitting(self):
            root = seed_sequence(model.random_state)

            def chance(_tree: int, path: int) -> np.random.Generator:
                # The root's stream is that of a tree in memory.
                return stream(root, "growing") if path == 1 else stream(root, "growing", path)

            found = prepare(self, self, passes, schema, classes)
            grown = grow_trees(found.task(chance, budget))
            survey, coding = found.survey, found.coding
            tree = tree_of(grown.trees[0], grown.table, survey.schema, survey.classes, coding.scale)
            store_survey(self, found)
            model.max_features_ = found.rules(1.0, 1.0).max_features or survey.schema.n_columns
            model.tree_ = _pruned(self, tree, rule)
            certificate = certify(model.tree_)
            details = {**certificate.details, "passes": grown.n_passes + 1}
            model.certificate_ = replace(certificate, details=details)


def store_survey(model: Any, found: Prepared) -> None:
    """Stores on a model what is known of columns, targets and missing cells."""
    survey = found.survey
    set_feature_names(model, survey.schema)
    model.schema_ = survey.schema
    model._store_target(found.target_rows())
    model.common_values_, model.replaced_ = np.empty(0), {}
    if found.coding.replacements is not None:
        model.common_values_ = found.coding.replacements
        names = survey.schema.names
        model.replaced_ = {
            names[j]: int(survey.missing[j]) for j in np.flatnonzero(survey.missing).tolist()
        }


# --- Pruning --------------------------------------------------------------------------------------


def refuse_pruning_by_rows(rule: PruningRule | None) -> None:
    """Refuses rules that need the training rows."""
    if rule is None or rule.validation_part is not None:
        return
    if rule.held_out_fraction > 0:
        raise NotAdditiveError(
            f"{type(rule).__name__} would hold out a part of the rows, which chunks do not give. "
            "Pass rows to validate by: ReducedError(validation=(X, y))."
        )
    if not isinstance(rule, CostComplexity) or isinstance(rule.alpha, str):
        raise NotAdditiveError(
            f"{rule!r} looks at the training rows again, which chunks do not give. Use "
            "CostComplexity(alpha) with a number, ReducedError(validation=(X, y)), or fit in "
            "memory."
        )


def _pruned(model: Any, tree: Tree, rule: PruningRule | None) -> Tree:
    if rule is None:
        return tree
    held_out = None
    if rule.validation_part is not None:
        part = rule.validation_part
        held_out = read_validation_part(copy(model), tree.schema, tree.classes, part)
    n_classes = None if tree.classes is None else tuple(map(len, tree.classes))
    n_targets = tree.value.shape[1] if n_classes is None else len(n_classes)
    none = np.empty((0, tree.schema.n_columns)), np.empty((0, n_targets)), np.empty(0)
    return rule.prune(tree, PruningTask(*none, n_classes, held_out))
