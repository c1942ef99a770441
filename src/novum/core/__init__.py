"""The estimator contract: schema, samples, statistics, engines, certificates, decisions, files.

The names of this door and where they live are listed in `__init__.pyi`; each is imported when it
is first used, so that reading a schema does not import scikit-learn.
"""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
