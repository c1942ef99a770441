"""Synthetic laws that can be drawn from and know the best any learner could do."""

from novum.data.synthetic.checkerboard import Checkerboard
from novum.data.synthetic.gaussian import GaussianClasses
from novum.data.synthetic.linear import LinearResponse
from novum.data.synthetic.moons import TwoMoons
from novum.data.synthetic.nominal import NominalClasses
from novum.data.synthetic.sample import SyntheticSample

__all__ = [
    "Checkerboard",
    "GaussianClasses",
    "LinearResponse",
    "NominalClasses",
    "SyntheticSample",
    "TwoMoons",
]
