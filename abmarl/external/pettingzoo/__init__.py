"""PettingZoo: simulations as parallel and as agent-by-agent environments."""

from abmarl.external.pettingzoo.wrappers import PettingZooAECWrapper, PettingZooParallelWrapper

__all__ = ["PettingZooAECWrapper", "PettingZooParallelWrapper"]
