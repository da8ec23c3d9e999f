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

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._flat: Any = None  # the array, once it is asked for
        self._waiting: dict[int, Any] | None = None
        self._everyone: list[tuple] | None = None
        self._seen_version = -1
        self._program: Program | None = None
        self.grid.observers[self.key] = self

    # --- for subclasses to fill in ---

    def observe(self, out: np.ndarray | None = None) -> np.ndarray:
        """Return the observations of all worlds: an array [B, n, ...] for the n agents supported.

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

    def write(self, worlds: Any, flat: np.ndarray, rows_of: np.ndarray, final: bool) -> None:
        """Write the observations of the listed worlds into a flat array.

        The rows of an agent that was active when they were written last hold its last view; the
        rows of those that have been inactive for longer hold the null observation.

        Args:
            worlds: int64, the worlds.
            flat, rows_of: The array, and where the agents' rows lie in it (see ``Layout``).
            final: Whether this is an additional copy beside the running observations, for worlds
                that are reset right after.
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
        for k, slot in enumerate(layout.slots.tolist()):
            form = self.form(slot)
            at = rows_of[slot, 0] + worlds * rows_of[slot, 1]
            entries = dense[worlds, k].reshape(len(worlds), -1)
            flat[at[:, None] + np.arange(form.width)] = entries

    def _write_calls(self, *where: Any) -> None:
        for call in self.calls(*where):
            call()

    # --- the single world ---

    def steps(self, worlds: Any, flat: np.ndarray, rows_of: np.ndarray, final: bool) -> list:
        """Return what a program runs instead of ``write``; a world below 0 ends the list."""
        if self.works_on == "kernels":
            return self.calls(worlds, flat, rows_of, final)
        return [on_listed(self.write, worlds, flat, rows_of, final)]

    def get_obs(self, agent: Any, **kwargs: Any) -> dict:
        """Return ``{key: observation}`` of one agent of a single world, {} without this channel.

        The observations of all agents are made in one go when one is asked for after a change.
        Every call gives an array of its own.
        """
        row = self.row(agent._slot)
        return {} if row is None else {self.key: row}

    def row(self, slot: int) -> Any:
        """Return one agent's observation in memory of its own; None without this channel."""
        self._update()
        if self._waiting is None:
            self._waiting = {}
            if self._everyone is None:
                slots = self.layout.slots
                self._everyone = [
                    (slots[there].tolist(), *where) for there, *where in self.select(slots)
                ]
            for slots, *where in self._everyone:
                self._waiting.update(zip(slots, self.read(*where), strict=True))
        row = self._waiting.pop(slot, None)
        if row is None:  # asked for the second time, or without this channel
            for _, *where in self.select(np.array([slot])):
                row = self.read(*where)[0]
        return row

    def select(self, slots: np.ndarray) -> list[tuple]:
        """Find out where the observations of some agents lie.

        Returns:
            Tuples ``there, block, places``: those of ``slots[there]`` are ``read(block, places)``.
            Agents without this channel are left out.
        """
        nested = np.array([*(form.nested for form in self.forms), False])[self.form_of[slots]]
        there = np.flatnonzero(nested)
        found: list[tuple] = [(there, None, slots[there].tolist())] if len(there) else []
        at = self.layout.rows_of[slots, 0]
        for block, (start, stop, shape) in self.layout.blocks.items():
            there = np.flatnonzero((at >= start) & (at < stop) & ~nested)
            if len(there):
                places = (at[there] - start) // int(np.prod(shape[2:], dtype=np.int64))
                everyone = np.array_equal(places, np.arange(shape[1]))
                found.append((there, block, None if everyone else places))
        return found

    def read(self, block: Any, places: Any) -> Any:
        """Return the present observations that ``select`` has found, in fresh memory."""
        self._update()
        if block is None:
            starts = self.layout.rows_of[places, 0].tolist()
            points = zip(places, starts, strict=True)
            return [self.forms[self.form_of[slot]].point(self.flat, at) for slot, at in points]
        start, stop, shape = self._blocks[block]
        part = self._flat[start:stop].reshape(shape[1:])
        return (part if places is None else part.take(places, 0)).astype(self._single_dtype)

    @property
    def flat(self) -> np.ndarray:
        """The observations of the single world as they were made last, see ``Layout``."""
        if self._flat is None:
            self._blocks = self.layout.blocks
            self._flat = np.zeros(max(1, self.layout.size), self.dtype)
            self._single_dtype = int if self.dtype.kind == "i" else self.dtype
        return self._flat

    @property
    def is_current(self) -> bool:
        """Whether they are of the present state."""
        return self._seen_version == self.store.version

    def go_back(self, flat: np.ndarray | None) -> None:
        """Restore what was observed of a state that has just been loaded.

        Args:
            flat: A copy of ``flat``; None when nothing was observed of that state.
        """
        if flat is not None:
            self.flat[:] = flat
            self._keep()

    def _update(self) -> None:
        if self._seen_version == self.store.version:
            return
        if self._program is None:
            place = self.flat, self.layout.rows_of
            self._program = Program(self.steps(np.zeros(1, np.int64), *place, False))
        self._program()
        self._keep()

    def _keep(self) -> None:
        self._waiting = None
        self._seen_version = self.store.version


class RememberingObserver(ObserverBase):
    """Writes an agent's row while it is active and twice more: its last view, then the null one.

    Subclasses hand ``views`` to their kernel.
    """

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._viewers = np.flatnonzero(self.form_of >= 0).astype(self.store.slot_dtype)
        self._due = np.zeros(self.store.num_agents, self.store.slot_dtype)
        # What the agents' rows hold.
        self._shown = self.store.require(f"{SHOWN}{self.key}", np.uint8, default=2, reset=True)

    def views(self, worlds: Any, flat: np.ndarray, rows_of: np.ndarray, final: bool) -> Views:
        """Return what kernels need to know of the parameters of ``write``."""
        return Views(worlds, self._viewers, flat, rows_of, final, self._shown, self._due)

    def go_back(self, flat: np.ndarray | None) -> None:
        """See ``ObserverBase.go_back``."""
        super().go_back(flat)
        if flat is None:
            # Nobody knows what the rows hold now: null ones are written once more.
            np.maximum(self._shown, 1, out=self._shown)
