from novum.core.sources import Dialect, open_source
from novum.data.bundled import BundledTable, available, load
from novum.data.cut_points import equal_frequency_cuts as equal_frequency_cuts
from novum.data.cut_points import equal_width_cuts as equal_width_cuts
from novum.data.cut_points import mdl_cuts as mdl_cuts
from novum.data.date_features import DateFeatures

# What other packages use.
from novum.data.filling.filling_columns import LevelCounts as LevelCounts
from novum.data.readers import ReadTable, read
from novum.data.scaling.class_scatter import ClassScatter as ClassScatter
from novum.data.scaling.counted_values import CountedValues as CountedValues
from novum.data.scaling.standard import StandardScaler as StandardScaler
from novum.data.svmlight import SvmlightTable, read_svmlight
from novum.data.synthetic import (
    Checkerboard,
    GaussianClasses,
    LinearResponse,
    NominalClasses,
    SyntheticSample,
    TwoMoons,
)
from novum.data.text_features import TextFeatures

__all__ = [
    "BundledTable",
    "Checkerboard",
    "DateFeatures",
    "Dialect",
    "GaussianClasses",
    "LinearResponse",
    "NominalClasses",
    "ReadTable",
    "SvmlightTable",
    "SyntheticSample",
    "TextFeatures",
    "TwoMoons",
    "available",
    "load",
    "open_source",
    "read",
    "read_svmlight",
]
