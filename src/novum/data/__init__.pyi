from novum.core.sources import Dialect, open_source
from novum.data.bundled import BundledTable, available, load

# What other packages use.
from novum.data.readers import ReadTable, read
from novum.data.scaling.class_scatter import ClassScatter as ClassScatter
from novum.data.svmlight import SvmlightTable, read_svmlight
from novum.data.synthetic import (
    Checkerboard,
    GaussianClasses,
    LinearResponse,
    NominalClasses,
    SyntheticSample,
    TwoMoons,
)

__all__ = [
    "BundledTable",
    "Checkerboard",
    "Dialect",
    "GaussianClasses",
    "LinearResponse",
    "NominalClasses",
    "ReadTable",
    "SvmlightTable",
    "SyntheticSample",
    "TwoMoons",
    "available",
    "load",
    "open_source",
    "read",
    "read_svmlight",
]
