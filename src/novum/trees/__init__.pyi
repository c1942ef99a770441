from novum.core.svg_text import SvgText
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.forests.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
from novum.trees.forests.forest import RandomForestClassifier, RandomForestRegressor
from novum.trees.forests.forest_value import Forest
from novum.trees.forests.importances import PermutationImportances
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.model_trees.model_tree import ModelTreeRegressor
from novum.trees.model_trees.model_tree_models import LinearModel, NodeModels
from novum.trees.model_trees.model_tree_pruning import ModelPruning
from novum.trees.presets import c45, cart, id3
from novum.trees.pruning.cost_complexity import (
    CostComplexity,
    CostComplexityPath,
    PathValidation,
    cost_complexity_path,
    validate_path,
)
from novum.trees.pruning.pessimistic import Pessimistic
from novum.trees.pruning.reduced_error import ReducedError
from novum.trees.pruning.task import PruningRule, PruningTask
from novum.trees.reading.candidate_table import Candidates, CandidateSplit
from novum.trees.reading.candidates import candidates
from novum.trees.reading.drawing import tree_svg
from novum.trees.reading.explanation import Explanation, Step, explain
from novum.trees.reading.plotting import plot_tree
from novum.trees.reading.rules import Rule, RuleSet, rules
from novum.trees.reading.single_row import Change
from novum.trees.reading.text import tree_text
from novum.trees.reading.trace import NodeTrace, Trace, trace
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.tree import Question, Tree

__all__ = [
    "CandidateSplit",
    "Candidates",
    "Change",
    "CostComplexity",
    "CostComplexityPath",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Explanation",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Forest",
    "GainRatio",
    "LinearModel",
    "ModelPruning",
    "ModelTreeRegressor",
    "NodeModels",
    "NodeTrace",
    "PathValidation",
    "PermutationImportances",
    "Pessimistic",
    "PruningRule",
    "PruningTask",
    "Question",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "ReducedError",
    "Rule",
    "RuleSet",
    "Step",
    "SvgText",
    "Trace",
    "Tree",
    "c45",
    "candidates",
    "cart",
    "cost_complexity_path",
    "explain",
    "id3",
    "plot_tree",
    "rules",
    "trace",
    "tree_svg",
    "tree_text",
    "validate_path",
]
