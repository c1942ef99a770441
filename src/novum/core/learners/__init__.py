"""What every learner has: a certificate, contracts, pipelines, many classes, crossed fits."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
