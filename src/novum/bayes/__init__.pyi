from novum.bayes.bernoulli import BernoulliNB
from novum.bayes.categorical import CategoricalNB
from novum.bayes.column_models import (
    BernoulliColumn,
    CategoricalColumn,
    CountsBlock,
    GaussianColumn,
    LawColumn,
    MEstimate,
    StudentTColumn,
)
from novum.bayes.density_classifier import DensityClassifier
from novum.bayes.discriminant_analysis import (
    LinearDiscriminantAnalysis,
    QuadraticDiscriminantAnalysis,
)
from novum.bayes.discriminants import BoundaryKind, Hyperplane, Quadric
from novum.bayes.error_probability import ErrorProbability, bayes_error
from novum.bayes.explanation import Explanation
from novum.bayes.gaussian import GaussianClassifier, choose_covariance
from novum.bayes.gaussian_covariance import AbsentColumnWarning, SingularCovarianceWarning
from novum.bayes.gaussian_nb import GaussianNB
from novum.bayes.gaussian_predictive import CovarianceChoice, WeakPrior
from novum.bayes.gaussian_statistics import GaussianStatistics
from novum.bayes.hypotheses import (
    ConjunctiveConcept,
    HypothesisSpace,
    ListedConcept,
    all_concepts,
    conjunctive_concepts,
)
from novum.bayes.multinomial import ComplementNB, MultinomialNB
from novum.bayes.naive_bayes import NaiveBayes
from novum.bayes.naive_bayes_engine import ImpossibleRowWarning
from novum.bayes.naive_bayes_statistics import NaiveBayesStatistics
from novum.bayes.text import TextClassifier
from novum.bayes.value_columns import BinnedColumn, KernelColumn, MixtureColumn

__all__ = [
    "AbsentColumnWarning",
    "BernoulliColumn",
    "BernoulliNB",
    "BinnedColumn",
    "BoundaryKind",
    "CategoricalColumn",
    "CategoricalNB",
    "ComplementNB",
    "ConjunctiveConcept",
    "CountsBlock",
    "CovarianceChoice",
    "DensityClassifier",
    "ErrorProbability",
    "Explanation",
    "GaussianClassifier",
    "GaussianColumn",
    "GaussianNB",
    "GaussianStatistics",
    "Hyperplane",
    "HypothesisSpace",
    "ImpossibleRowWarning",
    "KernelColumn",
    "LawColumn",
    "LinearDiscriminantAnalysis",
    "ListedConcept",
    "MEstimate",
    "MixtureColumn",
    "MultinomialNB",
    "NaiveBayes",
    "NaiveBayesStatistics",
    "QuadraticDiscriminantAnalysis",
    "Quadric",
    "SingularCovarianceWarning",
    "StudentTColumn",
    "TextClassifier",
    "WeakPrior",
    "all_concepts",
    "bayes_error",
    "choose_covariance",
    "conjunctive_concepts",
]
