"""From a model and its chunks to a growth task: the first pass, the bins, the weights of classes.

What a stream cannot give is refused here, before anything is read: criteria that are no function of
sums by code, branches for each level, and rules that look at single rows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier

from novum.core.errors import InputError, NotAdditiveError
from novum.core.tables import Kind, Schema
from novum.numerics import Floats
from novum.trees.growth.growing import CRITERIA, GrowthRules
from novum.trees.scale.chunks import ChunkReader, Passes
from novum.trees.scale.frontier import Bootstrap, ChunkCoding
from novum.trees.scale.level_growing import GrowthTask
from novum.trees.scale.level_statistics import CodeRanges
from novum.trees.scale.pass_plan import PassBudget
from novum.trees.scale.survey import Survey, SurveyStep
from novum.trees.settings import growth_rules
from novum.trees.training import CellRows, class_factors


@dataclass(frozen=True, eq=False)
class Prepared:
    """Chunks that are ready to be grown from.

    Attributes
    ----------
    member : tree model
        Has the settings of the trees.
    passes : Passes
    survey : Survey
    coding : ChunkCoding
    """

    member: Any
    passes: Passes
    survey: Survey
    coding: ChunkCoding

    @property
    def n_targets(self) -> int:
        return self.coding.target_start.size - 1

    @property
    def weight(self) -> float:
        """Of all rows, class weights included; of one target."""
        return float(self._class_weights.sum()) if self.coding.factors else self.survey.weight

    @property
    def _class_weights(self) -> Floats:
        """Of the first target."""
        assert self.survey.class_weights is not None
        factors = 1.0 if self.coding.factors is None else self.coding.factors[0]
        return self.survey.class_weights[0] * factors

    def target_rows(self) -> CellRows:
        """A row for each class of the only target, with all its weight; from which priors follow.

        One row that has all targets, where there are several or they are numbers.
        """
        classes, schema = self.survey.classes, self.survey.schema
        if classes is not None and len(classes) == 1:
            codes = np.arange(len(classes[0]))[:, np.newaxis]
            cells = np.empty((len(codes), schema.n_columns))
            return CellRows(schema, cells, codes, self._class_weights, classes)
        targets = np.zeros((1, self.n_targets), float if classes is None else np.int64)
        return CellRows(schema, np.empty((1, schema.n_columns)), targets, np.ones(1), classes)

    def rules(self, weight: float, lightest: float) -> GrowthRules:
        """The rules of a tree on rows of that weight in all, and of the lightest."""
        criterion = self.member._criterion()
        # Limits depend on the weights through their sum and their minimum alone.
        rest = weight - lightest
        weights = np.array([lightest, rest] if rest > 0 else [lightest])
        schema, classes = self.survey.schema, self.survey.classes
        targets = np.zeros((weights.size, self.n_targets), np.int64)
        rows = CellRows(schema, np.empty((0, 0)), targets, weights, classes)
        rules = growth_rules(self.member, rows, criterion)
        scale = self.coding.scale
        return rules if scale is None else rules.scaled(scale.unit**-2)

    def task(
        self,
        stream: Callable[[int, int], np.random.Generator],
        budget: int,
        *,
        n_trees: int = 1,
        bootstrap: Bootstrap | None = None,
        n_draws: int = 0,
        n_jobs: int | None = None,
    ) -> GrowthTask:
        """The task of growing trees within a budget of bytes; see `GrowthTask`.

        A bootstrap sample has about `n_draws` rows.
        """

        def rules(ranges: CodeRanges) -> GrowthRules:
            if bootstrap is not None:
                return self.rules(float(n_draws), 1.0)
            return self.rules(ranges.weight, ranges.lightest)

        return GrowthTask(
            self.passes,
            self.coding,
            rules,
            stream,
            int(self.survey.rows),
            PassBudget.of(self.coding, self.survey.chunks, budget),
            n_trees,
            bootstrap,
            n_jobs,
        )


def prepare(
    model: Any, member: Any, passes: Passes, schema: Schema | None, classes: Any
) -> Prepared:
    """Takes the first pass.

    Parameters
    ----------
    model : estimator
    member : tree model
        Has the settings of the model's trees; the model itself, if it is a tree.
    passes : Passes
    schema : Schema, optional
        Reads every chunk alike.
    classes : array-like, optional
        Labels that may occur, in addition to those that do.
    """
    refuse_other_than_sums(member)
    class_weight = getattr(model, "class_weight", None)
    if class_weight is not None and member.missing == "most_common":
        raise NotAdditiveError(
            "The most common values of weighted classes are not known before the first pass. "
            "Leave out class_weight and give sample weights, or use missing='fractional'."
        )
    learner = clone(model)
    if hasattr(learner, "pruning"):
        # Rows to validate by need not travel with every chunk.
        learner.set_params(pruning=None)
    reader = ChunkReader(learner, is_classifier(model), schema)
    survey: Survey = passes.total(SurveyStep(reader))
    survey = survey if classes is None else survey.with_labels(classes)
    refuse_multiway(member, survey.schema)
    replaced = survey.common_values() if member.missing == "most_common" else None
    coding = ChunkCoding(
        ChunkReader(learner, is_classifier(model), survey.schema),
        survey.coding(member.max_bins),
        survey.classes,
        _factors(survey, class_weight),
        survey.scale(),
        replaced,
    )
    return Prepared(member, passes, survey, coding)


# --- Weights of classes ---------------------------------------------------------------------------


def _factors(survey: Survey, class_weight: Any) -> tuple[Floats, ...] | None:
    """What the weight of a row is multiplied by, for each class of each target."""
    if class_weight is None or survey.classes is None or survey.class_weights is None:
        return None
    several = isinstance(class_weight, (list, tuple))
    if several and len(class_weight) != len(survey.classes):
        raise InputError(
            f"class_weight has {len(class_weight)} entries for {len(survey.classes)} targets. Give "
            "one for each, or one for all."
        )
    factors = []
    for t, (labels, weights) in enumerate(zip(survey.classes, survey.class_weights, strict=True)):
        codes = np.arange(len(labels))[:, np.newaxis]
        rows = CellRows(survey.schema, np.empty((len(labels), 0)), codes, weights, (labels,))
        factors.append(class_factors(rows, class_weight[t] if several else class_weight, weights))
    if not all((f * w).any() for f, w in zip(factors, survey.class_weights, strict=True)):
        raise InputError("class_weight gives every row weight 0. Give some class a weight above 0.")
    return tuple(factors)


# --- Refusals -------------------------------------------------------------------------------------


def refuse_other_than_sums(member: Any) -> None:
    """Refuses settings under which splits are no function of sums by code."""
    criterion = member._criterion()
    if not isinstance(criterion, str) or criterion not in CRITERIA:
        name = criterion if isinstance(criterion, str) else "gain_ratio"
        advice = "squared_error" if name == "absolute_error" else "entropy"
        raise NotAdditiveError(
            f"criterion={name!r} is no function of sums over rows, so it cannot be grown from "
            f"chunks. Use criterion={advice!r}, or fit in memory."
        )
    if member.missing == "most_common_of_class":
        raise NotAdditiveError(
            "missing='most_common_of_class' needs all rows of a class at once, which chunks do not "
            "give. Use missing='fractional' or 'most_common', or fit in memory."
        )


def refuse_multiway(member: Any, schema: Schema) -> None:
    nominal = [column.name for column in schema.columns if column.kind is Kind.NOMINAL]
    if member.nominal == "multiway" and nominal:
        raise NotAdditiveError(
            f"nominal='multiway' makes a branch for each level of {nominal[0]!r}, and trees are "
            "grown from chunks by splits in two. Use nominal='subset', or fit in memory."
        )
