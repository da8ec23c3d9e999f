"""Done components: when agents and worlds are done."""

from abmarl.gridworld.done.active import ActiveDone, OneTeamRemainingDone
from abmarl.gridworld.done.base import DoneBase
from abmarl.gridworld.done.target import (
    TargetAgentInactiveDone,
    TargetAgentOverlapDone,
    TargetEncodingInactiveDone,
)

__all__ = [
    "ActiveDone",
    "DoneBase",
    "OneTeamRemainingDone",
    "TargetAgentInactiveDone",
    "TargetAgentOverlapDone",
    "TargetEncodingInactiveDone",
]
