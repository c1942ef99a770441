"""A network as SVG, drawn without Graphviz.

Parents stand above their children. Every node is a box with its name and, for each state, its
probability given what is known, as a bar and a percentage. Observed nodes have a thick frame of
another color, and their state is bold.

The same network gives the same text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from novum.core.errors import InputError
from novum.core.svg_text import SvgText
from novum.display import FONT_SIZE, Drawing, Group, Label, Path
from novum.display import Box as Rectangle
from novum.graphical.drawing.boxes import (
    BAR_HEIGHT,
    BAR_WIDTH,
    LINE,
    PADDING,
    Box,
    bar_box,
    name_box,
    number_box,
    plain_box,
)
from novum.graphical.drawing.placement import Placement, placed
from novum.graphical.models.conditional import Conditional
from novum.graphical.models.questions import States, check_mapping, place_of, states_given
from novum.graphical.models.states import names_in_order
from novum.graphical.structure.dag import Dag

if TYPE_CHECKING:
    from novum.graphical.inference.protocol import Engine
    from novum.graphical.models.bayesian_network import BayesianNetwork
    from novum.graphical.models.linear_gaussian import ConditionalGaussianNetwork
    from novum.graphical.structure.dag import Dag

MAX_NODES = 5000
# Colors of the palette.
_BAR, _OBSERVED = 0, 1
_MARGIN = 10.0
_ARROW = 7.0
_PORT = 9.0


def draw(
    network: BayesianNetwork,
    given: States | None = None,
    *,
    nodes: str | Sequence[str] | None = None,
    engine: Engine | None = None,
    max_bars: int = 100,
    max_states: int = 8,
) -> SvgText:
    """The network as an SVG picture, with the posterior of every node.

    Parameters
    ----------
    network : BayesianNetwork
    given : mapping from nodes to states, optional
        What is known.
    nodes : names, optional
        Only these nodes and the edges between them, with the probabilities they have in the whole
        network; all nodes by default.
    engine : Engine, optional
        How posteriors are found; exactly by default.
    max_bars : int
        More nodes than these are drawn with names only, and nothing is computed.
    max_states : int
        Lines for states in a box, at least 2; the least likely states share the last one.

    Returns
    -------
    SvgText
        A str, which notebooks show as a picture and `save` writes as a file.

    Examples
    --------
    >>> from novum.graphical import BayesianNetwork
    >>> network = BayesianNetwork().add("rain", table=[0.2, 0.8])
    >>> picture = draw(network.add("wet", ["rain"], [[0.9, 0.1], [0.1, 0.9]]), {"wet": "true"})
    >>> "69.2 %" in picture
    True
    """
    if not len(network):
        raise InputError("The network has no nodes to draw. Add one first.")
    if max_states < 2:
        raise InputError(f"max_states is at least 2, got {max_states}.")
    check_mapping(given, "given")
    known = given or {}
    shown = _chosen(network, nodes)
    if len(shown) > MAX_NODES:
        raise InputError(
            f"A drawing of {len(shown)} nodes cannot be read; {MAX_NODES} is the limit. Draw some "
            "of them: nodes=[...]."
        )
    boxes = _boxes(network, shown, known, engine, max_bars, max_states)
    n_observed = sum(network.places[name] in {*shown} for name in known)
    return _placed_boxes(network.graph, shown, boxes, n_observed, max_bars)


def draw_mixed(
    network: ConditionalGaussianNetwork, given: Mapping[str, Any] | None, *, max_states: int
) -> SvgText:
    """A network with numbers as an SVG picture: a number's box has its mean and spread."""
    if not len(network):
        raise InputError("The network has no nodes to draw. Add one first.")
    known = check_mapping(given, "given")
    laws = network.marginals(known)
    boxes = []
    for place, name in enumerate(network.names):
        node = network.nodes[place]
        if network.is_numeric[place]:
            boxes.append(number_box(name, known[name] if name in known else laws[name]))
            continue
        assert isinstance(node, Conditional)
        chosen = states_given(node.variable, known[name]) if name in known else ()
        shares = np.zeros(len(node.variable.states))
        shares[list(chosen)] = 1.0
        boxes.append(
            bar_box(node, shares if chosen else laws[name].values, chosen, max(max_states, 2))
        )
    shown = list(range(len(network)))
    return _placed_boxes(network.graph, shown, boxes, len(known), len(network))


def _placed_boxes(
    graph: Dag, shown: Sequence[int], boxes: list[Box], n_observed: int, max_bars: int
) -> SvgText:
    numbers = {place: number for number, place in enumerate(shown)}
    parents = [[numbers[p] for p in graph.parents[place] if p in numbers] for place in shown]
    order = [numbers[place] for place in graph.order if place in numbers]
    places = placed(parents, order, [(box.width, box.height) for box in boxes])
    title = _title(len(graph.names), len(shown), sum(map(len, parents)), n_observed, max_bars)
    return SvgText(_drawing(boxes, places, title).as_svg())


def draw_strengths(names: Sequence[str], edges: Mapping[tuple[int, int], float]) -> SvgText:
    """Nodes by name, and edges as wide as they are sure, with the figure beside each.

    Parameters
    ----------
    names : sequence of str
    edges : mapping from (parent, child) to numbers from 0 to 1
        Without a cycle.

    Examples
    --------
    >>> picture = draw_strengths(["rain", "wet"], {(0, 1): 0.9})
    >>> "0.90" in picture, 'stroke-width="4.2"' in picture
    (True, True)
    """
    parents: list[list[int]] = [[] for _ in names]
    for parent, child in edges:
        parents[child].append(parent)
    order = Dag(tuple(names), tuple(tuple(sorted(above)) for above in parents)).order
    boxes = [plain_box(name) for name in names]
    places = placed(parents, order, [(box.width, box.height) for box in boxes])
    title = f"{len(names)} variables and {len(edges)} edges, as wide as they are sure"
    return SvgText(_drawing(boxes, places, title, edges).as_svg())


def _chosen(network: BayesianNetwork, nodes: str | Sequence[str] | None) -> list[int]:
    """The nodes that are drawn, in the order of the network."""
    if nodes is None:
        return list(range(len(network)))
    chosen = {place_of(network, name) for name in names_in_order(nodes, "nodes")}
    if not chosen:
        raise InputError("Name at least one node to draw, or leave out nodes for all.")
    return sorted(chosen)


def _boxes(
    network: BayesianNetwork,
    shown: Sequence[int],
    given: States,
    engine: Engine | None,
    max_bars: int,
    max_states: int,
) -> list[Box]:
    observed: dict[int, tuple[int, ...]] = {}
    for name, state in given.items():
        place = place_of(network, name)
        observed[place] = states_given(network.variables[place], state)
    items = [(observed.get(place, ()), network.conditionals[place]) for place in shown]
    if len(shown) > max_bars:
        return [name_box(item, known) for known, item in items]
    # What is neither drawn nor known, nor an ancestor of such, changes no probability.
    needed = network
    if len(shown) < len(network):
        needed = network.part(*(item.name for _, item in items), *given)
    shares = needed.marginals(given, engine=engine)
    return [bar_box(item, shares[item.name].values, known, max_states) for known, item in items]


def _title(n_nodes: int, n_shown: int, n_edges: int, n_observed: int, max_bars: int) -> str:
    text = f"Bayesian network of {n_shown} nodes and {n_edges} edges"
    if n_shown < n_nodes:
        text = f"{n_shown} of the {n_nodes} nodes of a Bayesian network, with {n_edges} edges"
    if n_observed:
        text += f", {n_observed} of them observed"
    return text + ("; too many nodes for bars" if n_shown > max_bars else "")


# --- Nodes ----------------------------------------------------------------------------------------


def _drawing(
    boxes: list[Box],
    places: Placement,
    title: str,
    strengths: Mapping[tuple[int, int], float] | None = None,
) -> Drawing:
    nodes = [
        _node(box, x + _MARGIN, y + _MARGIN)
        for box, (x, y) in zip(boxes, places.corners, strict=True)
    ]
    width, height = places.width + 2 * _MARGIN, places.height + 2 * _MARGIN
    return Drawing(width, height, [*_edges(boxes, places, strengths), *nodes], title)


def _node(box: Box, x: float, y: float) -> Group:
    middle = x + box.width / 2
    frame = Rectangle(
        x,
        y,
        box.width,
        box.height,
        "ink",
        0.05,
        frame=_OBSERVED if box.is_observed else "muted",
        frame_width=2.5 if box.is_observed else 1.0,
        radius=6.0,
    )
    name = Label(middle, y + PADDING + FONT_SIZE - 1, box.name, "middle", bold=True)
    shapes: list[Rectangle | Label] = [frame, name]
    for rank in range(len(box.lines)):
        shapes += _state(box, rank, x + PADDING, y + PADDING + LINE * (rank + 1) + 3)
    if box.rest:
        bottom = y + PADDING + LINE * (len(box.lines) + 1) + FONT_SIZE
        shapes.append(Label(middle, bottom, box.rest, "middle"))
    return Group(shapes, box.hover)


def _state(box: Box, rank: int, x: float, y: float) -> list[Rectangle | Label]:
    """A line of a box: label, bar, percentage."""
    line = box.lines[rank]
    bar, top = x + box.label_width, y + (LINE - BAR_HEIGHT) / 2
    base = y + LINE / 2 + 0.36 * FONT_SIZE
    right = x + box.width - 2 * PADDING
    color = _OBSERVED if box.is_observed else _BAR
    return [
        Label(x, base, line.label, bold=line.is_observed),
        Rectangle(bar, top, BAR_WIDTH, BAR_HEIGHT, "faint"),
        Rectangle(bar, top, line.share * BAR_WIDTH, BAR_HEIGHT, color),
        Label(right, base, line.percentage, "end", bold=line.is_observed),
    ]


# --- Edges ----------------------------------------------------------------------------------------


def _edges(
    boxes: list[Box], places: Placement, strengths: Mapping[tuple[int, int], float] | None
) -> list[Path | Label]:
    leaving, arriving = _ports(boxes, places)
    paths: list[Path | Label] = []
    for (p, v), bends in sorted(places.bends.items()):
        start = (leaving[p, v], places.corners[p][1] + boxes[p].height)
        end = (arriving[p, v], places.corners[v][1] - _ARROW)
        points = [start]
        for x, top, bottom in bends:
            points += [(x, top), (x, bottom)]
        strength = None if strengths is None else strengths[p, v]
        paths += _curve([*points, end], 1.0 if strength is None else 0.6 + 4.0 * strength)
        if strength is not None:
            x, y = end[0] + _MARGIN + 8, end[1] + _MARGIN - 4
            paths.append(Label(x, y, f"{strength:.2f}", color="muted"))
    return paths


def _ports(
    boxes: list[Box], places: Placement
) -> tuple[dict[tuple[int, int], float], dict[tuple[int, int], float]]:
    """Where edges leave and enter boxes: beside each other, in the order of their other ends."""
    leaving: dict[tuple[int, int], float] = {}
    arriving: dict[tuple[int, int], float] = {}
    centers = [x + box.width / 2 for box, (x, _) in zip(boxes, places.corners, strict=True)]
    outgoing: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    incoming: dict[int, list[tuple[float, tuple[int, int]]]] = {}
    for (p, v), bends in places.bends.items():
        outgoing.setdefault(p, []).append((bends[0][0] if bends else centers[v], (p, v)))
        incoming.setdefault(v, []).append((bends[-1][0] if bends else centers[p], (p, v)))
    for ends, ports in ((outgoing, leaving), (incoming, arriving)):
        for node, neighbors in ends.items():
            room = boxes[node].width - 2 * PADDING
            step = min(_PORT, room / max(len(neighbors) - 1, 1))
            first = centers[node] - step * (len(neighbors) - 1) / 2
            for rank, (_, edge) in enumerate(sorted(neighbors)):
                ports[edge] = first + step * rank
    return leaving, arriving


def _curve(points: list[tuple[float, float]], width: float) -> list[Path]:
    """A line that leaves and enters upright, with an arrow head."""
    shifted = [(x + _MARGIN, y + _MARGIN) for x, y in points]
    x, y = shifted[-1]
    head = [(x, y + _ARROW), (x - 3.5, y), (x + 3.5, y)]
    return [Path(shifted, "muted", width, bends=True), Path(head, fill="muted")]
