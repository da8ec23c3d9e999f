"""The simulations that ship with the package.

``shipped`` maps the names that the command line knows to functions that build them. The plain
simulations, which are no grid worlds of components and so cannot be vectorised, are in
`abmarl.examples.sim` and load on first use.
"""

from typing import TYPE_CHECKING

from abmarl.examples.comms_blocking import (
    BlockingAgent,
    BroadcastingAgent,
    CommsBlockingSim,
    comms_blocking,
)
from abmarl.examples.foraging import Forager, foragers_and_hunters, foraging
from abmarl.examples.maze_navigation import (
    MazeNavigationAgent,
    MazeNavigationSim,
    MultiMazeNavigationAgent,
    MultiMazeNavigationSim,
    maze_navigation,
    multi_maze_navigation,
)
from abmarl.examples.pacman import GhostAgent, PacmanAgent, PacmanSim, PelletAgent, pacman
from abmarl.examples.predator_prey_resources import (
    PredatorAgent,
    PredatorPreyResourcesSim,
    PreyAgent,
    ResourceAgent,
    predator_prey_resources,
)
from abmarl.examples.reach_the_target import (
    ReachTheTargetSim,
    RunningAgent,
    TargetAgent,
    reach_the_target,
)
from abmarl.examples.team_battle import BattleAgent, TeamBattleSim, team_battle
from abmarl.examples.traffic_corridor import TrafficAgent, TrafficCorridorSim, traffic_corridor
from abmarl.examples.wall import WallAgent
from abmarl.lazy import names_from

if TYPE_CHECKING:
    from abmarl.examples.sim.multi_agent_grid_sim import MultiAgentGridSim as MultiAgentGridSim
    from abmarl.examples.sim.multi_agent_sim import EmptyABS as EmptyABS
    from abmarl.examples.sim.multi_agent_sim import (
        MultiAgentContinuousGymSpaceSim as MultiAgentContinuousGymSpaceSim,
    )
    from abmarl.examples.sim.multi_agent_sim import MultiAgentGymSpacesSim as MultiAgentGymSpacesSim
    from abmarl.examples.sim.multi_agent_sim import (
        MultiAgentSameSpacesSim as MultiAgentSameSpacesSim,
    )
    from abmarl.examples.sim.multi_agent_sim import MultiAgentSim as MultiAgentSim
    from abmarl.examples.sim.multi_corridor import MultiCorridor as MultiCorridor
    from abmarl.examples.sim.predator_prey import Predator as Predator
    from abmarl.examples.sim.predator_prey import PredatorPreySimulation as PredatorPreySimulation
    from abmarl.examples.sim.predator_prey import Prey as Prey

shipped = {
    "team-battle": team_battle,
    "predator-prey-resources": predator_prey_resources,
    "foraging": foraging,
    "foragers-and-hunters": foragers_and_hunters,
    "reach-the-target": reach_the_target,
    "maze-navigation": maze_navigation,
    "multi-maze-navigation": multi_maze_navigation,
    "traffic-corridor": traffic_corridor,
    "pacman": pacman,
    "comms-blocking": comms_blocking,
}

_HOME = {
    "EmptyABS": "sim.multi_agent_sim",
    "MultiAgentContinuousGymSpaceSim": "sim.multi_agent_sim",
    "MultiAgentGridSim": "sim.multi_agent_grid_sim",
    "MultiAgentGymSpacesSim": "sim.multi_agent_sim",
    "MultiAgentSameSpacesSim": "sim.multi_agent_sim",
    "MultiAgentSim": "sim.multi_agent_sim",
    "MultiCorridor": "sim.multi_corridor",
    "Predator": "sim.predator_prey",
    "PredatorPreySimulation": "sim.predator_prey",
    "Prey": "sim.predator_prey",
}

__all__ = [
    "BattleAgent",
    "BlockingAgent",
    "BroadcastingAgent",
    "CommsBlockingSim",
    "EmptyABS",
    "Forager",
    "GhostAgent",
    "MazeNavigationAgent",
    "MazeNavigationSim",
    "MultiAgentContinuousGymSpaceSim",
    "MultiAgentGridSim",
    "MultiAgentGymSpacesSim",
    "MultiAgentSameSpacesSim",
    "MultiAgentSim",
    "MultiCorridor",
    "MultiMazeNavigationAgent",
    "MultiMazeNavigationSim",
    "PacmanAgent",
    "PacmanSim",
    "PelletAgent",
    "Predator",
    "PredatorAgent",
    "PredatorPreyResourcesSim",
    "PredatorPreySimulation",
    "Prey",
    "PreyAgent",
    "ReachTheTargetSim",
    "ResourceAgent",
    "RunningAgent",
    "TargetAgent",
    "TeamBattleSim",
    "TrafficAgent",
    "TrafficCorridorSim",
    "WallAgent",
    "comms_blocking",
    "foragers_and_hunters",
    "foraging",
    "maze_navigation",
    "multi_maze_navigation",
    "pacman",
    "predator_prey_resources",
    "reach_the_target",
    "shipped",
    "team_battle",
    "traffic_corridor",
]

__getattr__, __dir__ = names_from(__name__, _HOME, __all__)
