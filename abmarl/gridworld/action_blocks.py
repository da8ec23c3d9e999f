"""Actions of many agents of a single world, checked and written as whole arrays."""

from operator import itemgetter

import numpy as np


class ActionBlocks:
    """Writes the actions of agents that are alike in one go, where nothing is special about them.

    Whatever is wrong, missing or of an unusual kind is left to those who look at agents one by one
    and can say what it is.

    Args:
        index: The numbers of the agents by id.
        channels: For every agent, ``(key, actor, form, flat, at, null)`` for each of its channels:
            ``flat[at:]`` is where its actions go.
    """

    def __init__(self, index, channels):
        self._index = index
        kinds = {}
        self._kinds = np.array(
            [
                kinds.setdefault(tuple((key, id(form)) for key, _, form, *_ in one), len(kinds))
                for one in channels
            ]
        )
        # The place of every agent among those of its kind.
        self._rows = np.zeros(len(channels), np.int64)
        self._parts = [self._parts_of(kind, channels) for kind in kinds.values()]
        self._ids = self._plan = self._slots = None

    def _parts_of(self, kind, channels):
        """How to get at the actions of a kind of agents, and where in ``flat`` they go.

        The latter are the rows of an array [agents of this kind, width]. None: one by one.
        """
        members = np.flatnonzero(self._kinds == kind)
        self._rows[members] = np.arange(len(members))
        alike = [channels[slot] for slot in members.tolist()]
        if not all(form.integer and not form.parts for _, _, form, *_ in alike[0]):
            return None
        parts = []
        for k, (key, _, form, flat, *_) in enumerate(alike[0]):
            places = np.array([one[k][4] for one in alike])[:, None] + np.arange(form.width)
            parts.append((itemgetter(key), form, flat, places))
        return parts

    def put(self, action_dict):
        """Writes the actions of a step.

        Returns:
            The numbers of the agents, int64 in the order of the dict; None when the actions have to
            be looked at one by one. What was written by then does not matter.
        """
        ids = tuple(action_dict)
        if ids != self._ids:
            self._prepare(ids)
        chosen = list(action_dict.values())
        if self._plan is None or set(map(type, chosen)) != {dict}:
            return None
        for positions, parts in self._plan:
            some = chosen if positions is None else [chosen[k] for k in positions]
            if sum(map(len, some)) != len(parts) * len(some):
                return None
            for key_of, form, flat, at in parts:
                try:
                    values = form.stack(list(map(key_of, some)))
                except KeyError:
                    return None
                if values is None:
                    return None
                flat[at] = values
        return self._slots

    def _prepare(self, ids):
        """Finds out who is alike, and where the actions of those go."""
        self._ids, self._plan = ids, None
        slots = list(map(self._index.get, ids))
        if None in slots:
            return
        self._slots = slots = np.array(slots)
        kinds = self._kinds[slots]
        plan = []
        for kind in dict.fromkeys(kinds.tolist()):
            if self._parts[kind] is None:
                return
            there = np.flatnonzero(kinds == kind)
            rows = self._rows.take(slots[there])
            parts = [(*part, places.take(rows, 0)) for *part, places in self._parts[kind]]
            plan.append((None if len(there) == len(ids) else there.tolist(), parts))
        self._plan = plan
