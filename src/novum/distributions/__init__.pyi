from novum.distributions.conditional_table import ConditionalTable
from novum.distributions.conjugacy import (
    log_evidence,
    map_estimate,
    mean_estimate,
    posterior,
    predictive,
)
from novum.distributions.conjugacy_intervals import Interval, credible_interval
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
from novum.distributions.information_estimates import (
    estimate_entropy,
    estimate_mutual_information,
    neighbor_entropy,
    neighbor_mutual_information,
)
from novum.distributions.joint_table import ImpossibleEvidence, JointTable
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
from novum.distributions.multivariate.dirichlet import Dirichlet, DirichletStatistics
from novum.distributions.multivariate.ellipsoid import Ellipsoid
from novum.distributions.multivariate.multinomial import Multinomial, MultinomialStatistics
from novum.distributions.multivariate.multivariate_bernoulli import (
    MultivariateBernoulli,
    MultivariateBernoulliStatistics,
)
from novum.distributions.multivariate.multivariate_normal import MultivariateNormal
from novum.distributions.multivariate.multivariate_student_t import MultivariateStudentT
from novum.distributions.multivariate.normal_gamma import NormalGamma, NormalGammaStatistics
from novum.distributions.multivariate.normal_wishart import NormalWishart, NormalWishartStatistics
from novum.distributions.multivariate.positive_definite import SingularMatrixError
from novum.distributions.multivariate.wishart import Wishart, WishartStatistics
from novum.distributions.propositions import Proposition, Variable, variable
from novum.distributions.protocol import EstimableLaw, Law, LawStatistics, RealLaw
from novum.distributions.univariate.bernoulli import Bernoulli, BernoulliStatistics
from novum.distributions.univariate.beta import Beta
from novum.distributions.univariate.binomial import Binomial, BinomialStatistics
from novum.distributions.univariate.categorical import Categorical, CategoricalStatistics
from novum.distributions.univariate.gamma import Gamma
from novum.distributions.univariate.normal import Normal
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
    "Multinomial",
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
    "PrefixCode",
    "Proposition",
    "RealLaw",
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
