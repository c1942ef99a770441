"""Tables for people and tests: readers of files, bundled sets, synthetic generators."""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
