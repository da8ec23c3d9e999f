"""The old place of `MultiAgentWrapper`."""

from abmarl.external.rllib import MultiAgentWrapper

__all__ = ["MultiAgentWrapper"]
