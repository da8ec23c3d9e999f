"""One world: agents, and the cells that they are in. Agents are named by their number."""

from dataclasses import dataclass


@dataclass
class NaiveAgent:
    """What an agent is (first block) and how it fares (second block).

    A range of None means that the agent has not got that ability at all.
    """

    encoding: int
    view_range: int | None = None
    move_range: int | None = None
    attack_range: int | None = None
    attack_strength: float = 0.0
    attack_accuracy: float = 1.0
    simultaneous_attacks: int = 1
    ammo: int | None = None  # None: its attacks need none
    blocking: bool = False
    team: int | None = None  # None: the encoding
    initial_position: tuple[int, int] | None = None
    initial_health: float | None = None
    learning: bool = True  # False: a wall or a resource, which is given no actions

    position: tuple[int, int] | None = None
    health: float = 1.0
    active: bool = True

    def __post_init__(self):
        if self.team is None:
            self.team = self.encoding


def symmetric(overlapping):
    """Make ``{encoding: encoding or set}`` symmetric: ``{encoding: set}``."""
    result = {}
    for one, others in (overlapping or {}).items():
        for other in {others} if isinstance(others, int) else others:
            result.setdefault(one, set()).add(other)
            result.setdefault(other, set()).add(one)
    return result


class NaiveWorld:
    """A grid of ``rows x cols`` cells and the agents in it.

    Attributes:
        agents: list of NaiveAgent; an agent's number is its place in this list.
        cells: dict (row, column) -> list of agent numbers, newest first; empty cells included.
    """

    def __init__(self, rows, cols, agents, overlapping=None):
        self.rows = rows
        self.cols = cols
        self.agents = list(agents)
        self.overlapping = symmetric(overlapping)
        self.clear()

    def clear(self):
        """Take everybody off the grid."""
        self.cells = {(r, c): [] for r in range(self.rows) for c in range(self.cols)}

    def ravel(self, cell):
        """The number of a cell in reading order."""
        return cell[0] * self.cols + cell[1]

    def unravel(self, index):
        """The cell of a number in reading order."""
        return divmod(index, self.cols)

    def inside(self, cell):
        """True when the cell is one of the grid."""
        return 0 <= cell[0] < self.rows and 0 <= cell[1] < self.cols

    def may_overlap(self, one, other):
        """True when two agents may be in one cell."""
        allowed = self.overlapping.get(self.agents[one].encoding, set())
        return self.agents[other].encoding in allowed

    def available(self, agent, cell):
        """True when the cell is in the grid and everybody else in it may overlap with the agent."""
        if not self.inside(cell):
            return False
        return all(self.may_overlap(agent, other) for other in self.cells[cell] if other != agent)

    def place(self, agent, cell):
        """Put an agent that is not on the grid in front of a cell's list; False, no change: no."""
        if not self.available(agent, cell):
            return False
        self.cells[cell].insert(0, agent)
        self.agents[agent].position = cell
        return True

    def remove(self, agent):
        """Take an agent off the grid; it remembers where it was."""
        self.cells[self.agents[agent].position].remove(agent)
