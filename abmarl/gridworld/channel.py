"""What actors and observers have in common: a channel of every agent that they support."""

from typing import Any

import numpy as np

from abmarl.gridworld.component import Component
from abmarl.gridworld.groups import Layout
from abmarl.sim.layout import SpaceLayout


class ChannelComponent(Component):
    """A component with one channel of actions or observations.

    Attributes:
        key: The channel.
        supported_agent_type: Agents of this class have the channel; the others are left alone.
        side: ``"action"`` or ``"observation"``.
        by_hand: Whether the component works for single agents only, on spaces that it puts into
            ``agent.action_space`` or ``agent.observation_space`` itself.
        forms: What entries can look like; ``form_of`` int16 [N] gives the number of the form of
            every agent, -1 for agents without the channel.
    """

    key: Any = None
    supported_agent_type: Any = None
    side = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self.prepare()
        # One form for all agents that are alike; 100,000 agents must not take a dict each.
        self.forms = []
        self.form_of = np.full(self.store.num_agents, -1, np.int16)
        self._nulls = []
        self._offered = {}
        self._layout = None
        # In the style of existing components a subclass gives the agents their spaces itself.
        self.by_hand = type(self).space is ChannelComponent.space and self._says_itself()
        for slot, agent in enumerate(self.agents.values()):
            if not self.by_hand and self.supports(agent):
                self._offer(slot, agent)

    def _says_itself(self) -> bool:
        """Whether a subclass overrides what there is for single agents."""
        return False

    def prepare(self):
        """Works out what spaces depend on; called before the agents are given the channel."""

    def space(self, agent):
        """The space of this channel for an agent that is supported."""
        raise TypeError(f"{type(self).__name__} must define space(agent).")

    def null(self, agent):
        """The point of the space that does or tells nothing; None: there is none."""
        return None

    def parameters(self, agent):
        """What space and null point of an agent depend on, hashable; None: ask for each."""
        return None

    def supports(self, agent) -> bool:
        """Whether an agent has this channel."""
        return isinstance(agent, self.supported_agent_type)

    def form(self, slot) -> SpaceLayout:
        """What the entries of an agent look like; None when it has no such channel."""
        number = self.form_of[slot]
        return self.forms[number] if number >= 0 else None

    def null_of(self, slot):
        """The null point of an agent; None when it has none or no such channel."""
        number = self.form_of[slot]
        return self._nulls[number] if number >= 0 else None

    @property
    def layout(self) -> Layout:
        """Where the entries of all agents lie in a flat array: a block per shape."""
        if self._layout is None:
            blocks = {}
            for shape in dict.fromkeys(form.shape for form in self.forms):
                alike = [number for number, form in enumerate(self.forms) if form.shape == shape]
                blocks[shape] = np.flatnonzero(np.isin(self.form_of, alike)), shape
            self._layout = Layout(blocks, self.store.num_worlds, self.store.num_agents)
        return self._layout

    @property
    def num_entries(self) -> int:
        """Numbers that the entries of all agents of one world take together."""
        return sum(
            form.width * int(np.count_nonzero(self.form_of == number))
            for number, form in enumerate(self.forms)
        )

    @property
    def dtype(self) -> np.dtype:
        """dtype of such an array: the narrowest that holds the spaces."""
        return np.result_type(np.int8, *(form.narrow for form in self.forms))

    def _offer(self, slot, agent):
        """Gives an agent the channel. Agents with equal parameters share one space object."""
        key = self.parameters(agent)
        if key is None:
            key = repr(self.space(agent))
        if key not in self._offered:
            self._offered[key] = len(self.forms)
            self.forms.append(self._form_for(agent))
            self._nulls.append(self.null(agent))
        number = self._offered[key]
        self.form_of[slot] = number
        if self.grid.replica:
            return
        self._put(agent, f"{self.side}_space", self.forms[number].space)
        if self._nulls[number] is not None:
            self._put(agent, f"null_{self.side}", self._nulls[number])

    def _form_for(self, agent) -> SpaceLayout:
        space = self.space(agent)
        form = SpaceLayout(space, f"channel {self.key!r}")
        if not form.width or len({leaf.integer for leaf in form.leaves}) > 1:
            raise TypeError(
                f"A channel is one array, so it has one number at least, and all of them integers "
                f"or all of them floats, got {space}."
            )
        return form

    def _put(self, agent, attribute, value):
        channels = getattr(agent, attribute)
        if channels is None:
            channels = {}
            setattr(agent, attribute, channels)
            channels = getattr(agent, attribute)
        if not isinstance(channels, dict):
            raise TypeError(
                f"{attribute} of agent {agent.id!r} has no room for channel {self.key!r}; "
                "give grid agents a dict of spaces, or none."
            )
        channels.setdefault(self.key, value)
