from novum.core.svg_text import SvgText
from novum.trees.classifier import DecisionTreeClassifier
from novum.trees.classifier import store_classes as store_classes
from novum.trees.contributions import ContributingTrees as ContributingTrees
from novum.trees.contributions import Contributions
from novum.trees.forests.forest import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from novum.trees.forests.forest_routing import added_answers as added_answers
from novum.trees.forests.forest_routing import forest_sums as forest_sums
from novum.trees.forests.forest_routing import rows_as_asked as rows_as_asked
from novum.trees.forests.forest_value import Forest
from novum.trees.forests.forest_value import check_forest as check_forest
from novum.trees.forests.forest_value import padded_edges as padded_edges
from novum.trees.forests.importances import PermutationImportances
from novum.trees.forests.isolation import IsolationForest
from novum.trees.general.gain_ratio import GainRatio
from novum.trees.group_descriptions import GroupDescriptions, describe_groups
from novum.trees.growth.coding import NARROW_MISSING as NARROW_MISSING
from novum.trees.growth.coding import TableCoding as TableCoding
from novum.trees.growth.conversion import coded_table as coded_table
from novum.trees.growth.conversion import table_coding as table_coding
from novum.trees.growth.conversion import tree_of as tree_of
from novum.trees.growth.growing import grow as grow
from novum.trees.model import certify as certify
from novum.trees.model_trees.model_tree import ModelPruning, ModelTreeRegressor
from novum.trees.model_trees.model_tree_models import LinearModel, NodeModels
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
from novum.trees.reading.drawing import plot_tree, tree_svg
from novum.trees.reading.explanation import Explanation, Step, explain
from novum.trees.reading.outline import outline as outline
from novum.trees.reading.rules import Rule, RuleSet, rules
from novum.trees.reading.single_row import Change
from novum.trees.reading.text import tree_text
from novum.trees.reading.trace import NodeTrace, Trace, trace
from novum.trees.regressor import DecisionTreeRegressor
from novum.trees.routing import tree_values as tree_values
from novum.trees.scale.chunks import ChunkReader as ChunkReader
from novum.trees.scale.chunks import Passes as Passes
from novum.trees.scale.chunks import with_classes as with_classes
from novum.trees.scale.streams import LevelGrowth as LevelGrowth
from novum.trees.scale.survey import Survey as Survey
from novum.trees.scale.survey import SurveyStep as SurveyStep
from novum.trees.settings import growth_rules as growth_rules
from novum.trees.settings import monotone_signs as monotone_signs
from novum.trees.stumps.stump_growing import Stump as Stump
from novum.trees.stumps.stump_growing import StumpGrower as StumpGrower
from novum.trees.stumps.stump_growing import StumpRules as StumpRules
from novum.trees.stumps.stumps import Stumps as Stumps
from novum.trees.training import CellRows as CellRows

# What other packages use.
from novum.trees.training import cells_of as cells_of
from novum.trees.training import class_factors as class_factors
from novum.trees.training import has_missing as has_missing
from novum.trees.training import read_classes as read_classes
from novum.trees.training import read_numbers as read_numbers
from novum.trees.tree import Question, Tree

__all__ = [
    "CandidateSplit",
    "Candidates",
    "Change",
    "Contributions",
    "CostComplexity",
    "CostComplexityPath",
    "DecisionTreeClassifier",
    "DecisionTreeRegressor",
    "Explanation",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "Forest",
    "GainRatio",
    "GroupDescriptions",
    "IsolationForest",
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
    "describe_groups",
    "explain",
    "id3",
    "plot_tree",
    "rules",
    "trace",
    "tree_svg",
    "tree_text",
    "validate_path",
]
