"""Linear models: least squares, ridge, and their relatives."""

from novum.linear.inference import LinearInference
from novum.linear.least_squares import LinearRegression
from novum.linear.ridge import Ridge
from novum.linear.ridge_cv import RidgeCV
from novum.linear.statistics import LeastSquaresStatistics

__all__ = ["LeastSquaresStatistics", "LinearInference", "LinearRegression", "Ridge", "RidgeCV"]
