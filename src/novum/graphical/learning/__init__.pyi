from novum.graphical.learning.averaged_network import AveragedNetwork, average_networks
from novum.graphical.learning.averaging import (
    EdgeProbabilities,
    GraphPosterior,
    bootstrap_edges,
    edge_probabilities,
)
from novum.graphical.learning.best_first import BestFirst
from novum.graphical.learning.coded_table import (
    CodedTable,
    number_axis,
    read_numbers,
    read_table,
)
from novum.graphical.learning.comparison import GraphComparison, compare
from novum.graphical.learning.constraints import Constraints
from novum.graphical.learning.discretization import (
    ByScore,
    EqualFrequency,
    MinimumDescription,
)
from novum.graphical.learning.edge_searches import (
    Annealing,
    HillClimbing,
    Reinsertion,
    Successive,
    Tabu,
)
from novum.graphical.learning.equivalence_search import GreedyEquivalence
from novum.graphical.learning.exact import Exact
from novum.graphical.learning.expectation import FittedNetwork, fit_expectation
from novum.graphical.learning.gaussian_families import (
    FamilyMoments,
    family_moments,
    fit_linear_gaussian,
    gaussian_bic,
)
from novum.graphical.learning.independence import (
    PC,
    Independence,
    independence_test,
    missing_dependence,
)
from novum.graphical.learning.noisy_or import FittedNoisyOr, fit_noisy_or
from novum.graphical.learning.parameters import (
    Dirichlet,
    FamilyCounts,
    MEstimate,
    family_counts,
    fit_parameters,
)
from novum.graphical.learning.scores import (
    AIC,
    BIC,
    K2,
    NML,
    BDeu,
    BDs,
    BGe,
    LogLikelihood,
    StructurePrior,
    score,
)
from novum.graphical.learning.search import LearnedStructure, learn_structure
from novum.graphical.learning.search import table_notes as table_notes
from novum.graphical.learning.trees import AroundClass, ChowLiu

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "NML",
    "PC",
    "Annealing",
    "AroundClass",
    "AveragedNetwork",
    "BDeu",
    "BDs",
    "BGe",
    "BestFirst",
    "ByScore",
    "ChowLiu",
    "CodedTable",
    "Constraints",
    "Dirichlet",
    "EdgeProbabilities",
    "EqualFrequency",
    "Exact",
    "FamilyCounts",
    "FamilyMoments",
    "FittedNetwork",
    "FittedNoisyOr",
    "GraphComparison",
    "GraphPosterior",
    "GreedyEquivalence",
    "HillClimbing",
    "Independence",
    "LearnedStructure",
    "LogLikelihood",
    "MEstimate",
    "MinimumDescription",
    "Reinsertion",
    "StructurePrior",
    "Successive",
    "Tabu",
    "average_networks",
    "bootstrap_edges",
    "compare",
    "edge_probabilities",
    "family_counts",
    "family_moments",
    "fit_expectation",
    "fit_linear_gaussian",
    "fit_noisy_or",
    "fit_parameters",
    "gaussian_bic",
    "independence_test",
    "learn_structure",
    "missing_dependence",
    "number_axis",
    "read_numbers",
    "read_table",
    "score",
]
