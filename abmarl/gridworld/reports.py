"""What a single world tells its agents, for many of them in one go."""

import numpy as np


class Reports:
    """Makes what the getters of a simulation say of several agents, from whole arrays.

    Args:
        sim: The ``SmartGridWorldSimulation``.
    """

    def __init__(self, sim):
        self._sim = sim
        self._ids = self._tables = None

    def __getstate__(self):
        # What was prepared holds views, of which copies and pickles would make other arrays.
        return {"_sim": self._sim, "_ids": None, "_tables": None}

    def make(self, ids: tuple) -> tuple:
        """Observations, rewards, dones and infos by id, as the getters give them."""
        if ids != self._ids:
            self._prepare(ids)
        obs = self._observations()
        slots, row = self._slots, self._rewards
        rewards = row.take(slots).tolist()
        row[slots] = 0.0
        dones = self._sim.find_done().take(slots).tolist()
        return (
            obs,
            dict(zip(ids, rewards)),  # noqa: B905 - strict= costs time here
            dict(zip(ids, dones)),  # noqa: B905
            {agent_id: {} for agent_id in ids},
        )

    def _observations(self):
        ids, sim = self._ids, self._sim
        obs = None
        for key, observer, block, rows, those in self._batches:
            batch = map(observer.row, rows) if block is None else observer.batch(block, rows)
            if obs is None and len(those) == len(ids):
                obs = {agent_id: {key: row} for agent_id, row in zip(those, batch)}  # noqa: B905
                continue
            obs = {agent_id: {} for agent_id in ids} if obs is None else obs
            for agent_id, row in zip(those, batch):  # noqa: B905
                obs[agent_id][key] = row
        obs = {agent_id: {} for agent_id in ids} if obs is None else obs
        for observer in self._one_by_one:
            for agent_id in ids:
                obs[agent_id].update(observer.get_obs(sim.agents[agent_id]))
        return obs

    def _prepare(self, ids):
        """Finds out where the observations of these agents lie."""
        self._ids = None
        store = self._sim.store
        self._slots = slots = store.index.numbers(ids)
        self._rewards = store.rewards[0]
        self._batches = []
        self._one_by_one = [one for one in self._sim.observers if one.works_on == "agents"]
        if self._tables is None:
            self._tables = [
                self._table(one) for one in self._sim.observers if one.works_on != "agents"
            ]
        for observer, blocks, places in self._tables:
            number = blocks.take(slots)
            for block in dict.fromkeys(number.tolist()):
                if block < 0:  # without this channel
                    continue
                there = np.flatnonzero(number == block)
                those = ids if len(there) == len(ids) else [ids[k] for k in there]
                rows = places.take(slots[there])
                name = None if observer.has_parts else list(observer.layout.blocks)[block]
                self._batches.append((observer.key, observer, name, rows, those))
        self._ids = ids

    @staticmethod
    def _table(observer):
        """An observer, and for every agent the number of its block (-1: none) and its row there.

        Of nested points there is no array: with those every agent is in block 0, in the row of its
        number.
        """
        count = observer.store.num_agents
        blocks, rows = np.full(count, -1), np.arange(count)
        for number, (start, _, _) in enumerate(observer.layout.blocks.values()):
            members = observer.layout.members[start]
            blocks[members] = 0 if observer.has_parts else number
            if not observer.has_parts:
                rows[members] = np.arange(len(members))
        return observer, blocks, rows
