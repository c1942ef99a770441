"""Neural networks that find what is unusual: autoencoders, variational and adversarial models.

The names of this door and where they live are listed in `__init__.pyi`; each is imported when it
is first used. torch, the optional extra `neural`, is imported when a network is built.
"""

from novum import lazy_door

__getattr__, __dir__, __all__ = lazy_door(__name__, __file__)
