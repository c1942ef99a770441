"""Fitting trees and forests to what does not fit into memory: streams, files, clusters.

A first pass surveys the rows: columns, levels, classes, bins. Then the trees grow level by level,
one pass for each, until what is left of the rows fits the budget; it is fetched, in codes of one
byte for each cell, and the rest is grown in memory. A table whose codes fit is read three times:
once for the levels of a file, once for the bins, once for the rows.
"""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import partial
from numbers import Integral
from typing import Any, Self

import numpy as np

from novum.core.errors import NotAdditiveError
from novum.core.runtime import VARIABLE, fitting, memory_limit, seed_sequence, stream
from novum.core.sums import set_feature_names
from novum.core.tables import Schema
from novum.numerics import Integers
from novum.trees.forests.forest_draws import ForestDraws
from novum.trees.forests.forest_value import Forest
from novum.trees.growth.conversion import tree_of
from novum.trees.growth.growing import GrownNodes
from novum.trees.pruning.cost_complexity import CostComplexity, cost_complexity_path
from novum.trees.pruning.task import PruningRule, PruningTask, read_validation_part
from novum.trees.scale.chunks import Passes
from novum.trees.scale.frontier import Bootstrap
from novum.trees.scale.level_growing import GrownTrees, grow_trees
from novum.trees.scale.pass_plan import BUDGET
from novum.trees.scale.preparation import Prepared, prepare
from novum.trees.tree import Tree


class LevelGrowth(ABC):
    """Gives a tree or a forest `fit_stream` and `fit_file`."""

    @abstractmethod
    def _fit_passes(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        """Fits to chunks that can be read again and again."""

    def fit_stream(self, chunks: Any, *, schema: Schema | None = None, classes: Any = None) -> Self:
        """Fits to chunks `(X, y)` or `(X, y, weight)`, which are read several times.

        Parameters
        ----------
        chunks : list, callable or Dask collections
            Chunks, a callable that returns a fresh iterator of them, a pair of Dask arrays or
            frames `(X, y)`, or a list of delayed chunks or futures.
        schema : Schema, optional
            Reads every chunk alike; without it each chunk's levels are united.
        classes : array-like, optional
            For classifiers: labels that may occur, in addition to those that do.

        Notes
        -----
        With at most 32,768 distinct values in each numeric column (fewer from 65 columns on) the
        bins are quantiles of all rows. Where there are more they come from a summary whose ranks
        are wrong by less than `(1 + log2 chunks) / 4096` of the rows. Given the bins, the tree is
        that of `fit`. For one partition of the rows all engines grow the same tree, bit by bit.
        Class weights do not move the bins.

        Bootstrap samples count every row a Poisson number of times, in place of drawing as many
        rows as there are.
        """
        budget = growth_budget(None)
        self._fit_chunks(Passes.over(chunks, type(self).__name__), schema, classes, budget)
        return self

    def fit_file(
        self,
        path: Any,
        *,
        target: str,
        weight: str | None = None,
        features: Iterable[str] | None = None,
        kinds: Mapping[str, Any] | None = None,
        chunk_rows: int = 65_536,
        memory_limit: str | None = None,
        client: Any = None,
    ) -> Self:
        """Fits to a CSV, Parquet or ARFF file, which may be larger than memory.

        Parameters
        ----------
        path : path of the file
        target, weight : str
            Names of the columns with the targets and, optionally, the weights.
        features : iterable of str, optional
            The columns to learn from; all others by default.
        kinds : mapping, optional
            Kinds of columns that the file's types do not tell, such as `{"zip": "nominal"}`.
        chunk_rows : int
            Rows in memory at a time.
        memory_limit : str, optional
            Memory of the reader, such as `"200MB"`; sums and rows of a pass take at most half of
            it beside that, and never more than 256 MB.
        client : distributed.Client, optional
            Sums the file's partitions on this cluster, whose workers must see the file.
        """
        from novum.core.files import TableFile

        budget = growth_budget(memory_limit)
        file = TableFile.open(path, target, weight, features, kinds, memory_limit)
        chunks: Any = partial(file.chunks, chunk_rows)
        if client is not None:
            chunks = file.parts(chunk_rows)
        self._fit_chunks(Passes(chunks, client), file.schema, None, budget)
        return self

    def _fit_chunks(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        self._validate_params()  # type: ignore[attr-defined]
        self._fit_passes(passes, schema, classes, budget)


def growth_budget(limit: str | None) -> int:
    """Bytes that sums and rows of a pass may take: 256 MB, or half of a limit that was stated.

    What is free at the moment does not enter: trees that draw columns depend on the budget.

    Examples
    --------
    >>> growth_budget("100MB")
    50000000
    """
    stated = limit if limit is not None else os.environ.get(VARIABLE)
    return BUDGET if not stated else min(BUDGET, memory_limit(stated) // 2)


# --- Single trees ---------------------------------------------------------------------------------
#
# Single trees from chunks: grown by passes, then pruned as a tree in memory is.
#
# Pruning looks at the tree alone (a given price of a leaf) or at validation rows that were given
# with the rule; rules that look at the training rows again are refused.


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

            prepared = prepare(self, self, passes, schema, classes)
            grown = grow_trees(prepared.task(chance, budget))
            survey, coding = prepared.survey, prepared.coding
            tree = tree_of(grown.trees[0], grown.table, survey.schema, survey.classes, coding.scale)
            store_survey(self, prepared)
            model.max_features_ = prepared.rules(1.0, 1.0).max_features or survey.schema.n_columns
            model.tree_ = _pruned(self, tree, rule)
            certificate = certify(model.tree_)
            details = {**certificate.details, "passes": grown.n_passes + 1}
            model.certificate_ = replace(certificate, details=details)


def store_survey(model: Any, prepared: Prepared) -> None:
    """Stores on a model what is known of columns, targets and missing cells."""
    survey = prepared.survey
    set_feature_names(model, survey.schema)
    model.schema_ = survey.schema
    model._store_target(prepared.target_rows())
    model.common_values_, model.replaced_ = np.empty(0), {}
    if prepared.coding.replacements is not None:
        model.common_values_ = prepared.coding.replacements
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


# --- Forests --------------------------------------------------------------------------------------
#
# Forests from chunks: all trees advance together, one level with each pass.
#
# A bootstrap sample counts a row of weight w Poisson(N w / W) times, where N is the number of draws
# of a forest in memory: the limit of drawing N rows with replacement (`Bootstrap`). Columns, and
# cuts of extra trees, are drawn at every node from a stream of its tree and its place.


@dataclass(frozen=True, eq=False)
class StreamDraws(ForestDraws):
    """The draws of a forest that was grown from chunks, whose rows are not at hand."""

    def rows(self, tree: int) -> Integers:
        """Refused: which rows a tree has learned from is known only while chunks are read."""
        raise NotAdditiveError(
            f"The forest was grown from chunks, so the rows of tree {tree} are not known any more. "
            "Fit in memory, or judge the forest by rows that it has not learned from."
        )


class ForestStreams(LevelGrowth):
    """Gives a forest `fit_stream` and `fit_file`."""

    def _fit_passes(self, passes: Passes, schema: Schema | None, classes: Any, budget: int) -> None:
        from novum.trees.forests.forest_members import certify_forest

        model: Any = self
        refuse_what_needs_rows(model)
        with fitting(self) as watch:
            prepared = prepare(self, model._member(), passes, schema, classes)
            draws = _draws(model, prepared)
            root = np.random.SeedSequence([int(word) for word in draws.seed_words])

            def chance(tree: int, path: int) -> np.random.Generator:
                # The root's stream is that of a forest in memory.
                if path == 1:
                    return draws.growing_stream(tree)
                return stream(root, "growing", tree, path)

            rate = draws.n_draws / prepared.weight
            task = prepared.task(
                chance,
                budget,
                n_trees=model.n_estimators,
                bootstrap=Bootstrap(root, rate) if draws.n_draws else None,
                n_draws=draws.n_draws,
                n_jobs=model.n_jobs,
            )
            grown = grow_trees(task)
            store_survey(self, prepared)
            model.forest_ = _forest(prepared, grown)
            model.draws_ = (draws,)
            for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
                model.__dict__.pop(name, None)
            certificate = certify_forest(model.forest_, "", watch.seconds)
            details = {**certificate.details, "passes": grown.n_passes + 1}
            model.certificate_ = replace(certificate, details=details)


def refuse_what_needs_rows(model: Any) -> None:
    """Refuses settings of a forest that chunks cannot serve."""
    if model.oob_score:
        raise NotAdditiveError(
            "oob_score needs the predictions of all rows, which are not kept of chunks. Set "
            "oob_score=False and score on rows that were left out."
        )
    if model.warm_start and hasattr(model, "forest_"):
        raise NotAdditiveError(
            "warm_start cannot add trees from chunks to a fitted forest. Set warm_start=False, or "
            "ask a fresh forest for all trees."
        )
    if model.bootstrap and getattr(model, "class_weight", None) == "balanced_subsample":
        raise NotAdditiveError(
            "class_weight='balanced_subsample' needs the classes of every sample before it is "
            "grown from. Use class_weight='balanced'."
        )


def _draws(model: Any, prepared: Prepared) -> StreamDraws:
    """How many rows each tree draws: as many as a forest in memory would."""
    model._check_settings(prepared.target_rows(), 0)
    words = model._seed_words(0)
    n_rows, n_draws = int(prepared.survey.rows), 0
    if model.bootstrap:
        if prepared.coding.factors is not None and prepared.n_targets > 1:
            raise NotAdditiveError(
                "Rows are drawn in proportion to class weights, whose total is not known of "
                "several targets. Leave out class_weight, or set bootstrap=False."
            )
        n_draws = n_rows
        if isinstance(model.max_samples, Integral):
            n_draws = int(model.max_samples)
        elif model.max_samples is not None:
            n_draws = max(int(model.max_samples * prepared.weight), 1)
    return StreamDraws(words, 0, model.n_estimators, n_rows, n_draws)


def _forest(prepared: Prepared, grown: GrownTrees) -> Forest:
    narrow = grown.table.coding.is_narrow
    about = (prepared.survey.schema, prepared.survey.classes, prepared.coding.scale)
    price = float(prepared.member.ccp_alpha)

    def forest_of(nodes: GrownNodes) -> Forest:
        tree = tree_of(nodes, grown.table, *about, on_edges=narrow)
        if price:
            path = cost_complexity_path(tree)
            tree = path.pruned(path.step_of(price))
        return Forest.of_tree(tree, grown.table.coding if narrow else None)

    return Forest.joined([forest_of(nodes) for nodes in grown.trees])
