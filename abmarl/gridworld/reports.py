"""What a single world tells its agents, for many of them in one go."""

import numpy as np


class Reports:
    """Makes what the getters of a simulation say of several agents, from whole arrays.

    Args:
        sim: The ``SmartGridWorldSimulation``.
    """

    def __init__(self, sim):
        self._sim, self._store = sim, sim.store
        self._ids = None

    def make(self, ids: tuple) -> tuple:
        """Observations, rewards, dones and infos by id, as the getters give them."""
        if ids != self._ids:
            self._prepare(ids)
        obs = self._observations()
        row = self._store.rewards[0]
        rewards = row[self._slots].tolist()
        row[self._slots] = 0.0
        dones = self._sim.find_done()[self._slots].tolist()
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
        for observer in self._by_hand:
            for agent_id in ids:
                obs[agent_id].update(observer.get_obs(sim.agents[agent_id]))
        return obs

    def _prepare(self, ids):
        """Finds out where the observations of these agents lie."""
        self._ids = None
        index = self._store.index
        self._slots = slots = np.array(list(map(index.__getitem__, ids)), np.int64)
        self._batches = []
        self._by_hand = [one for one in self._sim.observers if one.by_hand]
        for observer in self._sim.observers:
            if observer.by_hand:
                continue
            if observer.has_parts:
                there = [k for k in range(len(ids)) if observer.form(slots[k]) is not None]
                # Of nested points there is no array: agent by agent.
                self._add(observer, None, slots[there], ids, there)
                continue
            for block, (start, _, _) in observer.layout.blocks.items():
                members = observer.layout.members[start]
                rows = np.searchsorted(members, slots).clip(max=len(members) - 1)
                there = np.flatnonzero(members[rows] == slots)
                rows = rows[there]
                whole = len(rows) == len(members) and (rows[1:] > rows[:-1]).all()
                self._add(observer, block, None if whole else rows, ids, there)
        self._ids = ids

    def _add(self, observer, block, rows, ids, there):
        if len(there):
            those = ids if len(there) == len(ids) else [ids[k] for k in there]
            self._batches.append((observer.key, observer, block, rows, those))
