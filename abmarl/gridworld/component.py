"""What all components have in common, and those with a channel of actions or observations."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

import numpy as np

from abmarl.gridworld.agent import GridWorldAgent
from abmarl.gridworld.grid import Grid
from abmarl.gridworld.groups import Layout
from abmarl.sim.layout import SpaceLayout

WorksOn = Literal["kernels", "arrays", "agents"]


class Component:
    """One part of a grid world.

    A component is written in one of three ways: its ``calls`` name kernels, which compiled programs
    run over all worlds; it has methods on the arrays of all worlds; or it handles single agents of
    a single world, one by one. Which one it is stands in ``works_on``. A class may say so itself;
    else it follows from the methods that it defines, those of the most derived class first.

    Args:
        agents: The agents of the simulation, by id.
        grid: Its grid.
        kwargs: Parameters of other components of the simulation, ignored.

    Attributes:
        works_on: ``"kernels"``, ``"arrays"`` or ``"agents"``; None for bases that do nothing yet.
        methods: ``{works_on: names}``, the methods by which a class of this role says what it does.
        role: ``"state"``, ``"actor"``, ``"observer"`` or ``"done"``.
        store: The arrays; ``store.num_worlds`` is 1 in a single simulation.
        needs_positions: Whether it is of no use while agents stand nowhere.
    """

    works_on: WorksOn | None = None
    methods: ClassVar[dict[str, tuple[str, ...]]] = {}
    role: str | None = None
    needs_positions = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        """Determine what the class works on."""
        super().__init_subclass__(**kwargs)
        if "works_on" in vars(cls):
            if cls.works_on not in (None, *cls.methods):
                raise TypeError(
                    f"{cls.__name__}.works_on must be one of {list(cls.methods)}, "
                    f"got {cls.works_on!r}."
                )
        else:
            cls.works_on = cls._determine()

    @classmethod
    def _determine(cls) -> WorksOn | None:
        for base in cls.__mro__:
            own = vars(base)
            if "methods" in own:  # the base of all components of this role
                return own.get("works_on")
            found: Any = own.get("works_on") or next(
                (way for way, names in cls.methods.items() if any(name in own for name in names)),
                None,
            )
            if found is not None and cls._suits(found):
                return found
        return None

    @classmethod
    def _suits(cls, works_on: str) -> bool:
        return True

    def __init__(self, agents: Any = None, grid: Any = None, **kwargs: Any) -> None:
        if not isinstance(grid, Grid):
            raise TypeError(f"{type(self).__name__} needs grid=Grid(rows, cols), got {grid!r}.")
        if not isinstance(agents, dict):
            raise TypeError(f"{type(self).__name__} needs agents={{id: agent}}, got {agents!r}.")
        if grid.store is None:
            # In the store a parameter that is missing would look like 0.
            for agent in agents.values():
                agent.check_configured()
        self.agents = agents
        self.grid = grid
        self.store = grid.bind(agents)

    @property
    def rows(self) -> int:
        """Rows of the grid."""
        return self.grid.rows

    @property
    def cols(self) -> int:
        """Columns of the grid."""
        return self.grid.cols

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


class ChannelComponent(Component):
    """A component with one channel of actions or observations.

    One that works on single agents may define no ``space``: then it puts its channel into
    ``agent.action_space`` or ``agent.observation_space`` itself.

    Attributes:
        key: The channel.
        supported_agent_type: Agents of this class have the channel; the others are left alone.
        side: ``"action"`` or ``"observation"``.
        forms: What entries can look like; ``form_of`` int16 [N] gives the number of the form of
            every agent, -1 for agents without the channel.
    """

    key: Any = None
    supported_agent_type: Any = None
    side: str | None = None

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.prepare()
        # One form for all agents that are alike; 100,000 agents must not take a dict each.
        self.forms: list[SpaceLayout] = []
        self.form_of = np.full(self.store.num_agents, -1, np.int16)
        self._nulls: list[Any] = []
        self._offered: dict[Any, int] = {}
        self._layout: Layout | None = None
        if self.works_on != "agents":
            for slot, agent in enumerate(self.agents.values()):
                if self.supports(agent):
                    self._offer(slot, agent)

    @classmethod
    def _suits(cls, works_on: str) -> bool:
        # With a space the engine knows the channel; what is overridden for agents comes on top.
        return works_on != "agents" or cls.space is ChannelComponent.space

    def prepare(self) -> None:
        """Work out what spaces depend on; called before the agents are given the channel."""

    def space(self, agent: Any) -> Any:
        """Return the space of this channel for an agent that is supported."""
        raise TypeError(f"{type(self).__name__} must define space(agent).")

    def null(self, agent: Any) -> Any:
        """Return the point of the space that does or tells nothing; None: there is none."""
        return None

    def parameters(self, agent: Any) -> Any:
        """Return what space and null point of an agent depend on, hashable; None: ask for each."""
        return None

    def supports(self, agent: Any) -> bool:
        """Tell whether an agent has this channel."""
        return isinstance(agent, self.supported_agent_type)

    # Any, because who has made sure that the agent has the channel need not ask again.
    def form(self, slot: int) -> SpaceLayout | Any:
        """Return what the entries of an agent look like; None when it has no such channel."""
        number = self.form_of[slot]
        return self.forms[number] if number >= 0 else None

    def null_of(self, slot: int) -> Any:
        """Return the null point of an agent; None when it has none or no such channel."""
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
        """The dtype of such an array: the narrowest that holds the spaces."""
        return np.result_type(np.int8, *(form.narrow for form in self.forms))

    def _offer(self, slot: int, agent: GridWorldAgent) -> None:
        """Give an agent the channel. Agents with equal parameters share one space object."""
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

    def _form_for(self, agent: GridWorldAgent) -> SpaceLayout:
        space = self.space(agent)
        form = SpaceLayout(space, f"channel {self.key!r}")
        if not form.width or len({leaf.integer for leaf in form.leaves}) > 1:
            raise TypeError(
                f"A channel is one array, so it has one number at least, and all of them integers "
                f"or all of them floats, got {space}."
            )
        return form

    def _put(self, agent: GridWorldAgent, attribute: str, value: Any) -> None:
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


def on_listed(method: Callable, worlds: np.ndarray, *arguments: Any) -> Callable:
    """Return a step that calls ``method(listed, *arguments)`` with the listed worlds, if any.

    These are the numbers that stand in the array ``worlds`` by then, up to the first one below 0.
    """

    def call() -> None:
        listed = worlds[: np.argmax(worlds < 0)] if (worlds < 0).any() else worlds
        if len(listed):
            method(listed, *arguments)

    return call
