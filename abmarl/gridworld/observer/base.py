"""What observers have in common."""

from typing import Any, ClassVar

import numpy as np

from abmarl.gridworld.agent import GridObservingAgent
from abmarl.gridworld.component import ChannelComponent, on_listed
from abmarl.gridworld.store import SHOWN
from abmarl.kernels.observation import Views
from abmarl.kernels.program import Program


class ObserverBase(ChannelComponent):
    """Fills one channel of the agents' observations.

    A subclass names its channel (``key``), whom it supports and the space of the channel, and makes
    the observations (see ``Component``): in ``calls``, a list of calls of kernels, with the
    parameters of ``write``; in ``observe`` as one array of all worlds, or in ``write``; or in
    ``get_obs`` for one agent.

    Attributes:
        key: The channel.
        supported_agent_type: Agents of this class have the channel; the others get ``{}``.
    """

    supported_agent_type: Any = GridObservingAgent
    role = "observer"
    side = "observation"
    methods: ClassVar = {
        "kernels": ("calls",),
        "arrays": ("write", "observe"),
        "agents": ("get_obs",),
    }
    calls: Any = None

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._flat = None
        self._rows = None
        self._seen_version = -1
        self._program = None
        self.grid.observers[self.key] = self

    # --- for subclasses to fill in ---

    def observe(self, out=None):
        """The observations of all worlds: an array [B, n, ...] for the n agents supported.

        Args:
            out: Array to write to; a new one by default.
        """
        layout = self.layout
        flat = np.zeros(max(1, layout.size), self.dtype)
        write = self.write if self.calls is None else self._write_calls
        write(np.arange(self.store.num_worlds), flat, layout.rows_of, True)
        blocks = layout.views(flat)
        if len(blocks) != 1:
            raise ValueError(
                f"Observations {self.key!r} of the agents have the shapes {sorted(blocks)}; "
                "there is no one array of all, use a vectorised simulation's groups."
            )
        shape = (self.store.num_worlds, len(layout.slots), *next(iter(blocks)))
        out = np.empty(shape, self.dtype) if out is None else out
        out[...] = next(iter(blocks.values()))
        return out

    def write(self, worlds, flat, rows_of, final):
        """Writes the observations of the listed worlds into a flat array.

        The rows of an agent that was active when they were written last hold its last view; the
        rows of those that have been inactive for longer hold the null observation.

        Args:
            worlds: int64, the worlds.
            flat, rows_of: The array, and where the agents' rows lie in it (see ``Layout``).
            final: Whether this is an additional copy beside the running observations, for worlds
                that start anew right after.
        """
        if self.works_on == "kernels":
            self._write_calls(worlds, flat, rows_of, final)
            return
        if self.works_on is None:
            raise TypeError(
                f"{type(self).__name__} must define observe, which returns the observations of "
                "all worlds [B, n, ...], or write."
            )
        dense = np.asarray(self.observe())
        layout = self.layout
        if dense.shape[:2] == (self.store.num_worlds, self.store.num_agents):
            dense = dense[:, layout.slots]
        if dense.shape[:2] != (self.store.num_worlds, len(layout.slots)):
            raise ValueError(
                f"{type(self).__name__}.observe must return [{self.store.num_worlds}, "
                f"{len(layout.slots)}, ...], one entry per supported agent; got {dense.shape}."
            )
        for k, slot in enumerate(layout.slots):
            form = self.form(slot)
            at = rows_of[slot, 0] + worlds * rows_of[slot, 1]
            entries = dense[worlds, k].reshape(len(worlds), -1)
            flat[at[:, None] + np.arange(form.width)] = entries

    def _write_calls(self, *where):
        for call in self.calls(*where):
            call()

    # --- the single world ---

    def steps(self, worlds, flat, rows_of, final) -> list:
        """What a program runs instead of ``write``; a world below 0 ends the list of worlds."""
        if self.works_on == "kernels":
            return self.calls(worlds, flat, rows_of, final)
        return [on_listed(self.write, worlds, flat, rows_of, final)]

    def get_obs(self, agent, **kwargs) -> dict:
        """``{key: observation}`` of one agent of a single world, or {} without this channel.

        The observations of all agents are made in one go when one is asked for after a change.
        Every call gives an array of its own.
        """
        row = self.row(agent._slot)
        return {} if row is None else {self.key: row}

    def row(self, slot):
        """One agent's observation, with the dtype of the space; None without this channel."""
        form = self.form(slot)
        if form is None:
            return None
        row = self.waiting().pop(slot, None)
        if row is None:
            at = self.layout.rows_of[slot, 0]
            entries = self._flat[at : at + form.width].astype(self._single_dtype)
            row = form.point(self._flat, at) if form.nested else entries.reshape(form.shape)[()]
        return row

    def waiting(self) -> dict:
        """The observations by agent number that nobody has got yet; take them out of the dict."""
        self._update()
        if self._rows is None:
            self._rows = self._split(self._flat)
        return self._rows

    def batch(self, block, rows=None) -> np.ndarray:
        """Observations of agents of one shape, [n, *shape], in fresh memory.

        Args:
            block: The name of the block in which they lie, see ``Layout``.
            rows: int, their places among the agents of the block; None: all.
        """
        self._update()
        start, stop, shape = self.layout.blocks[block]
        part = self._flat[start:stop].reshape(shape[1:])
        return (part if rows is None else part.take(rows, 0)).astype(self._single_dtype)

    @property
    def has_parts(self) -> bool:
        """Whether there are agents whose observations are dicts of parts."""
        return any(form.nested for form in self.forms)

    def _update(self):
        if not self.is_current:
            if self._program is None:
                place = self.flat, self.layout.rows_of
                self._program = Program(self.steps(np.zeros(1, np.int64), *place, False))
            self._program()
            self._keep()

    @property
    def flat(self) -> np.ndarray:
        """The observations of the single world as they were made last, see ``Layout``."""
        if self._flat is None:
            self._flat = np.zeros(max(1, self.layout.size), self.dtype)
            self._single_dtype = int if self.dtype.kind == "i" else self.dtype
            self._block_slots = {
                start: slots.tolist() for start, slots in self.layout.members.items()
            }
            self._nested = [slot for slot in self.layout.slots.tolist() if self.form(slot).nested]
        return self._flat

    @property
    def is_current(self) -> bool:
        """Whether they are of the present state."""
        return self._seen_version == self.store.version

    def go_back(self, flat):
        """Shows again what was shown of a state that has just been loaded.

        Args:
            flat: A copy of ``flat``; None when nothing was shown of that state.
        """
        if flat is not None:
            self.flat[:] = flat
            self._keep()

    def _keep(self):
        self._rows = None
        self._seen_version = self.store.version

    def _split(self, flat):
        """One array per agent, in fresh memory that nobody writes to any more."""
        whole = flat.astype(self._single_dtype)
        rows = {}
        for start, stop, shape in self.layout.blocks.values():
            slots = self._block_slots[start]
            rows.update(zip(slots, whole[start:stop].reshape(shape[1:]), strict=True))
        for slot in self._nested:
            rows[slot] = self.form(slot).point(flat, self.layout.rows_of[slot, 0])
        return rows


class RememberingObserver(ObserverBase):
    """Writes an agent's row while it is active and twice more: its last view, then the null one.

    Subclasses hand ``views`` to their kernel.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)
        self._viewers = np.flatnonzero(self.form_of >= 0).astype(self.store.slot_dtype)
        self._due = np.zeros(self.store.num_agents, self.store.slot_dtype)
        # What the agents' rows hold.
        self._shown = self.store.require(f"{SHOWN}{self.key}", np.uint8, default=2, reset=True)

    def views(self, worlds, flat, rows_of, final) -> Views:
        """Return what kernels need to know of the parameters of ``write``."""
        return Views(worlds, self._viewers, flat, rows_of, final, self._shown, self._due)

    def go_back(self, flat):
        """See ``ObserverBase.go_back``."""
        super().go_back(flat)
        if flat is None:
            # Nobody knows what the rows hold now: null ones are written once more.
            np.maximum(self._shown, 1, out=self._shown)
