from novum.linear.gradient import Descent, GradientDescent, StochasticGradientDescent
from novum.linear.gradient_steps import AdaGrad, Backtracking, ConstantStep, DecayingStep
from novum.linear.inference import LinearInference
from novum.linear.least_squares import LinearRegression
from novum.linear.logistic import LogisticRegression
from novum.linear.logistic_inference import ChiSquaredTest, LogisticInference
from novum.linear.logistic_information import LogisticSummary, likelihood_ratio_test
from novum.linear.ordinal import OrdinalRegression
from novum.linear.ordinal_inference import OrdinalInference
from novum.linear.ordinal_proportionality import ProportionalOddsTest
from novum.linear.ordinal_target import AbsentClassWarning, UnorderedTargetWarning
from novum.linear.perceptron import Perceptron
from novum.linear.perceptron_proof import Margins
from novum.linear.quadratic_expansion import QuadraticForm
from novum.linear.quadratic_features import QuadraticFeatures
from novum.linear.ridge import Ridge
from novum.linear.ridge_cv import RidgeCV
from novum.linear.separation import Separation
from novum.linear.statistics import LeastSquaresStatistics

__all__ = [
    "AbsentClassWarning",
    "AdaGrad",
    "Backtracking",
    "ChiSquaredTest",
    "ConstantStep",
    "DecayingStep",
    "Descent",
    "GradientDescent",
    "LeastSquaresStatistics",
    "LinearInference",
    "LinearRegression",
    "LogisticInference",
    "LogisticRegression",
    "LogisticSummary",
    "Margins",
    "OrdinalInference",
    "OrdinalRegression",
    "Perceptron",
    "ProportionalOddsTest",
    "QuadraticFeatures",
    "QuadraticForm",
    "Ridge",
    "RidgeCV",
    "Separation",
    "StochasticGradientDescent",
    "UnorderedTargetWarning",
    "likelihood_ratio_test",
]
