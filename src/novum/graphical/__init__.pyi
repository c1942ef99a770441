from novum.graphical.classifier import BayesianNetworkClassifier
from novum.graphical.density import BayesianNetworkDensity

# What other packages use.
from novum.graphical.drawing.placement import placed as placed
from novum.graphical.factor import Factor
from novum.graphical.formats.files import file_bytes as file_bytes
from novum.graphical.formats.files import file_text as file_text
from novum.graphical.formats.other_libraries import from_pgmpy, from_pyagrum, to_pgmpy, to_pyagrum
from novum.graphical.formats.uai import read_evidence, read_factors, write_factors
from novum.graphical.inference.belief_propagation import LoopyPropagation
from novum.graphical.inference.blocks import MixingError
from novum.graphical.inference.chain_diagnosis import (
    effective_size,
    monte_carlo_error,
    rank_r_hat,
    split_r_hat,
)
from novum.graphical.inference.enumeration import Enumeration
from novum.graphical.inference.forecast import Forecast
from novum.graphical.inference.gibbs import Gibbs, MetropolisHastings
from novum.graphical.inference.importance import ImportanceSampling
from novum.graphical.inference.junction import JunctionTree
from novum.graphical.inference.limits import TimeLimitError
from novum.graphical.inference.mean_field import MeanField
from novum.graphical.inference.plain_junction import (
    LogJunctionTree,
    PlainJunctionTree,
    SumProduct,
    VariableElimination,
)
from novum.graphical.inference.protocol import Beliefs, Diagnosis, Engine, ExactEngine, Trust
from novum.graphical.inference.sampling import (
    ForwardSampling,
    LikelihoodWeighting,
    NothingAcceptedError,
    RejectionSampling,
)
from novum.graphical.inference.trellis import Trellis
from novum.graphical.inference.within_limits import WithinLimits
from novum.graphical.learning.averaging import (
    EdgeProbabilities,
    GraphPosterior,
    PairProbabilities,
    bootstrap_edges,
    edge_probabilities,
)
from novum.graphical.learning.best_first import BestFirst
from novum.graphical.learning.coded_table import CodedTable, number_axis, read_table
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
from novum.graphical.learning.order_chains import ChainReport, OrderChains
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
from novum.graphical.models.answers import Configuration, Marginals, Posterior
from novum.graphical.models.arrays import Evidence, ModelArrays
from novum.graphical.models.bayesian_network import BayesianNetwork
from novum.graphical.models.compact import Deterministic, NoisyOr, noisy_or
from novum.graphical.models.conditional import NetworkWarning, Tabular
from novum.graphical.models.emissions import Normals, Symbols
from novum.graphical.models.explaining import Explanation, Finding
from novum.graphical.models.factor_graph import FactorGraph
from novum.graphical.models.hidden_markov import HiddenMarkovModel, StateForecast, StatePath
from novum.graphical.models.linear_gaussian import (
    ConditionalGaussianNetwork,
    LinearGaussian,
    LinearGaussianNetwork,
)
from novum.graphical.models.markov_chain import CommunicatingClass, MarkovChain
from novum.graphical.models.normal_mixture import MixtureOfNormals
from novum.graphical.models.observed import ObservedNetwork
from novum.graphical.models.questions import states_given as states_given
from novum.graphical.models.states import state_like as state_like
from novum.graphical.structure.dag import CyclicGraphError, Dag
from novum.graphical.structure.equivalence import PartialDag, are_equivalent
from novum.graphical.structure.independence_maps import (
    MapVerdict,
    PerfectMap,
    is_independence_map,
    minimal_independence_map,
    perfect_map,
)
from novum.graphical.structure.separation import Separation, Statement, Trail, trails

__all__ = [
    "AIC",
    "BIC",
    "K2",
    "NML",
    "PC",
    "Annealing",
    "AroundClass",
    "BDeu",
    "BDs",
    "BGe",
    "BayesianNetwork",
    "BayesianNetworkClassifier",
    "BayesianNetworkDensity",
    "Beliefs",
    "BestFirst",
    "ByScore",
    "ChainReport",
    "ChowLiu",
    "CodedTable",
    "CommunicatingClass",
    "ConditionalGaussianNetwork",
    "Configuration",
    "Constraints",
    "CyclicGraphError",
    "Dag",
    "Deterministic",
    "Diagnosis",
    "Dirichlet",
    "EdgeProbabilities",
    "Engine",
    "Enumeration",
    "EqualFrequency",
    "Evidence",
    "Exact",
    "ExactEngine",
    "Explanation",
    "Factor",
    "FactorGraph",
    "FamilyCounts",
    "FamilyMoments",
    "Finding",
    "FittedNetwork",
    "FittedNoisyOr",
    "Forecast",
    "ForwardSampling",
    "Gibbs",
    "GraphComparison",
    "GraphPosterior",
    "GreedyEquivalence",
    "HiddenMarkovModel",
    "HillClimbing",
    "ImportanceSampling",
    "Independence",
    "JunctionTree",
    "LearnedStructure",
    "LikelihoodWeighting",
    "LinearGaussian",
    "LinearGaussianNetwork",
    "LogJunctionTree",
    "LogLikelihood",
    "LoopyPropagation",
    "MEstimate",
    "MapVerdict",
    "Marginals",
    "MarkovChain",
    "MeanField",
    "MetropolisHastings",
    "MinimumDescription",
    "MixingError",
    "MixtureOfNormals",
    "ModelArrays",
    "NetworkWarning",
    "NoisyOr",
    "Normals",
    "NothingAcceptedError",
    "ObservedNetwork",
    "OrderChains",
    "PairProbabilities",
    "PartialDag",
    "PerfectMap",
    "PlainJunctionTree",
    "Posterior",
    "Reinsertion",
    "RejectionSampling",
    "Separation",
    "StateForecast",
    "StatePath",
    "Statement",
    "StructurePrior",
    "Successive",
    "SumProduct",
    "Symbols",
    "Tabu",
    "Tabular",
    "TimeLimitError",
    "Trail",
    "Trellis",
    "Trust",
    "VariableElimination",
    "WithinLimits",
    "are_equivalent",
    "bootstrap_edges",
    "compare",
    "edge_probabilities",
    "effective_size",
    "family_counts",
    "family_moments",
    "fit_expectation",
    "fit_linear_gaussian",
    "fit_noisy_or",
    "fit_parameters",
    "from_pgmpy",
    "from_pyagrum",
    "gaussian_bic",
    "independence_test",
    "is_independence_map",
    "learn_structure",
    "minimal_independence_map",
    "missing_dependence",
    "monte_carlo_error",
    "noisy_or",
    "number_axis",
    "perfect_map",
    "rank_r_hat",
    "read_evidence",
    "read_factors",
    "read_table",
    "score",
    "split_r_hat",
    "to_pgmpy",
    "to_pyagrum",
    "trails",
    "write_factors",
]
