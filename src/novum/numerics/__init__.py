"""Arrays in, arrays out: compiled kernels, moments, counts, linear algebra. Knows no estimator."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
