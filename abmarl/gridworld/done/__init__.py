"""Done components: when agents and worlds are done."""

from abmarl.gridworld.done.active import ActiveDone, OneTeamRemainingDone
from abmarl.gridworld.done.base import DoneBase
from abmarl.gridworld.done.target import (
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)
from abmarl.gridworld.former_names import former_names_in

__all__ = [
    "ActiveDone",
    "DoneBase",
    "OneTeamRemainingDone",
    "TargetAgentInactiveDone",
    "TargetAgentOverlapDone",
    "TargetEncodingInactiveDone",
]

__getattr__ = former_names_in(__name__)
