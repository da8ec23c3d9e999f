"""What actors and observers have in common: a channel of every agent that they support."""

import numpy as np

from abmarl.gridworld.component import Component
from abmarl.gridworld.form import Form
from abmarl.gridworld.groups import Layout


class ChannelComponent(Component):
    """A component with one channel of actions or observations.

    Attributes:
        key: The channel.
        supported_agent_type: Agents of this class have the channel; the others are left alone.
        side: ``"action"`` or ``"observation"``.
    """

    key = None
    supported_agent_type = None
    side = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._forms = {}
        self._offered = {}
        self._layout = None
        for slot, agent in enumerate(self.agents.values()):
            if self.supports(agent):
                self._offer(slot, agent)

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

    def form(self, slot) -> Form:
        """What the entries of an agent look like; None when it has no such channel."""
        return self._forms.get(slot)

    @property
    def layout(self) -> Layout:
        """Where the entries of all agents lie in a flat array: a block per shape."""
        if self._layout is None:
            members = {}
            for slot, form in self._forms.items():
                members.setdefault(form.shape, []).append(slot)
            blocks = {shape: (np.array(slots), shape) for shape, slots in members.items()}
            self._layout = Layout(blocks, self.store.num_worlds, self.store.num_agents)
        return self._layout

    @property
    def dtype(self) -> np.dtype:
        """dtype of such an array: the narrowest that holds the spaces."""
        return np.result_type(np.int8, *{form.dtype for form in self._forms.values()})

    def _offer(self, slot, agent):
        """Gives an agent the channel. Agents with equal parameters share one space object."""
        key = self.parameters(agent)
        if key is None:
            key = repr(self.space(agent))
        if key not in self._offered:
            self._offered[key] = Form(self.space(agent)), self.null(agent)
        self._forms[slot], null = self._offered[key]
        self._put(agent, f"{self.side}_space", self._forms[slot].space)
        if null is not None:
            self._put(agent, f"null_{self.side}", null)

    def _put(self, agent, attribute, value):
        channels = getattr(agent, attribute)
        if channels is None:
            channels = {}
            setattr(agent, attribute, channels)
            channels = getattr(agent, attribute)
        if self.key in getattr(channels, "spaces", ()):
            return  # the agent has been finalized with this channel
        if not isinstance(channels, dict):
            raise TypeError(
                f"{attribute} of agent {agent.id!r} has no room for channel {self.key!r}; "
                "give grid agents a dict of spaces, or none."
            )
        channels.setdefault(self.key, value)
