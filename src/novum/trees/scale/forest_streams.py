"""Forests from chunks: all trees advance together, one level with each pass.

A bootstrap sample counts a row of weight w Poisson(N w / W) times, where N is the number of draws
of a forest in memory: the limit of drawing N rows with replacement (`Bootstrap`). Columns, and cuts
of extra trees, are drawn at every node from a stream of its tree and its place.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from novum.core.errors import NotAdditiveError
from novum.core.fitting import fitting
from novum.core.randomness import stream
from novum.core.schema import Schema
from novum.trees.forests.forest_draws import ForestDraws
from novum.trees.forests.forest_value import Forest
from novum.trees.growth.growing import GrownNodes
from novum.trees.growth.grown import tree_of
from novum.trees.pruning.cost_complexity import cost_complexity_path
from novum.trees.scale.frontier import Bootstrap
from novum.trees.scale.level_growing import GrownTrees, grow_trees
from novum.trees.scale.model import LevelGrowth
from novum.trees.scale.passes import Passes
from novum.trees.scale.preparation import Prepared, prepare
from novum.trees.scale.tree_streams import store_survey


@dataclass(frozen=True, eq=False)
class StreamDraws(ForestDraws):
    """The draws of a forest that was grown from chunks, whose rows are not at hand."""

    def rows(self, tree: int) -> NDArray[np.int64]:
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
            found = prepare(self, model._member(), passes, schema, classes)
            draws = _draws(model, found)
            root = np.random.SeedSequence([int(word) for word in draws.seed_words])

            def chance(tree: int, path: int) -> np.random.Generator:
                # The root's stream is that of a forest in memory.
                if path == 1:
                    return draws.growing_stream(tree)
                return stream(root, "growing", tree, path)

            rate = draws.n_draws / found.weight
            task = found.task(
                chance,
                budget,
                n_trees=model.n_estimators,
                bootstrap=Bootstrap(root, rate) if draws.n_draws else None,
                n_draws=draws.n_draws,
                n_jobs=model.n_jobs,
            )
            grown = grow_trees(task)
            store_survey(self, found)
            model.forest_ = _forest(found, grown)
            model.draws_ = (draws,)
            for name in ("oob_score_", "oob_decision_function_", "oob_prediction_"):
                model.__dict__.pop(name, None)
            certificate = certify_forest(model.forest_, True, watch.seconds)
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


def _draws(model: Any, found: Prepared) -> StreamDraws:
    """How many rows each tree draws: as many as a forest in memory would."""
    model._check_settings(found.target_rows(), 0)
    words = model._seed_words(0)
    n_rows, n_draws = int(found.survey.rows), 0
    if model.bootstrap:
        if found.coding.factors is not None and found.n_targets > 1:
            raise NotAdditiveError(
                "Rows are drawn in proportion to class weights, whose total is not known of "
                "several targets. Leave out class_weight, or set bootstrap=False."
            )
        n_draws = n_rows
        if isinstance(model.max_samples, Integral):
            n_draws = int(model.max_samples)
        elif model.max_samples is not None:
            n_draws = max(int(model.max_samples * found.weight), 1)
    return StreamDraws(words, 0, model.n_estimators, n_rows, n_draws)


def _forest(found: Prepared, grown: GrownTrees) -> Forest:
    narrow = grown.table.coding.is_narrow
    about = (found.survey.schema, found.survey.classes, found.coding.scale)
    price = float(found.member.ccp_alpha)

    def forest_of(nodes: GrownNodes) -> Forest:
        tree = tree_of(nodes, grown.table, *about, on_edges=narrow)
        if price:
            path = cost_complexity_path(tree)
            tree = path.pruned(path.step_of(price))
        return Forest.of_tree(tree, grown.table.coding if narrow else None)

    return Forest.joined([forest_of(nodes) for nodes in grown.trees])
