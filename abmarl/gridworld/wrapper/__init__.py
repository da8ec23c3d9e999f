"""Wrappers of components: actors whose channel is given in another form."""

from abmarl.gridworld.wrapper.base import ActorWrapper
from abmarl.gridworld.wrapper.exclusive import ExclusiveChannelActionWrapper
from abmarl.gridworld.wrapper.ravel import RavelActionWrapper

__all__ = ["ActorWrapper", "ExclusiveChannelActionWrapper", "RavelActionWrapper"]
