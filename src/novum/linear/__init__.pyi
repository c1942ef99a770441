from novum.linear.class_labels import class_factors as class_factors
from novum.linear.class_labels import labels_among as labels_among
from novum.linear.class_labels import places_among as places_among
from novum.linear.column_range import check_target_range as check_target_range
from novum.linear.descent.regression import Descent, GradientDescent, StochasticGradientDescent
from novum.linear.descent.steps import AdaGrad, Backtracking, ConstantStep, DecayingStep
from novum.linear.generalized.inference import GeneralizedInference
from novum.linear.generalized.laws import NegativeBinomial, Tweedie
from novum.linear.generalized.model import GeneralizedLinearModel
from novum.linear.generalized.regressors import GammaRegressor, PoissonRegressor, TweedieRegressor
from novum.linear.isotonic import IsotonicRegression
from novum.linear.least_squares.inference import LinearInference
from novum.linear.least_squares.influence import Influence
from novum.linear.least_squares.regression import LinearRegression
from novum.linear.least_squares.ridge import Ridge, RidgeCV
from novum.linear.least_squares.ridge import strengths as strengths
from novum.linear.least_squares.statistics import LeastSquaresStatistics
from novum.linear.logistic.inference import ChiSquaredTest, LogisticInference
from novum.linear.logistic.information import LogisticSummary, likelihood_ratio_test
from novum.linear.logistic.objective import Factor as Factor
from novum.linear.logistic.regression import LogisticRegression
from novum.linear.logistic.separation import Separation
from novum.linear.ordinal.inference import OrdinalInference, ProportionalOddsTest
from novum.linear.ordinal.regression import OrdinalRegression
from novum.linear.ordinal.rows import AbsentClassWarning, UnorderedTargetWarning
from novum.linear.perceptron.classifier import Perceptron
from novum.linear.perceptron.proof import Margins
from novum.linear.perceptron.proof import Proof as Proof

# What other packages use.
from novum.linear.perceptron.proof import certify as certify
from novum.linear.perceptron.proof import margins_of as margins_of
from novum.linear.perceptron.training import Run as Run
from novum.linear.perceptron.training import Training as Training
from novum.linear.perceptron.training import Visits as Visits
from novum.linear.perceptron.training import visits_of as visits_of
from novum.linear.quadratic_features import QuadraticFeatures, QuadraticForm
from novum.linear.sparse.cross_validation import ElasticNetCV, LassoCV
from novum.linear.sparse.model import ElasticNet, Lasso
from novum.linear.sparse.path import RegularizationPath
from novum.linear.sparse.penalties import L1, L2, AdaptiveL1, ElasticNetPenalty, Groups
from novum.linear.sparse.regression import PenalizedRegression

__all__ = [
    "L1",
    "L2",
    "AbsentClassWarning",
    "AdaGrad",
    "AdaptiveL1",
    "Backtracking",
    "ChiSquaredTest",
    "ConstantStep",
    "DecayingStep",
    "Descent",
    "ElasticNet",
    "ElasticNetCV",
    "ElasticNetPenalty",
    "GammaRegressor",
    "GeneralizedInference",
    "GeneralizedLinearModel",
    "GradientDescent",
    "Groups",
    "Influence",
    "IsotonicRegression",
    "Lasso",
    "LassoCV",
    "LeastSquaresStatistics",
    "LinearInference",
    "LinearRegression",
    "LogisticInference",
    "LogisticRegression",
    "LogisticSummary",
    "Margins",
    "NegativeBinomial",
    "OrdinalInference",
    "OrdinalRegression",
    "PenalizedRegression",
    "Perceptron",
    "PoissonRegressor",
    "ProportionalOddsTest",
    "QuadraticFeatures",
    "QuadraticForm",
    "RegularizationPath",
    "Ridge",
    "RidgeCV",
    "Separation",
    "StochasticGradientDescent",
    "Tweedie",
    "TweedieRegressor",
    "UnorderedTargetWarning",
    "likelihood_ratio_test",
]
