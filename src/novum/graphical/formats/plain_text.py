"""The text that people write (`BayesianNetwork.to_text`) as a file.

It is the one format that keeps everything: states of any kind and their order, noisy-or and
deterministic nodes as they are, every number to the last bit. `novum.graphical.models.network_text`
describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from novum.core.errors import FileFormatError, InputError
from novum.graphical.formats.draft import file_error
from novum.graphical.formats.files import file_text
from novum.graphical.models import network_text
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.network_building import conditionals_of

if TYPE_CHECKING:
    from novum.graphical.models.bayesian_network import BayesianNetwork


def read(data: bytes, source: str) -> list[Conditional]:
    """The distributions of a file."""
    text = file_text(data, source)
    try:
        conditionals = conditionals_of(network_text.parsed(text))
    except FileFormatError as error:
        # The file's name takes the place of "the network's text".
        reason = str(error).partition(": ")[2]
        raise file_error(source, reason, error.line) from None
    except InputError as error:
        raise FileFormatError(f"{source}: {error}") from None
    if not conditionals:
        raise file_error(source, "there is no variable in it. Is it the whole file?")
    return conditionals


def written(network: BayesianNetwork, source: str) -> str:
    """A network as text; nothing is lost."""
    del source
    return network_text.written(network)
