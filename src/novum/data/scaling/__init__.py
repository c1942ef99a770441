"""Scalings that know kinds of columns, missing cells and weights, and whose statistics add up."""

from novum.data.scaling.gaussianizer import Gaussianizer
from novum.data.scaling.min_max import MinMaxScaler
from novum.data.scaling.standard import StandardScaler
from novum.data.scaling.unit_length import CenterThenUnitLength
from novum.data.scaling.whitener import SingularScatterWarning, Whitener

__all__ = [
    "CenterThenUnitLength",
    "Gaussianizer",
    "MinMaxScaler",
    "SingularScatterWarning",
    "StandardScaler",
    "Whitener",
]
