# What other packages use, here and below: names that are not in `__all__`.
from novum.distributions.classwise.any_law import LawBlock as LawBlock
from novum.distributions.classwise.any_law import class_statistics as class_statistics
from novum.distributions.classwise.class_moments import class_moments as class_moments
from novum.distributions.classwise.class_moments import pooled as pooled
from novum.distributions.classwise.class_moments import pooled_columns as pooled_columns
from novum.distributions.classwise.class_totals import class_totals as class_totals
from novum.distributions.classwise.discrete import BernoulliBlock as BernoulliBlock
from novum.distributions.classwise.discrete import CategoricalBlock as CategoricalBlock
from novum.distributions.classwise.discrete import CountBlock as CountBlock
from novum.distributions.classwise.discrete import LevelPrior as LevelPrior
from novum.distributions.classwise.discrete import expected_totals as expected_totals
from novum.distributions.classwise.gaussian_columns import ColumnDensities as ColumnDensities
from novum.distributions.classwise.gaussian_matrices import MatrixDensities as MatrixDensities
from novum.distributions.classwise.gaussian_matrices import Roots as Roots
from novum.distributions.classwise.gaussian_matrices import missing_patterns as missing_patterns
from novum.distributions.classwise.gaussian_matrices import refuse_overflow as refuse_overflow
from novum.distributions.classwise.gaussian_matrices import whitener as whitener
from novum.distributions.classwise.gaussian_matrices import whiteners as whiteners
from novum.distributions.classwise.numeric import GaussianBlock as GaussianBlock
from novum.distributions.classwise.numeric import StudentTBlock as StudentTBlock
from novum.distributions.classwise.numeric import by_class as by_class
from novum.distributions.classwise.numeric import normals_without as normals_without
from novum.distributions.classwise.protocol import ClassSums as ClassSums
from novum.distributions.classwise.protocol import numeric_cells as numeric_cells
from novum.distributions.components import Component
from novum.distributions.conditional_table import ConditionalTable
from novum.distributions.conjugacy import (
    Interval,
    credible_interval,
    log_evidence,
    map_estimate,
    mean_estimate,
    posterior,
    predictive,
)
from novum.distributions.conjugacy_knowns import (
    KnownCovariance,
    KnownLevels,
    KnownTrials,
    KnownVariance,
)
from novum.distributions.conjugacy_predictives import BetaBinomial, DirichletMultinomial
from novum.distributions.independence import (
    Independence,
    IndependenceTest,
    SmallCountsWarning,
    check_independence,
    independence_test,
)
from novum.distributions.information import (
    cross_entropy,
    entropy,
    kl_divergence,
    mutual_information,
    perplexity,
)
from novum.distributions.information_axioms import (
    Axiom,
    ImpurityReport,
    check_impurity,
    error_impurity,
    gini_impurity,
)
from novum.distributions.information_codes import (
    PrefixCode,
    canonical_words,
    huffman_code,
    kraft_sum,
    shannon_lengths,
)

# What other packages use.
from novum.distributions.information_estimates import digamma_of_position as digamma_of_position
from novum.distributions.information_estimates import (
    estimate_entropy,
    estimate_mutual_information,
    neighbor_entropy,
    neighbor_mutual_information,
)
from novum.distributions.information_estimates import others_within as others_within
from novum.distributions.information_integrals import mean_under as mean_under
from novum.distributions.joint_table import EXACT as EXACT
from novum.distributions.joint_table import QUIET as QUIET
from novum.distributions.joint_table import TOLERATED as TOLERATED
from novum.distributions.joint_table import ImpossibleEvidence, JointTable
from novum.distributions.joint_table import table_over as table_over
from novum.distributions.joint_table_counts import named_columns as named_columns
from novum.distributions.joint_table_states import MAX_CELLS as MAX_CELLS
from novum.distributions.joint_table_states import MAX_VARIABLES as MAX_VARIABLES
from novum.distributions.joint_table_states import StateAxis as StateAxis
from novum.distributions.joint_table_states import StateSpace as StateSpace
from novum.distributions.joint_table_states import as_html as as_html
from novum.distributions.joint_table_states import as_text as as_text
from novum.distributions.joint_table_states import check_cells as check_cells
from novum.distributions.joint_table_states import names_of as names_of
from novum.distributions.joint_table_states import shown as shown
from novum.distributions.limits import (
    CentralLimit,
    LargeNumbers,
    central_limit_theorem,
    chebyshev_bound,
    chebyshev_sample_size,
    hoeffding_bound,
    hoeffding_sample_size,
    law_of_large_numbers,
    standardized_means,
)
from novum.distributions.mixture import MixtureLaw, MixtureStatistics, RealMixtureLaw
from novum.distributions.mixture import mixture_weights as mixture_weights
from novum.distributions.mixture_em import LawEM as LawEM
from novum.distributions.mixture_em import first_mixture as first_mixture
from novum.distributions.multivariate.dirichlet import Dirichlet, DirichletStatistics
from novum.distributions.multivariate.ellipsoid import Ellipsoid
from novum.distributions.multivariate.multinomial import Multinomial, MultinomialStatistics
from novum.distributions.multivariate.multinomial_shares import MultinomialShares, ShareStatistics
from novum.distributions.multivariate.multivariate_bernoulli import (
    MultivariateBernoulli,
    MultivariateBernoulliStatistics,
)
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
from novum.distributions.multivariate.normal_gamma import NormalGamma, NormalGammaStatistics
from novum.distributions.multivariate.normal_wishart import NormalWishart, NormalWishartStatistics
from novum.distributions.multivariate.parameters import ArrayParameters as ArrayParameters
from novum.distributions.multivariate.parameters import checked_vector as checked_vector
from novum.distributions.multivariate.positive_definite import SingularMatrixError
from novum.distributions.multivariate.wishart import Wishart, WishartStatistics
from novum.distributions.product import ProductLaw, ProductStatistics
from novum.distributions.propositions import Proposition, Variable, variable
from novum.distributions.protocol import EstimableLaw, Law, LawStatistics, RealLaw
from novum.distributions.univariate.bernoulli import Bernoulli, BernoulliStatistics
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial, BinomialStatistics
from novum.distributions.univariate.categorical import Categorical, CategoricalStatistics
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
from novum.distributions.univariate.normal import mean_after as mean_after
from novum.distributions.univariate.poisson import Poisson, PoissonStatistics
from novum.distributions.univariate.student_t import StudentT

__all__ = [
    "Axiom",
    "Bernoulli",
    "BernoulliStatistics",
    "Beta",
    "BetaBinomial",
    "Binomial",
    "BinomialStatistics",
    "Categorical",
    "CategoricalStatistics",
    "CentralLimit",
    "Component",
    "ConditionalTable",
    "Dirichlet",
    "DirichletMultinomial",
    "DirichletStatistics",
    "Ellipsoid",
    "EstimableLaw",
    "Gamma",
    "ImpossibleEvidence",
    "ImpurityReport",
    "Independence",
    "IndependenceTest",
    "Interval",
    "JointTable",
    "KnownCovariance",
    "KnownLevels",
    "KnownTrials",
    "KnownVariance",
    "LargeNumbers",
    "Law",
    "LawStatistics",
    "MixtureLaw",
    "MixtureStatistics",
    "Multinomial",
    "MultinomialShares",
    "MultinomialStatistics",
    "MultivariateBernoulli",
    "MultivariateBernoulliStatistics",
    "MultivariateNormal",
    "MultivariateStudentT",
    "Normal",
    "NormalGamma",
    "NormalGammaStatistics",
    "NormalWishart",
    "NormalWishartStatistics",
    "Poisson",
    "PoissonStatistics",
    "PrefixCode",
    "ProductLaw",
    "ProductStatistics",
    "Proposition",
    "RealLaw",
    "RealMixtureLaw",
    "ShareStatistics",
    "SingularMatrixError",
    "SmallCountsWarning",
    "StudentT",
    "Variable",
    "Wishart",
    "WishartStatistics",
    "canonical_words",
    "central_limit_theorem",
    "chebyshev_bound",
    "chebyshev_sample_size",
    "check_impurity",
    "check_independence",
    "credible_interval",
    "cross_entropy",
    "entropy",
    "error_impurity",
    "estimate_entropy",
    "estimate_mutual_information",
    "gini_impurity",
    "hoeffding_bound",
    "hoeffding_sample_size",
    "huffman_code",
    "independence_test",
    "kl_divergence",
    "kraft_sum",
    "law_of_large_numbers",
    "log_evidence",
    "map_estimate",
    "mean_estimate",
    "mutual_information",
    "neighbor_entropy",
    "neighbor_mutual_information",
    "perplexity",
    "posterior",
    "predictive",
    "shannon_lengths",
    "standardized_means",
    "variable",
]
