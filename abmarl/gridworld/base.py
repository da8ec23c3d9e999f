"""Grid-world simulations: agents on a grid, put together from components."""

import numpy as np

from abmarl.gridworld.builders import Builders
from abmarl.gridworld.grid import Grid, parse_encodings
from abmarl.gridworld.saved_state import check_arrays, check_worlds, without_signature
from abmarl.gridworld.shown import Shown
from abmarl.gridworld.undo import seeding, undoing
from abmarl.kernels.turns import shuffle_turns
from abmarl.sim.agent_based_simulation import AgentBasedSimulation


class GridWorldSimulation(Shown, Builders, AgentBasedSimulation):
    """A simulation of agents on a grid.

    In the object style a subclass makes its components in ``__init__``, calls their ``reset``,
    ``process_action``, ``get_obs`` and ``get_done``, and ends ``__init__`` with ``finalize()``.

    A ``reset`` or ``step`` that fails leaves the world as it was before: agents, grid, fields and
    random streams, but not attributes that a subclass keeps beside them.

    Args:
        agents: ``{id: agent}``.
        grid: The grid; ``build_sim`` makes it.
    """

    def __init__(self, agents=None, grid=None, **kwargs):
        if agents is not None:
            self.agents = agents
        if grid is not None:
            self.grid = grid

    def __new__(cls, *args, **kwargs):
        # What it was made with is what a vectorised simulation makes its copies with.
        self = super().__new__(cls)
        self._made_with = args, kwargs
        self._resetting = self._stepping = False
        return self

    def __init_subclass__(cls, **kwargs):
        super().__init_subclass__(**kwargs)
        if "reset" in cls.__dict__:
            cls.reset = seeding(cls.__dict__["reset"])
        if "step" in cls.__dict__:
            cls.step = undoing(cls.__dict__["step"])

    _finalized = False
    # Whether a step runs code that may fail half way, as users' own may.
    runs_foreign_code = True

    @property
    def grid(self) -> Grid:
        """The grid."""
        grid = self.__dict__.get("grid", self._made_with[1].get("grid"))
        if grid is None:
            raise AttributeError(f"{type(self).__name__} has no grid; use build_sim(rows, cols).")
        return grid

    @grid.setter
    def grid(self, grid):
        if not isinstance(grid, Grid):
            raise TypeError(f"grid must be a Grid, got {grid!r}.")
        self.__dict__["grid"] = grid

    @property
    def store(self):
        """The arrays of the simulation."""
        grid = self.grid
        return grid.store if grid.store is not None else grid.bind(self.agents)

    @property
    def groups(self) -> dict:
        """The agents sorted into groups of equal ones, by name."""
        return self.grid.groups

    def finalize(self):
        """Makes agents and spaces ready for use. Agents that are alike share their spaces."""
        if self.grid.replica:
            self._finalized = True
            return
        shared = {}
        # Agents without any component are put into the store here.
        parse_encodings("overlapping", self.grid.overlapping, self.store.kinds.tolist())
        for agent in self.agents.values():
            _drop_partial_nulls(agent)
            for name in ("action_space", "observation_space"):
                space = getattr(agent, name, None)
                if isinstance(space, dict) and agent.seed is None:
                    key = (name, *((channel, id(part)) for channel, part in space.items()))
                    if key not in shared:
                        agent.finalize()
                        shared[key] = getattr(agent, name)
                    else:
                        setattr(agent, name, shared[key])
        super().finalize()
        self._finalized = True

    def random_order(self, agent_ids) -> list:
        """The agents in a fresh random order, drawn from the stream of the world.

        Those that are not active come last: they do not act, and nothing is drawn for them.
        """
        store = self.store
        slots = sorted(store.index[agent_id] for agent_id in agent_ids)
        slots.sort(key=lambda slot: not store.active[0, slot])
        turns = np.array([slots], store.slot_dtype)
        self._before_order = store.streams[0].copy()
        shuffle_turns(store.streams, turns, int(np.count_nonzero(store.active[0, slots])))
        return [store.ids[slot] for slot in turns[0].tolist()]

    _before_order = None

    def undo_random_order(self):
        """Puts the stream of the world back to where it was before the last random order."""
        if self._before_order is not None:
            self.store.streams[0] = self._before_order

    def get_info(self, agent_id, **kwargs) -> dict:
        """Nothing more to tell about an agent."""
        return {}

    def state_dict(self) -> dict:
        """A copy of everything that the world is, random streams included.

        Observations that were made of the present state are part of it (``obs.<channel>``).
        """
        state = {name: array.copy() for name, array in self._state_arrays().items()}
        return {"signature": self.store.signature, **state}

    def load_state_dict(self, state):
        """Goes back to what ``state_dict`` returned.

        Raises:
            ValueError: It is of a different simulation, or damaged; nothing has changed.
        """
        saved = without_signature(state, self.store)
        rows = {f"obs.{key}": one.flat for key, one in self.grid.observers.items()}
        rows = {name: flat for name, flat in rows.items() if name in saved}
        check_arrays({**self.store.state(), **rows}, saved)
        check_worlds(self.store, saved)
        self._go_back(saved)

    def _state_arrays(self) -> dict:
        grid = self.grid
        arrays = (grid.store or self.store).state()
        for key, observer in grid.observers.items():
            if observer.is_current:
                arrays[f"obs.{key}"] = observer.flat
        return arrays

    def _snapshot(self) -> list:
        """The present state for ``_restore``, as bytes: three times as fast as copies."""
        return [(name, array, array.tobytes()) for name, array in self._state_arrays().items()]

    def _restore(self, snapshot):
        self._go_back(
            {
                name: np.frombuffer(saved, array.dtype).reshape(array.shape)
                for name, array, saved in snapshot
            }
        )

    def _go_back(self, saved):
        """Loads a state that is known to be right."""
        self.store.load(saved)
        for key, observer in self.grid.observers.items():
            observer.go_back(saved.get(f"obs.{key}"))

    def vectorize(self, num_envs, **kwargs):
        """Many worlds at once; only for simulations that are declared or define ``step_batch``.

        Raises:
            TypeError: This one is written in the object style.
        """
        raise TypeError(
            f"{type(self).__name__} handles actions one by one in step(action_dict); vectorize "
            "needs step_batch(actions) of a SmartGridWorldSimulation, or declared actors."
        )


def _drop_partial_nulls(agent):
    """A null point is one of the whole space: without one for every channel there is none."""
    for side in ("action", "observation"):
        space = getattr(agent, f"{side}_space", None)
        null = getattr(agent, f"null_{side}", None)
        if isinstance(space, dict) and isinstance(null, dict) and null.keys() != space.keys():
            setattr(agent, f"null_{side}", {})
