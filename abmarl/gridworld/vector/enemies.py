"""Who may attack whom in a vectorised simulation."""


class Enemies:
    """What scripted policies ask about the groups of ``sim``."""

    def attackable(self, group) -> set:
        """The encodings that the agents of a group may attack."""
        encoding = self._group(group).encoding
        return set().union(*(mapping.get(encoding, ()) for mapping in self._attack_mappings()))

    def attackers(self, group) -> set:
        """The encodings of the agents that may attack those of a group."""
        encoding = self._group(group).encoding
        return {
            other
            for mapping in self._attack_mappings()
            for other, them in mapping.items()
            if encoding in them
        }

    def _attack_mappings(self):
        actors = [one.unwrapped for one in self.sim.actors.values()]
        return [getattr(one, "attack_mapping", {}) for one in actors]

    def _group(self, name):
        if name not in self.groups:
            raise ValueError(f"There is no group {name!r}; the groups are {list(self.groups)}.")
        return self.groups[name]
