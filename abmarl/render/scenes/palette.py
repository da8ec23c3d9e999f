"""Colours of agents that were given none."""

from collections.abc import Sequence
from typing import Any

from abmarl.render.colors import PALETTE

_DEFAULT = "gray"  # of `render_color`


def shown_colors(agents: Sequence[Any]) -> list[Any]:
    """The colour of each agent as it is drawn.

    That is its `render_color`. Where all agents have the default one and encodings differ, every
    encoding gets a colour of the palette, so that they can be told apart; what neither acts nor
    lets others look through stays gray.

    Args:
        agents: all agents of a grid simulation.
    """
    colors = [agent.render_color for agent in agents]
    if not all(isinstance(color, str) and color == _DEFAULT for color in colors):
        return colors
    kinds = sorted({agent.encoding for agent in agents if not _is_scenery(agent)})
    if len(kinds) < 2:
        return colors
    of_kind = {kind: PALETTE[number % len(PALETTE)] for number, kind in enumerate(kinds)}
    return [_DEFAULT if _is_scenery(agent) else of_kind[agent.encoding] for agent in agents]


def _is_scenery(agent: Any) -> bool:
    return bool(agent.blocking) and not hasattr(agent, "action_space")
