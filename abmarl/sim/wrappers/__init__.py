"""Wrappers: simulations around simulations, which change what goes in and what comes out."""

from abmarl.sim.wrappers.communication_wrapper import CommunicationHandshakeWrapper
from abmarl.sim.wrappers.flatten_wrapper import FlattenActionWrapper, FlattenWrapper
from abmarl.sim.wrappers.ravel_discrete_wrapper import (
    RavelDiscreteActionWrapper,
    RavelDiscreteWrapper,
)
from abmarl.sim.wrappers.sar_wrapper import SARWrapper
from abmarl.sim.wrappers.super_agent_wrapper import SuperAgentWrapper
from abmarl.sim.wrappers.wrapper import Wrapper

__all__ = [
    "CommunicationHandshakeWrapper",
    "FlattenActionWrapper",
    "FlattenWrapper",
    "RavelDiscreteActionWrapper",
    "RavelDiscreteWrapper",
    "SARWrapper",
    "SuperAgentWrapper",
    "Wrapper",
]
